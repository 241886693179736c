package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// victim is one fix of a little repository, to be killed somewhere on its way. Its check is a grep, so that a whole
// job takes a second.
type victim struct {
	home, repo, evidence string
	cmd                  *exec.Cmd
	said                 bytes.Buffer
}

const needle = "the answer is right\n"

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{home: t.TempDir(), repo: filepath.Join(t.TempDir(), "repo"), evidence: filepath.Join(t.TempDir(), "evidence")}
	if err := linkBase(v.state()); err != nil {
		t.Fatal(err)
	}
	if err := worktree.Init(t.Context(), v.repo, map[string][]byte{"answer.txt": []byte("the answer is wrong\n")}, "one"); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *victim) state() string { return filepath.Join(v.home, ".local", "state", "redraft") }

// start starts fix against a scripted model that slips, is wrong, then is right.
func (v *victim) start(t *testing.T) {
	t.Helper()
	fence := "```"
	say := func(text string) modeltest.Reply {
		return modeltest.Reply{Text: "So.\n\n" + fence + "\n# edit: answer.txt :: *\n" + text + fence + "\n", Pace: time.Millisecond}
	}
	server := modeltest.New(t, modeltest.Replies(modeltest.Reply{Text: strings.Repeat("prose ", 40), Pace: time.Millisecond}, say("no\n"), say(needle)))
	v.cmd = exec.Command(os.Args[0], "fix", "--check", "grep -q right answer.txt", "--tiers", "small", "--base-url", server.URL(), "--evidence", v.evidence)
	v.cmd.Dir = v.repo
	v.cmd.Env = []string{"HOME=" + v.home, "PATH=" + barePath(t), "REDRAFT_TEST_MAIN=1"}
	v.cmd.Stdout, v.cmd.Stderr = &v.said, &v.said
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill() })
}

// reached waits until the trace holds a line of that type; false when the job ended without one.
func (v *victim) reached(typ string, done <-chan struct{}) bool {
	want := []byte(`"type":"` + typ + `"`)
	for {
		b, _ := os.ReadFile(filepath.Join(v.evidence, "trace.jsonl"))
		if bytes.Contains(b, want) {
			return true
		}
		select {
		case <-done:
			return false
		case <-time.After(time.Millisecond):
		}
	}
}

// repair is the process id of the child that repairs, 0 if there is none now.
func (v *victim) repair() int {
	for _, p := range v.processes() {
		if p != v.cmd.Process.Pid {
			return p
		}
	}
	return 0
}

// processes are those whose command line names this job's evidence folder.
func (v *victim) processes() []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range dirs {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(b, []byte(v.evidence)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && !zombie(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

// branches are the redraft branches of the repository.
func (v *victim) branches() []string {
	names, _ := filepath.Glob(filepath.Join(v.repo, ".git", "refs", "heads", "redraft", "*"))
	return names
}

// TestKilled kills fix, or the process it started, after each type of trace line, in three ways. Whatever happened: no
// process is left, at most one whole branch, a readable trace, and the next start finds the machine clean.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("REFUSED: finds processes through /proc")
	}
	needBox(t)
	types := []string{trace.TypeEvent, trace.TypeTree, trace.TypeStep, trace.TypeRun, trace.TypeVerdict, trace.TypeScene, trace.TypeRequest,
		trace.TypeTokens, trace.TypeReply, trace.TypeSlip, trace.TypePatch, trace.TypeRung, trace.TypeReceipt, trace.TypeStop, trace.TypeAdmit, trace.TypeDraft}
	for _, how := range []string{"interrupt", "kill-fix", "kill-repair"} {
		t.Run(how, func(t *testing.T) {
			for _, typ := range types {
				t.Run(typ, func(t *testing.T) {
					t.Parallel()
					v := newVictim(t)
					v.start(t)
					v.kill(t, how, typ)
					v.aftermath(t, how)
				})
			}
		})
	}
}

func (v *victim) kill(t *testing.T, how, typ string) {
	t.Helper()
	done := make(chan struct{})
	go func() { _ = v.cmd.Wait(); close(done) }()
	if !v.reached(typ, done) {
		t.Fatalf("the job ended without a %s line:\n%s", typ, v.said.String())
	}
	switch how {
	case "interrupt":
		_ = v.cmd.Process.Signal(os.Interrupt)
	case "kill-fix":
		_ = v.cmd.Process.Kill()
	case "kill-repair":
		if pid := v.repair(); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatalf("fix is still there 60 s later")
	}
}

// aftermath looks at what is left.
func (v *victim) aftermath(t *testing.T, how string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); len(v.processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v are left", v.processes())
		}
	}
	if _, _, err := trace.Read(filepath.Join(v.evidence, "trace.jsonl")); err != nil {
		t.Errorf("the trace cannot be read: %v", err)
	}
	code := v.cmd.ProcessState.ExitCode()
	switch b := v.branches(); {
	case len(b) > 1:
		t.Errorf("%d branches are left: %v", len(b), b)
	case len(b) == 1 && how == "interrupt" && code != 0:
		t.Errorf("a branch is left and the exit status is %d", code)
	case how == "kill-repair" && code != 0 && code != 3:
		t.Errorf("exit status %d, want 0 (too late) or 3 (our side failed)", code)
	case how == "interrupt" && code != 0 && code != 1:
		t.Errorf("exit status %d, want 1 or, too late, 0:\n%s", code, v.said.String())
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := worktree.Open(git, v.state()); err != nil { // the reaper
		t.Fatal(err)
	}
	for _, dir := range []string{"trees", "tmp"} {
		if left, _ := os.ReadDir(filepath.Join(v.state(), dir)); len(left) > 0 {
			t.Errorf("%d folders are left in %s", len(left), dir)
		}
	}
	if info, err := worktree.Inspect(t.Context(), git, v.repo); err != nil || info.Dirty {
		t.Errorf("the repository: dirty %v, %v", info.Dirty, err)
	}
}

// TestAfterAKill: the job that follows a killed one is as good as any.
func TestAfterAKill(t *testing.T) {
	needBox(t)
	v := newVictim(t)
	v.start(t)
	v.kill(t, "kill-fix", trace.TypePatch)
	v.evidence += "-2"
	v.start(t)
	if err := v.cmd.Wait(); err != nil || len(v.branches()) != 1 {
		t.Errorf("got %v, branches %v:\n%s", err, v.branches(), v.said.String())
	}
	var status struct {
		Stop struct{ Reason string }
	}
	b, err := os.ReadFile(filepath.Join(v.evidence, "status.json"))
	if err != nil || json.Unmarshal(b, &status) != nil || status.Stop.Reason != "fixed" {
		t.Errorf("status.json: %v, stop %q", err, status.Stop.Reason)
	}
}
