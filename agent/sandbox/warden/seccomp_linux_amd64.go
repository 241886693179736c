package warden

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000 // numbers of the x32 interface have this bit
)

var refusedHere = []call{
	{name: "iopl", nr: unix.SYS_IOPL},
	{name: "ioperm", nr: unix.SYS_IOPERM},
	{name: "modify_ldt", nr: unix.SYS_MODIFY_LDT},
}
