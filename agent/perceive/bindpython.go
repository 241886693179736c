package perceive

import (
	"path"
	"strings"
)

// pythonNames binds as Python imports: packages are folders, modules are files.
// https://docs.python.org/3/reference/import.html
type pythonNames struct{}

func (pythonNames) module(b *binder, from string) meaning {
	dir := path.Dir(b.e.path)
	if rest := strings.TrimLeft(from, "."); rest != from {
		for range len(from) - len(rest) - 1 {
			if dir == "." {
				return meaning{}
			}
			dir = path.Dir(dir)
		}
		return b.x.pythonAt(dir, rest)
	}
	for _, root := range b.pythonRoots(dir) {
		if m := b.x.pythonAt(root, from); !m.none() {
			return m
		}
	}
	return meaning{out: true}
}

// pythonRoots are the folders in which a file's absolute imports are looked for: where its own package lies, its own
// folder if it belongs to none, the tree's root, and src.
func (b *binder) pythonRoots(dir string) []string {
	top := dir
	for top != "." && b.x.has(path.Join(top, "__init__.py")) {
		top = path.Dir(top)
	}
	roots := []string{top}
	for _, r := range []string{".", "src", "lib"} {
		if r != top {
			roots = append(roots, r)
		}
	}
	for up := path.Dir(top); up != "." && up != "/"; up = path.Dir(up) {
		roots = append(roots, up)
	}
	return roots
}

func (x *Index) has(name string) bool {
	i, ok := x.byPath[name]
	return ok && x.files[i].record != nil
}

// pythonAt is a dotted name below a folder: a file, a package with its folder, or a folder without __init__.py.
func (x *Index) pythonAt(root, dotted string) meaning {
	at := path.Join(root, strings.ReplaceAll(dotted, ".", "/"))
	if dotted != "" {
		for _, ext := range []string{".py", ".pyi", ".pyw"} {
			if x.has(at + ext) {
				return meaning{files: []int32{x.byPath[at+ext]}}
			}
		}
	}
	for _, name := range []string{"__init__.py", "__init__.pyi"} {
		if init := path.Join(at, name); x.has(init) {
			return meaning{files: []int32{x.byPath[init]}, dir: at}
		}
	}
	if i, ok := x.byPath[at]; ok && at != "." && x.files[i].record == nil && x.holds(at, pythonFamily) || dotted == "" {
		return meaning{dir: at}
	}
	return meaning{}
}

// holds says whether a folder has files of a family.
func (x *Index) holds(dir string, f family) bool {
	for _, i := range x.folders[dir] {
		if x.files[i].record.family == f {
			return true
		}
	}
	return false
}

func (pythonNames) inModule(b *binder, m meaning, name uint32) meaning {
	if found := b.x.topLevel(m.files, 0, name); len(found) > 0 {
		return meaning{nodes: found}
	}
	passed := b.passedOn(m, name, b.seen+1)
	if len(passed.nodes) > 0 || m.dir == "" || int(name) >= len(b.x.words.list) {
		return passed
	}
	if sub := b.x.pythonAt(m.dir, b.x.words.text(name)); !sub.none() {
		return sub
	}
	return passed
}

func (pythonNames) bare(*binder, uint32, uint32) (meaning, Rule) { return meaning{}, NoRule }

func (pythonNames) member(b *binder, typ, container, name uint32) []uint32 {
	return b.x.inFile(b.x.nodes[typ].file, container, name)
}
