package plan

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Fixer is a command that makes a project's own tool write what the check asks for, where the check only looks.
type Fixer struct {
	Tool string    `json:"tool"` // as in "gofmt", "ruff format"
	Kind FixerKind `json:"kind"`
	Argv []string  `json:"argv"`
	Dir  string    `json:"dir"`           // relative to the tree, "." if empty
	Bin  string    `json:"bin,omitempty"` // folder of the tree to look for the tool in first, as in "node_modules/.bin"; none if empty
}

// FixerKind says what a fixer writes.
type FixerKind string

const (
	Formats   FixerKind = "format"  // the same program, laid out in another way
	Lints     FixerKind = "lint"    // what a linter's own fix makes
	Tidies    FixerKind = "tidy"    // manifests and lockfiles
	Generates FixerKind = "codegen" // files that a generator owns
)

const maxFixers = 16

// Fixers are the fixing forms of the tools that a check runs, in the check's own words, folders and options: by itself, in its
// scripts, in recipes of make and in scripts of package.json. They come from the tree as the check itself does; no finding, model or
// message has a say.
func Fixers(tree fs.FS, c Check) []Fixer {
	var out []Fixer
	f := finder{tree: tree, seen: map[string]bool{}}
	f.each = func(words []string, dir string) {
		fix, ok := fixing(words)
		if fix.Dir = dir; !ok || len(out) >= maxFixers || slices.ContainsFunc(fix.Argv, computed) {
			return
		}
		fix.Bin = f.bin
		if !slices.ContainsFunc(out, func(o Fixer) bool { return slices.Equal(o.Argv, fix.Argv) && o.Dir == fix.Dir }) {
			out = append(out, fix)
		}
	}
	f.shell(c.Run, path.Clean(path.Join(".", c.Dir)), 0)
	return out
}

// computed says whether a word is made up at run time, so that nobody here knows it.
func computed(word string) bool { return strings.ContainsAny(word, "$`") }

// runners start the tool that their arguments name.
var runners = [][]string{
	{"npx", "--no-install"}, {"npx", "--no"}, {"npx"}, {"pnpm", "exec"}, {"pnpm", "dlx"}, {"yarn", "exec"}, {"bunx"}, {"poetry", "run"}, {"uv", "run"}, {"pipenv", "run"},
	{"hatch", "run"}, {"pdm", "run"}, {"bundle", "exec"}, {"python", "-m"}, {"python3", "-m"}, {"go", "tool"},
}

// fixing turns the words of a command into the form that writes.
func fixing(words []string) (Fixer, bool) {
	n := 0
	for _, r := range runners {
		if len(words) > len(r) && slices.Equal(words[:len(r)], r) {
			n = len(r)
			break
		}
	}
	for _, t := range tools {
		rest := words[n:]
		if len(rest) < len(t.words) || path.Base(rest[0]) != t.words[0] || !slices.Equal(rest[1:len(t.words)], t.words[1:]) {
			continue
		}
		args := rest[len(t.words):]
		if t.when != "" && !slices.ContainsFunc(args, func(a string) bool { return a == t.when || strings.HasPrefix(a, t.when+"=") }) {
			continue
		}
		argv := append(slices.Clone(words[:n]), rest[0])
		argv = append(argv, slices.Concat(t.becomes, t.add, without(args, t.drop))...)
		return Fixer{Tool: strings.Join(t.words, " "), Kind: t.kind, Argv: argv}, true
	}
	return Fixer{}, false
}

// without is args less some flags, with or without a value after an equals sign.
func without(args, drop []string) []string {
	var out []string
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		if !slices.Contains(drop, name) {
			out = append(out, a)
		}
	}
	return out
}

// tool is how one tool's looking form becomes its writing form.
type tool struct {
	words   []string // of the looking form, the tool's name first
	becomes []string // what stands for the words after the name
	kind    FixerKind
	add     []string // flags that make it write
	drop    []string // flags that keep it from writing
	when    string   // a flag without which the command writes, or does something else, by itself
}

