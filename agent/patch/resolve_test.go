package patch_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
)

const cart = `package cart

import "fmt"

const (
	low = iota
	// high is high.
	high
)

// Cart holds things.
type Cart struct{ items []int }

// Total adds up.
func (c *Cart) Total() int {
	sum := 0
	for _, i := range c.items {
		sum -= i
	}

	return sum
}

func (c Cart) String() string { return fmt.Sprint(c.items) }

type Bag struct{}

func (Bag) String() string { return "" }

func Len(c *Cart) int {
	return len(c.items) + 1
}
`

func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1]), Mode: 0o644}
	}
	return m
}

func edit(file, addr, body string) patch.Edit {
	return patch.Edit{File: file, Addr: addr, Body: []byte(body), Line: 1}
}

// TestLand shows what comes of one edit of one file.
func TestLand(t *testing.T) {
	swap := func(src, old, new string) string {
		if strings.Count(src, old) != 1 {
			t.Fatalf("%q is not once in the text", old)
		}
		return strings.Replace(src, old, new, 1)
	}
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const total = "func (c *Cart) Total() int {\n\tsum := 0\n\tfor _, i := range c.items {\n\t\tsum += i\n\t}\n\n\treturn sum\n}\n"
	fixed := swap(cart, "sum -= i", "sum += i")
	for _, tt := range []struct{ name, file, before, addr, body, after, landing string }{
		{"symbol", "c.go", cart, "Cart.Total", "// Total adds up.\n" + total, fixed, "c.go Cart.Total L14-L22 [1 of 9 lines rewritten]"},
		{"symbol without its doc comment", "c.go", cart, "Cart.Total", total, fixed, "c.go Cart.Total L14-L22 [1 of 9 lines rewritten]"},
		{"bare name of the only method", "c.go", cart, "Total", total, fixed, ""},
		{"spaces for tabs", "c.go", cart, "Cart.Total", strings.ReplaceAll(total, "\t", "    "), fixed, ""},
		{"two spaces for tabs", "c.go", cart, "Cart.Total", strings.ReplaceAll(total, "\t", "  "), fixed, ""},
		{"indented as a whole", "c.go", cart, "Cart.Total", "\t" + strings.ReplaceAll(strings.TrimSuffix(total, "\n"), "\n", "\n\t") + "\n", fixed, ""},
		{"blank lines around", "c.go", cart, "Cart.Total", "\n\n" + total + "\n", fixed, ""},
		{"CRLF", "c.go", crlf(cart), "Cart.Total", total, crlf(fixed), "c.go Cart.Total L14-L22 [1 of 9 lines rewritten]"},
		{"CRLF body for an LF file", "c.go", cart, "Cart.Total", crlf(total), fixed, ""},
		{"byte order mark", "c.go", "\ufeff" + cart, "Cart.Total", total, "\ufeff" + fixed, ""},
		{"byte order mark and the whole file", "c.go", "\ufeff" + cart, "*", fixed, "\ufeff" + fixed, "c.go * L1-L32 [1 of 32 lines rewritten]"},
		{"byte order mark twice", "c.go", "\ufeff" + cart, "*", "\ufeff" + fixed, "\ufeff" + fixed, ""},
		{"byte order mark and line 1", "a.txt", "\ufeffa\nb\n", "L1", "x\n", "\ufeffx\nb\n", "a.txt L1 L1-L1 [1 of 1 lines rewritten]"},
		{"with a helper", "c.go", cart, "Len", "func Len(c *Cart) int { return size(c) }\n\nfunc size(c *Cart) int { return len(c.items) }\n",
			swap(cart, "func Len(c *Cart) int {\n\treturn len(c.items) + 1\n}\n", "func Len(c *Cart) int { return size(c) }\n\nfunc size(c *Cart) int { return len(c.items) }\n"), ""},
		{"raw string keeps its lines", "c.go", "package c\n\nfunc f() string {\n\treturn `\n  a\n\tb\n`\n}\n", "f",
			"  func f() string {\n      return `\n  a\n\tc\n`\n  }\n", "package c\n\nfunc f() string {\n\treturn `\n  a\n\tc\n`\n}\n", "c.go f L3-L8 [1 of 6 lines rewritten]"},

		{"spec of a group", "c.go", cart, "high", "high = 7\n", swap(cart, "// high is high.\n\thigh\n", "// high is high.\n\thigh = 7\n"), "c.go high L7-L8 [1 of 2 lines rewritten]"},
		{"spec with its keyword", "c.go", cart, "high", "// high is high.\nconst high = 7\n", swap(cart, "high\n)", "high = 7\n)"), ""},
		{"spec in a group of its own", "c.go", cart, "low", "const (\n\tlow = 3\n)\n", swap(cart, "low = iota", "low = 3"), ""},
		{"type", "c.go", cart, "Bag", "type Bag struct{ n int }\n", swap(cart, "type Bag struct{}", "type Bag struct{ n int }"), ""},

		{"create", "c.go", cart, "+New", "func New() *Cart { return nil }\n", cart + "\nfunc New() *Cart { return nil }\n", "c.go +New L33 [2 lines added]"},
		{"create a method", "c.go", cart, "Cart.+Add", "func (c *Cart) Add(i int) {\n    c.items = append(c.items, i)\n}\n",
			swap(cart, "fmt.Sprint(c.items) }\n", "fmt.Sprint(c.items) }\n\nfunc (c *Cart) Add(i int) {\n\tc.items = append(c.items, i)\n}\n"), "c.go +Cart.Add L25 [4 lines added]"},
		{"create a method of a type without any", "c.go", "package c\n\ntype T int\n\nvar x T\n", "+T.M", "func (T) M() {}\n",
			"package c\n\ntype T int\n\nfunc (T) M() {}\n\nvar x T\n", ""},
		{"create before what is no definition", "c.go", "package c\n\nvar x int\n// end\n", "+F", "func F() {}\n", "package c\n\nvar x int\n\nfunc F() {}\n\n// end\n", ""},
		{"create in CRLF without final newline", "c.go", "package c\r\n\r\nvar x int", "+F", "func F() {}\n", "package c\r\n\r\nvar x int\r\n\r\nfunc F() {}", ""},
		{"create in an empty package", "c.go", "package c\n", "+F", "func F() {}\n", "package c\n\nfunc F() {}\n", ""},
		{"create another init", "c.go", "package c\n\nfunc init() {}\n", "+init", "func init() { println() }\n", "package c\n\nfunc init() {}\n\nfunc init() { println() }\n", ""},
		{"create after a group", "c.go", "package c\n\nvar (\n\tx int\n)\n", "+y", "var y int\n", "package c\n\nvar (\n\tx int\n)\n\nvar y int\n", ""},

		{"range", "a.txt", "a\nb\nc\n", "L2", "x\ny\n", "a\nx\ny\nc\n", "a.txt L2 L2-L2 [1 of 1 lines rewritten, 1 added]"},
		{"range is verbatim", "a.txt", "\ta\nb\n", "L1", "    a  \n", "    a  \nb\n", ""},
		{"range deleted", "a.txt", "a\nb\nc\n", "L2-L3", "", "a\n", "a.txt L2-L3 [2 of 2 lines rewritten]"},
		{"no final newline", "a.txt", "a\nb", "L2", "c\n", "a\nc", ""},
		{"whole without final newline", "a.txt", "a\nb", "*", "a\nc\n", "a\nc", "a.txt * L1-L2 [1 of 2 lines rewritten]"},
		{"append without final newline", "a.txt", "a\nb", "+L3", "c\n", "a\nb\nc", "a.txt +L3 L3 [1 line added]"},
		{"insert first", "a.txt", "a\n", "+L1", "x\n", "x\na\n", "a.txt +L1 L1 [1 line added]"},
		{"append", "a.txt", "a\n", "+L2", "x\n", "a\nx\n", ""},
		{"into an empty file", "a.txt", "", "+L1", "x\n", "x\n", ""},
		{"whole of an empty file", "a.txt", "", "*", "x\n", "x\n", "a.txt * L1 [1 line added]"},
		{"mixed endings", "a.txt", "a\r\nb\nc\r\nd\n", "L1-L4", "a\nB\nc\nd\nE\n", "a\r\nB\nc\r\nd\nE\n", "a.txt L1-L4 [1 of 4 lines rewritten, 1 added]"},
		{"invalid UTF-8 stays", "a.txt", "\xff\xfe\na\n\xe9\n", "L2", "b\n", "\xff\xfe\nb\n\xe9\n", ""},
		{"form feed and lone CR stay", "a.txt", "a\r b\n\f\nc\n", "L3", "d\n", "a\r b\n\f\nd\n", ""},
		{"any name", "app/[id]/a b+c@d.txt", "a\n", "L1", "b\n", "b\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(tt.file, tt.before)
			change, landings, err := patch.Resolve(root, patch.Set{edit(tt.file, tt.addr, tt.body)}, patch.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			got := change.Files[0]
			if diff := cmp.Diff(tt.after, string(got.New)); diff != "" {
				t.Error(diff)
			}
			if string(got.Old) != tt.before || got.Path != tt.file || got.Mode != 0o644 || got.Created || got.Deleted {
				t.Errorf("%+v", got)
			}
			if tt.landing != "" && landings[0].String() != tt.landing {
				t.Errorf("landing %q, want %q", landings[0], tt.landing)
			}
		})
	}
}

