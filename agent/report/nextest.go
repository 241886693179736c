package report

import (
	"regexp"
	"strings"
	"sync"
)

// nextestReader reads cargo-nextest's own lines; what libtest says inside of them is left to it.
var nextestReader = textReader{
	format: "nextest", tests: true,
	wakes: []string{" Nextest run ", "nextest profile: "},
	start: func(c *collector) lineReader { return &nextest{c: c} },
}

type nextest struct {
	c     *collector
	test  *Result
	out   said
	begun bool
	ended bool
}

var nextestLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *(?:TRY \d+ )?(PASS|FAIL|LEAK|FLAKY|ABORT|SIG[A-Z]+|TIMEOUT|TMT|SIGNAL|TERMINATING|LEAK-FAIL|XFAIL) \[ *([\d.]+)s\](?: \([ \d]+/[ \d]+\))? +(\S+) (\S+)$`)
})

func (r *nextest) line(line string) {
	switch {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "Summary ["):
		r.flush()
		_, told, _ := strings.Cut(line, "] ")
		r.ended, r.c.ran = true, r.c.ran || number(told) > 0 // no test is named where the status level is low
		return
	case strings.Contains(line, "s] "):
		if m := nextestLine().FindStringSubmatch(line); m != nil {
			r.flush()
			r.begin(m[1], m[2], m[3], m[4])
			return
		}
	case strings.HasPrefix(line, "error: no tests to run"):
		r.c.mark(NoTests)
	case strings.Contains(line, "Starting ") && strings.Contains(line, " across "):
		r.begun, r.ended = true, false
		r.c.recognise("nextest")
		return
	}
	if r.test != nil {
		r.out.add(strings.TrimPrefix(line, "    "))
	}
}

func (r *nextest) begin(status, secs, binary, test string) {
	res := Result{ID: rustID(nextestCrate(binary), test), Kind: Test, Status: Fail, Class: Assertion, Seconds: seconds(secs + " s")}
	switch status {
	case "PASS", "LEAK", "FLAKY":
		res.Status, res.Class = Pass, ""
	case "TIMEOUT", "TMT", "TERMINATING":
		res.Class = Timeout
	case "FAIL", "LEAK-FAIL", "XFAIL":
	default:
		res.Status, res.Class, res.Message = Error, Panic, "the test's process ended: "+status
	}
	r.test = &res
}

// nextestCrate is the crate that a binary id names: "shop-cart" for a library, "shop-cart::whole" for tests/whole.rs,
// "shop-cart::bin/tool" for a program (https://nexte.st/docs/glossary/#binary-id).
func nextestCrate(id string) string {
	if _, rest, ok := cutLast(id, "::"); ok {
		id = rest
	}
	if _, rest, ok := cutLast(id, "/"); ok {
		id = rest
	}
	return strings.ReplaceAll(id, "-", "_")
}

func (r *nextest) flush() {
	if r.test == nil {
		return
	}
	lines := r.out.take()
	if r.test.failed() && len(lines) > 0 {
		was := *r.test
		rustSays(r.test, lines)
		if was.Message != "" {
			r.test.Message = strings.TrimSpace(was.Message + "\n" + r.test.Message)
			r.test.Class = was.Class
		}
		if r.test.Got == "" && was.Class == Timeout {
			r.test.Class = Timeout
		}
	}
	r.c.add("nextest", *r.test)
	r.test = nil
}

func (r *nextest) end() {
	r.flush()
	if r.begun && !r.ended {
		r.c.partial = true
		r.c.note("nextest's summary is missing")
	}
	r.begun = false
}
