package sandboxtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

func test(t *testing.T, box *sandbox.Sandbox) {
	w := newWorld(t, box)
	if box.Tier() != sandbox.Unconfined {
		t.Run("escapes", w.testEscapes)
		t.Run("loopback", w.testLoopback)
		t.Run("network none", w.testNoNetwork)
	}
	t.Run("environment", w.testEnvironment)
	t.Run("settings", w.testSettings)
	t.Run("refusals of ours", w.testHostileCommands)
	t.Run("programs", w.testPrograms)
	t.Run("temporary folder", w.testTemp)
	t.Run("streams", w.testStreams)
	t.Run("limits", w.testLimits)
	t.Run("nothing survives", w.testSurvivors)
	t.Run("cancel", w.testCancel)
	t.Run("caller killed", w.testCallerKilled)
	t.Run("at once", w.testConcurrent)
}

// escape is one way out. It must work outside and fail inside.
type escape struct {
	id, name string
	args     []string
	refused  string // what the filter must report, "" if nothing is asked
	private  bool   // it may seem to work inside, in a private folder: what counts is that nothing lands outside
}

func (w *world) escapes() []escape {
	secret := filepath.Join(w.home, canaries[0])
	list := []escape{
		{id: "E01", name: "write outside", args: []string{"write", filepath.Join(w.home, "new")}},
		{id: "E01", name: "overwrite outside", args: []string{"write", filepath.Join(w.home, ".bashrc")}},
		{id: "E01", name: "write upwards", args: []string{"write", w.tree + "/../" + filepath.Base(w.home) + "-up"}, private: true},
		{id: "E01", name: "write through a link", args: []string{"alias", filepath.Join(w.home, "aliased"), filepath.Join(w.tree, "alias")}},
		{id: "E01", name: "name of the machine", args: []string{"open", "/proc/sys/kernel/hostname", "write"}},
		{id: "E01", name: "program for core dumps", args: []string{"open", "/proc/sys/kernel/core_pattern", "write"}},
		{id: "E01", name: "orders to the kernel", args: []string{"open", "/proc/sysrq-trigger", "write"}},
		{id: "E02", name: "list a home", args: []string{"list", w.home}},
		{id: "E22", name: "second name for a secret", args: []string{"hardlink", secret, filepath.Join(w.tree, "linked")}},
		{id: "E03", name: "secrets of other processes", args: []string{"scan", w.secret}},
		{id: "E04", name: "environment of a process", args: []string{"read", "/proc/" + strconv.Itoa(w.victim) + "/environ"}},
		{id: "E04", name: "environment of the caller", args: []string{"read", "/proc/" + strconv.Itoa(os.Getpid()) + "/environ"}},
		{id: "E04", name: "root of a process", args: []string{"read", "/proc/" + strconv.Itoa(w.victim) + "/root" + secret}},
		{id: "E05", name: "listener on 127.0.0.1", args: []string{"dial", "tcp", w.addr["tcp4"]}},
		{id: "E05", name: "listener on ::1", args: []string{"dial", "tcp", w.addr["tcp6"]}},
		{id: "E05", name: "listener by 0.0.0.0", args: []string{"dial", "tcp", strings.Replace(w.addr["tcp4"], "127.0.0.1", "0.0.0.0", 1)}},
		{id: "E08", name: "datagram", args: []string{"udp", w.addr["udp"]}},
		{id: "E08", name: "raw socket", args: []string{"socket", "raw"}},
		{id: "E08", name: "packet socket", args: []string{"socket", "packet"}, refused: "socket AF_PACKET"},
		{id: "E08", name: "socket to the hypervisor", args: []string{"socket", "vsock"}, refused: "socket AF_VSOCK"},
		{id: "E08", name: "crypto socket", args: []string{"socket", "alg"}, refused: "socket AF_ALG"},
		{id: "E09", name: "unix socket of a daemon", args: []string{"dial", "unix", w.addr["unix"]}},
		{id: "E09", name: "datagram to a daemon", args: []string{"dgram", w.addr["dgram"]}},
		{id: "E10", name: "abstract socket", args: []string{"dial", "unix", w.addr["abstract"]}},
		{id: "E11", name: "trace a child", args: []string{"ptrace"}, refused: "ptrace"},
		{id: "E11", name: "memory of the caller", args: []string{"peek", strconv.Itoa(os.Getpid()), w.wordAt()}, refused: "process_vm_readv"},
		{id: "E12", name: "signal the caller", args: []string{"signal", strconv.Itoa(os.Getpid())}},
		{id: "E12", name: "signal a process", args: []string{"signal", strconv.Itoa(w.victim)}},
		{id: "E28", name: "gain privileges", args: []string{"newprivs"}},
		{id: "E28", name: "capabilities", args: []string{"caps"}},
		{id: "E29", name: "type into a terminal", args: []string{"tiocsti", "plain"}, refused: "ioctl TIOCSTI"},
		{id: "E29", name: "type into a terminal, odd number", args: []string{"tiocsti", "high"}, refused: "ioctl TIOCSTI"},
		{id: "E30", name: "inherited descriptor", args: []string{"fds", w.secret}},
		{id: "E31", name: "core dump", args: []string{"core"}},
		{id: "E32", name: "make a device", args: []string{"mknod", filepath.Join(w.tree, "null")}},
		{id: "E32", name: "log of the kernel", args: []string{"open", "/dev/kmsg", "read"}},
		{id: "E34", name: "user namespace", args: []string{"userns"}, refused: "clone with new namespaces"},
		{id: "E34", name: "unshare", args: []string{"unshare"}, refused: "unshare"},
		{id: "E34", name: "mount", args: []string{"mount", filepath.Join(w.home, "mnt")}, refused: "mount"},
		{id: "E34", name: "change the root", args: []string{"chroot", "/"}, refused: "chroot"},
		{id: "E35", name: "io_uring", args: []string{"io_uring"}, refused: "io_uring_setup"},
		{id: "E35", name: "keyring", args: []string{"keyctl"}, refused: "keyctl"},
		{id: "E35", name: "32-bit call", args: []string{"int80", filepath.Join(w.tree, "int80")}, refused: "call of another architecture"},
		{id: "E36", name: "shared memory by key", args: []string{"shm", strconv.Itoa(w.shm)}},
	}
	for _, c := range canaries {
		list = append(list, escape{id: "E02", name: "read " + path.Base(c), args: []string{"read", filepath.Join(w.home, c)}})
	}
	return list
}

