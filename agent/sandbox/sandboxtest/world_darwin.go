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
	secret string // in a process's environment and command line, in files, behind a descriptor
	addr   map[string]string
	closed []int // ports of our listeners
	victim int   // a process of ours
	shm    int   // key of a System V segment
	leak   *os.File
}

// canaries are files under a home that hold credentials on people's machines.
var canaries = []string{".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", ".netrc", ".docker/config.json", "Library/Keychains/login.keychain-db"}

func newWorld(t *testing.T, box *sandbox.Sandbox) *world {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{box: box, tally: newTally(), exe: exe, tree: realDir(t), tools: realDir(t), home: realDir(t), secret: "canary-" + strconv.Itoa(os.Getpid()), addr: map[string]string{}}
	for _, f := range canaries {
		w.plant(t, filepath.Join(w.home, f))
	}
	w.plant(t, filepath.Join(w.tools, "tool"))
	if err := os.MkdirAll(filepath.Join(w.tree, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.plant(t, filepath.Join(w.tree, ".git", "config"))
	for name, at := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "every": "0.0.0.0:0"} {
		w.listen(t, name, "tcp", at)
	}
	w.listen(t, "unix", "unix", shortSocket(t))
	w.start(t)
	w.share(t)
	w.open(t)
	return w
}

// realDir is a folder by its real path: the system's temporary folder lies behind a link.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shortSocket is a path for a socket: 104 bytes are all that fits, and a test's folder is long.
func shortSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/private/tmp", "rsb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func (w *world) plant(t *testing.T, path string) {
	t.Helper()
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
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		w.closed = append(w.closed, at.Port)
	}
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

// start leaves a process running that carries the secret in its environment and its command line. It is this program, since the
// system's hide their environment.
func (w *world) start(t *testing.T) {
	t.Helper()
	cmd := exec.Command(w.exe, probeMarker, "sleep", "SECRET="+w.secret)
	cmd.Env = []string{"SECRET=" + w.secret}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.victim = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
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

// command is an attempt inside.
func (w *world) command(args ...string) sandbox.Command {
	return sandbox.Command{
		Argv: append([]string{w.exe, probeMarker}, args...), Dir: w.tree, Env: []string{"PATH=/usr/bin:/bin"},
		Read: []string{w.exe, w.tools}, Write: []string{w.tree}, DenyPorts: w.closed, Wall: time.Minute,
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
