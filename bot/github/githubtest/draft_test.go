package githubtest_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestDraft is what redraft does, with the libraries that it does it with.
func TestDraft(t *testing.T) {
	w := newWorld(t, options)
	ctx, c := within(t), w.app()
	token := w.token(nil)
	dir := w.clone(token, "redraft/branch-main", "add.go", "package widget\n\nvar X = 1\n")
	w.must(w.git(dir, token, "push", "--quiet", "origin", "HEAD:refs/heads/redraft/branch-main"))
	head := w.must(w.git(dir, "", "rev-parse", "HEAD"))
	if got := w.repo.Tip("redraft/branch-main"); got != head {
		t.Fatalf("pushed tip: got %q, want %q", got, head)
	}

	pr, _, err := c.PullRequests.Create(ctx, "acme", "widget", &github.NewPullRequest{
		Title: github.String("redraft: unit"), Body: github.String("body"), Head: github.String("redraft/branch-main"), Base: github.String("main"), Draft: github.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !pr.GetDraft() || pr.GetHead().GetSHA() != head || pr.GetUser().GetLogin() != "redraft[bot]" || pr.GetUser().GetType() != "Bot" {
		t.Errorf("got %v", pr)
	}
	if _, _, err := c.Issues.AddLabelsToIssue(ctx, "acme", "widget", 1, []string{"redraft"}); err != nil {
		t.Error(err)
	}
	if _, _, err := c.Checks.CreateCheckRun(ctx, "acme", "widget", github.CreateCheckRunOptions{Name: "redraft", HeadSHA: head, Conclusion: github.String("neutral")}); err != nil {
		t.Error(err)
	}
	if _, err := c.Issues.RemoveLabelForIssue(ctx, "acme", "widget", 1, "redraft"); err != nil {
		t.Error(err)
	}
	branch, _, err := c.Repositories.GetBranch(ctx, "acme", "widget", "redraft/branch-main", 1)
	if err != nil || branch.GetCommit().GetSHA() != head {
		t.Errorf("branch: got %v, %v", branch, err)
	}
	file, _, _, err := c.Repositories.GetContents(ctx, "acme", "widget", "add.go", &github.RepositoryContentGetOptions{Ref: head})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := file.GetContent(); err != nil || text != "package widget\n\nvar X = 1\n" {
		t.Errorf("file: got %q, %v", text, err)
	}
	got, ok := w.repo.Pull(1)
	if !ok || !got.Draft || got.Title != "redraft: unit" || got.HeadSHA != head || got.Author != "redraft[bot]" || len(got.Labels) != 0 {
		t.Errorf("got %+v", got)
	}
	resp, err := w.Client().Get(got.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if page, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(page), "<h1>redraft: unit <span>#1</span></h1>") {
		t.Errorf("page: got %s, %v", page, err)
	}
}

// TestSaysNo are the noes that GitHub gives to a draft.
func TestSaysNo(t *testing.T) {
	w := newWorld(t, options)
	ctx, c := within(t), w.app()
	for _, b := range []string{"one", "two"} {
		if _, err := w.repo.Commit(b, map[string]string{b: b}, octo, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.repo.SetBranch("same", w.repo.Tip("main"), "octo"); err != nil {
		t.Fatal(err)
	}
	open := func(c *github.Client, head, base string, draft bool) (int, string) {
		_, resp, err := c.PullRequests.Create(ctx, "acme", "widget", &github.NewPullRequest{Title: &head, Head: &head, Base: &base, Draft: &draft})
		text := ""
		if e := (*github.ErrorResponse)(nil); errors.As(err, &e) {
			text = e.Message
			for _, x := range e.Errors {
				text += "; " + x.Resource + " " + x.Field + " " + x.Code + " " + x.Message
			}
		}
		return resp.StatusCode, text
	}
	actions := func(perms map[string]string) *github.Client {
		a, err := github.NewClient(w.Client()).WithAuthToken(w.repo.ActionsToken(perms)).WithEnterpriseURLs(w.URL, w.URL)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := actions(map[string]string{"pull_requests": "write", "contents": "write"})
	for _, x := range []struct {
		what       string
		set        func()
		c          *github.Client
		head, base string
		draft      bool
		want       int
		text       string
	}{
		{"no such head", nil, c, "none", "main", true, 422, "Validation Failed; PullRequest head invalid "},
		{"no such base", nil, c, "one", "none", true, 422, "Validation Failed; PullRequest base invalid "},
		{"nothing to merge", nil, c, "same", "main", true, 422, "Validation Failed; PullRequest  custom No commits between main and same"},
		{"opens", nil, c, "one", "main", true, 201, ""},
		{"exists", nil, c, "one", "main", true, 422, "Validation Failed; PullRequest  custom A pull request already exists for acme:one."},
		{"exists with owner", nil, c, "acme:one", "main", true, 422, "Validation Failed; PullRequest  custom A pull request already exists for acme:one."},
		{"Actions may not", nil, a, "two", "main", true, 403, "GitHub Actions is not permitted to create or approve pull requests."},
		{"Actions without permission", func() { w.repo.CanCreatePulls(true) }, actions(map[string]string{"contents": "write"}), "two", "main", true, 403, "Resource not accessible by integration"},
		{"no drafts here", w.repo.DraftsUnsupported, a, "two", "main", true, 422, "Draft pull requests are not supported in this repository."},
		{"Actions may", nil, a, "two", "main", false, 201, ""},
		{"archived", w.repo.Archive, c, "two", "one", true, 403, "Repository was archived so is read-only."},
	} {
		if x.set != nil {
			x.set()
		}
		if status, text := open(x.c, x.head, x.base, x.draft); status != x.want || text != x.text {
			t.Errorf("%s: got %d %q, want %d %q", x.what, status, text, x.want, x.text)
		}
	}
	if got, _ := w.repo.Pull(2); got.Author != "github-actions[bot]" {
		t.Errorf("author: got %q, want github-actions[bot]", got.Author)
	}
}

// TestMerge follows refs/pull/N/merge: as head and base move, through a conflict, and to a person's merge.
func TestMerge(t *testing.T) {
	o := options
	o.SlowMerge = true
	w := newWorld(t, o)
	token := w.token(nil)
	commit := func(branch, file, text string) string {
		sha, err := w.repo.Commit(branch, map[string]string{file: text}, octo, text)
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	look := func() (githubtest.Pull, obj) {
		p, _ := w.repo.Pull(1)
		_, _, answer := w.ask("GET", "/repos/acme/widget/pulls/1", token, nil)
		return p, answer
	}
	head := commit("topic", "a", "1")
	if _, err := w.repo.OpenPull(githubtest.NewPull{Title: "t", Head: "topic", By: "octo"}); err != nil {
		t.Fatal(err)
	}
	first, answer := look()
	if answer["mergeable"] != nil || answer["mergeable_state"] != "unknown" {
		t.Errorf("at once: got %v %v, want null and unknown", answer["mergeable"], answer["mergeable_state"])
	}
	if _, answer = look(); answer["mergeable"] != true || answer["merge_commit_sha"] != first.Merge {
		t.Errorf("then: got %v %v, want true and %s", answer["mergeable"], answer["merge_commit_sha"], first.Merge)
	}
	base := commit("main", "b", "1")
	second, _ := look()
	if second.Merge == first.Merge || second.BaseSHA != base || second.HeadSHA != head {
		t.Errorf("base moved: got %+v", second)
	}
	commit("main", "a", "2")
	conflict, _ := look()
	if _, answer = look(); !conflict.Conflict || conflict.Merge != second.Merge || answer["mergeable"] != false || answer["merge_commit_sha"] != nil {
		t.Errorf("conflict: got %+v and %v, want the ref where it was", conflict, answer["mergeable"])
	}
	if err := w.repo.MergePull(1, "octo"); err == nil {
		t.Error("a conflict was merged")
	}
	commit("topic", "a", "2")
	if third, _ := look(); third.Conflict || third.Merge == second.Merge {
		t.Errorf("head moved: got %+v", third)
	}
	if err := w.repo.MergePull(1, "octo"); err != nil {
		t.Fatal(err)
	}
	if merged, answer := look(); !merged.Merged || merged.State != "closed" || merged.ClosedBy != "octo" || answer["merge_commit_sha"] != w.repo.Tip("main") {
		t.Errorf("merged: got %+v", merged)
	}
	if text, err := w.repo.File("main", "b"); err != nil || text != "1" {
		t.Errorf("main holds %q, %v", text, err)
	}
}

// TestMergeByHand: who pushes a merge of the head to the base has merged the pull request.
func TestMergeByHand(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	dir := w.clone(token, "topic", "a", "1")
	w.must(w.git(dir, token, "push", "origin", "HEAD:refs/heads/topic"))
	if _, err := w.repo.OpenPull(githubtest.NewPull{Title: "t", Head: "topic", By: "octo"}); err != nil {
		t.Fatal(err)
	}
	w.must(w.git(dir, token, "push", "origin", "HEAD:refs/heads/main"))
	if p, _ := w.repo.Pull(1); !p.Merged || p.State != "closed" || p.ClosedBy != "redraft[bot]" {
		t.Errorf("got %+v, want it merged", p)
	}
}

// TestLimits are GitHub's limits beyond shapes.
func TestLimits(t *testing.T) {
	w, sha, _ := busy(t)
	token := w.token(nil)
	notes := func(n int) []any {
		var all []any
		for range n {
			all = append(all, obj{"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"})
		}
		return all
	}
	check := func(more obj) obj {
		body := obj{"name": "n", "head_sha": sha}
		maps.Copy(body, more)
		return body
	}
	output := func(summary string, notes []any) obj {
		return check(obj{"output": obj{"title": "t", "summary": summary, "annotations": notes}})
	}
	const checks, comments = "/check-runs", "/issues/2/comments"
	for what, x := range map[string]struct {
		method, path string
		body         obj
		want         int
	}{
		"50 annotations":          {"POST", checks, output("s", notes(50)), 201},
		"51 annotations":          {"POST", checks, output("s", notes(51)), 422},
		"longest summary":         {"POST", checks, output(strings.Repeat("s", 65535), []any{}), 201},
		"too long a summary":      {"POST", checks, output(strings.Repeat("s", 65536), []any{}), 422},
		"done without conclusion": {"POST", checks, check(obj{"status": "completed"}), 422},
		"concluded, not done":     {"POST", checks, check(obj{"status": "in_progress", "conclusion": "neutral"}), 422},
		"stale":                   {"POST", checks, check(obj{"conclusion": "stale"}), 422},
		"no such commit":          {"POST", checks, obj{"name": "n", "head_sha": strings.Repeat("1", 40)}, 422},
		"a branch for a commit":   {"POST", checks, obj{"name": "n", "head_sha": "topic"}, 422},
		"longest comment":         {"POST", comments, obj{"body": strings.Repeat("é", 65536)}, 201},
		"too long a comment":      {"POST", comments, obj{"body": strings.Repeat("é", 65537)}, 422},
		"blank comment":           {"POST", comments, obj{"body": " "}, 422},
		"too long a body":         {"PATCH", "/pulls/1", obj{"body": strings.Repeat("b", 65537)}, 422},
		"no title":                {"POST", "/pulls", obj{"head": "topic", "base": "main"}, 422},
		"blank label":             {"POST", "/issues/2/labels", obj{"labels": []string{""}}, 422},
		"no labels":               {"POST", "/issues/2/labels", obj{"labels": []string{}}, 422},
		"colour":                  {"POST", "/labels", obj{"name": "c", "color": "#00ff00"}, 422},
		"long description":        {"POST", "/labels", obj{"name": "c", "description": strings.Repeat("d", 101)}, 422},
		"huge body":               {"POST", comments, obj{"body": strings.Repeat("b", 5<<20)}, 413},
		"base that is not there":  {"PATCH", "/pulls/1", obj{"base": "none"}, 422},
		"author as reviewer":      {"POST", "/pulls/1/requested_reviewers", obj{"reviewers": []string{"octo"}}, 422},
	} {
		if status, _, text := w.raw(x.method, "/repos/acme/widget"+x.path, token, x.body); status != x.want {
			t.Errorf("%s: got %d %.200s, want %d", what, status, text, x.want)
		}
	}
	_, _, made := w.ask("POST", "/repos/acme/widget/check-runs", token, output("s", notes(2)))
	_, _, made = w.ask("PATCH", "/repos/acme/widget/check-runs/"+number(made["id"]), token, obj{"output": obj{"summary": "s2", "annotations": notes(3)}})
	if out := made["output"].(obj); out["annotations_count"] != 5.0 || out["summary"] != "s2" || out["title"] != "t" {
		t.Errorf("edited: got %v, want 5 annotations and a new summary", out)
	}
}

// TestForkPull is a pull request from elsewhere: its checks name no pull request, as GitHub's do.
func TestForkPull(t *testing.T) {
	w := newWorld(t, options)
	w.AddUser("stranger")
	fork, err := w.repo.Fork("stranger")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fork.Commit("main", map[string]string{"x": "1"}, githubtest.Person{Name: "stranger"}, "x"); err != nil {
		t.Fatal(err)
	}
	n, err := w.repo.OpenPull(githubtest.NewPull{Title: "t", Head: "stranger:main", By: "stranger"})
	if err != nil {
		t.Fatal(err)
	}
	run, err := w.repo.RunWorkflow(githubtest.Workflow{Pull: n, Actor: "stranger", Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}})
	if err != nil {
		t.Fatal(err)
	}
	token := w.token(nil)
	_, _, answer := w.ask("GET", "/repos/acme/widget/actions/runs/"+itoa(run), token, nil)
	if pulls := answer["pull_requests"].([]any); len(pulls) != 0 || answer["head_repository"].(obj)["full_name"] != "stranger/widget" {
		t.Errorf("run: got %v of %v, want no pull request, of the fork", pulls, answer["head_repository"].(obj)["full_name"])
	}
	sha, err := fork.Commit("main", map[string]string{"x": "2"}, githubtest.Person{Name: "stranger"}, "x")
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := w.repo.Pull(n); p.HeadSHA != sha || p.HeadRepo != "stranger/widget" || p.Merge == "" {
		t.Errorf("got %+v, want the fork's new head %s", p, sha)
	}
	fork.Delete()
	if status, _, answer := w.ask("GET", "/repos/acme/widget/pulls/1", token, nil); status != http.StatusOK {
		t.Errorf("fork gone: got %d %v", status, answer)
	}
	if err := w.repo.ClosePull(n, "acme"); err != nil {
		t.Error(err)
	}
}
