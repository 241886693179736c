package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--languages", "cobol"}, {"--rounds", "0"}, {"--files", "0"}, {"x"}, {"--no"}, {"child", "plain"}} {
		if code := run(t.Context(), args, &bytes.Buffer{}, &bytes.Buffer{}); code != 2 {
			t.Errorf("%v: exit %d, want 2", args, code)
		}
	}
}

// lay writes a tree of two files for each language.
func lay(t *testing.T) string {
	t.Helper()
	made := tree{dir: t.TempDir()}
	for name, text := range map[string]string{
		"go.mod": "module example.com/small\n", "a.go": "package small\n\nfunc Price() int { return 1 }\n\nfunc Total() int { return Price() }\n",
		"p.py": "import os\n\n\nclass Cart:\n    \"\"\"Goods.\"\"\"\n\n    def total(self):\n        return os.getpid()\n\n\nSIZE = 3\n", "s.ts": "export function size() { return 1 }\n",
	} {
		if err := made.write(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return made.dir
}

func TestChild(t *testing.T) {
	dir := lay(t)
	ask := func(how string) (r reply) {
		var out, said bytes.Buffer
		if code := run(t.Context(), []string{"child", how, dir, filepath.Join(t.TempDir(), "cache"), ""}, &out, &said); code != 0 {
			t.Fatalf("%s: exit %d: %s", how, code, &said)
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := ask("typed"); r.Symbols != 6 || r.Uses == 0 || r.Seconds <= 0 {
		t.Errorf("got %+v, want 6 symbols and an edge", r)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "a.go"))
	if r := ask("change"); r.Define == 0 || r.Edit == 0 || r.Blast <= 0 || !strings.HasPrefix(r.About, "Price of a.go: 1 of 6 symbols") {
		t.Errorf("got %+v", r)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "a.go")); !bytes.Equal(before, after) {
		t.Errorf("the file is left changed: %s", after)
	}
}

func TestDriver(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("REFUSED: no python3 on this machine")
	}
	file := filepath.Join(t.TempDir(), "driver.py")
	if err := os.WriteFile(file, driver, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := lay(t)
	if err := os.Remove(filepath.Join(dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "s.ts")); err != nil {
		t.Fatal(err)
	}
	r, err := reported(t.Context(), python, file, "ast", dir)
	if err != nil || r.Symbols != 3 || r.Uses != 1 || r.Seconds <= 0 || r.peak < 1<<20 {
		t.Errorf("got %+v, %v; want 3 symbols and a call", r, err)
	}
}

func TestCopied(t *testing.T) {
	for _, tt := range []struct{ language, name, text, as, want string }{
		{"go", "pkg/a.go", "package a\n\nimport \"k8s.io/apimachinery/pkg/b\"\n", "copy007/pkg/a.go", "// Copy 7.\n\npackage a\n\nimport \"example.com/large/copy007/pkg/b\"\n"},
		{"python", "networkx/a.py", "import networkx as nx\n", "copy007/a.py", "# Copy 7.\nimport copy007 as nx\n"},
		{"typescript", "zod/a.ts", "import './b'\n", "copy007/zod/a.ts", "// Copy 7.\nimport './b'\n"},
	} {
		name, text := (&tree{language: tt.language}).copied(tt.name, []byte(tt.text), 7)
		if name != tt.as || string(text) != tt.want {
			t.Errorf("%s: %s: %q", tt.language, name, text)
		}
	}
}

func TestGoals(t *testing.T) {
	replies := func(r reply) []reply { return []reply{r} }
	python := &contest{tree: tree{language: "python", files: 400, bytes: 2000}, ways: []*way{
		{name: coldWay, all: replies(reply{CPU: 2})}, {name: "aider map, cold", all: replies(reply{CPU: 1})}, {name: "Python's ast", all: replies(reply{CPU: 2})},
		{name: changeWay, all: replies(reply{Edit: 0.001, Define: 0.006, Blast: 0.002})},
	}}
	small := &contest{tree: tree{language: "go", files: 400, bytes: 1000}, ways: []*way{
		{name: coldWay, all: replies(reply{CPU: 0.1})}, {name: "redraft, warm, typed", all: replies(reply{CPU: 0.2})}, {name: changeWay, all: replies(reply{})},
	}}
	large := &contest{tree: tree{language: "go", files: 20000}, copies: 20000, ways: []*way{{name: coldWay, all: replies(reply{peak: 401 << 20})}}}
	var out bytes.Buffer
	if goals(&out, []*contest{python, small, large}) {
		t.Error("all goals are met")
	}
	for _, want := range []string{
		"no   python, 400 files, cold not slower than aider's map: 0.5 times as fast", "yes  python, 400 files, one file, an edit inside it, below 5 ms beyond its parse: 1 ms",
		"no   python, 400 files, one file, a new definition, below 5 ms beyond its parse: 6 ms", "no   python, 400 files, blast radius below 1 ms: 2 ms",
		"yes  go, 400 files, cold 10 times as fast as Python's ast, by bytes: 10 times as fast", "no   go, 400 files, redraft, warm, typed, below 100 ms: 200 ms",
		"no   go, 20000 files, redraft, cold, outlines, peak below 400 MiB: 401 MiB",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}
