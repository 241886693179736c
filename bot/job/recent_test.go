package job_test

import (
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// TestRecentChangesAreData: a job that asks a model is told what the last commits changed, without credentials; another is not.
func TestRecentChangesAreData(t *testing.T) {
	j := world(t, "tells what it knows")
	sha, _, err := j.Mirror.Commit(t.Context(), j.Mirror.Head(), []worktree.File{{Path: "a.txt", Data: []byte("b ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")}},
		worktree.Message{Text: "say b ghp_abcdefghijklmnopqrstuvwxyz0123456789\n\nand more", Author: worktree.Person{Name: "a", Email: "a@example.org"}, When: time.Unix(1, 0)})
	if err != nil {
		t.Fatal(err)
	}
	j.Spec.Root = sha
	for _, row := range []struct {
		models []trace.ModelChoice
		off    []string
		want   string
	}{
		{nil, nil, "pretended"},
		{[]trace.ModelChoice{{Tier: "small", Name: "m", BaseURL: "http://127.0.0.1:1/v1"}}, []string{"history"}, "pretended"},
		{[]trace.ModelChoice{{Tier: "small", Name: "m", BaseURL: "http://127.0.0.1:1/v1"}}, nil, `pretended; a.txt 1-1 "say b (redacted)" "-a\n+b (redacted)\n"`},
	} {
		j.Evidence += "x"
		j.Spec.Models, j.Spec.Off = row.models, row.off
		out, err := j.Do(t.Context())
		if err != nil || out.Stop.Text != row.want {
			t.Errorf("%v without %v: got %q, %v", row.models, row.off, out.Stop.Text, err)
		}
	}
}
