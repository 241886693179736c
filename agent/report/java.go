package report

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// javaGotWant reads got and want out of what the assertion libraries of Java print.
func javaGotWant(text string) (got, want string) {
	for _, p := range javaPairs() {
		if m := p.FindStringSubmatch(text); m != nil {
			return m[2], m[1]
		}
	}
	return "", ""
}

// Want stands first in all of them: JUnit 4 and 5, Hamcrest, AssertJ (old and new), TestNG, Truth.
var javaPairs = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?s)expected: ?<(.*?)> but was: ?<(.*?)>(?:\n|$)`),
		regexp.MustCompile(`(?s)expected: ?(?:[\w.$]+)?<(.*?)> but was: ?(?:[\w.$]+)?<(.*?)>`),
		regexp.MustCompile(`(?s)Expected: (.*?)\n +but: (?:was )?(.*?)(?:\n\s*at |\n\n|$)`),
		regexp.MustCompile(`(?s)[Ee]xpected: ?(.*?)\n *but was ?: ?(.*?)(?:\n\s*at |\n\n|$)`),
		regexp.MustCompile(`(?s)expected \[(.*?)\] but found \[(.*?)\]`),
	}
})

// javaSays fills in a failing test from its exception's lines: message, class, place, trace.
func javaSays(res *Result, class string, lines []string) {
	var message []string
	trace := -1
	for i, l := range lines {
		t := strings.TrimLeft(l, " \t")
		if strings.HasPrefix(t, "at ") || strings.HasPrefix(t, "Caused by: ") || t == "..." {
			trace = i
			break
		}
		message = append(message, l)
	}
	res.Message = strings.TrimSpace(strings.Join(message, "\n"))
	if trace >= 0 {
		res.Trace = strings.TrimSpace(strings.Join(lines[trace:], "\n"))
		res.File, res.Line = javaPlace(class, lines[trace:])
	}
	res.Got, res.Want = javaGotWant(res.Message)
	res.Class = javaClass(res.Message)
	if res.Class == Panic {
		res.Status = Error
	}
}

// javaClass tells an assertion that did not hold from an exception of any other kind, by the exception's name.
func javaClass(message string) Class {
	first, _, _ := strings.Cut(message, "\n")
	name, _, _ := strings.Cut(strings.TrimSpace(first), " ")
	switch {
	case hasAny(name, "TestTimedOut", "TimeoutException") || strings.Contains(first, "test timed out after"):
		return Timeout
	case hasAny(name, "AssertionError", "AssertionFailedError", "ComparisonFailure", "MultipleFailuresError", "AssertionError:", "ConditionNotSatisfied", "PowerAssertionError"):
		return Assertion
	case hasAny(name, "Exception", "Error", "Throwable"):
		return Panic
	}
	return Assertion
}

var javaFrame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*at (?:[\w.@-]*/+)*([\w.$]+)\.[\w$<>]+\(([\w$]+\.(?:java|kt|groovy|scala)):(\d+)\)`)
})

// javaPlace is where the test class itself stands in a trace, else the first frame that no library owns. Only the folders of
// the package are known, not the source folder that they lie in.
func javaPlace(class string, trace []string) (file string, line int) {
	class, _, _ = strings.Cut(class, "$")
	for _, l := range trace {
		m := javaFrame().FindStringSubmatch(l)
		if m == nil {
			continue
		}
		owner, _, _ := strings.Cut(m[1], "$")
		if owner != class && (file != "" || isJavaLibrary(owner)) {
			continue
		}
		file, line = path.Join(strings.ReplaceAll(path.Dir(strings.ReplaceAll(owner, ".", "/")), "\\", "/"), m[2]), number(m[3])
		if owner == class {
			break
		}
	}
	return file, line
}

