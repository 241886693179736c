package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ciFile = ".github/workflows/ci.yml"

const ciText = `
name: CI
on: [push, pull_request]
env:
  LEVEL: workflow
  TOKEN: ${{ secrets.TOKEN }}
defaults:
  run: {working-directory: svc}
jobs:
  test:
    name: Test on ${{ matrix.os }} (${{ matrix.go }})
    runs-on: ${{ matrix.os }}
    strategy:
      matrix:
        os: [ubuntu-latest, windows-latest]
        go: [1.20, "1.30"]
        exclude: [{os: windows-latest, go: 1.20}]
        include:
          - {os: ubuntu-latest, race: -race}
          - {os: macos-14, go: tip}
    env: &env
      LEVEL: job
      GO: ${{ matrix.go }}
    services:
      db: {image: "postgres:${{ matrix.go }}"}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: {go-version: "${{ matrix.go }}"}
      - run: go mod download
      - name: Unit (${{ matrix.go }})
        id: unit
        run: |
          go vet ./...
          go test ${{ matrix.race }} ./... | tee "$GITHUB_STEP_SUMMARY"
        env: {LEVEL: step, SEEN: "${{ env.LEVEL }}"}
      - run: echo "$TOKEN"
      - run: echo ${{ secrets.OTHER }}
      - {run: "echo BUILT=1 >> $GITHUB_ENV"}
      - {run: "echo $BUILT"}
      - {run: "echo ${{ env.BUILT }}"}
      - {run: "go test ./a", working-directory: "../b"}
      - {run: "go test ./a", working-directory: ./, shell: sh}
      - {run: "print(1)", shell: python}
      - {run: "go test ./a", shell: "bash -ux {0}", env: *env}
      - {run: "echo $RUNNER_OS $GITHUB_SHA ${GITHUB_TRIGGERING_ACTOR}"}
      - {run: "go test ${{ github.event.head_commit.message }}"}
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: golangci/golangci-lint-action@v8
        with: {args: --timeout 5m, version: v2, working-directory: svc}
      - uses: pre-commit/action@v3
      - uses: golangci/golangci-lint-action@v8
        with: {only-new-issues: true}
      - uses: someone/unknown@v1
      - uses: ./act
        with: {what: here}
        env: {OUTER: "1"}
      - uses: ./prog
      - uses: ./many
      - uses: ./nowhere
  call:
    strategy: {matrix: {v: [1, 2]}}
    uses: ./.github/workflows/inner.yml
    with: {dir: "d${{ matrix.v }}"}
  remote: {uses: o/r/.github/workflows/x.yml@v1}
  dynamic:
    runs-on: ubuntu-latest
    needs: test
    strategy: {matrix: {x: "${{ fromJSON(needs.test.outputs.x) }}"}}
    steps:
      - run: make ${{ matrix.x }}
      - run: make all
`

func ciTree() fs.FS {
	return tree(ciFile, ciText,
		".github/workflows/inner.yml", "on: {workflow_call: {inputs: {dir: {type: string}, flag: {type: boolean, default: true}, must: {required: true, type: string}}}}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - {run: 'make -C ${{ inputs.dir }} X=${{ inputs.flag }}'}\n      - {run: 'echo ${{ inputs.must }}'}\n",
		"act/action.yml", "inputs: {what: {default: x}, opt: {default: dflt}}\nruns:\n  using: composite\n  steps:\n    - {uses: actions/setup-go@v5}\n    - {if: \"runner.os == 'Windows'\", run: dir, shell: pwsh}\n    - {run: 'echo ${{ inputs.what }} ${{ inputs.opt }} $OUTER', shell: bash}\n",
		"many/action.yaml", "runs:\n  using: composite\n  steps:\n    - {name: one, run: make one, shell: bash}\n    - {name: two, run: make two, shell: bash}\n",
		"prog/action.yml", "runs: {using: node20, main: x.js}\n",
		"svc/go.mod", "module m\n", "Makefile", "all:\n\ttrue\n",
	)
}

