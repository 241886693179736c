package worktree

import "syscall"

// attributes puts git in a group of its own, so that Ctrl-C in a terminal reaches us and not it. A child whose parent
// was killed ends by itself; until then it holds the locks that it was given.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
