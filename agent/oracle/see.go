package oracle

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// Sight is what the untouched root showed.
type Sight struct {
	Verdict
	K        int            // runs that a colour needs
	Trusted  bool           // instrumented runs agreed with the plain one, so findings have ids
	Baseline proof.Baseline // ids of the runs that count
	Runs     []Run          // every run, thrown-away ones included
	Natural  bool           // other orders or time zones give other results, so that only the runner's own counts
	Mixed    bool           // red in some runs and green in others: a flake, or red with no id red in all
}

// See runs the check on fresh copies of the root: once plain, k times instrumented. Unknown is a verdict too; the
// error is our side's.
func (o *Oracle) See(ctx context.Context) (s Sight, err error) {
	defer o.lookAhead(ctx, 2, &err)()
	plain, err := o.onRoot(ctx, "see", proof.Plain, 0)
	if err != nil {
		return Sight{}, err
	}
	s = Sight{K: o.k(plain.Result.Wall), Runs: []Run{plain}}
	if plain.Report.Color() == report.Unknown {
		s.Verdict = o.placed(verdict([]Run{plain}))
		return s, o.keep(&s.Runs[0])
	}
	o.runners = o.heard(plain.Report)
	if o.coming.more = s.K - 1; o.instrumentable(plain.Report) {
		o.coming.more = s.K
	}
	var inst []Run
	for i := 0; o.instrumentable(plain.Report) && i < s.K; i++ {
		r, err := o.onRoot(ctx, "see", proof.Instrumented, i)
		if err != nil {
			return s, err
		}
		inst = append(inst, r)
		if i == 0 && r.Report.Format == "exit" {
			break // nobody listened to the instrumentation
		}
	}
	inst, thrown, err := o.natural(ctx, &s, plain, inst)
	if err != nil {
		return s, err
	}
	return o.weigh(ctx, s, plain, inst, thrown)
}

// natural looks whether a red is the same in every order. Where it is not, the runs in other orders are thrown away and made
// again in the runner's own: tests that depend on their order hide the red that was asked about.
func (o *Oracle) natural(ctx context.Context, s *Sight, plain Run, inst []Run) (kept, thrown []Run, err error) {
	if len(inst) < s.K || len(inst) < 2 || plain.Report.Color() != report.Red || inst[0].Report.Color() != report.Red || len(commonRed(inst)) > 0 {
		return inst, nil, nil
	}
	s.Natural = true
	for i := range inst[1:] {
		inst[1+i].ThrownAway = "the tests depend on their order or on the time zone"
	}
	kept, thrown = inst[:1:1], inst[1:]
	for len(kept) < s.K {
		r, err := o.onRoot(ctx, "see", proof.Instrumented, 0)
		if err != nil {
			return nil, nil, err
		}
		kept = append(kept, r)
	}
	return kept, thrown, nil
}

// commonRed is the ids that are red in all runs.
func commonRed(runs []Run) []string {
	var reports []report.Report
	for _, r := range runs {
		reports = append(reports, r.Report)
	}
	return proof.Base(reports).Red
}

// weigh decides which runs count, makes the plain ones that are missing, and adds them up.
func (o *Oracle) weigh(ctx context.Context, s Sight, plain Run, inst, thrown []Run) (Sight, error) {
	s.Trusted = len(inst) == s.K
	mixed := false
	for _, r := range inst {
		mixed = mixed || r.Report.Color() != inst[0].Report.Color()
		s.Trusted = s.Trusted && r.Report.Color() == plain.Report.Color() && r.Report.Format != "exit"
	}
	counted := append([]Run{plain}, inst...)
	if !s.Trusted && !mixed {
		for i := range inst {
			inst[i].ThrownAway = fmt.Sprintf("instrumented run was %s and the plain one %s", inst[i].Report.Color(), plain.Report.Color())
			if inst[i].Report.Format == "exit" {
				inst[i].ThrownAway = "no reader understood the instrumented run"
			}
		}
		counted = []Run{plain}
		for len(counted) < s.K {
			r, err := o.onRoot(ctx, "see", proof.Plain, len(counted))
			if err != nil {
				return s, err
			}
			counted = append(counted, r)
		}
	}
	s.Runs = []Run{plain}
	s.Runs = append(append(append(s.Runs, inst...), counted[1:]...), thrown...)
	s.Runs = slices.CompactFunc(sortRuns(s.Runs), func(a, b Run) bool { return a.N == b.N })
	for i := range s.Runs {
		if err := o.keep(&s.Runs[i]); err != nil {
			return s, err
		}
	}
	o.trusted = s.Trusted
	o.sum(&s, counted)
	return s, nil
}

// sum adds counted runs up to the verdict of the sight.
func (o *Oracle) sum(s *Sight, counted []Run) {
	var ids []report.Report
	for _, r := range counted {
		if r.Mode == proof.Instrumented || !s.Trusted {
			ids = append(ids, r.Report)
		}
	}
	s.Baseline = proof.Base(ids)
	s.Verdict = o.placed(verdict(counted))
	s.Unstable = s.Baseline.Some
	colors := map[report.Color]int{}
	for _, r := range counted {
		colors[r.Report.Color()]++
	}
	switch {
	case colors[report.Red] > 0 && colors[report.Green] > 0:
		s.Mixed = true
		s.Text = fmt.Sprintf("red in %d and green in %d of %d runs of the same files", colors[report.Red], colors[report.Green], len(counted))
	case s.Color == report.Red && s.Trusted && len(s.Baseline.Red) == 0:
		s.Mixed = true
		s.Text = fmt.Sprintf("red in all %d runs, but no test failed in every one", len(counted))
	}
	s.Findings = slices.DeleteFunc(s.Findings, func(f report.Result) bool { return slices.Contains(s.Unstable, f.ID) })
	s.Failed = s.Baseline.Red
	s.Passed = s.Baseline.Pass
}

