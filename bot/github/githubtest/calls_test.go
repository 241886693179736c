package githubtest_test

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/bot/github/githubtest/openapi"
)

// asked is one call and what it must come to.
type asked struct {
	method, path string
	body         any
	want         int
	look         func(answer obj) string // what of the answer to compare
	wanted       string
}

// busy is a world where everything that can be asked for is there.
func busy(t *testing.T) (w *world, sha string, run int64) {
	w = newWorld(t, githubtest.Options{})
	w.AddOrg("guild", "team")
	if _, err := w.repo.Commit("topic", map[string]string{"add.go": "package widget // topic\n"}, githubtest.Person{Name: "octo"}, "topic"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.repo.OpenPull(githubtest.NewPull{Title: "topic", Head: "topic", By: "octo"}); err != nil {
		t.Fatal(err)
	}
	if n := w.repo.OpenIssue("broken", "please", "octo"); n != 2 {
		t.Fatalf("issue: got %d, want 2", n)
	}
	run, err := w.repo.RunWorkflow(githubtest.Workflow{Pull: 1, Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure", Title: "1 failed", Steps: []githubtest.Step{{Name: "Run go test ./...", Conclusion: "failure"}}}, {Name: "lint", Conclusion: "success"}}})
	if err != nil {
		t.Fatal(err)
	}
	sha = w.repo.Tip("topic")
	if err := w.repo.AddStatus(sha, "ci/vendor", "failure", "broken", "octo"); err != nil {
		t.Fatal(err)
	}
	return w, sha, run
}

func TestEveryCall(t *testing.T) {
	w, sha, run := busy(t)
	d, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	const repo = "/repos/acme/widget"
	field := func(path ...string) func(obj) string {
		return func(o obj) string {
			var v any = o
			for _, p := range path {
				v = v.(obj)[p]
			}
			return fmt.Sprint(v)
		}
	}
	token := w.token(nil)
	for _, a := range []asked{
		{method: "GET", path: repo, want: 200, look: field("default_branch"), wanted: "main"},
		{method: "GET", path: repo + "/collaborators/octo/permission", want: 200, look: field("permission"), wanted: "write"},
		{method: "GET", path: repo + "/collaborators/nobody/permission", want: 404},
		{method: "GET", path: repo + "/actions/permissions/workflow", want: 200, look: field("can_approve_pull_request_reviews"), wanted: "false"},
		{method: "GET", path: repo + "/actions/runs?head_sha=" + sha, want: 200, look: field("total_count"), wanted: "1"},
		{method: "GET", path: repo + "/actions/runs?head_sha=" + sha + "&status=success", want: 200, look: field("total_count"), wanted: "0"},
		{method: "GET", path: repo + "/actions/runs/" + itoa(run), want: 200, look: field("conclusion"), wanted: "failure"},
		{method: "GET", path: repo + "/actions/runs/1", want: 404},
		{method: "GET", path: repo + "/actions/runs/" + itoa(run) + "/jobs?filter=latest", want: 200, look: func(o obj) string {
			job := o["jobs"].([]any)[0].(obj)
			return fmt.Sprint(o["total_count"], " ", job["name"], " ", job["conclusion"], " ", len(job["steps"].([]any)), " ", job["steps"].([]any)[1].(obj)["conclusion"])
		}, wanted: "2 unit failure 3 failure"},
		{method: "GET", path: repo + "/actions/runs/1/jobs", want: 404},
		{method: "GET", path: repo + "/branches/topic", want: 200, look: field("commit", "sha"), wanted: sha},
		{method: "GET", path: repo + "/branches/none", want: 404},
		{method: "GET", path: repo + "/git/ref/heads/topic", want: 200, look: field("object", "sha"), wanted: sha},
		{method: "GET", path: repo + "/git/ref/pull/1/head", want: 200, look: field("object", "sha"), wanted: sha},
		{method: "GET", path: repo + "/git/ref/heads/none", want: 404},
		{method: "GET", path: repo + "/contents/go.mod?ref=topic", want: 200, look: field("content"), wanted: base64.StdEncoding.EncodeToString([]byte("module widget\n")) + "\n"},
		{method: "GET", path: repo + "/contents/.github/workflows", want: 200},
		{method: "GET", path: repo + "/contents/none", want: 404},
		{method: "GET", path: repo + "/commits/" + sha, want: 200, look: field("commit", "message"), wanted: "topic"},
		{method: "GET", path: repo + "/commits/" + strings.Repeat("0", 40), want: 422},
		{method: "GET", path: repo + "/commits/" + sha + "/check-runs", want: 200, look: field("total_count"), wanted: "2"},
		{method: "GET", path: repo + "/commits/topic/check-runs?check_name=unit&filter=latest", want: 200, look: field("total_count"), wanted: "1"},
		{method: "GET", path: repo + "/commits/" + sha + "/status", want: 200, look: field("state"), wanted: "failure"},
		{method: "GET", path: repo + "/commits/" + sha + "/statuses", want: 200},
		{method: "GET", path: repo + "/check-runs/" + itoa(w.repo.Checks(sha)[0].ID), want: 200, look: field("name"), wanted: "unit"},
		{method: "POST", path: repo + "/check-runs", want: 201, body: obj{"name": "redraft", "head_sha": sha, "external_id": "k", "status": "in_progress"}},
		{method: "PATCH", path: repo + "/check-runs/OURS", want: 200, look: field("status"), wanted: "completed", body: obj{
			"conclusion": "neutral", "output": obj{"title": "t", "summary": "s", "annotations": []any{obj{
				"path": "add.go", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m", "title": "t"}}}}},
		{method: "PATCH", path: repo + "/check-runs/" + itoa(w.repo.Checks(sha)[0].ID), want: 403, body: obj{"conclusion": "success"}},
		{method: "GET", path: repo + "/issues/2", want: 200, look: field("title"), wanted: "broken"},
		{method: "GET", path: repo + "/issues/9", want: 404},
		{method: "POST", path: repo + "/issues/2/comments", want: 201, body: obj{"body": "hello"}, look: field("performed_via_github_app", "slug"), wanted: "redraft"},
		{method: "GET", path: repo + "/issues/2/comments?per_page=1&since=2020-01-01T00:00:00Z", want: 200},
		{method: "PATCH", path: repo + "/issues/comments/COMMENT", want: 200, body: obj{"body": "hello again"}, look: field("body"), wanted: "hello again"},
		{method: "POST", path: repo + "/labels", want: 201, body: obj{"name": "redraft", "color": "00ff00", "description": "d"}},
		{method: "POST", path: repo + "/labels", want: 422, body: obj{"name": "Redraft"}},
		{method: "POST", path: repo + "/issues/1/labels", want: 200, body: []string{"redraft", "new"}},
		{method: "POST", path: repo + "/issues/2/labels", want: 200, body: obj{"labels": []string{"redraft"}}},
		{method: "GET", path: repo + "/issues/1/labels", want: 200},
		{method: "DELETE", path: repo + "/issues/1/labels/new", want: 200},
		{method: "DELETE", path: repo + "/issues/1/labels/new", want: 404},
		{method: "GET", path: repo + "/pulls?state=all&head=acme:topic&sort=created&direction=desc", want: 200},
		{method: "GET", path: repo + "/pulls/1", want: 200, look: field("mergeable_state"), wanted: "clean"},
		{method: "GET", path: repo + "/pulls/2", want: 404},
		{method: "PATCH", path: repo + "/pulls/1", want: 200, body: obj{"title": "t2", "body": "b2"}, look: field("title"), wanted: "t2"},
		{method: "POST", path: repo + "/pulls/1/requested_reviewers", want: 201, body: obj{"reviewers": []string{"acme"}}},
		{method: "POST", path: repo + "/pulls/1/requested_reviewers", want: 422, body: obj{"reviewers": []string{"octo"}}},
		{method: "PATCH", path: repo + "/pulls/1", want: 200, body: obj{"state": "closed"}, look: field("state"), wanted: "closed"},
		{method: "PATCH", path: repo + "/pulls/1", want: 200, body: obj{"state": "open"}, look: field("state"), wanted: "open"},
		{method: "POST", path: repo + "/pulls", want: 422, body: obj{"title": "t", "head": "topic", "base": "main"}},
		{method: "POST", path: repo + "/pulls", want: 422, body: obj{"title": "t", "head": "none", "base": "main"}},
		{method: "GET", path: "/users/octo", want: 200},
		{method: "GET", path: "/users/nobody", want: 404},
		{method: "GET", path: "/orgs/guild", want: 200, look: field("login"), wanted: "guild"},
		{method: "GET", path: "/orgs/octo", want: 404},
		{method: "GET", path: "/rate_limit", want: 200},
		{method: "GET", path: "/user", want: 403},
		{method: "GET", path: "/installation/repositories", want: 200, look: field("total_count"), wanted: "1"},
		{method: "PUT", path: repo + "/pulls/1/merge", want: 404, body: obj{}},
		{method: "POST", path: "/graphql", want: 404, body: obj{"query": "{}"}},
	} {
		path := a.path
		if checks := w.repo.Checks(sha); len(checks) > 2 {
			path = strings.Replace(path, "OURS", itoa(checks[2].ID), 1)
		}
		if comments := w.repo.Comments(2); len(comments) > 0 {
			path = strings.Replace(path, "COMMENT", itoa(comments[0].ID), 1)
		}
		status, _, answer := w.ask(a.method, path, token, a.body)
		if status != a.want {
			t.Errorf("%s %s: got %d %v, want %d", a.method, a.path, status, answer, a.want)
		} else if a.look != nil && a.look(answer) != a.wanted {
			t.Errorf("%s %s: got %q, want %q", a.method, a.path, a.look(answer), a.wanted)
		}
	}
	w.everyCallOfTheApp(token)
	seen := w.watch.Seen()
	for _, name := range d.Calls() {
		if seen[name] == 0 {
			t.Errorf("%s was never made", name)
		}
	}
}

// everyCallOfTheApp makes the calls that the App makes as itself, and a person's.
func (w *world) everyCallOfTheApp(token string) {
	w.t.Helper()
	hook, got := listen(w.t)
	w.SetHook(hook, "s")
	if err := w.Drain(within(w.t)); err != nil {
		w.t.Fatal(err)
	}
	ctx, c := within(w.t), w.jwt()
	var app struct{ Slug string }
	var list []struct{ ID int64 }
	for _, a := range []struct {
		method, path string
		to           any
		want         int
	}{
		{"GET", "app", &app, 200}, {"GET", "app/installations?per_page=5", nil, 200}, {"GET", "app/installations/" + itoa(w.id), nil, 200},
		{"GET", "app/installations/1", nil, 404}, {"GET", "repos/acme/widget/installation", nil, 200}, {"GET", "app/hook/config", nil, 200},
		{"GET", "app/hook/deliveries?per_page=2&status=success", &list, 200},
	} {
		req, _ := c.NewRequest(a.method, a.path, nil)
		if resp, err := c.Do(ctx, req, a.to); resp == nil || resp.StatusCode != a.want {
			w.t.Errorf("%s %s: %v, want %d", a.method, a.path, err, a.want)
		}
	}
	if app.Slug != "redraft" || len(list) != 2 {
		w.t.Fatalf("got App %q and %d deliveries, want redraft and 2", app.Slug, len(list))
	}
	n := len(got())
	for _, a := range []string{"GET app/hook/deliveries/" + itoa(list[0].ID), "POST app/hook/deliveries/" + itoa(list[0].ID) + "/attempts"} {
		method, path, _ := strings.Cut(a, " ")
		req, _ := c.NewRequest(method, path, nil)
		if _, err := c.Do(ctx, req, nil); err != nil && !strings.Contains(err.Error(), "job scheduled") {
			w.t.Error(err)
		}
	}
	if err := w.Drain(ctx); err != nil || len(got()) != n+1 {
		w.t.Errorf("after redelivery: got %d webhooks, %v, want %d", len(got()), err, n+1)
	}
	if status, _, answer := w.ask("GET", "/user", w.UserToken("octo"), nil); status != 200 || answer["login"] != "octo" {
		w.t.Errorf("user: got %d %v", status, answer)
	}
	if status, _, _ := w.ask("DELETE", "/installation/token", token, nil); status != 204 {
		w.t.Errorf("revoke: got %d, want 204", status)
	}
	if status, _, _ := w.ask("GET", "/repos/acme/widget", token, nil); status != 401 {
		w.t.Errorf("revoked: got %d, want 401", status)
	}
}

var param = regexp.MustCompile(`\{[^}]*\}`)

// TestCalls holds the fake's calls against the description's: the same ones, no more.
func TestCalls(t *testing.T) {
	d, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	bare := func(calls []string) []string {
		var all []string
		for _, c := range calls {
			all = append(all, param.ReplaceAllString(c, "{}"))
		}
		slices.Sort(all)
		return all
	}
	if got, want := bare(githubtest.Calls()), bare(d.Calls()); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
