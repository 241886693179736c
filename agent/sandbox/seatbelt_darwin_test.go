package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSeatbeltTakesEveryRule: this system's compiler of profiles knows every rule, one at a time, so that the one that it does
// not know is named; then all of them.
func TestSeatbeltTakesEveryRule(t *testing.T) {
	s := seatbelt{Shim: "/usr/bin/true", Tmp: "/private/tmp/redraft-none", Home: operatorHome(), Read: []string{"/private/tmp/redraft-read"},
		Write: []string{"/private/tmp/redraft-write"}, Closed: []int{11434}}
	p, err := s.compile()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true").CombinedOutput(); err != nil {
		t.Skipf("REFUSED: no sandbox can be made here: %v: %s", err, out)
	}
	forms, err := readForms(p.text)
	if err != nil {
		t.Fatal(err)
	}
	try := func(text string) ([]byte, error) {
		args := []string{"-p", text}
		for _, kv := range p.params {
			args = append(args, "-D", kv)
		}
		return exec.Command(sandboxExec, append(args, "--", "/usr/bin/true")...).CombinedOutput()
	}
	for _, form := range forms[2:] {
		for _, part := range split(form) {
			if out, err := try("(version 1)\n(allow default)\n" + part); err != nil {
				t.Errorf("%s: %v: %s", part, err, out)
			}
		}
	}
	if out, err := try(p.text); err != nil {
		t.Errorf("the whole profile: %v: %s", err, out)
	}
}

// split is a rule as one rule for each of its operations and filters.
func split(form sbForm) []string {
	var ops, filters, out []string
	for _, part := range form.list[1:] {
		if part.list == nil {
			ops = append(ops, part.String())
		} else {
			filters = append(filters, part.String())
		}
	}
	if len(filters) == 0 {
		filters = []string{""}
	}
	for _, op := range ops {
		for _, f := range filters {
			out = append(out, "("+form.list[0].atom+" "+op+" "+f+")")
		}
	}
	return out
}

func TestSeesItself(t *testing.T) {
	if err := seesItself(); err != nil {
		t.Fatal(err)
	}
	if n := freeMemory(); n < 1<<20 || n > 1<<50 {
		t.Errorf("this machine has %d bytes free", n)
	}
}

// TestKinOfThisMachine: a child of a child is found, also as an orphan.
func TestKinOfThisMachine(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "(sleep 60 & sleep 0.3) & wait; sleep 60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, maker := numbers(cmd.Process.Pid)
	k := newKin(relative{pid: cmd.Process.Pid, parent: os.Getpid(), group: -1, id: id, maker: maker})
	var in map[int]relative
	for range 20 {
		list, err := table()
		if err != nil {
			t.Fatal(err)
		}
		in = k.grow(list)
		time.Sleep(50 * time.Millisecond)
	}
	orphans := 0
	for pid, p := range in {
		if p.parent == 1 {
			orphans++
		}
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	_ = cmd.Wait()
	if orphans != 1 {
		t.Errorf("%d orphans among %v, want one", orphans, in)
	}
}

func TestFootprint(t *testing.T) {
	before, err := footprint(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	held := bytes.Repeat([]byte{7}, 64<<20)
	after, err := footprint(os.Getpid())
	if err != nil || after-before < 60<<20 {
		t.Errorf("64 MiB more are counted as %d: %v", after-before, err)
	}
	if held[len(held)-1] != 7 {
		t.Error("they are gone")
	}
	if _, err := footprint(1 << 30); err == nil {
		t.Error("a process that is none has a footprint")
	}
}

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	since := time.Now()
	time.Sleep(20 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(dir, "new"), bytes.Repeat([]byte{1}, 1<<19), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := written(dir, since, 1<<40); got < 1<<19 || got > 1<<19+1<<16 {
		t.Errorf("%d bytes written, want about %d", got, 1<<19)
	}
}

// TestProfileOnThisMachine: what a command of this machine gets is understood by the checker, with the folders that this system
// names by links.
func TestProfileOnThisMachine(t *testing.T) {
	s := &Sandbox{tier: Seatbelt, shim: []string{"/usr/bin/true"}}
	p, err := s.profile(Command{Read: []string{"/usr/bin"}, Write: []string{t.TempDir()}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range p.params {
		if strings.HasPrefix(kv, "PATH_") && strings.Contains(kv, "=/var/") || strings.HasPrefix(kv, "TMP=/var/") {
			t.Errorf("%s is not a real path", kv)
		}
	}
}
