package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
	"golang.org/x/sys/unix"
)

// group is the control group of one run, made and removed by the process that calls Run: the kernel's own cap on memory and
// on threads. A nil group caps nothing. Its folders are locked while it lasts, so that a reaper knows the abandoned ones.
// https://docs.kernel.org/admin-guide/cgroup-v2.html and https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
type group struct {
	version      int
	memory, pids *folder // the same one in version 2
}

// threadsEach is how many threads the kernel allows for each process that a command may have: the kernel counts threads, of
// which an honest process has many, and people count processes.
const threadsEach = 8

// ours is how many threads in a group are not the command's: the one that confines, and in version 2 all of launcher and shim.
func (c controls) ours() int {
	if c.version == 1 {
		return 1
	}
	return 8 + 2*spare
}

// spare is how many threads a shim in the command's group keeps ready: when the command has used up its own, a runtime that
// is refused one would end.
const spare = 8

// newGroup makes a group below the folders that were found for that.
func (c controls) newGroup(memory int64, processes int) (*group, error) {
	if c.version == 0 {
		return nil, nil
	}
	g := &group{version: c.version}
	var err error
	for range 3 { // a reaper may take an empty folder in the moment before it is locked
		if err = g.make(c, memory, processes); err == nil {
			return g, nil
		}
		err = errors.Join(err, g.close())
	}
	return nil, fmt.Errorf("make a control group: %w", err)
}

func (g *group) make(c controls, memory int64, processes int) (err error) {
	if g.memory, err = newFolder(c.memory); err != nil {
		return err
	}
	g.pids = g.memory
	if g.version == 1 {
		if g.pids, err = newFolder(c.pids); err != nil {
			return err
		}
	}
	bytes, threads := strconv.FormatInt(memory, 10), strconv.Itoa(cmp.Or(c.threads, processes*threadsEach)+c.ours())
	if g.version == 1 {
		return errors.Join(g.memory.set("memory.limit_in_bytes", bytes), maybe(g.memory.set("memory.memsw.limit_in_bytes", bytes)),
			maybe(g.memory.set("memory.swappiness", "0")), g.pids.set("pids.max", threads))
	}
	return errors.Join(g.memory.set("memory.max", bytes), maybe(g.memory.set("memory.swap.max", "0")), g.pids.set("pids.max", threads))
}

// maybe forgives a kernel that does not count swap.
func maybe(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// hit is the limit that the kernel enforced so far by killing, "" if none.
func (g *group) hit() string {
	if g == nil {
		return ""
	}
	file := "memory.events"
	if g.version == 1 {
		file = "memory.oom_control"
	}
	if g.memory.field(file, "oom_kill") > 0 {
		return "memory"
	}
	return ""
}

// refusedForks counts the processes and threads that the cap did not let begin.
func (g *group) refusedForks() int64 {
	if g == nil {
		return 0
	}
	return g.pids.field("pids.events", "max")
}

// attr has a launcher born in a group of version 2, and all that it starts with it. In version 1 nothing is born elsewhere, and
// moving a process stops every fork on the machine for some milliseconds; a thread that moves itself stops nobody, so that
// the shim does that.
func (g *group) attr() *syscall.SysProcAttr {
	if g == nil || g.version == 1 {
		return nil
	}
	return &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(g.memory.dir.Fd())}
}

// handle is a file of a group that is opened here for the shim, which could not: whoever opened it has the say.
type handle struct {
	folder *folder
	name   string
	how    int
	to     *int // its descriptor there
}

// enter gives the shim what it needs to bring the command into the group, and to end it there.
func (l *launch) enter() error {
	if l.group == nil {
		return nil
	}
	l.order.Capped = true
	if l.group.version == 2 {
		l.order.Spare = spare
	}
	files := []handle{{l.group.pids, "pids.events", os.O_RDONLY, &l.order.Count}}
	if l.group.version == 1 {
		l.order.Join = make([]int, 2)
		files = append(files, handle{l.group.memory, "tasks", os.O_WRONLY, &l.order.Join[0]},
			handle{l.group.pids, "tasks", os.O_WRONLY, &l.order.Join[1]}, handle{l.group.pids, "pids.max", os.O_WRONLY, &l.order.Halt})
	}
	for _, file := range files {
		f, err := os.OpenFile(filepath.Join(file.folder.path, file.name), file.how, 0)
		if err != nil {
			return fmt.Errorf("open a control group: %w", err)
		}
		*file.to = warden.FirstFileFD + len(l.files)
		l.files = append(l.files, f)
	}
	return nil
}

