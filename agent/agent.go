// Package agent is the loop: look, propose, apply, judge, again, over tiers of proposers, until the oracle confirms a
// claim or a budget is spent. It leaves trees, git and GitHub to others and knows none of them. Every arrow of the
// loop is a line of the trace, and every job ends in one typed stop.
package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redraft-dev/redraft/agent/mechanic"
	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/syntax"
	"github.com/redraft-dev/redraft/agent/trace"
)

// Names of the tiers, weakest first.
const (
	Mechanic = "mechanic"
	Small    = "small"
	Big      = "big"
)

// Agent repairs one red check. Its fields are set once.
type Agent struct {
	Job      trace.Job
	Plan     plan.Set
	Oracle   *oracle.Oracle
	Mechanic *mechanic.Mechanic                                       // none if nil
	Dial     func(ctx context.Context, tier string) (Proposer, error) // opens a model tier when it is its turn; error: *model.Error
	Trace    *trace.Recorder
	Root     fs.FS
	Policy   patch.Policy
	Evidence string                                                                 // absolute directory
	Coverage func(ctx context.Context, seen oracle.Verdict) ([]perceive.Ran, error) // tells what the failing tests ran; not known if nil
	Merge    func(ctx context.Context) (oracle.Sight, error)                        // sees what the root becomes in its base, asked when the root is green; none if nil
	Base     func(ctx context.Context) (oracle.Sight, error)                        // sees a pull request's base, asked when the root is red; none if nil

	seen      oracle.Sight
	index     *perceive.Index // of the root, nil until the first question to a model
	unindexed bool            // it could not be made
	ran       []perceive.Ran  // what the failing tests ran
	watched   bool            // that is known, or cannot be
	command   string          // the smallest command that shows the red
	spent     spent
	judged    map[string]string // a change but for layout and comments -> what it got
	now       atomic.Int32      // the turn that runs belong to, 0 outside of turns
	mu        sync.Mutex        // guards err: runs are told of by several goroutines
	refused   string            // the last claim that Confirm refused, and why
	lost      error             // the last tier that could not be reached
	err       error             // first failure of the trace
}

// Proposer is a model tier that answers.
type Proposer struct {
	Model   model.Model
	Name    string // as the operator calls it
	BaseURL string
	ID      string                // the pinned model id
	Context int                   // tokens; 8192 if zero
	Tokens  func(text string) int // counts as the model does; estimated if nil
}

// spent counts a job's budgets.
type spent struct {
	turns  int // in all
	tokens int
}

var errBudget = errors.New("the job's minutes are spent")

// Repair runs the job to its stop. The error is our side's failure; then there is no stop.
func (a *Agent) Repair(ctx context.Context) (trace.Stop, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, a.wall(), errBudget)
	defer cancel()
	stop, err := a.repair(ctx)
	if err == nil && (stop.Reason == trace.Exhausted && a.Job.Mode != trace.ModeLook || stop.Reason == trace.NotProven) {
		if err = a.reduce(ctx); ctx.Err() != nil {
			err = nil // the stop stands
		}
	}
	if err != nil {
		var gone bool
		if stop, gone = a.interrupted(ctx, err); !gone {
			return trace.Stop{}, err
		}
	}
	a.add(0, trace.TypeStop, stop)
	return stop, a.broken()
}

func (a *Agent) wall() time.Duration {
	if a.Job.Limits.Wall > 0 {
		return a.Job.Limits.Wall
	}
	return 30 * time.Minute
}

// interrupted turns the end of the context into the stop it stands for.
func (a *Agent) interrupted(ctx context.Context, err error) (trace.Stop, bool) {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, cause) && !errors.Is(err, ctx.Err()) {
		return trace.Stop{}, false
	}
	if errors.Is(cause, errBudget) {
		return a.exhausted(cause.Error()), true
	}
	return trace.Stop{Reason: trace.Cancelled, Text: "The job was cancelled: " + cause.Error() + ".", Next: "Run it again; nothing was left behind."}, true
}

