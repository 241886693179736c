package report

import (
	"bytes"
	"strings"
)

// stylish reads ESLint's default form, a file's name and below it "  2:10  error  message  rule", and yamllint's, which is
// the same but for the rule in brackets. https://eslint.org/docs/latest/use/formatters/#stylish
type stylish struct {
	c       *collector
	file    string
	tooMany bool // warnings failed it
	strict  bool // yamllint -s
}

func newStylish(c *collector) lineReader {
	tooMany := c.run.Exit != 0 && c.said("ESLint found too many warnings")
	return &stylish{c: c, tooMany: tooMany, strict: c.run.Exit == 2}
}

// said reports whether the run's output holds some words anywhere.
func (c *collector) said(words string) bool {
	return bytes.Contains(c.run.Stdout, []byte(words)) || bytes.Contains(c.run.Stderr, []byte(words))
}

func isStylish(_ Run, line string) bool {
	_, _, ok := stylishLine(line)
	return ok
}

// stylishLine reads "  2:10  error  message  rule".
func stylishLine(line string) (m remark, yaml, ok bool) {
	rest := strings.TrimLeft(line, " ")
	if len(rest) == len(line) || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return m, false, false
	}
	pos, rest, _ := strings.Cut(rest, " ")
	at, _, found := leadingNumber(pos + ":")
	level, rest, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if !found || strings.Count(pos, ":") != 1 || level != "error" && level != "warning" {
		return m, false, false
	}
	m = remark{tool: "eslint", line: at, mild: level == "warning", message: strings.TrimSpace(rest)}
	if text, rule, in := lastIn(m.message, "  (", ")"); in && isWord(rule) {
		m.tool, m.message, m.rule = "yamllint", text, rule
		return m, true, true
	}
	if i := strings.LastIndex(m.message, "  "); i >= 0 && isWord(m.message[i+2:]) {
		m.message, m.rule = strings.TrimSpace(m.message[:i]), m.message[i+2:]
	} else {
		m.rule = parseRule(m.message)
	}
	return m, false, true
}

func (r *stylish) line(line string) {
	m, yaml, ok := stylishLine(line)
	switch {
	case ok && r.file != "":
		m.file = r.file
		if yaml && r.strict || !yaml && r.tooMany {
			m.mild = false
		}
		r.c.remark(m)
	case ok:
	case isHeading(line):
		r.file = line
	case line != "":
		r.file = ""
	}
}

// isHeading reports whether a line is the name of a file: an absolute one, as ESLint prints them, or one without a space.
func isHeading(line string) bool {
	return len(line) < maxID && (strings.HasPrefix(line, "/") || len(line) > 3 && line[1:3] == `:\` || isPath(line))
}

func (r *stylish) end() { r.file = "" }

// biome reads its default form: "file:1:5 lint/suspicious/noDebugger  FIXABLE  ━━━" and below it "  × message".
// https://biomejs.dev/reference/reporters/
type biome struct {
	c    *collector
	at   *remark
	fail bool // for warnings
}

func newBiome(c *collector) lineReader {
	return &biome{c: c, fail: c.run.Exit != 0 && strings.Contains(c.run.Command, "--error-on-warnings")}
}

func isBiomeHead(_ Run, line string) bool {
	_, ok := biomeHead(line)
	return ok
}

func biomeHead(line string) (remark, bool) {
	head, _, ok := strings.Cut(line, " ━━━")
	words := strings.Fields(head)
	if !ok || len(words) < 2 || len(words) > 6 || !isWord(words[1]) {
		return remark{}, false
	}
	m := remark{tool: "biome", file: words[0], rule: words[1]}
	if d, ok := parseDiagnostic(words[0] + ": x"); ok {
		m.file, m.line = d.file, d.line
	}
	if m.rule == "format" || strings.HasPrefix(m.rule, "assist/") {
		m.kind = Format
	}
	return m, true
}

func (r *biome) line(line string) {
	if m, ok := biomeHead(line); ok {
		r.at = &m
		return
	}
	text := strings.TrimSpace(line)
	if r.at == nil || text == "" {
		return
	}
	sign, message, _ := strings.Cut(text, " ")
	switch sign {
	case "×", "✖":
	case "!", "⚠":
		r.at.mild = !r.fail
	case "i", "ℹ":
		r.at.mild = true
	default:
		return
	}
	r.at.message = message
	if strings.HasPrefix(message, "Code formatting aborted") {
		r.at.rule = "syntax"
	}
	r.c.remark(*r.at)
	r.at = nil
}

func (r *biome) end() { r.at = nil }

// prettier reads --check, and --list-different where the command says it. https://prettier.io/docs/cli
type prettier struct {
	c     *collector
	lists bool
}

func newPrettier(c *collector) lineReader {
	return &prettier{c: c, lists: listsDifferent(c.run.Command)}
}

func listsDifferent(command string) bool {
	return strings.Contains(command, "prettier") && runs(command, "prettier") &&
		(strings.Contains(command, " --list-different") || strings.Contains(command, " -l "))
}

func isPrettier(r Run, line string) bool {
	return strings.HasSuffix(line, "Checking formatting...") || strings.Contains(r.Command, "prettier") && listsDifferent(r.Command) && isPrettierLine(line)
}

func isPrettierLine(line string) bool { return strings.HasPrefix(line, "[error] ") || isPath(line) }

// isPath reports whether a line looks like the name of one file with an ending.
func isPath(line string) bool {
	dot := strings.LastIndexByte(line, '.')
	return dot > 0 && dot < len(line)-1 && len(line) < maxID && !strings.ContainsAny(line, " \t:\"'`()[]{}<>=")
}

func (r *prettier) line(line string) {
	m := remark{tool: "prettier", rule: "format", message: "Code style issues found."}
	if rest, ok := strings.CutPrefix(line, "[error] "); ok {
		file, message, ok := strings.Cut(rest, ": ")
		if !ok || !isPath(file) || !strings.Contains(message, "Error") {
			return
		}
		m.file, m.rule, m.message = file, "syntax", message
		if _, at, ok := lastIn(message, " (", ")"); ok {
			m.line, _, _ = leadingNumber(at + ":")
		}
		r.c.remark(m)
		return
	}
	file, warned := strings.CutPrefix(line, "[warn] ")
	if (warned || r.lists) && isPath(file) {
		m.file = file
		r.c.remark(m)
	}
}

func (r *prettier) end() {}
