package oracle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"

	"github.com/redraft-dev/redraft/agent/report"
)

// goAsked is one test function of a Go file, with what is needed to find the values that it asks for.
type goAsked struct {
	set  *token.FileSet
	file *ast.File
	body *ast.BlockStmt
	line int // that complained
}

// askedGo looks in Go's own way of testing: the condition above the line that complained, or the call there, and the value,
// the variable or the column of a table that it compares with. What the test uses for anything else as well is no answer:
// what is put in and comes out again is right with every value.
func askedGo(f report.Result, text string) []literal {
	g := goAsked{set: token.NewFileSet(), line: f.Line}
	var err error
	if g.file, err = parser.ParseFile(g.set, f.File, text, 0); err != nil {
		return nil
	}
	for _, d := range g.file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && g.holds(fn) {
			g.body = fn.Body
		}
	}
	if g.body == nil {
		return nil
	}
	if cond := g.condition(); cond != nil {
		return g.compared(cond)
	}
	return g.library()
}

// library is what an assertion library's call on the line asks for.
func (g goAsked) library() (all []literal) {
	ast.Inspect(g.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !g.holds(call) {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		args := call.Args
		if len(args) > 2 {
			if t, is := args[0].(*ast.Ident); is && tester(t.Name) {
				args = args[1:]
			}
		}
		if ok && slices.Contains([]string{"Equal", "EqualValues", "Exactly", "Equalf"}, sel.Sel.Name) && len(args) >= 2 {
			all = g.side(args[0], args[1])
		}
		return true
	})
	return all
}

func (g goAsked) holds(n ast.Node) bool {
	return g.set.Position(n.Pos()).Line <= g.line && g.line <= g.set.Position(n.End()).Line
}

// condition is that of the innermost if whose body complained.
func (g goAsked) condition() (cond ast.Expr) {
	ast.Inspect(g.body, func(n ast.Node) bool {
		if c, ok := n.(*ast.IfStmt); ok && g.holds(c.Body) {
			cond = c.Cond
		}
		return true
	})
	return cond
}

// compared are the literals of what an alternative of a condition says to be different: its last one that can be followed.
func (g goAsked) compared(cond ast.Expr) []literal {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch c.Op {
		case token.LOR:
			if all := g.compared(c.Y); len(all) > 0 {
				return all
			}
			return g.compared(c.X)
		case token.NEQ:
			return g.side(c.X, c.Y)
		}
	case *ast.UnaryExpr:
		if call, ok := ast.Unparen(c.X).(*ast.CallExpr); ok && c.Op == token.NOT && equals(call) {
			switch sel, _ := call.Fun.(*ast.SelectorExpr); len(call.Args) {
			case 2:
				return g.side(call.Args[0], call.Args[1])
			case 1:
				return g.side(sel.X, call.Args[0])
			}
		}
	}
	return nil
}

// equals says whether a call is one of the names that say that two values are the same.
func equals(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Equal" || sel.Sel.Name == "DeepEqual") && (len(call.Args) == 1 || len(call.Args) == 2)
}

// side is what the side of a comparison that can be followed to literals asks for; nothing where both can.
func (g goAsked) side(a, b ast.Expr) []literal {
	x, y := g.value(a), g.value(b)
	switch {
	case len(x) == 0:
		return y
	case len(y) == 0:
		return x
	}
	return nil
}

// maxRows is how many rows of a table are changed.
const maxRows = 64

// value follows an expression to the literals that stand for it: written out, given to a variable that is set once, or a
// column of the table that the loop around goes over.
func (g goAsked) value(e ast.Expr) []literal {
	if l, ok := g.written(e); ok {
		return []literal{l}
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if g.uses(e.Name, "") != 1 {
			return nil
		}
		if rows, column := g.ranged(e); rows != nil && column {
			return g.column(rows, nil, "")
		}
		if v := g.given(e); v != nil {
			if l, ok := g.written(v); ok {
				return []literal{l}
			}
		}
	case *ast.SelectorExpr:
		on, ok := e.X.(*ast.Ident)
		if !ok || g.uses(on.Name, e.Sel.Name) != 1 {
			return nil
		}
		if rows, column := g.ranged(on); rows != nil && column {
			return g.column(rows, g.fields(rows), e.Sel.Name)
		}
	case *ast.CompositeLit: // around one variable, as in Money{want}
		if len(e.Elts) == 1 {
			if _, key := e.Elts[0].(*ast.KeyValueExpr); !key {
				return g.value(e.Elts[0])
			}
		}
	}
	return nil
}

// written is the last literal of an expression that is written out.
func (g goAsked) written(e ast.Expr) (l literal, ok bool) {
	clean := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.CHAR || n.Kind == token.IMAG || !decimal(n) {
				clean = false
			}
			l, ok = literal{at: g.set.Position(n.Pos()).Offset, text: n.Value}, true
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				l, ok = literal{at: g.set.Position(n.Pos()).Offset, text: n.Name}, true
				return true
			}
			clean = clean && n.Name == "nil"
		case *ast.CompositeLit:
			for _, elt := range n.Elts {
				if kv, is := elt.(*ast.KeyValueExpr); is {
					elt = kv.Value
				}
				if last, is := g.written(elt); is {
					l, ok = last, true
				} else {
					clean = false
				}
			}
			return false
		case *ast.ParenExpr, nil:
		case *ast.UnaryExpr:
			clean = clean && n.Op == token.SUB
		default:
			clean = false
		}
		return clean
	})
	return l, ok && clean
}

// decimal says whether a number is written as people count.
func decimal(b *ast.BasicLit) bool {
	if b.Kind != token.INT {
		return b.Kind == token.STRING || b.Kind == token.FLOAT
	}
	_, err := strconv.ParseUint(b.Value, 10, 64)
	return err == nil
}

