package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
	"golang.org/x/sys/unix"
)

// controls is how this machine bounds memory and processes: by control groups of version 2 or 1, or, where there are none
// that this process may use, by the watchdog alone. The zero value is the watchdog.
type controls struct {
	version      int
	memory, pids string // folders that groups are made in
	threads      int    // that a run may have, whatever it is allowed; by the processes that it is allowed if zero
	lack         string // why the watchdog, for people to read
}

// gap says what is left unbounded, for people to read.
func (c controls) gap() string {
	if c.version == 0 {
		return watchdogGap
	}
	return fmt.Sprintf("Memory and processes are capped by the kernel (cgroup v%d), processes at %d threads for each that is allowed; "+
		"their number and written bytes are watched about twenty times a second: a short burst goes unseen.", c.version, threadsEach)
}

// mounted is one control group hierarchy as this process sees it.
type mounted struct {
	controllers []string // "memory", ...; none for version 2
	own         string   // the folder of this process's own group
	top         string   // the uppermost folder that is visible
}

// hierarchies joins what /proc/self/mountinfo and /proc/self/cgroup say. A group that lies outside of what is mounted here is
// left out. https://man7.org/linux/man-pages/man7/cgroups.7.html
func hierarchies(mounts, groups string) []mounted {
	var all []mounted
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 {
			continue
		}
		m := mounted{controllers: strings.FieldsFunc(f[1], func(r rune) bool { return r == ',' })}
		for mount := range strings.Lines(mounts) {
			if root, at, ok := cgroupMount(mount, m.controllers); ok && within(root, f[2]) {
				m.top, m.own = at, filepath.Join(at, strings.TrimPrefix(f[2], strings.TrimSuffix(root, "/")))
			}
		}
		if m.own != "" {
			all = append(all, m)
		}
	}
	return all
}

// cgroupMount reads a line of mountinfo: which folder of a hierarchy with these controllers is mounted where.
// https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
func cgroupMount(line string, controllers []string) (root, at string, ok bool) {
	before, after, found := strings.Cut(line, " - ")
	f, kind := strings.Fields(before), strings.Fields(after)
	if !found || len(f) < 5 || len(kind) < 3 {
		return "", "", false
	}
	if len(controllers) == 0 {
		return unescape(f[3]), unescape(f[4]), kind[0] == "cgroup2"
	}
	options := strings.Split(kind[2], ",")
	for _, c := range controllers {
		if !slices.Contains(options, c) {
			return "", "", false
		}
	}
	return unescape(f[3]), unescape(f[4]), kind[0] == "cgroup"
}

// unescape turns the octal escapes of mountinfo back.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// findControls is the best that this process may use, not proved yet.
func findControls() controls {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	groups, _ := os.ReadFile("/proc/self/cgroup")
	all := hierarchies(string(mounts), string(groups))
	for _, m := range all {
		if dir, ok := delegated(m); ok {
			return controls{version: 2, memory: dir, pids: dir}
		}
	}
	c := controls{version: 1}
	for _, m := range all {
		if slices.Contains(m.controllers, "memory") && mayMake(m.own) {
			c.memory = m.own
		}
		if slices.Contains(m.controllers, "pids") && mayMake(m.own) {
			c.pids = m.own
		}
	}
	if c.memory == "" || c.pids == "" {
		return controls{lack: "no control group with memory and pids may be written by this user"}
	}
	return c
}

func mayMake(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// delegated is the folder of a version 2 hierarchy in which this process may make groups. A group that holds processes can
// have no capped groups below it, so that it is the one above ours, and ours only where that is the machine's root. Where
// systemd rules, a folder is used that it gave away and no other. https://systemd.io/CGROUP_DELEGATION/
func delegated(m mounted) (string, bool) {
	if len(m.controllers) > 0 {
		return "", false
	}
	dirs := []string{m.own}
	if m.own != m.top {
		dirs = []string{filepath.Dir(m.own), m.own}
	}
	for _, dir := range dirs {
		if mayMake(dir) && given(dir) && enabled(dir) {
			return dir, true
		}
	}
	return "", false
}

// given says whether a folder is not systemd's own to keep.
func given(dir string) bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return true
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		mark := make([]byte, 1)
		if n, err := unix.Getxattr(dir, name, mark); err == nil && n == 1 && mark[0] == '1' {
			return true
		}
	}
	return false
}

// enabled says whether groups below a folder have both controllers, and switches them on where that is allowed.
func enabled(dir string) bool {
	file := filepath.Join(dir, "cgroup.subtree_control")
	on := func() bool {
		b, err := os.ReadFile(file)
		have := strings.Fields(string(b))
		return err == nil && slices.Contains(have, "memory") && slices.Contains(have, "pids")
	}
	return on() || os.WriteFile(file, []byte("+memory +pids"), 0) == nil && on()
}

// What the probe of the controls takes: within the wide limits it must pass, past each narrow one it must be stopped.
const (
	probeBytes, probeWide, probeNarrow = 32 << 20, 256 << 20, 16 << 20
	probeForks, probeThreads           = 16, 12
)

// control proves the tier, under the best way to bound memory and processes that is seen to work in it, in both directions: the
// tier's own probe runs within its caps, and what asks for more is stopped. Where that fails the watchdog is all there is.
func (s *Sandbox) control() error {
	if s.controls = findControls(); s.controls.version > 0 {
		reapGroups(s.controls.memory)
		reapGroups(s.controls.pids)
		err := s.prove()
		if err == nil {
			err = s.proveControls(s.controls)
		}
		if err == nil {
			return nil
		}
		s.controls = controls{lack: err.Error()}
	}
	return s.prove()
}

func (s *Sandbox) proveControls(found controls) error {
	dir, remove, err := runDir(s.tmp)
	if err != nil {
		return err
	}
	defer remove()
	few, forks := found, probeForks+found.ours()
	few.threads = probeThreads
	for _, try := range []struct {
		controls controls
		take     taking
		memory   int64
		exit     int
		limit    string
	}{
		{found, taking{Bytes: probeBytes}, probeNarrow, -1, "memory"},
		{few, taking{probeBytes, forks}, probeWide, 1, "pids"}, // the same bytes are taken where they are allowed
	} {
		box := *s
		box.controls = try.controls
		c, err := box.probing(dir, trial{Take: &try.take})
		if err != nil {
			return err
		}
		c.Memory = try.memory
		res, err := box.Run(context.Background(), c)
		if err != nil {
			return fmt.Errorf("probe the caps of cgroup v%d: %w", found.version, err)
		}
		if res.Exit != try.exit || res.Limit != try.limit {
			return fmt.Errorf("probe the caps of cgroup v%d: exit %d and limit %q, want exit %d and limit %q",
				found.version, res.Exit, res.Limit, try.exit, try.limit)
		}
	}
	return nil
}

// taking is what the probe of the controls takes, all at once.
type taking struct {
	Bytes int64
	Forks int
}

func (t taking) take() error {
	if t.Bytes > 0 {
		if _, err := unix.Mmap(-1, 0, int(t.Bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE); err != nil {
			return err
		}
	}
	exe := os.Args[0]
	if _, err := os.Stat("/usr/bin/true"); err == nil {
		exe = "/usr/bin/true" // begins sooner
	}
	for range t.Forks { // they end at once and are not waited for, so that each stays in the count
		if _, err := syscall.ForkExec(exe, []string{exe, warden.Marker}, nil); err != nil {
			return err
		}
	}
	return nil
}
