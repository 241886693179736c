package mechanic

import (
	"go/ast"
	"go/types"
	"sort"
)

// alternatives bounds how many other names are tried at one place.
const alternatives = 8

// variable offers the other variables in scope, fields of the same struct and functions of the same package that
// have exactly the type of the one that stands here.
func variable(s *site) {
	id, ok := s.node.(*ast.Ident)
	if !ok || s.fn == nil || s.fn.Body == nil || id.Pos() < s.fn.Body.Pos() {
		return
	}
	switch obj := s.typing.info.Uses[id].(type) {
	case *types.Var:
		if obj.IsField() {
			s.offer(id, s.fields(obj), .8)
		} else {
			s.offer(id, s.scope(id, obj), 1)
		}
	case *types.Const:
		s.offer(id, s.constants(obj), .8)
	case *types.Func:
		s.offer(id, functions(obj), .6)
	}
}

func (s *site) offer(id *ast.Ident, names []string, weight float64) {
	if len(names) > alternatives {
		names = names[:alternatives]
	}
	for _, name := range names {
		if name != "_" && name != id.Name {
			s.replace(id.Pos(), id.End(), name, weight)
		}
	}
}

// scope lists the function's own variables that can stand for obj, the nearest declared first.
func (s *site) scope(id *ast.Ident, obj *types.Var) []string {
	if !typed(obj) || obj.Pkg() == nil {
		return nil
	}
	inner := obj.Pkg().Scope().Innermost(id.Pos())
	var found []types.Object
	for scope := inner; scope != nil && scope != obj.Pkg().Scope(); scope = scope.Parent() {
		for _, name := range scope.Names() {
			other, ok := scope.Lookup(name).(*types.Var)
			if !ok || other == obj || !types.Identical(other.Type(), obj.Type()) {
				continue
			}
			if _, visible := inner.LookupParent(name, id.Pos()); visible == other {
				found = append(found, other)
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Pos() > found[j].Pos() })
	return names(found)
}

// fields lists the fields of the struct in which obj is declared that have its type.
func (s *site) fields(obj *types.Var) []string {
	sel, ok := s.parent(0).(*ast.SelectorExpr)
	if !ok || !typed(obj) {
		return nil
	}
	typ := s.typing.of(sel.X)
	if typ == nil {
		return nil
	}
	if p, ok := typ.Underlying().(*types.Pointer); ok {
		typ = p.Elem()
	}
	fields, ok := typ.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var found []types.Object
	for i := range fields.NumFields() {
		if f := fields.Field(i); f != obj && types.Identical(f.Type(), obj.Type()) {
			found = append(found, f)
		}
	}
	return names(found)
}

// constants lists the constants of the package that share a named type with obj, or stand as near as no other
// declaration does.
func (s *site) constants(obj *types.Const) []string {
	if obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return nil
	}
	var found []types.Object
	for _, name := range obj.Parent().Names() {
		other, ok := obj.Parent().Lookup(name).(*types.Const)
		if ok && other != obj && types.Identical(other.Type(), obj.Type()) {
			found = append(found, other)
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		return distance(found[i], obj) < distance(found[j], obj)
	})
	return names(found)
}

func distance(a, b types.Object) int {
	if d := int(a.Pos()) - int(b.Pos()); d > 0 {
		return d
	}
	return int(b.Pos()) - int(a.Pos())
}

// functions lists the package's functions, or the type's methods, with obj's signature.
func functions(obj *types.Func) []string {
	if obj.Pkg() == nil {
		return nil
	}
	sig := obj.Signature()
	var found []types.Object
	if recv := sig.Recv(); recv != nil {
		typ := recv.Type()
		if p, ok := typ.(*types.Pointer); ok {
			typ = p.Elem()
		}
		named, ok := typ.(*types.Named)
		if !ok {
			return nil
		}
		for m := range named.Methods() {
			if m != obj && sameSignature(m, sig) {
				found = append(found, m)
			}
		}
		return names(found)
	}
	for _, name := range obj.Pkg().Scope().Names() {
		if f, ok := obj.Pkg().Scope().Lookup(name).(*types.Func); ok && f != obj && sameSignature(f, sig) {
			found = append(found, f)
		}
	}
	return names(found)
}

// sameSignature compares parameters and results, and asks that there be any: func() says nothing.
func sameSignature(f *types.Func, sig *types.Signature) bool {
	other := f.Signature()
	return sig.Params().Len()+sig.Results().Len() > 0 && typed(other.Params()) && typed(other.Results()) &&
		types.Identical(other.Params(), sig.Params()) && types.Identical(other.Results(), sig.Results()) &&
		other.Variadic() == sig.Variadic()
}

// typed says whether something's type is known through and through at its surface.
func typed(x any) bool {
	switch x := x.(type) {
	case *types.Tuple:
		for v := range x.Variables() {
			if !typed(v) {
				return false
			}
		}
		return true
	case types.Object:
		return x.Type() != nil && x.Type() != types.Typ[types.Invalid]
	}
	return false
}

func names(found []types.Object) []string {
	var out []string
	for _, o := range found {
		out = append(out, o.Name())
	}
	return out
}
