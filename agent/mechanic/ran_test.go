package mechanic

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/report"
)

// suspected is the suspicion of a line.
func suspected(all []perceive.Ran, file string, line int) (most float64) {
	for _, r := range all {
		if r.File == file && r.First <= line && line <= r.Last {
			most = max(most, r.Suspicion)
		}
	}
	return most
}

// line is the number of the line in which a text stands first.
func line(t *testing.T, root fstest.MapFS, name, text string) int {
	t.Helper()
	before, _, ok := strings.Cut(string(root[name].Data), text)
	if !ok {
		t.Fatalf("%q is not in %s", text, name)
	}
	return strings.Count(before, "\n") + 1
}

// TestRan: what the failing tests of Go ran is told, the more suspected the fewer others ran it, and is not run again where a search
// has seen it.
func TestRan(t *testing.T) {
	root := with(t, program(t, "terrain"), "walk/walk.go", "i <= x", "i < x")
	for name, search := range map[string]bool{"alone": false, "after a search": true} {
		w := enter(t, root, "go test ./...")
		seen := w.see(t)
		if search {
			for range w.Candidates(t.Context(), seen) {
				break
			}
		}
		before := len(w.runs)
		all, err := w.Ran(t.Context(), seen)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: got %v, %v", name, all, err)
		}
		if n := len(w.runs) - before; search != (n == 0) {
			t.Errorf("%s: %d runs", name, n)
		}
		wrong := suspected(all, "walk/walk.go", line(t, root, "walk/walk.go", "i < x"))
		if wrong == 0 {
			t.Errorf("%s: the fault is not suspected: %v", name, all)
		}
		for _, r := range all {
			if r.Suspicion <= 0 || r.Suspicion > 1 || strings.HasSuffix(r.File, "_test.go") || r.First < 1 || r.Last < r.First {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if n := w.trees.open.Load(); n != 0 {
			t.Errorf("%s: %d trees were left", name, n)
		}
	}
}

// TestRanByPython: so are those of Python's own runner. What only passing tests ran is not told.
func TestRanByPython(t *testing.T) {
	root := fstest.MapFS{
		"shop.py":      file("def net(x):\n    return x\n\n\ndef gross(x):\n    x = net(x)\n    return x + 2\n\n\ndef other(x):\n    return x\n"),
		"test_shop.py": file("import unittest\n\nimport shop\n\n\nclass TestShop(unittest.TestCase):\n    def test_net(self):\n        self.assertEqual(shop.net(2), 2)\n\n    def test_gross(self):\n        self.assertEqual(shop.gross(2), 3)\n\n    def test_other(self):\n        self.assertEqual(shop.other(2), 2)\n"),
	}
	const check = "python3 -m unittest"
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	needs, err := plan.Toolchain(t.Context(), plan.Set{Checks: []plan.Check{{Run: check}}}, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	w := enter(t, root, check)
	needs.Go = ""
	w.Oracle.Needs, w.Oracle.Base, w.Oracle.Check.Runs = needs, "", 1
	seen, err := w.Oracle.See(t.Context())
	if err != nil || seen.Color != report.Red {
		t.Fatalf("got %v, %v", seen.Color, err)
	}
	all, err := w.Ran(t.Context(), seen.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int]float64{7: 1, 2: 0.7, 11: 0} {
		if got := suspected(all, "shop.py", at); got < want || got > want+0.1 {
			t.Errorf("line %d: got %v, want %v: %v", at, got, want, all)
		}
	}
	if n := w.trees.open.Load(); n != 0 {
		t.Errorf("%d trees were left", n)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Ran(stopped, seen.Verdict); err == nil {
		t.Error("a cancelled one told of no error")
	}
}

// TestMost: spans of one suspicion become one, protected files are left out, and of too many the most suspected stay.
func TestMost(t *testing.T) {
	m := &Mechanic{Policy: patch.Policy{}}
	span := func(file string, first, last int, s float64) perceive.Ran {
		return perceive.Ran{Lines: perceive.Lines{File: file, First: first, Last: last}, Suspicion: s}
	}
	got := m.most([]perceive.Ran{span("b.go", 3, 3, 1), span("a.go", 4, 4, 1), span("a.go", 3, 3, 1), span("a.go", 5, 6, 0.5), span("a_test.go", 1, 1, 1)})
	want := []perceive.Ran{span("a.go", 3, 4, 1), span("a.go", 5, 6, 0.5), span("b.go", 3, 3, 1)}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, want %v", got, want)
	}
	var many []perceive.Ran
	for i := range maxSpans + 10 {
		many = append(many, span("a.go", 2*i+1, 2*i+1, float64(i+1)/10000))
	}
	if got := m.most(many); len(got) != maxSpans || got[0].First != 21 {
		t.Errorf("%d spans, the first %v", len(got), got[0])
	}
}
