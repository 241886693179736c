package report

import (
	"slices"
	"strings"
	"sync"
)

// wakeIndex finds which of many words stand in a line, in one pass. Of every word it knows the pair of bytes that is rarest
// in logs, looks for nothing but these pairs, and compares a whole word only where its pair stands.
type wakeIndex struct {
	readers []textReader
	pairs   [1 << 16 / 64]uint64 // a bit for each pair that stands for a word
	spots   map[uint16][]spot
	always  []int // readers with a word too short to have a pair
}

// spot is a word and where in it its pair stands.
type spot struct {
	word   string
	offset int
	reader int
}

// allWakes is the index of all text readers.
var allWakes = sync.OnceValue(func() *wakeIndex { return newWakeIndex(textReaders()) })

func newWakeIndex(readers []textReader) *wakeIndex {
	w := &wakeIndex{readers: readers, spots: map[uint16][]spot{}}
	for i, r := range readers {
		for _, word := range r.wakes {
			w.add(word, i)
		}
	}
	return w
}

func (w *wakeIndex) add(word string, reader int) {
	if len(word) < 2 {
		if !slices.Contains(w.always, reader) {
			w.always = append(w.always, reader)
		}
		return
	}
	best, least := 0, 1<<30
	for i := range len(word) - 1 {
		if n := commonness(word[i]) * commonness(word[i+1]); n < least {
			best, least = i, n
		}
	}
	p := pairOf(word[best], word[best+1])
	w.pairs[p/64] |= 1 << (p % 64)
	w.spots[p] = append(w.spots[p], spot{word: word, offset: best, reader: reader})
}

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// commonness is about how often a byte stands in build logs, which are mostly English, paths and numbers.
func commonness(c byte) int {
	switch {
	case c == ' ':
		return 120
	case slices.Contains([]byte("etaoinsr"), c):
		return 70
	case c >= 'a' && c <= 'z':
		return 30
	case c >= '0' && c <= '9', c == '.', c == '/', c == '-':
		return 35
	case c == ':' || c == '_' || c == '=' || c == ',':
		return 15
	case c >= 'A' && c <= 'Z':
		return 8
	}
	return 4
}

// find marks the readers that a word of the line belongs to.
func (w *wakeIndex) find(line string, hits []bool) (any bool) {
	for _, r := range w.always {
		hits[r], any = true, true
	}
	if len(line) < 2 {
		return any
	}
	prev := uint16(line[0])
	for i := 1; i < len(line); i++ {
		p := prev<<8 | uint16(line[i])
		prev = p & 0xff
		if w.pairs[p/64]&(1<<(p%64)) != 0 {
			any = w.compare(line, i-1, p, hits) || any
		}
	}
	return any
}

// compare looks for the words whose pair stands at i.
func (w *wakeIndex) compare(line string, i int, p uint16, hits []bool) (any bool) {
	for _, s := range w.spots[p] {
		from := i - s.offset
		if from >= 0 && len(line)-from >= len(s.word) && line[from:from+len(s.word)] == s.word {
			hits[s.reader], any = true, true
		}
	}
	return any
}

// line shows one line of the run to the readers that are awake, and wakes those that it is for.
func (c *collector) line(raw string) {
	line := raw
	if strings.IndexByte(raw, 0x1b) >= 0 {
		line = clean(raw)
	}
	if c.index.find(line, c.hits) {
		c.wake(line)
	}
	for _, r := range c.awake {
		if r != nil {
			r.line(line)
		}
	}
	if c.before = append(c.before, line); len(c.before) >= 2*linesBefore {
		c.before = append(c.before[:0], c.before[len(c.before)-linesBefore:]...)
	}
}

// wake starts the readers that were hit and sleep, and tells them what came before.
func (c *collector) wake(line string) {
	for i, hit := range c.hits {
		if !hit {
			continue
		}
		c.hits[i] = false
		if r := c.readers[i]; c.awake[i] == nil && (r.when == nil || r.when(c.run, line)) {
			c.awake[i] = r.start(c)
			for _, b := range c.before {
				c.awake[i].line(b)
			}
		}
	}
}