func TestFromWorkflow(t *testing.T) {
	sha := strings.Repeat("b", 40)
	linux := map[string]string{"os": "ubuntu-latest", "race": "-race"}
	for _, tt := range []struct {
		name, job, step string
		matrix          map[string]string
		want            string // id|dir|shell|run|env of interest, or "reason: what"
	}{
		{"name of job and step", "Test on ubuntu-latest (1.2)", "Unit (1.2)", nil, "Test on ubuntu-latest (1.2)|svc|bash|set +o pipefail\ngo vet ./...\ngo test -race ./... | tee \"$GITHUB_STEP_SUMMARY\"|CI=true GITHUB_STEP_SUMMARY=/dev/null GO=1.2 LEVEL=step SEEN=job"},
		{"the other value", "Test on ubuntu-latest (1.30)", "unit", nil, "Test on ubuntu-latest (1.30)|svc|bash|set +o pipefail\ngo vet ./...\ngo test -race ./... | tee \"$GITHUB_STEP_SUMMARY\"|CI=true GITHUB_STEP_SUMMARY=/dev/null GO=1.30 LEVEL=step SEEN=job"},
		{"values by name", "test", "3", map[string]string{"os": "macos-14"}, "Test on macos-14 (tip)|svc|bash|go mod download|CI=true GO=tip LEVEL=job"},
		{"a step by what it runs", "test", "Run go mod download", map[string]string{"os": "macos-14"}, "Test on macos-14 (tip)|svc|bash|go mod download|CI=true GO=tip LEVEL=job"},
		{"windows", "test", "3", map[string]string{"os": "windows-latest"}, "runner: windows-latest"},
		{"an open matrix", "test", "4", nil, "matrix: matrix.race"},
		{"an excluded combination", "Test on windows-latest (1.2)", "4", nil, "step: Test on windows-latest (1.2)"},
		{"a secret by its variable", "test", "5", map[string]string{"go": "tip"}, "expression: secrets.token"},
		{"a secret", "test", "6", map[string]string{"go": "tip"}, "expression: secrets.OTHER"},
		{"what a step sets", "test", "8", map[string]string{"go": "tip"}, "environment: BUILT"},
		{"what a step sets, by the context", "test", "9", map[string]string{"go": "tip"}, "expression: env.BUILT"},
		{"a folder outside", "test", "10", map[string]string{"go": "tip"}, "folder: ../b"},
		{"a folder of the step, and sh", "test", "11", map[string]string{"go": "tip"}, "Test on macos-14 (tip)|.|sh|go test ./a|CI=true GO=tip LEVEL=job"},
		{"another language", "test", "12", map[string]string{"go": "tip"}, "shell: python"},
		{"options of a shell", "test", "13", map[string]string{"go": "tip"}, "Test on macos-14 (tip)|svc|bash|set +e -u -x +o pipefail\ngo test ./a|CI=true GO=tip LEVEL=job"},
		{"a variable of the runner", "test", "14", map[string]string{"go": "tip"}, "environment: GITHUB_TRIGGERING_ACTOR"},
		{"what anyone may write", "test", "15", map[string]string{"go": "tip"}, "expression: github.event.head_commit.message"},
		{"no such step", "test", "16", map[string]string{"go": "tip"}, "step: 16"},
		{"no such name", "test", "Nope", map[string]string{"go": "tip"}, "step: Nope"},
		{"no such job", "nope", "1", nil, "step: nope"},
		{"no job named", "", "1", nil, "step: "},
		{"an action that runs a tool", "lint", "1", nil, "lint|svc|sh|golangci-lint run --timeout 5m|CI=true LEVEL=workflow"},
		{"with its defaults", "lint", "Run pre-commit/action@v3", nil, "lint|.|sh|pre-commit run --show-diff-on-failure --color=always --all-files|CI=true LEVEL=workflow"},
		{"with an input not known", "lint", "3", nil, "action: golangci/golangci-lint-action@v8"},
		{"another action", "lint", "4", nil, "action: someone/unknown@v1"},
		{"a local action", "lint", "5", nil, "lint|.|bash|echo here dflt $OUTER|CI=true LEVEL=workflow OUTER=1"},
		{"a program", "lint", "6", nil, "action: ./prog"},
		{"several commands", "lint", "7", nil, "step: ./many"},
		{"one of several", "lint", "7 > two", nil, "lint|.|bash|make two|CI=true LEVEL=workflow"},
		{"not in the tree", "lint", "8", nil, "action: ./nowhere"},
		{"a called workflow", "call (2) / a", "1", nil, "a|.|bash|make -C d2 X=true|CI=true"},
		{"a called workflow, values open", "call / a", "1", nil, "matrix: inputs.dir"},
		{"an input that is not given", "call (1) / a", "2", nil, "expression: inputs.must"},
		{"a workflow elsewhere", "remote", "1", nil, "action: o/r/.github/workflows/x.yml@v1"},
		{"a matrix of a run", "dynamic", "1", nil, "matrix: matrix.x"},
		{"a matrix of a run that is not asked", "dynamic", "2", nil, "dynamic|svc|bash|make all|CI=true LEVEL=workflow"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := FromWorkflow(ciTree(), ciFile, At{Job: tt.job, Step: tt.step, Matrix: tt.matrix, GitHub: map[string]string{"sha": sha, "event_name": "push", "ref": "a;b", "actor": "x"}})
			if d := cmp.Diff(tt.want, planText(set, err)); d != "" {
				t.Errorf("FromWorkflow mismatch (-want +got):\n%s\n%v", d, err)
			}
		})
	}
	set, err := FromWorkflow(ciTree(), ciFile, At{Job: "test", Step: "unit", Matrix: linux})
	if err == nil {
		t.Errorf("two combinations have these values, and one was taken: %+v", set)
	}
}

