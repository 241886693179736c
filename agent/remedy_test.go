package agent_test

import (
	"testing"

	"github.com/redraft-dev/redraft/agent/trace"
)

// TestRemedyEarnsATurn: a remedy that is offered on a tier's last turn earns one more, once.
func TestRemedyEarnsATurn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []any
		want  trace.Reason
	}{
		{"taken", []any{"prose", right}, trace.Fixed},
		{"once", []any{"prose", "more prose", right}, trace.Exhausted},
		{"a red verdict earns none", []any{wrong, right}, trace.Exhausted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, []string{"small"}, map[string][]any{"small": tt.lines})
			w.Job.Limits.Turns = 1
			if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != tt.want {
				t.Errorf("got %+v, %v, want %s", stop, err, tt.want)
			}
		})
	}
}
