package plan

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"
)

// Bounds on what is read of a README.
const (
	maxReadme     = 256 << 10
	maxDocumented = 3
)

// readmes are where a project says how it is tested, in the order in which they count.
var readmes = []string{"CONTRIBUTING.md", ".github/CONTRIBUTING.md", "README.md", "readme.md", "docs/CONTRIBUTING.md"}

// testCommands are how commands begin that test and do no more. A command that begins in another way is none, however
// it is spoken of.
var testCommands = []string{
	"go test", "npm test", "npm run test", "npm t", "pnpm test", "pnpm run test", "yarn test", "yarn run test", "bun test", "bun run test", "node --test", "deno test",
	"npx jest", "npx vitest", "npx mocha", "pytest", "py.test", "python -m pytest", "python3 -m pytest", "python -m unittest", "python3 -m unittest",
	"uv run pytest", "poetry run pytest", "pipenv run pytest", "hatch test", "tox", "nox", "cargo test", "cargo nextest run",
	"mvn test", "./mvnw test", "gradle test", "./gradlew test", "gradle check", "./gradlew check", "bundle exec rspec", "bundle exec rake test", "rspec", "rake test",
	"ctest", "meson test", "bazel test", "make test", "make check", "just test", "task test", "composer test", "vendor/bin/phpunit", "./vendor/bin/phpunit", "phpunit",
	"dotnet test", "swift test", "mix test", "sbt test", "stack test", "cabal test", "dune test", "lein test", "zig build test", "prove",
}

// documented are the commands in the fenced blocks of shell of a README that test. Prose is never read.
func documented(tree fs.FS) []Check {
	for _, name := range readmes {
		b, err := readFile(tree, name, maxReadme)
		if err != nil {
			continue
		}
		var checks []Check
		for _, run := range fencedCommands(b) {
			if len(checks) < maxDocumented && isTestCommand(run) && !slices.ContainsFunc(checks, func(c Check) bool { return c.Run == run }) {
				checks = append(checks, Check{ID: fmt.Sprintf("documented:%d", len(checks)+1), Run: run, Dir: ".", Provenance: Documented, Source: name})
			}
		}
		if len(checks) > 0 {
			return checks
		}
	}
	return nil
}

// isTestCommand reports whether a line is one command that tests, and means what it says as it stands.
func isTestCommand(run string) bool {
	if placeholder(run) || strings.ContainsAny(run, ";&|<>`$\n") {
		return false
	}
	return slices.ContainsFunc(testCommands, func(p string) bool { return run == p || strings.HasPrefix(run, p+" ") })
}

// placeholder reports whether a command has words that a reader is to put others in place of.
func placeholder(run string) bool {
	lower := strings.ToLower(run)
	for _, p := range []string{"...", "…", "path/to", "your", "example", "xxx", "foo", "{{", "}}", "[", "]", "<", ">", "{", "}"} {
		if strings.Contains(lower, p) && !strings.Contains(lower, "./...") {
			return true
		}
	}
	return slices.ContainsFunc(strings.Fields(run), func(w string) bool { // NAME, TEST_NAME
		return len(w) > 2 && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
	})
}

// fencedCommands are the lines of a Markdown file's fenced blocks of shell: of a transcript those behind a prompt, else
// all but comments; continued lines are one.
func fencedCommands(b []byte) (commands []string) {
	defer func() { // the file is anyone's
		if recover() != nil {
			commands = nil
		}
	}()
	document := goldmark.DefaultParser().Parse(gmtext.NewReader(b))
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		block, ok := n.(*ast.FencedCodeBlock)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		language := strings.ToLower(string(block.Language(b)))
		if slices.Contains([]string{"sh", "shell", "bash", "zsh", "console", "shell-session", "shellsession", "terminal"}, language) {
			commands = append(commands, linesOf(string(block.Lines().Value(b)), strings.HasPrefix(language, "console") || strings.HasSuffix(language, "session"))...)
		}
		return ast.WalkContinue, nil
	})
	return commands
}

// linesOf are the commands of one block.
func linesOf(block string, transcript bool) (commands []string) {
	block = strings.NewReplacer("\r\n", "\n", "\\\n", " ").Replace(block)
	lines := strings.Split(block, "\n")
	transcript = transcript || slices.ContainsFunc(lines, func(l string) bool { _, ok := prompted(l); return ok })
	for _, l := range lines {
		command, ok := prompted(l)
		if !ok && transcript {
			continue
		}
		command, _, _ = strings.Cut(command, " # ")
		if command = strings.Join(strings.Fields(command), " "); command != "" && command[0] != '#' {
			commands = append(commands, command)
		}
	}
	return commands
}

// prompted takes the prompt off a line of a transcript. A # is a comment more often than root's prompt.
func prompted(line string) (command string, ok bool) {
	line = strings.TrimSpace(line)
	for _, p := range []string{"$ ", "% ", "> ", "❯ "} {
		if rest, ok := strings.CutPrefix(line, p); ok {
			return rest, true
		}
	}
	return line, false
}
