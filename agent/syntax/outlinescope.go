package syntax

import (
	"slices"
	"strings"
)

const (
	maxNesting = 4000 // of nodes; what is deeper is left out of an outline
	maxScopes  = 150  // likewise, of functions and blocks
)

// outliner walks one tree and gathers its outline. Names are numbered as words; each word has the innermost binding
// that is open. Where a name may be bound behind its use, as in Python and JavaScript, uses wait until their scopes
// close; in the other languages they are resolved at once.
type outliner struct {
	*tree
	visitor func(o *outliner, n int)
	codes   []code
	fields  []fieldCode
	out     Outline
	types   map[string]bool  // the symbols that are types
	marks   map[int32]string // the symbols by their nodes

	ids    map[string]int32
	words  []string
	slot   []int32 // of a word: its innermost binding, -1 for none
	binds  []binding
	scopes []scope
	early  bool // uses are resolved at once

	waits []wait  // beside out.Uses
	live  []int32 // the uses that wait

	in, class, base string            // the symbol around, the type around, and the one type that it extends
	this            string            // the type of this, "" where that is not known
	static          bool              // the function to come has no self
	variables       map[string]string // types of a type's variables, by Type.name
	later           []later
	loose           map[int32]bool      // words that are assigned to from inside other functions: their types are not known
	mods            []string            // of Rust: the modules of the file around
	gives           map[string]string   // of Rust: what this text's constructors give
	around          []kin               // of Java: the types around
	members         map[string]member   // of Java: the symbols, as Container.name
	namespaces      map[string][]string // what the text's namespaces and modules define
	infers          int                 // the scope of the conditional type around
	prototypes      map[int]string      // the type whose method a function becomes
	depth           int
	lineAt          int // the line that was asked for last
}

// reader is how one language's trees are read.
type reader struct {
	visit func(o *outliner, n int)
	early bool
}

func (s sitter) outline(src []byte) (Outline, error) {
	t, err := s.tree(src)
	if err != nil {
		return Outline{}, err
	}
	w := &walk{tree: t, marks: map[int32]string{}}
	s.gather(w)
	o := newOutliner(t, w.found)
	o.visitor, o.early, o.marks, o.codes, o.fields = s.read.visit, s.read.early, w.marks, t.names.codes, t.names.fieldCodes
	o.open(scope{})
	for _, s := range w.found {
		if s.Container == "" {
			o.bind(0, o.wordOf([]byte(s.Name)), symbol, "", s.Kind != "var" && s.Kind != "const")
		}
	}
	if o.visitor != nil {
		o.visit(0)
	}
	return o.finish(), nil
}

func newOutliner(t *tree, symbols []Symbol) *outliner {
	guess := len(t.src)/56 + 16 // a use stands in about as many bytes
	o := &outliner{
		tree: t, out: Outline{Symbols: symbols, Uses: make([]Use, 0, guess)}, types: map[string]bool{}, ids: make(map[string]int32, guess/4),
		words: make([]string, 0, guess/4), slot: make([]int32, 0, guess/4), waits: make([]wait, 0, guess), binds: make([]binding, 0, guess/4),
	}
	for _, s := range symbols {
		if s.Kind == "type" {
			o.types[s.Name] = true
		}
	}
	return o
}

// binding is a name in a scope.
type binding struct {
	word, scope int32
	prev, next  int32  // of the same word further out; of the same scope
	typ         string // of its value
	root        int32  // the type's first word, -1 for none
	how         how
	sure        bool   // a value has been seen, typ says what is known of all of them
	said        bool   // the type is written down: no assignment changes it
	within      string // the namespace or module of the text whose member it is
}

// later is a use of what a type's variable leads to.
type later struct {
	use int32
	key string // Type.name
}

type how uint8

const (
	local    how = iota
	imported     // it stands for what is elsewhere
	symbol       // the text's own, for all to see
	outer        // said to belong to a function further out
	free         // said to belong to the text's top level
)

type scope struct {
	first int32 // its bindings
	live  int   // where the uses inside it begin
	class bool  // functions inside do not see its names
	block bool  // it is part of a function
}

