package report

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// cargoReader reads libtest's plain and terse output, as cargo test passes it on.
var cargoReader = textReader{
	format: "cargo-test", tests: true,
	wakes: []string{"running ", "     Running ", "   Doc-tests ", "error: test failed, to rerun pass "},
	start: func(c *collector) lineReader { return &cargo{c: c} },
	when: func(_ Run, line string) bool {
		return !strings.HasPrefix(line, "r") || isRustRunning(line)
	},
}

// isRustRunning knows "running 12 tests", which libtest prints first.
func isRustRunning(line string) bool {
	n, ok := strings.CutPrefix(line, "running ")
	return ok && len(n) > 0 && n[0] >= '0' && n[0] <= '9' && (strings.HasSuffix(n, " tests") || strings.HasSuffix(n, " test"))
}

// cargo reads the binaries of one run. What a binary is called stands on standard error and what its tests say on standard
// output, so that names and binaries are matched by their order where the two are apart.
type cargo struct {
	c       *collector
	crates  []string // in the order of their "Running" lines
	used    int      // crates that have their binary already
	bins    []*rustBin
	bin     *rustBin // being read; nil between binaries
	who     string   // test whose output is being read
	out     said
	kept    []rustBin // exits that stand on standard error alone
	streams int
}

// rustBin is one test binary.
type rustBin struct {
	crate   string
	results []Result
	index   map[string]int
	passed  int
	ended   bool
	exit    string
}

func (r *cargo) line(line string) {
	switch {
	case isRustRunning(line):
		r.begin()
	case strings.HasPrefix(line, "     Running ") || strings.HasPrefix(line, "   Doc-tests "):
		r.crates = append(r.crates, crateName(line))
		r.bin = nil
	case strings.HasPrefix(line, "  process didn't exit successfully"):
		r.died(strings.TrimSpace(line))
	case strings.HasPrefix(line, "thread '") && strings.HasSuffix(line, "has overflowed its stack"):
		r.overflowed(line)
	case r.bin != nil:
		r.inBinary(line)
	}
}

// crateName is the name of the crate in the line that cargo prints before a binary runs.
func crateName(line string) string {
	if rest, ok := strings.CutPrefix(line, "   Doc-tests "); ok {
		return strings.ReplaceAll(rest, "-", "_")
	}
	i := strings.LastIndexAny(line, `/\`)
	name := strings.TrimSuffix(line[i+1:], ")")
	if j := strings.LastIndexByte(name, '-'); j > 0 {
		name = name[:j]
	}
	return name
}

func (r *cargo) begin() {
	r.flushOutput()
	r.bin = &rustBin{index: map[string]int{}}
	if r.used < len(r.crates) && len(r.crates) > len(r.bins) {
		r.bin.crate = r.crates[len(r.crates)-1]
		r.used = len(r.crates)
	}
	if len(r.bins) < maxPkgs {
		r.bins = append(r.bins, r.bin)
	}
}

func (r *cargo) inBinary(line string) {
	if name, ok := strings.CutPrefix(line, "---- "); ok {
		if name, _, ok = strings.Cut(name, " stdout ----"); ok {
			r.flushOutput()
			r.who = name
			return
		}
	}
	switch {
	case strings.HasPrefix(line, "test result: "):
		r.flushOutput()
		passed, _, _ := strings.Cut(line, " passed;")
		if i := strings.LastIndexByte(passed, ' '); i >= 0 {
			r.bin.passed = number(passed[i:])
		}
		r.bin.ended = true
		r.bin = nil
	case line == "failures:":
		r.flushOutput()
	case r.who != "":
		r.out.add(line)
	case strings.HasPrefix(line, "test "):
		r.testLine(line[len("test "):])
	}
}

func (r *cargo) testLine(rest string) {
	name, status, ok := cutLast(rest, " ... ")
	if !ok {
		return
	}
	res := Result{Kind: Test}
	status, _, _ = strings.Cut(status, ",")
	switch strings.Fields(status + " ?")[0] {
	case "ok":
		res.Status = Pass
	case "FAILED":
		res.Status, res.Class = Fail, Assertion
	case "ignored":
		res.Status = Skip
	default:
		return
	}
	res.ID, res.Line = rustTest(name)
	r.bin.put(res)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// rustTest is a test's path without what libtest and rustdoc add; a doc test's line is given apart.
func rustTest(name string) (id string, line int) {
	name = strings.TrimSuffix(name, " - should panic")
	if before, rest, ok := cutLast(name, " (line "); ok {
		return before, number(rest)
	}
	return name, 0
}

func (b *rustBin) put(r Result) {
	if i, ok := b.index[r.ID]; ok {
		if r.Message == "" {
			r.Message, r.Got, r.Want, r.Trace = b.results[i].Message, b.results[i].Got, b.results[i].Want, b.results[i].Trace
		}
		if worst(b.results[i].Status, r.Status) == r.Status {
			b.results[i] = r
		}
		return
	}
	if len(b.results) < maxTests {
		b.index[r.ID] = len(b.results)
		b.results = append(b.results, r)
	}
}

// flushOutput lays what a failing test printed to it.
func (r *cargo) flushOutput() {
	if r.who == "" || r.bin == nil {
		r.who = ""
		return
	}
	res := Result{Kind: Test, Status: Fail, Class: Assertion}
	res.ID, res.Line = rustTest(r.who)
	rustSays(&res, r.out.take())
	r.who = ""
	r.bin.put(res)
}

var panickedAt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^thread '.*' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^\s:'"]+):(\d+)(?::\d+)?:?$`)
})

