package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// writes are the permissions that the files to copy give a job that opens drafts; reads are those of the one that repairs.
var (
	writes = map[string]string{"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write", "actions": "read", "statuses": "read"}
	reads  = map[string]string{"contents": "read"}
)

// step is one run of the Action's step, as the runner starts it.
type step struct {
	f      *forge
	event  string
	body   []byte // the event's payload
	inputs map[string]string
	perms  map[string]string // of the job's token; writes if nil
	env    map[string]string // over the runner's
	dir    string            // the job's: its temporary folder and the runner's files
}

// stepResult is what the runner sees of a step.
type stepResult struct {
	code    int
	log     string
	outputs map[string]string
	summary string
}

// newStep is the step of a job that an event started: the newest delivery of that name.
func (f *forge) newStep(event string, inputs map[string]string) *step {
	f.t.Helper()
	s := &step{f: f, event: event, inputs: inputs, dir: f.t.TempDir()}
	for _, d := range slices.Backward(f.Deliveries()) {
		if d.Event == event {
			s.body = d.Payload
			return s
		}
	}
	return s
}

// vars is the step's environment.
func (s *step) vars() map[string]string {
	perms := s.perms
	if perms == nil {
		perms = writes
	}
	inputs := map[string]string{"github-token": s.f.repo.ActionsToken(perms)}
	maps.Copy(inputs, s.inputs)
	text, err := json.Marshal(inputs)
	if err != nil {
		s.f.t.Fatal(err)
	}
	event := filepath.Join(s.dir, "event.json")
	if err := os.WriteFile(event, s.body, 0o600); err != nil {
		s.f.t.Fatal(err)
	}
	env := map[string]string{
		"HOME": s.f.home, "PATH": barePath(s.f.t), "REDRAFT_CONFIG": s.f.file("config.yml"), "REDRAFT_TEST_MAIN": "1", "REDRAFT_INPUTS": string(text), "RUNNER_TEMP": s.dir,
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": s.event, "GITHUB_EVENT_PATH": event, "GITHUB_REPOSITORY": "acme/widget", "GITHUB_REPOSITORY_ID": fmt.Sprint(s.f.repo.ID()),
		"GITHUB_RUN_ID": "17", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "unit", "GITHUB_WORKFLOW": "redraft", "GITHUB_WORKFLOW_REF": "acme/widget/.github/workflows/redraft.yml@refs/heads/main",
		"GITHUB_SERVER_URL": strings.TrimSuffix(s.f.URL, "/api/v3/"), "GITHUB_API_URL": strings.TrimSuffix(s.f.URL, "/"), "GITHUB_REF": "refs/heads/main",
		"GITHUB_OUTPUT": filepath.Join(s.dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(s.dir, "summary"), "GITHUB_ENV": filepath.Join(s.dir, "env"), "REDRAFT_OWN_TOKEN": "true",
	}
	maps.Copy(env, s.env)
	return env
}

// command is the step as a process that was not started yet.
func (s *step) command() (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], "action")
	for name, value := range s.vars() {
		if value != "unset" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Dir = s.dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	return cmd, &log
}

func (s *step) run() stepResult {
	s.f.t.Helper()
	cmd, log := s.command()
	err := cmd.Run()
	r := s.result(cmd, log)
	if err != nil && cmd.ProcessState == nil {
		s.f.t.Fatal(err)
	}
	return r
}

func (s *step) result(cmd *exec.Cmd, log *bytes.Buffer) stepResult {
	s.f.t.Helper()
	r := stepResult{code: cmd.ProcessState.ExitCode(), log: log.String(), outputs: map[string]string{}}
	if b, err := os.ReadFile(filepath.Join(s.dir, "output")); err == nil {
		r.outputs = readOutputs(s.f.t, string(b))
	}
	b, _ := os.ReadFile(filepath.Join(s.dir, "summary"))
	r.summary = string(b)
	for _, text := range []string{r.log, r.summary} {
		if i := strings.Index(text, "ghs_"); i >= 0 && !strings.HasPrefix(text[max(0, i-12):], "::add-mask::") {
			s.f.t.Errorf("a token stands in what the step wrote: %.80q", text[max(0, i-40):])
		}
	}
	return r
}

// readOutputs reads the runner's file of outputs as the runner does.
func readOutputs(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text != "" {
		var head, value string
		head, text, _ = strings.Cut(text, "\n")
		name, end, ok := strings.Cut(head, "<<")
		if !ok {
			t.Fatalf("no output: %q", head)
		}
		value, text, ok = strings.Cut("\n"+text, "\n"+end+"\n")
		if !ok {
			t.Fatalf("output %s does not end", name)
		}
		out[name] = strings.TrimPrefix(value, "\n")
	}
	return out
}

var annotation = regexp.MustCompile(`(?m)^::(notice|warning|error) ([^:]*(?:%3A[^:]*)*)::(.*)$`)

// annotations are "level text" of each.
func (r stepResult) annotations() (all []string) {
	for _, m := range annotation.FindAllStringSubmatch(r.log, -1) {
		all = append(all, m[1]+" "+m[2]+" "+m[3])
	}
	return all
}

func newActionForge(t *testing.T, answer string) *forge {
	f := newForge(t, answer)
	f.repo.CanCreatePulls(true)
	return f
}

// opened are the drafts that a workflow's token opened.
func (f *forge) opened() (all []githubtest.Pull) {
	for _, p := range f.repo.Pulls() {
		if p.Author == "github-actions[bot]" {
			all = append(all, p)
		}
	}
	return all
}

