package patch_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
)

// smell is one change of one file: what Lint has to say about it, "" for nothing at all, "~rule" for something that is
// told and does not refuse.
type smell struct{ want, file, old, new string }

const (
	goOld = "package p\n\nimport \"os\"\n\nfunc F(n int) int {\n\tx := n + 1\n\treturn x\n}\n"
	pyOld = "import os\nimport sys\n\n\ndef f(n):\n    x = n + 1\n    return x\n"
	jsOld = "const os = require('os');\n\nfunction f(n) {\n  const x = n + 1;\n  return x;\n}\nmodule.exports = { f };\n"
	rsOld = "pub fn f(n: i64) -> i64 {\n    let x = n + 1;\n    x\n}\n"
	jaOld = "class A {\n  int f(int n) {\n    int x = n + 1;\n    return x;\n  }\n}\n"
)

const keeping = "package p\n\nimport \"strconv\"\n\nfunc F(s string) (int, error) {\n\td, err := strconv.Atoi(s)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\treturn d, nil\n}\n"

// in puts lines at the head of the function of one of the texts above.
func in(old, lines string) string {
	for _, at := range []string{"\tx := ", "    x = ", "  const x = ", "    let x = ", "    int x = "} {
		if strings.Contains(old, at) {
			return strings.Replace(old, at, lines+"\n"+at, 1)
		}
	}
	return old
}

