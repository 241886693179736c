package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes is what an ordinary user may still write on the disk of dir.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
