package perceive

import (
	"path"
	"strings"
)

// scriptNames binds JavaScript and TypeScript: modules are files, found as bundlers and tsc's "bundler" resolution do.
// https://www.typescriptlang.org/docs/handbook/modules/reference.html#bundler
type scriptNames struct{}

var scriptEndings = []string{".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

func (scriptNames) module(b *binder, from string) meaning {
	from, _, _ = strings.Cut(from, "?")
	dir := path.Dir(b.e.path)
	if from == "." || from == ".." || strings.HasPrefix(from, "./") || strings.HasPrefix(from, "../") {
		return b.x.scriptAt(path.Join(dir, from))
	}
	for _, at := range b.x.rules.aliases(dir, from) {
		if m := b.x.scriptAt(at); !m.none() {
			return m
		}
	}
	for _, at := range b.x.rules.workspace(from) {
		if m := b.x.scriptAt(at); !m.none() {
			return m
		}
	}
	return meaning{out: true}
}

// scriptAt is the file that a path without or with its ending means.
func (x *Index) scriptAt(at string) meaning {
	if x.has(at) {
		return meaning{files: []int32{x.byPath[at]}}
	}
	tries := make([]string, 0, 2*len(scriptEndings)+4)
	if stem, ok := strings.CutSuffix(at, path.Ext(at)); ok { // ./cart.js may be written for cart.ts
		switch path.Ext(at) {
		case ".js", ".jsx":
			tries = append(tries, stem+".ts", stem+".tsx", stem+".d.ts")
		case ".mjs":
			tries = append(tries, stem+".mts")
		case ".cjs":
			tries = append(tries, stem+".cts")
		}
	}
	for _, ending := range scriptEndings {
		tries = append(tries, at+ending)
	}
	for _, ending := range scriptEndings {
		tries = append(tries, path.Join(at, "index"+ending))
	}
	for _, name := range tries {
		if x.has(name) {
			return meaning{files: []int32{x.byPath[name]}}
		}
	}
	return meaning{}
}

func (scriptNames) inModule(b *binder, m meaning, name uint32) meaning {
	if name == b.word("default") && len(m.files) == 1 {
		if chosen := b.x.files[m.files[0]].record.chosen; chosen != 0 {
			name = chosen
		}
	}
	if found := b.x.topLevel(m.files, 0, name); len(found) > 0 {
		return meaning{nodes: found}
	}
	return b.passedOn(m, name, b.seen+1)
}

func (scriptNames) bare(*binder, uint32, uint32) (meaning, Rule) { return meaning{}, NoRule }

func (scriptNames) member(b *binder, typ, container, name uint32) []uint32 {
	return b.x.inFile(b.x.nodes[typ].file, container, name)
}
