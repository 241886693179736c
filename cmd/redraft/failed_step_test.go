package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// stepFiles are a repository that configures nothing and whose Makefile says that all is well: only the step of its workflow is red.
var stepFiles = map[string]string{
	"answer.txt": "the answer is wrong\n", "Makefile": "test:\n\ttrue\n",
	".github/workflows/ci.yml": `name: CI
on: [push, pull_request]
jobs:
  unit:
    runs-on: ubuntu-latest
    strategy: {matrix: {word: [answer, right]}}
    steps:
      - uses: actions/checkout@v4
      - run: ls
      - name: Look for the word
        env: {WORD: "${{ matrix.word }}"}
        run: grep -q "$WORD" answer.txt
      - name: Publish
        run: ./publish --token ${{ secrets.TOKEN }}
`,
}

func stepForge(t *testing.T, more map[string]string) *forge {
	files := maps.Clone(stepFiles)
	maps.Copy(files, more)
	f := newForgeOf(t, rightAnswer, files)
	f.repo.CanCreatePulls(true)
	return f
}

// failStep lets one step of one job of the matrix fail.
func (f *forge) failStep(pull int, name string) (run int64) {
	f.t.Helper()
	steps := []githubtest.Step{{Name: "Run actions/checkout@v4"}, {Name: "Run ls"}}
	for _, s := range []string{"Look for the word", "Publish"} {
		steps = append(steps, githubtest.Step{Name: s, Conclusion: map[bool]string{true: "failure", false: "success"}[s == name]})
	}
	run, err := f.repo.RunWorkflow(githubtest.Workflow{Pull: pull, Jobs: []githubtest.Job{
		{Name: "unit (answer)", Conclusion: "success", Steps: steps[:2]}, {Name: "unit (right)", Conclusion: "failure", Steps: steps}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return run
}

// TestServeFailedStep proves a draft by the command of the step that failed, with the values of the matrix that it failed with.
func TestServeFailedStep(t *testing.T) {
	t.Parallel()
	f := stepForge(t, nil)
	f.serve()
	root := f.repo.Tip("main")
	f.failStep(0, "Look for the word")
	c := f.ended(root)
	p := f.once("main", root)
	for _, want := range []string{`grep -q "$WORD" answer.txt`, "`.github/workflows/ci.yml`, line 10"} {
		if !strings.Contains(p.Body, want) || c.Conclusion != "success" {
			t.Errorf("the draft does not say %q; check run %+v, body:\n%s", want, c, p.Body)
		}
	}
}

// TestServeStepRefused ends what a step gives no command for, and what a pull request changed, before anything is run.
func TestServeStepRefused(t *testing.T) {
	t.Parallel()
	f := stepForge(t, nil)
	for branch, text := range map[string]string{"eases": strings.ReplaceAll(stepFiles[".github/workflows/ci.yml"], "grep -q", "grep -qv"), "more": "name: CI\n" + stepFiles[".github/workflows/ci.yml"]} {
		if _, err := f.repo.Commit(branch, map[string]string{".github/workflows/ci.yml": text, "other.txt": "x\n"}, githubtest.Person{}, "Work"); err != nil {
			t.Fatal(err)
		}
	}
	f.serve()
	f.failStep(0, "Publish")
	c := f.ended(f.repo.Tip("main"))
	if !strings.HasPrefix(c.Title, "needs configuration (expression)") || !strings.Contains(c.Summary, "secrets") {
		t.Errorf("a secret: %+v", c)
	}
	n, err := f.repo.OpenPull(githubtest.NewPull{Title: "Ease", Head: "eases", Base: "main", By: "writer"})
	if err != nil {
		t.Fatal(err)
	}
	f.failStep(n, "Look for the word")
	c = f.ended(f.repo.Tip("eases"))
	if !strings.HasPrefix(c.Title, "commands changed") || !strings.Contains(c.Summary, "the command of check") {
		t.Errorf("another command: %+v", c)
	}
	if f.modelAsked() || len(f.drafts()) != 0 {
		t.Error("somebody tried to repair it")
	}
}

// TestActionFailedStep answers the failed step of the very job that the Action runs in, then takes the same red run through both halves.
func TestActionFailedStep(t *testing.T) {
	t.Parallel()
	f := stepForge(t, nil)
	root := f.repo.Tip("main")
	run, err := f.repo.RunWorkflow(githubtest.Workflow{Jobs: []githubtest.Job{{Name: "unit (answer)", Conclusion: "failure"}, {Name: "unit (right)", Runner: "mine", Steps: []githubtest.Step{
		{Name: "Run actions/checkout@v4"}, {Name: "Run ls"}, {Name: "Look for the word", Conclusion: "failure"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := f.newStep("workflow_run", nil)
	s.event, s.body = "push", []byte(`{"repository":{"id":`+fmt.Sprint(f.repo.ID())+`,"name":"widget","owner":{"login":"acme"}}}`)
	s.env = map[string]string{"GITHUB_SHA": root, "GITHUB_RUN_ID": fmt.Sprint(run), "RUNNER_NAME": "mine", "GITHUB_WORKFLOW": "CI",
		"GITHUB_WORKFLOW_REF": "acme/widget/.github/workflows/ci.yml@refs/heads/main"}
	f.wantDraft(s.run())
	if body := f.opened()[0].Body; !strings.Contains(body, `grep -q "$WORD" answer.txt`) {
		t.Errorf("the draft is proved by another command:\n%s", body)
	}
}

// TestActionStepHalves takes one failed step through a job that repairs and one that publishes: the steps cross as data.
func TestActionStepHalves(t *testing.T) {
	t.Parallel()
	f := stepForge(t, nil)
	f.failStep(0, "Look for the word")
	decided := f.newStep("workflow_run", map[string]string{"dry-run": "true"}).run()
	repair := f.newStep("workflow_run", map[string]string{"mode": "repair", "jobs": decided.outputs["jobs"]})
	repair.perms = reads
	made := repair.run()
	if made.outputs["stop-reason"] != "fixed" {
		t.Fatalf("exit %d, outputs %v, log:\n%s", made.code, made.outputs, made.log)
	}
	f.wantDraft(f.newStep("workflow_run", map[string]string{"mode": "publish", "evidence-path": made.outputs["evidence-path"]}).run())
	if _, err := os.Stat(made.outputs["patch-path"]); err != nil {
		t.Error(err)
	}
}

// TestActionDiagnose says what is red and why, with the commit that turned it red, and leaves no draft; it may write neither branches nor
// pull requests.
func TestActionDiagnose(t *testing.T) {
	t.Parallel()
	f := stepForge(t, map[string]string{"answer.txt": needle})
	var suspect string
	for _, text := range []string{"wrong\n", "wrong\nagain\n"} {
		sha, err := f.repo.Commit("main", map[string]string{"answer.txt": text}, githubtest.Person{}, "A slip")
		if err != nil {
			t.Fatal(err)
		}
		if suspect == "" {
			suspect = sha
		}
	}
	f.asked = func() { t.Error("a model was asked") }
	f.failStep(0, "Look for the word")
	s := f.newStep("workflow_run", map[string]string{"mode": "diagnose"})
	s.perms = map[string]string{"contents": "read", "pull_requests": "read", "issues": "read", "checks": "write", "actions": "read", "statuses": "read"}
	r := s.run()
	if o := r.outputs; r.code != 0 || o["stop-reason"] != "exhausted" || o["verdict"] != "red" || o["turns"] != "0" || o["pull-request-operation"] != "none" || o["patch-path"] != "" {
		t.Errorf("exit %d, outputs %v, log:\n%s", r.code, o, r.log)
	}
	c, _ := f.shown(f.repo.Tip("main"))
	for _, text := range []string{c.Summary, r.summary} {
		if !strings.Contains(text, "redraft: diagnosed") || !strings.Contains(text, suspect[:12]) || !strings.Contains(text, `grep -q "$WORD" answer.txt`) {
			t.Errorf("it says %s", text)
		}
	}
	if !strings.HasPrefix(c.Title, "diagnosed") || c.Conclusion != "neutral" || len(f.opened()) != 0 || len(f.repo.Branches()) != 1 {
		t.Errorf("check run %+v, branches %v", c, f.repo.Branches())
	}
}

// TestVerifyRunStep makes a proof once more whose command is a step of the default branch's workflow, and refuses one that is none.
func TestVerifyRunStep(t *testing.T) {
	t.Parallel()
	l := newLocal(t, map[string]string{"Makefile": "test:\n\ttrue\n",
		".github/workflows/ci.yml": "on: push\njobs:\n  unit:\n    runs-on: ubuntu-latest\n    strategy: {matrix: {word: [answer, right]}}\n    steps:\n      - run: grep -q ${{ matrix.word }} answer.txt\n"})
	for command, want := range map[string]string{rightCheck: "run once more here: red x", rightCheck + " a.txt": "yields no such command"} {
		evidence := filepath.Join(t.TempDir(), "evidence")
		if code, said := l.fix("--check", command, "--evidence", evidence); code != exitProved {
			t.Fatalf("fix: exit %d:\n%s", code, said)
		}
		if code, said := l.redraft("verify", "--run", evidence); !strings.Contains(said, want) || (code == exitProved) != strings.HasPrefix(want, "run once") {
			t.Errorf("verify --run of %q: exit %d:\n%s", command, code, said)
		}
	}
}
