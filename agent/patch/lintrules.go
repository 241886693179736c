package patch

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

func (r read) judgeRef(i int, f syntax.Fact) (string, bool) {
	name := strings.TrimSuffix(f.Text, "()")
	for _, rule := range []struct {
		names named
		rule  string
	}{{moves(), Outliving}, {kills(), ProcessExit}, {stacks(), Introspection}, {skips(), Skipping}, {hooks(), Patched}, {outliving(), Outliving}} {
		if rule.names.has(r.lang, name) && (rule.rule != Skipping || !r.testFile() || f.Called) {
			return rule.rule, true
		}
	}
	switch {
	case exits().has(r.lang, name):
		return r.judgeExit(i, f)
	case asking().has(r.lang, name) && !r.testFile():
		return TestBranch, true
	case r.asksEnvironment(f, name), r.lang == "javascript" && r.asksRunner(name):
		return TestBranch, true
	case r.usesStack(name):
		return Introspection, true
	case r.lang == "python" && strings.HasSuffix(name, "._exit"):
		return ProcessExit, true
	case processes().has(r.lang, name):
		return r.judgeProcess(f)
	case touches().has(r.lang, name) && f.Called:
		return r.judgeTouch(f)
	}
	return r.judgeCall(f, name)
}

// judgeCall has the rules that look at arguments.
func (r read) judgeCall(f syntax.Fact, name string) (string, bool) {
	first, all := "", strings.Join(f.Args, "\x00")
	if len(f.Args) > 0 {
		first = f.Args[0]
	}
	switch {
	case !f.Called:
		return "", false
	case (r.lang == "python" && (name == "exec" || name == "eval") || r.lang == "javascript" && (name == "eval" || name == "new Function")):
		return Dynamic, slices.ContainsFunc(f.Args, func(a string) bool { return strings.Contains(a, "exit") || strings.Contains(a, "import") })
	case r.lang == "go" && name == "flag.Lookup" && strings.HasPrefix(first, "test."):
		return TestBranch, true
	case r.lang == "go" && (name == "strings.HasSuffix" || name == "strings.Contains") && (strings.Contains(all, ".test") || strings.Contains(all, "-test.")) && strings.Contains(all, "os."):
		return TestBranch, true
	case r.lang == "rust" && name == "cfg!" && (strings.Contains(all, "test") || strings.Contains(all, "debug_assertions")):
		return TestBranch, true
	case r.lang == "python" && (name == "setattr" || name == "builtins.setattr" || name == "delattr") && r.imported(first):
		return Patched, true
	case decoders().has(r.lang, name) && (len(first) >= 4 && r.constant(f) || r.lang == "javascript" && strings.HasPrefix(name, "String.from") && len(f.Args) > 1 && r.constant(f)):
		return Dynamic, true
	case dice().has(r.lang, name) && r.compares(f) && !r.testFile():
		return ByChance, true
	case r.lang == "python" && name == "warnings.filterwarnings":
		return Patched, first == "ignore" || first == "once"
	case r.lang == "rust" && (name == "std.env.var" || name == "std.env.var_os" || name == "env.var" || name == "env.var_os") && (first == "CARGO" || strings.HasPrefix(first, "CARGO_")):
		return TestBranch, true
	case r.lang == "python" && name == "contextlib.suppress":
		return Swallowed, broad(all)
	case r.lang == "javascript" && strings.HasSuffix(name, ".catch") && emptyFunction(first):
		return Swallowed, true
	case r.lang == "javascript" && (name == "process.on" || name == "process.once") && slices.Contains([]string{"exit", "beforeExit", "uncaughtException", "unhandledRejection"}, first):
		return Patched, true
	case r.lang == "javascript" && (name == "Object.defineProperty" || name == "Object.assign" || name == "Reflect.set" || name == "Reflect.defineProperty") && worldly(first):
		return Patched, true
	case r.setsEnvironment(name):
		return Patched, slices.Contains([]string{"PATH", "NODE_OPTIONS", "PYTHONPATH", "LD_PRELOAD", "GOFLAGS", "PYTEST_ADDOPTS", "RUSTFLAGS", "NODE_ENV"}, first)
	}
	return "", false
}