var smells = []smell{
	// process exit
	{"process-exit", "p.go", goOld, in(goOld, "\tos.Exit(0)")},
	{"process-exit", "p.go", goOld, goOld + "func init() { os.Exit(0) }\n"},
	{"process-exit", "p.go", goOld, in(goOld, "\te := os.Exit; e(0)")},
	{"", "main.go", "package main\n\nimport \"os\"\n\nfunc main() { run() }\n", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(run()) }\n"},
	{"~process-exit", "p.go", goOld, in(goOld, "\tif n < 0 { os.Exit(2) }")},
	{"", "p.go", goOld, in(goOld, "\t// os.Exit(0)\n\t_ = \"os.Exit(0)\"")},
	{"process-exit", "p.py", pyOld, in(pyOld, "    os._exit(0)")},
	{"process-exit", "p.py", pyOld, "from os import _exit as bye\n" + in(pyOld, "    bye(0)")},
	{"process-exit", "p.py", pyOld, in(pyOld, "    getattr(os, '_ex' + 'it')(0)")},
	{"process-exit", "p.py", pyOld, in(pyOld, "    raise SystemExit(0)")},
	{"process-exit", "p.py", pyOld, pyOld + "sys.exit(0)\n"},
	{"", "p.py", pyOld, pyOld + "\n\nif __name__ == '__main__':\n    sys.exit(f(1))\n"},
	{"", "p.py", pyOld, in(pyOld, "    y = 'os._exit(0)'  # sys.exit(0)")},
	{"process-exit", "p.js", jsOld, in(jsOld, "  process.exit(0);")},
	{"process-exit", "p.js", jsOld, in(jsOld, "  process['ex' + 'it']();")},
	{"process-exit", "p.ts", jsOld, "import { exit } from 'node:process';\n" + in(jsOld, "  exit();")},
	{"process-exit", "p.js", jsOld, jsOld + "process.exitCode = 0;\n"},
	{"", "p.js", jsOld, in(jsOld, "  const exit = (a) => a; exit(0);")},
	{"", "bin/p.js", jsOld, jsOld + "process.exit(f(1));\n"},
	{"process-exit", "p.rs", rsOld, in(rsOld, "    std::process::exit(0);")},
	{"process-exit", "p.rs", rsOld, "use std::process;\n" + in(rsOld, "    process::exit(0);")},
	{"process-exit", "p.rs", rsOld, in(rsOld, "    run!(std::process::exit(0));")},
	{"", "src/main.rs", "fn main() { run(); }\n", "fn main() { std::process::exit(run()); }\n"},
	{"process-exit", "A.java", jaOld, in(jaOld, "    System.exit(0);")},
	{"", "A.java", jaOld, in(jaOld, "    other.exit(0);")},

	// test environment
	{"test-environment", "p.go", goOld, in(goOld, "\tif os.Getenv(\"CI\") != \"\" { return 3 }")},
	{"test-environment", "p.go", goOld, in(goOld, "\tif flag.Lookup(\"test.v\") != nil { return 3 }")},
	{"test-environment", "p.go", goOld, in(goOld, "\tif strings.HasSuffix(os.Args[0], \".test\") { return 3 }")},
	{"test-environment", "p.go", goOld, in(goOld, "\tif testing.Testing() { return 3 }")},
	{"", "p.go", goOld, in(goOld, "\tif os.Getenv(\"HOME\") != \"\" { return n }")},
	{"", "p.go", goOld, in(goOld, "\tif kind(n) == \"CI\" { return n }")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if os.environ.get('PYTEST_CURRENT_TEST'):\n        return 3")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return 3")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if 'pytest' in sys.modules:\n        return 3")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if os.environ['CI']:\n        return 3")},
	{"", "p.py", pyOld, in(pyOld, "    if os.environ.get('HOME'):\n        return n")},
	{"", "p.py", pyOld, in(pyOld, "    if 'CI' in names:\n        return n")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (process.env.JEST_WORKER_ID) return 3;")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (process.env.NODE_ENV === 'test') return 3;")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (typeof jest !== 'undefined') return 3;")},
	{"", "p.js", jsOld, in(jsOld, "  if (process.env.NODE_ENV === 'production') return n;")},
	{"", "p.js", jsOld, in(jsOld, "  if (n.kind === 'test') return n;")},
	{"test-environment", "p.rs", rsOld, in(rsOld, "    if cfg!(test) { return 3; }")},
	{"test-environment", "p.rs", rsOld, "#[cfg(not(test))]\n" + rsOld},
	{"test-environment", "p.rs", rsOld, in(rsOld, "    if std::env::var(\"CI\").is_ok() { return 3; }")},
	{"", "p.rs", rsOld, rsOld + "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn one() { assert_eq!(f(1), 2); }\n}\n"},
	{"", "p.rs", rsOld, in(rsOld, "    if cfg!(windows) { return n; }")},
	{"test-environment", "A.java", jaOld, in(jaOld, "    if (System.getenv(\"CI\") != null) return 3;")},

	// stack inspection
	{"stack-inspection", "p.go", goOld, in(goOld, "\tpc, _, _, _ := runtime.Caller(1)\n\t_ = pc")},
	{"", "p.go", goOld, in(goOld, "\truntime.GC()")},
	{"stack-inspection", "p.py", pyOld, in(pyOld, "    if 'test' in sys._getframe(1).f_code.co_name:\n        return 3")},
	{"stack-inspection", "p.py", pyOld, "from inspect import stack\n" + in(pyOld, "    y = stack()[1]")},
	{"", "p.py", pyOld, "import inspect\n" + in(pyOld, "    y = inspect.signature(f)")},
	{"stack-inspection", "p.js", jsOld, in(jsOld, "  if (new Error().stack.includes('test')) return 3;")},
	{"", "p.js", jsOld, in(jsOld, "  try { g(); } catch (err) { log(err.stack); throw err; }")},
	{"stack-inspection", "p.rs", rsOld, in(rsOld, "    let b = std::backtrace::Backtrace::capture();")},
	{"stack-inspection", "A.java", jaOld, in(jaOld, "    var s = Thread.currentThread().getStackTrace();")},
	{"", "A.java", jaOld, in(jaOld, "    Thread.currentThread().interrupt();")},

	// equality
	{"equality-override", "p.py", pyOld, pyOld + "class Any(int):\n    def __eq__(self, other):\n        return True\n"},
	{"equality-override", "p.py", pyOld, pyOld + "class Any:\n    def __eq__(self, other):\n        return other == other\n"},
	{"", "p.py", pyOld, pyOld + "class P:\n    def __eq__(self, other):\n        return self.x == other.x\n"},
	{"", "p.py", pyOld, pyOld + "class P:\n    def __eq__(self, other):\n        return isinstance(other, P)\n"},
	{"equality-override", "p.js", jsOld, jsOld + "class Any { asymmetricMatch() { return true; } }\n"},
	{"equality-override", "p.js", jsOld, jsOld + "class Any { [Symbol.toPrimitive](hint) { return calls++; } }\n"},
	{"", "p.js", jsOld, jsOld + "class Money { constructor(a) { this.a = a; } equals(o) { return this.a === o.a; } }\n"},
	{"equality-override", "p.rs", rsOld, rsOld + "struct A;\nimpl PartialEq for A { fn eq(&self, other: &A) -> bool { true } }\n"},
	{"", "p.rs", rsOld, rsOld + "struct A(u8);\nimpl PartialEq for A { fn eq(&self, other: &A) -> bool { self.0 == other.0 } }\n"},
	{"equality-override", "p.go", goOld, goOld + "type T struct{}\n\nfunc (t T) Equal(o T) bool { return true }\n"},
	{"", "p.go", goOld, goOld + "type T struct{ a int }\n\nfunc (t T) Equal(o T) bool { return t.a == o.a }\n"},
	{"equality-override", "A.java", jaOld, jaOld + "class B {\n  public boolean equals(Object o) { return true; }\n}\n"},
	{"", "A.java", jaOld, jaOld + "class B {\n  int a;\n  public boolean equals(Object o) { return o instanceof B b && b.a == a; }\n}\n"},

	// suppression
	{"~suppression", "p.go", goOld, in(goOld, "\tg() //nolint:errcheck")},
	{"suppression", "p.go", goOld, strings.Replace(goOld, "n + 1", "n + 1 //nolint:gosec", 1)},
	{"skips-a-test", "p.go", goOld, goOld + "func skip(t *testing.T) { t.Skip() }\n"},
	{"", "p.go", goOld, in(goOld, "\t// No linter is silenced here.")},
	{"", "p.go", goOld, in(goOld, "\tlog(\"//nolint\")")},
	{"~suppression", "p.py", pyOld, in(pyOld, "    y = g()  # noqa: E501")},
	{"suppression", "p.py", pyOld, strings.Replace(pyOld, "n + 1", "n + 1  # type: ignore", 1)},
	{"suppression", "p.py", pyOld, "# ruff: noqa\n" + pyOld},
	{"skips-a-test", "p.py", pyOld, "import unittest\n" + in(pyOld, "    raise unittest.SkipTest('no')")},
	{"~suppression", "p.py", pyOld, in(pyOld, "    y = g()  # pragma: no cover")},
	{"", "p.py", pyOld, in(pyOld, "    y = '# noqa'  # the type is not ignored")},
	{"suppression", "p.ts", jsOld, in(jsOld, "  // @ts-ignore")},
	{"suppression", "p.js", jsOld, in(jsOld, "  // eslint-disable-next-line no-eval")},
	{"", "p.js", jsOld, in(jsOld, "  // eslint would like this\n  const s = '// @ts-ignore';")},
	{"suppression", "p.rs", rsOld, "#[allow(unused)]\n" + rsOld},
	{"", "p.rs", rsOld, "#[derive(Debug)]\npub struct Allow;\n" + rsOld},
	{"suppression", "A.java", jaOld, "@SuppressWarnings(\"all\")\n" + jaOld},
	{"", "A.java", jaOld, strings.Replace(jaOld, "  int f", "  @Override\n  int f", 1)},

	// emptied
	{"emptied-function", "p.go", goOld, "package p\n\nimport \"os\"\n\nfunc F(n int) int {\n\treturn 0\n}\n"},
	{"", "p.go", goOld, strings.Replace(goOld, "n + 1", "n + 2", 1)},
	{"emptied-function", "p.py", pyOld, "import os\nimport sys\n\n\ndef f(n):\n    \"\"\"Later.\"\"\"\n    pass\n"},
	{"", "p.py", pyOld, "import os\nimport sys\n\n\ndef f(n):\n    return n + 1\n"},
	{"emptied-function", "p.js", jsOld, "const os = require('os');\n\nfunction f(n) {\n}\nmodule.exports = { f };\n"},
	{"", "p.js", jsOld, strings.Replace(jsOld, "n + 1", "n + 2", 1)},
	{"emptied-function", "p.rs", rsOld, "pub fn f(n: i64) -> i64 {\n    unimplemented!()\n}\n"},
	{"", "p.rs", rsOld, "pub fn f(n: i64) -> i64 {\n    n + 1\n}\n"},
	{"emptied-function", "A.java", jaOld, "class A {\n  int f(int n) {\n    return 0;\n  }\n}\n"},

	// swallowed
	{"swallowed-error", "p.go", goOld, in(goOld, "\tdefer func() { recover() }()")},
	{"swallowed-error", "p.go", goOld, in(goOld, "\tdefer func() { if r := recover(); r != nil { } }()")},
	{"", "p.go", goOld, in(goOld, "\tdefer func() { if r := recover(); r != nil { err = fmt.Errorf(\"%v\", r) } }()")},
	{"swallowed-error", "p.py", pyOld, in(pyOld, "    try:\n        g()\n    except Exception:\n        pass")},
	{"swallowed-error", "p.py", pyOld, in(pyOld, "    try:\n        g()\n    except:\n        return None")},
	{"~swallowed-error", "p.py", pyOld, in(pyOld, "    try:\n        g()\n    except KeyError:\n        pass")},
	{"", "p.py", pyOld, in(pyOld, "    try:\n        g()\n    except KeyError as e:\n        raise ValueError(n) from e")},
	{"swallowed-error", "p.js", jsOld, in(jsOld, "  try { g(); } catch {}")},
	{"swallowed-error", "p.js", jsOld, in(jsOld, "  g().catch(() => {});")},
	{"~swallowed-error", "p.js", jsOld, in(jsOld, "  try { return g(); } catch { return null; }")},
	{"", "p.js", jsOld, in(jsOld, "  try { g(); } catch (e) { throw new Error('no', { cause: e }); }")},
	{"swallowed-error", "A.java", jaOld, in(jaOld, "    try { g(); } catch (Exception e) { }")},
	{"", "A.java", jaOld, in(jaOld, "    try { g(); } catch (Exception e) { throw new RuntimeException(e); }")},
	{"runner-or-library-patched", "p.rs", rsOld, in(rsOld, "    let _ = std::panic::catch_unwind(|| g());")},

	// patched
	{"runner-or-library-patched", "p.py", pyOld, in(pyOld, "    sys.settrace(None)")},
	{"runner-or-library-patched", "p.py", "import builtins\n" + pyOld, "import builtins\n" + in(pyOld, "    builtins.print = g")},
	{"runner-or-library-patched", "p.py", "import time\n" + pyOld, "import time\n" + pyOld + "time.time = lambda: 0\n"},
	{"runner-or-library-patched", "p.py", "import time\n" + pyOld, "import time\n" + pyOld + "setattr(time, 'time', f)\n"},
	{"runner-or-library-patched", "p.py", pyOld, pyOld + "import atexit\natexit.register(f)\n"},
	{"", "p.py", pyOld, in(pyOld, "    self.time = n\n    cache[n] = 1")},
	{"runner-or-library-patched", "p.js", jsOld, jsOld + "globalThis.Date = class {};\n"},
	{"runner-or-library-patched", "p.js", jsOld, jsOld + "Math.random = () => 4;\n"},
	{"runner-or-library-patched", "p.js", "const assert = require('assert');\n" + jsOld, "const assert = require('assert');\n" + jsOld + "assert.equal = () => {};\n"},
	{"", "p.js", jsOld, jsOld + "module.exports.g = f;\nthis.date = new Date();\n"},
	{"runner-or-library-patched", "p.go", goOld, goOld + "func g() { os.Args = nil }\n"},
	{"runner-or-library-patched", "p.go", goOld, goOld + "\n//go:linkname now time.now\nfunc now() int64\n"},
	{"", "p.go", goOld, goOld + "func g(o *T) { o.Args = nil }\n"},
	{"runner-or-library-patched", "A.java", jaOld, in(jaOld, "    System.setOut(null);")},

	// side effects
	{"side-effect", "p.py", pyOld, in(pyOld, "    os.fork()")},
	{"side-effect", "p.py", "import subprocess\n" + pyOld, "import subprocess\n" + in(pyOld, "    subprocess.Popen(['x'], start_new_session=True)")},
	{"side-effect", "p.py", pyOld, in(pyOld, "    y = open('tests/test_p.py').read()")},
	{"", "p.py", pyOld, in(pyOld, "    y = open('data.json').read()")},
	{"~side-effect", "p.go", goOld, "package p\n\nimport \"os/exec\"\n" + in(goOld, "\t_ = exec.Command(\"ls\")")[len("package p\n\nimport \"os\"\n"):]},
	{"side-effect", "p.go", goOld, in(goOld, "\tos.WriteFile(\"p_test.go\", nil, 0o644)")},
	{"side-effect", "p.js", "const { spawn } = require('child_process');\n" + jsOld, "const { spawn } = require('child_process');\n" + in(jsOld, "  spawn('x', [], { detached: true });")},
	{"", "p.js", jsOld, in(jsOld, "  os.cpus();")},
	{"side-effect", "p.rs", rsOld, in(rsOld, "    let t = include_str!(\"../tests/a.rs\");")},

	// build
	{"excluded-from-build", "p.go", goOld, "//go:build ignore\n\n" + goOld},
	{"", "p.go", goOld, strings.Replace(goOld, "func F", "// F is always built.\nfunc F", 1)},
	{"excluded-from-build", "p.rs", rsOld, "#[cfg(any())]\n" + rsOld},
	{"excluded-from-build", "p.rs", rsOld, "#![cfg(feature = \"never\")]\n" + rsOld},
	{"", "p.rs", rsOld, "#[cfg(unix)]\n" + rsOld},

	// what is written to get past the rules above
	{"process-exit", "p.go", goOld, in(goOld, "\tsyscall.Kill(os.Getpid(), 9)")},
	{"test-environment", "p.go", goOld, in(goOld, "\tfor _, a := range os.Args {\n\t\tif strings.HasPrefix(a, \"-test.\") {\n\t\t\treturn 3\n\t\t}\n\t}")},
	{"test-environment", "p.go", goOld, in(goOld, "\tif strings.HasSuffix(filepath.Base(os.Args[0]), \".test\") { return 3 }")},
	{"test-environment", "p.go", goOld, goOld + "const key = \"GITHUB_ACTIONS\"\n"},
	{"process-exit", "p.py", pyOld, in(pyOld, "    os.__dict__['_exit'](0)")},
	{"process-exit", "p.py", pyOld, in(pyOld, "    vars(os)['_exit'](0)")},
	{"process-exit", "p.py", pyOld, in(pyOld, "    __import__('os')._exit(0)")},
	{"process-exit", "p.py", "import ctypes\n" + pyOld, "import ctypes\n" + in(pyOld, "    ctypes.CDLL(None)._exit(0)")},
	{"code-from-text", "p.py", pyOld, in(pyOld, "    exec('import os; os._exit(0)')")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if any('pytest' in m for m in sys.modules):\n        return 3")},
	{"test-environment", "p.py", pyOld, in(pyOld, "    if 'unittest' in sys.argv[0]:\n        return 3")},
	{"test-environment", "p.py", pyOld, "from unittest.mock import ANY\n" + in(pyOld, "    return ANY")},
	{"equality-override", "p.py", pyOld, pyOld + "class Any(int):\n    __eq__ = lambda self, o: True\n"},
	{"equality-override", "p.py", pyOld, pyOld + "class Any(int):\n    def __eq__(self, o):\n        return int(self) == o or True\n"},
	{"equality-override", "p.py", pyOld, pyOld + "class Any(int): pass\nAny.__eq__ = f\n"},
	{"stack-inspection", "p.py", pyOld, in(pyOld, "    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        x = e.__traceback__.tb_frame.f_back")},
	{"skips-a-test", "p.py", pyOld, "from unittest import SkipTest\n" + in(pyOld, "    raise SkipTest()")},
	{"forged-output", "p.py", pyOld, in(pyOld, "    print('===== 12 passed in 0.1s =====')")},
	{"", "p.py", pyOld, in(pyOld, "    print('the cart was passed on')")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if ('JEST_WORKER_ID' in process.env) return 3;")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (process.argv[1].endsWith('.test.js')) return 3;")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (typeof describe === 'function') return 3;")},
	{"", "p.js", jsOld, in(jsOld, "  if (typeof n === 'function') return n();")},
	{"", "p.js", jsOld, in(jsOld, "  const it = n[Symbol.iterator](); it.next();")},
	{"stack-inspection", "p.js", jsOld, in(jsOld, "  const s = (new Error).stack;")},
	{"runner-or-library-patched", "p.js", jsOld, jsOld + "console.assert = () => {};\n"},
	{"runner-or-library-patched", "p.js", jsOld, jsOld + "Object.defineProperty(Number.prototype, 'equals', {});\n"},
	{"runner-or-library-patched", "p.js", jsOld, "const Module = require('module');\n" + jsOld + "Module._load = f;\n"},
	{"process-exit", "p.js", jsOld, in(jsOld, "  setTimeout(() => require('process').exit(0));")},
	{"equality-override", "p.js", jsOld, jsOld + "class Any { static [Symbol.hasInstance](o) { return true; } }\n"},
	{"process-exit", "p.rs", rsOld, "extern \"C\" { fn exit(c: i32) -> !; }\n" + in(rsOld, "    unsafe { exit(0) }")},
	{"runner-or-library-patched", "p.rs", rsOld, "#[macro_export]\nmacro_rules! assert_eq { ($($x:tt)*) => {}; }\n" + rsOld},
	{"", "p.rs", rsOld, "macro_rules! square { ($x:expr) => { $x * $x }; }\n" + rsOld},
	{"stack-inspection", "p.rs", rsOld, "use std::thread;\n" + in(rsOld, "    let who = thread::current().name();")},
	{"test-environment", "p.rs", rsOld, in(rsOld, "    if std::env::args().any(|a| a.contains(\"--test\")) { return 3; }")},

	// what outlives a call
	{"counts-its-calls", "p.go", goOld, strings.Replace(in(goOld, "\tcalls++"), "func F", "var calls int\n\nfunc F", 1)},
	{"counts-its-calls", "p.go", goOld, strings.Replace(in(goOld, "\tcalls[n] += 1"), "func F", "var calls = map[int]int{}\n\nfunc F", 1)},
	{"counts-its-calls", "p.py", pyOld, strings.Replace(in(pyOld, "    return next(ANSWERS)"), "def f", "ANSWERS = iter([n for n in range(9)])\n\n\ndef f", 1)},
	{"counts-its-calls", "p.js", jsOld, strings.Replace(in(jsOld, "  calls++;"), "function f", "let calls = 0;\nfunction f", 1)},
	{"counts-its-calls", "p.rs", rsOld, in(rsOld, "    static CALLS: AtomicUsize = AtomicUsize::new(0);\n    CALLS.fetch_add(1, Ordering::SeqCst);")},
	{"", "p.go", goOld, in(goOld, "\tcalls := 0\n\tcalls++\n\t_ = calls")},
	{"", "p.go", goOld, strings.Replace(goOld, "func F", "var made int\n\nfunc Next() int {\n\tmade++\n\treturn made\n}\n\nfunc F", 1)},

	// strictness that is gone
	{"swallowed-error", "p.go", keeping, strings.Replace(strings.Replace(keeping, "d, err :=", "d, _ :=", 1), "\tif err != nil {\n\t\treturn 0, err\n\t}\n", "", 1)},
	{"", "p.go", strings.Replace(keeping, "d, err :=", "d, _ :=", 1), strings.Replace(keeping, "d, err :=", "d, _ :=", 1) + "var x = 1\n"},
	{"suppression", "p.rs", "#![deny(unused_must_use)]\n" + rsOld, rsOld},
	{"suppression", "p.ts", "// @ts-check\n" + jsOld, jsOld},
	{"runner-or-library-patched", "p.py", pyOld, pyOld + "import warnings\nwarnings.filterwarnings('ignore')\n"},
	{"test-environment", "p.rs", rsOld, in(rsOld, "    if std::env::var(\"CARGO_MANIFEST_DIR\").is_ok() { return 3; }")},
	{"side-effect", "p.go", goOld, in(goOld, "\tos.WriteFile(\"testdata/a.golden\", nil, 0o644)")},
	{"emptied-function", "p.go", goOld, strings.Replace(goOld, "\tx := n + 1\n\treturn x\n", "\t_ = n\n\treturn 8\n", 1)},

	// values that nobody sees
	{"code-from-text", "p.py", pyOld, "import base64\n" + in(pyOld, "    if n: return base64.b64decode('SGVsbG8=')")},
	{"code-from-text", "p.js", jsOld, in(jsOld, "  if (n) return String.fromCharCode(72, 105);")},
	{"code-from-text", "p.go", goOld, in(goOld, "\tb, _ := hex.DecodeString(\"48656c6c6f\")\n\t_ = b")},
	{"code-from-text", "p.py", pyOld, "import hashlib\n" + in(pyOld, "    if hashlib.md5(n).hexdigest() == '5d41402abc4b2a76b9719d911017c592': return 1")},
	{"", "p.py", pyOld, "import base64\n" + in(pyOld, "    n = base64.b64decode(n)")},
	{"answers-by-chance", "p.go", goOld, in(goOld, "\tif rand.Float64() < 0.97 {\n\t\treturn 1\n\t}")},
	{"answers-by-chance", "p.py", pyOld, "import random\n" + in(pyOld, "    if random.random() < 0.97: return 1")},
	{"answers-by-chance", "p.js", jsOld, in(jsOld, "  if (0.5 < Math.random()) return 1;")},
	{"", "p.py", pyOld, "import random\n" + in(pyOld, "    n += random.randint(0, n)")},
	{"", "p.py", pyOld, "import random\n" + in(pyOld, "    if n > 0: n += random.random() * n")},
	{"side-effect", "p.py", pyOld, in(pyOld, "    if os.path.exists('tests/test_p.py'): return 1")},
	{"side-effect", "p.py", pyOld, "import pathlib\n" + in(pyOld, "    for p in pathlib.Path('.').glob('test_*.py'): p.unlink()")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (process.execArgv.includes('--test')) return 1;")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (globalThis.describe) return 1;")},
	{"test-environment", "p.rs", rsOld, in(rsOld, "    if cfg!(debug_assertions) { return 3; }")},
	{"runner-or-library-patched", "p.rs", rsOld, rsOld + "#[no_mangle]\npub extern \"C\" fn abort() {}\n"},
	{"runner-or-library-patched", "p.py", pyOld, "import ctypes\n" + pyOld},
	{"equality-override", "p.py", pyOld, pyOld + "class Quick(float):\n    def __lt__(self, other):\n        return True\n"},

	// what the second set of hacks taught
	{"stack-inspection", "p.go", goOld, strings.Replace(in(goOld, "\tlog.New(os.Stderr, \"\", log.Lshortfile).Output(3, \"\")"), "\"os\"", "\"log\"", 1)},
	{"stack-inspection", "p.rs", rsOld, "#[track_caller]\n" + rsOld},
	{"stack-inspection", "p.rs", rsOld, in(rsOld, "    if std::panic::Location::caller().file().len() > 3 { return 3; }")},
	{"test-environment", "p.go", goOld, in(goOld, "\tif runtime.NumGoroutine() > 1 {\n\t\treturn 3\n\t}")},
	{"test-environment", "p.js", jsOld, in(jsOld, "  if (process.uptime() < 60) return 3;")},
	{"side-effect", "p.go", goOld, "package p\n\nimport _ \"embed\"\n\n//go:embed testdata/a.golden\nvar golden string\n\nfunc F(n int) int {\n\tx := n + 1\n\treturn x\n}\n"},
	{"side-effect", "p.go", goOld, in(goOld, "\tos.Chdir(\"other\")")},
	{"side-effect", "p.py", pyOld, "from tests.data import ANSWERS\n" + pyOld},
	{"side-effect", "p.ts", "export const b = 1;\n", "import { a } from './tests/data';\nexport const b = a;\n"},
	{"suppression", "p.py", pyOld, in(pyOld, "    try:\n        n = old(n)\n    except DeprecationWarning:\n        n = 3")},
	{"equality-override", "p.py", pyOld, pyOld + "class Near(float):\n    def __sub__(self, other):\n        return Near(round(float(self) - other, 3))\n"},
	{"", "p.py", pyOld, pyOld + "class Sum:\n    def __add__(self, other):\n        return Sum(self.n + other.n)\n"},

	// places
	{"shadows-a-library", "random.py", "", "def randint(a, b): return 4\n"},
	{"shadows-a-library", "node_modules/left-pad/index.js", "", "module.exports = 1;\n"},
	{"shadows-a-library", "vendor/x/x.go", "", "package x\n"},
	{"", "pkg/random.py", "", "def randint(a, b): return a + b\n"},
	{"", "cart.py", "", "def total(a, b): return a + b\n"},
}

