package perceive

import (
	"sync"
)

// tables is what binding gathers once for all files: Go's packages, what modules give on of others, and what was found by
// that. They hold for one round of binding.
type tables struct {
	goTables
	given  sync.Map // of file to *given
	passed sync.Map // of passedKey to meaning
}

func newTables(x *Index) *tables { return &tables{goTables: goTables{x: x}} }

// passedKey is a name that is asked of a module.
type passedKey struct {
	file int32
	name uint32
}

// given is what a file's imports make known to those who import the file.
type given struct {
	b     *binder // of the file, to resolve its imports with
	once  sync.Once
	named map[uint32][]int32 // imports by the name under which they are known
	stars []int32            // imports of everything
	of    []meaning          // the modules of those
}

// givenBy gathers a file's imports when somebody first asks for them.
func (b *binder) givenBy(f int32) *given {
	any, ok := b.tables.given.Load(f)
	if !ok {
		any, _ = b.tables.given.LoadOrStore(f, &given{})
	}
	g := any.(*given)
	g.once.Do(func() {
		e := b.x.files[f]
		g.b = &binder{x: b.x, file: f, e: e, r: e.record, lang: b.lang, tables: b.tables}
		for n, i := range e.record.imports {
			switch {
			case i.as == 0 && b.x.words.text(i.name) == "*":
				g.stars = append(g.stars, int32(n))
				g.of = append(g.of, b.lang.module(g.b, b.x.words.text(i.from)))
			default:
				if g.named == nil {
					g.named = map[uint32][]int32{}
				}
				known := i.as
				if known == 0 {
					known = i.name
				}
				g.named[known] = append(g.named[known], int32(n))
			}
		}
	})
	return g
}

// passedOn is what a module calls by a name because it imports it itself. What one file passes on is looked up once.
func (b *binder) passedOn(m meaning, name uint32, depth int) meaning {
	if depth > 1 || len(m.files) != 1 || m.files[0] == b.file {
		return b.passedOnBy(m.files, name, depth)
	}
	key := passedKey{m.files[0], name}
	if got, ok := b.tables.passed.Load(key); ok {
		return got.(meaning)
	}
	*b.steps = maxSteps // what is found does not depend on who asks first
	got := b.passedOnBy(m.files, name, depth)
	b.tables.passed.Store(key, got)
	return got
}

func (b *binder) passedOnBy(files []int32, name uint32, depth int) (got meaning) {
	if depth > 8 {
		return meaning{}
	}
	for _, f := range files {
		if b.file == f || len(b.x.files[f].record.imports) == 0 {
			continue
		}
		g := b.givenBy(f)
		named, stars := g.named[name], g.stars
		var other *binder
		for n := 0; len(named) > 0 || len(stars) > 0; { // in the order of the file
			if *b.steps--; *b.steps <= 0 {
				return meaning{}
			}
			if other == nil {
				other = &binder{x: b.x, file: f, e: g.b.e, r: g.b.r, lang: b.lang, seen: depth, steps: b.steps, tables: b.tables}
			}
			if len(named) == 0 || len(stars) > 0 && stars[0] < named[0] {
				got.add(other, g.of[n], name)
				stars, n = stars[1:], n+1
				continue
			}
			i := g.b.r.imports[named[0]]
			named = named[1:]
			module := b.lang.module(other, b.x.words.text(i.from))
			switch {
			case module.out || module.none():
				got.out = true
			case i.name == 0 || b.x.words.text(i.name) == "*":
				return module
			default:
				got.add(other, module, i.name)
			}
		}
	}
	return got
}

// add adds what a module of the tree calls by a name.
func (m *meaning) add(b *binder, module meaning, name uint32) {
	if module.out || module.none() {
		return
	}
	next := b.lang.inModule(b, module, name)
	if len(next.nodes) == 0 && len(next.files) > 0 && len(m.nodes) == 0 {
		m.files = next.files
	}
	if len(next.nodes) > 0 {
		m.nodes = union(m.nodes, next.nodes)
	}
}

// forget drops what was found while types' bases were not known.
func (t *tables) forget() { t.passed.Clear() }
