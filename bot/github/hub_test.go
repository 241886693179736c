package github_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/bot/github/githubtest/openapi"
)

// world is a GitHub with one repository, acme/widget, that our App is installed on.
type world struct {
	*githubtest.Server
	t    *testing.T
	repo *githubtest.Repo
	hub  *github.Hub
	at   bot.Repo
	more int
}

const branch = "redraft/branch-main-ci"

func build(t *testing.T, seed githubtest.Seed, permissions map[string]string) *world {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	srv, err := githubtest.New(githubtest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	srv.AddOrg("acme", "team")
	if seed.Files == nil {
		seed.Files = map[string]string{"go.mod": "module widget\n", "dir/a.txt": "a\n"}
	}
	w := &world{Server: srv, t: t}
	if w.repo, err = srv.AddRepo("acme", "widget", seed); err != nil {
		t.Fatal(err)
	}
	w.at = bot.Repo{ID: w.repo.ID(), Owner: "acme", Name: "widget", Installation: srv.Install(permissions, w.repo)}
	w.hub = w.connect(github.Options{AppID: srv.AppID(), Key: srv.AppKey()})
	w.watch()
	return w
}

// watch judges every call by GitHub's own description.
func (w *world) watch() {
	watch := &openapi.Watch{}
	w.Observe(watch.Observe)
	w.t.Cleanup(func() {
		if err := watch.Err(); err != nil {
			w.t.Error(err)
		}
	})
}

// connect makes a hub that does not wait, beyond letting others run.
func (w *world) connect(o github.Options) *github.Hub {
	w.t.Helper()
	o.API, o.CA, o.Pause = w.URL, w.CAFile, time.Nanosecond
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }
	hub, err := github.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return hub
}

// another is a repository of its own on the same GitHub.
func (w *world) another() *world {
	w.t.Helper()
	w.Inject(nil)
	next := *w
	w.more++
	next.repo = must(w.AddRepo("acme", fmt.Sprint("widget", w.more), githubtest.Seed{Files: map[string]string{"go.mod": "module widget\n"}}))
	next.at = bot.Repo{ID: next.repo.ID(), Owner: "acme", Name: next.repo.Name(), Installation: w.Install(github.Permissions(), next.repo)}
	return &next
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) commit(branch string, files map[string]string) string {
	return must(w.repo.Commit(branch, files, githubtest.Person{}, "work on "+branch))
}

func (w *world) draft() bot.NewDraft {
	m := bot.Markers{Key: "7/branch/main", Run: "j1", Root: "abc", Tree: "def"}
	return bot.NewDraft{Title: "redraft: unit", Body: "Proof.\n\n" + m.String(), Head: branch, Base: "main", Key: "7/branch/main", Labels: []string{"redraft", "help wanted"}, Reviewers: []string{"ada"}}
}

func class(t *testing.T, err error, want bot.Class) *bot.HubError {
	t.Helper()
	var no *bot.HubError
	if !errors.As(err, &no) || no.Class != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	return no
}

func TestReads(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	w.repo.SetPermission("ada", "maintain")
	w.repo.SetPermission("bob", "triage")
	main := w.repo.Tip("main")
	head := w.commit("fix/ü#1%2f", map[string]string{"b.txt": "b\n"})
	number := must(w.repo.OpenPull(githubtest.NewPull{Title: "Fix", Body: "it", Head: "fix/ü#1%2f", By: "ada"}))
	issue := w.repo.OpenIssue("Broken", "see", "bob")
	w.repo.AddLabel(issue, "redraft", "ada")

	facts := must(w.hub.Repo(ctx, w.at))
	if d := cmp.Diff(bot.RepoFacts{Repo: w.at, Default: "main"}, facts); d != "" {
		t.Error(d)
	}
	for login, want := range map[string]string{"ada": "maintain", "bob": "triage", "acme": "admin", "nobody": "none"} {
		if got := must(w.hub.Permission(ctx, w.at, login)); got != want {
			t.Errorf("%s may %s, want %s", login, got, want)
		}
	}
	pull := must(w.hub.Pull(ctx, w.at, number))
	if pull.Head.SHA != head || pull.Head.Branch != "fix/ü#1%2f" || pull.Fork() || pull.Author.Login != "ada" || pull.Merge == "" || pull.State != "open" {
		t.Errorf("got %+v", pull)
	}
	if all := must(w.hub.PullsOf(ctx, w.at, "fix/ü#1%2f")); len(all) != 1 || all[0].Number != number {
		t.Errorf("got %+v", all)
	}
	if all := must(w.hub.PullsOf(ctx, w.at, "main")); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
	is := must(w.hub.Issue(ctx, w.at, issue))
	is.Author.ID = 0
	if d := cmp.Diff(bot.Issue{Number: issue, Title: "Broken", Body: "see", State: "open", Author: bot.Account{Login: "bob"}, Labels: []string{"redraft"}}, is); d != "" {
		t.Error(d)
	}
	if is := must(w.hub.Issue(ctx, w.at, number)); !is.Pull {
		t.Error("a pull request is an issue that says so")
	}
	if d := cmp.Diff(bot.Tip{Repo: w.at.ID, Branch: "fix/ü#1%2f", SHA: head}, must(w.hub.Tip(ctx, w.at, "fix/ü#1%2f"))); d != "" {
		t.Error(d)
	}
	if m := must(w.hub.Message(ctx, w.at, head)); strings.TrimSpace(m) != "work on fix/ü#1%2f" {
		t.Errorf("got %q", m)
	}
	if text := must(w.hub.File(ctx, w.at, "dir/a.txt", main)); string(text) != "a\n" {
		t.Errorf("got %q", text)
	}
	for name, err := range map[string]error{
		"branch": second(w.hub.Tip(ctx, w.at, "missing")),
		"file":   second(w.hub.File(ctx, w.at, "missing.yml", main)),
		"folder": second(w.hub.File(ctx, w.at, "dir", main)),
		"pull":   second(w.hub.Pull(ctx, w.at, 999)),
		"run":    second(w.hub.Run(ctx, w.at, 999)),
		"jobs":   second(w.hub.RunJobs(ctx, w.at, 999)),
		"commit": second(w.hub.Message(ctx, w.at, strings.Repeat("0", 40))),
	} {
		t.Run(name, func(t *testing.T) { class(t, err, bot.NotFound) })
	}
	if n := w.LiveTokens(); n != 0 {
		t.Errorf("%d tokens live on", n)
	}
}

