package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/worktree"
)

func appForInit(stdin io.Reader) (*app, *bytes.Buffer) {
	var out bytes.Buffer
	return &app{getenv: func(string) string { return "" }, stdin: stdin, out: &out, err: &out, clean: redact.New()}, &out
}

// sample is what init may find: names that YAML could take for something else, on the runner of either system.
func sample(labels ...string) found {
	return found{
		Checks: []foundCheck{
			{ID: "test (*)", Run: "go test ./...", Dir: ".", Source: "go.mod", Provenance: plan.Convention, Active: true},
			{ID: "yes", Run: "npm test", Dir: "web: app/größe", Source: "web: app/größe/package.json", Provenance: plan.Convention, Active: true},
			{ID: "go:tools", Run: "go test ./...", Dir: "tools", Source: "tools/go.mod", Provenance: plan.Convention},
		},
		RunsOn: foundLabels{Labels: labels}, Branch: foundBranch{Name: "main"},
		Workflows: []foundWorkflow{
			{Name: "CI", Path: "a.yml"}, {Name: `it's "größe" # \n: 测试`, Path: "b.yml"}, {Name: ".github/workflows/c.yml", Path: "c.yml"},
			{Name: "no", Path: "d.yml"}, {Name: "Release", Path: "e.yml", Why: "it starts on tags alone"},
		},
	}
}

// TestInitFiles makes the files of every form and reads them back as redraft and GitHub will.
func TestInitFiles(t *testing.T) {
	mac, linux := []string{"self-hosted", "macOS", "ARM64"}, []string{"self-hosted", "Linux", "X64", "12", "a b"}
	a, _ := appForInit(nil)
	for _, form := range forms {
		for _, labels := range [][]string{mac, linux} {
			t.Run(form+" "+labels[1], func(t *testing.T) {
				f := sample(labels...)
				files, step, err := f.files(form)
				if err != nil {
					t.Fatal(err)
				}
				checkSettings(t, files[0].Text)
				for _, file := range files {
					if got := a.clean.Terminal(file.Text); got != file.Text {
						t.Errorf("%s is shown otherwise than it is written: %s", file.Path, cmp.Diff(file.Text, got))
					}
				}
				if form == formSameJob {
					if len(files) != 1 || !strings.Contains(step, "check: \"go test ./...\"\n") || !strings.Contains(step, "if: failure()") || !strings.Contains(step, "contents: write") {
						t.Errorf("got %d files and this step:\n%s", len(files), step)
					}
					return
				}
				if len(files) != 2 || step != "" {
					t.Fatalf("got %d files and the step %q", len(files), step)
				}
				checkWorkflow(t, form, files[1].Text, labels)
				actionlint(t, files[1].Text, labels)
			})
		}
	}
}