func planText(set Set, err error) string {
	var u *Unplanned
	var none *NoCheck
	switch {
	case errors.As(err, &u) && errors.As(err, &none):
		return fmt.Sprintf("%s: %s", u.Reason, u.What)
	case err != nil:
		return err.Error()
	}
	c := set.Checks[0]
	var env []string
	for k, v := range c.Env {
		env = append(env, k+"="+v)
	}
	return strings.Join([]string{c.ID, c.Dir, c.Shell, c.Run, strings.Join(sorted(env), " ")}, "|")
}

func sorted(s []string) []string {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s
}

// What the job did before its step is named.
func TestFromWorkflowWants(t *testing.T) {
	set, err := FromWorkflow(ciTree(), ciFile, At{Job: "test", Step: "4", Matrix: map[string]string{"os": "macos-14"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a runner macos-14", "service db (postgres:tip)", "actions/setup-go@v5 (go-version tip)", "run go mod download", "variable TOKEN (secrets.token), which is left out"}
	if d := cmp.Diff(want, set.Wants); d != "" {
		t.Errorf("Wants mismatch (-want +got):\n%s", d)
	}
	c := set.Checks[0]
	if c.Provenance != Workflow || c.Source != ciFile+": jobs.test.steps[4]" || len(set.Fingerprint) != 64 {
		t.Errorf("%+v", set)
	}
}

func TestBadWorkflows(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "a list": "- a", "no jobs": "on: push\n", "torn": "jobs: {a: [", "not UTF-8": "jobs:\n  a: \xff\n",
		"deep":  "jobs: " + strings.Repeat("[", 200),
		"bomb":  "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\njobs: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
		"cycle": "jobs: &a {b: *a}\n",
		"merge": "x: &x {a: 1}\njobs:\n  a:\n    <<: *x\n",
		"long":  strings.Repeat("# x\n", 6000),
	} {
		_, err := FromWorkflow(tree(ciFile, text), ciFile, At{Job: "a", Step: "1"})
		var u *Unplanned
		if !errors.As(err, &u) || u.Reason != BadFile {
			t.Errorf("%s: %v, want a reason of the file", name, err)
		}
	}
	for _, name := range []string{"../x.yml", "/etc/passwd", "no.yml"} {
		if _, err := FromWorkflow(tree(), name, At{}); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestKnownActionsSayWhere(t *testing.T) {
	for _, k := range knownActions() {
		if !strings.HasPrefix(k.Source, "https://github.com/"+k.Uses+"/") || k.Run == "" {
			t.Errorf("%s: source %q, run %q", k.Uses, k.Source, k.Run)
		}
	}
}

func FuzzFromWorkflow(f *testing.F) {
	f.Add(ciText, "test", "4", "ubuntu-latest")
	f.Add(ciText, "lint", "7 > two", "")
	f.Add(hereText, "a", "3", "")
	f.Add("jobs: {a: {runs-on: x, steps: [{run: a}]}}", "a", "", "")
	f.Fuzz(func(t *testing.T, text, job, step, os string) {
		at := At{Job: job, Step: step}
		if os != "" {
			at.Matrix = map[string]string{"os": os}
		}
		set, err := FromWorkflow(tree(ciFile, text, "act/action.yml", text), ciFile, at)
		var u *Unplanned
		if err != nil && !errors.As(err, &u) {
			t.Errorf("%v is no reason", err)
		}
		shown := at
		shown.Shown, shown.Nth, shown.Of = true, 1, len(step)%3
		if _, _, err := FromFailed(tree(ciFile, text), []Failed{{ciFile, shown}}, "linux"); err != nil && !errors.As(err, &u) {
			t.Errorf("%v is no reason", err)
		}
		if err == nil && strings.Contains(set.Checks[0].Run, hereMark) {
			t.Errorf("a mark is left: %+v", set)
		}
		if err == nil && (len(set.Checks) != 1 || strings.TrimSpace(set.Checks[0].Run) == "" || !fs.ValidPath(set.Checks[0].Dir) || strings.ContainsRune(set.Checks[0].Run, 0)) {
			t.Errorf("%+v", set)
		}
	})
}
