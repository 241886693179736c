package perceive

import (
	"path"
	"strings"
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

func (goNames) inModule(b *binder, m meaning, name uint32) meaning {
	return meaning{nodes: b.x.topLevel(m.files, 0, name)}
}

// bare is what another file of the package defines, or a package whose name is not the last part of its path.
func (goNames) bare(b *binder, name, _ uint32) (meaning, Rule) {
	others := b.x.goPackage(path.Dir(b.e.path), b.x.words.text(b.r.pack))
	if nodes := b.x.topLevel(others, 0, name); len(nodes) > 0 {
		return meaning{nodes: nodes}, SamePackage
	}
	for key, m := range b.scope {
		if key.in == 0 && m.dir != "" && len(m.files) > 0 && b.x.files[m.files[0]].record.pack == name {
			return m, ByImport
		}
	}
	return meaning{}, NoRule
}

func (goNames) home(b *binder, typ uint32) []int32 {
	e := b.x.files[b.x.nodes[typ].file]
	return b.x.goPackage(path.Dir(e.path), b.x.words.text(e.record.pack))
}