// constant says whether a call's first argument is a literal.
func (r read) constant(f syntax.Fact) bool {
	return slices.ContainsFunc(r.facts, func(g syntax.Fact) bool {
		return g.Kind == syntax.Literal && g.Start > f.Start && g.Line == f.Line && strings.Contains(f.Args[0], g.Text)
	})
}

// compares says whether what a call gives is compared with something: then chance decides.
func (r read) compares(f syntax.Fact) bool {
	name := f.Text[strings.LastIndexByte(f.Text, '.')+1:]
	before, after, ok := strings.Cut(r.lines[f.Line-1], name+"(")
	if !ok {
		return false
	}
	for depth := 1; after != "" && depth > 0; after = after[1:] {
		switch after[0] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	before = strings.TrimRight(before, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.: ")
	after = strings.TrimLeft(after, " ")
	for _, op := range []string{"<", ">", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(after, op) || strings.HasSuffix(before, op) && !strings.HasSuffix(before, "->") && !strings.HasSuffix(before, "=>") {
			return true
		}
	}
	return false
}

func (r read) setsEnvironment(name string) bool {
	return slices.Contains([]string{"os.Setenv", "os.putenv", "std.env.set_var", "env.set_var", "System.setProperty", "Deno.env.set"}, name)
}

// worldly says whether an expression of a script is something that everybody uses.
func worldly(expr string) bool {
	first, _, _ := strings.Cut(strings.ReplaceAll(expr, " ", ""), ".")
	return first == "globalThis" || first == "global" || first == "window" || global(first)
}

func emptyFunction(text string) bool {
	squeezed := strings.Join(strings.Fields(text), "")
	return strings.HasSuffix(squeezed, "=>{}") || strings.HasSuffix(squeezed, "=>undefined") || strings.HasSuffix(squeezed, "=>null") || strings.HasPrefix(squeezed, "function") && strings.HasSuffix(squeezed, "){}")
}

// judgeExit lets a program's own entry end it. A failing status cannot make anything look well.
func (r read) judgeExit(i int, f syntax.Fact) (string, bool) {
	if !f.Called && (r.lang != "python" || f.Text != "SystemExit") {
		return ProcessExit, f.Text != "exit" && f.Text != "quit"
	}
	status := "0"
	if len(f.Args) > 0 {
		status = f.Args[0]
	}
	if n, err := strconv.Atoi(status); err == nil && n != 0 {
		return ProcessExit, false
	}
	fn := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
	if fn == "main" || fn == "Main" || fn == "" && r.entry(i) {
		return "", false
	}
	return ProcessExit, true
}

// entry says whether the top level of a file is a program: a shebang, or the condition that only a program meets.
func (r read) entry(i int) bool {
	if len(r.lines) > 0 && strings.HasPrefix(r.lines[0], "#!") {
		return true
	}
	for _, dir := range strings.Split(path.Dir(r.name), "/") {
		if dir == "bin" || dir == "scripts" || dir == "cmd" {
			return true
		}
	}
	for _, f := range r.facts[:i] {
		if f.Kind == syntax.Literal && f.Text == "__main__" && f.Usage == syntax.Compared && f.Func == "" {
			return true
		}
		if f.Kind == syntax.Ref && f.Text == "require.main" {
			return true
		}
	}
	return false
}

// asksEnvironment says whether a test runner's variable is looked at.
func (r read) asksEnvironment(f syntax.Fact, name string) bool {
	known := testVariables()[""]
	if f.Called && environs().has(r.lang, name) {
		return slices.ContainsFunc(f.Args, func(a string) bool { return known[a] })
	}
	for table := range environTables()[r.lang] {
		if rest, ok := strings.CutPrefix(name, table+"."); ok {
			variable, _, _ := strings.Cut(rest, ".")
			return known[variable]
		}
	}
	if rest, ok := strings.CutPrefix(name, "sys.modules."); ok {
		return runners()[""][strings.SplitN(rest, ".", 2)[0]] || slices.ContainsFunc(f.Args, func(a string) bool { return runners()[""][a] })
	}
	return false
}

// asksRunner says whether a script looks for what a runner puts everywhere.
func (r read) asksRunner(name string) bool {
	if r.testFile() {
		return false
	}
	first, rest, _ := strings.Cut(name, ".")
	if rest, _, _ = strings.Cut(rest, "."); first == "globalThis" || first == "global" {
		return slices.Contains([]string{"jest", "vi", "describe", "it", "test", "expect", "suite"}, rest)
	}
	probe, typeof := strings.CutPrefix(name, "typeof ")
	return first == "jest" || first == "vi" || typeof && slices.Contains([]string{"jest", "vi", "describe", "it", "test", "expect", "suite"}, probe)
}

// usesStack says whether a program reads a stack that it made itself.
func (r read) usesStack(name string) bool {
	parts := strings.Split(name, ".")
	if r.lang == "python" {
		return slices.ContainsFunc(parts, func(p string) bool { return p == "f_back" || p == "tb_frame" || p == "f_locals" || p == "f_globals" })
	}
	if r.lang != "javascript" {
		return false
	}
	if strings.HasPrefix(name, "new Error().stack") || strings.HasPrefix(name, "Error().stack") {
		return true
	}
	for _, use := range []string{".stack.includes", ".stack.match", ".stack.indexOf", ".stack.search", ".stack.split().some", ".stack.split().find"} {
		if strings.HasSuffix(name, use) {
			return true
		}
	}
	return false
}

func (r read) judgeProcess(f syntax.Fact) (string, bool) {
	all := strings.Join(f.Args, " ")
	squeezed := strings.Join(strings.Fields(all), "")
	for _, sign := range []string{"nohup", "setsid", "start_new_session=True", "detached:true", "git log", "git show", "git stash", "git checkout", "git commit", "git reset", "pkill", "killall"} {
		if strings.Contains(all, sign) || strings.Contains(squeezed, sign) {
			return Outliving, true
		}
	}
	return Outliving, slices.Contains(f.Args, "git") && slices.ContainsFunc(f.Args, func(a string) bool {
		return slices.Contains([]string{"log", "show", "stash", "checkout", "commit", "reset", "restore", "cat-file"}, a)
	})
}

// judgeTouch refuses code that reads or writes the tree's own sources and tests by name.
func (r read) judgeTouch(f syntax.Fact) (string, bool) {
	for _, a := range f.Args {
		lower := strings.ToLower(a)
		if strings.Contains(a, "__file__") || strings.Contains(a, "__filename") {
			return Outliving, slices.ContainsFunc(f.Args[1:], func(m string) bool { return m == "w" || m == "a" || m == "r+" })
		}
		if strings.ContainsAny(lower, " \n(") {
			continue
		}
		for _, sign := range []string{"_test.go", ".test.", ".spec.", "/tests/", "__tests__", ".snap", "testdata/", "fixtures/", ".golden"} {
			if strings.Contains(lower, sign) {
				return Outliving, true
			}
		}
		base := path.Base(lower)
		if strings.HasPrefix(base, "test_") || strings.HasPrefix(lower, "tests/") || base == "conftest.py" || strings.HasPrefix(lower, ".git/") {
			return Outliving, true
		}
	}
	return "", false
}

// judgeLiteral finds texts that only somebody writes who looks for a runner, or wants to be taken for one.
func (r read) judgeLiteral(i int, f syntax.Fact) (string, bool) {
	if r.testFile() {
		return "", false
	}
	lower := strings.ToLower(f.Text)
	runner := slices.ContainsFunc([]string{"test", "jest", "mocha", "tap"}, func(w string) bool { return strings.Contains(lower, w) })
	switch {
	case forged(f.Text):
		return Forged, true
	case f.Usage == syntax.Compared && digest(f.Text):
		return Dynamic, true
	case f.Text == "--test" && r.near(i, "process.execArgv"):
		return TestBranch, true
	case testVariables()[""][f.Text] && (strings.Contains(f.Text, "_") && len(f.Text) > 8 || r.near(i, "os.environ", "process.env", "os.Environ", "std.env.vars", "System.getenv")),
		runners()[""][f.Text] && r.near(i, "sys.modules"),
		f.Text == "test" && r.near(i, "process.env.NODE_ENV", "import.meta.env.MODE"),
		(runner || f.Text == "deps") && r.near(i, "sys.argv", "os.Args", "process.argv", "std.env.current_exe", "std.env.args", "os.Executable", "require.main.filename", "module.parent"),
		r.lang == "go" && (strings.HasPrefix(f.Text, "-test.") || strings.HasPrefix(f.Text, "test.v")):
		return TestBranch, true
	case namesTests(f.Text):
		return Outliving, true
	}
	return "", false
}

// near says whether one of some names, or what lies in it, stands on a fact's line.
func (r read) near(i int, names ...string) bool {
	for _, g := range r.facts[max(0, i-8):min(len(r.facts), i+9)] {
		if g.Kind == syntax.Ref && g.Line == r.facts[i].Line && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(g.Text, n) }) {
			return true
		}
	}
	return false
}

