package warden

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter is assembled here, not by a library: arguments that the kernel takes as 32 bits must be compared as
// 32 bits, or a set upper half walks past the rule, and a call from a foreign architecture must never fall through
// to "allow".

// call is one system call that commands are refused.
type call struct {
	name string
	nr   uint32
	when []test // all must hold; always if none
}

// test compares the low half of one argument.
type test struct {
	arg  int
	cond bpf.JumpTest
	val  uint32
}

// refusedAnywhere are calls that no honest check needs and that widen the kernel's surface or reach other processes.
// seccomp_linux_*.go adds what only one architecture has.
var refusedAnywhere = []call{
	{name: "ptrace", nr: unix.SYS_PTRACE},
	{name: "process_vm_readv", nr: unix.SYS_PROCESS_VM_READV},
	{name: "process_vm_writev", nr: unix.SYS_PROCESS_VM_WRITEV},
	{name: "pidfd_getfd", nr: unix.SYS_PIDFD_GETFD},
	{name: "kcmp", nr: unix.SYS_KCMP},
	{name: "io_uring_setup", nr: unix.SYS_IO_URING_SETUP},
	{name: "io_uring_enter", nr: unix.SYS_IO_URING_ENTER},
	{name: "io_uring_register", nr: unix.SYS_IO_URING_REGISTER},
	{name: "keyctl", nr: unix.SYS_KEYCTL},
	{name: "add_key", nr: unix.SYS_ADD_KEY},
	{name: "request_key", nr: unix.SYS_REQUEST_KEY},
	{name: "bpf", nr: unix.SYS_BPF},
	{name: "userfaultfd", nr: unix.SYS_USERFAULTFD},
	{name: "perf_event_open", nr: unix.SYS_PERF_EVENT_OPEN},
	{name: "fanotify_init", nr: unix.SYS_FANOTIFY_INIT},
	{name: "open_by_handle_at", nr: unix.SYS_OPEN_BY_HANDLE_AT},
	{name: "unshare", nr: unix.SYS_UNSHARE},
	{name: "setns", nr: unix.SYS_SETNS},
	{name: "mount", nr: unix.SYS_MOUNT},
	{name: "umount2", nr: unix.SYS_UMOUNT2},
	{name: "pivot_root", nr: unix.SYS_PIVOT_ROOT},
	{name: "chroot", nr: unix.SYS_CHROOT},
	{name: "move_mount", nr: unix.SYS_MOVE_MOUNT},
	{name: "open_tree", nr: unix.SYS_OPEN_TREE},
	{name: "fsopen", nr: unix.SYS_FSOPEN},
	{name: "fsconfig", nr: unix.SYS_FSCONFIG},
	{name: "fsmount", nr: unix.SYS_FSMOUNT},
	{name: "fspick", nr: unix.SYS_FSPICK},
	{name: "mount_setattr", nr: unix.SYS_MOUNT_SETATTR},
	{name: "kexec_load", nr: unix.SYS_KEXEC_LOAD},
	{name: "kexec_file_load", nr: unix.SYS_KEXEC_FILE_LOAD},
	{name: "init_module", nr: unix.SYS_INIT_MODULE},
	{name: "finit_module", nr: unix.SYS_FINIT_MODULE},
	{name: "delete_module", nr: unix.SYS_DELETE_MODULE},
	{name: "reboot", nr: unix.SYS_REBOOT},
	{name: "swapon", nr: unix.SYS_SWAPON},
	{name: "swapoff", nr: unix.SYS_SWAPOFF},
	{name: "acct", nr: unix.SYS_ACCT},
	{name: "quotactl", nr: unix.SYS_QUOTACTL},
	{name: "syslog", nr: unix.SYS_SYSLOG},
	{name: "settimeofday", nr: unix.SYS_SETTIMEOFDAY},
	{name: "clock_settime", nr: unix.SYS_CLOCK_SETTIME},
	{name: "ioctl TIOCSTI", nr: unix.SYS_IOCTL, when: []test{{1, bpf.JumpEqual, unix.TIOCSTI}}},
	{name: "ioctl TIOCLINUX", nr: unix.SYS_IOCTL, when: []test{{1, bpf.JumpEqual, unix.TIOCLINUX}}},
	{name: "clone with new namespaces", nr: unix.SYS_CLONE, when: []test{{0, bpf.JumpBitsSet, newNamespaces}}},
}

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// sharedNames are kernel objects that have names of their own beside the file system: a namespace hides them under
// bubblewrap, and nothing hides them under Landlock. Those of System V have numbers too, which can be guessed: not
// finding one by its key does not keep it from being used.
var sharedNames = []call{
	{name: "shmget", nr: unix.SYS_SHMGET},
	{name: "shmat", nr: unix.SYS_SHMAT},
	{name: "shmctl", nr: unix.SYS_SHMCTL},
	{name: "semget", nr: unix.SYS_SEMGET},
	{name: "semop", nr: unix.SYS_SEMOP},
	{name: "semtimedop", nr: unix.SYS_SEMTIMEDOP},
	{name: "semctl", nr: unix.SYS_SEMCTL},
	{name: "msgget", nr: unix.SYS_MSGGET},
	{name: "msgsnd", nr: unix.SYS_MSGSND},
	{name: "msgrcv", nr: unix.SYS_MSGRCV},
	{name: "msgctl", nr: unix.SYS_MSGCTL},
	{name: "mq_open", nr: unix.SYS_MQ_OPEN},
	{name: "mq_unlink", nr: unix.SYS_MQ_UNLINK},
}

