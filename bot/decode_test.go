package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	pull := &Pull{Number: 5, Title: "Totals", State: "open", Author: alice, Head: Tip{7, "feature", featureSHA}, Base: Tip{7, "main", mainSHA}, Merge: mergeSHA,
		Labels: []string{"redraft"}, Body: "adds them up", URL: "https://github.com/acme/widget/pull/5"}
	issue := &Issue{Number: 9, Title: "Totals are wrong", Body: "The total of nothing is 1.\n", State: "open", Author: bob, Labels: []string{"redraft"}, URL: "https://github.com/acme/widget/issues/9"}
	under := &Issue{Number: 5, Title: "Totals", Body: "adds them up", State: "open", Author: alice, URL: "https://github.com/acme/widget/pull/5", Pull: true}
	for name, want := range map[string]Event{
		"workflow_run.red": {Action: "completed", Check: &Check{ID: 3001, Name: "CI", Workflow: ciFile, Title: "CI", SHA: featureSHA, Branch: "feature", HeadRepo: 7, Done: true,
			Conclusion: "failure", Attempt: 1, URL: "https://github.com/acme/widget/actions/runs/3001", Pulls: []int{5}, Event: "pull_request", Run: 3001}},
		"workflow_run.fork": {Action: "completed", Check: &Check{ID: 3001, Name: "CI", Workflow: ciFile, Title: "CI", SHA: strings.Repeat("f", 40), Branch: "main", HeadRepo: 8, Done: true,
			Conclusion: "failure", Attempt: 1, URL: "https://github.com/acme/widget/actions/runs/3001", Event: "pull_request", Run: 3001}},
		"check_run.red": {Action: "completed", Check: &Check{ID: 4001, Name: "test (linux)", SHA: featureSHA, Branch: "feature", HeadRepo: 7, Done: true,
			Conclusion: "failure", App: 15368, URL: "https://github.com/acme/widget/actions/runs/3001/job/4001", Pulls: []int{5}}},
		"check_suite.red": {Action: "completed", Check: &Check{ID: 2001, Name: "GitHub Actions", SHA: featureSHA, Branch: "feature", HeadRepo: 7, Done: true,
			Conclusion: "failure", App: 15368, Pulls: []int{5}}},
		"status.red":           {Check: &Check{Name: "test (linux)", SHA: featureSHA, Branch: "feature", Done: true, Conclusion: "failure", URL: "https://ci.example/5001"}},
		"pull_request.labeled": {Action: "labeled", Label: "redraft", Pull: pull},
		"issues.labeled":       {Action: "labeled", Label: "redraft", Issue: issue},
		"issue_comment.pull":   {Action: "created", Issue: under, Comment: &Comment{ID: 6002, Author: alice, Body: "/redraft"}},
	} {
		want.Name, want.Delivery, want.Repo, want.Sender = strings.SplitN(name, ".", 2)[0], "d-"+name, widget, alice
		if diff := cmp.Diff(want, event(t, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// changed is one of testdata/events with texts put in the place of others.
func changed(t *testing.T, name string, oldnew ...string) []byte {
	t.Helper()
	payload, err := os.ReadFile(filepath.Join("testdata", "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var tight bytes.Buffer
	if err := json.Compact(&tight, payload); err != nil {
		t.Fatal(err)
	}
	text := tight.String()
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			t.Fatalf("%s has no %s", name, oldnew[i])
		}
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	return []byte(text)
}

// A status is red where its commit is a branch's tip, and of several branches it is the default one's.
func TestDecodeStatus(t *testing.T) {
	for _, tt := range []struct {
		old, new, branch, conclusion string
		done                         bool
	}{
		{`"state":"failure"`, `"state":"error"`, "feature", "error", true},
		{`"state":"failure"`, `"state":"pending"`, "feature", "", false},
		{`"name":"older","commit":{"sha":"` + draftSHA, `"name":"main","commit":{"sha":"` + featureSHA, "main", "failure", true},
		{`"name":"feature","commit":{"sha":"` + featureSHA, `"name":"feature","commit":{"sha":"` + mainSHA, "", "failure", true},
	} {
		e, err := Decode("status", "d", changed(t, "status.red", tt.old, tt.new))
		if err != nil {
			t.Fatal(err)
		}
		if c := e.Check; c.Branch != tt.branch || c.Conclusion != tt.conclusion || c.Done != tt.done {
			t.Errorf("%s: got %+v, want branch %q, %q, %v", tt.new, *c, tt.branch, tt.conclusion, tt.done)
		}
	}
}

func TestDecodeHeadRepo(t *testing.T) {
	e, err := Decode("check_run", "d", changed(t, "check_run.red", `"repo":{"id":7,"name":"widget"}},"base"`, `"repo":{"id":8,"name":"widget"}},"base"`))
	if err != nil || e.Check.HeadRepo != 8 || len(e.Check.Pulls) != 0 {
		t.Errorf("got %+v, %v; want a check of repository 8 without pull requests of ours", e.Check, err)
	}
}

// A branch may be the head of a pull request elsewhere, whose number says nothing here.
func TestDecodePullElsewhere(t *testing.T) {
	e, err := Decode("check_run", "d", changed(t, "check_run.red", `"base":{"ref":"main","sha":"`+mainSHA+`","repo":{"id":7,`, `"base":{"ref":"main","sha":"`+mainSHA+`","repo":{"id":6,`))
	if err != nil || e.Check.HeadRepo != 7 || len(e.Check.Pulls) != 0 {
		t.Errorf("got %+v, %v; want a check of repository 7 without pull requests of ours", e.Check, err)
	}
}

func TestDecodeBad(t *testing.T) {
	var bad []string
	for _, tt := range []struct {
		name, event string
		payload     []byte
		want        Reason // "" is a good one
	}{
		{"nothing", "status", nil, Malformed},
		{"no JSON", "check_run", []byte("payload=%7B%7D"), Malformed},
		{"a list", "issues", []byte("[]"), Malformed},
		{"null", "issues", []byte("null"), Malformed},
		{"two values", "status", append(changed(t, "status.red"), '1'), Malformed},
		{"deep", "status", []byte(strings.Repeat(`{"a":`, 20_000)), Malformed},
		{"too big", "status", make([]byte, largestPayload+1), Malformed},
		{"no repository", "ping", changed(t, "ping"), NotForUs},
		{"an App's installation", "installation", changed(t, "installation.created"), NotForUs},
		{"an installation of nothing", "installation", []byte("x"), Malformed},
		{"an event of no use", "push", []byte("x"), NotForUs},
		{"no name", "", nil, NotForUs},
		{"another event's payload", "check_run", changed(t, "check_suite.red"), Malformed},
		{"no id of a repository", "status", changed(t, "status.red", `"repository":{"id":7,`, `"repository":{`), Malformed},
		{"an id that is text", "status", changed(t, "status.red", `"repository":{"id":7,`, `"repository":{"id":"7",`), Malformed},
		{"an owner that is a path", "status", changed(t, "status.red", `"login":"acme"`, `"login":".."`), Malformed},
		{"a name that is a path", "status", changed(t, "status.red", `"name":"widget"`, `"name":"a/b"`), Malformed},
		{"a short commit", "check_run", changed(t, "check_run.red", `"head_sha":"`+featureSHA, `"head_sha":"bbbbbbb`), Malformed},
		{"a commit that is a flag", "workflow_run", changed(t, "workflow_run.red", `"head_sha":"`+featureSHA, `"head_sha":"--upload-pack=x`), Malformed},
		{"a branch that is a flag", "workflow_run", changed(t, "workflow_run.red", `"head_branch":"feature"`, `"head_branch":"--feature"`), Malformed},
		{"a branch with a newline", "workflow_run", changed(t, "workflow_run.red", `"head_branch":"feature"`, `"head_branch":"a\nb"`), Malformed},
		{"a branch that leads out", "pull_request", changed(t, "pull_request.labeled", `"ref":"feature"`, `"ref":"../feature"`), Malformed},
		{"no branch", "workflow_run", changed(t, "workflow_run.red", `"head_branch":"feature"`, `"head_branch":null`), ""},
		{"no number", "pull_request", changed(t, "pull_request.labeled", `"number":5`, `"number":0`), Malformed},
		{"a number beyond", "issues", changed(t, "issues.labeled", `"number":9`, `"number":9e99`), Malformed},
		{"another base", "pull_request", changed(t, "pull_request.labeled", `"base":{"ref":"main","sha":"`+mainSHA+`","repo":{"id":7}}`, `"base":{"ref":"main","repo":null}`), Malformed},
		{"no comment", "issue_comment", changed(t, "issues.labeled"), Malformed},
		{"a fork that is gone", "pull_request", changed(t, "pull_request.labeled", `"repo":{"id":7}},"base"`, `"repo":null},"base"`), ""},
		{"an author that is gone", "issues", changed(t, "issues.labeled", `"user":{"login":"bob","id":2,"type":"User"}`, `"user":null`), ""},
		{"no labels", "issues", changed(t, "issues.labeled", `"labels":[{"name":"redraft"}]`, `"labels":[null,{"name":null}]`), ""},
		{"what is not in use may be anything", "issues", changed(t, "issues.labeled", `"title":`, `"milestone":7,"assignees":"x","title":`), ""},
	} {
		_, err := Decode(tt.event, "d", tt.payload)
		got := Reason("")
		if no, ok := err.(*Skip); ok {
			got = no.Reason
		} else if err != nil {
			t.Errorf("%s: the error is no *Skip: %v", tt.name, err)
		}
		if got != tt.want {
			bad = append(bad, fmt.Sprintf("%s: got %v, want %q", tt.name, err, tt.want))
		}
	}
	if len(bad) > 0 {
		t.Error(strings.Join(bad, "\n"))
	}
}

// What is kept of a payload is bounded.
func TestDecodeBounds(t *testing.T) {
	long := strings.Repeat("é", longestBody)
	many := strings.Repeat(`{"name":"`+long[:1000]+`"},`, 200)
	e, err := Decode("issues", strings.Repeat("d", 1000), changed(t, "issues.labeled", `"Totals are wrong"`, `"`+long+`"`, `The total of nothing is 1.\n`, long, `"labels":[`, `"labels":[`+many))
	if err != nil {
		t.Fatal(err)
	}
	i := e.Issue
	if len(i.Title) > longestBody || len(i.Body) != longestBody || len(i.Labels) != mostLabels || len(i.Labels[0]) > longestName || len(e.Delivery) != longestName {
		t.Errorf("title %d, body %d, %d labels of %d, delivery %d bytes", len(i.Title), len(i.Body), len(i.Labels), len(i.Labels[0]), len(e.Delivery))
	}
	if strings.ContainsRune(i.Body, '\ufffd') {
		t.Error("the body was cut within a rune")
	}
}

// Every payload of the data set is decided about, and none ends the process or is lost.
func TestPayloads(t *testing.T) {
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA names no folder with webhooks/*.json")
	}
	files, err := filepath.Glob(filepath.Join(data, "webhooks", "*.json"))
	if err != nil || len(files) != 157 {
		t.Fatalf("%d payloads, want 157 (%v)", len(files), err)
	}
	count := map[string]int{}
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(filepath.Base(file), ".")
		e, err := Decode(kind, filepath.Base(file), payload)
		said := ""
		if no, ok := err.(*Skip); ok {
			said = "skip " + string(no.Reason)
		} else if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		} else {
			d, no := worldOf(e).decide(t, e)
			said = shape(d, no)
			decideAny(t, e, Facts{})
		}
		if said == "" || said == "skip "+string(Malformed) {
			t.Errorf("%s: %q, want an answer", filepath.Base(file), said)
		}
		count[said]++
	}
	for _, said := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%4d %s", count[said], said)
	}
	if count["start"] == 0 || count["cancel"] == 0 {
		t.Error("the one red check run starts no job, or the closed pull requests end none")
	}
}

// shape is what kind of decision there is.
func shape(d Decision, no *Skip) string {
	switch {
	case no != nil:
		return "skip " + string(no.Reason)
	case len(d.Start) > 0:
		return "start"
	case len(d.Cancel) > 0:
		return "cancel"
	}
	return ""
}

// worldOf is a GitHub in which all that an event says still holds, its sender may write, and its label starts jobs.
func worldOf(e Event) *world {
	w := newWorld()
	w.repo.Repo = e.Repo
	w.may[e.Sender.Login] = "write"
	w.files[mainSHA] = "version: 1\ntriggers: {labels: [redraft, bug]}\n"
	if e.Pull != nil {
		p := *e.Pull
		p.Labels = append(slices.Clone(p.Labels), e.Label)
		w.pulls[p.Number], w.checks[p.Head.SHA] = p, redCI()
	}
	if e.Issue != nil {
		i := *e.Issue
		i.Labels = append(slices.Clone(i.Labels), e.Label)
		w.issues[i.Number] = i
	}
	if c := e.Check; c != nil {
		w.tips[c.Branch], w.checks[c.SHA] = c.SHA, []Check{*c}
		w.known = []string{"branch/" + c.Branch}
	}
	return w
}
