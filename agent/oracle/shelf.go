package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/proof"
)

// shelf holds prepared bases: a folder each, beside it a lock file that users share and makers hold alone. A base is whole
// when it has its card, which is written last.
type shelf struct {
	dir   string
	quota int64 // bytes; 10 GiB if zero
}

const (
	cardName = "base.json"
	keepFor  = 14 * 24 * time.Hour // a base that nobody used
)

// card is what is written down about a base.
type card struct {
	Version int
	Setup   proof.Setup
	Size    int64
	Runs    []setupRun
}

const cardVersion = 1

// find gives the base of a key, made by the caller where there is none, and held until this process ends. Others make room.
func (s shelf) find(ctx context.Context, key string, fill func(dir string) (*prepared, error)) (*prepared, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the prepared bases: %w", err)
	}
	s.reap(key)
	dir := filepath.Join(s.dir, key)
	held, err := holdBase(ctx, dir, syscall.LOCK_SH)
	if err != nil {
		return nil, err
	}
	b, err := read(dir)
	if err != nil { // none, or half of one: make it, unless somebody did meanwhile
		held.Close()
		if held, err = holdBase(ctx, dir, syscall.LOCK_EX); err != nil {
			return nil, err
		}
		if b, err = read(dir); err != nil {
			if b, err = s.fill(dir, fill); err != nil {
				held.Close()
				return nil, err
			}
		}
		if err := syscall.Flock(int(held.Fd()), syscall.LOCK_SH); err != nil {
			held.Close()
			return nil, fmt.Errorf("hold a prepared base: %w", err)
		}
	}
	now := time.Now()
	_ = os.Chtimes(filepath.Join(dir, cardName), now, now) // when it was last used
	b.held = held
	return b, nil
}

// fill makes a base in an empty folder and writes its card.
func (s shelf) fill(dir string, fill func(dir string) (*prepared, error)) (b *prepared, err error) {
	if err := removeAll(dir); err != nil {
		return nil, fmt.Errorf("clear a prepared base: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a prepared base: %w", err)
	}
	if b, err = fill(dir); err == nil {
		err = b.write()
	}
	if err != nil {
		return nil, errors.Join(err, removeAll(dir), os.Remove(lockOf(dir)))
	}
	return b, nil
}

func (b *prepared) write() error {
	text, err := json.Marshal(card{cardVersion, b.setup, b.size, b.runs})
	if err != nil {
		return err
	}
	tmp := filepath.Join(b.dir, cardName+".new")
	if err := os.WriteFile(tmp, text, 0o600); err != nil {
		return fmt.Errorf("write down a prepared base: %w", err)
	}
	return os.Rename(tmp, filepath.Join(b.dir, cardName))
}

// read is the base in a folder; an error where it is not whole.
func read(dir string) (*prepared, error) {
	text, err := os.ReadFile(filepath.Join(dir, cardName))
	if err != nil {
		return nil, err
	}
	var c card
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if c.Version != cardVersion {
		return nil, fmt.Errorf("version %d", c.Version)
	}
	return &prepared{dir: dir, setup: c.Setup, size: c.Size, runs: c.Runs}, nil
}

func lockOf(dir string) string { return dir + ".lock" }

// holdBase waits for a base's lock. A lock file that was removed while we waited locks nothing.
func holdBase(ctx context.Context, dir string, how int) (*os.File, error) {
	for {
		f, err := os.OpenFile(lockOf(dir), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, fmt.Errorf("hold a prepared base: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err == nil && same(f) {
			return f, nil
		}
		f.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, fmt.Errorf("hold a prepared base: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// same says whether an open file is still the one of its name.
func same(f *os.File) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(f.Name())
	return err == nil && os.SameFile(a, b)
}

// reap removes bases that are not whole, were not used for long, or are too much together, the longest unused first. One
// that somebody holds stays. What cannot be removed is tried again next time.
func (s shelf) reap(except string) {
	type idle struct {
		dir  string
		used time.Time
		size int64
	}
	locks, _ := filepath.Glob(filepath.Join(s.dir, "*.lock"))
	var all []idle
	for _, lock := range locks {
		dir := lock[:len(lock)-len(".lock")]
		if filepath.Base(dir) == except {
			continue
		}
		b, err := read(dir)
		if err != nil {
			remove(dir)
			continue
		}
		if fi, err := os.Stat(filepath.Join(dir, cardName)); err == nil {
			all = append(all, idle{dir, fi.ModTime(), b.size})
		}
	}
	slices.SortFunc(all, func(a, b idle) int { return b.used.Compare(a.used) })
	total, quota := int64(0), cmp.Or(s.quota, 10<<30)
	for _, b := range all {
		if total += b.size; total > quota || time.Since(b.used) > keepFor {
			remove(b.dir)
		}
	}
}

// remove removes a base that nobody holds, and its lock last, while it is held.
func remove(dir string) {
	f, err := os.OpenFile(lockOf(dir), os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || !same(f) {
		return
	}
	_ = os.Remove(filepath.Join(dir, cardName)) // first: what is half removed is not whole
	if removeAll(dir) == nil {
		_ = os.Remove(lockOf(dir))
	}
}

// removeAll removes a folder whose doors may be closed inside, as a module cache's are.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
