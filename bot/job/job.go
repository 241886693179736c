// Package job takes one red check from its root to an admitted proof, without GitHub: cut, start repair, admit, end. It
// leaves seeing, repairing and judging to the repair process, which it starts with an empty environment and whose
// word it never takes: what ends a job is a Proof that it admitted itself. Everything it opens it closes, cancelled or
// not, and every arrow is a line of the trace.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// End is what a proof ends in: a local branch, a draft.
type End interface {
	// Will names what will be left, before anything is written.
	Will(ctx context.Context, p *proof.Proof) (where string, err error)
	// Do leaves it there. Doing it twice leaves it once.
	Do(ctx context.Context, p *proof.Proof, where string) (commit string, err error)
}

// Job is one job to be done. Its fields are set once.
type Job struct {
	Mirror    *worktree.Mirror
	Exe       []string      // argv that starts this program, to which "repair JOB.json" is added
	Spec      trace.Job     // ID, Key, Repo, Target, Trigger, Root, Base, Models, Tiers, Limits, Sandbox, Seed, Protect, Allow, Off; the rest is filled in here
	Command   string        // the operator's own command; found in the root if empty
	Config    *plan.File    // configuration that was read elsewhere, as from the default branch; the root's own file if nil
	Failed    []plan.Failed // the steps of a workflow that failed: one of them is the check where Config has none; none are known if empty
	Named     []string      // the red checks as a forge names them, by which one of the found checks is chosen if Spec.Check is empty
	Dir       string        // folder below the root that Command was typed in; "." if empty
	Timeout   time.Duration // of one run of a check, over what is found; as found if zero
	Getenv    func(string) string
	Outside   []string // folders that hold repository files: no tool is taken from there
	Evidence  string   // absolute directory, made if absent
	State     string   // absolute directory kept between jobs
	Sandboxes []string // tiers whose proofs are admitted
	End       End      // nothing is left anywhere if nil
	Cleaner   *redact.Cleaner
	OnEvent   func(trace.Event) // sees every line of the trace as it is written, if not nil
	Key       *proof.Key        // signs the evidence of what was admitted; nothing is signed if nil
	Claim     []byte            // diff that a job of trace.ModeAgain is about
	Bisect    bool              // looks for the suspect commit when there is no proof, in what the job's minutes have left
	Merge     string            // commit that is seen when the root is green: what the root becomes in its base; made of Onto if empty
	Reviewed  string            // commit of the default branch, whose checks the root's have to be; not compared if empty
	Onto      string            // tip of the branch that a pull request goes to: seen when the root is red; none if empty
}

// Outcome is how a job ended.
type Outcome struct {
	Stop     trace.Stop
	Proof    *proof.Proof // nil unless Stop is fixed
	Where    string       // what End left
	Commit   string
	Plan     plan.Set
	Evidence string
}

// Do does the job. The error is our side's failure; then there is no stop, and what was written tells how far it came.
func (j Job) Do(ctx context.Context) (Outcome, error) {
	start := time.Now()
	out := Outcome{Evidence: j.Evidence}
	if err := os.MkdirAll(j.Evidence, 0o700); err != nil {
		return out, fmt.Errorf("make the evidence folder: %w", err)
	}
	if j.Spec.Mode == trace.ModeAgain {
		if err := os.WriteFile(filepath.Join(j.Evidence, trace.ClaimFile), j.Claim, 0o600); err != nil {
			return out, fmt.Errorf("write the claim: %w", err)
		}
	}
	rec, err := j.open()
	if err != nil {
		return out, err
	}
	defer func() { rec.Close() }() // whichever recorder is the last one
	cut, err := j.cut(ctx)
	defer cut.close(ctx)
	if err != nil {
		return j.unready(out, rec, err)
	}
	spec, set, err := j.prepare(ctx, rec, cut)
	out.Plan = set
	if err != nil {
		return j.unready(out, rec, err)
	}
	if err := rec.Close(); err != nil {
		return out, err
	}
	stop, repairErr := j.repair(ctx, spec)
	if rec, err = j.open(); err != nil {
		return out, errors.Join(repairErr, err)
	}
	if repairErr != nil {
		return out, errors.Join(repairErr, trace.Render(j.Evidence))
	}
	out.Stop = stop
	if err := j.remember(ctx, rec, spec, stop); err != nil {
		return out, err
	}
	if j.bisects(spec, stop) {
		if err := j.bisect(ctx, rec, spec, set, start.Add(wall(spec))); err != nil {
			return out, err
		}
	}
	if stop.Reason == trace.Fixed {
		if out, err = j.admit(ctx, rec, spec, set, out); err != nil {
			return out, err
		}
	}
	return out, j.seal(rec, out)
}