func second[T any](_ T, err error) error { return err }

func TestChecks(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	sha := w.repo.Tip("main")
	run := must(w.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}, {Name: "lint", Conclusion: "success"}}}))
	must(w.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Name: "Nightly", Path: ".github/workflows/nightly.yml", Jobs: []githubtest.Job{{Name: "unit"}}}))
	must(w.repo.AddCheck(githubtest.ForeignCheck{App: 77, Name: "unit", Conclusion: "success"}))
	w.repo.AddStatus(sha, "ci/legacy", "pending", "", "acme")
	w.repo.AddStatus(sha, "ci/legacy", "error", "", "acme")
	if err := w.repo.Rerun(run, githubtest.Job{Name: "unit", Conclusion: "timed_out"}, githubtest.Job{Name: "lint", Conclusion: "success"}); err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Name, Workflow, Title, Conclusion, Event string
		Attempt                                  int
		Red, Done                                bool
	}
	var got []seen
	for _, c := range must(w.hub.Checks(ctx, w.at, sha)) {
		got = append(got, seen{c.Name, c.Workflow, c.Title, c.Conclusion, c.Event, c.Attempt, c.Red(), c.Done})
		if c.SHA != sha {
			t.Errorf("%s is of %s", c.Name, c.SHA)
		}
	}
	slices.SortFunc(got, func(a, b seen) int { return strings.Compare(a.Name+a.Workflow, b.Name+b.Workflow) })
	want := []seen{
		{"ci/legacy", "", "", "error", "", 0, true, true},
		{"lint", ".github/workflows/ci.yml", "CI", "success", "push", 2, false, true},
		{"unit", "", "", "success", "", 0, false, true},
		{"unit", ".github/workflows/ci.yml", "CI", "timed_out", "push", 2, true, true},
		{"unit", ".github/workflows/nightly.yml", "Nightly", "", "push", 1, false, false},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c := must(w.hub.Run(ctx, w.at, run))
	if c.Name != "CI" || c.Workflow != ".github/workflows/ci.yml" || c.Attempt != 2 || !c.Red() && c.Conclusion != "failure" || c.HeadRepo != w.at.ID || c.Branch != "main" {
		t.Errorf("got %+v", c)
	}
}

// TestRunJobs reads the steps of a run's jobs, each as it was last run, over as many pages as there are.
func TestRunJobs(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	jobs := []githubtest.Job{{Name: "test (1, a)", Conclusion: "failure", Runner: "mac", Steps: []githubtest.Step{{Name: "Run make"}, {Name: "Run make check", Conclusion: "failure"}}}, {Name: "lost", Conclusion: "failure"}}
	for i := range 120 {
		jobs = append(jobs, githubtest.Job{Name: fmt.Sprint("more ", i), Conclusion: "success"})
	}
	run := must(w.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: jobs}))
	all := must(w.hub.RunJobs(ctx, w.at, run))
	if len(all) != len(jobs) {
		t.Fatalf("got %d jobs, want %d", len(all), len(jobs))
	}
	checks := must(w.hub.Checks(ctx, w.at, w.repo.Tip("main")))
	i := slices.IndexFunc(checks, func(c bot.Check) bool { return c.Name == "test (1, a)" })
	want := bot.RunJob{Check: checks[i].ID, Name: "test (1, a)", Runner: "mac", Done: true, Conclusion: "failure",
		Steps: []bot.RunStep{{Name: "Set up job", Conclusion: "success"}, {Name: "Run make", Conclusion: "success"}, {Name: "Run make check", Conclusion: "failure"}, {Name: "Complete job", Conclusion: "success"}}}
	if d := cmp.Diff(want, all[0]); d != "" || checks[i].Run != run {
		t.Errorf("run %d: %s", checks[i].Run, d)
	}
	if all[1].Name != "lost" || len(all[1].Steps) != 0 {
		t.Errorf("got %+v", all[1])
	}
	if err := w.repo.Rerun(run, githubtest.Job{Name: "test (1, a)", Conclusion: "success"}); err != nil {
		t.Fatal(err)
	}
	if again := must(w.hub.RunJobs(ctx, w.at, run)); len(again) != 1 || again[0].Conclusion != "success" {
		t.Errorf("after it ran again: %+v", again)
	}
}

