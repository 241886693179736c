package sandboxtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

// world is what an attempt may want to reach: all of it ours, and none of it given to the sandbox.
type world struct {
	box    *sandbox.Sandbox
	tally  *tally
	exe    string // the test binary
	tree   string // given for writing
	tools  string // given for reading
	home   string // holds canaries
	temp   string // a name in the machine's folder for temporary files
	name   string // of kernel objects that have names
	secret string // in a process's environment and command line, in files, behind a descriptor
	addr   map[string]string
	victim int     // a process of ours
	word   *uint64 // in the memory of this process
	key    int     // of a System V segment
	shmID  int     // the same segment, by number
	semID  int
	msgID  int
	leak   *os.File // a canary
	folder *os.File // the home
}

const secretWord = 0x5ec2e7

func newWorld(t *testing.T, box *sandbox.Sandbox) *world {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{box: box, tally: newTally(), exe: exe, tree: t.TempDir(), tools: t.TempDir(), home: t.TempDir(), addr: map[string]string{}}
	w.secret, w.name = "canary-"+strconv.Itoa(os.Getpid()), "redraft-sandboxtest-"+strconv.Itoa(os.Getpid())
	w.temp = filepath.Join(os.TempDir(), w.name)
	for _, f := range append(canaries, "mnt/.keep", ".cache/go-build/kept", ".config/systemd/user/kept", ".config/autostart/kept", "Library/LaunchAgents/kept") {
		w.plant(t, f)
	}
	w.furnish(t)
	for name, network := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"} {
		w.listen(t, name, "tcp", network)
	}
	w.listen(t, "unix", "unix", filepath.Join(w.home, "agent.sock"))
	w.listen(t, "abstract", "unix", "@"+w.name)
	w.give(t, "giver", filepath.Join(w.home, "giver.sock"))
	w.give(t, "hidden giver", "@"+w.name+"-giver")
	w.answer(t, "udp", "udp4", "127.0.0.1:0")
	w.answer(t, "dgram", "unixgram", filepath.Join(w.home, "log.sock"))
	w.word = new(uint64)
	*w.word = secretWord
	w.start(t)
	w.share(t)
	w.leak, w.folder = w.open(t, canaries[0]), w.open(t, "")
	return w
}

// furnish adds links, programs and names beside the canaries.
func (w *world) furnish(t *testing.T) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(w.home, "program"), []byte("#!/bin/sh\nexit 0\n"), 0o755))
	must(t, os.Symlink(filepath.Join(w.home, canaries[0]), filepath.Join(w.home, "pointer")))
	must(t, os.Symlink(w.home, filepath.Join(w.tree, "door")))
	must(t, os.WriteFile("/dev/shm/"+w.name, []byte(w.secret), 0o644))
	t.Cleanup(func() { _ = os.Remove("/dev/shm/" + w.name); _ = os.Remove(w.temp) })
	if b, err := os.ReadFile("/usr/bin/id"); err == nil { // as if it were sudo; chown takes the mode's bit away, so first that
		who := filepath.Join(w.tools, "whoami")
		must(t, os.WriteFile(who, b, 0o755))
		if os.Chown(who, 1, 1) == nil {
			must(t, os.Chmod(who, 0o755|os.ModeSetuid))
		}
	}
}

// canaries are files under a home that hold credentials on people's machines.
var canaries = []string{".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".docker/config.json", ".git-credentials",
	".gnupg/private-keys-v1.d/key", ".kube/config", ".npmrc", ".pypirc", ".cargo/credentials.toml", ".config/gcloud/credentials.db", ".config/redraft/config.yml",
	".bash_history", "Library/Keychains/login.keychain-db", "runner/.runner", "runner/.credentials", "runner/.credentials_rsaparams",
	"runner/_work/_temp/_runner_file_commands/set_env"}

func (w *world) plant(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(w.secret), 0o644); err != nil { // for everybody: only the sandbox protects it
		t.Fatal(err)
	}
}

// listen greets everybody who connects.
func (w *world) listen(t *testing.T, name, network, addr string) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Logf("REFUSED: no listener for %s here: %v", name, err)
		return
	}
	t.Cleanup(func() { l.Close() })
	w.addr[name] = l.Addr().String()
	greet(l)
}

