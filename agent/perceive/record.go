package perceive

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// digest is the first half of a SHA-256.
type digest [16]byte

func digestOf(parts ...[]byte) (d digest) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	copy(d[:], h.Sum(nil))
	return d
}

// record is what one content says, whatever file holds it. Texts are numbers of the index's words. It does not change
// once it is made.
type record struct {
	hash       digest
	family     family
	generated  bool
	lines      uint32
	pack       uint32 // package clause of Go and Java
	chosen     uint32 // what a script exports as its default
	constraint uint32 // Go's //go:build line
	refused    uint32 // why there is nothing below
	symbols    []symbolRecord
	byName     []uint32 // symbols in order of their names' numbers
	uses       []useRecord
	imports    []importRecord
	supers     []superRecord
	mentions   []uint32 // sorted: every name that decides what a use here means
}

type symbolRecord struct {
	name, container, signature, kind uint32
	start, end, bodyStart            uint32
	first, last, head, line          uint32
	exported                         bool
	stub                             bool   // says only how another definition of its name may be called, or set
	shape                            uint64 // Go: of its text without doc comment and body; what others know of it
}

type useRecord struct {
	name, before, typ uint32
	in                uint32 // symbol around it plus one, 0 at the top level
	start, line       uint32
	called, local     bool // local: before begins with a name of the function around
}

type importRecord struct {
	from, name, as, in, line uint32
	exported                 bool
}

type superRecord struct{ of, name, line uint32 } // of is a symbol plus one

// family is the languages whose names can mean each other.
type family uint8

const (
	noFamily family = iota
	goFamily
	pythonFamily
	scriptFamily
	rustFamily
	javaFamily
	families
)

func familyOf(g syntax.Grammar) family {
	switch g.Name {
	case "go":
		return goFamily
	case "python":
		return pythonFamily
	case "javascript", "typescript", "tsx":
		return scriptFamily
	case "rust":
		return rustFamily
	case "java":
		return javaFamily
	}
	return noFamily
}

// outline reads a text; a grammar that breaks on it is an error like any other.
func outline(g syntax.Grammar, src []byte) (o syntax.Outline, err error) {
	defer func() {
		if r := recover(); r != nil {
			o, err = syntax.Outline{}, fmt.Errorf("the grammar broke on it: %v", r)
		}
	}()
	return g.Outline(src)
}

// recordOf makes the record of a text.
func recordOf(w *words, g syntax.Grammar, hash digest, src []byte) *record {
	r := &record{hash: hash, family: familyOf(g), lines: uint32(bytes.Count(src, []byte{'\n'}) + 1), generated: generated(src)}
	o, err := outline(g, src)
	constraint := ""
	if r.family == goFamily {
		constraint = constraintOf(src)
	}
	w.Lock()
	defer w.Unlock()
	r.pack, r.chosen, r.constraint = w.id(o.Package), w.id(o.Default), w.id(constraint)
	if err != nil {
		r.refused = w.id("does not parse: " + err.Error())
		return r
	}
	r.addSymbols(w, o.Symbols)
	switch r.family {
	case goFamily:
		r.addShapes(src)
	case pythonFamily, scriptFamily:
		r.markStubs(src)
	}
	r.addUses(w, o)
	r.finish(w)
	return r
}

func (r *record) addSymbols(w *words, symbols []syntax.Symbol) {
	r.symbols = make([]symbolRecord, len(symbols))
	for i, s := range symbols {
		r.symbols[i] = symbolRecord{
			name: w.id(s.Name), container: w.id(s.Container), signature: w.id(s.Signature), kind: w.id(s.Kind),
			start: uint32(s.Start), end: uint32(s.End), bodyStart: uint32(s.BodyStart),
			first: uint32(s.First), last: uint32(s.Last), head: uint32(s.Head), line: uint32(s.Line), exported: s.Exported,
		}
	}
}

func (r *record) addUses(w *words, o syntax.Outline) {
	byAddress := map[string][]int{}
	for i, s := range o.Symbols {
		byAddress[s.String()] = append(byAddress[s.String()], i)
	}
	r.uses = make([]useRecord, len(o.Uses))
	for i, u := range o.Uses {
		r.uses[i] = useRecord{
			name: w.id(u.Name), before: w.id(u.Before), typ: w.id(u.Type), in: r.around(byAddress[u.In], u.Line),
			start: uint32(u.Start), line: uint32(u.Line), called: u.Called, local: u.Local,
		}
	}
	slices.SortStableFunc(r.uses, func(a, b useRecord) int { return cmp.Compare(a.start, b.start) })
	for _, m := range o.Imports {
		r.imports = append(r.imports, importRecord{from: w.id(m.From), name: w.id(m.Name), as: w.id(m.As), in: w.id(m.In), line: uint32(m.Line), exported: m.Exported})
	}
	for _, s := range o.Supers {
		r.supers = append(r.supers, superRecord{r.builder(byAddress[s.Of], s.Line), w.id(s.Name), uint32(s.Line)})
	}
}

// around is the one of some symbols that holds a line, plus one; 0 if there is none.
func (r *record) around(candidates []int, line int) uint32 {
	for _, i := range candidates {
		if s := r.symbols[i]; int(s.first) <= line && line <= int(s.last) {
			return uint32(i + 1)
		}
	}
	return 0
}

