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

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/sandbox"
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
	for _, kv := range testEnv() {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
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
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	r := f.newStep("workflow_run", nil).run()
	f.wantDraft(r)
	if !slices.ContainsFunc(r.annotations(), func(s string) bool {
		return strings.HasPrefix(s, "notice ") && strings.Contains(s, r.outputs["pull-request-url"])
	}) {
		t.Errorf("no annotation says where the draft is:\n%s", r.log)
	}
	for _, want := range []string{"[Draft #", "| DR | red again without the change |", "| check | unit: grep -q right answer.txt | `.github/redraft.yml` |", "| small model | scripted | the runner's configuration |", "| turns | 6 | default |"} {
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
	t.Parallel()
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
			t.Parallel()
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

// TestActionHalves takes one red run through three jobs: one that decides, one that repairs with a token that may read files
// alone, one that publishes and runs nothing.
func TestActionHalves(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	gate := f.newStep("workflow_run", map[string]string{"dry-run": "true"})
	gate.perms = map[string]string{"contents": "read", "pull_requests": "read", "issues": "read", "checks": "read", "actions": "read", "statuses": "read"}
	decided := gate.run()
	if decided.code != 0 || decided.outputs["verdict"] != "red" || decided.outputs["jobs"] == "" {
		t.Fatalf("exit %d, outputs %v, log:\n%s", decided.code, decided.outputs, decided.log)
	}
	f.Forget()
	repair := f.newStep("workflow_run", map[string]string{"mode": "repair", "jobs": decided.outputs["jobs"]})
	repair.perms = reads
	made := repair.run()
	if made.code != 0 || made.outputs["stop-reason"] != "fixed" || made.outputs["pull-request-operation"] != "none" || made.outputs["patch-path"] == "" {
		t.Fatalf("exit %d, outputs %v, log:\n%s", made.code, made.outputs, made.log)
	}
	for _, c := range f.Audit() {
		file := c.Method == "GET" && strings.Contains(c.Path, "/contents/")
		if !file && !strings.Contains(c.Path+c.Query, "git-upload-pack") {
			t.Errorf("the repair half asked for %s %s", c.Method, c.Path)
		}
	}
	if len(f.opened()) != 0 {
		t.Fatal("a draft was opened by the repair half")
	}
	if _, ok := f.shown(f.repo.Tip("main")); ok {
		t.Error("the repair half wrote a check run")
	}
	jobs, err := filepath.Glob(filepath.Join(made.outputs["evidence-path"], "*-1"))
	if err != nil || len(jobs) != 1 {
		t.Fatalf("evidence of %v, %v", jobs, err)
	}
	verify := exec.Command(os.Args[0], "verify", jobs[0])
	verify.Env = append(testEnv(), "HOME="+f.home, "PATH="+barePath(t), "REDRAFT_TEST_MAIN=1")
	if said, err := verify.CombinedOutput(); err != nil {
		t.Errorf("the artifact does not verify: %v\n%s", err, said)
	}
	f.asked = func() { t.Error("the publish half asks the model") }
	publish := f.newStep("workflow_run", map[string]string{"mode": "publish", "evidence-path": made.outputs["evidence-path"]})
	done := publish.run()
	f.wantDraft(done)
	if body := f.opened()[0].Body; !strings.Contains(body, "is an artifact of the workflow") || strings.Contains(body, "stays on the machine") {
		t.Errorf("where the evidence is: %s", body)
	}
}

// TestActionNotProven takes evidence that is not what a repair job left to the half that publishes.
func TestActionNotProven(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	made := f.newStep("workflow_run", map[string]string{"mode": "repair"}).run()
	if made.outputs["stop-reason"] != "fixed" {
		t.Fatalf("exit %d, outputs %v, log:\n%s", made.code, made.outputs, made.log)
	}
	whole := made.outputs["evidence-path"]
	for name, tt := range map[string]struct {
		spoil func(dir, job string) error
		code  int
		stop  string
		say   string
	}{
		"one byte of the patch": {func(_, job string) error { return spoilByte(filepath.Join(job, "patch.diff")) }, 0, "not_proven", "not the diff that the receipt names"},
		"another commit": {func(dir, _ string) error {
			return edit(filepath.Join(dir, "jobs.json"), f.repo.Tip("main"), strings.Repeat("b", 40))
		}, 0, "evidence_missing", "is red now"},
		"a link": {func(_, job string) error {
			if err := os.Remove(filepath.Join(job, "trace.jsonl")); err != nil {
				return err
			}
			return os.Symlink("/etc/passwd", filepath.Join(job, "trace.jsonl"))
		}, 3, "", "is no plain file"},
		"no receipt":             {func(_, job string) error { return os.Remove(filepath.Join(job, "receipt.json")) }, 0, "not_proven", "holds no receipt"},
		"no index":               {func(dir, _ string) error { return os.Remove(filepath.Join(dir, "jobs.json")) }, 3, "", "not what a repair job left"},
		"a folder that climbs":   {func(dir, job string) error { return edit(filepath.Join(dir, "jobs.json"), filepath.Base(job), "../x") }, 3, "", "is no folder of a job"},
		"a job that left none":   {func(_, job string) error { return os.RemoveAll(job) }, 0, "not_proven", "not whole"},
		"another job's evidence": {func(dir, _ string) error { return edit(filepath.Join(dir, "jobs.json"), `"key": "`, `"key": "x`) }, 0, "evidence_missing", "left no evidence"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "evidence")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			jobs, err := filepath.Glob(filepath.Join(dir, "*-1"))
			if err != nil || len(jobs) != 1 {
				t.Fatalf("jobs %v, %v", jobs, err)
			}
			if err := tt.spoil(dir, jobs[0]); err != nil {
				t.Fatal(err)
			}
			s := f.newStep("workflow_run", map[string]string{"mode": "publish", "evidence-path": dir})
			s.f = &forge{Server: f.Server, t: t, repo: f.repo, model: f.model, home: f.home}
			r := s.run()
			if r.code != tt.code || r.outputs["stop-reason"] != tt.stop || !strings.Contains(strings.Join(r.annotations(), "\n")+r.summary, tt.say) {
				t.Errorf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
			}
			if len(f.opened()) != 0 || len(f.repo.Branches()) != 1 {
				t.Errorf("left on GitHub: %v, %v", f.opened(), f.repo.Branches())
			}
		})
	}
}