// Resume ends a job whose evidence is all there, because this side died after the proof: it is admitted again, by this
// side's own files, and nothing is run.
func (j Job) Resume(ctx context.Context) (Outcome, error) {
	out := Outcome{Evidence: j.Evidence}
	tree, err := j.Mirror.Cut(ctx, j.Spec.Root)
	if err != nil {
		return out, err
	}
	defer tree.Close(ctx) //nolint:errcheck // the start-up reaper takes what stays
	rec, err := j.open()
	if err != nil {
		return out, err
	}
	defer rec.Close()
	spec := j.Spec
	spec.RootTree, spec.Links = tree.TreeID, tree.Links
	root, err := j.Mirror.TreeFS(spec.Root)
	if err != nil {
		return out, err
	}
	j = j.claimed(root)
	if out.Plan, err = j.find(root); err != nil {
		return j.unready(out, rec, err)
	}
	if err := j.reviewed(root, out.Plan); err != nil {
		return j.unready(out, rec, err)
	}
	out.Stop = trace.Stop{Reason: trace.Fixed, Text: "Proved by the attempt before this one, and admitted again."}
	if out, err = j.admit(ctx, rec, spec, out.Plan, out); err != nil {
		return out, err
	}
	return out, j.seal(rec, out)
}

// open opens the trace of this side of the process border.
func (j Job) open() (*trace.Recorder, error) {
	return trace.Open(j.Evidence, j.Spec.ID, j.clean, j.OnEvent)
}

func (j Job) clean(s string) string {
	if j.Cleaner == nil {
		return s
	}
	return j.Cleaner.Text(s)
}

// unready ends a job before repair began: a repository without a check needs configuration, anything else is our failure.
func (j Job) unready(out Outcome, rec *trace.Recorder, err error) (Outcome, error) {
	var none *plan.NoCheck
	var wrong *plan.FileError
	var changed *plan.Changed
	var no *plan.Unplanned
	switch {
	case errors.As(err, &changed):
		out.Stop = trace.Stop{Reason: trace.PlanChanged, Text: "What judges this commit is " + changed.Error() + "."}
	case errors.As(err, &no):
		out.Stop = trace.Stop{Reason: trace.NeedsConfiguration, Class: string(no.Reason), Text: "No command can be told from the step that failed: " + no.Text + ".", Next: "Name the command that is the check in .github/redraft.yml on the default branch, under checks."}
	case errors.As(err, &none):
		out.Stop = trace.Stop{Reason: trace.NeedsConfiguration, Text: none.Error(), Next: "Name the check: --check 'COMMAND', or checks in .github/redraft.yml."}
	case errors.As(err, &wrong) && j.Config != nil:
		out.Stop = trace.Stop{Reason: trace.NeedsConfiguration, Text: wrong.Error(), Next: "Correct .github/redraft.yml on the default branch."}
	case errors.Is(err, worktree.ErrTree):
		out.Stop = trace.Stop{Reason: trace.Infra, Class: "tree", Text: j.clean(err.Error()) + ".", Next: "Take what is named out of the commit, or run redraft on another system."}
	default:
		return out, err
	}
	if err := rec.Add(0, trace.TypeStop, out.Stop); err != nil {
		return out, err
	}
	if err := rec.Close(); err != nil {
		return out, err
	}
	return out, trace.Render(j.Evidence)
}