func TestLandSeveral(t *testing.T) {
	root := tree("c.go", cart, "b.txt", "1\n2\n3\n4\n", "d/e.go", "package e\n\nvar x = 1\n")
	set := patch.Set{
		edit("c.go", "Len", "func Len(c *Cart) int {\n\treturn len(c.items)\n}\n"),
		edit("b.txt", "+L2", "first\n"), edit("b.txt", "+L2", "second\n"), edit("b.txt", "L2-L3", "23\n"),
		edit("c.go", "low", "low = 1\n"), edit("c.go", "+A", "var A int\n"), edit("c.go", "+B", "var B int\n"),
		edit("new/f.go", "*", "package f\n"),
		edit("d/e.go", "x", "var x = 1\n"),
	}
	change, landings, err := patch.Resolve(root, set, patch.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range change.Files {
		got[f.Path] = string(f.New)
	}
	c := strings.Replace(cart, " + 1\n", "\n", 1)
	c = strings.Replace(c, "low = iota", "low = 1", 1) + "\nvar A int\n\nvar B int\n"
	want := map[string]string{"c.go": c, "b.txt": "1\nfirst\nsecond\n23\n4\n", "new/f.go": "package f\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := landings[8].String(); s != "d/e.go x L3-L3 [0 of 1 lines rewritten]" {
		t.Errorf("the retyped edit landed as %q", s)
	}
	if f := change.Files[2]; !f.Created || f.Old != nil || f.Mode != 0o644 {
		t.Errorf("%+v", f)
	}
}

func TestLandFit(t *testing.T) {
	fit := func(old, body string) patch.Edit {
		return patch.Edit{File: "a.txt", Addr: patch.Fit, Old: []byte(old), Body: []byte(body)}
	}
	for _, tt := range []struct{ name, before, old, body, after, landing string }{
		{"once", "a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n", "a.txt L2 L2-L2 [1 of 1 lines rewritten]"},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\n", "a\r\nx\r\nc\r\n", "a.txt L1-L2 [1 of 2 lines rewritten]"},
		{"trailing white space of context stays", "a \nb\t\nc\n", "a\nb\nc\n", "a\nb\nd\n", "a \nb\t\nd\n", ""},
		{"no final newline", "a\nb", "b\n", "x\n", "a\nx", ""},
		{"deleted", "a\nb\nc\n", "b\n", "", "a\nc\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change, landings, err := patch.Resolve(tree("a.txt", tt.before), patch.Set{fit(tt.old, tt.body)}, patch.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(change.Files[0].New); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
			if tt.landing != "" && landings[0].String() != tt.landing {
				t.Errorf("landing %q, want %q", landings[0], tt.landing)
			}
		})
	}
}

