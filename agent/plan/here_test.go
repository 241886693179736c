package plan

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSpliced has a shell read each text with the root's name in it, as GitHub writes it, and with the variable in its place: it says the same.
func TestSpliced(t *testing.T) {
	root := t.TempDir()
	if !harmless(root) {
		t.Skipf("REFUSED: the temporary folder %s has an odd name", root)
	}
	for _, text := range []string{
		`echo @/a`, `echo "@/a b"`, `echo '@/a b'`, `echo a'@'b"@"c@`, `echo $'@\t\'@'`, `x=@/y; echo "$x"`, `echo "$(echo "@" '@' @)" @`, `echo $(echo '@)' "@")@`,
		`(cd @ && echo "$PWD")`, `sh -c 'echo @ "@"'`, `echo a # '@ "`, "echo '#' @ # it's\necho \"@\"", `echo "it's @"`, `echo \'@\"@`, `echo "${x:-@}" ${x:-'@'} "${PWD#@}"`, `echo "a\"@"`, `[ "@" = @ ] && echo yes`,
		"for f in @/*; do echo \"$f\"; done", `printf '%s\n' "@" '@' @`,
	} {
		run := func(script string) string {
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir, cmd.Env = root, []string{"PATH=" + os.Getenv("PATH"), hereVariable + "=" + root}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v: %s", script, err, out)
			}
			return string(out)
		}
		got, ok := spliced(strings.ReplaceAll(text, "@", hereMark))
		if !ok || strings.Contains(got, hereMark) {
			t.Errorf("%s: got %q, %v", text, got, ok)
			continue
		}
		if want := run(strings.ReplaceAll(text, "@", root)); run(got) != want {
			t.Errorf("%s: %s says %q, want %q", text, got, run(got), want)
		}
	}
	for _, text := range []string{"cat <<'E'\n@\nE\n", "echo `echo @`", "case x in x) echo '@';; esac", "echo '@", `echo "@`, `echo \@`} {
		if got, ok := spliced(strings.ReplaceAll(text, "@", hereMark)); ok {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

const hereText = `on: push
env: {CACHE: "${{ github.workspace }}/it's", OTHER: "x"}
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh ${{ github.workspace }}/ci/say.sh "$CACHE"
        working-directory: ${{ github.workspace }}/sub
      - {run: 'cd sub && "$GITHUB_WORKSPACE/ci/say.sh" && sh "${GITHUB_WORKSPACE}"/ci/more.sh'}
      - {run: "echo ${{ format('{0}/x', github.workspace) }} ${{ env.OTHER }}"}
      - {run: "echo ${{ startsWith(github.workspace, '/home') }}"}
      - {run: "echo ${{ github.workspace == '/home' }}"}
      - {run: "true", working-directory: "${{ github.workspace }}x"}
      - {run: "echo $GITHUB_WORKSPACES ok"}
      - {run: "true", working-directory: "link"}
      - {run: "echo \x02workspace"}
  moved:
    runs-on: ubuntu-latest
    steps:
      - {uses: actions/checkout@v4, with: {path: there}}
      - {run: "echo ${{ github.workspace }}"}
      - {run: "echo $GITHUB_WORKSPACE"}
      - {run: "echo here"}
      - {run: "echo here", env: {OWN: "${{ github.workspace }}"}}
      - {run: "echo $CACHE"}
  boxed:
    runs-on: ubuntu-latest
    container: alpine
    steps:
      - {run: "echo ${{ github.workspace }}"}
      - {run: 'sh "$GITHUB_WORKSPACE/ci/say.sh"'}
`

// TestHere runs steps that speak of their workspace in a copy whose name nobody knew, and finds the scripts that they name by it.
func TestHere(t *testing.T) {
	files := fstest.MapFS{
		ciFile: {Data: []byte(hereText)}, "ci/say.sh": {Data: []byte("#!/bin/sh\necho \"say $1 from $PWD\"\n"), Mode: 0o755}, "ci/more.sh": {Data: []byte("echo more\n"), Mode: 0o755},
		"sub/a.txt": {Data: []byte("a\n")}, "link": {Data: []byte("sub"), Mode: fs.ModeSymlink | 0o777},
	}
	root := filepath.Join(t.TempDir(), "a copy's place")
	for name, f := range files {
		if f.Mode&fs.ModeSymlink == 0 {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700), os.WriteFile(filepath.Join(root, name), f.Data, 0o700)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		job, step string
		want      string // what it says, @ for the copy; or the reason
		scripts   []string
	}{
		{"a", "2", "say @/it's from @/sub\n", []string{"ci/say.sh"}},
		{"a", "3", "say  from @/sub\nmore\n", []string{"ci/more.sh", "ci/say.sh"}},
		{"a", "4", "@/x x\n", nil},
		{"a", "5", string(BadExpression), nil},
		{"a", "6", string(BadExpression), nil},
		{"a", "7", string(BadFolder), nil},
		{"a", "8", string(BadEnvironment), nil},
		{"a", "9", "", nil},
		{"a", "10", string(BadExpression), nil},
		{"moved", "2", string(BadExpression), nil},
		{"moved", "3", string(BadExpression), nil},
		{"moved", "4", "here\n", nil},
		{"moved", "5", string(BadExpression), nil},
		{"moved", "6", string(BadExpression), nil},
		{"boxed", "1", string(BadExpression), nil},
		{"boxed", "2", "say  from @\n", []string{"ci/say.sh"}},
	} {
		set, err := FromWorkflow(files, ciFile, At{Job: tt.job, Step: tt.step})
		var no *Unplanned
		if errors.As(err, &no) {
			if string(no.Reason) != tt.want {
				t.Errorf("%s %s: %v", tt.job, tt.step, err)
			}
			continue
		}
		if err != nil || strings.Contains(set.Checks[0].Run, hereMark) {
			t.Fatalf("%s %s: %+v, %v", tt.job, tt.step, set, err)
		}
		c := set.Checks[0]
		cmd := exec.Command("sh", "-ec", c.Run)
		cmd.Dir, cmd.Env = filepath.Join(root, c.Dir), []string{"PATH=" + os.Getenv("PATH")}
		for k, v := range c.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		if c.Dir == "link" {
			continue // it is no folder of this copy, and does without the variable
		}
		out, err := cmd.CombinedOutput()
		if got := strings.ReplaceAll(string(out), root, "@"); err != nil || got != tt.want || !slices.Equal(c.Scripts, tt.scripts) {
			t.Errorf("%s %s: %s in %s says %q, %v; scripts %q", tt.job, tt.step, c.Run, c.Dir, got, err, c.Scripts)
		}
	}
}
