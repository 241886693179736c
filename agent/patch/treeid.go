package patch

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// TreeID is git's id of the tree that a directory holds (SHA-1), computed in-process: regular files, the
// executable bit, symbolic links; empty directories and .git are left out. links maps paths of submodules to
// their commits; what lies in their folders does not count. It is the id that git would give if every file were
// added as it stands, whatever .gitignore and .gitattributes say.
func TreeID(fsys fs.FS, links map[string]string) (string, error) {
	top := &node{children: map[string]*node{}}
	for name, commit := range links {
		id, err := hex.DecodeString(commit)
		if err != nil || len(id) != sha1.Size {
			return "", fmt.Errorf("tree id: %q is no commit of submodule %q", commit, name)
		}
		n := top.at(path.Clean(name))
		n.mode = "160000"
		copy(n.id[:], id)
	}
	files, err := walk(fsys, top, ".", nil)
	if err != nil {
		return "", fmt.Errorf("tree id: %w", err)
	}
	if err := hashFiles(fsys, files); err != nil {
		return "", fmt.Errorf("tree id: %w", err)
	}
	return hex.EncodeToString(top.hash()), nil
}

// node is a file or a folder of the tree.
type node struct {
	path     string // of a file
	mode     string // as git writes it; empty for folders
	id       [sha1.Size]byte
	children map[string]*node // nil for anything but a folder
}

// at gives the node at a path, making the folders on the way.
func (n *node) at(name string) *node {
	for part := range strings.SplitSeq(name, "/") {
		if n.children == nil {
			n.children = map[string]*node{}
		}
		if n.children[part] == nil {
			n.children[part] = &node{}
		}
		n = n.children[part]
	}
	return n
}

// walk puts the files of a folder into the tree and gathers them for hashing.
func walk(fsys fs.FS, parent *node, dir string, files []*node) ([]*node, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		n := parent.children[e.Name()]
		switch {
		case e.Name() == ".git", n != nil && n.mode != "":
		case e.IsDir():
			if files, err = walkInto(fsys, parent, n, e.Name(), name, files); err != nil {
				return nil, err
			}
		default:
			n, err := leaf(e, name)
			if err != nil {
				return nil, err
			}
			parent.children[e.Name()] = n
			files = append(files, n)
		}
	}
	return files, nil
}

func walkInto(fsys fs.FS, parent, n *node, base, name string, files []*node) ([]*node, error) {
	if n == nil {
		n = &node{children: map[string]*node{}}
		parent.children[base] = n
	}
	return walk(fsys, n, name, files)
}

func leaf(e fs.DirEntry, name string) (*node, error) {
	switch t := e.Type(); {
	case t&fs.ModeSymlink != 0:
		return &node{path: name, mode: "120000"}, nil
	case !t.IsRegular():
		return nil, fmt.Errorf("%q is neither a file nor a folder nor a link", name)
	}
	return &node{path: name, mode: "100644"}, nil // hashOpen knows better
}

// hashFiles hashes all files, several at a time: reading is mostly waiting.
func hashFiles(fsys fs.FS, files []*node) error {
	var group errgroup.Group
	workers := max(4, runtime.GOMAXPROCS(0))
	chunk := max(1, len(files)/(workers*8))
	group.SetLimit(workers)
	for part := range slices.Chunk(files, chunk) {
		group.Go(func() error {
			for _, n := range part {
				if err := n.hashFile(fsys); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (n *node) hashFile(fsys fs.FS) error {
	if n.mode == "120000" {
		target, err := fs.ReadLink(fsys, n.path)
		n.id = blobID([]byte(target))
		return err
	}
	f, err := fsys.Open(n.path)
	if err != nil {
		return err
	}
	err = n.hashOpen(f)
	return errors.Join(err, f.Close())
}

var copyBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

func (n *node) hashOpen(f fs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Mode()&0o100 != 0 {
		n.mode = "100755"
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	buffer := copyBuffers.Get().(*[64 << 10]byte)
	defer copyBuffers.Put(buffer)
	size, err := io.CopyBuffer(h, onlyReader{f}, buffer[:])
	if err != nil {
		return fmt.Errorf("read %s: %w", n.path, err)
	}
	if size != info.Size() {
		return fmt.Errorf("%s changed while it was read", n.path)
	}
	h.Sum(n.id[:0])
	return nil
}

// onlyReader hides a file's own ways to copy itself, so that the pooled buffer is used.
type onlyReader struct{ io.Reader }

func blobID(data []byte) [sha1.Size]byte {
	return sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
}

// hash is the id of a folder's tree object.
func (n *node) hash() []byte {
	id, _ := n.tree()
	return id
}

// tree is the id of a folder's tree object, and whether nothing is in it: git has no empty folders but the top one.
func (n *node) tree() (id []byte, empty bool) {
	names := slices.Collect(maps.Keys(n.children))
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(n.sortKey(a), n.sortKey(b)) })
	var body []byte
	for _, name := range names {
		child := n.children[name]
		if child.mode != "" {
			body = append(fmt.Appendf(body, "%s %s\x00", child.mode, name), child.id[:]...)
			continue
		}
		if id, empty := child.tree(); !empty {
			body = append(fmt.Appendf(body, "40000 %s\x00", name), id...)
		}
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "tree %d\x00", len(body)), body...))
	return sum[:], len(body) == 0
}

// sortKey orders folders as if their names ended in a slash, as git does.
func (n *node) sortKey(name string) string {
	if n.children[name].mode == "" {
		return name + "/"
	}
	return name
}
