package report

import (
	"encoding/json"
	"strings"
)

// jsonLines reads the tools that write one JSON object a line: cargo and rustc, staticcheck, mypy, ruff.
type jsonLines struct{ c *collector }

func newJSONLines(c *collector) lineReader { return jsonLines{c} }

func isJSONLine(_ Run, line string) bool { return jsonLineTool(line) != nil }

// jsonLineTool is what reads a line, by the names of its first members; nil if nothing does.
func jsonLineTool(line string) func([]byte) (remark, bool) {
	switch {
	case !strings.HasPrefix(line, `{"`):
		return nil
	case strings.HasPrefix(line, `{"reason":"compiler-message"`), strings.HasPrefix(line, `{"$message_type":"diagnostic"`):
		return readRustJSON
	case strings.HasPrefix(line, `{"code":"`) && strings.Contains(line, `"location":{"file":`) && strings.Contains(line, `"severity":`):
		return readStaticcheckJSON
	case strings.HasPrefix(line, `{"file": "`) && strings.Contains(line, `"hint":`) && strings.Contains(line, `"severity":`):
		return readMypyJSON
	case strings.Contains(line, `"noqa_row":`) && strings.Contains(line, `"end_location":`):
		return readRuffLine
	}
	return nil
}

func (r jsonLines) line(line string) {
	read := jsonLineTool(line)
	if read == nil {
		return
	}
	m, ok := read([]byte(line))
	if ok {
		r.c.remark(m)
	} else if len(line) >= maxLine {
		r.c.partial = true
		r.c.note("a JSON diagnostic that breaks off")
	}
}

func (r jsonLines) end() {}

// readStaticcheckJSON: https://staticcheck.dev/docs/running-staticcheck/cli/formatters/
func readStaticcheckJSON(line []byte) (remark, bool) {
	var d struct {
		Code, Severity, Message string
		Location                struct {
			File string
			Line int
		}
	}
	err := json.Unmarshal(line, &d)
	m := remark{tool: "staticcheck", rule: d.Code, file: d.Location.File, line: max(d.Location.Line, 0), message: d.Message}
	if d.Code == "compile" {
		m.kind = Build
	}
	return m, err == nil && d.Severity != "ignored"
}

// readMypyJSON: https://mypy.readthedocs.io/en/stable/command_line.html#cmdoption-mypy-output
func readMypyJSON(line []byte) (remark, bool) {
	var d struct {
		File, Message, Severity string
		Code                    *string
		Line                    int
	}
	err := json.Unmarshal(line, &d)
	m := remark{tool: "mypy", rule: d.Severity, file: d.File, line: max(d.Line, 0), message: d.Message, mild: d.Severity != "error"}
	if d.Code != nil && *d.Code != "" && !m.mild {
		m.rule = *d.Code
	}
	return m, err == nil
}

func readRuffLine(line []byte) (remark, bool) {
	var d ruffMessage
	err := json.Unmarshal(line, &d)
	return d.remark(), err == nil && d.Filename != ""
}