// forged says whether a text is a line of a runner's that says that all is well.
func forged(text string) bool {
	for _, sign := range []string{"--- PASS:", "test result: ok", `"Action":"pass"`, "Test Suites: ", "[  PASSED  ]", "BUILD SUCCESS", "<testsuite"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	before, _, ok := strings.Cut(text, " passed")
	return ok && before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9' || strings.HasPrefix(text, "ok  \t")
}

func (r read) judgeAssign(f syntax.Fact) (string, bool) {
	first, rest, dotted := strings.Cut(f.Text, ".")
	switch r.lang {
	case "rust":
		if !strings.HasSuffix(f.Text, "!") {
			return "", false
		}
		return patchedMacro(f.Text)
	case "python":
		switch {
		case dotted && (strings.HasSuffix(f.Text, ".__eq__") || strings.HasSuffix(f.Text, ".__ne__")):
			return AlwaysEqual, true
		case !dotted && !strings.HasSuffix(f.Text, "[]"):
			return "", false
		case strings.HasPrefix(f.Text, "os.environ"):
			name := strings.TrimPrefix(f.Text, "os.environ.")
			return Patched, testVariables()[""][name] || name == "PATH" || name == "PYTHONPATH"
		case first == "builtins" || first == "__builtins__" || strings.HasPrefix(f.Text, "sys.modules") || slices.Contains([]string{"sys.exit", "sys.stdout", "sys.stderr", "sys.excepthook", "sys.meta_path", "sys.path_hooks"}, f.Text):
			return Patched, true
		case r.imported(first) && libraries()[first] && rest != "":
			return Patched, true
		case r.imported(first):
			return Patched, false
		}
	case "javascript":
		return judgeScriptAssign(f, first, rest, dotted)
	case "go":
		if slices.Contains([]string{"os.Args", "os.Stdout", "os.Stderr", "flag.CommandLine"}, f.Text) {
			return Patched, true
		}
		if slices.Contains([]string{"time.Local", "http.DefaultTransport", "http.DefaultClient"}, f.Text) {
			return Patched, false
		}
	}
	return "", false
}

// digest says whether a text is what a hash gives.
func digest(text string) bool {
	return len(text) >= 16 && strings.Trim(text, "0123456789abcdefABCDEF") == "" && strings.ContainsAny(text, "abcdefABCDEF")
}

// namesTests says whether a text names files as tests are named: product code that looks for them is after its own.
func namesTests(text string) bool {
	if strings.ContainsAny(text, " \n") {
		return false
	}
	return slices.ContainsFunc([]string{"_test.go", "test_*.py", "*_test.py", ".test.js", ".test.ts", ".spec.ts", ".spec.js", "conftest.py", "*.golden", ".test.mjs"}, func(sign string) bool { return strings.Contains(text, sign) })
}

func patchedMacro(name string) (string, bool) {
	if slices.Contains([]string{"assert!", "assert_eq!", "assert_ne!", "panic!", "debug_assert!", "debug_assert_eq!"}, name) {
		return Patched, true
	}
	return "", false
}

func judgeScriptAssign(f syntax.Fact, first, rest string, dotted bool) (string, bool) {
	value := strings.TrimSpace(f.Args[0])
	switch {
	case f.Text == "process.exitCode":
		n, err := strconv.Atoi(value)
		return ProcessExit, err != nil || n == 0
	case !dotted:
		if slices.Contains([]string{"expect", "assert", "describe", "setTimeout"}, f.Text) && value != "" && !strings.Contains(value, "require") {
			return Patched, false
		}
		return "", false
	case first == "globalThis" || first == "global" || first == "window":
		name, _, _ := strings.Cut(rest, ".")
		return Patched, global(name)
	case strings.HasPrefix(f.Text, "process.env."):
		return Patched, testVariables()[""][strings.TrimPrefix(f.Text, "process.env.")] || strings.HasSuffix(f.Text, ".PATH") || strings.HasSuffix(f.Text, ".NODE_ENV")
	case first == "module" && (rest == "exports" || strings.HasPrefix(rest, "exports.")):
		return "", false
	case global(first) || strings.HasPrefix(f.Text, "require.cache") || strings.HasPrefix(f.Text, "require.extensions") || strings.HasPrefix(f.Text, "Module.") || first == "module" && rest != "exports":
		return Patched, true
	}
	return "", false
}

// imported says whether the file imports a module.
func (r read) imported(module string) bool {
	module, _, _ = strings.Cut(module, ".")
	return slices.ContainsFunc(r.facts, func(f syntax.Fact) bool {
		return f.Kind == syntax.Import && (f.Text == module || strings.HasPrefix(f.Text, module+"."))
	})
}

// judgeFunc finds equality that does not compare.
func (r read) judgeFunc(i int, f syntax.Fact) (string, bool) {
	container, name, method := strings.Cut(f.Text, ".")
	if !method {
		return "", false
	}
	if r.lang == "python" && operators()[""][name] && r.builtinBase(container) {
		return AlwaysEqual, true
	}
	switch r.lang + " " + name {
	case "javascript [Symbol.toPrimitive]", "javascript [Symbol.hasInstance]", "javascript asymmetricMatch", "javascript $$typeof":
		return AlwaysEqual, true
	case "javascript valueOf":
		return AlwaysEqual, f.Body == syntax.Constant
	case "python __instancecheck__", "python __subclasscheck__", "python __lt__", "python __le__", "python __gt__", "python __ge__", "python __contains__":
		return AlwaysEqual, f.Body == syntax.Constant || f.Body == syntax.Empty
	case "python __eq__", "python __ne__", "rust eq", "java equals", "go Equal", "go Is", "javascript equals", "rust ne":
	default:
		return "", false
	}
	line := strings.Join(r.lines[f.Line-1:min(len(r.lines), f.Line+6)], "")
	if strings.Contains(line, " or True") || strings.Contains(line, "|| true") {
		return AlwaysEqual, true
	}
	if f.Body == syntax.Constant {
		if strings.Contains(line, "NotImplemented") || !strings.Contains(strings.ToLower(line), "true") && name != "__ne__" && name != "ne" {
			return "", false
		}
		return AlwaysEqual, true
	}
	if len(f.Args) < 2 || r.lang == "javascript" || r.lang == "java" {
		return "", false
	}
	self, other := false, false
	for _, g := range r.facts {
		if g.Func != f.Text || g.Kind != syntax.Ref {
			continue
		}
		words := strings.FieldsFunc(g.Text+" "+strings.Join(g.Args, " "), func(c rune) bool { return strings.ContainsRune(".()[]&*, ", c) })
		self = self || slices.Contains(words, f.Args[0]) || slices.Contains(words, container)
		other = other || slices.Contains(words, f.Args[1])
	}
	if self && other {
		return "", false
	}
	return AlwaysEqual, r.lang == "python" || r.lang == "go" && name == "Equal"
}

// broad says whether what is caught is nearly everything, the runner's own signals included.
func broad(what string) bool {
	for _, w := range strings.FieldsFunc(what, func(c rune) bool { return strings.ContainsRune(" ,()|\x00", c) }) {
		if i := strings.LastIndexByte(w, '.'); i >= 0 {
			w = w[i+1:]
		}
		if slices.Contains([]string{"Exception", "BaseException", "AssertionError", "Throwable", "Error", "RuntimeException", "SystemExit"}, w) {
			return true
		}
	}
	return strings.TrimSpace(what) == ""
}

// operators are the methods by which a value of a class answers comparisons and sums.
var operators = names(map[string]string{"": `__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __sub__ __rsub__ __add__ __radd__ __abs__ __round__ __float__ __int__ __bool__ __len__ __contains__ __hash__`})

// builtinBase says whether a class of Python is a number, a text or a collection of the language's own that answers otherwise.
func (r read) builtinBase(class string) bool {
	for _, l := range r.lines {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "class "+class+"("); ok {
			bases, _, _ := strings.Cut(rest, ")")
			for _, b := range strings.Split(bases, ",") {
				if slices.Contains([]string{"float", "int", "str", "bytes", "list", "dict", "tuple", "set"}, strings.TrimSpace(b)) {
					return true
				}
			}
		}
	}
	return false
}

