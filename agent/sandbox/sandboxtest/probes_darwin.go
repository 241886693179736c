package sandboxtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/sys/unix"
)

var probes map[string]probe

func init() { // "all" calls the others
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
	"mkdir":    func(a []string) error { return os.Mkdir(a[0], 0o700) },
	"read":     func(a []string) error { return reads(a[0]) },
	"list":     func(a []string) error { _, err := os.ReadDir(a[0]); return err },
	"stat":     func(a []string) error { _, err := os.Lstat(a[0]); return err },
	"open":     func(a []string) error { return opens(a[0]) },
	"hardlink": func(a []string) error { return linked(a[0], a[1]) },
	"rename":   func(a []string) error { return renamed(a[0], a[1]) },
	"alias":    func(a []string) error { return alias(a[0], a[1]) },
	"setuid":   func(a []string) error { return setuid(a[0]) },
	"args":     func(a []string) error { return argsOf(number(a[0]), a[1]) },
	"table":    func(a []string) error { return listed(number(a[0])) },
	"dial":     func(a []string) error { return dial(a[0], a[1]) },
	"take":     func(a []string) error { return take(a[0]) },
	"route":    func(a []string) error { return route(a[0]) },
	"ping":     func(a []string) error { return ping(a[0]) },
	"reach":    func(a []string) error { return reach(a[0]) },
	"exec":     func(a []string) error { return exec.Command(a[0], a[1:]...).Run() },
	"attach":   func(a []string) error { return attach(number(a[0])) },
	"signal":   func(a []string) error { return unix.Kill(number(a[0]), 0) },
	"fds":      func(a []string) error { return inherited(a[0]) },
	"shm":      func(a []string) error { _, err := unix.SysvShmGet(number(a[0]), 0, 0); return err },
	"core":     func([]string) error { return coreLimit() },
	"own":      func([]string) error { return ownLoopback() },
	"sleep":    func([]string) error { time.Sleep(10 * time.Minute); return nil },
	"daemon":   daemon,
	"chain":    chain,
	"stubborn": func([]string) error { ignoreAll(); return unix.Kill(os.Getpid(), unix.SIGSTOP) },
	"traitor":  func(a []string) error { return traitor(a[0]) },
	"bomb":     func([]string) error { return bomb() },
	"hog":      func(a []string) error { return hog(number(a[0])) },
	"fill":     func(a []string) error { return fill(a[0], number(a[1])) },
	"run":      run,
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

// opens only opens: nothing is read or written.
func opens(path string) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// linked makes a second name for a file and changes the file by that.
func linked(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	defer os.Remove(to)
	b, err := os.ReadFile(to)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	return err
}

// renamed renames there and back.
func renamed(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return os.Rename(to, from)
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

// setuid makes a file of its own one that runs as its owner.
func setuid(path string) error {
	if err := os.WriteFile(path, nil, 0o700); err != nil {
		return err
	}
	defer os.Remove(path)
	return unix.Chmod(path, 0o4700)
}

// argsOf looks for a text in the arguments and environment of a process.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/kern/kern_sysctl.c (KERN_PROCARGS2)
func argsOf(pid int, text string) error {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err == nil && !bytes.Contains(b, []byte(text)) {
		return errors.New("not found")
	}
	return err
}

// listed looks for a process in the table.
func listed(pid int) error {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return err
	}
	for _, p := range list {
		if int(p.Proc.P_pid) == pid {
			return nil
		}
	}
	return errors.New("not found")
}

// dial connects and waits for a byte of greeting, so that only the real listener counts.
func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

// take listens on an address. Where somebody does already, whoever may still hears that.
func take(addr string) error {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil
	}
	if err == nil {
		l.Close()
	}
	return err
}

// route asks for a way to an address: a datagram socket is connected, and nothing is sent.
func route(addr string) error {
	c, err := net.Dial("udp", addr)
	if err == nil {
		c.Close()
	}
	return err
}

// ping does the same for the protocol of ping, which needs no privilege here.
func ping(host string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{}
	copy(to.Addr[:], net.ParseIP(host).To4())
	return unix.Connect(fd, to)
}

// reach connects to a socket of the system and says nothing.
func reach(path string) error {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

func attach(pid int) error {
	runtime.LockOSThread()
	if err := unix.PtraceAttach(pid); err != nil {
		return err
	}
	time.Sleep(50 * time.Millisecond)
	return unix.PtraceDetach(pid)
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

// again is this program as another probe, in a session of its own.
func again(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{probeMarker}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// daemon leaves a process in a session of its own, twice removed, that holds stdout open, ignores what can be ignored and
// writes to a file again and again.
func daemon(a []string) error {
	switch {
	case len(a) > 1 && a[1] == "2":
		return again("daemon", a[0], "3").Start()
	case len(a) > 1 && a[1] == "3":
		ignoreAll()
		for {
			_ = os.WriteFile(a[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err := again("daemon", a[0], "2").Start(); err != nil {
		return err
	}
	return waitFor(a[0])
}

// chain is a process that is replaced by its child, in a new session each time: whoever looks it up finds it gone.
func chain(a []string) error {
	if len(a) > 1 {
		_ = os.WriteFile(a[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
		return again("chain", a[0], "on").Start()
	}
	if err := again("chain", a[0], "on").Start(); err != nil {
		return err
	}
	return waitFor(a[0])
}

// traitor leaves a daemon and kills the process that keeps it, if it may.
func traitor(mark string) error {
	if err := daemon([]string{mark}); err != nil {
		return err
	}
	return unix.Kill(os.Getppid(), unix.SIGKILL)
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

// hog takes memory and touches it.
func hog(mb int) error {
	var keep [][]byte
	for i := range mb {
		b := bytes.Repeat([]byte{byte(i) | 1}, 1<<20)
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
