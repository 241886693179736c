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
		"GITHUB_RUN_ID": "17", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "redraft", "GITHUB_WORKFLOW": "redraft", "GITHUB_WORKFLOW_REF": "acme/widget/.github/workflows/redraft.yml@refs/heads/main",
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
	if r.code != 0 || r.outputs["stop-reason"] != "fixed" || r.outputs["verdict"] != "green" || r.outputs["pull-request-operation"] != "created" || r.outputs["turns"] != "1" {
		t.Fatalf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
	}
	t.Log(r.log)
	t.Log(r.summary)
}
