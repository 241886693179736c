package sandboxtest

import (
	"bytes"
	"encoding/json"
	"fmt"
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
		t.Run("gaps", w.testGaps)
		t.Run("escapes", w.testEscapes)
		t.Run("room", w.testRoom)
		t.Run("left behind", w.testLeft)
		t.Run("bounds", w.testBounds)
		t.Run("loopback", w.testLoopback)
		t.Run("network none", w.testNoNetwork)
	}
	w.tally.run(t, "E03 E37", "environment", w.testEnvironment)
	w.tally.run(t, "E39", "settings", w.testSettings)
	w.tally.run(t, "E38", "refusals of ours", w.testHostileCommands)
	w.tally.run(t, "E40", "programs", w.testPrograms)
	t.Run("temporary folder", w.testTemp)
	w.tally.run(t, "E33", "streams", w.testStreams)
	w.tally.run(t, "E13 E14 E15 E17 E18", "limits", w.testLimits)
	w.tally.run(t, "E19 E20", "nothing survives", w.testSurvivors)
	t.Run("cancel", w.testCancel)
	t.Run("caller killed", w.testCallerKilled)
	t.Run("at once", w.testConcurrent)
	if box.Tier() != sandbox.Unconfined {
		w.tally.close(t, box.Tier())
	}
}

// escape is one way out. It must work outside and fail inside.
type escape struct {
	ID, Name string
	Args     []string
	Call     string // what the filter must report, "" if nothing is asked
	Private  bool   // it may seem to work inside, in a private folder: what counts is that nothing lands outside
	Gap      string // where the tier's Gaps say this, it must work inside
}

// outcome is how both tries of an escape ended, "" where one succeeded.
type outcome struct {
	escape
	Outside, Inside string
}

func (w *world) escapes() []escape {
	return slices.Concat(w.writes(), w.reads(), w.neighbours(), w.kernel())
}

