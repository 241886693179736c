package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/worktree"
)

// End is how a job ended and what is said about it. It is written down before any of it is said.
type End struct {
	Stop     trace.Stop `json:"stop"`
	Evidence string     `json:"evidence"` // name of its folder among the jobs'
	Draft    *Draft     `json:"draft,omitempty"`
	Drafted  string     `json:"drafted,omitempty"` // created or updated; "" when the draft is as it was, or there is none
	Color    string     `json:"color,omitempty"`   // that the check ended in: red or green; "" when it was not judged
	Turns    int        `json:"turns,omitempty"`   // how often a model was asked
	Check    CheckRun   `json:"check"`
	Answer   string     `json:"answer"` // the comment, said when a person asked
}

// farewell is how long the end of a cancelled job may take to be said.
const farewell = 2 * time.Minute

// work is one attempt of a job.
type work struct {
	*Bot
	id     string // in the queue
	job    Job
	q      queue.Job
	policy plan.File
	limits plan.Limits
	mirror *worktree.Mirror
	dir    string // of the evidence

	mu       sync.Mutex
	entered  map[queue.State]bool
	enterErr error
	draft    *Draft
	drafted  string
	standing bool // a draft of this branch was open before
	quiet    string
	suffix   int // of the branch's name, when others are taken
}

