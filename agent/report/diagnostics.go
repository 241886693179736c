package report

import (
	"path"
	"slices"
	"strings"
)

// diagnosticReaders are compilers, linters and formatters. The go command's own, go vet among them, are read elsewhere.
var diagnosticReaders = slices.Concat(lineTools(), []textReader{
	{format: "eslint", wakes: []string{"  error  ", "  warning  "}, when: isStylish, start: newStylish},
	{format: "biome", wakes: []string{" ━━━"}, when: isBiomeHead, start: newBiome},
	{format: "prettier", wakes: []string{"Checking formatting...", "[error] ", ".js", ".ts", ".mjs", ".css", ".json", ".md", ".y", ".html", ".vue"}, when: isPrettier, start: newPrettier},
	{format: "pyright", wakes: []string{" - error: ", " - warning: "}, when: isPyright, start: newPyright},
	{format: "ruff", wakes: []string{"--> "}, when: isRuffPlace, start: newRuff},
	{format: "black", wakes: []string{"would reformat ", "error: cannot format "}, when: isBlack, start: newBlack},
	{format: "isort", wakes: []string{" Imports are incorrectly sorted and/or formatted."}, start: newIsort},
	{format: "ruff-format", wakes: []string{"Would reformat: ", ruffUnformatted}, when: isRuffFormat, start: newRuffFormat},
	{format: "rustc", wakes: []string{".rs:"}, when: isRust, start: newRust},
	{format: "rustfmt", wakes: []string{"Diff in ", ".rs"}, when: isRustfmt, start: newRustfmt},
	{format: "gofmt", wakes: []string{".go", "gofmt ", "goimports ", "gofumpt "}, when: isGofmt, start: newGofmt},
	{format: "go-mod-tidy", wakes: []string{"diff current/go."}, when: isTidy, start: newTidy},
	{format: "shellcheck", wakes: []string{" SC"}, when: isShellcheckCaret, start: newShellcheck},
	{format: "cc", wakes: []string{": error: ", ": fatal error: ", ": warning: ", ": undefined reference to ", "ld.lld"}, when: isC, start: newC},
	{format: "javac", wakes: []string{".java:"}, when: isJava, start: newJavac},
	{format: "json-lines", wakes: []string{`{"`}, when: isJSONLine, start: newJSONLines},
	{format: "document", wakes: documentWakes, start: newDocuments},
})

// diagnosticFiles are the report files of linters.
var diagnosticFiles = []fileReader{
	{format: "sarif", knows: isSARIF, read: readSARIF},
	{format: "checkstyle", knows: isCheckstyle, read: readCheckstyle},
	{format: "eslint", knows: isESLintJSON, read: readESLintJSON},
	{format: "ruff", knows: isRuffJSON, read: readRuffJSON},
	{format: "pyright", knows: isPyrightJSON, read: readPyrightJSON},
	{format: "shellcheck", knows: isShellcheckJSON, read: readShellcheckJSON},
	{format: "golangci-lint", knows: isGolangciJSON, read: readGolangciJSON},
	{format: "rubocop", knows: isRubocopJSON, read: readRubocopJSON},
	{format: "biome", knows: isBiomeJSON, read: readBiomeJSON},
	{format: "actionlint", knows: isActionlintJSON, read: readActionlintJSON},
	{format: "gcc", knows: isGccJSON, read: readGccJSON},
}

// remark is what a tool says about one place.
type remark struct {
	tool, rule string
	file       string // as printed
	line       int
	kind       Kind // of the tool if empty
	mild       bool // a warning, a note: it does not fail the tool by itself
	harmless   bool // the tool exits 0 whatever it says, and the run did
	message    string
	got, want  string
}

// kinds of the tools; Lint if it is not here.
var toolKinds = map[string]Kind{
	"tsc": Typecheck, "mypy": Typecheck, "pyright": Typecheck,
	"gcc": Build, "clang": Build, "cc": Build, "ld": Build, "javac": Build, "rustc": Build,
	"gofmt": Format, "goimports": Format, "gofumpt": Format, "black": Format, "isort": Format, "ruff-format": Format,
	"prettier": Format, "rustfmt": Format, "go-mod-tidy": Format,
}

// classes of the kinds of diagnostics.
var kindClasses = map[Kind]Class{Lint: LintClass, Typecheck: TypecheckClass, Build: Compile, Format: FormatClass}

// strict are the tools that fail for anything they say, whatever they call it.
var strict = map[string]bool{
	"staticcheck": true, "golangci-lint": true, "ruff": true, "flake8": true, "shellcheck": true, "actionlint": true, "rubocop": true,
}

