package mechanic

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// one is a project of one package of one file, with its types.
func one(t testing.TB, text string) (*project, *typing, *source) {
	t.Helper()
	p := load(fstest.MapFS{"p.go": {Data: []byte(text)}}, "example.com/p", []string{"."})
	s := p.find("p.go")
	if s == nil {
		t.Fatalf("does not parse:\n%s", text)
	}
	return p, typecheck(p), s
}

// results are the lines that edits of one kind leave, with | between several and - for none.
func results(t testing.TB, kind, text string) []string {
	p, types, s := one(t, text)
	var out []string
	edits(p, types, s, func(e edit) {
		if e.kind != kind {
			return
		}
		out = append(out, changedLines(text, string(e.apply([]byte(text)))))
	})
	slices.Sort(out)
	return out
}

func changedLines(old, new string) string {
	a, b := strings.Split(old, "\n"), strings.Split(new, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for i := range b {
		b[i] = strings.TrimSpace(b[i])
	}
	if len(b) == 0 {
		return "-"
	}
	return strings.Join(b, "|")
}

// catalogue gives for a text every edit of one kind.
var catalogue = []struct {
	name, kind string
	text       string // of the file, after its package clause
	want       []string
}{
	{"an ordered comparison becomes every other", "comparison", "func f(a, b int) bool {\nreturn a < b\n}",
		[]string{"return a <= b", "return a > b", "return a >= b", "return a != b", "return a == b"}},
	{"nil is equal or it is not", "comparison", "func f(e error) bool {\nreturn e != nil\n}",
		[]string{"return e == nil"}},
	{"truth values have no order", "comparison", "func f(a, b bool) bool {\nreturn a == b\n}",
		[]string{"return a != b"}},
	{"a literal moves both ways", "boundary", "func f(s []int) int {\nreturn s[3]\n}",
		[]string{"return s[4]", "return s[2]"}},
	{"zero moves up only", "boundary", "var n = 0", []string{"var n = 1"}},
	{"other notations stay", "boundary", "var n = 0x10 + 1.5", nil},
	{"an index moves", "off-by-one", "func f(s []int, i int) {\ns[i] = 0\n}",
		[]string{"s[i+1] = 0", "s[i-1] = 0"}},
	{"the key of a map does not", "off-by-one", "func f(m map[int]bool, i int) {\n_ = m[i]\n}", nil},
	{"a slice's bounds move", "off-by-one", "func f(s string, i, j int) string {\nreturn s[i:j]\n}",
		[]string{"return s[i+1:j]", "return s[i-1:j]", "return s[i:j+1]", "return s[i:j-1]"}},
	{"a slice without a beginning gets one", "off-by-one", "func f(s string) string {\nreturn s[:]\n}",
		[]string{"return s[1:]"}},
	{"a loop's bound moves where another comparison would not do", "off-by-one", "func f(n int) {\nfor i := 0; i < n; i++ {\n}\n}",
		[]string{"for i := 0; i < n-1; i++ {"}},
	{"the one of a sum goes", "off-by-one", "func f(n int) bool {\nreturn n+1 == 7\n}",
		[]string{"return n == 7"}},
	{"an integer result moves", "off-by-one", "func f(n int) int {\nreturn n\n}",
		[]string{"return n+1", "return n-1"}},
	{"a string result does not", "off-by-one", "func f(n string) string {\nreturn n\n}", nil},
	{"what binds less gets parentheses", "off-by-one", "func f(s []int, m map[bool]int, a, b bool) int {\nreturn s[m[a && b]]\n}",
		[]string{"return s[m[a && b]+1]", "return s[m[a && b]-1]", "return s[m[a && b]]+1", "return s[m[a && b]]-1"}},
	{"sums become differences", "operator", "func f(a, b int) int {\nreturn a + b\n}",
		[]string{"return a - b", "return a * b", "return a % b"}},
	{"both readings where the new operator binds otherwise", "operator", "func f(a, b, c int) int {\nreturn a / b * c\n}",
		[]string{"return a * b * c", "return a % b * c", "return a - b * c", "return (a - b) * c",
			"return a / b / c", "return a / b + c", "return (a / b) + c", "return a / b - c", "return (a / b) - c"}},
	{"strings only join", "operator", "func f(a, b string) string {\nreturn a + \"x\" + b\n}", nil},
	{"assignments with an operator", "operator", "func f(a int) {\na += 2\na++\n}",
		[]string{"a -= 2", "a *= 2", "a--"}},
	{"shifts and bits", "operator", "func f(a uint) uint {\nreturn a << 2 & 7\n}",
		[]string{"return a >> 2 & 7", "return a << 2 | 7", "return a << 2 ^ 7", "return a << 2 &^ 7", "return (a << 2) | 7", "return (a << 2) ^ 7"}},
	{"and becomes or, and either side alone", "logical", "func f(a, b bool) bool {\nreturn a && b\n}",
		[]string{"return a || b", "return a", "return b"}},
	{"and among ors keeps its grouping too", "logical", "func f(a, b, c bool) bool {\nreturn a || b && c\n}",
		[]string{"return a && b && c", "return a && (b && c)", "return a", "return b && c", "return a || b || c", "return a || (b || c)", "return a || b", "return a || c"}},
	{"a condition is turned round", "negation", "func f(ok bool) {\nif ok {\n}\n}", []string{"if !ok {"}},
	{"and back", "negation", "func f(ok bool) {\nif !ok {\n}\n}", []string{"if ok {"}},
	{"conditions joined", "negation", "func f(a, b bool) {\nfor a && b {\n}\n}",
		[]string{"for !(a && b) {", "for !a && b {", "for a && !b {"}},
	{"a truth value returned, assigned, passed", "negation", "func f(a bool) bool {\nb := a\nf(b)\nreturn b\n}",
		[]string{"b := !a", "f(!b)", "return !b"}},
	{"true and false", "boolean", "func f() (bool, bool) {\nreturn true, false\n}",
		[]string{"return false, false", "return true, true"}},
	{"constants", "constant", "func f() int {\nreturn 7\n}", []string{"return 0", "return 1", "return -1", "return -7"}},
	{"a sign is lost", "constant", "func f(n int) int {\nreturn -n\n}", []string{"return n"}},
	{"arguments of one type change places", "swapped-argument", "func f(a, b int, s string) {\nf(a, b, s)\n}", []string{"f(b, a, s)"}},
	{"arguments of unknown type too", "swapped-argument", "import \"m\"\nfunc f() {\nm.F(m.A, m.B)\n}", []string{"m.F(m.B, m.A)"}},
	{"operands", "swapped-argument", "func f(a, b, c int) int {\nreturn a - b - c\n}",
		[]string{"return b - a - c", "return c - (a - b)"}},
	{"results and values", "swapped-argument", "func f(a, b int) (int, int) {\na, b = b, a\nreturn a, b\n}",
		[]string{"a, b = a, b", "return b, a"}},
	{"strings joined the other way", "swapped-argument", "func f(a, b string) string {\nreturn a + b\n}", []string{"return b + a"}},
	{"functions taken for one another", "sibling-call", "import \"strings\"\nfunc f(s string) bool {\nreturn strings.HasPrefix(s, s)\n}",
		[]string{"return strings.HasSuffix(s, s)", "return strings.Contains(s, s)"}},
	{"variables of one type", "wrong-variable", "func f(a, b int, s string) int {\nc := a\nreturn c\n}",
		[]string{"c := b", "return a", "return b"}},
	{"fields of one type", "wrong-variable", "type t struct{ a, b int; c string }\nfunc f(x t) int {\nreturn x.a\n}",
		[]string{"return x.b"}},
	{"functions of one signature", "wrong-variable", "func g(int) int { return 0 }\nfunc h(int) int { return 1 }\nfunc k(int) {}\nfunc f() int {\nreturn g(1)\n}",
		[]string{"return h(1)"}},
	{"constants of one type", "wrong-variable", "type k int\nconst (\nA k = iota\nB\nC\n)\nfunc f() k {\nreturn B\n}",
		[]string{"return A", "return C"}},
	{"a shadowed variable is assigned", "assignment", "func g() (int, error)\nfunc f() (err error) {\n{\n_, err := g()\n_ = err\n}\nreturn\n}",
		[]string{"_, err = g()"}},
	{"adding up or not", "assignment", "func f(a int) {\na += 1\na = 2\n}", []string{"a = 1", "a += 2"}},
	{"break and continue", "jump", "func f() {\nfor {\nbreak\n}\n}", []string{"continue"}},
	{"a statement, a guard, is left out", "deletion", "func f(a int) {\nif a > 0 {\nreturn\n}\na++\nf(a)\n}",
		[]string{"-", "-", "-", "-"}},
}

func TestCatalogue(t *testing.T) {
	for _, tt := range catalogue {
		t.Run(tt.name, func(t *testing.T) {
			got := results(t, tt.kind, "package p\n"+tt.text)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.kind, diff)
			}
		})
	}
}

