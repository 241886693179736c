package patch

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Write writes the change below dir through an os.Root, each file whole and atomically. dir must hold the root's
// text: every file is looked at before any is written, and a file that is not what the change says, or that is
// reached through a symbolic link, stops it. When a write goes wrong half-way, what was written is put back.
func (c Change) Write(dir *os.Root) error {
	for _, f := range c.Files {
		if err := f.ready(dir); err != nil {
			return fmt.Errorf("write the change: %w", err)
		}
	}
	for i, f := range c.Files {
		if err := f.write(dir); err != nil {
			for _, done := range c.Files[:i] {
				err = errors.Join(err, done.reversed().write(dir))
			}
			return fmt.Errorf("write the change: %w", err)
		}
	}
	return nil
}

// ready holds what stands in dir against what the change was made from.
func (f FileChange) ready(dir *os.Root) error {
	if s := checkPath(f.Path); s != nil {
		return s
	}
	for _, d := range parents(f.Path) {
		info, err := dir.Lstat(d)
		if errors.Is(err, fs.ErrNotExist) && f.Created {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", d)
		}
	}
	info, err := dir.Lstat(f.Path)
	switch {
	case f.Created && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case f.Created:
		return fmt.Errorf("%s is there already", f.Path)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", f.Path)
	}
	have, err := dir.ReadFile(f.Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, f.Old) {
		return fmt.Errorf("%s is not what it was in the root", f.Path)
	}
	return nil
}

// write puts the new bytes beside the file and renames them over it.
func (f FileChange) write(dir *os.Root) error {
	if f.Deleted {
		return dir.Remove(f.Path)
	}
	if d := path.Dir(f.Path); f.Created && d != "." {
		if err := dir.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	temp := path.Join(path.Dir(f.Path), ".redraft-"+rand.Text())
	if err := writeTemp(dir, temp, f.New, f.Mode); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	if err := dir.Rename(temp, f.Path); err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return nil
}

func writeTemp(dir *os.Root, name string, data []byte, mode fs.FileMode) error {
	out, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Chmod(mode.Perm()), out.Close())
}

// reversed is the change that undoes this one.
func (f FileChange) reversed() FileChange {
	f.Old, f.New = f.New, f.Old
	f.Created, f.Deleted = f.Deleted, f.Created
	return f
}
