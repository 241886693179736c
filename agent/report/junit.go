package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf16"
)

// JUnit's XML as its many producers write it. github.com/joshdk/go-junit was measured against the public reports that the tests
// read: it takes a file whole, knows no UTF-16, drops the file and line of a case, and stops at control characters, which
// test output often holds. encoding/xml expands no entities but XML's own, so that a small file stays small.
var junitFile = fileReader{
	format: "junit", tests: true,
	knows: func(name string, head []byte) bool {
		root := rootElement(head)
		return root == "testsuites" || root == "testsuite"
	},
	read: readJUnit,
}

// maxFile is the size up to which a report file is read.
const maxFile = 64 << 20

var errTooLarge = fmt.Errorf("larger than %d MiB: not read", maxFile>>20)

// text8 makes UTF-8 of a file in UTF-16, which .NET's tools write, and takes a byte order mark off.
func text8(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(b) < 4 || len(b) > maxFile {
		return b
	}
	big := b[0] == 0xfe && b[1] == 0xff || b[0] == 0 && b[1] == '<'
	if !big && !(b[0] == 0xff && b[1] == 0xfe || b[0] == '<' && b[1] == 0) {
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		if big {
			units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
		} else {
			units = append(units, uint16(b[i+1])<<8|uint16(b[i]))
		}
	}
	return bytes.TrimPrefix([]byte(string(utf16.Decode(units))), []byte("\ufeff"))
}

// rootElement is the name of the first element, or empty.
func rootElement(head []byte) string {
	d := newXML(head)
	for {
		t, err := d.RawToken()
		if err != nil {
			return ""
		}
		switch t := t.(type) {
		case xml.StartElement:
			return t.Name.Local
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return ""
			}
		}
	}
}

// newXML reads whatever producers write: control characters, unknown entities and any declared encoding are let pass.
func newXML(b []byte) *xml.Decoder {
	text := clean(string(plainRefs(bytes.ReplaceAll(text8(b), []byte("\r\n"), []byte("\n")))))
	text = strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, text)
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return d
}

// plainRefs writes references to control characters, as in "&#27;", as the characters: XML forbids both, producers write both.
func plainRefs(b []byte) []byte {
	if !bytes.Contains(b, []byte("&#")) {
		return b
	}
	out := make([]byte, 0, len(b))
	for {
		i := bytes.Index(b, []byte("&#"))
		if i < 0 {
			return append(out, b...)
		}
		out, b = append(out, b[:i]...), b[i:]
		end := bytes.IndexByte(b[:min(len(b), 12)], ';')
		if end < 0 {
			out, b = append(out, b[:2]...), b[2:]
			continue
		}
		number, base := string(b[2:end]), 10
		if strings.HasPrefix(strings.ToLower(number), "x") {
			number, base = number[1:], 16
		}
		if n, err := strconv.ParseUint(number, base, 32); err == nil && n < ' ' && n != '\n' && n != '\t' && n != '\r' {
			out, b = append(out, byte(n)), b[end+1:]
			continue
		}
		out, b = append(out, b[:end+1]...), b[end+1:]
	}
}