// rustSays fills in what a panic says: place, message, left and right.
func rustSays(res *Result, lines []string) {
	var message, trace []string
	var inMessage, inTrace bool
	for _, l := range lines {
		m := panickedAt().FindStringSubmatch(l)
		switch {
		case m != nil && res.File == "":
			res.File = m[2]
			res.Line, _ = strconv.Atoi(m[3])
			if inMessage = m[1] == ""; !inMessage {
				message = append(message, m[1])
			}
		case l == "stack backtrace:":
			inMessage, inTrace = false, true
		case strings.HasPrefix(l, "note: ") && strings.Contains(l, "RUST_BACKTRACE"):
			inMessage, inTrace = false, false
		case inTrace:
			trace = append(trace, l)
		case inMessage || strings.HasPrefix(l, "note: ") || strings.HasPrefix(l, "Error: ") || len(message) > 0 && l != "":
			message = append(message, l)
		}
	}
	res.Message, res.Trace = strings.TrimSpace(strings.Join(message, "\n")), strings.Join(trace, "\n")
	if _, place, ok := strings.Cut(res.Message, "did not panic as expected at "); ok {
		res.File, res.Line, _ = filePlace(place)
	}
	res.Got, res.Want = leftRight(message)
	if res.Got == "" && !strings.HasPrefix(res.Message, "assertion") && !strings.HasPrefix(res.Message, "note: ") && !strings.HasPrefix(res.Message, "Error: ") {
		res.Class = Panic
	}
}

// leftRight are the values that assert_eq prints, by custom the value that was got on the left; and those of should_panic.
func leftRight(lines []string) (got, want string) {
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if v, ok := strings.CutPrefix(l, "left: "); ok {
			got = strings.Trim(strings.TrimSuffix(v, ","), "`")
		}
		if v, ok := strings.CutPrefix(l, "right: "); ok {
			want = strings.Trim(v, "`")
		}
		if v, ok := strings.CutPrefix(l, "panic message: "); ok {
			got = strings.TrimSuffix(v, ",")
		}
		if v, ok := strings.CutPrefix(l, "expected substring: "); ok {
			want = v
		}
	}
	return got, want
}

// died takes cargo's word on a binary that did not come to its end.
func (r *cargo) died(text string) {
	if _, how, ok := strings.Cut(text, "` "); ok {
		text = "the test binary ended before its tests did " + how
	}
	if r.bin != nil {
		r.bin.exit = text
		return
	}
	r.kept = append(r.kept, rustBin{crate: r.lastCrate(), exit: text})
}

func (r *cargo) lastCrate() string {
	if len(r.crates) == 0 {
		return ""
	}
	return r.crates[len(r.crates)-1]
}

func (r *cargo) overflowed(line string) {
	if name, ok := between(line, "'", "'"); ok {
		r.kept = append(r.kept, rustBin{crate: r.lastCrate(), results: []Result{{ID: name, Kind: Test, Status: Error, Class: Panic, Message: line}}})
	}
}

// end puts out what is known once both streams were read.
func (r *cargo) end() {
	r.flushOutput()
	r.bin = nil
	if r.streams++; r.streams == 1 && len(r.crates) < len(r.bins) {
		return
	}
	for i, b := range r.bins {
		if b.crate == "" && i < len(r.crates) {
			b.crate = r.crates[i]
		}
		r.putBin(b)
	}
	for _, b := range r.kept {
		r.putBin(&b)
	}
	r.bins, r.kept, r.crates, r.used = nil, nil, nil, 0
}

func (r *cargo) putBin(b *rustBin) {
	r.c.recognise("cargo-test")
	for _, res := range b.results {
		res.ID = rustID(b.crate, res.ID)
		r.c.add("cargo-test", res)
	}
	r.c.ran = r.c.ran || b.passed > 0
	if b.exit != "" {
		r.c.add("cargo-test", Result{ID: rustID(b.crate, "[exit]"), Kind: Test, Status: Error, Class: Panic, Message: b.exit})
	} else if b.index != nil && !b.ended {
		r.c.partial = true
		r.c.note("a test binary did not end: " + b.crate)
	}
}

func rustID(crate, path string) string {
	if crate == "" {
		return path
	}
	return crate + "::" + path
}