// slipCase is a set that is refused, with the code and what the slip has to say.
type slipCase struct {
	name   string
	code   patch.Code
	says   string
	set    patch.Set
	policy patch.Policy
}

func slipCases() []slipCase {
	one := func(file, addr, body string) patch.Set { return patch.Set{edit(file, addr, body)} }
	two := func(a, b patch.Edit) patch.Set { return patch.Set{a, b} }
	const f = "func Len(c *Cart) int { return 0 }\n"
	return []slipCase{
		{name: "no edits", code: patch.NoEdit, says: "# edit: FILE :: ADDRESS"},
		{name: "test", code: patch.IsProtected, says: "a test", set: one("c_test.go", "*", "package cart\n")},
		{name: "protected comes before the coordinate", code: patch.IsProtected, says: "go.mod", set: two(edit("c.go", "Nope", f), edit("go.mod", "L900", "x\n"))},
		{name: "out of the tree", code: patch.Escapes, says: "../x", set: one("../x", "*", "x\n")},
		{name: "absolute", code: patch.Escapes, says: "relative", set: one("/etc/passwd", "*", "x\n")},
		{name: ".git", code: patch.Escapes, says: ".git", set: one("d/.GIT/config", "*", "x\n")},
		{name: "case", code: patch.Collision, says: "c.go", set: one("C.go", "*", "package c\n")},
		{name: "link", code: patch.Symlink, set: one("link.go", "L1", "x\n")},
		{name: "through a link", code: patch.Symlink, set: one("dirlink/x.go", "*", "package x\n")},
		{name: "submodule", code: patch.Submodule, set: one("sub/x.go", "*", "package x\n")},
		{name: "repository within", code: patch.Submodule, set: one("nested/x.go", "*", "package x\n")},
		{name: "binary", code: patch.NotText, set: one("logo.bin", "L1", "x\n")},
		{name: "NUL in the text", code: patch.NotText, set: one("a.txt", "L1", "x\x00\n")},
		{name: "unknown file", code: patch.UnknownFile, says: "Did you mean d/e.go?", set: one("e.go", "L1", "x\n")},
		{name: "unknown file, misspelled", code: patch.UnknownFile, says: "Did you mean d/longname.go?", set: one("d/longnam.go", "L1", "x\n")},
		{name: "dot slash", code: patch.UnknownFile, says: "Did you mean c.go?", set: one("./c.go", "Len", f)},
		{name: "prefix of a diff", code: patch.UnknownFile, says: "Did you mean c.go?", set: one("a/c.go", "*", "package c\n")},
		{name: "how to create", code: patch.UnknownFile, says: "at the address `*`", set: one("zzzzzz.go", "+F", f)},
		{name: "folder", code: patch.UnknownFile, says: "is a folder", set: one("d", "*", "x\n")},
		{name: "file as a folder", code: patch.UnknownFile, says: "not a folder", set: one("c.go/x.go", "*", "package x\n")},
		{name: "two make a file", code: patch.TwoEditsAFile, set: two(edit("n.go", "*", "package a\n"), edit("n.go", "*", "package b\n"))},
		{name: "new file empty", code: patch.Empty, set: one("n.go", "*", "\n")},
		{name: "whole file empty", code: patch.Empty, set: one("a.txt", "*", "")},
		{name: "creation empty", code: patch.Empty, set: one("c.go", "+F", "\n")},
		{name: "range past the end", code: patch.BadRange, says: "a.txt has 3 lines", set: one("a.txt", "L2-L9", "x\n")},
		{name: "range backwards", code: patch.BadRange, set: one("a.txt", "L3-L2", "x\n")},
		{name: "line 0", code: patch.BadRange, set: one("a.txt", "L0", "x\n")},
		{name: "insert past the end", code: patch.BadRange, says: "`+L4` appends", set: one("a.txt", "+L5", "x\n")},
		{name: "no fit", code: patch.NoFit, says: "nowhere", set: patch.Set{{File: "a.txt", Addr: patch.Fit, Old: []byte("z\n"), Body: []byte("x\n")}}},
		{name: "fits twice", code: patch.NoFit, says: "L1, L3", set: patch.Set{{File: "a.txt", Addr: patch.Fit, Old: []byte("a\n"), Body: []byte("x\n")}}},
		{name: "not shown, whole", code: patch.NotShown, says: "lines 20 to 25", set: one("c.go", "*", "package cart\n"), policy: hidden()},
		{name: "not shown, symbol", code: patch.NotShown, says: "lines 20 to 22", set: one("c.go", "Cart.Total", "func (c *Cart) Total() int { return 0 }\n"), policy: hidden()},
		{name: "symbol without grammar", code: patch.NoGrammar, says: "L3-L9", set: one("a.txt", "Len", "x\n")},
		{name: "symbol of a broken file", code: patch.NoSymbol, says: "does not parse as it is (line 3", set: one("broken.go", "F", f)},
		{name: "no such symbol", code: patch.NoSymbol, says: "It has Len.", set: one("c.go", "Lenn", f)},
		{name: "how to add", code: patch.NoSymbol, says: "`+Cart.Size`", set: one("c.go", "Cart.Size", f)},
		{name: "ambiguous", code: patch.Ambiguous, says: "Cart.String at L24, Bag.String at L28", set: one("c.go", "String", f)},
		{name: "create what exists", code: patch.Exists, says: "at L30-L32", set: one("c.go", "+Len", f)},
		{name: "define another thing again", code: patch.Exists, says: "defines Bag twice", set: one("c.go", "Len", f+"\ntype Bag int\n")},
		{name: "unknown container", code: patch.NoContainer, says: "Its types are Cart, Bag.", set: one("c.go", "+Box.Len", "func (Box) Len() {}\n")},
		{name: "overlap", code: patch.Overlap, says: "c.go :: L31 overlaps with c.go :: Len", set: two(edit("c.go", "Len", f), edit("c.go", "L31", "x\n"))},
		{name: "same address twice", code: patch.Overlap, set: two(edit("c.go", "Len", f), edit("c.go", "Len", "func Len(c *Cart) int { return 2 }\n"))},
		{name: "insert within", code: patch.Overlap, set: two(edit("a.txt", "L1-L3", "x\n"), edit("a.txt", "+L2", "x\n"))},
		{name: "whole and part", code: patch.Overlap, set: two(edit("a.txt", "*", "x\n"), edit("a.txt", "L2", "x\n"))},
		{name: "does not parse", code: patch.DoesNotParse, says: `line 31, expected operand, found ')', at "return )"`, set: one("c.go", "Len", "func Len(c *Cart) int {\n\treturn )\n}\n")},
		{name: "package clause in a symbol", code: patch.DoesNotParse, says: "without package clause", set: one("c.go", "Len", "package cart\n\n"+f)},
		{name: "new file does not parse", code: patch.DoesNotParse, set: one("n.go", "*", "hello\n")},
		{name: "the right edit is blamed", code: patch.DoesNotParse, says: "expected", set: two(edit("c.go", "low", "low = 1\n"), edit("c.go", "Len", "func Len(c *Cart) int { return ( }\n"))},
		{name: "definition gone", code: patch.SymbolGone, says: "no longer defines Len", set: one("c.go", "Len", "func Other() {}\n")},
		{name: "definition emptied", code: patch.SymbolGone, set: one("c.go", "Len", "")},
		{name: "neighbour on the same line gone", code: patch.SymbolGone, says: "no longer defines g", set: one("oneline.go", "f", "func f() {}\n")},
		{name: "other name", code: patch.OtherName, says: "but Cart.Add", set: one("c.go", "+Add", "func (c *Cart) Add() {}\n")},
		{name: "lost export", code: patch.LostExport, says: "Len was exported and is now len", set: one("c.go", "Len", "func len(c *Cart) int { return 0 }\n")},
		{name: "lost export by lines", code: patch.LostExport, set: one("c.go", "L26", "type bag struct{}\n\nvar _ = bag{}\n")},
		{name: "nothing changed", code: patch.NothingChanged, says: "c.go", set: one("c.go", "Len", "func Len(c *Cart) int {\n    return len(c.items) + 1\n}\n")},
		{name: "nothing changed in a line", code: patch.NothingChanged, set: one("a.txt", "L2", "b\n")},
		{name: "nothing inserted", code: patch.NothingChanged, set: one("a.txt", "+L4", "")},
		{name: "address nobody can read", code: patch.BadHeader, set: one("a.txt", "a-b", "x\n")},
		{name: "too many files", code: patch.Limit, says: "2 files; at most 1", set: two(edit("a.txt", "L2", "x\n"), edit("c.go", "Len", f)), policy: patch.Policy{Files: 1}},
		{name: "too many lines", code: patch.Limit, says: "4 changed lines; at most 3", set: one("a.txt", "L1-L2", "x\ny\n"), policy: patch.Policy{Lines: 3}},
		{name: "too many bytes", code: patch.Limit, says: "bytes", set: one("a.txt", "L2", strings.Repeat("x", 600<<10)+"\n")},
		{name: "file too large", code: patch.Limit, set: one("large.txt", "L1", "x\n")},
	}
}

