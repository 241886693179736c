package githubtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/bot/github/githubtest/openapi"
)

// letter is one webhook that arrived.
type letter struct {
	event, guid string
	signed      bool
	body        string
}

// listen takes webhooks signed with "s".
func listen(t *testing.T) (url string, got func() []letter) {
	t.Helper()
	var mu sync.Mutex
	var all []letter
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, letter{
			r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-Hub-Signature-256") == githubtest.Sign("s", body), string(body),
		})
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []letter {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// TestRedRun is what GitHub sends of one red run of two jobs, signed and in order.
func TestRedRun(t *testing.T) {
	w := newWorld(t, options)
	url, got := listen(t)
	w.SetHook(url, "s")
	if _, err := w.repo.RunWorkflow(githubtest.Workflow{Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}, {Name: "lint", Conclusion: "success"}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(within(t)); err != nil {
		t.Fatal(err)
	}
	var names []string
	guids := map[string]bool{}
	for _, l := range got() {
		var p struct {
			Action string
			Run    struct{ Conclusion string } `json:"workflow_run"`
			Suite  struct{ Conclusion string } `json:"check_suite"`
			Check  struct{ Name string }       `json:"check_run"`
			Inst   struct{ ID int64 }          `json:"installation"`
		}
		if err := json.Unmarshal([]byte(l.body), &p); err != nil {
			t.Fatal(err)
		}
		if !l.signed || guids[l.guid] || p.Inst.ID != w.id {
			t.Errorf("%s: signed %v, guid seen %v, installation %d", l.event, l.signed, guids[l.guid], p.Inst.ID)
		}
		guids[l.guid] = true
		names = append(names, strings.Join(strings.Fields(strings.Join([]string{l.event, p.Action, p.Check.Name, p.Run.Conclusion, p.Suite.Conclusion}, " ")), " "))
	}
	want := []string{
		"installation created", "workflow_run requested", "check_run created unit", "check_run created lint", "check_run completed unit", "check_run completed lint",
		"check_suite completed failure", "workflow_run completed failure",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q\nwant %q", names, want)
	}
}

// TestRunInParts: a run whose jobs end one by one, and one that is run again.
func TestRunInParts(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	id, err := w.repo.RunWorkflow(githubtest.Workflow{Name: "Tests", Path: ".github/workflows/t.yml", Jobs: []githubtest.Job{{Name: "a"}, {Name: "b", Conclusion: "success"}}})
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		_, _, r := w.ask("GET", "/repos/acme/widget/actions/runs/"+itoa(id), token, nil)
		_, _, c := w.ask("GET", "/repos/acme/widget/commits/main/check-runs", token, nil)
		_, _, all := w.ask("GET", "/repos/acme/widget/commits/main/check-runs?filter=all", token, nil)
		text, _ := json.Marshal([]any{r["status"], r["conclusion"], r["run_attempt"], r["path"], c["total_count"], all["total_count"]})
		return string(text)
	}
	step := func(what, want string, err error) {
		t.Helper()
		if got := state(); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", what, got, err, want)
		}
	}
	step("begun", `["in_progress",null,1,".github/workflows/t.yml",2,2]`, nil)
	step("ended", `["completed","failure",1,".github/workflows/t.yml",2,2]`, w.repo.FinishWorkflow(id, githubtest.Job{Name: "a", Conclusion: "timed_out"}))
	step("again", `["completed","success",2,".github/workflows/t.yml",2,4]`,
		w.repo.Rerun(id, githubtest.Job{Name: "a", Conclusion: "success"}, githubtest.Job{Name: "b", Conclusion: "success"}))
	if err := w.repo.FinishWorkflow(id, githubtest.Job{Name: "a", Conclusion: "success"}); err == nil {
		t.Error("a job ended twice")
	}
	if err := w.repo.Rerun(1); err == nil {
		t.Error("a run that is not there ran again")
	}
}

