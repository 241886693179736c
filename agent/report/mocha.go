package report

import (
	"strconv"
	"strings"
)

var mochaReader = textReader{
	format: "mocha", tests: true,
	runs:  mochaNames,
	wakes: []string{" passing (", " failing", "Exception during run: ", "Error: No test files found"},
	start: func(c *collector) lineReader { return &mocha{c: c} },
	when: func(_ Run, l string) bool {
		_, word := mochaCount(l)
		return word != "" || strings.HasPrefix(l, " Exception during run: ") || strings.HasPrefix(l, "Error: No test files found")
	},
}

var mochaNames = []string{"mocha", "_mocha"}

// mocha reads the reporters that end in its list of failures: spec, dot, min, list, landing and their like. None of them names
// a test's file, so that an id is the suites and the test.
type mocha struct {
	c       *collector
	suites  []string // by depth
	counted bool     // the counts were printed: what follows is the list of failures
	title   []string // of the failure whose lines follow; open while its title is being read
	reading bool
	kept    headTail
	failing int
	load    bool // files could not be loaded
	ended   bool
}

// mochaCount reads "  1 passing (110ms)", "  2 pending" and "  10 failing".
func mochaCount(l string) (n int, word string) {
	if !strings.HasPrefix(l, "  ") || !strings.Contains(l, "ing") {
		return 0, ""
	}
	f := strings.Fields(l)
	if len(f) < 2 || len(f) > 3 {
		return 0, ""
	}
	n, err := strconv.Atoi(f[0])
	switch {
	case err != nil || n < 0:
	case f[1] == "passing" && len(f) == 3 && f[2][0] == '(', (f[1] == "pending" || f[1] == "failing") && len(f) == 2:
		return n, f[1]
	}
	return 0, ""
}

func (m *mocha) line(l string) {
	if n, word := mochaCount(l); word != "" {
		m.count(n, word)
		return
	}
	switch {
	case strings.HasPrefix(l, " Exception during run: ") || strings.HasPrefix(l, "Exception during run: "):
		m.load = true
		m.c.recognise("mocha")
		_, rest, _ := strings.Cut(l, "run: ")
		m.kept.add(rest)
	case strings.HasPrefix(l, "Error: No test files found"):
		m.c.recognise("mocha")
		m.c.mark(NoTests)
		m.ended = true
	case m.load:
		m.kept.add(l)
	case !m.counted && m.c.tap:
	case !m.counted:
		m.tree(l)
	default:
		m.failure(l)
	}
}

func (m *mocha) count(n int, word string) {
	m.c.recognise("mocha")
	m.close()
	switch word {
	case "passing":
		m.counted, m.ended, m.failing = true, true, 0
		m.c.ran = m.c.ran || n > 0
		if n == 0 {
			m.c.mark(NoTests)
		}
	case "failing":
		m.failing = n
		if n > 0 && m.c.run.Exit == 0 {
			m.c.partial = true
		}
	}
}

// tree reads the spec reporter: "    ✔ passes (3ms)" below the names of its suites.
func (m *mocha) tree(l string) {
	body := strings.TrimLeft(l, " ")
	depth := (len(l) - len(body)) / 2
	if body == "" || depth == 0 || depth > 50 {
		return
	}
	st, name := Status(""), ""
	for mark, s := range map[string]Status{"✔ ": Pass, "✓ ": Pass, "√ ": Pass, "- ": Skip} {
		if rest, ok := strings.CutPrefix(body, mark); ok {
			st, name = s, rest
		}
	}
	if _, rest, ok := digits(body); ok && strings.HasPrefix(rest, ") ") {
		return // told again below
	}
	if st == "" {
		m.suites = append(m.suites[:min(len(m.suites), depth-1)], body)
		return
	}
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, "ms)") {
		name = name[:i]
	}
	levels := append([]string(nil), m.suites[:min(len(m.suites), depth-1)]...)
	m.c.add("mocha", Result{ID: strings.Join(append(levels, name), level), Kind: Test, Status: st})
}

// failure reads the list: "  1) suite", deeper names, the last with a colon, and what went wrong.
func (m *mocha) failure(l string) {
	body := strings.TrimLeft(l, " ")
	if _, rest, ok := digits(body); ok && strings.HasPrefix(rest, ") ") && len(l)-len(body) == 2 {
		m.close()
		m.name(rest[2:])
		return
	}
	switch {
	case m.reading && body != "":
		m.name(body)
	case len(m.title) > 0:
		m.kept.add(l)
	}
}

func (m *mocha) name(s string) {
	name, last := strings.CutSuffix(s, ":")
	m.title, m.reading = append(m.title, name), !last && len(m.title) < 50
}

// close makes a result of the failure whose lines were read.
func (m *mocha) close() {
	lines := m.kept.lines()
	if m.load {
		r := Result{Kind: Test}
		m.c.describeJS(&r, lines)
		ofSuite(&r, m.loading(lines, r.File))
		if r.Class == MissingDependency {
			m.c.mark(MissingDependency)
		}
		m.c.add("mocha", r)
	} else if len(m.title) > 0 {
		r := Result{ID: strings.Join(m.title, level), Kind: Test}
		m.c.describeJS(&r, lines)
		m.c.add("mocha", r)
	}
	m.load, m.title, m.reading, m.kept = false, nil, false, headTail{}
}

// loading is the file that could not be loaded: the place of a syntax error, the last that required, or a frame's.
func (m *mocha) loading(lines []string, frame string) string {
	file := ""
	for _, l := range lines {
		name := strings.TrimPrefix(l, "- ")
		if i := strings.LastIndexByte(name, ':'); i > 0 && name == l {
			name = name[:i]
		}
		if rel, mine := m.c.own(name); mine && isJSFile(name) && file == "" {
			file = rel
		}
	}
	switch {
	case file != "":
		return file
	case frame != "":
		return frame
	}
	return "[mocha]"
}

func (m *mocha) end() {
	m.close()
	m.counted, m.suites = false, nil
}

func (m *mocha) doubt() {
	if !m.ended && !m.load && !m.c.hasTestFile() && !m.c.seen["tap"] {
		m.c.missed("mocha", mochaNames)
	}
}
