package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// edited is a launcher that adds something after an argument and is honest otherwise.
func edited(after, more string) string {
	return "#!/bin/sh\nn=$#\nwhile [ $n -gt 0 ]; do a=$1; shift; n=$((n-1)); set -- \"$@\" \"$a\"; if [ \"$a\" = " + after + " ]; then set -- \"$@\" " + more +
		"; fi; done\nexec " + roomDir + "/bwrap \"$@\"\n"
}

// lyingBackends puts something else in the launcher's place: what is no program must not be taken for one, and one that
// confines less than it was told must be found out.
func lyingBackends(options sandbox.Options) (checks []check) {
	if options.Tier != sandbox.Bubblewrap {
		return nil
	}
	for _, lie := range []struct{ name, text, want string }{
		{"backend is gone", "", "bwrap is not installed"},
		{"backend does nothing", "#!/bin/sh\nexit 0\n", "died without an answer"},
		{"backend dies", "#!/bin/sh\nkill -9 $$\n", "died without an answer"},
		{"backend says that all went well", "#!/bin/sh\necho '{\"Exit\":0}' >&4\n", "it did not answer"},
		{"backend runs the shim as it is", "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift 2\nexec " + roomDir + "/exe \"$@\"\n", "not process 1"},
		{"backend shares the network", edited("--unshare-all", "--share-net"), "a listener of the machine could be reached"},
		{"backend shows the machine", edited("--new-session", "--bind "+roomDir+" "+roomDir), "a write outside was not denied"},
	} {
		c := check{ID: "E38", Name: lie.name}
		if err := instead("/usr/bin/bwrap", lie.text); err != nil {
			c.Lacks = err.Error()
		} else {
			c.Wrong = mustNotOpen(options, lie.want)
		}
		_ = unix.Unmount("/usr/bin/bwrap", unix.MNT_DETACH)
		checks = append(checks, c)
	}
	return checks
}

// badFolders opens sandboxes whose folder for runs takes nothing.
func badFolders(options sandbox.Options) (checks []check) {
	options.TmpDir = roomDir + "/bad"
	for _, f := range []struct{ name, data, want string }{
		{"folder for runs is read-only", "", "read-only file system"},
		{"folder for runs is full", "size=16k", "no space left"},
		{"folder for runs has no inode left", "nr_inodes=2", "no space left"},
	} {
		c := check{ID: "E38", Name: f.name}
		flags := uintptr(0)
		if f.data == "" {
			flags = unix.MS_RDONLY
		}
		_ = os.Mkdir(options.TmpDir, 0o755)
		if err := unix.Mount("tmpfs", options.TmpDir, "tmpfs", flags, f.data); err != nil {
			c.Lacks = err.Error()
		} else {
			_ = os.WriteFile(options.TmpDir+"/filler", make([]byte, 1<<20), 0o600) // as far as it goes
			c.Wrong = mustNotOpen(options, f.want)
		}
		_ = unix.Unmount(options.TmpDir, unix.MNT_DETACH)
		checks = append(checks, c)
	}
	return checks
}

// mustNotOpen says what is wrong about how an Open ended that had to fail.
func mustNotOpen(options sandbox.Options, want string) string {
	box, err := sandbox.Open(options)
	if err == nil {
		return fmt.Sprintf("it was taken for a sandbox of tier %s", box.Tier())
	}
	if !strings.Contains(err.Error(), want) {
		return fmt.Sprintf("error %q, want one that says %q", err, want)
	}
	return ""
}

// instead puts a program in the place of another, "" a device that is none.
func instead(path, text string) error {
	from := "/dev/null"
	if text != "" {
		from = roomDir + "/lie"
		if err := os.WriteFile(from, []byte(text), 0o755); err != nil {
			return err
		}
	}
	return unix.Mount(from, path, "", unix.MS_BIND, "")
}

// kernels answer some calls otherwise than this one. A call that "succeeds" is not made.
var kernels = []struct {
	name  string
	tier  sandbox.Tier
	call  uint32
	errno uint32 // 0: it seems to have succeeded
	want  string
}{
	{"no Landlock", sandbox.Landlock, unix.SYS_LANDLOCK_CREATE_RULESET, uint32(unix.ENOSYS), "this kernel has no Landlock"},
	{"Landlock is off", sandbox.Landlock, unix.SYS_LANDLOCK_CREATE_RULESET, uint32(unix.EOPNOTSUPP), "switched off"},
	{"Landlock confines nothing", sandbox.Landlock, unix.SYS_LANDLOCK_RESTRICT_SELF, 0, "a write outside was not denied"},
	{"no seccomp", sandbox.Landlock, unix.SYS_SECCOMP, uint32(unix.ENOSYS), "load the seccomp filter"},
	{"no user namespaces", sandbox.Bubblewrap, unix.SYS_CLONE, uint32(unix.EPERM), "died without an answer"},
	{"no seccomp", sandbox.Bubblewrap, unix.SYS_SECCOMP, uint32(unix.ENOSYS), "load the seccomp filter"},
}

// testKernels opens the tier on kernels that lack what it needs, or only seem to have it.
func (w *world) testKernels(t *testing.T) {
	for i, k := range kernels {
		if k.tier != w.box.Tier() {
			continue
		}
		w.tally.run(t, "E38", k.name, func(t *testing.T) {
			out, err := exec.Command(w.exe, probeMarker, "kernel", fmt.Sprint(i)).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// onKernel is a process on one of those kernels.
func onKernel(i int) error {
	k := kernels[i]
	if err := pretend(k.call, k.errno); err != nil {
		return err
	}
	if wrong := mustNotOpen(sandbox.Options{Tier: k.tier}, k.want); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}

// pretend has the kernel answer a call of this process, and of all that it starts, with an error. Of clone only those
// are meant that make a user namespace.
func pretend(call, errno uint32) error {
	answer := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | errno}
	prog := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 0, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipFalse: 3},
		bpf.LoadAbsolute{Off: 16, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_NEWUSER, SkipFalse: 1},
		answer,
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
	if call != unix.SYS_CLONE {
		prog[3] = bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: 0, SkipFalse: 1}
	}
	raw, err := bpf.Assemble(prog)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, no := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if no != 0 {
		return fmt.Errorf("pretend: %w", no)
	}
	return nil
}
