package mechanic

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// kind is one sort of small edit.
type kind struct {
	name  string
	prior float64       // how often such an edit is the repair, against the others
	make  func(s *site) // offers this kind's edits of one node
}

// kinds is the catalogue: every sort of edit that the search makes. Nothing outside it is ever tried.
var kinds = []kind{
	{"comparison", 1.0, comparison},    // < <= > >= == != for one another
	{"boundary", 0.9, boundary},        // an integer literal one up or down
	{"off-by-one", 0.8, offByOne},      // an index, slice bound, loop bound, argument or result one up or down
	{"operator", 0.8, operator},        // + - * / % & | ^ << >> for one another, += -= ++ --
	{"logical", 0.9, logical},          // && for ||, one side of them dropped
	{"negation", 0.8, negation},        // ! put before a condition or taken away
	{"boolean", 0.7, boolean},          // true for false
	{"constant", 0.5, constant},        // a literal becomes 0, 1, -1 or its opposite
	{"swapped-argument", 0.7, swapped}, // two arguments, operands, results or values change places
	{"sibling-call", 0.6, sibling},     // HasPrefix for HasSuffix, Min for Max
	{"wrong-variable", 0.45, variable}, // another variable, field or function of the same type
	{"assignment", 0.6, assignment},    // = for +=, and := that shadows for =
	{"jump", 0.6, jump},                // break for continue
	{"deletion", 0.25, deletion},       // a statement, or an if with its body, is left out
}

// edit replaces one span of one file.
type edit struct {
	kind      string
	file      string
	from, to  int // bytes
	old, text string
	line, col int
	weight    float64        // of the kind, and of this edit within it
	score     float64        // weight and suspicion together
	fn        *ast.FuncDecl  // it lies in, or nil
	spec      *ast.ValueSpec // package-level variables or constants that it declares, or nil; nil within a function
	variable  bool           // spec declares variables
}

// apply is the file's text with the edit made.
func (e edit) apply(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(e.text))
	out = append(out, text[:e.from]...)
	out = append(out, e.text...)
	return append(out, text[e.to:]...)
}

// site is one node of a file, with all that the catalogue needs to know of its surroundings.
type site struct {
	node    ast.Node
	stack   []ast.Node // its ancestors, the nearest last
	source  *source
	project *project
	typing  *typing
	fn      *ast.FuncDecl // it lies in, or nil
	kind    kind
	emit    func(edit)
}

// edits offers every edit of the catalogue for one file.
func edits(p *project, t *typing, s *source, emit func(edit)) {
	seen := map[[2]int]map[string]bool{}
	once := func(e edit) {
		span := [2]int{e.from, e.to}
		if e.old == e.text || seen[span][e.text] {
			return
		}
		if seen[span] == nil {
			seen[span] = map[string]bool{}
		}
		seen[span][e.text] = true
		emit(e)
	}
	ast.PreorderStack(s.file, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n.(type) {
		case *ast.ImportSpec, *ast.FieldList: // what is imported, parameters and fields are no small edit's business
			return false
		}
		at := &site{node: n, stack: stack, source: s, project: p, typing: t, fn: enclosing(n, stack), emit: once}
		for _, k := range kinds {
			at.kind = k
			k.make(at)
		}
		return true
	})
}

func enclosing(n ast.Node, stack []ast.Node) *ast.FuncDecl {
	if fn, ok := n.(*ast.FuncDecl); ok {
		return fn
	}
	for _, a := range stack {
		if fn, ok := a.(*ast.FuncDecl); ok {
			return fn
		}
	}
	return nil
}

// replace offers the span from..to rewritten as text. weight is this edit's share of its kind's prior.
func (s *site) replace(from, to token.Pos, text string, weight float64) {
	e := edit{kind: s.kind.name, file: s.source.path, from: s.project.offset(from), to: s.project.offset(to),
		text: text, weight: s.kind.prior * weight, fn: s.fn}
	if e.from < 0 || e.to > len(s.source.text) || e.from > e.to || e.to-e.from > maxSpan {
		return
	}
	e.old = string(s.source.text[e.from:e.to])
	e.line, e.col = s.project.place(from)
	e.spec, e.variable = s.declares()
	s.emit(e)
}