// testEscapes makes all attempts outside, then all of them inside, in one process each.
func (w *world) testEscapes(t *testing.T) {
	list := w.escapes()
	outside := w.attempt(t, list, func(c sandbox.Command) []byte {
		cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("outside: %v", err)
		}
		return out
	})
	w.undo()
	var refused []string
	inside := w.attempt(t, list, func(c sandbox.Command) []byte {
		res := w.run(t, c)
		if res.Exit != 0 {
			t.Fatalf("inside: %s", show(res))
		}
		refused = res.Refused
		return res.Stdout
	})
	for i, e := range list {
		t.Run(e.id+" "+e.name, func(t *testing.T) {
			if e.id == "E12" && os.Getpid() < 100 {
				t.Skip("REFUSED: so small a number may name a process inside as well")
			}
			if outside[i] != "" {
				t.Skipf("REFUSED: it does not work outside either on this machine: %s", outside[i])
			}
			if inside[i] == "" && !e.private {
				t.Error("not denied")
			}
			if e.refused != "" && !slices.Contains(refused, e.refused) {
				t.Errorf("refused %q, want %q among them", refused, e.refused)
			}
		})
	}
	w.unharmed(t)
}

// attempt has one process try everything and tells how each try ended, "" where it succeeded.
func (w *world) attempt(t *testing.T, list []escape, run func(sandbox.Command) []byte) []string {
	t.Helper()
	var args [][]string
	for _, e := range list {
		args = append(args, e.args)
	}
	in, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	c := w.command("all")
	c.Stdin = bytes.NewReader(in)
	var ends []string
	if out := run(c); json.Unmarshal(out, &ends) != nil || len(ends) != len(list) {
		t.Fatalf("the attempts were not answered: %q", out)
	}
	return ends
}

// undo takes away what a control left, and mounts of a control with it.
func (w *world) undo() {
	for _, name := range []string{"new", ".bashrc", "aliased"} {
		_ = os.Remove(filepath.Join(w.home, name))
	}
	_ = os.Remove(w.home + "-up")
	_ = unix.Unmount(filepath.Join(w.home, "mnt"), unix.MNT_DETACH)
}

// unharmed looks from outside whether an attempt left traces.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	for _, file := range []string{filepath.Join(w.home, "new"), filepath.Join(w.home, ".bashrc"), filepath.Join(w.home, "aliased"), w.home + "-up"} {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	b, err := os.ReadFile(filepath.Join(w.home, canaries[0]))
	if err != nil || string(b) != w.secret {
		t.Errorf("the canary reads %q, %v", b, err)
	}
}

// testLoopback: the own loopback works, or its lack is reported as what it is.
func (w *world) testLoopback(t *testing.T) {
	if err := ownLoopback(); err != nil {
		t.Skip("REFUSED: this machine has no loopback")
	}
	res := w.run(t, w.command("own"))
	if w.box.Tier() == sandbox.Bubblewrap {
		if res.Exit != 0 || len(res.Refused) > 0 {
			t.Errorf("the own loopback does not work: %s", show(res))
		}
		return
	}
	if res.Exit != 1 || !slices.Contains(res.Refused, "socket AF_INET") {
		t.Errorf("a refused socket was not reported: %s", show(res))
	}
}

func (w *world) testNoNetwork(t *testing.T) {
	c := w.command("own")
	c.Network = sandbox.None
	if res := w.run(t, c); res.Exit != 1 || !slices.Contains(res.Refused, "socket AF_INET") {
		t.Errorf("without a network: %s", show(res))
	}
}

func (w *world) testEnvironment(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", w.secret)
	c := w.command("environ")
	c.Env = []string{"A=1", "B=two words"}
	res := w.run(t, c)
	got := strings.Split(strings.TrimSpace(string(res.Stdout)), "\n")
	got = slices.DeleteFunc(got, func(kv string) bool { return strings.HasPrefix(kv, "TMPDIR=") })
	if !slices.Equal(got, c.Env) {
		t.Errorf("environment %q, want %q", got, c.Env)
	}
	c.Env = append(c.Env, "TMPDIR="+w.tree)
	if res := w.run(t, c); !strings.Contains(string(res.Stdout), "TMPDIR="+w.tree+"\n") {
		t.Errorf("TMPDIR was not left alone:\n%s", res.Stdout)
	}
}

// testSettings: what a shell sets for its children does not leak in.
func (w *world) testSettings(t *testing.T) {
	res := w.run(t, w.shell("umask; ulimit -c; echo $0; pwd"))
	if want := "0022\n0\nsh\n" + w.tree + "\n"; string(res.Stdout) != want {
		t.Errorf("got %q, want %q", res.Stdout, want)
	}
}