// eachElement calls fn for every element that is begun. fn may read it to its end; stack are the elements around it.
func eachElement(b []byte, fn func(d *xml.Decoder, e xml.StartElement, stack []xml.StartElement) (done bool, err error)) error {
	if len(b) > maxFile {
		return errTooLarge
	}
	d := newXML(b)
	var stack []xml.StartElement
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(stack) == 0 && d.InputOffset() > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read XML: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			done, err := fn(d, t, stack)
			if err != nil {
				return fmt.Errorf("read XML: %w", err)
			}
			if !done {
				stack = append(stack, t.Copy())
			}
		case xml.EndElement:
			stack = stack[:max(len(stack)-1, 0)]
		}
		if len(stack) > 200 {
			return errors.New("read XML: more than 200 elements deep")
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// junitCase is one testcase.
type junitCase struct {
	Name     string      `xml:"name,attr"`
	Class    string      `xml:"classname,attr"`
	File     string      `xml:"file,attr"`
	Line     string      `xml:"line,attr"`
	Time     string      `xml:"time,attr"`
	Status   string      `xml:"status,attr"`
	Result   string      `xml:"result,attr"`
	Failures []junitSaid `xml:"failure"`
	Errors   []junitSaid `xml:"error"`
	Skipped  *junitSaid  `xml:"skipped"`
}

// junitSaid is what a failure, an error or a skip says.
type junitSaid struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func readJUnit(c *collector, f File) error {
	c.recognise("junit")
	seen := false
	var results, teardowns []Result
	err := eachElement(f.Data, func(d *xml.Decoder, e xml.StartElement, stack []xml.StartElement) (bool, error) {
		switch e.Name.Local {
		case "testcase":
			var t junitCase
			if err := d.DecodeElement(&t, &e); err != nil {
				return false, err
			}
			r := c.junitResult(t, stack)
			if len(t.Errors) > 0 && strings.HasPrefix(t.Errors[0].Message, "failed on teardown with ") {
				teardowns = append(teardowns, r)
			} else if len(results) < maxTests {
				results = append(results, r)
			}
			return true, nil
		case "error", "failure": // of a suite that could not be set up
			var said junitSaid
			if err := d.DecodeElement(&said, &e); err != nil {
				return false, err
			}
			name := suiteName(stack)
			results = append(results, c.junitResult(junitCase{Name: name, Errors: []junitSaid{said}}, nil))
			return true, nil
		case "system-out", "system-err", "properties":
			return true, d.Skip()
		case "testsuite", "testsuites":
			seen = true
		}
		if !seen {
			return false, errors.New("no testsuite in it")
		}
		return false, nil
	})
	failed := map[string]bool{}
	for _, r := range results {
		failed[r.ID] = failed[r.ID] || r.failed()
		c.addFromFile("junit", r)
	}
	for _, r := range teardowns { // pytest tells a test that fails and cannot be torn down twice: its failure is what counts
		if !failed[r.ID] {
			c.addFromFile("junit", r)
		}
	}
	return err
}

func suiteName(stack []xml.StartElement) string {
	for i := len(stack) - 1; i >= 0; i-- {
		if n := attr(stack[i], "name"); n != "" && stack[i].Name.Local == "testsuite" {
			return n
		}
	}
	return "testsuite"
}

// junitResult makes a result of a case, by the words of its producer.
func (c *collector) junitResult(t junitCase, stack []xml.StartElement) Result {
	r := Result{Kind: Test, Status: Pass, File: t.File}
	r.Line, _, _ = digits(t.Line)
	r.Seconds = junitSeconds(t.Time)
	pytest := len(stack) > 0 && attr(stack[len(stack)-1], "name") == "pytest"
	if r.ID = c.junitID(t, stack); pytest {
		r.ID = c.pytestID(t)
		if r.File == "" {
			r.File = pytestFile(r.ID)
		}
		r.Line = 0 // of the function, from 0: not of the failure
	}
	said, broke := junitSaid{}, false
	switch {
	case t.Skipped != nil && t.Skipped.Message == "Unable to find executable": // ctest's word for a test that was not built
		r.Status, r.Class, r.Message = Error, Compile, t.Skipped.Message
		return r
	case t.Skipped != nil && (len(t.Failures)+len(t.Errors) == 0 || t.Skipped.Type == "todo"),
		len(t.Failures)+len(t.Errors) == 0 && (t.Status == "notrun" || t.Status == "skipped" || t.Status == "disabled" || t.Result == "skipped" || t.Result == "suppressed"):
		r.Status = Skip
		if t.Skipped != nil {
			r.Message = strings.TrimSpace(firstWords(t.Skipped.Message, t.Skipped.Text))
		}
		return r
	case len(t.Failures) > 0:
		said = t.Failures[0]
	case len(t.Errors) > 0 && strings.Contains(t.Errors[0].Type, "RiskyTest"): // of PHPUnit, which does not fail for it
		r.Status, r.Message = Skip, "risky"
		return r
	case len(t.Errors) > 0:
		said, broke = t.Errors[0], true
	default:
		return r
	}
	for i := len(stack) - 1; i >= 0 && r.File == ""; i-- {
		if f := attr(stack[i], "file"); isJSFile(f) {
			r.File = f
		}
	}
	c.junitFailure(&r, said, broke, pytest)
	return r
}

func firstWords(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}

func junitSeconds(s string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil || v < 0 || v > 1e9 {
		return 0
	}
	return v
}

// junitID is class.name; where suites are nested names or files of scripts it is "file > suite > name".
func (c *collector) junitID(t junitCase, stack []xml.StartElement) string {
	switch {
	case t.Class == "test" && len(stack) > 0: // node --test-reporter=junit writes this class for every test
		var levels []string
		for _, e := range stack {
			if e.Name.Local == "testsuite" && attr(e, "name") != "" {
				levels = append(levels, attr(e, "name"))
			}
		}
		return strings.Join(append(levels, t.Name), level)
	case t.Class == t.Name || t.Class == "" && len(stack) == 0:
		return strings.TrimSpace(t.Name)
	case t.Name == "": // surefire names no test when a class as a whole failed
		return t.Class
	case isJSFile(t.Class):
		return t.Class + level + t.Name
	case len(stack) > 0 && attr(stack[0], "name") == "nextest-run":
		return rustID(nextestCrate(t.Class), t.Name)
	case t.Class == "":
		return suiteName(stack) + "." + t.Name
	case strings.HasPrefix(t.Name, t.Class+".") || strings.HasPrefix(t.Name, t.Class+" "), strings.HasSuffix(t.Name, " "+t.Class):
		return t.Name
	}
	return t.Class + "." + t.Name
}

// pytestID makes the node id of "tests.test_cart.TestNames" and "test_list": what begins with a capital is a class. The old
// family of the report names the file.
func (c *collector) pytestID(t junitCase) string {
	if t.Class == "" {
		return strings.ReplaceAll(t.Name, ".", "/") + ".py" // a file that could not be collected
	}
	parts := strings.Split(t.Class, ".")
	n := len(parts)
	for n > 1 && parts[n-1] != "" && parts[n-1][0] >= 'A' && parts[n-1][0] <= 'Z' {
		n--
	}
	file := strings.Join(parts[:n], "/") + ".py"
	if t.File != "" {
		file = path.Clean(t.File)
		n = min(n, strings.Count(strings.TrimSuffix(file, ".py"), "/")+1)
	}
	return strings.Join(append(append([]string{file}, parts[n:]...), t.Name), "::")
}

// junitFailure reads what a failing case says, in the words of its language.
func (c *collector) junitFailure(r *Result, said junitSaid, broke, pytest bool) {
	text := cut(strings.ReplaceAll(said.Text, "\r\n", "\n"), maxCapture)
	message := strings.TrimSpace(cut(said.Message, maxMessage))
	lines := strings.Split(text, "\n")
	r.Status, r.Class = Fail, Assertion
	switch {
	case pytest:
		c.junitPytest(r, lines, message, broke)
		return
	case strings.Contains(text, "Traceback (most recent call last):"):
		r.Status, r.Class = junitKind(said, broke)
		c.describeTraceback(r, lines)
		return
	case jsStack(lines) || isJSFile(r.File) || isJSFile(r.ID):
		file := r.File
		if first := said.Type + ": " + message; message != "" && !strings.Contains(text, message) {
			lines = append(strings.Split(first, "\n"), lines...)
		}
		c.describeJS(r, lines)
		r.Message = firstWords(message, r.Message)
		if r.File == "" {
			r.File = file
		}
		if isJSFile(r.ID) {
			ofSuite(r, r.ID)
		}
		return
	}
	r.Status, r.Class = junitKind(said, broke)
	if c.junitLanguage(r, said, lines) {
		return
	}
	r.Message = cut(firstWords(message, strings.TrimSpace(text)), maxMessage)
	r.placed(c.barePlace(lines))
	if r.Class == Assertion {
		if r.Got, r.Want = gotWant(message); r.Got == "" && r.Want == "" {
			r.Got, r.Want = gotWant(text)
		}
	} else {
		r.Trace = strings.TrimSpace(text)
	}
}

// junitLanguage reads a text of Java and its kin, of Rust or of googletest.
func (c *collector) junitLanguage(r *Result, said junitSaid, lines []string) bool {
	text := strings.Join(lines, "\n")
	switch {
	case strings.Contains(text, "\tat ") && strings.Contains(text, ".java:") || strings.Contains(text, "\tat ") && strings.Contains(text, ".kt:"):
		class, _, _ := cutLast(r.ID, ".")
		file := r.File
		javaSays(r, class, lines)
		r.Status = Fail
		if r.Class == Panic || r.Class == Timeout {
			r.Status = Error
		}
		r.File = cmp.Or(r.File, file)
	case strings.HasSuffix(r.File, ".php"):
		c.junitPHP(r, lines)
	case strings.Contains(text, "' panicked at ") || strings.Contains(text, ") panicked at "):
		rustSays(r, lines)
	case strings.HasPrefix(text, "unknown file\n"):
		r.Status, r.Class, r.File, r.Line = Error, Panic, "", 0
		r.Message = strings.TrimSpace(strings.Join(lines[1:], "\n"))
	case len(lines) > 1 && strings.Contains(lines[0], ".c") && r.placed(c.barePlace(lines[:1])):
		r.Got, r.Want = gtestGotWant(lines[1:])
		r.Message = strings.TrimSpace(strings.Join(lines[1:], "\n"))
	default:
		return false
	}
	return true
}

func (r *Result) placed(file string, line int) bool {
	if file != "" {
		r.File, r.Line = file, line
	}
	return file != ""
}

// junitPHP reads PHPUnit's text: the test's name, what it says, its places.
func (c *collector) junitPHP(r *Result, lines []string) {
	r.placed(c.barePlace(lines))
	var message []string
	for i, l := range lines {
		file, _ := c.barePlace(lines[i : i+1])
		if i == 0 && strings.Contains(l, "::") || file != "" {
			continue
		}
		if l == "--- Expected" {
			r.Want, r.Got = minusPlus(lines[i:])
		}
		message = append(message, l)
	}
	r.Message = strings.TrimSpace(strings.Join(message, "\n"))
	if m := phpPair().FindStringSubmatch(r.Message); m != nil && r.Want == "" && r.Class == Assertion && !strings.HasPrefix(m[1], "two ") {
		r.Got, r.Want = m[1], m[2]
	}
}

// barePlace is the last line that is nothing but a file of the tree and a number, as PHPUnit and googletest write it.
func (c *collector) barePlace(lines []string) (file string, line int) {
	for _, l := range lines {
		name, number, ok := cutLast(strings.TrimSpace(l), ":")
		if n, rest, isNumber := digits(number); ok && isNumber && rest == "" && !strings.ContainsAny(name, " \t(") && strings.Contains(name, ".") {
			if rel, mine := c.own(name); mine {
				file, line = rel, n
			}
		}
	}
	return file, line
}

// jsStack reports whether a text has a frame of a script in it.
func jsStack(lines []string) bool {
	for _, l := range lines[:min(len(lines), 200)] {
		if strings.Contains(l, "s:") || strings.Contains(l, "x:") {
			body := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(l, " "), "{"), " ")
			if len(body) < 1000 && jsFrame().MatchString(body) {
				return true
			}
		}
	}
	return false
}

