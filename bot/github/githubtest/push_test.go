package githubtest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestPush is who may fetch and push what, as git tells it.
func TestPush(t *testing.T) {
	w := newWorld(t, options)
	secret, err := w.AddRepo("acme", "secret", githubtest.Seed{Files: map[string]string{"a": "a"}, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.repo.SetBranch("release", w.repo.Tip("main"), "octo"); err != nil {
		t.Fatal(err)
	}
	w.repo.Protect("release")
	write, read, none := w.token(nil), w.token(map[string]string{"contents": "read"}), w.token(map[string]string{"issues": "write"})
	dir := w.clone(write, "topic", "new.go", "package widget\n")
	ci := w.clone(write, "ci", ".github/workflows/ci.yml", "on: pull_request\n")
	for _, x := range []struct {
		what, dir, token string
		args             []string
		want             string // "" is success, else what git says
	}{
		{"push with write", dir, write, []string{"push", "origin", "HEAD:refs/heads/topic"}, ""},
		{"the same again", dir, write, []string{"push", "origin", "HEAD:refs/heads/topic"}, ""},
		{"push with read", dir, read, []string{"push", "origin", "HEAD:refs/heads/other"}, "403"},
		{"push without", dir, none, []string{"push", "origin", "HEAD:refs/heads/other"}, "403"},
		{"push of nobody", dir, "", []string{"push", "origin", "HEAD:refs/heads/other"}, "could not read Username"},
		{"push with a wrong token", dir, "ghs_x", []string{"push", "origin", "HEAD:refs/heads/other"}, "Authentication failed"},
		{"fetch of nobody", dir, "", []string{"fetch", "origin"}, ""},
		{"fetch of a commit by its id", dir, read, []string{"fetch", "origin", w.repo.Tip("main")}, ""},
		{"a protected branch", dir, write, []string{"push", "origin", "HEAD:refs/heads/release"}, "protected branch hook declined"},
		{"beside a protected branch", dir, write, []string{"push", "origin", "HEAD:refs/heads/third", "HEAD:refs/heads/release"}, "pre-receive hook declined"},
		{"a workflow without the permission", ci, write, []string{"push", "origin", "HEAD:refs/heads/ci"}, "without workflows permission"},
		{"a pull request's ref", dir, write, []string{"push", "origin", "HEAD:refs/pull/1/head"}, "deny updating a hidden ref"},
		{"private of nobody", "", "", []string{"ls-remote", secret.GitURL()}, "could not read Username"},
		{"private of another token", "", write, []string{"ls-remote", secret.GitURL()}, "not found"},
		{"no such repository", "", write, []string{"ls-remote", w.GitURL("acme", "none")}, "not found"},
		{"private of its owner", "", w.UserToken("acme"), []string{"ls-remote", secret.GitURL()}, ""},
	} {
		out, err := w.git(x.dir, x.token, x.args...)
		if (err == nil) != (x.want == "") || !strings.Contains(out, x.want) {
			t.Errorf("%s: got %v, want %q\n%s", x.what, err, x.want, out)
		}
	}
	tips := w.repo.Branches()
	if len(tips) != 3 || tips["topic"] == "" || tips["release"] != tips["main"] {
		t.Errorf("branches: got %v, want main, release where it was, topic", tips)
	}
	var refs []string
	for _, c := range w.Audit() {
		refs = append(refs, c.Refs...)
	}
	slices.Sort(refs) // git sends those of one push in an order of its own
	if got := strings.Join(refs, " "); got != "refs/heads/ci refs/heads/release refs/heads/release refs/heads/third refs/heads/topic refs/pull/1/head" {
		t.Errorf("audit: got %q", got)
	}
}

// TestForce: a push that is no fast-forward, where it is taken and where it is not.
func TestForce(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	dir := w.clone(token, "topic", "a", "1")
	w.must(w.git(dir, token, "push", "origin", "HEAD:refs/heads/topic"))
	w.must(w.git(dir, "", "commit", "--amend", "-m", "again"))
	if out, err := w.git(dir, token, "push", "origin", "HEAD:refs/heads/topic"); err == nil {
		t.Errorf("without force: pushed\n%s", out)
	}
	w.must(w.git(dir, token, "push", "origin", "+HEAD:refs/heads/topic"))
	if err := w.repo.DenyForce(); err != nil {
		t.Fatal(err)
	}
	w.must(w.git(dir, "", "commit", "--amend", "-m", "once more"))
	if out, err := w.git(dir, token, "push", "origin", "+HEAD:refs/heads/topic"); err == nil || !strings.Contains(out, "non-fast-forward") {
		t.Errorf("denied: got %v\n%s", err, out)
	}
	w.must(w.git(dir, token, "push", "origin", ":refs/heads/topic"))
	if tip := w.repo.Tip("topic"); tip != "" {
		t.Errorf("deleted: got %q", tip)
	}
}

// TestLargePush is one that git sends in chunks, after asking whether it may.
func TestLargePush(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	dir := w.clone(token, "big", "big", strings.Repeat("line\n", 1000))
	w.must(w.git(dir, token, "-c", "http.postBuffer=1", "push", "origin", "HEAD:refs/heads/big"))
	if got, want := w.repo.Tip("big"), w.must(w.git(dir, "", "rev-parse", "HEAD")); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRename: a repository's old name leads to the new one, for REST and for git, and its id stays.
func TestRename(t *testing.T) {
	w := newWorld(t, options)
	token, old := w.token(nil), w.repo.GitURL()
	w.repo.Rename("gadget", "acme")
	for _, x := range []struct {
		method, path string
		want         int
	}{{"GET", "/repos/acme/widget", 301}, {"GET", "/repos/acme/widget/pulls?state=all", 301}, {"POST", "/repos/acme/widget/labels", 307}} {
		status, header, answer := w.ask(x.method, x.path, token, nil)
		to := strings.TrimPrefix(header.Get("Location"), strings.TrimSuffix(w.URL, "/"))
		if status != x.want || !strings.HasPrefix(to, "/repositories/"+itoa(w.repo.ID())) || answer["url"] != header.Get("Location") {
			t.Errorf("%s: got %d %q, want %d and the id", x.path, status, to, x.want)
		}
		if x.method == "GET" {
			if status, _, _ := w.raw("GET", to, token, nil); status != 200 {
				t.Errorf("%s: got %d, want 200", to, status)
			}
		}
	}
	if _, _, answer := w.ask("GET", "/repositories/"+itoa(w.repo.ID()), token, nil); answer["full_name"] != "acme/gadget" {
		t.Errorf("by id: got %v", answer["full_name"])
	}
	repo, resp, err := w.app().Repositories.Get(within(t), "acme", "widget")
	if err != nil || repo.GetName() != "gadget" {
		t.Errorf("go-github: got %v, %v, %v", repo.GetName(), resp, err)
	}
	if out, err := w.git("", token, "ls-remote", old, "refs/heads/main"); err != nil || !strings.Contains(out, w.repo.Tip("main")) {
		t.Errorf("git: got %v\n%s", err, out)
	}
	again, err := w.AddRepo("acme", "widget", githubtest.Seed{})
	if err != nil || again.ID() == w.repo.ID() {
		t.Errorf("the old name is free: got %v", err)
	}
	if _, err := w.AddRepo("ACME", "gadget", githubtest.Seed{}); err == nil {
		t.Error("one name for two repositories")
	}
}

// TestSeed takes a repository of this machine as it is.
func TestSeed(t *testing.T) {
	w := newWorld(t, options)
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "--quiet", "-b", "trunk", dir}, {"-C", dir, "commit", "--quiet", "--allow-empty", "-m", "one"}, {"-C", dir, "tag", "v1"}, {"-C", dir, "branch", "side"}} {
		w.must(w.git("", "", args...))
	}
	if err := os.WriteFile(filepath.Join(dir, "dirty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := w.AddRepo("me", "mine", githubtest.Seed{From: dir})
	if err != nil {
		t.Fatal(err)
	}
	head := w.must(w.git(dir, "", "rev-parse", "HEAD"))
	if r.Tip("trunk") != head || r.Tip("side") != head || len(r.Branches()) != 2 {
		t.Errorf("got %v, want trunk and side at %s", r.Branches(), head)
	}
	if out := w.must(w.git("", "", "ls-remote", "--symref", r.GitURL(), "HEAD")); !strings.Contains(out, "ref: refs/heads/trunk") {
		t.Errorf("HEAD: got %s", out)
	}
	if _, err := w.AddRepo("me", "bad", githubtest.Seed{From: filepath.Join(dir, "none")}); err == nil {
		t.Error("a repository from nowhere")
	}
	if _, err := r.Commit("trunk", map[string]string{"../x": "x"}, octo, "x"); err == nil {
		t.Error("a file outside")
	}
}
