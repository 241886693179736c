package warden

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killAll ends every descendant and returns when all are reaped. Orphans fall to this process, so that nobody can
// leave the family, whatever session, group or stopped state they are in.
func (w *warden) killAll() {
	select { // mostly nobody is left, and the reaper is about to find out
	case <-w.empty:
		return
	case <-time.After(time.Millisecond):
	}
	if w.order.Halt > 0 {
		_, _ = unix.Write(w.order.Halt, []byte("0"))
	}
	for round := 0; ; round++ {
		select {
		case <-w.empty:
			return
		default:
		}
		w.killOnce(round)
		select {
		case <-w.empty:
			return
		case <-time.After(min(time.Duration(round+1)*time.Millisecond, 20*time.Millisecond)):
		}
	}
}

// killOnce signals all that can be seen now. As process 1 one call reaches the whole namespace at once. Elsewhere the
// family is walked, and who forks faster than a walk is caught by a signal to the whole Landlock domain.
func (w *warden) killOnce(round int) {
	if w.order.Tier == Bubblewrap {
		_ = unix.Kill(-1, unix.SIGKILL)
		return
	}
	below, _ := descendants(os.Getpid())
	for pid := range below {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if round > 3 && w.canSweep {
		select {
		case w.sweep <- struct{}{}:
		case <-w.empty:
		}
	}
}

// sweepThread keeps the confined thread for the rest of the process. On request it sends SIGKILL to "everybody",
// which the kernel does in one step that no fork escapes, and which for this thread means its own Landlock domain.
func (w *warden) sweepThread() {
	for range w.sweep {
		if sealed(1) {
			_ = unix.Kill(-1, unix.SIGKILL)
		}
	}
}

// sealed says whether the calling thread is denied to signal a process outside its domain.
func sealed(outside int) bool {
	return outside > 0 && unix.Kill(outside, 0) == unix.EPERM
}

// process is one line of the process table.
type process struct {
	pid, parent int
	rss         int64 // pages
}

// table is the process table as this process sees it.
func table() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := readProcess(pid); err == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// readProcess reads /proc/PID/stat. The command's name stands in parentheses and may hold anything, parentheses too.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func readProcess(pid int) (process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, err
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 22 {
		return process{}, errors.New("short stat")
	}
	parent, err := strconv.Atoi(f[1])
	if err != nil {
		return process{}, err
	}
	rss, err := strconv.ParseInt(f[21], 10, 64)
	return process{pid, parent, rss}, err
}

// descendants are the processes below root, without root.
func descendants(root int) (map[int]process, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	out := map[int]process{}
	for next := []int{root}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			if _, known := out[p.pid]; !known {
				out[p.pid] = p
				next = append(next, p.pid)
			}
		}
	}
	return out, nil
}

// KillFamily kills everything below root and then root, from outside: for a shim that does not answer.
func KillFamily(root int) {
	for range 50 {
		below, err := descendants(root)
		if err != nil || len(below) == 0 {
			break
		}
		for pid := range below {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = unix.Kill(root, unix.SIGKILL)
}