// wait is how a use goes on: which word decides, and how far behind that word it stands.
type wait struct {
	root  int32 // -1 when all is said
	scope int32
	deep  int32
}

const (
	maxLater = 1 << 16
	hidden   = -2 // the deep of a use whose type is not what it seems
)

// ofType is the deep of a use whose word is not what leads to it, but the type of that.
const ofType = -1

// lead is what leads to a name.
type lead struct {
	root, deep int32
	from, to   int    // its bytes; from -1 when it is no chain of names
	typ        string // its type where that is plain from itself
	of         string // the type whose variable it is, likewise
}

func nowhere() lead { return lead{root: -1, from: -1} }

func (o *outliner) code(n int) code {
	if n < 0 || o.nodes[n].flags&broken != 0 {
		return kOther
	}
	if k := int(o.nodes[n].kind); k < len(o.codes) {
		return o.codes[k]
	}
	return kOther
}

// field is the child in a field, -1 if there is none.
func (o *outliner) field(n int, f fieldCode) int {
	if n < 0 {
		return -1
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.fieldOf(c) == f && o.code(c) != kComment {
			return c
		}
	}
	return -1
}

func (o *outliner) fieldOf(n int) fieldCode {
	if f := int(o.nodes[n].field); f < len(o.fields) {
		return o.fields[f]
	}
	return fOther
}

// first is the first child that the grammar names, -1 if there is none.
func (o *outliner) first(n int) int {
	if n < 0 {
		return -1
	}
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if o.has(c, named) && o.code(c) != kComment {
			return c
		}
	}
	return -1
}

// visit reads a node and what lies below it.
func (o *outliner) visit(n int) {
	if n < 0 || o.depth > maxNesting || o.leaf(n) && !o.has(n, named) {
		return
	}
	o.depth++
	if o.has(n, marked) {
		in := o.in
		o.in = o.marks[int32(n)]
		o.visitor(o, n)
		o.in = in
	} else {
		o.visitor(o, n)
	}
	o.depth--
}

// below visits all children.
func (o *outliner) below(n int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		o.visit(c)
	}
}

// besides visits all children but one.
func (o *outliner) besides(n, not int) {
	for c := n + 1; c < int(o.nodes[n].next); c = int(o.nodes[c].next) {
		if c != not {
			o.visit(c)
		}
	}
}

// bytes of the source, cut at its end.
func (o *outliner) bytes(from, to int) []byte {
	to = min(max(to, 0), len(o.src))
	return o.src[min(max(from, 0), to):to]
}

// word numbers a name.
func (o *outliner) word(n int) int32 { return o.wordOf(o.bytes(o.start(n), o.end(n))) }

func (o *outliner) wordOf(text []byte) int32 {
	if w, ok := o.ids[string(text)]; ok {
		return w
	}
	w, s := int32(len(o.words)), string(text)
	o.ids[s] = w
	o.words, o.slot = append(o.words, s), append(o.slot, -1)
	return w
}

// string keeps one copy of a text without its white space.
func (o *outliner) string(from, to int) string {
	text := o.bytes(from, to)
	for _, b := range text {
		if b <= ' ' {
			text = []byte(strings.Join(strings.Fields(string(text)), ""))
			break
		}
	}
	return o.words[o.wordOf(text)]
}

// lineOf is the line of an offset; neighbours are asked for one after the other.
func (o *outliner) lineOf(offset int) int {
	if l := o.lineAt; l < 1 || offset < o.lines[l-1] || l < len(o.lines) && offset >= o.lines[l] {
		o.lineAt = o.line(offset)
	}
	return o.lineAt
}

// open begins a scope; the answer is false, and there is none, where they are nested too deeply.
func (o *outliner) open(s scope) bool {
	if len(o.scopes) >= maxScopes {
		return false
	}
	s.first, s.live = -1, len(o.live)
	o.scopes = append(o.scopes, s)
	return true
}

// inside reads something in a scope of its own.
func (o *outliner) inside(s scope, read func()) {
	if o.open(s) {
		read()
		o.close()
	}
}

// deeper counts the nesting of what does not go through visit.
func (o *outliner) deeper(read func()) {
	if o.depth <= maxNesting {
		o.depth++
		read()
		o.depth--
	}
}