// answer sends every datagram back where it can.
func (w *world) answer(t *testing.T, name, network, addr string) {
	t.Helper()
	c, err := net.ListenPacket(network, addr)
	if err != nil {
		t.Logf("REFUSED: no listener for %s here: %v", name, err)
		return
	}
	t.Cleanup(func() { c.Close() })
	w.addr[name] = c.LocalAddr().String()
	go func() {
		buf := make([]byte, 64)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			if from != nil {
				_, _ = c.WriteTo(buf[:n], from)
			}
		}
	}()
}

// start leaves a process running that carries the secret in its environment and its command line.
func (w *world) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "sleep 600; : SECRET="+w.secret)
	cmd.Env = []string{"SECRET=" + w.secret}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.victim = cmd.Process.Pid
	t.Cleanup(func() {
		killTree(cmd.Process.Pid)
		_ = cmd.Wait()
	})
}

// killTree ends a process of ours and its children.
func killTree(pid int) {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(pid) + "/children")
	_ = unix.Kill(pid, unix.SIGKILL)
	for _, f := range strings.Fields(string(b)) {
		if child, err := strconv.Atoi(f); err == nil {
			_ = unix.Kill(child, unix.SIGKILL)
		}
	}
}

// share makes kernel objects that have names of their own beside the file system.
func (w *world) share(t *testing.T) {
	t.Helper()
	w.key = 0x72640000 | os.Getpid()&0xffff
	var err error
	if w.shmID, err = unix.SysvShmGet(w.key, 4096, unix.IPC_CREAT|0o600); err != nil {
		t.Logf("REFUSED: no System V memory here: %v", err)
		return
	}
	w.semID, w.msgID = ipc(unix.SYS_SEMGET, unix.IPC_PRIVATE, 1, unix.IPC_CREAT|0o600), ipc(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0)
	_ = mqOpen(w.name, unix.O_CREAT|unix.O_RDWR)
	t.Cleanup(func() {
		_, _ = unix.SysvShmCtl(w.shmID, unix.IPC_RMID, nil)
		_ = ipc(unix.SYS_SEMCTL, w.semID, 0, unix.IPC_RMID)
		_ = ipc(unix.SYS_MSGCTL, w.msgID, unix.IPC_RMID, 0)
		_, _ = mqUnlink(w.name), mqUnlink(w.name+"-doomed")
	})
}

// ipc makes a call of System V and returns its number, -1 where it failed.
func ipc(nr uintptr, a, b, c int) int {
	n, _, errno := unix.Syscall(nr, uintptr(a), uintptr(b), uintptr(c))
	if errno != 0 {
		return -1
	}
	return int(n)
}

// open holds a descriptor that programs inherit: it is not closed on exec.
func (w *world) open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(w.home, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// give hands an open canary to everybody who connects.
func (w *world) give(t *testing.T, name, addr string) {
	t.Helper()
	l, err := net.Listen("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w.addr[name] = addr
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if f, err := os.Open(filepath.Join(w.home, canaries[0])); err == nil {
				_, _, _ = c.(*net.UnixConn).WriteMsgUnix([]byte("x"), unix.UnixRights(int(f.Fd())), nil)
				f.Close()
			}
			c.Close()
		}
	}()
}

// disk is a disk of this machine, or a name that is none.
func disk() string {
	all, _ := filepath.Glob("/sys/block/*/device")
	for _, d := range all {
		return "/dev/" + filepath.Base(filepath.Dir(d))
	}
	return "/dev/no-disk"
}

func (w *world) wordAt() string {
	return "0x" + strconv.FormatUint(uint64(uintptr(unsafe.Pointer(w.word))), 16)
}

// command is an attempt inside.
func (w *world) command(args ...string) sandbox.Command {
	return sandbox.Command{
		Argv: append([]string{w.exe, probeMarker}, args...), Dir: w.tree, Env: []string{"PATH=/usr/bin:/bin"},
		Read: []string{w.exe, w.tools}, Write: []string{w.tree}, Wall: time.Minute,
	}
}

// shell is a line for sh inside.
func (w *world) shell(script string) sandbox.Command {
	c := w.command()
	c.Argv = []string{"sh", "-c", script}
	return c
}

// run runs inside and fails the test when our side failed.
func (w *world) run(t *testing.T, c sandbox.Command) sandbox.Result {
	t.Helper()
	res, err := w.box.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// show is a result for messages.
func show(res sandbox.Result) string {
	cut := func(b []byte) string { return string(b[:min(len(b), 500)]) }
	return "exit " + strconv.Itoa(res.Exit) + " " + res.Signal + " " + res.Limit + " " + strings.Join(res.Refused, ", ") +
		"\n" + cut(res.Stdout) + cut(res.Stderr)
}
