package sandboxtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

var probes map[string]probe

func init() { // "all" calls the others
	maps.Copy(attempts, fileAttempts)
	maps.Copy(attempts, processAttempts)
	maps.Copy(attempts, networkAttempts)
	maps.Copy(attempts, endAttempts)
	probes = attempts
	probes["all"] = func([]string) error { return all(os.Stdin, os.Stdout) }
}

// all makes the attempts of a JSON list and answers with a list of how they ended, "" where they succeeded.
func all(in io.Reader, out io.Writer) error {
	var list [][]string
	if err := json.NewDecoder(in).Decode(&list); err != nil {
		return err
	}
	ends := make([]string, len(list))
	for i, args := range list {
		if err := attempts[args[0]](args[1:]); err != nil {
			ends[i] = err.Error()
		}
	}
	return json.NewEncoder(out).Encode(ends)
}

var attempts = map[string]probe{
	"write":    func(a []string) error { return os.WriteFile(a[0], []byte("x"), 0o600) },
	"read":     func(a []string) error { return reads(a[0]) },
	"list":     func(a []string) error { _, err := os.ReadDir(a[0]); return err },
	"open":     func(a []string) error { return opens(a[0], a[1]) },
	"mknod":    func(a []string) error { return device(a[0]) },
	"int80":    func(a []string) error { return int80(a[0]) },
	"hardlink": func(a []string) error { return linked(os.Link, a[0], a[1]) },
	"steal":    func(a []string) error { return os.Rename(a[0], a[1]) },
	"alias":    func(a []string) error { return alias(a[0], a[1]) },
	"scan":     func(a []string) error { return scan(a[0]) },
	"dial":     func(a []string) error { return dial(a[0], a[1]) },
	"udp":      func(a []string) error { return dial("udp", a[0]) },
	"dgram":    func(a []string) error { return sendFromPair(a[0]) },
	"own":      func([]string) error { return ownLoopback() },
	"socket":   func(a []string) error { return socket(a[0]) },
	"ptrace":   func([]string) error { return traceChild() },
	"peek":     func(a []string) error { return peek(number(a[0]), uintptr(number(a[1]))) },
	"signal":   func(a []string) error { return unix.Kill(number(a[0]), 0) },
	"fds":      func(a []string) error { return inherited(a[0]) },
	"userns":   func([]string) error { return cloned(syscall.CLONE_NEWUSER) },
	"unshare":  func([]string) error { return unix.Unshare(unix.CLONE_NEWUTS) },
	"mount":    func(a []string) error { return unix.Mount("none", a[0], "tmpfs", 0, "") },
	"chroot":   func(a []string) error { return unix.Chroot(a[0]) },
	"io_uring": func([]string) error { return ioUring() },
	"keyctl": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"shm":      func(a []string) error { _, err := unix.SysvShmGet(number(a[0]), 0, 0); return err },
	"tiocsti":  func(a []string) error { return tiocsti(a[0]) },
	"newprivs": func([]string) error { return newPrivs() },
	"caps":     func([]string) error { return hasCaps() },
	"core":     func([]string) error { return coreLimit() },
	"daemon":   func(a []string) error { return daemon(a) },
	"chain":    func(a []string) error { return chain(a) },
	"stubborn": func([]string) error { return stubborn() },
	"bomb":     func([]string) error { return bomb() },
	"hog":      func(a []string) error { return hog(number(a[0])) },
	"fill":     func(a []string) error { return fill(a[0], number(a[1])) },
	"run":      func(a []string) error { return run(a) },
	"kernel":   func(a []string) error { return onKernel(number(a[0])) },
	"room":     func(a []string) error { return roomMain(sandbox.Tier(a[0])) },
	"environ":  func([]string) error { fmt.Println(strings.Join(os.Environ(), "\n")); return nil },
}

func number(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return int(n)
}

// reads succeeds when there is something to read.
func reads(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		return errors.New("empty")
	}
	return err
}

