package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/trace"
)

// inMode ends a job that is not to repair what it saw red.
func (a *Agent) inMode(ctx context.Context) (trace.Stop, bool, error) {
	switch a.Job.Mode {
	case trace.ModeLook:
		return trace.Stop{Reason: trace.Exhausted, Text: "The check is red; it was to be looked at alone."}, true, nil
	case trace.ModeDiagnose:
		if slices.Contains(a.Job.On, perceive.Coverage) {
			a.covered(ctx)
		}
		return trace.Stop{Reason: trace.Exhausted, Class: string(a.seen.Class), Text: fmt.Sprintf("The check is red (%s). It was to be diagnosed alone: nothing was changed.", a.seen.Class),
			Next: a.seen.Class.NextSafeAction()}, true, nil
	case trace.ModeAgain:
		stop, err := a.again(ctx)
		return stop, true, err
	}
	return trace.Stop{}, false, nil
}

// again proves a diff that was proved elsewhere: green with it, red again without. The red was just seen.
func (a *Agent) again(ctx context.Context) (trace.Stop, error) {
	diff, err := os.ReadFile(filepath.Join(a.Evidence, trace.ClaimFile))
	if err != nil {
		return trace.Stop{}, fmt.Errorf("read the claim: %w", err)
	}
	stop, done, err := a.confirm(ctx, 0, "again", diff)
	if err != nil || done {
		return stop, err
	}
	return trace.Stop{Reason: trace.NotProven, Text: "The diff did not prove itself again: " + a.refused, Next: "Do not take it over: what was proved elsewhere does not hold here."}, nil
}
