package perceive

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// EdgeKind is how one symbol uses another.
type EdgeKind uint8

const (
	UnknownEdge EdgeKind = iota
	Calls
	References
	Imports
	Inherits
)

var edgeKinds = [...]string{"unknown", "call", "reference", "import", "inherits"}

func (k EdgeKind) String() string { return edgeKinds[min(int(k), len(edgeKinds)-1)] }

// Rule is why a name was taken to mean a definition. There are no others: where none holds there is no edge.
type Rule uint8

const (
	NoRule         Rule = iota
	SameFile            // the file itself defines the name at its top level, or around the use
	ByImport            // an import of the file names the definition or the module that holds it
	BySelf              // self, this or the receiver: a member of the type around the use, or of what it builds upon
	TypedVariable       // the text says which type the variable has
	SamePackage         // another file of the package defines it
	OnlyDefinition      // the receiver is unknown, and the tree has one member of the name, which no library type has
	GoTypes             // go/types says so
	GoMember            // go/types says: a field of this type, or a method of this interface
)

var rules = [...]string{"none", "same file", "import", "self", "typed variable", "same package", "only definition", "go/types", "go/types member"}

func (r Rule) String() string { return rules[min(int(r), len(rules)-1)] }

// edge is one use that was bound.
type edge struct {
	from, to, line uint32
	kind           EdgeKind
	rule           Rule
}

// blind is one use that two definitions or more could be meant by.
type blind struct{ name, line, candidates uint32 }

// outside is an import of what the tree does not hold.
type outside struct{ from, line uint32 }

// meaning is what a name may stand for.
type meaning struct {
	nodes []uint32 // definitions
	files []int32  // a module's files
	inner uint32   // the inline module in them, Rust
	dir   string   // a folder of modules, "" if none; the root is "."
	out   bool     // something that the tree does not hold
	line  uint32   // of the import that gave the name
}

func (m meaning) none() bool {
	return len(m.nodes) == 0 && len(m.files) == 0 && m.dir == "" && !m.out
}

// naming is how the names of one family are bound.
type naming interface {
	module(b *binder, from string) meaning                  // what an import's From means
	inModule(b *binder, m meaning, name uint32) meaning     // what a module calls by a name
	bare(b *binder, name, in uint32) (meaning, Rule)        // a name alone that neither the file nor its imports know
	member(b *binder, typ, container, name uint32) []uint32 // a type's own members of a name
}

var languages = [families]naming{
	goFamily: goNames{}, pythonFamily: pythonNames{}, scriptFamily: scriptNames{}, rustFamily: rustNames{}, javaFamily: javaNames{},
}

// binder binds the names of one file.
type binder struct {
	x      *Index
	file   int32
	e      *entry
	r      *record
	lang   naming
	scope  map[local]meaning // by the name under which the file imported it
	stars  []star            // modules of which everything was taken
	edges  []edge
	had    [][2]uint32 // what the file's types built upon before
	inner  bool        // an import is known in a part of the file only
	seen   int         // how deep a chain of imports was followed
	tables *tables
	onlys  map[uint32]meaning // what only found, by name
	near   map[int32]bool     // files and folders that it imports, and those that they import
	steps  *int               // how many imports of others may yet be looked at
}

// local is a name that is known inside a symbol or inline module, 0 for the whole file.
type local struct{ in, name uint32 }

// star is a module of which everything was taken, and where.
type star struct {
	in uint32
	of meaning
}

// maxSteps is how many imports of other files are followed for one name.
const maxSteps = 2000

// bindAll binds files anew: first what their types build upon, then everything, since members are looked up in bases.
func (x *Index) bindAll(files []int32) {
	binders := make([]*binder, len(files))
	tables := newTables(x)
	x.each(len(files), func(i int) {
		binders[i] = x.binder(files[i], tables)
		binders[i].bindSupers()
	})
	for _, b := range binders {
		x.keepBases(b)
	}
	tables.forget()
	x.each(len(files), func(i int) {
		binders[i].bind()
		binders[i] = nil
	})
}

