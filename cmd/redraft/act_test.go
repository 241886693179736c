package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// actRun is one run of a workflow of the files to copy, by act, which takes this machine for the runner of every job. Of the
// world around it nothing is left out but what GitHub keeps elsewhere: the three actions of others have stand-ins in
// testdata/act, and each job's token has the permissions that the file gives the job.
type actRun struct {
	f       *forge
	file    string // among the workflows of the default branch
	event   string
	payload []byte
	deny    string   // a permission that no job's token has; none if empty
	env     []string // over the runner's
	program string   // the test binary if empty

	dir    string // of tokens and artifacts
	tokens map[string]string
	cmd    *exec.Cmd
	log    *actLog
}

// actTool finds act, or says REFUSED.
func actTool(t testing.TB) string {
	t.Helper()
	if name := os.Getenv("REDRAFT_ACT"); name != "" {
		return name
	}
	name, err := exec.LookPath("act")
	if err != nil {
		t.Skip("REFUSED: act is not installed (REDRAFT_ACT names it where it is not in PATH)")
	}
	return name
}

// ciFile is the workflow that the files to copy answer. Its step fails as long as the answer is wrong.
const ciFile = `name: CI
on: [push]
permissions: {}
jobs:
  unit:
    runs-on: ubuntu-latest
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@v7
        with:
          persist-credentials: false
      - run: grep -q right answer.txt
`

// newActForge is a forge whose default branch holds ci.yml, and one of the files to copy as redraft.yml.
func newActForge(t *testing.T, example string) *forge {
	t.Helper()
	actTool(t)
	f := newActionForge(t, rightAnswer)
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "examples", example))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{".github/workflows/ci.yml": ciFile, ".github/workflows/redraft.yml": string(text)}
	if _, err := f.repo.Commit("main", files, githubtest.Person{}, "Workflows"); err != nil {
		t.Fatal(err)
	}
	return f
}

// newAct is a run that an event starts: the newest delivery of that name.
func (f *forge) newAct(event string) *actRun {
	f.t.Helper()
	r := &actRun{f: f, file: "redraft.yml", event: event, payload: []byte("{}"), dir: f.t.TempDir()}
	for _, d := range slices.Backward(f.Deliveries()) {
		if d.Event == event {
			r.payload = d.Payload
			break
		}
	}
	return r
}

// job is a job as the workflow's file has it.
type actJob struct {
	Permissions map[string]string `yaml:"permissions"`
	Steps       []struct {
		Uses string `yaml:"uses"`
	} `yaml:"steps"`
}