// spoilByte changes one byte in the middle of a file.
func spoilByte(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[len(b)/2] ^= 1
	return os.WriteFile(name, b, 0o600)
}

func edit(name, old, with string) error {
	b, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(b, []byte(old)) {
		return fmt.Errorf("%s has no %q: %w", name, old, err)
	}
	return os.WriteFile(name, bytes.ReplaceAll(b, []byte(old), []byte(with)), 0o600)
}

// TestActionRefuses tries what ends without a draft, or before any work: one clear annotation each.
func TestActionRefuses(t *testing.T) {
	t.Parallel()
	without := func(name, level string) map[string]string {
		p := maps.Clone(writes)
		if p[name] = level; level == "" {
			delete(p, name)
		}
		return p
	}
	for name, tt := range map[string]struct {
		inputs map[string]string
		env    map[string]string
		perms  map[string]string
		set    func(f *forge) error
		answer string
		code   int
		stop   string
		say    string // in the one annotation
	}{
		"green here": {set: func(f *forge) error {
			_, err := f.repo.Commit("main", map[string]string{"answer.txt": needle}, githubtest.Person{}, "Right")
			f.fail("main", 0)
			return err
		}, stop: "not_reproduced", say: "notice"},
		"no repair":                   {answer: "I do not know.", inputs: map[string]string{"turns": "1"}, stop: "exhausted", say: "warning"},
		"an input that is none":       {inputs: map[string]string{"chek": "go test ./..."}, code: 2, say: `input chek: there is no such input; did you mean "check"?`},
		"a check of several lines":    {inputs: map[string]string{"check": "go vet ./...\ngo test ./..."}, code: 2, say: "input check: it has several lines"},
		"a mode that is none":         {inputs: map[string]string{"mode": "merge"}, code: 2, say: `input mode: "merge" is none of auto, repair, publish, ambient, diagnose`},
		"a mode that is not built":    {inputs: map[string]string{"mode": "reproduce"}, code: 2, say: "not built yet"},
		"setup commands":              {inputs: map[string]string{"setup-commands": "make"}, code: 2, say: "input setup-commands: the runner's owner lets no commands be run before a check"},
		"turns that are none":         {inputs: map[string]string{"turns": "many"}, code: 2, say: `input turns: "many" is no whole number from 1`},
		"a folder outside":            {inputs: map[string]string{"check": "true", "working-directory": "../x"}, code: 2, say: "input working-directory: "},
		"a prefix of somebody else's": {inputs: map[string]string{"branch-prefix": "main/"}, code: 2, say: "input branch-prefix: "},
		"publish without evidence":    {inputs: map[string]string{"mode": "publish"}, code: 2, say: "input evidence-path: "},
		"evidence that is not there":  {inputs: map[string]string{"mode": "publish", "evidence-path": "nowhere"}, code: 3, say: "download the artifact of the repair job there first"},
		"a model that is not here":    {inputs: map[string]string{"model": "gpt"}, code: 2, stop: "needs_configuration", say: `"gpt" is none of the models here: scripted`},
		"no token":                    {inputs: map[string]string{"github-token": ""}, code: 2, say: "input github-token: "},
		"a token that is none":        {inputs: map[string]string{"github-token": "ghs_thisisnotoneatall000000000000000000000"}, code: 3, say: "401"},
		"a configuration that is wrong": {set: func(f *forge) error {
			_, err := f.repo.Commit("main", map[string]string{".github/redraft.yml": "version: 1\nchekcs:\n  unit: {run: \"true\"}\n"}, githubtest.Person{}, "Wrong")
			f.fail("main", 0)
			return err
		}, code: 2, stop: "bad_configuration", say: `.github/redraft.yml:2:1: unknown key "chekcs" in the file; did you mean "checks"?`},
		"the runner's own configuration is wrong": {env: map[string]string{"REDRAFT_CONFIG": "nowhere.yml"}, code: 2, say: "read the configuration"},
		"pull requests may not be opened":         {perms: without("pull_requests", "read"), code: 2, stop: "needs_configuration", say: "pull-requests: write"},
		"Actions may not open them":               {set: func(f *forge) error { f.repo.CanCreatePulls(false); return nil }, code: 2, stop: "needs_configuration", say: "Allow GitHub Actions to create and approve pull requests"},
		"branches may not be pushed":              {perms: without("contents", "read"), code: 2, stop: "needs_configuration", say: "contents: write"},
		"checks may not be written":               {perms: without("checks", "read"), code: 2, stop: "needs_configuration", say: "checks: write"},
		"checks may not be read":                  {perms: without("checks", ""), code: 2, stop: "not_allowed", say: "checks: read"},
		"no git":                                  {env: map[string]string{"PATH": "empty"}, code: 2, say: "git"},
		"git is old":                              {env: map[string]string{"PATH": "old"}, code: 2, say: "2.20"},
		"outside of a job":                        {env: map[string]string{"RUNNER_TEMP": "unset"}, code: 2, say: "RUNNER_TEMP is not set"},
		"no inputs":                               {env: map[string]string{"REDRAFT_INPUTS": "unset"}, code: 2, say: "REDRAFT_INPUTS is not set"},
		"an event that is none":                   {env: map[string]string{"GITHUB_EVENT_PATH": "/dev/null"}, code: 2, stop: "malformed", say: "read the payload"},
		"an event that is not there":              {env: map[string]string{"GITHUB_EVENT_PATH": "nowhere.json"}, code: 3, say: "read the event"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newActionForge(t, orElse(tt.answer, rightAnswer))
			if tt.code == 2 {
				f.asked = func() { t.Error("the model was asked") }
			}
			if tt.set != nil {
				if err := tt.set(f); err != nil {
					t.Fatal(err)
				}
			}
			if len(f.Deliveries()) == 0 || f.newStep("workflow_run", nil).body == nil {
				f.fail("main", 0)
			}
			s := f.newStep("workflow_run", tt.inputs)
			s.perms, s.env = tt.perms, maps.Clone(tt.env)
			switch s.env["PATH"] {
			case "empty":
				s.env["PATH"] = t.TempDir()
			case "old":
				s.env["PATH"] = oldGit(t)
			}
			r := s.run()
			if r.code != tt.code || r.outputs["stop-reason"] != tt.stop {
				t.Errorf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
			}
			said := r.annotations()
			if len(said) == 0 || !strings.Contains(said[0], tt.say) || tt.code != 0 && !strings.HasPrefix(said[0], "error ") || tt.code != 0 && len(said) != 1 {
				t.Errorf("annotations %q, want one with %q; the log:\n%s", said, tt.say, r.log)
			}
			if len(f.opened()) != 0 {
				t.Errorf("a draft was opened: %+v", f.opened())
			}
		})
	}
}

