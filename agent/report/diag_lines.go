package report

import (
	"slices"
	"strings"
	"sync"

	"github.com/reviewdog/errorformat"
	"github.com/reviewdog/errorformat/fmts"
)

// lineTool is a tool that says each thing on a line of its own. Its lines are taken apart by errorformat; the predefined
// formats are used where they keep the rule and match nothing else.
type lineTool struct {
	name     string
	wakes    []string
	fmt      string                     // of errorformat's predefined ones; formats if empty
	formats  []string                   // in Vim's errorformat
	quick    func(line string) bool     // a look that rules out most other lines, before the patterns
	refine   func(*remark, byte) bool   // finds the rule in the message; false: it is no line of this tool
	programs []string                   // whose lines these are where the words alone do not say so; nil: they do
	footer   func(line string) bool     // what else lays claim to the lines before it
	more     func(*remark, string) bool // takes in a line that goes on
}

var allLineTools = []lineTool{
	{name: "tsc", wakes: []string{"error TS"}, formats: []string{`%f(%l\,%c): %trror TS%m`, `%f:%l:%c - %trror TS%m`, `%trror TS%m`}, refine: refineTSC, more: moreTSC},
	{name: "eslint", wakes: []string{", Error - ", ", Warning - "}, fmt: "eslint-compact", refine: refineESLintCompact},
	{name: "eslint", wakes: []string{"[Error", "[Warning"}, quick: endsIn("]"), formats: []string{`%f:%l:%c: %m`}, refine: refineESLintUnix},
	{name: "mypy", wakes: []string{".py:", ".pyi:"}, formats: []string{
		`%f:%l:%c:%e:%k: %trror: %m`, `%f:%l:%c: %trror: %m`, `%f:%l: %trror: %m`, `%f:%l:%c: %tote: %m`, `%f:%l: %tote: %m`,
		`%f:%l:%c: %tarning: %m`, `%f:%l: %tarning: %m`, `%f:%l: %tnfo: %m`}, quick: hasLevel,
		refine: refineMypy, more: moreMypy, programs: []string{"mypy", "dmypy"}, footer: mypyFooter},
	{name: "flake8", wakes: []string{".py:"}, quick: hasColumn, formats: []string{`%f:%l:%c: %m`, `%f:%l: [%m`}, refine: refineFlake8, programs: []string{"flake8"}, footer: never},
	{name: "ruff", wakes: []string{".py:", ".pyi:", ".ipynb:"}, quick: hasColumn, formats: []string{`%f:%l:%c: %m`}, refine: refineRuff, programs: []string{"ruff"}, footer: ruffFooter},
	{name: "staticcheck", wakes: []string{".go:"}, quick: endsIn(")"), formats: []string{`%f:%l:%c: %m`, `%f:%l: %m`}, refine: refineStaticcheck},
	{name: "golangci-lint", wakes: []string{".go:", "go.mod:"}, quick: endsIn(")"), formats: []string{`%f:%l:%c: %m`, `%f:%l: %m`}, refine: refineGolangci},
	{name: "shellcheck", wakes: []string{"[SC"}, quick: endsIn("]"), formats: []string{`%f:%l:%c: %m`}, refine: refineShellcheck},
	{name: "actionlint", wakes: []string{".yml:", ".yaml:"}, quick: endsIn("]"), formats: []string{`%f:%l:%c: %m`}, refine: refineActionlint},
	{name: "yamllint", wakes: []string{"[error] ", "[warning] "}, quick: endsIn(")"), fmt: "yamllint", refine: refineYamllint},
	{name: "rubocop", wakes: []string{": C: ", ": W: ", ": E: ", ": F: ", ": R: "}, formats: []string{`%f:%l:%c: %t: %m`}, refine: refineRubocop},
}

func endsIn(sign string) func(string) bool {
	return func(line string) bool { return strings.HasSuffix(line, sign) }
}

