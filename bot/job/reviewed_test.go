package job_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// A commit that changes the script that judges it ends before anything is run; one that changes other files does not.
func TestPlanChanged(t *testing.T) {
	for file, want := range map[string]trace.Reason{"check.sh": trace.PlanChanged, "a.txt": trace.Exhausted} {
		j := world(t, "says why")
		root, _, err := j.Mirror.Commit(t.Context(), j.Mirror.Head(), []worktree.File{{Path: file, Data: []byte("exit 0\n")}}, worktree.Message{Text: "two", Author: worktree.Person{Name: "t", Email: "t@example.com"}, When: time.Unix(1e9, 0)})
		if err != nil {
			t.Fatal(err)
		}
		j.Reviewed, j.Spec.Root = j.Spec.Root, root
		out, err := j.Do(t.Context())
		if err != nil || out.Stop.Reason != want {
			t.Errorf("%s: %+v, %v; want %s", file, out.Stop, err, want)
		}
		if want != trace.PlanChanged {
			continue
		}
		events, _, err := trace.Read(j.Evidence + "/trace.jsonl")
		if err != nil || slices.ContainsFunc(events, func(e trace.Event) bool { return e.Type == trace.TypeTree }) || !strings.Contains(out.Stop.Text, "check.sh") {
			t.Errorf("something began, or the script is not named: %q, %v", out.Stop.Text, err)
		}
	}
}
