package syntax

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

func (golang) outline(src []byte) (Outline, error) {
	fset, file, err := parseGo(src)
	if err != nil {
		return Outline{}, err
	}
	w := &goWalk{file: fset.File(file.FileStart), lines: lineStarts(src), size: len(src)}
	for _, d := range file.Decls {
		w.decl(d)
	}
	slices.SortStableFunc(w.found, func(a, b Symbol) int { return cmp.Compare(a.Start, b.Start) })
	g := &goOutline{goWalk: w, straight: bytes.IndexByte(src, '\r') < 0, outliner: newOutliner(&tree{src: src, lines: w.lines}, w.found)}
	g.early = true
	g.out.Package = file.Name.Name
	g.open(scope{})
	for _, d := range file.Decls {
		g.topLevel(d)
	}
	return g.finish(), nil
}

// goOutline walks the declarations of a file. A name is known from its declaration on.
type goOutline struct {
	*goWalk
	*outliner
	straight bool // no carriage returns: a position is an offset
}

// at is a position's offset.
func (g *goOutline) at(p token.Pos) int {
	if g.straight {
		return min(int(p)-g.file.Base(), g.size)
	}
	return g.offset(p)
}

func (g *goOutline) topLevel(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.in = symbolName("", d.Name.Name)
		if d.Recv != nil && len(d.Recv.List) > 0 && g.in != "" {
			g.in = symbolName(receiver(d.Recv.List[0].Type), d.Name.Name)
		}
		g.inside(scope{}, func() {
			g.receiver(d.Recv)
			g.function(d.Type, d.Body)
		})
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ImportSpec:
				g.importOf(spec)
			case *ast.TypeSpec:
				g.in = symbolName("", spec.Name.Name)
				g.supers(spec)
				g.typeSpec(spec, false)
			case *ast.ValueSpec:
				g.in = symbolName("", spec.Names[0].Name)
				g.expr(spec.Type)
				g.exprs(spec.Values)
			}
		}
	}
	g.in = ""
}

// symbolName is the address of a symbol; what has the blank name is none.
func symbolName(container, name string) string {
	if name == "_" {
		return ""
	}
	return Symbol{Container: container, Name: name}.String()
}

func (g *goOutline) importOf(spec *ast.ImportSpec) {
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return
	}
	i := Imported{From: path, As: packageName(path), Line: g.lineOf(g.at(spec.Pos()))}
	if spec.Name != nil {
		i.As = spec.Name.Name
	}
	if i.As == "." {
		i.Name, i.As = "*", ""
	}
	if i.As != "" && i.As != "_" {
		g.bind(0, g.wordOf([]byte(i.As)), imported, "", true)
	}
	g.out.Imports = append(g.out.Imports, i)
}

// packageName is the last element of an import path that is no version, without what goes before or behind the name by habit.
func packageName(path string) string {
	elements := strings.Split(path, "/")
	last := elements[len(elements)-1]
	if len(elements) > 1 && len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = elements[len(elements)-2]
	}
	if base, version, ok := strings.Cut(last, ".v"); ok && strings.Trim(version, "0123456789") == "" {
		last = base
	}
	return strings.TrimSuffix(strings.TrimPrefix(last, "go-"), "-go")
}

// supers notes what a type embeds.
func (g *goOutline) supers(spec *ast.TypeSpec) {
	var list *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	}
	if list == nil || g.in == "" {
		return
	}
	for _, f := range list.List {
		if name := goTypeName(f.Type); len(f.Names) == 0 && name != "" {
			g.out.Supers = append(g.out.Supers, Super{Of: g.in, Name: name, Line: g.lineOf(g.at(f.Pos()))})
		}
	}
}

// goTypeName is a named type, without pointers and type arguments; "" for others and for Go's own.
func goTypeName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if predeclared(x.Name) {
				return ""
			}
			return x.Name
		case *ast.SelectorExpr:
			if of, ok := x.X.(*ast.Ident); ok {
				return of.Name + "." + x.Sel.Name
			}
			return ""
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// predeclared are Go's own names that no program gives a meaning of its own.
func predeclared(name string) bool {
	switch name {
	case "bool", "byte", "complex128", "complex64", "error", "float32", "float64", "int", "int16", "int32", "int64", "int8", "rune",
		"string", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr", "any", "comparable", "true", "false", "iota", "nil", "_",
		"append", "len", "make", "panic":
		return true
	}
	return false
}