func (r read) judgeCatch(f syntax.Fact) (string, bool) {
	switch {
	case r.lang == "python" && strings.Contains(f.Text, "Warning") && f.Body != syntax.Rethrows: // warnings are raised only where a check makes errors of them
		return Suppression, true
	case strings.Contains(f.Text, "AssertionError") && f.Body != syntax.Rethrows:
		return Swallowed, true
	case f.Body == syntax.Empty:
		return Swallowed, broad(f.Text)
	case f.Body == syntax.Constant && r.lang != "javascript":
		return Swallowed, r.lang == "python" && (strings.TrimSpace(f.Text) == "" || strings.Contains(f.Text, "BaseException"))
	case f.Body == syntax.Constant:
		return Swallowed, false
	}
	return "", false
}

func (r read) judgeComment(f syntax.Fact) (string, bool) {
	text := strings.ToLower(strings.TrimSpace(strings.TrimLeft(f.Text, "/*#! \t")))
	begins := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(s string) bool { return strings.HasPrefix(text, s) })
	}
	switch {
	case r.lang == "go" && strings.HasPrefix(f.Text, "//go:linkname"):
		return Patched, true
	case r.lang == "go" && strings.HasPrefix(f.Text, "//go:embed") && (strings.Contains(f.Text, "testdata") || strings.Contains(f.Text, "golden") || strings.Contains(f.Text, "_test")):
		return Outliving, true
	case r.lang == "go" && (strings.HasPrefix(f.Text, "//go:build") || strings.HasPrefix(f.Text, "// +build")):
		return Excluded, true
	case r.lang == "go" && (strings.HasPrefix(f.Text, "//nolint") || begins("lint:ignore", "lint:file-ignore", "nolint", "#nosec", "exhaustive:ignore", "revive:disable")):
		return Suppression, true
	case r.lang == "python" && begins("pragma: no cover", "pragma: nocover"), r.lang == "javascript" && begins("istanbul ignore", "c8 ignore", "v8 ignore"):
		return Suppression, false
	case r.lang == "python" && (begins("noqa", "type: ignore", "pylint:", "pyright:", "mypy:", "fmt: off", "fmt: skip", "flake8:", "ruff:", "isort:", "nosec", "yapf: disable", "ty: ignore", "pyre-") ||
		strings.Contains(strings.ToLower(f.Text), "# noqa") || strings.Contains(strings.ToLower(f.Text), "# type: ignore")):
		return Suppression, true
	case r.lang == "javascript" && begins("eslint-disable", "@ts-ignore", "@ts-expect-error", "@ts-nocheck", "biome-ignore", "prettier-ignore", "jshint ignore", "tslint:disable", "oxlint-disable", "@flow-ignore", "$flowfixme"):
		return Suppression, true
	case r.lang == "java" && (begins("nosonar", "checkstyle:off", "noinspection", "@formatter:off") || strings.HasSuffix(text, "nopmd")):
		return Suppression, true
	}
	return "", false
}

