package syntax

import (
	"go/ast"
	"go/token"
)

func (g *goOutline) stmts(list []ast.Stmt) {
	for _, s := range list {
		g.stmt(s)
	}
}

func (g *goOutline) block(list []ast.Stmt) {
	g.inside(scope{}, func() { g.stmts(list) })
}

func (g *goOutline) stmt(s ast.Stmt) {
	g.deeper(func() {
		switch s := s.(type) {
		case *ast.ExprStmt:
			g.expr(s.X)
		case *ast.AssignStmt:
			g.assign(s)
		case *ast.DeclStmt:
			g.declared(s.Decl)
		case *ast.ReturnStmt:
			g.exprs(s.Results)
		case *ast.BlockStmt:
			g.block(s.List)
		case *ast.DeferStmt:
			g.expr(s.Call)
		case *ast.GoStmt:
			g.expr(s.Call)
		case *ast.SendStmt:
			g.expr(s.Chan)
			g.expr(s.Value)
		case *ast.IncDecStmt:
			g.expr(s.X)
		case *ast.LabeledStmt:
			g.stmt(s.Stmt)
		default:
			g.control(s)
		}
	})
}

// control reads statements that open a scope of their own.
func (g *goOutline) control(s ast.Stmt) {
	g.inside(scope{}, func() {
		switch s := s.(type) {
		case *ast.IfStmt:
			g.stmt(s.Init)
			g.expr(s.Cond)
			g.block(s.Body.List)
			g.stmt(s.Else)
		case *ast.ForStmt:
			g.stmt(s.Init)
			g.expr(s.Cond)
			g.stmt(s.Post)
			g.block(s.Body.List)
		case *ast.RangeStmt:
			g.expr(s.X)
			g.targets(s.Tok, s.Key, s.Value)
			g.block(s.Body.List)
		case *ast.SwitchStmt:
			g.stmt(s.Init)
			g.expr(s.Tag)
			g.stmts(s.Body.List)
		case *ast.TypeSwitchStmt:
			g.typeSwitch(s)
		case *ast.SelectStmt:
			g.stmts(s.Body.List)
		case *ast.CaseClause:
			g.exprs(s.List)
			g.stmts(s.Body)
		case *ast.CommClause:
			g.stmt(s.Comm)
			g.stmts(s.Body)
		}
	})
}

// typeSwitch binds the name anew in each clause; where that has one type, it is known.
func (g *goOutline) typeSwitch(s *ast.TypeSwitchStmt) {
	g.stmt(s.Init)
	var name *ast.Ident
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		g.exprs(a.Rhs)
		name, _ = a.Lhs[0].(*ast.Ident)
	case *ast.ExprStmt:
		g.expr(a.X)
	}
	for _, c := range s.Body.List {
		clause, ok := c.(*ast.CaseClause)
		if !ok {
			continue
		}
		g.exprs(clause.List)
		g.inside(scope{}, func() {
			if name != nil && len(clause.List) == 1 {
				g.declare(g.seen(goTypeName(clause.List[0])), name)
			} else if name != nil {
				g.declare("", name)
			}
			g.stmts(clause.Body)
		})
	}
}

func (g *goOutline) assign(s *ast.AssignStmt) {
	g.exprs(s.Rhs)
	if s.Tok != token.DEFINE {
		g.exprs(s.Lhs)
		return
	}
	types := make([]string, len(s.Lhs))
	for i := range s.Rhs {
		if i < len(s.Lhs) {
			types[i] = g.seen(made(s.Rhs[i]))
		}
	}
	for i, left := range s.Lhs {
		if n, ok := left.(*ast.Ident); ok && !g.own(n.Name) {
			g.declare(types[i], n)
		}
	}
}

// own says whether the innermost scope has a name: := leaves it and its type as they are.
func (g *goOutline) own(name string) bool {
	at := g.slot[g.wordOf([]byte(name))]
	return at >= 0 && int(g.binds[at].scope) == g.here()
}

func (g *goOutline) targets(tok token.Token, targets ...ast.Expr) {
	for _, t := range targets {
		if n, ok := t.(*ast.Ident); ok && tok == token.DEFINE {
			g.declare("", n)
		} else {
			g.expr(t)
		}
	}
}

// declared reads a declaration inside a function.
func (g *goOutline) declared(d ast.Decl) {
	gen, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g.typeSpec(spec, true)
		case *ast.ValueSpec:
			g.expr(spec.Type)
			g.exprs(spec.Values)
			for i, n := range spec.Names {
				typ := goTypeName(spec.Type)
				if spec.Type == nil && i < len(spec.Values) {
					typ = made(spec.Values[i])
				}
				g.declare(g.seen(typ), n)
			}
		}
	}
}

