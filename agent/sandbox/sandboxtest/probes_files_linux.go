package sandboxtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fileAttempts are attempts on files outside, and on what the file system tells of them.
var fileAttempts = map[string]probe{
	"truncate": func(a []string) error { return os.Truncate(a[0], 0) },
	"remove":   func(a []string) error { return os.Remove(a[0]) },
	"mkdir":    func(a []string) error { return os.Mkdir(a[0], 0o700) },
	"mkfifo":   func(a []string) error { return unix.Mkfifo(a[0], 0o600) },
	"bind":     func(a []string) error { return bindTo(a[0]) },
	"moveout":  func(a []string) error { return os.Rename(a[0], a[1]) },
	"chmod":    func(a []string) error { return errors.Join(os.Chmod(a[0], 0o600), os.Chmod(a[0], 0o644)) },
	"utime":    func(a []string) error { return os.Chtimes(a[0], time.Unix(1, 0), time.Unix(1, 0)) },
	"setxattr": func(a []string) error { return unix.Setxattr(a[0], "user.redraft", []byte("x"), 0) },
	"chown": func(a []string) error {
		return errors.Join(os.Chown(a[0], 1, 1), os.Chown(a[0], os.Getuid(), os.Getgid()))
	},
	"linkfd":    func(a []string) error { return linked(linkDescriptor, a[0], a[1]) },
	"linkwrite": func(a []string) error { return linkWrite(a[0], a[1]) },
	"rename":    func(a []string) error { return thereAndBack(a[0], a[1], 0) },
	"renameup":  func(a []string) error { return renameAbove(a[0], a[1]) },
	"exchange":  func(a []string) error { return thereAndBack(a[0], a[1], unix.RENAME_EXCHANGE) },
	"stat":      func(a []string) error { _, err := os.Stat(a[0]); return err },
	"readlink":  func(a []string) error { _, err := os.Readlink(a[0]); return err },
	"listxattr": func(a []string) error { _, err := unix.Listxattr(a[0], nil); return err },
	"inotify":   func(a []string) error { return inotify(a[0]) },
	"handle":    func(a []string) error { return byHandle(a[0]) },
	"exec":      func(a []string) error { return runs(a) },
	"setuid":    func(a []string) error { return setuid(a[0]) },
	"crash":     func(a []string) error { return crash(a[0]) },
	"parent":    func(a []string) error { return parent(a[0]) },
	"dirfds":    func(a []string) error { return inheritedFolder(a[0]) },
}

func bindTo(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
}

// linkDescriptor names a file by an open descriptor of it.
func linkDescriptor(from, to string) error {
	fd, err := unix.Open(from, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), unix.AT_FDCWD, to, unix.AT_SYMLINK_FOLLOW)
}

// linkWrite writes to a file by a second name where writing is allowed.
func linkWrite(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	defer os.Remove(to)
	return os.WriteFile(to, []byte("x"), 0o600)
}

func thereAndBack(from, to string, flags uint) error {
	if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags); err != nil {
		return err
	}
	return unix.Renameat2(unix.AT_FDCWD, to, unix.AT_FDCWD, from, flags)
}

const movedMark = "was-moved"

// renameAbove leaves a mark in a folder while it has another name.
func renameAbove(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to+"/"+movedMark, nil, 0o600), os.Rename(to, from))
}

func inotify(dir string) error {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY)
	return err
}

// byHandle opens a file by its number, whatever folders stand above it. Where the file cannot be named the working
// directory is tried instead: the call itself must be refused.
func byHandle(path string) error {
	root, err := unix.Open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(root)
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		h, _, err = unix.NameToHandleAt(unix.AT_FDCWD, ".", 0)
	}
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(root, h, unix.O_RDONLY)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func runs(argv []string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.200s", err, out)
	}
	return nil
}

// setuid runs a program that belongs to somebody else, and succeeds when it runs as that user.
func setuid(program string) error {
	out, err := exec.Command(program, "-u").Output()
	if err != nil {
		return err
	}
	if who := strings.TrimSpace(string(out)); who == strconv.Itoa(os.Getuid()) {
		return errors.New("it runs as the same user")
	}
	return nil
}

// crash succeeds when the kernel says that the memory of a crashed program was kept or handed on.
func crash(dir string) error {
	cmd := exec.Command("/bin/sh", "-c", "ulimit -c unlimited; kill -SEGV $$")
	cmd.Dir = dir
	err := cmd.Run()
	_ = os.Remove(dir + "/core")
	_ = os.Remove(dir + "/core." + strconv.Itoa(cmd.ProcessState.Pid()))
	if st, ok := cmd.ProcessState.Sys().(interface{ CoreDump() bool }); ok && st.CoreDump() {
		return nil
	}
	return fmt.Errorf("no core: %v", err)
}

// parent opens the memory, or some descriptor, of the process that started this one.
func parent(what string) error {
	dir := "/proc/" + strconv.Itoa(os.Getppid()) + "/"
	if what == "mem" {
		return opens(dir+"mem", "read")
	}
	fds, err := os.ReadDir(dir + "fd")
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if err = opens(dir+"fd/"+fd.Name(), "read"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("none of %d opens: %w", len(fds), err)
}

// inheritedFolder reads a file below a folder that this process was started with.
func inheritedFolder(name string) error {
	for fd := 3; fd < 1024; fd++ {
		if got, err := unix.Openat(fd, name, unix.O_RDONLY, 0); err == nil {
			return unix.Close(got)
		}
	}
	return errors.New("no descriptor leads to it")
}
