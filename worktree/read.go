package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const (
	maxBlob    = 256 << 20 // bytes of one file that is read into memory
	maxFollow  = 40        // symbolic links on one way, as Linux has it
	treesCache = 4096      // folders remembered by one TreeFS
)

// FileAt reads one file of a commit. A symbolic link within the tree is followed.
func (m *Mirror) FileAt(sha, name string) ([]byte, error) {
	fsys, err := m.TreeFS(sha)
	if err != nil {
		return nil, err
	}
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read %.8s: %w", sha, err)
	}
	return b, nil
}

// TreeFS is a commit's tree, read in this process. It is an fs.ReadDirFS, fs.ReadFileFS, fs.StatFS and
// fs.ReadLinkFS; several goroutines may use it. Symbolic links are followed within the tree and never out of it, a
// submodule is an empty folder, and a name need not be UTF-8, which io/fs asks for elsewhere. Times are the commit's.
func (m *Mirror) TreeFS(sha string) (fs.FS, error) {
	t, err := m.treeFS(sha)
	if err != nil {
		return nil, fmt.Errorf("read tree of %.60s: %w", sha, err)
	}
	return t, nil
}

func (m *Mirror) treeFS(sha string) (*treeFS, error) { return treeAt(m.git, sha) }

// treeAt is the tree of a commit of a repository, named by its git folder.
func treeAt(dir, sha string) (*treeFS, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	repo, err := gogit.PlainOpen(dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.CommitObject(plumbing.NewHash(sha))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, ErrNoSuchCommit
	}
	if err != nil {
		return nil, err
	}
	root := node{name: ".", mode: filemode.Dir, hash: commit.TreeHash}
	return &treeFS{repo: repo, root: root, when: commit.Committer.When, trees: map[plumbing.Hash][]node{}}, nil
}

// Log is the history that leads to a commit, newest first, at most n commits.
func (m *Mirror) Log(ctx context.Context, sha string, n int) ([]Commit, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	repo, err := gogit.PlainOpen(m.git)
	if err != nil {
		return nil, fmt.Errorf("log %.8s: %w", sha, err)
	}
	names := newDescriber(&treeFS{repo: repo, trees: map[plumbing.Hash][]node{}})
	var log []Commit
	for h := plumbing.NewHash(sha); len(log) < n && ctx.Err() == nil; {
		c, err := repo.CommitObject(h)
		if errors.Is(err, plumbing.ErrObjectNotFound) && len(log) > 0 { // where a shallow history ends
			return log, nil
		}
		if err != nil {
			return nil, fmt.Errorf("log %.8s: %w", sha, err)
		}
		log = append(log, Commit{SHA: h.String(), Tree: names.of(c.TreeHash), When: c.Committer.When,
			Author: Person{c.Author.Name, c.Author.Email}, Text: c.Message})
		if len(c.ParentHashes) == 0 {
			break
		}
		h = c.ParentHashes[0]
	}
	return log, context.Cause(ctx)
}

// Commit is one commit of a history, along first parents. Its Tree is named as Tree.TreeID is.
type Commit struct {
	SHA, Tree string
	When      time.Time
	Author    Person
	Text      string
}

// node is one entry of a tree, and its own fs.FileInfo and fs.DirEntry without size and time.
type node struct {
	name string
	mode filemode.FileMode
	hash plumbing.Hash
}

func (n node) fileMode() fs.FileMode {
	switch n.mode {
	case filemode.Dir:
		return fs.ModeDir | 0o755
	case filemode.Submodule:
		return fs.ModeDir | 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Executable:
		return 0o755
	}
	return 0o644
}

type treeFS struct {
	root node
	when time.Time

	mu    sync.Mutex // go-git's object store is not for several goroutines
	repo  *gogit.Repository
	trees map[plumbing.Hash][]node // sorted by name
}

// children lists a folder.
func (t *treeFS) children(n node) ([]node, error) {
	if n.mode == filemode.Submodule {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if list, ok := t.trees[n.hash]; ok {
		return list, nil
	}
	tree, err := object.GetTree(t.repo.Storer, n.hash)
	if err != nil {
		return nil, err
	}
	list := make([]node, 0, len(tree.Entries))
	for _, e := range tree.Entries {
		list = append(list, node{e.Name, e.Mode, e.Hash})
	}
	slices.SortFunc(list, func(a, b node) int { return strings.Compare(a.name, b.name) })
	if len(t.trees) < treesCache {
		t.trees[n.hash] = list
	}
	return list, nil
}

// blob reads a file's or a link's bytes.
func (t *treeFS) blob(n node) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, err := object.GetBlob(t.repo.Storer, n.hash)
	if err != nil {
		return nil, err
	}
	if b.Size > maxBlob {
		return nil, fmt.Errorf("%d bytes, more than %d", b.Size, maxBlob)
	}
	r, err := b.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := bytes.NewBuffer(make([]byte, 0, b.Size))
	_, err = out.ReadFrom(io.LimitReader(r, maxBlob))
	return out.Bytes(), err
}

