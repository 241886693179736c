package perceive

import (
	"strings"
	"sync"
)

// words keeps every text of an index once and gives it a number; 0 is the empty text.
type words struct {
	sync.Mutex
	ids  map[string]uint32
	list []string
}

func newWords() *words {
	return &words{ids: map[string]uint32{"": 0}, list: []string{""}}
}

// id is the number of a text, a new one if need be. Callers hold the lock.
func (w *words) id(s string) uint32 {
	if n, ok := w.ids[s]; ok {
		return n
	}
	s = strings.Clone(s)
	n := uint32(len(w.list))
	w.list = append(w.list, s)
	w.ids[s] = n
	return n
}

// add is id for callers that do not hold the lock.
func (w *words) add(s string) uint32 {
	w.Lock()
	defer w.Unlock()
	return w.id(s)
}

// known is the number of a text, if it has one. Nobody may be adding meanwhile.
func (w *words) known(s string) (uint32, bool) {
	n, ok := w.ids[s]
	return n, ok
}

func (w *words) text(n uint32) string { return w.list[n] }

func compareTexts(w *words, a, b uint32) int { return strings.Compare(w.text(a), w.text(b)) }
