package sandboxtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"
)

// openRoom turns this process, which has mounts and a network of its own, into a room with all its furniture.
func openRoom() error {
	for _, step := range []struct {
		doing string
		do    func() error
	}{
		{"hide the machine's folders", hideFolders},
		{"bring the network up", bringUp},
		{"listen", listenEverywhere},
		{"lay out files", layOut},
		{"set the environment", setVariables},
		{"set limits", oddSettings},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("open a room: %s: %w", step.doing, err)
		}
	}
	return nil
}

// hideFolders puts empty folders over those that hold sockets and other things of the machine, and keeps this program
// and the launcher at paths that stay. Where the name server is configured is a link on some machines, into what is hidden.
func hideFolders() error {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	conf, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID, "mode=755"); err != nil {
		return err
	}
	for _, dir := range []string{"tmp", "tree", "planted"} {
		if err := os.MkdirAll(filepath.Join(roomDir, dir), 0o755); err != nil {
			return err
		}
	}
	if err := bindFile(exe, roomDir+"/exe"); err != nil {
		return err
	}
	if _, err := os.Stat("/usr/bin/bwrap"); err == nil {
		if err := bindFile("/usr/bin/bwrap", roomDir+"/bwrap"); err != nil {
			return err
		}
	}
	if err := configure(conf, "nameserver "+nameFour+"\noptions timeout:1 attempts:1\n"); err != nil {
		return err
	}
	for _, dir := range []string{"/var/spool", "/etc/cron.d"} { // a machine may lack them
		_ = unix.Mount("tmpfs", dir, "tmpfs", 0, "")
	}
	for _, dir := range []string{"/var/spool/cron/crontabs", "/var/spool/cron/atjobs", "/run/systemd/system"} {
		_ = os.MkdirAll(dir, 0o755)
	}
	return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777")
}

// bindFile shows a file under another name.
func bindFile(from, to string) error {
	if err := os.WriteFile(to, nil, 0o755); err != nil {
		return err
	}
	return unix.Mount(from, to, "", unix.MS_BIND, "")
}

// configure puts a text in the place of a file of the machine.
func configure(path, text string) error {
	if strings.HasPrefix(path, "/run/") {
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
	}
	from := roomDir + "/" + filepath.Base(path)
	if err := os.WriteFile(from, []byte(text), 0o644); err != nil {
		return err
	}
	return unix.Mount(from, path, "", unix.MS_BIND, "")
}

// bringUp gives the loopback every address that attempts go to, and lets everybody ping.
func bringUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return err
	}
	for _, a := range roomAddresses {
		if err := addAddress(netip.MustParseAddr(a)); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	_ = os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 0"), 0) // where it fails the ping is REFUSED
	return nil
}

// addAddress tells the kernel of an address of the loopback, which is the first interface of every network namespace.
// https://man7.org/linux/man-pages/man7/rtnetlink.7.html
func addAddress(a netip.Addr) error {
	family, raw := unix.AF_INET6, a.AsSlice()
	if a.Is4() {
		family = unix.AF_INET
	}
	msg := []byte{byte(family), byte(len(raw) * 8), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	msg = binary.NativeEndian.AppendUint32(msg, 1)
	for _, kind := range []uint16{unix.IFA_LOCAL, unix.IFA_ADDRESS} {
		msg = binary.NativeEndian.AppendUint16(msg, uint16(4+len(raw)))
		msg = binary.NativeEndian.AppendUint16(msg, kind)
		msg = append(msg, raw...)
	}
	head := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(msg)))
	head = binary.NativeEndian.AppendUint16(head, unix.RTM_NEWADDR)
	head = binary.NativeEndian.AppendUint16(head, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	head = append(head, make([]byte, 8)...)
	return routeRequest(append(head, msg...))
}

// routeRequest sends one message and waits for its acknowledgement.
func routeRequest(msg []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	if err != nil {
		return err
	}
	if n < unix.NLMSG_HDRLEN+4 || binary.NativeEndian.Uint16(buf[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel answered something else")
	}
	if errno := -int32(binary.NativeEndian.Uint32(buf[unix.NLMSG_HDRLEN:])); errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

// listenEverywhere opens the model server, web servers and name servers on every address, and the sockets of daemons.
func listenEverywhere() error {
	for _, port := range []string{modelPort, "53", "80", "443", "853"} {
		if err := listenGreeting("tcp", ":"+port); err != nil {
			return err
		}
	}
	for _, a := range append([]string{"127.0.0.53"}, roomAddresses...) {
		for _, port := range []string{"53", "443"} {
			if err := answerDatagrams(net.JoinHostPort(a, port)); err != nil {
				return err
			}
		}
	}
	paths := maps.Clone(usualSockets)
	paths["/run/nscd/socket"], paths["/run/systemd/resolve/io.systemd.Resolve"] = "", ""
	delete(paths, "/var/run/docker.sock") // another name of the one in /run
	for path := range paths {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := listenGreeting("unix", path); err != nil {
			return err
		}
	}
	return nil
}

func listenGreeting(network, addr string) error {
	l, err := net.Listen(network, addr)
	if err == nil {
		greet(l)
	}
	return err
}

// answerDatagrams answers questions for names, and everything else with itself.
func answerDatagrams(addr string) error {
	c, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			reply, err := nameAnswer(buf[:n])
			if err != nil {
				reply = buf[:n]
			}
			_, _ = c.WriteTo(reply, from)
		}
	}()
	return nil
}

// nameAnswer says that every name has the address of the metadata service.
func nameAnswer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	if len(m.Questions) != 1 {
		return nil, errors.New("no question")
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{169, 254, 169, 254}},
		}}
	}
	return m.Pack()
}

// layOut writes the runner's files and the planted programs, which leave a mark when they run.
func layOut() error {
	for _, v := range commandFiles {
		path := commandFile(v)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o666)); err != nil {
			return err
		}
	}
	for _, p := range planted {
		text := "#!/bin/sh\necho " + p + " >>" + roomDir + "/fired\n"
		if err := os.WriteFile(filepath.Join(roomDir, "planted", p), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// setVariables makes this process's environment that of a careless caller.
func setVariables() error {
	set := map[string]string{"PATH": roomDir + "/planted:" + os.Getenv("PATH"), "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu"}
	for _, v := range secretVariables {
		set[v] = os.Getenv("REDRAFT_ROOM_SECRET")
	}
	for _, v := range commandFiles {
		set[v] = commandFile(v)
	}
	for _, v := range steering {
		set[v] = roomDir + "/planted/steered"
	}
	for _, kv := range usualSockets {
		if name, value, ok := strings.Cut(kv, "="); ok {
			set[name] = value
		}
	}
	for k, v := range set {
		if err := os.Setenv(k, v); err != nil {
			return err
		}
	}
	return nil
}

// oddSettings are the caller's own, which must not reach a command.
func oddSettings() error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return err
	}
	l.Cur = openFile
	unix.Umask(0)
	signal.Ignore(syscall.SIGHUP)
	return syscall.Setrlimit(unix.RLIMIT_NOFILE, &l)
}

// greet answers everybody who connects with a byte.
func greet(l net.Listener) {
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
