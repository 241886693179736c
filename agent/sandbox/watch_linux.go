package sandbox

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
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
	if kb := readField("/proc/"+strconv.Itoa(p.pid)+"/smaps_rollup", "Pss"); kb > 0 {
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

func newDiskWatch(o order, start time.Time) *diskWatch {
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

// written is the size of what changed below dir since a time, counted until it is past enough. The time is that of
// the last change of the inode, which no program can set back. A file that is linked twice counts twice.
func written(dir string, since time.Time, enough int64) int64 {
	const perFile = 512 // so that a flood of empty files counts too
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or closed to us: what cannot be seen is not counted
		}
		fi, err := e.Info()
		if err != nil {
			return nil
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		if ok && time.Unix(st.Ctim.Unix()).After(since) {
			sum += max(st.Blocks*512, perFile)
		}
		if sum > enough {
			return fs.SkipAll
		}
		return nil
	})
	return sum
}