// writes: E01, E22, E23, E26, and what is shared of E36.
func (w *world) writes() []escape {
	home := func(name string) string { return filepath.Join(w.home, name) }
	secret, tool := home(canaries[0]), filepath.Join(w.tools, "tool")
	list := []escape{
		{ID: "E01", Name: "write outside", Args: []string{"write", home("new")}},
		{ID: "E01", Name: "overwrite outside", Args: []string{"write", home(".bashrc")}},
		{ID: "E01", Name: "empty a file", Args: []string{"truncate", home("full")}},
		{ID: "E01", Name: "remove a file", Args: []string{"remove", home("doomed")}},
		{ID: "E01", Name: "make a folder", Args: []string{"mkdir", home("folder")}},
		{ID: "E01", Name: "move a file in", Args: []string{"steal", home("loot"), filepath.Join(w.tree, "loot")}},
		{ID: "E01", Name: "move a file out", Args: []string{"moveout", filepath.Join(w.tree, "bait"), home("dropped")}},
		{ID: "E01", Name: "write upwards", Args: []string{"write", w.tree + "/../" + filepath.Base(w.home) + "-up"}, Private: true},
		{ID: "E01", Name: "write through a link", Args: []string{"alias", home("aliased"), filepath.Join(w.tree, "alias")}},
		{ID: "E01", Name: "write through a linked folder", Args: []string{"write", filepath.Join(w.tree, "door", "through")}},
		{ID: "E01", Name: "write by /proc/self/root", Args: []string{"write", "/proc/self/root" + home("rooted")}},
		{ID: "E01", Name: "write by /proc/self/cwd", Args: []string{"write", "/proc/self/cwd/../" + filepath.Base(w.home) + "/cwd"}},
		{ID: "E01", Name: "socket outside", Args: []string{"bind", home("made.sock")}},
		{ID: "E01", Name: "FIFO outside", Args: []string{"mkfifo", home("made.fifo")}},
		{ID: "E01", Name: "write what was given to read", Args: []string{"write", tool}},
		{ID: "E01", Name: "replace what was given to read", Args: []string{"steal", filepath.Join(w.tools, "spare"), filepath.Join(w.tree, "spare")}},
		{ID: "E01", Name: "write a program of the system", Args: []string{"open", "/usr/bin/env", "write"}},
		{ID: "E01", Name: "write users of the system", Args: []string{"open", "/etc/passwd", "write"}},
		{ID: "E01", Name: "write in the machine's /tmp", Args: []string{"write", w.temp}, Private: true},
		{ID: "E01", Name: "name of the machine", Args: []string{"open", "/proc/sys/kernel/hostname", "write"}},
		{ID: "E01", Name: "program for core dumps", Args: []string{"open", "/proc/sys/kernel/core_pattern", "write"}},
		{ID: "E01", Name: "orders to the kernel", Args: []string{"open", "/proc/sysrq-trigger", "write"}},
		{ID: "E01", Name: "modes", Args: []string{"chmod", home("full")}, Gap: gapModes},
		{ID: "E01", Name: "times", Args: []string{"utime", home("full")}, Gap: gapModes},
		{ID: "E01", Name: "extended attributes", Args: []string{"setxattr", home("full")}, Gap: gapModes},
		{ID: "E01", Name: "owner", Args: []string{"chown", home("full")}},
		{ID: "E22", Name: "second name for a secret", Args: []string{"hardlink", secret, filepath.Join(w.tree, "linked")}},
		{ID: "E22", Name: "second name by a descriptor", Args: []string{"linkfd", secret, filepath.Join(w.tree, "linked")}},
		{ID: "E22", Name: "write by a second name", Args: []string{"linkwrite", tool, filepath.Join(w.tree, "second")}},
		{ID: "E23", Name: "rename the tree", Args: []string{"rename", w.tree, w.tree + "-moved"}},
		{ID: "E23", Name: "rename the folder above", Args: []string{"renameup", filepath.Dir(w.tree), filepath.Dir(w.tree) + "-moved"}, Private: true},
		{ID: "E23", Name: "exchange the tree", Args: []string{"exchange", w.tree, w.home}},
		{ID: "E36", Name: "cache of the machine", Args: []string{"write", home(".cache/go-build/planted")}},
		{ID: "E36", Name: "shared memory by name", Args: []string{"read", "/dev/shm/" + w.name}},
	}
	for _, f := range []string{".config/systemd/user/x.service", ".config/autostart/x.desktop", ".profile", "Library/LaunchAgents/x.plist", ".ssh/authorized_keys"} {
		list = append(list, escape{ID: "E26", Name: path.Base(f), Args: []string{"write", home(f)}})
	}
	return list
}

