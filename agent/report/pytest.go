package report

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

var pytestReader = textReader{
	format: "pytest", tests: true,
	runs: pytestNames,
	wakes: []string{
		"= test session starts =", "= FAILURES =", "= ERRORS =", "= short test summary info =", "INTERNALERROR> ",
		" passed in ", " passed, ", " failed in ", " failed, ", " error in ", " errors in ", "no tests ran in ", " skipped in ",
		" deselected in ", " xfailed in ", " xpassed in ", " warning in ", " warnings in ",
		"ImportError while loading conftest ", ": error: unrecognized arguments: ", "No module named pytest",
	},
	start: func(c *collector) lineReader { return &pytest{c: c} },
	when: func(_ Run, line string) bool {
		if _, ok := pytestEnd(line); ok {
			return true
		}
		_, banner := pytestBanner(line)
		return banner || strings.HasPrefix(line, "INTERNALERROR> ") || strings.HasPrefix(line, "ImportError while loading conftest ") ||
			strings.Contains(line, ": error: unrecognized arguments: ") || strings.HasSuffix(line, "No module named pytest")
	},
}

var pytestNames = []string{"pytest", "py.test"}

// Bounds on what is kept of one failure, so that a deep recursion costs no more than a plain one: its head and its tail.
const (
	maxBlockHead = 200
	maxBlockTail = 200
)

// pyBlock is one entry of the sections FAILURES and ERRORS.
type pyBlock struct {
	title string // "TestNames.test_list", "ERROR at setup of test_x", "ERROR collecting tests/x.py"
	kept  headTail
	used  bool
	over  bool // captured output began
}

// headTail keeps the first and the last lines of a text.
type headTail struct {
	head, tail []string
}

func (h *headTail) add(line string) {
	line = cut(line, maxMessage)
	if len(h.head) < maxBlockHead {
		h.head = append(h.head, line)
		return
	}
	if h.tail = append(h.tail, line); len(h.tail) >= 2*maxBlockTail {
		h.tail = append(h.tail[:0], h.tail[len(h.tail)-maxBlockTail:]...)
	}
}

func (h *headTail) lines() []string { return slices.Concat(h.head, h.tail) }

// pyLine is a line of the short summary.
type pyLine struct{ word, id, text string }

// pytest reads one session after another.
type pytest struct {
	c         *collector
	section   string
	blocks    []*pyBlock
	block     *pyBlock
	summary   []pyLine
	verbose   []pyLine
	oneLine   []string // of a section without headings
	running   string   // id that -v announced and gave no word on yet
	began     bool
	ended     bool // once is enough: several sessions end each
	everEnded bool
	internal  headTail
	fatal     *headTail // stacks of a process that dies
	fatalWord string
}

func (p *pytest) line(l string) {
	if name, ok := pytestBanner(l); ok {
		p.banner(name)
		return
	}
	if counts, ok := pytestEnd(l); ok {
		p.endOf(counts)
		return
	}
	switch {
	case strings.HasPrefix(l, "INTERNALERROR> "):
		p.c.recognise("pytest")
		p.internal.add(strings.TrimPrefix(l, "INTERNALERROR> "))
	case strings.HasPrefix(l, "Fatal Python error: ") || strings.HasSuffix(l, "+ Timeout ++++++++++++++++++++++++++++++++++++") && p.fatal == nil || strings.Contains(l, ".Fatal Python error: "):
		p.fatal, p.fatalWord = &headTail{}, l[max(strings.Index(l, "Fatal Python error: "), 0):]
	case p.fatal != nil && !strings.HasSuffix(l, "++ Timeout ++++++++++++++++++++++++++++++++++++"):
		p.fatal.add(l)
	case p.section == "FAILURES" || p.section == "ERRORS":
		p.failureLine(l)
	case p.section == "summary":
		p.summaryLine(l)
	default:
		p.outside(l)
	}
}

// outside are the lines of progress, and what stands where no session is.
func (p *pytest) outside(l string) {
	switch {
	case strings.HasSuffix(l, "[100%]"):
		if !p.began && strings.Contains(l, ". ") { // -qq prints no more than this
			p.c.recognise("pytest")
			p.everEnded, p.c.ran = true, true
		}
		p.verboseLine(l)
	case strings.HasPrefix(l, "ImportError while loading conftest '"):
		name := strings.TrimSuffix(strings.TrimPrefix(l, "ImportError while loading conftest '"), "'.")
		p.section = "ERRORS"
		p.open("ERROR collecting " + p.c.places.relative(name))
	case strings.Contains(l, ": error: unrecognized arguments: "):
		p.unknownOption(l)
	case strings.HasSuffix(l, "No module named pytest"):
		p.c.mark(MissingDependency)
	default:
		p.verboseLine(l)
	}
}

