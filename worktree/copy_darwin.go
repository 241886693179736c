package worktree

import "golang.org/x/sys/unix"

// create makes the file name in the folder to, sharing the blocks of in if the disk can. A clone brings the source's
// mode with it, which may forbid opening it for writing, so a clone is opened for reading.
func (c *copier) create(in, to int, name string, mode uint32) (out int, cloned bool, err error) {
	const flags = unix.O_NOFOLLOW | unix.O_CLOEXEC
	if !c.noClone.Load() {
		err := unix.Fclonefileat(in, to, name, unix.CLONE_NOFOLLOW|unix.CLONE_NOOWNERCOPY)
		if err == nil {
			out, err = unix.Openat(to, name, unix.O_RDONLY|flags, 0)
			return out, true, err
		}
		if err == unix.EEXIST {
			return -1, false, err
		}
		c.noClone.Store(true)
	}
	out, err = unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|flags, mode)
	return out, false, err
}
