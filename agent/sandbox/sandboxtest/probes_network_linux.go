package sandboxtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// networkAttempts are attempts to reach somebody, and to learn from the caller's surroundings.
var networkAttempts = map[string]probe{
	"bash":     func(a []string) error { return bash(a[0]) },
	"mapped":   func(a []string) error { return dialMapped(number(a[0])) },
	"lookup":   func(a []string) error { return lookup(a[0], a[1], a[2]) },
	"libc":     func(a []string) error { return runs([]string{"/usr/bin/getent", "hosts", a[0]}) },
	"named":    func(a []string) error { return dialByName(a[0], a[1]) },
	"ping":     func(a []string) error { return ping(a[0]) },
	"fastopen": func(a []string) error { return fastOpen(a[0], number(a[1])) },
	"sendmsg":  func(a []string) error { return sendMsg(a[0], number(a[1])) },
	"receive":  func(a []string) error { return receive(a[0], a[1]) },
	"dialvar":  func(a []string) error { return dialVariable(a[0]) },
	"variable": func(a []string) error { return variable(a[0]) },
	"append":   func(a []string) error { return appendTo(a[0]) },
	"appendto": func(a []string) error { return appendTo(os.Getenv(a[0])) },
	"umask":    func([]string) error { return umask() },
	"ignored":  func([]string) error { return ignores(syscall.SIGHUP) },
	"nofile":   func(a []string) error { return openFiles(number(a[0])) },
	"found":    func(a []string) error { return found(a[0], a[1]) },
}

// bash has bash open one of its network files and read a byte.
func bash(file string) error {
	return runs([]string{"/bin/bash", "-c", `exec 3<>"$0" && if [[ $0 == /dev/udp/* ]]; then echo x >&3; fi && IFS= read -r -n1 -t1 x <&3 && [ -n "$x" ]`, file})
}

// greeted waits for a byte on a connected socket.
func greeted(fd int) error {
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return err
	}
	n, err := unix.Read(fd, make([]byte, 64))
	if err == nil && n == 0 {
		return errors.New("closed")
	}
	return err
}

// with makes a socket, does something with it, and waits for an answer.
func with(family, kind, protocol int, do func(fd int) error) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := do(fd); err != nil {
		return err
	}
	return greeted(fd)
}

// dialMapped connects to 127.0.0.1 in the shape of IPv6. The net package would make it IPv4.
func dialMapped(port int) error {
	to := &unix.SockaddrInet6{Port: port, Addr: [16]byte{10: 0xff, 0xff, 127, 0, 0, 1}}
	return with(unix.AF_INET6, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Connect(fd, to) })
}

func inet4(addr string, port int) (*unix.SockaddrInet4, error) {
	ip := net.ParseIP(addr).To4()
	if ip == nil {
		return nil, fmt.Errorf("%s is no address", addr)
	}
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte(ip)}, nil
}

// fastOpen connects by sending: connect is never called.
func fastOpen(addr string, port int) error {
	to, err := inet4(addr, port)
	if err != nil {
		return err
	}
	return with(unix.AF_INET, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to) })
}

// sendMsg sends a datagram whose address stands in a header.
func sendMsg(addr string, port int) error {
	to, err := inet4(addr, port)
	if err != nil {
		return err
	}
	return with(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return unix.Sendmsg(fd, []byte("x"), nil, to, 0) })
}

// ping sends an echo request without any rights.
func ping(addr string) error {
	to, err := inet4(addr, 0)
	if err != nil {
		return err
	}
	return with(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP, func(fd int) error {
		return unix.Sendto(fd, []byte{8, 0, 0, 0, 0, 0, 0, 1}, 0, to)
	})
}

func resolver(server, network string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, asked, configured string) (net.Conn, error) {
		if server == "" {
			server = configured
		}
		if network != "" {
			asked = network
		}
		return new(net.Dialer).DialContext(ctx, asked, server)
	}}
}

// lookup asks a server for a name; "" asks the one that the machine is configured for.
func lookup(network, server, name string) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_, err := resolver(server, network).LookupHost(ctx, name)
	return err
}

// dialByName looks a name up and connects.
func dialByName(name, port string) error {
	d := net.Dialer{Timeout: time.Second, Resolver: resolver("", "")}
	c, err := d.Dial("tcp", net.JoinHostPort(name, port))
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, err = c.Read(make([]byte, 1))
	return err
}

// receive takes a descriptor from a process outside and reads through it.
func receive(addr, want string) error {
	c, err := net.DialTimeout("unix", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	buf, control := make([]byte, 1), make([]byte, 64)
	_, n, _, _, err := c.(*net.UnixConn).ReadMsgUnix(buf, control)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) == 0 {
		return fmt.Errorf("%d messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return fmt.Errorf("%d descriptors: %w", len(fds), err)
	}
	defer unix.Close(fds[0])
	text := make([]byte, 256)
	got, err := unix.Read(fds[0], text)
	if err == nil && string(text[:got]) != want {
		err = errors.New("something else was passed")
	}
	return err
}

func variable(name string) error {
	if os.Getenv(name) == "" {
		return errors.New(name + " is not set")
	}
	return nil
}

// dialVariable connects to the socket that a variable of the environment names.
func dialVariable(name string) error {
	if err := variable(name); err != nil {
		return err
	}
	path, _, _ := strings.Cut(os.Getenv(name), ",")
	for _, prefix := range []string{"unix:path=", "unix://"} {
		path = strings.TrimPrefix(path, prefix)
	}
	return dial("unix", path)
}

// appendTo adds a line to a file that is there.
func appendTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("PATH=planted\n")
	return errors.Join(err, f.Close())
}

