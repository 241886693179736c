package mechanic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"golang.org/x/tools/cover"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
)

const (
	ranTime  = 90 * time.Second // to see what tests run, builds included
	maxSpans = 4000             // of lines that they ran
	atOnce   = 200              // passing tests that are watched in one process; those that time is left for
)

// Ran tells what the findings' tests ran of files that may be changed, in order of file and line, each with how much it is suspected.
// Where Candidates has seen that already nothing runs. It is nothing where no test is red, or its runner cannot be asked: Go's, pytest
// and unittest can.
func (m *Mechanic) Ran(ctx context.Context, seen oracle.Verdict) ([]perceive.Ran, error) {
	ctx, cancel := context.WithTimeout(ctx, ranTime)
	defer cancel()
	tests := slices.DeleteFunc(slices.Clone(seen.Findings), func(f report.Result) bool { return f.Kind != report.Test })
	if red := m.failing(tests); len(red) > 0 && m.Module != "" {
		return m.ranGo(ctx, seen, tests, red)
	}
	return m.watched(ctx, seen, tests)
}

// ranGo is Ran by Go's coverage profiles.
func (m *Mechanic) ranGo(ctx context.Context, seen oracle.Verdict, tests []report.Result, red []testID) (_ []perceive.Ran, err error) {
	if m.spectrum == nil {
		h := &hunt{Mechanic: m, seen: seen, tests: tests, project: load(m.Root, m.Module, dirsOf(red))}
		defer func() { err = errors.Join(err, h.leave()) }()
		if err := h.enter(ctx, 1); err != nil {
			return nil, err
		}
		if m.spectrum, err = h.spectra(ctx, h.lanes[0], red, h.passing(seen.Passed, dirsOf(red))); err != nil {
			return nil, err
		}
	}
	return m.suspected(m.spectrum), nil
}

// watched is Ran by what the oracle sees of tests that it runs.
func (m *Mechanic) watched(ctx context.Context, seen oracle.Verdict, tests []report.Result) (_ []perceive.Ran, err error) {
	var red []string
	for _, f := range tests {
		red = append(red, f.ID)
	}
	if len(red) == 0 {
		return nil, nil
	}
	dir, end, err := m.fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	all := append(slices.Clone(red[:min(len(red), failingRuns)]), alike(seen.Passed, red, atOnce)...)
	lines, err := m.Oracle.Watch(ctx, dir, all, coverTime)
	if err != nil {
		return nil, fmt.Errorf("see what the tests run: %w", err)
	}
	s := newSpectrum(m.Module)
	for _, t := range lines {
		isRed := slices.Contains(red, t.Test)
		if isRed {
			s.failing++
		} else {
			s.passes++
		}
		for name, at := range t.Lines {
			for _, n := range at {
				s.count(name, cover.ProfileBlock{StartLine: n, EndLine: n, Count: 1}, isRed)
			}
		}
	}
	return m.suspected(s), nil
}

// suspected is what failing tests ran of a spectrum's files.
func (m *Mechanic) suspected(s *spectrum) (out []perceive.Ran) {
	for name, blocks := range s.blocks {
		for _, b := range blocks {
			if suspicion := ochiai(b.failed, b.passed, s.failing); suspicion > 0 {
				out = append(out, perceive.Ran{Lines: perceive.Lines{File: name, First: b.fromLine, Last: b.toLine}, Suspicion: suspicion})
			}
		}
	}
	return m.most(out)
}

// alike are those of some tests whose names begin most like a failing one's.
func alike(tests, red []string, n int) []string {
	var failing []testID
	for _, id := range red {
		failing = append(failing, testID{name: id})
	}
	out := slices.DeleteFunc(slices.Clone(tests), func(id string) bool { return slices.Contains(red, id) })
	sort.SliceStable(out, func(i, j int) bool {
		return likeness(testID{name: out[i]}, failing) > likeness(testID{name: out[j]}, failing)
	})
	return out[:min(n, len(out))]
}

// most puts spans of files that may be changed in order, joins neighbours that are suspected alike, and keeps the most suspected.
func (m *Mechanic) most(all []perceive.Ran) (out []perceive.Ran) {
	slices.SortFunc(all, func(a, b perceive.Ran) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	for _, r := range all {
		if _, protected := m.Policy.Protected(r.File); protected {
			continue
		}
		if n := len(out); n > 0 && out[n-1].File == r.File && out[n-1].Suspicion == r.Suspicion && r.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	if len(out) > maxSpans {
		least := slices.SortedFunc(slices.Values(out), func(a, b perceive.Ran) int { return cmp.Compare(b.Suspicion, a.Suspicion) })[maxSpans].Suspicion
		out = slices.DeleteFunc(out, func(r perceive.Ran) bool { return r.Suspicion <= least })
	}
	return out
}
