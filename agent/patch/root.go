package patch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxFile is the largest file that edits land on.
const maxFile = 8 << 20

// reader reads a root by exact names. It asks folders what they hold and never asks for a name on trust, so that
// a file system that folds names (macOS) gives the same answers as one that does not.
type reader struct {
	root    fs.FS
	folders map[string]folder
	modules []string          // folded paths of submodules; nil until they are asked for
	parsed  map[string][]byte // by path, new texts that are known to parse
}

// folder is what one directory holds.
type folder struct {
	entries map[string]fs.DirEntry
	folds   map[string][]string // fold of a name to the names that have it
}

func newReader(root fs.FS) *reader {
	return &reader{root: root, folders: map[string]folder{}, parsed: map[string][]byte{}}
}

// file is what stands at a path of the root.
type file struct {
	exists bool
	data   []byte
	mode   fs.FileMode
}

// lookup finds the regular file at a path that checkPath has let through. The error is a *Slip when the path is
// no place for an edit; a path at which nothing stands, and at which a file may be made, is no error.
func (r *reader) lookup(name string) (file, error) {
	if err := r.outsideModules(name); err != nil {
		return file{}, err
	}
	parts := strings.Split(name, "/")
	dir := "."
	for i, part := range parts {
		entry, err := r.entry(dir, part, name)
		if err != nil {
			return file{}, err
		}
		if entry == nil {
			return file{}, asError(checkNew(path.Join(parts[i:]...)))
		}
		if i == len(parts)-1 {
			return r.regular(name, entry)
		}
		if s := passable(name, entry); s != nil {
			return file{}, s
		}
		dir = path.Join(dir, part)
	}
	return file{}, nil
}

// asError keeps a nil *Slip from becoming an error that is not nil.
func asError(s *Slip) error {
	if s == nil {
		return nil
	}
	return s
}

// entry is what a folder holds under exactly this name, or nil.
func (r *reader) entry(dir, part, name string) (fs.DirEntry, error) {
	f, err := r.folder(dir)
	if err != nil {
		return nil, err
	}
	if dir != "." {
		if _, nested := f.folds[".git"]; nested {
			return nil, slip(Submodule, about(name), quote(name)+" lies in another repository, "+quote(dir)+".", "Leave submodules as they are.")
		}
	}
	for _, other := range f.folds[fold(part)] {
		if other != part {
			return nil, slip(Collision, about(name),
				fmt.Sprintf("%s and the existing %s cannot be told apart on every machine.", quote(name), quote(path.Join(dir, other))),
				"Use the exact name of the existing file, or one that differs in more than case or invisible characters.")
		}
	}
	return f.entries[part], nil
}

// passable refuses what stands where a folder should.
func passable(name string, entry fs.DirEntry) *Slip {
	switch {
	case entry.IsDir():
		return nil
	case entry.Type()&fs.ModeSymlink != 0:
		return slip(Symlink, about(name), quote(name)+" leads through the symbolic link "+quote(entry.Name())+".", "Name the file by the path it really has.")
	}
	return slip(UnknownFile, about(name), quote(entry.Name())+" in "+quote(name)+" is a file, not a folder.", "Name a file of the tree.")
}

func (r *reader) regular(name string, entry fs.DirEntry) (file, error) {
	switch t := entry.Type(); {
	case t&fs.ModeSymlink != 0:
		return file{}, slip(Symlink, about(name), quote(name)+" is a symbolic link.", "Edit the file that it points to, by its own path.")
	case t.IsDir():
		return file{}, slip(UnknownFile, about(name), quote(name)+" is a folder.", "Name one file in it.")
	case !t.IsRegular():
		return file{}, slip(NotText, about(name), quote(name)+" is not a regular file.", "Name a text file of the tree.")
	}
	info, err := entry.Info()
	if err != nil {
		return file{}, fmt.Errorf("look at %s: %w", name, err)
	}
	if info.Size() > maxFile {
		return file{}, slip(Limit, about(name), fmt.Sprintf("%s has %d bytes; edits land on files of at most %d.", quote(name), info.Size(), maxFile), "Repair a smaller file.")
	}
	data, err := fs.ReadFile(r.root, name)
	if err != nil {
		return file{}, fmt.Errorf("read the root's text: %w", err)
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return file{}, slip(NotText, about(name), quote(name)+" is not text.", "Name a text file of the tree.")
	}
	return file{exists: true, data: data, mode: info.Mode().Perm()}, nil
}

