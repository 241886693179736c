package worktree

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// unlock makes the folder name in dir ours to read and write, and never what a link in its place names.
func unlock(dir int, name string) error {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o700)
}
