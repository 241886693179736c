package oracle

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// Confirm applies a claim's diff alone to fresh copies of the root and runs the check: plain once, k times
// instrumented, once more with the diff taken away again, once with canary tests, once with mutated literals; and every
// other configured check. The receipt holds the rungs as found; the verdict is Green only when none failed, and its Text
// says what did.
func (o *Oracle) Confirm(ctx context.Context, seen Sight, claim proof.Claim) (receipt proof.Receipt, v Verdict, err error) {
	policy, tools, err := o.opened(ctx, claim.Diff, seen.Findings)
	if err != nil {
		return proof.Receipt{}, Verdict{}, err
	}
	change, err := patch.Gate(o.Root, claim.Diff, policy)
	if err != nil {
		return proof.Receipt{}, Verdict{Color: report.Unknown, Text: err.Error()}, nil
	}
	if s := o.Prepared(); s != nil {
		if p := s.Touches(change); p != "" {
			return proof.Receipt{}, Verdict{Color: report.Unknown, Text: p + ": setup commands make files there, and a change may not"}, nil
		}
	}
	receipt, err = o.receipt(seen, claim, change, policy)
	if len(tools) > 0 {
		receipt.Fixers = o.Fixers
		if err := o.keepAll(tools); err != nil {
			return receipt, Verdict{}, err
		}
		seen.Runs = append(slices.Clone(seen.Runs), tools...) // they belong to the root as its red does
	}
	if err != nil {
		return receipt, Verdict{}, err
	}
	for _, r := range receipt.Rungs {
		if r.Status == proof.Failed && !o.Every { // what the diff shows by itself needs no run
			return receipt, Verdict{Color: report.Unknown, Text: r.ID + ": " + r.Text}, nil
		}
	}
	defer o.lookAhead(ctx, seen.K+4+2*len(o.Others), &err)()
	var runs []Run
	for i := 0; i <= seen.K; i++ {
		r, err := o.confirmRun(ctx, seen, change, i)
		if err != nil {
			return receipt, Verdict{}, err
		}
		runs = append(runs, r)
		if r.Report.Color() != report.Green {
			break // one run that is not green already refuses the claim
		}
		if i == 0 {
			defer o.ready(baseCache)()
		}
	}
	v = verdict(runs)
	if seen.Trusted && len(runs) > 1 { // the plain run names no tests
		named := verdict(runs[1:])
		v.Passed, v.Skipped = named.Passed, named.Skipped
	}
	if v.Color == report.Green {
		more, said, err := o.further(ctx, receipt, seen, change, runs)
		if err != nil {
			return receipt, Verdict{}, err
		}
		runs = append(runs, more...)
		receipt.Rungs = said
	}
	if err := o.keepAll(runs); err != nil {
		return receipt, v, err
	}
	for _, r := range append(slices.Clone(seen.Runs), runs...) {
		maps.Copy(receipt.Evidence, r.Files)
	}
	receipt.Rungs = proof.Merge(receipt.Rungs, o.rungs(receipt, seen, runs))
	return receipt, held(v, receipt.Rungs), nil
}

// ready makes a build cache while runs go on; what it returns waits for it. Whoever uses the cache is told its error.
func (o *Oracle) ready(name string) (wait func()) {
	var made sync.WaitGroup
	made.Go(func() { _, _ = o.cache(name) })
	return made.Wait
}

// held is a verdict that is no longer green where a rung failed, and says which.
func held(v Verdict, rungs []proof.Rung) Verdict {
	for _, r := range rungs {
		if r.Status == proof.Failed && v.Text == "" {
			v.Text = r.ID + ": " + r.Text
			if v.Color == report.Green {
				v.Color = report.Unknown
			}
		}
	}
	return v
}

// further makes the runs that a green claim has to stand besides, the cheap ones first, and stops at the first that refuses
// it. The rungs are those of the receipt, with the reasons for which a run was not made.
func (o *Oracle) further(ctx context.Context, receipt proof.Receipt, seen Sight, change patch.Change, runs []Run) (more []Run, said []proof.Rung, err error) {
	said = receipt.Rungs
	add := func(id string, rs []Run, why string, err error) error {
		more = append(more, rs...)
		if why != "" {
			said = proof.Merge(said, []proof.Rung{{ID: id, Status: proof.NotEvaluated, Text: why}})
		}
		return err
	}
	for _, step := range []func() error{
		func() error {
			r, err := o.revertRun(ctx, seen, change)
			return add("DR", []Run{r}, "", err)
		},
		func() error {
			rs, why, err := o.canaryRuns(ctx, seen, change)
			return add("D3", rs, why, err)
		},
		func() error {
			rs, why, err := o.mutatedRuns(ctx, seen, change)
			return add("D7", rs, why, err)
		},
		func() error {
			rs, err := o.otherRuns(ctx, change)
			return add("DS", rs, "", err)
		},
	} {
		if !o.Every && failed(o.rungs(receipt, seen, append(slices.Clone(runs), more...)), len(more) > 0) {
			break
		}
		if err := step(); err != nil {
			return more, said, err
		}
	}
	return more, said, nil
}

// failed says whether a rung did, of those whose runs were made already.
func failed(rungs []proof.Rung, reverted bool) bool {
	return slices.ContainsFunc(rungs, func(r proof.Rung) bool {
		later := r.ID == "DR" && !reverted || r.ID == "DS"
		return r.Status == proof.Failed && !later
	})
}