func umask() error {
	old := unix.Umask(0o022)
	if old == 0o022 {
		return errors.New("022")
	}
	return nil
}

func ignores(s syscall.Signal) error {
	if !signal.Ignored(s) {
		return errors.New("not ignored")
	}
	return nil
}

// openFiles succeeds when the caller's limit of open files is in force. The Go runtime raises a soft limit at its start
// and gives programs the old one, so that another program is asked.
func openFiles(limit int) error {
	out, err := exec.Command("/bin/sh", "-c", "ulimit -n").Output()
	if err != nil {
		return err
	}
	if got := number(strings.TrimSpace(string(out))); got != limit {
		return fmt.Errorf("%d", got)
	}
	return nil
}

// found succeeds when a program is found in a folder that the caller's PATH begins with.
func found(program, dir string) error {
	path, err := exec.LookPath(program)
	if err == nil && filepath.Dir(path) != dir {
		err = errors.New("found in " + filepath.Dir(path))
	}
	return err
}

// endAttempts are attempts on the answer that the host waits for.
var endAttempts = map[string]probe{
	"forge": func([]string) error { return forge() },
	"spin":  func([]string) error { return spin() },
	"flood": func(a []string) error { return flood(a[0], a[1], number(a[2])) },
	"hide":  func(a []string) error { return hide(number(a[0])) },
	"pour":  func(a []string) error { return pour(number(a[0])) },
	"leave": func(a []string) error { return leave(a[0]) },
	"plant": func(a []string) error { return Plant(a[0], a[1]) },
}

// forge writes an ending that says all went well wherever one could be waited for, and fails.
func forge() error {
	text := []byte(`{"Failure":"","NotFound":"","Exit":0,"Signal":"","Limit":""}` + "\n")
	for fd := 3; fd < 64; fd++ {
		_, _ = unix.Write(fd, text)
	}
	for _, pid := range []int{1, os.Getppid()} {
		for fd := range 16 {
			if f, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", pid, fd), unix.O_WRONLY|unix.O_NONBLOCK, 0); err == nil {
				_, _ = unix.Write(f, text)
				unix.Close(f)
			}
		}
	}
	return errors.New("as it was meant to")
}

// spin uses every processor, in threads and in children.
func spin() error {
	for range 4 {
		if err := exec.Command("/bin/sh", "-c", "while :; do :; done").Start(); err != nil {
			return err
		}
	}
	for n := uint64(1); ; n++ {
		if n == 0 {
			return nil
		}
	}
}

// flood makes many empty files, or many names of one file.
func flood(kind, dir string, n int) error {
	first := filepath.Join(dir, "flood-of-"+kind)
	if err := os.WriteFile(first, make([]byte, 4096), 0o600); err != nil {
		return err
	}
	for i := range n {
		name, err := fmt.Sprintf("%s-%d", first, i), error(nil)
		if kind == "names" {
			err = os.Link(first, name)
		} else {
			err = os.WriteFile(name, nil, 0o600)
		}
		if err != nil {
			return err
		}
	}
	time.Sleep(20 * time.Second)
	return nil
}

// hide puts memory where it belongs to no process: in a file that has no name.
func hide(mb int) error {
	fd, err := unix.MemfdCreate("hidden", 0)
	if err != nil {
		return err
	}
	b := bytes.Repeat([]byte{1}, 1<<20)
	for range mb {
		if _, err := unix.Write(fd, b); err != nil {
			return err
		}
	}
	time.Sleep(3 * time.Second)
	return nil
}

// pour writes one line without an end.
func pour(n int) error {
	b := bytes.Repeat([]byte("x"), 1<<20)
	for ; n > 0; n -= len(b) {
		if _, err := os.Stdout.Write(b[:min(n, len(b))]); err != nil {
			return err
		}
	}
	return nil
}

// leave puts into a folder what a host may stumble over. What the tier does not let it make is left out.
func leave(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	_ = unix.Mkfifo(at("fifo"), 0o644)
	_ = bindTo(at("socket"))
	_ = unix.Mknod(at("device"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5)))
	_ = os.Symlink("/dev/zero", at("zero"))
	_ = os.Symlink("/etc/passwd", at("link"))
	_ = os.Symlink("loop", at("loop"))
	_ = os.Symlink("/etc", at("folder"))
	_ = os.MkdirAll(at("report/report"), 0o755)
	_ = os.WriteFile(at("closed"), []byte("x"), 0o200)
	_ = os.Truncate(at("closed"), 1<<30)
	_ = os.Chmod(at("closed"), 0)
	_ = os.WriteFile(at("twice"), []byte("x"), 0o644)
	_ = os.Link(at("twice"), at("again"))
	deep := dir
	for range 200 {
		deep = filepath.Join(deep, strings.Repeat("d", 15))
		_ = os.Mkdir(deep, 0o755)
	}
	return os.WriteFile(at("plain"), binary.BigEndian.AppendUint32(nil, 0x706c6169), 0o644)
}
