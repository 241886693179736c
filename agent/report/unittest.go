package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

var unittestReader = textReader{
	format: "unittest", tests: true,
	runs: unittestNames,
	wakes: []string{
		"FAIL: ", "ERROR: ", "Ran 0 tests in ", " tests in ", "Ran 1 test in ", "UNEXPECTED SUCCESS: ", ") ... ",
	},
	start: func(c *collector) lineReader { return &unittest{c: c} },
	when: func(_ Run, line string) bool {
		_, _, failed := unittestHead(line)
		_, _, verbose := unittestVerbose(line)
		_, ran := unittestRan(line)
		return failed || verbose || ran
	},
}

var unittestNames = []string{"unittest"}

// unittest reads the text runner of Python's standard library, and of what is built on it, such as Django's.
type unittest struct {
	c     *collector
	id    string // of the failure whose lines follow
	word  string
	kept  headTail
	rule  int // rules of dashes seen in the failure
	ran   int // of the last "Ran N tests"; -1 before
	any   bool
	begun bool // results without an end
}

// unittestHead reads "FAIL: test_x (mod.Class.test_x) (name='a')": Python before 3.11 writes no name in the brackets.
func unittestHead(l string) (word, id string, ok bool) {
	for _, w := range []string{"FAIL", "ERROR", "UNEXPECTED SUCCESS"} {
		rest, found := strings.CutPrefix(l, w+": ")
		if !found {
			continue
		}
		id, ok = unittestID(rest)
		return w, id, ok
	}
	return "", "", false
}

// unittestID makes "mod.Class.test" of "test (mod.Class)" and of "test (mod.Class.test)". What a subtest is told apart by follows
// in brackets.
func unittestID(s string) (id string, ok bool) {
	method, rest, found := strings.Cut(s, " (")
	where, sub, closed := strings.Cut(rest, ")")
	if !found || !closed || !isPyName(method) || !isPyName(where) || !strings.Contains(where, ".") && method != "setUpModule" && method != "tearDownModule" && where != "__main__" {
		return "", false
	}
	if where != method && !strings.HasSuffix(where, "."+method) {
		where += "." + method
	}
	return strings.TrimPrefix(where, "unittest.loader._FailedTest.") + strings.TrimRight(sub, " "), true
}

var unittestWords = map[string]Status{"ok": Pass, "FAIL": Fail, "ERROR": Error, "skipped": Skip, "expected failure": Skip, "unexpected success": Fail}

// unittestVerbose reads "test_x (mod.Class.test_x) ... ok".
func unittestVerbose(l string) (id string, st Status, ok bool) {
	name, word, found := strings.Cut(l, " ... ")
	if !found {
		return "", "", false
	}
	if id, ok = unittestID(strings.TrimSpace(name)); !ok {
		return "", "", false
	}
	if strings.HasPrefix(word, "skipped ") {
		word = "skipped"
	}
	return id, unittestWords[strings.TrimSpace(word)], true
}

// unittestRan reads "Ran 3 tests in 0.001s".
func unittestRan(l string) (n int, ok bool) {
	f := strings.Fields(l)
	if len(f) != 5 || f[0] != "Ran" || f[3] != "in" || f[2] != "test" && f[2] != "tests" || !strings.HasSuffix(f[4], "s") {
		return 0, false
	}
	n, err := strconv.Atoi(f[1])
	return n, err == nil && n >= 0
}

func (u *unittest) line(l string) {
	if n, ok := unittestRan(l); ok {
		u.close()
		u.c.recognise("unittest")
		u.c.ran = u.c.ran || n > 0
		u.ran, u.begun, u.any = n, false, true
		if n == 0 {
			u.c.mark(NoTests)
		}
		return
	}
	if word, id, ok := unittestHead(l); ok {
		u.close()
		u.word, u.id, u.begun = word, id, true
		if word == "UNEXPECTED SUCCESS" {
			u.close()
		}
		return
	}
	switch {
	case u.id == "":
		u.progress(l)
	case strings.HasPrefix(l, "----------") && strings.Trim(l, "-") == "":
		if u.rule++; u.rule == 2 {
			u.close()
		}
	case strings.HasPrefix(l, "==========") && strings.Trim(l, "=") == "":
		u.close()
	case u.rule == 1:
		u.kept.add(l)
	}
}

// progress are the lines before the failures.
func (u *unittest) progress(l string) {
	if strings.TrimSpace(l) == "NO TESTS RAN" {
		u.c.mark(NoTests)
	}
	id, st, ok := unittestVerbose(l)
	if !ok {
		return
	}
	u.begun = true
	if st == Pass || st == Skip {
		u.c.add("unittest", Result{ID: id, Kind: Test, Status: st})
	}
}

// close makes a result of the failure whose lines were read.
func (u *unittest) close() {
	if u.id == "" {
		return
	}
	lines := u.kept.lines()
	r := Result{ID: u.id, Kind: Test, Status: Fail, Class: Assertion}
	if u.word == "UNEXPECTED SUCCESS" {
		r.Message = "unexpected success"
	}
	u.id, u.word, u.kept, u.rule = "", "", headTail{}, 0
	u.c.describeTraceback(&r, lines)
	u.c.add("unittest", r)
}

// describeTraceback takes place, class, message, got and want from a native traceback, the last one of a chain.
func (c *collector) describeTraceback(r *Result, lines []string) {
	lines = beforeOutput(lines)
	r.File, r.Line, _ = c.pyPlace(lines)
	said := lastSaid(lines)
	e, ok := parsePyError(said)
	if !ok {
		r.Message = cmp.Or(r.Message, strings.TrimSpace(strings.Join(lines, "\n")))
		return
	}
	r.Message = strings.TrimSpace(strings.Join(said, "\n"))
	switch r.Status, r.Class = c.pyKind(e); {
	case r.Class == Assertion:
		r.Got, r.Want = pyGotWant(e)
	case strings.HasPrefix(lines[0], "ImportError: Failed to import test module: "):
		r.Kind = Build
		if r.Class != MissingDependency {
			r.Class = Compile
		}
		r.Trace = strings.Join(lines, "\n")
	default:
		r.Trace = strings.Join(lines, "\n")
	}
}

// beforeOutput leaves out what a buffered test printed.
func beforeOutput(lines []string) []string {
	if i := slices.IndexFunc(lines, func(l string) bool { return l == "Stdout:" || l == "Stderr:" }); i > 0 {
		return lines[:i]
	}
	return lines
}

// end ends a stream: unittest writes to standard error, and all of it is there or cut.
func (u *unittest) end() {
	u.close()
	u.c.partial = u.c.partial || u.begun
	u.begun = false
}

func (u *unittest) doubt() {
	if !u.any {
		u.c.missed("unittest", unittestNames)
	}
}
