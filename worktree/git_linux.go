package worktree

import "syscall"

// attributes puts git in a group of its own, so that Ctrl-C in a terminal reaches us and not it, and asks the kernel
// to stop it when we are gone, however that came.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