func hidden() patch.Policy {
	return patch.Policy{Unseen: map[string][]patch.Lines{"c.go": {{First: 20, Last: 25}}}}
}

// TestUnseenComments: a long comment that was not shown stays above the definition below it, and is not written anew.
func TestUnseenComments(t *testing.T) {
	one := func(file, addr, body string) patch.Set { return patch.Set{edit(file, addr, body)} }
	const src = "package c\n\n// F counts.\n//\n// A\n// B\n// C\nfunc F() int {\n\treturn 1\n}\n"
	root := fstest.MapFS{"c.go": {Data: []byte(src)}}
	policy := patch.Policy{Unseen: map[string][]patch.Lines{"c.go": {{First: 3, Last: 7}, {First: 11, Last: 99}}}}
	change, _, err := patch.Resolve(root, one("c.go", "F", "func F() int {\n\treturn 2\n}\n"), policy)
	if want := strings.Replace(src, "return 1", "return 2", 1); err != nil || string(change.Files[0].New) != want {
		t.Errorf("got %v, %v, want\n%s", change, err, want)
	}
	var slip *patch.Slip
	_, _, err = patch.Resolve(root, one("c.go", "F", "// F counts to two.\nfunc F() int {\n\treturn 2\n}\n"), policy)
	if !errors.As(err, &slip) || slip.Code != patch.NotShown || !strings.Contains(slip.Remedy, "Leave the comment") {
		t.Errorf("a comment that was not shown is written anew: got %v", err)
	}
	set := patch.Set{{File: "c.go", Addr: patch.Fit, Old: []byte("// B\n"), Body: []byte("// D\n")}}
	if _, _, err = patch.Resolve(root, set, policy); err != nil { // whoever names the old text has seen it
		t.Errorf("an edit that names its old text: %v", err)
	}
}

