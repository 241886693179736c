package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Keep says how much of old evidence stays.
type Keep struct {
	Age   time.Duration // 30 days if zero
	Bytes int64         // of the newest evidence; 5 GiB if zero
}

func (k Keep) filled() Keep {
	return Keep{cmp.Or(k.Age, 30*24*time.Hour), cmp.Or(k.Bytes, 5<<30)}
}

// fresh is how long evidence stays whatever it weighs: somebody may be at work on it, between two processes.
const fresh = 24 * time.Hour

// kept is the evidence of one job.
type kept struct {
	dir   string
	last  time.Time // when it was written to
	bytes int64
}

// Sweep removes the evidence of jobs below dir that is older than Keep says, and of the rest the oldest until Keep's bytes are
// enough. Evidence of the last day, and of a job that is being recorded, stays whatever there is. It returns how many went.
func Sweep(ctx context.Context, dir string, keep Keep, now time.Time) (gone int, err error) {
	keep = keep.filled()
	all, err := listKept(ctx, dir)
	if err != nil {
		return 0, fmt.Errorf("look through old evidence: %w", err)
	}
	total := int64(0)
	for _, k := range all { // newest first
		total += k.bytes
		age := now.Sub(k.last)
		if age < fresh || age < keep.Age && total <= keep.Bytes {
			continue
		}
		if removed, removeErr := k.remove(); removeErr != nil {
			err = errors.Join(err, fmt.Errorf("remove old evidence: %w", removeErr))
		} else if removed {
			total -= k.bytes
			gone++
		}
	}
	return gone, err
}

// Weigh says how much evidence there is below dir.
func Weigh(ctx context.Context, dir string) (jobs int, bytes int64, err error) {
	all, err := listKept(ctx, dir)
	for _, k := range all {
		bytes += k.bytes
	}
	return len(all), bytes, err
}

// listKept lists the folders below dir, the newest first.
func listKept(ctx context.Context, dir string) ([]kept, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []kept
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		k := kept{dir: filepath.Join(dir, e.Name())}
		if err := k.weigh(ctx); err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(b.last.Compare(a.last), cmp.Compare(b.dir, a.dir)) })
	return all, nil
}

func (k *kept) weigh(ctx context.Context) error {
	return filepath.WalkDir(k.dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile
		}
		if k.bytes += fi.Size(); fi.ModTime().After(k.last) {
			k.last = fi.ModTime()
		}
		return nil
	})
}

// remove takes the evidence away unless a Recorder has it open.
func (k *kept) remove() (removed bool, err error) {
	f, err := os.OpenFile(filepath.Join(k.dir, FileName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err == nil {
		defer f.Close()
		if err := lock(f, 0); err != nil {
			if errors.Is(err, ErrBusy) {
				err = nil
			}
			return false, err
		}
	}
	return true, os.RemoveAll(k.dir)
}