// strangers are calls by which one process changes limits and priorities of another of the same user. Landlock does not
// look at them: a limit of no processor time would end the caller. What a process does to itself, as process 0, stays.
var strangers = []call{
	{name: "prlimit", nr: unix.SYS_PRLIMIT64, when: []test{{0, bpf.JumpNotEqual, 0}}},
	{name: "setpriority", nr: unix.SYS_SETPRIORITY, when: []test{{0, bpf.JumpNotEqual, unix.PRIO_PROCESS}}},
	{name: "setpriority", nr: unix.SYS_SETPRIORITY, when: []test{{1, bpf.JumpNotEqual, 0}}},
	{name: "ioprio_set", nr: unix.SYS_IOPRIO_SET, when: []test{{0, bpf.JumpNotEqual, ioprioProcess}}},
	{name: "ioprio_set", nr: unix.SYS_IOPRIO_SET, when: []test{{1, bpf.JumpNotEqual, 0}}},
}

const ioprioProcess = 1 // IOPRIO_WHO_PROCESS, https://man7.org/linux/man-pages/man2/ioprio_set.2.html

// sockets are the rules for socket(2) and socketpair(2): everything but the families named is refused.
func sockets(families ...uint32) []call {
	plain := call{name: "socket", nr: unix.SYS_SOCKET}
	for _, f := range families {
		plain.when = append(plain.when, test{0, bpf.JumpNotEqual, f})
	}
	return []call{plain, {name: "socketpair", nr: unix.SYS_SOCKETPAIR, when: []test{{0, bpf.JumpNotEqual, unix.AF_UNIX}}}}
}

// lonely leaves of AF_UNIX what reaches nobody but relatives. A path may lead to a daemon of the machine, and no rule
// can read it, so that nothing is connected, bound or sent to an address: streams of a pair are, and sockets that
// stay unconnected. Types with bit 1 set (SOCK_DGRAM, SOCK_RAW) could be sent to any path without connecting.
var lonely = []call{
	{name: "socket", nr: unix.SYS_SOCKET, when: []test{{1, bpf.JumpBitsSet, 2}}},
	{name: "socketpair", nr: unix.SYS_SOCKETPAIR, when: []test{{1, bpf.JumpBitsSet, 2}}},
	{name: "connect", nr: unix.SYS_CONNECT},
	{name: "bind", nr: unix.SYS_BIND},
}

