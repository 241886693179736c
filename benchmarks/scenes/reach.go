package scenes

import (
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// Reach is the share of the lines which the released repair replaces, or puts something after, that a prompt shows: a model
// can hardly change what it does not see. Lines of less than four letters and those that stand in their file twice say nothing;
// a repair with no others has none, and reach is then 1.
func Reach(prompt string, tree fs.FS, fix map[string][]byte) float64 {
	shown := map[string]bool{}
	for line := range strings.Lines(prompt) {
		shown[strings.TrimSpace(line)] = true
	}
	seen, all := 0, 0
	for name, after := range fix {
		before, err := fs.ReadFile(tree, name)
		if err != nil { // a file that the repair adds
			continue
		}
		for _, line := range touched(string(before), string(after)) {
			if all++; shown[line] {
				seen++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return float64(seen) / float64(all)
}

// touched are the lines of a text that another version of it replaces or puts something after, without white space around
// them, as far as they can be told from the others.
func touched(before, after string) (out []string) {
	times := map[string]int{}
	for line := range strings.Lines(before) {
		times[strings.TrimSpace(line)]++
	}
	for _, e := range udiff.Lines(before, after) {
		if e.Start == e.End { // of an insertion the line above
			e.Start = strings.LastIndexByte(before[:max(e.Start-1, 0)], '\n') + 1
		}
		for line := range strings.Lines(before[e.Start:e.End]) {
			if line = strings.TrimSpace(line); len(line) >= 4 && times[line] == 1 {
				out = append(out, line)
			}
		}
	}
	return out
}
