package sandboxtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

// world is what an attempt may want to reach: all of it ours, and none of it given to the sandbox.
type world struct {
	box    *sandbox.Sandbox
	exe    string // the test binary
	tree   string // given for writing
	home   string // holds canaries
	secret string // in a process's environment and command line, in files, behind a descriptor
	addr   map[string]string
	victim int     // a process of ours
	word   *uint64 // in the memory of this process
	shm    int     // key of a System V segment
	leak   *os.File
}

const secretWord = 0x5ec2e7

func newWorld(t *testing.T, box *sandbox.Sandbox) *world {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{box: box, exe: exe, tree: t.TempDir(), home: t.TempDir(), secret: "canary-" + strconv.Itoa(os.Getpid()), addr: map[string]string{}}
	for _, f := range append(canaries, "mnt/.keep") {
		w.plant(t, f)
	}
	for name, network := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"} {
		w.listen(t, name, "tcp", network)
	}
	w.listen(t, "unix", "unix", filepath.Join(w.home, "agent.sock"))
	w.listen(t, "abstract", "unix", "@redraft-sandboxtest-"+strconv.Itoa(os.Getpid()))
	w.answer(t, "udp", "udp4", "127.0.0.1:0")
	w.answer(t, "dgram", "unixgram", filepath.Join(w.home, "log.sock"))
	w.word = new(uint64)
	*w.word = secretWord
	w.start(t)
	w.share(t)
	w.open(t)
	return w
}

// canaries are files under a home that hold credentials on people's machines.
var canaries = []string{".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".docker/config.json"}

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
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("x"))
			c.Close()
		}
	}()
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

func (w *world) share(t *testing.T) {
	t.Helper()
	w.shm = 0x72640000 | os.Getpid()&0xffff
	id, err := unix.SysvShmGet(w.shm, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Logf("REFUSED: no System V memory here: %v", err)
		return
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
}

// open holds a descriptor that programs inherit: it is not closed on exec.
func (w *world) open(t *testing.T) {
	t.Helper()
	f, err := os.Open(filepath.Join(w.home, canaries[0]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	w.leak = f
	t.Cleanup(func() { f.Close() })
}

func (w *world) wordAt() string {
	return "0x" + strconv.FormatUint(uint64(uintptr(unsafe.Pointer(w.word))), 16)
}

// command is an attempt inside.
func (w *world) command(args ...string) sandbox.Command {
	return sandbox.Command{
		Argv: append([]string{w.exe, probeMarker}, args...), Dir: w.tree, Env: []string{"PATH=/usr/bin:/bin"},
		Read: []string{w.exe}, Write: []string{w.tree}, Wall: time.Minute,
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