// hasLevel reports whether mypy's word for how bad it is stands in a line.
func hasLevel(line string) bool {
	return strings.Contains(line, ": error: ") || strings.Contains(line, ": note: ") || strings.Contains(line, ": warning: ") || strings.Contains(line, ": info: ")
}

// hasColumn reports whether a line and a column, or a line and a bracket, follow the name that ends in "py:" or so. It is
// asked of every line of a trace, and an errorformat costs a thousand times as much.
func hasColumn(line string) bool {
	_, rest, ok := strings.Cut(line, ":")
	after := strings.TrimLeft(rest, "0123456789")
	return ok && after != rest && (strings.HasPrefix(after, ": [") || len(after) > 1 && after[0] == ':' && after[1] >= '0' && after[1] <= '9')
}

func never(string) bool { return false }

// lineTools are the readers of those.
func lineTools() []textReader {
	var out []textReader
	for i := range allLineTools {
		t := &allLineTools[i]
		patterns := sync.OnceValue(t.compile)
		out = append(out, textReader{
			format: t.name, wakes: slices.Concat(t.wakes, t.programs),
			when: func(r Run, line string) bool { return t.wakesFor(r, line, patterns) },
			start: func(c *collector) lineReader {
				return &lineToolReader{c: c, t: t, patterns: patterns, named: t.programs == nil || runs(c.run.Command, t.programs...)}
			},
		})
	}
	return out
}

func (t *lineTool) compile() []*errorformat.Efm {
	formats := t.formats
	if t.fmt != "" {
		formats = fmts.DefinedFmts()[t.fmt].Errorformat
	}
	var out []*errorformat.Efm
	for _, f := range formats {
		if strings.HasPrefix(f, "%-G") {
			continue // what Vim would leave out
		}
		if e, err := errorformat.NewEfm(f); err == nil { // a test compiles them all
			out = append(out, e)
		}
	}
	return out
}

// wakesFor reports whether a line is one of the tool's, or the command that starts it.
func (t *lineTool) wakesFor(_ Run, line string, patterns func() []*errorformat.Efm) bool {
	if _, ok := t.read(line, patterns); ok {
		return true
	}
	return t.programs != nil && echoes(line, t.programs...)
}

// read takes a line apart.
func (t *lineTool) read(line string, patterns func() []*errorformat.Efm) (remark, bool) {
	if len(line) > maxMessage || t.quick != nil && !t.quick(line) || !slices.ContainsFunc(t.wakes, func(w string) bool { return strings.Contains(line, w) }) {
		return remark{}, false
	}
	for _, e := range patterns() {
		m := e.Match(line)
		if m == nil {
			continue
		}
		r := remark{tool: t.name, file: m.F, line: m.L, message: m.M}
		if strings.HasPrefix(r.file, " ") || len(r.file) > maxID {
			return r, false
		}
		return r, t.refine(&r, m.T)
	}
	return remark{}, false
}

// lineToolReader keeps the lines of which it is not yet known whose they are.
type lineToolReader struct {
	c        *collector
	t        *lineTool
	patterns func() []*errorformat.Efm
	named    bool
	kept     []remark
	last     *remark // may go on
}

// maxKept is how many remarks are kept that nobody has laid claim to.
const maxKept = 10_000

func (r *lineToolReader) line(line string) {
	if !r.named && (r.t.footer(line) || echoes(line, r.t.programs...)) {
		r.named = true
		r.flush()
	}
	if r.last != nil && r.t.more(r.last, line) {
		return
	}
	m, ok := r.t.read(line, r.patterns)
	if r.last != nil {
		r.c.remark(*r.last)
		r.last = nil
	}
	switch {
	case !ok:
	case !r.named && r.t.name == "mypy" && m.rule != "error" && m.rule != "note", r.t.name == "ruff" && strings.Contains(line, " [*] "):
		r.named = true // the words say so
		r.kept = append(r.kept, m)
		r.flush()
	case !r.named:
		if len(r.kept) < maxKept {
			r.kept = append(r.kept, m)
		}
	case r.t.more != nil:
		r.last = &m
	default:
		r.c.remark(m)
	}
}

