package perceive

import (
	"path"
	"strings"
	"sync"
)

// goNames binds Go where go/types did not: a package is a folder, and its files see each other.
type goNames struct{}

func (goNames) module(b *binder, from string) meaning {
	dir, ok := b.x.rules.goFolder(from)
	if !ok || !b.x.holds(dir, goFamily) {
		return meaning{out: true}
	}
	return meaning{files: b.x.goPackage(dir, ""), dir: dir}
}

// goPackage are the files of a folder that make one package; "" is the package that others import.
func (x *Index) goPackage(dir, pack string) (out []int32) {
	for _, i := range x.folders[dir] {
		r := x.files[i].record
		if r.family != goFamily {
			continue
		}
		test := strings.HasSuffix(x.files[i].path, "_test.go")
		if pack == "" && !test || pack != "" && x.words.text(r.pack) == pack {
			out = append(out, i)
		}
	}
	return out
}

// goTables are the names of packages, gathered when one is first asked for.
type goTables struct {
	x   *Index
	all sync.Map // of package to *goTable
}

type goPack struct{ dir, name string }

type goTable struct {
	once sync.Once
	at   map[[2]uint32][]uint32 // by container and name
}

// of is what a package defines by a name in a container, 0 for none.
func (t *goTables) of(dir, pack string, container, name uint32) []uint32 {
	key := goPack{dir, pack}
	any, ok := t.all.Load(key)
	if !ok {
		any, _ = t.all.LoadOrStore(key, &goTable{})
	}
	table := any.(*goTable)
	table.once.Do(func() {
		table.at = map[[2]uint32][]uint32{}
		for _, f := range t.x.goPackage(dir, pack) {
			e := t.x.files[f]
			for i, s := range e.record.symbols {
				at := [2]uint32{s.container, s.name}
				table.at[at] = append(table.at[at], e.nodes[i])
			}
		}
	})
	return table.at[[2]uint32{container, name}]
}

func (goNames) inModule(b *binder, m meaning, name uint32) meaning {
	return meaning{nodes: b.tables.of(m.dir, "", 0, name)}
}

// bare is what another file of the package defines, or a package whose name is not the last part of its path.
func (goNames) bare(b *binder, name, _ uint32) (meaning, Rule) {
	if nodes := b.tables.of(b.dir(), b.x.words.text(b.r.pack), 0, name); len(nodes) > 0 {
		return meaning{nodes: nodes}, SamePackage
	}
	for key, m := range b.scope {
		if key.in == 0 && m.dir != "" && len(m.files) > 0 && b.x.files[m.files[0]].record.pack == name {
			return m, ByImport
		}
	}
	return meaning{}, NoRule
}

// dir is the folder of the file.
func (b *binder) dir() string { return path.Dir(b.e.path) }

func (goNames) member(b *binder, typ, container, name uint32) []uint32 {
	e := b.x.files[b.x.nodes[typ].file]
	return b.tables.of(path.Dir(e.path), b.x.words.text(e.record.pack), container, name)
}
