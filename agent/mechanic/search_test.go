package mechanic

import (
	"testing"
)

// faults are put into the little programs; kind is the sort of edit that takes each back.
var faults = []struct {
	name, program, file string
	old, new            string
}{
	{"one past the end", "ring", "ring.go", "i >= r.size", "i > r.size"},
	{"both instead of either", "ring", "ring.go", "i < 0 || i >= r.size", "i < 0 && i >= r.size"},
	{"a place too far", "ring", "ring.go", "(r.head+r.size)%len(r.buf)", "(r.head+r.size+1)%len(r.buf)"},
	{"up instead of down", "ring", "ring.go", "r.size--", "r.size++"},
	{"added what goes", "ring", "window.go", "w.sum -= old", "w.sum += old"},
	{"a constant of the package", "ring", "window.go", "const scale = 100", "const scale = 101"},
	{"largest for smallest", "ring", "window.go", "min(least, v)", "max(least, v)"},
	{"the wrong way round", "ring", "window.go", "return most - least", "return least - most"},
	{"an index below zero", "ring", "window.go", "for i := 1; i", "for i := 0; i"},
	{"the other field", "ring", "window.go", "v > w.top", "v > w.low"},
	{"a condition turned round", "ring", "window.go", "if dropped {", "if !dropped {"},
	{"off the map", "terrain", "grid/grid.go", "p.Y < g.height", "p.Y <= g.height"},
	{"a table of the package", "terrain", "grid/grid.go", "{0, 1}, {-1, 0}", "{0, 1}, {-1, 1}"},
	{"no climbing", "terrain", "walk/walk.go", "const climb = 1", "const climb = 0"},
	{"downhill", "terrain", "walk/walk.go", "g.At(to)-g.At(from)", "g.At(from)-g.At(to)"},
	{"not itself", "terrain", "walk/walk.go", "i <= x", "i < x"},
	{"never a peak", "terrain", "walk/walk.go", "\t}\n\treturn true", "\t}\n\treturn false"},
	{"leaves too early", "terrain", "grid/grid.go", "\t\t\tcontinue\n\t\t}\n\t\tout", "\t\t\tbreak\n\t\t}\n\t\tout"},
	{"equal for different", "terrain", "grid/grid.go", "len(row) != g.width", "len(row) == g.width"},
	{"even for odd", "rpn", "eval.go", "exp%2 == 1", "exp%2 != 1"},
	{"digits taken away", "rpn", "scan.go", "n*10 + int", "n*10 - int"},
	{"never the last", "rpn", "eval.go", "last < 0", "last <= 0"},
	{"not at the beginning", "rpn", "scan.go", "i >= 0", "i > 0"},
	{"operands exchanged", "rpn", "eval.go", "m.push(a - b)", "m.push(b - a)"},
	{"the sign read as a digit", "rpn", "scan.go", "word = word[1:]", "word = word[0:]"},
}

func TestRepairs(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			w := enter(t, with(t, program(t, f.program), f.file, f.old, f.new), "go test ./...")
			c, offered := w.repair(t)
			t.Logf("%.1fs, %d offered, %v", w.wall.Seconds(), offered, w.tally())
			if c.Edit == "" {
				t.Fatalf("no repair; tried %v", w.tally())
			}
			t.Logf("%s\n%s", c.Why, c.Change.Diff())
		})
	}
}
