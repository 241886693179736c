package warden

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestFilter runs the assembled programs on calls as the kernel would describe them.
func TestFilter(t *testing.T) {
	const allow, notify, unknown = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_USER_NOTIF, unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	high := uint64(1) << 32
	for _, tt := range []struct {
		name     string
		tier     Tier
		loopback bool
		arch     uint32
		nr       uint32
		args     []uint64
		want     uint32
	}{
		{"read", Bubblewrap, true, auditArch, unix.SYS_READ, nil, allow},
		{"another architecture", Bubblewrap, true, auditArch + 1, unix.SYS_READ, nil, notify},
		{"x32", Bubblewrap, true, auditArch, unix.SYS_READ | x32Bit, nil, notify},
		{"clone3", Bubblewrap, true, auditArch, unix.SYS_CLONE3, nil, unknown},
		{"clone of a thread", Bubblewrap, true, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"clone of a user namespace", Bubblewrap, true, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | unix.CLONE_VM}, notify},
		{"ptrace", Bubblewrap, true, auditArch, unix.SYS_PTRACE, nil, notify},
		{"ioctl", Bubblewrap, true, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TCGETS}, allow},
		{"TIOCSTI", Bubblewrap, true, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI}, notify},
		{"TIOCSTI with a high bit", Bubblewrap, true, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI | high}, notify},
		{"internet", Bubblewrap, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"internet with a high bit", Bubblewrap, false, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET | high}, notify},
		{"no internet", Bubblewrap, false, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, notify},
		{"unix", Bubblewrap, false, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allow},
		{"vsock", Bubblewrap, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, notify},
		{"routes", Bubblewrap, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit", Bubblewrap, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, notify},
		{"landlock: internet", Landlock, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, notify},
		{"landlock: unix stream", Landlock, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"landlock: unix datagram", Landlock, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, notify},
		{"landlock: unix raw", Landlock, true, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_RAW}, notify},
		{"landlock: pair", Landlock, true, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"landlock: pair of packets", Landlock, true, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"landlock: pair of datagrams", Landlock, true, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, notify},
		{"landlock: pair of another family", Landlock, true, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_TIPC, unix.SOCK_STREAM}, notify},
		{"landlock: connect", Landlock, true, auditArch, unix.SYS_CONNECT, nil, notify},
		{"landlock: shared memory", Landlock, true, auditArch, unix.SYS_SHMGET, nil, notify},
		{"shared memory", Bubblewrap, true, auditArch, unix.SYS_SHMGET, nil, allow},
		{"landlock: shared memory by number", Landlock, true, auditArch, unix.SYS_SHMAT, []uint64{3}, notify},
		{"landlock: own limits", Landlock, true, auditArch, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE}, allow},
		{"landlock: limits of another", Landlock, true, auditArch, unix.SYS_PRLIMIT64, []uint64{77, unix.RLIMIT_CPU}, notify},
		{"landlock: own priority", Landlock, true, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0, 5}, allow},
		{"landlock: priority of another", Landlock, true, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 77, 5}, notify},
		{"landlock: priority of the user", Landlock, true, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0, 5}, notify},
		{"landlock: own disk priority", Landlock, true, auditArch, unix.SYS_IOPRIO_SET, []uint64{ioprioProcess, 0, 5}, allow},
		{"landlock: disk priority of the user", Landlock, true, auditArch, unix.SYS_IOPRIO_SET, []uint64{3, 0, 5}, notify},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := decide(t, refused(tt.tier, tt.loopback), tt.arch, tt.nr, tt.args); got != tt.want {
				t.Errorf("decision %#x, want %#x", got, tt.want)
			}
		})
	}
}

