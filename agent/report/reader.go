package report

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
)

// textReader understands what one tool prints. It sleeps until a line holds one of its words, so that a tool that did not run
// costs next to nothing; it then is given the lines shortly before that line too, and every line after it.
type textReader struct {
	format string                        // what Report.Format says, as in "pytest"
	tests  bool                          // it reads a test runner, so that a run of it in which no test ran is not green
	runs   []string                      // names of the command: one that the run's command names is awake from the start
	wakes  []string                      // words that a line of this tool holds and hardly any other
	start  func(*collector) lineReader   // made once a run, when it wakes
	when   func(r Run, line string) bool // a further look at the line that would wake it; any such line does if nil
}

// lineReader takes a tool's lines in order, without their ends and without terminal escapes, cut at maxLine.
type lineReader interface {
	line(string)
	end() // the stream is over: standard output, then standard error
}

// doubter is a lineReader that has a last word once all output and all report files are read: whether something that had to
// be there was not.
type doubter interface{ doubt() }

// fileReader understands a report file, whole.
type fileReader struct {
	format string
	tests  bool
	knows  func(name string, head []byte) bool // head is at most the first 4 KiB
	read   func(*collector, File) error
}

// File is a report file that a run left.
type File struct {
	Name string // relative to the folder of reports, forward slashes
	Data []byte
}

// textReaders are all of them; a line is shown to each that is awake.
func textReaders() []textReader {
	return slices.Concat(testReaders, moreTestReaders, diagnosticReaders)
}

// fileReaders are all of them; the first that knows a file reads it.
func fileReaders() []fileReader { return slices.Concat(testFiles, diagnosticFiles) }

// collector is what the readers of one run have found. Every bound on what is kept is kept here.
type collector struct {
	run     Run
	places  *places
	readers []textReader
	index   *wakeIndex
	hits    []bool       // by index of readers
	awake   []lineReader // by index of readers; nil while asleep
	listen  []lineReader // those that are awake
	before  []string     // the last lines, for whoever wakes next
	found   []found
	seen    map[string]bool // formats that were recognised, results or not
	ran     bool            // a test of a recognised runner ran
	marks   map[Class]bool  // what the output says of the machine
	tap     bool            // TAP is being read: a line that begins with # is a remark, and no package of the go command's
	partial bool            // something that began was not seen to end
	dropped bool
	notes   []string
}

// found is a result and where it was found.
type found struct {
	Result
	format string
	file   bool // in a report file
}

// linesBefore is how many lines a reader is given that came before the one that woke it.
const linesBefore = 64

func newCollector(r Run, p *places) *collector {
	index := allWakes()
	rs := index.readers
	c := &collector{index: index, hits: make([]bool, len(rs)+1), run: r, places: p, readers: rs, awake: make([]lineReader, len(rs)), seen: map[string]bool{}, marks: map[Class]bool{}}
	for i, t := range rs {
		if commandRuns(r.Command, t.runs) {
			c.awake[i] = t.start(c)
		}
	}
	c.listens()
	return c
}

// commandRuns reports whether a shell text runs a program of one of these names, by itself or through python -m, npx and
// their like, and lets its output be seen.
func commandRuns(command string, names []string) bool {
	if len(names) == 0 || strings.Contains(command, ">") {
		return false
	}
	for _, part := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune("&;|\n()", r) }) {
		for _, word := range strings.Fields(part) {
			if slices.Contains(names, path.Base(word)) {
				return true
			}
			if word == "install" || word == "add" || word == "echo" {
				break
			}
		}
	}
	return false
}

// missed says that a command that names its tool ended with status 0 without the tool's own last words.
func (c *collector) missed(format string, names []string) {
	if c.run.Exit == 0 && commandRuns(c.run.Command, names) {
		c.partial = true
		c.note(format + " did not say how it ended")
	}
}

// end ends one stream.
func (c *collector) end() {
	for _, r := range c.awake {
		if r != nil {
			r.end()
		}
	}
	c.before = nil
}

// files reads the report files of the run.
func (c *collector) files() {
	files := c.run.Files
	if out := bytes.TrimLeft(c.run.Stdout[:min(len(c.run.Stdout), maxMessage)], " \t\r\n\ufeff"); len(out) > 0 && (out[0] == '{' || out[0] == '<') {
		files = append(slices.Clone(files), File{Name: "standard output", Data: c.run.Stdout})
	}
	for _, f := range files {
		for _, r := range fileReaders() {
			if !r.knows(f.Name, f.Data[:min(len(f.Data), maxMessage)]) {
				continue
			}
			if err := r.read(c, f); err != nil {
				c.partial = true
				c.note(f.Name + ": " + err.Error())
			}
			break
		}
	}
}

// recognise says that a format was met, whether it had results or not.
func (c *collector) recognise(format string) { c.seen[format] = true }

// add takes a result of a text reader. Its file is made relative to the tree; ids must be set.
func (c *collector) add(format string, r Result) { c.put(found{Result: r, format: format}) }

// addFromFile takes a result of a report file.
func (c *collector) addFromFile(format string, r Result) {
	c.put(found{Result: r, format: format, file: true})
}

