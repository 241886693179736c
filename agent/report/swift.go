package report

import (
	"regexp"
	"strings"
	"sync"
)

// xctestReader reads XCTest, as xcodebuild and swift test print it, on macOS and Linux
// (https://github.com/swiftlang/swift-corelibs-xctest/blob/main/Sources/XCTest/Private/PrintObserver.swift).
var xctestReader = textReader{
	format: "xctest", tests: true,
	wakes: []string{"Test Case '", "Test Suite '"},
	start: func(c *collector) lineReader { return &xctest{c: c} },
}

type xctest struct {
	c       *collector
	running string
	issue   *Result // the first of the running test
	begun   bool
	ended   bool
}

var xctestIssue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?):(\d+): error: (-\[\S+ \S+\]|[\w.]+) : (.*)$`)
})

func (r *xctest) line(line string) {
	switch {
	case strings.HasPrefix(line, "Test Case '"):
		r.testCase(line[len("Test Case '"):])
	case strings.HasPrefix(line, "Test Suite '"):
		r.c.recognise("xctest")
		r.begun = true
		r.ended = strings.Contains(line, "' passed at ") || strings.Contains(line, "' failed at ")
	case strings.Contains(line, ": error: "):
		m := xctestIssue().FindStringSubmatch(line)
		if m == nil || r.issue != nil {
			return
		}
		r.issue = &Result{File: m[1], Line: number(m[2]), Message: m[4], Class: Assertion}
		r.issue.Got, r.issue.Want = xctestGotWant(m[4])
		if strings.Contains(m[4], "threw error") || strings.HasPrefix(m[4], "failed: caught error") {
			r.issue.Class = Panic
		}
	}
}

func (r *xctest) testCase(rest string) {
	name, word, ok := strings.Cut(rest, "' ")
	if !ok {
		return
	}
	if strings.HasPrefix(word, "started") {
		r.running, r.issue = name, nil
		return
	}
	res := Result{Kind: Test, Status: Pass}
	if r.issue != nil {
		res = *r.issue
		res.Kind = Test
	}
	switch {
	case strings.HasPrefix(word, "failed"):
		res.Status = Fail
		if res.Class == "" {
			res.Class = Assertion
		}
	case strings.HasPrefix(word, "skipped"):
		res.Status = Skip
	}
	res.ID = swiftID(name)
	if secs, ok := between(word, "(", ")"); ok {
		res.Seconds = seconds(strings.Replace(secs, " seconds", " s", 1))
	}
	r.running, r.issue = "", nil
	r.c.add("xctest", res)
}

// swiftID turns "-[ShopTests.CartTests testAdds]" into "ShopTests.CartTests.testAdds"; Linux spells it so by itself.
func swiftID(name string) string {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "-["), "]")
	return strings.Replace(name, " ", ".", 1)
}

// xctestGotWant reads `XCTAssertEqual failed: ("90") is not equal to ("100") - of two prices`; got stands first by custom.
func xctestGotWant(text string) (got, want string) {
	got, want, ok := strings.Cut(text, `") is not equal to ("`)
	if !ok {
		return "", ""
	}
	_, got, _ = strings.Cut(got, `("`)
	want, _, _ = strings.Cut(want, `")`)
	return got, want
}

func (r *xctest) end() {
	if r.running != "" {
		r.c.add("xctest", Result{ID: swiftID(r.running), Kind: Test, Status: Error, Class: Panic, Message: "the process ended while this test ran"})
		r.running = ""
	}
	if r.begun && !r.ended {
		r.c.partial = true
		r.c.note("XCTest's summary is missing")
	}
	r.begun = false
}

// swiftTestingReader reads Swift Testing
// (https://github.com/swiftlang/swift-testing/blob/main/Sources/Testing/Events/Recorder/Event.HumanReadableOutputRecorder.swift).
var swiftTestingReader = textReader{
	format: "swift-testing", tests: true,
	wakes: []string{"Test run started.", " recorded an issue at "},
	start: func(c *collector) lineReader { return &swiftTesting{c: c, issues: map[string]Result{}} },
}

type swiftTesting struct {
	c      *collector
	issues map[string]Result // first issue of each running test
	begun  bool
	ended  bool
}

var swiftTestLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\S+ Test (.+?) (passed|failed|skipped|recorded an issue)(?: at (\S+?):(\d+):\d+)?(?: after ([\d.]+) seconds)?(.*)$`)
})

func (r *swiftTesting) line(line string) {
	switch {
	case strings.Contains(line, "Test run started."):
		r.begun, r.ended = true, false
		r.c.recognise("swift-testing")
		return
	case strings.Contains(line, "Test run with "):
		r.ended = true
		return
	case !strings.Contains(line, " Test "):
		return
	}
	m := swiftTestLine().FindStringSubmatch(line)
	if m == nil {
		return
	}
	if m[2] == "recorded an issue" {
		r.issue(m[1], m[3], m[4], m[6])
		return
	}
	res := r.issues[m[1]]
	delete(r.issues, m[1])
	res.ID, res.Kind, res.Seconds = m[1], Test, seconds(m[5]+" s")
	res.Status = map[string]Status{"passed": Pass, "failed": Fail, "skipped": Skip}[m[2]]
	if res.Status == Fail && res.Class == "" {
		res.Class = Assertion
	}
	r.c.add("swift-testing", res)
}

// issue reads what follows the place: ": Expectation failed: (total → 90) == 100".
func (r *swiftTesting) issue(test, file, line, text string) {
	if _, ok := r.issues[test]; ok || len(r.issues) > maxPkgs {
		return
	}
	res := Result{File: file, Line: number(line), Message: strings.TrimPrefix(text, ": "), Class: Assertion}
	if _, expr, ok := strings.Cut(text, "Expectation failed: "); ok {
		if g, w, ok := strings.Cut(expr, " == "); ok {
			res.Got, res.Want = swiftValue(g), swiftValue(w)
		}
	}
	if strings.Contains(text, "Caught error: ") {
		res.Class = Panic
	}
	r.issues[test] = res
}

// swiftValue is the value of "(expression → value)", or the text itself.
func swiftValue(s string) string {
	if _, v, ok := strings.Cut(s, " → "); ok {
		return strings.TrimSuffix(v, ")")
	}
	return s
}

func (r *swiftTesting) end() {
	if r.begun && !r.ended {
		r.c.partial = true
		r.c.note("Swift Testing's summary is missing")
	}
	r.begun = false
}
