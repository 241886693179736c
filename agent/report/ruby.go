package report

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// rspecReader reads RSpec's progress and documentation formatters.
var rspecReader = textReader{
	format: "rspec", tests: true,
	wakes: []string{" examples, ", " example, ", "rspec ./", "Failure/Error: ", "while loading ./"},
	start: func(c *collector) lineReader { return &rspec{c: c} },
}

type rspec struct {
	c       *collector
	name    string // description of the failure being read
	pending bool
	out     said
	load    bool // an error outside of examples is being read
}

var (
	numbered1 = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ +\d+\) (.*)$`) })
	rubyFrame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*# (\S+?):(\d+)(?::in .*)?$`) })
)

// numberedLine takes "  1) Failure:" apart.
func numberedLine(line string) []string {
	if !strings.HasPrefix(line, " ") || !strings.Contains(line, ") ") {
		return nil
	}
	return numbered1().FindStringSubmatch(line)
}

func (r *rspec) line(line string) {
	switch {
	case line == "Failures:":
		r.flush()
		r.pending = false
	case strings.HasPrefix(line, "Pending:"):
		r.flush()
		r.pending = true
	case strings.HasPrefix(line, "Finished in "), strings.HasPrefix(line, "Failed examples:"):
		r.flush()
		r.c.recognise("rspec")
	case strings.HasPrefix(line, "An error occurred while loading "):
		r.flush()
		r.load, r.name = true, rubyPath(strings.Fields(line[len("An error occurred while loading "):] + " ?")[0])
	case strings.Contains(line, " examples, ") || strings.Contains(line, " example, "):
		r.flush()
		r.c.recognise("rspec")
		r.c.ran = r.c.ran || number(line) > 0
	case strings.HasPrefix(line, "  ") && numberedLine(line) != nil:
		r.flush()
		r.name = numberedLine(line)[1]
	case r.name != "":
		r.out.add(line)
	}
}

func rubyPath(file string) string { return strings.TrimPrefix(strings.TrimSuffix(file, "."), "./") }

func (r *rspec) flush() {
	if r.name == "" {
		return
	}
	name, lines := r.name, r.out.take()
	r.name = ""
	if r.load {
		r.load = false
		r.loadError(name, lines)
		return
	}
	res := Result{Kind: Test, Status: Fail, Class: Assertion}
	if r.pending {
		res.Status, res.Class = Skip, ""
	}
	rspecSays(&res, lines)
	res.ID = name
	if res.File != "" {
		res.ID = r.c.places.relative(res.File) + " > " + name
	}
	r.c.add("rspec", res)
}

// rspecSays reads one failure: what was expected, the error, and the spec's own line, which is the last frame.
func rspecSays(res *Result, lines []string) {
	var message []string
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if m := rubyFrame().FindStringSubmatch(l); m != nil {
			if res.File == "" || strings.Contains(m[1], "_spec.rb") && !strings.Contains(res.File, "_spec.rb") {
				res.File, res.Line = rubyPath(m[1]), number(m[2])
			}
			if len(res.Trace) < maxTrace {
				res.Trace += t + "\n"
			}
			continue
		}
		message = append(message, t)
		if v, ok := strings.CutPrefix(t, "expected: "); ok && i+1 < len(lines) && res.Want == "" {
			if g, ok := strings.CutPrefix(strings.TrimSpace(lines[i+1]), "got: "); ok {
				res.Got, res.Want = g, v
			}
		}
		if res.Status == Fail && strings.HasSuffix(t, ":") && !strings.Contains(t, " ") && hasAny(t, "Error:", "Exception:") && !strings.Contains(t, "ExpectationNotMetError") {
			res.Class = Panic
		}
	}
	if i := slices.IndexFunc(message, func(l string) bool { return strings.HasPrefix(l, "Failure/Error: ") }); i > 0 {
		message = message[i:]
	}
	res.Message = strings.TrimSpace(strings.Join(message, "\n"))
}

// loadError is a spec file that could not be loaded, so that none of its examples ran.
func (r *rspec) loadError(file string, lines []string) {
	res := Result{ID: r.c.places.relative(file), Kind: Build, Status: Error, Class: Compile}
	rspecSays(&res, lines)
	res.Status, res.Class = Error, Compile
	if strings.Contains(res.Message, "cannot load such file") {
		res.Class = MissingDependency
	}
	r.c.add("rspec", res)
}

func (r *rspec) end() { r.flush() }

// minitestReader reads minitest, run by hand, by rake or by Rails.
var minitestReader = textReader{
	format: "minitest", tests: true,
	wakes: []string{"# Running:", " runs, ", ") Failure:", ") Error:"},
	start: func(c *collector) lineReader { return &minitest{c: c} },
}

