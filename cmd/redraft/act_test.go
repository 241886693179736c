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
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

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
	permit  func(permissions map[string]string) // what the owner changed of a job's; nothing if nil
	env     []string                            // over the runner's
	program string                              // the test binary if empty

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
		"JOB_PROGRAM=" + program, "JOB_TOKENS=" + filepath.Join(r.dir, "tokens"), "JOB_TOKEN_OF_ALL=" + tokenOfAll, "JOB_ARTIFACTS=" + r.artifacts(), "JOB_MACHINES=" + r.f.file("machines"),
		"GIT_SSL_CAINFO=" + r.f.CAFile, "GITHUB_REPOSITORY_ID=" + fmt.Sprint(r.f.repo.ID()), "GITHUB_WORKFLOW_REF=acme/widget/.github/workflows/" + r.file + "@refs/heads/main",
	}, append(testEnv(), r.env...)...)
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

func (r *actRun) artifacts() string { return filepath.Join(r.dir, "artifacts") }

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
	from, to := r.f.stored(), filepath.Join(r.dir, "clone")
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
		if r.permit != nil {
			r.permit(job.Permissions)
		}
		r.tokens[id] = r.f.repo.ActionsToken(spelled(job.Permissions))
		r.write("tokens/"+id, r.tokens[id])
		for _, s := range job.Steps {
			if s.Uses != "" {
				dirs[s.Uses] = r.standIn(s.Uses)
			}
		}
	}
	return dirs
}

// spelled are the permissions of a workflow's file as the API has them.
func spelled(file map[string]string) map[string]string {
	out := map[string]string{}
	for name, level := range file {
		out[strings.ReplaceAll(name, "-", "_")] = level
	}
	return out
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
	f.ends()
	for _, home := range append(glob(f.t, f.file("machines/*")), f.home) {
		for _, pattern := range []string{"trees/*", "tmp/*", "mirrors/*/*.lock"} {
			if left := glob(f.t, filepath.Join(home, ".local", "state", "redraft", pattern)); len(left) > 0 {
				f.t.Errorf("left on the runner: %v", left)
			}
		}
	}
}

// ends waits until no process works for the forge's runner any more.
func (f *forge) ends() {
	f.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(f.processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Errorf("processes are left: %q", f.processes())
			break
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
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

// TestUnderActFailedWorkflow runs CI, which fails, and then the workflow that answers it.
func TestUnderActFailedWorkflow(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "failed-workflow.yml")
	root := f.repo.Tip("main")
	ci := f.newAct("push")
	ci.file = "ci.yml"
	l := ci.run()
	result := l.results()["unit"]
	if result != "failure" || f.modelAsked() {
		t.Fatalf("CI ended in %q:\n%s", result, l.text())
	}
	if _, err := f.repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: []githubtest.Job{{Name: "unit", Conclusion: result}}}); err != nil {
		t.Fatal(err)
	}
	p := f.drafted(f.newAct("workflow_run").run(), "redraft", "main", root)
	if !strings.Contains(p.Body, "grep -q right answer.txt") {
		t.Errorf("the draft says:\n%s", p.Body)
	}
}

// machine is one that a job has for itself: its configuration, and nothing that another job left.
func (r *actRun) machine(job, config string) {
	r.f.t.Helper()
	home := r.f.file(filepath.Join("machines", job))
	err := linkBase(filepath.Join(home, ".local", "state", "redraft"))
	if err == nil {
		text := fmt.Sprintf("github: {api: %q, git: %q, ca-file: %q}\n%s\n", r.f.URL, r.server(), r.f.CAFile, config)
		err = os.WriteFile(filepath.Join(home, "config.yml"), []byte(text), 0o600)
	}
	if err != nil {
		r.f.t.Fatal(err)
	}
}

// newTwoJobs is a run of two-job.yml on three machines. Of these only that of the repair job has a model, and none but it a
// sandbox that could be opened.
func (f *forge) newTwoJobs(event string) *actRun {
	f.t.Helper()
	r := f.newAct(event)
	for job, config := range map[string]string{
		"gate":    "sandbox: {tier: nowhere}",
		"repair":  fmt.Sprintf("models: {small: {name: scripted, base-url: %q}}", f.model.URL()),
		"publish": "sandbox: {tier: nowhere}",
	} {
		r.machine(job, config)
	}
	return r
}

