package report

import (
	"strings"
	"testing"
)

// A program that cannot start for want of a module says nothing about the code; one that misses its own does.
func TestUnstarted(t *testing.T) {
	node := "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'debug'\nRequire stack:\n- /tree/a.js\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)\n    at Object.<anonymous> (/tree/a.js:1:1) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/tree/a.js' ]\n}\n\nNode.js v20.20.2\n"
	esm := "node:internal/modules/esm/resolve:873\n  throw new ERR_MODULE_NOT_FOUND(packageName, fileURLToPath(base), null);\n        ^\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'debug' imported from /tree/b.mjs\n    at packageResolve (node:internal/modules/esm/resolve:873:9) {\n  code: 'ERR_MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n"
	python := "Traceback (most recent call last):\n  File \"/tree/a.py\", line 1, in <module>\n    import debug.x\nModuleNotFoundError: No module named 'debug'\n"
	ruby := "<internal:/usr/lib/ruby/vendor_ruby/rubygems/core_ext/kernel_require.rb>:85:in `require': cannot load such file -- debug (LoadError)\n\tfrom a.rb:1:in `<main>'\n"
	java := "Exception in thread \"main\" java.lang.NoClassDefFoundError: debug/Lib\n\tat Main.main(Main.java:1)\nCaused by: java.lang.ClassNotFoundException: debug.Lib\n\t... 1 more\n"
	start := "Error: Could not find or load main class debug.Main\nCaused by: java.lang.ClassNotFoundException: debug.Main\n"
	for _, tt := range []struct {
		name, text string
		missing    bool
	}{
		{"node", node, true},
		{"node through make", node + "make: *** [Makefile:2: lint] Error 1\n", true},
		{"node's modules", esm, true},
		{"node, the tree's own file", strings.ReplaceAll(node, "'debug'", "'./debug'"), false},
		{"python", python, true},
		{"python -m", "/usr/bin/python3: No module named debug\n", true},
		{"python -m, a package", "/usr/bin/python3: No module named shop.__main__; 'shop' is a package and cannot be directly executed\n", false},
		{"python, caught", python + "\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/tree/a.py\", line 4, in <module>\n    f()\nValueError: no price\n", false},
		{"python, quoted", "ModuleNotFoundError: No module named 'debug'\n", false},
		{"python, indented", strings.ReplaceAll(python, "ModuleNot", "  ModuleNot"), false},
		{"ruby", ruby, true},
		{"ruby, by its path", strings.ReplaceAll(ruby, "-- debug", "-- /tree/debug"), false},
		{"java", java, true},
		{"java, no package", strings.NewReplacer("debug/", "", "debug.", "").Replace(java), false},
		{"java's main class", start, true},
		{"node, then another error", node + "\nTypeError: x is not a function\n    at /tree/a.js:1:1\n", false},
	} {
		r := Read(Run{Command: "make lint", Dir: "/tree", Stderr: []byte(tt.text), Exit: 1})
		checkReport(t, r)
		if got := r.Class == MissingDependency; got != tt.missing || got != (r.Color() == Unknown) {
			t.Errorf("%s: %s %q, want a missing dependency: %v", tt.name, r.Color(), r.Class, tt.missing)
		}
		if r := Read(Run{Command: "make lint", Dir: "/tree", Stderr: []byte(tt.text), Exit: 1, Own: []string{"debug"}}); r.Color() != Red {
			t.Errorf("%s, the tree's own: %s %q, want red", tt.name, r.Color(), r.Class)
		}
		if r := Read(Run{Command: "make lint", Dir: "/tree", Stderr: []byte(tt.text)}); r.Color() != Green {
			t.Errorf("%s, status 0: %s %q, want green", tt.name, r.Color(), r.Class)
		}
	}
	tests := "--- FAIL: TestA (0.00s)\n    a_test.go:3: x\nFAIL\nFAIL\texample.com/shop\t0.1s\nFAIL\n"
	for _, text := range []string{node, python} {
		if r := Read(Run{Command: "go test ./...", Dir: "/tree", Stdout: []byte(tests), Stderr: []byte(text), Exit: 1}); r.Color() != Red {
			t.Errorf("beside a failing test: %s %q, want red", r.Color(), r.Class)
		}
	}
}
