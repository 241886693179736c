package report

import (
	"bytes"
	"fmt"
	"strings"
)

// rspecFile is RSpec's JSON. https://rspec.info/features/3-13/rspec-core/formatters/json-formatter/
var rspecFile = fileReader{
	format: "rspec-json", tests: true,
	knows: func(_ string, head []byte) bool {
		return isObject(head) && bytes.Contains(head, []byte(`"examples"`)) && bytes.Contains(head, []byte(`"version"`))
	},
	read: readRSpec,
}

func readRSpec(c *collector, f File) error {
	c.recognise("rspec-json")
	var rep struct {
		Examples []struct {
			Full      string  `json:"full_description"`
			Status    string  `json:"status"`
			File      string  `json:"file_path"`
			Line      int     `json:"line_number"`
			Seconds   float64 `json:"run_time"`
			Exception struct {
				Class     string   `json:"class"`
				Message   string   `json:"message"`
				Backtrace []string `json:"backtrace"`
			} `json:"exception"`
		} `json:"examples"`
	}
	if err := readJSON(f, &rep); err != nil {
		return err
	}
	for _, e := range rep.Examples {
		r := Result{Kind: Test, Status: Pass, File: rubyPath(e.File), Line: max(e.Line, 0), Seconds: max(e.Seconds, 0)}
		r.ID = c.places.relative(r.File) + level + e.Full
		switch e.Status {
		case "passed":
		case "pending":
			r.Status = Skip
		default:
			file, line := r.File, r.Line
			r.Status, r.Class, r.File, r.Line = Fail, Assertion, "", 0
			rspecSays(&r, c.rspecLines(e.Exception.Message, e.Exception.Backtrace))
			if !strings.Contains(e.Exception.Class, "ExpectationNotMet") && !strings.Contains(e.Exception.Class, "ExpectationsNotMet") {
				r.Class = Panic
			}
			if r.File == "" {
				r.File, r.Line = file, line
			}
		}
		c.addFromFile("rspec-json", r)
	}
	return nil
}

// rspecLines are a message and the frames of the tree, as the console has them.
func (c *collector) rspecLines(message string, trace []string) []string {
	lines := strings.Split(clean(cut(message, maxCapture)), "\n")
	for _, frame := range trace[:min(len(trace), 200)] {
		name, rest, ok := strings.Cut(frame, ":")
		if rel, mine := c.own(name); ok && mine && !strings.Contains(name, "/gems/") && !strings.HasPrefix(name, "<") {
			lines = append(lines, fmt.Sprintf("# ./%s:%s", rel, rest))
		}
	}
	return lines
}