// tools are the formatters, linters and generators whose writing form is documented by themselves.
var tools = []tool{
	{words: w("gofmt"), kind: Formats, add: w("-w"), drop: w("-l -d -e -w")},
	{words: w("gofumpt"), kind: Formats, add: w("-w"), drop: w("-l -d -e -w")},
	{words: w("goimports"), kind: Formats, add: w("-w"), drop: w("-l -d -e -w")},
	{words: w("go fmt"), becomes: w("fmt"), kind: Formats, drop: w("-n")},
	{words: w("go vet"), becomes: w("vet"), kind: Lints, add: w("-fix"), drop: w("-fix -json")},
	{words: w("go mod tidy"), becomes: w("mod tidy"), kind: Tidies, drop: w("-diff")},
	{words: w("go generate"), becomes: w("generate"), kind: Generates},
	{words: w("golangci-lint run"), becomes: w("run"), kind: Lints, add: w("--fix"), drop: w("--fix")},
	{words: w("golangci-lint fmt"), becomes: w("fmt"), kind: Formats, drop: w("-d --diff")},
	{words: w("ruff check"), becomes: w("check"), kind: Lints, add: w("--fix"), drop: w("--fix --no-fix --diff --watch -w --exit-zero")},
	{words: w("ruff format"), becomes: w("format"), kind: Formats, drop: w("--check --diff")},
	{words: w("black"), kind: Formats, drop: w("--check --diff")},
	{words: w("isort"), kind: Formats, drop: w("--check --check-only -c --diff")},
	{words: w("autopep8"), kind: Formats, add: w("--in-place"), drop: w("--diff --exit-code -d --in-place -i")},
	{words: w("yapf"), kind: Formats, add: w("--in-place"), drop: w("--diff -d --quiet -q --in-place -i")},
	{words: w("eslint"), kind: Lints, add: w("--fix"), drop: w("--fix --fix-dry-run")},
	{words: w("standard"), kind: Lints, add: w("--fix"), drop: w("--fix")},
	{words: w("stylelint"), kind: Lints, add: w("--fix"), drop: w("--fix")},
	{words: w("prettier"), kind: Formats, add: w("--write"), drop: w("--check -c --list-different -l --write -w")},
	{words: w("biome format"), becomes: w("format"), kind: Formats, add: w("--write"), drop: w("--write")},
	{words: w("biome check"), becomes: w("check"), kind: Lints, add: w("--write"), drop: w("--write")},
	{words: w("biome lint"), becomes: w("lint"), kind: Lints, add: w("--write"), drop: w("--write")},
	{words: w("biome ci"), becomes: w("check"), kind: Lints, add: w("--write")},
	{words: w("cargo fmt"), becomes: w("fmt"), kind: Formats, drop: w("--check --")},
	{words: w("rustfmt"), kind: Formats, drop: w("--check -l --files-with-diff")},
	{words: w("cargo clippy"), becomes: w("clippy --fix --allow-no-vcs --allow-dirty"), kind: Lints, drop: w("--fix")},
	{words: w("rubocop"), kind: Lints, add: w("-a"), drop: w("-a -A --autocorrect --autocorrect-all")},
	{words: w("clang-format"), kind: Formats, add: w("-i"), drop: w("--dry-run -n -Werror --Werror -i")},
	{words: w("shfmt"), kind: Formats, add: w("-w"), drop: w("-d -l --diff --list -w --write")},
	{words: w("codespell"), kind: Lints, add: w("-w"), drop: w("-w")},
	{words: w("pre-commit run"), becomes: w("run"), kind: Formats},
}

func w(s string) []string { return strings.Fields(s) }

// packageScript is the text of a script of package.json that npm and its like run, and whether words ask for one.
func packageScript(content string, args []string) (text string, ok bool) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(args) > 1 && (args[0] == "run" || args[0] == "run-script") {
		args = args[1:]
	}
	var p struct{ Scripts map[string]string }
	if len(args) == 0 || json.Unmarshal([]byte(content), &p) != nil {
		return "", false
	}
	name := args[0]
	if name == "t" || name == "tst" {
		name = "test"
	}
	text, ok = p.Scripts[name]
	return text, ok
}
