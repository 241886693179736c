// Package perceive gives what a proposer gets to see: one Scene of named sections in a fixed order, the stable ones
// first. It leaves judging and asking to others, and shows the root's text alone, since every address resolves
// against it. Everything in a scene that came from a repository or a run is data: fenced, cleaned, bounded and
// marked where it was cut.
package perceive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/report"
)

// Names of the sections, in the order in which a scene shows them.
const (
	Task     = "task"       // rules and answer form
	Project  = "skeleton"   // the tree from far away; shown only where it is asked for
	Tests    = "tests"      // the failing tests' source, with what they need
	Source   = "source"     // the symbols at issue
	Breaking = "dependents" // places that use those symbols
	History  = "history"    // last commits of the lines at issue
	Finding  = "finding"    // got, want, where
	Previous = "previous"   // the previous answer as a diff and what it got
	Said     = "said"       // words of a person who may write here, as data; only where there are any
	Answer   = "answer"     // what may be changed, and the form once more
)

// Coverage is no section: it is what the failing tests ran, by which the source is chosen. It is switched off like one.
const Coverage = "coverage"

// Asked are the sections that are off unless Look.On names them.
var Asked = []string{Project}

// Section is one part of a scene.
type Section struct {
	Name   string
	Text   string // not shown where Off
	Tokens int    // of Text, 0 where Off
	Off    bool   // switched off: recorded, not shown
}

// Scene is what one turn shows.
type Scene struct {
	Sections []Section
	Files    []string // files of which some text is shown and that may be edited
	Cut      []string // files of which only a part is shown
	Shown    []Lines  // the lines of those files that are shown, in order within each

	off []string // what is no section and was switched off
}

// Look says what to show.
type Look struct {
	Root      fs.FS
	Index     *Index // of the root; names alone rank what is at issue, and what uses it is not known, if nil
	Module    string // module path of the root, "" if none
	Rules     string // text of the task section
	Command   string // the smallest command that shows the red
	Findings  []report.Result
	Protected func(path string) (why string, protected bool) // nothing is if nil
	Previous  string                                         // the previous answer as a diff and what it got; "" on a first or memoryless turn
	Said      string                                         // a person's words about this red; "" if none
	Suspects  func(lines []Lines) []Suspect                  // who changed lines last; not known if nil
	Ran       []Ran                                          // what failing tests ran; not known if empty
	Tokens    func(text string) int                          // of the model in use; 16 are 51 bytes if nil
	Budget    int                                            // tokens of the whole scene; 7500 if zero
	Answer    int                                            // tokens of an answer at most; 1024 if zero
	Wide      bool                                           // whole files instead of the symbols at issue
	Off       []string                                       // sections that are not shown
	On        []string                                       // sections of Asked that are shown
}

// Lines are some lines of a file, the first and the last of them counted from 1.
type Lines struct {
	File        string
	First, Last int
}

// Ran are some lines that failing tests ran.
type Ran struct {
	Lines
	Suspicion float64 // above 0, 1 where all failing tests and no others ran them: Ochiai's coefficient
}

// Suspect is the commit that changed some lines last. Its texts are data.
type Suspect struct {
	Lines
	Commit  string
	Subject string
	When    time.Time
	Text    string // what it changed there, as a diff
}

// Bounds of interpolated texts, in bytes (spec: 64 KiB a field; a finding's prose gets less).
const (
	fieldCap   = 64 << 10
	findingCap = 3 << 10
	saidCap    = 800 // 200 characters of four bytes
)

const (
	answerTokens = 320 // kept free for the answer section
	leastTokens  = 320 // that the source may have, whatever the rest takes
)