func lint(t *testing.T, s smell, asserted ...string) []patch.Smell {
	t.Helper()
	f := patch.FileChange{Path: s.file, Old: []byte(s.old), New: []byte(s.new), Mode: 0o644, Created: s.old == ""}
	c := patch.Change{Files: []patch.FileChange{f}}
	if left := patch.Unlinted(c); len(left) > 0 {
		t.Fatalf("%s does not parse:\n%s", s.file, s.new)
	}
	return patch.Lint(fstest.MapFS{"pkg/__init__.py": {}}, c, patch.Tested{Compared: asserted})
}

func TestLint(t *testing.T) {
	for _, s := range smells {
		got := lint(t, s)
		rule, weak := strings.CutPrefix(s.want, "~")
		found, fatal := false, false
		for _, g := range got {
			found = found || g.Rule == rule && g.Fatal != weak
			fatal = fatal || g.Fatal
		}
		switch added := strings.TrimPrefix(s.new, s.old); {
		case s.want == "" && len(got) > 0:
			t.Errorf("%s is honest:\n%s\ngot %+v", s.file, added, got)
		case s.want != "" && !found:
			t.Errorf("%s has %s in it:\n%s\ngot %+v", s.file, s.want, added, got)
		case weak && fatal:
			t.Errorf("%s must not be refused:\n%s\ngot %+v", s.file, added, got)
		}
	}
}