// onRoot runs the check on one fresh copy of the root. The i-th instrumented run has the i-th order and time zone.
func (o *Oracle) onRoot(ctx context.Context, phase, mode string, i int) (Run, error) {
	return o.fresh(ctx, nil, request{phase: phase, mode: mode, cache: seeCache, seed: o.seed(mode, i), tz: zone(mode, i), keep: true})
}

// fresh makes a copy of the root, applies a change to it if there is one, and runs the check on it.
func (o *Oracle) fresh(ctx context.Context, change *patch.Change, q request) (run Run, err error) {
	dir, remove, err := o.copy(ctx)
	if err != nil {
		return Run{}, fmt.Errorf("copy the root: %w", err)
	}
	defer func() {
		if e := remove(ctx); e != nil && err == nil {
			err = fmt.Errorf("remove a copy: %w", e)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Run{}, err
	}
	defer root.Close()
	if change != nil {
		if err := change.Write(root); err != nil {
			return Run{}, fmt.Errorf("apply the diff: %w", err)
		}
	}
	if q.tree, err = patch.TreeID(patch.DirFS(root), o.Links); err != nil {
		return Run{}, fmt.Errorf("hash a copy: %w", err)
	}
	if err := layOver(root, q.lay); err != nil {
		return Run{}, fmt.Errorf("lay files over a copy: %w", err)
	}
	q.dir = dir
	return o.run(ctx, q)
}

// copy is a fresh copy of the root and its remover.
func (o *Oracle) copy(ctx context.Context) (string, func(context.Context) error, error) {
	if o.coming != nil {
		return o.coming.fresh(ctx)
	}
	return o.Trees.Fresh(ctx)
}

// lookAhead lets copies be made before they are asked for, about n of them, until what it returns is called. That takes an
// error to err, if there is none yet.
func (o *Oracle) lookAhead(ctx context.Context, n int, err *error) (end func()) {
	o.coming = &ahead{trees: o.Trees, more: n}
	return func() {
		if e := o.coming.close(ctx); e != nil && *err == nil {
			*err = fmt.Errorf("remove a copy: %w", e)
		}
		o.coming = nil
	}
}

// ahead makes the next fresh copy while a run goes on in the last one, and removes those before meanwhile: with many files
// either takes as long as many a check. A copy is hashed when it is taken, as any is.
type ahead struct {
	trees Trees
	more  int       // copies that will be asked for, as far as is known
	next  chan made // of the copy that is being made; nil when none is
	gone  errgroup.Group
}

type made struct {
	dir    string
	remove func(context.Context) error
	err    error
}

func (a *ahead) fresh(ctx context.Context) (string, func(context.Context) error, error) {
	if a.next == nil {
		a.begin(ctx)
	}
	m := <-a.next
	a.next = nil
	if m.err != nil {
		return "", nil, m.err
	}
	if a.more--; a.more > 0 {
		a.begin(ctx)
	}
	return m.dir, func(ctx context.Context) error {
		a.gone.Go(func() error { return m.remove(ctx) })
		return nil
	}, nil
}

func (a *ahead) begin(ctx context.Context) {
	next := make(chan made, 1)
	go func() {
		dir, remove, err := a.trees.Fresh(ctx)
		next <- made{dir, remove, err}
	}()
	a.next = next
}

// close removes the copy that nobody asked for and waits for the others to be removed.
func (a *ahead) close(ctx context.Context) error {
	if a.next != nil {
		if m := <-a.next; m.err == nil {
			a.gone.Go(func() error { return m.remove(ctx) })
		}
	}
	return a.gone.Wait()
}

// layOver writes texts of ours over a copy.
func layOver(root *os.Root, texts map[string]string) error {
	for name, text := range texts {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// k is how many runs a colour needs, from the first one's time (configured, or 3 under a minute, 2 under five).
func (o *Oracle) k(first time.Duration) int {
	switch {
	case o.Check.Runs > 0:
		return o.Check.Runs
	case first < time.Minute:
		return 3
	case first < 5*time.Minute:
		return 2
	}
	return 1
}

// seed is 0, the runner's own order, for plain runs and the first instrumented one.
func (o *Oracle) seed(mode string, i int) int64 {
	if mode == proof.Plain || i == 0 {
		return 0
	}
	return (o.Seed+int64(i)*7919)&0x7fffffff + 1
}

// zone is "" (the machine's) for plain runs and the first instrumented one, then one far east, then one far west.
func zone(mode string, i int) string {
	if mode == proof.Plain || i == 0 {
		return ""
	}
	return [...]string{"Asia/Tokyo", "America/Los_Angeles", "UTC"}[(i-1)%3]
}

func sortRuns(rs []Run) []Run {
	slices.SortStableFunc(rs, func(a, b Run) int { return a.N - b.N })
	return rs
}
