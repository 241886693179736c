package report

import "strings"

// antReader reads ant's junit task, with its plain or brief formatter, or with none at all.
var antReader = textReader{
	format: "ant-junit", tests: true,
	wakes: []string{"[junit] Test"},
	start: func(c *collector) lineReader { return &ant{c: c} },
}

type ant struct {
	c      *collector
	suite  string
	test   *Result
	failed map[string]bool // suites with a test that was named
	out    said
}

func (r *ant) line(line string) {
	_, line, ok := strings.Cut(line, "[junit] ")
	if !ok {
		return
	}
	switch {
	case strings.HasPrefix(line, "Testsuite: "):
		r.flush()
		r.suite = strings.TrimSpace(line[len("Testsuite: "):])
	case strings.HasPrefix(line, "Running "):
		r.flush()
		r.suite = strings.TrimSpace(line[len("Running "):])
	case strings.HasPrefix(line, "Tests run: "):
		r.flush()
		r.c.recognise("ant-junit")
		r.c.ran = r.c.ran || number(line) > 0
	case strings.HasPrefix(line, "Testcase: "):
		r.flush()
		r.begin(line[len("Testcase: "):])
	case strings.HasPrefix(line, "Test ") && strings.HasSuffix(line, " FAILED"):
		r.flush()
		r.suiteFailed(strings.TrimSuffix(line[len("Test "):], " FAILED"))
	case r.test != nil:
		r.inTest(line)
	}
}

// begin reads "equal took 0.01 sec" of the plain formatter and "equal(com.example.CartTest):	FAILED" of the brief one.
func (r *ant) begin(rest string) {
	res := Result{Kind: Test, Status: Pass}
	name := rest
	if n, secs, ok := cutLast(rest, " took "); ok {
		name = n
		res.Seconds = seconds(strings.Replace(secs, " sec", " s", 1))
	} else if n, word, ok := strings.Cut(rest, ":\t"); ok {
		name = n
		r.test = &res
		r.status(word)
	}
	class := r.suite
	if i := strings.LastIndexByte(name, '('); i > 0 && strings.HasSuffix(name, ")") {
		class, name = name[i+1:len(name)-1], name[:i]
	}
	res.ID = join(class, name)
	if name == class {
		res.ID = class
	}
	r.test = &res
}

// status reads the word on a test, and reports whether it was one.
func (r *ant) status(word string) bool {
	word = strings.TrimSpace(word)
	switch {
	case word == "FAILED":
		r.test.Status, r.test.Class = Fail, Assertion
	case word == "Caused an ERROR":
		r.test.Status, r.test.Class = Error, Panic
	case strings.HasPrefix(word, "SKIPPED"):
		r.test.Status = Skip
	default:
		return false
	}
	return true
}

func (r *ant) inTest(line string) {
	if r.test.Status == Pass {
		r.status(line)
		return
	}
	r.out.add(line)
}

func (r *ant) flush() {
	if r.test == nil {
		return
	}
	if r.test.failed() {
		st := r.test.Status
		javaSays(r.test, r.suite, r.named(r.out.take()))
		if r.test.Status = st; st == Error && r.test.Class == Assertion {
			r.test.Class = Panic
		}
		if r.failed == nil {
			r.failed = map[string]bool{}
		}
		r.failed[r.suite] = true
	}
	r.out = said{}
	r.c.add("ant-junit", *r.test)
	r.test = nil
}

// named drops the message that stands before the exception's own line, which says it again.
func (r *ant) named(lines []string) []string {
	if len(lines) > 1 && strings.HasSuffix(lines[1], lines[0]) {
		return lines[1:]
	}
	if len(lines) > 1 && lines[0] == "null" {
		return lines[1:]
	}
	return lines
}

// suiteFailed is what there is to say of a suite whose tests no formatter named.
func (r *ant) suiteFailed(suite string) {
	if !r.failed[suite] {
		r.c.add("ant-junit", Result{ID: suite, Kind: Test, Status: Fail, Class: Assertion, Message: "Test " + suite + " FAILED"})
	}
}

func (r *ant) end() { r.flush() }