// pluginOptions are options of pytest's that only a plugin brings.
var pluginOptions = []string{"--cov", "--timeout", "-n", "--numprocesses", "--dist", "--asyncio-mode", "--benchmark", "--reruns", "--html", "--ds", "--randomly", "--mypy", "--flake8", "--forked"}

func (p *pytest) unknownOption(l string) {
	if !strings.Contains(l, "pytest: error") && !strings.Contains(l, "__main__.py: error") {
		return
	}
	_, args, _ := strings.Cut(l, "unrecognized arguments: ")
	for _, o := range pluginOptions {
		if strings.HasPrefix(args, o) {
			p.c.mark(MissingDependency)
		}
	}
}

// pytestBanner reads a line that a title stands in the middle of, as in "==== FAILURES ====": at least twenty characters
// wide, so that hardly any other tool's or test's line is one.
func pytestBanner(l string) (title string, ok bool) {
	if len(l) < 20 || l[0] != '=' && l[0] != '!' && l[0] != '-' || l[len(l)-1] != l[0] {
		return "", false
	}
	c := l[:1]
	left := len(l) - len(strings.TrimLeft(l, c))
	right := len(l) - len(strings.TrimRight(l, c))
	if left < 3 || right < 3 || left+right+2 >= len(l) || left-right > 1 || right-left > 1 {
		return "", false
	}
	body := l[left : len(l)-right]
	if body[0] != ' ' || body[len(body)-1] != ' ' {
		return "", false
	}
	if _, counts := pytestEnd(l); counts {
		return "", false
	}
	return c + strings.TrimSpace(body), true
}

// banner begins a section.
func (p *pytest) banner(title string) {
	switch name := title[1:]; {
	case title[0] == '-':
		if p.block != nil && strings.HasPrefix(name, "Captured ") {
			p.block.over = true
		}
		return
	case title[0] == '!':
		p.c.recognise("pytest")
		p.close()
		return
	case p.block != nil && p.block.over && name == "test session starts":
		return // a test's own output
	case name == "test session starts":
		p.flush()
		p.began, p.ended, p.section = true, false, ""
	case name == "FAILURES" || name == "ERRORS":
		p.section = name
	case name == "short test summary info":
		p.section = "summary"
	default:
		p.section = "other"
	}
	p.c.recognise("pytest")
	p.close()
}

// failureLine is a line of FAILURES or ERRORS: a heading of underscores, or what belongs to the last one.
func (p *pytest) failureLine(l string) {
	if body := strings.Trim(l, "_"); len(l)-len(body) >= 6 && strings.HasPrefix(l, "___") && strings.HasSuffix(l, "___") && len(body) > 2 {
		if body[0] == ' ' && body[len(body)-1] == ' ' && len(l) >= 20 {
			p.open(strings.TrimSpace(body))
			return
		}
	}
	switch {
	case p.block != nil && !p.block.over:
		p.block.kept.add(l)
	case p.block == nil && len(p.oneLine) < maxTests:
		p.oneLine = append(p.oneLine, l)
	}
}

// lineOf finds the place of a failure that --tb=line told on a line of its own.
func (p *pytest) lineOf(r *Result) {
	first, _, _ := strings.Cut(r.Message, "\n")
	for i, l := range p.oneLine {
		file, n, _, ok := pyFrame(l)
		if rel, mine := p.c.own(file); ok && mine && first != "" && strings.HasSuffix(l, ": "+first) {
			r.File, r.Line = rel, n
			p.oneLine[i] = ""
			return
		}
	}
}

func (p *pytest) open(title string) {
	p.close()
	if len(p.blocks) < maxTests/10 {
		p.block = &pyBlock{title: title}
		p.blocks = append(p.blocks, p.block)
	}
}

func (p *pytest) close() { p.block = nil }

// summaryLine reads "FAILED id - text". A text may go on over lines, which say nothing that the failure does not.
func (p *pytest) summaryLine(l string) {
	word, rest, ok := strings.Cut(l, " ")
	if !ok || len(p.summary) >= maxTests || !slices.Contains([]string{"FAILED", "ERROR", "PASSED", "XFAIL", "XPASS", "SUBFAIL", "SUBFAILED"}, word) {
		return
	}
	id, text, _ := cutOutside(rest, " - ")
	p.summary = append(p.summary, pyLine{strings.Replace(word, "SUBFAILED", "FAILED", 1), id, text})
}