func (o *outliner) close() {
	s := len(o.scopes) - 1
	if o.scopes[s].first >= 0 && !o.early {
		o.settle(s)
	}
	for b := o.scopes[s].first; b >= 0; b = o.binds[b].next {
		o.slot[o.binds[b].word] = o.binds[b].prev
	}
	o.scopes = o.scopes[:s]
}

// bind gives a name to a scope. typ is its value's type, if that is known; sure says whether it has a value at all.
// What it is by then is the answer.
func (o *outliner) bind(s int, word int32, as how, typ string, sure bool) how {
	at := &o.slot[word]
	for *at >= 0 && int(o.binds[*at].scope) > s {
		at = &o.binds[*at].prev
	}
	if *at >= 0 && int(o.binds[*at].scope) == s {
		b := &o.binds[*at]
		if o.early || b.how == imported && as == local {
			b.how = as
		}
		switch {
		case o.early || sure && !b.sure:
			b.typ, b.root, b.sure = typ, o.rootOf(typ), sure
		case sure && b.typ != typ:
			b.typ, b.root = "", -1
		}
		return b.how
	}
	b := binding{word: word, scope: int32(s), prev: *at, next: o.scopes[s].first, how: as, typ: typ, sure: sure}
	*at = int32(len(o.binds))
	o.scopes[s].first = *at
	b.root = o.rootOf(typ) // may grow the words, so at is used before
	o.binds = append(o.binds, b)
	return as
}

// rootOf is the first word of a type as it is written.
func (o *outliner) rootOf(typ string) int32 {
	if typ == "" {
		return -1
	}
	end := strings.IndexAny(typ, ".:")
	if end < 0 {
		end = len(typ)
	}
	return o.wordOf([]byte(typ[:end]))
}

// here is the innermost scope.
func (o *outliner) here() int { return len(o.scopes) - 1 }

// use adds a name. By is what leads to it, nil for nothing.
func (o *outliner) use(from, to int, by *lead, called bool) lead {
	w := o.wordOf(o.bytes(from, to))
	if by == nil && o.mine(w) {
		return lead{root: w, from: from, to: to, deep: 1}
	}
	u := Use{Name: o.words[w], In: o.in, Start: from, Line: o.lineOf(from), Called: called}
	next := lead{root: w, from: from, to: to, deep: 1}
	hold := wait{root: w, scope: int32(o.here())}
	switch {
	case by == nil:
	case by.from < 0:
		u.Before, u.Type = "?", by.typ
		hold.root, hold.deep = o.rootOf(by.typ), ofType
		next = nowhere()
	default:
		u.Before, u.Type = o.string(by.from, by.to), by.typ
		next.root, next.from, next.deep = by.root, by.from, by.deep+1
		hold.root, hold.deep = by.root, by.deep
		if by.typ != "" {
			hold.root, hold.deep = o.rootOf(by.typ), ofType
		}
		next.of = by.typ
	}
	at := int32(len(o.out.Uses))
	o.out.Uses, o.waits = append(o.out.Uses, u), append(o.waits, hold)
	if by != nil && by.of != "" {
		o.through(at, by.of)
	}
	switch {
	case hold.root < 0:
	case !o.early:
		o.live = append(o.live, at)
	default:
		for o.resolve(at, -1) {
		}
	}
	return next
}

// outermost is the scope of the function, or whatever holds the block, around.
func (o *outliner) outermost() int {
	s := o.here()
	for s > 0 && o.scopes[s].block {
		s--
	}
	return s
}

// imported notes an import and binds the name that it gives.
func (o *outliner) imported(s int, i Imported, at int) {
	i.Line = o.lineOf(at)
	if s > 0 {
		i.In = o.in
	}
	if i.As != "" && !(i.Exported && i.From == "") {
		first, _, _ := strings.Cut(i.As, ".")
		o.bind(s, o.wordOf([]byte(first)), imported, "", true)
	}
	o.out.Imports = append(o.out.Imports, i)
}

func (o *outliner) loosen(word int32) {
	if o.loose == nil {
		o.loose = map[int32]bool{}
	}
	o.loose[word] = true
}

