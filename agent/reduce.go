package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
)

// bounds of the search for the smallest that shows the red.
const (
	reduceRuns  = 12              // runs in the jail
	reduceTime  = 5 * time.Minute // of the job's own
	reduceTests = 200             // that a command may name
	reduceReads = 2000            // readings of a shortened output
	reduceLines = 4000            // of the output, around its end
	excerptTime = 3 * time.Second
)

// reduce looks for the fewest tests and the fewest lines of output that show the first finding, when there is no proof of a
// repair. It takes what time the job has left, and no more than its bounds.
func (a *Agent) reduce(ctx context.Context) error {
	if a.seen.Color != report.Red || a.seen.Mixed || len(a.seen.Findings) == 0 || ctx.Err() != nil {
		return nil
	}
	a.now.Store(0)
	a.step("looking for the smallest that shows the red")
	within, cancel := context.WithTimeout(ctx, reduceTime)
	defer cancel()
	r := &reducer{Agent: a, target: a.seen.Findings[0], data: trace.ReducedData{Finding: a.seen.Findings[0].ID}}
	err := r.command(within)
	if err != nil && within.Err() == nil {
		return err
	}
	if err != nil {
		r.data.Why = "the time for it was spent"
	}
	r.excerpt()
	a.add(0, trace.TypeReduced, r.data)
	return a.broken()
}

// reducer is one search.
type reducer struct {
	*Agent
	target report.Result
	data   trace.ReducedData
}

// errRuns ends a search whose runs are spent; what was found so far stands.
var errRuns = errors.New("the runs for it are spent")

// command finds the fewest tests of the check with which the target is red: alone if it can be, else with what it needs before it.
func (r *reducer) command(ctx context.Context) error {
	if r.Oracle.OnlyCommand([]report.Result{r.target}) == nil {
		r.data.Why = "this runner's tests cannot be run one by one"
		return nil
	}
	company := r.company()
	r.data.Of = len(company) + 1
	red, err := r.red(ctx, nil)
	switch {
	case err != nil:
		return err
	case red:
		return nil
	case len(company) == 0 || len(company) > reduceTests:
		r.data.Why = "alone it is not red"
		return nil
	}
	if red, err = r.red(ctx, company); err != nil || !red {
		r.data.Why = "it is red in the whole check alone"
		return err
	}
	_, err = fewest(company, func(some []report.Result) (bool, error) { return r.red(ctx, some) })
	if errors.Is(err, errRuns) {
		r.data.Why = err.Error()
		return nil
	}
	return err
}

// company are the tests that ran beside the target and could be run with it, top-level ones alone, in the order in which they ran.
func (r *reducer) company() (tests []report.Result) {
	for _, t := range r.seen.Report.Results {
		if t.Kind != r.target.Kind || t.ID == r.target.ID || strings.HasPrefix(r.target.ID, t.ID+"/") || r.Oracle.OnlyCommand([]report.Result{t}) == nil {
			continue
		}
		if pkg, test, sub, ok := oracle.SplitID(t.ID); ok && sub != "" {
			t.ID = pkg + "." + test
		}
		if !slices.ContainsFunc(tests, func(o report.Result) bool { return o.ID == t.ID }) {
			tests = append(tests, t)
		}
	}
	return tests
}

// red says whether the target is red when it runs with some others, in a fresh copy; if so, that is the smallest so far.
func (r *reducer) red(ctx context.Context, others []report.Result) (bool, error) {
	if r.data.Runs == reduceRuns {
		return false, errRuns
	}
	r.data.Runs++
	dir, remove, err := r.Oracle.Trees.Fresh(ctx)
	if err != nil {
		return false, err
	}
	defer remove(context.WithoutCancel(ctx)) //nolint:errcheck // the parent removes the whole scratch folder
	tests := append([]report.Result{r.target}, others...)
	v, ok, err := r.Oracle.Only(ctx, dir, "reduce", tests)
	if err != nil || !ok || v.Color != report.Red || !slices.Contains(v.Failed, r.target.ID) {
		return false, err
	}
	r.data.Command, r.data.Tests = Shell(r.Oracle.OnlyCommand(tests)), len(tests)
	return true, nil
}

// excerpt finds the fewest lines of the plain run's output in which a reader still finds the target, with got and want as they were.
func (r *reducer) excerpt() {
	i := slices.IndexFunc(r.seen.Runs, func(run oracle.Run) bool { return run.Mode == proof.Plain && run.ThrownAway == "" })
	if i < 0 {
		return
	}
	run := r.seen.Runs[i]
	lines := strings.Split(strings.TrimRight(string(run.Result.Stdout)+"\n"+string(run.Result.Stderr), "\n"), "\n")
	r.data.Lines = len(lines)
	lines = lines[max(0, len(lines)-reduceLines):]
	want, ok := find(read(run, lines), r.target.ID)
	if !ok {
		return
	}
	reads, end := 0, time.Now().Add(excerptTime)
	few, _ := fewest(lines, func(some []string) (bool, error) {
		if reads++; reads > reduceReads || time.Now().After(end) {
			return false, errRuns
		}
		got, ok := find(read(run, some), r.target.ID)
		return ok && got.Class == want.Class && got.Got == want.Got && got.Want == want.Want, nil
	})
	if len(few) > 60 { // no excerpt: it would be a log again
		few = nil
	}
	r.data.Excerpt = few
}

// read is what a run's report would be if it had printed these lines.
func read(run oracle.Run, lines []string) report.Report {
	return report.Read(report.Run{
		Command: run.Command, Dir: cmp.Or(run.At, run.Place), Subdir: run.Dir, Module: run.Module, Own: run.Own, Stdout: []byte(strings.Join(lines, "\n") + "\n"), Exit: run.Exit,
	})
}

func find(r report.Report, id string) (report.Result, bool) {
	all := r.Findings()
	i := slices.IndexFunc(all, func(f report.Result) bool { return f.ID == id })
	if i < 0 {
		return report.Result{}, false
	}
	return all[i], true
}

// fewest takes away what a property does not need until nothing more can go: delta debugging over complements. An error ends it,
// and what is left by then is returned. https://doi.org/10.1109/32.988498
func fewest[T any](all []T, holds func([]T) (bool, error)) ([]T, error) {
	for parts := 2; len(all) > 0; {
		parts = min(parts, len(all))
		size, smaller := (len(all)+parts-1)/parts, false
		for from := 0; from < len(all); {
			rest := slices.Concat(all[:from], all[min(from+size, len(all)):])
			ok, err := holds(rest)
			if err != nil {
				return all, err
			}
			if ok {
				all, smaller = rest, true
				continue
			}
			from += size
		}
		if !smaller && size <= 1 {
			break
		}
		if !smaller {
			parts *= 2
		}
	}
	return all, nil
}