func isJavaLibrary(class string) bool {
	for _, p := range []string{"java.", "javax.", "jdk.", "sun.", "org.junit.", "junit.", "org.opentest4j.", "org.assertj.", "org.hamcrest.", "org.testng.", "org.mockito.", "org.gradle.", "org.apache.maven.", "groovy.", "kotlin.", "com.google.common.truth."} {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return false
}

// surefireReader reads the console of Maven's surefire and failsafe, old and new.
var surefireReader = textReader{
	format: "surefire", tests: true,
	wakes: []string{" T E S T S", "Tests run: ", "Could not resolve dependencies", "BUILD FAILURE", "Crashed tests:", ": No tests matching"},
	start: func(c *collector) lineReader { return &surefire{c: c, seen: map[string]bool{}} },
}

type surefire struct {
	c       *collector
	class   string // of the last "Tests run:" line that ended a class
	test    *Result
	owner   string // class of test
	out     said
	crashed bool // the next line names a class whose JVM ended
	listing bool // inside "Failed tests:" and the like, or "Results:"
	status  Status
	seen    map[string]bool // "Simple.method" of what was told in detail
}

// mavenLine takes Maven's level off a line.
func mavenLine(line string) (text, level string) {
	at := strings.TrimLeft(line, "0123456789") // slf4j's simple logger may put milliseconds before
	if at != line {
		at = strings.TrimPrefix(at, " ")
	}
	for _, l := range []string{"[ERROR]", "[INFO]", "[WARNING]", "[FATAL]"} {
		if rest, ok := strings.CutPrefix(at, l); ok {
			return strings.TrimPrefix(rest, " "), l
		}
	}
	return line, ""
}

func (r *surefire) line(raw string) {
	line, level := mavenLine(raw)
	switch {
	case strings.HasPrefix(line, "Tests run: "):
		r.flush()
		r.counts(line)
	case strings.HasSuffix(line, "<<< FAILURE!") || strings.HasSuffix(line, "<<< ERROR!"):
		r.flush()
		r.begin(line)
	case r.test != nil:
		if strings.TrimSpace(line) == "" && (len(r.out.lines) > 0 && strings.HasPrefix(strings.TrimLeft(r.out.lines[len(r.out.lines)-1], " \t"), "at ") || level != "") || level == "[INFO]" {
			r.flush()
			return
		}
		r.out.add(line)
	default:
		r.summary(line)
	}
}

// counts reads "Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.1 s <<< FAILURE! -- in com.example.CartTest".
func (r *surefire) counts(line string) {
	r.c.recognise("surefire")
	r.listing = false
	if i := strings.LastIndex(line, " in "); i >= 0 && strings.Contains(line, "Time elapsed") {
		r.class = strings.TrimSpace(line[i+len(" in "):])
	}
	skipped := 0
	if s, ok := between(line+",", "Skipped: ", ","); ok {
		skipped = number(s)
	}
	r.c.ran = r.c.ran || number(line) > skipped
}

// begin reads the line that names one test that failed: "equal(com.example.CartTest)  Time elapsed: 0.1 sec  <<< FAILURE!",
// "equal  Time elapsed: …" or "com.example.CartTest.equal -- Time elapsed: …".
func (r *surefire) begin(line string) {
	name, rest, ok := strings.Cut(line, "Time elapsed: ")
	if !ok {
		return
	}
	name, full := strings.CutSuffix(strings.TrimSpace(name), "--") // plugins since 3.0 name a test in full
	name = strings.TrimSpace(name)
	res := Result{Kind: Test, Status: Fail, Class: Assertion}
	if strings.HasSuffix(line, "ERROR!") {
		res.Status = Error
	}
	secs, _, _ := strings.Cut(rest, "<<<")
	res.Seconds = seconds(strings.Replace(secs, " sec", " s", 1))
	class, method := r.class, name
	if open := strings.LastIndexByte(name, '('); open >= 0 && strings.HasSuffix(name, ")") && strings.Contains(name[open:], ".") {
		class, method = name[open+1:len(name)-1], name[:open]
	} else if rest, ok := strings.CutPrefix(name, r.class); ok && r.class != "" && (rest == "" || rest[0] == '.') {
		method = strings.TrimPrefix(rest, ".")
	} else if full {
		class, method = javaMethod(name)
	}
	res.ID = join(class, method)
	if method == "" || method == class {
		res.ID = class
	}
	r.owner = class
	r.seen[strings.TrimPrefix(path.Ext("."+class), ".")+"."+method] = true
	r.test = &res
}

// javaMethod parts a full name into class and method, whose parameters may hold dots.
func javaMethod(name string) (class, method string) {
	end := strings.IndexAny(name, "([{ ")
	if end < 0 {
		end = len(name)
	}
	if i := strings.LastIndexByte(name[:end], '.'); i > 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func (r *surefire) flush() {
	if r.test == nil {
		return
	}
	status := r.test.Status
	javaSays(r.test, r.owner, r.out.take())
	if status == Error && r.test.Class == Assertion {
		r.test.Class = Panic
	}
	r.test.Status = status
	r.c.add("surefire", *r.test)
	r.test = nil
}

// summary reads the listing at the end, which is all there is when the reports were kept off the console.
func (r *surefire) summary(line string) {
	switch t := strings.TrimSpace(line); {
	case t == "Failed tests:" || t == "Failures:":
		r.listing, r.status = true, Fail
	case t == "Tests in error:" || t == "Errors:":
		r.listing, r.status = true, Error
	case strings.HasPrefix(line, "No tests matching pattern "), strings.Contains(line, ": No tests "), strings.HasPrefix(line, "No tests were executed!"):
		r.c.mark(NoTests)
		r.c.recognise("surefire")
	case strings.HasPrefix(t, "Crashed tests:"):
		r.crashed = true
	case r.crashed:
		r.crash(t)
	case strings.Contains(line, "Could not resolve dependencies"), strings.Contains(line, "Could not find artifact "), strings.Contains(line, "could not be resolved"):
		r.c.mark(MissingDependency)
		r.c.recognise("maven")
	case strings.HasPrefix(t, "Results") || t == "":
		r.listing = r.listing && t == ""
	case r.listing && strings.HasPrefix(line, "  "):
		r.listed(t)
	}
}

// crash is a test class whose JVM ended before its tests did; surefire says so several times.
func (r *surefire) crash(class string) {
	r.crashed = false
	if class != "" && !strings.ContainsAny(class, " \t") && !r.seen[class] {
		r.seen[class] = true
		r.c.add("surefire", Result{ID: class, Kind: Test, Status: Error, Class: Panic, Message: "the JVM ended before the tests of this class did"})
	}
}

var listedTest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([\w$]+)\.([\w$]+(?:\[[^\]]*\])?)(?::(\d+))?(?:->\S+)?(?:[ :»]+(.*))?$`)
})

func (r *surefire) listed(line string) {
	m := listedTest().FindStringSubmatch(line)
	if m == nil || r.seen[m[1]+"."+m[2]] || r.toldOf(m[1], m[2]) {
		return
	}
	res := Result{ID: m[1] + "." + m[2], Kind: Test, Status: r.status, Class: Assertion, Message: m[4], File: m[1] + ".java", Line: number(m[3])}
	if r.status == Error {
		res.Class = Panic
	}
	res.Got, res.Want = javaGotWant(m[4])
	r.c.add("surefire", res)
}

// toldOf reports whether a test of that simple class and method, any parameters left out, was told in detail.
func (r *surefire) toldOf(class, method string) bool {
	method, _, _ = strings.Cut(method, "[")
	for s := range r.seen {
		if strings.HasPrefix(s, class+"."+method) || s == class+"." || strings.HasPrefix(s, class+"$") || strings.HasSuffix(s, "."+method) {
			return true
		}
	}
	return false
}

func (r *surefire) end() {
	r.flush()
	r.listing = false
}
