package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system call proc_info, which libproc wraps. There is no stable number for it but this one, and no C here to call the
// library: open asks it about this process, and a machine that answers otherwise has no such tier.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/kern/syscalls.master,
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/sys/proc_info_private.h
const (
	sysProcInfo  = 336
	callPidInfo  = 2 // PROC_INFO_CALL_PIDINFO
	callPidUsage = 9 // PROC_INFO_CALL_PIDRUSAGE

	folderInfo     = 9       // PROC_PIDVNODEPATHINFO
	folderInfoSize = 2352    // of struct proc_vnodepathinfo
	folderAt       = 152     // vip_path of the working directory in it, 1024 bytes
	uniqueInfo     = 17      // PROC_PIDUNIQIDENTIFIERINFO
	uniqueInfoSize = 56      // of struct proc_uniqidentifierinfo
	idAt, makerAt  = 16, 24  // p_uniqueid and p_puniqueid in it
	usageSize      = 96      // of struct rusage_info_v0, which is flavour 0
	footprintAt    = 16 + 56 // ri_phys_footprint in it
)

// procInfo fills a buffer and returns how much of it. Bytes are asked for as libproc does: none are counted for usage.
// https://github.com/apple-oss-distributions/xnu/blob/main/libsyscall/wrappers/libproc/libproc.c
func procInfo(call, pid, flavour int, buf []byte, size int) (int, error) {
	n, _, errno := unix.Syscall6(sysProcInfo, uintptr(call), uintptr(pid), uintptr(flavour), 0, uintptr(unsafe.Pointer(&buf[0])), uintptr(size))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// numbers are a process's own and its maker's, 0 when it is gone.
func numbers(pid int) (id, maker uint64) {
	buf := make([]byte, uniqueInfoSize)
	if n, err := procInfo(callPidInfo, pid, uniqueInfo, buf, len(buf)); err != nil || n != len(buf) {
		return 0, 0
	}
	return binary.LittleEndian.Uint64(buf[idAt:]), binary.LittleEndian.Uint64(buf[makerAt:])
}

// folder is the working directory of a process, "" when it is gone.
func folder(pid int) string {
	buf := make([]byte, folderInfoSize)
	if n, err := procInfo(callPidInfo, pid, folderInfo, buf, len(buf)); err != nil || n != len(buf) {
		return ""
	}
	path, _, _ := bytes.Cut(buf[folderAt:folderAt+1024], []byte{0})
	return string(path)
}

// footprint is the memory that a process is charged with, compressed and swapped pages included, shared ones once.
func footprint(pid int) (int64, error) {
	buf := make([]byte, usageSize)
	if _, err := procInfo(callPidUsage, pid, 0, buf, 0); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(buf[footprintAt:])), nil
}

// stateZombie is SZOMB. https://github.com/apple-oss-distributions/xnu/blob/main/bsd/sys/proc.h
const stateZombie = 5

// table is the living processes of this user. None of another user is a command's: set-user-id programs are not executed in a
// sandbox.
func table() ([]relative, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	var out []relative
	for _, p := range list {
		if p.Proc.P_stat == stateZombie {
			continue
		}
		r := relative{pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid), group: int(p.Eproc.Pgid)}
		r.id, r.maker = numbers(r.pid)
		out = append(out, r)
	}
	return out, nil
}

// seesItself proves that the answers of the kernel mean what is read from them.
func seesItself() error {
	id, maker := numbers(os.Getpid())
	parent, _ := numbers(os.Getppid())
	if id == 0 || maker == 0 || id == maker || os.Getppid() > 1 && parent != maker {
		return fmt.Errorf("the kernel numbers this process %d and its maker %d, and the parent %d", id, maker, parent)
	}
	if n, err := footprint(os.Getpid()); err != nil || n < 1<<20 || n > 1<<40 {
		return fmt.Errorf("the kernel counts %d bytes for this process (%v)", n, err)
	}
	here, err := unix.Getwd()
	if err != nil || folder(os.Getpid()) != here && firm(folder(os.Getpid())) != firm(here) {
		return fmt.Errorf("the kernel says that this process works in %s, and it does in %s (%v)", folder(os.Getpid()), here, err)
	}
	list, err := table()
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.pid == os.Getpid() && p.id == id && p.parent == os.Getppid() && p.group == unix.Getpgrp() {
			return nil
		}
	}
	return errors.New("this process is not in the process table")
}

// freeMemory is how many bytes may still be taken: the part of the machine's memory that the kernel's own pressure meter calls
// free.
// https://github.com/apple-oss-distributions/xnu/blob/main/bsd/kern/kern_memorystatus.c (kern.memorystatus_level)
func freeMemory() int64 {
	all, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 8 << 30 // an honest guess where the kernel tells nothing
	}
	percent, err := unix.SysctlUint32("kern.memorystatus_level")
	if err != nil || percent > 100 {
		percent = 50
	}
	return int64(all / 100 * uint64(percent))
}
