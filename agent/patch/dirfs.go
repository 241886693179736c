package patch

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// DirFS is a directory's files through an os.Root, for names that need not be UTF-8, which io/fs asks for elsewhere and git
// does not. Links are read as links and followed within the directory alone.
func DirFS(root *os.Root) fs.FS { return dirFS{root} }

type dirFS struct{ root *os.Root }

var (
	_ fs.ReadDirFS  = dirFS{}
	_ fs.ReadFileFS = dirFS{}
	_ fs.ReadLinkFS = dirFS{}
	_ fs.StatFS     = dirFS{}
)

// checked refuses what fs.ValidPath refuses, but for bytes that are not UTF-8.
func checked(op, name string) error {
	if fs.ValidPath(strings.ToValidUTF8(name, "x")) {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
}

func (d dirFS) Open(name string) (fs.File, error) {
	if err := checked("open", name); err != nil {
		return nil, err
	}
	return d.root.Open(name)
}

func (d dirFS) ReadFile(name string) ([]byte, error) {
	if err := checked("read", name); err != nil {
		return nil, err
	}
	return d.root.ReadFile(name)
}

func (d dirFS) Stat(name string) (fs.FileInfo, error) {
	if err := checked("stat", name); err != nil {
		return nil, err
	}
	return d.root.Stat(name)
}

func (d dirFS) Lstat(name string) (fs.FileInfo, error) {
	if err := checked("lstat", name); err != nil {
		return nil, err
	}
	return d.root.Lstat(name)
}

func (d dirFS) ReadLink(name string) (string, error) {
	if err := checked("readlink", name); err != nil {
		return "", err
	}
	return d.root.Readlink(name)
}

func (d dirFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := checked("readdir", name); err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, errors.Join(err, f.Close())
}
