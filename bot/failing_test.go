package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (w *world) RunJobs(_ context.Context, _ Repo, run int64) ([]RunJob, error) {
	if err := w.call(fmt.Sprint("RunJobs ", run)); err != nil {
		return nil, err
	}
	return w.jobs[run], nil
}

// steps are those of a job, failed ones marked with an exclamation mark.
func steps(names ...string) (all []RunStep) {
	for _, n := range names {
		name, failed := strings.CutSuffix(n, "!")
		all = append(all, RunStep{Name: name, Conclusion: map[bool]string{true: "failure", false: "success"}[failed]})
	}
	return all
}

// runOf puts the world's red checks into a run whose jobs these are.
func runOf(w *world, jobs ...RunJob) {
	for i := range w.checks[featureSHA] {
		if c := &w.checks[featureSHA][i]; c.Workflow != "" {
			c.Run, c.Event, c.Branch = 3001, "pull_request", "feature"
		}
	}
	w.jobs = map[int64][]RunJob{3001: jobs}
}

// TestFailedSteps finds the steps that failed in the jobs that the red checks are.
func TestFailedSteps(t *testing.T) {
	for _, tt := range []struct {
		name string
		jobs []RunJob
		want []string
	}{
		{"each leg's, by its check", []RunJob{
			{Check: 1, Name: "test (linux)", Done: true, Conclusion: "failure", Steps: steps("Set up job", "Run make", "Run make check!", "Run make more!", "Complete job")},
			{Check: 2, Name: "test (macos)", Done: true, Conclusion: "success", Steps: steps("Run make check!")},
			{Check: 3, Name: "test (windows)", Done: true, Conclusion: "timed_out", Steps: steps("Set up job", "Run make!")},
		}, []string{"test (linux) > Run make check 1/1", "test (windows) > Run make 1/1"}},
		{"the second of a name", []RunJob{{Check: 1, Name: "test (linux)", Steps: steps("Run make", "Run x", "Run make!", "Run make")}}, []string{"test (linux) > Run make 2/3"}},
		{"a lost runner", []RunJob{{Check: 1, Name: "test (linux)", Conclusion: "failure"}}, nil},
		{"a cancelled one", []RunJob{{Check: 1, Name: "test (linux)", Steps: []RunStep{{"Run make", "cancelled"}}}}, nil},
		{"what GitHub adds", []RunJob{{Check: 1, Name: "a", Steps: steps("Set up job!")}, {Check: 3, Name: "b", Steps: steps("Run act", "Post Run act!")}}, nil},
		{"a name like what GitHub adds", []RunJob{{Check: 1, Name: "a", Steps: steps("Set up job", "Post results!", "Complete job")}}, []string{"a > Post results 1/1"}},
		{"a name too long", []RunJob{{Check: 1, Name: "a", Steps: steps(strings.Repeat("x", 5000) + "!")}}, nil},
		{"none known", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			runOf(w, tt.jobs...)
			j := start1(t, w, event(t, "workflow_run.red"))
			var got []string
			for _, f := range j.Failed {
				got = append(got, fmt.Sprintf("%s > %s %d/%d", f.Job, f.Step, f.Nth, f.Of))
				if f.File != ciFile || !f.Shown || f.GitHub["ref"] != "refs/pull/5/merge" || f.GitHub["event_name"] != "pull_request" || f.GitHub["sha"] != "" {
					t.Errorf("got %+v", f)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFailedStepsAsked asks for the jobs of a run once, and not where a check is configured or no file is the workflow's.
func TestFailedStepsAsked(t *testing.T) {
	leg := RunJob{Check: 1, Name: "test (linux)", Steps: steps("Run make!")}
	asks := func(edit func(w *world)) (calls string, j Job) {
		w := newWorld()
		runOf(w, leg)
		if edit != nil {
			edit(w)
		}
		d, _ := w.decide(t, event(t, "workflow_run.red"))
		if len(d.Start) > 0 {
			j = d.Start[0]
		}
		return strings.Join(w.calls, " "), j
	}
	if calls, j := asks(nil); strings.Count(calls, "RunJobs 3001") != 1 || len(j.Failed) != 1 {
		t.Errorf("got %s, %+v", calls, j.Failed)
	}
	for name, edit := range map[string]func(w *world){
		"configured": func(w *world) { w.files[mainSHA] = "version: 1\nchecks:\n  unit: {run: make}\n" },
		"GitHub's own": func(w *world) {
			for i := range w.checks[featureSHA] {
				w.checks[featureSHA][i].Workflow = "dynamic/x"
			}
		},
	} {
		if calls, j := asks(edit); strings.Contains(calls, "RunJobs") || len(j.Failed) > 0 || j.Key == "" {
			t.Errorf("%s: %s, %+v", name, calls, j)
		}
	}
	for _, class := range []Class{Forbidden, NotFound} {
		if _, j := asks(func(w *world) { w.no = map[string]error{"RunJobs 3001": &HubError{Class: class}} }); j.Key == "" || len(j.Failed) > 0 {
			t.Errorf("%s: %+v", class, j)
		}
	}
}

// TestOwnFailedStep finds the step of the job that we run in by its runner; a later job finds those that have ended red.
func TestOwnFailedStep(t *testing.T) {
	c := Check{Name: "unit", Runner: "mine", Run: 17}
	mine := RunJob{Name: "unit", Runner: "mine", Steps: steps("Run make!")}
	other := RunJob{Name: "lint", Runner: "other", Done: true, Conclusion: "failure", Steps: steps("Run vet!")}
	before := RunJob{Name: "before", Runner: "mine", Done: true, Conclusion: "success", Steps: steps("Run ls")}
	for name, tt := range map[string]struct {
		jobs []RunJob
		want string
	}{
		"ours":                 {[]RunJob{before, other, mine}, "unit"},
		"a job that publishes": {[]RunJob{other, before, {Name: "publish", Runner: "mine", Steps: steps("Run ls")}}, "lint"},
	} {
		var got []string
		for _, j := range jobsOf(c, tt.jobs) {
			got = append(got, j.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestContext: of a push the run's commit and ref are known, of a tag on the same commit neither, of a pull request no commit.
func TestContext(t *testing.T) {
	l := look{f: Facts{Repo: RepoFacts{Repo: widget}, Tip: Tip{7, "main", mainSHA}}}
	all := map[string]string{"repository": "acme/widget", "repository_owner": "acme", "event_name": "push", "sha": mainSHA, "ref": "refs/heads/main", "ref_name": "main", "ref_type": "branch"}
	some := map[string]string{"repository": "acme/widget", "repository_owner": "acme"}
	for _, tt := range []struct {
		c    Check
		want map[string]string
	}{
		{Check{Event: "push", Branch: "main"}, all}, {Check{Event: "push", Branch: "v1"}, some}, {Check{Event: "push"}, some}, {Check{Event: "workflow_dispatch", Branch: "main"}, some},
	} {
		if d := cmp.Diff(tt.want, l.context(tt.c)); d != "" {
			t.Errorf("%+v: %s", tt.c, d)
		}
	}
}

// TestDiagnosisEnds: a job that diagnoses ends in no draft, and neither does half of one.
func TestDiagnosisEnds(t *testing.T) {
	for _, tt := range []struct {
		half     Half
		diagnose bool
		draft    bool
	}{{"", false, true}, {"", true, false}, {PublishHalf, false, true}, {PublishHalf, true, false}, {RepairHalf, false, false}} {
		w := &work{Bot: &Bot{Half: tt.half}, job: Job{Diagnose: tt.diagnose}}
		if got := w.ending() != nil; got != tt.draft {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}

// TestOperatorLooks: where the operator wants no repairs every job diagnoses, and no label more than before starts one.
func TestOperatorLooks(t *testing.T) {
	w := newWorld()
	w.op.Look = true
	w.drafts = []Draft{draft(31, pullKey), draft(32, "7/pull/1/x"), draft(33, "7/pull/2/x")}
	w.drafts[0].Root = featureSHA
	if j := start1(t, w, event(t, "workflow_run.red")); !j.Diagnose {
		t.Errorf("got %+v", j)
	}
	e := event(t, "pull_request.labeled")
	e.Label = "bug"
	w = newWorld()
	w.op.Look = true
	if _, no := w.decide(t, e); no == nil || no.Reason != NotListed {
		t.Errorf("another label: %v", no)
	}
}