// zoo is a file with something for every kind.
const zoo = `// Package p is made of everything.
package p

import "strings"

type pair[T any] struct{ left, right T }

func (p *pair[T]) swap() { p.left, p.right = p.right, p.left }

const limit = 10

var table = map[string]int{"a": 1, "b": -2}

func scan(words []string, from, to int, strict bool) (n int, err error) {
	for i := from; i < to-1 && i != limit; i++ {
		w := words[i]
		if strict && !strings.HasPrefix(w, "x") || w == "" {
			continue
		}
		switch {
		case len(w) > 3, n%2 == 1:
			n += len(w[1:]) * 2
		default:
			n--
			break
		}
		func() { defer func() { n = n<<1 | 1 }() }()
	}
	if n < 0 {
		return -1, nil
	}
	return min(n, to-from), nil
}
`

func TestEveryEditParsesAndIsOffered(t *testing.T) {
	p, types, s := one(t, zoo)
	seen := map[string]int{}
	edits(p, types, s, func(e edit) {
		seen[e.kind]++
		text := string(e.apply(s.text))
		if text == zoo {
			t.Errorf("%s at %d:%d changes nothing", e.kind, e.line, e.col)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil && e.kind != "deletion" {
			t.Errorf("%s at %d:%d: %q for %q: %v", e.kind, e.line, e.col, e.text, e.old, err)
		}
		if e.weight <= 0 || e.weight > 1.2 {
			t.Errorf("%s at %d:%d weighs %v", e.kind, e.line, e.col, e.weight)
		}
	})
	for _, k := range kinds {
		if seen[k.name] == 0 && k.name != "boolean" && k.name != "assignment" {
			t.Errorf("no edit of kind %s in a file that has something for each", k.name)
		}
	}
}

func TestOffsetsIgnoreLineDirectives(t *testing.T) {
	text := "package p\n//line other.go:100\nfunc f(a, b int) bool {\nreturn a < b\n}\n"
	p, types, s := one(t, text)
	edits(p, types, s, func(e edit) {
		if e.kind == "comparison" && (e.line != 4 || e.old != "<") {
			t.Errorf("got line %d, %q, want line 4, \"<\"", e.line, e.old)
		}
	})
}

func TestCRLFStays(t *testing.T) {
	text := "package p\r\n\r\nfunc f(a int) {\r\n\ta++\r\n\tf(a)\r\n}\r\n"
	p, types, s := one(t, text)
	n := 0
	edits(p, types, s, func(e edit) {
		n++
		if got := string(e.apply(s.text)); strings.Count(got, "\n") != strings.Count(got, "\r\n") {
			t.Errorf("%s left a bare newline: %q", e.kind, got)
		}
	})
	if n == 0 {
		t.Error("no edit at all")
	}
}

func FuzzEdits(f *testing.F) {
	f.Add(zoo)
	f.Add("package p\nfunc f[T ~int](a, b T) T { return a - b }")
	f.Add("package p\nvar x = x\ntype t t\nfunc (t) f() { f: for { break f } }")
	f.Fuzz(func(t *testing.T, text string) {
		p := load(fstest.MapFS{"p.go": {Data: []byte(text)}}, "example.com/p", []string{"."})
		s := p.find("p.go")
		if s == nil {
			return
		}
		edits(p, typecheck(p), s, func(e edit) {
			if got := e.apply([]byte(text)); len(got) != len(text)-(e.to-e.from)+len(e.text) {
				t.Fatalf("%+v of %q gives %q", e, text, got)
			}
		})
	})
}