// declares is the package-level declaration of variables or constants that the site belongs to.
func (s *site) declares() (spec *ast.ValueSpec, variable bool) {
	if s.fn != nil {
		return nil, false
	}
	for _, a := range append(s.stack[:len(s.stack):len(s.stack)], s.node) {
		switch a := a.(type) {
		case *ast.GenDecl:
			variable = a.Tok == token.VAR
		case *ast.ValueSpec:
			return a, variable
		}
	}
	return nil, false
}

// maxSpan bounds the bytes that one edit replaces: what is larger is no small edit, and deep nesting would cost its square.
const maxSpan = 2048

// text is a node as it stands in the file, or nothing where replace would refuse its span.
func (s *site) text(n ast.Node) string {
	from, to := s.project.offset(n.Pos()), s.project.offset(n.End())
	if from < 0 || to > len(s.source.text) || from > to || to-from > maxSpan {
		return ""
	}
	return string(s.source.text[from:to])
}

// parent is the ancestor n levels up, 0 the nearest, or nil.
func (s *site) parent(n int) ast.Node {
	if n >= len(s.stack) {
		return nil
	}
	return s.stack[len(s.stack)-1-n]
}

func (s *site) token(pos token.Pos, old, new token.Token, weight float64) {
	s.replace(pos, pos+token.Pos(len(old.String())), new.String(), weight)
}

type choice struct {
	op     token.Token
	weight float64
}

var comparisons = map[token.Token][]choice{
	token.LSS: {{token.LEQ, 1}, {token.GTR, .7}, {token.GEQ, .6}, {token.NEQ, .3}, {token.EQL, .2}},
	token.LEQ: {{token.LSS, 1}, {token.GEQ, .7}, {token.GTR, .6}, {token.EQL, .2}, {token.NEQ, .2}},
	token.GTR: {{token.GEQ, 1}, {token.LSS, .7}, {token.LEQ, .6}, {token.NEQ, .3}, {token.EQL, .2}},
	token.GEQ: {{token.GTR, 1}, {token.LEQ, .7}, {token.LSS, .6}, {token.EQL, .2}, {token.NEQ, .2}},
	token.EQL: {{token.NEQ, .9}, {token.GEQ, .4}, {token.LEQ, .4}, {token.GTR, .3}, {token.LSS, .3}},
	token.NEQ: {{token.EQL, .9}, {token.GTR, .3}, {token.LSS, .3}},
}

func comparison(s *site) {
	b, ok := s.node.(*ast.BinaryExpr)
	if !ok {
		return
	}
	ordered := !s.typing.cannot(b.X, types.IsOrdered) && !s.typing.cannot(b.Y, types.IsOrdered) &&
		!isNil(b.X) && !isNil(b.Y)
	for _, c := range comparisons[b.Op] {
		if ordered || c.op == token.EQL || c.op == token.NEQ {
			s.token(b.OpPos, b.Op, c.op, c.weight)
		}
	}
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// number is the value of a decimal integer literal.
func (s *site) number() (lit *ast.BasicLit, n int64, ok bool) {
	lit, ok = s.node.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return lit, 0, false
	}
	n, err := strconv.ParseInt(lit.Value, 10, 62)
	return lit, n, err == nil
}

func boundary(s *site) {
	lit, n, ok := s.number()
	if !ok {
		return
	}
	weight := .8
	switch s.parent(0).(type) {
	case *ast.IndexExpr, *ast.SliceExpr, *ast.BinaryExpr, *ast.AssignStmt:
		weight = 1
	}
	s.replace(lit.Pos(), lit.End(), strconv.FormatInt(n+1, 10), weight)
	if b, ok := s.parent(0).(*ast.BinaryExpr); n > 0 && !(ok && n == 1 && b.Y == lit && b.Op.Precedence() == token.ADD.Precedence()) {
		s.replace(lit.Pos(), lit.End(), strconv.FormatInt(n-1, 10), weight) // x+0 is off-by-one's business: it leaves out the sum
	}
}

