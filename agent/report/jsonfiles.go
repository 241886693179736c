package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ctrfFile is the Common Test Report Format. https://ctrf.io/docs/specification/overview
var ctrfFile = fileReader{
	format: "ctrf", tests: true,
	knows: func(_ string, head []byte) bool {
		return isObject(head) && bytes.Contains(head, []byte(`"results"`)) && bytes.Contains(head, []byte(`"tool"`))
	},
	read: readCTRF,
}

// jestFile is the JSON of jest and of vitest, which writes the same.
var jestJSONFile = fileReader{
	format: "jest-json", tests: true,
	knows: func(_ string, head []byte) bool {
		return isObject(head) && (bytes.Contains(head, []byte(`"numFailedTestSuites"`)) || bytes.Contains(head, []byte(`"numTotalTestSuites"`)))
	},
	read: readJestJSON,
}

// mochaJSONFile is the JSON of mocha.
var mochaJSONFile = fileReader{
	format: "mocha-json", tests: true,
	knows: func(_ string, head []byte) bool {
		return isObject(head) && bytes.Contains(head, []byte(`"stats"`)) && bytes.Contains(head, []byte(`"suites"`)) && bytes.Contains(head, []byte(`"passes"`))
	},
	read: readMochaJSON,
}

func isObject(head []byte) bool {
	head = bytes.TrimLeft(text8(head), " \t\r\n")
	return len(head) > 0 && head[0] == '{'
}

// readJSON reads one value; what a program prints after it on the same stream is let be.
func readJSON(f File, v any) error {
	if len(f.Data) > maxFile {
		return errTooLarge
	}
	if err := json.NewDecoder(bytes.NewReader(text8(f.Data))).Decode(v); err != nil {
		return fmt.Errorf("read JSON: %w", err)
	}
	return nil
}

func readCTRF(c *collector, f File) error {
	c.recognise("ctrf")
	var rep struct {
		Results struct {
			Tests []struct {
				Name     string  `json:"name"`
				Status   string  `json:"status"`
				Duration float64 `json:"duration"`
				Suite    any     `json:"suite"`
				Message  string  `json:"message"`
				Trace    string  `json:"trace"`
				File     string  `json:"filePath"`
				Line     int     `json:"line"`
			} `json:"tests"`
		} `json:"results"`
	}
	if err := readJSON(f, &rep); err != nil {
		return err
	}
	for _, t := range rep.Results.Tests {
		r := Result{Kind: Test, File: t.File, Line: max(t.Line, 0), Seconds: max(t.Duration, 0) / 1000}
		r.ID = ctrfID(c.places.relative(t.File), suiteLevels(t.Suite), t.Name)
		switch t.Status {
		case "passed":
			r.Status = Pass
		case "skipped", "pending", "other": // the last is jest's todo
			r.Status = Skip
		default:
			c.fromJSON(&r, t.Message, t.Trace)
		}
		c.addFromFile("ctrf", r)
	}
	return nil
}

// ctrfID joins file, suites and test, each once: some producers begin a suite with the file, and a test with its suites.
func ctrfID(file string, suites []string, name string) string {
	if len(suites) > 0 && suites[0] == file {
		suites = suites[1:]
	}
	name = strings.TrimPrefix(name, strings.Join(suites, " ")+" ")
	if file != "" {
		suites = append([]string{file}, suites...)
	}
	return strings.Join(append(suites, name), level)
}

