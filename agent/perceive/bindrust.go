package perceive

import (
	"path"
	"strings"
)

// rustNames binds paths of crates and modules: a module is a file, a folder's mod.rs, or stands inside its parent.
// https://doc.rust-lang.org/reference/names/name-resolution.html
type rustNames struct{}

// crate is where a file's crate begins.
type crate struct {
	dir  string // folder of the root file
	root string // its path
}

func (rustNames) module(b *binder, from string) meaning {
	parts := strings.FieldsFunc(from, func(r rune) bool { return r == ':' })
	if len(parts) == 0 {
		return meaning{}
	}
	c, at := b.x.crateOf(b.e.path)
	switch first := parts[0]; first {
	case "crate":
		at, parts = nil, parts[1:]
	case "self":
		parts = parts[1:]
	case "super":
		for len(parts) > 0 && parts[0] == "super" {
			at, parts = at[:max(0, len(at)-1)], parts[1:]
		}
	default:
		if m := b.x.rustAt(c, append(append([]string{}, at...), first)); !m.none() {
			break
		}
		root, ok := b.x.rules.crateFolder(first)
		if !ok {
			return meaning{out: true}
		}
		c, at, parts = b.x.crateIn(root), nil, parts[1:]
	}
	return b.rustPath(c, append(append([]string{}, at...), parts...))
}

// rustPath is a path in a crate; its last parts may be a type and what belongs to it.
func (b *binder) rustPath(c crate, parts []string) meaning {
	if m := b.x.rustAt(c, parts); !m.none() || len(parts) == 0 {
		return m
	}
	last := len(parts) - 1
	holder := b.rustPath(c, parts[:last])
	if holder.none() {
		return meaning{}
	}
	return rustNames{}.inModule(b, holder, b.word(parts[last]))
}

// crateOf is the crate of a file, and the modules above the file in it.
func (x *Index) crateOf(name string) (crate, []string) {
	dir, inside := x.rules.crateHolding(name)
	c := x.crateIn(dir)
	below, ok := strings.CutPrefix(name, c.dir+"/")
	if c.dir == "." {
		below, ok = name, true
	}
	stem := strings.TrimSuffix(below, ".rs")
	if !ok || !inside || strings.HasPrefix(stem, "bin/") { // tests, benches, examples and bin/x.rs are crates of their own
		return crate{dir: path.Dir(name), root: name}, nil
	}
	if stem == "lib" || stem == "main" {
		return crate{dir: c.dir, root: name}, nil
	}
	return c, strings.Split(strings.TrimSuffix(stem, "/mod"), "/")
}

// crateIn is the crate of a package's folder.
func (x *Index) crateIn(dir string) crate {
	c := crate{dir: path.Join(dir, "src")}
	for _, root := range []string{"lib.rs", "main.rs"} {
		if c.root = path.Join(c.dir, root); x.has(c.root) {
			return c
		}
	}
	return c
}

// rustAt is the module at a path, in a file of its own or inside its parent.
func (x *Index) rustAt(c crate, parts []string) meaning {
	if len(parts) == 0 {
		if !x.has(c.root) {
			return meaning{}
		}
		return meaning{files: []int32{x.byPath[c.root]}}
	}
	at := path.Join(c.dir, path.Join(parts...))
	for _, name := range []string{at + ".rs", path.Join(at, "mod.rs")} {
		if x.has(name) {
			return meaning{files: []int32{x.byPath[name]}}
		}
	}
	parent := x.rustAt(c, parts[:len(parts)-1])
	inner, ok := x.words.known(parts[len(parts)-1])
	if !ok || len(parent.files) != 1 {
		return meaning{}
	}
	for _, s := range x.files[parent.files[0]].record.symbols {
		if s.container == inner && x.isModule(parent.files[0], inner) {
			return meaning{files: parent.files, inner: inner}
		}
	}
	return meaning{}
}

// isModule says whether a container of a file is an inline module and no type.
func (x *Index) isModule(file int32, name uint32) bool {
	r := x.files[file].record
	for _, i := range r.named(name) {
		if x.words.text(r.symbols[i].kind) == "type" && !strings.Contains(x.words.text(r.symbols[i].signature), "mod ") {
			return false
		}
	}
	return true
}

func (rustNames) inModule(b *binder, m meaning, name uint32) meaning {
	if len(m.nodes) == 1 {
		nodes, foreign := b.members(m.nodes[0], name)
		return meaning{nodes: nodes, out: foreign && len(nodes) == 0}
	}
	if found := b.x.topLevel(m.files, m.inner, name); len(found) > 0 {
		return meaning{nodes: found}
	}
	if len(m.files) == 1 && m.inner == 0 && int(name) < len(b.x.words.list) {
		c, at := b.x.crateOf(b.x.files[m.files[0]].path)
		if sub := b.x.rustAt(c, append(append([]string{}, at...), b.x.words.text(name))); !sub.none() {
			return sub
		}
	}
	return b.passedOn(m, name, b.seen+1)
}

// bare is the first part of a path: crate, self, super, a module below the file, a crate of the tree, or an item of
// the inline module around the use.
func (rustNames) bare(b *binder, name, in uint32) (meaning, Rule) {
	if int(name) >= len(b.x.words.list) {
		return meaning{}, NoRule
	}
	word := b.x.words.text(name)
	switch word {
	case "Self":
		for _, t := range b.rustSelf(in) {
			return meaning{nodes: []uint32{t}}, BySelf
		}
		return meaning{}, NoRule
	case "std", "core", "alloc":
		return meaning{out: true}, ByImport
	}
	if m := (rustNames{}).module(b, word); !m.none() && !m.out {
		return m, ByImport
	}
	return meaning{}, NoRule
}

// rustSelf are the types that the symbol around a use belongs to.
func (b *binder) rustSelf(in uint32) (out []uint32) {
	if in == 0 {
		return nil
	}
	s := b.r.symbols[in-1]
	if b.x.words.text(s.kind) == "type" {
		return []uint32{b.e.nodes[in-1]}
	}
	got, _ := b.alone(s.container, 0)
	if types := b.types(got.nodes); len(types) == 1 {
		return types
	}
	return nil
}

// member looks in the crate's impl blocks, wherever they stand, unless the crate has two types of the name.
func (rustNames) member(b *binder, typ, container, name uint32) []uint32 {
	return b.x.topLevel(rustHome(b, typ), container, name)
}

func rustHome(b *binder, typ uint32) []int32 {
	file := b.x.nodes[typ].file
	owner, _ := b.x.symbolOf(typ)
	c, _ := b.x.crateOf(b.x.files[file].path)
	same := 0
	for _, n := range b.x.defs[owner.name] {
		if s, ok := b.x.symbolOf(n); ok && b.x.words.text(s.kind) == "type" && b.x.files[b.x.nodes[n].file].record.family == rustFamily {
			same++
		}
	}
	if same != 1 {
		return []int32{file}
	}
	files := []int32{file}
	for _, f := range b.x.implFiles(owner.name) {
		if other, _ := b.x.crateOf(b.x.files[f].path); f != file && other.dir == c.dir {
			files = append(files, f)
		}
	}
	return files
}
