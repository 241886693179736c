package warden

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock is spoken to directly: the libraries restrict every thread of a process, and here one thread must be
// restricted while its siblings go on watching over it. Rights are exact; a kernel that lacks one below the floor
// is refused, never worked around. https://docs.kernel.org/userspace-api/landlock.html

// Rights of Landlock by the interface version that brought them.
const (
	fsRights1 = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	fsRights3 = fsRights1 | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	fsRights5 = fsRights3 | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	netRights4 = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP

	scopes6 = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// LandlockABI is the interface version of this kernel.
func LandlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(v), nil
	case unix.ENOSYS:
		return 0, errors.New("this kernel has no Landlock")
	case unix.EOPNOTSUPP:
		return 0, errors.New("the kernel has Landlock switched off (see its lsm= boot option)")
	}
	return 0, fmt.Errorf("ask for Landlock: %w", errno)
}

// handled is all that a kernel of this version can deny, and so what is denied unless granted.
func handled(abi int) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fsRights3}
	if abi >= 4 {
		attr.Handled_access_net = netRights4
	}
	if abi >= 5 {
		attr.Handled_access_fs = fsRights5
	}
	if abi >= 6 {
		attr.Scoped = scopes6
	}
	return attr
}

// rights translates a grant. No grant makes devices, and none allows ioctl on a device but on the few nodes of /dev.
func rights(do Access, dir bool) uint64 {
	var r uint64
	switch do {
	case ReadOnly:
		r = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	case ReadRun:
		r = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	case ReadWrite:
		r = fsRights3 &^ (unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK)
	case Device:
		r = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if !dir {
		r &= unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
			unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return r
}

// landlockThread confines the calling thread, and what it starts, to the grants. The thread must be locked and have
// no_new_privs.
func landlockThread(abi int, grants []Grant) error {
	attr := handled(abi)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make a Landlock ruleset: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, g := range grants {
		if err := addGrant(int(fd), attr.Handled_access_fs, g); err != nil {
			return fmt.Errorf("grant %s %s: %w", g.Do, g.Path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("enter the Landlock ruleset: %w", errno)
	}
	return nil
}

func addGrant(ruleset int, handled uint64, g Grant) error {
	fd, err := unix.Open(g.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	beneath := unix.LandlockPathBeneathAttr{
		Allowed_access: rights(g.Do, st.Mode&unix.S_IFMT == unix.S_IFDIR) & handled,
		Parent_fd:      int32(fd),
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// dropThread gives up every capability of the calling thread for good.
func dropThread() error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		// EPERM: no CAP_SETPCAP, and then no capability that no_new_privs would let come back either.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EPERM && err != unix.EINVAL {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