// made is the type of an expression that says it: a literal, new, an assertion.
func made(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return made(x.X)
	case *ast.UnaryExpr:
		if lit, ok := x.X.(*ast.CompositeLit); ok && x.Op == token.AND {
			return goTypeName(lit.Type)
		}
	case *ast.CompositeLit:
		return goTypeName(x.Type)
	case *ast.TypeAssertExpr:
		return goTypeName(x.Type)
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.Ident); ok && f.Name == "new" && len(x.Args) == 1 {
			return goTypeName(x.Args[0])
		}
	}
	return ""
}

// declare binds names of a function's own.
func (g *goOutline) declare(typ string, names ...*ast.Ident) {
	for _, n := range names {
		if n.Name != "_" {
			g.bind(g.here(), g.wordOf([]byte(n.Name)), local, typ, true)
		}
	}
}

// receiver binds a method's receiver and its type's parameters.
func (g *goOutline) receiver(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		e := f.Type
		for {
			if s, ok := e.(*ast.StarExpr); ok {
				e = s.X
			} else if p, ok := e.(*ast.ParenExpr); ok {
				e = p.X
			} else {
				break
			}
		}
		switch x := e.(type) {
		case *ast.IndexExpr:
			g.typeParameter(x.Index)
			e = x.X
		case *ast.IndexListExpr:
			for _, i := range x.Indices {
				g.typeParameter(i)
			}
			e = x.X
		}
		g.expr(e)
		g.declare(receiver(f.Type), f.Names...)
	}
}

func (g *goOutline) typeParameter(e ast.Expr) {
	if n, ok := e.(*ast.Ident); ok {
		g.declare("", n)
	}
}

// function reads what a function takes and does, in a scope that is open already. Its types are read before its
// parameters hide what they name.
func (g *goOutline) function(t *ast.FuncType, body *ast.BlockStmt) {
	g.parameters(t.TypeParams, true)
	g.types(t.Params)
	g.types(t.Results)
	g.parameters(t.Params, false)
	g.parameters(t.Results, false)
	if body != nil {
		g.stmts(body.List)
	}
}

func (g *goOutline) types(list *ast.FieldList) {
	if list != nil {
		for _, f := range list.List {
			g.expr(f.Type)
		}
	}
}

// parameters binds names; those of types come before their bounds, which may name them.
func (g *goOutline) parameters(list *ast.FieldList, types bool) {
	if list == nil {
		return
	}
	of := make([]string, len(list.List))
	for i, f := range list.List {
		if _, many := f.Type.(*ast.Ellipsis); !types && !many {
			of[i] = g.seen(goTypeName(f.Type))
		}
	}
	for i, f := range list.List {
		g.declare(of[i], f.Names...)
	}
	if types {
		g.types(list)
	}
}

// seen is a type's name unless a local name hides what it begins with.
func (g *goOutline) seen(typ string) string {
	if w := g.rootOf(typ); w >= 0 && g.slot[w] >= 0 && g.binds[g.slot[w]].how == local {
		return ""
	}
	return typ
}

func (g *goOutline) typeSpec(spec *ast.TypeSpec, bind bool) {
	if bind {
		g.declare("", spec.Name)
	}
	g.inside(scope{}, func() {
		g.parameters(spec.TypeParams, true)
		g.expr(spec.Type)
		if st, ok := spec.Type.(*ast.StructType); ok && !bind {
			g.fields(spec.Name.Name, st.Fields)
		}
	})
}

// fields notes the types of a struct's fields; an embedded one has its type's name.
func (g *goOutline) fields(of string, list *ast.FieldList) {
	for _, f := range list.List {
		typ := g.seen(goTypeName(f.Type))
		for _, n := range f.Names {
			g.variable(of, n.Name, typ)
		}
		if len(f.Names) == 0 {
			g.variable(of, typ[strings.LastIndexByte(typ, '.')+1:], typ)
		}
	}
}