func (a *Agent) repair(ctx context.Context) (trace.Stop, error) {
	if stop, over, err := a.prepare(ctx); over || err != nil {
		return stop, err
	}
	a.step("seeing the red on the untouched root")
	seen, err := a.Oracle.See(ctx)
	if err != nil {
		return trace.Stop{}, err
	}
	a.seen, a.judged = seen, map[string]string{}
	a.command = a.smallest()
	data := verdictData("see", seen.Verdict)
	data.Command = a.command
	a.add(0, trace.TypeVerdict, data)
	if stop, over := a.notRed(); over {
		return a.drifted(ctx, stop)
	}
	if stop, over, err := a.baseRed(ctx); over || err != nil {
		return stop, err
	}
	if stop, over, err := a.inMode(ctx); over || err != nil {
		return stop, err
	}
	for i, tier := range a.Job.Tiers {
		if i > 0 {
			a.add(0, trace.TypeEscalate, trace.EscalateData{From: a.Job.Tiers[i-1], To: tier})
		}
		stop, done, err := a.tier(ctx, tier)
		if err != nil || done {
			return stop, err
		}
	}
	if a.lost != nil { // the last tier that was there to be asked
		return trace.Stop{}, fmt.Errorf("no tier is left: %w", a.lost)
	}
	return a.exhausted("every tier was tried"), nil
}

// drifted looks at the merge when the root itself is green: red only there, it is the base that moved.
func (a *Agent) drifted(ctx context.Context, stop trace.Stop) (trace.Stop, error) {
	if stop.Reason != trace.NotReproduced || a.Merge == nil {
		return stop, nil
	}
	a.step("the root is green: seeing it merged into its base")
	seen, err := a.Merge(ctx)
	if err != nil {
		return trace.Stop{}, err
	}
	a.add(0, trace.TypeVerdict, verdictData("merge", seen.Verdict))
	if seen.Color != report.Red || seen.Mixed {
		return stop, nil
	}
	return trace.Stop{Reason: trace.BaseDrift, Text: "The check is green on the head and red once it is merged into its base: the base moved.",
		Next: "Bring the base branch into this one, and look at the check again."}, nil
}

// tier lets one proposer try. A tier that cannot be reached is passed over and remembered.
func (a *Agent) tier(ctx context.Context, tier string) (trace.Stop, bool, error) {
	if tier == Mechanic {
		return a.mechanic(ctx)
	}
	if !slices.ContainsFunc(a.Job.Models, func(m trace.ModelChoice) bool { return m.Tier == tier }) {
		return trace.Stop{}, false, nil
	}
	p, err := a.Dial(ctx, tier)
	if err == nil {
		var stop trace.Stop
		var done bool
		if stop, done, err = a.turns(ctx, tier, p); err == nil {
			a.lost = nil
			return stop, done, nil
		}
	}
	var me *model.Error
	if !errors.As(err, &me) || ctx.Err() != nil {
		return trace.Stop{}, false, err
	}
	a.lost = err
	a.step(fmt.Sprintf("the %s model is not to be had: %v", tier, err))
	return trace.Stop{}, false, nil
}

// notRed is the stop of a root that is not red in the way a repair needs.
func (a *Agent) notRed() (trace.Stop, bool) {
	s := a.seen
	switch {
	case s.Mixed:
		return trace.Stop{Reason: trace.Flaky, Text: "The same files gave different colours: " + s.Text + ".",
			Next: "Repair the flake first: the certificate names the runs, orders and tests that differ."}, true
	case s.Color == report.Green:
		return trace.Stop{Reason: trace.NotReproduced, Text: fmt.Sprintf("The check is green on this machine in %d of %d runs.", len(s.Runs), len(s.Runs)),
			Next: "Look for what differs from where it was red: versions, services, time, data."}, true
	case s.Color == report.Unknown && s.Class == report.NeedsTier:
		return a.needsTier(), true
	case s.Color == report.Unknown:
		return trace.Stop{Reason: trace.Infra, Class: string(s.Class), Text: a.unknownText(), Next: s.Class.NextSafeAction()}, true
	}
	return trace.Stop{}, false
}

