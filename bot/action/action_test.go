package action

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/bot"
)

// runner is the runner's side of a step: its environment, and the log.
type runner struct {
	env map[string]string
	log bytes.Buffer
}

func newRunner(inputs map[string]string) (*runner, *Action) {
	b, _ := json.Marshal(inputs)
	r := &runner{env: map[string]string{InputsVariable: string(b)}}
	return r, New(func(name string) string { return r.env[name] }, &r.log)
}

func TestInputs(t *testing.T) {
	sha := strings.Repeat("a", 40)
	job := bot.Job{Key: "7/branch/main/x", Repo: bot.Repo{ID: 7, Owner: "acme", Name: "widget"}, Root: sha, Policy: sha}
	jobs, _ := json.Marshal([]bot.Job{job})
	for name, tt := range map[string]struct {
		in   map[string]string
		want Inputs
		bad  string // name of the input that is refused
	}{
		"none but the token": {map[string]string{"github-token": "t"}, Inputs{Token: "t", Mode: "auto", Dir: "."}, ""},
		"all": {map[string]string{"github-token": "t", "mode": "ambient", "check": " make check ", "working-directory": "services/api/", "base-branch": "next", "branch-prefix": "redraft/mac/",
			"labels": "a, b\nc,,a", "turns": "3", "timeout-minutes": "20", "model": "m", "big-model": "b", "additional-instructions": "be brief\nplease", "evidence-path": "a path/with \"quotes\"", "dry-run": "true", "setup-commands": "npm ci\n\n  make deps \n"},
			Inputs{Token: "t", Mode: "ambient", Check: "make check", Dir: "services/api", Base: "next", Prefix: "redraft/mac/", Labels: []string{"a", "b", "c"}, Turns: 3, Minutes: 20, Model: "m", Big: "b",
				Setup: []string{"npm ci", "make deps"}, Instructions: "be brief\nplease", Evidence: "a path/with \"quotes\"", DryRun: true}, ""},
		"jobs":                        {map[string]string{"github-token": "t", "mode": "repair", "jobs": string(jobs)}, Inputs{Token: "t", Mode: "repair", Dir: ".", Jobs: []bot.Job{job}}, ""},
		"jobs without mode repair":    {map[string]string{"github-token": "t", "jobs": string(jobs)}, Inputs{}, "jobs"},
		"jobs that are none":          {map[string]string{"github-token": "t", "mode": "repair", "jobs": `[{"root":"--upload-pack=x"}]`}, Inputs{}, "jobs"},
		"no jobs":                     {map[string]string{"github-token": "t", "mode": "repair", "jobs": "[]"}, Inputs{}, "jobs"},
		"zero turns":                  {map[string]string{"github-token": "t", "turns": "0"}, Inputs{}, "turns"},
		"minutes with a sign":         {map[string]string{"github-token": "t", "timeout-minutes": "+5"}, Inputs{}, "timeout-minutes"},
		"a folder that is absolute":   {map[string]string{"github-token": "t", "check": "x", "working-directory": "/etc"}, Inputs{}, "working-directory"},
		"a folder without a check":    {map[string]string{"github-token": "t", "working-directory": "a"}, Inputs{}, "working-directory"},
		"a prefix that climbs":        {map[string]string{"github-token": "t", "branch-prefix": "redraft/../main/"}, Inputs{}, "branch-prefix"},
		"neither true nor false":      {map[string]string{"github-token": "t", "dry-run": "yes"}, Inputs{}, "dry-run"},
		"a lot of words":              {map[string]string{"github-token": "t", "additional-instructions": strings.Repeat("ä", 2001)}, Inputs{}, "additional-instructions"},
		"a NUL in the check":          {map[string]string{"github-token": "t", "check": "a\x00b"}, Inputs{}, "check"},
		"an evidence path of 2 lines": {map[string]string{"github-token": "t", "evidence-path": "a\nb"}, Inputs{}, "evidence-path"},
	} {
		t.Run(name, func(t *testing.T) {
			_, a := newRunner(tt.in)
			got, err := a.Inputs()
			if tt.bad != "" {
				if b, ok := err.(*BadInput); !ok || b.Name != tt.bad {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNames holds the names of inputs and outputs against action.yml.
func TestNames(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Inputs, Outputs yaml.MapSlice
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	keys := func(m yaml.MapSlice) (all []string) {
		for _, e := range m {
			all = append(all, e.Key.(string))
		}
		return all
	}
	if d := cmp.Diff(keys(file.Inputs), names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(keys(file.Outputs), outputNames); d != "" {
		t.Error(d)
	}
}

// TestOver makes sure that inputs lower limits and never raise them.
func TestOver(t *testing.T) {
	file := plan.File{Limits: plan.Limits{Turns: 4, Minutes: 10, PerDay: 2}, Small: "a"}
	in := Inputs{Turns: 9, Minutes: 5, Model: "b", Labels: []string{"x"}, Prefix: "redraft/mac/"}
	want := plan.File{Limits: plan.Limits{Turns: 4, Minutes: 5, PerDay: 2}, Small: "b", Publish: plan.Publish{BranchPrefix: "redraft/mac/", Labels: []string{"x"}}}
	if d := cmp.Diff(want, in.Over(file)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(plan.File{Limits: plan.Limits{Turns: 9, Minutes: 5}, Small: "b", Publish: want.Publish}, in.Over(plan.File{})); d != "" {
		t.Error(d)
	}
}

// TestWrite makes sure that nothing that is printed is a command of ours.
func TestWrite(t *testing.T) {
	r, a := newRunner(nil)
	a.Hide(redact.New("hunter2hunter2"), "hunter2hunter2", "line\nline")
	for _, s := range []string{"fine\n", "::set-output name=verdict::green\n", "half a ", "line\n  ::error::x\n", "##[error]y ##vso[task.x]\n", "\x1b[31mred\x1b[0m\r::warning::z\n", "the password is hunter2hunter2\n", "no end"} {
		if n, err := a.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	a.Say(Failure, Remark{Title: "a, b: c\n::error::", Text: "100%\r\n::set-output name=x::y hunter2hunter2", File: "a,b:c.go", Line: 3})
	a.Close()
	log := r.log.String()
	if strings.Count(log, "hunter2hunter2") != 1 { // the mask itself
		t.Errorf("a secret stands in the log:\n%s", log)
	}
	muted, commands := "", []string(nil)
	for line := range strings.Lines(log) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		switch {
		case muted != "" && line == "::"+muted+"::\n":
			muted = ""
		case muted != "":
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
				t.Errorf("a command between stopped commands: %q", line)
			}
		case name == "stop-commands":
			muted = strings.TrimSpace(rest)
		default:
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	want := []string{"::add-mask::hunter2hunter2", "::error file=a%2Cb%3Ac.go,line=3,title=redraft%3A a%2C b%3A c%0A%3A%3Aerror%3A%3A::100%25%0A::set-output name=x::y (redacted)"}
	if d := cmp.Diff(want, commands); d != "" || muted != "" {
		t.Error(d, muted)
	}
	if !strings.Contains(log, "half a line\n") || !strings.Contains(log, "no end\n") {
		t.Errorf("words are lost:\n%s", log)
	}
}

// TestSay makes sure that no more annotations are made than GitHub shows.
func TestSay(t *testing.T) {
	r, a := newRunner(nil)
	for range 15 {
		a.Say(Warning, Remark{Text: "w"})
		a.Say(Notice, Remark{Text: strings.Repeat("x", 100_000)})
	}
	if n := strings.Count(r.log.String(), "::warning "); n != 10 {
		t.Errorf("%d warnings", n)
	}
	for line := range strings.Lines(r.log.String()) {
		if len(line) > longestRemark+100 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

// TestSet makes sure that a value cannot end itself and begin another output.
func TestSet(t *testing.T) {
	r, a := newRunner(nil)
	r.env["GITHUB_OUTPUT"] = filepath.Join(t.TempDir(), "output")
	value := "x\n_GitHubActionsFileCommandDelimeter_\nverdict=green\nEOF\n"
	if err := a.set("jobs", value); err != nil {
		t.Fatal(err)
	}
	if err := a.set("verdict", "red"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for text := string(b); text != ""; {
		var head, value string
		head, text, _ = strings.Cut(text, "\n")
		name, end, ok := strings.Cut(head, "<<")
		if !ok || !strings.HasPrefix(end, "redraft-") || len(end) < 30 {
			t.Fatalf("got %q", head)
		}
		value, text, _ = strings.Cut(text, "\n"+end+"\n")
		got[name] = value
	}
	if d := cmp.Diff(map[string]string{"jobs": value, "verdict": "red"}, got); d != "" {
		t.Error(d)
	}
}

func TestOwnStep(t *testing.T) {
	pull := func(action string) string {
		name := filepath.Join(t.TempDir(), "event.json")
		tip := `{"ref":"f","sha":"` + strings.Repeat("a", 40) + `","repo":{"id":7}}`
		text := `{"action":"` + action + `","repository":{"id":7,"name":"widget","owner":{"login":"acme"}},"pull_request":{"number":1,"state":"open","head":` + tip + `,"base":` + tip + `},"label":{"name":"redraft"}}`
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, tt := range []struct {
		event, payload, mode string
		want                 bool
	}{
		{"workflow_run", "", "auto", false}, {"issues", "", "auto", false}, {"schedule", "", "auto", false}, {"workflow_dispatch", "", "auto", false},
		{"push", "", "auto", true}, {"push", "", "ambient", false}, {"merge_group", "", "repair", true},
		{"pull_request", pull("labeled"), "auto", false}, {"pull_request", pull("synchronize"), "auto", true}, {"pull_request", "/nonexistent", "auto", true},
	} {
		if got := (Place{Event: tt.event, Payload: tt.payload}).OwnStep(tt.mode); got != tt.want {
			t.Errorf("%s %s: got %v", tt.event, tt.mode, got)
		}
	}
}

func TestWorkflowPath(t *testing.T) {
	for ref, want := range map[string]string{"acme/widget/.github/workflows/ci.yml@refs/heads/a@b": ".github/workflows/ci.yml", "": "", "x": "", "acme/widget": ""} {
		if got := workflowPath(ref); got != want {
			t.Errorf("%q: got %q", ref, got)
		}
	}
}

// TestReceive makes sure that evidence of another machine is bounded.
func TestReceive(t *testing.T) {
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(dir, "jobs.json", `[{"folder":"j-1","key":"k","root":"r"}]`)
	write(dir, "j-1/reports/see-1/stdout", "red\n")
	write(dir, "j-1/trace.jsonl", "{}\n")
	into, all, err := receive(dir, t.TempDir())
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if b, err := os.ReadFile(filepath.Join(into, "j-1", "reports", "see-1", "stdout")); err != nil || string(b) != "red\n" {
		t.Error(string(b), err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, c := range map[string]copier{"bytes": {from: root, bytes: 5, files: 100}, "files": {from: root, bytes: 100, files: 2}} {
		if err := c.folder("j-1", filepath.Join(t.TempDir(), "x")); err == nil {
			t.Errorf("more %s than there may be were copied", name)
		}
	}
	for name, text := range map[string]string{"no JSON": "{", "climbs": `[{"folder":"../x"}]`, "a lot": "[" + strings.Repeat(`{"folder":"a"},`, 20) + `{"folder":"a"}]`} {
		bad := t.TempDir()
		write(bad, "jobs.json", text)
		if _, _, err := receive(bad, t.TempDir()); err == nil {
			t.Errorf("%s: received", name)
		}
	}
}