// opens only opens: nothing is written.
func opens(path, how string) error {
	fd, err := unix.Open(path, map[string]int{"read": unix.O_RDONLY, "write": unix.O_WRONLY}[how]|unix.O_NONBLOCK, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// device makes a node like /dev/null.
func device(path string) error {
	defer os.Remove(path)
	return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
}

// int80 runs a program of 32-bit x86 that exits with 42, if its call for that is taken.
func int80(path string) error {
	const base = 0x10000
	code := []byte{0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80, 0x0f, 0x0b} // eax = exit, ebx = 42, int 0x80; ud2
	var b bytes.Buffer
	b.Write([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 15: 0})
	size := uint32(52 + 32 + len(code))
	for _, v := range []any{uint16(2), uint16(3), uint32(1), uint32(base + 52 + 32), uint32(52), uint32(0), uint32(0), uint16(52), uint16(32),
		uint16(1), uint16(0), uint16(0), uint16(0), uint32(1), uint32(0), uint32(base), uint32(base), size, size, uint32(5), uint32(4096), code} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		return err
	}
	defer os.Remove(path)
	err := exec.Command(path).Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 42 {
		return nil
	}
	return fmt.Errorf("32-bit exit: %v", err)
}

// linked makes a second name for a file outside and reads it by that.
func linked(link func(string, string) error, from, to string) error {
	if err := link(from, to); err != nil {
		return err
	}
	defer os.Remove(to)
	return reads(to)
}

// alias writes through a link of its own making.
func alias(outside, link string) error {
	_ = os.Remove(link)
	if err := os.Symlink(outside, link); err != nil {
		return err
	}
	defer os.Remove(link)
	return os.WriteFile(link, []byte("x"), 0o600)
}

// scan looks for a secret in the command lines and environments of other processes.
func scan(secret string) error {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if filepath.Base(dir) == strconv.Itoa(os.Getpid()) {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			b, _ := os.ReadFile(filepath.Join(dir, file))
			if bytes.Contains(b, []byte("SECRET="+secret)) {
				return nil
			}
		}
	}
	return errors.New("not found")
}

// dial connects and waits for a byte of greeting, so that only the real listener counts. A datagram is sent first.
func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if network == "udp" {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

// sendFromPair sends a datagram to a path from one end of a socket pair: nothing is connected or bound.
func sendFromPair(path string) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fds[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
}

func ownLoopback() error {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = c.Write([]byte("x"))
				c.Close()
			}
		}()
		if err := dial("tcp", l.Addr().String()); err != nil {
			return err
		}
	}
	return nil
}

func socket(name string) error {
	family := map[string]int{"vsock": unix.AF_VSOCK, "packet": unix.AF_PACKET, "alg": unix.AF_ALG, "raw": unix.AF_INET, "raw6": unix.AF_INET6, "audit": unix.AF_NETLINK}[name]
	kind := unix.SOCK_STREAM
	switch name {
	case "packet", "raw", "raw6", "audit":
		kind = unix.SOCK_RAW
	case "alg":
		kind = unix.SOCK_SEQPACKET
	}
	fd, err := unix.Socket(family, kind, map[string]int{"raw": unix.IPPROTO_ICMP, "raw6": unix.IPPROTO_ICMPV6, "audit": unix.NETLINK_AUDIT}[name])
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// traceChild starts a process under ptrace.
func traceChild() error {
	runtime.LockOSThread()
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Kill()
}

// peek reads another process's memory.
func peek(pid int, addr uintptr) error {
	buf := make([]byte, 8)
	local := []unix.Iovec{{Base: &buf[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: addr, Len: 8}}, 0)
	return err
}

// inherited looks for a text behind the descriptors that this process was started with.
func inherited(want string) error {
	buf := make([]byte, 256)
	for fd := 3; fd < 1024; fd++ {
		n, err := unix.Pread(fd, buf, 0)
		if err == nil && strings.Contains(string(buf[:n]), want) {
			return nil
		}
	}
	return errors.New("no descriptor holds it")
}

func cloned(flags uintptr) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	return cmd.Run()
}

