package report

import "strings"

var nodeTestReader = textReader{
	format: "node-test", tests: true,
	wakes: []string{"✔ ", "✖ ", "▶ ", "ℹ tests "},
	start: func(c *collector) lineReader { return &nodeTest{c: c} },
	when: func(_ Run, l string) bool {
		_, ok := nodeLine(l)
		return ok || strings.HasPrefix(l, "ℹ tests ") || strings.HasPrefix(l, "✖ failing tests:")
	},
}

// nodeTest reads the spec and dot reporters of node's own test runner. Neither names a test's file where a test passes, so
// that an id is the suites and the test. A test's error stands below it in releases up to 20, later only in the list at the end.
type nodeTest struct {
	c       *collector
	suites  []string // open suites, by depth
	results []nodeResult
	list    bool             // the list of failures at the end, or all there is of the dot reporter
	tree    int              // results of the tree: in the list they are told again
	byName  map[string][]int // failures of the tree that the list did not tell yet
	place   string
	ended   bool
	known   bool
	loose   headTail // since the last test: what a file that could not be loaded printed
}

// nodeResult is a test as it was told; nothing is kept of one that passed.
type nodeResult struct {
	Result
	name  string
	depth int // of the line that told it: an error of its own stands deeper
	kept  headTail
	file  []string // what a file that ended with a status printed
	told  bool
}

// nodeMark is one line of the tree.
type nodeMark struct {
	depth int
	mark  string
	name  string
	skip  bool
	timed bool
}

// nodeLine reads "  ✖ adds up (1.5ms)", "▶ cart" and "▶ cart (2.5ms)".
func nodeLine(l string) (m nodeMark, ok bool) {
	body := strings.TrimLeft(l, " ")
	m.depth = (len(l) - len(body)) / 2
	m.mark, m.name, ok = strings.Cut(body, " ")
	if !ok || m.mark != "✔" && m.mark != "✖" && m.mark != "▶" && m.mark != "﹣" && m.mark != "⚠" || m.depth > 50 {
		return m, false
	}
	for _, d := range []string{" # SKIP", " # TODO"} {
		if before, _, found := strings.Cut(m.name, d); found {
			m.name, m.skip = before, true
		}
	}
	if i := strings.LastIndex(m.name, " ("); i > 0 && strings.HasSuffix(m.name, "ms)") {
		m.timed = strings.Contains(m.name[i:], ".")
		m.name = m.name[:i]
	}
	return m, m.timed || m.mark == "▶" || m.skip || m.mark == "✖" && m.name != "failing tests:"
}

func (n *nodeTest) line(l string) {
	switch {
	case strings.HasPrefix(l, "ℹ tests "):
		n.known, n.ended = true, true
		n.c.recognise("node-test")
		return
	case l == "✖ failing tests:" || l == "Failed tests:":
		if l[0] == 'F' { // of the dot reporter, which says nothing else in words
			n.c.recognise("node-test-dots")
		}
		n.list, n.tree, n.suites, n.known = true, len(n.results), nil, true
		n.c.recognise("node-test")
		return
	case n.list && strings.HasPrefix(l, "test at "):
		n.place = strings.TrimPrefix(l, "test at ")
		return
	}
	m, ok := nodeLine(l)
	if !ok || n.list && m.depth > 0 {
		n.loose.add(l)
		if last := len(n.results) - 1; last >= 0 && !strings.HasPrefix(l, "ℹ ") {
			n.results[last].kept.add(l)
		}
		return
	}
	loose := n.loose
	n.loose = headTail{}
	if n.list {
		if !m.skip {
			n.listed(m)
		}
		return
	}
	if m.mark == "▶" && !m.timed {
		n.suites = append(n.suites[:min(len(n.suites), m.depth)], m.name)
		n.results = append(n.results, nodeResult{told: true})
		return
	}
	n.told(m)
	if last := len(n.results) - 1; m.mark == "✖" && last >= 0 && n.results[last].File != "" {
		n.results[last].file = loose.lines()
	}
}