// reads: E02 to E04, E37, and the devices of E32.
func (w *world) reads() []escape {
	secret := filepath.Join(w.home, canaries[0])
	victim, caller := "/proc/"+strconv.Itoa(w.victim), "/proc/"+strconv.Itoa(os.Getpid())
	list := []escape{
		{ID: "E02", Name: "list a home", Args: []string{"list", w.home}},
		{ID: "E02", Name: "passwords of the system", Args: []string{"read", "/etc/shadow"}},
		{ID: "E02", Name: "through a link of the tree", Args: []string{"read", filepath.Join(w.tree, "door", canaries[0])}},
		{ID: "E02", Name: "by /proc/self/root", Args: []string{"read", "/proc/self/root" + secret}},
		{ID: "E02", Name: "by a file handle", Args: []string{"handle", secret}, Call: "open_by_handle_at"},
		{ID: "E02", Name: "as a program", Args: []string{"exec", filepath.Join(w.home, "program")}},
		{ID: "E02", Name: "ask whether it is there", Args: []string{"stat", secret}, Gap: gapAsk},
		{ID: "E02", Name: "ask where a link leads", Args: []string{"readlink", filepath.Join(w.home, "pointer")}, Gap: gapAsk},
		{ID: "E02", Name: "ask for attributes", Args: []string{"listxattr", secret}, Gap: gapAsk},
		{ID: "E02", Name: "watch a folder", Args: []string{"inotify", w.home}, Gap: gapAsk},
		{ID: "E02", Name: "programs of the system", Args: []string{"read", "/usr/bin/env"}, Gap: gapSystem},
		{ID: "E03", Name: "secrets of other processes", Args: []string{"scan", w.secret}},
		{ID: "E04", Name: "environment of a process", Args: []string{"read", victim + "/environ"}},
		{ID: "E04", Name: "environment of the caller", Args: []string{"read", caller + "/environ"}},
		{ID: "E04", Name: "environment of process 1", Args: []string{"read", "/proc/1/environ"}},
		{ID: "E04", Name: "environment of a thread", Args: []string{"read", victim + "/task/" + strconv.Itoa(w.victim) + "/environ"}},
		{ID: "E04", Name: "root of a process", Args: []string{"read", victim + "/root" + secret}},
		{ID: "E04", Name: "root of process 1", Args: []string{"read", "/proc/1/root" + secret}},
		{ID: "E04", Name: "folder of a process", Args: []string{"list", victim + "/cwd"}},
		{ID: "E04", Name: "descriptors of the caller", Args: []string{"read", caller + "/fd/" + strconv.Itoa(int(w.leak.Fd()))}},
		{ID: "E04", Name: "descriptors of the parent", Args: []string{"parent", "fd"}},
		{ID: "E04", Name: "memory of the parent", Args: []string{"parent", "mem"}},
		{ID: "E04", Name: "map of a process", Args: []string{"read", victim + "/maps"}},
		{ID: "E30", Name: "inherited descriptor", Args: []string{"fds", w.secret}},
		{ID: "E30", Name: "inherited folder", Args: []string{"dirfds", canaries[0]}},
		{ID: "E32", Name: "make a device", Args: []string{"mknod", filepath.Join(w.tree, "null")}},
		{ID: "E32", Name: "log of the kernel", Args: []string{"open", "/dev/kmsg", "read"}},
		{ID: "E32", Name: "memory of the machine", Args: []string{"open", "/dev/mem", "read"}},
		{ID: "E32", Name: "disk of the machine", Args: []string{"open", disk(), "read"}},
	}
	for _, c := range canaries {
		id := "E02"
		if strings.HasPrefix(c, "runner/") {
			id = "E37"
		}
		list = append(list, escape{ID: id, Name: "read " + path.Base(c), Args: []string{"read", filepath.Join(w.home, c)}})
	}
	return list
}

