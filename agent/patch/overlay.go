package patch

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Overlay is root with the change applied, in memory. It reads directories, links and file information as root
// does; root itself is never written.
func (c Change) Overlay(root fs.FS) fs.FS {
	o := overlay{root: root, files: map[string]FileChange{}, folders: map[string]map[string]bool{}}
	for _, f := range c.Files {
		o.files[f.Path] = f
		if f.Deleted {
			continue
		}
		child := f.Path
		for _, dir := range slices.Backward(append([]string{"."}, parents(f.Path)...)) {
			if o.folders[dir] == nil {
				o.folders[dir] = map[string]bool{}
			}
			o.folders[dir][path.Base(child)] = true
			child = dir
		}
	}
	return o
}

type overlay struct {
	root    fs.FS
	files   map[string]FileChange
	folders map[string]map[string]bool // folder to the names in it that the change needs
}

var (
	_ fs.ReadDirFS  = overlay{}
	_ fs.ReadFileFS = overlay{}
	_ fs.ReadLinkFS = overlay{}
	_ fs.StatFS     = overlay{}
)

// Open opens a changed file from memory and anything else from the root.
func (o overlay) Open(name string) (fs.File, error) {
	if f, ok := o.files[name]; ok && fs.ValidPath(name) {
		if f.Deleted {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return &memoryFile{Reader: bytes.NewReader(f.New), info: infoOf(f)}, nil
	}
	info, err := o.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return o.root.Open(name)
	}
	return &memoryFolder{overlay: o, name: name, info: info}, nil
}

// Stat looks at a file, through links.
func (o overlay) Stat(name string) (fs.FileInfo, error) { return o.stat(name, fs.Stat) }

// Lstat looks at a file, links themselves included.
func (o overlay) Lstat(name string) (fs.FileInfo, error) { return o.stat(name, fs.Lstat) }

func (o overlay) stat(name string, look func(fs.FS, string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	if f, ok := o.files[name]; ok {
		if f.Deleted {
			return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
		}
		return infoOf(f), nil
	}
	info, err := look(o.root, name)
	if err != nil && o.folders[name] != nil {
		return memoryInfo{name: path.Base(name), mode: fs.ModeDir | 0o755}, nil
	}
	return info, err
}

// ReadLink reads a link of the root; the change itself has none.
func (o overlay) ReadLink(name string) (string, error) {
	if _, ok := o.files[name]; ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return fs.ReadLink(o.root, name)
}

// ReadFile reads a whole file.
func (o overlay) ReadFile(name string) ([]byte, error) {
	f, ok := o.files[name]
	switch {
	case ok && f.Deleted:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case ok:
		return slices.Clone(f.New), nil
	}
	return fs.ReadFile(o.root, name)
}

// ReadDir lists a folder: what the root has there, without what is deleted, with what is new.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	under, err := fs.ReadDir(o.root, name)
	added := o.folders[name]
	if err != nil && added == nil {
		return nil, err
	}
	entries := slices.DeleteFunc(slices.Clone(under), func(e fs.DirEntry) bool {
		_, changed := o.files[path.Join(name, e.Name())]
		return changed || added[e.Name()] && !e.IsDir()
	})
	have := map[string]bool{}
	for _, e := range entries {
		have[e.Name()] = true
	}
	for child := range added {
		if info, err := o.Lstat(path.Join(name, child)); err == nil && !have[child] {
			entries = append(entries, fs.FileInfoToDirEntry(info))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func infoOf(f FileChange) memoryInfo {
	return memoryInfo{name: path.Base(f.Path), size: int64(len(f.New)), mode: f.Mode.Perm()}
}

type memoryInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return i.mode }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return i.mode.IsDir() }
func (i memoryInfo) Sys() any           { return nil }

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }

type memoryFolder struct {
	overlay overlay
	name    string
	info    fs.FileInfo
	entries []fs.DirEntry
	read    bool
}

func (f *memoryFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFolder) Close() error               { return nil }
func (f *memoryFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

// ReadDir gives the next entries, as fs.ReadDirFile has it.
func (f *memoryFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.read {
		entries, err := f.overlay.ReadDir(f.name)
		if err != nil {
			return nil, err
		}
		f.entries, f.read = entries, true
	}
	if n <= 0 {
		n = len(f.entries)
	} else if len(f.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.entries))
	out := f.entries[:n]
	f.entries = f.entries[n:]
	return out, nil
}