// TestUnderActTwoJobs decides, repairs and publishes in three jobs. The repair job's token reads contents, and the publish job
// runs nothing.
func TestUnderActTwoJobs(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "two-job.yml")
	root := f.repo.Tip("main")
	f.fail("main", 0)
	f.Forget()
	r := f.newTwoJobs("workflow_run")
	l := r.run()
	p := f.drafted(l, "publish", "main", root)
	want := map[string]string{"gate": "success", "repair": "success", "publish": "success"}
	if diff := cmp.Diff(want, l.results()); diff != "" {
		t.Errorf("jobs: %s", diff)
	}
	if out := l.outputs("repair"); out["stop-reason"] != "fixed" || out["verdict"] != "green" || out["pull-request-operation"] != "none" {
		t.Errorf("the repair job put out %v", out)
	}
	if n := len(f.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	for _, x := range l.all() {
		if x.Job != "repair" && strings.Contains(x.Msg, "seeing the red") {
			t.Errorf("job %s runs the check", x.Job)
		}
	}
	jobs := r.jobs()
	if diff := cmp.Diff(map[string]string{"contents": "read"}, jobs["repair"].Permissions); diff != "" {
		t.Errorf("the repair job's permissions: %s", diff)
	}
	if slices.Contains(slices.Collect(maps.Values(jobs["gate"].Permissions)), "write") {
		t.Errorf("the gate may write: %v", jobs["gate"].Permissions)
	}
	f.kept(jobs)
	receipts := glob(t, filepath.Join(r.artifacts(), "redraft-evidence", "*", "receipt.json"))
	if len(receipts) != 1 {
		t.Fatalf("%d receipts in the artifact, want 1", len(receipts))
	}
	var receipt struct{ Root, Tree string }
	text, err := os.ReadFile(receipts[0])
	if err == nil {
		err = json.Unmarshal(text, &receipt)
	}
	if err != nil || receipt.Root != root || receipt.Tree != f.tree(p.HeadSHA) {
		t.Errorf("proved: tree %s on %s; pushed: tree %s on %s; %v", receipt.Tree, receipt.Root, f.tree(p.HeadSHA), root, err)
	}
}

// kept wants that each job asked GitHub for what its permissions are for, and the two that only read for nothing else.
func (f *forge) kept(jobs map[string]actJob) {
	f.t.Helper()
	calls := map[string]int{}
	for _, c := range f.Audit() {
		for id, job := range jobs {
			if !samePermissions(c.Permissions, job.Permissions) {
				continue
			}
			calls[id]++
			if c.Status == 403 && !slices.Contains(probes, c.Path) {
				f.t.Errorf("job %s was refused %s %s", id, c.Method, c.Path)
			}
			if id != "publish" && c.Write() || id == "repair" && c.Needs != "contents:read" && c.Needs != "metadata:read" && c.Needs != "" {
				f.t.Errorf("job %s asks for %s %s, which needs %s", id, c.Method, c.Path, c.Needs)
			}
		}
	}
	for id := range jobs {
		if calls[id] == 0 {
			f.t.Errorf("job %s made no call with its own token", id)
		}
	}
}

// probes are calls that GitHub refuses to a workflow's token, by which it is known for one.
var probes = []string{"/user", "/repos/acme/widget/actions/permissions/workflow"}

func samePermissions(got, file map[string]string) bool {
	got = maps.Clone(got)
	delete(got, "metadata")
	return maps.Equal(got, spelled(file))
}

