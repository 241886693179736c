package perceive

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Definition is a symbol of the tree, or a file as a whole: then it has no name.
type Definition struct {
	File      string `json:"file"`
	Name      string `json:"name,omitempty"` // as an edit addresses it: name, or Container.name
	Kind      string `json:"kind"`           // func, method, type, const, var; file; folder
	Signature string `json:"signature,omitempty"`
	First     int    `json:"first,omitempty"` // first line, from 1, doc comment included
	Last      int    `json:"last,omitempty"`
	Line      int    `json:"line,omitempty"` // where the name stands
	Exported  bool   `json:"exported,omitempty"`
	Generated bool   `json:"generated,omitempty"` // in a file that says a program wrote it
	node      uint32
}

// String is the definition in one line: where it is and what.
func (d Definition) String() string {
	if d.Name == "" {
		return d.File
	}
	return d.Name
}

// Edge is one place at which something uses a definition.
type Edge struct {
	Kind string     `json:"kind"` // call, reference, import, inherits
	Rule string     `json:"rule"` // why the name means that definition
	From Definition `json:"from"`
	To   Definition `json:"to"`
	File string     `json:"file"`
	Line int        `json:"line"`
	Text string     `json:"text"` // the line that proves it; "" where the file has changed since it was indexed
}

// Blind is a name in a file that no edge was made for, since it may mean two definitions or more.
type Blind struct {
	Name       string `json:"name"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Candidates int    `json:"candidates"`
}

// reverse is who uses each node, made at the first question after a change.
type reverse struct {
	start []uint32 // of a node's users in all
	all   []use
}

// use is one edge as seen from its end.
type use struct{ file, edge uint32 }

// users gives who uses each node. Callers hold the read lock.
func (x *Index) users() *reverse {
	if r := x.reverse.Load(); r != nil {
		return r
	}
	r := &reverse{start: make([]uint32, len(x.nodes)+1)}
	total := 0
	for _, e := range x.files {
		total += len(e.edges)
		for _, g := range e.edges {
			r.start[g.to+1]++
		}
	}
	for n := range x.nodes {
		r.start[n+1] += r.start[n]
	}
	r.all = make([]use, total)
	at := slices.Clone(r.start)
	for f, e := range x.files {
		for i, g := range e.edges {
			r.all[at[g.to]] = use{uint32(f), uint32(i)}
			at[g.to]++
		}
	}
	x.reverse.Store(r)
	return r
}

func (r *reverse) of(n uint32) []use { return r.all[r.start[n]:r.start[n+1]] }

func (x *Index) at(u use) edge { return x.files[u.file].edges[u.edge] }

func (x *Index) definition(n uint32) Definition {
	e := x.files[x.nodes[n].file]
	s, ok := x.symbolOf(n)
	if !ok {
		d := Definition{File: e.path, Kind: "file", node: n}
		if e.record == nil {
			d.Kind = "folder"
		}
		return d
	}
	name := x.words.text(s.name)
	if s.container != 0 {
		name = x.words.text(s.container) + "." + name
	}
	return Definition{
		File: e.path, Name: name, Kind: x.words.text(s.kind), Signature: x.words.text(s.signature), First: int(s.first), Last: int(s.last),
		Line: int(s.line), Exported: s.exported, Generated: e.record.generated, node: n,
	}
}

// Symbols are the definitions of the tree, or of one file or folder of it, in order of path and line.
func (x *Index) Symbols(below string) []Definition {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []Definition
	for _, e := range x.ordered() {
		if _, in := under(e.path, below); !in {
			continue
		}
		for _, n := range e.nodes {
			out = append(out, x.definition(n))
		}
	}
	return out
}

// ordered are the files in order of their paths.
func (x *Index) ordered() []*entry {
	var out []*entry
	for _, e := range x.files {
		if e.record != nil {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	return out
}

// Found is what a question for a name came to.
type Found struct {
	Exact  []Definition // the name, or the Container.name, that was asked for
	Prefix []Definition // those that only begin so
	Near   []string     // names close to it, where there is neither
}

// Find looks for a name: total, Cart.total, cart.py:total, or the beginning of one.
func (x *Index) Find(question string) Found {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var f Found
	file, name := cutFile(question)
	container, member := cutName(name)
	for _, n := range x.defs[x.wordOr(member)] {
		if d := x.definition(n); x.answers(d, n, file, container) {
			f.Exact = append(f.Exact, d)
		}
	}
	sortDefinitions(f.Exact)
	f.Prefix = x.beginning(file, name, f.Exact)
	if len(f.Exact)+len(f.Prefix) == 0 {
		f.Near = x.near(name)
	}
	return f
}

func (x *Index) answers(d Definition, n uint32, file, container string) bool {
	s, _ := x.symbolOf(n)
	return (file == "" || d.File == file || strings.HasSuffix(d.File, "/"+file)) && (container == "" || x.words.text(s.container) == container)
}

// cutFile takes the file from the front of cart.py:total.
func cutFile(question string) (file, name string) {
	if i := strings.LastIndexByte(question, ':'); i > 0 && !strings.Contains(question, "::") {
		return question[:i], question[i+1:]
	}
	return "", question
}

// cutName splits Container.name, also where it is written Container::name.
func cutName(name string) (container, member string) {
	name = strings.ReplaceAll(name, "::", ".")
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

func (x *Index) wordOr(s string) uint32 {
	if n, ok := x.words.known(s); ok {
		return n
	}
	return noNode
}

// maxPrefix is how many names that only begin as asked are told.
const maxPrefix = 200

func (x *Index) beginning(file, name string, exact []Definition) (out []Definition) {
	if name == "" {
		return nil
	}
	lower := strings.ToLower(name)
	had := map[uint32]bool{}
	for _, d := range exact {
		had[d.node] = true
	}
	for n := range x.nodes {
		s, ok := x.symbolOf(uint32(n))
		if !ok || had[uint32(n)] {
			continue
		}
		begins := strings.HasPrefix(strings.ToLower(x.words.text(s.name)), lower)
		if !begins && s.container != 0 && strings.Contains(name, ".") {
			begins = strings.HasPrefix(strings.ToLower(x.words.text(s.container)+"."+x.words.text(s.name)), lower)
		}
		if d := x.definition(uint32(n)); begins && x.answers(d, uint32(n), file, "") {
			out = append(out, d)
		}
	}
	sortDefinitions(out)
	return out[:min(len(out), maxPrefix)]
}

func sortDefinitions(all []Definition) {
	slices.SortFunc(all, func(a, b Definition) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
	})
}

// near are the five names of the tree that are closest to one.
func (x *Index) near(name string) []string {
	type scored struct {
		name string
		far  int
	}
	var all []scored
	_, member := cutName(name)
	for n, nodes := range x.defs {
		if len(nodes) == 0 {
			continue
		}
		known := x.words.text(n)
		far := distance(strings.ToLower(known), strings.ToLower(member))
		if far <= max(2, len(member)/3) || len(member) > 3 && strings.Contains(strings.ToLower(known), strings.ToLower(member)) {
			all = append(all, scored{x.definition(nodes[0]).Name, far})
		}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Or(cmp.Compare(a.far, b.far), strings.Compare(a.name, b.name)) })
	var out []string
	for _, s := range all[:min(5, len(all))] {
		out = append(out, s.name)
	}
	return out
}

// distance is the number of letters to add, drop or change to get from a to b; long names are far from each other.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	return levenshtein.ComputeDistance(a, b)
}

// Refs are the places at which a definition is used, in order of path and line.
func (x *Index) Refs(d Definition) []Edge {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []Edge
	for _, u := range x.usersOf(d.node) {
		out = append(out, x.edge(x.at(u)))
	}
	x.proofs(out)
	return out
}

// Uses are the definitions that one uses, in order of line.
func (x *Index) Uses(d Definition) []Edge {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []Edge
	if int(d.node) < len(x.nodes) {
		for _, g := range x.files[x.nodes[d.node].file].edges {
			if g.from == d.node {
				out = append(out, x.edge(g))
			}
		}
	}
	x.proofs(out)
	return out
}

func (x *Index) usersOf(n uint32) []use {
	if int(n) >= len(x.nodes) {
		return nil
	}
	return x.users().of(n)
}

// Edges are all edges of the tree, in order of path and line.
func (x *Index) Edges() []Edge {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var out []Edge
	for _, e := range x.files {
		for _, g := range e.edges {
			out = append(out, x.edge(g))
		}
	}
	x.proofs(out)
	return out
}

func (x *Index) edge(g edge) Edge {
	from := x.definition(g.from)
	return Edge{Kind: g.kind.String(), Rule: g.rule.String(), From: from, To: x.definition(g.to), File: from.File, Line: int(g.line)}
}

// proofs sorts edges and fills in their lines, from files that are as they were when they were indexed.
func (x *Index) proofs(edges []Edge) {
	slices.SortStableFunc(edges, func(a, b Edge) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.To.File, b.To.File), strings.Compare(a.To.Name, b.To.Name), strings.Compare(a.Kind, b.Kind))
	})
	var lines []string
	for i := range edges {
		if i == 0 || edges[i].File != edges[i-1].File {
			lines = strings.Split(string(x.textOf(edges[i].File)), "\n")
		}
		if n := edges[i].Line; n >= 1 && n <= len(lines) {
			edges[i].Text = clipLine(strings.TrimSpace(lines[n-1]))
		}
	}
}

// maxProof is how much of a line is told.
const maxProof = 400

func clipLine(s string) string {
	if len(s) <= maxProof {
		return s
	}
	return strings.ToValidUTF8(s[:maxProof], "") + "…"
}

// textOf is a file's text, nil if it is not the one that was indexed.
func (x *Index) textOf(name string) []byte {
	i, ok := x.byPath[name]
	if !ok || x.files[i].record == nil {
		return nil
	}
	src, err := fs.ReadFile(x.tree, name)
	g, _ := syntax.For(name)
	if err != nil || digestOf([]byte(g.Name), []byte{0}, src) != x.files[i].record.hash {
		return nil
	}
	return src
}

// Reached is a definition and how many steps away it is.
type Reached struct {
	Definition
	Depth int    `json:"depth"`
	Via   string `json:"via"` // what it uses, or is used by, on the way
}

// Direction says which way edges are followed.
type Direction int

const (
	Dependents   Direction = iota // who uses it, and who uses those
	Dependencies                  // what it uses, and what those use
)

// Reach follows edges from a definition, at most depth steps; without end if depth is 0. A file as a whole is where
// the way ends: that a file imports something says nothing about what imports that file.
func (x *Index) Reach(d Definition, way Direction, depth int) []Reached {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if int(d.node) >= len(x.nodes) {
		return nil
	}
	var out []Reached
	x.spread(x.whole(d.node), way, depth, func(n, via uint32, depth int) {
		out = append(out, Reached{Definition: x.definition(n), Depth: depth, Via: x.definition(via).String()})
	})
	slices.SortStableFunc(out, func(a, b Reached) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return out
}

// whole is a definition and, where it is a type in whose text its members stand, those.
func (x *Index) whole(n uint32) []uint32 {
	s, ok := x.symbolOf(n)
	out := []uint32{n}
	if !ok || x.words.text(s.kind) != "type" {
		return out
	}
	e := x.files[x.nodes[n].file]
	for _, m := range e.nodes {
		if inner, _ := x.symbolOf(m); m != n && s.first <= inner.first && inner.last <= s.last && inner.container == s.name {
			out = append(out, m)
		}
	}
	return out
}
