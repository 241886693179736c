package report

import (
	"slices"
	"strings"
	"sync"
)

// wordIndex finds which of many words stand in a line, in one pass. Of every word it knows the three bytes in a row that are
// rarest in logs. It looks a hash of every three bytes of the line up, and compares a whole word only where that hits.
type wordIndex struct {
	bits  [1 << 16 / 64]uint64 // a bit for each hash that stands for a word
	at    [1 << 16]uint16      // where in spots the words of a hash begin, from 1
	spots []spot
	ends  []spot // words of two bytes, which may end a line
}

// spot is a word and where in it its three bytes stand.
type spot struct {
	word   string
	offset int
	list   int // of words that it is in
	hash   uint16
	more   bool // the next one has the same hash
}

// wakeIndex has the words that wake each reader, and behind them those of the go command's own.
type wakeIndex struct {
	*wordIndex
	readers []textReader
}

// allWakes is the index of all text readers.
var allWakes = sync.OnceValue(func() *wakeIndex { return newWakeIndex(textReaders()) })

// goWords make the go command's own reader care for a line, besides those that it knows by how they begin.
var goWords = []string{".go:", "--- FAIL: ", "--- PASS: ", "--- SKIP: ", "no space left on device", "No space left on device", "cannot allocate memory", "command not found", ": not found"}

func newWakeIndex(readers []textReader) *wakeIndex {
	var lists [][]string
	for _, r := range readers {
		lists = append(lists, r.wakes)
	}
	return &wakeIndex{newWordIndex(append(lists, goWords)...), readers}
}

func newWordIndex(lists ...[]string) *wordIndex {
	w := &wordIndex{}
	for i, words := range lists {
		for _, word := range words {
			w.add(word, i)
		}
	}
	slices.SortStableFunc(w.spots, func(a, b spot) int { return int(a.hash) - int(b.hash) })
	for i, s := range w.spots {
		w.bits[s.hash/64] |= 1 << (s.hash % 64)
		if w.at[s.hash] == 0 {
			w.at[s.hash] = uint16(i + 1)
		} else {
			w.spots[i-1].more = true
		}
	}
	return w
}

func (w *wordIndex) add(word string, list int) {
	switch len(word) {
	case 0, 1:
		panic(word + " is too short a word")
	case 2:
		w.ends = append(w.ends, spot{word: word, list: list})
		for third := range uint32(256) {
			w.spots = append(w.spots, spot{word: word, list: list, hash: hash3(uint32(word[0])<<16 | uint32(word[1])<<8 | third)})
		}
	default:
		i := rarest(word)
		h := hash3(uint32(word[i])<<16 | uint32(word[i+1])<<8 | uint32(word[i+2]))
		w.spots = append(w.spots, spot{word: word, offset: i, list: list, hash: h})
	}
}

// rarest is where the three bytes in a row stand that logs hold least often.
func rarest(word string) int {
	best, least := 0, 1<<30
	for i := range len(word) - 2 {
		if n := commonness(word[i]) * commonness(word[i+1]) * commonness(word[i+2]); n < least {
			best, least = i, n
		}
	}
	return best
}

// hash3 spreads three bytes over sixteen bits.
func hash3(three uint32) uint16 { return uint16(three * 0x9e3779b1 >> 16) }

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

// find marks the lists that a word of the line is in.
func find[T string | []byte](w *wordIndex, line T, hits []bool) (any bool) {
	if len(line) < 2 {
		return false
	}
	for i := range w.ends {
		any = stands(line, len(line)-2, &w.ends[i], hits) || any
	}
	three := uint32(line[0])<<8 | uint32(line[1])
	for i := 2; i < len(line); i++ {
		three = (three<<8 | uint32(line[i])) & 0xffffff
		if h := hash3(three); w.bits[h/64]&(1<<(h%64)) != 0 {
			any = compare(w, line, i-2, h, hits) || any
		}
	}
	return any
}

// compare looks for the words whose three bytes stand at i.
func compare[T string | []byte](w *wordIndex, line T, i int, h uint16, hits []bool) (any bool) {
	for n := int(w.at[h]) - 1; n >= 0; n++ {
		any = stands(line, i-w.spots[n].offset, &w.spots[n], hits) || any
		if !w.spots[n].more {
			break
		}
	}
	return any
}

// stands reports whether a word stands at that place, and marks its list.
func stands[T string | []byte](line T, from int, s *spot, hits []bool) bool {
	if from < 0 || len(line)-from < len(s.word) {
		return false
	}
	for k := range len(s.word) {
		if line[from+k] != s.word[k] {
			return false
		}
	}
	hits[s.list] = true
	return true
}

// line shows one line of the run to the readers that are awake, and wakes those that it is for.
func (c *collector) line(raw string) {
	line := raw
	if strings.IndexByte(raw, 0x1b) >= 0 {
		line = clean(raw)
	}
	if find(c.index.wordIndex, line, c.hits) {
		c.wake(line)
	}
	for _, r := range c.listen {
		r.line(line)
	}
	if c.before = append(c.before, line); len(c.before) >= 2*linesBefore {
		c.before = append(c.before[:0], c.before[len(c.before)-linesBefore:]...)
	}
}

// wake starts the readers that were hit and sleep, and tells them what came before.
func (c *collector) wake(line string) {
	for i, r := range c.readers {
		if c.hits[i] && c.awake[i] == nil && (r.when == nil || r.when(c.run, line)) {
			c.awake[i] = r.start(c)
			for _, b := range c.before {
				c.awake[i].line(b)
			}
		}
	}
	clear(c.hits)
	c.listens()
}

// listens notes who is awake.
func (c *collector) listens() {
	c.listen = c.listen[:0]
	for _, r := range c.awake {
		if r != nil {
			c.listen = append(c.listen, r)
		}
	}
}

// sleeps reports whether no reader is awake.
func (c *collector) sleeps() bool { return len(c.listen) == 0 }

// cares reports whether a line would wake a reader, or is one for the go command's own.
func (c *collector) cares(line []byte) bool {
	if !find(c.index.wordIndex, line, c.hits) {
		return false
	}
	text, cares := string(line), c.hits[len(c.readers)]
	for i, r := range c.readers {
		cares = cares || c.hits[i] && (r.when == nil || r.when(c.run, text))
	}
	clear(c.hits)
	return cares
}