// pytestWords are what -v says of a test.
var pytestWords = map[string]Status{"PASSED": Pass, "FAILED": Fail, "ERROR": Error, "SKIPPED": Skip, "XFAIL": Skip, "XPASS": Pass, "RERUN": ""}

// verboseLine reads "tests/x.py::test_a PASSED [ 50%]" and xdist's "[gw0] [ 50%] PASSED tests/x.py::test_a". With -s a test's
// output comes between, so that the word stands on a line of its own.
func (p *pytest) verboseLine(l string) {
	if strings.HasPrefix(l, "[gw") {
		f := strings.SplitN(l, "] ", 3)
		if word, id, ok := strings.Cut(f[len(f)-1], " "); ok && pytestWords[word] != "" {
			p.verbose = append(p.verbose, pyLine{word: word, id: strings.TrimRight(id, " ")})
		}
		return
	}
	colons := strings.Index(l, "::")
	if colons > 0 && l[0] != ' ' && !strings.Contains(l[:colons], " ") && strings.Contains(l[:colons], ".") {
		id, word := verboseWord(l)
		p.running = strings.TrimRight(id, " ")
		if word == "" {
			p.running, _, _ = cutOutside(l, " ")
			return
		}
		p.say(word)
		return
	}
	if word, _, _ := strings.Cut(l, " "); p.running != "" && pytestWords[word] != "" {
		p.say(word)
	}
}

func (p *pytest) say(word string) {
	if pytestWords[word] != "" && len(p.verbose) < maxTests {
		p.verbose = append(p.verbose, pyLine{word: word, id: p.running})
	}
	p.running = ""
}

// verboseWord finds the word that ends a test's line; an id may hold blanks and such words itself.
func verboseWord(l string) (id, word string) {
	body := strings.TrimRight(l, " ")
	if i := strings.LastIndex(body, " ["); i > 0 && strings.HasSuffix(body, "%]") {
		body = strings.TrimRight(body[:i], " ")
	}
	if i := strings.LastIndex(body, " ("); i > 0 && strings.HasSuffix(body, ")") && endsInWord(body[:i]) != "" {
		body = body[:i]
	}
	if word = endsInWord(body); word == "" {
		return "", ""
	}
	return strings.TrimSuffix(body, " "+word), word
}

func endsInWord(s string) string {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	if _, ok := pytestWords[word]; ok {
		return word
	}
	return ""
}

// pytestCounts are the words of the last line, by word.
type pytestCounts map[string]int

// pytestEnd reads "==== 2 failed, 1 passed in 0.12s ====" and the same without the frame.
func pytestEnd(l string) (pytestCounts, bool) {
	if !strings.Contains(l, " in ") {
		return nil, false
	}
	body := strings.TrimSpace(strings.Trim(l, "="))
	i := strings.LastIndex(body, " in ")
	if i < 0 || len(body) > 400 {
		return nil, false
	}
	took, _, _ := strings.Cut(body[i+4:], " ")
	took = strings.TrimSuffix(strings.TrimSuffix(took, "s"), " seconds")
	if _, err := strconv.ParseFloat(took, 64); err != nil {
		return nil, false
	}
	counts := pytestCounts{}
	if body = body[:i]; body == "no tests ran" {
		return counts, true
	}
	for _, part := range strings.Split(body, ", ") {
		number, word, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(number)
		if err != nil || !slices.Contains([]string{"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed", "warning", "warnings", "rerun", "subtests passed", "subtests failed"}, word) {
			return nil, false
		}
		counts[strings.TrimSuffix(word, "s")] = n
	}
	return counts, true
}

// endOf takes the last line of a session.
func (p *pytest) endOf(n pytestCounts) {
	p.c.recognise("pytest")
	if (p.section == "FAILURES" || p.section == "ERRORS") && n["failed"]+n["error"] == 0 {
		return // a test's own output: after failures the counts name them
	}
	ran := n["passed"]+n["failed"]+n["error"]+n["xfailed"]+n["xpassed"] > 0
	failing := n["failed"]+n["error"] > 0
	before := len(p.c.found)
	p.flush()
	p.c.ran = p.c.ran || ran
	if !ran {
		p.c.mark(NoTests)
	}
	if failing && !slices.ContainsFunc(p.c.found[min(before, len(p.c.found)):], func(f found) bool { return f.Result.failed() }) {
		p.c.partial = true
	}
	p.began, p.ended, p.everEnded, p.section = false, true, true, ""
}

func (p *pytest) end() {
	p.flush()
	if p.began {
		p.c.partial = true
		p.began = false
	}
}

