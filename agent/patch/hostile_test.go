package patch_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
)

// within ends a test whose work does not end. The bounds are in what is done, not in the clock: this is for the day on
// which one of them is lost.
func within(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(4 * time.Minute):
		t.Fatal("it does not end")
	}
}

// slipOf is the slip of landing a set on a tree, or nil.
func slipOf(t *testing.T, root fs.FS, set patch.Set) *patch.Slip {
	t.Helper()
	_, _, err := patch.Resolve(root, set, patch.Policy{})
	var s *patch.Slip
	if err != nil && !errors.As(err, &s) {
		t.Fatalf("%v is no slip", err)
	}
	return s
}

// TestDeepNesting holds that what is nested ever so deeply lands or is refused, and that the next edit lands.
func TestDeepNesting(t *testing.T) {
	within(t, func() {
		for name, pair := range map[string][2]string{"a.go": {"{", "}"}, "a.py": {"(", ")"}, "a.ts": {"[", "]"}, "a.js": {"`${", "}`"}, "a.rs": {"{", "}"}, "A.java": {"{", "}"}} {
			for _, n := range []int{100, 6000} {
				deep := strings.Repeat(pair[0], n) + strings.Repeat(pair[1], n) + "\n"
				for _, addr := range []string{"*", "L1", "F", "+F"} {
					_ = slipOf(t, tree(name, "\n"), patch.Set{edit(name, addr, deep)})
					_ = slipOf(t, tree(name, deep), patch.Set{edit(name, addr, "x\n")})
				}
			}
		}
	})
	if s := slipOf(t, tree("a.py", "x = 1\n"), patch.Set{edit("a.py", "x", "x = 2\n")}); s != nil {
		t.Error("after hostile texts an honest one:", s)
	}
}

// unread is a tree in which nothing may be read.
type unread struct {
	fs.FS
	t *testing.T
}

func (u unread) Open(name string) (fs.File, error) {
	if name != "." {
		u.t.Errorf("%s was opened", name)
	}
	return u.FS.Open(name)
}

// TestLargeFileIsNotRead holds that a file of 50 MB is refused for its size, before a byte of it is read.
func TestLargeFileIsNotRead(t *testing.T) {
	data := make([]byte, 50<<20)
	for i := range data {
		data[i] = "x\n"[i%2]
	}
	root := unread{fstest.MapFS{"large.go": {Data: data, Mode: 0o644}}, t}
	for _, addr := range []string{"*", "L1", "F", "+F", "+L1"} {
		if s := slipOf(t, root, patch.Set{edit("large.go", addr, "x\n")}); s == nil || s.Code != patch.Limit {
			t.Errorf("%s: got %v, want it refused for its size", addr, s)
		}
	}
	_, err := patch.Gate(root, []byte(over("large.go", "x", "y")), patch.Policy{})
	var s *patch.Slip
	if !errors.As(err, &s) || s.Code != patch.Limit {
		t.Errorf("the gate says %v", err)
	}
}

// TestFileTooLongToParse holds that between what is parsed and what is read there are ranges alone.
func TestFileTooLongToParse(t *testing.T) {
	text := "package p\n" + strings.Repeat("// x\n", 5<<20/5)
	root := tree("p.go", text)
	if s := slipOf(t, root, patch.Set{edit("p.go", "F", "func F() {}\n")}); s == nil || s.Code != patch.NoSymbol || !strings.Contains(s.Error(), "L3-L9") {
		t.Errorf("by name: got %v, want lines to be offered", s)
	}
}