// guard has the shim end the command when the kernel has killed a process of it for the memory that they take together: what
// half a program does is worth nothing. It returns when the launcher is dead.
func (l *launch) guard(w io.Writer) {
	if l.group == nil {
		return
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-l.over:
			return
		case <-look.C:
		}
		if limit := l.group.hit(); limit != "" {
			_, _ = io.WriteString(w, limit+"\n")
			return
		}
	}
}

// blame completes how a command ended by what the kernel refused it. Threads that were refused are to blame only where it ended
// badly: one that lived with that has merely been refused something.
func (g *group) blame(e *warden.Ending) {
	if e.Limit == "" {
		e.Limit = g.hit()
	}
	switch {
	case e.Forks == 0 || e.Limit != "":
	case e.Exit != 0:
		e.Limit = "pids"
	default:
		e.Refused = append(e.Refused, "fork past the cap on threads")
	}
}

// obituary is the ending of a command whose shim the kernel killed along with it; its Limit is "" where the kernel is not to
// blame.
func (g *group) obituary() warden.Ending {
	e := warden.Ending{Exit: -1, Signal: "SIGKILL", Forks: g.refusedForks()}
	g.blame(&e)
	return e
}

// kill ends everything in the group.
func (g *group) kill() {
	if g != nil {
		g.pids.kill()
	}
}

// close ends what is left in the group and removes it.
func (g *group) close() error {
	if g == nil {
		return nil
	}
	err := g.pids.remove()
	if g.memory != g.pids {
		err = errors.Join(err, g.memory.remove())
	}
	return err
}

// folder is one folder of a control group's hierarchy, open and locked. A nil folder is removed already.
type folder struct {
	path string
	dir  *os.File
}

func newFolder(parent string) (*folder, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, err
	}
	f, err := lockFolder(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return f, nil
}

// lockFolder opens a folder and takes its lock, or fails because somebody holds it.
func lockFolder(path string) (*folder, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return &folder{path, os.NewFile(uintptr(fd), path)}, nil
}

func (f *folder) set(name, value string) error {
	file, err := os.OpenFile(filepath.Join(f.path, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteString(value)
	return err
}

func (f *folder) field(file, name string) int64 {
	return warden.ReadField(filepath.Join(f.path, file), name)
}

// remove kills what is left and takes the folder away. The kernel counts a process as there until it is wholly gone, a moment
// after it was reaped.
func (f *folder) remove() error {
	if f == nil {
		return nil
	}
	defer f.dir.Close()
	var err error
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		if err = os.Remove(f.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		f.kill()
		time.Sleep(wait)
	}
	return fmt.Errorf("remove a control group: %w", err)
}

// kill ends everything in the folder: at one stroke where the kernel offers that, else one by one while nothing new can
// begin.
func (f *folder) kill() {
	if f.set("cgroup.kill", "1") == nil {
		return
	}
	_ = f.set("pids.max", "0")
	for _, pid := range f.members() {
		f.killOne(pid)
	}
}

// killOne holds on to a process before it looks whose it is: its number may be another's by now.
func (f *folder) killOne(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	for _, still := range f.members() {
		if still == pid {
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
	}
}

func (f *folder) members() (pids []int) {
	b, _ := os.ReadFile(filepath.Join(f.path, "cgroup.procs"))
	for _, s := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(s); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// reapGroups removes the groups of callers that were killed.
func reapGroups(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	for _, path := range left {
		if f, err := lockFolder(path); err == nil {
			_ = f.remove() // another user's, perhaps: not ours to complain about
		}
	}
}
