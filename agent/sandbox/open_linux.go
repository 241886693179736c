package sandbox

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// confining are the tiers that need no allowance, strongest first.
var confining = []Tier{Bubblewrap, Landlock}

const advice = "install bubblewrap (the package of that name) or run Linux 6.2 or newer with Landlock switched on; " +
	"--sandbox none runs commands unconfined, on your own word"

// abiFloor is the oldest Landlock that can confine: before it a command could empty any file it may open.
const abiFloor = 3

// shim has done its work before main where this process is one: see package warden.
func shim() int { return 125 }

// open fits the sandbox to its tier and proves it.
func (s *Sandbox) open(shim []string) (err error) {
	if s.shim, err = resolveShim(shim); err != nil {
		return err
	}
	switch s.tier {
	case Bubblewrap:
		if s.bwrap, err = findBubblewrap(); err != nil {
			return err
		}
		s.gaps = bubblewrapGaps()
	case Landlock:
		abi, err := warden.LandlockABI()
		if err != nil {
			return err
		}
		if abi < abiFloor {
			return fmt.Errorf("this kernel has Landlock version %d, and %d is needed (Linux 6.2)", abi, abiFloor)
		}
		s.gaps = landlockGaps(abi)
	case Unconfined:
		s.gaps = []string{
			"Commands are not confined: they may read and write what this user may, and reach the network.",
		}
	case Seatbelt:
		return fmt.Errorf("not available on linux")
	default:
		return fmt.Errorf("no such tier: %q", s.tier)
	}
	if err := s.control(); err != nil {
		return meaning(err)
	}
	s.gaps = append([]string{s.controls.gap()}, s.gaps...)
	return nil
}

// resolveShim is the argv of the shim with the real path of its binary.
func resolveShim(shim []string) ([]string, error) {
	if len(shim) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the running executable: %w", err)
		}
		shim = []string{exe}
	}
	exe, err := filepath.EvalSymlinks(shim[0])
	if err != nil {
		return nil, fmt.Errorf("find the shim: %w", err)
	}
	if !filepath.IsAbs(exe) {
		return nil, fmt.Errorf("shim %s is not an absolute path", exe)
	}
	return append([]string{exe}, shim[1:]...), nil
}

const watchdogGap = "Memory, processes and written bytes are watched about twenty times a second, not capped by the kernel: a short burst goes unseen, and so does memory that no process has mapped."

func bubblewrapGaps() []string {
	return append([]string{
		"Programs and libraries of the system folders (/usr and its like) and a few files of /etc are readable.",
	}, crashGaps()...)
}

func landlockGaps(abi int) []string {
	gaps := []string{
		"There is no loopback: every socket is refused, and a check that needs one stops as needs_tier.",
		"/tmp, /dev/shm and /proc are closed: temporary files go to TMPDIR, and a program cannot read its own /proc/self.",
		"Whether a path exists, its size, its times, its extended attributes and where a link leads can be asked, and changes to a folder be watched, anywhere on the machine.",
		"Modes, times and extended attributes of files that this user owns can be changed anywhere on the machine.",
		"Programs and libraries of the system folders (/usr and its like) and a few files of /etc are readable.",
	}
	if abi < 5 {
		gaps = append(gaps, "This kernel's Landlock (before 6.10) does not restrict ioctl on devices.")
	}
	if abi < 6 {
		gaps = append(gaps, "This kernel's Landlock (before 6.12) does not keep commands from signalling other processes of this user.")
	}
	if u, err := user.Current(); err == nil && u.Uid == "0" {
		gaps = append(gaps, "This runs as root: prefer another user, so that file modes protect the rest of the machine as well.")
	} else {
		gaps = append(gaps, "Scheduling and processor affinity of this user's other processes can be changed.")
	}
	return append(gaps, crashGaps()...)
}

// crashGaps has the one sentence of a machine that pipes crashed programs into a handler: no limit keeps the kernel from
// starting it. https://man7.org/linux/man-pages/man5/core.5.html
func crashGaps() []string {
	if b, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || !strings.HasPrefix(string(b), "|") {
		return nil
	}
	return []string{"A program that crashes is handed to this machine's crash handler (kernel.core_pattern), which runs outside of the sandbox."}
}