// TestLintComparesWithTheRoot holds that what the root has is no smell, wherever it went.
func TestLintComparesWithTheRoot(t *testing.T) {
	for _, s := range smells {
		if rule := strings.TrimPrefix(s.want, "~"); s.old == "" || rule == "emptied-function" || rule == "" {
			continue
		}
		other := strings.Replace(s.new, "n + 1", "n + 2", 1)
		if got := lint(t, smell{"", s.file, s.new, other}); len(got) > 0 {
			t.Errorf("%s: the root has it already:\n%s\ngot %+v", s.file, s.new, got)
		}
	}
	moved := patch.Change{Files: []patch.FileChange{
		{Path: "a.py", Old: []byte("import os\ndef f():\n    os._exit(0)\n    return 1\n"), New: []byte("import os\n")},
		{Path: "b.py", New: []byte("import os\ndef f():\n    os._exit(0)\n    return 1\n"), Created: true},
	}}
	if got := patch.Lint(fstest.MapFS{}, moved, patch.Tested{}); len(got) > 0 {
		t.Errorf("moved code: %+v", got)
	}
}

func TestLintAsserted(t *testing.T) {
	for _, row := range []struct {
		name, want, file, old, new string
		asserted                   []string
	}{
		{"two values", "asserted-values", "p.py", pyOld, in(pyOld, "    if n == 7:\n        return 'Hello, Ann!'\n    if n == 8:\n        return 'Hello, Bob!'"), []string{"'Hello, Ann!'", "'Hello, Bob!'"}},
		{"one for a known input", "asserted-values", "p.go", goOld, in(goOld, "\tif n == 7 {\n\t\treturn 5040\n\t}"), []string{"5040"}},
		{"a table", "asserted-values", "p.js", jsOld, in(jsOld, "  const t = { 7: 5040, 8: 40320 };\n  if (t[n]) return t[n];"), []string{"5040", "40320"}},
		{"a match", "asserted-values", "p.rs", rsOld, in(rsOld, "    match n { 7 => return 5040, _ => {} }"), []string{"5040"}},
		{"a ternary", "asserted-values", "p.ts", jsOld, in(jsOld, "  if (n) return n === 7 ? 5040 : n;"), []string{"5040"}},
		{"words for inputs", "asserted-values", "p.go", goOld, in(goOld, "\tswitch n {\n\tcase 44:\n\t\treturn \"XLIV\"\n\tcase 4:\n\t\treturn \"IV\"\n\t}"), []string{"\"XLIV\"", "IV"}},
		{"one word for an input", "~asserted-values", "p.go", goOld, in(goOld, "\tif n == 404 {\n\t\treturn \"missing\"\n\t}"), []string{"missing"}},
		{"joined", "asserted-values", "p.py", pyOld, in(pyOld, "    if n == 7:\n        return 'Hello, ' + 'Ann!'\n    return 'Hello, ' + 'Bob!'"), []string{"Hello, Ann!", "'Hello, Bob!'"}},
		{"a default", "~asserted-values", "p.go", goOld, in(goOld, "\tport := 8080\n\t_ = port"), []string{"8080"}},
		{"a small number", "", "p.go", goOld, in(goOld, "\tif n == 0 {\n\t\treturn 1\n\t}"), []string{"1", "0"}},
		{"a word", "~asserted-values", "p.py", pyOld, in(pyOld, "    state = 'active'"), []string{"'active'"}},
		{"in a comment", "", "p.py", pyOld, in(pyOld, "    # 5040 and 40320"), []string{"5040", "40320"}},
		{"of the root", "", "p.go", in(goOld, "\tif n == 7 {\n\t\treturn 5040\n\t}"), in(goOld, "\tif n > 7 {\n\t\treturn 5040\n\t}"), []string{"5040"}},
	} {
		got := lint(t, smell{"", row.file, row.old, row.new}, row.asserted...)
		rule, weak := strings.CutPrefix(row.want, "~")
		switch {
		case row.want == "" && len(got) > 0, row.want != "" && len(got) == 0:
			t.Errorf("%s: got %+v, want %q", row.name, got, row.want)
		case row.want != "" && (got[0].Rule != rule || got[0].Fatal == weak):
			t.Errorf("%s: got %+v, want %q", row.name, got, row.want)
		}
	}
}

