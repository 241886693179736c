package report

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// finish turns what was read into results.
func (s *stream) finish(rep *Report) {
	s.learnPlaces()
	n := 0
	for _, p := range s.pkgs {
		n += len(p.order) + len(p.passed)
	}
	out := make([]Result, 0, n+n/64) // in one piece: there may be very many
	for _, p := range s.pkgs {
		out = s.packageResults(out, p)
		p.passed, p.names = nil, ""
	}
	out = append(out, s.buildResults()...)
	rep.Format = s.format(len(out))
	rep.Results = merged(out)
	rep.Problems = s.problems
	s.others.finish(rep)
	if rep.Exit > 0 && len(rep.Failed()) == 0 {
		s.missing = s.missing || !s.sawJSON && !s.sawText && !s.others.tests() && s.unstarted()
		rep.Results = merged(append(rep.Results, s.statusResult(rep.Exit)))
	}
	if s.dropped {
		rep.Problems = append(rep.Problems, "more tests or packages than are kept: some results are missing")
	}
}

func (s *stream) format(results int) string {
	switch {
	case s.sawJSON:
		return "go-test-json"
	case s.sawText || s.sawGo && strings.Contains(s.run.Command, "go test"):
		return "go-test"
	case len(s.vets) > 0 || results > 0 && s.onlyVet():
		return "go-vet"
	case results > 0 || s.sawGo || len(s.blocks) > 0:
		return "go-build"
	}
	return "exit"
}

func (s *stream) onlyVet() bool {
	for _, b := range s.blocks {
		if !b.vet {
			return false
		}
	}
	return true
}

// learnPlaces finds the module's path, when the caller did not say it, from every pair of package and file there is.
func (s *stream) learnPlaces() {
	for _, b := range s.blocks {
		if len(b.found) > 0 {
			s.places.learn(b.pkg, b.found[0].file)
		}
	}
	for _, p := range s.pkgs {
		if _, crash := p.crash(); crash != "" {
			s.places.learnFrames(crash)
		}
	}
}

// crash is the text of what killed the test binary, and the test in whose output it stands, if any.
func (p *pkg) crash() (in *test, text string) {
	if p.last != "" || p.status == Pass || p.status == Skip {
		return nil, ""
	}
	c := &p.out
	if p.crashed != nil {
		c = &p.crashed.out
	}
	_, text = c.split()
	if p.status == "" && !strings.Contains(text, "\ngoroutine ") {
		return nil, ""
	}
	return p.crashed, text
}

// packageResults appends the results of one test binary.
func (s *stream) packageResults(out []Result, p *pkg) []Result {
	for _, t := range p.order {
		if t.status == "" {
			t.status = t.reported
		}
	}
	if p.note == "[build failed]" || p.note == "[setup failed]" {
		return append(out, s.blockResult(s.blockOf(p), p.path))
	}
	if p.status == "" {
		s.unended++
	}
	culprit := s.culprit(p)
	failed := culprit.own != nil
	packed := p.passedResults()
	for i, t := range p.order {
		out = packed(out, i)
		r, ok := s.testResult(p, t, culprit)
		if ok {
			out = append(out, r)
			failed = failed || r.failed()
		}
	}
	out = packed(out, len(p.order))
	if culprit.own != nil {
		return append(out, *culprit.own)
	}
	return append(out, s.binaryResult(p, failed)...)
}

// passedResults gives what appends the packed results that stand before a place in order, one place after the other. Their ids
// lie in one text.
func (p *pkg) passedResults() func(out []Result, place int) []Result {
	prefix := join(p.path, "")
	var text strings.Builder
	text.Grow(len(p.names) + len(p.passed)*len(prefix))
	for i := range p.passed {
		text.WriteString(prefix)
		text.WriteString(p.passedName(i))
	}
	ids, n := text.String(), 0
	return func(out []Result, place int) []Result {
		for ; n < len(p.passed) && int(p.passed[n].before) <= place; n++ {
			long := len(prefix) + len(p.passedName(n))
			out = append(out, Result{ID: cut(ids[:long], maxID), Kind: Test, Status: Pass, Seconds: p.passed[n].seconds})
			ids = ids[long:]
		}
		return out
	}
}

// culprit is what ended a test binary early.
type culprit struct {
	class   Class
	crash   string
	message string
	at      []string // tests it is laid to, sorted; their parents did not end either
	own     *Result  // the package's own, when it is laid to no test
}

// culprit finds whom a crash, a timeout or an exit is laid to.
func (s *stream) culprit(p *pkg) culprit {
	in, crash := p.crash()
	c := culprit{class: Panic, crash: crash}
	switch names, timeout := runningTests(crash); {
	case timeout:
		c.class = Timeout
		c.lay(p, s, leaves(names))
	case crash != "":
		s.noMemory = s.noMemory || strings.Contains(crash, "out of memory\n")
		c.lay(p, s, p.crashOwner(in, crash))
	case p.status == Fail && p.last == "" && p.verbose:
		if running := p.running(""); len(running) == 1 {
			c.message = words("the test binary ended while this test ran", p.exit)
			c.lay(p, s, running)
		}
		return c
	}
	c.message, _, _ = strings.Cut(crash, "\n\n")
	c.message = strings.TrimSpace(c.message)
	if crash != "" && len(c.at) == 0 {
		c.own = s.crashResult(p, c)
	}
	return c
}