func constant(s *site) {
	lit, n, ok := s.number()
	if u, isMinus := s.node.(*ast.UnaryExpr); isMinus && u.Op == token.SUB {
		s.replace(u.Pos(), u.X.Pos(), "", 1)
	}
	if !ok {
		return
	}
	weight := .8
	if _, is := s.parent(0).(*ast.ReturnStmt); is {
		weight = 1.2
	}
	if b, ok := s.parent(0).(*ast.BinaryExpr); !ok || b.Op != token.ADD && b.Op != token.SUB {
		s.replace(lit.Pos(), lit.End(), "0", weight)
	}
	s.replace(lit.Pos(), lit.End(), "1", weight)
	if at := s.project.offset(lit.Pos()); at > 0 && s.source.text[at-1] == '-' {
		return // --1 is something else
	}
	s.replace(lit.Pos(), lit.End(), "-1", weight*.6)
	if n > 1 {
		s.replace(lit.Pos(), lit.End(), "-"+lit.Value, weight*.4)
	}
}

func offByOne(s *site) {
	switch n := s.node.(type) {
	case *ast.IndexExpr:
		if indexable(s.typing.of(n.X)) {
			s.shift(n.Index, 1, -1, 1)
		}
	case *ast.SliceExpr:
		for _, bound := range []ast.Expr{n.Low, n.High} {
			if bound != nil {
				s.shift(bound, 1, -1, 1)
			}
		}
		if n.Low == nil && !n.Slice3 {
			s.replace(n.Lbrack+1, n.Lbrack+1, "1", .4)
		}
	case *ast.BinaryExpr:
		s.shiftOperand(n)
	case *ast.ReturnStmt:
		s.shiftEach(n.Results, .5)
	case *ast.CallExpr:
		s.shiftEach(n.Args, .4)
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			s.shiftEach(n.Rhs, .5)
		}
	}
}

// indexable says whether an index into such a thing counts positions; an unknown thing might.
func indexable(t types.Type) bool {
	if t == nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Map, *types.Signature:
		return false
	case *types.Pointer:
		_, array := u.Elem().Underlying().(*types.Array)
		return array
	}
	return true
}

// shift offers x+1 and x-1, or x alone for a sum with 1.
func (s *site) shift(x ast.Expr, up, down int, weight float64) {
	if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.INT || s.typing.cannot(x, types.IsInteger) {
		return // boundary moves literals
	}
	text := s.text(x)
	if b, ok := x.(*ast.BinaryExpr); ok && b.Op.Precedence() < token.ADD.Precedence() {
		text = "(" + text + ")"
	}
	if up != 0 {
		s.replace(x.Pos(), x.End(), text+"+1", weight)
	}
	if down != 0 {
		s.replace(x.Pos(), x.End(), text+"-1", weight)
	}
}

// shiftEach moves the expressions that are known to be integers and are no plain sums with literals.
func (s *site) shiftEach(list []ast.Expr, weight float64) {
	for _, x := range list {
		if s.typing.is(x, types.IsInteger) && !s.typing.constant(x) {
			s.shift(x, 1, -1, weight)
		}
	}
}

// shiftOperand moves the bound of a comparison, where that is not the same as another comparison, and drops the
// one of a sum.
func (s *site) shiftOperand(b *ast.BinaryExpr) {
	switch b.Op {
	case token.LSS, token.GEQ:
		s.shift(b.Y, 0, -1, .8)
	case token.LEQ, token.GTR:
		s.shift(b.Y, 1, 0, .8)
	case token.EQL, token.NEQ:
		if s.typing.is(b.Y, types.IsInteger) {
			s.shift(b.Y, 1, -1, .6)
		}
	case token.ADD, token.SUB:
		weight := .35
		if lit, ok := b.Y.(*ast.BasicLit); ok && lit.Value == "1" {
			weight = 1
		}
		s.replace(b.X.End(), b.End(), "", weight)
	}
}

