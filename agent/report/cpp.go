package report

import (
	"regexp"
	"strings"
	"sync"
)

// ctestReader reads CMake's test driver.
var ctestReader = textReader{
	format: "ctest", tests: true,
	wakes: []string{"Test project ", " tests passed, ", "No tests were found!!!"},
	start: func(c *collector) lineReader { return &ctest{c: c} },
}

type ctest struct {
	c        *collector
	below    bool // lines are what --output-on-failure prints below a result
	out      said
	begun    bool
	reported bool // a summary was seen
}

var ctestLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *\d+/\d+ Test +#\d+: (.*?) (?:\.*)(   Passed|\*\*\*[^.]*?) +([\d.]+) sec`)
})

func (r *ctest) line(line string) {
	switch {
	case strings.HasPrefix(line, "    Start ") || strings.HasPrefix(line, "   Start "):
		r.lay()
		r.begun, r.below = true, false
		r.c.recognise("ctest")
	case strings.Contains(line, " Test ") && strings.Contains(line, " sec") && strings.Contains(line, "#"):
		if r.below {
			r.lay()
		}
		r.result(line)
	case strings.Contains(line, "% tests passed, "):
		r.lay()
		r.reported, r.below = true, false
		r.c.recognise("ctest")
	case strings.HasPrefix(line, "No tests were found!!!"):
		r.c.recognise("ctest")
	case r.below:
		r.out.add(line)
	case ctestPrefix(line) != line: // -V prints while a test runs
		r.verbose(ctestPrefix(line))
	}
}

func (r *ctest) verbose(line string) {
	for _, own := range []string{"Test command: ", "Working Directory: ", "Test timeout computed to be: ", "Environment variables: "} {
		if strings.HasPrefix(line, own) {
			return
		}
	}
	r.out.add(line)
}

func (r *ctest) result(line string) {
	m := ctestLine().FindStringSubmatch(line)
	if m == nil {
		return
	}
	res := Result{ID: strings.TrimRight(m[1], " ."), Kind: Test, Status: Pass, Seconds: seconds(m[3] + " s")}
	switch word := strings.TrimLeft(m[2], " *"); {
	case word == "Passed":
	case word == "Skipped" || strings.HasPrefix(word, "Not Run (Disabled"):
		res.Status = Skip
	case strings.HasPrefix(word, "Not Run"):
		res.Status, res.Class, res.Message = Error, Compile, "the test's program is not there"
	case strings.HasPrefix(word, "Timeout"):
		res.Status, res.Class, res.Message = Fail, Timeout, "the test did not end in time"
	case strings.HasPrefix(word, "Exception"):
		res.Status, res.Class, res.Message = Error, Panic, word
	default:
		res.Status, res.Class = Fail, Assertion
	}
	r.c.add("ctest", res)
	r.lay()
	r.below = true
}

// lay lays the lines that were kept to the result that was added last.
func (r *ctest) lay() {
	text := (&said{lines: r.out.take()}).text()
	last := r.c.last("ctest")
	if text == "" || last == nil || !last.failed() {
		return
	}
	last.Message = cut(clean(strings.TrimSpace(last.Message+"\n"+text)), maxMessage)
	for _, l := range strings.Split(text, "\n") {
		if got, want := gotWant(l); got != "" || want != "" {
			last.Got, last.Want = cut(clean(got), maxMessage), cut(clean(want), maxMessage)
			if file, n, ok := filePlace(l); ok {
				last.File, last.Line = r.c.places.relative(file), n
			}
			return
		}
	}
}

func (r *ctest) end() {
	r.lay()
	if r.begun && !r.reported {
		r.c.partial = true
		r.c.note("ctest's summary is missing")
	}
	r.begun, r.below = false, false
}

// last is the result that was added last, if it is of that format.
func (c *collector) last(format string) *Result {
	if n := len(c.found); n > 0 && c.found[n-1].format == format {
		return &c.found[n-1].Result
	}
	return nil
}

// gtestReader reads googletest.
var gtestReader = textReader{
	format: "gtest", tests: true,
	wakes: []string{"[==========] Running ", "[  FAILED  ] ", "[       OK ] ", "[  PASSED  ] "},
	start: func(c *collector) lineReader { return &gtest{c: c} },
}

type gtest struct {
	c       *collector
	running string
	out     said
	begun   bool
	ended   bool // the listing of failures follows
}