func (c *collector) put(f found) {
	c.recognise(f.format)
	if len(c.found) >= maxTests {
		c.dropped = true
		return
	}
	f.ID, f.Message, f.Trace = testName(f.ID), cut(clean(f.Message), maxMessage), cut(clean(f.Trace), maxTrace)
	f.Got, f.Want = cut(clean(f.Got), maxMessage), cut(clean(f.Want), maxMessage)
	if f.File != "" {
		f.File = c.places.relative(f.File)
	}
	c.ran = c.ran || f.Kind == Test && f.Status != Skip
	c.found = append(c.found, f)
}

// mark notes what the output says of the machine: MissingDependency, CommandNotFound, NetworkNeeded, …
func (c *collector) mark(class Class) { c.marks[class] = true }

func (c *collector) note(problem string) {
	if len(c.notes) < maxProblem {
		c.notes = append(c.notes, cut(clean(problem), 200))
	}
}

// finish adds what was found to a report.
func (c *collector) finish(rep *Report) {
	for _, r := range c.awake {
		if d, ok := r.(doubter); ok {
			d.doubt()
		}
	}
	defer func() { rep.Problems = append(rep.Problems, c.notes...) }()
	formats := c.formats()
	if len(formats) == 0 {
		return
	}
	var results []Result
	if rep.Format != "exit" {
		formats = append([]string{rep.Format}, formats...)
		results = rep.Results
	}
	results = append(results, c.joined()...)
	rep.Format, rep.Results = strings.Join(formats, "+"), merged(results)
}

// formats are those that were met, sorted.
func (c *collector) formats() []string {
	var out []string
	for f := range c.seen {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

// joined are the results. Where report files name tests, they are the tests that there are, and what the console said of one
// of the same name fills in what a file lacks: such files hardly ever hold got and want. A failure that only the console told
// stays, for the file may be of another run.
func (c *collector) joined() []Result {
	ofTests := c.testFormats()
	files := slices.ContainsFunc(c.found, func(f found) bool { return f.file && ofTests[f.format] })
	said := map[string]*found{}
	var out []Result
	for i, f := range c.found {
		if !files || f.file || !ofTests[f.format] {
			out = append(out, f.Result)
			continue
		}
		for _, k := range looseIDs(f.ID) {
			if said[k] == nil || !said[k].failed() {
				said[k] = &c.found[i]
			}
		}
	}
	told := map[string]bool{}
	for i, r := range out {
		for _, k := range looseIDs(r.ID) {
			if s := said[k]; s != nil && r.failed() {
				told[looseID(s.ID)] = true
				out[i] = filled(out[i], s.Result)
			}
		}
	}
	for _, f := range c.found {
		if files && !f.file && ofTests[f.format] && f.Result.failed() && !told[looseID(f.ID)] {
			told[looseID(f.ID)] = true
			if out = append(out, f.Result); f.Kind == Test {
				c.note("failed on the console and not in a report file: " + f.ID)
			}
		}
	}
	return out
}

// filled is a failure of a report file with what the console said besides.
func filled(r, said Result) Result {
	if r.Class == said.Class {
		r.Got, r.Want = cmp.Or(r.Got, said.Got), cmp.Or(r.Want, said.Want)
		r.Trace = cmp.Or(r.Trace, said.Trace)
	}
	if r.Message == "" { // ctest's file says no more than that it failed
		r.Status, r.Class = said.Status, said.Class
	}
	r.Message = cmp.Or(r.Message, said.Message)
	if r.File == "" || r.Line == 0 && said.Line > 0 {
		r.File, r.Line = cmp.Or(said.File, r.File), said.Line
	}
	return r
}

// looseIDs are what is the same in the ids that a console and a report file give one test: their letters and digits, with and
// without the file of a script, which not every producer names.
func looseIDs(id string) []string {
	out := []string{looseID(id)}
	if file, rest, ok := strings.Cut(id, level); ok && isJSFile(file) {
		out = append(out, looseID(rest))
	}
	return out
}

func looseID(id string) string {
	var b strings.Builder
	for i := range len(id) {
		if c := id[i]; isWordByte(c) && c != '_' {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// failed says whether anything that was read failed.
func (c *collector) failed() bool {
	return slices.ContainsFunc(c.found, func(f found) bool { return f.Result.failed() })
}

// hasTestFile says whether a report file of a test runner was read.
func (c *collector) hasTestFile() bool {
	return slices.ContainsFunc(fileReaders(), func(r fileReader) bool { return r.tests && c.seen[r.format] })
}

// tests says whether a test runner was recognised.
func (c *collector) tests() bool {
	ofTests := c.testFormats()
	for format := range c.seen {
		if ofTests[format] {
			return true
		}
	}
	return false
}

// testFormats are the formats of test runners.
func (c *collector) testFormats() map[string]bool {
	m := map[string]bool{}
	for _, r := range c.readers {
		m[r.format] = m[r.format] || r.tests
	}
	for _, r := range fileReaders() {
		m[r.format] = m[r.format] || r.tests
	}
	return m
}