// prepare seals the root, finds the checks and what they need, and writes the job down.
func (j Job) prepare(ctx context.Context, rec *trace.Recorder, cut trees) (trace.Job, plan.Set, error) {
	spec, tree := j.Spec, cut.root
	spec.Version, spec.Evidence, spec.State, spec.RootTree, spec.Links = trace.JobVersion, j.Evidence, j.State, tree.TreeID, tree.Links
	root, err := j.Mirror.TreeFS(spec.Root)
	if err != nil {
		return spec, plan.Set{}, err
	}
	if j, err = j.chosen(root); err != nil {
		return spec, plan.Set{}, err
	}
	set, err := j.find(root)
	if err != nil {
		return spec, set, err
	}
	if spec.Check == "" {
		c, err := set.For(j.Named)
		if err != nil {
			return spec, set, err
		}
		spec.Check = c.ID
	}
	if err := j.reviewed(root, set); err != nil {
		return spec, set, err
	}
	needs, err := plan.Toolchain(ctx, set, j.Getenv, j.Outside...)
	if err != nil {
		return spec, set, fmt.Errorf("find the toolchain: %w", err)
	}
	if spec.Trees, err = cut.seal(ctx); err != nil {
		return spec, set, err
	}
	if spec.Scratch, err = tree.Scratch("scratch"); err != nil {
		return spec, set, err
	}
	if spec.Checks, err = json.Marshal(set); err != nil {
		return spec, set, err
	}
	if spec.Needs, err = json.Marshal(needs); err != nil {
		return spec, set, err
	}
	if spec.Recent, err = j.recent(ctx, spec); err != nil {
		return spec, set, err
	}
	if err := rec.Add(0, trace.TypeEvent, spec); err != nil {
		return spec, set, err
	}
	return spec, set, rec.Add(0, trace.TypeTree, trace.TreeData{Phase: "cut", Hash: tree.TreeID, Path: tree.Dir})
}

// find is the checks of the root, or the operator's own command in the folder it was typed in.
func (j Job) find(root fs.FS) (set plan.Set, err error) {
	if j.Command != "" {
		if set, err = plan.FromCommand(root, j.Command); err == nil && j.Dir != "" {
			set.Checks[0] = set.Checks[0].In(root, j.Dir)
		}
	} else {
		set, err = j.configured(root)
	}
	if err != nil {
		return set, err
	}
	if !slices.ContainsFunc(set.Checks, func(c plan.Check) bool { return j.Spec.Check == "" || c.ID == j.Spec.Check }) {
		return set, &plan.NoCheck{Why: fmt.Sprintf("there is no check %q in this repository", j.Spec.Check)}
	}
	if set.Setup, err = j.setup(root); err != nil {
		return set, err
	}
	for i, c := range set.Checks {
		if j.clean(c.Run) != c.Run {
			return set, &plan.NoCheck{Why: fmt.Sprintf("the command of check %q holds what looks like a credential, and commands stand in every report", c.ID)}
		}
		if j.Timeout > 0 {
			set.Checks[i].Timeout = j.Timeout
		}
	}
	set.Fingerprint, err = plan.Fingerprint(root, set.Checks, set.Setup...)
	return set, err
}

// setup is the commands that the configuration that counts wants before the checks, if the operator lets any be run.
func (j Job) setup(root fs.FS) ([]string, error) {
	if j.Spec.Setup == nil {
		return nil, nil
	}
	f, err := plan.ReadFile(root)
	if j.Config != nil {
		f, err = *j.Config, nil
	}
	if err != nil {
		return nil, err
	}
	for _, command := range f.Setup {
		if j.clean(command) != command {
			return nil, &plan.NoCheck{Why: "a setup command holds what looks like a credential, and commands stand in every report"}
		}
	}
	return f.Setup, nil
}

// fixers are the tools that the repository lets write in protected files: those that the check itself runs, or none.
func fixers(root fs.FS, set plan.Set, spec trace.Job) []proof.Fixer {
	i := slices.IndexFunc(set.Checks, func(c plan.Check) bool { return c.ID == spec.Check })
	if i < 0 || !spec.Fixers {
		return nil
	}
	return Fixers(root, set.Checks[i])
}

// Fixers are the writing forms of the tools that a check runs, as receipts name them.
func Fixers(root fs.FS, c plan.Check) []proof.Fixer {
	var out []proof.Fixer
	for _, f := range plan.Fixers(root, c) {
		out = append(out, proof.Fixer{Tool: f.Tool, Kind: string(f.Kind), Argv: f.Argv, Dir: f.Dir, Bin: f.Bin})
	}
	return out
}

