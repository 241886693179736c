package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Stats says what a copy made.
type Stats struct {
	Files, Dirs, Links int
	Bytes              int64 // of regular files
	Cloned             int   // files that share their blocks with the source
}

// ErrSpecial is returned for a tree that holds a socket, a device or a named pipe.
var ErrSpecial = errors.New("neither file, folder nor symbolic link")

const (
	copyDepth = 256 // folders below one another
	copyChunk = 64  // files of one folder that one worker takes at a time
)

// Copy copies the folder src to dst, which must be missing or empty, and removes what it made when it fails. Files
// share their blocks with the source where the disk can do that. Names, bytes, times of change, executable bits and
// symbolic links are kept as they are, and no link is followed; all else about a file is not kept, and every file and
// folder can be written by its user, since those of a module cache cannot.
func Copy(ctx context.Context, src, dst string) (Stats, error) {
	return (&copier{}).copy(ctx, src, dst)
}

// CopySealed is Copy without the .git at the top, which no command in the jail may see.
func CopySealed(ctx context.Context, src, dst string) (Stats, error) {
	return (&copier{skip: ".git"}).copy(ctx, src, dst)
}

type copier struct {
	skip string // name at the top that is left out

	ctx   context.Context // of this copy; ends at the first error
	fail  context.CancelCauseFunc
	slots chan struct{} // one for each worker beside the caller

	files, dirs, links, bytes, cloned atomic.Int64
	noClone                           atomic.Bool // this disk cannot

	mu   sync.Mutex
	done []dirTime // parents before children
}

// dirTime is a folder whose time is set last, when nothing more is put into it.
type dirTime struct {
	path string // below dst
	mod  time.Time
}

func (c *copier) stats() Stats {
	return Stats{
		Files: int(c.files.Load()), Dirs: int(c.dirs.Load()), Links: int(c.links.Load()),
		Bytes: c.bytes.Load(), Cloned: int(c.cloned.Load()),
	}
}

func (c *copier) copy(ctx context.Context, src, dst string) (Stats, error) {
	c.ctx, c.fail = context.WithCancelCause(ctx)
	defer c.fail(nil)
	c.slots = make(chan struct{}, min(runtime.GOMAXPROCS(0), 8)-1)
	if below(absolute(dst), absolute(src)) {
		return Stats{}, fmt.Errorf("copy %s: %s lies in it", src, dst)
	}
	made, err := makeEmpty(dst)
	if err != nil {
		return Stats{}, fmt.Errorf("copy %s: %w", src, err)
	}
	if err := c.fill(src, dst); err != nil {
		if cause := context.Cause(c.ctx); cause != nil {
			err = cause
		}
		return Stats{}, errors.Join(fmt.Errorf("copy %s: %w", src, err), undo(dst, made))
	}
	return c.stats(), nil
}

// absolute is path without links where that can be known: the whole of it, or all but its last part.
func absolute(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(real, filepath.Base(path))
	}
	return path
}

func (c *copier) fill(src, dst string) error {
	from, err := os.Open(src)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Open(dst)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := c.dir(from, to, ".", 0); err != nil {
		return err
	}
	return c.setTimes(dst)
}

// makeEmpty makes dst, or accepts it as an empty folder.
func makeEmpty(dst string) (made bool, err error) {
	err = os.Mkdir(dst, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	f, err := os.Open(dst)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != io.EOF {
		return false, fmt.Errorf("%s: not an empty folder", dst)
	}
	return false, nil
}

// undo leaves dst as it was found.
func undo(dst string, made bool) error {
	if made {
		return removeAll(dst)
	}
	entries, err := os.ReadDir(dst)
	for _, e := range entries {
		err = errors.Join(err, removeAll(filepath.Join(dst, e.Name())))
	}
	return err
}

// dir copies what the open folder from holds into the open folder to. Both stay the caller's.
func (c *copier) dir(from, to *os.File, path string, depth int) error {
	if depth > copyDepth {
		return fmt.Errorf("%s: more than %d folders below one another", path, copyDepth)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := unix.Fchmod(int(to.Fd()), uint32(st.Mode)&0o777|0o700); err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	c.dirs.Add(1)
	c.mu.Lock()
	c.done = append(c.done, dirTime{path, time.Unix(st.Mtim.Unix())})
	c.mu.Unlock()
	names, err := from.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return c.entries(from, to, path, depth, names)
}

// entry is one thing in a folder that is being copied.
type entry struct {
	name string
	stat unix.Stat_t
}

// entries copies folders and then the rest in chunks, beside one another where a worker is free.
func (c *copier) entries(from, to *os.File, path string, depth int, names []string) error {
	var here sync.WaitGroup // from and to stay open until these are done
	rest := make([]entry, 0, len(names))
	for _, name := range names {
		if depth == 0 && name == c.skip {
			continue
		}
		e := entry{name: name}
		if err := unix.Fstatat(int(from.Fd()), name, &e.stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			c.fail(&fs.PathError{Op: "stat", Path: filepath.Join(path, name), Err: err})
			break
		}
		if e.stat.Mode&unix.S_IFMT != unix.S_IFDIR {
			rest = append(rest, e)
			continue
		}
		c.spread(&here, func() error { return c.enter(from, to, filepath.Join(path, name), name, depth) })
	}
	for len(rest) > copyChunk {
		chunk := rest[:copyChunk]
		rest = rest[copyChunk:]
		c.spread(&here, func() error { return c.chunk(from, to, path, chunk) })
	}
	if err := c.chunk(from, to, path, rest); err != nil { // we have nothing else to do
		c.fail(err)
	}
	here.Wait()
	return context.Cause(c.ctx)
}

// spread does the work beside us if a worker is free, else at once.
func (c *copier) spread(here *sync.WaitGroup, work func() error) {
	do := func() {
		if err := work(); err != nil {
			c.fail(err)
		}
	}
	select {
	case c.slots <- struct{}{}:
		here.Go(func() {
			do()
			<-c.slots
		})
	default:
		do()
	}
}

func (c *copier) chunk(from, to *os.File, path string, chunk []entry) error {
	for i := range chunk {
		if err := context.Cause(c.ctx); err != nil {
			return err
		}
		if err := c.entry(int(from.Fd()), int(to.Fd()), &chunk[i]); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(path, chunk[i].name), err)
		}
	}
	return nil
}

