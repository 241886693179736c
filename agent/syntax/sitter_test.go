package syntax_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/syntax"
)

var update = flag.Bool("update", false, "write the golden outlines anew")

var shops = []string{"shop.py", "shop.js", "shop.ts", "shop.rs", "Shop.java"}

func grammar(t testing.TB, name string) syntax.Grammar {
	t.Helper()
	g, ok := syntax.For(name)
	if !ok {
		t.Fatalf("no grammar for %s", name)
	}
	return g
}

func sample(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSymbolsOfTheOthers(t *testing.T) {
	for _, name := range shops {
		src := sample(t, name)
		golden := filepath.Join("testdata", name+".outline")
		for how, text := range map[string]string{
			"LF": src, "CRLF": strings.ReplaceAll(src, "\n", "\r\n"), "byte order mark": "\ufeff" + src,
			"no final newline": strings.TrimSuffix(src, "\n"), "bad UTF-8": src + comment(name) + " \xff\xfe\n",
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				got, err := grammar(t, name).Symbols([]byte(text))
				if err != nil && how == "byte order mark" && strings.HasPrefix(src, "#!") {
					return // a shebang stands first or not at all
				}
				if err != nil {
					t.Fatal(err)
				}
				lines := strings.Join(outline(text, got), "\n") + "\n"
				if *update && how == "LF" {
					if err := os.WriteFile(golden, []byte(lines), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(sample(t, name+".outline"), lines); diff != "" {
					t.Error(diff)
				}
				for _, s := range got {
					wholeLines(t, []byte(text), s.Start, s.End)
				}
			})
		}
	}
}

func comment(name string) string {
	if strings.HasSuffix(name, ".py") {
		return "#"
	}
	return "//"
}

func TestBrokenTexts(t *testing.T) {
	for _, row := range []struct {
		name, src string
		line      int
	}{
		{"a.py", "def f(:\n    pass\n", 1},
		{"a.py", "x = 1\n\ndef f():\nreturn 1\n)", 5},
		{"a.js", "function f() {\n  return 1;\n", 3},
		{"a.ts", "const a: = 1;\n", 1},
		{"a.tsx", "const a = <div>;\n", 1},
		{"a.rs", "fn f() {\n    let x = ;\n}\n", 2},
		{"A.java", "class A {\n  int f( { }\n}\n", 2},
	} {
		err := grammar(t, row.name).Parse([]byte(row.src))
		var e *syntax.Error
		if !errors.As(err, &e) || e.Line == 0 || e.Line > row.line || e.Message == "" {
			t.Errorf("%s %q: got %v, want an *Error on a line up to %d", row.name, row.src, err, row.line)
		}
	}
	for name, src := range map[string]string{
		"a.py": "try:\n\tpass\nexcept* ValueError:\n\tpass\nx = lambda: (y := 1)\nprint(f'{x!r:{10}}')\n", "b.py": "",
		"a.js": "export default async () => { for await (const x of y?.z ?? []) { x ||= 1n; } }\n", "b.js": "// only words",
		"a.ts": "let a = <const T,>(x: T) => x; abstract class B { declare x?: number; static { } }\n",
		"c.ts": "let a = <T>x;\n", "a.tsx": "let a = <A<string> b={1}>x</A>;\n",
		"a.rs":   "fn f() { let Some(x) = y else { return }; let r = r#\"a\"#; 'l: loop { break 'l } }\n",
		"A.java": "sealed interface A permits B {}\nrecord B(int x) implements A {}\n",
	} {
		if err := grammar(t, name).Parse([]byte(src)); err != nil {
			t.Errorf("%s %q: %v", name, src, err)
		}
	}
}

func TestFragmentsOfTheOthers(t *testing.T) {
	for _, row := range []struct{ name, src, want string }{
		{"a.py", "@property\ndef total(self):\n    return 1\n", "total"},
		{"a.js", "// adds\nadd(item) {\n  this.items.push(item);\n}\n", "add"},
		{"a.ts", "private add(item: number): void {\n}\n", "add"},
		{"a.rs", "/// total\npub fn total(&self) -> u8 { 1 }\n", "total"},
		{"A.java", "/** How many. */\nint many() default 1;\n", "many"},
		{"A.java", "public X {\n  if (a < 0) throw new Error();\n}\n", "X"},
		{"A.java", "/** Adds. */\n@Override\npublic int total(int tax) { return 1; }", "total"},
	} {
		got, err := grammar(t, row.name).Fragment([]byte(row.src))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %v %v", row.name, got, err)
			continue
		}
		if s := got[0]; s.String() != row.want || row.src[s.Start:s.End] != row.src || s.First != 1 || s.Last != strings.Count(strings.TrimSuffix(row.src, "\n"), "\n")+1 {
			t.Errorf("%s: %+v", row.name, s)
		}
	}
	if _, err := grammar(t, "a.js").Fragment([]byte("add(item) {\n")); err == nil {
		t.Error("half a method is no fragment")
	}
}

