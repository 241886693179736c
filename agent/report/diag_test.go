package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reviewdog/errorformat"
)

// Every pattern is one that errorformat compiles.
func TestLineToolPatterns(t *testing.T) {
	for _, tool := range allLineTools {
		for _, f := range tool.formats {
			if _, err := errorformat.NewEfm(f); err != nil {
				t.Errorf("%s: %q: %v", tool.name, f, err)
			}
		}
		if len(tool.compile()) == 0 || tool.refine == nil || tool.programs != nil && tool.footer == nil {
			t.Errorf("%s cannot read a line", tool.name)
		}
	}
}

func TestCommands(t *testing.T) {
	for shell, want := range map[string]string{
		"flake8 src": "flake8",
		"cd app && npx eslint . --max-warnings 0":                "cd eslint",
		`test -z "$(gofmt -l .)"`:                                "test gofmt",
		"go run honnef.co/go/tools/cmd/staticcheck@latest ./...": "staticcheck",
		"python -m mypy shop":                                    "mypy",
		"FOO=1 /usr/bin/clang-15 -c a.c":                         "clang",
		"find . -name x | xargs -n 1 shellcheck":                 "find shellcheck",
		"pip install flake8":                                     "pip",
		"echo flake8":                                            "echo",
		"uv run ruff check; poetry run mypy .":                   "ruff mypy",
		"":                                                       "",
	} {
		if got := strings.Join(commands(shell), " "); got != want {
			t.Errorf("commands(%q) = %q, want %q", shell, got, want)
		}
	}
}

// A line that any of several tools could have written is nobody's until one is named.
func TestNobodysLines(t *testing.T) {
	lines := "shop/cart.py:1:1: F401 'os' imported but unused\n"
	for _, c := range []struct{ command, before, after, want string }{
		{"make lint", "", "", "[exit]"},
		{"make lint", "", "make: *** [Makefile:2: lint] Error 1\n", "[exit]"},
		{"flake8", "", "", "flake8:F401:shop/cart.py"},
		{"make lint", "flake8 shop\n", "", "flake8:F401:shop/cart.py"},
		{"pre-commit run -a", "flake8....................Failed\n- hook id: flake8\n- exit code: 1\n", "", "flake8:F401:shop/cart.py"},
		{"make lint", "", "Found 1 error.\n", "ruff:F401:shop/cart.py"},
		{"make lint", "see flake8's manual\n", "", "[exit]"},
		{"ruff check", "", "", "ruff:F401:shop/cart.py"},
	} {
		r := Read(Run{Command: c.command, Stdout: []byte(c.before + lines + c.after), Exit: 1})
		if got := strings.Join(r.Failed(), " "); got != c.want {
			t.Errorf("%q, %q before, %q after: failed %q, want %q", c.command, c.before, c.after, got, c.want)
		}
	}
}

func TestCompilerLines(t *testing.T) {
	line := "src/a.c:3:5: error: expected ';' before '}' token\n"
	for _, c := range []struct{ command, around, want string }{
		{"make", "", "cc:error:src/a.c"},
		{"make", "cc -c src/a.c\n", "cc:error:src/a.c"},
		{"make", "gcc -c src/a.c\n", "gcc:error:src/a.c"},
		{"make", "1 error generated.\n", "clang:error:src/a.c"},
		{"make", "compilation terminated.\n", "gcc:error:src/a.c"},
		{"clang -c src/a.c", "", "clang:error:src/a.c"},
	} {
		r := Read(Run{Command: c.command, Stdout: []byte(line + c.around), Exit: 1})
		if got := strings.Join(r.Failed(), " "); got != c.want {
			t.Errorf("%q with %q: failed %q, want %q", c.command, c.around, got, c.want)
		}
	}
}