// refused is what a tier refuses.
func refused(tier Tier, loopback bool) []call {
	calls := slices.Concat(refusedAnywhere, refusedHere)
	if tier == Landlock {
		return slices.Concat(calls, sharedNames, strangers, sockets(unix.AF_UNIX), lonely)
	}
	if !loopback {
		return append(calls, sockets(unix.AF_UNIX)...)
	}
	// Only the routing protocol of netlink: it is how a program lists its interfaces.
	calls = append(calls, sockets(unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)...)
	calls = append(calls, call{name: "socket", nr: unix.SYS_SOCKET, when: []test{
		{0, bpf.JumpEqual, unix.AF_NETLINK}, {2, bpf.JumpNotEqual, unix.NETLINK_ROUTE}}})
	return append(calls, watched...)
}

// Offsets in struct seccomp_data, on little-endian machines.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

// assemble makes the program: what is listed goes to the listener, clone3 is unknown (its flags lie in memory that
// a filter cannot read, and every libc falls back to clone), the rest is allowed.
func assemble(calls []call) ([]unix.SockFilter, error) {
	notify := bpf.RetConstant{Val: unix.SECCOMP_RET_USER_NOTIF}
	prog := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		notify,
		bpf.LoadAbsolute{Off: offNr, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1},
		notify,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
	}
	for _, c := range calls {
		prog = append(prog, c.block(notify)...)
	}
	prog = append(prog, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	raw, err := bpf.Assemble(prog)
	if err != nil {
		return nil, fmt.Errorf("assemble the filter: %w", err)
	}
	out := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		out[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return out, nil
}

// block tests for one call. It begins and ends with the call's number in the accumulator.
func (c call) block(then bpf.Instruction) []bpf.Instruction {
	if len(c.when) == 0 {
		return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.nr, SkipFalse: 1}, then}
	}
	var body []bpf.Instruction
	for i, t := range c.when {
		rest := uint8(2*(len(c.when)-i-1) + 1) // the tests after this one, and the return
		body = append(body, bpf.LoadAbsolute{Off: offArgs + 8*uint32(t.arg), Size: 4},
			bpf.JumpIf{Cond: t.cond, Val: t.val, SkipFalse: rest})
	}
	body = append(body, then, bpf.LoadAbsolute{Off: offNr, Size: 4})
	head := bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.nr, SkipFalse: uint8(len(body))}
	return append([]bpf.Instruction{head}, body...)
}

// filterThread loads the filter into the calling thread alone and returns the descriptor on which its refusals
// arrive. The thread must be locked and have no_new_privs.
func filterThread(calls []call) (int, error) {
	prog, err := assemble(calls)
	if err != nil {
		return -1, err
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER,
		uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return -1, fmt.Errorf("load the seccomp filter: %w", errno)
	}
	return int(fd), nil
}

// refusals answers every call that the filter hands over with "no", and remembers what was asked.
type refusals struct {
	alone bool // the commands have a network of their own: what is asked of it is looked at, see ledger_linux.go
	mu    sync.Mutex
	seen  map[string]bool
	names map[uint32]string
	tried map[place]int // where to, how often
}

func newRefusals(calls []call) *refusals {
	r := &refusals{seen: map[string]bool{}, names: map[uint32]string{}, tried: map[place]int{}}
	for _, c := range calls {
		if c.nr != unix.SYS_IOCTL {
			r.names[c.nr] = c.name
		}
	}
	return r
}

