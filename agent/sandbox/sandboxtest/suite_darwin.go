package sandboxtest

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

func test(t *testing.T, box *sandbox.Sandbox) {
	w := newWorld(t, box)
	if box.Tier() != sandbox.Unconfined {
		t.Run("escapes", w.testEscapes)
		testSwaps(t, w.tally)
		w.tally.run(t, "E05", "servers that are not closed", w.testOpenPort)
		w.tally.run(t, "E12", "sibling", w.testSibling)
		w.tally.run(t, "E19 E20", "killed keeper", w.testTraitor)
		w.tally.run(t, "E24 E25", "names", w.testNames)
		w.tally.run(t, "E32", "left for the host", w.testLitter)
		for id, why := range map[string]string{"E10": "macOS has no abstract sockets", "E35": "these are calls of Linux"} {
			w.tally.run(t, id, "not here", func(t *testing.T) { w.tally.refuse(t, id, why) })
		}
		t.Run("killed warden", w.testWardenKilled)
		t.Run("loopback", w.testLoopback)
		t.Run("network none", w.testNoNetwork)
		t.Run("toolchain", w.testToolchain)
	}
	w.tally.run(t, "E03 E37", "environment", w.testEnvironment)
	w.tally.run(t, "E39", "settings", w.testSettings)
	w.tally.run(t, "E38", "refusals of ours", w.testHostileCommands)
	w.tally.run(t, "E40", "programs", w.testPrograms)
	t.Run("temporary folder", w.testTemp)
	w.tally.run(t, "E33", "streams", w.testStreams)
	w.tally.run(t, "E13 E14 E15 E16 E17 E18", "limits", w.testLimits)
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
	id, name string
	args     []string
}

