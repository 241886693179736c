package warden

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watch polls processes, written bytes and, where the kernel does not cap it, memory, and asks for the end of what goes past
// its limit. A burst between two looks goes unseen.
func (w *warden) watch(ctx context.Context, start time.Time) {
	disk := newDiskWatch(w.order, start)
	wait := 20 * time.Millisecond
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		limit := w.over()
		if limit == "" && disk.over() {
			limit = "disk"
		}
		if limit != "" {
			w.stop(limit)
			return
		}
		wait = min(max(50*time.Millisecond, 20*time.Since(began)), time.Second) // at most a twentieth of one core
	}
}

// over names the limit that the processes alive now go past, if any.
func (w *warden) over() string {
	alive, err := descendants(os.Getpid())
	if err != nil {
		return ""
	}
	if len(alive) > w.order.Pids {
		return "pids"
	}
	if w.order.Capped {
		return ""
	}
	page := int64(os.Getpagesize())
	sum := shmUsed(w.order.Shm)
	for _, p := range alive {
		sum += p.rss * page
	}
	if sum <= w.order.Memory {
		return ""
	}
	// Forked processes share most of their pages and each counts them all: look again, fairly.
	sum = shmUsed(w.order.Shm)
	for _, p := range alive {
		sum += fairShare(p, page)
	}
	if sum > w.order.Memory {
		return "memory"
	}
	return ""
}

// fairShare is a process's memory with shared pages divided among who shares them; all of them where the kernel
// does not say.
func fairShare(p process, page int64) int64 {
	if kb := ReadField("/proc/"+strconv.Itoa(p.pid)+"/smaps_rollup", "Pss"); kb > 0 {
		return kb << 10
	}
	return p.rss * page
}

// shmUsed is what lies in a memory-backed folder.
func shmUsed(dir string) int64 {
	var st unix.Statfs_t
	if dir == "" || unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// diskWatch counts what a run wrote: the blocks of files that changed since it began. Walking a tree is dear, so a
// walk waits until some time has passed or the file system has lost as much room as the limit.
type diskWatch struct {
	dirs  []string
	limit int64
	since time.Time
	free  []int64 // room at the start, one per dir
	next  time.Time
}

func newDiskWatch(o Order, start time.Time) *diskWatch {
	d := &diskWatch{dirs: o.Watch, limit: o.Disk, since: start, next: start.Add(time.Second)}
	for _, dir := range d.dirs {
		d.free = append(d.free, room(dir))
	}
	return d
}

func room(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bfree) * st.Bsize
}

func (d *diskWatch) over() bool {
	began := time.Now()
	due := began.After(d.next)
	for i, dir := range d.dirs {
		due = due || d.free[i]-room(dir) > d.limit
	}
	if !due {
		return false
	}
	var sum int64
	for _, dir := range d.dirs {
		sum += written(dir, d.since, d.limit)
	}
	d.next = time.Now().Add(max(time.Second, 50*time.Since(began)))
	return sum > d.limit
}

// deepest is how many folders may lie in each other. Nothing honest comes near, and what lies deeper would go uncounted.
const deepest = 1000

// written is the size of what changed below dir since a time, counted until it is past enough. The time is that of
// the last change of the inode, which no program can set back. A file that is linked twice counts twice.
func written(dir string, since time.Time, enough int64) int64 {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0 // gone meanwhile, or closed to us: what cannot be seen is not counted
	}
	t := tally{since: since, enough: enough}
	t.folder(fd, 0)
	return t.sum
}

type tally struct {
	since       time.Time
	sum, enough int64
}

// folder counts what lies in an open folder, and closes it. It goes by descriptors: a path may be longer than the kernel takes.
func (t *tally) folder(fd, depth int) {
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	if depth > deepest {
		t.sum = t.enough + 1
	}
	for t.sum <= t.enough {
		names, err := dir.Readdirnames(1000)
		for _, name := range names {
			t.entry(fd, name, depth)
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

func (t *tally) entry(dir int, name string, depth int) {
	const perFile = 512 // so that a flood of empty files counts too
	var st unix.Stat_t
	if t.sum > t.enough || unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	if time.Unix(st.Ctim.Unix()).After(t.since) {
		t.sum += max(st.Blocks*512, perFile)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	if fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
		t.folder(fd, depth+1)
	}
}

// ReadField is the number after a name in a file of "name number" lines, 0 if it is not there.
func ReadField(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && strings.TrimSuffix(f[0], ":") == name {
			if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}
