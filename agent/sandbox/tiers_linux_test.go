package sandbox

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		name    string
		tier    Tier
		network Network
		arch    uint32
		nr      uint32
		args    []uint64
		want    uint32
	}{
		{"read", Bubblewrap, Loopback, auditArch, unix.SYS_READ, nil, allow},
		{"another architecture", Bubblewrap, Loopback, auditArch + 1, unix.SYS_READ, nil, notify},
		{"x32", Bubblewrap, Loopback, auditArch, unix.SYS_READ | x32Bit, nil, notify},
		{"clone3", Bubblewrap, Loopback, auditArch, unix.SYS_CLONE3, nil, unknown},
		{"clone of a thread", Bubblewrap, Loopback, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allow},
		{"clone of a user namespace", Bubblewrap, Loopback, auditArch, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | unix.CLONE_VM}, notify},
		{"ptrace", Bubblewrap, Loopback, auditArch, unix.SYS_PTRACE, nil, notify},
		{"ioctl", Bubblewrap, Loopback, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TCGETS}, allow},
		{"TIOCSTI", Bubblewrap, Loopback, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI}, notify},
		{"TIOCSTI with a high bit", Bubblewrap, Loopback, auditArch, unix.SYS_IOCTL, []uint64{1, unix.TIOCSTI | high}, notify},
		{"internet", Bubblewrap, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, allow},
		{"internet with a high bit", Bubblewrap, None, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET | high}, notify},
		{"no internet", Bubblewrap, None, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET6}, notify},
		{"unix", Bubblewrap, None, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allow},
		{"vsock", Bubblewrap, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_VSOCK}, notify},
		{"routes", Bubblewrap, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}, allow},
		{"audit", Bubblewrap, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT}, notify},
		{"landlock: internet", Landlock, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, notify},
		{"landlock: unix stream", Landlock, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		{"landlock: unix datagram", Landlock, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, notify},
		{"landlock: unix raw", Landlock, Loopback, auditArch, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_RAW}, notify},
		{"landlock: pair", Landlock, Loopback, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allow},
		{"landlock: pair of packets", Landlock, Loopback, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET}, allow},
		{"landlock: pair of datagrams", Landlock, Loopback, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, notify},
		{"landlock: pair of another family", Landlock, Loopback, auditArch, unix.SYS_SOCKETPAIR, []uint64{unix.AF_TIPC, unix.SOCK_STREAM}, notify},
		{"landlock: connect", Landlock, Loopback, auditArch, unix.SYS_CONNECT, nil, notify},
		{"landlock: shared memory", Landlock, Loopback, auditArch, unix.SYS_SHMGET, nil, notify},
		{"shared memory", Bubblewrap, Loopback, auditArch, unix.SYS_SHMGET, nil, allow},
		{"landlock: shared memory by number", Landlock, Loopback, auditArch, unix.SYS_SHMAT, []uint64{3}, notify},
		{"landlock: own limits", Landlock, Loopback, auditArch, unix.SYS_PRLIMIT64, []uint64{0, unix.RLIMIT_NOFILE}, allow},
		{"landlock: limits of another", Landlock, Loopback, auditArch, unix.SYS_PRLIMIT64, []uint64{77, unix.RLIMIT_CPU}, notify},
		{"landlock: own priority", Landlock, Loopback, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 0, 5}, allow},
		{"landlock: priority of another", Landlock, Loopback, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_PROCESS, 77, 5}, notify},
		{"landlock: priority of the user", Landlock, Loopback, auditArch, unix.SYS_SETPRIORITY, []uint64{unix.PRIO_USER, 0, 5}, notify},
		{"landlock: own disk priority", Landlock, Loopback, auditArch, unix.SYS_IOPRIO_SET, []uint64{ioprioProcess, 0, 5}, allow},
		{"landlock: disk priority of the user", Landlock, Loopback, auditArch, unix.SYS_IOPRIO_SET, []uint64{3, 0, 5}, notify},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := decide(t, refused(tt.tier, tt.network), tt.arch, tt.nr, tt.args); got != tt.want {
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
	r := newRefusals(refused(Landlock, Loopback))
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
		for _, do := range []access{readOnly, readRun, readWrite, device} {
			for _, dir := range []bool{false, true} {
				if r := rights(do, dir) & (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK); r != 0 {
					t.Errorf("%s makes devices", do)
				}
			}
		}
		if r := (rights(readOnly, true) | rights(readRun, true)) & attr.Handled_access_fs; r&^(rights(readRun, true)) != 0 || r&write != 0 {
			t.Errorf("reading gives %#x", r)
		}
		if attr.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE == 0 || abi >= 6 && attr.Scoped != scopes6 {
			t.Errorf("version %d handles %+v", abi, attr)
		}
	}
}

func TestBinds(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(real, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	got, err := binds(Command{Read: []string{filepath.Join(real, "in"), link, "/usr/bin"}, Write: []string{real}})
	if err != nil {
		t.Fatal(err)
	}
	want := []bind{{real, link, false}, {real, real, false}, {real, real, true}, {filepath.Join(real, "in"), filepath.Join(real, "in"), false}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bind{})); diff != "" {
		t.Error(diff)
	}
	if _, err := grants(Command{Read: []string{filepath.Join(link, "in")}, Write: []string{real}}, dir); err == nil {
		t.Error("Landlock was asked to protect a folder below a writable one, and did not refuse")
	}
}

func TestGroupRoom(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/memory.max": "1000\n", "a/memory.current": "400\n", "a/memory.stat": "anon 1\ninactive_file 100\n",
		"b/memory.max": "max\n", "b/memory.current": "400\n",
		"memory/c/memory.limit_in_bytes": "500\n", "memory/c/memory.usage_in_bytes": "700\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const none = int64(1) << 62
	for groups, want := range map[string]int64{
		"": none, "junk\n": none, "0::/a\n": 700, "0::/b\n": none, "4:memory:/c\n0::/a\n": 0, "3:cpu:/a\n0::/missing\n": none,
	} {
		if got := groupRoom(root, groups); got != want {
			t.Errorf("%q leaves %d, want %d", groups, got, want)
		}
	}
	if free := freeMemory(); free < 1<<20 || free > 1<<50 {
		t.Errorf("this machine has %d bytes free", free)
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

// TestLauncher: nothing of ours is in the launcher's hands but what it needs.
func TestLauncher(t *testing.T) {
	tmp := t.TempDir()
	args, files, err := bubblewrapArgs("/usr/bin/bwrap", Command{Memory: 1 << 20, Write: []string{tmp}}, "/run-tmp", []string{"/the/shim", "-x"})
	if err != nil {
		t.Fatal(err)
	}
	pipes(files).close()
	line := " " + strings.Join(args, " ") + " "
	for _, want := range []string{" --unshare-all ", " --die-with-parent ", " --new-session ", " --cap-drop ALL ", " --bind /run-tmp /tmp ",
		" --bind " + tmp + " " + tmp + " ", " -- " + shimPath + " -x " + shimMarker + " "} {
		if !strings.Contains(line, want) {
			t.Errorf("no%sin%s", want, line)
		}
	}
	for _, never := range []string{"/", "/etc", "/root", "/home", "/var", "/run", "/sys"} {
		if i := slices.Index(args, never); i >= 0 && args[i-1] != "--remount-ro" && args[i-1] != "--chdir" {
			t.Errorf("%s is given: %s", never, line)
		}
	}
	if strings.Contains(line, "--clearenv") || strings.Contains(line, "--share-net") {
		t.Error(line)
	}
}