// Text that only looks like a diagnostic wakes no reader of diagnostics.
func TestOrdinaryText(t *testing.T) {
	text := strings.Join([]string{
		"Running tests/cart.py:12: all is well", "2026-11-29 12:00:01 - error: retrying", "server.js:12:5: listening", "see https://example.com/a.go:3:4",
		"  12:34  error  while dialling", "Note: Foo.java:3 is old", "thread 'main' panicked at src/main.rs:3:5:", "    at src/main.rs:10:2", "warning: 3 things",
		"error: something went wrong", "diff --git a/x b/x", "In a hole in the ground there lived line 3:", "{\"level\":\"error\",\"msg\":\"x\"}", "[", "{",
		"--> here", "Found 3 errors", "would reform", "a.yml:3:4: odd [things]", "E: Unable to locate package", "a/b.rb:3:in `x'", "=== RUN   TestX",
	}, "\n")
	c := newCollector(Run{Command: "make test", Exit: 1}, &places{})
	for _, line := range strings.Split(text, "\n") {
		c.line(line)
	}
	c.end()
	for _, f := range c.found {
		t.Errorf("%s was found in ordinary text", f.ID)
	}
	for i, r := range c.readers {
		if c.awake[i] != nil && (i >= len(testReaders)+len(moreTestReaders)) && r.format != "eslint" {
			t.Errorf("%s is awake", r.format)
		}
	}
}

// Documents that break off, are of nobody, or stand between other lines.
func TestDocuments(t *testing.T) {
	whole := `[{"filePath":"/tree/a.js","messages":[{"ruleId":"no-undef","severity":2,"message":"'x' is not defined.","line":3,"column":1}]}]`
	r := Read(Run{Dir: "/tree", Command: "npm run lint", Stdout: []byte("> lint\n> eslint -f json .\n\n" + whole + "\nnpm error code 1\n"), Exit: 1})
	if got := strings.Join(r.Failed(), " "); got != "eslint:no-undef:a.js" {
		t.Errorf("failed %q, want eslint:no-undef:a.js", got)
	}
	r = Read(Run{Dir: "/tree", Command: "eslint -f json .", Stdout: []byte(whole[:len(whole)-20]), Exit: 0})
	if r.Color() != Unknown || len(r.Problems) != 1 {
		t.Errorf("a report that breaks off is %s with problems %q, want unknown and one", r.Color(), r.Problems)
	}
	r = Read(Run{Command: "cat data.json", Stdout: []byte(`[{"comments":[]}]`), Exit: 0})
	if r.Color() != Green {
		t.Errorf("somebody's data is %s, want green", r.Color())
	}
}

func FuzzDiagnostics(f *testing.F) {
	for _, tool := range []string{"eslint", "biome", "prettier", "tsc", "ruff", "mypy", "flake8", "black", "pyright", "rustc", "clippy", "rustfmt", "gcc", "clang",
		"javac", "shellcheck", "rubocop", "yamllint", "staticcheck", "actionlint", "golangci-lint", "gofmt", "goimports", "go-mod-tidy"} {
		names, _ := filepath.Glob("testdata/" + tool + "/*.txt")
		for _, name := range names {
			run := readFile(&testing.T{}, name).run
			var file []byte
			if len(run.Files) > 0 {
				file = run.Files[0].Data
			}
			if len(run.Stdout)+len(run.Stderr)+len(file) < 64<<10 {
				f.Add(run.Command, run.Stdout, run.Stderr, file)
			}
		}
	}
	f.Fuzz(func(t *testing.T, command string, stdout, stderr, file []byte) {
		r := Read(Run{Command: command, Dir: "/tree", Stdout: stdout, Stderr: stderr, Exit: 1, Files: []File{{Name: "report.sarif", Data: file}, {Name: "r.json", Data: file}}})
		checkReport(t, r)
	})
}

// Much of everything costs a bounded multiple of the input.
func TestHostileDiagnostics(t *testing.T) {
	many := 3_000
	if os.Getenv("REDRAFT_LARGE") != "" {
		many = 2_000_000
	}
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, "a%d.py:%d:1: F401 'os' imported but unused\nb.c:%d:1: error: x\n[{\"filePath\"\nc.rs:1:1: error: y\n", i, i, i)
	}
	r := Read(Run{Command: "make", Stdout: []byte(b.String()), Exit: 1})
	checkReport(t, r)
}

// A log in which a linter is awake and nothing is its own.
func BenchmarkDiagnostics(b *testing.B) {
	text := "make: flake8 shop\nflake8 shop\n" + strings.Repeat("2026-11-29T12:00:01 INFO cart.Total: 3 items of shop/cart.go:12 were priced in 0.2 ms, all is well\n", 100_000)
	run := Run{Command: "make lint", Stdout: []byte(text), Exit: 1}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Read(run)
	}
}