// tree is that of a commit, as git says it.
func (f *forge) tree(commit string) string {
	f.t.Helper()
	cmd := exec.Command("git", "-C", f.stored(), "rev-parse", commit+"^{tree}")
	cmd.Env = []string{"HOME=" + f.home, "PATH=" + barePath(f.t)}
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// stored is the repository as the fake GitHub has it on disk.
func (f *forge) stored() string {
	return filepath.Join(f.home, "github", "repos", fmt.Sprint(f.repo.ID())+".git")
}

// TestUnderActLabel answers the label on a pull request and on an issue, and the command in a comment.
func TestUnderActLabel(t *testing.T) {
	for _, tt := range []struct {
		name, event, base string
		set               func(f *forge) (number int, err error)
	}{
		{"pull request", "pull_request", "feature", func(f *forge) (int, error) {
			n := f.pull()
			f.fail("", n)
			return n, f.repo.AddLabel(n, "redraft", "writer")
		}},
		{"issue", "issues", "main", func(f *forge) (int, error) {
			n := f.repo.OpenIssue("The answer is wrong", "It should be right.", "writer")
			return n, f.repo.AddLabel(n, "redraft", "writer")
		}},
		{"comment", "issue_comment", "feature", func(f *forge) (int, error) {
			n := f.pull()
			f.fail("", n)
			_, err := f.repo.AddComment(n, "/redraft", "writer")
			return n, err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newActForge(t, "label.yml")
			n, err := tt.set(f)
			if err != nil {
				t.Fatal(err)
			}
			root := f.repo.Tip(tt.base)
			p := f.drafted(f.newAct(tt.event).run(), "redraft", tt.base, root)
			if got := f.repo.Labels(n); len(got) != 0 {
				t.Errorf("labels: %v", got)
			}
			var ours []githubtest.Comment
			for _, c := range f.repo.Comments(n) {
				if c.Author == "github-actions[bot]" {
					ours = append(ours, c)
				}
			}
			if len(ours) != 1 || !strings.Contains(ours[0].Body, fmt.Sprintf("#%d", p.Number)) {
				t.Errorf("our comments: %+v", ours)
			}
		})
	}
}

// TestUnderActSchedule looks at the default branch unasked.
func TestUnderActSchedule(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "schedule.yml")
	root := f.repo.Tip("main")
	f.fail("main", 0)
	r := f.newAct("schedule")
	r.payload = []byte(`{"schedule": "17 3 * * *"}`)
	f.drafted(r.run(), "redraft", "main", root)

	r = f.newAct("schedule") // the next night
	r.payload = []byte(`{"schedule": "17 3 * * *"}`)
	l := r.run()
	if out := l.outputs("redraft"); l.code != 0 || out["pull-request-operation"] != "none" || out["stop-reason"] == "fixed" || len(l.remarks("error")) > 0 {
		t.Errorf("exit %d, outputs %v, log:\n%s", l.code, out, l.text())
	}
	if n := len(f.model.Requests()); n != 1 || len(f.opened()) != 1 {
		t.Errorf("the model was asked %d times, and there are %d drafts", n, len(f.opened()))
	}
}

// fork opens a pull request from a fork.
func (f *forge) fork() (number int, err error) {
	other, err := f.repo.Fork("stranger")
	if err == nil {
		_, err = other.Commit("feature", map[string]string{"feature.txt": "new\n"}, githubtest.Person{}, "A feature")
	}
	if err != nil {
		return 0, err
	}
	return f.repo.OpenPull(githubtest.NewPull{Title: "A feature", Head: "stranger:feature", Base: "main", By: "stranger"})
}

func forkLabelled(f *forge) error {
	n, err := f.fork()
	if err == nil {
		err = f.repo.AddLabel(n, "redraft", "writer")
	}
	return err
}

func forkRan(f *forge) error {
	n, err := f.fork()
	f.fail("", n)
	return err
}

// TestUnderActNothing has events that no draft comes of, nor any red job.
func TestUnderActNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		example, event string
		set            func(f *forge) error
		job, stop, say string // no job is started where job is empty
	}{
		"green here": {"failed-workflow.yml", "workflow_run", func(f *forge) error {
			_, err := f.repo.Commit("main", map[string]string{"answer.txt": needle}, githubtest.Person{}, "Right")
			f.fail("main", 0)
			return err
		}, "redraft", "not_reproduced", "notice"},
		"green there": {"failed-workflow.yml", "workflow_run", func(f *forge) error {
			_, err := f.repo.RunWorkflow(githubtest.Workflow{Jobs: []githubtest.Job{{Name: "unit", Conclusion: "success"}}})
			return err
		}, "", "", ""},
		"a fork's run":          {"failed-workflow.yml", "workflow_run", forkRan, "", "", ""},
		"a fork's run, gated":   {"two-job.yml", "workflow_run", forkRan, "gate", "fork", "warning"},
		"a fork's pull request": {"label.yml", "pull_request", forkLabelled, "redraft", "fork", "warning"},
		"a label of a stranger's": {"label.yml", "issues", func(f *forge) error {
			return f.repo.AddLabel(f.repo.OpenIssue("It fails", "", "stranger"), "redraft", "triager")
		}, "redraft", "no_write", "warning"},
		"another label": {"label.yml", "issues", func(f *forge) error {
			return f.repo.AddLabel(f.repo.OpenIssue("It fails", "", "writer"), "bug", "writer")
		}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newActForge(t, tt.example)
			if err := tt.set(f); err != nil {
				t.Fatal(err)
			}
			r := f.newAct(tt.event)
			if tt.example == "two-job.yml" {
				r = f.newTwoJobs(tt.event)
			}
			l := r.run()
			want := map[string]string{}
			if tt.job != "" {
				want[tt.job] = "success"
			}
			if diff := cmp.Diff(want, l.results()); l.code != 0 || diff != "" {
				t.Fatalf("exit %d, jobs: %s, log:\n%s", l.code, diff, l.text())
			}
			if out := l.outputs(tt.job); out["stop-reason"] != tt.stop || out["pull-request-operation"] == "created" || tt.stop == "not_reproduced" && out["verdict"] != "green" {
				t.Errorf("outputs %v, want stop-reason %s", out, tt.stop)
			}
			said := l.remarks("notice", "warning", "error")
			if tt.job != "" && (len(said) != 1 || !strings.HasPrefix(said[0], tt.job+" "+tt.say+" ")) || tt.job == "" && len(said) > 0 {
				t.Errorf("annotations %q, want one %s", said, tt.say)
			}
			if f.modelAsked() {
				t.Error("the model was asked")
			}
			f.nothing()
		})
	}
}