func (g *goOutline) exprs(list []ast.Expr) {
	for _, e := range list {
		g.expr(e)
	}
}

func (g *goOutline) expr(e ast.Expr) {
	if e == nil {
		return
	}
	g.deeper(func() {
		switch e := e.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			g.lead(e, false)
		case *ast.CallExpr:
			g.called(e.Fun)
			g.exprs(e.Args)
		case *ast.ParenExpr:
			g.expr(e.X)
		case *ast.StarExpr:
			g.expr(e.X)
		case *ast.UnaryExpr:
			g.expr(e.X)
		case *ast.BinaryExpr:
			g.expr(e.X)
			g.expr(e.Y)
		case *ast.KeyValueExpr:
			g.expr(e.Key)
			g.expr(e.Value)
		case *ast.IndexExpr:
			g.expr(e.X)
			g.expr(e.Index)
		case *ast.IndexListExpr:
			g.expr(e.X)
			g.exprs(e.Indices)
		case *ast.SliceExpr:
			g.exprs([]ast.Expr{e.X, e.Low, e.High, e.Max})
		case *ast.TypeAssertExpr:
			g.expr(e.X)
			g.expr(e.Type)
		case *ast.CompositeLit:
			g.literal(e)
		case *ast.FuncLit:
			g.inside(scope{}, func() { g.function(e.Type, e.Body) })
		default:
			g.typeExpr(e)
		}
	})
}

func (g *goOutline) typeExpr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.ArrayType:
		g.expr(e.Len)
		g.expr(e.Elt)
	case *ast.MapType:
		g.expr(e.Key)
		g.expr(e.Value)
	case *ast.ChanType:
		g.expr(e.Value)
	case *ast.Ellipsis:
		g.expr(e.Elt)
	case *ast.FuncType:
		g.types(e.Params)
		g.types(e.Results)
	case *ast.StructType:
		g.types(e.Fields)
	case *ast.InterfaceType:
		g.types(e.Methods)
	}
}

// called reads what is called, type arguments apart.
func (g *goOutline) called(f ast.Expr) {
	switch x := f.(type) {
	case *ast.ParenExpr:
		if _, pointer := x.X.(*ast.StarExpr); !pointer {
			g.called(x.X)
			return
		}
	case *ast.Ident, *ast.SelectorExpr:
		g.lead(f, true)
		return
	case *ast.IndexExpr:
		if _, ok := x.X.(*ast.CallExpr); !ok {
			g.called(x.X)
			g.expr(x.Index)
			return
		}
	case *ast.IndexListExpr:
		g.called(x.X)
		g.exprs(x.Indices)
		return
	}
	g.expr(f)
}

// lead reads a chain of names. A package's name is no use by itself.
func (g *goOutline) lead(e ast.Expr, called bool) lead {
	switch x := e.(type) {
	case *ast.Ident:
		from := g.at(x.Pos())
		w := g.wordOf([]byte(x.Name))
		if g.slot[w] < 0 && predeclared(x.Name) {
			return nowhere()
		}
		return g.use(from, from+len(x.Name), nil, called)
	case *ast.SelectorExpr:
		by := nowhere()
		if of, ok := x.X.(*ast.Ident); ok && g.isImport(of.Name) {
			from := g.at(of.Pos())
			by = lead{root: g.wordOf([]byte(of.Name)), deep: 1, from: from, to: from + len(of.Name)}
		} else {
			g.deeper(func() { by = g.lead(x.X, false) })
		}
		from := g.at(x.Sel.Pos())
		return g.use(from, from+len(x.Sel.Name), &by, called)
	case *ast.ParenExpr:
		if _, ok := x.X.(*ast.UnaryExpr); ok {
			break
		}
		return g.lead(x.X, called)
	}
	g.expr(e)
	l := nowhere()
	l.typ = g.seen(made(e))
	return l
}

func (g *goOutline) isImport(name string) bool {
	at := g.slot[g.wordOf([]byte(name))]
	return at >= 0 && g.binds[at].how == imported
}

// literal reads a composite literal. A name as a key may be a field's, so it counts only where the type is spelled out
// as a map or an array.
func (g *goOutline) literal(e *ast.CompositeLit) {
	g.expr(e.Type)
	keys := false
	switch e.Type.(type) {
	case *ast.MapType, *ast.ArrayType:
		keys = true
	}
	for _, el := range e.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			g.expr(el)
			continue
		}
		if _, name := kv.Key.(*ast.Ident); !name || keys {
			g.expr(kv.Key)
		}
		g.expr(kv.Value)
	}
}