type minitest struct {
	c     *collector
	kind  string // "Failure" or "Error": the next line names the test
	test  *Result
	out   said
	begun bool
	ended bool
}

var (
	minitestName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S.*#.*?)(?: \[(.*):(\d+)\])?:$`) })
	minitestLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S.*#.*) = ([\d.]+ s) = ([.FES])$`) })
	minitestSums = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d+) (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors`)
	})
)

func (r *minitest) line(line string) {
	if m := numberedLine(line); m != nil && (m[1] == "Failure:" || m[1] == "Error:" || m[1] == "Skipped:") {
		r.flush()
		r.kind = strings.TrimSuffix(m[1], ":")
		return
	}
	switch {
	case line == "# Running:":
		r.begun = true
		r.c.recognise("minitest")
	case r.kind != "":
		r.begin(line)
	case strings.Contains(line, " assertions, ") && minitestSums().MatchString(line):
		r.flush()
		r.ended = true
		r.c.recognise("minitest")
		r.c.ran = r.c.ran || number(line) > 0
	case r.test != nil:
		r.out.add(line)
	case strings.HasSuffix(line, " s = ."):
		if m := minitestLine().FindStringSubmatch(line); m != nil {
			r.c.add("minitest", Result{ID: m[1], Kind: Test, Status: Pass, Seconds: seconds(m[2])})
		}
	}
}

func (r *minitest) begin(line string) {
	kind := r.kind
	r.kind = ""
	m := minitestName().FindStringSubmatch(line)
	if m == nil {
		return
	}
	r.test = &Result{ID: m[1], Kind: Test, File: rubyPath(m[2]), Line: number(m[3])}
	switch kind {
	case "Failure":
		r.test.Status, r.test.Class = Fail, Assertion
	case "Error":
		r.test.Status, r.test.Class = Error, Panic
	default:
		r.test.Status = Skip
	}
}

var minitestFrame = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {4}(\S+?):(\d+):in `) })

func (r *minitest) flush() {
	if r.test == nil {
		return
	}
	lines := r.out.take()
	r.test.Message = (&said{lines: lines}).text()
	for i, l := range lines {
		if v, ok := strings.CutPrefix(l, "Expected: "); ok && i+1 < len(lines) {
			r.test.Want, r.test.Got = v, strings.TrimPrefix(strings.TrimSpace(lines[i+1]), "Actual: ")
		}
		if l == "--- expected" {
			r.test.Want, r.test.Got = minusPlus(lines[i:])
		}
		if m := minitestFrame().FindStringSubmatch(l); m != nil && !strings.Contains(m[1], "/gems/") {
			r.test.Trace += l + "\n"
			if r.test.File == "" || strings.Contains(m[1], "test") {
				r.test.File, r.test.Line = rubyPath(m[1]), number(m[2])
			}
		}
	}
	r.c.add("minitest", *r.test)
	r.test = nil
}

func (r *minitest) end() {
	r.flush()
	if r.begun && !r.ended {
		r.c.partial = true
		r.c.note("minitest's summary is missing")
	}
	r.begun = false
}

// rubyReader reads what the interpreter itself says of a file that it cannot read or load.
var rubyReader = textReader{
	format: "ruby",
	wakes:  []string{": syntax error, ", "(LoadError)", "syntax errors found (SyntaxError)", "Bundler::GemNotFound"},
	start:  func(c *collector) lineReader { return ruby{c} },
}

type ruby struct{ c *collector }

func (r ruby) line(line string) {
	switch {
	case strings.Contains(line, "Bundler::GemNotFound"):
		r.c.mark(MissingDependency)
		r.c.recognise("ruby")
	case strings.Contains(line, "cannot load such file -- ") && strings.Contains(line, "(LoadError)"):
		_, name, _ := strings.Cut(line, "cannot load such file -- ")
		if name, _, _ = strings.Cut(name, " "); r.c.rubyFeature(name) == MissingDependency {
			r.c.mark(MissingDependency)
		}
		r.c.recognise("ruby")
	case strings.Contains(line, ": syntax error") || strings.Contains(line, "(SyntaxError)"):
		place, text, _ := strings.Cut(line, ": ")
		file, n, ok := filePlace(place)
		if !ok || !strings.HasSuffix(file, ".rb") {
			return
		}
		r.c.add("ruby", Result{ID: r.c.places.relative(file), Kind: Build, Status: Error, Class: Compile, File: file, Line: n, Message: text})
	}
}

func (r ruby) end() {}

// rubyFeature is the class of a file that require did not find: what is named by its path is the tree's own.
func (c *collector) rubyFeature(name string) Class {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") {
		return Compile
	}
	first, _, _ := strings.Cut(name, "/")
	return c.missing(first)
}
