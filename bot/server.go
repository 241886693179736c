package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/worktree"
)

// Queue is what a Bot needs of the queue.
type Queue interface {
	Note(ctx context.Context, delivery, outcome, text string) error
	Submit(ctx context.Context, j queue.Job) (id string, s queue.Submission, err error)
	Enter(ctx context.Context, id string, s queue.State, data any) error
	Cancel(ctx context.Context, target, key, why string) (n int, err error)
	Last(ctx context.Context, target string) (j queue.Job, ok bool, err error)
	Since(ctx context.Context, prefix string, t time.Time) (int, error)
	Put(ctx context.Context, name string, value []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
}

// Bot turns deliveries into jobs, and jobs into drafts. Its fields are set before the first call; several goroutines may
// use it.
type Bot struct {
	Hub      Hub
	Queue    Queue
	Store    *worktree.Store
	Host     string // of the forge, as in "github.com"
	Operator Operator
	Repair   Repair
	Tries    int // attempts of one job before our side's failure is its end; 3 if zero
	Clean    *redact.Cleaner
	Log      *slog.Logger
	Half     Half              // all of a job if empty
	Evidence string            // absolute folder that the jobs' evidence is in; jobs below Repair.State if empty
	Briefly  bool              // nothing is remembered from one event to the next, as in a workflow's job
	Now      func() time.Time  // time.Now if nil
	OnTrace  func(trace.Event) // sees every line of every job's trace, if not nil

	mu   sync.Mutex
	self *Self
}

// Half is how much of a job a Bot does. Two Bots with a half each do what one does, and neither holds both a token that
// can write and a command of the repository to run.
type Half string

const (
	RepairHalf  Half = "repair"  // as far as the evidence: GitHub is asked for files and commits alone, and told nothing
	PublishHalf Half = "publish" // from evidence that another Bot left to the draft: nothing of the repository is run
)

// Naming finds models by their names on this machine: small and big, of which one may be empty. The error is for people.
type Naming func(ctx context.Context, small, big string) ([]trace.ModelChoice, error)

// Repair is what every job's repair process is given.
type Repair struct {
	Exe       []string // argv that starts this program
	Getenv    func(string) string
	State     string // absolute folder: toolchain bases; jobs/ID holds the evidence
	Models    []trace.ModelChoice
	Detect    func(ctx context.Context) []trace.ModelChoice // asked for each job where Models is empty; none if nil
	Named     Naming                                        // finds the models that a configuration names; Models whatever it names, if nil
	Tiers     []string
	Sandbox   trace.SandboxChoice
	Setup     *trace.SetupChoice // the operator lets setup commands be run; its domain is filled in for each target
	Sandboxes []string           // tiers whose proofs are admitted
	Key       *proof.Key         // signs the evidence of what was admitted; nothing is signed if nil
	Seed      int64
	Command   string // the check, over what is found; none if empty
	Dir       string // folder below the root that Command runs in; "." if empty
	Said      string // words to the model, before those of whoever asked; none if empty
}

func (b *Bot) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// who is Self, asked once: a failed question is asked again.
func (b *Bot) who(ctx context.Context) (Self, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.self != nil {
		return *b.self, nil
	}
	s, err := b.Hub.Self(ctx)
	if err == nil {
		b.self = &s
	}
	return s, err
}

// Handle takes one delivery to its end: jobs, cancels, closed drafts, or a reason why none. It may be called again for the
// same delivery and does nothing twice. An error is our side's, or GitHub's to get over: the delivery is to be handled
// again.
func (b *Bot) Handle(ctx context.Context, d queue.Delivery) error {
	e, err := Decode(d.Event, d.ID, d.Payload)
	_, outcome, text, err := b.take(ctx, e, err)
	if err != nil {
		return fmt.Errorf("handle %s %s: %w", d.Event, d.ID, err)
	}
	b.Log.Info("delivery", "event", d.Event, "action", e.Action, "repo", e.Repo.String(), "outcome", outcome, "text", b.Clean.Log(text))
	return b.Queue.Note(ctx, d.ID, outcome, b.Clean.Terminal(text))
}

// Take takes one event to its end, as Handle does with a delivery, and says in a word and a sentence what came of it. The word
// is "accepted" where something was done, "nothing", or the reason of a Skip.
func (b *Bot) Take(ctx context.Context, e Event) (did Did, outcome, text string, err error) {
	return b.take(ctx, e, nil)
}

func (b *Bot) take(ctx context.Context, e Event, err error) (did Did, outcome, text string, _ error) {
	if err == nil {
		did, err = b.Decide(ctx, e)
	}
	if err == nil {
		err = b.do(ctx, e, &did)
	}
	outcome, text, err = b.outcome(ctx, e, did, err)
	return did, outcome, text, err
}

// Did is a decision and what was done about it.
type Did struct {
	Decision
	Facts  Facts
	Queued []string // ids of jobs that were added
	Told   []string // sentences for the record
}

// Decide decides about an event and does nothing.
func (b *Bot) Decide(ctx context.Context, e Event) (Did, error) {
	self, err := b.who(ctx)
	if err != nil {
		return Did{}, err
	}
	if s := Sift(e, self); s != nil {
		return Did{}, s
	}
	looking, release := b.hold(ctx, e.Repo)
	facts, err := Gather(looking, b.Hub, e, self, b.Operator, b.known, b.began)
	release()
	if err != nil {
		return Did{Facts: facts}, err
	}
	decision, s := Accept(e, self, facts)
	if s != nil {
		return Did{Facts: facts}, s
	}
	return Did{Decision: decision, Facts: facts}, nil
}

// hold makes the reads of one repository one operation where the hub can: with one token instead of one each.
func (b *Bot) hold(ctx context.Context, r Repo) (context.Context, func()) {
	if h, ok := b.Hub.(interface {
		Hold(ctx context.Context, r Repo) (context.Context, func())
	}); ok {
		return h.Hold(ctx, r)
	}
	return ctx, func() {}
}

// known says whether this machine remembers a draft of the target.
func (b *Bot) known(ctx context.Context, r Repo, t Target) (bool, error) {
	if b.Briefly { // GitHub may know of one
		return true, nil
	}
	v, err := b.Queue.Get(ctx, draftName(r, t))
	return len(v) > 0, err
}

func draftName(r Repo, t Target) string { return "draft/" + targetName(r, t) }

// targetName is a target among those of every repository.
func targetName(r Repo, t Target) string { return fmt.Sprintf("%d/%s", r.ID, t.Key()) }

// began counts the repository's jobs of the last day; where nothing is remembered, its drafts.
func (b *Bot) began(ctx context.Context, r Repo) (n int, err error) {
	if b.Briefly {
		drafts, err := b.Hub.Drafts(ctx, r, "")
		for _, d := range drafts {
			if b.now().Sub(d.Created) < 24*time.Hour {
				n++
			}
		}
		return n, err
	}
	return b.Queue.Since(ctx, fmt.Sprintf("%d/", r.ID), b.now().Add(-24*time.Hour))
}

// do does what was decided: cancels first, so that a new head's job does not wait for the old one.
func (b *Bot) do(ctx context.Context, e Event, d *Did) error {
	for _, c := range d.Cancel {
		n, err := b.cancel(ctx, e, c)
		if err != nil {
			return err
		}
		d.Told = append(d.Told, fmt.Sprintf("%s: %d unfinished jobs %s", c.Target, n, c.Reason))
	}
	for _, c := range d.Close {
		if err := b.closeDraft(ctx, e.Repo, c); err != nil {
			return err
		}
		d.Told = append(d.Told, fmt.Sprintf("draft %d closed: %s", c.Draft.Number, c.Why))
	}
	for _, j := range d.Start {
		if err := b.submit(ctx, j, d); err != nil {
			return err
		}
	}
	if d.Explain != nil {
		return b.explain(ctx, e, *d.Explain, d)
	}
	return nil
}

// submit queues a job.
func (b *Bot) submit(ctx context.Context, j Job, d *Did) error {
	if j.Accepted.IsZero() {
		j.Accepted = b.now().UTC()
	}
	args, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if again, err := b.handled(ctx, j); err != nil || again {
		return err
	}
	id, s, err := b.Queue.Submit(ctx, queue.Job{Key: j.Key, Target: targetName(j.Repo, j.Target), Head: j.Root, Again: j.Retry || j.Asked, Args: args})
	if err != nil {
		return err
	}
	if s == queue.Done && !j.Retry && !j.Asked { // a head that was pushed away and is back
		if id, s, err = b.back(ctx, j, args, id); err != nil {
			return err
		}
	}
	if s == queue.Added || s == queue.Superseded {
		d.Queued = append(d.Queued, id)
	}
	d.Told = append(d.Told, fmt.Sprintf("%s: job %s %s", j.Target, id, s))
	return nil
}

// back queues a job of a head once more whose job before was superseded, and never came to an end of its own.
func (b *Bot) back(ctx context.Context, j Job, args []byte, id string) (string, queue.Submission, error) {
	last, ok, err := b.Queue.Last(ctx, targetName(j.Repo, j.Target))
	var end End
	if err != nil || !ok || last.ID != id || json.Unmarshal(last.End, &end) != nil || end.Stop.Reason != trace.Superseded {
		return id, queue.Done, err
	}
	return b.Queue.Submit(ctx, queue.Job{Key: j.Key, Target: targetName(j.Repo, j.Target), Head: j.Root, Again: true, Args: args})
}

// cancel ends the unfinished jobs of a target. One that runs says so itself; of one that never began nobody else would
// take the label off.
func (b *Bot) cancel(ctx context.Context, e Event, c Cancel) (n int, err error) {
	last, ok, err := b.Queue.Last(ctx, targetName(e.Repo, c.Target))
	if err != nil {
		return 0, err
	}
	if n, err = b.Queue.Cancel(ctx, targetName(e.Repo, c.Target), "", c.Reason+": "+c.Why); err != nil {
		return n, err
	}
	var of Job
	if !ok || last.State == queue.Closed || !last.Began.IsZero() || json.Unmarshal(last.Args, &of) != nil || of.Label == "" || e.Action == "unlabeled" {
		return n, nil
	}
	err = b.Hub.RemoveLabel(ctx, e.Repo, c.Target.Number, of.Label)
	var h *HubError
	if errors.As(err, &h) && (h.Class == Forbidden || h.Class == NotFound) {
		err = nil
	}
	return n, err
}

// handled says whether this very delivery led to the target's newest job before, as when a kill came between the job and the
// delivery's end. A person who asks again does so in another delivery.
func (b *Bot) handled(ctx context.Context, j Job) (bool, error) {
	last, ok, err := b.Queue.Last(ctx, targetName(j.Repo, j.Target))
	var of Job
	return err == nil && ok && json.Unmarshal(last.Args, &of) == nil && of.Key == j.Key && of.Delivery == j.Delivery, err
}

// closeDraft closes a draft of ours and says why under it. That we closed it is what tells it from a person's no.
func (b *Bot) closeDraft(ctx context.Context, r Repo, c Closing) error {
	body := "Closed as superseded: " + b.Clean.Markdown(c.Why) + "\n"
	if _, err := b.Hub.Comment(ctx, r, c.Draft.Number, commentMarker("superseded"), body); err != nil {
		return err
	}
	return b.Hub.CloseDraft(ctx, r, c.Draft.Number)
}

// explain says again how the last job of a target ended.
func (b *Bot) explain(ctx context.Context, e Event, t Target, d *Did) error {
	last, ok, err := b.Queue.Last(ctx, targetName(e.Repo, t))
	if err != nil {
		return err
	}
	text := "Nothing was tried for this yet.\n"
	switch {
	case b.Briefly:
		text = "Nothing is remembered from one run of the workflow to the next. The check run `redraft` on the commit says how the last job ended.\n"
	case ok:
		text = "A job for this is under way.\n"
		var end End
		if len(last.End) > 0 && json.Unmarshal(last.End, &end) == nil {
			text = end.Answer
			if text == "" { // it was cancelled before it began
				text = "The last job for this was cancelled before it began. Say `/redraft` to ask again.\n"
			}
		}
	}
	d.Told = append(d.Told, "explained")
	_, err = b.Hub.Comment(ctx, e.Repo, e.number(), commentMarker(t.Key()), text)
	return err
}

// number is the issue or pull request that an event is about, 0 if none.
func (e Event) number() int {
	switch {
	case e.Issue != nil:
		return e.Issue.Number
	case e.Pull != nil:
		return e.Pull.Number
	}
	return 0
}

// outcome puts into words what came of a delivery. What GitHub can get over is an error; a no for good is not.
func (b *Bot) outcome(ctx context.Context, e Event, d Did, err error) (outcome, text string, _ error) {
	var s *Skip
	var h *HubError
	switch {
	case err == nil && len(d.Told) == 0:
		return "nothing", "nothing to do", nil
	case err == nil:
		return "accepted", joined(d.Told), nil
	case errors.As(err, &s):
		return string(s.Reason), s.Text, b.tell(ctx, e, s)
	case errors.As(err, &h) && h.Class == Forbidden:
		b.Log.Error("GitHub lets us not do this", "doing", h.Doing, "needs", h.Permission, "event", e.Name)
		return string(NotAllowed), h.Error(), nil
	case errors.As(err, &h) && h.Class == NotFound:
		return string(Gone), h.Error(), nil
	}
	return "", "", err
}

// tell answers a person who asked and gets a no, and takes the label off by which they asked. That GitHub does not let us is
// no reason to try again.
func (b *Bot) tell(ctx context.Context, e Event, s *Skip) error {
	if !s.Tell || e.number() == 0 {
		return nil
	}
	_, err := b.Hub.Comment(ctx, e.Repo, e.number(), commentMarker("skip"), "No job began: "+b.Clean.Markdown(s.Text)+"\n")
	if err == nil && e.Label != "" && e.Action == "labeled" {
		err = b.Hub.RemoveLabel(ctx, e.Repo, e.number(), e.Label)
	}
	var h *HubError
	if errors.As(err, &h) && (h.Class == Forbidden || h.Class == NotFound || h.Class == Invalid) {
		b.Log.Error("an answer could not be given", "error", h.Error())
		return nil
	}
	return err
}

func joined(told []string) string {
	text := ""
	for i, t := range told {
		if i > 0 {
			text += "; "
		}
		text += t
	}
	return text
}

// policyAt is the configuration that a job was accepted under, read again at the commit that was pinned.
func (b *Bot) policyAt(ctx context.Context, j Job) (plan.File, error) {
	text, err := b.Hub.File(ctx, j.Repo, plan.FileName, j.Policy)
	var h *HubError
	if errors.As(err, &h) && h.Class == NotFound {
		return b.Operator.over(plan.File{}), nil
	}
	if err != nil {
		return plan.File{}, err
	}
	f, err := plan.ParseFile(text)
	if err != nil {
		return plan.File{}, err
	}
	return b.Operator.over(f), nil
}
