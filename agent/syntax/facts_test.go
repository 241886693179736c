package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// TestFacts holds that names are followed through imports, that constants are joined, and who is around.
func TestFacts(t *testing.T) {
	for _, row := range []struct{ name, src, want string }{
		{"a.go", "package p\nimport o \"os\"\nfunc (t *T) F() { o.Exit(1) }\n", "os.Exit(1) in T.F"},
		{"a.go", "package p\nvar x = \"a\" + \"b\"\n", "\"ab\""},
		{"a.py", "from os import _exit as e\nclass C:\n    def f(self):\n        e(0)\n", "os._exit(0) in C.f"},
		{"a.py", "import os as o\no.environ['CI']\n", "os.environ.CI"},
		{"a.py", "x = 'a' 'b'\n", "\"ab\""},
		{"a.js", "import { exit as e } from 'node:process';\nclass C { f() { e(0) } }\n", "process.exit(0) in C.f"},
		{"a.js", "const { x: y } = require('m');\nconst f = () => y(`a`);\n", "m.x(a) in f"},
		{"a.ts", "(globalThis as any).process['ex' + 'it'](1)\n", "globalThis.process.exit(1)"},
		{"a.rs", "use std::{process as p, fs};\nimpl<T> C<T> { fn f(&self) { p::exit(0) } }\n", "std.process.exit(0) in C.f"},
		{"a.rs", "fn f() { vec![std::env::var(\"CI\")]; }\n", "std.env.var(\"CI\") in f"},
		{"A.java", "import static java.lang.System.exit;\nclass C { void f() { exit(0); } }\n", "System.exit(0) in C.f"},
		{"A.java", "class C { String s = \"a\" + \"b\"; }\n", "\"ab\""},
	} {
		facts, err := grammar(t, row.name).Facts([]byte(row.src))
		if err != nil {
			t.Errorf("%s: %v", row.src, err)
			continue
		}
		var got []string
		for _, f := range facts {
			text := f.Text
			if f.Kind == syntax.Literal {
				text = fmt.Sprintf("%q", text)
			}
			if f.Called {
				text += "(" + strings.Join(f.Args, ", ") + ")"
			}
			if f.Func != "" {
				text += " in " + f.Func
			}
			got = append(got, text)
		}
		found := false
		for _, g := range got {
			found = found || g == row.want
		}
		if !found {
			t.Errorf("%s\ngot %q, want %q among them", row.src, got, row.want)
		}
	}
	for _, name := range []string{"a.py", "a.go", "a.rs"} {
		if _, err := grammar(t, name).Facts([]byte("((\n")); err == nil {
			t.Errorf("%s: half a text has facts", name)
		}
	}
}