var large = strings.Repeat("x\n", 5<<20)

// slipTree is a small tree with one of everything that gets in the way of edits.
func slipTree() fstest.MapFS {
	m := tree("c.go", cart, "c_test.go", "package cart\n", "go.mod", "module cart\n", "a.txt", "a\nb\na\n", "d/e.go", "package e\n",
		"d/longname.go", "package e\n", "logo.bin", "a\x00b", "broken.go", "package b\n\nfunc F( {\n", "oneline.go", "package o\n\nfunc f() {}; func g() {}\n",
		"nested/.git", "gitdir: elsewhere\n", ".gitmodules", "[submodule \"s\"]\n\tpath = sub\n\turl = x\n", "large.txt", large)
	m["link.go"] = &fstest.MapFile{Data: []byte("c.go"), Mode: fs.ModeSymlink | 0o777}
	m["dirlink"] = &fstest.MapFile{Data: []byte("d"), Mode: fs.ModeSymlink | 0o777}
	return m
}

func TestSlips(t *testing.T) {
	for _, tt := range slipCases() {
		t.Run(tt.name, func(t *testing.T) {
			change, landings, err := patch.Resolve(slipTree(), tt.set, tt.policy)
			var s *patch.Slip
			if !errors.As(err, &s) {
				t.Fatalf("got %v %v, want the slip %s", change, err, tt.code)
			}
			if s.Code != tt.code || !strings.Contains(s.Error(), tt.says) {
				t.Errorf("got %s: %s\nwant %s: …%s…", s.Code, s, tt.code, tt.says)
			}
			if len(change.Files) > 0 || len(landings) > 0 {
				t.Error("a refused set has left something")
			}
			if s.Text == "" || s.Remedy == "" || !strings.HasSuffix(s.Text, ".") || strings.Contains(s.Error(), "\n") {
				t.Errorf("not sentences: %+v", s)
			}
		})
	}
}