func checkSettings(t *testing.T, text string) {
	t.Helper()
	file, err := plan.ParseFile([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var got []string
	for _, c := range file.Checks {
		got = append(got, c.ID+"|"+c.Run+"|"+c.Dir)
	}
	if diff := cmp.Diff([]string{"test (*)|go test ./...|.", "yes|npm test|web: app/größe"}, got); diff != "" {
		t.Errorf("checks: %s", diff)
	}
	if diff := cmp.Diff([]string{"CI", `it's "größe" # \n: 测试`, ".github/workflows/c.yml", "no"}, file.Triggers.Workflows); diff != "" {
		t.Errorf("triggers.workflows: %s", diff)
	}
	whole, err := plan.ParseFile([]byte(uncommented(text)))
	if err != nil {
		t.Fatalf("with every comment taken off: %v in\n%s", err, uncommented(text))
	}
	if len(whole.Checks) != 3 || whole.Checks[2].Timeout != 10*time.Minute || whole.Limits != plan.DefaultLimits || !whole.Triggers.Commands || whole.Small == "" {
		t.Errorf("with every comment taken off: got %+v", whole)
	}
}

// uncommented takes the sign off every line that is a setting; prose has a space behind the sign.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^#((?:  )+|)([^ \n])`).ReplaceAllStringFunc(text, func(s string) string { return s[1:] })
}

func checkWorkflow(t *testing.T, form, text string, labels []string) {
	t.Helper()
	w, err := parseWorkflow("redraft.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(w.jobs, func(j workflowJob) bool { return slices.Equal(j.runsOn, labels) }) || strings.Contains(text, "macOS") != (labels[1] == "macOS") {
		t.Errorf("the labels are not in\n%s", text)
	}
	if !strings.Contains(text, "\npermissions: {}\n") || regexp.MustCompile(`(?m)^ +(- )?run:`).MatchString(text) {
		t.Errorf("it has rights at the top, or a shell, in\n%s", text)
	}
	var on struct {
		On struct {
			Run struct{ Workflows []string } `yaml:"workflow_run"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &on); err != nil {
		t.Fatal(err)
	}
	want := sample().answered()
	if form == formLabel || form == formSchedule {
		want = nil
	}
	if diff := cmp.Diff(want, on.On.Run.Workflows); diff != "" {
		t.Errorf("workflow_run: %s", diff)
	}
}

// actionlint asks the linter of that name, which is no part of this module: REDRAFT_ACTIONLINT names it, or PATH has it.
func actionlint(t *testing.T, text string, labels []string) {
	t.Run("actionlint", func(t *testing.T) {
		program, err := exec.LookPath(orElse(os.Getenv("REDRAFT_ACTIONLINT"), "actionlint"))
		if err != nil {
			t.Skip("REFUSED: actionlint is not installed")
		}
		dir := t.TempDir()
		for name, text := range map[string]string{
			"redraft.yml": text,
			"config.yml":  "self-hosted-runner: {labels: " + flow(labels) + "}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(program, "-no-color", "-shellcheck=", "-pyflakes=", "-config-file", filepath.Join(dir, "config.yml"), filepath.Join(dir, "redraft.yml")).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s%s", err, out, text)
		}
	})
}

// TestInitWithNothing: an empty repository gets files that say what to put in.
func TestInitWithNothing(t *testing.T) {
	f := found{RunsOn: foundLabels{Labels: []string{"self-hosted", "Linux", "X64"}}}
	files, _, err := f.files(formTwoJob)
	if err != nil {
		t.Fatal(err)
	}
	if file, err := plan.ParseFile([]byte(files[0].Text)); err != nil || len(file.Checks) != 0 || len(file.Triggers.Workflows) != 0 {
		t.Errorf("got %+v, %v", file, err)
	}
	whole, err := plan.ParseFile([]byte(uncommented(files[0].Text)))
	if err != nil || len(whole.Checks) != 1 || len(whole.Triggers.Workflows) != 1 {
		t.Errorf("with every comment taken off: got %+v, %v", whole, err)
	}
	if !strings.Contains(files[1].Text, "    workflows: [CI] #") {
		t.Errorf("no workflow to replace in\n%s", files[1].Text)
	}
	said := strings.Join(f.next(formTwoJob, ""), "\n")
	for _, want := range []string{"No workflow to answer was found", "Name the check", "the default branch"} {
		if !strings.Contains(said, want) {
			t.Errorf("next: no %q in\n%s", want, said)
		}
	}
}

// TestInitManyChecks: what only a comment holds is bounded, and what is active is not cut.
func TestInitManyChecks(t *testing.T) {
	f := found{RunsOn: foundLabels{Labels: []string{"self-hosted"}}}
	for i := range 20 {
		f.Checks = append(f.Checks, foundCheck{ID: fmt.Sprintf("m%d", i), Run: "go test ./...", Dir: fmt.Sprintf("m%d", i), Source: "go.mod", Active: i == 19})
	}
	text, err := f.settings()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(text, "run: ") != mostComments+1 || !strings.Contains(text, "# 14 more were found: redraft plan\n") {
		t.Errorf("got\n%s", text)
	}
}

func TestInitReplaceLine(t *testing.T) {
	for _, tt := range []struct {
		text string
		ok   bool
	}{{"a\nold\nb\n", true}, {"a\nold x\nb\n", false}, {"a\nold\nb\nold\nc\n", false}, {"", false}} {
		got, err := replaceLine(tt.text, "old", "new")
		if (err == nil) != tt.ok || tt.ok && got != "a\nnew\nb\n" {
			t.Errorf("%q: got %q, %v", tt.text, got, err)
		}
	}
}

// TestInitReadBack: a workflow that does not say what was put in is not written.
func TestInitReadBack(t *testing.T) {
	text, err := sample("self-hosted").workflow(formTwoJob)
	if err != nil {
		t.Fatal(err)
	}
	names := sample().answered()
	for what, text := range map[string]string{
		"labels":      strings.Replace(text, "runs-on: [self-hosted]", "runs-on: [self-hosted, big]", 1),
		"names":       strings.Replace(text, "[CI, ", "[CI, more, ", 1),
		"permissions": strings.Replace(text, "\npermissions: {}", "\npermissions: {contents: write}", 1),
		"no rule":     strings.Replace(text, "\npermissions: {}", "", 1),
		"no YAML":     text + "\n\t{",
	} {
		if err := readBack(text, names, []string{"self-hosted"}); err == nil {
			t.Errorf("%s: got no error", what)
		}
	}
	if err := readBack(text, names, []string{"self-hosted"}); err != nil {
		t.Error(err)
	}
}

func TestInitScalar(t *testing.T) {
	for _, s := range []string{
		"", "a", "on", "No", "null", "~", "1", "1.5", "0x1", "a b", "a: b", "a #b", "- a", "'", `"`, `\`, `\n`, "a\tb", "a\nb", "*x", "&x", "!x", "%", "@", "`",
		"{a}", "[a]", "?", "größe", "测试", "\u2028", "😀", "<!--&>", "2026-01-01", "${{ x }}", ".", "..", "=", "<<",
	} {
		text := "version: 1\ntriggers:\n  workflows: " + flow([]string{s, "last"}) + "\npublish:\n  reviewers: " + scalar(s) + "\n"
		f, err := plan.ParseFile([]byte(text))
		if err != nil || !slices.Equal(f.Triggers.Workflows, []string{s, "last"}) || f.Publish.Reviewers != s {
			t.Errorf("%q: got %q and %q, %v", s, f.Triggers.Workflows, f.Publish.Reviewers, err)
		}
	}
}

func TestParseWorkflow(t *testing.T) {
	const jobs = "\njobs: {a: {steps: [{run: x}]}}\n"
	for _, tt := range []struct {
		text       string
		name, why  string
		labels, no string // labels of the first job; what the error says
	}{
		{text: "on: push" + jobs, name: "p.yml"},
		{text: "name: CI\non: [push, workflow_dispatch]" + jobs, name: "CI"},
		{text: "name: 'it''s \"x\" ü'\non: {pull_request: }" + jobs, name: `it's "x" ü`},
		{text: "name: 12\n\"on\": merge_group" + jobs, name: "12"},
		{text: "name: >-\n  two\n  words\non: push" + jobs, name: "two words"},
		{text: "on: {push: {tags: [v*]}}" + jobs, name: "p.yml", why: "tags alone"},
		{text: "on: {push: {tags: [v*], branches: [main]}}" + jobs, name: "p.yml"},
		{text: "on: [release, schedule]" + jobs, name: "p.yml", why: "neither push"},
		{text: "on: workflow_call" + jobs, name: "p.yml", why: "neither push"},
		{text: "on: push\njobs: {a: {steps: [{uses: redraft-dev/redraft@v0}]}}", name: "p.yml", why: "uses redraft"},
		{text: "on: push\njobs: {a: {runs-on: self-hosted}}", name: "p.yml", labels: "self-hosted"},
		{text: "on: push\njobs: {a: {runs-on: {group: g, labels: [self-hosted, x]}}}", name: "p.yml", labels: "self-hosted x"},
		{text: "x: &r [self-hosted, y]\non: push\njobs: {a: {runs-on: *r}}", name: "p.yml", labels: "self-hosted y"},
		{text: "on: push\njobs: {a: {runs-on: *nowhere}}", name: "p.yml"},
		{text: "x: &a [*a]\non: *a\njobs: {a: {runs-on: *a}}", why: "neither push", name: "p.yml"},
		{text: bomb, name: "p.yml"},
		{text: "", no: "empty"},
		{text: "# nothing\n", no: "empty"},
		{text: "just text", no: "no jobs"},
		{text: "- a\n- b", no: "no jobs"},
		{text: "on: push", no: "no jobs"},
		{text: "jobs: {}", no: "no jobs"},
		{text: "on: push\njobs:\n\ta: b", no: "line 3"},
		{text: "on: [push", no: "line 1"},
		{text: "on: push\non: push" + jobs, no: "line 2"},
		{text: "a: \xff", no: "UTF-8"},
		{text: strings.Repeat("[", 200_000), no: "too deep"},
		{text: "a: " + strings.Repeat("- ", 100_000), no: "too deep"},
		{text: strings.Repeat("? ", 100_000), no: "too deep"},
		{text: "a: " + strings.Repeat("!x ", 50_000), no: "too deep"},
		{text: "a: " + strings.Repeat("&x ", 50_000), no: "too deep"},
		{text: strings.Repeat("\n", 20_000), no: "lines"},
	} {
		start := time.Now()
		w, err := parseWorkflow("p.yml", []byte(tt.text))
		short := redact.Clip(tt.text, 60)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q: took %v", short, took)
		}
		if tt.no != "" {
			if err == nil || !strings.Contains(err.Error(), tt.no) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: got %v, want an error about %q", short, err, tt.no)
			}
			continue
		}
		if err != nil || w.name != tt.name || !strings.Contains(w.why, tt.why) || (w.why == "") != (tt.why == "") {
			t.Errorf("%q: got %q, why %q, %v", short, w.name, w.why, err)
		}
		if tt.labels != "" && strings.Join(w.jobs[0].runsOn, " ") != tt.labels {
			t.Errorf("%q: got the labels %q", short, w.jobs[0].runsOn)
		}
	}
}