// entry copies one thing that is not a folder.
func (c *copier) entry(from, to int, e *entry) (err error) {
	switch e.stat.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		err = c.link(from, to, e.name)
	case unix.S_IFREG:
		err = c.file(from, to, e)
	default:
		return ErrSpecial
	}
	if err != nil {
		return err
	}
	times := []unix.Timespec{e.stat.Mtim, e.stat.Mtim}
	return unix.UtimesNanoAt(to, e.name, times, unix.AT_SYMLINK_NOFOLLOW)
}

// enter copies the folder name of from; path is where it lies below the top.
func (c *copier) enter(from, to *os.File, path, name string, depth int) error {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	sub, err := openDir(from, name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer sub.Close()
	if err := unix.Mkdirat(int(to.Fd()), name, 0o700); err != nil {
		return &fs.PathError{Op: "mkdir", Path: path, Err: err}
	}
	made, err := openDir(to, name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer made.Close()
	return c.dir(sub, made, path, depth+1)
}

func openDir(parent *os.File, name string) (*os.File, error) {
	fd, err := unix.Openat(int(parent.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// file copies a regular file, or refuses what has become of it meanwhile. It works on plain descriptors: most files are
// small, and an os.File costs more than their bytes.
func (c *copier) file(from, to int, e *entry) error {
	// O_NONBLOCK: opening a named pipe must not wait for its other end.
	in, err := unix.Openat(from, e.name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(in)
	if err := unix.Fstat(in, &e.stat); err != nil {
		return err
	}
	if e.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return ErrSpecial
	}
	out, cloned, err := c.create(in, to, e.name, uint32(e.stat.Mode)&0o777|0o600)
	if err != nil {
		return err
	}
	c.files.Add(1)
	if err := c.contents(in, out, cloned, e); err != nil {
		unix.Close(out)
		return err
	}
	return unix.Close(out)
}

// contents gives the new file its bytes, if it does not share them, and its mode.
func (c *copier) contents(in, out int, cloned bool, e *entry) error {
	n := e.stat.Size
	if cloned {
		c.cloned.Add(1)
	} else {
		var err error
		if n, err = c.bytesOf(in, out, e.stat.Size); err != nil {
			return err
		}
	}
	c.bytes.Add(n)
	mode := uint32(e.stat.Mode)&0o777 | 0o600
	if !cloned && mode&^masked() == mode { // it was made with this mode, and nothing was taken off
		return nil
	}
	return unix.Fchmod(out, mode)
}

// masked are the bits that the system takes off the mode of every file that is made here.
var masked = sync.OnceValue(func() uint32 {
	b, _ := os.ReadFile("/proc/self/status")
	_, line, found := strings.Cut(string(b), "\nUmask:\t")
	line, _, _ = strings.Cut(line, "\n")
	mask, err := strconv.ParseUint(line, 8, 32)
	if !found || err != nil {
		return 0o777 // not known
	}
	return uint32(mask)
})

var buffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// bytesOf copies bytes in pieces, and looks at ctx between them. A file that has its size is not asked for more.
func (c *copier) bytesOf(in, out int, size int64) (total int64, err error) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for {
		n, err := again(func() (int, error) { return unix.Read(in, *buf) })
		if n <= 0 {
			return total, err
		}
		for piece := (*buf)[:n]; len(piece) > 0; {
			k, err := again(func() (int, error) { return unix.Write(out, piece) })
			if err != nil {
				return total, err
			}
			piece = piece[k:]
		}
		if total += int64(n); total == size {
			return total, nil
		}
		if err := context.Cause(c.ctx); err != nil {
			return total, err
		}
	}
}

// again repeats a call that a signal broke off.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (c *copier) link(from, to int, name string) error {
	buf := make([]byte, 64<<10)
	n, err := unix.Readlinkat(from, name, buf)
	if err != nil {
		return err
	}
	if n == len(buf) {
		return unix.ENAMETOOLONG
	}
	if err := unix.Symlinkat(string(buf[:n]), to, name); err != nil {
		return err
	}
	c.links.Add(1)
	return nil
}

// setTimes gives the folders their times, children first.
func (c *copier) setTimes(dst string) error {
	root, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer root.Close()
	for i := len(c.done) - 1; i >= 0; i-- {
		d := c.done[i]
		if err := root.Chtimes(d.path, d.mod, d.mod); err != nil {
			return err
		}
	}
	return nil
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
