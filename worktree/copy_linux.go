package worktree

import "golang.org/x/sys/unix"

// create makes the file name in the folder to, sharing the blocks of in if the disk can.
func (c *copier) create(in, to int, name string, mode uint32) (out int, cloned bool, err error) {
	out, err = unix.Openat(to, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if err != nil || c.noClone.Load() {
		return out, false, err
	}
	if unix.IoctlFileClone(out, in) == nil {
		return out, true, nil
	}
	c.noClone.Store(true)
	return out, false, nil
}
