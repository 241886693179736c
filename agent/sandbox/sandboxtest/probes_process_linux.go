package sandboxtest

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processAttempts are attempts on other processes and on the kernel.
var processAttempts = map[string]probe{
	"attach":      func(a []string) error { return attach(number(a[0])) },
	"getfd":       func(a []string) error { return getFD(number(a[0]), number(a[1])) },
	"pidfd":       func(a []string) error { return signalByFD(number(a[0])) },
	"prlimit":     func(a []string) error { return limitOther(number(a[0])) },
	"nice":        func(a []string) error { return unix.Setpriority(unix.PRIO_PROCESS, number(a[0]), 1) },
	"ionice":      func(a []string) error { return call(unix.SYS_IOPRIO_SET, 1, uintptr(number(a[0])), 2<<13|7) },
	"affinity":    func(a []string) error { return affinity(number(a[0])) },
	"become":      func([]string) error { return become() },
	"fsopen":      func([]string) error { return opened(unix.Fsopen("tmpfs", 0)) },
	"open_tree":   func([]string) error { return opened(unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)) },
	"setns":       func(a []string) error { return enter(a[0]) },
	"clone3":      func([]string) error { return clone3() },
	"addkey":      func([]string) error { return addKey() },
	"bpf":         func([]string) error { return bpfMap() },
	"userfaultfd": func([]string) error { return descriptor(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0) },
	"perf":        func([]string) error { return perf() },
	"x32":         func([]string) error { return call(unix.SYS_GETPID|0x40000000, 0, 0, 0) },
	"shmat":       func(a []string) error { return attachMemory(number(a[0])) },
	"shmstat": func(a []string) error {
		_, err := unix.SysvShmCtl(number(a[0]), unix.IPC_STAT, new(unix.SysvShmDesc))
		return err
	},
	"semctl":    func(a []string) error { return call(unix.SYS_SEMCTL, uintptr(number(a[0])), 0, 12) }, // GETVAL
	"msgsnd":    func(a []string) error { return sendMessage(number(a[0])) },
	"mq_open":   func(a []string) error { return mqOpen(a[0], unix.O_RDWR) },
	"mq_unlink": func(a []string) error { return mqUnlink(a[0]) },
}

func call(nr, a, b, c uintptr) error {
	if _, _, errno := unix.Syscall(nr, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

// descriptor makes a call that answers with one.
func descriptor(nr, a, b uintptr) error {
	fd, _, errno := unix.Syscall(nr, a, b, 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func opened(fd int, err error) error {
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func attach(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceAttach(pid); err != nil {
		return err
	}
	var st unix.WaitStatus
	if _, err := unix.Wait4(pid, &st, unix.WALL, nil); err != nil {
		return err
	}
	return unix.PtraceDetach(pid)
}

// getFD takes a copy of another process's descriptor.
func getFD(pid, fd int) error {
	p, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(p)
	return opened(unix.PidfdGetfd(p, fd, 0))
}

func signalByFD(pid int) error {
	p, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(p)
	return unix.PidfdSendSignal(p, 0, nil, 0)
}

// limitOther sets a limit of another process to what it is.
func limitOther(pid int) error {
	var l unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &l); err != nil {
		return err
	}
	return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &l, nil)
}

// affinity binds another process to the processors that it has.
func affinity(pid int) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return err
	}
	return unix.SchedSetaffinity(pid, &set)
}

// become starts a program as another user.
func become() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: 1, NoSetGroups: true}}
	return cmd.Run()
}

// enter joins the name space of host names of another process, in a thread that is thrown away.
func enter(pid string) error {
	fd, err := unix.Open("/proc/"+pid+"/ns/uts", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	end := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this function
		end <- unix.Setns(fd, unix.CLONE_NEWUTS)
	}()
	return <-end
}

// clone3 asks for a process in a user namespace through the call whose flags no filter can read, with a size that the
// kernel finds wrong: a kernel that is reached says EINVAL.
func clone3() error {
	args := [8]uint64{0: unix.CLONE_NEWUSER}
	_, _, errno := unix.Syscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), 8, 0)
	if errno == unix.EINVAL {
		return nil
	}
	return errno
}

func addKey() error {
	_, err := unix.AddKey("user", "redraft-sandboxtest", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	return err
}

// bpfMap makes an array of one number.
func bpfMap() error {
	attr := [18]uint32{2, 4, 4, 1} // BPF_MAP_TYPE_ARRAY, key and value of four bytes, one entry
	fd, _, errno := unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

func perf() error {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: unix.PERF_COUNT_SW_TASK_CLOCK}
	return opened(unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC))
}

func attachMemory(id int) error {
	b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return err
	}
	return unix.SysvShmDetach(b)
}

func sendMessage(queue int) error {
	msg := struct {
		kind int64
		text [8]byte
	}{kind: 1}
	_, _, errno := unix.Syscall6(unix.SYS_MSGSND, uintptr(queue), uintptr(unsafe.Pointer(&msg)), 8, unix.IPC_NOWAIT, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func mqOpen(name string, flags int) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(p)), uintptr(flags|unix.O_CLOEXEC), 0o600, 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("mq_open: %w", errno)
	}
	return unix.Close(int(fd))
}

func mqUnlink(name string) error {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(p)), 0, 0); errno != 0 {
		return fmt.Errorf("mq_unlink: %w", errno)
	}
	return nil
}
