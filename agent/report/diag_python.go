package report

import (
	"strconv"
	"strings"
)

// pyright reads its text: "  /dir/file.py:3:5 - error: message", indented lines that say why, and the rule in brackets at the
// end of the last. https://microsoft.github.io/pyright/#/command-line
type pyright struct {
	c    *collector
	at   *remark
	fail bool // for warnings
}

func newPyright(c *collector) lineReader {
	return &pyright{c: c, fail: c.run.Exit != 0 && strings.Contains(c.run.Command, "--warnings")}
}

func isPyright(_ Run, line string) bool {
	_, ok := pyrightLine(line)
	return ok
}

func pyrightLine(line string) (remark, bool) {
	where, rest, ok := strings.Cut(strings.TrimLeft(line, " "), " - ")
	level, message, found := strings.Cut(rest, ": ")
	if !ok || !found || !strings.HasPrefix(line, "  ") || level != "error" && level != "warning" && level != "information" {
		return remark{}, false
	}
	d, ok := parseDiagnostic(where + ": x")
	return remark{tool: "pyright", rule: level, file: d.file, line: d.line, mild: level != "error", message: message},
		ok && (strings.HasSuffix(d.file, ".py") || strings.HasSuffix(d.file, ".pyi"))
}

func (r *pyright) line(line string) {
	line = strings.ReplaceAll(line, "\u00a0", " ")
	m, ok := pyrightLine(line)
	if !ok && r.at != nil && strings.HasPrefix(line, "    ") {
		if len(r.at.message) < maxMessage {
			r.at.message += "\n" + strings.TrimSpace(line)
		}
		return
	}
	r.end()
	if ok {
		r.at = &m
	}
}

func (r *pyright) end() {
	if r.at == nil {
		return
	}
	if text, rule, ok := lastIn(r.at.message, " (", ")"); ok && strings.HasPrefix(rule, "report") && isWord(rule) {
		r.at.message, r.at.rule = text, rule
	}
	r.at.mild = r.at.mild && !(r.fail && r.at.rule != "information")
	r.c.remark(*r.at)
	r.at = nil
}

// ruff reads its full form: "F401 [*] message" and below it " --> file.py:1:8". https://docs.astral.sh/ruff/settings/#output-format
type ruff struct {
	c    *collector
	last string
}

func newRuff(c *collector) lineReader { return &ruff{c: c} }

func isRuffPlace(_ Run, line string) bool {
	d, ok := arrow(line)
	return ok && isPython(d.file)
}

func isPython(file string) bool {
	return strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".pyi") || strings.HasSuffix(file, ".ipynb")
}

// arrow reads the line that ruff and rustc put a place on: "  --> file:1:8".
func arrow(line string) (diagnostic, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "--> ")
	if !ok {
		return diagnostic{}, false
	}
	d, ok := parseDiagnostic(rest + ": x")
	return d, ok
}

func (r *ruff) line(line string) {
	head := r.last
	r.last = line
	d, ok := arrow(line)
	if !ok || !isPython(d.file) {
		return
	}
	m := remark{tool: "ruff", file: d.file, line: d.line, message: head}
	if refineRuff(&m, 0) {
		r.c.remark(m)
	}
}

func (r *ruff) end() { r.last = "" }

// black reads --check. https://black.readthedocs.io/en/stable/usage_and_configuration/the_basics.html
type black struct{ c *collector }

func newBlack(c *collector) lineReader { return black{c} }

func isBlack(_ Run, line string) bool {
	return strings.HasPrefix(line, "would reformat ") || strings.HasPrefix(line, "error: cannot format ")
}

func (r black) line(line string) {
	if file, ok := strings.CutPrefix(line, "would reformat "); ok && file != "" {
		r.c.remark(remark{tool: "black", rule: "format", file: file, message: "would reformat"})
		return
	}
	rest, ok := strings.CutPrefix(line, "error: cannot format ")
	file, why, found := strings.Cut(rest, ": ")
	if !ok || !found {
		return
	}
	m := remark{tool: "black", rule: "syntax", file: file, message: "cannot format: " + why}
	if _, at, ok := strings.Cut(why, ": "); ok { // "Cannot parse: 1:3: def ("
		m.line, _, _ = leadingNumber(at)
	}
	r.c.remark(m)
}

func (r black) end() {}

// isort reads --check. https://pycqa.github.io/isort/
type isort struct{ c *collector }

func newIsort(c *collector) lineReader { return isort{c} }

func (r isort) line(line string) {
	file, ok := strings.CutSuffix(line, " Imports are incorrectly sorted and/or formatted.")
	file, isError := strings.CutPrefix(file, "ERROR: ")
	if ok && isError && file != "" {
		r.c.remark(remark{tool: "isort", rule: "format", file: file, message: "Imports are incorrectly sorted and/or formatted."})
	}
}

func (r isort) end() {}

// ruffFormat reads ruff format --check: a line a file up to 0.16, and from 0.17 on a diagnostic with the place below it.
type ruffFormat struct {
	c    *collector
	next bool // the place of a diagnostic is due
}

func newRuffFormat(c *collector) lineReader { return &ruffFormat{c: c} }

const ruffUnformatted = "unformatted: File would be reformatted"

func isRuffFormat(_ Run, line string) bool {
	return strings.HasPrefix(line, "Would reformat: ") || line == ruffUnformatted
}

func (r *ruffFormat) line(line string) {
	if place, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "--> "); ok && r.next {
		if file, where, ok := strings.Cut(place, ".py"); ok {
			_, rest, _ := strings.Cut(where, ":")
			number, _, _ := strings.Cut(rest, ":")
			n, _ := strconv.Atoi(number)
			suffix, _, _ := strings.Cut(where, ":")
			r.c.remark(remark{tool: "ruff-format", rule: "format", file: file + ".py" + suffix, line: n, message: "would be reformatted"})
		}
	}
	r.next = line == ruffUnformatted
	if file, ok := strings.CutPrefix(line, "Would reformat: "); ok && file != "" {
		r.c.remark(remark{tool: "ruff-format", rule: "format", file: file, message: "would be reformatted"})
	}
	if rest, ok := strings.CutPrefix(line, "error: Failed to parse "); ok {
		if d, ok := parseDiagnostic(rest); ok && isPython(d.file) {
			r.c.remark(remark{tool: "ruff-format", rule: "syntax", file: d.file, line: d.line, message: d.message})
		}
	}
}

func (r *ruffFormat) end() {}