// given is the value of a variable that is set in one place.
func (g goAsked) given(id *ast.Ident) (v ast.Expr) {
	times := 0
	set := func(names []ast.Expr, values []ast.Expr) {
		for i, n := range names {
			if n, ok := n.(*ast.Ident); ok && n.Name == id.Name {
				if times++; len(values) == len(names) {
					v = values[i]
				}
			}
		}
	}
	idents := func(names []*ast.Ident) (out []ast.Expr) {
		for _, n := range names {
			out = append(out, n)
		}
		return out
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			set(n.Lhs, n.Rhs)
		case *ast.ValueSpec:
			set(idents(n.Names), n.Values)
		case *ast.IncDecStmt:
			set([]ast.Expr{n.X}, nil)
		case *ast.RangeStmt:
			set([]ast.Expr{n.Key, n.Value}, nil)
		case *ast.Field:
			set(idents(n.Names), nil)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				set([]ast.Expr{n.X}, nil)
			}
		}
		return true
	}
	ast.Inspect(g.body, look)
	if times == 0 {
		for _, d := range g.file.Decls {
			if gen, ok := d.(*ast.GenDecl); ok && (gen.Tok == token.VAR || gen.Tok == token.CONST) {
				ast.Inspect(gen, look)
			}
		}
	}
	if times != 1 {
		return nil
	}
	return v
}

// ranged is the table of the loop whose element a variable is; column is whether the variable stands for the value.
func (g goAsked) ranged(id *ast.Ident) (rows *ast.CompositeLit, column bool) {
	ast.Inspect(g.body, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		if !ok || !g.holds(r) {
			return true
		}
		v, ok := r.Value.(*ast.Ident)
		if !ok || v.Name != id.Name {
			return true
		}
		of := r.X
		if name, ok := of.(*ast.Ident); ok {
			of = g.given(name)
		}
		rows, column = nil, true
		if lit, ok := of.(*ast.CompositeLit); ok {
			rows = lit
		}
		return true
	})
	return rows, column
}

// fields are the names of the fields of a table's rows, in order; nil where its type does not stand in the file.
func (g goAsked) fields(rows *ast.CompositeLit) (names []string) {
	var elem ast.Expr
	switch t := rows.Type.(type) {
	case *ast.ArrayType:
		elem = t.Elt
	case *ast.MapType:
		elem = t.Value
	}
	if id, ok := elem.(*ast.Ident); ok {
		ast.Inspect(g.file, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok && t.Name.Name == id.Name {
				elem = t.Type
			}
			return true
		})
	}
	st, ok := elem.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, f := range st.Fields.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// column are the literals of one column of a table, of every row that has it written out: each row's test then asks for
// another value. With no name it is the rows themselves.
func (g goAsked) column(rows *ast.CompositeLit, fields []string, name string) (out []literal) {
	if len(rows.Elts) > maxRows {
		return nil
	}
	for _, row := range rows.Elts {
		if kv, ok := row.(*ast.KeyValueExpr); ok {
			row = kv.Value
		}
		if name != "" {
			lit, ok := row.(*ast.CompositeLit)
			if !ok {
				return nil
			}
			if row = cell(lit, fields, name); row == nil {
				continue
			}
		}
		if l, ok := g.written(row); ok {
			out = append(out, l)
		}
	}
	return out
}

// cell is one field of a row, nil where it is left out.
func cell(row *ast.CompositeLit, fields []string, name string) ast.Expr {
	for i, e := range row.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if k, ok := kv.Key.(*ast.Ident); ok && k.Name == name {
				return kv.Value
			}
		} else if i < len(fields) && fields[i] == name {
			return e
		}
	}
	return nil
}

// uses is how often a test reads a variable, or a field of one, but in messages; reading the whole variable reads its field.
func (g goAsked) uses(name, field string) (n int) {
	var look func(ast.Node) bool
	in := func(nodes ...ast.Expr) {
		for _, e := range nodes {
			if _, ok := e.(*ast.Ident); !ok && e != nil {
				ast.Inspect(e, look)
			}
		}
	}
	look = func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.CallExpr:
			return !complains(x)
		case *ast.AssignStmt: // what is set is not read
			in(x.Lhs...)
			for _, e := range x.Rhs {
				ast.Inspect(e, look)
			}
			return false
		case *ast.RangeStmt:
			in(x.Key, x.Value)
			ast.Inspect(x.X, look)
			ast.Inspect(x.Body, look)
			return false
		case *ast.ValueSpec:
			for _, e := range x.Values {
				ast.Inspect(e, look)
			}
			return false
		case *ast.KeyValueExpr: // the key may be a field's name
			in(x.Key)
			ast.Inspect(x.Value, look)
			return false
		case *ast.StructType:
			return false
		case *ast.SelectorExpr:
			if on, ok := x.X.(*ast.Ident); ok {
				if on.Name == name && (field == "" || field == x.Sel.Name) {
					n++
				}
				return false
			}
			ast.Inspect(x.X, look)
			return false
		case *ast.Ident:
			if x.Name == name {
				n++
			}
		}
		return true
	}
	ast.Inspect(g.body, look)
	return n
}

// complains says whether a call is one of testing's that say something: what stands there is no value that is asked for.
func complains(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := sel.X.(*ast.Ident)
	said := slices.Contains([]string{"Errorf", "Error", "Fatalf", "Fatal", "Logf", "Log", "Skip", "Skipf"}, sel.Sel.Name)
	return ok && said && tester(on.Name)
}

// tester says whether a name is one that tests give to what they complain to.
func tester(name string) bool { return slices.Contains([]string{"t", "b", "tb", "tt", "f"}, name) }