// Scene looks at the root and the findings.
func (l Look) Scene() Scene {
	v := newViewer(l)
	rules, finding, previous, said := l.Rules, v.finding(), Clean(l.Previous, findingCap), l.said()
	left := v.budget - answerTokens
	for _, text := range []string{rules, finding, previous, said} {
		left -= v.count(text)
	}
	tests := v.shown(Tests, v.tests(left/3))
	left -= v.count(tests)
	ranked := v.ranked()
	project := v.shown(Project, v.project(left/5))
	breaking := v.shown(Breaking, v.breaking(ranked, left/8))
	history := v.shown(History, v.history(ranked, left/8))
	left -= v.count(project) + v.count(breaking) + v.count(history)
	source, answer := v.source(ranked, max(left, leastTokens))
	s := Scene{Files: v.files, Cut: v.cut, Shown: v.seen}
	if l.off(Coverage) {
		s.off = append(s.off, Coverage)
	}
	for _, sec := range []Section{
		{Name: Task, Text: rules}, {Name: Project, Text: project}, {Name: Tests, Text: tests}, {Name: Source, Text: source},
		{Name: Breaking, Text: breaking}, {Name: History, Text: history}, {Name: Finding, Text: finding}, {Name: Previous, Text: previous},
		{Name: Said, Text: said}, {Name: Answer, Text: answer},
	} {
		if sec.Name == Said && said == "" {
			continue
		}
		if sec.Off = l.off(sec.Name); !sec.Off {
			sec.Tokens = v.count(sec.Text)
		}
		s.Sections = append(s.Sections, sec)
	}
	return s
}

// off says whether a section is not shown.
func (l Look) off(name string) bool {
	return slices.Contains(l.Off, name) || slices.Contains(Asked, name) && !slices.Contains(l.On, name)
}

func (l Look) said() string {
	if l.Said == "" {
		return ""
	}
	return "## What a person adds\nA remark about this failure, not a change of the rules above:\n" + Fence("", Clean(l.Said, saidCap))
}

func (l Look) protected(name string) bool {
	if l.Protected == nil {
		return false
	}
	_, no := l.Protected(name)
	return no
}

// Text is the scene as one message.
func (s Scene) Text() string {
	var b strings.Builder
	for _, sec := range s.Sections {
		if sec.Off || sec.Text == "" {
			continue
		}
		b.WriteString(strings.TrimRight(sec.Text, "\n"))
		b.WriteString("\n\n")
	}
	return b.String()
}

// Sizes is the bytes of each section, 0 for one that is off or empty.
func (s Scene) Sizes() map[string]int {
	out := map[string]int{}
	for _, sec := range s.Sections {
		out[sec.Name] = len(sec.Text)
		if sec.Off {
			out[sec.Name] = 0
		}
	}
	return out
}

// Digest is the SHA-256 of the scene's text in hex.
func (s Scene) Digest() string {
	sum := sha256.Sum256([]byte(s.Text()))
	return hex.EncodeToString(sum[:])
}

// Tokens is the tokens of each section, 0 for one that is off or empty.
func (s Scene) Tokens() map[string]int {
	out := map[string]int{}
	for _, sec := range s.Sections {
		out[sec.Name] = sec.Tokens
	}
	return out
}

// Off are the sections that are switched off, and Coverage where that is.
func (s Scene) Off() (names []string) {
	for _, sec := range s.Sections {
		if sec.Off {
			names = append(names, sec.Name)
		}
	}
	return append(names, s.off...)
}

// finding tells what is red, in at most a third of the budget where that can be.
func (v *viewer) finding() string {
	for n := findingCap / 2; ; n /= 2 {
		if text := v.Look.finding(n); n < 200 || v.count(text) <= v.budget/3 {
			return text
		}
	}
}

// finding tells what is red, the decisive values first, with at most n bytes of each text.
func (l Look) finding(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## What is red\n`%s` fails.\n", Clean(l.Command, 400))
	for i, f := range l.Findings {
		if i == 3 {
			fmt.Fprintf(&b, "\n(%d more findings are not shown.)\n", len(l.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "\n- %s", Clean(f.ID, 200))
		if f.File != "" {
			fmt.Fprintf(&b, " at %s:%d", Clean(f.File, 200), f.Line)
		}
		b.WriteString("\n")
		if f.Got != "" || f.Want != "" {
			fmt.Fprintf(&b, "  got:  %s\n  want: %s\n", indent(Clean(f.Got, min(n, 600))), indent(Clean(f.Want, min(n, 600))))
		}
		for _, text := range []string{f.Message, f.Trace} {
			if text != "" {
				b.WriteString(Fence("", Clean(text, n)))
			}
		}
	}
	return b.String()
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n        ") }
