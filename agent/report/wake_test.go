package report

import (
	"slices"
	"strings"
	"testing"
)

// naive is what find has to find, word by word.
func naive(w *wakeIndex, line string) []int {
	var out []int
	for i, r := range w.readers {
		if slices.ContainsFunc(r.wakes, func(word string) bool { return strings.Contains(line, word) }) {
			out = append(out, i)
		}
	}
	return out
}

func checkFind(t *testing.T, w *wakeIndex, line string) {
	t.Helper()
	hits, same := make([]bool, len(w.readers)+1), make([]bool, len(w.readers)+1)
	find(w.wordIndex, line, hits)
	find(w.wordIndex, []byte(line), same)
	var got []int
	for i := range w.readers {
		if hits[i] {
			got = append(got, i)
		}
	}
	if want := naive(w, line); !slices.Equal(got, want) || !slices.Equal(hits, same) {
		t.Errorf("%q is for readers %v, want %v", line, got, want)
	}
}

// Each word is found at the start, in the middle and at the end of a line, alone or beside another.
func TestWakeIndex(t *testing.T) {
	w := newWakeIndex(append(slices.Clone(textReaders()), textReader{wakes: []string{"{q", "abc"}}))
	last := ""
	for _, r := range w.readers {
		for _, word := range r.wakes {
			for _, line := range []string{word, "xx" + word, word + "yy", "xx" + word + "yy", last + word, word[:len(word)-1], word[1:]} {
				checkFind(t, w, line)
			}
			last = word
		}
	}
}

func FuzzWake(f *testing.F) {
	f.Add("running 3 tests")
	f.Add("a.go:1:2: x {\"")
	f.Fuzz(func(t *testing.T, line string) { checkFind(t, allWakes(), line) })
}