// builder is the type that builds upon another, plus one: the one around the line, or else the only one, as where Rust
// says impl Priced for Cart.
func (r *record) builder(candidates []int, line int) uint32 {
	if around := r.around(candidates, line); around > 0 || len(candidates) != 1 {
		return around
	}
	return uint32(candidates[0] + 1)
}

// finish fills what follows from the rest.
func (r *record) finish(w *words) {
	r.order()
	r.mentions = r.mentioned(w)
}

// order sorts the symbols by name.
func (r *record) order() {
	r.byName = make([]uint32, len(r.symbols))
	for i := range r.byName {
		r.byName[i] = uint32(i)
	}
	slices.SortStableFunc(r.byName, func(a, b uint32) int { return cmp.Compare(r.symbols[a].name, r.symbols[b].name) })
}

func (r *record) mentioned(w *words) []uint32 {
	out := make([]uint32, 0, 2*len(r.uses))
	chains := map[uint32]bool{0: true}
	parts := func(n uint32) {
		if chains[n] {
			return
		}
		chains[n] = true
		out = append(out, n)
		for _, p := range split(w.text(n)) {
			out = append(out, w.id(p))
		}
	}
	for _, u := range r.uses {
		out = append(out, u.name)
		parts(u.before)
		parts(u.typ)
	}
	for _, m := range r.imports {
		out = append(out, m.name, m.as)
	}
	for _, s := range r.supers {
		parts(s.name)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > 0 && out[0] == 0 {
		out = out[1:]
	}
	return slices.Clone(out)
}

// split cuts a chain of names at dots and double colons; type arguments, pointers and spaces go.
func split(chain string) []string {
	if i := strings.IndexAny(chain, "<[("); i >= 0 {
		chain = chain[:i]
	}
	chain = strings.TrimLeft(strings.TrimSpace(chain), "*&")
	return strings.FieldsFunc(chain, func(r rune) bool { return r == '.' || r == ':' || r == '?' || r == '!' || r == ' ' })
}

// named are the symbols of a record that have a name.
func (r *record) named(name uint32) []uint32 {
	from, ok := slices.BinarySearchFunc(r.byName, name, func(i, name uint32) int { return cmp.Compare(r.symbols[i].name, name) })
	if !ok {
		return nil
	}
	to := from + 1
	for to < len(r.byName) && r.symbols[r.byName[to]].name == name {
		to++
	}
	return r.byName[from:to]
}

// holds is the symbol of a Go file around an offset, plus one; 0 if there is none. Go's symbols do not stand inside
// each other, but a var or const may define several at once: then it is the first of those.
func (r *record) holds(offset uint32) uint32 {
	after, _ := slices.BinarySearchFunc(r.symbols, offset, func(s symbolRecord, offset uint32) int {
		if s.start <= offset {
			return -1
		}
		return 1
	})
	at := after - 1
	for at > 0 && r.symbols[at-1].start == r.symbols[at].start {
		at--
	}
	if at < 0 || offset >= r.symbols[at].end {
		return 0
	}
	return uint32(at + 1)
}

// addShapes notes what each symbol of a Go file looks like from outside.
func (r *record) addShapes(src []byte) {
	for i := range r.symbols {
		s := &r.symbols[i]
		if int(s.end) > len(src) || s.start > s.end {
			continue
		}
		text := src[s.start:s.end]
		if body := int(s.bodyStart) - int(s.start); 0 < body && body < len(text) {
			text = text[:body]
		}
		for range s.head - s.first {
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		s.shape = fnv(text)
	}
}

// markStubs marks Python's overloads, setters and deleters, and TypeScript's functions without a body.
func (r *record) markStubs(src []byte) {
	for i := range r.symbols {
		s := &r.symbols[i]
		if int(s.end) > len(src) || s.start > s.end {
			continue
		}
		if r.family == scriptFamily {
			s.stub = s.bodyStart >= s.end
			continue
		}
		lines := bytes.SplitN(src[s.start:s.end], []byte("\n"), int(s.head-s.first)+2)
		for _, line := range lines[:min(len(lines), int(s.head-s.first)+1)] {
			line = bytes.TrimSpace(line)
			s.stub = s.stub || bytes.HasPrefix(line, []byte("@")) && (bytes.HasSuffix(line, []byte("overload")) ||
				bytes.HasSuffix(line, []byte(".setter")) || bytes.HasSuffix(line, []byte(".deleter")))
		}
	}
}

// fnv is the 64-bit FNV-1a hash, which is the same in every run.
func fnv(text []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range text {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// generated says whether a text's first lines say that a program wrote it.
// https://go.dev/s/generatedcode is Go's form; the others are what generators of other languages write.
func generated(src []byte) bool {
	head := src[:min(len(src), 2048)]
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		comment := bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("*")) || bytes.HasPrefix(line, []byte("/*"))
		if !comment {
			continue
		}
		if bytes.Contains(line, []byte("Code generated ")) && bytes.Contains(line, []byte("DO NOT EDIT")) || bytes.Contains(line, []byte("@generated")) {
			return true
		}
	}
	return false
}

// constraint is Go's //go:build line, "" without one. It stands above the package clause.
func constraintOf(src []byte) string {
	for line := range bytes.Lines(src) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("//go:build ")) {
			return string(line)
		}
		if bytes.HasPrefix(line, []byte("package ")) {
			return ""
		}
	}
	return ""
}
