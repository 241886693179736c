package syntax

import (
	"cmp"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// goFacts reads Go with go/parser; what it finds is what the other languages' reading finds.
func goFacts(src []byte) ([]Fact, error) {
	fset, file, err := parseGo(src)
	if err != nil {
		return nil, err
	}
	g := &goReading{walk: &goWalk{file: fset.File(file.FileStart), lines: lineStarts(src), size: len(src)}, alias: map[string]string{}, top: topVars(file)}
	for _, spec := range file.Imports {
		g.imported(spec)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			g.add(Fact{Kind: Comment, Text: c.Text}, c)
		}
	}
	ast.Inspect(file, g.visit)
	slices.SortStableFunc(g.found, func(a, b Fact) int { return cmp.Compare(a.Start, b.Start) })
	return g.found, nil
}

// goReading gathers the facts of a Go file.
type goReading struct {
	walk  *goWalk
	alias map[string]string
	top   map[string]bool // variables of the file's top level
	stack []ast.Node      // the nodes around the one that is visited, it included
	found []Fact
}

func (g *goReading) add(f Fact, n ast.Node) {
	f.Start, f.Line = g.walk.offset(n.Pos()), g.walk.line(n.Pos())
	for _, around := range g.stack {
		if d, ok := around.(*ast.FuncDecl); ok {
			f.Func = goFuncName(d)
		}
	}
	g.found = append(g.found, f)
}

func goFuncName(d *ast.FuncDecl) string {
	if d.Recv != nil && len(d.Recv.List) > 0 {
		return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
	}
	return d.Name.Name
}