// TestEveryEvent has each event of the description happen once; newWorld judges their payloads.
func TestEveryEvent(t *testing.T) {
	w := newWorld(t, options)
	w.AddOrg("guild", "team")
	r, err := w.AddRepo("guild", "thing", githubtest.Seed{Files: map[string]string{"a": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	id := w.Install(all, r)
	w.Ping()
	more, err := w.AddRepo("guild", "more", githubtest.Seed{})
	if err != nil {
		t.Fatal(err)
	}
	w.Join(id, more)
	w.Permit(id, all)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	_, err = r.Commit("topic", map[string]string{"b": "1"}, octo, "b")
	must(err)
	n, err := r.OpenPull(githubtest.NewPull{Title: "t", Head: "topic", By: "octo"})
	must(err)
	must(r.EditPull(n, "t", "b", "octo"))
	must(r.AddLabel(n, "redraft", "octo"))
	must(r.RemoveLabel(n, "redraft", "octo"))
	must(r.MarkReady(n, "octo"))
	_, err = r.Commit("topic", map[string]string{"b": "2"}, octo, "b")
	must(err)
	must(r.ClosePull(n, "octo"))
	i := r.OpenIssue("t", "", "octo")
	must(r.EditIssue(i, "b", "octo"))
	must(r.AddLabel(i, "redraft", "octo"))
	must(r.RemoveLabel(i, "redraft", "octo"))
	_, err = r.AddComment(i, "/redraft", "octo")
	must(err)
	must(r.CloseIssue(i, "octo"))
	_, err = r.RunWorkflow(githubtest.Workflow{Jobs: []githubtest.Job{{Name: "a", Conclusion: "failure"}}})
	must(err)
	_, err = r.AddCheck(githubtest.ForeignCheck{App: 9, Name: "vendor", Conclusion: "failure"})
	must(err)
	must(r.AddStatus(r.Tip("main"), "vendor", "error", "", "octo"))
	r.SetPermission("octo", "write")
	app := w.mint(id, nil)
	for _, x := range []struct {
		method, path string
		body         any
	}{
		{"PATCH", "/pulls/1", obj{"state": "open"}}, {"POST", "/pulls/1/requested_reviewers", obj{"reviewers": []string{"guild"}}},
		{"POST", "/issues/2/comments", obj{"body": "b"}}, {"PATCH", "/issues/comments/LAST", obj{"body": "c"}},
	} {
		path := x.path
		if c := r.Comments(i); len(c) > 0 {
			path = strings.Replace(path, "LAST", itoa(c[len(c)-1].ID), 1)
		}
		if status, _, answer := w.ask(x.method, "/repos/guild/thing"+path, app, x.body); status/100 != 2 {
			t.Errorf("%s: got %d %v", path, status, answer)
		}
	}
	must(r.DeleteBranch("topic", "octo"))
	r.Rename("thing2", "guild")

	seen := map[string]bool{}
	for _, d := range w.Deliveries() {
		seen[strings.TrimSuffix(strings.ReplaceAll(d.Event+"-"+d.Action, "_", "-"), "-")] = true
	}
	d, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range d.Events() {
		if !seen[event] {
			t.Errorf("%s never happened", event)
		}
	}
	if p, _ := r.Pull(n); p.State != "closed" {
		t.Errorf("the pull request of a deleted branch is %s", p.State)
	}
}

// TestHooksPause: events wait while nobody listens or hooks are paused, and come again when asked for, with the same GUID.
func TestHooksPause(t *testing.T) {
	w := newWorld(t, options)
	url, got := listen(t)
	w.PauseHooks(true)
	w.SetHook(url, "other")
	w.repo.OpenIssue("t", "b", "octo")
	if err := w.Drain(within(t)); err != nil || len(got()) != 0 {
		t.Fatalf("paused: got %d, %v", len(got()), err)
	}
	w.PauseHooks(false)
	if err := w.Drain(within(t)); err != nil {
		t.Fatal(err)
	}
	all := got()
	if len(all) != 2 || all[1].event != "issues" || all[1].signed {
		t.Fatalf("got %+v, want installation and issues, signed with another secret", all)
	}
	list := w.Deliveries()
	if list[1].Status != http.StatusAccepted || list[1].GUID != all[1].guid {
		t.Errorf("delivery: got %+v", list[1])
	}
	w.SetHook(url, "s")
	if err := w.Redeliver(list[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(within(t)); err != nil {
		t.Fatal(err)
	}
	again := got()
	if len(again) != 3 || again[2].guid != all[1].guid || again[2].body != all[1].body || !again[2].signed {
		t.Errorf("redelivered: got %+v", again)
	}
	if err := w.Redeliver(1); err == nil {
		t.Error("redelivered what is not there")
	}
	other, err := w.AddRepo("acme", "other", githubtest.Seed{})
	if err != nil {
		t.Fatal(err)
	}
	other.OpenIssue("t", "b", "octo")
	if n := len(w.Deliveries()); n != 3 {
		t.Errorf("a repository without the App: got %d deliveries, want 3", n)
	}
}

// TestOwnDeeds: what our App does is told too, with its bot as sender.
func TestOwnDeeds(t *testing.T) {
	w := newWorld(t, options)
	w.repo.OpenIssue("t", "b", "octo")
	token := w.token(nil)
	w.ask("POST", "/repos/acme/widget/issues/1/comments", token, obj{"body": "b"})
	last := w.Deliveries()[len(w.Deliveries())-1]
	var p struct {
		Sender  struct{ Login, Type string }
		Comment struct {
			Via struct{ ID int64 } `json:"performed_via_github_app"`
		}
	}
	if err := json.Unmarshal(last.Payload, &p); err != nil || p.Sender.Login != "redraft[bot]" || p.Sender.Type != "Bot" || p.Comment.Via.ID != w.AppID() {
		t.Errorf("got %+v, %v", p, err)
	}
}
