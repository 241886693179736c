package job_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

const stepFile = ".github/workflows/ci.yml"

const stepText = `on: push
jobs:
  unit:
    runs-on: ubuntu-latest
    steps:
      - name: Secret
        run: ./check.sh ${{ secrets.TOKEN }}
      - name: Check
        run: sh check.sh
      - name: Other
        run: sh other.sh
`

// on makes a commit with these files, where "" is a file that goes.
func on(t *testing.T, m *worktree.Mirror, parent string, files map[string]string) string {
	t.Helper()
	var all []worktree.File
	for name, text := range files {
		all = append(all, worktree.File{Path: name, Data: []byte(text), Deleted: text == ""})
	}
	sha, _, err := m.Commit(t.Context(), parent, all, worktree.Message{Text: "more", Author: worktree.Person{Name: "t", Email: "t@example.com"}, When: time.Unix(1e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

// stepJob is a job of the world in which nothing is configured and these steps failed; Reviewed is a default branch with the workflow.
func stepJob(t *testing.T, steps ...string) job.Job {
	t.Helper()
	j := world(t, "says why")
	j.Command, j.Config = "", &plan.File{}
	j.Reviewed = on(t, j.Mirror, j.Spec.Root, map[string]string{stepFile: stepText, "other.sh": "exit 1\n", "Makefile": "test:\n\ttrue\n"})
	j.Spec.Root = j.Reviewed
	for _, s := range steps {
		j.Failed = append(j.Failed, plan.Failed{File: stepFile, At: plan.At{Job: "unit", Step: s, Shown: true, Nth: 1, Of: 1}})
	}
	return j
}

// TestFailedStep: where nothing is configured the check is the step that failed, as the default branch has it.
func TestFailedStep(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []string
		files map[string]string // that the root changes
		want  trace.Reason
		class string
		run   string // of the check
		say   string
	}{
		"the default branch itself":      {steps: []string{"Check"}, want: trace.Exhausted, run: "sh check.sh"},
		"other files change":             {steps: []string{"Check"}, files: map[string]string{"a.txt": "b\n"}, want: trace.Exhausted, run: "sh check.sh"},
		"the step moves":                 {steps: []string{"Check"}, files: map[string]string{stepFile: "name: CI\n" + strings.Replace(stepText, "steps:", "steps:\n      - run: ls", 1)}, want: trace.Exhausted, run: "sh check.sh"},
		"the command changes":            {steps: []string{"Check"}, files: map[string]string{stepFile: strings.ReplaceAll(stepText, "sh check.sh", "true")}, want: trace.PlanChanged, run: "true", say: "the command of check"},
		"its environment changes":        {steps: []string{"Check"}, files: map[string]string{stepFile: "env: {SKIP: \"1\"}\n" + stepText}, want: trace.PlanChanged, run: "sh check.sh", say: "the command of check"},
		"its script changes":             {steps: []string{"Check"}, files: map[string]string{"check.sh": "exit 0\n"}, want: trace.PlanChanged, run: "sh check.sh", say: "check.sh"},
		"a step that is new":             {steps: []string{"New"}, files: map[string]string{stepFile: stepText + "      - {name: New, run: \"true\"}\n"}, want: trace.PlanChanged, run: "true", say: "not there"},
		"a secret":                       {steps: []string{"Secret"}, want: trace.NeedsConfiguration, class: "expression", say: "secrets"},
		"no such step":                   {steps: []string{"Gone"}, want: trace.NeedsConfiguration, class: "step", say: `"Gone"`},
		"the first that gives a command": {steps: []string{"Secret", "Other", "Check"}, files: map[string]string{"a.txt": "b\n"}, want: trace.Exhausted, run: "sh other.sh"},
		"none is known":                  {want: trace.Exhausted, run: "make test"},
		"a name that the root changed":   {steps: []string{"Check", "Other"}, files: map[string]string{stepFile: strings.Replace(stepText, "name: Check", "name: Renamed", 1)}, want: trace.Exhausted, run: "sh other.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			j := stepJob(t, tt.steps...)
			if len(tt.files) > 0 {
				j.Spec.Root = on(t, j.Mirror, j.Reviewed, tt.files)
			}
			out, err := j.Do(t.Context())
			if err != nil || out.Stop.Reason != tt.want || out.Stop.Class != tt.class || !strings.Contains(out.Stop.Text, tt.say) {
				t.Fatalf("got %+v, %v", out.Stop, err)
			}
			var run string
			if len(out.Plan.Checks) > 0 {
				run = out.Plan.Checks[0].Run
			}
			if run != tt.run && !strings.HasSuffix(run, "\n"+tt.run) {
				t.Errorf("the check is %q", run)
			}
		})
	}
}

// TestFailedStepPublished: of evidence that another machine made the step is the one that its receipt names, and the default branch
// counts here as well.
func TestFailedStepPublished(t *testing.T) {
	j := stepJob(t, "Check", "Other")
	j.Spec.Root = on(t, j.Mirror, j.Reviewed, map[string]string{"other.sh": "exit 0\n"})
	tree, err := j.Mirror.TreeFS(j.Spec.Root)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []trace.Reason{trace.NotProven, trace.PlanChanged} {
		set, err := plan.FromWorkflow(tree, stepFile, j.Failed[i].At)
		if err != nil {
			t.Fatal(err)
		}
		one := j
		one.Evidence = t.TempDir()
		b, err := json.Marshal(map[string]string{"fingerprint": set.Fingerprint})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(one.Evidence, "receipt.json"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := one.Resume(t.Context())
		if err != nil || out.Stop.Reason != want || out.Plan.Fingerprint != set.Fingerprint || out.Proof != nil {
			t.Errorf("%s: %+v, %v, plan %+v", j.Failed[i].Step, out.Stop, err, out.Plan)
		}
	}
}
