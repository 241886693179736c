package oracle

import (
	"context"
	"fmt"
	"slices"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// Judge runs the whole check once on a tree that holds a try: instrumented when See found that such runs agree
// with plain ones. Its green is what Confirm is asked about, not a proof.
func (o *Oracle) Judge(ctx context.Context, dir string) (Verdict, error) {
	mode := proof.Plain
	if o.trusted {
		mode = proof.Instrumented
	}
	r, err := o.run(ctx, request{phase: "judge", mode: mode, dir: dir, cache: "judge"})
	if err != nil {
		return Verdict{}, err
	}
	return o.placed(verdict([]Run{r})), nil
}

// verdict adds runs up: Unknown if any is, else Red if any is, else Green. Findings are those of the first run that
// tells them best.
func verdict(runs []Run) Verdict {
	v := Verdict{Color: report.Green, Report: runs[0].Report}
	for _, r := range runs {
		c := r.Report.Color()
		if c == report.Green || v.Color == report.Unknown {
			continue
		}
		if c == report.Unknown || v.Color == report.Green {
			v.Color, v.Class, v.Report = c, r.Report.Class, r.Report
		}
		if len(r.Report.Findings()) > len(v.Report.Findings()) && c == v.Color || r.Mode == proof.Instrumented && v.Report.Format != "go-test-json" && c == v.Color {
			v.Report, v.Class = r.Report, r.Report.Class
		}
	}
	v.Findings = v.Report.Findings()
	v.Failed = v.Report.Failed()
	for id, s := range v.Report.Statuses() {
		switch s {
		case report.Pass:
			v.Passed = append(v.Passed, id)
		case report.Skip:
			v.Skipped++
		}
	}
	slices.Sort(v.Passed)
	return v
}

// placed is a verdict whose findings lie where the root has their files.
func (o *Oracle) placed(v Verdict) Verdict {
	v.Findings = proof.Placed(o.Root, v.Findings)
	return v
}

// Worse says what a try broke that the root had, or "": a sentence for the next turn.
func (s Sight) Worse(v Verdict) string {
	if !s.Trusted || v.Color != report.Green {
		return ""
	}
	for _, id := range s.Baseline.Pass {
		if !slices.Contains(v.Passed, id) {
			return fmt.Sprintf("%s passed before the change and is not seen passing now", id)
		}
	}
	return ""
}
