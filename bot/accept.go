package bot

import (
	"context"

	"github.com/redraft-dev/redraft/agent/plan"
)

// Operator is what the machine's own file allows.
type Operator struct {
	Limits plan.Limits // what it leaves out is as in plan.DefaultLimits
	Forks  bool
	Bots   bool
	Look   bool                      // no job repairs: each says what is red and why
	Branch string                    // that issues and schedules are for; the default branch if empty
	Over   func(plan.File) plan.File // what a workflow's inputs make of the default branch's configuration; as it is if nil
}

// Known says whether a draft of ours for this target was opened from this machine, as it remembers; it asks nobody. A
// ForBranch target asks for any draft that goes against that branch: a commit status does not name its pull request.
type Known func(ctx context.Context, r Repo, t Target) (bool, error)

// Decision is what an event leads to. It may be several things at once, as when a new head supersedes a job.
type Decision struct {
	Start   []Job
	Cancel  []Cancel
	Close   []Closing // drafts of ours that are closed, with the reason
	Explain *Target   // /redraft explain: say again how the last job ended
}

// Cancel ends unfinished jobs of a target.
type Cancel struct {
	Target Target
	Why    string // one sentence
	Reason string // superseded or cancelled
}

// Closing closes a draft of ours that is no longer needed, which is no person's no.
type Closing struct {
	Draft Draft
	Why   string
}

// Sift says the noes that the event alone tells, so that a foreign one costs no call; nil means worth a look.
func Sift(e Event, self Self) *Skip {
	k, ok := kinds[e.Name]
	if !ok || !k.complete(e) {
		return skip(NotForUs, "nothing here answers %s", e.Name)
	}
	return k.sift(e, self)
}

// Accept decides. It is pure: the same event, self and facts always give the same answer, and it changes none of them.
// Jobs come without a time of acceptance, which the caller knows.
func Accept(e Event, self Self, f Facts) (Decision, *Skip) {
	if no := Sift(e, self); no != nil {
		return Decision{}, no
	}
	l := look{e, self, f}
	for _, s := range kinds[e.Name].steps(e) {
		if no := s.says(l); no != nil {
			return Decision{}, no
		}
	}
	return kinds[e.Name].decide(l)
}

// kind is how one event is read and answered. Its file is named after it.
type kind struct {
	read     func(payload []byte) (Event, error) // of the fields in use; an error is a payload that is no such event
	complete func(e Event) bool                  // has what its answers look at
	sift     func(e Event, self Self) *Skip      // the noes without a call
	steps    func(e Event) []step                // what is asked, and the noes that follow from it
	decide   func(l look) (d Decision, no *Skip) // when no step says no
}

var kinds = map[string]kind{
	"check_run":     onCheckRun,
	"check_suite":   onCheckSuite,
	"workflow_run":  onWorkflowRun,
	"status":        onStatus,
	"issues":        onIssues,
	"pull_request":  onPullRequest,
	"issue_comment": onIssueComment,
	"schedule":      onSchedule,
	"failed_step":   onFailedStep,
}

// step asks GitHub for some facts, and says the no that they mean. Gather does both, one step after the other, and stops
// at the first no; Accept, which has all the facts, goes through the same noes in the same order.
type step struct {
	ask func(ctx context.Context, g *gatherer) error // may be nil
	no  func(l look) *Skip                           // may be nil
}

func (s step) says(l look) *Skip {
	if s.no == nil {
		return nil
	}
	return s.no(l)
}

// look is one event with what is known about it.
type look struct {
	e    Event
	self Self
	f    Facts
}