func (r read) judgeMark(f syntax.Fact) (string, bool) {
	name, _, _ := strings.Cut(f.Text, "(")
	name = name[strings.LastIndexByte(name, '.')+1:]
	on := strings.Join(f.Args, "")
	switch r.lang {
	case "rust":
		switch {
		case name == "ignore" || name == "should_panic":
			return Skipping, true
		case strings.HasPrefix(f.Text, "allow(") || strings.HasPrefix(f.Text, "expect(") || strings.Contains(f.Text, "rustfmt::skip") || strings.HasPrefix(f.Text, "rustfmt.skip"):
			return Suppression, true
		case name == "cfg_attr" && (strings.Contains(f.Text, "allow(") || strings.Contains(f.Text, "ignore")):
			return Suppression, true
		case name == "track_caller":
			return Introspection, true
		case name == "no_mangle" || strings.Contains(f.Text, "link_section") || strings.HasPrefix(f.Text, "export_name") || name == "ctor" || name == "global_allocator":
			return Patched, true
		case name == "cfg" && strings.Contains(f.Text, "debug_assertions") || name == "cfg" && strings.Contains(f.Text, "not(test)"), name == "cfg" && f.Text == "cfg(test)" && on != "mod_item" && on != "use_declaration":
			return TestBranch, true
		case name == "cfg" && (on == "file" || strings.Contains(f.Text, "any()") || strings.Contains(strings.ToLower(f.Text), "false")):
			return Excluded, true
		}
	case "java":
		switch name {
		case "Disabled", "Ignore", "DisabledIfEnvironmentVariable":
			return Skipping, true
		case "SuppressWarnings", "SuppressFBWarnings":
			return Suppression, true
		}
	case "python":
		switch name {
		case "skip", "skipIf", "skipUnless", "xfail", "expectedFailure", "skipif":
			return Skipping, true
		case "no_type_check":
			return Suppression, true
		}
	}
	return "", false
}

func (r read) judgeImport(f syntax.Fact) (string, bool) {
	if r.testFile() {
		return "", false
	}
	for _, part := range strings.FieldsFunc(f.Text, func(c rune) bool { return c == '/' || c == '.' || c == ':' }) {
		if f.Text != part && (part == "tests" || part == "__tests__" || part == "testdata" || part == "conftest" || strings.HasPrefix(part, "test_")) {
			return Outliving, true
		}
	}
	if testModules().has(r.lang, f.Text) {
		return TestBranch, false
	}
	if r.lang == "python" && (f.Text == "ctypes" || f.Text == "_ctypes" || f.Text == "forbiddenfruit") {
		return Patched, true
	}
	if r.lang == "go" && (f.Text == "unsafe" || f.Text == "C") {
		return Patched, false
	}
	return "", false
}