var operators = map[token.Token][]choice{
	token.ADD:     {{token.SUB, 1}, {token.MUL, .5}, {token.REM, .2}},
	token.SUB:     {{token.ADD, 1}, {token.MUL, .3}, {token.QUO, .2}},
	token.MUL:     {{token.QUO, .8}, {token.ADD, .6}, {token.SUB, .3}},
	token.QUO:     {{token.MUL, .8}, {token.REM, .7}, {token.SUB, .3}},
	token.REM:     {{token.QUO, .8}, {token.MUL, .3}},
	token.AND:     {{token.OR, .8}, {token.XOR, .4}, {token.AND_NOT, .4}},
	token.OR:      {{token.AND, .8}, {token.XOR, .5}},
	token.XOR:     {{token.OR, .7}, {token.AND, .7}},
	token.AND_NOT: {{token.AND, .8}, {token.OR, .3}},
	token.SHL:     {{token.SHR, .9}},
	token.SHR:     {{token.SHL, .9}},
}

var opAssigns = map[token.Token][]choice{
	token.ADD_ASSIGN: {{token.SUB_ASSIGN, 1}, {token.MUL_ASSIGN, .4}},
	token.SUB_ASSIGN: {{token.ADD_ASSIGN, 1}, {token.QUO_ASSIGN, .2}},
	token.MUL_ASSIGN: {{token.QUO_ASSIGN, .8}, {token.ADD_ASSIGN, .6}},
	token.QUO_ASSIGN: {{token.MUL_ASSIGN, .8}, {token.REM_ASSIGN, .5}, {token.SUB_ASSIGN, .3}},
	token.REM_ASSIGN: {{token.QUO_ASSIGN, .8}},
	token.AND_ASSIGN: {{token.OR_ASSIGN, .8}, {token.XOR_ASSIGN, .4}},
	token.OR_ASSIGN:  {{token.AND_ASSIGN, .8}, {token.XOR_ASSIGN, .5}},
	token.XOR_ASSIGN: {{token.OR_ASSIGN, .7}, {token.AND_ASSIGN, .7}},
	token.SHL_ASSIGN: {{token.SHR_ASSIGN, .9}},
	token.SHR_ASSIGN: {{token.SHL_ASSIGN, .9}},
}

func operator(s *site) {
	switch n := s.node.(type) {
	case *ast.BinaryExpr:
		if s.concatenation(n) {
			return
		}
		for _, c := range operators[n.Op] {
			s.operate(n, c)
		}
	case *ast.AssignStmt:
		for _, c := range opAssigns[n.Tok] {
			if s.typing.is(n.Lhs[0], types.IsString) {
				break
			}
			s.token(n.TokPos, n.Tok, c.op, c.weight)
		}
	case *ast.IncDecStmt:
		other := token.INC
		if n.Tok == token.INC {
			other = token.DEC
		}
		s.token(n.TokPos, n.Tok, other, 1)
	}
}

// concatenation says whether + joins strings here.
func (s *site) concatenation(b *ast.BinaryExpr) bool {
	for _, x := range []ast.Expr{b.X, b.Y} {
		lit, ok := x.(*ast.BasicLit)
		if ok && lit.Kind == token.STRING || s.typing.of(x) != nil && s.typing.is(x, types.IsString) && !s.typing.is(x, types.IsInteger) {
			return true
		}
	}
	return false
}

// operate exchanges an operator. Where the new one binds otherwise, both readings are offered: the text as it
// stands and the same operands in parentheses.
func (s *site) operate(b *ast.BinaryExpr, c choice) {
	s.token(b.OpPos, b.Op, c.op, c.weight)
	if c.op.Precedence() == b.Op.Precedence() {
		return
	}
	_, inner := s.parent(0).(*ast.BinaryExpr)
	x, y := s.text(b.X), s.text(b.Y)
	_, bx := b.X.(*ast.BinaryExpr)
	_, by := b.Y.(*ast.BinaryExpr)
	if !inner && !bx && !by {
		return
	}
	text := wrap(x, bx) + " " + c.op.String() + " " + wrap(y, by)
	s.replace(b.Pos(), b.End(), wrap(text, inner), c.weight*.6)
}

func wrap(text string, do bool) string {
	if do {
		return "(" + text + ")"
	}
	return text
}

