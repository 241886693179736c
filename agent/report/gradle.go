package report

import (
	"strings"
)

// gradleReader reads what gradle's test task logs.
var gradleReader = textReader{
	format: "gradle", tests: true,
	wakes: []string{" FAILED", " PASSED", "> Task :", " tests completed, ", "BUILD FAILED in "},
	start: func(c *collector) lineReader { return &gradle{c: c} },
}

type gradle struct {
	c     *collector
	test  *Result
	owner string
	out   said
}

func (r *gradle) line(line string) {
	if r.test != nil {
		if strings.HasPrefix(line, "    ") || line == "" && len(r.out.lines) == 0 {
			r.out.add(strings.TrimPrefix(line, "    "))
			return
		}
		r.flush()
	}
	switch {
	case line == "" || line[0] == ' ':
	case strings.HasPrefix(line, "> Task :") || strings.HasPrefix(line, ":"):
		if hasAny(line, ":test", "Test") {
			r.c.recognise("gradle")
		}
	case strings.Contains(line, " tests completed, ") || strings.Contains(line, " test completed, "):
		r.c.recognise("gradle")
		r.c.ran = r.c.ran || number(line) > 0
	case strings.Contains(line, "Could not resolve all "), strings.Contains(line, "> Could not resolve "), strings.Contains(line, "> Could not find "):
		r.c.mark(MissingDependency)
	default:
		r.event(line)
	}
}

// event reads "com.example.CartTest > equal FAILED"; suites of JUnit 5 nest, and a granularity of gradle's own may stand before.
func (r *gradle) event(line string) {
	name, word, ok := cutLast(line, " ")
	if !ok || !strings.Contains(name, " > ") || word != "FAILED" && word != "PASSED" && word != "SKIPPED" {
		return
	}
	parts := strings.Split(name, " > ")
	for len(parts) > 1 && (strings.HasPrefix(parts[0], "Gradle Test ") || strings.HasPrefix(parts[0], "Gradle suite") || strings.HasPrefix(parts[0], ":")) {
		parts = parts[1:]
	}
	if len(parts) < 2 {
		return
	}
	r.owner = parts[0]
	id := parts[0] + "." + strings.Join(parts[1:], " > ")
	if last := parts[len(parts)-1]; strings.Contains(last, "."+parts[0]+".") { // a parameterised test may be named in full
		id = last
	}
	r.test = &Result{
		ID: id, Kind: Test,
		Status: map[string]Status{"FAILED": Fail, "PASSED": Pass, "SKIPPED": Skip}[word],
	}
}

func (r *gradle) flush() {
	if r.test == nil {
		return
	}
	lines := r.out.take()
	if r.test.Status == Fail {
		javaSays(r.test, r.owner, lines)
		r.short(lines)
		r.test.Status = Fail
	}
	r.c.add("gradle", *r.test)
	r.test = nil
}

// short reads the short form of an exception: its name and "at CartTest.java:19", with no message at all.
func (r *gradle) short(lines []string) {
	for _, l := range lines {
		name, place, ok := strings.Cut(l, " at ")
		if !ok || strings.Contains(place, " ") || r.test.File != "" {
			continue
		}
		if file, n, ok := filePlace(place); ok && strings.TrimSpace(name) != "" && !strings.HasPrefix(strings.TrimSpace(name), "at ") {
			r.test.File, r.test.Line = javaFileOf(r.owner, file), n
		}
	}
}

// javaFileOf puts a file's name into the folders of the package of the class.
func javaFileOf(class, file string) string {
	if i := strings.LastIndexByte(class, '.'); i > 0 && !strings.Contains(class, " ") {
		return strings.ReplaceAll(class[:i], ".", "/") + "/" + file
	}
	return file
}

func (r *gradle) end() { r.flush() }
