package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// TestSum: runs of two colours, and reds that share no finding, are a flake and no red; what is red in some runs only is no
// part of a claim.
func TestSum(t *testing.T) {
	for _, row := range []struct {
		name   string
		red    [][]string // of each run; none for a green one
		mixed  bool
		failed []string
	}{
		{"red", [][]string{{"TestA"}, {"TestA"}, {"TestA"}}, false, []string{"TestA"}},
		{"red with a flake beside", [][]string{{"TestA"}, {"TestA", "TestB"}, {"TestA"}}, false, []string{"TestA"}},
		{"red and green", [][]string{{"TestA"}, {}, {"TestA"}}, true, nil},
		{"red each time elsewhere", [][]string{{"TestA"}, {"TestB"}, {"TestC"}}, true, nil},
		{"green", [][]string{{}, {}, {}}, false, nil},
	} {
		var runs []Run
		for i, red := range row.red {
			r := Run{RunRecord: proof.RunRecord{N: i + 1, Mode: proof.Instrumented}, Report: report.Report{Format: "go-test-json"}}
			for _, id := range red {
				r.Report.Exit, r.Report.Class = 1, report.Assertion
				r.Report.Results = append(r.Report.Results, report.Result{ID: id, Kind: report.Test, Status: report.Fail, Class: report.Assertion})
			}
			runs = append(runs, r)
		}
		plain := Sight{K: len(runs)} // where no reader is trusted the colours alone tell
		(&Oracle{}).sum(&plain, runs)
		if two := len(row.red[0]) > 0 && len(row.red[1]) == 0; plain.Mixed != two {
			t.Errorf("%s, plain runs alone: mixed %v, want %v", row.name, plain.Mixed, two)
		}
		s := Sight{K: len(runs), Trusted: true}
		(&Oracle{}).sum(&s, runs)
		if d := cmp.Diff(row.failed, s.Failed); s.Mixed != row.mixed || d != "" {
			t.Errorf("%s: mixed %v, want %v; failed (-want +got):\n%s", row.name, s.Mixed, row.mixed, d)
		}
		if row.mixed {
			continue
		}
		var told []string
		for _, f := range s.Findings {
			told = append(told, f.ID)
		}
		if d := cmp.Diff(row.failed, told); d != "" {
			t.Errorf("%s: findings (-want +got):\n%s", row.name, d)
		}
	}
}