// lay names the tests; one that was never announced, as in text without -v, is added.
func (c *culprit) lay(p *pkg, s *stream, names []string) {
	for _, name := range names {
		s.named(p, name)
		c.at = append(c.at, name)
	}
	sort.Strings(c.at)
}

func hasName(sorted []string, name string) bool {
	_, ok := slices.BinarySearch(sorted, name)
	return ok
}

func (c *culprit) is(t *test) bool { return hasName(c.at, t.name) }

// leaves drops the names that others go on from.
func leaves(names []string) []string {
	sort.Strings(names)
	var out []string
	for _, n := range names {
		if !hasBelow(names, n) {
			out = append(out, n)
		}
	}
	return out
}

// crashOwner is the test that a crash is laid to: the one on the dying stack, the one in whose output it stands, or
// the only one that was running.
func (p *pkg) crashOwner(in *test, crash string) []string {
	name, itself := testOnStack(crash)
	if in != nil && (name == "" || root(in.name) == name) {
		name = in.name
	}
	if name == "" {
		if running := p.running(""); len(running) == 1 {
			return running
		}
		return nil
	}
	if itself && root(name) == name {
		return []string{name}
	}
	if running := p.running(name); len(running) == 1 {
		return running
	}
	return []string{p.lastFailing(name)}
}

func root(name string) string {
	r, _, _ := strings.Cut(name, "/")
	return r
}

// running are the innermost tests at or below name, all if it is empty, that had begun, not ended, and were not paused.
func (p *pkg) running(name string) []string {
	var names []string
	for _, t := range p.order {
		if t.status == "" && !t.paused && !isBenchmark(t.name) && (name == "" || t.name == name || strings.HasPrefix(t.name, name+"/")) {
			names = append(names, t.name)
		}
	}
	return leaves(names)
}

// lastFailing is the failing test below name that was reported last: a panic goes up from there. Else name.
func (p *pkg) lastFailing(name string) string {
	last, seq := name, 0
	for _, t := range p.order {
		if t.status == Fail && t.seq > seq && strings.HasPrefix(t.name, name+"/") && strings.Count(t.name, "/") >= strings.Count(last, "/") {
			last, seq = t.name, t.seq
		}
	}
	return last
}

// testResult is one test's result; ok is false for one that says nothing: never ended, or only played by another test.
func (s *stream) testResult(p *pkg, t *test, c culprit) (r Result, ok bool) {
	r = Result{ID: cut(join(p.path, t.name), maxID), Kind: Test, Status: t.status, Seconds: t.seconds}
	latest := p.tests[t.name] == t
	switch {
	case latest && c.is(t):
		r.Status = Fail
	case latest && t.status == "" && hasBelow(c.at, t.name):
		r.Status = Fail
	case isBenchmark(t.name) && t.status != Fail:
		return r, false
	case t.status == "":
		if s.run.Exit == 0 || p.status != Fail {
			s.unended++
			s.problem("began and did not end: " + r.ID)
		}
		return r, false
	case t.status == Fail && p.status == Pass && p.last == "PASS":
		s.problem("reported failing inside a package that passed, so played by another test: " + r.ID)
		return r, false
	}
	if r.Status == Pass {
		return r, true
	}
	s.describe(&r, p, t, latest && c.is(t), c)
	return r, true
}

// describe fills in what a test that did not pass said.
func (s *stream) describe(r *Result, p *pkg, t *test, culpable bool, c culprit) {
	own := t.out.text()
	if p.crashed == t && c.crash != "" {
		own, _ = t.out.split()
	}
	if r.Status == Skip {
		r.Message = message(own)
		return
	}
	r.Class = Assertion
	if strings.Contains(own, ": no space left on device\n") {
		s.diskFull = true
	}
	stack, rest := race(own)
	s.say(r, p, t, rest)
	if stack == "" && strings.Contains(own, "race detected during execution of test") {
		stack, _ = race(p.out.text()) // text without -v: the detector wrote past the test's log
	}
	if stack != "" {
		r.Trace = cut(stack, maxTrace)
		r.File, r.Line = s.places.place(stack)
	}
	if !culpable {
		return
	}
	r.Class, r.Got, r.Want = c.class, "", ""
	r.Message = cut(strings.TrimSpace(c.message+"\n"+r.Message), maxMessage)
	if c.crash == "" {
		return
	}
	r.Trace = cut(c.crash, maxTrace)
	find := s.places.place
	if c.class == Timeout {
		find = s.places.waitingPlace
	}
	if file, line := find(c.crash); file != "" {
		r.File, r.Line = file, line
	}
}