// notification mirrors struct seccomp_notif.
type notification struct {
	ID    uint64
	Pid   uint32
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// answer mirrors struct seccomp_notif_resp.
type answer struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// serve answers until the listener breaks; the process ends before that.
func (r *refusals) serve(fd int) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return
		}
		if poll[0].Revents&unix.POLLIN == 0 {
			if poll[0].Revents != 0 {
				return
			}
			continue
		}
		var n notification
		if ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != nil {
			continue // the caller died or was interrupted in between
		}
		a := answer{ID: n.ID}
		if errno := r.note(&n); errno != 0 {
			a.Error = -int32(errno)
		} else {
			a.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		_ = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
	}
}

// note remembers a call and says with which error it is refused; 0 lets it through.
func (r *refusals) note(n *notification) unix.Errno {
	if n.Arch == auditArch && r.alone && (n.Nr == unix.SYS_CONNECT || n.Nr == unix.SYS_SENDTO) {
		return r.look(n)
	}
	errno, name := unix.EPERM, r.names[uint32(n.Nr)]
	switch {
	case n.Arch != auditArch || uint32(n.Nr) >= x32Bit:
		errno, name = unix.ENOSYS, "call of another architecture"
	case n.Nr == unix.SYS_SOCKET || n.Nr == unix.SYS_SOCKETPAIR:
		errno, name = unix.EACCES, name+" "+family(uint32(n.Args[0]))
		if f := uint32(n.Args[0]); f == unix.AF_INET || f == unix.AF_INET6 {
			r.attempt(place{name: family(f)})
		}
	case n.Nr == unix.SYS_CONNECT && nameService(peer(n)):
		return unix.ENOENT
	case n.Nr == unix.SYS_CONNECT || n.Nr == unix.SYS_BIND:
		errno, name = unix.EACCES, name+" AF_UNIX"
	case n.Nr == unix.SYS_IOCTL:
		name = "ioctl TIOCSTI"
		if uint32(n.Args[1]) == unix.TIOCLINUX {
			name = "ioctl TIOCLINUX"
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) < 64 { // names are few; numbers of families are not
		r.seen[name] = true
	}
	return errno
}

// peer is the path that a caller wants to connect to, "" where it cannot be read. Good for a name in a report only:
// the caller can change it at any time.
func peer(n *notification) string {
	b := sockaddr(n.Pid, n.Args[1], n.Args[2])
	if len(b) <= 2 {
		return ""
	}
	path, _, _ := strings.Cut(string(b[2:]), "\x00")
	return path
}

// sockaddr is what a process has at an address, nil where it cannot be read.
func sockaddr(pid uint32, at, size uint64) []byte {
	buf := make([]byte, min(size, unix.SizeofSockaddrUnix))
	if len(buf) == 0 {
		return nil
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	got, err := unix.ProcessVMReadv(int(pid), local, []unix.RemoteIovec{{Base: uintptr(at), Len: len(buf)}}, 0)
	if err != nil || got < 0 {
		return nil
	}
	return buf[:got]
}

// nameService says whether a path is one that libc asks for users and hosts before it reads its files. Every program
// that looks up a user tries it and does well without: to report it would make a network test of "whoami".
func nameService(path string) bool {
	for _, p := range []string{"/run/nscd/", "/var/run/nscd/", "/run/systemd/userdb/", "/var/lib/sss/pipes/"} {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// list is what was refused, sorted.
func (r *refusals) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for name := range r.seen {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func family(f uint32) string {
	names := map[uint32]string{unix.AF_UNIX: "AF_UNIX", unix.AF_INET: "AF_INET", unix.AF_INET6: "AF_INET6",
		unix.AF_NETLINK: "AF_NETLINK", unix.AF_PACKET: "AF_PACKET", unix.AF_VSOCK: "AF_VSOCK", unix.AF_ALG: "AF_ALG",
		unix.AF_BLUETOOTH: "AF_BLUETOOTH", unix.AF_TIPC: "AF_TIPC", unix.AF_CAN: "AF_CAN"}
	if name, ok := names[f]; ok {
		return name
	}
	return fmt.Sprintf("family %d", f)
}

func ioctl(fd int, req uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(req), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
