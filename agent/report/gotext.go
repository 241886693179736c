package report

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// report is one "--- FAIL: TestX/sub (0.01s)" line.
type reportLine struct {
	indent  int
	status  Status
	name    string
	seconds float64
}

var reportWords = map[string]Status{"PASS": Pass, "FAIL": Fail, "SKIP": Skip, "BENCH": Pass}

func parseReport(line string) (r reportLine, ok bool) {
	body := strings.TrimLeft(line, " ")
	r.indent = (len(line) - len(body)) / 4
	body, ok = strings.CutPrefix(body, "--- ")
	if !ok {
		return r, false
	}
	word, rest, _ := strings.Cut(body, ": ")
	if reportWords[word] == "" || len(word) == len(body) {
		return r, false
	}
	r.status = reportWords[word]
	name, secs, _ := strings.Cut(rest, " (")
	r.name = strings.TrimSpace(name)
	r.seconds, _ = parseSeconds(strings.TrimSuffix(secs, ")"))
	return r, r.name != "" && !strings.Contains(r.name, " ")
}

// parseSeconds reads "0.01s" and the "0.01 seconds" of old releases.
func parseSeconds(s string) (float64, bool) {
	num, ok := strings.CutSuffix(s, " seconds")
	if !ok {
		num, ok = strings.CutSuffix(s, "s")
	}
	v, err := strconv.ParseFloat(num, 64)
	if !ok || err != nil || v < 0 || v > 1e9 {
		return 0, false
	}
	return v, true
}

// text is where the reading of one package's text stands.
type text struct {
	test  *test   // whose output the next line is
	stack []*test // reports at each indent, while their indented lines follow
}

// textLine takes in a line that is no JSON event, as text and as bytes.
func (s *stream) textLine(line string, raw []byte) {
	s.keepTail(raw)
	if s.vetJSON != nil || line == "{" && s.cur == nil {
		s.vetJSONLine(line)
		return
	}
	if sum, ok := parseSummary(line); ok && s.unclosed == 0 {
		s.textSummary(sum)
		return
	}
	if s.unclosed > 0 || !s.testLine(line) {
		s.otherLine(line, raw)
	}
}

func (s *stream) textSummary(sum summary) {
	if s.cur == nil {
		s.newTextPkg()
	}
	s.block = nil
	s.end(s.cur, sum)
	s.cur, s.at = nil, text{}
}

// closeText ends a package whose summary never came, as when a test binary was run by hand.
func (s *stream) closeText() {
	if s.vetJSON != nil {
		s.vetJSONLine("}")
	}
	if s.cur != nil {
		s.end(s.cur, summary{status: map[string]Status{"PASS": Pass, "FAIL": Fail}[s.cur.last]})
	}
	s.cur, s.at, s.block = nil, text{}, nil
}

// testLine takes in what the testing package prints around tests, and reports whether it was that.
func (s *stream) testLine(line string) bool {
	if rest, ok := strings.CutPrefix(line, "=== "); ok {
		return s.updateLine(rest)
	}
	if r, ok := parseReport(line); ok {
		s.reportLine(r)
		return true
	}
	if r, ok := s.lateReport(line); ok {
		s.reportLine(r)
		return true
	}
	if line == "PASS" || line == "FAIL" {
		if s.cur != nil || line == "PASS" { // a lone FAIL is the go command's last word
			s.openText().said(line)
			s.at = text{}
		}
		return true
	}
	return false
}

// lateReport finds a report that a test's unfinished line of output stands before: "no newline--- PASS: TestX (0.00s)".
func (s *stream) lateReport(line string) (r reportLine, ok bool) {
	if !strings.HasSuffix(line, ")") || !strings.Contains(line, "--- ") {
		return r, false
	}
	i := strings.LastIndex(line, "--- ")
	if i <= 0 {
		return r, false
	}
	if r, ok = parseReport(line[i:]); !ok {
		return r, false
	}
	if s.cur == nil {
		return r, r.status == Fail
	}
	t := s.cur.tests[r.name]
	return r, t != nil && t.status == "" || t == nil && !s.cur.verbose
}