// oldGit is a folder with a git that says it is old.
func oldGit(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\necho git version 2.20.1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestActionRunnerFiles tries the files by which the runner is told things.
func TestActionRunnerFiles(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	run := func(env map[string]string) stepResult {
		s := f.newStep("workflow_run", map[string]string{"dry-run": "true"})
		s.env = env
		return s.run()
	}
	full := filepath.Join(t.TempDir(), "summary")
	if err := os.WriteFile(full, bytes.Repeat([]byte("x"), 1<<20-10), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"missing": "unset", "full": full, "no room": "/dev/full", "a folder": t.TempDir()} {
		r := run(map[string]string{"GITHUB_STEP_SUMMARY": file})
		if said := r.annotations(); r.code != 0 || len(said) != 2 || !strings.Contains(said[1], "summary could not be written") {
			t.Errorf("summary %s: exit %d, %q", name, r.code, said)
		}
	}
	for name, file := range map[string]string{"missing": "unset", "no room": "/dev/full"} {
		r := run(map[string]string{"GITHUB_OUTPUT": file})
		if said := r.annotations(); r.code != 3 || !strings.HasPrefix(said[len(said)-1], "error ") || !strings.Contains(said[len(said)-1], "GITHUB_OUTPUT") {
			t.Errorf("outputs %s: exit %d, %q", name, r.code, said)
		}
	}
}

// TestActionCancelled ends a step as the runner does while the model is asked: nothing is left, and the commit says so.
func TestActionCancelled(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	s := f.newStep("workflow_run", nil)
	cmd, log := s.command()
	asked, answer := make(chan bool, 1), make(chan bool)
	f.asked = func() { asked <- true; <-answer }
	defer close(answer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() //nolint:errcheck // it has ended
	<-asked
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	r := s.result(cmd, log)
	if r.code != 0 || r.outputs["stop-reason"] != "cancelled" {
		t.Errorf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
	}
	if c, ok := f.shown(f.repo.Tip("main")); !ok || c.Status != "completed" || !strings.Contains(c.Title, "cancelled") {
		t.Errorf("the check run is %+v", c)
	}
	if left, _ := filepath.Glob(filepath.Join(f.state(), "trees", "*")); len(left) != 0 {
		t.Errorf("trees left: %v", left)
	}
	if len(f.opened()) != 0 || len(f.repo.Branches()) != 1 {
		t.Errorf("left on GitHub: %v, %v", f.opened(), f.repo.Branches())
	}
	if out, err := exec.Command("pgrep", "-f", s.dir).Output(); err == nil {
		t.Errorf("processes left: %s", out)
	}
}

// TestActionPlaces runs a step whose folders have names that a shell would trip over.
func TestActionPlaces(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	odd := filepath.Join(t.TempDir(), `a "quoted" place's $HOME`)
	for _, dir := range []string{"home", "temp"} {
		if err := os.MkdirAll(filepath.Join(odd, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := f.newStep("workflow_run", map[string]string{"mode": "repair", "evidence-path": filepath.Join(odd, "the evidence")})
	s.env = map[string]string{"HOME": filepath.Join(odd, "home"), "RUNNER_TEMP": filepath.Join(odd, "temp")}
	made := s.run()
	if made.outputs["stop-reason"] != "fixed" || made.outputs["evidence-path"] != filepath.Join(odd, "the evidence") {
		t.Fatalf("exit %d, outputs %v, log:\n%s", made.code, made.outputs, made.log)
	}
	publish := f.newStep("workflow_run", map[string]string{"mode": "publish", "evidence-path": filepath.Join(odd, "the evidence")})
	publish.env = s.env
	f.wantDraft(publish.run())
}

// TestActionNoModel says where no model server answers, once, and goes on without.
func TestActionNoModel(t *testing.T) {
	t.Parallel()
	if found := model.Detect(t.Context()); len(found) > 0 {
		t.Skipf("REFUSED: a model server answers on this machine: %v", found)
	}
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	b, err := os.ReadFile(f.file("config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(b), "models:")
	if err := os.WriteFile(f.file("config.yml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := f.newStep("workflow_run", nil).run()
	said := r.annotations()
	if r.code != 0 || r.outputs["stop-reason"] == "fixed" || len(said) == 0 || !strings.Contains(said[0], "No model server answers on this runner") || !strings.HasPrefix(said[0], "warning ") {
		t.Errorf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
	}
}

// TestActionRepairAgain has GitHub fail the first attempt of the half that repairs: the half that publishes finds the evidence of
// the second.
func TestActionRepairAgain(t *testing.T) {
	t.Parallel()
	f := newActionForge(t, rightAnswer)
	f.fail("main", 0)
	decided := f.newStep("workflow_run", map[string]string{"dry-run": "true"}).run()
	f.Inject(githubtest.Times(4, "GET", "/repos/*/*/contents/*/*", githubtest.Fault{Status: 502}))
	made := f.newStep("workflow_run", map[string]string{"mode": "repair", "jobs": decided.outputs["jobs"]}).run()
	if made.outputs["stop-reason"] != "fixed" || !strings.Contains(made.log, "attempt 1: ") {
		t.Fatalf("exit %d, outputs %v, log:\n%s", made.code, made.outputs, made.log)
	}
	f.wantDraft(f.newStep("workflow_run", map[string]string{"mode": "publish", "evidence-path": made.outputs["evidence-path"]}).run())
}

// TestActionSetup has a step's input prepare what the check needs, in both halves: the machine that publishes runs nothing and has no
// word in it.
func TestActionSetup(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.Open(sandbox.Options{Tier: sandbox.Bubblewrap}); err != nil {
		t.Skipf("REFUSED: setup commands need a loopback of their own: %v", err)
	}
	f := newActionForge(t, rightAnswer)
	_, err := f.repo.Commit("main", map[string]string{".github/redraft.yml": "version: 1\nchecks:\n  unit: {run: \"test -e made/it && grep -q right answer.txt\"}\n"}, githubtest.Person{}, "Needs more")
	if err != nil {
		t.Fatal(err)
	}
	f.fail("main", 0)
	own, err := os.ReadFile(f.file("config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.file("allows.yml"), append(own, "setup: {allow: true}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{"mode": "repair", "setup-commands": "mkdir made\ntouch made/it\n"}
	repair := f.newStep("workflow_run", inputs)
	repair.env = map[string]string{"REDRAFT_CONFIG": f.file("allows.yml")}
	made := repair.run()
	if made.outputs["stop-reason"] != "fixed" || !strings.Contains(made.summary, "| setup commands | mkdir made; touch made/it | the workflow's input |") {
		t.Fatalf("exit %d, outputs %v, log:\n%s\n%s", made.code, made.outputs, made.log, made.summary)
	}
	commands := inputs["setup-commands"]
	inputs = map[string]string{"mode": "publish", "evidence-path": made.outputs["evidence-path"], "setup-commands": "true"}
	if other := f.newStep("workflow_run", inputs).run(); other.outputs["stop-reason"] != "not_proven" || len(f.opened()) != 0 {
		t.Errorf("evidence over other commands: exit %d, outputs %v", other.code, other.outputs)
	}
	inputs["setup-commands"] = commands
	f.wantDraft(f.newStep("workflow_run", inputs).run())
	if body := f.opened()[0].Body; !strings.Contains(body, "Setup commands ran once on the root") {
		t.Errorf("the draft does not say that something was set up:\n%s", body)
	}
}