func ioUring() error {
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// tiocsti asks for the ioctl on a descriptor that is no terminal: a kernel that is reached says ENOTTY. "high" sets a
// bit that the kernel ignores.
func tiocsti(how string) error {
	req := uintptr(unix.TIOCSTI)
	if how == "high" {
		req |= 1 << 32
	}
	c := byte('x')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, 0, req, uintptr(unsafe.Pointer(&c)))
	if errno == unix.ENOTTY {
		return nil
	}
	return fmt.Errorf("ioctl: %w", errno)
}

// newPrivs succeeds when a setuid program would still gain its owner's rights.
func newPrivs() error {
	set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	if err == nil && set != 0 {
		return errors.New("no_new_privs is set")
	}
	return err
}

// hasCaps succeeds when some capability is left, or could come back.
func hasCaps() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	if data[0].Effective|data[0].Permitted|data[0].Inheritable|data[1].Effective|data[1].Permitted|data[1].Inheritable == 0 {
		return errors.New("none left")
	}
	return nil
}

func coreLimit() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &l); err != nil {
		return err
	}
	if l.Max == 0 {
		return errors.New("no core may be written")
	}
	return nil
}

// again is this program as another probe. It is started through its path: under Landlock /proc/self is closed.
func again(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{probeMarker}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// daemon leaves a process in a session of its own, twice removed, that holds stdout open, ignores what can be ignored
// and writes to a file again and again.
func daemon(a []string) error {
	if len(a) > 1 && a[1] == "2" {
		cmd := again("daemon", a[0], "3")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return cmd.Start()
	}
	if len(a) > 1 && a[1] == "3" {
		ignoreAll()
		for {
			_ = os.WriteFile(a[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
			time.Sleep(20 * time.Millisecond)
		}
	}
	cmd := again("daemon", a[0], "2")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return waitFor(a[0])
}

func waitFor(path string) error {
	for range 1000 {
		if reads(path) == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("it never came up")
}

// chain starts a process that is replaced by its child as fast as can be, in a new session each time: whoever looks
// it up finds it gone.
func chain(a []string) error {
	script := a[0] + ".sh"
	if err := os.WriteFile(script, []byte("echo . >>\"$1\"\nsetsid sh \"$0\" \"$1\" &\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.Command("/bin/sh", script, a[0])
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	return waitFor(a[0])
}

// stubborn ignores signals and stops itself.
func stubborn() error {
	ignoreAll()
	return unix.Kill(os.Getpid(), unix.SIGSTOP)
}

func ignoreAll() {
	for s := syscall.Signal(1); s < 32; s++ {
		signal.Ignore(s)
	}
}

// bomb forks until it is stopped.
func bomb() error {
	for {
		cmd := exec.Command("/bin/sleep", "60")
		if err := cmd.Start(); err != nil {
			time.Sleep(time.Millisecond)
		}
	}
}

// hog takes memory and touches it, part of it in a child.
func hog(mb int) error {
	var keep [][]byte
	for range mb {
		b := make([]byte, 1<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		keep = append(keep, b)
	}
	time.Sleep(20 * time.Second)
	runtime.KeepAlive(keep)
	return nil
}

// fill writes files of 1 MiB.
func fill(dir string, mb int) error {
	b := make([]byte, 1<<20)
	for i := range mb {
		if err := os.WriteFile(filepath.Join(dir, "fill-"+strconv.Itoa(i)), b, 0o600); err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// run is a process that opens a sandbox of its own and runs a daemon in it: to be killed.
func run(a []string) error {
	box, err := sandbox.Open(sandbox.Options{Tier: sandbox.Tier(a[0]), Allow: []sandbox.Tier{sandbox.Unconfined}})
	if err != nil {
		return err
	}
	dir := filepath.Dir(a[1])
	_, err = box.Run(context.Background(), sandbox.Command{
		Argv: []string{"sh", "-c", `"$0" "$@"; sleep 100`, os.Args[0], probeMarker, "daemon", a[1]}, Dir: dir,
		Env: []string{"PATH=/usr/bin:/bin"}, Read: []string{os.Args[0]}, Write: []string{dir}, Wall: time.Minute,
	})
	return err
}