func (r *gtest) line(line string) {
	line = ctestPrefix(line)
	switch {
	case strings.HasPrefix(line, "[==========] Running "):
		r.unended()
		r.begun, r.ended = true, false
		r.c.recognise("gtest")
	case strings.HasPrefix(line, "[==========] "), strings.HasPrefix(line, "[  PASSED  ] "):
		r.ended = true
		r.running = ""
		if n, ok := strings.CutPrefix(line, "[  PASSED  ] "); ok { // all that the brief form says where nothing failed
			r.c.recognise("gtest")
			r.c.ran = r.c.ran || number(n) > 0
		}
	case strings.HasPrefix(line, "[ RUN      ] "):
		r.out = said{}
		r.running = line[len("[ RUN      ] "):]
	case r.ended:
	case strings.HasPrefix(line, "[       OK ] "):
		r.result(line[len("[       OK ] "):], Pass)
	case strings.HasPrefix(line, "[  FAILED  ] "):
		r.result(line[len("[  FAILED  ] "):], Fail)
	case strings.HasPrefix(line, "[  SKIPPED ] "):
		r.result(line[len("[  SKIPPED ] "):], Skip)
	case strings.HasPrefix(line, "[---") || strings.HasPrefix(line, "[ DISABLED ]"):
	default:
		r.out.add(line)
	}
}

// ctestPrefix takes off the "12: " that ctest -V puts before each line.
func ctestPrefix(line string) string {
	if line == "" || line[0] < '0' || line[0] > '9' {
		return line
	}
	if n, rest, ok := strings.Cut(line, ": "); ok && len(n) < 6 && strings.Trim(n, "0123456789") == "" {
		return rest
	}
	return line
}

func (r *gtest) result(rest string, status Status) {
	name, secs, ok := cutLast(rest, " (")
	if !ok || !strings.HasSuffix(secs, " ms)") {
		return
	}
	name, _, _ = strings.Cut(name, ", where ")
	res := Result{ID: name, Kind: Test, Status: status, Seconds: seconds(strings.TrimSuffix(secs, ")"))}
	lines := r.out.take()
	switch status {
	case Fail:
		gtestSays(&res, lines)
	case Skip:
		res.Message = (&said{lines: lines}).text()
	}
	r.running = ""
	r.c.add("gtest", res)
}

// gtestSays reads the failures of one test; the first decides got and want.
func gtestSays(res *Result, lines []string) {
	res.Class = Assertion
	first, rest := -1, lines
	for i, l := range lines {
		place, ok := strings.CutSuffix(l, ": Failure")
		if !ok {
			place, _, ok = strings.Cut(l, ": error: ")
		}
		if !ok {
			continue
		}
		if first >= 0 {
			rest = lines[:i]
			break
		}
		first = i
		res.File, res.Line, _ = filePlace(place)
		if res.File == "unknown file" || strings.HasPrefix(place, "unknown file") {
			res.File, res.Class, res.Status = "", Panic, Fail
		}
	}
	if first >= 0 {
		res.Got, res.Want = gtestGotWant(rest[first+1:])
	}
	res.Message = (&said{lines: lines[first+1:]}).text()
}

// gtestGotWant reads the values of one failed expectation. EXPECT_EQ names its sides in the order they were written: where
// one of them was written as a value, that is what was wanted; otherwise it is the second.
func gtestGotWant(lines []string) (got, want string) {
	if len(lines) > 0 && lines[0] == "Expected equality of these values:" {
		return gtestEqual(lines[1:])
	}
	for _, l := range lines {
		t := strings.TrimSpace(l)
		if v, ok := strings.CutPrefix(t, "Actual: "); ok && got == "" {
			got = v
		}
		if v, ok := strings.CutPrefix(t, "Expected: "); ok && want == "" {
			want = v
			if w, g, ok := strings.Cut(v, ", actual: "); ok {
				want, got = w, g
			}
		}
	}
	return got, want
}

func gtestEqual(lines []string) (got, want string) {
	var values []string
	var evaluated []bool
	for _, l := range lines {
		if v, ok := strings.CutPrefix(l, "    Which is: "); ok && len(values) > 0 {
			values[len(values)-1], evaluated[len(values)-1] = v, true
		} else if v, ok := strings.CutPrefix(l, "  "); ok && len(values) < 2 {
			values, evaluated = append(values, v), append(evaluated, false)
		} else {
			break
		}
	}
	if len(values) < 2 {
		return "", ""
	}
	if !evaluated[0] && evaluated[1] {
		return values[1], values[0]
	}
	return values[0], values[1]
}