// neighbours: E05 and E08 to E12 on the machine's own loopback. The others of the network are tried in a room of their own.
func (w *world) neighbours() []escape {
	caller, victim := strconv.Itoa(os.Getpid()), strconv.Itoa(w.victim)
	return []escape{
		{ID: "E05", Name: "listener on 127.0.0.1", Args: []string{"dial", "tcp", w.addr["tcp4"]}},
		{ID: "E05", Name: "listener on ::1", Args: []string{"dial", "tcp", w.addr["tcp6"]}},
		{ID: "E05", Name: "listener by 0.0.0.0", Args: []string{"dial", "tcp", strings.Replace(w.addr["tcp4"], "127.0.0.1", "0.0.0.0", 1)}},
		{ID: "E08", Name: "datagram", Args: []string{"udp", w.addr["udp"]}},
		{ID: "E08", Name: "raw socket", Args: []string{"socket", "raw"}},
		{ID: "E08", Name: "packet socket", Args: []string{"socket", "packet"}, Call: "socket AF_PACKET"},
		{ID: "E08", Name: "socket to the hypervisor", Args: []string{"socket", "vsock"}, Call: "socket AF_VSOCK"},
		{ID: "E08", Name: "crypto socket", Args: []string{"socket", "alg"}, Call: "socket AF_ALG"},
		{ID: "E08", Name: "socket to the kernel's audit", Args: []string{"socket", "audit"}, Call: "socket AF_NETLINK"},
		{ID: "E09", Name: "unix socket of a daemon", Args: []string{"dial", "unix", w.addr["unix"]}},
		{ID: "E09", Name: "datagram to a daemon", Args: []string{"dgram", w.addr["dgram"]}},
		{ID: "E10", Name: "abstract socket", Args: []string{"dial", "unix", w.addr["abstract"]}},
		{ID: "E10", Name: "descriptor passed by a socket", Args: []string{"receive", w.addr["giver"], w.secret}},
		{ID: "E10", Name: "descriptor passed by an abstract socket", Args: []string{"receive", w.addr["hidden giver"], w.secret}},
		{ID: "E11", Name: "trace a child", Args: []string{"ptrace"}, Call: "ptrace"},
		{ID: "E11", Name: "attach to a process", Args: []string{"attach", victim}, Call: "ptrace"},
		{ID: "E11", Name: "memory of the caller", Args: []string{"peek", caller, w.wordAt()}, Call: "process_vm_readv"},
		{ID: "E11", Name: "descriptor of the caller", Args: []string{"getfd", caller, strconv.Itoa(int(w.leak.Fd()))}},
		{ID: "E12", Name: "signal the caller", Args: []string{"signal", caller}},
		{ID: "E12", Name: "signal a process", Args: []string{"signal", victim}, Gap: gapSignal},
		{ID: "E12", Name: "signal a group", Args: []string{"signal", "-" + victim}, Gap: gapSignal},
		{ID: "E12", Name: "signal by a pidfd", Args: []string{"pidfd", victim}, Gap: gapSignal},
		{ID: "E12", Name: "limits of a process", Args: []string{"prlimit", victim}},
		{ID: "E12", Name: "priority of a process", Args: []string{"nice", victim}},
		{ID: "E12", Name: "disk priority of a process", Args: []string{"ionice", victim}},
		{ID: "E12", Name: "processors of a process", Args: []string{"affinity", victim}, Gap: gapSched},
	}
}