// TestUnderActLacks takes one permission away from the file, or gives only its lower level: the job fails with one annotation
// that names it, before any work.
func TestUnderActLacks(t *testing.T) {
	for _, name := range []string{"contents", "pull-requests", "checks"} {
		for _, level := range []string{"", "read"} {
			t.Run(name+" "+orElse(level, "none"), func(t *testing.T) {
				t.Parallel()
				f := newActForge(t, "failed-workflow.yml")
				f.fail("main", 0)
				r := f.newAct("workflow_run")
				r.permit = func(p map[string]string) {
					if p[name] = level; level == "" {
						delete(p, name)
					}
				}
				r.env = []string{"JOB_FAILS=1"}
				l := r.run()
				if l.code == 0 || l.results()["redraft"] != "failure" {
					t.Errorf("exit %d, jobs %v", l.code, l.results())
				}
				said := l.remarks("error", "warning", "notice")
				if len(said) != 1 || !strings.HasPrefix(said[0], "redraft error ") || !strings.Contains(strings.ReplaceAll(said[0], "_", "-"), name+": ") {
					t.Errorf("annotations %q, want one error that names %s", said, name)
				}
				if level == "read" && !strings.Contains(said[0], name+": write") {
					t.Errorf("the annotation does not name %s: write: %q", name, said)
				}
				if f.modelAsked() || strings.Contains(l.text(), "seeing the red") {
					t.Errorf("there was work:\n%s", l.text())
				}
				f.nothing()
			})
		}
	}
}

// asking is a run that is at the model, which answers when the test ends.
func (r *actRun) asking() {
	t := r.f.t
	t.Helper()
	asked, release := make(chan struct{}, 9), make(chan struct{})
	r.f.asked = func() {
		asked <- struct{}{}
		<-release
	}
	t.Cleanup(func() { close(release) })
	r.start()
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatalf("the model was never asked:\n%s", r.log.text())
	}
}

// TestUnderActCancelled cancels a run while the model is asked, as GitHub's runner does: the step's process, which is the
// program itself, gets an interrupt and has some seconds.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-cancellation
func TestUnderActCancelled(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "failed-workflow.yml")
	root := f.repo.Tip("main")
	f.fail("main", 0)
	r := f.newAct("workflow_run")
	r.asking()
	start := time.Now()
	r.signalStep(os.Interrupt)
	l := r.wait()
	if took := time.Since(start); took > 7*time.Second {
		t.Errorf("it took %v, and the runner waits 7.5 s", took)
	}
	if out := l.outputs("redraft"); out["stop-reason"] != "cancelled" || out["pull-request-operation"] != "none" {
		t.Errorf("outputs %v, log:\n%s", out, l.text())
	}
	if c, ok := f.shown(root); !ok || c.Status != "completed" || !strings.Contains(c.Title, "cancelled") {
		t.Errorf("the check run is %+v", c)
	}
	f.nothing()
}