// TestEveryCodeIsReached holds the list of codes closed: each is seen somewhere, and nothing else is.
func TestEveryCodeIsReached(t *testing.T) {
	seen := map[patch.Code]bool{patch.RepeatedAnswer(2).Code: true}
	for _, answer := range []string{"", "# edit: a :: b\n```\nx", "# edit: a :: b\n", "# edit: a\n```\n```\n"} {
		_, slips := patch.Parse(answer)
		for _, s := range slips {
			seen[s.Code] = true
		}
	}
	for _, c := range slipCases() {
		var s *patch.Slip
		if _, _, err := patch.Resolve(slipTree(), c.set, c.policy); errors.As(err, &s) {
			seen[s.Code] = true
		}
	}
	for _, c := range gateCases {
		var s *patch.Slip
		if _, err := patch.Gate(slipTree(), []byte(c.diff), patch.Policy{}); errors.As(err, &s) {
			seen[s.Code] = true
		}
	}
	for _, code := range patch.Codes {
		if !seen[code] {
			t.Errorf("no test reaches %s", code)
		}
		delete(seen, code)
	}
	for code := range seen {
		t.Errorf("%s is not among the Codes", code)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(patch.Codes)))) != len(patch.Codes) {
		t.Error("a code is listed twice")
	}
}

func TestBlame(t *testing.T) {
	set := patch.Set{edit("c.go", "+Z", "var Z = 1\n\n\n"), edit("c.go", "low", "low = (\n"), edit("c.go", "Len", "func Len(c *Cart) int { return 1 }\n")}
	_, _, err := patch.Resolve(slipTree(), set, patch.Policy{})
	var s *patch.Slip
	if !errors.As(err, &s) || s.Addr != "low" {
		t.Errorf("got %+v, want low blamed", s)
	}
}

func TestErrorsAreNoSlips(t *testing.T) {
	_, _, err := patch.Resolve(brokenFS{}, patch.Set{edit("a.txt", "L1", "x\n")}, patch.Policy{})
	var s *patch.Slip
	if err == nil || errors.As(err, &s) {
		t.Errorf("got %v, want an error that is no slip: a disk is not the model's fault", err)
	}
}

type brokenFS struct{}

func (brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("input/output error")}
}

func TestMerge(t *testing.T) {
	a := edit("a.go", "F", "func F() {}\n")
	a2 := edit("a.go", "F", "func F() int { return 1 }\n")
	broken := edit("a.go", "F", "func F( {}\n")
	create := edit("a.go", "+T.G", "func (T) G() {}\n")
	create2 := edit("a.go", "T.+G", "func (T) G() int { return 1 }\n")
	lines := edit("b.txt", "L3", "x\n")
	whole := edit("a.go", "*", "package a\n")
	for _, tt := range []struct {
		name                 string
		earlier, later, want patch.Set
	}{
		{"nothing before", nil, patch.Set{a}, patch.Set{a}},
		{"nothing after", patch.Set{a}, nil, patch.Set{a}},
		{"replaced in its place", patch.Set{a, lines}, patch.Set{a2}, patch.Set{a2, lines}},
		{"others stay", patch.Set{lines}, patch.Set{a}, patch.Set{lines, a}},
		{"two spellings of one address", patch.Set{create}, patch.Set{create2}, patch.Set{create2}},
		{"broken after whole", patch.Set{a}, patch.Set{broken}, patch.Set{a}},
		{"whole after broken", patch.Set{broken}, patch.Set{a2}, patch.Set{a2}},
		{"broken after broken", patch.Set{broken}, patch.Set{edit("a.go", "F", "func ( {}\n")}, patch.Set{edit("a.go", "F", "func ( {}\n")}},
		{"the whole file", patch.Set{a, lines, create}, patch.Set{whole}, patch.Set{lines, whole}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.earlier)
			if diff := cmp.Diff(tt.want, patch.Merge(tt.earlier, tt.later)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, tt.earlier); diff != "" {
				t.Error("Merge changed its argument:", diff)
			}
		})
	}
}