// remark takes in what a tool said. A mild remark is a result that passed: it is there, and it fails nothing.
func (c *collector) remark(m remark) {
	if m.rule == "syntax" {
		m.kind = Build // a formatter that could not read the file: none will repair that
	}
	if m.kind == "" && m.tool == "golangci-lint" {
		m.kind = golangciKind(m.rule)
	}
	if m.kind == "" {
		m.kind = toolKinds[m.tool]
	}
	if m.kind == "" {
		m.kind = Lint
	}
	m.message = strings.TrimSpace(m.message)
	if m.got == "" && m.want == "" {
		m.got, m.want = mismatch(m.tool, m.message)
	}
	where := c.places.relative(m.file)
	if m.file == "" {
		where = ""
	}
	r := Result{
		ID: m.tool + ":" + m.rule + ":" + where, Kind: m.kind, Status: Fail, Class: kindClasses[m.kind],
		File: m.file, Line: max(m.line, 0), Message: m.message, Got: m.got, Want: m.want,
	}
	switch {
	case m.harmless, m.mild && !strict[m.tool]:
		r.Status, r.Class = Pass, ""
	case m.kind == Build:
		r.Status = Error
	}
	c.add(m.tool, r)
}

// commands are the names of the programs that a shell text runs, in order: "npx eslint ." and "/usr/bin/eslint" are eslint,
// "go run honnef.co/go/tools/cmd/staticcheck@latest" is staticcheck, "clang-15" is clang.
func commands(shell string) []string {
	var out []string
	for _, simple := range strings.FieldsFunc(shell, func(r rune) bool { return strings.ContainsRune(";&|()`\n\"'{}", r) }) {
		if name := program(strings.Fields(simple)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// runners are words that come before the program which they run.
var runners = map[string]bool{
	"sudo": true, "env": true, "exec": true, "time": true, "nice": true, "xargs": true, "npx": true, "bunx": true, "pnpm": true,
	"yarn": true, "npm": true, "bundle": true, "uv": true, "uvx": true, "pipx": true, "poetry": true, "pipenv": true, "hatch": true,
	"pdm": true, "run": true, "python": true, "python3": true, "go": true, "tool": true, "dlx": true, "bash": true, "sh": true,
	"!": true, "$": true, ">": true, "+": true, "if": true, "then": true, "do": true, "command": true, "$(": true, "##[group]Run": true,
}

func program(words []string) string {
	for _, w := range words {
		switch {
		case runners[w], w[0] == '-', w[0] == '<', w[0] == '>', strings.Trim(w, "0123456789") == "", strings.Contains(path.Base(w), "="):
			continue
		}
		name, _, _ := strings.Cut(path.Base(w), "@")
		if base, version, ok := strings.Cut(name, "-"); ok && version != "" && strings.Trim(version, "0123456789.") == "" {
			name = base
		}
		return strings.TrimSuffix(name, ".exe")
	}
	return ""
}

// runs reports whether a shell text runs one of the programs.
func runs(shell string, programs ...string) bool {
	if !slices.ContainsFunc(programs, func(p string) bool { return strings.Contains(shell, p) }) {
		return false
	}
	return slices.ContainsFunc(commands(shell), func(c string) bool { return slices.Contains(programs, c) })
}

// echoes reports whether a line is a command that make, a shell, npm or tox shows before it runs it.
func echoes(line string, programs ...string) bool {
	if len(line) > 2000 {
		return false
	}
	if _, rest, ok := strings.Cut(line, "commands["); ok { // tox: "lint: commands[0]> flake8 shop"
		_, line, _ = strings.Cut(rest, "> ")
	}
	if hook, ok := strings.CutPrefix(line, "- hook id: "); ok { // pre-commit
		line = hook
	}
	return runs(line, programs...)
}

// place cuts "file:12:5: " or "file:12: " off a line.
func place(line string) (file string, at int, rest string, ok bool) {
	d, ok := parseDiagnostic(line)
	if d.underVet {
		return "", 0, "", false
	}
	return d.file, d.line, d.message, ok
}

// lastIn takes a text's last part between two signs off it, as the rule in "message (rule)".
func lastIn(s, open, end string) (text, in string, ok bool) {
	s = strings.TrimRight(s, " ")
	if !strings.HasSuffix(s, end) {
		return s, "", false
	}
	i := strings.LastIndex(s, open)
	if i < 0 {
		return s, "", false
	}
	return strings.TrimRight(s[:i], " "), s[i+len(open) : len(s)-len(end)], true
}

// isWord reports whether s could name a rule: letters, digits and a few signs, and no space.
func isWord(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_/:.@", c) >= 0) {
			return false
		}
	}
	return true
}

// isFile reports whether a line is the name of one file with such an end and nothing else.
func isFile(line string, ends ...string) bool {
	return len(line) < maxID && !strings.ContainsAny(line, " \t:\"'`") &&
		slices.ContainsFunc(ends, func(e string) bool { return len(line) > len(e) && strings.HasSuffix(line, e) })
}