func (r *actRun) jobs() map[string]actJob {
	r.f.t.Helper()
	text, err := r.f.repo.File("main", ".github/workflows/"+r.file)
	if err != nil {
		r.f.t.Fatal(err)
	}
	var file struct {
		Jobs map[string]actJob `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil || len(file.Jobs) == 0 {
		r.f.t.Fatalf("%s: %d jobs, %v", r.file, len(file.Jobs), err)
	}
	return file.Jobs
}

// start starts act in a clone of the repository.
func (r *actRun) start() {
	t := r.f.t
	t.Helper()
	r.write("event.json", string(r.payload))
	args := []string{r.event, "--json", "--no-cache-server", "--no-skip-checkout", "-W", ".github/workflows/" + r.file, "-e", filepath.Join(r.dir, "event.json"),
		"-P", "self-hosted=-self-hosted", "-P", "ubuntu-latest=-self-hosted", "--github-instance", strings.TrimPrefix(r.server(), "https://"),
		"-s", "GITHUB_TOKEN=" + tokenOfAll, "--env", "GITHUB_RUN_ID=17", "-C", r.clone()}
	for use, dir := range r.uses() {
		args = append(args, "--local-repository", use+"="+dir)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	program := r.program
	if program == "" {
		program = os.Args[0]
	}
	r.cmd = exec.Command(actTool(t), args...)
	r.cmd.Env = append([]string{
		"HOME=" + r.f.home, "PATH=" + barePath(t), "REDRAFT_CONFIG=" + r.f.file("config.yml"), "REDRAFT_TEST_MAIN=1", "REDRAFT_BINARY_PATH=" + filepath.Join(here, "testdata", "act", "redraft.sh"),
		"JOB_PROGRAM=" + program, "JOB_TOKENS=" + filepath.Join(r.dir, "tokens"), "JOB_TOKEN_OF_ALL=" + tokenOfAll, "JOB_ARTIFACTS=" + filepath.Join(r.dir, "artifacts"),
		"GIT_SSL_CAINFO=" + r.f.CAFile, "GITHUB_REPOSITORY_ID=" + fmt.Sprint(r.f.repo.ID()), "GITHUB_WORKFLOW_REF=acme/widget/.github/workflows/" + r.file + "@refs/heads/main",
	}, r.env...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Stdout, r.cmd.Stderr = in, in
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.log = newActLog()
	r.log.began = time.Now()
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go r.log.read(out)
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
}

// tokenOfAll is the one token that act knows.
const tokenOfAll = "ghs_000000000000000000000000000000000000"

func (r *actRun) server() string { return strings.TrimSuffix(r.f.URL, "/api/v3/") }

func (r *actRun) write(name, text string) {
	r.f.t.Helper()
	name = filepath.Join(r.dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o700)
	}
	if err != nil {
		r.f.t.Fatal(err)
	}
}

// clone is the repository as act wants it, so that the run has the default branch's commit.
func (r *actRun) clone() string {
	t := r.f.t
	t.Helper()
	from, to := filepath.Join(r.f.home, "github", "repos", fmt.Sprint(r.f.repo.ID())+".git"), filepath.Join(r.dir, "clone")
	for _, args := range [][]string{{"clone", "-q", from, to}, {"-C", to, "remote", "set-url", "origin", r.server() + "/acme/widget.git"}} {
		cmd := exec.Command("git", args...)
		cmd.Env = []string{"HOME=" + r.f.home, "PATH=" + barePath(t)}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return to
}

// uses are the actions that the workflow uses, each with the folder that stands for it here, and makes the jobs' tokens.
func (r *actRun) uses() map[string]string {
	t := r.f.t
	t.Helper()
	r.tokens = map[string]string{}
	dirs := map[string]string{}
	for id, job := range r.jobs() {
		perms := map[string]string{}
		for name, level := range job.Permissions {
			if name != r.deny {
				perms[strings.ReplaceAll(name, "-", "_")] = level
			}
		}
		r.tokens[id] = r.f.repo.ActionsToken(perms)
		r.write("tokens/"+id, r.tokens[id])
		for _, s := range job.Steps {
			if s.Uses != "" {
				dirs[s.Uses] = r.standIn(s.Uses)
			}
		}
	}
	return dirs
}

// standIn is the folder of an action. Of ours it holds the files that the Action needs where the program is there already.
func (r *actRun) standIn(use string) string {
	t := r.f.t
	t.Helper()
	name, _, _ := strings.Cut(use, "@")
	if name != "redraft-dev/redraft" {
		dir, err := filepath.Abs(filepath.Join("testdata", "act", filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Fatalf("%s has no stand-in: %v", use, err)
		}
		return dir
	}
	for _, file := range []string{"action.yml", ".github/setup.sh"} {
		text, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		r.write(filepath.Join("redraft", file), string(text))
	}
	return filepath.Join(r.dir, "redraft")
}

// run runs the workflow to its end.
func (r *actRun) run() *actLog {
	r.f.t.Helper()
	r.start()
	return r.wait()
}

func (r *actRun) wait() *actLog {
	t := r.f.t
	t.Helper()
	if err := r.cmd.Wait(); err != nil && r.cmd.ProcessState == nil {
		t.Fatal(err)
	}
	<-r.log.done
	r.log.code = r.cmd.ProcessState.ExitCode()
	for id, token := range r.tokens {
		if text := r.log.text(); strings.Contains(text, token) {
			t.Errorf("the token of job %s stands in the log:\n%s", id, text)
		}
	}
	return r.log
}

// actLog is what a run said, read while it runs.
type actLog struct {
	began time.Time
	code  int
	done  chan struct{} // closed at the end

	mu    sync.Mutex
	lines []actLine
	other bytes.Buffer // what is no line of act's
}

// actLine is one line of act's log. https://github.com/nektos/act/blob/v0.2.89/pkg/runner/command.go
type actLine struct {
	Msg        string            `json:"msg"`
	Job        string            `json:"jobID"`
	Step       []string          `json:"stepID"` // the job's step, and that of the composite action within
	Stage      string            `json:"stage"`
	Command    string            `json:"command"` // of the workflow, as in error
	Arg        string            `json:"arg"`
	Properties map[string]string `json:"kvPairs"`
	Name       string            `json:"name"`    // of an output
	Content    string            `json:"content"` // of a summary
	Result     string            `json:"jobResult"`
	StepResult string            `json:"stepResult"`
	Took       time.Duration     `json:"executionTime"`

	at time.Duration // since act began
}

func newActLog() *actLog { return &actLog{done: make(chan struct{})} }

func (l *actLog) read(from io.ReadCloser) {
	defer close(l.done)
	defer from.Close()
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadBytes('\n')
		line := actLine{at: time.Since(l.began)}
		l.mu.Lock()
		if json.Unmarshal(text, &line) == nil {
			l.lines = append(l.lines, line)
		} else {
			l.other.Write(text)
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// all are the lines so far.
func (l *actLog) all() []actLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// text is the log for people.
func (l *actLog) text() string {
	var b strings.Builder
	for _, x := range l.all() {
		fmt.Fprintf(&b, "%6.2fs %-8s %s\n", x.at.Seconds(), x.Job, strings.TrimSuffix(x.Msg, "\n"))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return b.String() + l.other.String()
}

// results are how the jobs ended that ran.
func (l *actLog) results() map[string]string {
	out := map[string]string{}
	for _, x := range l.all() {
		if x.Result != "" {
			out[x.Job] = x.Result
		}
	}
	return out
}

// outputs are those of the Action in a job.
func (l *actLog) outputs(job string) map[string]string {
	out := map[string]string{}
	for _, x := range l.all() {
		if x.Command == "set-output" && x.Job == job && len(x.Step) == 1 {
			out[x.Name] = x.Arg
		}
	}
	return out
}

// remarks are the annotations of the levels, as "job level title: text".
func (l *actLog) remarks(levels ...string) (all []string) {
	for _, x := range l.all() {
		if slices.Contains(levels, x.Command) {
			all = append(all, fmt.Sprintf("%s %s %s: %s", x.Job, x.Command, x.Properties["title"], x.Arg))
		}
	}
	return all
}

// summary is the summary of a job.
func (l *actLog) summary(job string) string {
	var b strings.Builder
	for _, x := range l.all() {
		if x.Command == "summary" && x.Job == job && len(x.Step) > 1 {
			b.WriteString(x.Content)
		}
	}
	return b.String()
}

// drafted wants exactly one draft against a base, from a root that was not moved, and that the job says so.
func (f *forge) drafted(l *actLog, job, base, root string) githubtest.Pull {
	f.t.Helper()
	out := l.outputs(job)
	if l.code != 0 || out["stop-reason"] != "fixed" || out["verdict"] != "green" || out["pull-request-operation"] != "created" {
		f.t.Fatalf("exit %d, outputs %v, log:\n%s", l.code, out, l.text())
	}
	all := f.opened()
	if len(all) != 1 {
		f.t.Fatalf("%d drafts, want 1: %+v", len(all), all)
	}
	p := all[0]
	if !p.Draft || p.State != "open" || p.Base != base || p.Head != out["pull-request-branch"] || p.HeadSHA != out["pull-request-head-sha"] || p.URL != out["pull-request-url"] {
		f.t.Errorf("the draft is %+v, the outputs are %v", p, out)
	}
	if text, err := f.repo.File(p.HeadSHA, "answer.txt"); err != nil || text != needle {
		f.t.Errorf("the draft's branch holds %q, %v", text, err)
	}
	if f.repo.Tip(base) != root {
		f.t.Errorf("%s moved", base)
	}
	if c, ok := f.shown(root); !ok || c.Conclusion != "success" {
		f.t.Errorf("the check run is %+v", c)
	}
	if got := l.remarks("error", "warning"); len(got) > 0 {
		f.t.Errorf("annotations: %q", got)
	}
	if got := l.summary(job); !strings.Contains(got, p.URL) {
		f.t.Errorf("the summary does not name the draft:\n%s", got)
	}
	f.tidy()
	return p
}

// nothing wants no draft and no branch of ours.
func (f *forge) nothing() {
	f.t.Helper()
	if got := f.opened(); len(got) > 0 {
		f.t.Errorf("pull requests: %+v", got)
	}
	for name := range f.repo.Branches() {
		if strings.HasPrefix(name, "redraft/") {
			f.t.Errorf("branch %s was pushed", name)
		}
	}
	f.tidy()
}

// tidy wants nothing left on the runner: no process, no tree, nothing half-written, no lock of git's.
func (f *forge) tidy() {
	f.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(f.processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Errorf("processes are left: %q", f.processes())
			break
		}
	}
	for _, dir := range []string{"trees", "tmp"} {
		if left, err := os.ReadDir(filepath.Join(f.state(), dir)); err == nil && len(left) > 0 {
			f.t.Errorf("%d entries are left in %s: %v", len(left), dir, left)
		}
	}
	locks, err := filepath.Glob(filepath.Join(f.state(), "mirrors", "*", "*.lock"))
	if err != nil || len(locks) > 0 {
		f.t.Errorf("locks are left: %v, %v", locks, err)
	}
}

// processes are the command lines of those that work for the forge's runner; none where there is no /proc to look at.
func (f *forge) processes() (all []string) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range names {
		var pid int
		if _, err := fmt.Sscan(filepath.Base(dir), &pid); err != nil || pid == os.Getpid() || zombie(pid) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // gone by now
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		at, _ := os.Readlink(filepath.Join(dir, "cwd"))
		text := string(line) + "\x00" + string(env) + "\x00" + at
		if strings.Contains(text, f.home) && !strings.Contains(text, filepath.Join(f.home, "github")) {
			all = append(all, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return all
}

// TestActFailedWorkflow runs CI, which fails, and then the workflow that answers it.
func TestActFailedWorkflow(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "failed-workflow.yml")
	root := f.repo.Tip("main")
	ci := f.newAct("push")
	ci.file = "ci.yml"
	l := ci.run()
	result := l.results()["unit"]
	if result != "failure" || len(f.model.Requests()) > 0 {
		t.Fatalf("CI ended in %q:\n%s", result, l.text())
	}
	if _, err := f.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: []githubtest.Job{{Name: "unit", Conclusion: result}}}); err != nil {
		t.Fatal(err)
	}
	l = f.newAct("workflow_run").run()
	p := f.drafted(l, "redraft", "main", root)
	if !strings.Contains(p.Body, "grep -q right answer.txt") {
		t.Errorf("the draft says:\n%s", p.Body)
	}
	t.Log(l.text())
}

var _ = maps.Copy[map[string]string, map[string]string]
var _ = regexp.MustCompile
