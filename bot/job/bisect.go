package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// bounds of the search for the first red commit.
const (
	bisectSteps   = 10  // commits that are looked at
	bisectHistory = 256 // commits, along first parents, among which it is looked for
)

// bisect looks for the commit that turned the first finding red. The repair process has no history: this side cuts one older
// commit after the other and has it look at each, once, in the jail. It goes back in growing steps to a commit without the finding,
// then halves what lies between. It ends by itself, and takes no more than what the job's minutes have left.
func (j Job) bisect(ctx context.Context, rec *trace.Recorder, spec trace.Job, set plan.Set, until time.Time) error {
	target, err := j.target(spec)
	if err != nil || target == "" {
		return err
	}
	b := &bisection{Job: j, spec: spec, set: set, target: target, data: trace.BisectData{Finding: target, Steps: []trace.BisectStep{}}}
	log, err := j.Mirror.Log(ctx, spec.Root, bisectHistory)
	if err != nil {
		return err
	}
	within, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if err := rec.Add(0, trace.TypeStep, trace.StepData{Text: "looking for the commit that turned it red"}); err != nil {
		return err
	}
	if err := b.search(within, log); err != nil && within.Err() == nil {
		return err
	} else if err != nil {
		b.data.Why = "the job's minutes are spent"
	}
	if ctx.Err() != nil {
		return nil // the stop stands
	}
	return rec.Add(0, trace.TypeBisect, b.data)
}

// bisects says whether a suspect commit is looked for: where something is red and stays so.
func (j Job) bisects(spec trace.Job, stop trace.Stop) bool {
	return j.Bisect && (spec.Mode == "" || spec.Mode == trace.ModeDiagnose) && (stop.Reason == trace.Exhausted || stop.Reason == trace.NotProven)
}

// wall is how long the job may take.
func wall(spec trace.Job) time.Duration {
	if spec.Limits.Wall > 0 {
		return spec.Limits.Wall
	}
	return 30 * time.Minute
}

// target is the first finding that was red in every run, as the raw reports show it.
func (j Job) target(spec trace.Job) (string, error) {
	runs, err := readRuns(j.Evidence, spec.RootTree)
	if err != nil {
		return "", err
	}
	all := tally(spec, runs)
	for _, r := range runs {
		for _, f := range r.Report.Findings() {
			if s := all[f.ID]; r.ThrownAway == "" && len(s.red) > 0 && len(s.green) == 0 {
				return f.ID, nil
			}
		}
	}
	return "", nil
}

// bisection is one search.
type bisection struct {
	Job
	spec   trace.Job
	set    plan.Set
	target string
	data   trace.BisectData
}

// errSteps ends a search that has looked at as many commits as it may.
var errSteps = errors.New("as many commits as may be were looked at")

// search narrows the first red commit down: log[red] is red, and every commit from log[green] on is older than it.
func (b *bisection) search(ctx context.Context, log []worktree.Commit) error {
	if len(log) < 2 {
		b.data.Why = "there is no older commit here"
		return nil
	}
	red, green, err := b.back(ctx, log)
	for err == nil && green > 0 && green-red > 1 {
		var color report.Color
		var at int
		if at, color, err = b.between(ctx, log, red, green); err != nil {
			break
		}
		if color == report.Unknown {
			b.data.Why = "the commits between could not be judged"
			break
		}
		if color == report.Red {
			red = at
		} else {
			green = at
		}
	}
	if green > 0 {
		b.data.Left = green - red
	}
	if err == nil && b.data.Left == 1 {
		c := log[red]
		subject, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n")
		b.data.Commit, b.data.Subject, b.data.When = c.SHA, b.clean(subject), &c.When
	}
	return skipSteps(&b.data, err)
}

// skipSteps says in the data that the steps are spent, which is no error.
func skipSteps(d *trace.BisectData, err error) error {
	if errors.Is(err, errSteps) {
		d.Why = err.Error()
		return nil
	}
	return err
}

// back goes back until the finding is not there: 1, 2, 4, … commits. green is 0 when no such commit was found.
func (b *bisection) back(ctx context.Context, log []worktree.Commit) (red, green int, err error) {
	for step := 1; ; step *= 2 {
		at := min(step, len(log)-1)
		color, err := b.look(ctx, log[at].SHA)
		if err != nil {
			return red, 0, err
		}
		switch color {
		case report.Green:
			return red, at, nil
		case report.Red:
			red = at
		}
		if at == len(log)-1 && color == report.Unknown { // a sound one may lie before it
			if at, color, err = b.between(ctx, log, red, at); err != nil || color == report.Green {
				return red, at, err
			}
		}
		if step >= len(log)-1 {
			b.data.Why = fmt.Sprintf("it is red, or cannot be judged, as far back as the %d commits that were looked through", len(log))
			return red, 0, nil
		}
	}
}

