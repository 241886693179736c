// Package mechanic repairs without a model: the project's own fixers first, then a search over small typed
// edits at the lines that the failing tests suspect. It leaves the last word to the oracle, whose full check
// judges what it offers. It never touches a protected file, and everything it runs runs in the jail.
package mechanic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"iter"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// Mechanic looks for a repair of one red check. Its fields are set once, before the first call.
type Mechanic struct {
	Oracle *oracle.Oracle
	Policy patch.Policy
	Root   fs.FS         // the root's text
	Module string        // module path; there is no search without one
	Fixers []Fixer       // the writing forms of the tools that the check runs; what the Go toolchain has where there are none
	Width  int           // candidates at once; 2 if zero
	Max    int           // candidates in all; 400 if zero
	Budget time.Duration // of the search, the caller's own time left out; 5 minutes if zero
	OnTry  func(Try)     // told of every candidate, in order, from one goroutine; nobody if nil

	plain    bool      // one build a candidate, never one build for many; tests compare the two
	spectrum *spectrum // what Go's tests ran, once that was seen
}

// Candidate is a change that might be the repair.
type Candidate struct {
	Change patch.Change
	Why    string  // one sentence for people
	Score  float64 // of the search's order, higher is likelier; 1 for a fixer's change
	File   string  // the one file that a search's edit changes
	Line   int     // where, from 1
	Edit   string  // kind of edit from the catalogue, or the fixer's name

	edit edit
}

// Outcome is what became of a candidate, as far as the mechanic judges it.
type Outcome string

const (
	Untried    Outcome = "untried"          // could not be judged: a limit was hit
	StillRed   Outcome = "red"              // the findings stay
	NoCompile  Outcome = "does_not_compile" //
	Breaks     Outcome = "breaks_others"    // the findings are gone, and a test of their package that passed fails
	Refused    Outcome = "refused"          // by the gate
	LooksGreen Outcome = "green"            // offered to the caller
)

// Try is one candidate and what became of it.
type Try struct {
	N         int // from 1
	Candidate Candidate
	Outcome   Outcome
	Seconds   float64 // of judging it; its share where many were judged in one run
}

// errStop ends a search whose consumer has seen enough.
var errStop = errors.New("no more candidates wanted")

// Candidates yields, one by one, changes under which the findings are green when run alone; a fixer's change comes
// unjudged. The caller judges each with the full check and stops the iteration when one holds. An error ends
// it: it is ours or the context's, never the repository's. No candidate at all is no error.
func (m *Mechanic) Candidates(ctx context.Context, seen oracle.Verdict) iter.Seq2[Candidate, error] {
	return func(yield func(Candidate, error) bool) {
		h := &hunt{Mechanic: m, seen: seen, yield: yield, left: m.budget()}
		err := h.fix(ctx)
		if err == nil {
			err = h.search(ctx)
		}
		switch {
		case err == nil, errors.Is(err, errStop):
		case ctx.Err() != nil:
			yield(Candidate{}, context.Cause(ctx))
		default:
			yield(Candidate{}, err)
		}
	}
}

// hunt is one call of Candidates.
type hunt struct {
	*Mechanic
	seen  oracle.Verdict
	yield func(Candidate, error) bool
	left  time.Duration // of the budget
	tried int

	tests   []report.Result // the findings, all of them tests
	project *project        // what the failing tests are made of
	lanes   []lane          // where candidates are tried; the first from the coverage runs on
	took    float64         // seconds that the failing tests were seen taking
}

// offer hands a candidate to the caller. The time the caller takes is not the search's.
func (h *hunt) offer(c Candidate) error {
	if !h.yield(c, nil) {
		return errStop
	}
	return nil
}

// told tells of a try.
func (h *hunt) told(c Candidate, o Outcome, seconds float64) {
	h.tried++
	if h.OnTry != nil {
		h.OnTry(Try{N: h.tried, Candidate: c, Outcome: o, Seconds: seconds})
	}
}

// spend runs f on the budget. What f does when the budget ends is cut short, and over says so.
func (h *hunt) spend(ctx context.Context, f func(context.Context) error) (over bool, err error) {
	if h.left <= 0 {
		return true, nil
	}
	begin := time.Now()
	bounded, cancel := context.WithTimeout(ctx, h.left)
	defer cancel()
	err = f(bounded)
	h.left -= time.Since(begin)
	if bounded.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// gated says whether the gate lets a change pass.
func (m *Mechanic) gated(c patch.Change) bool {
	_, err := patch.Gate(m.Root, c.Diff(), m.Policy)
	return err == nil
}

// change is a change of one existing file.
func (m *Mechanic) change(name string, old, new []byte) patch.Change {
	return patch.Change{Files: []patch.FileChange{{Path: name, Old: old, New: new, Mode: m.mode(name)}}}
}

// tidy rewrites files as gofmt writes them where they stood so before.
func tidy(c patch.Change) {
	for i, f := range c.Files {
		if was, err := format.Source(f.Old); err != nil || !bytes.Equal(was, f.Old) {
			continue
		}
		if is, err := format.Source(f.New); err == nil {
			c.Files[i].New = is
		}
	}
}

func (m *Mechanic) mode(name string) fs.FileMode {
	if info, err := fs.Stat(m.Root, name); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func (m *Mechanic) width() int            { return orElse(m.Width, 2) }
func (m *Mechanic) max() int              { return orElse(m.Max, 400) }
func (m *Mechanic) budget() time.Duration { return orElse(m.Budget, 5*time.Minute) }

func orElse[T int | time.Duration](v, zero T) T {
	if v <= 0 {
		return zero
	}
	return v
}

// env is what the check adds to the environment of its command.
func (m *Mechanic) env() []string {
	var out []string
	for k, v := range m.Oracle.Check.Env {
		out = append(out, k+"="+v)
	}
	return out
}

// fresh is a new copy of the root; what close could not remove is an error of ours.
func (m *Mechanic) fresh(ctx context.Context) (dir string, close func() error, err error) {
	dir, end, err := m.Oracle.Trees.Fresh(ctx)
	if err != nil {
		return "", nil, fmt.Errorf("make a tree to try in: %w", err)
	}
	return dir, func() error {
		if err := end(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("remove a tree: %w", err)
		}
		return nil
	}, nil
}

// diagnostics says whether a finding of one of the kinds is among the findings.
func diagnostics(findings []report.Result, kinds ...report.Kind) bool {
	for _, f := range findings {
		for _, k := range kinds {
			if f.Kind == k {
				return true
			}
		}
	}
	return false
}
