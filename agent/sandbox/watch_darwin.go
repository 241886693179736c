package sandbox

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch polls memory, processes and written bytes and asks for the end of what goes past its limit. Seatbelt limits none of
// these: a burst between two looks goes unseen.
func (w *warden) watch(ctx context.Context, start time.Time) {
	disk := diskWatch{dirs: w.order.Watch, limit: w.order.Disk, since: start, next: start.Add(time.Second)}
	for _, dir := range disk.dirs {
		disk.free = append(disk.free, room(dir))
	}
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

// over names the limit that the command's processes alive now go past, if any.
func (w *warden) over() string {
	alive, err := w.alive()
	if err != nil {
		return ""
	}
	if len(alive) > w.order.Pids {
		return "pids"
	}
	var sum int64
	for pid := range alive {
		if n, err := footprint(pid); err == nil { // gone meanwhile otherwise
			sum += n
		}
	}
	if sum > w.order.Memory {
		return "memory"
	}
	return ""
}

// diskWatch counts what a run wrote: the blocks of files that changed since it began. Walking a tree is dear, so a walk waits
// until some time has passed or the file system has lost as much room as the limit.
type diskWatch struct {
	dirs  []string
	limit int64
	since time.Time
	free  []int64 // room at the start, one per dir
	next  time.Time
}

func room(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Bfree) * int64(st.Bsize)
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

// written is the size of what changed below dir since a time, counted until it is past enough. The time is that of the last
// change of the inode, which no program can set back. A clone counts in full, though it takes no room.
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
		if ok && time.Unix(st.Ctimespec.Unix()).After(since) {
			sum += max(st.Blocks*512, perFile)
		}
		if sum > enough {
			return fs.SkipAll
		}
		return nil
	})
	return sum
}
