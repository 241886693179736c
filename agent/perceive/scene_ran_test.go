package perceive_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
)

// ranTree has a test that uses one function, which finds the others in a table that no index can follow.
func ranTree(t *testing.T) perceive.Look {
	t.Helper()
	long := func(name string) string {
		return "def " + name + "(x):\n" + strings.Repeat("    x = x + 1\n", 30) + "    return x\n\n\n"
	}
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"shop/api.py":        "from shop import table\n\n\ndef price(name, x):\n    return table.ALL[name](x)\n",
		"shop/table.py":      "import importlib\n\nALL = {}\n\n\ndef load(name):\n    ALL[name] = getattr(importlib.import_module('shop.' + name), name)\n",
		"shop/net.py":        long("net"),
		"shop/gross.py":      long("gross") + long("other"),
		"tests/test_shop.py": "from shop import api\n\n\ndef test_gross():\n    assert api.price('gross', 1) == 32\n",
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return perceive.Look{
		Root: tree, Index: indexOf(t, tree, ""), Rules: "RULES", Command: "pytest", Protected: patch.Policy{}.Protected, Budget: 1500,
		Findings: []report.Result{{ID: "tests/test_shop.py::test_gross", Kind: report.Test, File: "tests/test_shop.py", Line: 5, Got: "31", Want: "32"}},
	}
}

func ran(file string, first, last int, suspicion float64) perceive.Ran {
	return perceive.Ran{Lines: perceive.Lines{File: file, First: first, Last: last}, Suspicion: suspicion}
}

// TestRan: what the failing tests ran is shown, and offered first where others ran it less; what they did not run gives way to it.
func TestRan(t *testing.T) {
	l := ranTree(t)
	if got := section(l.Scene(), perceive.Source); strings.Contains(got, "def gross") {
		t.Fatalf("it is found without knowing what ran:\n%s", got)
	}
	l.Ran = []perceive.Ran{
		ran("/tmp/copy/shop/gross.py", 2, 32, 1), // as seen in another folder
		ran("shop/net.py", 500, 1<<40, 1),        // lines that there are not
		ran("shop/api.py", 5, 5, 0.2), ran("tests/test_shop.py", 4, 5, 1), ran("../../etc/passwd", 1, 1, 1), ran("shop/gone.py", 1, 2, 1), ran("", -3, -1, 1),
	}
	s := l.Scene()
	source, answer := section(s, perceive.Source), section(s, perceive.Answer)
	if !strings.HasPrefix(source, "## The source\nshop/gross.py") || !strings.Contains(source, "def gross(x):\n") || strings.Contains(source, "def net") {
		t.Errorf("the source:\n%s", source)
	}
	if !strings.Contains(answer, "Likely places: `shop/gross.py :: gross`, ") {
		t.Errorf("the answer:\n%s", answer)
	}
	if strings.Contains(source, "test_gross") || slices.Contains(s.Files, "tests/test_shop.py") {
		t.Errorf("a protected file is among the source: %v\n%s", s.Files, source)
	}
	if d := s.Off(); slices.Contains(d, perceive.Coverage) {
		t.Errorf("off: %v", d)
	}

	l.Off = []string{perceive.Coverage}
	if off := l.Scene(); strings.Contains(off.Text(), "def gross") || !slices.Contains(off.Off(), perceive.Coverage) {
		t.Errorf("coverage is off, and so is %v:\n%s", off.Off(), section(off, perceive.Source))
	}
}

// TestRanPart: of a function that is too long, the lines are shown that only failing tests ran.
func TestRanPart(t *testing.T) {
	var b strings.Builder
	b.WriteString("package m\n\nfunc Long(x int) int {\n")
	for range 300 {
		b.WriteString("\tx = x*2 + 1\n")
	}
	b.WriteString("\treturn x\n}\n")
	tree := fstest.MapFS{
		"go.mod":    {Data: []byte("module example.com/m\n\ngo 1.24\n")},
		"m.go":      {Data: []byte(strings.Replace(b.String(), "\tx = x*2 + 1\n\treturn", "\tx = x - 7 // here\n\treturn", 1))},
		"m_test.go": {Data: []byte("package m\n\nimport \"testing\"\n\nfunc TestLong(t *testing.T) {\n\tif Long(1) != 2 {\n\t\tt.Fail()\n\t}\n}\n")},
	}
	l := perceive.Look{
		Root: tree, Index: indexOf(t, tree, ""), Module: "example.com/m", Command: "go test", Protected: patch.Policy{}.Protected, Budget: 1500,
		Findings: []report.Result{{ID: "example.com/m.TestLong", Kind: report.Test}},
		Ran:      []perceive.Ran{ran("m.go", 3, 302, 0.3), ran("m.go", 303, 304, 1)},
	}
	if got := section(l.Scene(), perceive.Source); !strings.Contains(got, "// here") {
		t.Errorf("the suspected lines are not shown:\n%s", got)
	}
}