// bomb would be 9^9 texts if its aliases were put in.
var bomb = func() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 9; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return text + "on: push\njobs: {a: {runs-on: *a8}}\n"
}()

func FuzzParseWorkflow(f *testing.F) {
	for _, s := range []string{"on: push\njobs: {a: {runs-on: [x]}}", "a: &a [*a]", "? - !x &y", "on: {push: }\njobs:\n  a: *b", "name: |\n  x\n..."} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4<<10 {
			t.Skip()
		}
		start := time.Now()
		w, err := parseWorkflow("p.yml", b)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
		if err == nil && w.path != "p.yml" {
			t.Errorf("got %+v", w)
		}
	})
}

func TestReadWorkflows(t *testing.T) {
	tree := fstest.MapFS{
		".github/workflows/a.yml":     {Data: []byte("on: push\njobs: {}")},
		".github/workflows/b.yaml":    {Data: []byte("on: [")},
		".github/workflows/c.txt":     {Data: []byte("no workflow")},
		".github/workflows/big.yml":   {Data: make([]byte, longestWorkflow+1)},
		".github/workflows/pipe.yml":  {Mode: fs.ModeNamedPipe},
		".github/workflows/sub/d.yml": {Data: []byte("on: push\njobs: {}")},
	}
	flows, err := readWorkflows(t.Context(), settled{tree})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range flows {
		got = append(got, filepath.Base(w.path)+" "+w.why)
	}
	want := []string{"a.yml ", "b.yaml cannot be read: line 1: sequence end token ']' not found", "big.yml cannot be read: it has more than 256 KiB", "pipe.yml cannot be read: it is no regular file"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if flows, err := readWorkflows(t.Context(), fstest.MapFS{}); err != nil || flows != nil {
		t.Errorf("no folder: got %v, %v", flows, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readWorkflows(gone, tree); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestInitNamed: checks get the names of the jobs that run them, and one that no job is seen to run is a comment.
func TestInitNamed(t *testing.T) {
	goCheck := plan.Check{ID: "go", Run: "go test ./...", Dir: ".", Source: "go.mod", Provenance: plan.Convention}
	npm := plan.Check{ID: "npm", Run: "npm test", Dir: ".", Source: "package.json", Provenance: plan.Convention}
	pytest := plan.Check{ID: "pytest", Run: "pytest -q", Dir: ".", Source: "pytest.ini", Provenance: plan.Convention}
	below := plan.Check{ID: "go:services/api", Run: "go test ./...", Dir: "services/api", Source: "services/api/go.mod", Provenance: plan.Convention}
	odd := plan.Check{ID: "go:it's", Run: "go test ./...", Dir: "it's", Source: "it's/go.mod", Provenance: plan.Convention}
	step := func(run, dir string) []workflowStep { return []workflowStep{{run: "true"}, {run: run, dir: dir}} }
	ci := func(jobs ...workflowJob) []workflowFile {
		return []workflowFile{{path: "ci.yml", name: "CI", jobs: jobs}}
	}
	for _, tt := range []struct {
		what   string
		checks []plan.Check
		flows  []workflowFile
		want   string
	}{
		{"none", nil, nil, ""},
		{"one keeps its own name", []plan.Check{goCheck}, ci(workflowJob{id: "unit", steps: step("go test ./...", "")}), "+go"},
		{"several without jobs: the likeliest", []plan.Check{goCheck, npm}, nil, "+go -npm"},
		{"several, each with a job", []plan.Check{goCheck, npm}, ci(workflowJob{id: "unit", steps: step("go test -race ./...", "")}, workflowJob{id: "js", name: "web", steps: step("npm ci\nnpm run test -- --ci\n", "")}), "+unit +web"},
		{"several, one with a job", []plan.Check{goCheck, npm}, ci(workflowJob{id: "js", steps: step("cd x && npm test", "")}), "-go +js"},
		{"two jobs", []plan.Check{goCheck, npm}, ci(workflowJob{id: "a", steps: step("go test .", "")}, workflowJob{id: "b", steps: step("(go test ./x)", "./")}), "+a +b -npm"},
		{"one job for both", []plan.Check{goCheck, npm}, ci(workflowJob{id: "a", steps: step("go test . ; npm test", "")}), "+a -npm"},
		{"a matrix", []plan.Check{pytest, npm}, ci(workflowJob{id: "py", matrix: true, steps: step("python -m pytest --cov", "")}), "+py (*) -npm"},
		{"a matrix in the name", []plan.Check{pytest, npm}, ci(workflowJob{id: "py", name: "py ${{ matrix.v }} on ${{ matrix.os }}", matrix: true, steps: step("pytest", "")}), "+py * on * -npm"},
		{"folders", []plan.Check{goCheck, below}, ci(workflowJob{id: "api", steps: step("go test ./...", "services/api/")}), "-go +api"},
		{"another word", []plan.Check{goCheck, npm}, ci(workflowJob{id: "a", steps: step("cargo test; go testing; mango test", "")}), "+go -npm"},
		{"a name that no check may have", []plan.Check{goCheck, npm}, ci(workflowJob{id: "a", name: "it's <b>", steps: step("go test ./...", "")}), "+go -npm"},
		{"a folder that needs another name", []plan.Check{odd}, nil, "+go:it-s"},
		{"a workflow that is not answered", []plan.Check{goCheck, npm}, []workflowFile{{path: "r.yml", why: "tags", jobs: []workflowJob{{id: "r", steps: step("npm test", "")}}}}, "+go -npm"},
	} {
		a, _ := appForInit(nil)
		var got []string
		for _, c := range a.checksIn(tt.checks, tt.flows) {
			got = append(got, map[bool]string{true: "+", false: "-"}[c.Active]+c.ID)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, s, tt.want)
		}
		f := found{Checks: a.checksIn(tt.checks, tt.flows), RunsOn: foundLabels{Labels: []string{"x"}}}
		if _, err := f.settings(); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	a, _ := appForInit(nil)
	if got := a.checksIn([]plan.Check{{ID: "go:x", Run: "go test ./...", Dir: "x\n  evil: y", Source: "x"}}, nil); len(got) != 0 {
		t.Errorf("a folder with a newline: got %+v", got)
	}
}

func TestInitRunnerLabels(t *testing.T) {
	job := func(labels ...string) []workflowFile {
		return []workflowFile{{path: "ci.yml", jobs: []workflowJob{{id: "a", runsOn: labels}}}}
	}
	both := append(job("self-hosted", "linux"), job("self-hosted", "macos", "mini")...)
	for _, tt := range []struct {
		what         string
		given        []string
		flows        []workflowFile
		goos, goarch string
		want, from   string
	}{
		{"given", []string{"self-hosted", " gpu "}, both, "linux", "amd64", "self-hosted gpu", "--runs-on"},
		{"a workflow's", nil, job("self-hosted", "Linux", "big"), "darwin", "arm64", "self-hosted Linux big", "ci.yml, job a"},
		{"a Mac first", nil, both, "linux", "amd64", "self-hosted macos mini", "ci.yml, job a"},
		{"GitHub's own", nil, job("ubuntu-latest"), "linux", "arm64", "self-hosted Linux ARM64", "this machine"},
		{"an expression", nil, job("self-hosted", "${{ matrix.x }}"), "darwin", "arm64", "self-hosted macOS ARM64", "this machine"},
		{"a line break", nil, job("self-hosted", "a\nb"), "darwin", "amd64", "self-hosted macOS X64", "this machine"},
		{"no runner for it", nil, nil, "freebsd", "amd64", "", ""},
		{"no label", []string{"a", ""}, nil, "linux", "amd64", "", ""},
		{"no label either", []string{"a\x1b[1m"}, nil, "linux", "amd64", "", ""},
	} {
		a, _ := appForInit(nil)
		got, err := a.runnerLabels(tt.given, tt.flows, tt.goos, tt.goarch)
		if strings.Join(got.Labels, " ") != tt.want || !strings.Contains(got.From, tt.from) || (err == nil) != (tt.want != "") {
			t.Errorf("%s: got %+v, %v", tt.what, got, err)
		}
		var c *coded
		if err != nil && (!errors.As(err, &c) || c.code != exitUsage || !strings.Contains(err.Error(), "--runs-on")) {
			t.Errorf("%s: got %v, want a word on how to use it", tt.what, err)
		}
	}
}

func TestInitDefaultBranch(t *testing.T) {
	for _, tt := range []struct{ file, head, want string }{
		{"ref: refs/remotes/origin/trunk\n", "work", "trunk"},
		{"ref: refs/remotes/origin/release/2\n", "work", "release/2"},
		{"", "work", "work"},
		{"", "", ""},
		{"ref: refs/remotes/origin/a\x1bb\n", "work", "work"},
		{"ref: refs/remotes/origin/\n", "work", "work"},
		{"0123456789012345678901234567890123456789\n", "work", "work"},
		{strings.Repeat("x", 5<<10), "", ""},
	} {
		dir := t.TempDir()
		if tt.file != "" {
			name := filepath.Join(dir, "refs", "remotes", "origin", "HEAD")
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(tt.file), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got := defaultBranch(worktree.Repo{CommonDir: dir, Branch: tt.head}); got.Name != tt.want || got.From == "" {
			t.Errorf("%.60q on %q: got %+v, want %q", tt.file, tt.head, got, tt.want)
		}
	}
}

// TestInitWriteNew: all files or none, and nothing that is there is changed.
func TestInitWriteNew(t *testing.T) {
	long := ".github/workflows/" + strings.Repeat("x", 300)
	two := []newFile{{plan.FileName, "one\n"}, {workflowPath, "two\n"}}
	outside := t.TempDir()
	for _, tt := range []struct {
		what   string
		before func(dir string) error
		files  []newFile
		no     string // the error
		want   string // the files after it
	}{
		{"new", nil, two, "", ".github/redraft.yml=one .github/workflows/redraft.yml=two"},
		{"beside others", func(dir string) error { return put(dir, ".github/workflows/ci.yml", "ci") }, two, "", ".github/redraft.yml=one .github/workflows/ci.yml=ci .github/workflows/redraft.yml=two"},
		{"the second came meanwhile", func(dir string) error { return put(dir, workflowPath, "mine") }, two, "write .github/workflows/redraft.yml: file exists", ".github/workflows/redraft.yml=mine"},
		{"the first came meanwhile", func(dir string) error { return put(dir, plan.FileName, "mine") }, two, "write .github/redraft.yml: file exists", ".github/redraft.yml=mine"},
		{"a link in its place", func(dir string) error {
			return errors.Join(put(dir, ".github/x", "x"), os.Symlink(filepath.Join(outside, "made"), filepath.Join(dir, plan.FileName)))
		}, two, "file exists", ".github/redraft.yml=link .github/x=x"},
		{"a name that no disk takes", nil, []newFile{two[0], {long, "x"}}, "file name too long", ""},
		{"a folder that is a file", func(dir string) error { return put(dir, ".github", "file") }, two, "not a directory", ".github=file"},
		{"a folder that leads outside", func(dir string) error {
			return errors.Join(put(dir, ".github/x", "x"), os.Symlink(outside, filepath.Join(dir, workflowDir)))
		}, two, "escapes", ".github/workflows=link .github/x=x"},
	} {
		dir := t.TempDir()
		if tt.before != nil {
			if err := tt.before(dir); err != nil {
				t.Fatal(err)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		err = writeNew(root, tt.files)
		if (err == nil) != (tt.no == "") || err != nil && !strings.Contains(err.Error(), tt.no) {
			t.Errorf("%s: got %v, want %q", tt.what, err, tt.no)
		}
		if got := contents(t, dir); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, got, tt.want)
		}
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("outside of the repository: %v", left)
	}
}

func put(dir, name, text string) error {
	name = filepath.Join(dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600))
}

// contents are the files below a folder with what they hold, and its empty folders.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			all = append(all, rel+"=link")
		case d.IsDir():
			if names, err := os.ReadDir(name); err != nil || len(names) == 0 {
				all = append(all, rel+"/")
			}
		default:
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all = append(all, rel+"="+strings.TrimSuffix(string(b), "\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestInitReadOnly: a tree that cannot be written to is our side's failure, and nothing is left.
func TestInitReadOnly(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("REFUSED: this user may write into every folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	err = notWritten(writeNew(root, []newFile{{plan.FileName, "x"}}))
	var c *coded
	if !errors.As(err, &c) || c.code != exitFailed || !strings.Contains(err.Error(), "make .github: permission denied; nothing was written") {
		t.Errorf("got %v", err)
	}
}

func TestInitAsk(t *testing.T) {
	for in, want := range map[string]bool{
		"y\n": true, "Y": true, " yes \r\n": true, "YES\nno\n": true,
		"": false, "\n": false, "n\n": false, "yes please\n": false, "\ny\n": false, strings.Repeat(" ", 2000) + "y\n": false, "ｙ\n": false, "\x00y\n": false,
	} {
		a, out := appForInit(strings.NewReader(in))
		if got, err := a.ask(t.Context(), "Write?"); got != want || err != nil {
			t.Errorf("%.20q: got %v, %v", in, got, err)
		}
		if !strings.HasPrefix(out.String(), "Write? [y/N] ") {
			t.Errorf("%.20q: said %q", in, out)
		}
	}
	a, _ := appForInit(iotest.ErrReader(errors.New("torn")))
	if got, err := a.ask(t.Context(), "Write?"); got || err != nil {
		t.Errorf("an input that breaks: got %v, %v, want a no", got, err)
	}
	never, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, _ = appForInit(never)
	if got, err := a.ask(ctx, "Write?"); got || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: got %v, %v", got, err)
	}
}
