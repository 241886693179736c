package report

import (
	"regexp"
	"strings"
	"sync"
)

// dotnetReader reads the console logger of dotnet test
// (https://github.com/microsoft/vstest/blob/main/src/vstest.console/Internal/ConsoleLogger.cs).
var dotnetReader = textReader{
	format: "dotnet-test", tests: true,
	wakes: []string{"Starting test execution, please wait", "  Error Message:", "Passed!  - ", "Failed!  - ", "Test Run Failed."},
	start: func(c *collector) lineReader { return &dotnet{c: c} },
}

type dotnet struct {
	c     *collector
	test  *Result
	part  string // "Error Message:", "Stack Trace:", …
	says  said
	trace said
}

var (
	dotnetTest  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^  (Passed|Failed|Skipped|X|√) (.+?) \[(.*)\]$`) })
	dotnetFrame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` in (.+):line (\d+)$`) })
	dotnetPairs = sync.OnceValue(func() []*regexp.Regexp {
		return []*regexp.Regexp{
			regexp.MustCompile(`(?s)Expected: (.*?)\r?\n\s*(?:Actual|But was): +(.*?)(?:\n|$)`), // xUnit, NUnit
			regexp.MustCompile(`(?s)Expected:<(.*?)>\. Actual:<(.*?)>\.`),                       // MSTest
		}
	})
)

func (r *dotnet) line(line string) {
	t := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(line, "  ") && dotnetTest().MatchString(line):
		r.flush()
		r.begin(dotnetTest().FindStringSubmatch(line))
	case strings.HasPrefix(line, "Passed!  - ") || strings.HasPrefix(line, "Failed!  - ") || strings.HasPrefix(line, "Total tests: "):
		r.flush()
		r.c.recognise("dotnet-test")
		total := line
		if _, rest, ok := strings.Cut(line, "Total: "); ok {
			total = rest
		}
		r.c.ran = r.c.ran || number(total) > 0
	case strings.HasPrefix(line, "Test Run "):
		r.flush()
		r.c.recognise("dotnet-test")
	case r.test == nil:
	case t == "Error Message:" || t == "Stack Trace:" || t == "Standard Output Messages:":
		r.part = t
	case r.part == "Error Message:":
		r.says.add(line)
	case r.part == "Stack Trace:":
		r.trace.add(t)
	}
}

func (r *dotnet) begin(m []string) {
	r.test = &Result{ID: m[2], Kind: Test, Status: Fail, Class: Assertion, Seconds: seconds(strings.TrimPrefix(m[3], "< "))}
	switch m[1] {
	case "Passed", "√":
		r.test.Status, r.test.Class = Pass, ""
	case "Skipped":
		r.test.Status, r.test.Class = Skip, ""
	}
	r.part, r.says, r.trace = "", said{}, said{}
}

func (r *dotnet) flush() {
	if r.test == nil {
		return
	}
	r.test.Message, r.test.Trace = r.says.text(), r.trace.text()
	for _, p := range dotnetPairs() {
		if m := p.FindStringSubmatch(r.test.Message); m != nil {
			r.test.Want, r.test.Got = m[1], m[2]
			break
		}
	}
	for _, l := range r.trace.lines {
		if m := dotnetFrame().FindStringSubmatch(l); m != nil {
			r.test.File, r.test.Line = m[1], number(m[2])
			break
		}
	}
	first, _, _ := strings.Cut(r.test.Message, "\n")
	if name, _, ok := strings.Cut(first, " : "); ok && strings.HasSuffix(name, "Exception") && !strings.Contains(name, " ") {
		r.test.Class = Panic
	}
	r.c.add("dotnet-test", *r.test)
	r.test = nil
}

func (r *dotnet) end() { r.flush() }
