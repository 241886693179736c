package githubtest_test

import (
	"testing"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestDraft is what redraft does, with the libraries that it does it with.
func TestDraft(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
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
	merge, _, err := c.Git.GetRef(ctx, "acme", "widget", "pull/1/merge")
	if err != nil || merge.GetObject().GetSHA() != pr.GetMergeCommitSHA() {
		t.Errorf("merge ref: got %v, %v, want %s", merge, err, pr.GetMergeCommitSHA())
	}
	out := w.must(w.git(dir, token, "fetch", "origin", "refs/pull/1/merge:m", "refs/pull/1/head:h"))
	if got := w.must(w.git(dir, "", "rev-parse", "m^1", "m^2", "h")); got != w.repo.Tip("main")+"\n"+head+"\n"+head {
		t.Errorf("merge's parents and head: got %s\n%s", got, out)
	}
}
