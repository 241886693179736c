package worktree

import "syscall"

// otherUser is a process that runs as a user without rights.
func otherUser() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}
