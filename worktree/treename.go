package worktree

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// described is what a tree is called and which submodules it has.
type described struct {
	name  name20
	links map[string]string // path of each submodule -> its commit
}

// describe names the tree as git names one that is made of its files today. That is the name that it has, but for trees of
// long ago: those may hold modes that git has stopped writing, folders without files, or lines in another order, and
// nobody who looks at the files alone can know that. folds says that the tree is to lie on a disk that folds names.
// https://git-scm.com/docs/git-fsck#_fsck_messages on badFilemode, zeroPaddedFilemode and treeNotSorted
func (t *treeFS) describe(folds bool) (described, error) {
	d := newDescriber(t)
	d.folds = folds
	name, _, err := d.folder(t.root, "", 0)
	return described{name, d.links}, err
}

type describer struct {
	tree  *treeFS
	folds bool              // the disk takes names for one that differ in case or composition alone, and these are refused
	known map[name20]name20 // folders without submodules that were met before
	links map[string]string
}

func newDescriber(t *treeFS) *describer {
	return &describer{tree: t, known: map[name20]name20{}, links: map[string]string{}}
}

// of names a tree, by what it is called where some of it is missing.
func (d *describer) of(tree plumbing.Hash) string {
	if name, _, err := d.folder(node{mode: filemode.Dir, hash: tree}, "", 0); err == nil {
		return name.String()
	}
	return tree.String()
}

var emptyTree = nameOf("tree", nil)

// folder names one folder, and says whether a submodule lies below it.
func (d *describer) folder(n node, at string, depth int) (name name20, linked bool, err error) {
	if depth > maxDepth {
		return name, false, fmt.Errorf("%w: more than %d folders below one another", ErrTree, maxDepth)
	}
	if known, ok := d.known[name20(n.hash)]; ok {
		return known, false, nil
	}
	children, err := d.tree.children(n)
	if err != nil {
		return name, false, err
	}
	if d.folds {
		if err := apart(children, at); err != nil {
			return name, false, err
		}
	}
	lines := make([]treeLine, 0, len(children))
	for _, c := range children {
		line := treeLine{mode: c.mode, base: c.name, name: name20(c.hash)}
		switch c.mode {
		case filemode.Dir:
			below := false
			if line.name, below, err = d.folder(c, path.Join(at, c.name), depth+1); err != nil {
				return name, false, err
			}
			linked = linked || below
			if line.name == emptyTree {
				continue
			}
		case filemode.Submodule:
			d.links[path.Join(at, c.name)] = c.hash.String()
			linked = true
		case filemode.Deprecated:
			line.mode = filemode.Regular
		}
		lines = append(lines, line)
	}
	name = nameOf("tree", treeText(lines))
	if !linked {
		d.known[name20(n.hash)] = name
	}
	return name, linked, nil
}

func apart(children []node, at string) error {
	seen := map[string]string{}
	for _, c := range children {
		folded := norm.NFD.String(cases.Fold().String(c.name))
		if other, twice := seen[folded]; twice {
			return fmt.Errorf("%w: %q and %q are one name to it", ErrTree, path.Join(at, other), path.Join(at, c.name))
		}
		seen[folded] = c.name
	}
	return nil
}

const maxDepth = copyDepth // folders below one another

// treeLine is one entry of a tree object.
type treeLine struct {
	mode filemode.FileMode
	base string
	name name20
}

// key is what lines are sorted by: a folder as if its name ended in a slash.
func (l treeLine) key() string {
	if l.mode == filemode.Dir {
		return l.base + "/"
	}
	return l.base
}

// treeText is a tree object's content.
func treeText(lines []treeLine) []byte {
	slices.SortFunc(lines, func(a, b treeLine) int { return strings.Compare(a.key(), b.key()) })
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%o %s\x00", uint32(l.mode), l.base)
		b.Write(l.name[:])
	}
	return b.Bytes()
}
