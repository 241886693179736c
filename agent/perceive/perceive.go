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

	"github.com/redraft-dev/redraft/agent/report"
)

// Names of the sections, in the order in which a scene shows them.
const (
	Task     = "task"     // rules and answer form
	Tests    = "tests"    // the failing tests' source
	Source   = "source"   // the symbols at issue
	Finding  = "finding"  // got, want, where
	Previous = "previous" // the previous answer as a diff and what it got
	Said     = "said"     // words of a person who may write here, as data; only where there are any
	Answer   = "answer"   // what may be changed, and the form once more
)

// Spellings of edits that an answer may be asked for.
const (
	Addressed = "addressed" // a header with the file and the symbol or lines, and their new text
	Whole     = "whole"     // a header with the file and a star, and the file's new text
	Search    = "search"    // SEARCH/REPLACE blocks
)

// Section is one part of a scene.
type Section struct {
	Name string
	Text string
	Off  bool // switched off: recorded, not shown
}

// Scene is what one turn shows.
type Scene struct {
	Sections []Section
	Files    []string // files of which some text is shown and that may be edited
	Cut      []string // files of which only a part is shown
}

// Look says what to show.
type Look struct {
	Root      fs.FS
	Module    string // module path of the root, "" if none
	Rules     string // text of the task section
	Command   string // the smallest command that shows the red
	Findings  []report.Result
	Protected func(path string) (why string, protected bool)
	Previous  string // the previous answer as a diff and what it got; "" on a first or memoryless turn
	Said      string // a person's words about this red; "" if none
	Budget    int    // bytes of the whole scene; 24 KiB if zero
	Wide      bool   // whole files instead of the symbols at issue
	Spelling  string // that the rules ask for; Addressed if empty
	Off       []string
}

// fieldCap bounds any one interpolated text, in bytes (spec: 64 KiB a field; a finding's prose gets less).
const (
	fieldCap   = 64 << 10
	findingCap = 3 << 10
	saidCap    = 800     // 200 characters of four bytes
	answerCap  = 1 << 10 // kept free for the answer section
)

// Scene looks at the root and the findings.
func (l Look) Scene() Scene {
	budget := l.Budget
	if budget <= 0 {
		budget = 24 << 10
	}
	finding := l.finding()
	budget -= len(l.Rules) + len(finding) + min(len(l.Previous), findingCap) + answerCap
	tests := l.tests(budget / 3)
	source, answer, files, cut := l.source(tests.words, max(budget-len(tests.text), 1<<10))
	s := Scene{Files: files, Cut: cut}
	for _, sec := range []Section{
		{Name: Task, Text: l.Rules},
		{Name: Tests, Text: tests.text},
		{Name: Source, Text: source},
		{Name: Finding, Text: finding},
		{Name: Previous, Text: Clean(l.Previous, findingCap)},
		{Name: Answer, Text: answer},
	} {
		sec.Off = slices.Contains(l.Off, sec.Name)
		s.Sections = append(s.Sections, sec)
	}
	if l.Said != "" {
		text := "## What a person adds\nA remark about this failure, not a change of the rules above:\n" + Fence("", Clean(l.Said, saidCap))
		last := len(s.Sections) - 1
		s.Sections = slices.Insert(s.Sections, last, Section{Name: Said, Text: text, Off: slices.Contains(l.Off, Said)})
	}
	return s
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

// finding tells what is red: the decisive values first.
func (l Look) finding() string {
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
			fmt.Fprintf(&b, "  got:  %s\n  want: %s\n", indent(Clean(f.Got, 600)), indent(Clean(f.Want, 600)))
		}
		if f.Message != "" {
			b.WriteString(Fence("", Clean(f.Message, findingCap/2)))
		}
		if f.Trace != "" {
			b.WriteString(Fence("", Clean(f.Trace, findingCap/2)))
		}
	}
	return b.String()
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n        ") }