// signalStep sends the process of the Action's second step a signal.
func (r *actRun) signalStep(s os.Signal) {
	r.f.t.Helper()
	var pid int
	text, err := os.ReadFile(filepath.Join(r.dir, "tokens", "pid"))
	if err == nil {
		_, err = fmt.Sscan(string(text), &pid)
	}
	if err == nil {
		var p *os.Process
		if p, err = os.FindProcess(pid); err == nil {
			err = p.Signal(s)
		}
	}
	if err != nil {
		r.f.t.Fatal(err)
	}
}

// TestUnderActKilled interrupts act itself, which kills the step's process at once, as a runner that went away does. Nothing
// runs on, and the next run finds the machine clean and ends in the draft.
func TestUnderActKilled(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "failed-workflow.yml")
	root := f.repo.Tip("main")
	f.fail("main", 0)
	r := f.newAct("workflow_run")
	r.asking()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	l := r.wait()
	if l.results()["redraft"] == "success" {
		t.Errorf("log:\n%s", l.text())
	}
	f.ends()
	if len(f.opened()) > 0 {
		t.Errorf("pull requests: %+v", f.opened())
	}
	f.asked = nil
	f.drafted(f.newAct("workflow_run").run(), "redraft", "main", root)
}

// TestUnderActSameJob has a job whose own step fails, and the Action after it in the same job. The check is the workflow's, since
// the repository configures none. The job stays red.
func TestUnderActSameJob(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("REFUSED: Go is not installed")
	}
	f := newActForge(t, "same-job.yml")
	files := map[string]string{".github/redraft.yml": "version: 1\n", "go.mod": "module example.org/widget\n\ngo 1.22\n", "answer_test.go": answerTest}
	root, err := f.repo.Commit("main", files, githubtest.Person{}, "A test")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command(tool, "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	r := f.newAct("push")
	r.env = []string{"PATH=" + filepath.Dir(tool) + string(os.PathListSeparator) + barePath(t), "GOCACHE=" + strings.TrimSpace(string(cache)), "GOTOOLCHAIN=local"}
	l := r.run()
	own := slices.ContainsFunc(l.all(), func(x actLine) bool {
		return x.StepResult == "failure" && strings.Contains(x.Msg, "Main go test ./...")
	})
	if l.code == 0 || l.results()["unit"] != "failure" || !own {
		t.Fatalf("exit %d, log:\n%s", l.code, l.text())
	}
	l.code = 0
	if p := f.drafted(l, "unit", "main", root); !strings.Contains(p.Body, "go test ./...") {
		t.Errorf("the draft says:\n%s", p.Body)
	}
}

const answerTest = `package widget

import (
	"os"
	"testing"
)

func TestAnswer(t *testing.T) {
	got, err := os.ReadFile("answer.txt")
	if want := "the answer is right\n"; err != nil || string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
`

// TestUnderActSpoiled gets at the artifact between the two jobs, or lets somebody push meanwhile. There is no draft, and why is
// said.
func TestUnderActSpoiled(t *testing.T) {
	for name, tt := range map[string]struct {
		meanwhile string // a script; $1 is the artifact
		push      bool   // to the branch, while the model is asked
		level     string // of the one annotation of the publish job
		say       string // in it
		failed    bool   // the publish job
	}{
		"one byte of the patch":  {meanwhile: `printf x | dd of="$(echo "$1"/*/patch.diff)" bs=1 seek=20 conv=notrunc`, level: "warning", say: "not the diff that the receipt names"},
		"a link for a file":      {meanwhile: `cd "$1"/* && mv receipt.json ../../r && ln -s ../../r receipt.json`, level: "error", say: "receipt.json is no plain file", failed: true},
		"another commit":         {meanwhile: `sed -i.old 's/"root": "[0-9a-f]*"/"root": "` + strings.Repeat("b", 40) + `"/' "$1"/jobs.json`, level: "warning", say: "the evidence is of bbbbbbbbbbbb"},
		"another receipt's root": {meanwhile: `sed -i.old 's/"root": *"[0-9a-f]*"/"root":"` + strings.Repeat("b", 40) + `"/' "$1"/*/receipt.json`, level: "warning", say: "root"},
		"a push meanwhile":       {push: true, level: "notice", say: "stands elsewhere by now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newActForge(t, "two-job.yml")
			f.fail("main", 0)
			r := f.newTwoJobs("workflow_run")
			r.write("meanwhile", "#!/bin/sh\nset -eu\n"+tt.meanwhile+"\n")
			r.env = []string{"JOB_MEANWHILE=" + filepath.Join(r.dir, "meanwhile")}
			if tt.failed {
				r.env = append(r.env, "JOB_FAILS=1")
			}
			if tt.push {
				f.asked = sync.OnceFunc(func() {
					if _, err := f.repo.Commit("main", map[string]string{"other.txt": "x\n"}, githubtest.Person{}, "Meanwhile"); err != nil {
						t.Error(err)
					}
				})
			}
			l := r.run()
			want := map[string]string{"gate": "success", "repair": "success", "publish": "success"}
			if tt.failed {
				want["publish"] = "failure"
			}
			if diff := cmp.Diff(want, l.results()); diff != "" || l.outputs("repair")["stop-reason"] != "fixed" {
				t.Fatalf("exit %d, jobs: %s, log:\n%s", l.code, diff, l.text())
			}
			said := slices.DeleteFunc(l.remarks("notice", "warning", "error"), func(s string) bool { return !strings.HasPrefix(s, "publish ") })
			if len(said) == 0 || !strings.HasPrefix(said[0], "publish "+tt.level+" ") || !strings.Contains(said[0], tt.say) {
				t.Errorf("annotations %q, want one %s with %q", said, tt.level, tt.say)
			}
			f.nothing()
		})
	}
}

