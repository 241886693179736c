package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Sweep removes mirrors that nobody has brought up to date for so long, and returns how many went. A mirror that is in use, or
// has trees, stays. Nothing is lost: the next job of the repository makes the mirror again.
func (s *Store) Sweep(ctx context.Context, unused time.Duration, now time.Time) (gone int, err error) {
	guards, err := filepath.Glob(filepath.Join(globQuote(s.mirrors()), "*.guard"))
	if err != nil {
		return 0, err
	}
	for _, guard := range guards {
		removed, sweepErr := s.sweepMirror(ctx, strings.TrimSuffix(guard, ".guard"), now.Add(-unused))
		if removed {
			gone++
		}
		if sweepErr != nil {
			err = errors.Join(err, fmt.Errorf("remove an unused mirror: %w", sweepErr))
		}
	}
	return gone, err
}

// sweepMirror removes the mirror whose files begin with that name. Its lock stays, since somebody may be waiting for it.
func (s *Store) sweepMirror(ctx context.Context, name string, before time.Time) (removed bool, err error) {
	m := &Mirror{store: s, git: name + ".git"}
	if _, err := os.Lstat(m.git); err != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	lock, err := m.lock(ctx, exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Close()
	info, err := lock.Stat() // under the lock: whoever had it may have used the mirror
	if err != nil || info.ModTime().After(before) || m.inUse() {
		return false, err
	}
	if err := os.Remove(name + ".config"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, removeAll(m.git)
}

// used notes that a mirror is of use. The caller holds its lock.
func used(lock *os.File) error { return os.Chtimes(lock.Name(), time.Time{}, time.Now()) }