// say takes message, position, got and want from what a test logged. The first message that holds both decides.
func (s *stream) say(r *Result, p *pkg, t *test, own string) {
	logged := entries(own)
	if len(logged) == 0 && p.hasFailingBelow(t.name) {
		return
	}
	r.Message = message(own)
	at := -1
	for i, e := range logged {
		if got, want := gotWant(e.text); got != "" || want != "" {
			r.Got, r.Want, at = cut(got, maxMessage), cut(want, maxMessage), i
			break
		}
		if at < 0 && e.file != "testing.go" {
			at = i
		}
	}
	if at >= 0 {
		r.File, r.Line = s.places.inPackage(p.path, logged[at].file), logged[at].line
	}
	if len(logged) == 0 {
		r.Got, r.Want = gotWant(message(own))
	}
}

// hasFailingBelow reports whether a subtest of the named test failed. Asked only once all tests have their status.
func (p *pkg) hasFailingBelow(name string) bool {
	if p.failing == nil {
		p.failing = []string{}
		for _, t := range p.order {
			if t.status == Fail {
				p.failing = append(p.failing, t.name)
			}
		}
		sort.Strings(p.failing)
	}
	return hasBelow(p.failing, name)
}

func join(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "." + name
}

func words(sentence, exit string) string {
	if exit != "" {
		return sentence + ": " + exit
	}
	return sentence
}

// crashResult is a crash that belongs to no test: in init, in TestMain, in a goroutine of nobody.
func (s *stream) crashResult(p *pkg, c culprit) *Result {
	r := Result{
		ID: join(p.path, "[panic]"), Kind: Test, Status: Error, Class: c.class, Seconds: p.seconds,
		Message: cut(c.message, maxMessage), Trace: cut(c.crash, maxTrace),
	}
	r.File, r.Line = s.places.place(c.crash)
	return &r
}

// binaryResult is what the binary as a whole has to answer for once its tests are told.
func (s *stream) binaryResult(p *pkg, failed bool) []Result {
	text := message(p.out.text())
	exit := Result{ID: join(p.path, "[exit]"), Kind: Test, Seconds: p.seconds, Message: text}
	switch {
	case p.status == Pass && p.verbose && p.last == "" && p.note == "":
		exit.Status, exit.Message = Skip, "the test binary ended with status 0 before its tests did"
		return []Result{exit}
	case p.status != Fail || failed:
		return nil
	}
	if stack, _ := race(p.out.text()); stack != "" {
		r := Result{ID: join(p.path, "[race]"), Kind: Test, Status: Error, Class: Assertion, Message: "race detected outside of a test"}
		r.Trace = cut(stack, maxTrace)
		r.File, r.Line = s.places.place(stack)
		return []Result{r}
	}
	end := p.exit
	if i := strings.LastIndex("\n"+text, "\nsignal: "); i >= 0 && end == "" {
		end = text[i:]
	}
	s.killed = s.killed || strings.HasPrefix(end, "signal: killed")
	exit.Status, exit.Class = Error, Panic
	exit.Message = cut(words("the test binary ended outside its tests", p.exit)+"\n"+text, maxMessage)
	return []Result{exit}
}

// statusResult stands for a red run in which no reader found what failed.
func (s *stream) statusResult(exit int) Result {
	if len(s.goLines.buf) > 0 {
		r := Result{ID: "[go]", Kind: Build, Status: Error, Class: Compile}
		r.Message = cut(strings.TrimSpace(s.goLines.text()), maxMessage)
		if s.missing {
			r.Class = MissingDependency
		}
		return r
	}
	r := Result{ID: "[exit]", Kind: Test, Status: Fail, Class: Assertion, Message: lastLines(s.tail, maxMessage)}
	if s.missing {
		r.Class = MissingDependency
	}
	if exit == 132 || exit == 134 || exit == 136 || exit == 139 { // 128 plus ILL, ABRT, FPE or SEGV
		r.Class = Panic
	}
	return r
}

// merged makes ids unique: the worst status of an id stays, of equals the first. It works in place.
func merged(all []Result) []Result {
	if len(all) == 0 {
		return []Result{}
	}
	at := newIDs(len(all))
	out := all[:0]
	for _, r := range all {
		i := at.find(out, r.ID)
		if i == len(out) {
			out = append(out, r)
		} else if out[i].Status != r.Status && worst(out[i].Status, r.Status) == r.Status {
			out[i] = r
		}
	}
	clear(all[len(out):])
	return out
}

// ids find results by their id in a few bytes each, where a map would hold every id once more.
type ids struct {
	seed  maphash.Seed
	slots []int32 // place of a result, from 1; a power of two of them
}

func newIDs(n int) ids {
	return ids{seed: maphash.MakeSeed(), slots: make([]int32, 1<<bits.Len(uint(2*n)))}
}

// find gives the place of the result of that id, or the place after the last, at which it then is to be put.
func (t ids) find(results []Result, id string) int {
	mask := uint64(len(t.slots) - 1)
	for h := maphash.String(t.seed, id) & mask; ; h = (h + 1) & mask {
		i := int(t.slots[h]) - 1
		if i < 0 {
			t.slots[h] = int32(len(results) + 1)
			return len(results)
		}
		if results[i].ID == id {
			return i
		}
	}
}
