package report

import (
	"bytes"
	"slices"
	"strings"
)

// stream is what has been understood so far of one output of the go command, or of several in a row. Both shapes of
// go test, JSON events and text, are turned into the same records here; gotext.go and gojson.go only take lines apart.
//
// gotest.tools/gotestsum's testjson and go-junit-report's parser were measured against this and serve as second
// opinions in the tests. They are not used to read: the first stops at a line over 64 KiB and writes to standard
// error, both keep every line of passing tests, and neither tells a crash's owner.
type stream struct {
	run      Run
	pkgs     []*pkg
	json     map[string]*pkg // latest package of each import path in the JSON events
	unclosed int             // JSON packages that began and did not end
	cur      *pkg            // package of the text lines being read; nil between packages
	at       text            // where the reading of cur stands
	loose    capture         // text since the last package ended that belongs to nobody yet
	blocks   []*block        // what compilers and vet said
	byID     map[string]*block
	byPkg    map[string]*block // made once all is read
	block    *block            // block that text lines go on; nil outside
	vetJSON  []byte            // lines of a go vet -json object being collected; nil outside
	vets     []Result
	tail     []byte // last lines of the output, for when no reader understood it
	goLines  capture

	others   *collector // every tool that is not the go command
	places   places
	names    [8]string // of late, so that equal ones share their bytes
	nextName int
	tests    int
	problems []string

	sawJSON, sawText, sawGo   bool
	ran                       bool // at least one test ran, or a package said ok without listing its tests
	broken, dropped           bool // a JSON event could not be read; a bound was reached
	unended                   int  // tests and packages that began and did not end
	missing, notFound, killed bool
	diskFull, noMemory        bool
}

// pkg is one package's test binary, as it went.
type pkg struct {
	path        string
	tests       map[string]*test // latest of each name
	order       []*test
	passed      []passed // tests that are no longer in order
	names       string   // theirs, one after the other
	packed      bool     // once is enough, whatever comes after the end
	status      Status   // empty while it runs
	note        string   // "[no tests to run]", "[build failed]"
	failedBuild string
	last        string // "PASS" or "FAIL" as the testing package printed it last; empty when a crash came after it
	exit        string // "exit status 3", "signal: killed"
	verbose     bool   // test by test, so that what is absent did not happen
	crashed     *test  // whose output the last crash was in; nil for the package's own
	out         capture
	seconds     float64
	reports     int
	failing     []string // sorted names of failing tests; nil until asked for
}

// test is one run of one test.
type test struct {
	name     string
	status   Status
	reported Status // as its "---" line said; its event may be missing
	seconds  float64
	seq      int // position among the package's reports, from 1; 0 while it runs
	paused   bool
	out      capture
}

// passed is what is kept of a test that passed in a package that did: all that its result says. It stands before the test
// that has this place in order, so that big runs cost little more than their results.
type passed struct {
	end     int32 // of its name in the package's names; the one before ends where it begins; maxTests of maxID bytes are less than 2 GiB
	before  int32
	seconds float64
}

func newStream(r Run) *stream {
	s := &stream{run: r, json: map[string]*pkg{}, byID: map[string]*block{}}
	s.places = newPlaces(r)
	s.others = newCollector(r, &s.places)
	return s
}

// read takes one of the run's streams apart, line by line.
func (s *stream) read(b []byte) {
	for len(b) > 0 {
		var line []byte
		line, b = nextLine(b)
		s.readLine(line)
	}
}

// readLine takes one line, without its end.
func (s *stream) readLine(line []byte) {
	if looksLikeEvent(line) && s.cur == nil && s.event(line) {
		return
	}
	line = line[:min(len(line), maxLine)]
	text := string(line)
	if s.others.tap && len(line) > 0 && line[0] == '#' {
		s.keepTail(line)
	} else {
		s.textLine(text, line)
	}
	if s.cur == nil && s.unclosed == 0 { // what Go's tests print is theirs
		s.others.line(text)
	}
}

func (s *stream) problem(text string) {
	if len(s.problems) < maxProblem {
		s.problems = append(s.problems, cut(clean(text), 200))
	}
}

func newPkg(path string) *pkg { return &pkg{path: path, tests: map[string]*test{}} }

// addPkg is where the number of packages is bounded.
func (s *stream) addPkg(p *pkg) {
	if len(s.pkgs) >= maxPkgs {
		s.dropped = true
		return
	}
	s.pkgs = append(s.pkgs, p)
}

// begin starts a run of a test, and is where the number of tests is bounded.
func (s *stream) begin(p *pkg, name string) *test {
	t := &test{name: testName(name)}
	if s.tests++; s.tests > maxTests {
		s.dropped = true
		return t
	}
	p.tests[t.name] = t
	p.order = append(p.order, t)
	return t
}

// testName is a name fit for an id, and never empty.
func testName(s string) string {
	if s = cut(clean(s), maxID); s == "" {
		return "\ufffd"
	}
	return s
}

// named is the test of that name that is running or ran last, begun if there is none.
func (s *stream) named(p *pkg, name string) *test {
	if t := p.tests[testName(name)]; t != nil {
		return t
	}
	return s.begin(p, name)
}

// started opens a new run of a test, unless one of that name runs already.
func (s *stream) started(p *pkg, name string) *test {
	if t := p.tests[testName(name)]; t != nil && t.status == "" && t.reported == "" {
		return t
	}
	return s.begin(p, name)
}

