package mechanic

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const shapes = `package p

type list[T any] []T

func (l *list[T]) add(v T, more ...T) { *l = append(append(*l, v), more...) }

func (list[_]) none() (int, error) { return 1, nil }

func apply[T, U any](v T, f func(T) U) (out U) { return f(v) }

func blank(_ int, _ string) bool { return 1 < 2 }

func guard() { if e := recover(); e != nil || 1 < 2 { return } }

func init() { _ = 1 < 2 }

//go:noinline
func kept(n int) int { return n + 1 }

func inner() { func() { defer func() { recover() }() }(); _ = 1 < 2 }
`

func schemaOf(t *testing.T, text string) (*schema, []Candidate, *source) {
	t.Helper()
	p, types, s := one(t, text)
	var list []Candidate
	edits(p, types, s, func(e edit) { list = append(list, Candidate{File: e.file, Line: e.line, Edit: e.kind, edit: e}) })
	sc, rest := newSchema(p, list)
	return sc, rest, s
}

func TestDispatchers(t *testing.T) {
	s, _, src := schemaOf(t, shapes)
	got := map[string]string{}
	for _, fn := range s.files["p.go"] {
		got[fn.Name.Name] = s.dispatcher(src, fn, []int{6})
	}
	want := map[string]string{
		"add":   "func (redraftR *list[T]) add(redraftP0 T, redraftP1 ...T) {\n\tswitch redraftMutant {\n\tcase 7:\n\t\tredraftR.add_redraft7(redraftP0, redraftP1...); return\n\tdefault:\n\t\tredraftR.add_redraft0(redraftP0, redraftP1...); return\n\t}\n}",
		"none":  "func (redraftR list[_]) none() (int, error) {\n\tswitch redraftMutant {\n\tcase 7:\n\t\treturn redraftR.none_redraft7()\n\tdefault:\n\t\treturn redraftR.none_redraft0()\n\t}\n}",
		"apply": "func apply[T, U any](redraftP0 T, redraftP1 func(T) U) (out U) {\n\tswitch redraftMutant {\n\tcase 7:\n\t\treturn apply_redraft7[T, U](redraftP0, redraftP1)\n\tdefault:\n\t\treturn apply_redraft0[T, U](redraftP0, redraftP1)\n\t}\n}",
		"blank": "func blank(redraftP0 int, redraftP1 string) bool {\n\tswitch redraftMutant {\n\tcase 7:\n\t\treturn blank_redraft7(redraftP0, redraftP1)\n\tdefault:\n\t\treturn blank_redraft0(redraftP0, redraftP1)\n\t}\n}",
		"inner": "func inner() {\n\tswitch redraftMutant {\n\tcase 7:\n\t\tinner_redraft7(); return\n\tdefault:\n\t\tinner_redraft0(); return\n\t}\n}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatCannotBeSwitchedIsLeftOver(t *testing.T) {
	_, rest, _ := schemaOf(t, shapes+"\nconst five = 5\n\nvar six, seven = 6, 7\n\nvar eight [8]int\n")
	names := map[string]bool{}
	for _, c := range rest {
		if c.edit.fn != nil {
			names[c.edit.fn.Name.Name] = true
		} else {
			names[c.edit.spec.Names[0].Name] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"guard": true, "init": true, "kept": true, "five": true, "eight": true}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSchemaFileParsesAndKnowsItsLines(t *testing.T) {
	s, _, src := schemaOf(t, zoo)
	s.lines = map[string][]span{}
	text := string(s.file(src, s.files["p.go"]))
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for _, sp := range s.lines["p.go"] {
		want := "func init() {"
		if fn := s.list[sp.candidate].edit.fn; fn != nil {
			want = copyName(fn.Name.Name, sp.candidate+1) + "("
		}
		if first := lines[sp.from-1]; !strings.Contains(first, want) {
			t.Fatalf("line %d is %q, want %s for candidate %d", sp.from, first, want, sp.candidate)
		}
		if last := lines[sp.to-1]; !strings.HasSuffix(last, "}") {
			t.Fatalf("line %d is %q, want the end of a function", sp.to, last)
		}
		if s.copyAt("p.go", sp.from) != sp.candidate || s.copyAt("p.go", sp.to) != sp.candidate {
			t.Fatalf("lines %d to %d are not candidate %d's", sp.from, sp.to, sp.candidate)
		}
	}
	if got := s.copyAt("p.go", 1); got != -1 {
		t.Errorf("line 1 is candidate %d's", got)
	}
}

func TestVariablesAreAssignedAnew(t *testing.T) {
	s, _, src := schemaOf(t, "package p\n\nvar six, seven = 6, f(\n\t7)\n")
	for i, c := range s.list {
		if c.edit.old == "7" && c.edit.text == "8" {
			want := fmt.Sprintf("func init() {\n\tif redraftMutant == %d {\n\t\tsix, seven = 6, f(\n\t8)\n\t}\n}", i+1)
			if diff := cmp.Diff(want, s.initial(src, i)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			return
		}
	}
	t.Error("no candidate makes 7 an 8")
}

func TestExclude(t *testing.T) {
	s := &schema{out: map[int]bool{}, lines: map[string][]span{"a/b.go": {{10, 19, 0}, {21, 30, 1}}, "c.go": {{5, 5, 2}}}}
	if !s.exclude([]byte("# example.com/m/a\na/b.go:12:3: mismatched types\na/b.go:13: other\n./c.go:5:1: x\n")) {
		t.Error("errors in copies were not taken")
	}
	if diff := cmp.Diff(map[int]bool{0: true, 2: true}, s.out); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, output := range []string{"", "ld: broken\n", "a/b.go:20:1: between copies\n", "z.go:1:1: elsewhere\n"} {
		if s.exclude([]byte(output)) {
			t.Errorf("%q: want it refused", output)
		}
	}
}

func TestLoadBoundsWhatItReads(t *testing.T) {
	p := load(fstest.MapFS{
		"a.go":           {Data: []byte("package p\nimport \"example.com/p/sub\"\nvar _ = sub.X")},
		"sub/s.go":       {Data: []byte("package sub\nvar X = 1")},
		"sub/s_test.go":  {Data: []byte("package sub\nimport _ \"example.com/p/apart\"")},
		"apart/a.go":     {Data: []byte("package apart")},
		"big.go":         {Data: append([]byte("package p\n//"), make([]byte, maxFile)...)},
		"broken.go":      {Data: []byte("package p\nfunc {")},
		"other_plan9.go": {Data: []byte("package p")},
		"ignored.go":     {Data: []byte("//go:build ignore\n\npackage main")},
		"gone/link.go":   {Data: []byte("package gone")},
	}, "example.com/p", []string{"."})
	var got []string
	p.each(func(s *source) { got = append(got, s.path) })
	if diff := cmp.Diff([]string{"a.go", "sub/s.go", "sub/s_test.go"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