func TestActionWorkflowRun(t *testing.T) {
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	r := f.newStep("workflow_run", nil).run()
	f.wantDraft(r)
	if !slices.ContainsFunc(r.annotations(), func(s string) bool {
		return strings.HasPrefix(s, "notice ") && strings.Contains(s, r.outputs["pull-request-url"])
	}) {
		t.Errorf("no annotation says where the draft is:\n%s", r.log)
	}
	for _, want := range []string{"[Draft #", "| DR | red again without the change |", "| check | unit: grep -q right answer.txt | `.github/redraft.yml` |", "| small model | scripted | the runner's configuration |"} {
		if !strings.Contains(r.summary, want) {
			t.Errorf("the summary has no %q:\n%s", want, r.summary)
		}
	}
	if words := muted(r.log); !strings.Contains(words, "proving the change in fresh copies") {
		t.Errorf("what was done is not told between stopped commands:\n%s", r.log)
	}
	again := f.newStep("workflow_run", nil).run()
	if again.code != 0 || again.outputs["stop-reason"] != "already_open" || len(f.opened()) != 1 {
		t.Errorf("the same event again: exit %d, %v, %d drafts", again.code, again.outputs, len(f.opened()))
	}
}

// wantDraft makes sure that a step ended in the one draft, and said so.
func (f *forge) wantDraft(r stepResult) {
	f.t.Helper()
	o := r.outputs
	if r.code != 0 || o["stop-reason"] != "fixed" || o["verdict"] != "green" || o["pull-request-operation"] != "created" {
		f.t.Fatalf("exit %d, outputs %v, log:\n%s", r.code, o, r.log)
	}
	all := f.opened()
	if len(all) != 1 || !all[0].Draft || all[0].State != "open" || fmt.Sprint(all[0].Number) != o["pull-request-number"] || all[0].Head != o["pull-request-branch"] {
		f.t.Fatalf("pull requests %+v, outputs %v", all, o)
	}
	if text, err := f.repo.File(o["pull-request-head-sha"], "answer.txt"); err != nil || text != needle {
		f.t.Errorf("the draft's branch has %q", text)
	}
	for _, name := range []string{"patch-path", "report-path"} {
		if _, err := os.Stat(o[name]); err != nil {
			f.t.Errorf("%s: %v", name, err)
		}
	}
}

// muted is what a log holds between stopped commands.
func muted(log string) string {
	var b strings.Builder
	for _, m := range regexp.MustCompile(`(?ms)^::stop-commands::(\w+)$(.*?)^::(\w+)::$`).FindAllStringSubmatch(log, -1) {
		if m[1] == m[3] {
			b.WriteString(m[2])
		}
	}
	return b.String()
}

// TestActionEvents answers every event that a workflow may have.
func TestActionEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		event  string
		inputs map[string]string
		env    map[string]string
		set    func(f *forge) error
		base   string
		after  func(f *forge, r stepResult)
	}{
		"a label on a pull request": {event: "pull_request", base: "feature", set: func(f *forge) error { f.fail("feature", f.pull()); return f.repo.AddLabel(1, "redraft", "writer") },
			after: func(f *forge, _ stepResult) { f.wantNoLabel(1) }},
		"a label on an issue": {event: "issues", base: "main", set: func(f *forge) error {
			return f.repo.AddLabel(f.repo.OpenIssue("The answer is wrong", "It is.", "writer"), "redraft", "writer")
		}, after: func(f *forge, _ stepResult) { f.wantNoLabel(1) }},
		"a command": {event: "issue_comment", base: "feature", set: func(f *forge) error {
			f.fail("feature", f.pull())
			_, err := f.repo.AddComment(1, "/redraft", "writer")
			return err
		}},
		"a schedule":          {event: "schedule", base: "main", set: func(f *forge) error { f.fail("main", 0); return nil }},
		"a schedule by input": {event: "push", inputs: map[string]string{"mode": "ambient"}, base: "main", set: func(f *forge) error { f.fail("main", 0); return nil }},
		"a failed step of a push": {event: "push", base: "main", inputs: map[string]string{"check": "grep -q right answer.txt"}, env: map[string]string{"GITHUB_WORKFLOW_REF": "acme/widget/.github/workflows/ci.yml@refs/heads/main", "GITHUB_WORKFLOW": "CI"},
			set: func(f *forge) error {
				_, err := f.repo.Commit("main", map[string]string{"more.txt": "more\n"}, githubtest.Person{}, "More")
				return err
			}},
		"a failed step of a pull request": {event: "pull_request", base: "feature", env: map[string]string{"GITHUB_WORKFLOW_REF": "acme/widget/.github/workflows/ci.yml@refs/pull/1/merge", "GITHUB_REF": "refs/pull/1/merge", "GITHUB_WORKFLOW": "CI"},
			set: func(f *forge) error { f.pull(); return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			f := newActionForge(t, rightAnswer)
			if err := tt.set(f); err != nil {
				t.Fatal(err)
			}
			s := f.newStep(tt.event, tt.inputs)
			s.env = map[string]string{}
			maps.Copy(s.env, tt.env)
			if tt.event == "schedule" || s.body == nil {
				s.body = []byte(`{"schedule": "17 3 * * *"}`)
			}
			if tt.event == "push" {
				s.env["GITHUB_SHA"] = f.repo.Tip("main")
			}
			r := s.run()
			f.wantDraft(r)
			if d := f.opened()[0]; d.Base != tt.base {
				t.Errorf("the draft goes against %q", d.Base)
			}
			if tt.after != nil {
				tt.after(f, r)
			}
		})
	}
}

func (f *forge) wantNoLabel(number int) {
	f.t.Helper()
	if labels := f.repo.Labels(number); len(labels) != 0 {
		f.t.Errorf("labels left: %v", labels)
	}
}