// admit turns the evidence into a Proof by this side's own files, and ends the job with it.
func (j Job) admit(ctx context.Context, rec *trace.Recorder, spec trace.Job, set plan.Set, out Outcome) (Outcome, error) {
	root, err := j.Mirror.TreeFS(spec.Root)
	if err != nil {
		return out, err
	}
	evidence, err := os.OpenRoot(j.Evidence)
	if err != nil {
		return out, err
	}
	defer evidence.Close()
	p, err := proof.Admit(evidence.FS(), root, proof.Policy{
		Root: spec.Root, RootTree: spec.RootTree, Base: spec.Base, Fingerprint: set.Fingerprint, Setup: set.Setup, Sandboxes: j.Sandboxes,
		Patch: proof.PatchPolicy(spec.Protect, spec.Allow, set.AllScripts(), spec.Limits.Files, spec.Limits.Lines), Risk: proof.MaxRisk, Links: spec.Links,
		Others: j.others(set, spec.Check), Fixers: fixers(root, set, spec),
	})
	var no *proof.Refusal
	if errors.As(err, &no) {
		out.Stop = trace.Stop{Reason: trace.NotProven, Class: no.Code, Text: "The evidence was not admitted: " + no.Text + ".", Next: "Look at the evidence; nothing was left in the repository."}
		if err := rec.Add(0, trace.TypeAdmit, trace.AdmitData{Code: no.Code, Text: no.Text}); err != nil {
			return out, err
		}
		return out, rec.Add(0, trace.TypeStop, out.Stop)
	}
	if err != nil {
		return out, err
	}
	out.Proof = p
	if err := rec.Add(0, trace.TypeAdmit, trace.AdmitData{Admitted: true, Text: "recomputed from the raw reports"}); err != nil || j.End == nil {
		return out, err
	}
	return j.end(ctx, rec, p, out)
}

// others are the other configured checks, as this side found them. Never nil: a receipt's own list is not taken.
func (j Job) others(set plan.Set, red string) []proof.Other {
	out := []proof.Other{}
	if red == "" {
		if c, err := set.For(j.Named); err == nil {
			red = c.ID
		}
	}
	for _, c := range set.Others(red) {
		out = append(out, proof.Other{ID: c.ID, Command: c.Run, Dir: filepath.ToSlash(filepath.Clean(c.Dir))})
	}
	return out
}

// end writes down what will be left, leaves it, and writes down that it is there. A branch that somebody took in between
// is answered with another name, three times at most.
func (j Job) end(ctx context.Context, rec *trace.Recorder, p *proof.Proof, out Outcome) (Outcome, error) {
	var where, commit string
	for tries := 1; ; tries++ {
		var err error
		if where, err = j.End.Will(ctx, p); err != nil {
			return j.ended(rec, out, err)
		}
		if err := rec.Add(0, trace.TypeDraft, trace.DraftData{State: "will_open", Where: where}); err != nil {
			return out, err
		}
		if commit, err = j.End.Do(ctx, p, where); err == nil {
			break
		}
		if !errors.Is(err, worktree.ErrBranchTaken) || tries == 3 {
			return j.ended(rec, out, err)
		}
	}
	out.Where, out.Commit = where, commit
	return out, rec.Add(0, trace.TypeDraft, trace.DraftData{State: "opened", Where: where, Commit: commit})
}

// Ended is an End's error that is a stop: what was proved is not left anywhere, and why.
type Ended struct{ Stop trace.Stop }

func (e *Ended) Error() string { return string(e.Stop.Reason) + ": " + e.Stop.Text }

// ended makes an End's *Ended the job's stop; any other error is our side's.
func (j Job) ended(rec *trace.Recorder, out Outcome, err error) (Outcome, error) {
	var e *Ended
	if !errors.As(err, &e) {
		return out, err
	}
	out.Stop = e.Stop
	return out, rec.Add(0, trace.TypeStop, e.Stop)
}

// NewID is a job's id: its start, so that a folder listing is in order, and a random part.
func NewID(now time.Time, random string) string {
	return now.UTC().Format("20060102-150405") + "-" + filepath.Base(random)
}