// junitPytest reads pytest's own report: the text is what the console prints of the failure.
func (c *collector) junitPytest(r *Result, lines []string, message string, broke bool) {
	word := "FAILED"
	if broke {
		word = "ERROR"
	}
	b := &pyBlock{title: r.ID}
	for _, l := range lines {
		b.kept.add(l)
	}
	p := &pytest{c: c}
	seconds := r.Seconds
	for _, when := range []string{"failed on setup with ", "failed on teardown with "} {
		if rest, ok := strings.CutPrefix(message, when); ok {
			message = strings.Trim(rest, `"`)
		}
	}
	*r = p.failure(pyLine{word, r.ID, message}, b)
	r.Seconds = seconds
}

// junitKind tells an assertion from an error by the element and by the type, as in "java.lang.AssertionError".
func junitKind(said junitSaid, broke bool) (Status, Class) {
	name := said.Type[strings.LastIndexAny(said.Type, `.\:`)+1:]
	switch {
	case strings.Contains(name, "Timeout") || strings.Contains(name, "TimedOut"):
		return Error, Timeout
	case strings.Contains(name, "Assert") || strings.Contains(name, "Expectation") || strings.HasPrefix(name, "Comparison"):
		return Fail, Assertion
	case strings.HasSuffix(name, "ClassNotFoundException") || strings.HasSuffix(name, "NoClassDefFoundError"):
		return Error, MissingDependency
	case broke:
		return Error, Panic
	}
	return Fail, Assertion
}
