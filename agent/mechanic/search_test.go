package mechanic

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// faults are put into the little programs.
var faults = []struct {
	name, program, file string
	old, new            string
}{
	{"one past the end", "ring", "ring.go", "i >= r.size", "i > r.size"},
	{"off the map, seen from another package", "terrain", "grid/grid.go", "p.Y < g.height", "p.Y <= g.height"},
	{"even for odd", "rpn", "eval.go", "exp%2 == 1", "exp%2 != 1"},
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
	{"a table of the package", "terrain", "grid/grid.go", "{0, 1}, {-1, 0}", "{0, 1}, {-1, 1}"},
	{"no climbing", "terrain", "walk/walk.go", "const climb = 1", "const climb = 0"},
	{"downhill", "terrain", "walk/walk.go", "g.At(to)-g.At(from)", "g.At(from)-g.At(to)"},
	{"not itself", "terrain", "walk/walk.go", "i <= x", "i < x"},
	{"never a peak", "terrain", "walk/walk.go", "\t}\n\treturn true", "\t}\n\treturn false"},
	{"leaves too early", "terrain", "grid/grid.go", "\t\t\tcontinue\n\t\t}\n\t\tout", "\t\t\tbreak\n\t\t}\n\t\tout"},
	{"equal for different", "terrain", "grid/grid.go", "len(row) != g.width", "len(row) == g.width"},
	{"digits taken away", "rpn", "scan.go", "n*10 + int", "n*10 - int"},
	{"never the last", "rpn", "eval.go", "last < 0", "last <= 0"},
	{"not at the beginning", "rpn", "scan.go", "i >= 0", "i > 0"},
	{"operands exchanged", "rpn", "eval.go", "m.push(a - b)", "m.push(b - a)"},
	{"the sign read as a digit", "rpn", "scan.go", "word = word[1:]", "word = word[0:]"},
}

// some is how many faults every run of the tests takes; all of them take a minute, and are taken where the environment
// asks for them.
const some = 3

func TestRepairs(t *testing.T) {
	list := faults[:some]
	if os.Getenv("REDRAFT_MECHANIC_ALL") != "" {
		list = faults
	}
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			w := enter(t, with(t, program(t, f.program), f.file, f.old, f.new), "go test ./...")
			c, offered := w.repair(t)
			if c.Edit == "" {
				t.Fatalf("no repair; tried %v", w.tally())
			}
			t.Logf("%.1fs, %d offered, %v: %s", w.wall.Seconds(), offered, w.tally(), c.Why)
			if c.File == "" || c.Line == 0 || c.Score <= 0 || len(c.Change.Files) != 1 {
				t.Errorf("the candidate does not say where it is: %+v", c)
			}
			if text := c.Change.Files[0].New; !strings.Contains(string(c.Change.Diff()), c.File) || strings.Contains(string(text), "redraft") {
				t.Errorf("the change holds more than the edit:\n%s", text)
			}
		})
	}
}

// TestOneBuildEach judges without a schema, and must come to the same repair.
func TestOneBuildEach(t *testing.T) {
	f := faults[0]
	w := enter(t, with(t, program(t, f.program), f.file, f.old, f.new), "go test ./...")
	w.plain, w.Max = true, 12
	c, _ := w.repair(t)
	if c.Edit != "comparison" || c.Line != 48 {
		t.Fatalf("got %q at %d, tried %v", c.Edit, c.Line, w.tally())
	}
}

func TestTidy(t *testing.T) {
	change := func(old, new string) patch.Change {
		return patch.Change{Files: []patch.FileChange{{Path: "p.go", Old: []byte(old), New: []byte(new)}}}
	}
	for _, tt := range []struct{ old, new, want string }{
		{"package p\n\nvar a = 1\n", "package p\n\nvar a = 1+ 2\n", "package p\n\nvar a = 1 + 2\n"},
		{"package  p\n\nvar a = 1\n", "package  p\n\nvar a = 1+ 2\n", "package  p\n\nvar a = 1+ 2\n"}, // was not tidy before
		{"package p\n", "package p\nvar", "package p\nvar"},
	} {
		c := change(tt.old, tt.new)
		if tidy(c); string(c.Files[0].New) != tt.want {
			t.Errorf("%q: got %q, want %q", tt.new, c.Files[0].New, tt.want)
		}
	}
}