// folder lists a directory once. One that is not there holds nothing.
func (r *reader) folder(dir string) (folder, error) {
	if f, ok := r.folders[dir]; ok {
		return f, nil
	}
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folder{}, fmt.Errorf("list %s: %w", dir, err)
	}
	f := folder{entries: make(map[string]fs.DirEntry, len(entries)), folds: make(map[string][]string, len(entries))}
	for _, e := range entries {
		f.entries[e.Name()] = e
		f.folds[fold(e.Name())] = append(f.folds[fold(e.Name())], e.Name())
	}
	r.folders[dir] = f
	return f, nil
}

// outsideModules refuses paths at or below a submodule. A sealed copy holds its folder empty or full, without
// .git, so .gitmodules is what tells.
func (r *reader) outsideModules(name string) error {
	if r.modules == nil {
		if err := r.readModules(); err != nil {
			return err
		}
	}
	folds := foldPath(name)
	for _, m := range r.modules {
		if folds == m || strings.HasPrefix(folds, m+"/") {
			return slip(Submodule, about(name), quote(name)+" lies in the submodule "+quote(m)+".", "Leave submodules as they are.")
		}
	}
	return nil
}

func (r *reader) readModules() error {
	r.modules = []string{}
	top, err := r.folder(".")
	if err != nil {
		return err
	}
	if e, ok := top.entries[".gitmodules"]; !ok || !e.Type().IsRegular() {
		return nil
	}
	data, err := fs.ReadFile(r.root, ".gitmodules")
	if err != nil {
		return fmt.Errorf("read the root's submodules: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "path") {
			value = strings.Trim(strings.TrimSpace(value), `"`)
			r.modules = append(r.modules, foldPath(path.Clean(value)))
		}
	}
	return nil
}

// near gives up to three files of the root that a wrong name may have meant, likeliest first.
func (r *reader) near(name string) []string {
	const mostFiles = 50_000
	type candidate struct {
		name string
		cost int
	}
	var found []candidate
	clean := path.Clean(strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/"))
	seen := 0
	_ = fs.WalkDir(r.root, ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; err != nil || seen > mostFiles {
			return fs.SkipDir // names are a courtesy: what cannot be listed is left out
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if cost := unlike(clean, p); d.Type().IsRegular() && cost >= 0 {
			found = append(found, candidate{p, cost})
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b candidate) int { return a.cost - b.cost })
	var names []string
	for _, c := range found[:min(3, len(found))] {
		if c.cost <= 1 || found[0].cost > 1 {
			names = append(names, c.name)
		}
	}
	return names
}

// unlike is how much a path differs from the one that was asked for, or -1 for out of the question.
func unlike(asked, have string) int {
	switch {
	case asked == have:
		return 0
	case strings.HasSuffix(asked, "/"+have) || strings.HasSuffix(have, "/"+asked):
		return 1
	case path.Base(asked) == path.Base(have):
		return 2
	case strings.EqualFold(path.Base(asked), path.Base(have)):
		return 3
	}
	a, b := path.Base(asked), path.Base(have)
	if d := distance(a, b); d <= len(strings.TrimSuffix(a, path.Ext(a)))/4 {
		return 3 + d
	}
	return -1
}

// distance is the number of letters to add, drop or change to get from a to b; names longer than 64 bytes are far
// from everything.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	return levenshtein.ComputeDistance(a, b)
}
