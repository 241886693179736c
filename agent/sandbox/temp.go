package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// runPrefix begins the names of all folders that runs and probes leave while they last.
const runPrefix = "redraft-run-"

// runDir makes a folder for one run. Its lock is held until close: a folder whose lock is free belongs to nobody any
// more. The lock lies beside what the command gets to see, so that the command cannot take it away.
func runDir(root string) (inner string, close func() error, err error) {
	dir, err := os.MkdirTemp(root, runPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	held, err := hold(dir)
	inner = filepath.Join(dir, "tmp")
	if err == nil {
		err = os.Mkdir(inner, 0o700)
	}
	if err == nil {
		err = os.Chmod(inner, 0o1777) // as /tmp is
	}
	close = func() error { return errors.Join(removeAll(dir), held.Close()) }
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), close())
	}
	return inner, close, nil
}

// hold locks the folder's lock file before it appears under its name, so that no reaper finds it unlocked.
func hold(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "new"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return f, err
	}
	return f, os.Rename(f.Name(), filepath.Join(dir, "lock"))
}

// reapRuns removes what callers left that were killed. A folder without a lock file is given an hour: it may be just
// being made.
func reapRuns(root string) {
	dirs, _ := filepath.Glob(filepath.Join(root, runPrefix+"*"))
	for _, dir := range dirs {
		if abandoned(dir) {
			_ = removeAll(dir) // another user's, perhaps: not ours to complain about
		}
	}
}

func abandoned(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		fi, err := os.Lstat(dir)
		return err == nil && time.Since(fi.ModTime()) > time.Hour
	}
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// removeAll removes a folder that a command may have left with closed doors inside.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