func TestDraftLife(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	w.repo.SetPermission("ada", "write")
	head := w.commit(branch, map[string]string{"fix.txt": "x\n"})
	d := must(w.hub.OpenDraft(ctx, w.at, w.draft()))
	want := bot.Draft{Number: d.Number, URL: d.URL, Title: "redraft: unit", Branch: branch, Head: head, Base: "main", Open: true, Key: "7/branch/main", Root: "abc", Tree: "def", Created: d.Created}
	if d.Created.IsZero() {
		t.Error("when the draft was opened is not known")
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	p, _ := w.repo.Pull(d.Number)
	if !p.Draft || !slices.Equal(p.Labels, []string{"redraft", "help wanted"}) || !slices.Equal(p.Reviewers, []string{"ada"}) {
		t.Errorf("got %+v", p)
	}
	if again := must(w.hub.OpenDraft(ctx, w.at, w.draft())); again.Number != d.Number {
		t.Errorf("opened %d beside %d", again.Number, d.Number)
	}
	if err := w.hub.EditDraft(ctx, w.at, d.Number, "redraft: unit and lint", "More.\n"); err != nil {
		t.Error(err)
	}
	w.Forget()
	if err := w.hub.EditDraft(ctx, w.at, d.Number, "redraft: unit and lint", "More.\r\n"); err != nil {
		t.Error(err)
	}
	for _, c := range w.Audit() {
		if c.Method == "PATCH" {
			t.Error("an edit that changes nothing was sent")
		}
	}
	for range 2 {
		if err := w.hub.CloseDraft(ctx, w.at, d.Number); err != nil {
			t.Error(err)
		}
	}
	p, _ = w.repo.Pull(d.Number)
	if p.State != "closed" || p.Title != "redraft: unit and lint" || strings.TrimSpace(p.Body) != "More." {
		t.Errorf("got %+v", p)
	}
	if n := w.LiveTokens(); n != 0 {
		t.Errorf("%d tokens live on", n)
	}
}

func TestDrafts(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	open := func(head string) bot.Draft {
		w.commit(head, map[string]string{strings.ReplaceAll(head, "/", "-"): "x\n"})
		d := w.draft()
		d.Head, d.Reviewers = head, nil
		return must(w.hub.OpenDraft(ctx, w.at, d))
	}
	a, b, c := open("redraft/a"), open("redraft/b"), open("redraft/c")
	w.repo.ClosePull(a.Number, "ada")
	w.repo.MarkReady(b.Number, "ada")
	w.repo.MergePull(b.Number, "ada")
	w.commit("feature", map[string]string{"f": "f\n"})
	w.commit("redraft/mine", map[string]string{"g": "g\n"})
	must(w.repo.OpenPull(githubtest.NewPull{Title: "not ours", Head: "feature", By: "ada"}))
	must(w.repo.OpenPull(githubtest.NewPull{Title: "a person's, in our prefix", Head: "redraft/mine", By: "ada", Body: w.draft().Body}))
	type seen struct {
		Number              int
		Open, Merged, Ready bool
		ClosedBy            string
	}
	look := func(branch string) (got []seen) {
		for _, d := range must(w.hub.Drafts(ctx, w.at, branch)) {
			got = append(got, seen{d.Number, d.Open, d.Merged, d.Ready, d.ClosedBy.Login})
		}
		return got
	}
	want := []seen{{c.Number, true, false, false, ""}, {b.Number, false, true, true, ""}, {a.Number, false, false, false, "ada"}}
	if d := cmp.Diff(want, look("")); d != "" {
		t.Error(d)
	}
	w.Forget()
	if d := cmp.Diff(want[:1], look("redraft/c")); d != "" {
		t.Error(d)
	}
	for _, call := range w.Audit() {
		if strings.Contains(call.Path, "/issues/") {
			t.Error("asked who closed an open draft")
		}
	}
	for _, none := range []string{"redraft/mine", "feature", "main"} {
		if got := look(none); len(got) != 0 {
			t.Errorf("%s: got %v", none, got)
		}
	}
}

func TestForeignPull(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	w.commit(branch, map[string]string{"fix.txt": "x\n"})
	number := must(w.repo.OpenPull(githubtest.NewPull{Title: "mine", Head: branch, By: "ada", Body: w.draft().Body}))
	_, err := w.hub.OpenDraft(t.Context(), w.at, w.draft())
	class(t, err, bot.Conflicting)
	class(t, w.hub.EditDraft(t.Context(), w.at, number, "t", "b"), bot.Conflicting)
	class(t, w.hub.CloseDraft(t.Context(), w.at, number), bot.Conflicting)
	if p, _ := w.repo.Pull(number); p.State != "open" || p.Title != "mine" {
		t.Errorf("a person's pull request was touched: %+v", p)
	}
	w.commit("other", map[string]string{"o.txt": "x\n"})
	number = must(w.repo.OpenPull(githubtest.NewPull{Title: "by our App, of another branch", Head: "other", By: "redraft[bot]"}))
	class(t, w.hub.CloseDraft(t.Context(), w.at, number), bot.Conflicting)
	if all := must(w.hub.Drafts(t.Context(), w.at, "")); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
	d := w.draft()
	d.Head = "feature"
	_, err = w.hub.OpenDraft(t.Context(), w.at, d)
	class(t, err, bot.NotPermitted)
}

// TestTakenMeanwhile: somebody opens the pull request between our look and our write.
func TestTakenMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		by   string
		want bot.Class
	}{{"redraft[bot]", ""}, {"ada", bot.Conflicting}} {
		t.Run(tt.by, func(t *testing.T) {
			w := build(t, githubtest.Seed{}, github.Permissions())
			w.commit(branch, map[string]string{"fix.txt": "x\n"})
			number, once := 0, false
			w.Inject(func(r *http.Request) *githubtest.Fault {
				if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/pulls") && !once {
					once = true
					number = must(w.repo.OpenPull(githubtest.NewPull{Title: "t", Head: branch, Draft: true, By: tt.by}))
				}
				return nil
			})
			d, err := w.hub.OpenDraft(t.Context(), w.at, w.draft())
			if tt.want != "" {
				class(t, err, tt.want)
			} else if err != nil || d.Number != number {
				t.Errorf("got %+v %v, want %d adopted", d, err, number)
			}
			if all := w.repo.Pulls(); len(all) != 1 {
				t.Errorf("%d pull requests", len(all))
			}
		})
	}
}

