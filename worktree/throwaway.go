package worktree

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/sys/unix"
)

// Repository makes a throw-away repository in dir, a copy of From with or without changes: one commit of the files as
// they lie there now, on the branch main, with a fixed author and date, without a remote and without history. It is for
// a check that calls git; nobody else opens it, and the returned function removes it again, whatever became of it.
// It starts no git: objects and index are written here, byte for byte, and no attribute or filter has a say.
func (c *Copies) Repository(ctx context.Context, dir string) (remove func() error, err error) {
	at := filepath.Join(dir, ".git")
	remove = func() error { return removeAll(at) }
	if err := remove(); err != nil { // what an earlier run left under this name
		return nil, fmt.Errorf("make a throw-away repository: %w", err)
	}
	if err := c.repository(ctx, dir, at); err != nil {
		return nil, errors.Join(fmt.Errorf("make a throw-away repository: %w", err), remove())
	}
	return remove, nil
}

func (c *Copies) repository(ctx context.Context, dir, at string) error {
	c.packing.Do(func() { c.packed, c.packErr = packFolder(ctx, c.From, filepath.Join(c.Into, "pack"), c.Links) })
	if c.packErr != nil {
		return c.packErr
	}
	files, err := listFiles(ctx, dir, c.Links)
	if err != nil {
		return err
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(at, d), 0o700); err != nil {
			return err
		}
	}
	if _, err := Copy(ctx, c.packed.dir, filepath.Join(at, "objects", "pack")); err != nil {
		return err
	}
	commit, err := c.commitOf(dir, at, files)
	if err != nil {
		return err
	}
	return writeSkeleton(at, commit, indexOf(files), foldsCase(dir))
}

// commitOf names the files, writes what the pack does not hold, and the commit.
func (c *Copies) commitOf(dir, at string, files []listed) (commit name20, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return commit, err
	}
	defer root.Close()
	if err := nameAll(root, files); err != nil {
		return commit, err
	}
	loose := &looseObjects{dir: filepath.Join(at, "objects"), have: c.packed.names}
	for _, f := range files {
		if err := loose.file(root, f); err != nil {
			return commit, err
		}
	}
	tree, err := treeOf(files, loose.put)
	if err != nil {
		return commit, err
	}
	return loose.put("commit", []byte("tree "+tree.String()+"\n"+throwawayCommit))
}

// throwawayCommit is all of the commit but its tree. No part of it is anybody's.
const throwawayCommit = "author redraft <redraft@localhost> 1000000000 +0000\ncommitter redraft <redraft@localhost> 1000000000 +0000\n\nThe files of this check\n"

// throwawayConfig compares files by size and time of change alone: owners and devices are other ones inside a sandbox.
const throwawayConfig = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	checkStat = minimal
	trustctime = false
	ignorecase = %v
[gc]
	auto = 0
[maintenance]
	auto = false
`

// throwawayAttributes stand above those of the tree: the files are the commit's blobs byte for byte, as in every copy.
const throwawayAttributes = "* -text !eol !crlf -filter -ident !working-tree-encoding\n"

func writeSkeleton(at string, commit name20, index []byte, folds bool) error {
	for _, f := range []struct{ name, text string }{
		{"config", fmt.Sprintf(throwawayConfig, folds)},
		{"info/attributes", throwawayAttributes},
		{"refs/heads/main", commit.String() + "\n"},
		{"index", string(index)},
		{"HEAD", "ref: refs/heads/main\n"},
	} {
		if err := os.WriteFile(filepath.Join(at, f.name), []byte(f.text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// foldsCase reports whether the disk takes .GIT for .git.
func foldsCase(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".GIT"))
	return err == nil
}

// listed is one file, link or submodule of a tree on disk.
type listed struct {
	path string
	mode uint32 // as git writes it
	name name20
	stat unix.Stat_t
}

const modeLink, modeModule = 0o120000, 0o160000

// listFiles lists what git would track in dir, sorted as its index is: files and links, no .git of any depth, nothing that
// is neither. A submodule is its commit, and what lies in its folder does not count.
func listFiles(ctx context.Context, dir string, links map[string]string) ([]listed, error) {
	top, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	l := &lister{ctx: ctx, links: links}
	if err := l.dir(top, "", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(l.found, func(a, b listed) int { return strings.Compare(a.path, b.path) })
	return l.found, nil
}

type lister struct {
	ctx   context.Context
	links map[string]string // path of each submodule -> its commit
	found []listed
}

func (l *lister) dir(d *os.File, at string, depth int) error {
	if depth > copyDepth {
		return fmt.Errorf("%s: more than %d folders below one another", at, copyDepth)
	}
	names, err := d.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read %s: %w", at, err)
	}
	for _, n := range names {
		if n == ".git" {
			continue
		}
		if err := l.entry(d, n, path.Join(at, n), depth); err != nil {
			return err
		}
	}
	return context.Cause(l.ctx)
}

func (l *lister) entry(d *os.File, name, at string, depth int) error {
	f := listed{path: at}
	if err := unix.Fstatat(int(d.Fd()), name, &f.stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return &os.PathError{Op: "stat", Path: at, Err: err}
	}
	switch kind := f.stat.Mode & unix.S_IFMT; {
	case len(l.links[at]) == 2*len(f.name):
		if n, err := hex.Decode(f.name[:], []byte(l.links[at])); err != nil || n != len(f.name) {
			return fmt.Errorf("submodule %q: %.50q is no commit", at, l.links[at])
		}
		f.mode = modeModule
	case kind == unix.S_IFDIR:
		return l.enter(d, name, at, depth)
	case kind == unix.S_IFLNK:
		f.mode = modeLink
	case kind == unix.S_IFREG && f.stat.Mode&0o100 != 0:
		f.mode = modeExecutable
	case kind == unix.S_IFREG:
		f.mode = modeFile
	default:
		return nil // git does not see these
	}
	l.found = append(l.found, f)
	return nil
}

func (l *lister) enter(d *os.File, name, at string, depth int) error {
	sub, err := openDir(d, name)
	if err != nil {
		return &os.PathError{Op: "open", Path: at, Err: err}
	}
	defer sub.Close()
	return l.dir(sub, at, depth+1)
}

// treeOf writes the folders of a sorted list, deepest first, and returns the top one's name.
func treeOf(files []listed, put func(kind string, data []byte) (name20, error)) (name20, error) {
	return folder{files, 0}.write(put)
}

// folder is the part of a sorted list that lies in one folder.
type folder struct {
	files  []listed
	prefix int // bytes of each path that name the folder
}

func (f folder) write(put func(string, []byte) (name20, error)) (name20, error) {
	var lines []treeLine
	for i := 0; i < len(f.files); {
		base, _, below := strings.Cut(f.files[i].path[f.prefix:], "/")
		line, next := treeLine{filemode.FileMode(f.files[i].mode), base, f.files[i].name}, i+1
		if below {
			dir := f.files[i].path[:f.prefix] + base + "/"
			for next < len(f.files) && strings.HasPrefix(f.files[next].path, dir) {
				next++
			}
			var err error
			if line.name, err = (folder{f.files[i:next], len(dir)}).write(put); err != nil {
				return name20{}, err
			}
			line.mode = filemode.Dir
		}
		lines = append(lines, line)
		i = next
	}
	return put("tree", treeText(lines))
}