func TestLiteralsOfTheOthers(t *testing.T) {
	for name, src := range map[string]string{
		"a.py": "x = '''a\n  b\n'''\ny = 1\n", "a.js": "x = `a\n  b\n`\ny = 1\n", "a.ts": "/* a\n b\n*/\nlet y = 1\n",
		"a.rs": "const X: &str = \"a\n b\n\";\nfn f() {}\n", "A.java": "class A { String s = \"\"\"\n a\n\"\"\";\n }\n", "b.py": "def f(:\n  '''a\n b'''\n",
	} {
		got := grammar(t, name).Literals([]byte(src))
		if !got[3] || got[1] || got[4] || (name != "b.py") != got[2] {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSignaturesOfTheOthers(t *testing.T) {
	signature := func(name, src string) string {
		got, err := grammar(t, name).Symbols([]byte(src))
		if err != nil || len(got) == 0 {
			t.Fatal(src, got, err)
		}
		return got[0].Signature
	}
	for _, row := range []struct {
		name, a, b string
		same       bool
	}{
		{"a.py", "def f(a, b=1): return 1", "# new\n@x\ndef f(a,\n      b=1):\n    return 2", true},
		{"a.py", "def f(a, b=1): return 1", "def f(a, c=1): return 1", false},
		{"a.js", "function f(a, b) { return 1 }", "// new\nfunction f(c, d) { return 2 }", true},
		{"a.js", "function f(a, b) { return 1 }", "function f(a) { return 1 }", false},
		{"a.ts", "const f = (a: number) => 1", "const f = (b: number) => { return 2 }", true},
		{"a.ts", "const f = (a: number) => 1", "const f = (a: string) => 1", false},
		{"a.ts", "interface A { a: number }", "interface A { a: number; b: string }", false},
		{"a.rs", "pub struct A { pub x: u8, y: u8 }", "/// A.\npub struct A { pub x: u8, z: u16, w: u8 }", true},
		{"a.rs", "pub struct A { pub x: u8, y: u8 }", "pub struct A { pub x: u8, pub y: u8 }", false},
		{"a.rs", "fn f(a: u8) -> u8 { 1 }", "fn f(b: u8) -> u8 { 2 }", true},
		{"a.rs", "fn f(a: u8) -> u8 { 1 }", "fn f(a: &u8) -> u8 { 1 }", false},
		{"a.rs", "const A: u8 = 1;", "const A: u8 = 2;", true},
		{"A.java", "class A { } ", "/** A. */ class A { int x; }", true},
		{"A.java", "class A { } ", "class A extends B { }", false},
	} {
		if a, b := signature(row.name, row.a), signature(row.name, row.b); (a == b) != row.same {
			t.Errorf("%q and %q: %q and %q, want the same %v", row.a, row.b, a, b, row.same)
		}
	}
}

// TestDeepNesting holds that no depth of nesting ends the program, or takes its time for good.
func TestDeepNesting(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a.py": {"(", ")"}, "a.js": {"[", "]"}, "a.ts": {"{", "}"}, "a.rs": {"fn f() {", "}"}, "A.java": {"class A {", "}"}, "b.js": {"`${", "}`"}, "b.py": {"f'{", "}'"},
	} {
		began := time.Now()
		for _, n := range []int{200, 4000} {
			src := []byte(strings.Repeat(pair[0], n) + strings.Repeat(pair[1], n))
			_, _ = grammar(t, name).Symbols(src)
			_, _ = grammar(t, name).Symbols(src[:len(src)/2])
		}
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%s took %v", name, took)
		}
	}
	if err := grammar(t, "a.py").Parse([]byte("x = 1\n")); err != nil {
		t.Errorf("after hostile texts an honest one: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for range 3 {
		for _, name := range shops {
			src := []byte(sample(t, name))
			wg.Go(func() {
				if err := grammar(t, name).Parse(src); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
}

// FuzzOthers holds of the other languages what FuzzSymbols holds of Go.
func FuzzOthers(f *testing.F) {
	for _, name := range shops {
		f.Add(name, []byte(sample(f, name)))
		f.Add(name, []byte("\ufeff{[(\"'`\r\n\t\\\x00\xff"))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		g, ok := syntax.For(name)
		if !ok || g.Name == "go" || len(src) > 1<<16 {
			return
		}
		g.Literals(src)
		_, _ = g.Fragment(src)
		all, err := g.Symbols(src)
		if (err == nil) != (g.Parse(src) == nil) {
			t.Fatalf("Symbols says %v, Parse says otherwise", err)
		}
		for _, s := range all {
			wholeLines(t, src, s.Start, s.End)
			if s.BodyStart < s.Start || s.BodyStart > s.End || s.Head < s.First || s.Line < s.Head || s.Line > s.Last {
				t.Fatalf("%+v is out of its own bounds", s)
			}
		}
	})
}