func (w *world) escapes() []escape {
	home := func(name string) string { return filepath.Join(w.home, name) }
	secret := home(canaries[0])
	list := []escape{
		{"E01", "write outside", []string{"write", home("new")}}, {"E01", "overwrite outside", []string{"write", home(".zshrc")}},
		{"E01", "make a folder", []string{"mkdir", home("folder")}}, {"E01", "write upwards", []string{"write", w.tree + "/../" + filepath.Base(w.home) + "-up"}},
		{"E01", "write through a link", []string{"alias", home("aliased"), filepath.Join(w.tree, "alias")}},
		{"E01", "write what was given to read", []string{"write", filepath.Join(w.tools, "tool")}},
		{"E01", "write in the machine's /tmp", []string{"write", "/tmp/redraft-sandboxtest-" + strconv.Itoa(os.Getpid())}},
		{"E01", "write by the other name of the volume", []string{"write", "/System/Volumes/Data" + home("volume")}},
		{"E02", "list a home", []string{"list", w.home}}, {"E02", "look at a key", []string{"stat", secret}},
		{"E02", "by the other name of the volume", []string{"read", "/System/Volumes/Data" + secret}},
		{"E02", "keychains of the system", []string{"list", "/Library/Keychains"}},
		{"E03", "arguments and environment of a process", []string{"args", strconv.Itoa(w.victim), "SECRET=" + w.secret}},
		{"E03", "ps", []string{"exec", "/bin/ps", "-axww"}}, {"E04", "the process table", []string{"table", strconv.Itoa(w.victim)}},
		{"E05", "closed port on 127.0.0.1", []string{"dial", "tcp", w.addr["tcp4"]}}, {"E05", "closed port on ::1", []string{"dial", "tcp", w.addr["tcp6"]}},
		{"E05", "closed port by 0.0.0.0", []string{"dial", "tcp", strings.Replace(w.addr["tcp4"], "127.0.0.1", "0.0.0.0", 1)}},
		{"E05", "closed port as an IPv6 address", []string{"dial", "tcp", strings.Replace(w.addr["tcp4"], "127.0.0.1", "[::ffff:127.0.0.1]", 1)}},
		{"E05", "taking a closed port", []string{"take", w.addr["tcp4"]}},
		{"E06", "metadata of a cloud", []string{"route", "169.254.169.254:80"}}, {"E07", "a name server", []string{"route", "192.0.2.53:53"}},
		{"E07", "the system's resolver", []string{"reach", "/var/run/mDNSResponder"}}, {"E08", "datagram to the internet", []string{"route", "192.0.2.1:443"}},
		{"E08", "datagram over IPv6", []string{"route", "[2001:db8::1]:443"}}, {"E08", "ping", []string{"ping", "192.0.2.1"}},
		{"E08", "every address of this machine", []string{"take", "0.0.0.0:0"}},
		{"E09", "unix socket of a daemon", []string{"dial", "unix", w.addr["unix"]}}, {"E09", "log of the system", []string{"reach", "/var/run/syslog"}},
		{"E11", "trace a process", []string{"attach", strconv.Itoa(w.victim)}}, {"E12", "signal the caller", []string{"signal", strconv.Itoa(os.Getpid())}},
		{"E12", "signal a process", []string{"signal", strconv.Itoa(w.victim)}},
		{"E22", "second name for a secret", []string{"hardlink", secret, filepath.Join(w.tree, "linked")}},
		{"E22", "write by a second name", []string{"hardlink", filepath.Join(w.tools, "tool"), filepath.Join(w.tree, "second")}},
		{"E22", "second name for a file of a repository", []string{"hardlink", filepath.Join(w.tree, ".git/config"), filepath.Join(w.tree, "third")}},
		{"E23", "rename the folder above", []string{"rename", filepath.Dir(w.tree), filepath.Dir(w.tree) + "-moved"}},
		{"E26", "launchd", []string{"exec", "/bin/launchctl", "print", "user/" + strconv.Itoa(os.Getuid())}},
		{"E26", "defaults", []string{"exec", "/usr/bin/defaults", "read", "-g"}}, {"E27", "programs that are open", []string{"exec", "/usr/bin/lsappinfo", "list"}},
		{"E27", "scripting", []string{"exec", "/usr/bin/osascript", "-e", `tell application "Finder" to get version`}},
		{"E27", "clipboard", []string{"exec", "/usr/bin/pbpaste"}}, {"E28", "keychains", []string{"exec", "/usr/bin/security", "list-keychains"}},
		{"E28", "sudo", []string{"exec", "/usr/bin/sudo", "-n", "true"}}, {"E28", "run as the owner", []string{"setuid", filepath.Join(w.tree, "setuid")}},
		{"E29", "a terminal", []string{"open", "/dev/ptmx"}}, {"E29", "the terminal of the caller", []string{"open", "/dev/tty"}},
		{"E30", "inherited descriptor", []string{"fds", w.secret}}, {"E31", "core dump", []string{"core"}},
		{"E34", "a sandbox of its own", []string{"exec", "/usr/bin/sandbox-exec", "-p", "(version 1)(allow default)", "/usr/bin/true"}},
		{"E34", "disk image", []string{"exec", "/usr/bin/hdiutil", "info"}}, {"E36", "shared memory by key", []string{"shm", strconv.Itoa(w.shm)}},
	}
	for _, c := range canaries {
		list = append(list, escape{"E02", "read " + path.Base(c), []string{"read", home(c)}})
	}
	for _, c := range []string{"Library/LaunchAgents-x.plist", ".ssh/authorized_keys"} {
		list = append(list, escape{"E26", path.Base(c), []string{"write", home(c)}})
	}
	if at := ownAddress(); at != "" {
		_, port, _ := net.SplitHostPort(w.addr["every"])
		list = append(list, escape{"E05", "closed port by this machine's address", []string{"dial", "tcp", net.JoinHostPort(at, port)}})
	}
	return list
}

// ownAddress is an address of this machine that is not loopback's.
func ownAddress() string {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return ""
}