// version is the last part of a module's path that is no package's name.
var version = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v[0-9]+$`) })

func (g *goReading) imported(spec *ast.ImportSpec) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return
	}
	g.add(Fact{Kind: Import, Text: name}, spec)
	base := path.Base(name)
	if version().MatchString(base) {
		base = path.Base(path.Dir(name))
	}
	if spec.Name != nil {
		g.alias[spec.Name.Name] = base
	}
}

// around is the node so many levels up.
func (g *goReading) around(up int) ast.Node {
	if i := len(g.stack) - 1 - up; i >= 0 {
		return g.stack[i]
	}
	return nil
}

func (g *goReading) visit(n ast.Node) bool {
	if n == nil {
		g.stack = g.stack[:len(g.stack)-1]
		return false
	}
	g.stack = append(g.stack, n)
	switch n := n.(type) {
	case *ast.ImportSpec:
		g.stack = g.stack[:len(g.stack)-1]
		return false
	case *ast.FuncDecl:
		g.function(n)
	case *ast.CallExpr:
		g.call(n)
	case *ast.AssignStmt:
		g.assign(n)
		g.last(n)
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			g.counts(n, n.Lhs[0])
		}
	case *ast.IncDecStmt:
		g.counts(n, n.X)
	case *ast.SelectorExpr, *ast.Ident:
		g.reference(n.(ast.Expr))
	case *ast.BasicLit, *ast.BinaryExpr, *ast.UnaryExpr:
		g.literal(n.(ast.Expr))
	case *ast.DeferStmt:
		g.recovered(n)
	}
	return true
}

func (g *goReading) function(d *ast.FuncDecl) {
	f := Fact{Kind: Func, Text: goFuncName(d), Body: Works}
	if d.Recv != nil {
		for _, field := range d.Recv.List {
			f.Args = append(f.Args, identNames(field)...)
		}
	}
	for _, field := range d.Type.Params.List {
		f.Args = append(f.Args, identNames(field)...)
	}
	if d.Body == nil {
		return
	}
	f.Body, f.Size = goBody(d.Body)
	g.add(f, d.Name)
}

func identNames(f *ast.Field) (names []string) {
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	return names
}

// goBody leaves out what only uses a name: _ = x.
func goBody(b *ast.BlockStmt) (Body, int) {
	list := slices.DeleteFunc(slices.Clone(b.List), idle)
	switch {
	case len(list) == 0:
		return Empty, 0
	case len(list) > 1:
		return Works, len(list)
	}
	switch s := list[0].(type) {
	case *ast.ReturnStmt:
		if !slices.ContainsFunc(s.Results, func(e ast.Expr) bool { return !goConstant(e) }) {
			return Constant, 1
		}
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok && len(c.Args) == 1 {
			if f, ok := c.Fun.(*ast.Ident); ok && f.Name == "panic" && goConstant(c.Args[0]) {
				return Constant, 1
			}
		}
	}
	return Works, 1
}

func idle(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN {
		return false
	}
	blank := func(e ast.Expr) bool { i, ok := e.(*ast.Ident); return ok && i.Name == "_" }
	calls := func(e ast.Expr) bool { _, ok := e.(*ast.CallExpr); return ok }
	return !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return !blank(e) }) && !slices.ContainsFunc(a.Rhs, calls)
}

func goConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "nil" || e.Name == "true" || e.Name == "false"
	case *ast.CompositeLit:
		return !slices.ContainsFunc(e.Elts, func(e ast.Expr) bool { return !goConstant(e) })
	case *ast.KeyValueExpr:
		return goConstant(e.Value)
	}
	_, ok := goValue(e)
	return ok
}

func goValue(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING || e.Kind == token.CHAR {
			v, err := strconv.Unquote(e.Value)
			return v, err == nil
		}
		return numeral(e.Value), true
	case *ast.ParenExpr:
		return goValue(e.X)
	case *ast.UnaryExpr:
		if v, ok := goValue(e.X); ok && e.Op == token.SUB {
			return "-" + v, true
		}
	case *ast.BinaryExpr:
		a, ok := goValue(e.X)
		b, also := goValue(e.Y)
		if ok && also && e.Op == token.ADD && goText(e.X) && goText(e.Y) {
			return a + b, true
		}
		if ok && also {
			return folded(a, e.Op.String(), b)
		}
	}
	return "", false
}

func goText(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return goText(e.X)
	case *ast.ParenExpr:
		return goText(e.X)
	}
	return false
}

func (g *goReading) chain(e ast.Expr, depth int) string {
	if depth > maxChain {
		return "?"
	}
	switch e := e.(type) {
	case *ast.Ident:
		if full, ok := g.alias[e.Name]; ok {
			return full
		}
		return e.Name
	case *ast.SelectorExpr:
		return join(g.chain(e.X, depth+1), e.Sel.Name)
	case *ast.CallExpr:
		return g.chain(e.Fun, depth+1) + "()"
	case *ast.ParenExpr:
		return g.chain(e.X, depth+1)
	case *ast.StarExpr:
		return g.chain(e.X, depth+1)
	case *ast.IndexExpr:
		if v, ok := goValue(e.Index); ok {
			return join(g.chain(e.X, depth+1), v)
		}
		return g.chain(e.X, depth+1) + "[]"
	}
	return "?"
}

func (g *goReading) call(c *ast.CallExpr) {
	f := Fact{Kind: Ref, Text: g.chain(c.Fun, 0), Called: true}
	for _, a := range c.Args {
		if v, ok := goValue(a); ok {
			f.Args = append(f.Args, v)
		} else {
			f.Args = append(f.Args, g.chain(a, 0))
		}
	}
	g.add(f, c)
}

func (g *goReading) reference(e ast.Expr) {
	switch p := g.around(1).(type) {
	case *ast.SelectorExpr, *ast.Field, *ast.FuncDecl, *ast.TypeSpec, *ast.File, *ast.ValueSpec:
		if v, ok := p.(*ast.ValueSpec); !ok || !slices.Contains(v.Values, e) {
			return
		}
	case *ast.CallExpr:
		if p.Fun == e {
			return
		}
	}
	g.add(Fact{Kind: Ref, Text: g.chain(e, 0)}, e)
}

func (g *goReading) assign(s *ast.AssignStmt) {
	for i, left := range s.Lhs {
		if s.Tok == token.DEFINE {
			continue
		}
		value := ""
		if i < len(s.Rhs) {
			value = g.chain(s.Rhs[i], 0)
		}
		g.add(Fact{Kind: Assign, Text: g.chain(left, 0), Args: []string{value}}, s)
	}
}

// last says what becomes of a call's last result, which is an error by custom.
func (g *goReading) last(s *ast.AssignStmt) {
	if len(s.Rhs) != 1 {
		return
	}
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if !ok {
		return
	}
	kind := Keep
	if i, ok := s.Lhs[len(s.Lhs)-1].(*ast.Ident); ok && i.Name == "_" {
		kind = Discard
	}
	g.add(Fact{Kind: kind, Text: g.chain(call.Fun, 0)}, s)
}

// counts finds what a function counts on in a variable of the file's top level.
func (g *goReading) counts(s ast.Node, e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			if g.top[x.Name] {
				g.add(Fact{Kind: Count, Text: x.Name}, s)
			}
			return
		default:
			return
		}
	}
}

// topVars are the names of a file's variables.
func topVars(file *ast.File) map[string]bool {
	top := map[string]bool{}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, n := range spec.(*ast.ValueSpec).Names {
					top[n.Name] = true
				}
			}
		}
	}
	return top
}

func (g *goReading) literal(e ast.Expr) {
	v, ok := goValue(e)
	if !ok {
		return
	}
	if p, ok := g.around(1).(ast.Expr); ok {
		if _, inside := goValue(p); inside {
			return
		}
	}
	if f, ok := g.around(1).(*ast.Field); ok && f.Tag == e {
		return
	}
	fact := Fact{Kind: Literal, Text: v}
	fact.Usage, fact.Guard = g.usage()
	g.add(fact, e)
}

func (g *goReading) usage() (Usage, string) {
	for up := 1; up < len(g.stack); up++ {
		switch p := g.around(up).(type) {
		case *ast.BinaryExpr:
			if p.Op == token.EQL || p.Op == token.NEQ {
				return Compared, ""
			}
		case *ast.KeyValueExpr:
			if p.Key == g.around(up-1) {
				return Compared, ""
			}
			k, _ := goValue(p.Key)
			return Result, k
		case *ast.CaseClause:
			if e, ok := g.around(up - 1).(ast.Expr); ok && slices.Contains(p.List, e) {
				return Compared, ""
			}
			return Other, ""
		case *ast.ReturnStmt:
			return Result, g.guard(up)
		case *ast.AssignStmt:
			return Other, g.guard(up)
		case *ast.BlockStmt, *ast.FuncDecl:
			return Other, ""
		}
	}
	return Other, ""
}

// guard is the literal that decides whether what is so many levels up is come to.
func (g *goReading) guard(up int) string {
	first := func(e ast.Node) (v string) {
		ast.Inspect(e, func(n ast.Node) bool {
			if b, ok := n.(ast.Expr); ok && v == "" {
				v, _ = goValue(b)
			}
			return v == ""
		})
		return v
	}
	for ; up < len(g.stack); up++ {
		switch p := g.around(up).(type) {
		case *ast.IfStmt:
			if v := first(p.Cond); v != "" {
				return v
			}
		case *ast.CaseClause:
			for _, e := range p.List {
				if v := first(e); v != "" {
					return v
				}
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return ""
		}
	}
	return ""
}

// recovered takes a deferred function that calls recover for a Catch: it works when it does anything with what it gets.
func (g *goReading) recovered(d *ast.DeferStmt) {
	lit, ok := d.Call.Fun.(*ast.FuncLit)
	if !ok {
		return
	}
	calls := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if f, ok := c.Fun.(*ast.Ident); ok && f.Name == "recover" {
				calls = true
			}
		}
		return true
	})
	if !calls {
		return
	}
	f := Fact{Kind: Catch, Body: Empty}
	for _, s := range lit.Body.List {
		if !idleRecover(s) {
			f.Body = Works
		}
	}
	g.add(f, d)
}

// idleRecover says whether a statement of a deferred function does nothing with what was recovered.
func idleRecover(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := c.Fun.(*ast.Ident)
		return ok && f.Name == "recover"
	case *ast.AssignStmt:
		return !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { i, ok := e.(*ast.Ident); return !ok || i.Name != "_" && s.Tok != token.DEFINE })
	case *ast.IfStmt:
		return s.Else == nil && !slices.ContainsFunc(s.Body.List, func(s ast.Stmt) bool { r, ok := s.(*ast.ReturnStmt); return !ok || len(r.Results) > 0 })
	}
	return false
}