func TestSettingsNo(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	w.commit(branch, map[string]string{"fix.txt": "x\n"})
	if lacks := must(w.hub.Check(t.Context(), w.at)); len(lacks) != 0 {
		t.Errorf("got %+v", lacks)
	}
	w.repo.DraftsUnsupported()
	_, err := w.hub.OpenDraft(t.Context(), w.at, w.draft())
	class(t, err, bot.NoDrafts)
	if len(w.repo.Pulls()) != 0 {
		t.Error("a pull request was opened")
	}
	if lacks := must(w.hub.Check(t.Context(), w.at)); len(lacks) != 1 || lacks[0].What != "draft pull requests" || lacks[0].Fix == "" {
		t.Errorf("what GitHub refused once is not found before the next work: %+v", lacks)
	}

	actions := w.connect(github.Options{Token: w.repo.ActionsToken(github.Permissions())})
	w.commit("redraft/other", map[string]string{"o": "x\n"})
	d := w.draft()
	d.Head = "redraft/other"
	w.repo.CanCreatePulls(false)
	_, err = actions.OpenDraft(t.Context(), w.at, d)
	class(t, err, bot.NoPulls)
}

// TestReadyInsteadOfDraft: a GitHub that does not know drafts opens a ready pull request. It does not stay open.
func TestReadyInsteadOfDraft(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	w.commit(branch, map[string]string{"fix.txt": "x\n"})
	w.Observe(nil) // an answer that GitHub's description does not have
	w.Inject(func(r *http.Request) *githubtest.Fault {
		if r.Method != "POST" || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return nil
		}
		n := must(w.repo.OpenPull(githubtest.NewPull{Title: "t", Head: branch, By: "redraft[bot]"}))
		return &githubtest.Fault{Status: 201, Body: fmt.Sprintf(`{"number":%d,"state":"open","draft":false,"head":{"ref":%q,"sha":"a","repo":{"id":%d}},"base":{"ref":"main","repo":{"id":%d}}}`, n, branch, w.at.ID, w.at.ID)}
	})
	_, err := w.hub.OpenDraft(t.Context(), w.at, w.draft())
	class(t, err, bot.NoDrafts)
	if all := w.repo.Pulls(); len(all) != 1 || all[0].State != "closed" {
		t.Errorf("got %+v", all)
	}
}

func TestComment(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	issue := w.repo.OpenIssue("Broken", "", "ada")
	marker := bot.AnswerMarker(bot.Target{Kind: bot.ForIssue, Number: issue})
	w.repo.AddComment(issue, "I quote "+marker, "mallory")
	for range 130 {
		w.repo.AddComment(issue, "noise", "ada")
	}
	first := must(w.hub.Comment(ctx, w.at, issue, marker, "one"))
	for _, body := range []string{"two", "two", "three\n\n" + marker} {
		if at := must(w.hub.Comment(ctx, w.at, issue, marker, body)); at != first {
			t.Errorf("another comment: %s", at)
		}
	}
	must(w.hub.Comment(ctx, w.at, issue, "<!-- other -->", "of its own"))
	var ours []string
	for _, c := range w.repo.Comments(issue) {
		if c.Author == "redraft[bot]" {
			ours = append(ours, c.Body)
		}
	}
	if d := cmp.Diff([]string{"three\n\n" + marker, "of its own\n\n<!-- other -->"}, ours); d != "" {
		t.Error(d)
	}
	edits := 0
	for _, c := range w.Audit() {
		if c.Method == "PATCH" {
			edits++
		}
	}
	if edits != 2 {
		t.Errorf("%d edits, want 2: the same text twice is one", edits)
	}
	class(t, second(w.hub.Comment(ctx, w.at, issue, " ", "x")), bot.NotPermitted)
}

