package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/bot/queue"
)

// forge is a GitHub of the test's own with one repository, and this program's server beside it as a process of its own.
// The check is a grep and the model says the right thing at once, so that a whole job takes a second or two.
type forge struct {
	*githubtest.Server
	t     *testing.T
	repo  *githubtest.Repo
	model *modeltest.Server
	home  string

	asked func() // runs when the model is asked, before it answers; set before the server starts

	mu     sync.Mutex
	answer string // of the model

	cmd  *exec.Cmd
	said *said
}

// said is what a process wrote, to be looked at while it writes.
type said struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

const (
	hookSecret = "0123456789abcdef-the-hook-secret"
	forgeCheck = "version: 1\nchecks:\n  unit: {run: \"grep -q right answer.txt\"}\n"
)

// rightAnswer is the model's repair of the forge's repository.
var rightAnswer = "So.\n\n```\n# edit: answer.txt :: *\n" + needle + "```\n"

// newForge makes the world: acme/widget, whose answer is wrong on main and on a pull request's branch.
func newForge(t *testing.T, answer string) *forge {
	return newForgeOf(t, answer, map[string]string{"answer.txt": "the answer is wrong\n", "README.md": "A widget.\n", ".github/redraft.yml": forgeCheck, ".github/workflows/ci.yml": "name: CI\n"})
}

// newForgeOf is newForge with other files on main.
func newForgeOf(t *testing.T, answer string, files map[string]string) *forge {
	t.Helper()
	needBox(t)
	f := &forge{t: t, home: t.TempDir(), answer: answer}
	if err := linkBase(f.state()); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.Server, err = githubtest.New(githubtest.Options{Dir: filepath.Join(f.home, "github"), Secret: hookSecret}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Server.Close() })
	f.AddOrg("acme", "team")
	if f.repo, err = f.AddRepo("acme", "widget", githubtest.Seed{Files: files}); err != nil {
		t.Fatal(err)
	}
	for login, role := range map[string]string{"writer": "write", "triager": "triage"} {
		f.AddUser(login)
		f.repo.SetPermission(login, role)
	}
	f.AddUser("stranger")
	f.Install(github.Permissions(), f.repo)
	f.model = modeltest.New(nil, func(modeltest.Request) modeltest.Reply {
		if f.asked != nil {
			f.asked()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return modeltest.Reply{Text: f.answer}
	})
	t.Cleanup(f.model.Close)
	f.configure()
	return f
}

func (f *forge) state() string { return filepath.Join(f.home, ".local", "state", "redraft") }

// configure writes the operator's file and the secrets that it names.
func (f *forge) configure() {
	f.t.Helper()
	config := fmt.Sprintf("github: {app-id: %d, private-key-file: %q, webhook-secret-files: [%q], api: %q, git: %q, ca-file: %q}\nserve: {listen: \"127.0.0.1:0\"}\nmodels: {small: {name: scripted, base-url: %q}}\n",
		f.AppID(), f.file("app.pem"), f.file("hook"), f.URL, strings.TrimSuffix(f.URL, "/api/v3/"), f.CAFile, f.model.URL())
	for name, text := range map[string]string{"app.pem": string(f.AppKey()), "hook": hookSecret + "\n", "config.yml": config} {
		if err := os.WriteFile(f.file(name), []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *forge) file(name string) string { return filepath.Join(f.home, name) }

// serve starts the server as a process and waits until it listens.
func (f *forge) serve() {
	f.t.Helper()
	f.said = &said{}
	f.cmd = exec.Command(os.Args[0], "serve")
	f.cmd.Env = append(testEnv(), "HOME="+f.home, "PATH="+barePath(f.t), "REDRAFT_CONFIG="+f.file("config.yml"), "REDRAFT_TEST_SERVE=1")
	f.cmd.Stdout, f.cmd.Stderr = f.said, f.said
	if err := f.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	cmd := f.cmd
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	listens := regexp.MustCompile(`serves (http://[0-9.:]+/webhook)`)
	f.until("the server listens", func() bool {
		m := listens.FindStringSubmatch(f.said.String())
		if m != nil {
			f.SetHook(m[1], hookSecret)
		}
		return m != nil
	})
}

// serveForTest is the server with a pause between writes that a test can wait for.
func serveForTest() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a := &app{getenv: os.Getenv, stdin: os.Stdin, out: os.Stdout, err: os.Stderr, clean: redact.New()}
	fail := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, a.clean.Terminal(err.Error()))
			os.Exit(exitFailed)
		}
	}
	var err error
	a.config, a.configFile, err = readConfig(os.Getenv)
	fail(err)
	o, err := a.serverOptions(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	fail(err)
	o.hub.Pause = time.Millisecond
	s, err := a.startServer(ctx, o)
	fail(err)
	fmt.Printf("redraft serves http://%s/webhook\n", s.addr)
	for ; ; time.Sleep(10 * time.Millisecond) { // the test removes the file and waits for a new one
		stats, err := s.queue.Stats(ctx)
		fail(err)
		text, err := json.Marshal(stats)
		fail(err)
		name := filepath.Join(os.Getenv("HOME"), "stats.json")
		fail(os.WriteFile(name+".new", text, 0o600))
		fail(os.Rename(name+".new", name))
	}
}

