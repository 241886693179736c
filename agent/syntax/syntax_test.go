package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/syntax"
)

const shop = `// Package shop sells.
package shop

import "fmt"

// Limit is how much fits.
const Limit = 10

const (
	// small is small.
	small = iota
	big // is big
)

var a, b = 1, 2

// Cart holds things.
type Cart[K comparable] struct {
	Items []K // shown
	size  int
}

// Total adds up.
//
//go:noinline
func (c *Cart[K]) Total(tax int) (sum int) {
	for range c.Items {
		sum++
	}
	return sum + tax
}

func init() {}

func New[K comparable](of ...K) *Cart[K] { return &Cart[K]{Items: of} }

var _ = fmt.Sprint
`

func golang(t testing.TB) syntax.Grammar {
	t.Helper()
	g, ok := syntax.For("a/b.go")
	if !ok {
		t.Fatal("no grammar for Go")
	}
	return g
}

func outline(src string, all []syntax.Symbol) []string {
	var out []string
	for _, s := range all {
		first, _, _ := strings.Cut(src[s.Start:s.End], "\n")
		out = append(out, fmt.Sprintf("%s %s L%d-L%d @%d %q %s", s.Kind, s, s.First, s.Last, s.Line, strings.TrimRight(first, "\r"), s.Signature))
	}
	return out
}