func (r *lineToolReader) flush() {
	for _, m := range r.kept {
		r.c.remark(m)
	}
	r.kept = nil
}

func (r *lineToolReader) end() {
	if r.last != nil {
		r.c.remark(*r.last)
		r.last = nil
	}
}

// refineTSC: "2322: Type 'number' is not assignable to type 'string'."
// https://www.typescriptlang.org/docs/handbook/compiler-options.html (pretty, noErrorTruncation)
func refineTSC(m *remark, _ byte) bool {
	code, message, ok := strings.Cut(m.message, ": ")
	if !ok || strings.Trim(code, "0123456789") != "" {
		return false
	}
	m.rule, m.message = "TS"+code, message
	return true
}

// moreTSC takes in the indented lines that say why, but not the pretty form's source.
func moreTSC(m *remark, line string) bool {
	if !strings.HasPrefix(line, "  ") || strings.TrimSpace(line) == "" || strings.Trim(line, " ~") == "" {
		return false
	}
	if len(m.message) < maxMessage {
		m.message += "\n" + strings.TrimRight(line, " ")
	}
	return true
}

func refineESLintCompact(m *remark, level byte) bool {
	m.mild = level == 'W'
	if text, rule, ok := lastIn(m.message, " (", ")"); ok && isWord(rule) {
		m.message, m.rule = text, rule
	} else {
		m.rule = parseRule(m.message)
	}
	return true
}

// parseRule is the rule of an ESLint message that belongs to none.
func parseRule(message string) string {
	if strings.HasPrefix(message, "Parsing error") {
		return "parsing-error"
	}
	return "eslint"
}

// refineESLintUnix: "message [Error/rule]". https://eslint.org/docs/v8.x/use/formatters/#unix
func refineESLintUnix(m *remark, _ byte) bool {
	text, level, ok := lastIn(m.message, " [", "]")
	level, rule, _ := strings.Cut(level, "/")
	if !ok || level != "Error" && level != "Warning" {
		return false
	}
	m.message, m.rule, m.mild = text, rule, level == "Warning"
	if rule == "" {
		m.rule = parseRule(text)
	}
	return true
}

// refineMypy: "message  [code]". https://mypy.readthedocs.io/en/stable/error_codes.html
func refineMypy(m *remark, level byte) bool {
	if !strings.HasSuffix(m.file, ".py") && !strings.HasSuffix(m.file, ".pyi") {
		return false
	}
	m.rule, m.mild = "error", level != 'e'
	if m.mild {
		m.rule = "note"
	}
	if text, code, ok := lastIn(m.message, "  [", "]"); ok && isWord(code) && !m.mild {
		m.message, m.rule = text, code
	}
	return true
}

// moreMypy takes in the lines that --pretty broke a message into, up to the one with the code.
func moreMypy(m *remark, line string) bool {
	if code := strings.TrimSpace(line); strings.HasPrefix(code, "[") {
		line = code
	}
	if m.rule != "error" || line == "" || line[0] == ' ' || strings.Contains(line, ".py:") || strings.Contains(line, ".pyi:") || strings.HasPrefix(line, "Found ") || len(m.message) > maxMessage {
		return false
	}
	if m.message += " "; line[0] == '[' {
		m.message += " "
	}
	m.message += line
	if text, code, ok := lastIn(m.message, "  [", "]"); ok && isWord(code) {
		m.message, m.rule = text, code
	}
	return true
}

// mypyFooter: "Found 2 errors in 1 file (checked 3 source files)".
func mypyFooter(line string) bool {
	return strings.HasPrefix(line, "Found ") && strings.Contains(line, " error") && (strings.Contains(line, "(checked ") || strings.HasSuffix(line, "(errors prevented further checking)"))
}