func TestCheckRun(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	sha := w.repo.Tip("main")
	c := bot.CheckRun{SHA: sha, Key: "k1", Title: "looking", Summary: "at it"}
	first := must(w.hub.CheckRun(ctx, w.at, c))
	c.Done, c.Conclusion, c.Title, c.Summary, c.DetailsURL = true, "neutral", "not proved", "no proof", "https://example.com/j1"
	for i := range 120 {
		c.Annotations = append(c.Annotations, bot.Annotation{Path: "a.go", Line: i, Title: "t", Message: "m"})
	}
	w.Forget()
	for range 3 {
		if at := must(w.hub.CheckRun(ctx, w.at, c)); at != first {
			t.Errorf("another check run: %s", at)
		}
	}
	writes := 0
	for _, call := range w.Audit() {
		if call.Method == "PATCH" || call.Method == "POST" && strings.Contains(call.Path, "check-runs") {
			writes++
		}
	}
	if writes != 3 {
		t.Errorf("%d writes for 120 annotations, want 3", writes)
	}
	other := c
	other.Key, other.Annotations = "k2", nil
	must(w.hub.CheckRun(ctx, w.at, other))
	var got []githubtest.Check
	for _, k := range w.repo.Checks(sha) {
		k.ID, k.URL, k.App, k.SHA = 0, "", 0, ""
		got = append(got, k)
	}
	want := []githubtest.Check{
		{Name: "redraft", Status: "completed", Conclusion: "neutral", ExternalID: "k1", Title: "not proved", Summary: "no proof", Annotations: 120},
		{Name: "redraft", Status: "completed", Conclusion: "neutral", ExternalID: "k2", Title: "not proved", Summary: "no proof"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c.Conclusion = "failure"
	class(t, second(w.hub.CheckRun(ctx, w.at, c)), bot.NotPermitted)
}

func TestRemoveLabel(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	issue := w.repo.OpenIssue("Broken", "", "ada")
	w.repo.AddLabel(issue, "a/b c", "ada")
	w.repo.AddLabel(issue, "keep", "ada")
	for range 2 {
		if err := w.hub.RemoveLabel(t.Context(), w.at, issue, "a/b c"); err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff([]string{"keep"}, w.repo.Labels(issue)); d != "" {
		t.Error(d)
	}
	if err := w.hub.RemoveLabel(t.Context(), w.at, 999, "redraft"); err != nil {
		t.Errorf("an issue that is gone: %v", err)
	}
}

// TestLostAnswers: each write is done and its answer lost, or is lost before it is done, up to three times in a row; and
// at the end there is one thing.
func TestLostAnswers(t *testing.T) {
	acts := map[string]struct {
		route string
		do    func(w *world) error
		want  func(w *world) string // what is there; the same as after one write
	}{
		"open": {"POST /repos/{owner}/{repo}/pulls", func(w *world) error { return second(w.hub.OpenDraft(context.Background(), w.at, w.draft())) },
			func(w *world) string { return fmt.Sprint(len(w.repo.Pulls()), w.repo.Pulls()[0].Labels) }},
		"labels": {"POST /repos/{owner}/{repo}/issues/{number}/labels", func(w *world) error { return second(w.hub.OpenDraft(context.Background(), w.at, w.draft())) },
			func(w *world) string { return fmt.Sprint(len(w.repo.Pulls()), w.repo.Pulls()[0].Labels) }},
		"comment": {"POST /repos/{owner}/{repo}/issues/{number}/comments", func(w *world) error {
			return second(w.hub.Comment(context.Background(), w.at, 1, "<!-- m -->", "x"))
		},
			func(w *world) string { return fmt.Sprint(len(w.repo.Comments(1))) }},
		"edit comment": {"PATCH /repos/{owner}/{repo}/issues/comments/{id}", func(w *world) error {
			must(w.hub.Comment(context.Background(), w.at, 1, "<!-- m -->", "x"))
			return second(w.hub.Comment(context.Background(), w.at, 1, "<!-- m -->", "y"))
		},
			func(w *world) string { return fmt.Sprint(len(w.repo.Comments(1)), w.repo.Comments(1)[0].Body) }},
		"check": {"POST /repos/{owner}/{repo}/check-runs", func(w *world) error {
			return second(w.hub.CheckRun(context.Background(), w.at, bot.CheckRun{SHA: w.repo.Tip("main"), Key: "k", Title: "t", Summary: "s", Annotations: make60()}))
		},
			func(w *world) string {
				all := w.repo.Checks(w.repo.Tip("main"))
				return fmt.Sprint(len(all), all[0].Annotations)
			}},
		"edit check": {"PATCH /repos/{owner}/{repo}/check-runs/{id}", func(w *world) error {
			c := bot.CheckRun{SHA: w.repo.Tip("main"), Key: "k", Title: "t", Summary: "s"}
			must(w.hub.CheckRun(context.Background(), w.at, c))
			c.Done, c.Conclusion, c.Annotations = true, "success", make60()
			return second(w.hub.CheckRun(context.Background(), w.at, c))
		},
			func(w *world) string {
				all := w.repo.Checks(w.repo.Tip("main"))
				return fmt.Sprint(len(all), all[0].Conclusion, all[0].Annotations)
			}},
		"close": {"PATCH /repos/{owner}/{repo}/pulls/{number}", func(w *world) error {
			return w.hub.CloseDraft(context.Background(), w.at, must(w.hub.OpenDraft(context.Background(), w.at, w.draft())).Number)
		},
			func(w *world) string { return w.repo.Pulls()[0].State }},
		"label off": {"DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}", func(w *world) error {
			w.repo.AddLabel(1, "redraft", "ada")
			return w.hub.RemoveLabel(context.Background(), w.at, 1, "redraft")
		},
			func(w *world) string { return fmt.Sprint(w.repo.Labels(1)) }},
	}
	faults := []struct {
		name  string
		fault githubtest.Fault
		times int
	}{
		{"done, then 502", githubtest.Fault{Status: 502, After: true}, 1},
		{"done, then 502, three times", githubtest.Fault{Status: 502, After: true}, 3},
		{"done, then dropped", githubtest.Fault{Drop: true, After: true}, 1},
		{"502, not done", githubtest.Fault{Status: 502}, 2},
		{"dropped, not done, too often", githubtest.Fault{Drop: true}, 3},
	}
	one := build(t, githubtest.Seed{}, github.Permissions())
	fresh := func() *world {
		w := one.another()
		w.repo.OpenIssue("Broken", "", "ada")
		w.commit(branch, map[string]string{"fix.txt": "x\n"})
		return w
	}
	for name, act := range acts {
		t.Run(name, func(t *testing.T) {
			w := fresh()
			if err := act.do(w); err != nil {
				t.Fatal(err)
			}
			want := act.want(w)
			for _, f := range faults {
				w := fresh()
				left := f.times
				w.Inject(func(r *http.Request) *githubtest.Fault {
					if left > 0 && routed(act.route, r) {
						left--
						return &f.fault
					}
					return nil
				})
				err := act.do(w)
				if err != nil && (f.fault.After || f.times < 3) {
					t.Errorf("%s: %v", f.name, err)
				}
				if err != nil { // the job's next attempt
					if err = act.do(w); err != nil {
						t.Errorf("%s, and again: %v", f.name, err)
					}
				}
				if got := act.want(w); got != want {
					t.Errorf("%s: got %s, want %s", f.name, got, want)
				}
				if left == f.times {
					t.Errorf("%s was never called", act.route)
				}
			}
		})
	}
}

func make60() (all []bot.Annotation) {
	for i := range 60 {
		all = append(all, bot.Annotation{Path: "a.go", Line: i + 1, Message: "m"})
	}
	return all
}

// routed says whether a request is of a call of the table.
func routed(route string, r *http.Request) bool {
	method, path, _ := strings.Cut(route, " ")
	pattern := regexp.MustCompile(`\\\{[a-z]+(\\\.){3}\\\}`).ReplaceAllString(regexp.QuoteMeta(path), ".+")
	pattern = regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(pattern, "[^/]+")
	return r.Method == method && regexp.MustCompile("^/api/v3"+pattern+"$").MatchString(r.URL.EscapedPath())
}

func TestRenamed(t *testing.T) {
	for name, connect := range map[string]func(w *world) *github.Hub{
		"an App":  func(w *world) *github.Hub { return w.hub },
		"a token": func(w *world) *github.Hub { return w.connect(github.Options{Token: w.UserToken("acme")}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := build(t, githubtest.Seed{}, github.Permissions())
			hub, ctx := connect(w), t.Context()
			w.commit(branch, map[string]string{"fix.txt": "x\n"})
			issue := w.repo.OpenIssue("Broken", "", "ada")
			w.Observe(nil) // the description does not say that everything may be answered with 301
			w.repo.Rename("gadget", "acme")
			facts := must(hub.Repo(ctx, w.at))
			if facts.Name != "gadget" || facts.ID != w.at.ID {
				t.Errorf("got %+v", facts)
			}
			must(hub.Comment(ctx, w.at, issue, "<!-- m -->", "x"))
			if n := len(w.repo.Comments(issue)); n != 1 {
				t.Errorf("%d comments, want 1", n)
			}
			if must(hub.Tip(ctx, w.at, branch)).SHA != w.repo.Tip(branch) {
				t.Error("another branch")
			}
			// Somebody takes the old name: it is not the pinned repository.
			other := must(w.AddRepo("acme", "widget", githubtest.Seed{Files: map[string]string{"x": "x"}}))
			other.OpenIssue("Other", "", "ada")
			if name == "a token" {
				class(t, second(hub.Repo(ctx, w.at)), bot.NotFound)
				class(t, second(hub.Comment(ctx, w.at, issue, "<!-- m -->", "y")), bot.NotFound)
			} else {
				must(hub.Comment(ctx, w.at, issue, "<!-- m -->", "y"))
			}
			if n := len(other.Comments(1)); n != 0 {
				t.Errorf("%d comments in another's repository", n)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	issue := w.repo.OpenIssue("Broken", "", "ada")
	once := false
	w.Inject(func(r *http.Request) *githubtest.Fault {
		if r.Method == "POST" && strings.HasSuffix(r.URL.Path, "/comments") && !once {
			once = true
			w.ExpireTokens()
		}
		return nil
	})
	must(w.hub.Comment(t.Context(), w.at, issue, "<!-- m -->", "x"))
	if n := len(w.repo.Comments(issue)); n != 1 {
		t.Errorf("%d comments, want 1", n)
	}
}

func TestLimited(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	issue := w.repo.OpenIssue("Broken", "", "ada")
	hub := w.connect(github.Options{AppID: w.AppID(), Key: w.AppKey()})
	w.Inject(githubtest.Times(1, "POST", "/repos/*/*/issues/*/comments", githubtest.PrimaryLimit(403, time.Now().Add(time.Hour))))
	no := class(t, second(hub.Comment(t.Context(), w.at, issue, "<!-- m -->", "x")), bot.RateLimited)
	if no.After < 50*time.Minute {
		t.Errorf("after %s", no.After)
	}
	if n := len(w.repo.Comments(issue)); n != 0 {
		t.Errorf("%d comments", n)
	}
}

func TestForbiddenBeforeWork(t *testing.T) {
	granted := github.Permissions()
	delete(granted, "statuses")
	granted["checks"] = "read"
	w := build(t, githubtest.Seed{}, granted)
	var what []string
	for _, l := range must(w.hub.Check(t.Context(), w.at)) {
		what = append(what, l.What)
		if l.Why == "" || l.Fix == "" || l.URL == "" {
			t.Errorf("%+v does not say why, what to do and where", l)
		}
	}
	if d := cmp.Diff([]string{"permission checks: write", "permission statuses: read"}, what); d != "" {
		t.Error(d)
	}
	no := class(t, second(w.hub.CheckRun(t.Context(), w.at, bot.CheckRun{SHA: w.repo.Tip("main"), Key: "k", Title: "t", Summary: "s"})), bot.Forbidden)
	if no.Permission != "checks: write" {
		t.Errorf("permission %q", no.Permission)
	}
}

func TestCheckFindsSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(w *world) bot.Repo
		want []string
	}{
		{"nothing", func(w *world) bot.Repo { return w.at }, nil},
		{"archived", func(w *world) bot.Repo { w.repo.Archive(); return w.at }, []string{"archived repository"}},
		{"suspended", func(w *world) bot.Repo { w.Suspend(w.at.Installation); return w.at }, []string{"installation of the App"}},
		{"not installed", func(w *world) bot.Repo {
			r := must(w.AddRepo("acme", "other", githubtest.Seed{Files: map[string]string{"x": "x"}}))
			return bot.Repo{ID: r.ID(), Owner: "acme", Name: "other"}
		}, []string{"installation of the App"}},
		{"renamed", func(w *world) bot.Repo { w.repo.Rename("gadget", "acme"); return w.at }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := build(t, githubtest.Seed{}, github.Permissions())
			var what []string
			for _, l := range must(w.hub.Check(t.Context(), tt.set(w))) {
				what = append(what, l.What)
			}
			if d := cmp.Diff(tt.want, what); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("a token that may not push", func(t *testing.T) {
		w := build(t, githubtest.Seed{}, nil)
		w.repo.SetPermission("bob", "read")
		hub := w.connect(github.Options{Token: w.UserToken("bob")})
		lacks := must(hub.Check(t.Context(), w.at))
		if len(lacks) != 1 || lacks[0].What != "permission contents: write" {
			t.Errorf("got %+v", lacks)
		}
	})
	t.Run("Actions may not open pull requests", func(t *testing.T) {
		w := build(t, githubtest.Seed{}, nil)
		w.repo.CanCreatePulls(false)
		hub := w.connect(github.Options{Token: w.repo.ActionsToken(map[string]string{"administration": "read", "contents": "write", "pull_requests": "write"})})
		lacks := must(hub.Check(t.Context(), w.at))
		if len(lacks) != 1 || !strings.Contains(lacks[0].What, "Actions may create pull requests") || !strings.HasSuffix(lacks[0].URL, "/acme/widget/settings/actions") {
			t.Errorf("got %+v", lacks)
		}
	})
	t.Run("a workflow's token without a permission", func(t *testing.T) {
		w := build(t, githubtest.Seed{}, nil)
		hub := w.connect(github.Options{Token: w.repo.ActionsToken(map[string]string{"contents": "write", "pull_requests": "read"})})
		lacks := must(hub.Check(t.Context(), w.at))
		if len(lacks) != 1 || lacks[0].What != "permission pull-requests: write" {
			t.Errorf("got %+v", lacks)
		}
	})
	t.Run("a workflow's token with all permissions", func(t *testing.T) {
		w := build(t, githubtest.Seed{}, nil)
		w.repo.CanCreatePulls(true)
		hub := w.connect(github.Options{Token: w.repo.ActionsToken(map[string]string{"contents": "write", "pull_requests": "write"})})
		if lacks := must(hub.Check(t.Context(), w.at)); len(lacks) != 0 || len(w.repo.Pulls()) != 0 {
			t.Errorf("got %+v, and %d pull requests", lacks, len(w.repo.Pulls()))
		}
	})
	t.Run("a private repository on a free plan", func(t *testing.T) {
		w := build(t, githubtest.Seed{}, nil)
		w.AddOrg("poor", "free")
		for i, known := range []bool{false, true} {
			granted := github.Permissions()
			if known {
				granted["organization_plan"] = "read"
			}
			r := must(w.AddRepo("poor", fmt.Sprint("p", i), githubtest.Seed{Private: true, Files: map[string]string{"x": "x"}}))
			lacks := must(w.hub.Check(t.Context(), bot.Repo{ID: r.ID(), Owner: "poor", Name: r.Name(), Installation: w.Install(granted, r)}))
			if found := len(lacks) == 1 && lacks[0].What == "draft pull requests"; found != known || !known && len(lacks) > 0 {
				t.Errorf("plan known %v: got %+v", known, lacks)
			}
		}
	})
}

func TestDoctor(t *testing.T) {
	w := build(t, githubtest.Seed{}, map[string]string{"contents": "write"})
	for _, d := range w.hub.Doctor(t.Context()) {
		t.Logf("%+v", d)
		if d.Text == "" || !d.OK && d.Fix == "" {
			t.Errorf("%+v says nothing", d)
		}
		switch d.Name {
		case "app", "clock":
			if !d.OK {
				t.Errorf("%+v", d)
			}
		case "installation acme":
			if d.OK || !strings.Contains(d.Text, "pull_requests: write") || strings.Contains(d.Text, "contents") {
				t.Errorf("%+v", d)
			}
		}
	}
	late := w.connect(github.Options{AppID: w.AppID(), Key: w.AppKey(), Now: func() time.Time { return time.Now().Add(-time.Hour) }})
	all := late.Doctor(t.Context())
	if all[1].Name != "clock" || all[1].OK || !strings.Contains(all[1].Text, "behind") {
		t.Errorf("%+v", all)
	}
	wrong := w.connect(github.Options{AppID: w.AppID() + 1, Key: w.AppKey()})
	if all := wrong.Doctor(t.Context()); all[0].OK || all[0].Fix == "" || len(all) != 2 {
		t.Errorf("%+v", all)
	}
	token := w.connect(github.Options{Token: w.UserToken("ada")})
	if all := token.Doctor(t.Context()); len(all) != 1 || !all[0].OK || !strings.Contains(all[0].Text, "ada") {
		t.Errorf("%+v", all)
	}
}

// TestTheListIsWhatLeaves: every method of the hub is used, and what GitHub was asked is the table: all of it, and nothing
// else. Each call had the permission that its row names, and none above it.
func TestTheListIsWhatLeaves(t *testing.T) {
	granted := github.Permissions()
	granted["organization_plan"] = "read"
	w := build(t, githubtest.Seed{Private: true}, granted)
	ctx := t.Context()
	w.repo.SetPermission("ada", "write")
	w.commit(branch, map[string]string{"fix.txt": "x\n"})
	sha := w.repo.Tip("main")
	run := must(w.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}}))
	issue := w.repo.OpenIssue("Broken", "", "ada")
	w.repo.AddLabel(issue, "redraft", "ada")

	must(w.hub.Self(ctx))
	must(w.hub.Repo(ctx, w.at))
	must(w.hub.Permission(ctx, w.at, "ada"))
	must(w.hub.PullsOf(ctx, w.at, "main"))
	must(w.hub.Issue(ctx, w.at, issue))
	must(w.hub.Tip(ctx, w.at, "main"))
	must(w.hub.Message(ctx, w.at, sha))
	must(w.hub.Checks(ctx, w.at, sha))
	must(w.hub.Run(ctx, w.at, run))
	must(w.hub.RunJobs(ctx, w.at, run))
	must(w.hub.File(ctx, w.at, "go.mod", sha))
	must(w.hub.Check(ctx, w.at))
	d := must(w.hub.OpenDraft(ctx, w.at, w.draft()))
	must(w.hub.Pull(ctx, w.at, d.Number))
	must(0, w.hub.EditDraft(ctx, w.at, d.Number, "t", "b"))
	must(0, w.hub.CloseDraft(ctx, w.at, d.Number))
	must(w.hub.Drafts(ctx, w.at, ""))
	for _, text := range []string{"x", "y"} {
		must(w.hub.Comment(ctx, w.at, issue, "<!-- m -->", text))
		must(w.hub.CheckRun(ctx, w.at, bot.CheckRun{SHA: sha, Key: "k", Title: text, Summary: text}))
	}
	must(0, w.hub.RemoveLabel(ctx, w.at, issue, "redraft"))
	_, done, err := w.hub.Remote(ctx, w.at, true)
	must(0, err)
	done()
	w.hub.Doctor(ctx)
	actions := w.connect(github.Options{Token: w.repo.ActionsToken(map[string]string{"administration": "read"})})
	must(actions.Check(ctx, w.at))
	w.repo.Rename("gadget", "acme")
	must(actions.Repo(ctx, w.at))
	w.repo.Rename("widget", "acme")

	used := map[string]bool{}
	for _, c := range w.Audit() {
		row := find(c)
		if row == nil {
			t.Errorf("%s %s is not in the table", c.Method, c.Path)
			continue
		}
		used[row.Method+" "+row.Path] = true
		if (c.Token == "app") != row.App {
			t.Errorf("%s %s was asked with %s", c.Method, c.Path, c.Token)
		}
		if c.Token == "installation" && c.Needs != "" && c.Status < 300 && !strings.Contains(strings.ReplaceAll(row.Needs, ": ", ":"), c.Needs) {
			t.Errorf("%s %s was let in by %s, the table says %s", c.Method, c.Path, c.Needs, row.Needs)
		}
	}
	for _, c := range github.Calls() {
		if !used[c.Method+" "+c.Path] {
			t.Errorf("%s %s is in the table and never left", c.Method, c.Path)
		}
	}
	if n := w.LiveTokens(); n != 0 {
		t.Errorf("%d tokens live on", n)
	}
}

func find(c githubtest.Call) *github.Call {
	for _, row := range github.Calls() {
		r, err := http.NewRequest(c.Method, "https://host/api/v3"+c.Path, nil)
		if err == nil && routed(row.Method+" "+row.Path, r) {
			return &row
		}
	}
	return nil
}

// TestLeastPermissions: what each operation's token may.
func TestLeastPermissions(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	ctx := t.Context()
	sha, issue := w.repo.Tip("main"), w.repo.OpenIssue("Broken", "", "ada")
	w.commit(branch, map[string]string{"fix.txt": "x\n"})
	must(w.hub.Self(ctx))
	for _, tt := range []struct {
		name string
		do   func() error
		want map[string]string // besides metadata: read
	}{
		{"Repo", func() error { return second(w.hub.Repo(ctx, w.at)) }, nil},
		{"Tip", func() error { return second(w.hub.Tip(ctx, w.at, "main")) }, map[string]string{"contents": "read"}},
		{"Checks", func() error { return second(w.hub.Checks(ctx, w.at, sha)) }, map[string]string{"checks": "read", "actions": "read", "statuses": "read"}},
		{"Drafts", func() error { return second(w.hub.Drafts(ctx, w.at, "")) }, map[string]string{"pull_requests": "read", "issues": "read"}},
		{"Comment", func() error { return second(w.hub.Comment(ctx, w.at, issue, "<!-- m -->", "x")) }, map[string]string{"pull_requests": "write", "issues": "write"}},
		{"CheckRun", func() error {
			return second(w.hub.CheckRun(ctx, w.at, bot.CheckRun{SHA: sha, Key: "k", Title: "t", Summary: "s"}))
		}, map[string]string{"checks": "write"}},
		{"OpenDraft", func() error { return second(w.hub.OpenDraft(ctx, w.at, w.draft())) }, map[string]string{"pull_requests": "write", "issues": "write"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.Forget()
			if err := tt.do(); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"metadata": "read"}
			maps.Copy(want, tt.want)
			for _, c := range w.Audit() {
				if c.Token == "installation" {
					if d := cmp.Diff(want, c.Permissions); d != "" {
						t.Fatal(d)
					}
				}
			}
		})
	}
}

// TestHold: looking with eight methods is one operation with one token; what writes has its own.
func TestHold(t *testing.T) {
	w := build(t, githubtest.Seed{}, github.Permissions())
	sha, issue := w.repo.Tip("main"), w.repo.OpenIssue("Broken", "", "ada")
	must(w.hub.Self(t.Context()))
	ctx, release := w.hub.Hold(t.Context(), w.at)
	look := func() {
		must(w.hub.Repo(ctx, w.at))
		must(w.hub.Tip(ctx, w.at, "main"))
		must(w.hub.Permission(ctx, w.at, "ada"))
		must(w.hub.Issue(ctx, w.at, issue))
		must(w.hub.Checks(ctx, w.at, sha))
		must(w.hub.Drafts(ctx, w.at, ""))
		must(w.hub.PullsOf(ctx, w.at, "main"))
		must(w.hub.File(ctx, w.at, "go.mod", sha))
	}
	count := func() (minted, revoked int) {
		for _, c := range w.Audit() {
			switch {
			case c.Method == "DELETE" && c.Path == "/installation/token":
				revoked++
			case strings.HasSuffix(c.Path, "/access_tokens"):
				minted++
			case c.Token == "installation" && c.Method == "GET" && c.Permissions["issues"] == "write" && !strings.HasSuffix(c.Path, "/comments"):
				t.Errorf("%s was read with a token that writes", c.Path)
			}
		}
		return minted, revoked
	}
	want := func(what string, minted, revoked int) {
		t.Helper()
		if m, r := count(); m != minted || r != revoked {
			t.Errorf("%s: %d minted and %d revoked, want %d and %d", what, m, r, minted, revoked)
		}
	}
	look()
	want("looking", 1, 0)
	must(w.hub.Comment(ctx, w.at, issue, "<!-- m -->", "x"))
	want("writing", 2, 1)
	w.ExpireTokens()
	look()
	want("an hour later", 3, 1)
	w.Observe(nil) // the description does not say that everything may be answered with 301
	w.repo.Rename("gadget", "acme")
	look()
	want("renamed", 3, 1)
	release()
	want("at the end", 3, 2)
	must(w.hub.Tip(ctx, w.at, "main"))
	want("after it", 4, 3)
	if n := w.LiveTokens(); n != 0 {
		t.Errorf("%d tokens live on", n)
	}
}

// TestHoldWithLess: an installation that does not grant all of reading still grants what it grants.
func TestHoldWithLess(t *testing.T) {
	w := build(t, githubtest.Seed{}, map[string]string{"contents": "read"})
	ctx, release := w.hub.Hold(t.Context(), w.at)
	defer release()
	must(w.hub.Tip(ctx, w.at, "main"))
	class(t, second(w.hub.Checks(ctx, w.at, w.repo.Tip("main"))), bot.Forbidden)
}
