package action

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/bot/queue"
)

// Run is one run of the Action. Its fields are set before Do, which is called once.
type Run struct {
	*Action
	Bot      *bot.Bot // what belongs to one run is set by Do: queue, half, evidence, and what the inputs say
	In       Inputs
	At       Place
	Settings []Setting   // of the runner's own configuration, for the summary
	Owner    plan.Limits // what the runner's own configuration says of limits; zero where it says nothing

	queue  *memory
	policy plan.File // the default branch's configuration, as it was read
	found  []entry   // in mode publish, the evidence that came
}

// Result is what came of a run.
type Result struct {
	Skip   string // the reason, when no job began
	Text   string // a sentence about it
	Jobs   []bot.Job
	Ends   []Ended
	Broken Broken
}

// Ended is how a job of the run ended.
type Ended struct {
	bot.End
	Job bot.Job
	Dir string // of the evidence
}

// Broken is whose fault it is that a step fails.
type Broken string

const (
	Fine          Broken = ""
	Configuration Broken = "configuration" // the repository's, the workflow's or the token's
	OurSide       Broken = "our_side"
)

// Do answers the event and tells the runner what came of it. A cancelled ctx is a cancelled run: the job under way is ended
// in order and said to be. An error is our side's, or GitHub's to get over.
func (r *Run) Do(ctx context.Context) (Result, error) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(&queue.Cause{Text: "cancelled: The workflow's run was cancelled."}) })()
	if err := r.prepare(); err != nil {
		return Result{Broken: OurSide}, err
	}
	res, err := r.decide(work)
	if err == nil && res.Skip == "" && !r.In.DryRun {
		res, err = r.answer(work)
	}
	if err != nil {
		return Result{Broken: OurSide}, err
	}
	return res, r.tell(&res)
}

// prepare sets the bot up for this run.
func (r *Run) prepare() error {
	r.queue = newMemory(func() string { return job.NewID(time.Now(), strings.ToLower(rand.Text()[:8])) })
	b := r.Bot
	b.Queue, b.Briefly, b.Tries = r.queue, true, attempts
	b.Repair.Command, b.Repair.Dir, b.Repair.Said = r.In.Check, r.In.Dir, r.In.Instructions
	b.Operator.Branch = r.In.Base
	b.Operator.Over = func(f plan.File) plan.File {
		r.policy = f
		return r.In.Over(f)
	}
	dir, err := r.folder()
	if err != nil {
		return err
	}
	b.Evidence = dir
	switch r.In.Mode {
	case "diagnose":
		b.Operator.Look = true
	case "repair":
		b.Half = bot.RepairHalf
	case "publish":
		b.Half = bot.PublishHalf
		if b.Evidence, r.found, err = receive(dir, r.At.Temp); err != nil {
			return fmt.Errorf("read the evidence in %s: %w", dir, err)
		}
	}
	return nil
}

// attempts of one job within a run, before our side's failure is its end.
const attempts = 2

// folder is where the evidence goes, or comes from. Without an input it stays on the machine; that of a repair job is to be
// uploaded, and no other's may be in the same folder.
func (r *Run) folder() (string, error) {
	switch {
	case r.In.Evidence != "":
		dir, err := filepath.Abs(r.In.Evidence)
		if err != nil {
			return "", fmt.Errorf("find the evidence folder: %w", err)
		}
		return dir, nil
	case r.In.Mode != "repair":
		return filepath.Join(r.Bot.Repair.State, "jobs"), nil
	}
	dir, err := os.MkdirTemp(r.At.Temp, "redraft-evidence-")
	if err != nil {
		return "", fmt.Errorf("make the evidence folder: %w", err)
	}
	return dir, nil
}

// decide fills the queue, or says why not. Of a repair job's decision nothing is told to GitHub.
func (r *Run) decide(ctx context.Context) (Result, error) {
	if len(r.In.Jobs) > 0 {
		return r.given(ctx)
	}
	e, err := r.At.event(r.In)
	var no *bot.Skip
	if errors.As(err, &no) {
		return Result{Skip: string(no.Reason), Text: no.Text}, nil
	}
	if err != nil {
		return Result{}, err
	}
	if !r.In.DryRun && r.Bot.Half != bot.RepairHalf {
		return r.take(ctx, e)
	}
	did, err := r.Bot.Decide(ctx, e)
	var hub *bot.HubError
	switch {
	case errors.As(err, &no):
		return Result{Skip: string(no.Reason), Text: no.Text}, nil
	case errors.As(err, &hub) && hub.Class == bot.Forbidden:
		return Result{Skip: string(bot.NotAllowed), Text: hub.Error(), Broken: Configuration}, nil
	case err != nil:
		return Result{}, err
	case len(did.Start) == 0:
		return Result{Skip: "nothing", Text: "nothing is to be repaired"}, nil
	}
	return r.enqueue(ctx, did.Start)
}