// refineFlake8: "E501 line too long", or "[E501] line too long" under --format=pylint.
func refineFlake8(m *remark, _ byte) bool {
	code, message, ok := strings.Cut(m.message, " ")
	code = strings.TrimSuffix(code, "]")
	if !ok || !isCode(code) || !strings.HasSuffix(m.file, ".py") || strings.HasPrefix(message, "[*] ") {
		return false
	}
	m.rule, m.message = code, message
	return true
}

// isCode reports whether s is letters and then digits, as in F401.
func isCode(s string) bool {
	letters := strings.TrimRight(s, "0123456789")
	return letters != "" && letters != s && len(s) < 12 && strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// refineRuff: "F401 [*] `os` imported but unused", or "invalid-syntax: Expected an identifier".
func refineRuff(m *remark, _ byte) bool {
	code, message, ok := strings.Cut(m.message, " ")
	if rest, found := strings.CutPrefix(m.message, "SyntaxError: "); found {
		code, message = "invalid-syntax", rest
	}
	code = strings.TrimSuffix(code, ":")
	if !ok || !isCode(code) && code != "invalid-syntax" {
		return false
	}
	m.rule, m.message = code, strings.TrimPrefix(message, "[*] ")
	return true
}

// ruffFooter: "Found 3 errors." and nothing more, which mypy and tsc never leave it at.
func ruffFooter(line string) bool {
	n, ok := strings.CutPrefix(line, "Found ")
	n, _, found := strings.Cut(n, " error")
	return ok && found && strings.Trim(n, "0123456789") == "" && (strings.HasSuffix(line, " errors.") || strings.HasSuffix(line, " error."))
}

// refineShellcheck: "warning: message [SC2034]". https://www.shellcheck.net/wiki/Integration
func refineShellcheck(m *remark, _ byte) bool {
	text, rule, ok := lastIn(m.message, " [", "]")
	level, text, found := strings.Cut(text, ": ")
	if !ok || !found || !isCode(rule) || !slices.Contains([]string{"error", "warning", "note", "info", "style"}, level) {
		return false
	}
	m.rule, m.message, m.mild = rule, text, level != "error"
	return true
}

// actionlintRules are the kinds of its errors. https://github.com/rhysd/actionlint/blob/main/docs/checks.md
var actionlintRules = []string{
	"syntax-check", "expression", "job-needs", "matrix", "credentials", "shell-name", "runner-label", "events", "id", "glob", "env-var",
	"permissions", "workflow-call", "deprecated-commands", "if-cond", "action", "pyflakes", "shellcheck",
}

func refineActionlint(m *remark, _ byte) bool {
	text, rule, ok := lastIn(m.message, " [", "]")
	m.message, m.rule = text, rule
	return ok && slices.Contains(actionlintRules, rule)
}

// refineYamllint: "[error] too many spaces after colon (colons)".
func refineYamllint(m *remark, _ byte) bool {
	text, rule, ok := lastIn(m.message, " (", ")")
	if !ok || !isWord(rule) {
		return false
	}
	error, isError := strings.CutPrefix(text, "[error] ")
	warning, isWarning := strings.CutPrefix(text, "[warning] ")
	m.rule, m.mild, m.message = rule, isWarning, warning
	if isError {
		m.message = error
	}
	return isError || isWarning
}

// refineRubocop: "[Correctable] Layout/Cop: message". What it corrected itself fails nothing.
// https://docs.rubocop.org/rubocop/formatters.html
func refineRubocop(m *remark, level byte) bool {
	if strings.IndexByte("CWEFRI", level) < 0 {
		return false
	}
	m.message = strings.TrimPrefix(m.message, "[Correctable] ")
	if strings.HasPrefix(m.message, "[Corrected] ") || strings.HasPrefix(m.message, "[Todo] ") {
		return false
	}
	cop, text, ok := strings.Cut(m.message, ": ")
	if !ok || !strings.Contains(cop, "/") || !isWord(cop) {
		m.rule = "offense" // releases before 0.53 print no cop
		return !strings.HasSuffix(m.file, ".py")
	}
	m.rule, m.message = cop, text
	return true
}
