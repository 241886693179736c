package mechanic

import (
	"go/ast"
	"go/types"
	"path"
)

// typing is what can be known of a project's types without anything from outside its own module: imports of
// other modules and of the standard library are taken as empty, and what depends on them has no type.
type typing struct {
	project *project
	info    *types.Info
	done    map[string]*types.Package
}

// typecheck never fails: an expression it knows nothing of has no type.
func typecheck(p *project) *typing {
	t := &typing{project: p, done: map[string]*types.Package{}, info: &types.Info{
		Types:  map[ast.Expr]types.TypeAndValue{},
		Defs:   map[*ast.Ident]types.Object{},
		Uses:   map[*ast.Ident]types.Object{},
		Scopes: map[ast.Node]*types.Scope{},
	}}
	for _, dir := range p.packages() {
		t.check(dir)
	}
	return t
}

// Import gives the module's own packages, and an empty one for every other path.
func (t *typing) Import(name string) (*types.Package, error) {
	if dir, ok := t.project.dirOf(name); ok && len(t.project.dirs[dir]) > 0 {
		return t.check(dir), nil
	}
	return empty(name), nil
}

func empty(name string) *types.Package {
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	return pkg
}

func (t *typing) check(dir string) (pkg *types.Package) {
	if pkg := t.done[dir]; pkg != nil {
		return pkg
	}
	pkg = empty(t.project.importPath(dir))
	t.done[dir] = pkg // what an import cycle gets
	var files []*ast.File
	for _, s := range t.project.dirs[dir] {
		if !s.test {
			files = append(files, s.file)
		}
	}
	defer func() {
		if recover() != nil { // a text that the type checker stumbles over has no types
			pkg = t.done[dir]
		}
	}()
	conf := types.Config{Importer: t, Error: func(error) {}, FakeImportC: true}
	checked, _ := conf.Check(t.project.importPath(dir), t.project.fset, files, t.info)
	if checked != nil {
		t.done[dir] = checked
	}
	return t.done[dir]
}

// of is the type of an expression, or nil when nothing is known of it.
func (t *typing) of(e ast.Expr) types.Type {
	typ := t.info.TypeOf(e)
	if typ == nil || typ == types.Typ[types.Invalid] {
		return nil
	}
	if tuple, ok := typ.(*types.Tuple); ok && tuple.Len() != 1 {
		return nil
	}
	return typ
}

// is says whether an expression is known to have basic properties, as in types.IsInteger.
func (t *typing) is(e ast.Expr, want types.BasicInfo) bool {
	typ := t.of(e)
	return typ != nil && basic(typ)&want != 0
}

// cannot says whether an expression is known not to have them. Unknown types can.
func (t *typing) cannot(e ast.Expr, want types.BasicInfo) bool {
	typ := t.of(e)
	return typ != nil && basic(typ)&want == 0
}

func basic(typ types.Type) types.BasicInfo {
	if p, ok := typ.(*types.TypeParam); ok && p != nil {
		return types.IsInteger | types.IsFloat | types.IsString | types.IsComplex // whatever its constraint says
	}
	if b, ok := typ.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
}

// same says whether two expressions are known to have one type; known is false when nothing can be said.
func (t *typing) same(a, b ast.Expr) (same, known bool) {
	x, y := t.of(a), t.of(b)
	if x == nil || y == nil {
		return false, false
	}
	return types.Identical(types.Default(x), types.Default(y)), true
}

// constant says whether the checker knows the value of an expression, so that it is not worth moving by one.
func (t *typing) constant(e ast.Expr) bool { return t.info.Types[e].Value != nil }
