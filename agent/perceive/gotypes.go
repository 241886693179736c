package perceive

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
	"sync"
)

// typing is what go/types said of one file. Its texts are numbers of the index's words.
type typing struct {
	key  digest // of everything that decides it
	uses []typedUse
	open []uint32 // offsets of uses that were left to the other rules
}

// typedUse is a name and what go/types says it means: a symbol of a file.
type typedUse struct {
	line, in              uint32
	file, container, name uint32
	kind                  EdgeKind
	rule                  Rule
}

// goWorld are the packages that were typed in this process.
type goWorld struct {
	mu       sync.Mutex
	fset     *token.FileSet
	packages map[string]*types.Package // by folder: what others import
	bare     map[string]bareFile       // by path: files without the bodies of their functions
	keys     map[string]digest         // what each was made of
	records  map[*token.File]*record   // of the files' texts as they were parsed
}

// bareFile is a file's tree and the text that it is of.
type bareFile struct {
	hash digest
	tree *ast.File
}

// keepTyped is up to how many files of Go the packages stay in memory, so that a change is typed without the others.
const keepTyped = 4000

// Types types what is Go and was not typed before, and binds it anew. Packages from outside the tree are taken to be
// empty, so names whose types come from there stay with the other rules. It says nothing of files for other systems,
// of C, and of what does not parse. After a change it looks at the packages that the change can be seen from, and no others.
func (x *Index) Types(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.units == nil
	fresh := x.recallUnits()
	typed, err := x.typeUnits(ctx, keepTyped)
	fresh = append(fresh, typed...) // what was recalled is bound, even where the typing was stopped: nobody would come back to it
	if x.world != nil && (len(x.world.packages) == 0 || len(x.world.bare) > keepTyped) {
		x.world = nil
	}
	if all {
		x.forgetTypings()
	} else {
		x.forgetPast(fresh)
	}
	x.bindAll(fresh)
	if len(fresh) > 0 {
		x.reverse.Store(nil)
	}
	if err != nil {
		return fmt.Errorf("type the packages: %w", err)
	}
	return nil
}

// typeUnits types the files that have to be, with at most so many files' packages in memory afterwards.
func (x *Index) typeUnits(ctx context.Context, keep int) (fresh []int32, err error) {
	var stale []*goUnit
	for _, u := range x.units {
		if len(u.stale) > 0 {
			stale = append(stale, u)
		}
	}
	if len(stale) == 0 {
		return nil, nil
	}
	if x.world == nil {
		x.world = &goWorld{fset: token.NewFileSet(), packages: map[string]*types.Package{}, keys: map[string]digest{}, bare: map[string]bareFile{}, records: map[*token.File]*record{}}
	}
	wanted, files := x.wanted(stale), 0
	for _, u := range wanted {
		files += u.files()
	}
	if err := x.planTyping(x.units, wanted, files > keep).run(ctx); err != nil {
		return nil, err
	}
	for _, u := range stale {
		for i, key := range u.stale {
			if t := x.files[i].typing; t != nil && t.key == key {
				fresh = append(fresh, i)
				delete(u.stale, i)
				x.dirty = true
			}
		}
	}
	return fresh, nil
}

// forgetTypings drops what is not of a file as it is now.
func (x *Index) forgetTypings() {
	live := map[digest]*typing{}
	for _, e := range x.files {
		if e.typing != nil {
			live[e.typing.key] = e.typing
		}
	}
	x.dirty = x.dirty || len(live) != len(x.typings)
	x.typings, x.past = live, nil
}

// forgetPast is forgetTypings after a change: what was let go of, and is not back among the fresh files, is dropped.
func (x *Index) forgetPast(fresh []int32) {
	for _, key := range x.past {
		delete(x.typings, key)
	}
	x.past = nil
	for _, i := range fresh {
		x.typings[x.files[i].typing.key] = x.files[i].typing
	}
}