// confirmRun is the i-th run of the patched tree: 0 is plain, the last one starts from the toolchain base alone.
func (o *Oracle) confirmRun(ctx context.Context, seen Sight, change patch.Change, i int) (Run, error) {
	q := request{phase: "confirm", mode: proof.Plain, cache: "confirm", keep: true}
	if i > 0 && seen.Trusted {
		q.mode = proof.Instrumented
	}
	if q.mode == proof.Instrumented && !seen.Natural {
		q.seed, q.tz = o.seed(q.mode, i-1), zone(q.mode, i-1)
	}
	if i == seen.K {
		q.cache = baseCache
	}
	return o.fresh(ctx, &change, q)
}

// revertRun takes the patch away from a patched copy, byte for byte, and runs the check once more.
func (o *Oracle) revertRun(ctx context.Context, seen Sight, change patch.Change) (Run, error) {
	dir, remove, err := o.copy(ctx)
	if err != nil {
		return Run{}, fmt.Errorf("copy the root: %w", err)
	}
	defer remove(ctx) //nolint:errcheck // the start-up reaper takes what stays
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Run{}, err
	}
	defer root.Close()
	if err := change.Write(root); err != nil {
		return Run{}, fmt.Errorf("apply the diff: %w", err)
	}
	if err := inverse(change).Write(root); err != nil {
		return Run{}, fmt.Errorf("take the diff away: %w", err)
	}
	q := request{phase: "revert", mode: modeOf(seen.Trusted), dir: dir, cache: "confirm", keep: true}
	if q.tree, err = patch.TreeID(patch.DirFS(root), o.Links); err != nil {
		return Run{}, fmt.Errorf("hash a copy: %w", err)
	}
	return o.run(ctx, q)
}

func (o *Oracle) keepAll(runs []Run) error {
	for i := range runs {
		if err := o.keep(&runs[i]); err != nil {
			return err
		}
	}
	return nil
}

// receipt fills in what is known before the first run.
func (o *Oracle) receipt(seen Sight, claim proof.Claim, change patch.Change, policy patch.Policy) (proof.Receipt, error) {
	tree, err := patch.TreeID(change.Overlay(o.Root), o.Links)
	if err != nil {
		return proof.Receipt{}, fmt.Errorf("hash the patched tree: %w", err)
	}
	d2, sum := proof.OracleFiles(o.Root, change.Overlay(o.Root), policy)
	r := proof.Receipt{
		Version: proof.ReceiptVersion, Root: claim.Root, RootTree: claim.RootTree, Base: claim.Base, Tree: tree,
		Diff: proof.Sum(claim.Diff), Check: o.Check.ID, Command: o.Check.Run, Dir: slash(o.Check.Dir), K: seen.K,
		Trusted: seen.Trusted, Natural: seen.Natural, Findings: claim.Findings, Oracle: sum, Tier: string(o.Box.Tier()), Gaps: o.Box.Gaps(),
		Tools: map[string]string{"redraft": runtime.Version()}, Risk: change.Risk(o.Root, policy).String(),
		Made: time.Now().UTC().Truncate(time.Second), Evidence: map[string]string{},
	}
	if o.Needs.Go != "" {
		r.Tools["go"] = o.Needs.Go
	}
	if r.Setup = o.Prepared(); r.Setup != nil {
		r.Gaps = append(r.Gaps, r.Setup.Gap())
		maps.Copy(r.Evidence, o.base.files)
	}
	maps.Copy(r.Tools, o.Needs.Tools)
	r.Others = Others(o.Others)
	d4 := proof.DiffLint(o.Root, change, proof.Asserted(o.Root, seen.Failed, recorded(seen.Runs)))
	r.Rungs = proof.Merge(append([]proof.Rung{d2}, proof.Unbuilt()...), []proof.Rung{d4})
	return r, nil
}

// rungs derives what the runs show with the very function that Admit will use.
func (o *Oracle) rungs(receipt proof.Receipt, seen Sight, runs []Run) []proof.Rung {
	var all []proof.Recorded
	if o.base != nil {
		for _, r := range o.base.runs {
			all = append(all, proof.Recorded{RunRecord: r.Record})
		}
	}
	all = append(append(all, recorded(seen.Runs)...), recorded(runs)...)
	rungs, err := proof.Recompute(receipt, all)
	if err != nil && len(rungs) == 0 {
		return []proof.Rung{{ID: "D0", Status: proof.Failed, Text: err.Error()}}
	}
	return rungs
}

func recorded(runs []Run) []proof.Recorded {
	var out []proof.Recorded
	for _, r := range runs {
		r.Reports = nil
		for _, f := range r.Left {
			r.Reports = append(r.Reports, f.Name)
		}
		out = append(out, proof.Recorded{RunRecord: r.RunRecord, Report: r.Report})
	}
	return out
}

// inverse is the change that takes c away again.
func inverse(c patch.Change) patch.Change {
	out := patch.Change{Files: slices.Clone(c.Files)}
	for i, f := range out.Files {
		f.Old, f.New, f.Created, f.Deleted = f.New, f.Old, f.Deleted, f.Created
		out.Files[i] = f
	}
	return out
}

// FS is a directory's files, symbolic links included as links and never followed out of it.
func FS(dir string) (fs.FS, func() error, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	return patch.DirFS(root), root.Close, nil
}
