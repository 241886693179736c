package patch

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Smell is one thing that a change adds and that an honest repair hardly ever has.
type Smell struct {
	Rule  string // as in "process-exit"
	File  string
	Line  int    // of the new text, from 1; 0 when the file as such is meant
	Text  string // the code it is about, at most a line, as it stands: an attacker's text for whoever shows it
	Fatal bool   // the claim is refused; otherwise people are told
}

// Rules of the lint.
const (
	ProcessExit   = "process-exit"      // ends the process, so that the runner cannot say what it saw
	TestBranch    = "test-environment"  // asks whether it is being tested
	Introspection = "stack-inspection"  // looks at who called it
	AlwaysEqual   = "equality-override" // is equal to anything
	Skipping      = "skips-a-test"      // says that a test need not run
	// Suppression silences a checker: fatal on code that was there before. On new code it is told; who claims that a
	// checker is content now refuses it as well.
	Suppression = "suppression"
	Asserted    = "asserted-values"  // has the expected values in it
	Emptied     = "emptied-function" // a function that did something does nothing
	Swallowed   = "swallowed-error"  // what went wrong is not told
	Patched     = "runner-or-library-patched"
	Outliving   = "side-effect" // processes, hooks and files that outlive the run
	Excluded    = "excluded-from-build"
	Forged      = "forged-output" // writes what a runner would
	Dynamic     = "code-from-text"
	Shadowing   = "shadows-a-library"
	ByChance    = "answers-by-chance"
	Counting    = "counts-its-calls"  // a function that was there before counts how often it was called
	Timing      = "changes-the-watch" // what reads the clock reads it otherwise, and the failing assertion asks how long something took
)

// Tested are the values of the failing tests: those that their assertions compared on the root, got and want, as the
// runner spelled them, and the strings and numbers that are written in the tests' own functions.
type Tested struct{ Compared, Written []string }