// kernel: E28 to E36, what asks the kernel for more.
func (w *world) kernel() []escape {
	key, id := strconv.Itoa(w.key), strconv.Itoa(w.shmID)
	return []escape{
		{ID: "E28", Name: "gain privileges", Args: []string{"newprivs"}},
		{ID: "E28", Name: "capabilities", Args: []string{"caps"}},
		{ID: "E28", Name: "setuid program", Args: []string{"setuid", filepath.Join(w.tools, "whoami")}},
		{ID: "E28", Name: "another user", Args: []string{"become"}},
		{ID: "E29", Name: "type into a terminal", Args: []string{"tiocsti", "plain"}, Call: "ioctl TIOCSTI"},
		{ID: "E29", Name: "type into a terminal, odd number", Args: []string{"tiocsti", "high"}, Call: "ioctl TIOCSTI"},
		{ID: "E31", Name: "limit of core dumps", Args: []string{"core"}},
		{ID: "E31", Name: "crash", Args: []string{"crash", w.tree}, Gap: gapCrash},
		{ID: "E34", Name: "user namespace", Args: []string{"userns"}, Call: "clone with new namespaces"},
		{ID: "E34", Name: "unshare", Args: []string{"unshare"}, Call: "unshare"},
		{ID: "E34", Name: "mount", Args: []string{"mount", filepath.Join(w.home, "mnt")}, Call: "mount"},
		{ID: "E34", Name: "mount by descriptors", Args: []string{"fsopen"}, Call: "fsopen"},
		{ID: "E34", Name: "copy of a mount", Args: []string{"open_tree"}, Call: "open_tree"},
		{ID: "E34", Name: "change the root", Args: []string{"chroot", "/"}, Call: "chroot"},
		{ID: "E34", Name: "namespace of a process", Args: []string{"setns", strconv.Itoa(w.victim)}},
		{ID: "E34", Name: "namespaces by clone3", Args: []string{"clone3"}},
		{ID: "E34", Name: "nested sandbox", Args: []string{"exec", "bwrap", "--ro-bind", "/", "/", "--unshare-user", "--", "/bin/true"}, Call: "clone with new namespaces"},
		{ID: "E34", Name: "unshare, the program", Args: []string{"exec", "unshare", "-U", "/bin/true"}},
		{ID: "E35", Name: "io_uring", Args: []string{"io_uring"}, Call: "io_uring_setup"},
		{ID: "E35", Name: "keyring", Args: []string{"keyctl"}, Call: "keyctl"},
		{ID: "E35", Name: "new key", Args: []string{"addkey"}, Call: "add_key"},
		{ID: "E35", Name: "bpf", Args: []string{"bpf"}, Call: "bpf"},
		{ID: "E35", Name: "page faults by hand", Args: []string{"userfaultfd"}, Call: "userfaultfd"},
		{ID: "E35", Name: "performance counters", Args: []string{"perf"}, Call: "perf_event_open"},
		{ID: "E35", Name: "32-bit call", Args: []string{"int80", filepath.Join(w.tree, "int80")}, Call: "call of another architecture"},
		{ID: "E35", Name: "x32 call", Args: []string{"x32"}, Call: "call of another architecture"},
		{ID: "E36", Name: "shared memory by key", Args: []string{"shm", key}},
		{ID: "E36", Name: "shared memory by number", Args: []string{"shmat", id}},
		{ID: "E36", Name: "list of shared memory", Args: []string{"shmstat", id}},
		{ID: "E36", Name: "semaphore by number", Args: []string{"semctl", strconv.Itoa(w.semID)}},
		{ID: "E36", Name: "queue by number", Args: []string{"msgsnd", strconv.Itoa(w.msgID)}},
		{ID: "E36", Name: "queue by name", Args: []string{"mq_open", w.name}},
		{ID: "E36", Name: "remove a queue", Args: []string{"mq_unlink", w.name + "-doomed"}},
	}
}

// testGaps: every gap that a row names is shown by an attempt of that row.
func (w *world) testGaps(t *testing.T) {
	all := slices.Concat(w.escapes(), roomEscapes(0))
	for _, r := range rows {
		for _, g := range r.Gaps[w.box.Tier()] {
			shown := slices.ContainsFunc(all, func(e escape) bool { return e.ID == r.ID && e.Gap == g }) ||
				slices.ContainsFunc(w.bounds(), func(b bound) bool { return b.id == r.ID && b.gap == g })
			if !shown {
				t.Errorf("%s: nothing shows %q", r.ID, g)
			}
		}
	}
}

// testEscapes makes all attempts outside, then all of them inside, in one process each.
func (w *world) testEscapes(t *testing.T) {
	list := w.escapes()
	w.bait(t)
	outside, err := attempt(w.command("all"), list, func(c sandbox.Command) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, c.Stdin
		return cmd.Output()
	})
	if err != nil {
		t.Fatalf("outside: %v", err)
	}
	w.undo()
	w.bait(t)
	var refused []string
	inside, err := attempt(w.command("all"), list, func(c sandbox.Command) ([]byte, error) {
		res := w.run(t, c)
		refused = res.Refused
		if res.Exit != 0 {
			t.Fatalf("inside: %s", show(res))
		}
		return res.Stdout, nil
	})
	if err != nil {
		t.Fatalf("inside: %v", err)
	}
	for i, e := range list {
		w.judge(t, outcome{e, outside[i], inside[i]}, refused)
	}
	w.unharmed(t)
}