// Work does one job to its end. It is called again after a kill, and then looks how far it came before it does anything.
// An error is our side's: the job is put back.
func (b *Bot) Work(ctx context.Context, q queue.Job) error {
	w := &work{Bot: b, q: q, id: q.ID, entered: map[queue.State]bool{}}
	if err := json.Unmarshal(q.Args, &w.job); err != nil {
		return fmt.Errorf("read job %s: %w", q.ID, err)
	}
	w.dir = b.evidence(q)
	end, err := w.known(ctx)
	if err != nil {
		return err
	}
	if end == nil {
		if end, err = w.run(ctx); err != nil {
			return fmt.Errorf("job %s: %w", q.ID, err)
		}
	}
	if b.Half == RepairHalf {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := w.say(ctx, *end); err != nil {
		return fmt.Errorf("end job %s: %w", q.ID, err)
	}
	b.Log.Info("job", "id", q.ID, "repo", w.job.Repo.String(), "target", w.job.Target.String(), "stop", end.Stop.Reason, "draft", draftURL(end.Draft))
	return nil
}

// evidence is the folder of a job's evidence. That of another Bot's half has the job's own name.
func (b *Bot) evidence(q queue.Job) string {
	in := b.Evidence
	if in == "" {
		in = filepath.Join(b.Repair.State, "jobs")
	}
	if b.Half == PublishHalf {
		return filepath.Join(in, q.ID)
	}
	return filepath.Join(in, fmt.Sprintf("%s-%d", q.ID, max(q.Attempt, 1)))
}

func draftURL(d *Draft) string {
	if d == nil {
		return ""
	}
	return d.URL
}

// known is the end that an attempt before this one came to.
func (w *work) known(ctx context.Context) (*End, error) {
	v, err := w.Queue.Get(ctx, "end/"+w.id)
	if err != nil || v == nil {
		return nil, err
	}
	var end End
	if err := json.Unmarshal(v, &end); err != nil {
		return nil, fmt.Errorf("read the end of job %s: %w", w.id, err)
	}
	return &end, nil
}

// run does the job and writes its end down.
func (w *work) run(ctx context.Context) (*End, error) {
	out, err := w.attempt(ctx)
	if err != nil {
		if out, err = w.excuse(ctx, out, err); err != nil {
			return nil, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	end := w.end(out)
	text, err := json.Marshal(end)
	if err != nil {
		return nil, err
	}
	return &end, w.Queue.Put(ctx, "end/"+w.id, text)
}

// excuse turns an error into the stop it stands for, or returns it when the job is to be tried again.
func (w *work) excuse(ctx context.Context, out job.Outcome, err error) (job.Outcome, error) {
	var ended *job.Ended
	var cause *queue.Cause
	var h *HubError
	switch {
	case errors.As(err, &ended):
		out.Stop = ended.Stop
	case errors.As(context.Cause(ctx), &cause):
		out.Stop = stopOf(cause)
	case ctx.Err() != nil: // the server is going down: the job is taken up again when it is back
		return out, err
	case errors.As(err, &h) && (h.Class == Forbidden || h.Class == NoDrafts || h.Class == NoPulls || h.Class == NotFound || h.Class == Conflicting || h.Class == Invalid):
		out.Stop = trace.Stop{Reason: trace.NeedsConfiguration, Class: string(h.Class), Text: "GitHub does not let this be done: " + h.Error() + ".", Next: w.remedyOf(h)}
	case errors.Is(err, worktree.ErrNoSuchCommit):
		out.Stop = trace.Stop{Reason: trace.Superseded, Text: "The commit is no longer in the repository.", Next: "Nothing: a new commit starts a new job."}
	case w.q.Attempt < w.tries():
		return out, err
	default:
		w.Log.Error("a job is given up", "id", w.id, "error", w.Clean.Log(err.Error()))
		out.Stop = trace.Stop{Reason: trace.Infra, Class: "our_side", Text: fmt.Sprintf("This machine could not do its work in %d attempts.", w.q.Attempt), Next: "Look at the server's log and run redraft doctor there."}
	}
	out.Proof = nil
	return out, nil
}

func (b *Bot) tries() int {
	if b.Tries == 0 {
		return 3
	}
	return b.Tries
}

// stopOf is the stop of a job that somebody cancelled.
func stopOf(c *queue.Cause) trace.Stop {
	reason, text, ok := strings.Cut(c.Text, ": ")
	if ok && reason == string(trace.Superseded) {
		return trace.Stop{Reason: trace.Superseded, Text: text, Next: "Nothing: the checks of the new commit decide."}
	}
	return trace.Stop{Reason: trace.Cancelled, Text: strings.TrimPrefix(c.Text, "cancelled: "), Next: "Put the label on again, or say /redraft."}
}

// remedyOf is what to change so that GitHub lets us.
func (b *Bot) remedyOf(h *HubError) string {
	switch {
	case h.Permission != "" && b.Briefly:
		return "Give the job " + strings.ReplaceAll(h.Permission, "_", "-") + " under permissions in the workflow's file."

	case h.Class == NoDrafts:
		return "Draft pull requests are not available in this repository: a plan that has them, or a public repository, is needed. A ready one is never opened instead."
	case h.Class == NoPulls:
		return "Allow GitHub Actions to create pull requests: Settings, Actions, General, Workflow permissions."
	case h.Permission != "":
		return "Grant the App " + h.Permission + " in its settings under Permissions, and accept the change in the installation."
	}
	return "Run redraft doctor --github: it names what is missing and where to change it."
}

// attempt is the job from the look at what is now to the draft.
func (w *work) attempt(ctx context.Context) (out job.Outcome, err error) {
	if err := w.enter(ctx, queue.Authorised, nil); err != nil {
		return out, err
	}
	if w.Half != RepairHalf { // whoever decided has just looked, and the other half looks again
		if err := w.still(ctx); err != nil {
			return out, err
		}
		if err := w.allowed(ctx); err != nil {
			return out, err
		}
	}
	if err := w.enter(ctx, queue.Pinned, map[string]string{"root": w.job.Root, "base": w.job.Base, "policy": w.job.Policy}); err != nil {
		return out, err
	}
	if w.policy, err = w.policyAt(ctx, w.job); err != nil {
		var wrong *plan.FileError
		if errors.As(err, &wrong) {
			return out, &job.Ended{Stop: trace.Stop{Reason: trace.NeedsConfiguration, Text: plan.FileName + ": " + wrong.Error(), Next: "Correct it on the default branch."}}
		}
		return out, err
	}
	w.limits = w.Operator.Limits.Under(w.policy.Limits)
	if err := w.fetch(ctx); err != nil {
		return out, err
	}
	if err := w.announce(ctx); err != nil {
		return out, err
	}
	if err := w.enter(ctx, queue.Prepared, map[string]string{"evidence": filepath.Base(w.dir)}); err != nil {
		return out, err
	}
	j, err := w.spec(ctx)
	if err != nil {
		return out, err
	}
	if w.Half == PublishHalf {
		return w.received(ctx, j)
	}
	if old := w.proved(ctx); old != "" {
		j.Evidence, w.dir, j.Spec.ID = old, old, filepath.Base(old)
		return j.Resume(ctx)
	}
	out, err = j.Do(ctx)
	if cause := (*queue.Cause)(nil); out.Stop.Reason == trace.Cancelled && errors.As(context.Cause(ctx), &cause) {
		out.Stop = stopOf(cause)
	}
	return out, errors.Join(err, w.enterErr)
}

// still makes sure that what was pinned is still so: the repository, the branch, the target, the sender's permission.
func (w *work) still(ctx context.Context) error {
	ctx, release := w.hold(ctx, w.job.Repo)
	defer release()
	j := w.job
	r, err := w.Hub.Repo(ctx, j.Repo)
	if err != nil {
		return err
	}
	if r.ID != j.Repo.ID || r.Archived {
		return ended(trace.Cancelled, "The repository was moved or archived since the job was accepted.", "Nothing is left to do.")
	}
	w.job.Repo.Owner, w.job.Repo.Name = r.Owner, r.Name // a rename is followed, since the id is the same
	if j.Target.Kind == ForPull {
		p, err := w.Hub.Pull(ctx, w.job.Repo, j.Target.Number)
		if err != nil {
			return err
		}
		if p.State != "open" {
			return ended(trace.Cancelled, "The pull request was closed.", "Nothing is left to do.")
		}
		if p.Fork() {
			return ended(trace.Cancelled, "The pull request comes from a fork.", "Nothing is left to do.")
		}
	}
	tip, err := w.Hub.Tip(ctx, w.job.Repo, j.Target.Branch)
	var h *HubError
	if errors.As(err, &h) && h.Class == NotFound {
		return ended(trace.Cancelled, fmt.Sprintf("The branch %s is gone.", j.Target.Branch), "Nothing is left to do.")
	}
	if err != nil {
		return err
	}
	if tip.SHA != j.Base {
		return ended(trace.Superseded, fmt.Sprintf("The branch %s moved from %.12s to %.12s meanwhile.", j.Target.Branch, j.Base, tip.SHA), "Nothing: the checks of the new commit decide.")
	}
	return w.stillWriter(ctx)
}

// stillWriter makes sure that whoever asked may write here now.
func (w *work) stillWriter(ctx context.Context) error {
	if !w.job.Asked {
		return nil
	}
	p, err := w.Hub.Permission(ctx, w.job.Repo, w.job.Sender.Login)
	if err != nil {
		return err
	}
	if !CanWrite(p) {
		return ended(trace.Cancelled, "Whoever asked for this may no longer write here.", "Somebody who may write can ask again.")
	}
	return nil
}

// CanWrite says whether a permission is at least write.
func CanWrite(permission string) bool {
	return permission == "admin" || permission == "maintain" || permission == "write"
}

func ended(r trace.Reason, text, next string) error {
	return &job.Ended{Stop: trace.Stop{Reason: r, Text: text, Next: next}}
}

// allowed looks for missing permissions and settings before any work. A diagnosis pushes nothing and opens nothing.
func (w *work) allowed(ctx context.Context) error {
	if w.job.Diagnose {
		return nil
	}
	lacks, err := w.Hub.Check(ctx, w.job.Repo)
	if err != nil || len(lacks) == 0 {
		return err
	}
	var what, fix []string
	for _, l := range lacks {
		what = append(what, l.What+" ("+l.Why+")")
		fix = append(fix, l.Fix)
	}
	w.Log.Error("a permission or setting is missing", "repo", w.job.Repo.String(), "missing", strings.Join(what, "; "))
	return &job.Ended{Stop: trace.Stop{Reason: trace.NeedsConfiguration, Class: "permission", Text: "Nothing was begun, since something is missing: " + strings.Join(what, "; ") + ".", Next: strings.Join(fix, " ")}}
}

// fetch brings what the job needs into the mirror, with a token for this one use.
func (w *work) fetch(ctx context.Context) error {
	remote, done, err := w.Hub.Remote(ctx, w.job.Repo, false)
	if err != nil {
		return err
	}
	defer done()
	name := fmt.Sprintf("%s/%d", w.Host, w.job.Repo.ID)
	commits := []string{w.job.Root}
	if w.job.Policy != "" && w.job.Policy != w.job.Root {
		commits = append(commits, w.job.Policy) // what judges the root is compared with what is there
	}
	if w.mirror, err = w.Store.FetchFrom(ctx, name, remote, commits...); err != nil {
		return err
	}
	for _, sha := range []*string{&w.job.Merge, &w.job.Onto} {
		if *sha == "" {
			continue
		}
		if _, err := w.Store.FetchFrom(ctx, name, remote, *sha); errors.Is(err, worktree.ErrNoSuchCommit) {
			*sha = "" // GitHub makes a new merge whenever the base moves, and a base may be pushed away
		} else if err != nil {
			return err
		}
	}
	if w.job.Merge != "" && !w.mirror.Follows(ctx, w.job.Root, w.job.Merge) { // it was of another head
		w.job.Merge = ""
	}
	return nil
}

// spec is the job as bot/job does it.
func (w *work) spec(ctx context.Context) (job.Job, error) {
	l := w.limits
	mode, tiers := "", w.Repair.Tiers
	if w.job.Diagnose {
		mode, tiers = trace.ModeDiagnose, []string{}
	}
	models, err := w.models(ctx)
	if err != nil {
		return job.Job{}, err
	}
	return job.Job{
		Bisect: true, Mirror: w.mirror, Exe: w.Repair.Exe, Config: &w.policy, Named: w.job.Checks, Failed: w.job.Failed, Merge: w.job.Merge, Onto: w.job.Onto, Reviewed: w.job.Policy, Getenv: w.Repair.Getenv, Evidence: w.dir, State: w.Repair.State,
		Sandboxes: w.Repair.Sandboxes, Key: w.Repair.Key, Cleaner: w.Clean, OnEvent: w.onEvent, End: w.ending(), Command: w.Repair.Command, Dir: w.Repair.Dir,
		Spec: trace.Job{
			ID: filepath.Base(w.dir), Key: w.job.Key, Repo: w.job.Repo.String(), Target: w.job.Target.String(), Trigger: w.job.Trigger,
			Root: w.job.Root, Base: w.job.Base, Check: w.check(), Models: models, Tiers: tiers, Mode: mode, Sandbox: w.Repair.Sandbox, Setup: w.setup(), Seed: w.Repair.Seed,
			Limits: trace.Limits{Turns: l.Turns, Files: l.Files, Lines: l.Lines, Wall: time.Duration(l.Minutes) * time.Minute},
			Fixers: w.policy.Fixers, Protect: w.policy.Protect, Allow: w.policy.Allow, Said: strings.TrimSpace(w.Repair.Said + "\n" + w.job.Words), Attempt: w.q.Attempt, RetryOf: w.earlier(),
		},
	}, nil
}

// setup is the operator's word on setup commands, for this target alone: what a pull request's commands leave is never used
// for another one, nor for a branch.
func (w *work) setup() *trace.SetupChoice {
	if w.Repair.Setup == nil {
		return nil
	}
	return &trace.SetupChoice{Domain: w.job.Repo.String() + " " + w.job.Target.String(), Registries: w.Repair.Setup.Registries}
}

// models are those that the configuration names, else the operator's, else what answers on this machine. Who only publishes or
// diagnoses asks none.
func (w *work) models(ctx context.Context) ([]trace.ModelChoice, error) {
	f := w.policy
	switch {
	case w.Half == PublishHalf, w.job.Diagnose:
		return nil, nil
	case f.Small+f.Big != "" && w.Repair.Named != nil:
		models, err := w.Repair.Named(ctx, f.Small, f.Big)
		if err != nil {
			return nil, &job.Ended{Stop: trace.Stop{Reason: trace.NeedsConfiguration, Class: "model", Text: "A model that is asked for is not here: " + err.Error() + ".", Next: "Start its server, or name one that the machine's own configuration has."}}
		}
		return models, nil
	case len(w.Repair.Models) == 0 && w.Repair.Detect != nil:
		return w.Repair.Detect(ctx), nil
	}
	return w.Repair.Models, nil
}

// earlier is the evidence of the attempt before this one, "" if there was none.
func (w *work) earlier() string {
	if w.q.Attempt < 2 {
		return ""
	}
	return fmt.Sprintf("%s-%d", w.id, w.q.Attempt-1)
}

// proved is the evidence of an earlier attempt that came as far as a receipt: it is admitted again instead of made again.
func (w *work) proved(ctx context.Context) string {
	for n := w.q.Attempt - 1; n >= 1; n-- {
		dir := filepath.Join(w.Repair.State, "jobs", fmt.Sprintf("%s-%d", w.id, n))
		if _, err := os.Stat(filepath.Join(dir, proof.ReceiptFile)); err == nil && ctx.Err() == nil {
			return dir
		}
	}
	return ""
}

// onEvent turns the lines of a trace that are states of a job into states.
func (w *work) onEvent(e trace.Event) {
	if w.OnTrace != nil {
		w.OnTrace(e)
	}
	s := queue.State("")
	switch e.Type {
	case trace.TypeVerdict:
		var v trace.VerdictData
		if json.Unmarshal(e.Data, &v) == nil && v.Phase == "see" && v.Color == "red" {
			s = queue.Reproduced
		}
	case trace.TypePatch:
		s = queue.Proposed
	case trace.TypeReceipt:
		s = queue.Proved
	}
	if s == "" {
		return
	}
	if err := w.enter(context.Background(), s, nil); err != nil {
		w.mu.Lock()
		w.enterErr = errors.Join(w.enterErr, err)
		w.mu.Unlock()
	}
}

// enter writes a state down, once an attempt.
func (w *work) enter(ctx context.Context, s queue.State, data any) error {
	w.mu.Lock()
	again := w.entered[s]
	w.entered[s] = true
	w.mu.Unlock()
	if again {
		return nil
	}
	return w.Queue.Enter(ctx, w.id, s, data)
}

// announce makes sure that the branch may be pushed, where no more than a token says so, and shows on the commit that a job
// runs. That a permission is missing is known before any work; any other trouble leaves the job none the worse.
func (w *work) announce(ctx context.Context) error {
	if w.Half == RepairHalf {
		return nil
	}
	if !w.job.Diagnose {
		if err := w.mayPush(ctx); err != nil {
			return err
		}
	}
	c := CheckText(Story{Job: w.job, Evidence: filepath.Base(w.dir), State: queue.Prepared, Workflow: w.Briefly}, w.Clean)
	c.Done, c.SHA, c.Key = false, w.job.Root, w.job.Key
	_, err := w.Hub.CheckRun(ctx, w.job.Repo, c)
	if isClass(err, Forbidden) {
		return err
	}
	if err != nil {
		w.Log.Warn("a check run could not be shown", "error", w.Clean.Log(err.Error()))
	}
	return nil
}

// mayPush asks git whether a branch could be pushed. An App's permissions are known without.
func (w *work) mayPush(ctx context.Context) error {
	self, err := w.who(ctx)
	if err != nil || self.App != 0 {
		return err
	}
	remote, done, err := w.Hub.Remote(ctx, w.job.Repo, true)
	if err != nil {
		return err
	}
	defer done()
	err = w.mirror.MayPush(ctx, remote, Branch(w.job, w.prefix()), w.job.Root)
	if errors.Is(err, worktree.ErrDenied) {
		return &HubError{Class: Forbidden, Doing: "try whether a branch can be pushed to " + w.job.Repo.String(), Permission: "contents: write"}
	}
	if err != nil {
		w.Log.Warn("whether a branch can be pushed is not known", "error", w.Clean.Log(err.Error()))
	}
	return nil
}

// story is what texts about the job are written from.
func (w *work) story(p *proof.Proof) Story {
	s := Story{Job: w.job, Proof: p, Quiet: w.quiet, Draft: w.draft, Evidence: filepath.Base(w.dir), Artifact: w.Half == PublishHalf, Workflow: w.Briefly}
	if events, torn, err := trace.Read(filepath.Join(w.dir, trace.FileName)); err == nil {
		s.Status, s.Events = trace.StatusOf(events, torn), events
	}
	return s
}

// end is what is said about an outcome.
func (w *work) end(out job.Outcome) End {
	s := w.story(out.Proof)
	s.Status.Stop, s.State = &out.Stop, queue.Closed
	c := CheckText(s, w.Clean)
	c.Done, c.SHA, c.Key = true, w.job.Root, w.job.Key
	end := End{Stop: out.Stop, Evidence: filepath.Base(w.dir), Draft: w.draft, Drafted: w.drafted, Check: c, Answer: Answer(s, w.Clean)}
	end.Color, end.Turns = lastColor(s), s.Status.Usage.Turns
	return end
}

// say says how the job ended: a check run always, a comment to a person who asked; takes the label off; and closes the
// job. Everything in it may be done again.
func (w *work) say(ctx context.Context, end End) error {
	if err := w.tolerate(w.sayCheck(ctx, end)); err != nil {
		return err
	}
	// A base that moved is told without being asked: only a person can bring it into the pull request.
	if (w.job.Asked || end.Stop.Reason == trace.BaseDrift) && w.job.Target.Number > 0 {
		_, err := w.Hub.Comment(ctx, w.job.Repo, w.job.Target.Number, commentMarker(w.job.Target.Key()), end.Answer)
		if err := w.tolerate(err); err != nil {
			return err
		}
	}
	if w.job.Label != "" && w.job.Target.Number > 0 {
		if err := w.tolerate(w.Hub.RemoveLabel(ctx, w.job.Repo, w.job.Target.Number, w.job.Label)); err != nil {
			return err
		}
	}
	return w.Queue.Enter(ctx, w.id, queue.Closed, end)
}

func (w *work) sayCheck(ctx context.Context, end End) error {
	_, err := w.Hub.CheckRun(ctx, w.job.Repo, end.Check)
	return err
}

// tolerate logs a no that trying again does not change.
func (w *work) tolerate(err error) error {
	var h *HubError
	if errors.As(err, &h) && (h.Class == Forbidden || h.Class == NotFound || h.Class == Invalid || h.Class == Conflicting) {
		w.Log.Error("an answer could not be given", "error", w.Clean.Log(h.Error()))
		return nil
	}
	return err
}

// commentMarker is the hidden line by which our one comment for something is found again.
func commentMarker(what string) string { return "<!-- redraft:comment=" + what + " -->" }