// needsTier is the stop of a check that asks for what the tier refuses: sockets, or a sandbox of its own within this one.
func (a *Agent) needsTier() trace.Stop {
	stop := trace.Stop{Reason: trace.NeedsTier, Class: string(a.seen.Class), Text: "The check opens sockets, which this machine's sandbox tier refuses.", Next: a.seen.Class.NextSafeAction()}
	nests := slices.ContainsFunc(a.seen.Runs, func(r oracle.Run) bool { return slices.Contains(r.Refused, "sandbox_apply") })
	if nests {
		stop.Text = "The check confines its own children, which cannot be done a second time in this machine's sandbox."
		stop.Next = "Tell it not to, in the check's command."
		if hint := sandbox.Nested(a.Oracle.Check.Run); hint != "" {
			stop.Next = "In the check's command: " + hint + "."
		}
	}
	return stop
}

func (a *Agent) unknownText() string {
	r := a.seen.Report
	t := fmt.Sprintf("The check could not be judged (%s)", a.seen.Class)
	if r.Limit != "" {
		t += fmt.Sprintf(": it was ended by the %s limit", r.Limit)
	} else if r.Signal != "" {
		t += ": it was ended by " + r.Signal
	} else if len(r.Problems) > 0 {
		t += ": " + r.Problems[0]
	}
	return t + "."
}

// exhausted is the stop when nothing held: not_proven when a claim was made and refused, else exhausted.
func (a *Agent) exhausted(why string) trace.Stop {
	next := fmt.Sprintf("Start from the smallest command, `%s`, and the tries in the evidence.", a.command)
	if a.refused != "" {
		return trace.Stop{Reason: trace.NotProven, Text: "A change made the check green, but the proof did not hold: " + a.refused, Next: next}
	}
	return trace.Stop{Reason: trace.Exhausted, Text: fmt.Sprintf("No change turned the check green (%s; %d turns, %d tokens).", why, a.spent.turns, a.spent.tokens), Next: next}
}

// smallest is the smallest command that shows the red, for people and prompts.
func (a *Agent) smallest() string {
	if argv := a.Oracle.OnlyCommand(a.seen.Findings); argv != nil {
		return Shell(argv)
	}
	return a.Oracle.Check.Run
}

// mechanic tries the repairs that need no model.
func (a *Agent) mechanic(ctx context.Context) (trace.Stop, bool, error) {
	if a.Mechanic == nil {
		return trace.Stop{}, false, nil
	}
	a.now.Store(0)
	a.step("the mechanic looks for a small edit")
	for c, err := range a.Mechanic.Candidates(ctx, a.seen.Verdict) {
		if err != nil {
			return trace.Stop{}, false, err
		}
		stop, done, _, err := a.try(ctx, 0, Mechanic, c.Change, c.Why)
		if err != nil || done {
			return stop, done, err
		}
	}
	return trace.Stop{}, false, ctx.Err()
}

// try applies a change to a fresh copy of the root and judges it, cheap check first; a green one is confirmed. note is
// what the next turn should know.
func (a *Agent) try(ctx context.Context, turn int, by string, change patch.Change, why string) (stop trace.Stop, done bool, note string, err error) {
	diff, k := change.Diff(), key(change)
	if got, again := a.judged[k]; again {
		return stop, false, "The same change was tried before; it got: " + got, nil
	}
	v, err := a.judge(ctx, turn, by, change, why)
	if err != nil {
		return stop, false, "", err
	}
	if v.Color != report.Green {
		a.judged[k] = headline(v)
		return stop, false, note1(v), nil
	}
	if worse := a.seen.Worse(v); worse != "" {
		a.judged[k] = worse
		return stop, false, worse + ".", nil
	}
	stop, done, err = a.confirm(ctx, turn, by, diff)
	a.judged[k] = a.refused
	return stop, done, a.refused, err
}

