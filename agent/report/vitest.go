package report

import (
	"strconv"
	"strings"
)

var vitestReader = textReader{
	format: "vitest", tests: true,
	runs:  vitestNames,
	wakes: []string{" RUN  v", " FAIL  ", " Test Files  ", "No test files found, exiting with code"},
	start: func(c *collector) lineReader { return &vitest{c: c} },
	when: func(_ Run, l string) bool {
		body := strings.TrimLeft(l, " ")
		return len(l) > len(body) && (strings.HasPrefix(body, "RUN  v") || strings.HasPrefix(body, "FAIL  ") || strings.HasPrefix(body, "Test Files  ")) ||
			strings.HasPrefix(l, "No test files found, exiting with code")
	},
}

var vitestNames = []string{"vitest"}

// vitest reads the default, verbose and dot reporters: the failures are told the same way by each.
type vitest struct {
	c         *collector
	ids       []string // whose error follows: several tests share one when their errors are equal
	kept      headTail
	unhandled bool
	ended     bool
	began     bool
	failed    int
}

func (v *vitest) line(l string) {
	body := strings.TrimSpace(l)
	switch {
	case strings.HasPrefix(l, " RUN  v"):
		v.c.recognise("vitest")
		v.began, v.ended = true, false
	case strings.HasPrefix(body, "FAIL  ") && l[0] == ' ':
		if len(v.kept.head) > 0 {
			v.close()
		}
		v.c.recognise("vitest")
		v.ids = append(v.ids, vitestID(strings.TrimPrefix(body, "FAIL  ")))
	case strings.HasPrefix(l, "⎯⎯"):
		v.close()
		v.unhandled = strings.Contains(l, "Unhandled Error") || strings.Contains(l, "Unhandled Rejection") || strings.Contains(l, "Uncaught Exception")
		if v.unhandled && strings.Count(l, "⎯") < 60 && !strings.Contains(l, "Unhandled Errors") {
			v.ids = []string{"[vitest]"}
		}
	case strings.HasPrefix(body, "Test Files  "):
		v.close()
		v.c.recognise("vitest")
	case strings.HasPrefix(body, "Tests  ") && l[0] == ' ':
		v.total(body)
	case strings.HasPrefix(l, "No test files found, exiting with code"):
		v.c.recognise("vitest")
		v.c.mark(NoTests)
		v.ended = true
	case len(v.ids) > 0:
		if body != "" || len(v.kept.head) > 0 {
			v.kept.add(l)
		}
	case strings.HasPrefix(l, " "):
		v.tree(body)
	}
}

// vitestID takes the project's name off "|unit| a.test.ts > suite > test", and off " unit  a.test.ts > test" where it was in colour.
func vitestID(s string) string {
	s = strings.TrimSpace(s)
	if project, rest, ok := strings.Cut(s, "  "); ok && !strings.Contains(project, level) {
		if file, _, _ := strings.Cut(rest, " "); isJSFile(file) {
			return rest
		}
	}
	if strings.HasPrefix(s, "|") {
		if _, rest, ok := strings.Cut(s[1:], "| "); ok {
			s = strings.TrimSpace(rest)
		}
	}
	return s
}

// tree reads the verbose reporter's "✓ a.test.js > suite > test 12ms".
func (v *vitest) tree(body string) {
	mark, name, _ := strings.Cut(body, " ")
	st := map[string]Status{"✓": Pass, "√": Pass, "↓": Skip}[mark]
	file, _, found := strings.Cut(name, level)
	if st == "" || !found || !isJSFile(vitestID(file)) {
		return
	}
	name = strings.TrimRight(name, " ")
	if st == Skip {
		name, _, _ = strings.Cut(name, " [") // the reason
	} else {
		name = withoutDuration(withoutTurns(name))
	}
	v.c.add("vitest", Result{ID: vitestID(name), Kind: Test, Status: st, File: vitestID(file)})
}

// withoutTurns takes off what says how often a test was run: "(retry x1)", "(repeat x2)", or both.
// https://github.com/vitest-dev/vitest/blob/main/packages/vitest/src/node/reporters/base.ts
func withoutTurns(name string) string {
	for _, word := range []string{" (repeat x", " (retry x"} {
		if before, rest, ok := cutLast(name, word); ok && isNumber(strings.TrimSuffix(strings.TrimSuffix(rest, ")"), ",")) {
			name = before
		}
	}
	return name
}

// withoutDuration takes off " 12ms"; a quick test takes 0 of them.
func withoutDuration(name string) string {
	if before, last, ok := cutLast(name, " "); ok && strings.HasSuffix(last, "ms") && isNumber(strings.TrimSuffix(last, "ms")) {
		return strings.TrimRight(before, " ")
	}
	return name
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// close makes a result of each test that the read error is about.
func (v *vitest) close() {
	lines := v.kept.lines()
	for _, id := range v.ids {
		file, _, test := strings.Cut(id, level)
		r := Result{ID: id, Kind: Test, File: file}
		v.c.describeJS(&r, lines)
		if name, _, suite := strings.Cut(id, " [ "); suite && !test {
			file = name
			ofSuite(&r, name)
			if r.Class == MissingDependency {
				v.c.mark(MissingDependency)
			}
		}
		if r.File == "" && isJSFile(file) {
			r.File = file
		}
		v.failed++
		v.c.add("vitest", r)
	}
	v.ids, v.kept = nil, headTail{}
}

// total reads "Tests  1 failed | 1 passed (2)".
func (v *vitest) total(body string) {
	ran, failed := 0, 0
	rest, _, _ := strings.Cut(strings.TrimPrefix(body, "Tests  "), "(")
	for _, part := range strings.Split(rest, "|") {
		f := strings.Fields(part)
		if len(f) != 2 {
			continue
		}
		n, err := strconv.Atoi(f[0])
		if err != nil {
			return
		}
		switch f[1] {
		case "passed":
			ran += n
		case "failed":
			ran, failed = ran+n, n
		}
	}
	v.c.recognise("vitest")
	v.ended = true
	v.c.ran = v.c.ran || ran > 0
	if ran == 0 {
		v.c.mark(NoTests)
	}
	if failed > 0 && v.c.run.Exit == 0 {
		v.c.partial = true
	}
}

func (v *vitest) end() { v.close() }

func (v *vitest) doubt() {
	switch {
	case v.began && !v.ended && v.failed == 0:
		v.c.partial = true
	case !v.ended && !v.began && !v.c.hasTestFile():
		v.c.missed("vitest", vitestNames)
	}
}