// enter binds what a namespace or a module of the text defines, in a scope that was opened for it.
func (o *outliner) enter(name string) {
	if o.namespaces == nil {
		o.namespaces = map[string][]string{}
		for _, s := range o.out.Symbols {
			if s.Container != "" && s.Kind != "method" {
				o.namespaces[s.Container] = append(o.namespaces[s.Container], s.Name)
			}
		}
	}
	for _, member := range o.namespaces[name] {
		w := o.wordOf([]byte(member))
		o.bind(o.here(), w, symbol, "", true)
		o.binds[o.slot[w]].within = name
	}
}

// mine says whether a name is a function's own already, whatever follows.
func (o *outliner) mine(word int32) bool {
	at := o.slot[word]
	if at < 0 {
		return false
	}
	b := &o.binds[at]
	return b.how == local && (o.early || b.scope > 0 && !o.scopes[b.scope].class)
}

// settle resolves what waits in a scope that closes.
func (o *outliner) settle(s int) {
	from := o.scopes[s].live
	keep := o.live[:from]
	for _, u := range o.live[from:] {
		for o.resolve(u, s) {
		}
		if o.waits[u].root >= 0 {
			keep = append(keep, u)
		}
	}
	o.live = keep
}

// resolve goes one step with a use if its word is bound in a scope, or in any if that is -1. It is true where there
// may be another step.
func (o *outliner) resolve(u int32, s int) bool {
	w := &o.waits[u]
	if w.root < 0 {
		return false
	}
	at := o.slot[w.root]
	if at < 0 || s >= 0 && (int(o.binds[at].scope) != s || o.scopes[s].class && int(w.scope) != s) {
		return false
	}
	b, use := o.binds[at], &o.out.Uses[u]
	root := w.root
	w.root = -1
	switch {
	case b.how == free:
	case b.how == outer:
		w.root = root
	case w.deep == ofType:
		if b.how == local {
			use.Type, w.deep = "", hidden
		}
	case b.how == local && w.deep == 0:
		use.Name = ""
	case b.within != "" && w.deep == 0:
		use.Type = b.within
	case b.how == imported:
	default:
		use.Local = b.how == local
		if b.typ == "" || o.loose[root] {
			return false
		}
		if w.deep == 1 {
			use.Type = b.typ
			w.root, w.deep = b.root, ofType
			return true
		}
		if w.deep == 2 {
			o.through(u, b.typ)
			w.root, w.deep = b.root, ofType
			return true
		}
	}
	return false
}

// through notes that what leads to a use is a variable of a type: self.cart in self.cart.total.
func (o *outliner) through(u int32, typ string) {
	before := o.out.Uses[u].Before
	if dot := strings.LastIndexByte(before, '.'); len(o.later) < maxLater {
		o.later = append(o.later, later{u, typ + "." + before[dot+1:]})
	}
}

// variable notes the type of a type's variable; two types are none.
func (o *outliner) variable(of, name, typ string) {
	if of == "" || name == "" {
		return
	}
	if o.variables == nil {
		o.variables = map[string]string{}
	}
	key := of + "." + name
	if old, ok := o.variables[key]; ok && old != typ {
		typ = ""
	}
	o.variables[key] = typ
}

// change is an assignment to a name: a type that was only seen is known no more if this is another.
func (o *outliner) change(word int32, typ string) {
	at := o.slot[word]
	switch {
	case at < 0:
		o.loosen(word)
		return
	case o.binds[at].said:
		return
	}
	if b := &o.binds[at]; b.sure && b.typ != typ {
		b.typ, b.root = "", -1
	} else if !b.sure {
		b.typ, b.root, b.sure = typ, o.rootOf(typ), true
	}
}

// finish closes the text's own scope and drops the uses that are none.
func (o *outliner) finish() Outline {
	for len(o.scopes) > 0 {
		o.close()
	}
	for _, l := range o.later {
		if typ := o.variables[l.key]; typ != "" && o.waits[l.use].deep != hidden {
			o.out.Uses[l.use].Type = typ
		}
	}
	o.out.Uses = slices.DeleteFunc(o.out.Uses, func(u Use) bool { return u.Name == "" })
	return o.out
}
