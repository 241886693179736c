package report

import (
	"encoding/json"
	"strings"
)

// rust reads what rustc and clippy say to a person: "error[E0308]: message", "  --> file.rs:2:18", the source, and notes that
// name the lint; and the short form of one line each. https://doc.rust-lang.org/rustc/json.html
type rust struct {
	c     *collector
	at    *remark
	known bool // its place
}

func newRust(c *collector) lineReader { return &rust{c: c} }

func isRust(_ Run, line string) bool {
	if d, ok := arrow(line); ok {
		return strings.HasSuffix(d.file, ".rs")
	}
	_, ok := shortRust(line)
	return ok
}

// shortRust reads "src/lib.rs:2:23: error[E0308]: mismatched types: expected `String`, found integer".
func shortRust(line string) (remark, bool) {
	file, at, rest, ok := place(line)
	if !ok || !strings.HasSuffix(file, ".rs") {
		return remark{}, false
	}
	m, ok := rustHead(rest)
	m.file, m.line = file, at
	return m, ok
}

// rustHead reads "error[E0308]: message".
func rustHead(line string) (remark, bool) {
	level, message, ok := strings.Cut(line, ": ")
	m := remark{tool: "rustc", rule: "error", kind: Build, message: message}
	if text, code, coded := lastIn(level, "[", "]"); coded && isWord(code) {
		level, m.rule = text, code
	}
	if level == "warning" {
		m.rule, m.mild, m.kind = "warning", true, Lint
	}
	return m, ok && (level == "error" || level == "warning")
}

func (r *rust) line(line string) {
	if m, ok := shortRust(line); ok {
		r.end()
		m.got, m.want = rustMismatch(m.message)
		r.c.remark(m)
		return
	}
	if m, ok := rustHead(line); ok {
		r.end()
		r.at = &m
		return
	}
	if r.at == nil {
		return
	}
	if d, ok := arrow(line); ok && !r.known && strings.HasSuffix(d.file, ".rs") {
		r.at.file, r.at.line, r.known = d.file, d.line, true
		return
	}
	text := strings.TrimSpace(line)
	if r.at.got == "" && r.at.want == "" && strings.Contains(text, "^ expected ") {
		_, label, _ := strings.Cut(text, "^ ")
		r.at.got, r.at.want = rustMismatch(label)
	}
	r.note(text)
}

// note finds the lint in "= note: `-D clippy::needless-return` implied by `-D warnings`" and its like.
func (r *rust) note(text string) {
	if note, ok := strings.CutPrefix(text, "= note: `"); ok {
		note, _, _ = strings.Cut(note, "`")
		note = strings.TrimPrefix(strings.TrimSuffix(note, ")]"), "#[")
		for _, level := range []string{"-D ", "-W ", "-F ", "deny(", "warn(", "forbid("} {
			if lint, ok := strings.CutPrefix(note, level); ok {
				r.at.lint(lint)
			}
		}
	}
	if _, lint, ok := strings.Cut(text, "rust-lang.github.io/rust-clippy/"); ok {
		_, lint, _ = strings.Cut(lint, "index.html#")
		r.at.lint("clippy::" + lint)
	}
}

// lint says which lint it was: "unused-mut" is rustc's, "clippy::needless_return" is Clippy's.
func (m *remark) lint(name string) {
	name = strings.ReplaceAll(name, "-", "_")
	if !isWord(name) || name == "clippy::" {
		return
	}
	m.kind, m.rule = Lint, name
	if rule, ok := strings.CutPrefix(name, "clippy::"); ok {
		m.tool, m.rule = "clippy", rule
	}
}

func (r *rust) end() {
	if r.at != nil && r.known {
		r.c.remark(*r.at)
	}
	r.at, r.known = nil, false
}

// rustMismatch reads "expected `i32`, found `&str`".
func rustMismatch(label string) (got, want string) {
	if i := strings.LastIndex(label, "expected "); i >= 0 {
		if want, got, ok := strings.Cut(label[i+len("expected "):], ", found "); ok {
			return strings.Trim(got, "`"), strings.Trim(want, "`")
		}
	}
	return "", ""
}

// rustMessage is a diagnostic in JSON. https://doc.rust-lang.org/rustc/json.html#diagnostics
type rustMessage struct {
	Message string `json:"message"`
	Level   string `json:"level"`
	Code    *struct {
		Code string `json:"code"`
	} `json:"code"`
	Spans []struct {
		File    string `json:"file_name"`
		Line    int    `json:"line_start"`
		Primary bool   `json:"is_primary"`
		Label   string `json:"label"`
	} `json:"spans"`
}

// readRustJSON reads one line of cargo's or of rustc's.
func readRustJSON(line []byte) (remark, bool) {
	var cargo struct {
		Message *rustMessage `json:"message"`
	}
	var m rustMessage
	if json.Unmarshal(line, &cargo) == nil && cargo.Message != nil {
		m = *cargo.Message
	} else if json.Unmarshal(line, &m) != nil {
		return remark{}, false
	}
	if m.Level != "error" && m.Level != "warning" {
		return remark{}, false
	}
	r := remark{tool: "rustc", rule: m.Level, kind: Build, message: m.Message}
	if r.mild = m.Level == "warning"; r.mild {
		r.kind = Lint
	}
	if m.Code != nil && isErrorCode(m.Code.Code) {
		r.rule = m.Code.Code
	} else if m.Code != nil {
		r.lint(m.Code.Code)
	}
	for _, s := range m.Spans {
		if s.Primary && r.file == "" {
			r.file, r.line = s.File, s.Line
			r.got, r.want = rustMismatch(s.Label)
		}
	}
	return r, r.file != ""
}

func isErrorCode(s string) bool { return len(s) == 5 && s[0] == 'E' && isCode(s) }

// rustfmt reads "Diff in /dir/src/lib.rs:1:", and the names that -l lists. https://github.com/rust-lang/rustfmt
type rustfmt struct {
	c     *collector
	lists bool
}

func newRustfmt(c *collector) lineReader { return &rustfmt{c, listsRust(c.run.Command)} }

func listsRust(command string) bool {
	return (strings.Contains(command, "rustfmt") || strings.Contains(command, "cargo fmt")) &&
		(strings.Contains(command, " -l") || strings.Contains(command, "--files-with-diff"))
}

func isRustfmt(r Run, line string) bool {
	return strings.HasPrefix(line, "Diff in ") || isFile(line, ".rs") && listsRust(r.Command)
}

func (r *rustfmt) line(line string) {
	m := remark{tool: "rustfmt", rule: "format", message: "is not formatted"}
	rest, ok := strings.CutPrefix(line, "Diff in ")
	if !ok {
		if r.lists && isFile(line, ".rs") {
			m.file = line
			r.c.remark(m)
		}
		return
	}
	rest = strings.Replace(rest, " at line ", ":", 1) // releases before 1.8
	if d, ok := parseDiagnostic(rest + " x"); ok && strings.HasSuffix(d.file, ".rs") {
		m.file, m.line = d.file, d.line
		r.c.remark(m)
	}
}

func (r *rustfmt) end() {}
