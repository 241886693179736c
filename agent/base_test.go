package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
)

// TestBaseRed: what is red on the base in the same way was not caused by the pull request; anything else is repaired.
func TestBaseRed(t *testing.T) {
	const id = "example.com/m.TestDouble"
	red := func(f ...report.Result) oracle.Sight {
		return oracle.Sight{Trusted: true, Verdict: oracle.Verdict{Color: report.Red, Findings: f}}
	}
	flaky := red(report.Result{ID: id, Class: report.Assertion})
	flaky.Mixed = true
	for _, row := range []struct {
		name string
		base oracle.Sight
		want trace.Reason
	}{
		{"the same", red(report.Result{ID: "example.com/m.TestOther"}, report.Result{ID: id, Class: report.Assertion}), trace.BaseRed},
		{"another class", red(report.Result{ID: id, Class: report.Panic}), trace.Fixed},
		{"another test", red(report.Result{ID: "example.com/m.TestOther", Class: report.Assertion}), trace.Fixed},
		{"a flake", flaky, trace.Fixed},
		{"green", oracle.Sight{Trusted: true, Verdict: oracle.Verdict{Color: report.Green}}, trace.Fixed},
		{"not seen", oracle.Sight{}, trace.Fixed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, []string{"small"}, map[string][]any{"small": {right}})
			asked := 0
			w.Base = func(context.Context) (oracle.Sight, error) { asked++; return row.base, nil }
			stop, err := w.Repair(t.Context())
			if err != nil || stop.Reason != row.want || asked != 1 {
				t.Errorf("got %+v, %v after %d looks at the base; want %s after one", stop, err, asked, row.want)
			}
			if stop.Reason == trace.BaseRed && !strings.Contains(stop.Text, id+" is red on the base as well") {
				t.Errorf("it says %q", stop.Text)
			}
		})
	}
}
