package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// create makes the file name in the folder to, sharing in's blocks if the disk can. A clone brings the source's
// mode with it, which may forbid opening it for writing, so a clone is opened for reading.
func (c *copier) create(in *os.File, to int, name string) (out *os.File, cloned bool, err error) {
	flags := unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL
	if !c.noClone.Load() {
		if err := unix.Fclonefileat(int(in.Fd()), to, name, unix.CLONE_NOFOLLOW|unix.CLONE_NOOWNERCOPY); err == nil {
			cloned, flags = true, unix.O_RDONLY
		} else if err == unix.EEXIST {
			return nil, false, err
		} else {
			c.noClone.Store(true)
		}
	}
	fd, err := unix.Openat(to, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, false, err
	}
	return os.NewFile(uintptr(fd), name), cloned, nil
}