// take does all that an event leads to but the jobs.
func (r *Run) take(ctx context.Context, e bot.Event) (Result, error) {
	did, outcome, text, err := r.Bot.Take(ctx, e)
	switch {
	case err != nil:
		return Result{}, err
	case outcome != "accepted" || len(did.Queued) == 0:
		if outcome == "accepted" {
			outcome = "nothing"
		}
		return Result{Skip: outcome, Text: text}, nil
	}
	return Result{Jobs: did.Start}, nil
}

// given takes the jobs that a step before decided. They are of this repository: what they name is fetched from there.
func (r *Run) given(ctx context.Context) (Result, error) {
	for _, j := range r.In.Jobs {
		if r.At.Repo.ID != 0 && j.Repo.ID != r.At.Repo.ID || r.At.Repo.ID == 0 && !strings.EqualFold(j.Repo.String(), r.At.Repo.String()) {
			return Result{Skip: string(bot.Malformed), Text: fmt.Sprintf("input jobs: a job of %s, and this is %s", j.Repo, r.At.Repo), Broken: Configuration}, nil
		}
	}
	return r.enqueue(ctx, r.In.Jobs)
}

func (r *Run) enqueue(ctx context.Context, jobs []bot.Job) (Result, error) {
	for _, j := range jobs {
		if j.Accepted.IsZero() {
			j.Accepted = time.Now().UTC()
		}
		args, err := json.Marshal(j)
		if err != nil {
			return Result{}, err
		}
		if _, _, err := r.queue.Submit(ctx, queue.Job{Key: j.Key, Target: fmt.Sprintf("%d/%s", j.Repo.ID, j.Target.Key()), Head: j.Root, Args: args}); err != nil {
			return Result{}, err
		}
	}
	return Result{Jobs: jobs}, nil
}

// answer does the jobs one after the other.
func (r *Run) answer(ctx context.Context) (res Result, err error) {
	waiting := r.queue.waiting()
	var index []entry
	if r.Bot.Half == bot.RepairHalf {
		if index, err = r.index(waiting); err != nil {
			return res, err
		}
	}
	for i, q := range waiting {
		var j bot.Job
		if err := json.Unmarshal(q.Args, &j); err != nil {
			return res, err
		}
		res.Jobs = append(res.Jobs, j)
		if r.Bot.Half == bot.PublishHalf {
			e, missing := r.evidenceOf(j)
			if missing != "" {
				if res.Skip != "" || len(res.Ends) > 0 {
					r.Say(Warning, Remark{Title: "evidence_missing", Text: sentence(missing)})
				}
				res.Skip, res.Text = "evidence_missing", missing
				continue
			}
			q.ID = e.Folder
		}
		end, err := r.work(ctx, q)
		if err != nil {
			return res, err
		}
		if len(index) > 0 && index[i].Folder != end.Evidence { // it took a second attempt
			index[i].Folder = end.Evidence
			if err := r.writeIndex(index); err != nil {
				return res, err
			}
		}
		res.Ends = append(res.Ends, Ended{End: end, Job: j, Dir: filepath.Join(r.Bot.Evidence, end.Evidence)})
	}
	if len(res.Ends) > 0 {
		res.Skip, res.Text = "", ""
	}
	return res, nil
}

// work does one job, once more where our side failed.
func (r *Run) work(ctx context.Context, q queue.Job) (end bot.End, err error) {
	for q.Attempt = 1; q.Attempt <= attempts; q.Attempt++ {
		if err = r.Bot.Work(ctx, q); err == nil || ctx.Err() != nil {
			break
		}
		fmt.Fprintf(r, "attempt %d: %v\n", q.Attempt, err)
	}
	if err == nil && !r.queue.get("end/"+q.ID, &end) {
		err = errors.New("the job left no end")
	}
	return end, err
}

// failed says of a stop whose fault it is that the step fails. What a check, a model or a person decided is nobody's.
func failed(s trace.Stop) Broken {
	switch {
	case s.Reason == trace.NeedsConfiguration:
		return Configuration
	case s.Reason == trace.Infra && s.Class == "our_side":
		return OurSide
	}
	return Fine
}