// TestUnderActTwoJobsLabel has a label on an issue that three jobs answer, and a model that has no answer. The publish job says
// so, and takes the label off.
func TestUnderActTwoJobsLabel(t *testing.T) {
	t.Parallel()
	f := newActForge(t, "two-job.yml")
	f.answers("I do not know.")
	root := f.repo.Tip("main")
	n := f.repo.OpenIssue("The answer is wrong", "It should be right.", "writer")
	if err := f.repo.AddLabel(n, "redraft", "writer"); err != nil {
		t.Fatal(err)
	}
	l := f.newTwoJobs("issues").run()
	if out := l.outputs("publish"); l.code != 0 || out["stop-reason"] != "exhausted" || out["verdict"] != "red" || len(l.remarks("error")) > 0 {
		t.Fatalf("exit %d, outputs %v, log:\n%s", l.code, out, l.text())
	}
	if c, ok := f.shown(root); !ok || c.Conclusion != "neutral" {
		t.Errorf("the check run is %+v", c)
	}
	if got := f.repo.Labels(n); len(got) != 0 {
		t.Errorf("labels: %v", got)
	}
	if got := f.repo.Comments(n); len(got) != 1 || got[0].Author != "github-actions[bot]" {
		t.Errorf("comments: %+v", got)
	}
	f.nothing()
}

// TestUnderActTimes measures what the Action costs around the work: its two steps for an event that is skipped at once, and the
// time from the job's start to the first request to a model.
func TestUnderActTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("REFUSED: Go is not installed")
	}
	f := newActForge(t, "failed-workflow.yml")
	program := filepath.Join(t.TempDir(), "redraft")
	build := exec.Command(tool, "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.fail("main", 0)
	r := f.newAct("workflow_run")
	r.program = program
	var once sync.Once
	var first time.Duration
	f.asked = func() { once.Do(func() { first = time.Since(r.log.began) }) }
	l := r.run()
	f.drafted(l, "redraft", "main", f.repo.Tip("main"))
	first -= l.begins("redraft")
	if first <= 0 {
		t.Errorf("the first request came after %v", first)
	}
	t.Logf("from the job's start to the first request to a model: %v", first.Round(time.Millisecond))

	again := f.newAct("workflow_run")
	again.program = program
	l = again.run()
	t.Logf("skipped at once (%s): the Action's two steps took %v and %v, the Action in all %v", l.outputs("redraft")["stop-reason"],
		l.took("setup"), l.took("run"), l.took(""))
}

// begins is when a job began.
func (l *actLog) begins(job string) time.Duration {
	for _, x := range l.all() {
		if x.Job == job {
			return x.at
		}
	}
	return 0
}

// took is the time of a step of the Action, or of the whole Action.
func (l *actLog) took(step string) time.Duration {
	for _, x := range l.all() {
		if x.Stage == "Main" && x.Took > 0 && (step == "" && len(x.Step) == 1 || len(x.Step) == 2 && x.Step[1] == step) {
			return x.Took.Round(time.Millisecond)
		}
	}
	return 0
}