// each does a job on all cores.
func (x *Index) each(n int, do func(i int)) {
	if n < 8 {
		for i := range n {
			do(i)
		}
		return
	}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(x.options.Workers, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

func (x *Index) binder(file int32, tables *tables) *binder {
	e := x.files[file]
	b := &binder{x: x, file: file, e: e, r: e.record, lang: languages[e.record.family], scope: map[local]meaning{}, had: e.bases, steps: new(int), tables: tables}
	e.blind, e.outside, e.beyond, e.imports = nil, nil, 0, nil
	if b.lang == nil {
		return b
	}
	for _, m := range b.r.imports {
		*b.steps = maxSteps
		b.inner = b.inner || m.in != 0
		b.addImport(m)
	}
	slices.Sort(e.imports)
	e.imports = slices.Clip(slices.Compact(e.imports))
	return b
}

// addImport puts an import into the file's scope and makes its edge.
func (b *binder) addImport(m importRecord) {
	from := b.x.words.text(m.from)
	module := b.lang.module(b, from)
	module.line = m.line
	got := module
	all := b.x.words.text(m.name) == "*"
	away := m.exported && b.r.family == scriptFamily // given on without being known here
	if m.name != 0 && !all && !module.none() && !module.out {
		got = b.lang.inModule(b, module, m.name)
		got.line = m.line
	}
	switch {
	case away:
	case all && m.as == 0:
		b.stars = append(b.stars, star{m.in, module})
	case m.as != 0:
		b.addName(m, from, got)
	case m.name != 0:
		b.know(m.in, m.name, got)
	default:
		b.addName(m, from, got)
	}
	b.importEdge(m, module, got)
}

// callable is what a name means that stands for a whole module: in scripts, what that exports as its default.
func (b *binder) callable(m meaning) meaning {
	if b.r.family != scriptFamily || len(m.files) != 1 || len(m.nodes) > 0 {
		return m
	}
	if chosen := b.x.files[m.files[0]].record.chosen; chosen != 0 {
		m.nodes = b.x.topLevel(m.files, 0, chosen)
	}
	return m
}

// addName is addImport for what has a name of its own here.
func (b *binder) addName(m importRecord, from string, got meaning) {
	as := m.as
	if b.r.family == pythonFamily && m.name == 0 {
		if first, _, dotted := strings.Cut(from, "."); dotted && first != "" && (as == 0 || as == m.from || b.x.words.text(as) == first) {
			as, got = b.word(first), b.lang.module(b, first)
		}
	}
	if as == 0 {
		as = m.from
	}
	b.know(m.in, as, got)
}

// know adds a meaning to a name: one that is imported twice may mean either.
func (b *binder) know(in, name uint32, m meaning) {
	key := local{in, name}
	had, ok := b.scope[key]
	if ok && (!slices.Equal(had.nodes, m.nodes) || !slices.Equal(had.files, m.files) || had.dir != m.dir) {
		m.nodes = union(had.nodes, m.nodes)
		m.files = union(had.files, m.files)
		m.out = m.out || had.out
		m.dir = cmp.Or(m.dir, had.dir)
	}
	b.scope[key] = m
}

// imported is what the imports around a symbol call by a name, the innermost first.
func (b *binder) imported(name, in uint32) (meaning, bool) {
	for _, around := range b.around(in) {
		if m, ok := b.scope[local{around, name}]; ok {
			return m, true
		}
	}
	return meaning{}, false
}

// around are the words for a symbol, for what holds it, and for the whole file.
func (b *binder) around(in uint32) []uint32 {
	if in == 0 || !b.inner {
		return []uint32{0}
	}
	s := b.r.symbols[in-1]
	own := s.name
	if s.container != 0 {
		own = b.word(b.x.words.text(s.container) + "." + b.x.words.text(s.name))
	}
	return []uint32{own, s.container, 0}
}

func union[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, v := range b {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// word is the number of a text that the index has, else one that nothing is named by.
func (b *binder) word(s string) uint32 {
	if n, ok := b.x.words.known(s); ok {
		return n
	}
	return ^uint32(0)
}

func (b *binder) importEdge(m importRecord, module, got meaning) {
	b.noteImport(module, got)
	got.nodes = b.x.narrowed(got.nodes, true)
	switch {
	case module.out || module.none() || got.out:
		b.e.outside = append(b.e.outside, outside{m.from, m.line})
	case len(got.nodes) == 1:
		b.addEdge(b.e.self, got.nodes[0], m.line, Imports, ByImport)
	case len(got.nodes) > 1:
		b.e.blind = append(b.e.blind, blind{m.name, m.line, uint32(len(got.nodes))})
	case len(got.files) == 1 && got.dir == "" || b.r.family == pythonFamily && len(got.files) == 1:
		b.addEdge(b.e.self, b.x.files[got.files[0]].self, m.line, Imports, ByImport)
	case got.dir != "":
		b.addEdge(b.e.self, b.x.folder(got.dir), m.line, Imports, ByImport)
	case len(module.files) == 1: // the module is there, the name is not
		b.addEdge(b.e.self, b.x.files[module.files[0]].self, m.line, Imports, ByImport)
	}
}

// noteImport notes the files and folders that the file imports.
func (b *binder) noteImport(module, got meaning) {
	for _, m := range []meaning{module, got} {
		if i, ok := b.x.byPath[m.dir]; ok && m.dir != "" && b.r.family != pythonFamily {
			b.e.imports = append(b.e.imports, i)
		}
		if len(m.files) == 1 {
			b.e.imports = append(b.e.imports, m.files[0])
		}
	}
	for _, n := range got.nodes {
		b.e.imports = append(b.e.imports, b.x.nodes[n].file)
	}
}

// folder is the node of a folder that holds files.
func (x *Index) folder(dir string) uint32 {
	if i, ok := x.byPath[dir]; ok {
		return x.files[i].self
	}
	return noNode
}

const noNode = ^uint32(0)

func (b *binder) addEdge(from, to, line uint32, kind EdgeKind, rule Rule) {
	if to == noNode || from == to && b.x.nodes[to].symbol == 0 {
		return
	}
	b.edges = append(b.edges, edge{from, to, line, kind, rule})
}

// node is the node of a symbol given as its number plus one, or of the file.
func (b *binder) node(symbol uint32) uint32 {
	if symbol == 0 || int(symbol) > len(b.e.nodes) {
		return b.e.self
	}
	return b.e.nodes[symbol-1]
}

// bindSupers makes the inherits edges.
func (b *binder) bindSupers() {
	if b.lang == nil {
		return
	}
	b.e.bases = nil
	for _, s := range b.r.supers {
		*b.steps = maxSteps
		got, rule := b.chain(split(b.x.words.text(s.name)), s.of)
		types := b.types(got.nodes)
		from := b.node(s.of)
		switch {
		case len(types) == 1:
			b.addEdge(from, types[0], s.line, Inherits, rule)
			if from != types[0] {
				b.e.bases = append(b.e.bases, [2]uint32{from, types[0]})
			}
		case len(types) > 1:
			b.e.blind = append(b.e.blind, blind{s.name, s.line, uint32(len(types))})
		default:
			b.e.bases = append(b.e.bases, [2]uint32{from, noNode})
		}
	}
}

// types are those of some definitions that others can build upon.
func (b *binder) types(nodes []uint32) []uint32 {
	var out []uint32
	for _, n := range nodes {
		if kind := b.x.kindOf(n); kind != "func" && kind != "method" {
			out = append(out, n)
		}
	}
	return out
}

// keepBases notes what a file's types build upon.
func (x *Index) keepBases(b *binder) {
	for _, pair := range b.had {
		delete(x.bases, pair[0])
	}
	for _, pair := range b.e.bases {
		x.bases[pair[0]] = append(x.bases[pair[0]], pair[1])
	}
}

func (x *Index) symbolOf(n uint32) (symbolRecord, bool) {
	if int(n) >= len(x.nodes) || x.nodes[n].symbol == 0 || x.nodes[n].gone {
		return symbolRecord{}, false
	}
	return x.files[x.nodes[n].file].record.symbols[x.nodes[n].symbol-1], true
}

func (x *Index) kindOf(n uint32) string {
	s, _ := x.symbolOf(n)
	return x.words.text(s.kind)
}

// bind makes the edges of all uses.
func (b *binder) bind() {
	if b.lang != nil {
		open := b.bindTyped()
		for _, u := range b.r.uses {
			if open == nil || open[u.start] {
				*b.steps = maxSteps
				b.use(u)
			}
		}
	}
	b.e.edges = b.settled()
}

// settled are the edges in order, each once. That a type builds upon another says more than that it names it.
func (b *binder) settled() []edge {
	slices.SortFunc(b.edges, func(p, q edge) int {
		return cmp.Or(cmp.Compare(p.line, q.line), cmp.Compare(p.from, q.from), cmp.Compare(p.to, q.to), -cmp.Compare(p.kind, q.kind), cmp.Compare(p.rule, q.rule))
	})
	var out []edge
	for i, g := range b.edges {
		if i > 0 {
			had := b.edges[i-1]
			same := had.from == g.from && had.to == g.to && had.line == g.line
			if same && (had.kind == g.kind || had.kind == Inherits && g.kind == References) {
				b.edges[i] = had
				continue
			}
		}
		out = append(out, g)
	}
	return slices.Clip(out)
}

// use binds one use, or says why not.
func (b *binder) use(u useRecord) {
	got, rule := b.meaningOf(u)
	got.nodes = b.x.narrowed(got.nodes, u.called)
	switch {
	case len(got.nodes) == 1 && !got.out:
		kind := References
		if u.called {
			kind = Calls
		}
		b.addEdge(b.node(u.in), got.nodes[0], u.line, kind, rule)
	case len(got.nodes) > 0:
		n := uint32(len(got.nodes))
		if got.out {
			n++
		}
		b.e.blind = append(b.e.blind, blind{u.name, u.line, n})
	case got.out:
		b.e.beyond++
	}
}

// narrowed leaves out what a use cannot mean: an overload's signature beside the function itself, in Java a field where
// something is called, and a method where nothing is.
func (x *Index) narrowed(nodes []uint32, called bool) []uint32 {
	if len(nodes) < 2 {
		return nodes
	}
	var out []uint32
	for _, n := range nodes {
		s, _ := x.symbolOf(n)
		java := x.files[x.nodes[n].file].record.family == javaFamily
		if s.stub || java && called != (x.words.text(s.kind) == "method") {
			continue
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nodes
	}
	return out
}

func (b *binder) meaningOf(u useRecord) (meaning, Rule) {
	before := b.x.words.text(u.before)
	if before == "" {
		if u.typ != 0 { // Java: a member of a type of this text
			if got, _, ok := b.ofType(u, ""); ok && !got.none() {
				return got, BySelf
			}
		}
		got, rule := b.alone(u.name, u.in)
		return b.callable(got), rule
	}
	if u.typ != 0 {
		if got, rule, ok := b.ofType(u, before); ok {
			return got, rule
		}
	}
	if before != "?" && !u.local {
		if got, rule := b.chain(append(split(before), b.x.words.text(u.name)), u.in); rule != NoRule {
			return got, rule
		}
	}
	return b.only(u)
}

// ofType is a member of the type that the text says the receiver has.
func (b *binder) ofType(u useRecord, before string) (meaning, Rule, bool) {
	owner, _ := b.chain(split(b.x.words.text(u.typ)), u.in)
	if owner.out && len(owner.nodes) == 0 {
		return owner, ByImport, true
	}
	types := b.types(owner.nodes)
	if len(types) != 1 {
		return meaning{}, NoRule, false
	}
	rule := TypedVariable
	switch before {
	case "self", "this", "cls", "Self", "super", "super()":
		rule = BySelf
	}
	nodes, foreign := b.members(types[0], u.name)
	if b.r.family == rustFamily && !u.called && before != "Self" { // what is not called is a field, whatever methods there are
		nodes = slices.DeleteFunc(slices.Clone(nodes), func(n uint32) bool { return b.x.kindOf(n) == "method" })
	}
	return meaning{nodes: nodes, out: foreign && len(nodes) == 0}, rule, true
}

// chain follows names from left to right.
func (b *binder) chain(parts []string, in uint32) (meaning, Rule) {
	if len(parts) == 0 {
		return meaning{}, NoRule
	}
	got, rule := b.alone(b.word(parts[0]), in)
	for _, part := range parts[1:] {
		if rule == NoRule || got.out {
			return got, rule
		}
		name := b.word(part)
		got.nodes = b.x.narrowed(got.nodes, false)
		types := b.types(got.nodes)
		switch {
		case len(got.nodes) > 1:
			return meaning{}, NoRule
		case len(types) == 1 && b.x.kindOf(types[0]) == "type":
			nodes, foreign := b.members(types[0], name)
			got = meaning{nodes: nodes, out: foreign && len(nodes) == 0}
		case len(got.files) > 0 || got.dir != "":
			got = b.lang.inModule(b, got, name)
		default:
			return meaning{}, NoRule
		}
	}
	return got, rule
}

// alone is what a name means that stands for itself.
func (b *binder) alone(name, in uint32) (meaning, Rule) {
	imported, ok := b.imported(name, in)
	own := b.own(name, in, imported.line)
	switch {
	case len(own) > 0 && ok:
		return meaning{nodes: union(own, imported.nodes), out: imported.out || len(imported.files) > 0}, SameFile
	case len(own) > 0:
		return meaning{nodes: own}, SameFile
	case ok:
		return imported, ByImport
	}
	if got, rule := b.lang.bare(b, name, in); !got.none() {
		return got, rule
	}
	for _, s := range b.stars {
		if s.of.out || s.of.none() || !slices.Contains(b.around(in), s.in) {
			continue
		}
		if got := b.lang.inModule(b, s.of, name); !got.none() {
			return got, ByImport
		}
	}
	return meaning{}, NoRule
}

// own are the file's definitions of a name that can be seen from inside a symbol: those of the top level and those of
// what holds the symbol, the innermost first. What stands on the line of the name's import is that import.
func (b *binder) own(name, in, imported uint32) []uint32 {
	var top, near []uint32
	holder := uint32(0)
	if in > 0 {
		holder = b.r.symbols[in-1].container
	}
	for _, i := range b.r.named(name) {
		s := b.r.symbols[i]
		switch {
		case imported != 0 && s.line == imported:
		case s.container == 0:
			top = append(top, b.e.nodes[i])
		case b.x.words.text(s.kind) == "method":
		case s.container == holder, in > 0 && s.container == b.r.symbols[in-1].name:
			near = append(near, b.e.nodes[i])
		}
	}
	if len(near) > 0 {
		return near
	}
	return top
}

// members are a type's members of a name, or else those of the nearest types it builds upon. foreign says that one of
// those is outside the tree, so that a member which is not found may be its.
func (b *binder) members(typ, name uint32) (nodes []uint32, foreign bool) {
	seen := map[uint32]bool{typ: true}
	for level := []uint32{typ}; len(level) > 0 && len(seen) < 64; {
		var next []uint32
		for _, t := range level {
			nodes = append(nodes, b.membersOf(t, name)...)
			for _, base := range b.x.bases[t] {
				foreign = foreign || base == noNode
				if base != noNode && !seen[base] {
					seen[base] = true
					next = append(next, base)
				}
			}
		}
		if len(nodes) > 0 {
			return nodes, false
		}
		level = next
	}
	return nil, foreign
}

// membersOf are a type's own members.
func (b *binder) membersOf(typ, name uint32) []uint32 {
	owner, ok := b.x.symbolOf(typ)
	if !ok {
		return nil
	}
	return b.lang.member(b, typ, owner.name, name)
}

// inFile are the definitions of a name in a container of one file.
func (x *Index) inFile(file int32, container, name uint32) []uint32 {
	return x.topLevel([]int32{file}, container, name)
}

// only is the tree's one member of a name, where nothing says of which type it is. The file has to know of it: it
// stands in the file's own package, in a file that this one imports, or in one that such a file imports.
func (b *binder) only(u useRecord) (meaning, Rule) {
	if !u.called || libraryMember(b.r.family, b.x.words.text(u.name)) || b.foreignType(u) {
		return meaning{}, NoRule
	}
	if got, ok := b.onlys[u.name]; ok {
		return got, ruleOf(got)
	}
	got := b.onlyOf(u.name)
	if b.onlys == nil {
		b.onlys = map[uint32]meaning{}
	}
	b.onlys[u.name] = got
	return got, ruleOf(got)
}

func ruleOf(m meaning) Rule {
	if m.none() {
		return NoRule
	}
	return OnlyDefinition
}

func (b *binder) onlyOf(name uint32) meaning {
	var nodes []uint32
	member, known := false, false
	for _, n := range b.x.defs[name] {
		f := b.x.nodes[n].file
		if b.x.files[f].record.family != b.r.family {
			continue
		}
		nodes = append(nodes, n)
		s, _ := b.x.symbolOf(n)
		member = member || s.container != 0 && b.x.words.text(s.kind) == "method"
		known = known || b.knows(f)
	}
	if !member || !known {
		return meaning{}
	}
	return meaning{nodes: nodes}
}

// foreignType says whether a member is asked of what looks like a type's name in Java and is none of the tree's.
func (b *binder) foreignType(u useRecord) bool {
	before := b.x.words.text(u.before)
	before = before[strings.LastIndexByte(before, '.')+1:]
	return b.r.family == javaFamily && !u.local && before != "" && 'A' <= before[0] && before[0] <= 'Z'
}

// knows says whether a file is of this one's package or crate, or at most two imports away.
func (b *binder) knows(f int32) bool {
	if f == b.file || (b.r.family == goFamily || b.r.family == javaFamily) && path.Dir(b.x.files[f].path) == b.dir() {
		return true
	}
	if b.r.family == rustFamily {
		mine, _ := b.x.crateOf(b.e.path)
		other, _ := b.x.crateOf(b.x.files[f].path)
		if mine.dir == other.dir {
			return true
		}
	}
	if b.near == nil {
		b.near = map[int32]bool{}
		for _, i := range b.e.imports {
			b.near[i] = true
			for _, k := range b.x.files[i].imports {
				b.near[k] = true
			}
		}
	}
	return len(b.near) > 0 && (b.near[f] || b.near[b.x.byPath[path.Dir(b.x.files[f].path)]])
}

// topLevel are the definitions of a name outside of types, or in an inline module, of some files.
func (x *Index) topLevel(files []int32, inner, name uint32) (out []uint32) {
	for _, f := range files {
		e := x.files[f]
		for _, i := range e.record.named(name) {
			if e.record.symbols[i].container == inner {
				out = append(out, e.nodes[i])
			}
		}
	}
	return out
}
