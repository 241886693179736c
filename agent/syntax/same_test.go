package syntax

import "testing"

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		file, a, b string
		want       bool
	}{
		{"a.go", "package p\nfunc F( )int{return  1}\n", "package p\n\nfunc F() int { return 1 }\n", true},
		{"a.go", "package p\r\n\r\nvar A = 1\r\n", "package p\n\nvar A = 1\n", true},
		{"a.go", "package p\n\nvar A = 1\n", "package p\n\nvar A = 2\n", false},
		{"a.go", "package p\n\nvar A = 1\n", "package p\n\nvar A = 1 +\n", false},
		{"a.py", "def f( a ):\n  return  [1,2]\n", "def f(a):\n    return [\n        1,\n        2,\n    ]\n", true},
		{"a.py", "A = 'x'\nB = (1)\n", "A = \"x\"\nB = 1\n", true},
		{"a.py", "A = 'x'\n", "A = b'x'\n", false},
		{"a.py", "A = 'x y'\n", "A = 'x  y'\n", false},
		{"a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n", false},
		{"a.py", "A = (1 + 2) * 3\n", "A = 1 + 2 * 3\n", false},
		{"a.py", "assert f(1) == 2\n", "assert f(1) != 2\n", false},
		{"a.js", "const a={b:'c'}\nf(a)\n", "const a = { b: \"c\" };\nf(a);\n", true},
		{"a.js", "f(a, b)\n", "f(a)\n", false},
		{"a.js", "a = b ? c : d\n", "a = b ? d : c\n", false},
		{"a.js", "const a = `x  y`\n", "const a = `x y`\n", false},
		{"a.ts", "let a:number=1\n", "let a: number = 1;\n", true},
		{"a.rs", "fn f( a:i32 )->i32{a}\n", "fn f(a: i32) -> i32 {\n    a\n}\n", true},
		{"a.rs", "fn f(a: i32) -> i32 { a }\n", "fn f(a: i32) -> i32 { a; }\n", false},
		{"a.java", "class A{int f(){return 1;}}\n", "class A {\n  int f() {\n    return 1;\n  }\n}\n", true},
	} {
		g, ok := For(tt.file)
		if !ok {
			t.Fatalf("no grammar for %s", tt.file)
		}
		if got := g.Same([]byte(tt.a), []byte(tt.b)); got != tt.want {
			t.Errorf("%s: %q and %q: same %v, want %v", tt.file, tt.a, tt.b, got, tt.want)
		}
	}
	if (Grammar{}).Same(nil, nil) {
		t.Error("a file without a grammar is the same as another")
	}
}