// suiteLevels takes a suite as CTRF's versions write it: a text, or a list of them.
func suiteLevels(v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return strings.Split(v, level)
		}
	case []any:
		var out []string
		for _, s := range v[:min(len(v), 50)] {
			if s, ok := s.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// fromJSON reads a failure's message and stack, in the words of its language, and keeps the place where none is found.
func (c *collector) fromJSON(r *Result, message, stack string) {
	file, line := r.File, r.Line
	text := message
	if stack != "" && !strings.Contains(message, stack) {
		if strings.Contains(stack, message) {
			text = stack
		} else {
			text = message + "\n" + stack
		}
	}
	text = clean(cut(strings.ReplaceAll(text, "\r\n", "\n"), maxCapture))
	lines := strings.Split(text, "\n")
	if strings.Contains(text, "Traceback (most recent call last):") {
		r.Status, r.Class = Fail, Assertion
		c.describeTraceback(r, lines)
	} else if c.describeJS(r, lines); stack == "" && r.Class == Panic && !jsStack(lines) {
		r.Status, r.Class, r.Trace = Fail, Assertion, ""
		r.Got, r.Want = gotWant(text)
	}
	if r.File == "" {
		r.File, r.Line = file, line
	}
}

func readJestJSON(c *collector, f File) error {
	c.recognise("jest-json")
	var rep struct {
		Interrupted bool `json:"wasInterrupted"`
		Total       *int `json:"numTotalTests"`
		Results     []struct {
			Name    string `json:"name"`
			Status  string `json:"status"`
			Message string `json:"message"`
			Tests   []struct {
				Ancestors []string `json:"ancestorTitles"`
				Title     string   `json:"title"`
				Status    string   `json:"status"`
				Messages  []string `json:"failureMessages"`
				Duration  float64  `json:"duration"`
			} `json:"assertionResults"`
		} `json:"testResults"`
	}
	if err := readJSON(f, &rep); err != nil {
		return err
	}
	if rep.Interrupted {
		c.partial = true
		c.note("jest: interrupted")
	}
	if rep.Total == nil {
		return errors.New("no total of tests in it")
	}
	for _, file := range rep.Results {
		name := c.places.relative(file.Name)
		failed := false
		for _, t := range file.Tests {
			r := Result{Kind: Test, File: name, Seconds: max(t.Duration, 0) / 1000}
			r.ID = strings.Join(append(append([]string{name}, t.Ancestors...), t.Title), level)
			switch t.Status {
			case "passed":
				r.Status = Pass
			case "failed":
				failed = true
				c.fromJSON(&r, strings.Join(t.Messages, "\n\n"), "")
			default:
				r.Status = Skip
			}
			c.addFromFile("jest-json", r)
		}
		if file.Status == "failed" && !failed {
			r := Result{Kind: Build, File: name}
			c.fromJSON(&r, strings.TrimPrefix(strings.TrimSpace(clean(file.Message)), "● Test suite failed to run\n"), "")
			ofSuite(&r, name)
			if r.Class == MissingDependency {
				c.mark(MissingDependency)
			}
			c.addFromFile("jest-json", r)
		}
	}
	return nil
}

type mochaJSONTest struct {
	Title    string  `json:"title"`
	Full     string  `json:"fullTitle"`
	File     string  `json:"file"`
	Duration float64 `json:"duration"`
	Err      struct {
		Message  string `json:"message"`
		Stack    string `json:"stack"`
		Actual   any    `json:"actual"`
		Expected any    `json:"expected"`
	} `json:"err"`
}

func readMochaJSON(c *collector, f File) error {
	c.recognise("mocha-json")
	var rep struct {
		Pending  []mochaJSONTest `json:"pending"`
		Failures []mochaJSONTest `json:"failures"`
		Passes   []mochaJSONTest `json:"passes"`
	}
	if err := readJSON(f, &rep); err != nil {
		return err
	}
	for _, list := range []struct {
		status Status
		tests  []mochaJSONTest
	}{{Fail, rep.Failures}, {Pass, rep.Passes}, {Skip, rep.Pending}} {
		for _, t := range list.tests {
			r := Result{ID: mochaID(t), Kind: Test, Status: list.status, File: t.File, Seconds: max(t.Duration, 0) / 1000}
			if list.status == Fail {
				c.fromJSON(&r, t.Err.Message, t.Err.Stack)
				if got, want := jsonText(t.Err.Actual), jsonText(t.Err.Expected); got != "" || want != "" {
					r.Status, r.Class, r.Got, r.Want, r.Trace = Fail, Assertion, got, want, ""
				}
			}
			c.addFromFile("mocha-json", r)
		}
	}
	return nil
}

// mochaID is the suites, which mocha joins with blanks, and the test.
func mochaID(t mochaJSONTest) string {
	if suites, ok := strings.CutSuffix(t.Full, " "+t.Title); ok && suites != "" {
		return suites + level + t.Title
	}
	return t.Title
}

// jsonText is a value as it stands in a report: a text as it is, anything else as JSON.
func jsonText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