// decide runs the program in a machine that reads big-endian words, on a description with its words turned.
func decide(t *testing.T, calls []call, arch, nr uint32, args []uint64) uint32 {
	t.Helper()
	prog, err := assemble(calls)
	if err != nil {
		t.Fatal(err)
	}
	var raw []bpf.RawInstruction
	for _, f := range prog {
		raw = append(raw, bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K})
	}
	list, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("not all of the program is understood")
	}
	vm, err := bpf.NewVM(list)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]byte, 64)
	binary.BigEndian.PutUint32(in[offNr:], nr)
	binary.BigEndian.PutUint32(in[offArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(in[offArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(in[offArgs+8*i+4:], uint32(a>>32))
	}
	got, err := vm.Run(in)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestRefusalNames(t *testing.T) {
	r := newRefusals(refused(Landlock, false))
	for _, n := range []notification{
		{Nr: unix.SYS_SOCKET, Arch: auditArch, Args: [6]uint64{unix.AF_INET}},
		{Nr: unix.SYS_SOCKET, Arch: auditArch, Args: [6]uint64{unix.AF_INET | 1<<32}},
		{Nr: unix.SYS_SOCKET, Arch: auditArch, Args: [6]uint64{77}},
		{Nr: unix.SYS_IOCTL, Arch: auditArch, Args: [6]uint64{0, unix.TIOCLINUX}},
		{Nr: unix.SYS_CONNECT, Arch: auditArch},
		{Nr: unix.SYS_MOUNT, Arch: auditArch},
		{Nr: 1, Arch: 3},
	} {
		if r.note(&n) == 0 {
			t.Errorf("call %d was let through", n.Nr)
		}
	}
	want := []string{"call of another architecture", "connect AF_UNIX", "ioctl TIOCLINUX", "mount", "socket AF_INET", "socket family 77"}
	if diff := cmp.Diff(want, r.list()); diff != "" {
		t.Error(diff)
	}
}

// TestRights: no grant gives what it does not name, on any kernel.
func TestRights(t *testing.T) {
	const write = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	for _, abi := range []int{3, 4, 5, 6, 7, 9} {
		attr := handled(abi)
		for _, do := range []Access{ReadOnly, ReadRun, ReadWrite, Device} {
			for _, dir := range []bool{false, true} {
				if r := rights(do, dir) & (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK); r != 0 {
					t.Errorf("%s makes devices", do)
				}
			}
		}
		if r := (rights(ReadOnly, true) | rights(ReadRun, true)) & attr.Handled_access_fs; r&^(rights(ReadRun, true)) != 0 || r&write != 0 {
			t.Errorf("reading gives %#x", r)
		}
		if attr.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 || abi >= 6 && attr.Scoped != scopes6 {
			t.Errorf("version %d handles %+v", abi, attr)
		}
	}
}

func TestReadProcess(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	p, err := readProcess(cmd.Process.Pid)
	if err != nil || p.parent != os.Getpid() {
		t.Errorf("parent %d, %v; want %d", p.parent, err, os.Getpid())
	}
	below, err := descendants(os.Getpid())
	if _, ok := below[cmd.Process.Pid]; err != nil || !ok {
		t.Errorf("descendants %v, %v", below, err)
	}
}

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // file times are as coarse as the kernel's tick
	since := time.Now()
	time.Sleep(20 * time.Millisecond)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "new"), make([]byte, 1<<19), 0o600); err != nil {
		t.Fatal(err)
	}
	long := time.Unix(1, 0)
	if err := os.Chtimes(filepath.Join(dir, "sub", "new"), long, long); err != nil {
		t.Fatal(err)
	}
	if got := written(dir, since, 1<<40); got < 1<<19 || got > 1<<19+1<<16 {
		t.Errorf("%d bytes written, want about %d", got, 1<<19)
	}
}

// TestAddress: what a command names is read as the kernel would, and its own loopback is known in every spelling.
func TestAddress(t *testing.T) {
	six := func(tail ...byte) []byte {
		return append(append([]byte{10, 0, 0, 53, 0, 0, 0, 0}, make([]byte, 16-len(tail))...), tail...)
	}
	for _, tt := range []struct {
		b    []byte
		ok   bool
		ip   string
		port uint16
		own  bool
	}{
		{b: nil}, {b: []byte{2}}, {b: []byte{1, 0, '/', 'x', 0, 0, 0, 0}}, {b: []byte{10, 0, 0, 80, 0, 0, 0, 0}},
		{[]byte{2, 0, 1, 187, 192, 0, 2, 1}, true, "\xc0\x00\x02\x01", 443, false},
		{[]byte{2, 0, 1, 187, 127, 9, 0, 1}, true, "\x7f\x09\x00\x01", 443, true},
		{[]byte{2, 0, 1, 187, 0, 0, 0, 0}, true, "\x00\x00\x00\x00", 443, true},
		{[]byte{2, 0, 1, 187, 0, 0, 0, 1}, true, "\x00\x00\x00\x01", 443, false},
		{six(255, 255, 8, 8, 8, 8), true, "\x08\x08\x08\x08", 53, false},
		{six(255, 255, 127, 0, 0, 1), true, "\x7f\x00\x00\x01", 53, true},
		{six(1), true, strings.Repeat("\x00", 15) + "\x01", 53, true},
		{six(), true, strings.Repeat("\x00", 16), 53, true},
		{six(2), true, strings.Repeat("\x00", 15) + "\x02", 53, false},
		{six(1, 0), true, strings.Repeat("\x00", 14) + "\x01\x00", 53, false},
	} {
		got, ok := address(tt.b)
		if ok != tt.ok || got.ip != tt.ip || got.port != tt.port || ok && own([]byte(got.ip)) != tt.own {
			t.Errorf("%v: got %q port %d, %v, own %v", tt.b, got.ip, got.port, ok, own([]byte(got.ip)))
		}
	}
}