// ended gives a test its status. What a passing test printed is of no more use.
func (p *pkg) ended(t *test, st Status, seconds float64) {
	p.reports++
	t.status, t.seconds, t.seq = st, seconds, p.reports
	if st == Pass {
		t.out = capture{}
	}
}

// print appends output to a test, or to the package itself when t is nil.
func (p *pkg) print(t *test, b []byte) {
	c := &p.out
	if t != nil {
		c = &t.out
	}
	if c.add(b) {
		p.crashed, p.last = t, ""
	}
}

// printLine is print for a line without its end.
func (p *pkg) printLine(t *test, line []byte) {
	p.print(t, line)
	if len(line) < maxLine {
		p.print(t, newline)
	}
}

// said takes the lines that the testing package and the go command print once per binary.
func (p *pkg) said(line string) {
	switch {
	case line == "PASS" || line == "FAIL":
		p.last = line
	case strings.HasPrefix(line, "exit status ") || strings.HasPrefix(line, "signal: "):
		p.exit = line
	}
}

// summary is the go command's last line on a package, as in "ok  \texample.com/m\t0.01s".
type summary struct {
	status  Status
	path    string
	seconds float64
	note    string
}

// parseSummary reads a line of the go command that ends a package. Old releases padded with spaces, new ones use tabs.
func parseSummary(line string) (sum summary, ok bool) {
	if line == "" || line[0] != 'o' && line[0] != 'F' && line[0] != '?' {
		return sum, false
	}
	word, rest, _ := strings.Cut(line, "\t")
	if rest == "" {
		word, rest, _ = strings.Cut(line, " ")
	}
	switch strings.TrimRight(word, " ") {
	case "ok":
		sum.status = Pass
	case "FAIL":
		sum.status = Fail
	case "?":
		sum.status = Skip
	default:
		return sum, false
	}
	f := strings.Fields(rest)
	if len(f) < 2 || strings.ContainsAny(f[0], `:"'`) {
		return sum, false
	}
	sum.path = f[0]
	secs, timed := parseSeconds(f[1])
	if !timed && f[1] != "(cached)" && f[1][0] != '[' && f[1] != "coverage:" {
		return sum, false
	}
	sum.seconds = secs
	if i := strings.LastIndexByte(rest, '['); i >= 0 && strings.HasSuffix(rest, "]") {
		sum.note = rest[i:]
	}
	return sum, true
}

// end closes a package with the go command's word on it.
func (s *stream) end(p *pkg, sum summary) {
	p.status, p.note = sum.status, sum.note
	if sum.path != "" {
		p.path = cut(clean(sum.path), maxID)
	}
	if sum.seconds > 0 {
		p.seconds = sum.seconds
	}
	if p.ranTests() || sum.status == Pass && !p.verbose && sum.note != "[no tests to run]" {
		s.ran = true
	}
	p.out.merge(&s.loose)
	if p.status == Pass && !p.packed {
		p.pack()
	}
}

// pack lets go of all but the results of tests that passed.
func (p *pkg) pack() {
	var names strings.Builder
	var kept []*test
	plain := func(t *test) bool { return t.status == Pass && t != p.crashed && !isBenchmark(t.name) }
	n, long := 0, 0
	for _, t := range p.order {
		if plain(t) {
			n, long = n+1, long+len(t.name)
		}
	}
	p.passed = make([]passed, 0, n)
	names.Grow(long)
	for _, t := range p.order {
		if plain(t) {
			names.WriteString(t.name)
			p.passed = append(p.passed, passed{int32(names.Len()), int32(len(kept)), t.seconds})
		} else {
			kept = append(kept, t)
		}
	}
	p.packed, p.names = true, names.String()
	p.setOrder(kept)
}

// unpack undoes pack for a package that is told more of after its end.
func (p *pkg) unpack() {
	var all []*test
	n := 0
	for i, t := range p.passed {
		for ; n < int(t.before); n++ {
			all = append(all, p.order[n])
		}
		all = append(all, &test{name: p.passedName(i), status: Pass, seconds: t.seconds, seq: 1})
	}
	all = append(all, p.order[n:]...)
	p.passed, p.names = nil, ""
	p.setOrder(all)
}

// passedName is the name of the i-th packed test.
func (p *pkg) passedName(i int) string {
	from := int32(0)
	if i > 0 {
		from = p.passed[i-1].end
	}
	return p.names[from:p.passed[i].end]
}

func (p *pkg) setOrder(tests []*test) {
	p.order, p.tests = slices.Clip(tests), make(map[string]*test, len(tests))
	for _, t := range tests {
		p.tests[t.name] = t
	}
}

// ranTests reports whether anything but benchmarks began.
func (p *pkg) ranTests() bool {
	return slices.ContainsFunc(p.order, func(t *test) bool { return !isBenchmark(t.name) })
}

func isBenchmark(name string) bool { return strings.HasPrefix(name, "Benchmark") }

// merge puts text that was printed before a package's lines in front of them.
func (c *capture) merge(before *capture) {
	if len(before.buf) > 0 {
		all := *before
		for rest := c.buf; len(rest) > 0; {
			line, _, _ := bytes.Cut(rest, []byte("\n"))
			n := min(len(line)+1, len(rest))
			all.add(rest[:n])
			rest = rest[n:]
		}
		*c = all
	}
	*before = capture{}
}
