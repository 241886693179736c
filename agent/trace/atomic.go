package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// tmpPattern names files that are being written; what a dead process left of them is removed by Render.
const tmpPattern = ".redraft-*.tmp"

// writeFile writes dir/name so that a reader sees the old bytes or the new ones. A file that holds these bytes already
// is left alone.
func writeFile(dir, name string, b []byte) error {
	path := filepath.Join(dir, name)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(b)) {
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
			return nil
		}
	}
	return replaceFile(dir, name, b, func(*os.File) error { return nil })
}

// writeDurable is writeFile for what cannot be made again: the bytes are on the disk before it returns.
func writeDurable(dir, name string, b []byte) error {
	if err := replaceFile(dir, name, b, (*os.File).Sync); err != nil {
		return err
	}
	return syncDir(dir)
}

func replaceFile(dir, name string, b []byte, sync func(*os.File) error) error {
	tmp, err := os.CreateTemp(dir, tmpPattern) // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = tmp.Write(b)
	err = errors.Join(err, sync(tmp), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) { // some file systems cannot, and say EINVAL
		return err
	}
	return nil
}
