package report

import (
	"strconv"
	"strings"
)

var jestReader = textReader{
	format: "jest", tests: true,
	runs:  jestNames,
	wakes: []string{"Test Suites: ", "PASS ", "FAIL ", "No tests found, exiting with code", "  ● "},
	start: func(c *collector) lineReader { return &jest{c: c} },
	when: func(_ Run, l string) bool {
		_, _, ok := jestFile(l)
		return ok || strings.HasPrefix(l, "Test Suites: ") || strings.HasPrefix(l, "No tests found, exiting with code") || strings.HasPrefix(l, "  ● ") && strings.Contains(l, " › ")
	},
}

var jestNames = []string{"jest"}

// jest reads the default and the verbose reporter, and the summary that repeats the failures of a long run.
type jest struct {
	c      *collector
	file   string
	title  string // of the failure whose lines follow
	kept   headTail
	suites []string // open describes of the verbose tree, by depth
	ended  bool
	began  bool
	failed int
}

// jestFile reads "FAIL src/a.test.js (5.1 s)" and "FAIL project src/a.test.js".
func jestFile(l string) (file string, pass, ok bool) {
	rest, pass := strings.CutPrefix(l, "PASS ")
	if !pass {
		if rest, ok = strings.CutPrefix(l, "FAIL "); !ok || strings.HasPrefix(rest, " ") {
			return "", false, false
		}
	}
	if i := strings.LastIndex(rest, " ("); i > 0 {
		rest = rest[:i]
	}
	f := strings.Fields(rest)
	if len(f) == 0 || len(f) > 4 || !isJSFile(f[len(f)-1]) {
		return "", false, false
	}
	return strings.TrimPrefix(f[len(f)-1], "./"), pass, true
}

func (j *jest) line(l string) {
	if file, _, ok := jestFile(l); ok {
		j.close()
		j.c.recognise("jest")
		j.file, j.suites, j.began, j.ended = j.c.places.relative(file), nil, true, false
		return
	}
	switch {
	case strings.HasPrefix(l, "  ● "):
		j.close()
		j.open(strings.TrimSpace(strings.TrimPrefix(l, "  ● ")))
	case strings.HasPrefix(l, "Test Suites: "):
		j.close()
		j.c.recognise("jest")
		if j.failed == 0 && strings.Contains(l, " failed") {
			j.c.partial = true
		}
	case strings.HasPrefix(l, "Tests: "):
		j.total(l)
	case strings.HasPrefix(l, "No tests found, exiting with code"):
		j.c.recognise("jest")
		j.c.mark(NoTests)
		j.ended = true
	case j.title != "":
		j.kept.add(l)
	case j.file != "" && strings.HasPrefix(l, "  "):
		j.tree(l)
	}
}

// open begins a failure. What a test printed stands under such a heading too, and is none.
func (j *jest) open(title string) {
	if strings.HasPrefix(title, "process.exit called with") {
		j.c.recognise("jest")
		j.c.partial = true
		j.c.note("jest: " + title)
	}
	if title != "Console" && !strings.HasPrefix(title, "process.exit called with") && title != "Validation Warning:" && j.file != "" {
		j.title = title
	}
}

// tree reads the verbose reporter: "    ✓ adds up (2 ms)" below the names of its describes.
func (j *jest) tree(l string) {
	body := strings.TrimLeft(l, " ")
	depth := (len(l) - len(body)) / 2
	if body == "" || depth > 50 {
		return
	}
	mark, name, found := strings.Cut(body, " ")
	st := map[string]Status{"✓": Pass, "√": Pass, "✕": Fail, "×": Fail, "○": Skip, "✎": Skip}[mark]
	if !found || st == "" {
		j.suites = append(j.suites[:min(len(j.suites), depth-1)], body)
		return
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "skipped "), "todo ")
	if i := strings.LastIndex(name, " ("); i > 0 && (strings.HasSuffix(name, " ms)") || strings.HasSuffix(name, " s)")) {
		name = name[:i]
	}
	if st == Pass || st == Skip {
		levels := append([]string{j.file}, j.suites[:min(len(j.suites), depth-1)]...)
		j.c.add("jest", Result{ID: strings.Join(append(levels, name), level), Kind: Test, Status: st, File: j.file})
	}
}

// close makes a result of the failure whose lines were read.
func (j *jest) close() {
	if j.title == "" {
		return
	}
	r := Result{ID: j.file + level + strings.ReplaceAll(j.title, " › ", level), Kind: Test, File: j.file}
	suite := j.title == "Test suite failed to run"
	lines := j.kept.lines()
	j.title, j.kept = "", headTail{}
	j.failed++
	j.c.describeJS(&r, lines)
	if suite {
		ofSuite(&r, j.file)
		if r.Class == MissingDependency {
			j.c.mark(MissingDependency)
		}
	}
	if r.File == "" {
		r.File = j.file
	}
	j.c.add("jest", r)
}

// ofSuite makes a failure one of a whole test file, which could not be loaded.
func ofSuite(r *Result, file string) {
	r.ID, r.Kind, r.Status = file, Build, Error
	if r.Class != MissingDependency && r.Class != Timeout {
		r.Class = Compile
	}
	r.Got, r.Want = "", ""
}

// total reads "Tests:       15 failed, 1 skipped, 3 passed, 19 total".
func (j *jest) total(l string) {
	_, rest, _ := strings.Cut(l, ":")
	ran, failed := 0, 0
	for _, part := range strings.Split(rest, ",") {
		f := strings.Fields(part)
		if len(f) != 2 {
			return
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
	j.c.recognise("jest")
	j.ended = true
	j.c.ran = j.c.ran || ran > 0
	if ran == 0 {
		j.c.mark(NoTests)
	}
	if failed > 0 && j.failed == 0 {
		j.c.partial = true
	}
	j.failed, j.file = 0, ""
}

func (j *jest) end() { j.close() }

func (j *jest) doubt() {
	switch {
	case j.began && !j.ended:
		j.c.partial = true
	case !j.ended && !j.c.hasTestFile():
		j.c.missed("jest", jestNames)
	}
}