// wanted are some packages with stale files and everything they import that the world lacks.
func (x *Index) wanted(stale []*goUnit) (out []*goUnit) {
	slices.SortFunc(stale, func(a, b *goUnit) int { return strings.Compare(a.dir, b.dir) })
	seen := map[string]bool{}
	var want func(dir string)
	want = func(dir string) {
		u := x.units[dir]
		if u == nil || seen[dir] {
			return
		}
		seen[dir] = true
		if len(u.stale) == 0 && x.world.keys[dir] == u.deep {
			return
		}
		out = append(out, u)
		for _, d := range u.needs {
			want(d)
		}
		for _, i := range slices.Concat(u.inner, u.outer) {
			if _, stale := u.stale[i]; !stale {
				continue
			}
			for _, m := range x.files[i].record.imports {
				if d, ok := x.rules.goFolder(x.words.text(m.from)); ok {
					want(d)
				}
			}
		}
	}
	for _, u := range stale {
		want(u.dir)
	}
	return out
}

// parsed is a file as it is typed.
type parsed struct {
	file int32
	tree *ast.File
}

// parse reads files; those that are not stale lose the bodies of their functions. A file that is no longer what was
// indexed is left out.
func (x *Index) parse(files []int32, stale map[int32]digest) (out []parsed) {
	for _, i := range files {
		_, full := stale[i]
		if tree := x.parseOne(x.files[i], full); tree != nil {
			out = append(out, parsed{i, tree})
		}
	}
	return out
}

func (x *Index) parseOne(e *entry, full bool) *ast.File {
	x.world.mu.Lock()
	kept, ok := x.world.bare[e.path]
	x.world.mu.Unlock()
	if ok && !full && kept.hash == e.record.hash {
		return kept.tree
	}
	src, err := readSource(x.tree, e.path)
	if err != nil || digestOf([]byte("go"), []byte{0}, src) != e.record.hash {
		return nil
	}
	tree, err := parser.ParseFile(x.world.fset, e.path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	kept = bareFile{e.record.hash, bare(tree)}
	x.world.mu.Lock()
	x.world.bare[e.path] = kept
	x.world.records[x.world.fset.File(tree.FileStart)] = e.record
	x.world.mu.Unlock()
	if full {
		return tree
	}
	return kept.tree
}

// bare is a file without the bodies of its functions.
func bare(f *ast.File) *ast.File {
	c := *f
	c.Decls = slices.Clone(f.Decls)
	for i, d := range c.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			b := *fn
			b.Body = nil
			c.Decls[i] = &b
		}
	}
	return &c
}

// typeBase types what others import of a package.
func (x *Index) typeBase(u *goUnit) {
	fresh := !slices.ContainsFunc(u.base, func(i int32) bool { _, s := u.stale[i]; return s })
	x.world.mu.Lock()
	had := x.world.keys[u.dir] == u.deep && x.world.packages[u.dir] != nil
	x.world.mu.Unlock()
	if len(u.base) == 0 || fresh && had {
		return
	}
	files := x.parse(u.base, u.stale)
	p := x.check(u.path, files, u.stale, x.importer(nil))
	if had { // who imports it has the package as it was, which looks the same
		return
	}
	x.world.mu.Lock()
	x.world.packages[u.dir], x.world.keys[u.dir] = p, u.deep
	x.world.mu.Unlock()
}

// typeTests types a package once more with its own tests, and then the tests beside it, which see what those export.
func (x *Index) typeTests(u *goUnit) {
	isStale := func(i int32) bool { _, s := u.stale[i]; return s }
	inner, outer := slices.ContainsFunc(u.inner, isStale), slices.ContainsFunc(u.outer, isStale)
	if !inner && !outer {
		return
	}
	own := map[string]*types.Package{}
	if len(u.inner) > 0 {
		tests := map[int32]digest{}
		for _, i := range u.inner {
			if key, ok := u.stale[i]; ok {
				tests[i] = key
			}
		}
		files := append(x.parse(u.base, nil), x.parse(u.inner, tests)...)
		own[u.path] = x.check(u.path, files, tests, x.importer(nil))
	}
	if outer {
		x.check(u.path+"_test", x.parse(u.outer, u.stale), u.stale, x.importer(own))
	}
}