// Lint gives the smells of a change, by file and line. Only what the change adds counts: what the root has already,
// moved or not, is no smell. It reads by grammar: comments and strings are never taken for code. Files that no grammar reads are
// judged by their names alone; Unlinted names them.
func Lint(root fs.FS, change Change, tested Tested) []Smell {
	before, after := map[string]int{}, []noted{}
	var old, fresh []read
	for _, f := range change.Files {
		was, now := reading(f.Path, f.Old), reading(f.Path, f.New)
		old, fresh = append(old, was), append(fresh, now)
		for _, n := range was.notes() {
			before[n.key]++
		}
		for _, n := range now.notes() {
			n.Fatal = n.Fatal && (n.Rule != Suppression || was.has(n.code))
			after = append(after, n)
		}
		after = append(after, placed(root, change, f)...)
		after = append(after, emptied(was, now)...)
		after = append(after, dropped(was, now)...)
		after = append(after, counting(was, now)...)
	}
	after = append(after, reproduced(old, fresh, tested)...)
	after = append(after, rewound(old, fresh, tested)...)
	var smells []Smell
	for _, n := range after {
		if before[n.key] > 0 {
			before[n.key]--
			continue
		}
		smells = append(smells, n.Smell)
	}
	slices.SortStableFunc(smells, func(a, b Smell) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(smells)
}

// Unlinted gives the files of a change whose text Lint does not read: those of a programming language without a
// grammar and those that do not parse.
func Unlinted(change Change) []string {
	var names []string
	for _, f := range change.Files {
		g, ok := syntax.For(f.Path)
		switch {
		case f.Deleted:
		case ok && g.Parse(f.New) != nil, !ok && !settings.matches(foldPath(f.Path)):
			names = append(names, f.Path)
		}
	}
	return names
}

// noted is a smell with what it is known again by, wherever it stands.
type noted struct {
	Smell
	key  string
	code string // of a comment or an attribute: the line that it is about, without it
}

// read is a text with its facts.
type read struct {
	name, lang string
	lines      []string
	facts      []syntax.Fact
}

func reading(name string, text []byte) read {
	r := read{name: name, lines: splitLines(text)}
	g, ok := syntax.For(name)
	if !ok || len(text) == 0 {
		return r
	}
	r.lang = g.Name
	if r.lang == "typescript" || r.lang == "tsx" {
		r.lang = "javascript"
	}
	r.facts, _ = g.Facts(text) // what does not parse is told by Unlinted
	return r
}

// notes are the smells of a text by itself.
func (r read) notes() []noted {
	var out []noted
	for i, f := range r.facts {
		if rule, fatal := r.judge(i, f); rule != "" {
			out = append(out, r.note(rule, f, fatal))
		}
	}
	return out
}

func (r read) note(rule string, f syntax.Fact, fatal bool) noted {
	text := ""
	if f.Line >= 1 && f.Line <= len(r.lines) {
		text = strings.TrimSpace(r.lines[f.Line-1])
	}
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	weight := "weak"
	if fatal {
		weight = "fatal"
	}
	key := strings.Join(append([]string{rule, weight, f.Text}, f.Args...), "\x00")
	return noted{Smell{rule, r.name, f.Line, text, fatal}, key, r.about(f)}
}

// about is the code on a comment's own line, or else on the one below.
func (r read) about(f syntax.Fact) string {
	if f.Kind != syntax.Comment && f.Kind != syntax.Mark || f.Line < 1 {
		return ""
	}
	sign, _, _ := strings.Cut(f.Text, "\n")
	for i, l := range r.lines[min(len(r.lines), f.Line-1):] {
		if i == 0 && f.Kind == syntax.Comment {
			l, _, _ = strings.Cut(l, strings.TrimRight(sign, "\r"))
		}
		if l = strings.TrimSpace(l); l != "" && (i > 0 || f.Kind == syntax.Comment) {
			return l
		}
	}
	return ""
}

// has says whether a line stands in the text, comments behind it aside. The end of the text stands in every one.
func (r read) has(line string) bool {
	return line == "" || slices.ContainsFunc(r.lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), line) })
}

// judge holds one fact against the rules of its kind.
func (r read) judge(i int, f syntax.Fact) (rule string, fatal bool) {
	switch f.Kind {
	case syntax.Ref:
		return r.judgeRef(i, f)
	case syntax.Literal:
		return r.judgeLiteral(i, f)
	case syntax.Assign:
		return r.judgeAssign(f)
	case syntax.Func:
		return r.judgeFunc(i, f)
	case syntax.Catch:
		return r.judgeCatch(f)
	case syntax.Comment:
		return r.judgeComment(f)
	case syntax.Mark:
		return r.judgeMark(f)
	case syntax.Import:
		return r.judgeImport(f)
	}
	return "", false
}

// testFile says whether a file is a test by its name: there it may ask for its runner.
func (r read) testFile() bool {
	base := strings.ToLower(path.Base(r.name))
	for _, part := range []string{"_test.", ".test.", ".spec.", "test_", "conftest."} {
		if strings.HasPrefix(base, part) || strings.Contains(base, part) && part != "test_" {
			return true
		}
	}
	return false
}

// emptied gives the functions that did something and do nothing now.
func emptied(was, now read) []noted {
	before := map[string]syntax.Fact{}
	for _, f := range was.facts {
		if f.Kind == syntax.Func && f.Text != "" {
			before[f.Text] = f
		}
	}
	var out []noted
	for _, f := range now.facts {
		old, ok := before[f.Text]
		if f.Kind != syntax.Func || !ok || old.Body != syntax.Works && old.Body != syntax.Rethrows {
			continue
		}
		if f.Body == syntax.Empty || f.Body == syntax.Constant {
			out = append(out, now.note(Emptied, f, old.Size > 1 || f.Body == syntax.Empty))
		}
	}
	return out
}