// unended answers for a program that stopped in the middle of a test.
func (r *gtest) unended() {
	if !r.begun || r.ended {
		return
	}
	r.c.partial = true
	if r.running != "" {
		res := Result{ID: r.running, Kind: Test, Status: Error, Class: Panic, Message: "the program ended while this test ran"}
		if t := (&said{lines: r.out.take()}).text(); t != "" {
			res.Message += "\n" + t
		}
		r.c.add("gtest", res)
	}
	r.begun, r.running = false, ""
}

func (r *gtest) end() { r.unended() }

// catchReader reads Catch2's console reporter.
var catchReader = textReader{
	format: "catch2", tests: true,
	wakes: []string{" is a Catch ", " is a Catch2 ", "All tests passed (", "test cases: ", "No test cases matched ", "No tests ran"},
	start: func(c *collector) lineReader { return &catch{c: c} },
}

// catch reads blocks: a rule of dashes, the names of the test case and its sections, another rule, and then failures, each
// "FILE:LINE: FAILED:" with the expression and its expansion.
type catch struct {
	c       *collector
	heading bool // names of a test case follow
	names   []string
	test    *Result
	failed  []Result // kept back until the last line tells whether they were to fail
	out     said
	begun   bool
}

func (r *catch) line(line string) {
	switch {
	case hasAny(line, " is a Catch v", " is a Catch2 v"):
		r.begun = true
		r.c.recognise("catch2")
	case strings.HasPrefix(line, "All tests passed ("), strings.HasPrefix(line, "test cases: "), strings.HasPrefix(line, "No test cases matched"), strings.HasPrefix(line, "No tests ran"):
		r.flush()
		r.tell(strings.Contains(line, " failed as expected") && !strings.Contains(line, " failed |"))
		r.begun = false
		r.c.recognise("catch2")
		r.c.ran = r.c.ran || number(line) > 0
	case strings.HasPrefix(line, "----------") || strings.HasPrefix(line, ".........."), strings.HasPrefix(line, "=========="):
		r.rule(line[0])
	case r.heading:
		if line != "" && !strings.HasPrefix(line, "..") {
			r.names = append(r.names, strings.TrimSpace(line))
		}
	default:
		r.body(line)
	}
}

// rule reads one of the lines that part names from failures: dashes open the names and, a second time, close them.
func (r *catch) rule(c byte) {
	r.flush()
	if c == '.' {
		if len(r.names) > 0 { // "FILE:LINE" stood last
			r.names = r.names[:len(r.names)-1]
		}
		r.heading = false
		return
	}
	if r.heading && len(r.names) > 0 { // the place follows
		return
	}
	r.heading, r.names = c == '-', nil
}

func (r *catch) body(line string) {
	place, ok := strings.CutSuffix(line, ": FAILED:")
	if !ok {
		if r.test != nil {
			r.out.add(line)
		}
		return
	}
	r.flush()
	if len(r.names) == 0 {
		return
	}
	r.test = &Result{ID: strings.Join(r.names, " > "), Kind: Test, Status: Fail, Class: Assertion}
	r.test.File, r.test.Line, _ = filePlace(place)
}

func (r *catch) flush() {
	if r.test == nil {
		return
	}
	lines := r.out.take()
	r.test.Message = (&said{lines: lines}).text()
	for i, l := range lines {
		switch {
		case l == "with expansion:" && i+1 < len(lines):
			r.test.Got, r.test.Want = catchSides(strings.TrimSpace(lines[i+1]))
		case strings.HasPrefix(l, "due to unexpected exception") || strings.HasPrefix(l, "due to a fatal error condition"):
			r.test.Class = Panic
		}
	}
	if len(r.failed) < maxPkgs {
		r.failed = append(r.failed, *r.test)
	}
	r.test = nil
}

// tell puts out the failures, unless every one of them was to be: [!shouldfail] ends a test with success.
func (r *catch) tell(expected bool) {
	for _, res := range r.failed {
		if !expected {
			r.c.add("catch2", res)
		}
	}
	r.failed = nil
}

func catchSides(expansion string) (got, want string) {
	for _, op := range []string{" == ", " != ", " <= ", " >= ", " < ", " > "} {
		if g, w, ok := strings.Cut(expansion, op); ok {
			if op != " == " {
				w = strings.TrimSpace(op) + " " + w
			}
			return g, w
		}
	}
	return "", ""
}

func (r *catch) end() {
	r.flush()
	r.tell(false)
	if r.begun {
		r.c.partial = true
		r.c.note("Catch2's summary is missing")
	}
	r.begun = false
}