// check types one package and notes what it says of the stale files. A checker that breaks leaves them to the other
// rules.
func (x *Index) check(importPath string, files []parsed, stale map[int32]digest, from types.Importer) (p *types.Package) {
	defer func() {
		if r := recover(); r != nil {
			for _, f := range files {
				x.files[f.file].typed = fmt.Sprintf("go/types broke on it: %v", r)
			}
			p = nil
		}
	}()
	if len(files) == 0 {
		return nil
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: from, FakeImportC: true, Error: func(error) {}}
	trees := make([]*ast.File, len(files))
	for i, f := range files {
		trees[i] = f.tree
	}
	p = types.NewPackage(importPath, files[0].tree.Name.Name)
	_ = types.NewChecker(&config, x.world.fset, p, info).Files(trees) // its errors are of what lies outside, or the author's
	for _, f := range files {
		if key, ok := stale[f.file]; ok {
			x.files[f.file].typing = x.typingOf(f, key, info)
		}
	}
	return p
}

// importer gives packages of the tree, and empty ones for all others.
func (x *Index) importer(own map[string]*types.Package) types.Importer {
	return importerFunc(func(name string) (*types.Package, error) {
		if name == "unsafe" {
			return types.Unsafe, nil
		}
		if p := own[name]; p != nil {
			return p, nil
		}
		if dir, ok := x.rules.goFolder(name); ok && x.units[dir] != nil && len(x.units[dir].base) > 0 { // not what was there before
			x.world.mu.Lock()
			p := x.world.packages[dir]
			x.world.mu.Unlock()
			if p != nil {
				return p, nil
			}
		}
		p := types.NewPackage(name, lastName(name))
		p.MarkComplete()
		return p, nil
	})
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(name string) (*types.Package, error) { return f(name) }

// lastName is the name that a package most likely has.
func lastName(name string) string {
	base := path.Base(name)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && strings.Contains(name, "/") {
		base = path.Base(path.Dir(name))
	}
	base, _, _ = strings.Cut(base, ".v")
	base = strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
	return base
}

// typingOf notes what every name of a file means.
func (x *Index) typingOf(f parsed, key digest, info *types.Info) *typing {
	t := &typing{key: key}
	r := x.files[f.file].record
	file := x.world.fset.File(f.tree.FileStart)
	told := make(map[uint32]bool, len(r.uses))
	called := map[*ast.Ident]bool{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id := calledName(n.Fun); id != nil {
				called[id] = true
			}
		case *ast.Ident:
			offset := uint32(file.Offset(n.Pos()))
			obj := info.Uses[n]
			if obj == nil {
				if _, defined := info.Defs[n]; defined {
					told[offset] = true
				}
				return true
			}
			told[offset] = true
			if u, ok := x.target(obj); ok {
				u.line, u.in = uint32(file.PositionFor(n.Pos(), false).Line), r.holds(offset)
				if _, function := obj.(*types.Func); called[n] && (function || u.kind == Calls) {
					u.kind = Calls
				} else {
					u.kind = References
				}
				t.uses = append(t.uses, u)
			}
		}
		return true
	})
	t.uses = slices.Clone(t.uses) // without the room that it grew into
	for _, u := range r.uses {
		if !told[u.start] {
			t.open = append(t.open, u.start)
		}
	}
	return t
}

// calledName is the name in front of a call's parentheses.
func calledName(e ast.Expr) *ast.Ident {
	for {
		switch f := e.(type) {
		case *ast.Ident:
			return f
		case *ast.SelectorExpr:
			return f.Sel
		case *ast.ParenExpr:
			e = f.X
		case *ast.IndexExpr:
			e = f.X
		case *ast.IndexListExpr:
			e = f.X
		default:
			return nil
		}
	}
}