// doubt holds a run against its command: pytest that was asked for and did not say how it ended was ended by something.
func (p *pytest) doubt() {
	if !p.everEnded {
		p.c.missed("pytest", pytestNames)
	}
}

// flush turns what a session said into results.
func (p *pytest) flush() {
	p.close()
	failing := map[string]bool{}
	p.dying(failing)
	for _, s := range p.summary {
		switch s.word {
		case "FAILED", "ERROR":
			if b := p.blockOf(s); !failing[s.id] {
				failing[s.id] = true
				p.c.add("pytest", p.failure(s, b))
			}
		case "PASSED", "XPASS":
			p.c.add("pytest", Result{ID: s.id, Kind: Test, Status: Pass})
		}
	}
	for _, b := range p.blocks {
		if id := p.idOf(b); !b.used && !failing[id] {
			failing[id] = true
			p.c.add("pytest", p.failure(pyLine{word: cmp.Or(strings.TrimSuffix(b.title[:min(5, len(b.title))], " "), "FAILED"), id: id}, b))
		}
	}
	for _, v := range p.verbose {
		st := pytestWords[v.word]
		if st == Pass || st == Skip {
			p.c.add("pytest", Result{ID: v.id, Kind: Test, Status: st})
		} else if !failing[v.id] {
			failing[v.id] = true
			p.c.add("pytest", Result{ID: v.id, Kind: Test, Status: st, Class: Assertion, File: pytestFile(v.id)})
		}
	}
	p.blocks, p.summary, p.verbose, p.oneLine, p.internal = nil, nil, nil, nil, headTail{}
}

func pytestFile(id string) string {
	file, _, _ := strings.Cut(id, "::")
	return file
}

// dying is a process that ended outside of pytest's hands, and pytest's own fault.
func (p *pytest) dying(failing map[string]bool) {
	if lines := p.internal.lines(); len(lines) > 0 {
		r := Result{ID: "[pytest]", Kind: Test, Status: Error, Class: Panic, Message: lines[len(lines)-1], Trace: strings.Join(lines, "\n")}
		r.File, r.Line, _ = p.c.pyPlace(lines)
		p.c.add("pytest", r)
	}
	if p.fatal == nil {
		return
	}
	lines := p.fatal.lines()
	r := Result{ID: p.running, Kind: Test, Status: Error, Class: Panic, Message: p.fatalWord, Trace: strings.Join(lines, "\n")}
	if strings.Contains(p.fatalWord, "+ Timeout +") {
		r.Class, r.Message = Timeout, "pytest-timeout ended the process"
	}
	for _, l := range lines {
		file, n, in, ok := pyFrame(l)
		rel, mine := p.c.own(file)
		if !ok || !mine {
			continue
		}
		r.File, r.Line = cmp.Or(r.File, rel), cmp.Or(r.Line, n)
		if r.ID == "" && strings.HasPrefix(in, "test") {
			r.ID = rel + "::" + in
		}
	}
	p.fatal = nil
	if r.ID == "" {
		r.ID = "[pytest]"
	}
	if !slices.ContainsFunc(p.c.found, func(f found) bool { return f.ID == r.ID && f.Result.failed() }) {
		failing[r.ID] = true
		p.c.add("pytest", r)
	}
}

// blockOf is the failure that a line of the summary is about: the first unused one of its name.
func (p *pytest) blockOf(s pyLine) *pyBlock {
	file, inside, _ := strings.Cut(s.id, "::")
	want := headingOf(inside)
	for _, b := range p.blocks {
		name := b.title
		if rest, ok := strings.CutPrefix(name, "ERROR collecting "); ok {
			if !b.used && rest == s.id {
				b.used = true
				return b
			}
			continue
		}
		for _, at := range []string{"ERROR at setup of ", "ERROR at teardown of "} {
			if rest, ok := strings.CutPrefix(name, at); ok {
				if name = rest; s.word != "ERROR" {
					name = ""
				}
			}
		}
		if !b.used && (name == want && inside != "" || name == path.Base(file) && strings.Contains(strings.Join(b.kept.head, "\n"), s.id)) {
			b.used = true
			return b
		}
	}
	return nil
}

// headingOf spells "TestNames::test_list[a::b]" as the headings do.
func headingOf(inside string) string {
	name, param, found := strings.Cut(inside, "[")
	name = strings.ReplaceAll(name, "::", ".")
	if found {
		name += "[" + param
	}
	return name
}