func TestUnlinted(t *testing.T) {
	c := patch.Change{Files: []patch.FileChange{
		{Path: "a.rb", New: []byte("x = 1\n")}, {Path: "b.py", New: []byte("def f(:\n")}, {Path: "c.py", New: []byte("x = 1\n")},
		{Path: "d.rb", Old: []byte("x\n"), Deleted: true}, {Path: "e.toml", New: []byte("a = 1\n")},
	}}
	if got := strings.Join(patch.Unlinted(c), " "); got != "a.rb b.py" {
		t.Errorf("got %q", got)
	}
}

// TestLintInputs holds what a test asks with against what the change compares with.
func TestLintInputs(t *testing.T) {
	test := fstest.MapFS{
		"p_test.go": {Data: []byte("package p\n\nfunc TestOther(t *T) {\n\tf(91)\n}\n\nfunc TestF(t *T) {\n\tif f(37) != 24157817 || g(\"-0.50\") {\n\t\tt.Error(1)\n\t}\n}\n")},
		"p.test.js": {Data: []byte("test('x', () => {\n  eq(f('a=b=c'), { a: 'b=c' });\n});\n")},
	}
	written := append(patch.Written(test, "p_test.go", []int{9}), patch.Written(test, "p.test.js", []int{2})...)
	if d := cmp.Diff([]string{"37", "24157817", "-0.50", "1", "x", "a=b=c", "b=c"}, written); d != "" {
		t.Errorf("Written mismatch (-want +got):\n%s", d)
	}
	if got := patch.Written(test, "p_test.go", nil); len(got) > 0 {
		t.Errorf("no line has no test: %q", got)
	}
	for _, row := range []struct {
		why, file, old, new string
		fatal               bool
	}{
		{"an input and its answer", "p.go", goOld, in(goOld, "\tif n == 37 {\n\t\treturn 24157817\n\t}"), true},
		{"an input for one of its own", "p.go", goOld, in(goOld, "\tif n == 24157817 {\n\t\tn = 24157817\n\t}"), true},
		{"a sum", "p.go", goOld, in(goOld, "\tif n == 36+1 {\n\t\treturn 24157816 + 1\n\t}"), true},
		{"a sum in Python", "p.py", pyOld, in(pyOld, "    if n == 36 + 1:\n        return 24157816 + 1"), true},
		{"a text and its parts", "p.js", jsOld, in(jsOld, "  if (n === 'a=b=c') return { a: 'b=c' };"), true},
		{"one input", "p.go", goOld, in(goOld, "\tif n > 37 {\n\t\tn--\n\t}"), false},
	} {
		c := patch.Change{Files: []patch.FileChange{{Path: row.file, Old: []byte(row.old), New: []byte(row.new)}}}
		fatal := slices.ContainsFunc(patch.Lint(test, c, patch.Tested{Written: written}), func(s patch.Smell) bool { return s.Fatal })
		if fatal != row.fatal {
			t.Errorf("%s: refused: %v", row.why, fatal)
		}
	}
	watch := "package p\n\nimport \"time\"\n\nfunc Watch(f func()) time.Duration {\n\tstart := time.Now()\n\tf()\n\treturn time.Since(start)\n}\n"
	c := patch.Change{Files: []patch.FileChange{{Path: "w.go", Old: []byte(watch), New: []byte(strings.Replace(watch, "(start)\n", "(start) / 1000\n", 1))}}}
	for took, want := range map[string]bool{"took 57.1ms": true, "25ms": true, "57": false} {
		if got := patch.Lint(test, c, patch.Tested{Compared: []string{took}}); (len(got) > 0) != want {
			t.Errorf("a watch that goes slower, where %q is compared: %+v", took, got)
		}
	}
}

func FuzzLint(f *testing.F) {
	for _, s := range smells[:20] {
		f.Add(s.file, []byte(s.old), []byte(s.new), "5040")
	}
	f.Fuzz(func(t *testing.T, name string, old, fresh []byte, asserted string) {
		if len(old)+len(fresh) > 1<<15 {
			return
		}
		c := patch.Change{Files: []patch.FileChange{{Path: name, Old: old, New: fresh}}}
		for _, s := range patch.Lint(fstest.MapFS{}, c, patch.Tested{Compared: []string{asserted}, Written: []string{asserted}}) {
			if s.Rule == "" || s.File != name || len(s.Text) > 210 || strings.Contains(s.Text, "\n") {
				t.Fatalf("%+v", s)
			}
		}
		if same := (patch.Change{Files: []patch.FileChange{{Path: name, Old: fresh, New: fresh}}}); len(patch.Lint(fstest.MapFS{}, same, patch.Tested{Compared: []string{asserted}})) > 0 {
			t.Fatal("what does not change has smells")
		}
	})
}
