package oracle

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// Confirm applies a claim's diff alone to fresh copies of the root and runs the check: plain once, k times
// instrumented, and once more with the diff taken away again. The receipt holds the rungs as found; the verdict
// is Green only when none failed, and its Text says what did.
func (o *Oracle) Confirm(ctx context.Context, seen Sight, claim proof.Claim) (proof.Receipt, Verdict, error) {
	change, err := patch.Gate(o.Root, claim.Diff, o.Policy)
	if err != nil {
		return proof.Receipt{}, Verdict{Color: report.Unknown, Text: err.Error()}, nil
	}
	if s := o.Prepared(); s != nil {
		if p := s.Touches(change); p != "" {
			return proof.Receipt{}, Verdict{Color: report.Unknown, Text: p + ": setup commands make files there, and a change may not"}, nil
		}
	}
	receipt, err := o.receipt(seen, claim, change)
	if err != nil {
		return receipt, Verdict{}, err
	}
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
	}
	v := verdict(runs)
	if seen.Trusted && len(runs) > 1 { // the plain run names no tests
		named := verdict(runs[1:])
		v.Passed, v.Skipped = named.Passed, named.Skipped
	}
	if v.Color == report.Green {
		r, err := o.revertRun(ctx, seen, change)
		if err != nil {
			return receipt, Verdict{}, err
		}
		runs = append(runs, r)
	}
	if err := o.keepAll(runs); err != nil {
		return receipt, v, err
	}
	for _, r := range append(slices.Clone(seen.Runs), runs...) {
		maps.Copy(receipt.Evidence, r.Files)
	}
	receipt.Rungs = append(o.rungs(receipt, seen, runs), receipt.Rungs...)
	proof.SortRungs(receipt.Rungs)
	for _, r := range receipt.Rungs {
		if r.Status == proof.Failed && v.Text == "" {
			v.Text = r.ID + ": " + r.Text
			if v.Color == report.Green {
				v.Color = report.Unknown
			}
		}
	}
	return receipt, v, nil
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
	dir, remove, err := o.Trees.Fresh(ctx)
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
	q := request{phase: "revert", mode: proof.Plain, dir: dir, cache: "confirm", keep: true}
	if seen.Trusted {
		q.mode = proof.Instrumented
	}
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
func (o *Oracle) receipt(seen Sight, claim proof.Claim, change patch.Change) (proof.Receipt, error) {
	tree, err := patch.TreeID(change.Overlay(o.Root), o.Links)
	if err != nil {
		return proof.Receipt{}, fmt.Errorf("hash the patched tree: %w", err)
	}
	d2, sum := proof.OracleFiles(o.Root, change.Overlay(o.Root), o.Policy)
	r := proof.Receipt{
		Version: proof.ReceiptVersion, Root: claim.Root, RootTree: claim.RootTree, Base: claim.Base, Tree: tree,
		Diff: proof.Sum(claim.Diff), Check: o.Check.ID, Command: o.Check.Run, Dir: slash(o.Check.Dir), K: seen.K,
		Trusted: seen.Trusted, Natural: seen.Natural, Findings: claim.Findings, Oracle: sum, Tier: string(o.Box.Tier()), Gaps: o.Box.Gaps(),
		Tools: map[string]string{"redraft": runtime.Version()}, Risk: change.Risk(o.Root, o.Policy).String(),
		Made: time.Now().UTC().Truncate(time.Second), Evidence: map[string]string{},
	}
	if o.Needs.Go != "" {
		r.Tools["go"] = o.Needs.Go
	}
	if r.Setup = o.Prepared(); r.Setup != nil {
		r.Gaps = append(r.Gaps, r.Setup.Gap())
		maps.Copy(r.Evidence, o.base.files)
	}
	r.Rungs = append([]proof.Rung{d2}, proof.Unbuilt()...)
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
	for _, r := range append(slices.Clone(seen.Runs), runs...) {
		all = append(all, proof.Recorded{RunRecord: r.RunRecord, Report: r.Report})
	}
	rungs, err := proof.Recompute(receipt, all)
	if err != nil && len(rungs) == 0 {
		return []proof.Rung{{ID: "D0", Status: proof.Failed, Text: err.Error()}}
	}
	return rungs
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
