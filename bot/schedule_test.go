package bot

import (
	"encoding/json"
	"fmt"
	"testing"
)

// payload is as much of an event's as every one has.
func payloadOf(t *testing.T, more map[string]any) []byte {
	t.Helper()
	p := map[string]any{"repository": map[string]any{"id": 7, "name": "widget", "default_branch": "main", "owner": map[string]any{"login": "acme"}}, "sender": map[string]any{"id": 1, "login": "alice"}}
	for k, v := range more {
		p[k] = v
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// decide is what comes of an event that a workflow's job makes.
func decide(t *testing.T, w *world, e Event, err error) (Decision, *Skip) {
	t.Helper()
	if err == nil {
		var f Facts
		if f, err = Gather(t.Context(), w, e, Self{Login: "github-actions[bot]", Workflow: ".github/workflows/redraft.yml"}, w.op, nil, nil); err == nil {
			return Accept(e, Self{Login: "github-actions[bot]", Workflow: ".github/workflows/redraft.yml"}, f)
		}
	}
	no, ok := err.(*Skip)
	if !ok {
		t.Fatal(err)
	}
	return Decision{}, no
}

func TestSchedule(t *testing.T) {
	scheduled := func(branch string) (Event, error) { return Scheduled(payloadOf(t, nil), Repo{}, branch, "1-1") }
	for name, tt := range map[string]struct {
		branch string
		set    func(w *world)
		root   string
		no     Reason
	}{
		"the default branch is red": {root: mainSHA},
		"another branch":            {branch: "feature", root: featureSHA},
		"a branch that is gone":     {branch: "nowhere", no: Gone},
		"green": {set: func(w *world) {
			w.checks[mainSHA] = []Check{{Name: "a", Workflow: ciFile, Title: "CI", Done: true, Conclusion: "success"}}
		}, no: Green},
		"running": {set: func(w *world) { w.checks[mainSHA] = []Check{{Name: "a", Workflow: ciFile, Title: "CI"}} }, no: Running},
		"our own workflow alone is red": {set: func(w *world) {
			w.checks[mainSHA] = []Check{{Name: "a", Workflow: ".github/workflows/redraft.yml", Title: "answers", Done: true, Conclusion: "failure"}}
		}, no: Green},
		"our own commit": {set: func(w *world) { w.messages = map[string]string{mainSHA: ours} }, no: OwnWork},
		"ours":           {branch: "redraft/pull-5", no: OwnWork},
		"a draft stands": {set: func(w *world) { d := draft(3, mainKey); d.Base, d.Root = "main", mainSHA; w.drafts = []Draft{d} }, no: AlreadyOpen},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if tt.set != nil {
				tt.set(w)
			}
			e, err := scheduled(tt.branch)
			d, no := decide(t, w, e, err)
			if tt.no != "" {
				if no == nil || no.Reason != tt.no {
					t.Fatalf("got %+v, %v", d, no)
				}
				return
			}
			if no != nil || len(d.Start) != 1 || d.Start[0].Root != tt.root || d.Start[0].Target.Kind != ForBranch || d.Start[0].Asked {
				t.Fatalf("got %+v, %v", d, no)
			}
		})
	}
}

func TestFailedStep(t *testing.T) {
	step := Step{Job: "unit", Workflow: ciFile + "@refs/heads/main", Title: "CI", SHA: mainSHA, Ref: "refs/heads/main", URL: "https://github.com/acme/widget/actions/runs/1"}
	tip := func(branch, sha string, repo int64) map[string]any {
		return map[string]any{"ref": branch, "sha": sha, "repo": map[string]any{"id": repo}}
	}
	pull := func(head map[string]any) map[string]any {
		return map[string]any{"pull_request": map[string]any{"number": 5, "state": "open", "head": head, "base": tip("main", mainSHA, 7)}}
	}
	for name, tt := range map[string]struct {
		ref     string
		payload map[string]any
		target  string
		root    string
		no      Reason
	}{
		"a push to main":                    {target: "branch main", root: mainSHA},
		"a pull request":                    {payload: pull(tip("feature", featureSHA, 7)), target: "pull request 5", root: featureSHA},
		"a push to a pull request's branch": {ref: "refs/heads/feature", target: "pull request 5", root: featureSHA},
		"a fork":                            {payload: pull(tip("feature", featureSHA, 8)), no: FromFork},
		"a fork that is gone":               {payload: pull(map[string]any{"ref": "feature", "sha": featureSHA}), no: FromFork},
		"a tag":                             {ref: "refs/tags/v1", no: NotForUs},
		"a branch of ours":                  {ref: "refs/heads/redraft/pull-5", no: OwnWork},
		"a name that is none":               {ref: "refs/heads/--upload-pack=x", no: Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			s := step
			if tt.ref != "" {
				s.Ref = tt.ref
			}
			if tt.ref == "refs/heads/feature" {
				s.SHA = featureSHA
			}
			e, err := FailedStep(s, payloadOf(t, tt.payload), "1-1")
			d, no := decide(t, newWorld(), e, err)
			if tt.no != "" {
				if no == nil || no.Reason != tt.no {
					t.Fatalf("got %+v, %v", d, no)
				}
				return
			}
			if no != nil || len(d.Start) != 1 {
				t.Fatalf("got %+v, %v", d, no)
			}
			j := d.Start[0]
			if j.Target.String() != tt.target || j.Root != tt.root || j.Workflow != ciFile || fmt.Sprint(j.Checks) != "[unit]" || j.Asked {
				t.Fatalf("got %+v", j)
			}
		})
	}
	if _, err := Decode("failed_step", "x", payloadOf(t, nil)); err == nil {
		t.Error("a webhook may say that a step failed here")
	}
}
