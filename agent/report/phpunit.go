package report

import (
	"regexp"
	"strings"
	"sync"
)

// phpunitReader reads PHPUnit's progress output.
var phpunitReader = textReader{
	format: "phpunit", tests: true,
	wakes: []string{"PHPUnit "},
	start: func(c *collector) lineReader { return &phpunit{c: c} },
}

type phpunit struct {
	c       *collector
	section string // "failure", "error", "warning", "skipped test", …
	test    *Result
	out     said
	begun   bool
	ended   bool
}

var (
	phpSection = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^There (?:was|were) \d+ (.*?)s?:$`)
	})
	phpTest  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+\) (\S+::.*)$`) })
	phpPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S.*\.php):(\d+)$`) })
	phpPair  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)Failed asserting that (?:actual size )?(.*?) (?:is identical to|matches expected(?: size)?|is equal to|equals) (.*?)\.(?:\n|$)`)
	})
)

func (r *phpunit) line(line string) {
	switch {
	case strings.HasPrefix(line, "PHPUnit ") && strings.Contains(line, " by Sebastian Bergmann"):
		r.unended()
		r.begun, r.ended = true, false
		r.c.recognise("phpunit")
	case strings.HasPrefix(line, "OK ("), strings.HasPrefix(line, "Tests: "), strings.HasPrefix(line, "OK, but "):
		r.flush()
		r.ended, r.section = true, ""
		r.c.ran = r.c.ran || number(line) > 0
	case strings.HasPrefix(line, "No tests executed!"):
		r.ended = true
	case strings.HasPrefix(line, "There "):
		if m := phpSection().FindStringSubmatch(line); m != nil {
			r.flush()
			r.section = m[1]
		}
	case line == "--" || line == "FAILURES!" || line == "ERRORS!":
		r.flush()
	default:
		r.inSection(line)
	}
}

func (r *phpunit) inSection(line string) {
	if r.section == "" {
		return
	}
	if m := phpTest().FindStringSubmatch(line); m != nil {
		r.flush()
		r.test = &Result{ID: phpID(m[1]), Kind: Test}
		switch r.section {
		case "failure":
			r.test.Status, r.test.Class = Fail, Assertion
		case "error":
			r.test.Status, r.test.Class = Error, Panic
		case "skipped test", "incomplete test":
			r.test.Status = Skip
		default:
			r.test = nil // risky ones, warnings and notices failed nothing of their own
		}
		return
	}
	if r.test != nil {
		r.out.add(line)
	}
}

// phpID is the id that PHPUnit's JUnit file gives: class and name with a dot, a data set without its values.
func phpID(name string) string {
	class, method, _ := strings.Cut(name, "::")
	if i := strings.Index(method, " with data set "); i >= 0 {
		if j := strings.Index(method[i:], " ("); j > 0 {
			method = method[:i+j]
		}
	}
	return class + "." + method
}

func (r *phpunit) flush() {
	if r.test == nil {
		return
	}
	var message []string
	lines := r.out.take()
	for i, l := range lines {
		if m := phpPlace().FindStringSubmatch(l); m != nil {
			if r.test.File == "" || strings.HasSuffix(m[1], "Test.php") {
				r.test.File, r.test.Line = m[1], number(m[2])
			}
			continue
		}
		if l == "--- Expected" {
			r.test.Want, r.test.Got = minusPlus(lines[i:])
		}
		message = append(message, l)
	}
	r.test.Message = strings.TrimSpace(strings.Join(message, "\n"))
	if m := phpPair().FindStringSubmatch(r.test.Message); m != nil && r.test.Want == "" && !strings.HasPrefix(m[1], "two ") {
		r.test.Got, r.test.Want = m[1], m[2]
	}
	r.c.add("phpunit", *r.test)
	r.test = nil
}

func (r *phpunit) unended() {
	r.flush()
	if r.begun && !r.ended {
		r.c.partial = true
		r.c.note("PHPUnit's summary is missing")
	}
	r.begun = false
}

func (r *phpunit) end() { r.unended() }

// phpReader reads what the interpreter says of a file that it cannot parse, and of an error that nobody caught.
var phpReader = textReader{
	format: "php",
	wakes:  []string{"PHP Fatal error: ", "PHP Parse error: "},
	start:  func(c *collector) lineReader { return php{c} },
}

type php struct{ c *collector }

var phpFatal = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^PHP (?:Fatal|Parse) error:  (.*) in (\S+?)(?::| on line )(\d+)$`)
})

func (r php) line(line string) {
	if !strings.HasPrefix(line, "PHP ") {
		return
	}
	m := phpFatal().FindStringSubmatch(line)
	if m == nil {
		return
	}
	res := Result{ID: r.c.places.relative(m[2]), Kind: Build, Status: Error, Class: Panic, File: m[2], Line: number(m[3]), Message: m[1]}
	if strings.Contains(line, "Parse") {
		res.Class = Compile
	}
	r.c.add("php", res)
}

func (r php) end() {}
