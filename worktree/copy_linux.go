package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// create makes the file name in the folder to, sharing in's blocks if the disk can.
func (c *copier) create(in *os.File, to int, name string) (out *os.File, cloned bool, err error) {
	fd, err := unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, false, err
	}
	if !c.noClone.Load() {
		if unix.IoctlFileClone(fd, int(in.Fd())) == nil {
			cloned = true
		} else {
			c.noClone.Store(true)
		}
	}
	return os.NewFile(uintptr(fd), name), cloned, nil
}