// target is the symbol that an object is, or belongs to: a field's type, an interface's method's interface.
func (x *Index) target(obj types.Object) (u typedUse, ok bool) {
	if obj.Pkg() == nil || !obj.Pos().IsValid() {
		return u, false
	}
	top := obj.Parent() == obj.Pkg().Scope()
	container, member := "", false
	switch o := obj.(type) {
	case *types.Func:
		obj = o.Origin()
		container, member = receiverName(o.Origin())
	case *types.Var:
		if member = o.IsField(); member {
			obj = o.Origin()
		} else if !top {
			return u, false
		}
		if !member {
			u.kind = Calls // of a function that the variable holds
		}
	case *types.Const, *types.TypeName:
		if !top {
			return u, false
		}
	default:
		return u, false
	}
	return x.symbolAt(obj, container, member, u)
}

// receiverName is the type of a method; member says that it is an interface's.
func receiverName(f *types.Func) (container string, member bool) {
	recv := f.Signature().Recv()
	if recv == nil {
		return "", false
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || types.IsInterface(t) {
		return "", true
	}
	return named.Obj().Name(), false
}

// symbolAt finds the symbol where an object is declared, in the text that was parsed: a package that looks as it did before stays, though
// lines may have moved in its files.
func (x *Index) symbolAt(obj types.Object, container string, member bool, u typedUse) (typedUse, bool) {
	at := x.world.fset.PositionFor(obj.Pos(), false)
	i, ok := x.byPath[at.Filename]
	if !ok || x.files[i].record == nil {
		return u, false
	}
	x.world.mu.Lock()
	r := x.world.records[x.world.fset.File(obj.Pos())]
	x.world.mu.Unlock()
	if r == nil {
		return u, false
	}
	if n := r.holds(uint32(at.Offset)); member {
		if n == 0 {
			return u, false
		}
		s := r.symbols[n-1]
		if kind := x.words.text(s.kind); kind == "func" || kind == "method" { // a type of the function's own
			return u, false
		}
		u.file, u.container, u.name, u.rule = x.wordOr(at.Filename), s.container, s.name, GoMember
		return u, u.file != noNode
	}
	u.file, u.container, u.name, u.rule = x.wordOr(at.Filename), x.wordOr(container), x.wordOr(obj.Name()), GoTypes
	return u, u.file != noNode && u.container != noNode && u.name != noNode
}

// bindTyped makes the edges that go/types gave. It answers with the offsets that it left open, nil for all.
func (b *binder) bindTyped() map[uint32]bool {
	t := b.e.typing
	if t == nil {
		return nil
	}
	for _, u := range t.uses {
		f, ok := b.x.byPath[b.x.words.text(u.file)]
		if !ok || b.x.files[f].record == nil {
			continue
		}
		e := b.x.files[f]
		var nodes []uint32
		for _, i := range e.record.named(u.name) {
			if e.record.symbols[i].container == u.container {
				nodes = append(nodes, e.nodes[i])
			}
		}
		if len(nodes) == 1 {
			b.addEdge(b.node(u.in), nodes[0], u.line, u.kind, u.rule)
		}
	}
	open := make(map[uint32]bool, len(t.open))
	for _, o := range t.open {
		open[o] = true
	}
	return open
}

func (p *packer) typing(t *typing) {
	p.num(uint32(len(t.uses)))
	line := uint32(0)
	for _, u := range t.uses {
		p.word(u.file)
		p.word(u.container)
		p.word(u.name)
		p.nums(u.line-line, u.in, uint32(u.kind), uint32(u.rule))
		line = u.line
	}
	p.num(uint32(len(t.open)))
	for _, o := range t.open {
		p.num(o)
	}
}

func (u *unpacker) typing(key digest) *typing {
	t := &typing{key: key, uses: make([]typedUse, u.count())}
	line := uint32(0)
	for i := range t.uses {
		use := typedUse{file: u.word(), container: u.word(), name: u.word()}
		line += u.num()
		use.line, use.in = line, u.num()
		use.kind, use.rule = EdgeKind(min(u.num(), uint32(Inherits))), Rule(min(u.num(), uint32(GoMember)))
		t.uses[i] = use
	}
	t.open = make([]uint32, u.count())
	for i := range t.open {
		t.open[i] = u.num()
	}
	return t
}
