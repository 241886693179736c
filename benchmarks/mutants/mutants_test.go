package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tree of its own, so that this test is no slower than two runs of go test.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.22\n",
		"m.go":        "package m\n\nfunc Max(a, b int) int {\n\tif a > b {\n\t\treturn a\n\t}\n\treturn b\n}\n\nfunc unused() int { return 1 }\n\nvar _ = unused\n",
		"m_test.go":   "package m\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif got := Max(1, 2); got != 2 {\n\t\tt.Errorf(\"got %d, want 2\", got)\n\t}\n}\n\nfunc TestRed(t *testing.T) { t.Error(\"always\") }\n",
		".git/config": "not copied",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	dir := tree(t)
	m := Mutant{Name: "the smaller", Promise: "D0", File: "m.go", Old: "a > b", New: "a < b", Test: ".", Run: "TestMax"}
	with := func(change func(m *Mutant)) Mutant {
		other := m
		change(&other)
		return other
	}
	for _, tt := range []struct {
		name string
		m    Mutant
		exit int
		want string
	}{
		{"caught", m, 0, "mutants: 1 caught of 1"},
		{"missed", with(func(m *Mutant) { m.Old, m.New = "return 1", "return 2" }), 1, "MISSED: no test noticed"},
		{"does not compile", with(func(m *Mutant) { m.New = "a > c" }), 1, "MISSED: does not compile"},
		{"not there", with(func(m *Mutant) { m.Old = "a >= b" }), 1, `"a >= b" stands 0 times in m.go, not once`},
		{"more than once", with(func(m *Mutant) { m.Old = "return" }), 1, `"return" stands 3 times in m.go, not once`},
		{"no such test", with(func(m *Mutant) { m.Run = "TestMin" }), 1, "MISSED: no test is called so"},
		{"red without it", with(func(m *Mutant) { m.Run = "TestRed" }), 1, "MISSED: its test is red without it"},
		{"no such file", with(func(m *Mutant) { m.File = "n.go" }), 1, "MISSED: open "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(context.Background(), []Mutant{tt.m}, []string{"--tree", dir}, &stdout, &stderr); got != tt.exit {
				t.Errorf("got exit %d, want %d\n%s", got, tt.exit, stderr.String())
			}
			if !strings.Contains(stdout.String(), tt.want) {
				t.Errorf("got %q, want %q in it", stdout.String(), tt.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(dir, "m.go")); err != nil || !strings.Contains(string(text), "a > b") {
		t.Errorf("the tree itself was changed (%v)", err)
	}
}

func TestRunSelects(t *testing.T) {
	var stdout, stderr bytes.Buffer
	table := []Mutant{{Name: "a", Promise: "D0"}, {Name: "b", Promise: "D1"}}
	if got := run(context.Background(), table, []string{"--tree", t.TempDir(), "--run", "^D9"}, &stdout, &stderr); got != 0 || stdout.String() != "mutants: 0 caught of 0\n" {
		t.Errorf("got exit %d, %q", got, stdout.String())
	}
	if got := run(context.Background(), table, []string{"--run", "("}, &stdout, &stderr); got != 2 {
		t.Errorf("a bad expression: got exit %d, want 2", got)
	}
}

// TestTable keeps every entry of the table fitting the code, which a full run would tell only later.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.File)))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := bytes.Count(text, []byte(m.Old)); n != 1 {
			t.Errorf("%s %s: %q stands %d times in %s, want once", m.Promise, m.Name, m.Old, n, m.File)
		}
		if m.Promise == "" || m.Test == "" || m.Run == "" || m.Old == m.New || seen[m.Name] {
			t.Errorf("%s %s: incomplete, or named twice", m.Promise, m.Name)
		}
		seen[m.Name] = true
	}
}