// TestAnswerOf10MB holds that a long answer is refused unread, and a long body before it is compared.
func TestAnswerOf10MB(t *testing.T) {
	for name, piece := range map[string]string{
		"prose": "word ", "lines": "\n", "fences": "```\n", "headers": "# edit: a.go :: F\n", "blocks": "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
		"edits": "# edit: a.go :: F\n```\nx\n```\n", "diffs": "```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n", "carriage returns": "\r\n",
	} {
		set, slips := patch.Parse(strings.Repeat(piece, 10<<20/len(piece)))
		if len(set) > 0 || codesOf(slips) != patch.Limit {
			t.Errorf("%s: %d edits, %s", name, len(set), codesOf(slips))
		}
		within(t, func() { patch.Parse(strings.Repeat(piece, (1<<20-1)/len(piece))) })
	}
	within(t, func() {
		body := strings.Repeat("x = 1\n", 10<<20/6)
		for _, addr := range []string{"*", "L1", "+L1", "x", "+y"} {
			if s := slipOf(t, tree("a.py", "x = 1\n"), patch.Set{edit("a.py", addr, body)}); s == nil {
				t.Errorf("%s: 10 MB landed", addr)
			}
		}
	})
}

// TestGrammarGivesUp holds that a text that breaks a grammar is a file without symbols: a refusal that offers lines, and
// lines land.
func TestGrammarGivesUp(t *testing.T) {
	text := strings.Repeat("/* ", 30_000) + "\n" // a lexer reads the rest of it again and again
	within(t, func() {
		s := slipOf(t, tree("a.js", "x;\n"+text), patch.Set{edit("a.js", "f", "function f() {}\n")})
		if s == nil || s.Code != patch.NoSymbol || !strings.Contains(s.Error(), "L3-L9") {
			t.Errorf("by name: got %v, want lines to be offered", s)
		}
		if s := slipOf(t, tree("a.js", "x;\n"+text), patch.Set{edit("a.js", "L1", "y;\n")}); s != nil {
			t.Errorf("by lines: %v", s)
		}
		if s := slipOf(t, tree("a.js", "function f() {}\n"), patch.Set{edit("a.js", "f", "function f() {}\n"+text)}); s == nil || s.Code != patch.DoesNotParse {
			t.Errorf("a body: got %v, want it refused", s)
		}
	})
}

// TestOneName holds that of symbols of one name none is meant by it, however many they are, and that each is said with its
// lines.
func TestOneName(t *testing.T) {
	for name, src := range map[string]string{
		"a.py": "class A:\n    @property\n    def x(self):\n        return 1\n\n    @x.setter\n    def x(self, v):\n        pass\n",
		"a.ts": "class A {\n  get x() { return 1; }\n  set x(v) { }\n}\n", "a.js": "class A {\n  get x() { return 1; }\n\n  set x(v) { }\n}\n",
		"a.rs": "struct A;\nimpl B for A {\n    fn x() {}\n}\nimpl C for A {\n    fn x() {}\n}\n", "A.java": "class A {\n  void x() {}\n  void x(int a) {}\n}\n",
		"a.go": "package a\n\nfunc init() {}\n\nfunc init() {}\n",
	} {
		addr := "A.x"
		if name == "a.go" {
			addr = "init"
		}
		s := slipOf(t, tree(name, src), patch.Set{edit(name, addr, "x\n")})
		if s == nil || s.Code != patch.Ambiguous || strings.Count(s.Text, addr+" at L") != 2 {
			t.Errorf("%s: %v", name, s)
		}
	}
	many := "package a\n" + strings.Repeat("func init() {}\n", 5000)
	if s := slipOf(t, tree("a.go", many), patch.Set{edit("a.go", "init", "x\n")}); s == nil || !strings.Contains(s.Text, "and 4992 more") {
		t.Errorf("%v", s)
	}
}

// TestManyEdits holds that as many edits as an answer may have land on one file.
func TestManyEdits(t *testing.T) {
	var text strings.Builder
	var set patch.Set
	text.WriteString("package p\n")
	for i := range 400 {
		fmt.Fprintf(&text, "\n// F%d is.\nfunc F%d() int { return 1 }\n", i, i)
		set = append(set, edit("p.go", fmt.Sprintf("F%d", i), fmt.Sprintf("func F%d() int { return 2 }\n", i)))
	}
	within(t, func() {
		if _, landings, err := patch.Resolve(tree("p.go", text.String()), set, patch.Policy{}); err != nil || len(landings) != 400 || landings[399].Rewritten != 1 {
			t.Error(err, len(landings))
		}
	})
}