func (a *Agent) judge(ctx context.Context, turn int, by string, change patch.Change, why string) (v oracle.Verdict, err error) {
	dir, remove, err := a.Oracle.Trees.Fresh(ctx)
	if err != nil {
		return v, fmt.Errorf("copy the root: %w", err)
	}
	defer remove(context.WithoutCancel(ctx)) //nolint:errcheck // the parent removes the whole scratch folder
	root, err := os.OpenRoot(dir)
	if err != nil {
		return v, err
	}
	defer root.Close()
	if err := change.Write(root); err != nil {
		return v, fmt.Errorf("apply a change: %w", err)
	}
	id, err := patch.TreeID(patch.DirFS(root), a.Job.Links)
	if err != nil {
		return v, fmt.Errorf("hash a tree: %w", err)
	}
	a.add(turn, trace.TypePatch, trace.PatchData{By: by, Diff: string(change.Diff()), Tree: id, Why: why})
	if by != Mechanic { // the mechanic has run the failing tests alone already
		v, ok, err := a.Oracle.Only(ctx, dir, "judge", a.seen.Findings)
		if err != nil {
			return v, err
		}
		if ok && v.Color != report.Green {
			a.add(turn, trace.TypeVerdict, verdictData("cheap", v))
			return v, a.broken()
		}
	}
	if v, err = a.Oracle.Judge(ctx, dir); err != nil {
		return v, err
	}
	a.add(turn, trace.TypeVerdict, verdictData("judge", v))
	return v, a.broken()
}

// confirm asks the oracle for a proof of a green try and writes the receipt.
func (a *Agent) confirm(ctx context.Context, turn int, by string, diff []byte) (trace.Stop, bool, error) {
	a.step("proving the change in fresh copies")
	claim := proof.Claim{Root: a.Job.Root, RootTree: a.Job.RootTree, Base: a.Job.Base, Diff: diff, Findings: a.seen.Failed}
	receipt, v, err := a.Oracle.Confirm(ctx, a.seen, claim)
	if err != nil {
		return trace.Stop{}, false, err
	}
	for _, r := range receipt.Rungs {
		a.add(turn, trace.TypeRung, trace.RungData{ID: r.ID, Status: string(r.Status), Text: r.Text})
	}
	a.add(turn, trace.TypeVerdict, verdictData("confirm", v))
	if v.Color != report.Green {
		if a.refused = v.Text; a.refused == "" {
			a.refused = headline(v)
		}
		return trace.Stop{}, false, a.broken()
	}
	receipt.Job, receipt.Repo, receipt.Fingerprint, receipt.By = a.Job.ID, a.Job.Repo, a.Plan.Fingerprint, by
	if err := a.writeReceipt(turn, receipt, diff); err != nil {
		return trace.Stop{}, false, err
	}
	return trace.Stop{Reason: trace.Fixed, Text: fmt.Sprintf("`%s` was red %dx and is green %dx with the change.", a.Oracle.Check.Run, receipt.K, receipt.K+1)}, true, nil
}

// add appends to the trace and remembers the first failure.
func (a *Agent) add(turn int, typ string, data any) {
	err := a.Trace.Add(turn, typ, data)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("write the trace: %w", err)
	}
}

// broken is the first failure of the trace: a job that cannot be recorded does not go on.
func (a *Agent) broken() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// OnRun writes a run in the jail down; it is Oracle.OnRun.
func (a *Agent) OnRun(r oracle.Run) { a.add(int(a.now.Load()), trace.TypeRun, RunData(r)) }

// key is a change but for layout and comments: what has the same key is judged once.
func key(c patch.Change) string {
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&b, "%q %v\n%s\n", f.Path, f.Deleted, syntax.Normal(f.Path, f.New))
	}
	return b.String()
}

// idle says whether a change differs from the root in nothing but layout and comments.
func idle(c patch.Change) bool {
	for _, f := range c.Files {
		if f.Created || f.Deleted || !bytes.Equal(syntax.Normal(f.Path, f.Old), syntax.Normal(f.Path, f.New)) {
			return false
		}
	}
	return true
}

func (a *Agent) step(text string) { a.add(0, trace.TypeStep, trace.StepData{Text: text}) }