// idle says whether nothing waits in the queue and nothing runs, as of now.
func (f *forge) idle() bool {
	var stats queue.Stats
	_ = os.Remove(f.file("stats.json"))
	f.until("the server says how it stands", func() bool {
		text, err := os.ReadFile(f.file("stats.json"))
		return err == nil && json.Unmarshal(text, &stats) == nil
	})
	return stats.Unhandled == 0 && stats.Waiting == 0 && stats.Running == 0
}

// kill ends the server as a power cut would.
func (f *forge) kill() {
	_ = f.cmd.Process.Kill()
	_ = f.cmd.Wait()
}

// until waits for something to be so.
func (f *forge) until(what string, so func() bool) {
	f.t.Helper()
	deadline := time.Now().Add(90 * time.Second)
	for !so() {
		if time.Now().After(deadline) {
			f.t.Fatalf("waited in vain until %s; the server said:\n%s", what, f.said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// pull opens a pull request whose head is red, and answers with its number.
func (f *forge) pull() int {
	f.t.Helper()
	if _, err := f.repo.Commit("feature", map[string]string{"feature.txt": "new\n"}, githubtest.Person{}, "A feature"); err != nil {
		f.t.Fatal(err)
	}
	n, err := f.repo.OpenPull(githubtest.NewPull{Title: "A feature", Head: "feature", Base: "main", By: "writer"})
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// fail lets the check of a branch or of a pull request fail, with all the events of that.
func (f *forge) fail(branch string, pull int) {
	f.t.Helper()
	_, err := f.repo.RunWorkflow(githubtest.Workflow{Branch: branch, Pull: pull, Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}})
	if err != nil {
		f.t.Fatal(err)
	}
}

// drafts are our pull requests.
func (f *forge) drafts() (ours []githubtest.Pull) {
	for _, p := range f.repo.Pulls() {
		if p.Author == "redraft[bot]" {
			ours = append(ours, p)
		}
	}
	return ours
}

// shown is our check run on a commit; it fails the test when there are two.
func (f *forge) shown(sha string) (c githubtest.Check, ok bool) {
	f.t.Helper()
	n := 0
	for _, x := range f.repo.Checks(sha) {
		if x.Name == "redraft" {
			c, ok = x, true
			n++
		}
	}
	if n > 1 {
		f.t.Errorf("%d check runs of ours on %s", n, sha)
	}
	return c, ok
}

// ended waits until the check run on a commit is done.
func (f *forge) ended(sha string) githubtest.Check {
	f.t.Helper()
	var c githubtest.Check
	f.until("the check run is done", func() bool {
		var ok bool
		c, ok = f.shown(sha)
		return ok && c.Status == "completed"
	})
	return c
}

// settled waits until every delivery was taken and nothing waits or runs.
func (f *forge) settled() {
	f.t.Helper()
	f.until("the queue is empty", func() bool {
		for _, d := range f.Deliveries() {
			if d.Sent.IsZero() {
				return false
			}
		}
		return f.idle()
	})
}

// once asks for exactly one draft, one branch and one comment at most, all of them ours and whole.
func (f *forge) once(base, root string) githubtest.Pull {
	f.t.Helper()
	ours := f.drafts()
	if len(ours) != 1 {
		f.t.Fatalf("%d drafts, want 1; the server said:\n%s", len(ours), f.said)
	}
	p := ours[0]
	if !p.Draft || p.State != "open" || p.Merged || p.Base != base {
		f.t.Errorf("the draft is %+v", p)
	}
	branches := 0
	for name, sha := range f.repo.Branches() {
		if strings.HasPrefix(name, "redraft/") {
			branches++
			if text, err := f.repo.File(sha, "answer.txt"); err != nil || text != needle {
				f.t.Errorf("%s holds %q, %v", name, text, err)
			}
		}
	}
	if branches != 1 {
		f.t.Errorf("%d branches of ours, want 1", branches)
	}
	if f.repo.Tip(base) != root {
		f.t.Errorf("%s moved", base)
	}
	return p
}

// A red check on a branch becomes one draft, from the signed webhook on; its duplicates and its own events become nothing.
func TestServeDrafts(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	c := f.ended(root)
	p := f.once("main", root)
	if c.Conclusion != "success" || !strings.HasPrefix(p.Title, "redraft: ") || !strings.Contains(p.Body, "grep -q right answer.txt") {
		t.Errorf("check run %+v, draft %q:\n%s", c, p.Title, p.Body)
	}
	f.settled()
	before := len(f.Audit())
	for _, d := range f.Deliveries() {
		if err := f.Redeliver(d.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.repo.RunWorkflow(githubtest.Workflow{Pull: p.Number, Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}}); err != nil {
		t.Fatal(err)
	}
	f.settled()
	f.once("main", root)
	for _, call := range f.Audit()[before:] {
		if call.Write() && call.Route != "POST /app/installations/{installation_id}/access_tokens" && call.Route != "DELETE /installation/token" {
			t.Errorf("a redelivery or our own draft's red led to %s %s", call.Method, call.Path)
		}
	}
	for _, secret := range []string{hookSecret, "ghs_", "PRIVATE KEY"} {
		if strings.Contains(f.said.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if n := f.LiveTokens(); n != 0 {
		t.Errorf("%d tokens are left alive", n)
	}
}

// A model that cheats ends in a check run and no draft.
func TestServeCheats(t *testing.T) {
	t.Parallel()
	f := newForge(t, "So.\n\n```\n# edit: .github/redraft.yml :: *\nversion: 1\nchecks: {unit: {run: \"true\"}}\n```\n")
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	c := f.ended(root)
	if c.Conclusion != "neutral" || len(f.drafts()) != 0 || len(f.repo.Branches()) != 1 {
		t.Errorf("check run %+v, drafts %v, branches %v", c, f.drafts(), f.repo.Branches())
	}
}

// The label of somebody who may write starts a job on a pull request; its answer is one comment, and the label goes. The
// label of anybody else is nothing.
func TestServeLabel(t *testing.T) {
	t.Parallel()
	f := newForge(t, "I do not know.")
	f.serve()
	n := f.pull()
	head := f.repo.Tip("feature")
	f.fail("", n)
	if c := f.ended(head); c.Conclusion != "neutral" || len(f.repo.Comments(n)) != 0 {
		t.Errorf("nobody asked: check run %+v, comments %v", c, f.repo.Comments(n))
	}
	f.settled()
	f.answers(rightAnswer)
	for _, who := range []string{"triager", "stranger"} {
		if err := f.repo.AddLabel(n, "redraft", who); err != nil {
			t.Fatal(err)
		}
		f.settled()
		if err := f.repo.RemoveLabel(n, "redraft", who); err != nil {
			t.Fatal(err)
		}
	}
	f.settled()
	if len(f.drafts()) > 0 {
		t.Fatal("somebody without write started a job")
	}
	if err := f.repo.AddLabel(n, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	f.until("the label is gone", func() bool { return len(f.repo.Labels(n)) == 0 })
	p := f.once("feature", head)
	if !strings.HasPrefix(p.Head, "redraft/pull-") {
		t.Errorf("the draft goes from %s into %s", p.Head, p.Base)
	}
	if got := f.repo.Comments(n); len(got) != 1 || got[0].Author != "redraft[bot]" {
		t.Errorf("comments: %v", got)
	}
}

// answers changes what the model says from now on.
func (f *forge) answers(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = text
}

// What happens while a job runs: each ends in the stop that says so, and never in a draft of something else.
func TestServeMeanwhile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(f *forge) error
		want string // in the check run's title or summary
	}{
		{"a person pushes", func(f *forge) error {
			_, err := f.repo.Commit("main", map[string]string{"other.txt": "x\n"}, githubtest.Person{}, "Meanwhile")
			return err
		}, "superseded"},
		{"the branch goes", func(f *forge) error {
			if err := f.repo.SetBranch("trunk", f.repo.Tip("main"), "writer"); err != nil {
				return err
			}
			if err := f.repo.SetDefault("trunk"); err != nil {
				return err
			}
			return f.repo.DeleteBranch("main", "writer")
		}, "cancelled"},
		{"the repository is archived", func(f *forge) error { f.repo.Archive(); return nil }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newForge(t, rightAnswer)
			root := f.repo.Tip("main")
			var once sync.Once
			failed := make(chan error, 1)
			f.asked = func() { once.Do(func() { failed <- row.do(f) }) }
			f.serve()
			f.fail("main", 0)
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
			f.settled()
			if len(f.drafts()) != 0 {
				t.Errorf("a draft was opened: %+v", f.drafts())
			}
			for name := range f.repo.Branches() {
				if strings.HasPrefix(name, "redraft/") {
					t.Errorf("branch %s was left", name)
				}
			}
			if row.want == "" {
				return
			}
			if c := f.ended(root); c.Conclusion != "neutral" || !strings.Contains(c.Title+c.Summary, row.want) {
				t.Errorf("the check run is %+v, want %q", c, row.want)
			}
		})
	}
}

// A rename in the middle of a job is followed, since the id stays.
func TestServeRenamed(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	root := f.repo.Tip("main")
	var once sync.Once
	f.asked = func() { once.Do(func() { f.repo.Rename("gadget", "acme") }) }
	f.serve()
	f.fail("main", 0)
	f.ended(root)
	f.once("main", root)
}

// A new red head with a draft open updates that draft; a green one closes it; a person's no is remembered.
func TestServeAgain(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	f.serve()
	f.fail("main", 0)
	f.ended(f.repo.Tip("main"))
	first := f.once("main", f.repo.Tip("main"))
	f.settled()

	moved, err := f.repo.Commit("main", map[string]string{"other.txt": "x\n"}, githubtest.Person{}, "On top")
	if err != nil {
		t.Fatal(err)
	}
	f.fail("main", 0)
	f.ended(moved)
	second := f.once("main", moved)
	if second.Number != first.Number || second.HeadSHA == first.HeadSHA || !strings.Contains(second.Body, moved[:12]) {
		t.Errorf("the draft was %+v and is %+v", first, second)
	}
	f.settled()

	fixed, err := f.repo.Commit("main", map[string]string{"answer.txt": needle}, githubtest.Person{}, "By hand")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.repo.RunWorkflow(githubtest.Workflow{Jobs: []githubtest.Job{{Name: "unit", Conclusion: "success"}}}); err != nil {
		t.Fatal(err)
	}
	f.until("the draft is closed", func() bool { p, _ := f.repo.Pull(first.Number); return p.State == "closed" })
	if p, _ := f.repo.Pull(first.Number); p.ClosedBy != "redraft[bot]" || p.Merged {
		t.Errorf("the draft is %+v at %s", p, fixed)
	}
}

// A closed draft is a person's no: the same failure is not proposed again. A person's commit on the draft's branch makes it
// theirs.
func TestServeSaidNo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, want string
		do         func(f *forge, p githubtest.Pull) error
	}{
		{"closed", "closed draft", func(f *forge, p githubtest.Pull) error { return f.repo.ClosePull(p.Number, "writer") }},
		{"pushed to", "theirs", func(f *forge, p githubtest.Pull) error {
			_, err := f.repo.Commit(p.Head, map[string]string{"mine.txt": "x\n"}, githubtest.Person{Name: "writer", Email: "w@example.org"}, "Mine")
			return err
		}},
		{"taken over", "took", func(f *forge, p githubtest.Pull) error { return f.repo.MarkReady(p.Number, "writer") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newForge(t, rightAnswer)
			f.serve()
			f.fail("main", 0)
			f.ended(f.repo.Tip("main"))
			p := f.once("main", f.repo.Tip("main"))
			f.settled()
			if err := row.do(f, p); err != nil {
				t.Fatal(err)
			}
			f.settled()
			tip := f.repo.Tip(p.Head)
			moved, err := f.repo.Commit("main", map[string]string{"other.txt": "x\n"}, githubtest.Person{}, "On top")
			if err != nil {
				t.Fatal(err)
			}
			f.fail("main", 0)
			f.settled()
			if n := len(f.drafts()); n != 1 || f.repo.Tip(p.Head) != tip {
				t.Errorf("%d drafts, the branch moved: %v", n, f.repo.Tip(p.Head) != tip)
			}
			if c, ok := f.shown(moved); ok && !strings.Contains(c.Title+c.Summary, row.want) {
				t.Errorf("the check run is %+v, want %q", c, row.want)
			}
		})
	}
}

// Two workflows are red on one commit: one target gets one draft, and the other red says which.
func TestServeTwoWorkflows(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	root := f.repo.Tip("main")
	f.PauseHooks(true)
	for _, name := range []string{"ci", "more"} {
		if _, err := f.repo.RunWorkflow(githubtest.Workflow{Name: name, Path: ".github/workflows/" + name + ".yml", Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}}); err != nil {
			t.Fatal(err)
		}
	}
	f.serve()
	f.PauseHooks(false)
	f.settled()
	f.once("main", root)
	said := ""
	for _, c := range f.repo.Checks(root) {
		if c.Name == "redraft" {
			said += c.Conclusion + ": " + c.Title + " " + c.Summary + "\n"
		}
	}
	if !strings.Contains(said, "success: ") || !strings.Contains(said, "neutral: ") || !strings.Contains(said, "one target gets one draft") {
		t.Errorf("our check runs say:\n%s", said)
	}
}

// TestServeOnce runs redraft serve --once EVENT.json --do: a stored payload is handled for good, without a server.
func TestServeOnce(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	root := f.repo.Tip("main")
	f.fail("main", 0)
	name := f.file("event.json")
	for _, d := range f.Deliveries() {
		if d.Event == "workflow_run" && d.Action == "completed" {
			if err := os.WriteFile(name, d.Payload, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	once := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		getenv := func(k string) string {
			return map[string]string{"HOME": f.home, "PATH": barePath(t), "REDRAFT_CONFIG": f.file("config.yml")}[k]
		}
		if code := run(t.Context(), append([]string{"serve", "--once", name}, args...), getenv, strings.NewReader(""), &out, &errs); code != want {
			t.Errorf("%v: exit status %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
		}
		return out.String()
	}
	before := len(f.Audit())
	once(exitProved, "--event", "workflow_run")
	if n := len(f.Audit()); n != before {
		t.Errorf("a dry run made %d calls", n-before)
	}
	if got := once(exitProved, "--event", "workflow_run", "--do"); !strings.Contains(got, "accepted: branch main: job ") {
		t.Errorf("got %s", got)
	}
	f.once("main", root)
	if got := once(exitStopped, "--event", "workflow_run", "--do"); !strings.Contains(got, "already_open") {
		t.Errorf("got %s", got)
	}
	f.once("main", root)
}

// A person takes the label off while the job runs: it is cancelled within seconds, and nothing is left.
func TestServeUnlabelled(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	asked, release := make(chan struct{}, 9), make(chan struct{})
	f.asked = func() {
		asked <- struct{}{}
		<-release
	}
	defer close(release)
	f.serve()
	root := f.repo.Tip("main")
	issue := f.repo.OpenIssue("The answer is wrong", "It should be right.", "writer")
	if err := f.repo.AddLabel(issue, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("the model was never asked:\n%s", f.said)
	}
	start := time.Now()
	if err := f.repo.RemoveLabel(issue, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	if c := f.ended(root); c.Conclusion != "neutral" || !strings.Contains(c.Title+c.Summary, "cancelled") {
		t.Errorf("the check run is %+v", c)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	f.settled()
	if len(f.drafts()) != 0 || len(f.repo.Branches()) != 1 {
		t.Errorf("drafts %v, branches %v", f.drafts(), f.repo.Branches())
	}
}

// A change that names an address is pushed so that its CI does not start by itself, and the draft says how to start it.
func TestServeQuiet(t *testing.T) {
	t.Parallel()
	f := newForge(t, "So.\n\n```\n# edit: answer.txt :: *\n"+needle+"see https://example.org/\n```\n")
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	f.ended(root)
	ours := f.drafts()
	if len(ours) != 1 || !strings.Contains(ours[0].Body, "opens a connection") {
		t.Fatalf("drafts: %+v", ours)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+"repos/acme/widget/commits/"+ours[0].HeadSHA, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+f.UserToken("writer"))
	resp, err := f.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var commit struct{ Commit struct{ Message string } }
	if err := json.NewDecoder(resp.Body).Decode(&commit); err != nil || !strings.Contains(commit.Commit.Message, "[skip ci]") || !strings.Contains(commit.Commit.Message, "\nRedraft-Receipt: sha256:") {
		t.Errorf("the commit says %q, %v", commit.Commit.Message, err)
	}
}

// A pull request whose head is green and whose merge into its base is red: the base moved, a comment says so, and nothing
// is repaired.
func TestServeBaseDrift(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	files := map[string]string{"answer.txt": needle, ".github/redraft.yml": strings.Replace(forgeCheck, "grep -q right answer.txt", "grep -q right answer.txt && ! test -e bad.txt", 1)}
	if _, err := f.repo.Commit("main", files, githubtest.Person{}, "Right"); err != nil {
		t.Fatal(err)
	}
	if err := f.repo.SetBranch("feature", f.repo.Tip("main"), "writer"); err != nil {
		t.Fatal(err)
	}
	n := f.pull()
	if _, err := f.repo.Commit("main", map[string]string{"bad.txt": "x\n"}, githubtest.Person{}, "The base moves"); err != nil {
		t.Fatal(err)
	}
	f.serve()
	f.fail("", n)
	if c := f.ended(f.repo.Tip("feature")); c.Conclusion != "neutral" || !strings.Contains(c.Title+c.Summary, "base") {
		t.Errorf("the check run is %+v", c)
	}
	f.settled()
	if got := f.repo.Comments(n); len(got) != 1 || !strings.Contains(got[0].Body, "the base moved") {
		t.Errorf("comments: %+v", got)
	}
	if f.modelAsked() || len(f.drafts()) != 0 {
		t.Error("somebody tried to repair it")
	}
}

// A repository whose check nobody named, and that has nothing customary, gets a stop that says what to write where.
func TestServeNeedsConfiguration(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	if _, err := f.repo.Commit("main", map[string]string{".github/redraft.yml": githubtest.Gone}, githubtest.Person{}, "No configuration"); err != nil {
		t.Fatal(err)
	}
	f.serve()
	root := f.repo.Tip("main")
	f.fail("main", 0)
	if c := f.ended(root); c.Conclusion != "neutral" || !strings.Contains(c.Summary, ".github/redraft.yml") {
		t.Errorf("the check run is %+v", c)
	}
	f.settled()
	if _, err := f.repo.Commit("main", map[string]string{".github/redraft.yml": "version: 1\ncheks: {}\n"}, githubtest.Person{}, "A slip of the pen"); err != nil {
		t.Fatal(err)
	}
	issue := f.repo.OpenIssue("It fails", "", "writer")
	if err := f.repo.AddLabel(issue, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	f.until("the label is gone", func() bool { return len(f.repo.Labels(issue)) == 0 })
	if got := f.repo.Comments(issue); len(got) != 1 || !strings.Contains(got[0].Body, "checks") {
		t.Errorf("comments: %+v", got)
	}
	if f.modelAsked() || len(f.drafts()) != 0 {
		t.Error("somebody tried to repair it")
	}
}

// The red status of a third party counts as a check run does.
func TestServeStatus(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	f.serve()
	root := f.repo.Tip("main")
	if err := f.repo.AddStatus(root, "elsewhere/unit", "failure", "1 test failed", "writer"); err != nil {
		t.Fatal(err)
	}
	f.ended(root)
	f.once("main", root)
}

// A permission that is missing is named before any work.
func TestServeLacks(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	few := github.Permissions()
	few["pull_requests"] = "read"
	other, err := f.AddRepo("other", "thing", githubtest.Seed{Files: map[string]string{"answer.txt": "the answer is wrong\n", ".github/redraft.yml": forgeCheck}})
	if err != nil {
		t.Fatal(err)
	}
	f.Install(few, other)
	f.repo = other
	f.serve()
	f.fail("main", 0)
	c := f.ended(other.Tip("main"))
	if c.Conclusion != "neutral" || !strings.Contains(c.Title+c.Summary, "pull_requests: write") {
		t.Errorf("the check run is %+v", c)
	}
	if f.modelAsked() {
		t.Error("the model was asked although a permission is missing")
	}
}

func (f *forge) modelAsked() bool { return len(f.model.Requests()) > 0 }

// GitHub fails after it acted, or says that it is too much: still one draft, one comment, one check run.
func TestServeFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*http.Request) *githubtest.Fault{
		"5xx after opening the draft":     githubtest.Times(1, "POST", "/repos/*/*/pulls", githubtest.Fault{Status: 502, After: true}),
		"no answer to the check run":      githubtest.Times(1, "POST", "/repos/*/*/check-runs", githubtest.Fault{Drop: true, After: true}),
		"5xx before opening the draft":    githubtest.Times(2, "POST", "/repos/*/*/pulls", githubtest.Fault{Status: 500}),
		"a secondary limit, with a pause": githubtest.Times(1, "POST", "/repos/*/*/pulls", githubtest.Fault{Status: 403, Header: http.Header{"Retry-After": {"1"}}, Body: "You have exceeded a secondary rate limit."}),
		"429 with a pause":                githubtest.Times(1, "GET", "/repos/*/*", githubtest.Fault{Status: 429, Header: http.Header{"Retry-After": {"1"}}}),
	} {
		t.Run(name, func(t *testing.T) {
			f := newForge(t, rightAnswer)
			f.Inject(fault)
			f.serve()
			root := f.repo.Tip("main")
			f.fail("main", 0)
			f.until("the job is done", func() bool { c, ok := f.shown(root); return ok && c.Status == "completed" })
			f.once("main", root)
		})
	}
}

// What a comment can ask for, by whoever may write, and that its answer stands in one comment.
func TestServeCommands(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	n := f.pull()
	head := f.repo.Tip("feature")
	f.PauseHooks(true)
	f.fail("", n)
	f.serve()
	for _, row := range [][2]string{{"/redraft", "stranger"}, {"please /redraft", "writer"}} {
		if _, err := f.repo.AddComment(n, row[0], row[1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.repo.AddComment(n, " /redraft retry look at the answer\n", "writer"); err != nil {
		t.Fatal(err)
	}
	f.PauseHooks(false)
	f.ended(head)
	f.settled()
	f.once("feature", head)
	if _, err := f.repo.AddComment(n, "/redraft explain", "writer"); err != nil {
		t.Fatal(err)
	}
	f.settled()
	ours := 0
	for _, c := range f.repo.Comments(n) {
		if c.Author == "redraft[bot]" {
			ours++
		}
	}
	if ours != 1 {
		t.Errorf("%d comments of ours, want 1: %+v", ours, f.repo.Comments(n))
	}
}

// A server that dies between the proof and the draft takes the proof up again: the model, which would not find it a second
// time, is not asked.
func TestServeResumes(t *testing.T) {
	t.Parallel()
	f := newForge(t, rightAnswer)
	root := f.repo.Tip("main")
	killed := make(chan struct{})
	var once sync.Once
	f.Inject(func(r *http.Request) *githubtest.Fault {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return nil
		}
		once.Do(func() {
			_ = syscall.Kill(f.cmd.Process.Pid, syscall.SIGKILL)
			close(killed)
		})
		return &githubtest.Fault{Drop: true}
	})
	f.serve()
	f.fail("main", 0)
	<-killed
	f.kill()
	f.Inject(nil)
	f.answers("I do not know.")
	asked := len(f.model.Requests())
	f.serve()
	if c := f.ended(root); c.Conclusion != "success" {
		t.Errorf("the check run is %+v", c)
	}
	f.once("main", root)
	if n := len(f.model.Requests()); n != asked {
		t.Errorf("the model was asked %d times more", n-asked)
	}
}

// TestServeKilled kills the server at twenty requests spread over a whole job, before GitHub acted on the request and
// after it, and starts it again each time: nothing is lost and nothing is done twice.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	calls := killAt(t, 0, false) // a whole job, to know how many requests there are
	if calls < 12 {
		t.Fatalf("a job made %d requests, which is not a whole one", calls)
	}
	for i := range 20 {
		n, after := 1+i*calls/20, i%2 == 1
		t.Run(fmt.Sprintf("request %d of %d after %v", n, calls, after), func(t *testing.T) {
			t.Parallel()
			killAt(t, n, after)
		})
	}
}

// killAt runs a job whose server is killed at its nth request, never if n is 0, and says how many requests there were.
func killAt(t *testing.T, n int, after bool) int {
	f := newForge(t, rightAnswer)
	root := f.repo.Tip("main")
	f.PauseHooks(true)
	issue := f.repo.OpenIssue("The answer is wrong", "It should be right.", "writer")
	if err := f.repo.AddLabel(issue, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	f.serve()
	var mu sync.Mutex
	count := 0
	killed := make(chan struct{})
	f.Inject(func(r *http.Request) *githubtest.Fault {
		mu.Lock()
		defer mu.Unlock()
		if count++; count != n {
			return nil
		}
		_ = syscall.Kill(f.cmd.Process.Pid, syscall.SIGKILL)
		close(killed)
		return &githubtest.Fault{Drop: true, After: after}
	})
	f.PauseHooks(false)
	if n > 0 {
		select {
		case <-killed:
		case <-time.After(time.Minute):
			t.Fatalf("request %d never came; the server said:\n%s", n, f.said)
		}
		f.kill()
		f.Inject(nil)
		f.serve()
		f.redeliver()
	}
	c := f.ended(root)
	f.until("the label is gone", func() bool { return len(f.repo.Labels(issue)) == 0 })
	f.settled()
	f.once("main", root)
	if got := f.repo.Comments(issue); len(got) != 1 {
		t.Errorf("%d comments, want 1: %v", len(got), got)
	}
	if c.Conclusion != "success" {
		t.Errorf("the check run is %+v", c)
	}
	if left, err := os.ReadDir(filepath.Join(f.state(), "trees")); err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
		t.Errorf("%d trees are left, %v", len(left), err)
	}
	mu.Lock()
	defer mu.Unlock()
	return count
}

// redeliver does what a person does on the App's page after the server was away. What is sent before the server is back would be
// lost once more.
func (f *forge) redeliver() {
	f.t.Helper()
	if err := f.Drain(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	for _, d := range f.Deliveries() {
		if d.Status != http.StatusAccepted && d.Status != http.StatusOK {
			if err := f.Redeliver(d.ID); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

func seedOf(text string) githubtest.Seed {
	return githubtest.Seed{Files: map[string]string{"a.txt": text + "\n"}}
}