// idOf makes the node id of a failure that no summary names: the file is the outermost one of its frames.
func (p *pytest) idOf(b *pyBlock) string {
	name := b.title
	if rest, ok := strings.CutPrefix(name, "ERROR collecting "); ok {
		return rest
	}
	for _, at := range []string{"ERROR at setup of ", "ERROR at teardown of "} {
		name = strings.TrimPrefix(name, at)
	}
	name, param, found := strings.Cut(name, "[")
	name = strings.ReplaceAll(name, ".", "::")
	if found {
		name += "[" + param
	}
	for _, l := range b.kept.head {
		if file, _, _, ok := pyFrame(l); ok {
			if rel, mine := p.c.own(file); mine {
				return rel + "::" + name
			}
		}
	}
	return name
}

// failure is one failing test or test file.
func (p *pytest) failure(s pyLine, b *pyBlock) Result {
	r := Result{ID: s.id, Kind: Test, Status: Fail, Class: Assertion, Message: s.text, File: pytestFile(s.id)}
	if b == nil {
		if e, ok := parsePyError([]string{s.text}); ok {
			if r.Status, r.Class = p.c.pyKind(e); r.Class == Assertion {
				r.Got, r.Want = pyGotWant(e)
			}
		}
		p.lineOf(&r)
		p.ofFile(&r, s)
		return r
	}
	lines := b.kept.lines()
	if file, n, _ := p.c.pyPlace(lines); file != "" {
		r.File, r.Line = file, n
	}
	p.describe(&r, lines)
	p.ofFile(&r, s)
	if r.Class == Panic || r.Kind == Build {
		r.Trace = strings.Join(lines, "\n")
	}
	return r
}

// ofFile makes a result whose id is a file one of its collection, that is of a build.
func (p *pytest) ofFile(r *Result, s pyLine) {
	if s.word != "ERROR" || strings.Contains(s.id, "::") {
		return
	}
	r.Kind, r.Status = Build, Error
	if r.Class != MissingDependency && r.Class != Timeout {
		r.Class = Compile
	}
	if r.Class == MissingDependency {
		p.c.mark(MissingDependency)
	}
}

// describe takes message, class, got and want from a failure's lines.
func (p *pytest) describe(r *Result, lines []string) {
	said := lastSaid(lines)
	for i := range said {
		if fixture, ok := strings.CutPrefix(said[i], "fixture '"); ok && strings.HasSuffix(fixture, "' not found") {
			r.Status, r.Class, r.Message = Error, Compile, said[i]
			if pluginFixtures[strings.TrimSuffix(fixture, "' not found")] {
				r.Class = MissingDependency
			}
			return
		}
		if e, ok := parsePyError(said[i:]); ok {
			r.Status, r.Class = p.c.pyKind(e)
			r.Message = strings.Join(said[i:], "\n")
			if r.Class == Assertion {
				r.Got, r.Want = pyGotWant(e)
			}
			return
		}
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "worker '") && strings.Contains(l, "' crashed while running '") {
			r.Status, r.Class, r.Message = Error, Panic, l
			return
		}
	}
	r.Message = cmp.Or(r.Message, strings.TrimSpace(strings.Join(lines[:min(len(lines), 5)], "\n")))
}

// pluginFixtures are fixtures that only a plugin brings.
var pluginFixtures = map[string]bool{
	"mocker": true, "benchmark": true, "requests_mock": true, "httpx_mock": true, "respx_mock": true, "freezer": true, "faker": true,
	"aiohttp_client": true, "snapshot": true, "db": true, "django_user_model": true, "qtbot": true, "httpserver": true, "datadir": true,
}

// lastSaid are the lines that an exception is told in, without their mark and indent: the last run of lines marked E, or what
// follows the last native traceback, or the one line of --tb=line.
func lastSaid(lines []string) []string {
	var out []string
	indent := 0
	for i, l := range lines {
		if l != "E" && !strings.HasPrefix(l, "E  ") {
			continue
		}
		body := l[1:]
		if i == 0 || lines[i-1] != "E" && !strings.HasPrefix(lines[i-1], "E  ") {
			out, indent = nil, len(body)-len(strings.TrimLeft(body, " "))
		}
		out = append(out, body[min(indent, len(body)-len(strings.TrimLeft(body, " "))):])
	}
	if out != nil {
		return out
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "Traceback (most recent call last):") {
			for j := i + 1; j < len(lines); j++ {
				if lines[j] != "" && lines[j][0] != ' ' {
					return lines[j:]
				}
			}
		}
	}
	for _, l := range lines {
		if strings.HasPrefix(l, "[XPASS(strict)]") {
			return []string{"Failed: " + l}
		}
	}
	return nil
}