// between judges the commit in the middle of two, or the nearest to it that can be judged; Unknown when none within two of it can.
func (b *bisection) between(ctx context.Context, log []worktree.Commit, red, green int) (at int, color report.Color, err error) {
	mid := (red + green) / 2
	for _, at := range []int{mid, mid + 1, mid - 1, mid + 2, mid - 2} {
		if at <= red || at >= green {
			continue
		}
		if color, err := b.look(ctx, log[at].SHA); err != nil || color != report.Unknown {
			return at, color, err
		}
	}
	return mid, report.Unknown, nil
}

func colorNamed(s string) report.Color {
	for _, c := range []report.Color{report.Red, report.Green} {
		if c.String() == s {
			return c
		}
	}
	return report.Unknown
}

// look has the repair process look at a commit, and reads for itself whether the finding is there.
func (b *bisection) look(ctx context.Context, sha string) (report.Color, error) {
	for _, done := range b.data.Steps {
		if done.Commit == sha {
			return colorNamed(done.Color), nil
		}
	}
	if len(b.data.Steps) == bisectSteps {
		return report.Unknown, errSteps
	}
	start := time.Now()
	color, why, err := b.judge(ctx, sha)
	if err != nil {
		return report.Unknown, err
	}
	b.data.Steps = append(b.data.Steps, trace.BisectStep{Commit: sha, Color: color.String(), Seconds: time.Since(start).Seconds(), Why: why})
	return color, nil
}

// judge is one look. The evidence of it is not kept: it proves nothing.
func (b *bisection) judge(ctx context.Context, sha string) (color report.Color, why string, err error) {
	tree, err := b.Mirror.Cut(ctx, sha)
	if errors.Is(err, worktree.ErrTree) {
		return report.Unknown, "its files cannot be laid on this disk", nil
	}
	if err != nil {
		return report.Unknown, "", err
	}
	defer tree.Close(ctx) //nolint:errcheck // the start-up reaper takes what stays
	spec, one, err := b.prepare(ctx, tree, sha)
	if err != nil {
		return report.Unknown, "", err
	}
	stop, err := one.repair(ctx, spec)
	if err != nil {
		return report.Unknown, "", err
	}
	if stop.Reason == trace.Cancelled {
		return report.Unknown, "", context.Cause(ctx)
	}
	runs, err := readRuns(one.Evidence, tree.TreeID)
	if err != nil {
		return report.Unknown, "", err
	}
	color, why = shows(runs, b.target)
	return color, why, nil
}

// prepare is the job of one look, and this job with that look's folder.
func (b *bisection) prepare(ctx context.Context, tree *worktree.Tree, sha string) (spec trace.Job, one Job, err error) {
	spec, one = b.spec, b.Job
	set := b.set
	set.Checks = slices.Clone(set.Checks)
	for i := range set.Checks {
		set.Checks[i].Runs = 1
	}
	spec.ID, spec.Root, spec.RootTree, spec.Links = fmt.Sprintf("%s-look-%d", b.spec.ID, len(b.data.Steps)+1), sha, tree.TreeID, tree.Links
	spec.Mode, spec.Tiers, spec.Models, spec.Trees = trace.ModeLook, []string{}, nil, trace.Trees{}
	if spec.Checks, err = json.Marshal(set); err != nil {
		return spec, one, err
	}
	if spec.Trees.Root, err = tree.Seal(ctx, "root"); err != nil {
		return spec, one, err
	}
	if spec.Scratch, err = tree.Scratch("scratch"); err != nil {
		return spec, one, err
	}
	spec.Evidence = filepath.Join(spec.Scratch, "evidence")
	one.Evidence, one.Spec, one.OnEvent = spec.Evidence, spec, nil
	return spec, one, os.MkdirAll(spec.Evidence, 0o700)
}

// shows says whether a finding is there in the runs of one commit. A run in which it could not have been seen, as when its package
// did not build, says nothing.
func shows(runs []proof.Recorded, id string) (report.Color, string) {
	color, why := report.Unknown, "the check could not be judged there"
	for _, r := range runs {
		if r.ThrownAway != "" || r.Report.Color() == report.Unknown {
			continue
		}
		switch s := r.Report.Statuses()[id]; {
		case s == report.Fail || s == report.Error:
			return report.Red, ""
		case s == report.Pass:
			color, why = report.Green, ""
		case r.Report.Color() == report.Green && color != report.Green:
			color, why = report.Green, "it is not there, and the check is green"
		case color == report.Unknown:
			why = "it was not seen, and the check is red for other reasons"
		}
	}
	return color, why
}