// hopeless is a package with a red test that no edit of the catalogue turns green.
func hopeless() fstest.MapFS {
	return fstest.MapFS{
		"go.mod":    file("module example.com/p\n\ngo 1.22\n"),
		"p.go":      file("package p\n\n// Greet greets.\nfunc Greet(name string) string {\n\tif name == \"\" {\n\t\treturn \"nobody\"\n\t}\n\treturn \"hello \" + name\n}\n"),
		"p_test.go": file("package p\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n\tif got := Greet(\"a\"); got != \"bonjour a\" {\n\t\tt.Errorf(\"got %s\", got)\n\t}\n}\n"),
	}
}

// TestNoRepair asks in vain, in several ways.
func TestNoRepair(t *testing.T) {
	w := enter(t, hopeless(), "go test ./...")
	seen := w.see(t)
	ask := func(ctx context.Context) (offered int, last error) {
		w.tries = nil
		for _, err := range w.Candidates(ctx, seen) {
			if last = err; err == nil {
				offered++
			}
		}
		return offered, last
	}
	t.Run("is no error", func(t *testing.T) {
		if offered, err := ask(t.Context()); offered != 0 || err != nil {
			t.Errorf("offered %d, %v", offered, err)
		}
		tally := w.tally()
		if tally[StillRed] == 0 || tally[StillRed]+tally[NoCompile]+tally[Breaks] != len(w.tries) {
			t.Errorf("tried %v, want reds and nothing untried", tally)
		}
		for i, try := range w.tries {
			if try.N != i+1 {
				t.Fatalf("try %d has number %d", i+1, try.N)
			}
		}
	})
	t.Run("within a number of candidates", func(t *testing.T) {
		w.Max = 3
		defer func() { w.Max = 0 }()
		if ask(t.Context()); len(w.tries) != 3 {
			t.Errorf("tried %d candidates, want 3", len(w.tries))
		}
	})
	t.Run("within a budget", func(t *testing.T) {
		w.Budget = time.Nanosecond
		defer func() { w.Budget = 0 }()
		if offered, err := ask(t.Context()); offered != 0 || err != nil || len(w.tries) != 0 {
			t.Errorf("offered %d, tried %d, %v on no budget", offered, len(w.tries), err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
		if _, err := ask(ctx); !errors.Is(err, cause) {
			t.Errorf("got %v, want the cause", err)
		}
	})
	t.Run("without a sandbox", func(t *testing.T) {
		w.Oracle.Box = &sandbox.Sandbox{}
		defer func() { w.Oracle.Box = shared.box }()
		if offered, err := ask(t.Context()); err == nil || offered != 0 {
			t.Errorf("offered %d, %v, want an error", offered, err)
		}
	})
	if n := w.trees.open.Load(); n != 0 {
		t.Errorf("%d trees were left", n)
	}
}

func TestNothingProtectedIsTouched(t *testing.T) {
	f := faults[0]
	w := enter(t, with(t, program(t, f.program), f.file, f.old, f.new), "go test ./...")
	w.Policy = patch.Policy{Protect: []string{"ring.go"}}
	seen := w.see(t)
	for c, err := range w.Candidates(context.Background(), seen) {
		if err != nil {
			t.Fatal(err)
		}
		t.Errorf("offered a change of %s", c.File)
	}
	for _, try := range w.tries {
		if try.Candidate.File == "ring.go" || strings.HasSuffix(try.Candidate.File, "_test.go") {
			t.Fatalf("tried %s", try.Candidate.Why)
		}
	}
}

// BenchmarkCandidates counts candidates judged in a second, through one build for all and through one build each.
func BenchmarkCandidates(b *testing.B) {
	for name, plain := range map[string]bool{"schema": false, "one-build-each": true} {
		b.Run(name, func(b *testing.B) {
			w := enter(b, hopelessRing(b), "go test ./...")
			w.plain = plain
			if plain {
				w.Max = 40
			}
			seen := w.see(b)
			b.ResetTimer()
			for range b.N {
				for range w.Candidates(context.Background(), seen) {
				}
			}
			b.ReportMetric(float64(len(w.tries))/b.Elapsed().Seconds(), "candidates/s")
		})
	}
}

// hopelessRing is the ring with an expectation that no edit meets.
func hopelessRing(t testing.TB) fstest.MapFS {
	return with(t, program(t, "ring"), "window_test.go", "got != 6", "got != 66666")
}
