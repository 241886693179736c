package perceive

import (
	"path"
	"strings"
)

// javaNames binds as Java does: packages are what the files say of themselves, and a package's types see each other.
// https://docs.oracle.com/javase/specs/jls/se21/html/jls-6.html
type javaNames struct{}

// module is a package, or a type where the name ends in one.
func (javaNames) module(b *binder, from string) meaning {
	if files := b.x.packs[b.word(from)]; len(files) > 0 {
		return meaning{files: files, dir: path.Dir(b.x.files[files[0]].path)}
	}
	parts := strings.Split(from, ".")
	for cut := len(parts) - 1; cut > 0; cut-- {
		files := b.x.packs[b.word(strings.Join(parts[:cut], "."))]
		if len(files) == 0 {
			continue
		}
		m := meaning{files: files}
		for _, part := range parts[cut:] {
			m = javaNames{}.inModule(b, m, b.word(part))
		}
		return m
	}
	return meaning{out: true}
}

func (javaNames) inModule(b *binder, m meaning, name uint32) meaning {
	if len(m.nodes) == 1 {
		nodes, foreign := b.members(m.nodes[0], name)
		return meaning{nodes: nodes, out: foreign && len(nodes) == 0}
	}
	return meaning{nodes: b.x.topLevel(m.files, 0, name)}
}

// bare is a member of the types around the use, then a type of the package.
func (javaNames) bare(b *binder, name, in uint32) (meaning, Rule) {
	var foreign bool
	for _, t := range b.holders(in) {
		nodes, out := b.members(t, name)
		if len(nodes) > 0 {
			return meaning{nodes: nodes}, BySelf
		}
		foreign = foreign || out
	}
	for _, i := range b.r.named(name) { // a type inside another type of the file
		if b.x.words.text(b.r.symbols[i].kind) == "type" {
			return meaning{nodes: []uint32{b.e.nodes[i]}}, SameFile
		}
	}
	if nodes := b.x.topLevel(b.x.packs[b.r.pack], 0, name); len(nodes) > 0 {
		return meaning{nodes: nodes}, SamePackage
	}
	return meaning{out: foreign}, NoRule
}

// holders are the types around a symbol, the innermost first.
func (b *binder) holders(in uint32) (out []uint32) {
	if in == 0 {
		return nil
	}
	at := b.r.symbols[in-1]
	if b.x.words.text(at.kind) == "type" {
		out = append(out, b.e.nodes[in-1])
	}
	for container := at.container; container != 0 && len(out) < 16; {
		next := uint32(0)
		for _, i := range b.r.named(container) {
			s := b.r.symbols[i]
			if s.first <= at.first && at.last <= s.last && b.x.words.text(s.kind) == "type" {
				out = append(out, b.e.nodes[i])
				next, at = s.container, s
			}
		}
		container = next
	}
	return out
}

func (javaNames) member(b *binder, typ, container, name uint32) []uint32 {
	return b.x.inFile(b.x.nodes[typ].file, container, name)
}