func logical(s *site) {
	b, ok := s.node.(*ast.BinaryExpr)
	if !ok || b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	other := token.LAND
	if b.Op == token.LAND {
		other = token.LOR
	}
	s.operate(b, choice{other, 1})
	s.replace(b.Pos(), b.End(), s.text(b.X), .45)
	s.replace(b.Pos(), b.End(), s.text(b.Y), .45)
}

func negation(s *site) {
	e, ok := s.node.(ast.Expr)
	if !ok {
		return
	}
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		s.replace(u.Pos(), u.X.Pos(), "", 1)
		return
	}
	if _, negated := s.parent(0).(*ast.UnaryExpr); negated || !s.condition(e) {
		return
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			s.replace(x.Pos(), x.End(), "!("+s.text(x)+")", .5)
		}
	case *ast.Ident:
		if x.Name != "true" && x.Name != "false" {
			s.replace(x.Pos(), x.Pos(), "!", .9)
		}
	case *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
		s.replace(x.Pos(), x.Pos(), "!", .9)
	}
}

// condition says whether an expression stands where a truth value is used.
func (s *site) condition(e ast.Expr) bool {
	switch p := s.parent(0).(type) {
	case *ast.IfStmt:
		return p.Cond == e
	case *ast.ForStmt:
		return p.Cond == e
	case *ast.BinaryExpr:
		return p.Op == token.LAND || p.Op == token.LOR
	case *ast.ReturnStmt, *ast.CaseClause:
		return s.typing.is(e, types.IsBoolean)
	case *ast.AssignStmt:
		return e.Pos() > p.TokPos && s.typing.is(e, types.IsBoolean)
	case *ast.CallExpr:
		return p.Fun != e && s.typing.is(e, types.IsBoolean)
	case *ast.KeyValueExpr:
		return p.Value == e && s.typing.is(e, types.IsBoolean)
	}
	return false
}

func boolean(s *site) {
	id, ok := s.node.(*ast.Ident)
	if !ok {
		return
	}
	switch id.Name {
	case "true":
		s.replace(id.Pos(), id.End(), "false", 1)
	case "false":
		s.replace(id.Pos(), id.End(), "true", 1)
	}
}

func swapped(s *site) {
	switch n := s.node.(type) {
	case *ast.CallExpr:
		s.swapEach(n.Args, 1)
	case *ast.ReturnStmt:
		s.swapEach(n.Results, .8)
	case *ast.AssignStmt:
		s.swapEach(n.Rhs, .8)
	case *ast.BinaryExpr:
		switch n.Op {
		case token.SUB, token.QUO, token.REM, token.SHL, token.SHR:
			s.swap(n.X, n.Y, .8)
		case token.ADD:
			if s.concatenation(n) {
				s.swap(n.X, n.Y, .8)
			}
		}
	}
}

func (s *site) swapEach(list []ast.Expr, weight float64) {
	for i := range list {
		for j := i + 1; j < len(list) && j <= i+3; j++ {
			same, known := s.typing.same(list[i], list[j])
			switch {
			case same:
				s.swap(list[i], list[j], weight/float64(j-i))
			case !known:
				s.swap(list[i], list[j], weight*.4/float64(j-i))
			}
		}
	}
}

// swap exchanges two expressions and keeps what stands between them.
func (s *site) swap(a, b ast.Expr, weight float64) {
	if s.project.offset(b.End())-s.project.offset(a.Pos()) > maxSpan {
		return
	}
	between := s.source.text[s.project.offset(a.End()):s.project.offset(b.Pos())]
	_, ba := a.(*ast.BinaryExpr)
	_, in := s.node.(*ast.BinaryExpr)
	s.replace(a.Pos(), b.End(), s.text(b)+string(between)+wrap(s.text(a), ba && in), weight)
}