func (t *treeFS) size(n node) (int64, error) {
	if n.fileMode().IsDir() {
		return 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.repo.Storer.EncodedObjectSize(n.hash)
}

// find walks to name. A link on the way is followed; the last one only if follow is set.
func (t *treeFS) find(op, name string, follow bool) (node, error) {
	fail := func(err error) (node, error) { return node{}, &fs.PathError{Op: op, Path: name, Err: err} }
	if !validName(name) {
		return fail(fs.ErrInvalid)
	}
	rest := strings.Split(name, "/")
	stack := []node{t.root} // from the root to where we are
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case ".", "":
			continue
		case "..":
			if len(stack) == 1 {
				return fail(fs.ErrNotExist) // out of the tree
			}
			stack = stack[:len(stack)-1]
			continue
		}
		n, err := t.child(stack[len(stack)-1], part)
		if err != nil {
			return fail(err)
		}
		if n.mode != filemode.Symlink || len(rest) == 0 && !follow {
			stack = append(stack, n)
			continue
		}
		target, err := t.blob(n)
		if links++; err != nil || links > maxFollow || len(target) > 4096 || path.IsAbs(string(target)) {
			return fail(fs.ErrNotExist)
		}
		rest = append(strings.Split(string(target), "/"), rest...)
	}
	n := stack[len(stack)-1]
	n.name = path.Base(name)
	return n, nil
}

// child is the entry of that name.
func (t *treeFS) child(dir node, name string) (node, error) {
	if !dir.fileMode().IsDir() {
		return node{}, fs.ErrNotExist
	}
	list, err := t.children(dir)
	if err != nil {
		return node{}, err
	}
	i, ok := slices.BinarySearchFunc(list, name, func(n node, name string) int { return strings.Compare(n.name, name) })
	if !ok {
		return node{}, fs.ErrNotExist
	}
	return list[i], nil
}

// validName is fs.ValidPath for names that need not be UTF-8.
func validName(name string) bool {
	if name == "." {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func (t *treeFS) info(op, name string, n node) (info, error) {
	size, err := t.size(n)
	if err != nil {
		return info{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return info{n, size, t.when}, nil
}

func (t *treeFS) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name, true)
	if err != nil {
		return nil, err
	}
	return t.info("stat", name, n)
}

func (t *treeFS) Lstat(name string) (fs.FileInfo, error) {
	n, err := t.find("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return t.info("lstat", name, n)
}

func (t *treeFS) ReadLink(name string) (string, error) {
	n, err := t.find("readlink", name, false)
	if err != nil {
		return "", err
	}
	if n.mode != filemode.Symlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	target, err := t.blob(n)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(target), nil
}

func (t *treeFS) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name, true)
	if err != nil {
		return nil, err
	}
	if n.fileMode().IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	b, err := t.blob(n)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return b, nil
}

func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !n.fileMode().IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	list, err := t.children(n)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, len(list))
	for i, n := range list {
		out[i] = dirEntry{n, t}
	}
	return out, nil
}

func (t *treeFS) Open(name string) (fs.File, error) {
	n, err := t.find("open", name, true)
	if err != nil {
		return nil, err
	}
	if n.fileMode().IsDir() {
		entries, err := t.ReadDir(name)
		if err != nil {
			return nil, err
		}
		return &openFolder{info{n, 0, t.when}, entries}, nil
	}
	b, err := t.blob(n)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{info{n, int64(len(b)), t.when}, bytes.NewReader(b)}, nil
}

type info struct {
	node
	size int64
	when time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.fileMode() }
func (i info) ModTime() time.Time { return i.when }
func (i info) IsDir() bool        { return i.fileMode().IsDir() }
func (i info) Sys() any           { return nil }

type dirEntry struct {
	node
	tree *treeFS
}

func (e dirEntry) Name() string               { return e.name }
func (e dirEntry) IsDir() bool                { return e.fileMode().IsDir() }
func (e dirEntry) Type() fs.FileMode          { return e.fileMode().Type() }
func (e dirEntry) Info() (fs.FileInfo, error) { return e.tree.info("stat", e.name, e.node) }

type openFile struct {
	info
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Size() int64                { return f.info.size }
func (f *openFile) Close() error               { return nil }

type openFolder struct {
	info
	rest []fs.DirEntry
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFolder) Close() error               { return nil }
func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: errors.New("is a folder")}
}

func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(f.rest) {
		if n > 0 && len(f.rest) == 0 {
			return nil, io.EOF
		}
		n = len(f.rest)
	}
	out := f.rest[:n:n]
	f.rest = f.rest[n:]
	return out, nil
}
