package worktree

import "golang.org/x/sys/unix"

// unlock makes the folder name in dir ours to read and write, and never what a link in its place names.
func unlock(dir int, name string) error {
	return unix.Fchmodat(dir, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