// judge holds both ends of an attempt against each other.
func (w *world) judge(t *testing.T, o outcome, calls []string) {
	w.tally.run(t, o.ID, o.Name, func(t *testing.T) {
		if (o.ID == "E12" || o.ID == "E04") && os.Getpid() < 100 {
			w.tally.refuse(t, o.ID, "so small a number may name a process inside as well")
		}
		if o.Outside != "" {
			w.tally.refuse(t, o.ID, "it does not work outside either on this machine: "+o.Outside)
		}
		open := slices.Contains(w.box.Gaps(), o.Gap)
		if open && !slices.ContainsFunc(rows, func(r Row) bool { return r.ID == o.ID && slices.Contains(r.Gaps[w.box.Tier()], o.Gap) }) {
			t.Errorf("the row does not name the gap %q", o.Gap)
		}
		switch {
		case open && o.Inside == "":
			w.tally.gap(o.ID)
		case open:
			t.Errorf("the gap %q is none: %s", o.Gap, o.Inside)
		case o.Inside == "" && !o.Private:
			t.Error("not denied")
		}
		if o.Call != "" && !slices.Contains(calls, o.Call) {
			t.Errorf("refused %q, want %q among them", calls, o.Call)
		}
	})
}

// attempt has one process try everything and tells how each try ended, "" where it succeeded.
func attempt(c sandbox.Command, list []escape, run func(sandbox.Command) ([]byte, error)) ([]string, error) {
	var args [][]string
	for _, e := range list {
		args = append(args, e.Args)
	}
	in, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	c.Stdin = bytes.NewReader(in)
	out, err := run(c)
	if err != nil {
		return nil, err
	}
	var ends []string
	if err := json.Unmarshal(out, &ends); err != nil || len(ends) != len(list) {
		return nil, fmt.Errorf("the attempts were not answered: %q", out[:min(len(out), 2000)])
	}
	return ends, nil
}

// written are files that no attempt may leave behind outside of the tree.
func (w *world) written() []string {
	names := []string{"new", ".bashrc", "folder", "dropped", "aliased", "through", "rooted", "cwd", "made.sock", "made.fifo", ".cache/go-build/planted",
		".config/systemd/user/x.service", ".config/autostart/x.desktop", ".profile", "Library/LaunchAgents/x.plist", ".ssh/authorized_keys"}
	for i, n := range names {
		names[i] = filepath.Join(w.home, n)
	}
	return append(names, w.home+"-up", w.temp, w.tree+"-moved", filepath.Dir(w.tree)+"-moved", filepath.Join(filepath.Dir(w.tree), movedMark))
}

// bait lays out what attempts want to take away or to change.
func (w *world) bait(t *testing.T) {
	t.Helper()
	_ = mqOpen(w.name+"-doomed", unix.O_CREAT|unix.O_RDWR)
	for _, f := range []string{filepath.Join(w.home, "full"), filepath.Join(w.home, "doomed"), filepath.Join(w.home, "loot"), filepath.Join(w.tree, "bait"), filepath.Join(w.tools, "tool"), filepath.Join(w.tools, "spare")} {
		if err := os.WriteFile(f, []byte(w.secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// undo takes away what a control left, and mounts of a control with it.
func (w *world) undo() {
	for _, f := range append(w.written(), filepath.Join(w.tree, "loot"), filepath.Join(w.tree, "spare")) {
		_ = os.RemoveAll(f)
	}
	_ = unix.Unmount(filepath.Join(w.home, "mnt"), unix.MNT_DETACH)
}

// unharmed looks from outside whether an attempt left traces.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	for _, file := range w.written() {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	for _, f := range []string{filepath.Join(w.home, canaries[0]), filepath.Join(w.home, "full"), filepath.Join(w.home, "doomed"), filepath.Join(w.home, "loot"), filepath.Join(w.tools, "tool"), filepath.Join(w.tools, "spare")} {
		if b, err := os.ReadFile(f); err != nil || string(b) != w.secret {
			t.Errorf("%s reads %q, %v", f, b, err)
		}
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
