package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const removeDepth = 64 // folders held open at once

// removeAll removes path and all below it. It follows no symbolic link, opens folders that a test has locked, and
// takes any depth. A path that is not there is no error.
func removeAll(path string) error {
	parent, err := os.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	r := &remover{top: -1}
	if err := r.remove(int(parent.Fd()), filepath.Base(path), 0); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

type remover struct {
	top   int // descriptor of the folder that is being removed
	moved int // folders moved up to it
}

func (r *remover) remove(dir int, name string, depth int) error {
	err := unix.Unlinkat(dir, name, 0)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if err != unix.EISDIR && err != unix.EPERM { // a folder, in Linux's words and in macOS's
		return &fs.PathError{Op: "unlink", Path: name, Err: err}
	}
	if depth > removeDepth {
		return r.moveUp(dir, name)
	}
	if err := r.empty(dir, name, depth); err != nil {
		return err
	}
	if err := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); err != nil && err != unix.ENOENT {
		return &fs.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}

// empty removes all that the folder name in dir holds.
func (r *remover) empty(dir int, name string, depth int) error {
	f, err := openLocked(dir, name)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer f.Close()
	if depth == 0 {
		r.top = int(f.Fd())
	}
	for {
		if _, err := f.Seek(0, 0); err != nil {
			return err
		}
		names, err := f.Readdirnames(4096)
		if len(names) == 0 {
			if errors.Is(err, unix.ENOENT) { // removed by somebody else meanwhile
				return nil
			}
			return ignoreEOF(err)
		}
		for _, n := range names {
			if err := r.remove(int(f.Fd()), n, depth+1); err != nil {
				return err
			}
		}
	}
}

// moveUp moves a folder that lies too deep up to the top, where its turn comes again.
func (r *remover) moveUp(dir int, name string) error {
	if f, err := openLocked(dir, name); err == nil { // moving writes the folder's own ".."
		f.Close()
	}
	for {
		r.moved++
		err := unix.Renameat(dir, name, r.top, fmt.Sprintf(".moved-%d", r.moved))
		switch err {
		case unix.ENOTEMPTY, unix.EEXIST, unix.ENOTDIR:
			continue
		case nil, unix.ENOENT:
			return nil
		}
		return &fs.PathError{Op: "rename", Path: name, Err: err}
	}
}

// openLocked opens a folder, and makes it readable and writable first if it is not.
func openLocked(dir int, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags, 0)
	if err == unix.EACCES || err == unix.EPERM {
		if err = unlock(dir, name); err == nil {
			fd, err = unix.Openat(dir, name, flags, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err == nil && st.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(fd, 0o700)
	}
	return os.NewFile(uintptr(fd), name), nil
}