// testEscapes makes all attempts outside, then all of them inside, in one process each.
func (w *world) testEscapes(t *testing.T) {
	list := w.escapes()
	outside := w.attempt(t, list, func(c sandbox.Command) []byte {
		cmd := exec.CommandContext(t.Context(), c.Argv[0], c.Argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.ExtraFiles = c.Dir, append(c.Env, "HOME="+os.Getenv("HOME")), c.Stdin, []*os.File{w.leak}
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("outside: %v", err)
		}
		return out
	})
	w.undo()
	inside := w.attempt(t, list, func(c sandbox.Command) []byte {
		res := w.run(t, c)
		if res.Exit != 0 {
			t.Fatalf("inside: %s", show(res))
		}
		return res.Stdout
	})
	for i, e := range list {
		w.tally.run(t, e.id, e.name, func(t *testing.T) {
			if outside[i] != "" {
				w.tally.refuse(t, e.id, "it does not work outside either on this machine: "+outside[i])
			}
			if inside[i] == "" {
				t.Error("not denied")
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

// left are the files that attempts leave where they succeed.
func (w *world) left() []string {
	var out []string
	for _, name := range []string{"new", ".zshrc", "folder", "aliased", "volume", "Library/LaunchAgents-x.plist", ".ssh/authorized_keys"} {
		out = append(out, filepath.Join(w.home, name))
	}
	return append(out, w.home+"-up", "/tmp/redraft-sandboxtest-"+strconv.Itoa(os.Getpid()))
}

// undo takes away what a control left.
func (w *world) undo() {
	for _, file := range w.left() {
		_ = os.Remove(file)
	}
	_ = os.WriteFile(filepath.Join(w.tools, "tool"), []byte(w.secret), 0o644)
}

// unharmed looks from outside whether an attempt left traces.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	for _, file := range w.left() {
		if _, err := os.Lstat(file); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	for _, file := range []string{filepath.Join(w.home, canaries[0]), filepath.Join(w.tools, "tool"), filepath.Join(w.tree, ".git/config")} {
		if b, err := os.ReadFile(file); err != nil || string(b) != w.secret {
			t.Errorf("%s reads %q, %v", file, b, err)
		}
	}
}

// testNames: E24 and E25. In a tree no name can be written that tools obey, in the temporary folder every one.
func (w *world) testNames(t *testing.T) {
	names := []string{".git/config", ".GIT/hooks/x", "sub/.git/HEAD", ".envrc", ".zshrc", "a/.Bash_Profile", ".vscode/tasks.json", ".husky/pre-commit", "x/LaunchAgents/a.plist"}
	script := `for n in ` + strings.Join(names, " ") + `; do mkdir -p "$1/$(dirname $n)" 2>/dev/null; { echo x >"$1/$n"; } 2>/dev/null && echo "$n"; done; mv "$1/plain" "$1/.git2" && mv "$1/.git2" "$1/deep/.git" 2>/dev/null && echo moved; true`
	for _, at := range []string{"plain", "deep"} {
		if err := os.MkdirAll(filepath.Join(w.tree, at), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := w.shell("")
	c.Argv = []string{"sh", "-c", script, "sh", w.tree}
	if res := w.run(t, c); len(res.Stdout) > 0 {
		t.Errorf("in the tree was written: %s", show(res))
	}
	c.Argv = []string{"sh", "-c", `set -- "$TMPDIR"; mkdir "$1/plain" "$1/deep"; ` + script}
	if got := strings.Fields(string(w.run(t, c).Stdout)); !slices.Equal(got, append(slices.Clone(names), "moved")) {
		t.Errorf("in the temporary folder was written %q", got)
	}
}

// testSibling: one run does not signal another (E12).
func (w *world) testSibling(t *testing.T) {
	mark := filepath.Join(w.tree, "sibling")
	done := make(chan sandbox.Result, 1)
	go func() {
		res, _ := w.box.Run(t.Context(), w.shell(`echo $$ >"`+mark+`"; sleep 5; echo alive`))
		done <- res
	}()
	if err := waitFor(mark); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	if res := w.run(t, w.shell("kill -9 "+strings.TrimSpace(string(b)))); res.Exit == 0 {
		t.Error("a run signals another")
	}
	if res := <-done; !strings.Contains(string(res.Stdout), "alive") {
		t.Errorf("a run was ended by another: %s", show(res))
	}
}

// testOpenPort: a server of this machine whose port is not closed is reached, as a gap says.
func (w *world) testOpenPort(t *testing.T) {
	c := w.command("dial", "tcp", w.addr["tcp4"])
	c.DenyPorts = nil
	if res := w.run(t, c); res.Exit != 0 {
		t.Errorf("a port that is not closed is: %s", show(res))
	}
	if !slices.ContainsFunc(w.box.Gaps(), func(g string) bool { return strings.Contains(g, "servers of this machine") }) {
		t.Errorf("no gap says so: %q", w.box.Gaps())
	}
	w.tally.gap("E05")
}

// testLitter: what is no plain file is refused by the host's reader at once.
func (w *world) testLitter(t *testing.T) {
	dir := filepath.Join(w.tree, "litter")
	res := w.run(t, w.shell("mkdir litter && cd litter && mkfifo fifo && ln -s /dev/zero zero && ln -s loop loop && mkdir report && echo x >twice && ln twice second && ls"))
	if res.Exit != 0 {
		t.Fatalf("it could not be left: %s", show(res))
	}
	for _, name := range strings.Fields(string(res.Stdout)) {
		if _, err := sandbox.Harvest(dir, name, 1<<20); err == nil {
			t.Errorf("%s was harvested", name)
		}
	}
}

// testLoopback: the loopback works, and whether it has a name is told.
func (w *world) testLoopback(t *testing.T) {
	if res := w.run(t, w.command("own")); res.Exit != 0 {
		t.Errorf("the loopback does not work: %s", show(res))
	}
	t.Run("by name", func(t *testing.T) {
		c := w.command("dial", "tcp", strings.Replace(w.addr["tcp4"], "127.0.0.1", "localhost", 1))
		c.DenyPorts = nil
		if res := w.run(t, c); res.Exit != 0 {
			t.Skipf("REFUSED: localhost has no address without the system's resolver: %s", show(res))
		}
	})
}

func (w *world) testNoNetwork(t *testing.T) {
	c := w.command("own")
	c.Network = sandbox.None
	if res := w.run(t, c); res.Exit != 1 {
		t.Errorf("without a network: %s", show(res))
	}
}

// testToolchain: what checks begin with starts inside. Each is first seen to work outside.
func (w *world) testToolchain(t *testing.T) {
	goroot, _ := exec.Command("go", "env", "GOROOT").Output()
	for _, script := range []string{
		"go version", "git --version", "python3 -c 'import hashlib, json, socket, subprocess, multiprocessing; multiprocessing.Lock(); print(1)'", "node -e 'console.log(require(\"os\").cpus().length)'",
		"echo 'int main(){return 0;}' >a.c && cc a.c -o a.out && ./a.out", "make --version", "perl -e 'print 1'", "id -un", "date", "uname -a", "mktemp", "echo x | grep x | sort", "zsh -c 'echo 1'",
	} {
		t.Run(strings.Fields(script)[0], func(t *testing.T) {
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("REFUSED: it does not work outside either on this machine: %v: %s", err, out)
			}
			c := w.shell(script)
			c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.tree}
			if root := strings.TrimSpace(string(goroot)); root != "" {
				c.Read, c.Env = append(c.Read, root), append(c.Env, "GOROOT="+root, "GOTOOLCHAIN=local")
			}
			for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
				if fi, err := os.Stat(dir); err == nil && fi.IsDir() && filepath.IsAbs(dir) && !strings.HasPrefix(os.Getenv("HOME"), dir) {
					c.Read = append(c.Read, dir)
				}
			}
			if res := w.run(t, c); res.Exit != 0 {
				t.Errorf("it does not start: %s", show(res))
			}
		})
	}
}

// testTraitor: a command that kills its keeper is over, and so is what it left.
func (w *world) testTraitor(t *testing.T) {
	mark := filepath.Join(w.tree, "traitor")
	if res := w.run(t, w.command("traitor", mark)); res.Exit != -1 || res.Signal != "SIGKILL" {
		t.Errorf("the keeper was killed: %s", show(res))
	}
	w.still(t, mark)
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
	res := w.run(t, w.shell("umask; ulimit -c; echo $0; pwd -P"))
	if want := "0022\n0\nsh\n" + w.tree + "\n"; string(res.Stdout) != want {
		t.Errorf("got %q, want %q", res.Stdout, want)
	}
}