// TestLandInSixLanguages shows what the corpus has taught: one edit of a small file each.
func TestLandInSixLanguages(t *testing.T) {
	const none = "\x00" // nothing changes
	for _, tt := range []struct{ name, file, before, addr, body, after string }{
		{"a string in another style says nothing of the code's", "a.go", "package a\n\nfunc f() string {\n\tx := `\n    a\n    b\n    c\n`\n\treturn x\n}\n", "f",
			"func f() string {\n\tx := `\n    a\n    b\n    c\n`\n\treturn x\n}\n", none},
		{"two styles in one definition", "A.java", "class A {\n  int f() {\n\tif (a) {\n\t  return 1;\n\t}\n\treturn 2;\n  }\n}\n", "A.f",
			"  int f() {\n\tif (a) {\n\t  return 1;\n\t}\n\treturn 3;\n  }\n", "class A {\n  int f() {\n\tif (a) {\n\t  return 1;\n\t}\n\treturn 3;\n  }\n}\n"},
		{"a comment out of line", "A.java", "class A {\n    /**\n     * F.\n     */\n   @B\n   int f() {\n        return 1;\n    }\n}\n", "A.f",
			" /**\n  * F.\n  */\n@B\nint f() {\n     return 2;\n }\n", "class A {\n    /**\n     * F.\n     */\n   @B\n   int f() {\n        return 2;\n    }\n}\n"},
		{"a doc comment below another", "a.js", "class A {\n    // x\n\n    /**\n     * F.\n     */\n    f() {\n        return `\n * a\n`;\n    }\n}\n", "A.f",
			"/**\n * F.\n */\nf() {\n    return `\n * b\n`;\n}\n", "class A {\n    // x\n\n    /**\n     * F.\n     */\n    f() {\n        return `\n * b\n`;\n    }\n}\n"},
		{"what no UTF-8 can say comes back as a replacement", "a.py", "# caf\xe9 \xff\xfe\ndef f():\n    return 1\n", "f",
			"# caf\ufffd \ufffd\ndef f():\n    return 2\n", "# caf\xe9 \xff\xfe\ndef f():\n    return 2\n"},
		{"and in a whole file", "a.py", "# caf\xe9\nx = 1\n", "*", "# caf\ufffd\nx = 2\n", "# caf\xe9\nx = 2\n"},
		{"byte order mark and a comment to keep", "a.rs", "\ufeff/// F.\nfn f() {\n    1;\n}\n", "f", "fn f() {\n    2;\n}\n", "\ufeff/// F.\nfn f() {\n    2;\n}\n"},
		{"comment of the second name", "a.js", "// Both.\nconst a = 1,\n    b = 2;\n", "b", "const a = 1,\n    b = 3;\n", "// Both.\nconst a = 1,\n    b = 3;\n"},
		{"comment of an annotation's element", "A.java", "@interface A {\n  /** How many. */\n  int n() default 1;\n}\n", "A.n", "int n() default 2;\n",
			"@interface A {\n  /** How many. */\n  int n() default 2;\n}\n"},
		{"comment of a short constructor", "A.java", "record A(int n) {\n  /** Checks. */\n  A {\n    f(n);\n  }\n}\n", "A.A", "A {\n  g(n);\n}\n",
			"record A(int n) {\n  /** Checks. */\n  A {\n    g(n);\n  }\n}\n"},
		{"a comment that runs on behind", "a.go", "package a\n\n// S is.\ntype S struct {\n\tt int\n} /* and\nmore */\n\nvar x int\n", "S", "type S struct {\n\tt, u int\n} /* and\nmore */\n",
			"package a\n\n// S is.\ntype S struct {\n\tt, u int\n} /* and\nmore */\n\nvar x int\n"},
		{"and in JavaScript", "a.js", "function f() {\n} /* and\nmore */\nf();\n", "f", "function f() {\n  g();\n}\n", "function f() {\n  g();\n}\nf();\n"},
		{"a comment that ends on the line", "a.js", "/* one\n   two */ function f() {\n}\n", "f", "function f() {\n  g();\n}\n", "function f() {\n  g();\n}\n"},

		{"blank lines are not padded", "a.py", "class A:\n    def f(self):\n        a\n\n        b\n", "A.f", "def f(self):\n    a\n    \n    \n    c\n",
			"class A:\n    def f(self):\n        a\n\n\n        c\n"},
		{"create above what only runs", "a.py", "def f():\n    pass\n\n\nif __name__ == \"__main__\":\n    def g():\n        pass\nelse:\n    f()\n", "+h", "def h():\n    pass\n",
			"def f():\n    pass\n\n\ndef h():\n    pass\n\n\nif __name__ == \"__main__\":\n    def g():\n        pass\nelse:\n    f()\n"},
		{"create a method above a conditional one", "a.py", "class A:\n    def f(self):\n        pass\n\n    if X:\n        def g(self):\n            pass\n    else:\n        g = f\n", "A.+h",
			"def h(self):\n    pass\n", "class A:\n    def f(self):\n        pass\n\n    def h(self):\n        pass\n\n    if X:\n        def g(self):\n            pass\n    else:\n        g = f\n"},
		{"private method", "a.js", "class A {\n  #f() {\n  }\n}\n", "A.#f", "#f() {\n  g();\n}\n", "class A {\n  #f() {\n    g();\n  }\n}\n"},
		{"raw name", "a.rs", "fn r#match() {\n}\n", "r#match", "fn r#match() {\n    f();\n}\n", "fn r#match() {\n    f();\n}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change, _, err := patch.Resolve(tree(tt.file, tt.before), patch.Set{edit(tt.file, tt.addr, tt.body)}, patch.Policy{})
			var s *patch.Slip
			if tt.after == none && errors.As(err, &s) && s.Code == patch.NothingChanged {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(change.Files[0].New)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoRoom holds that a definition that has no place of its own between others is refused with what to do.
func TestNoRoom(t *testing.T) {
	for _, tt := range []struct{ file, src, addr, body, says string }{
		{"A.java", "class A { int f() { return 1; } }\n", "A.+g", "int g() { return 1; }\n", "the whole of A"},
		{"a.js", "class A {}\n", "A.+g", "g() {}\n", "the whole of A"},
		{"a.rs", "struct A {\n    x: u8,\n}\n", "A.+g", "fn g() {}\n", "`+L4`"},
		{"a.py", "x = 1\n", "A.+g", "def g(self): pass\n", "neither a type A"},
	} {
		_, _, err := patch.Resolve(tree(tt.file, tt.src), patch.Set{edit(tt.file, tt.addr, tt.body)}, patch.Policy{})
		var s *patch.Slip
		if !errors.As(err, &s) || s.Code != patch.NoContainer || !strings.Contains(s.Error(), tt.says) {
			t.Errorf("%s: got %v, want …%s…", tt.file, err, tt.says)
		}
	}
}

// TestLostExport holds that a definition which other files can see stays one, in each language that says so at the definition.
func TestLostExport(t *testing.T) {
	for _, tt := range []struct {
		file, src, addr, body string
		lost                  bool
	}{
		{"a.ts", "export function f() {}\n", "f", "function f() { g(); }\n", true},
		{"a.ts", "export function f() {}\n", "f", "export function f() { g(); }\n", false},
		{"a.ts", "export const f = 1;\n", "f", "const f = 2;\nexport { f };\n", false},
		{"a.js", "export default function f() {}\n", "f", "function f() { g(); }\n", true},
		{"a.js", "function f() {}\nexport { f };\n", "f", "function f() { g(); }\n", false},
		{"a.rs", "pub fn f() {}\n", "f", "fn f() { g(); }\n", true},
		{"a.rs", "pub fn f() {}\n", "f", "pub fn f() { g(); }\n", false},
		{"A.java", "class A {\n  public int f() { return 1; }\n}\n", "A.f", "int f() { return 2; }\n", true},
		{"A.java", "class A {\n  int f() { return 1; }\n}\n", "A.f", "public int f() { return 2; }\n", false},
		{"a.py", "def f(): pass\n", "f", "def f(): g()\n", false},
	} {
		_, _, err := patch.Resolve(tree(tt.file, tt.src), patch.Set{edit(tt.file, tt.addr, tt.body)}, patch.Policy{})
		var s *patch.Slip
		if lost := errors.As(err, &s) && s.Code == patch.LostExport; lost != tt.lost || err != nil && !lost {
			t.Errorf("%s with %q: got %v, want it lost: %v", tt.src, tt.body, err, tt.lost)
		}
	}
}
