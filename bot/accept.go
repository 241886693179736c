package bot

import (
	"context"

	"github.com/redraft-dev/redraft/agent/plan"
)

// Decode reads the fields in use of a webhook's payload. It never fails on what it does not use; the error is a *Skip,
// Malformed or NotForUs.
func Decode(name, delivery string, payload []byte) (Event, error) { panic("stub") }

// Sift says the noes that the event alone tells, so that a green or foreign one costs no call; nil means worth a look.
func Sift(e Event, self Self) *Skip { panic("stub") }

// Operator is what the machine's own file allows.
type Operator struct {
	Limits plan.Limits
	Forks  bool
	Bots   bool
}

// Known says whether a draft of ours for this target was opened from this machine, as it remembers; it asks nobody.
type Known func(ctx context.Context, r Repo, t Target) (bool, error)

// Gather asks GitHub for the facts that Accept needs of this event, in as few calls as it can, the cheap ones first. A
// *Skip as error is a no that made further calls needless; other errors are the hub's.
func Gather(ctx context.Context, hub Hub, e Event, self Self, op Operator, known Known, began func(ctx context.Context, r Repo) (int, error)) (Facts, error) {
	panic("stub")
}

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

// Accept decides. It is pure: the same event, self and facts always give the same answer.
func Accept(e Event, self Self, f Facts) (Decision, *Skip) { panic("stub") }
