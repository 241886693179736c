package bot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// TestStepText says where the step stands that is the check, in code, and nothing where the check was found elsewhere.
func TestStepText(t *testing.T) {
	c := plan.Check{ID: "go-test", Run: "make", Shell: "bash", Provenance: plan.Workflow, Source: ciFile + ": jobs.unit.steps[3]", Line: 12}
	hostile, configured, sh := c, c, c
	hostile.Source = "a|b`@alice`.yml: jobs.x|y.steps[1]"
	configured.Provenance = plan.Configured
	sh.Shell, sh.Line = "", 0
	for name, tt := range map[string]struct {
		check plan.Check
		want  string
	}{
		"a step":         {c, "`.github/workflows/ci.yml`, line 12 (`jobs.unit.steps[3]`), by bash"},
		"a step of sh":   {sh, "`.github/workflows/ci.yml` (`jobs.unit.steps[3]`), by sh"},
		"odd names":      {hostile, "``a\\|b`@alice`.yml``, line 12 (`jobs.x\\|y.steps[1]`), by bash"},
		"a configured":   {configured, ""},
		"another check":  {plan.Check{ID: "lint", Provenance: plan.Workflow, Source: "a: b"}, ""},
		"without a file": {plan.Check{ID: "go-test", Provenance: plan.Workflow, Source: "a"}, ""},
	} {
		set, err := json.Marshal(plan.Set{Checks: []plan.Check{tt.check}})
		if err != nil {
			t.Fatal(err)
		}
		s := &script{}
		s.add(0, trace.TypeEvent, trace.Job{Version: 1, ID: "20261129-090000-cafe", Root: rootSHA, Checks: set, Check: "go-test"})
		story := s.tell(Story{Job: Job{Root: rootSHA}})
		if got := story.step(pen{redact.New()}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if answer := Answer(story, redact.New()); strings.Contains(answer, "The check is the step that failed") != (tt.want != "") {
			t.Errorf("%s: the answer is %s", name, answer)
		}
	}
	if got := (Story{Events: []trace.Event{{Type: trace.TypeEvent, Data: []byte("{")}}}).step(pen{redact.New()}); got != "" {
		t.Errorf("of a torn trace: %q", got)
	}
}
