package agent

import (
	"context"
	"fmt"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
)

// baseRed looks at the pull request's base when its root is red. Where everything that is red on the root is red there too, in
// the same way, the pull request did not cause it. What no reader names cannot be told to be the same.
func (a *Agent) baseRed(ctx context.Context) (trace.Stop, bool, error) {
	if a.Base == nil || !told(a.seen) || len(a.seen.Findings) == 0 {
		return trace.Stop{}, false, nil
	}
	a.step("the root is red: seeing its base")
	base, err := a.Base(ctx)
	if err != nil {
		return trace.Stop{}, false, err
	}
	a.add(0, trace.TypeVerdict, verdictData("base", base.Verdict))
	both := shared(a.seen, base)
	if len(both) < len(a.seen.Findings) {
		if len(both) > 0 {
			a.step(fmt.Sprintf("%d of %d findings are red on the base as well", len(both), len(a.seen.Findings)))
		}
		return trace.Stop{}, false, a.broken()
	}
	text := fmt.Sprintf("%s is red on the base as well", both[0])
	if n := len(both) - 1; n > 0 {
		text = fmt.Sprintf("%s and %d more are red on the base as well", both[0], n)
	}
	return trace.Stop{Reason: trace.BaseRed, Text: text + ": this pull request did not cause it.",
		Next: "Repair the base first, then bring it into this branch."}, true, a.broken()
}

// told says whether a reader told what was red: its ids mean the same in every tree.
func told(s oracle.Sight) bool { return s.Trusted || s.Baseline.Read }

// shared is the ids that are red on the root and in every judged run of the base, with the same class.
func shared(root, base oracle.Sight) []string {
	if base.Color != report.Red || base.Mixed || !told(base) {
		return nil
	}
	there := map[string]report.Class{}
	for _, f := range base.Findings {
		there[f.ID] = f.Class
	}
	var ids []string
	for _, f := range root.Findings {
		if class, ok := there[f.ID]; ok && class == f.Class {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