// told is a test, or the end of a suite whose tests were told.
func (n *nodeTest) told(m nodeMark) {
	suite := len(n.suites) > m.depth && n.suites[m.depth] == m.name
	levels := append([]string(nil), n.suites[:min(len(n.suites), m.depth)]...)
	n.suites = n.suites[:min(len(n.suites), m.depth)]
	r := nodeResult{name: m.name, depth: m.depth, told: suite && m.mark != "✖"}
	r.ID, r.Kind, r.Status = strings.Join(append(levels, m.name), level), Test, Pass
	switch {
	case m.skip || m.mark == "﹣" || m.mark == "⚠":
		r.Status = Skip
	case m.mark == "✖":
		r.Status = Fail
	}
	if rel, mine := n.c.own(m.name); mine && isJSFile(m.name) {
		r.ID, r.File = rel, rel
		if r.Status == Pass { // node counts a file in which no test reported itself as one that passed
			r.Status, r.Message = Skip, "no test of this file was reported"
		}
	}
	if len(n.results) < maxTests {
		n.results = append(n.results, r)
	}
}

// listed is a failure of the list at the end: the first of its name in the tree that was not listed yet, or one of its own.
func (n *nodeTest) listed(m nodeMark) {
	if n.byName == nil {
		n.byName = map[string][]int{}
		for i, r := range n.results[:n.tree] {
			if r.Status == Fail && !r.told {
				n.byName[r.name] = append(n.byName[r.name], i)
			}
		}
	}
	if at := n.byName[m.name]; len(at) > 0 {
		n.byName[m.name] = at[1:]
		if r := &n.results[at[0]]; len(n.results) < 2*maxTests {
			file, at, _ := strings.Cut(n.place, ":")
			r.Line, _, _ = digits(at)
			r.File = file
			n.results = append(n.results, nodeResult{told: true})
			if len(r.kept.head) == 0 { // what follows is its error
				n.results[len(n.results)-1] = *r
				n.results[len(n.results)-1].depth = 0
				r.told = true
			}
			return
		}
	}
	n.told(m)
}

func (n *nodeTest) end() {
	if !n.known {
		n.results = nil
		return
	}
	suites := n.failedSuites()
	for _, r := range n.results {
		if r.told || r.ID == "" {
			continue
		}
		if r.Status != Fail {
			n.c.add("node-test", r.Result)
			continue
		}
		n.fail(r, suites)
	}
	n.c.partial = n.c.partial || !n.ended && !n.list
	n.byName = nil
	n.results, n.list, n.suites, n.ended, n.known = nil, false, nil, false, false
}

// fail is a test that failed; a suite of which only its tests did says nothing of its own.
func (n *nodeTest) fail(r nodeResult, suites map[string]bool) {
	lines := r.kept.lines()
	for _, l := range lines {
		if body := strings.TrimSpace(l); strings.HasSuffix(body, " subtest failed'") || strings.HasSuffix(body, " subtests failed'") {
			return
		}
	}
	if suites[r.ID] && !deeper(lines, r.depth) { // what stands there is another file's output, if anything
		return
	}
	file, line := r.File, r.Line
	n.c.describeJS(&r.Result, lines)
	if file == r.ID && isJSFile(file) {
		n.c.describeFile(&r.Result, r.file)
	}
	if r.File == "" {
		r.File, r.Line = file, line
	}
	n.c.add("node-test", r.Result)
}

// deeper says whether the first line that is not empty is indented by more than that depth.
func deeper(lines []string, depth int) bool {
	for _, l := range lines {
		if body := strings.TrimLeft(l, " "); body != "" {
			return len(l)-len(body) > 2*depth
		}
	}
	return false
}

// failedSuites are the ids that a failing test has more levels than.
func (n *nodeTest) failedSuites() map[string]bool {
	out := map[string]bool{}
	for _, r := range n.results {
		if r.Status != Fail {
			continue
		}
		for id := r.ID; ; {
			i := strings.LastIndex(id, level)
			if i < 0 || out[id[:i]] {
				break
			}
			id = id[:i]
			out[id] = true
		}
	}
	return out
}
