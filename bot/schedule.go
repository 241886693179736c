package bot

import (
	"cmp"
	"context"
)

// onSchedule looks at a branch that nobody said is red, as a workflow does at night. GitHub sends no such event to an App:
// it comes from Scheduled alone.
var onSchedule = kind{read: notSent, complete: hasBranch, sift: siftNothing, steps: scheduleSteps, decide: decideCheck}

// Scheduled is the event of looking at a branch, the default branch if it is empty. The payload is that of the workflow's
// event, which not always names the repository: r is taken then.
func Scheduled(payload []byte, r Repo, branch, delivery string) (Event, error) {
	p, err := readJSON[envelope](payload)
	if err != nil {
		return Event{}, skip(Malformed, "schedule: %v", err)
	}
	e := Event{Name: "schedule", Delivery: delivery, Repo: p.event().Repo}
	if e.Repo.ID == 0 {
		e.Repo = r
	}
	e.Check = &Check{Branch: branch, Done: true, Conclusion: "failure"}
	return made(e)
}

// made is an event that does not come from GitHub, held to what one of GitHub's must have.
func made(e Event) (Event, error) {
	if !nameOf(e.Repo.Owner) || !nameOf(e.Repo.Name) || e.Repo.ID <= 0 {
		return Event{}, skip(Malformed, "%s: no repository is named", e.Name)
	}
	if !kinds[e.Name].complete(e) {
		return Event{}, skip(Malformed, "%s: no branch is named", e.Name)
	}
	return e, nil
}

// notSent reads what GitHub never sends.
func notSent([]byte) (Event, error) { return Event{}, skip(NotForUs, "GitHub sends no such event") }

func hasBranch(e Event) bool {
	return e.Check != nil && (e.Check.Branch == "" || branchOf(e.Check.Branch))
}

func siftNothing(e Event, self Self) *Skip {
	if ownBranch(e.Check.Branch, self) {
		return skip(OwnWork, "%q is a branch of ours", e.Check.Branch)
	}
	return nil
}

func scheduleSteps(Event) []step {
	return []step{
		{askRepo, repoSays}, {askSeen, goneSays}, {askPolicy, policySays}, {nil, branchSays}, {askToday, todaySays}, {askMessage, messageSays},
		{askChecks, groupsSay}, {askDrafts, draftsSay}, {askJobs, nil},
	}
}

// askSeen finds where the branch that is looked at stands.
func askSeen(ctx context.Context, g *gatherer) error {
	return g.askTipOf(ctx, cmp.Or(g.e.Check.Branch, g.f.Repo.Default))
}

func goneSays(l look) *Skip {
	if l.f.Tip.SHA == "" {
		return skip(Gone, "branch %q is gone", l.e.Check.Branch)
	}
	return nil
}

// askItself takes the event's check for the only one: it is still running, as far as GitHub knows.
func askItself(_ context.Context, g *gatherer) error {
	g.f.Checks = []Check{*g.e.Check}
	return nil
}
