package proof

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/report"
)

func reportOf(class report.Class, statuses ...string) report.Report {
	r := report.Report{Format: "go-test-json", Class: class}
	for _, s := range statuses {
		id, status, _ := strings.Cut(s, " ")
		r.Results = append(r.Results, report.Result{ID: id, Kind: report.Test, Status: report.Status(status)})
	}
	return r
}

// TestSkipsHiddenByAPanic: where a panic cut the root's run short, a skip that it hid is no worse; one that was seen is.
func TestSkipsHiddenByAPanic(t *testing.T) {
	for _, row := range []struct {
		name  string
		class report.Class
		root  []string
		now   []string
		say   string
	}{
		{"hidden", report.Panic, []string{"m.TestA fail"}, []string{"m.TestA pass", "m.TestZ skip"}, ""},
		{"not hidden", report.Assertion, []string{"m.TestA fail"}, []string{"m.TestA pass", "m.TestZ skip"}, "skipped"},
		{"seen failing before the panic", report.Panic, []string{"m.TestA fail", "m.TestB fail"}, []string{"m.TestA pass", "m.TestB skip"}, "skipped"},
		{"seen passing", report.Panic, []string{"m.TestA fail", "m.TestB pass"}, []string{"m.TestA pass", "m.TestB skip"}, "passed on the root"},
		{"skipped before", report.Assertion, []string{"m.TestA fail", "m.TestB skip"}, []string{"m.TestA pass", "m.TestB skip"}, ""},
	} {
		got := compare(Base([]report.Report{reportOf(row.class, row.root...)}), []string{"m.TestA"}, reportOf("", row.now...))
		if (got == nil) != (row.say == "") || got != nil && !strings.Contains(got.Error(), row.say) {
			t.Errorf("%s: got %v, want %q", row.name, got, row.say)
		}
	}
}
