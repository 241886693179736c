package githubtest_test

import (
	"errors"
	"io"
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
	if page, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(page), "<h1>redraft: unit #1</h1>") {
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
