//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Harvest reads a file that a run left, as in a coverage profile: name is relative to dir. The run is not trusted, so
// that every step goes through descriptors and follows no link, and only a regular file with one name of at most max
// bytes is taken. A missing file is fs.ErrNotExist.
func Harvest(dir string, name string, max int64) ([]byte, error) {
	b, err := harvest(dir, name, max)
	if err != nil {
		return nil, fmt.Errorf("harvest %s: %w", name, err)
	}
	return b, nil
}

func harvest(dir, name string, max int64) ([]byte, error) {
	if !filepath.IsLocal(name) {
		return nil, errors.New("the name leads out of the folder")
	}
	at, err := openAt(unix.AT_FDCWD, dir, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(filepath.Clean(name), "/")
	for _, part := range parts[:len(parts)-1] {
		next, err := openAt(at, part, unix.O_DIRECTORY|unix.O_NOFOLLOW)
		unix.Close(at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	defer unix.Close(at)
	// O_NONBLOCK: a FIFO would keep us waiting for its writer.
	fd, err := openAt(at, parts[len(parts)-1], unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return readPlain(f, max)
}

func openAt(at int, name string, flags int) (int, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return fd, nil
}

// readPlain reads an open file after looking at what it is.
func readPlain(f *os.File, max int64) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errors.New("not a regular file")
	case st.Nlink != 1:
		return nil, fmt.Errorf("it has %d names", st.Nlink)
	case st.Size > max:
		return nil, fmt.Errorf("%d bytes, more than %d", st.Size, max)
	}
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, fmt.Errorf("more than %d bytes", max)
	}
	return b, nil
}
