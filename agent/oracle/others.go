package oracle

import (
	"context"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
)

// Others are other configured checks as a receipt names them.
func Others(checks []plan.Check) []proof.Other {
	var out []proof.Other
	for _, c := range checks {
		out = append(out, proof.Other{ID: c.ID, Command: c.Run, Dir: slash(c.Dir)})
	}
	return out
}

// otherRuns runs every other check once on the root and once on the patched tree.
func (o *Oracle) otherRuns(ctx context.Context, change patch.Change) ([]Run, error) {
	var runs []Run
	for _, c := range o.Others {
		for _, with := range []*patch.Change{nil, &change} {
			q := request{phase: "other", mode: proof.Plain, cache: seeCache, keep: true, as: &c}
			if with != nil {
				q.cache = "confirm"
			}
			r, err := o.fresh(ctx, with, q)
			if err != nil {
				return runs, err
			}
			runs = append(runs, r)
		}
	}
	return runs, nil
}