func TestSymbols(t *testing.T) {
	want := []string{
		`const Limit L6-L7 @7 "// Limit is how much fits." const `,
		`const small L10-L11 @11 "\t// small is small." const `,
		`const big L12-L12 @12 "\tbig // is big" const `,
		`var a L15-L15 @15 "var a, b = 1, 2" var `,
		`var b L15-L15 @15 "var a, b = 1, 2" var `,
		`type Cart L17-L21 @18 "// Cart holds things." type [K comparable]struct{Items []K}`,
		`method Cart.Total L23-L31 @26 "// Total adds up." func (*Cart[K]) (int) (int)`,
		`func init L33-L33 @33 "func init() {}" func () ()`,
		`func New L35-L35 @35 "func New[K comparable](of ...K) *Cart[K] { return &Cart[K]{Items: of} }" func [K comparable](...K) (*Cart[K])`,
	}
	for name, src := range map[string]string{
		"LF": shop, "CRLF": strings.ReplaceAll(shop, "\n", "\r\n"),
		"no final newline": strings.TrimSuffix(shop, "\n"),
		"line directives":  strings.Replace(shop, "import", "//line other.go:900\nimport", 1),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := golang(t).Symbols([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			if name == "line directives" {
				if got[0].First != 7 {
					t.Errorf("first symbol on line %d, want 7: a directive must not move it", got[0].First)
				}
				return
			}
			if diff := cmp.Diff(want, outline(src, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSymbolsOfAByteOrderMark(t *testing.T) {
	src := "\ufeffpackage p\n\nfunc F() {}\n"
	got, err := golang(t).Symbols([]byte(src))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if text := src[got[0].Start:got[0].End]; text != "func F() {}\n" || src[got[0].BodyStart] != '{' {
		t.Errorf("got %q, body at %d", text, got[0].BodyStart)
	}
}

func TestCarriageReturnsInLiterals(t *testing.T) {
	src := "package p\r\n\r\nvar x = `a\r\nb\r\nc`\r\n\r\nfunc f() { /* a\r\nb */ }\r\nvar y = 1\r\n"
	got, err := golang(t).Symbols([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"var x = `a\r\nb\r\nc`\r\n", "func f() { /* a\r\nb */ }\r\n", "var y = 1\r\n"}
	for i, s := range got {
		if text := src[s.Start:s.End]; text != want[i] {
			t.Errorf("%s: got %q, want %q", s, text, want[i])
		}
	}
}

func TestGroupedSpecsKnowTheirDeclaration(t *testing.T) {
	src := "package p\n\ntype (\n\tA int\n\tB struct {\n\t\tX int\n\t}\n)\n"
	got, err := golang(t).Symbols([]byte(src))
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	for _, s := range got {
		if !s.Grouped || s.Decl.First != 3 || s.Decl.Last != 8 || !strings.HasPrefix(src[s.Decl.Start:s.Decl.End], "type (") {
			t.Errorf("%s: %+v", s, s.Decl)
		}
	}
	if text := src[got[1].Start:got[1].End]; text != "\tB struct {\n\t\tX int\n\t}\n" {
		t.Errorf("got %q", text)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		src  string
		line int
		want string
	}{
		{"package p\n\nfunc f() {}\n", 0, ""},
		{"package p\n\nfunc f() {\n", 3, "expected '}', found 'EOF'"},
		{"package p\n\n//line x.go:77\nfunc f( {}\n", 4, "expected ')', found '{'"},
		{"func f() {}\n", 1, "expected 'package', found 'func'"},
		{"package p\nfunc f() {}\nimport \"fmt\"\n", 3, "imports must appear before other declarations"},
		{"", 1, "expected ';', found 'EOF'"},
	} {
		err := golang(t).Parse([]byte(tt.src))
		if tt.want == "" {
			if err != nil {
				t.Errorf("%q: %v", tt.src, err)
			}
			continue
		}
		var e *syntax.Error
		if !errors.As(err, &e) {
			t.Errorf("%q: got %v, want an *Error", tt.src, err)
			continue
		}
		if tt.src != "" && (e.Line != tt.line || e.Message != tt.want) {
			t.Errorf("%q: got line %d %q, want line %d %q", tt.src, e.Line, e.Message, tt.line, tt.want)
		}
	}
}

func TestFragment(t *testing.T) {
	src := "// F does.\nfunc F() {\n}\n\ntype T int\n"
	got, err := golang(t).Fragment([]byte(src))
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if f := got[0]; f.First != 1 || f.Last != 3 || f.Head != 2 || f.Line != 2 || src[f.Start:f.End] != "// F does.\nfunc F() {\n}\n" {
		t.Errorf("%+v", f)
	}
	_, err = golang(t).Fragment([]byte("func F() {\n\t)\n}\n"))
	var e *syntax.Error
	if !errors.As(err, &e) || e.Line != 2 {
		t.Errorf("got %v, want an error on line 2", err)
	}
}

func TestLiterals(t *testing.T) {
	src := "func f() {\n\tx := `a\n  b\n`\n\t/* c\n   d */\n\ty := \"e\"\n}\n"
	want := map[int]bool{3: true, 4: true, 6: true}
	if diff := cmp.Diff(want, golang(t).Literals([]byte(src))); diff != "" {
		t.Error(diff)
	}
}

func TestEnclosing(t *testing.T) {
	for line, want := range map[int]string{1: "", 6: "Limit", 11: "small", 13: "", 15: "a", 24: "Cart.Total", 29: "Cart.Total", 900: ""} {
		got, ok := golang(t).Enclosing([]byte(shop), line)
		if ok != (want != "") || got.String() != want {
			t.Errorf("line %d: got %q %v, want %q", line, got, ok, want)
		}
	}
	if _, ok := golang(t).Enclosing([]byte("package"), 1); ok {
		t.Error("a broken text has no symbols")
	}
}

func TestSignatures(t *testing.T) {
	signature := func(decl string) string {
		got, err := golang(t).Symbols([]byte("package p\n" + decl))
		if err != nil || len(got) != 1 {
			t.Fatal(decl, got, err)
		}
		return got[0].Signature
	}
	same := [][2]string{
		{"func F(a, b int) error { return nil }", "// F is new.\nfunc F(x int, y int) (err error) { panic(1) }"},
		{"type T struct { A int; b int }", "type T struct {\n\tA int // what\n\tc string\n}"},
		{"var X int = 1", "var X int = 2"},
		{"type I interface { M(); N() }", "type I interface {\n\t// M\n\tM()\n\tN() // n\n}"},
	}
	for _, p := range same {
		if a, b := signature(p[0]), signature(p[1]); a != b {
			t.Errorf("%q and %q differ, but callers cannot tell", a, b)
		}
	}
	differ := [][2]string{
		{"func F(a int)", "func F(a int64)"},
		{"func F(a int)", "func F(a ...int)"},
		{"func F[T any](a T)", "func F[T comparable](a T)"},
		{"func (T) F()", "func (*T) F()"},
		{"type T struct { A int }", "type T struct { A int; B int }"},
		{"type T struct { A int }", "type T struct { A int `json:\"a\"` }"},
		{"type T int", "type T = int"},
		{"type I interface { M() }", "type I interface { M(); N() }"},
		{"var X int", "const X int = 1"},
	}
	for _, p := range differ {
		if a, b := signature(p[0]), signature(p[1]); a == b {
			t.Errorf("%q and %q have the same signature %q", p[0], p[1], a)
		}
	}
}

func TestTooLong(t *testing.T) {
	src := make([]byte, syntax.MaxSource+1)
	if err := golang(t).Parse(src); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

func TestFor(t *testing.T) {
	for name, want := range map[string]bool{"a.go": true, "A.GO": true, "go": false, "a.rb": false, "a.go/x": false} {
		if g, ok := syntax.For(name); ok != want || (g.Name == "go") != want {
			t.Errorf("%s: %v %q", name, ok, g.Name)
		}
	}
	var none syntax.Grammar
	if err := none.Parse(nil); err == nil {
		t.Error("the zero Grammar reads nothing")
	}
}

// FuzzSymbols holds that every span is whole lines of the text and that nothing panics.
func FuzzSymbols(f *testing.F) {
	f.Add([]byte(shop))
	f.Add([]byte(strings.ReplaceAll(shop, "\n", "\r\n")))
	f.Add([]byte("\ufeffpackage p;var(a=`\r\n`;b=1);func f(){};func g(){}"))
	f.Add([]byte("package p\n/*line x:1*/func (*(T[K]))f()"))
	f.Fuzz(func(t *testing.T, src []byte) {
		g := golang(t)
		g.Literals(src)
		if _, err := g.Fragment(src); err == nil && len(src) == 0 {
			return
		}
		all, err := g.Symbols(src)
		if (err == nil) != (g.Parse(src) == nil) {
			t.Fatalf("Symbols says %v, Parse says otherwise", err)
		}
		for _, s := range all {
			wholeLines(t, src, s.Start, s.End)
			wholeLines(t, src, s.Decl.Start, s.Decl.End)
			if s.BodyStart < s.Start || s.BodyStart > s.End || s.Decl.Start > s.Start || s.Decl.End < s.End {
				t.Fatalf("%+v is out of its own bounds", s)
			}
			if s.Head < s.First || s.Line < s.Head || s.Line > s.Last {
				t.Fatalf("%+v: name outside its span", s)
			}
		}
	})
}

func wholeLines(t *testing.T, src []byte, start, end int) {
	t.Helper()
	if start < 0 || start > end || end > len(src) {
		t.Fatalf("span %d-%d of %d bytes", start, end, len(src))
	}
	if start > 0 && src[start-1] != '\n' || end < len(src) && src[end-1] != '\n' {
		t.Fatalf("span %d-%d is not whole lines of %q", start, end, src)
	}
}
