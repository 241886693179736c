package scenes

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/aymanbagabas/go-udiff"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// Aimed says whether an answer, landed or not, edits a definition or lines in which the released repair changes something. Whole files aim
// at nothing.
func Aimed(text string, tree fs.FS, fix map[string][]byte) bool {
	set, _ := patch.Parse(text)
	for _, e := range set {
		after, repaired := fix[e.File]
		before, err := fs.ReadFile(tree, e.File)
		if !repaired || err != nil {
			continue
		}
		first, last := linesOf(e, before)
		for _, c := range udiff.Lines(string(before), string(after)) {
			from := bytes.Count(before[:c.Start], []byte("\n")) + 1
			to := max(from, bytes.Count(before[:c.End], []byte("\n")))
			if from <= last && first <= to {
				return true
			}
		}
	}
	return false
}

// linesOf are the lines that an edit addresses, from 1; the last is 0 where it addresses none that there are.
func linesOf(e patch.Edit, src []byte) (first, last int) {
	if n, _ := fmt.Sscanf(e.Addr, "L%d-L%d", &first, &last); n == 2 {
		return first, last
	}
	if n, _ := fmt.Sscanf(e.Addr, "L%d", &first); n == 1 {
		return first, first
	}
	if at := bytes.Index(src, e.Old); e.Addr == patch.Fit && at >= 0 {
		first = bytes.Count(src[:at], []byte("\n")) + 1
		return first, first + bytes.Count(bytes.TrimRight(e.Old, "\n"), []byte("\n"))
	}
	g, ok := syntax.For(e.File)
	if !ok {
		return 0, 0
	}
	symbols, err := g.Symbols(src)
	for _, s := range symbols {
		if err == nil && (s.String() == e.Addr || s.Name == e.Addr) {
			return s.First, s.Last
		}
	}
	return 0, 0
}