func (s *stream) newTextPkg() {
	s.cur = newPkg("")
	s.cur.verbose = verboseGoTest.MatchString(s.run.Command)
	s.addPkg(s.cur)
	s.sawText, s.block = true, nil
}

var verboseGoTest = regexp.MustCompile(`\bgo test (?:[^;&|\n]* )?-(?:test\.)?v\b`)

func (s *stream) openText() *pkg {
	if s.cur == nil {
		s.newTextPkg()
		s.at = text{}
	}
	return s.cur
}

func (s *stream) updateLine(rest string) bool {
	word, name, _ := strings.Cut(rest, " ")
	name = strings.TrimSpace(name)
	if name == "" && word != "NAME" {
		return false
	}
	switch word {
	case "RUN":
		p := s.openText()
		p.verbose = true
		s.at = text{test: s.started(p, name)}
	case "PAUSE", "CONT", "NAME":
		p := s.openText()
		s.at = text{}
		if name == "" {
			return true
		}
		t := s.named(p, name)
		t.paused = word == "PAUSE"
		s.at.test = t
	case "ATTR", "ARTIFACTS":
	default:
		return false
	}
	return true
}

func (s *stream) reportLine(r reportLine) {
	p := s.openText()
	t := s.named(p, r.name)
	if t.status != "" && r.indent == 0 { // run again by -count
		t = s.begin(p, r.name)
	}
	p.ended(t, worst(t.status, r.status), r.seconds)
	depth := min(r.indent, len(s.at.stack))
	s.at = text{test: t, stack: append(s.at.stack[:depth:depth], t)}
}

// worst of two statuses that one test was given: a fuzz target and its failing input share a name.
func worst(a, b Status) Status {
	for _, st := range []Status{Error, Fail, Pass, Skip} {
		if a == st || b == st {
			return st
		}
	}
	return b
}

// otherLine is output of a test, or a line of the go command or of whatever else ran.
func (s *stream) otherLine(line string, raw []byte) {
	if s.cur == nil || s.unclosed > 0 {
		if s.goLine(line) {
			return
		}
	}
	if s.cur == nil {
		if s.loose.addLine(raw) && s.unclosed == 0 { // a crash before any test was announced
			s.openText().out.merge(&s.loose)
			s.cur.crashed = nil
		}
		return
	}
	s.cur.said(line)
	if s.cur.exit != line {
		s.cur.printLine(s.owner(line), raw)
	}
}

// owner is the test that a line of output belongs to: below a report that is the test whose indent it has, and a
// continuation line belongs to whoever logged the line before it.
func (s *stream) owner(line string) *test {
	indent := (len(line) - len(strings.TrimLeft(line, " "))) / 4
	if _, _, ok := logPrefix(line); ok && indent > 0 && indent <= len(s.at.stack) {
		s.at.test = s.at.stack[indent-1]
	}
	if !s.cur.verbose && indent == 0 && line != "" && (s.at.test == nil || !strings.HasPrefix(s.at.test.name, "Example")) {
		s.at.test = nil // without -v what tests printed is not told apart
	}
	return s.at.test
}

// keepTail keeps the last lines of the output, at least 4 KiB of them where there are so many.
func (s *stream) keepTail(raw []byte) {
	s.tail = append(append(s.tail, raw[:min(len(raw), maxMessage)]...), '\n')
	if len(s.tail) > 16*maxMessage {
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-maxMessage:]...)
	}
}

// lastLines are whole lines from the end of the output, at most n bytes.
func lastLines(tail []byte, n int) string {
	if len(tail) > n {
		tail = tail[len(tail)-n:]
		if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
			tail = tail[i+1:]
		}
	}
	return strings.TrimSpace(cut(clean(string(tail)), n))
}