// siblings are functions and methods of the standard library, and usual names, that are taken for one another.
var siblings = [][2]string{
	{"HasPrefix", "HasSuffix"}, {"Index", "LastIndex"}, {"IndexByte", "LastIndexByte"}, {"TrimPrefix", "TrimSuffix"},
	{"TrimLeft", "TrimRight"}, {"TrimLeft", "TrimPrefix"}, {"TrimRight", "TrimSuffix"}, {"ToLower", "ToUpper"},
	{"Floor", "Ceil"}, {"Floor", "Round"}, {"Ceil", "Round"}, {"Min", "Max"}, {"min", "max"}, {"Before", "After"},
	{"IsUpper", "IsLower"}, {"IsDigit", "IsLetter"}, {"Split", "SplitAfter"}, {"First", "Last"}, {"Add", "Sub"},
	{"Contains", "HasPrefix"}, {"Contains", "ContainsAny"}, {"Fields", "Split"}, {"PushBack", "PushFront"},
	{"Front", "Back"}, {"Next", "Prev"}, {"Replace", "ReplaceAll"}, {"Push", "Pop"}, {"Left", "Right"}, {"left", "right"},
}

func sibling(s *site) {
	call, ok := s.node.(*ast.CallExpr)
	if !ok {
		return
	}
	name := callee(call)
	if name == nil {
		return
	}
	for _, pair := range siblings {
		switch name.Name {
		case pair[0]:
			s.replace(name.Pos(), name.End(), pair[1], 1)
		case pair[1]:
			s.replace(name.Pos(), name.End(), pair[0], 1)
		}
	}
}

func callee(call *ast.CallExpr) *ast.Ident {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f
	case *ast.SelectorExpr:
		return f.Sel
	}
	return nil
}

func assignment(s *site) {
	a, ok := s.node.(*ast.AssignStmt)
	if !ok || len(a.Lhs) == 0 {
		return
	}
	switch a.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN, token.MUL_ASSIGN, token.OR_ASSIGN:
		s.token(a.TokPos, a.Tok, token.ASSIGN, .7)
	case token.ASSIGN:
		if len(a.Lhs) == 1 && s.typing.is(a.Lhs[0], types.IsNumeric|types.IsString) {
			s.token(a.TokPos, a.Tok, token.ADD_ASSIGN, .7)
		}
	case token.DEFINE:
		if s.shadows(a) {
			s.token(a.TokPos, a.Tok, token.ASSIGN, 1.3)
		}
	}
}

// shadows says whether every name that := defines is already a variable of an outer block of the function.
func (s *site) shadows(a *ast.AssignStmt) bool {
	found := false
	for _, lhs := range a.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		obj := s.typing.info.Defs[id]
		if obj == nil || obj.Parent() == nil {
			continue // already assigned, not defined
		}
		_, outer := obj.Parent().Parent().LookupParent(id.Name, id.Pos())
		if v, ok := outer.(*types.Var); !ok || v.Parent() == nil {
			return false
		}
		found = true
	}
	return found
}

func jump(s *site) {
	b, ok := s.node.(*ast.BranchStmt)
	if !ok || b.Label != nil {
		return
	}
	switch b.Tok {
	case token.BREAK:
		s.token(b.Pos(), b.Tok, token.CONTINUE, 1)
	case token.CONTINUE:
		s.token(b.Pos(), b.Tok, token.BREAK, 1)
	}
}

func deletion(s *site) {
	switch s.parent(0).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	default:
		return
	}
	switch n := s.node.(type) {
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt:
		s.delete(n, 1)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			s.delete(n, 1)
		}
	case *ast.ReturnStmt:
		s.delete(n, .6)
	case *ast.IfStmt:
		if n.Else == nil {
			s.delete(n, .8)
		}
	}
}

// delete leaves out a statement, and its whole lines when nothing else stands on them.
func (s *site) delete(n ast.Node, weight float64) {
	text := s.source.text
	from, to := s.project.offset(n.Pos()), s.project.offset(n.End())
	start := strings.LastIndexByte(string(text[:from]), '\n') + 1
	end := strings.IndexByte(string(text[to:]), '\n')
	back, ahead := token.Pos(0), token.Pos(0)
	if end >= 0 && strings.TrimSpace(string(text[start:from])) == "" && strings.TrimSpace(string(text[to:to+end])) == "" {
		back, ahead = token.Pos(from-start), token.Pos(end+1)
	}
	s.replace(n.Pos()-back, n.End()+ahead, "", weight)
}
