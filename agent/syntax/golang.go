package syntax

import (
	"bytes"
	"cmp"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"slices"
	"sort"
	"strings"
)

// golang is the grammar of Go, read by go/parser.
type golang struct{}

func (golang) parse(src []byte) error {
	_, _, err := parseGo(src)
	return err
}

func (golang) symbols(src []byte) ([]Symbol, error) {
	fset, file, err := parseGo(src)
	if err != nil {
		return nil, err
	}
	w := &goWalk{file: fset.File(file.FileStart), lines: lineStarts(src), size: len(src), comments: file.Comments}
	for _, d := range file.Decls {
		w.decl(d)
	}
	slices.SortStableFunc(w.found, func(a, b Symbol) int { return cmp.Compare(a.Start, b.Start) })
	return w.found, nil
}

// fragmentHead makes a file of a definition; it is one line.
const fragmentHead = "package p\n"

func (g golang) fragment(src []byte) ([]Symbol, error) {
	found, err := g.symbols(append([]byte(fragmentHead), src...))
	var e *Error
	if errors.As(err, &e) && e.Line > 0 {
		return nil, &Error{Line: max(1, e.Line-1), Column: e.Column, Message: e.Message}
	}
	for i := range found {
		s := &found[i]
		for _, offset := range []*int{&s.Start, &s.End, &s.BodyStart, &s.Decl.Start, &s.Decl.End} {
			*offset -= len(fragmentHead)
		}
		for _, line := range []*int{&s.First, &s.Last, &s.Head, &s.Line, &s.Decl.First, &s.Decl.Last} {
			*line--
		}
	}
	return found, err
}

func (golang) literals(src []byte) map[int]bool {
	fset := token.NewFileSet()
	clean := plain(src)
	file := fset.AddFile("", -1, len(clean))
	var s scanner.Scanner
	s.Init(file, clean, func(token.Position, string) {}, scanner.ScanComments)
	inside := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return inside
		}
		if tok != token.STRING && tok != token.COMMENT {
			continue
		}
		first := file.PositionFor(pos, false).Line
		for i := range strings.Count(text, "\n") {
			inside[first+1+i] = true
		}
	}
}

// parseGo parses the text as go/parser does, except that line directives in it have no say about where a thing
// stands.
func parseGo(src []byte) (*token.FileSet, *ast.File, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", plain(src), parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		return fset, file, nil
	}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return nil, nil, &Error{Line: list[0].Pos.Line, Column: list[0].Pos.Column, Message: list[0].Msg}
	}
	return nil, nil, &Error{Message: err.Error()}
}

// plain is the text with the same lines, but so that positions can be trusted: go/scanner drops carriage returns
// from comments and raw strings, which moves their ends, and line directives move whatever follows. Most texts are
// that already.
func plain(src []byte) []byte {
	if bytes.IndexByte(src, '\r') >= 0 {
		src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
		src = bytes.ReplaceAll(src, []byte("\r"), []byte(" "))
	}
	for directive, harmless := range map[string]string{"//line ": "//Line ", "/*line ": "/*Line "} {
		if bytes.Contains(src, []byte(directive)) {
			src = bytes.ReplaceAll(src, []byte(directive), []byte(harmless))
		}
	}
	return src
}

// lineStarts gives the offset of every line's first byte.
func lineStarts(src []byte) []int {
	starts := make([]int, 1, bytes.Count(src, []byte{'\n'})+1)
	for at := 0; ; {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			return starts
		}
		at += n + 1
		starts = append(starts, at)
	}
}

// goWalk gathers symbols; offsets are computed from lines, because the parser saw a text with other offsets.
type goWalk struct {
	file  *token.File
	lines []int
	size  int
	found []Symbol

	comments []*ast.CommentGroup
}

func (w *goWalk) line(p token.Pos) int { return w.file.PositionFor(p, false).Line }

// offset is where a position stands in the original text. Only line endings were changed, so columns hold.
func (w *goWalk) offset(p token.Pos) int {
	at := w.file.PositionFor(p, false)
	return min(w.lines[at.Line-1]+at.Column-1, w.size)
}

func (w *goWalk) span(first, last int) Span {
	end := w.size
	if last < len(w.lines) {
		end = w.lines[last]
	}
	return Span{Start: w.lines[first-1], End: end, First: first, Last: last}
}

// spanOf is the lines from a comment group, if there is one, to the end of a node.
func (w *goWalk) spanOf(doc *ast.CommentGroup, n ast.Node, trailing *ast.CommentGroup) Span {
	from, to := n.Pos(), n.End()
	if doc != nil {
		from = doc.Pos()
	}
	if trailing != nil {
		to = trailing.End()
	}
	first := w.line(from)
	// End is one past the last byte, which may be the next line's start.
	return w.span(first, w.closed(max(from, to-1)))
}

// closed is the line of a node's last byte, or the one on which a comment ends that begins on that line and runs on.
func (w *goWalk) closed(end token.Pos) int {
	last := w.line(end)
	i := sort.Search(len(w.comments), func(i int) bool { return w.comments[i].End() > end })
	for _, group := range w.comments[min(i, len(w.comments)):min(i+2, len(w.comments))] {
		for _, c := range group.List {
			if w.line(c.Pos()) == last {
				last = max(last, w.line(c.End()-1))
			}
		}
	}
	return last
}

func (w *goWalk) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		w.function(d)
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return
		}
		for _, spec := range d.Specs {
			w.spec(d, spec)
		}
	}
}

func (w *goWalk) function(d *ast.FuncDecl) {
	span := w.spanOf(d.Doc, d, nil)
	s := Symbol{Kind: "func", Head: w.line(d.Pos()), BodyStart: span.End, Signature: funcSignature(d)}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind, s.Container = "method", receiver(d.Recv.List[0].Type)
	}
	if d.Body != nil {
		s.BodyStart = w.offset(d.Body.Lbrace)
	}
	w.add(s, d.Name, span, span, false)
}

func (w *goWalk) spec(d *ast.GenDecl, spec ast.Spec) {
	decl := w.spanOf(d.Doc, d, nil)
	grouped := d.Lparen.IsValid()
	head := w.line(d.Pos())
	if grouped {
		head = w.line(spec.Pos())
	}
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		span := decl
		if grouped {
			span = w.spanOf(spec.Doc, spec, spec.Comment)
		}
		s := Symbol{Kind: "type", Head: head, BodyStart: span.End, Signature: typeSignature(spec)}
		w.add(s, spec.Name, span, decl, grouped)
	case *ast.ValueSpec:
		span := decl
		if grouped {
			span = w.spanOf(spec.Doc, spec, spec.Comment)
		}
		for _, name := range spec.Names {
			s := Symbol{Kind: d.Tok.String(), Head: head, BodyStart: span.End, Signature: d.Tok.String() + " " + render(spec.Type)}
			w.add(s, name, span, decl, grouped)
		}
	}
}

// add completes a symbol; the blank name is nothing that could be addressed.
func (w *goWalk) add(s Symbol, name *ast.Ident, span, decl Span, grouped bool) {
	if name.Name == "_" {
		return
	}
	s.Name, s.Exported, s.Line = name.Name, name.IsExported(), w.line(name.Pos())
	s.Start, s.End, s.First, s.Last = span.Start, span.End, span.First, span.Last
	s.Decl, s.Grouped = decl, grouped
	w.found = append(w.found, s)
}

// receiver is the name of a receiver's type: T of T, *T, T[K] and (*T[K, V]).
func receiver(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
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

func funcSignature(d *ast.FuncDecl) string {
	recv := ""
	if d.Recv != nil && len(d.Recv.List) > 0 {
		recv = "(" + render(d.Recv.List[0].Type) + ") "
	}
	return "func " + recv + typeParams(d.Type.TypeParams) + fieldTypes(d.Type.Params) + " " + fieldTypes(d.Type.Results)
}

// fieldTypes is a parameter list without its names, which callers cannot see.
func fieldTypes(list *ast.FieldList) string {
	if list == nil {
		return "()"
	}
	var types []string
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			types = append(types, render(f.Type))
		}
	}
	return "(" + strings.Join(types, ", ") + ")"
}

func typeParams(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	var params []string
	for _, f := range list.List {
		for _, n := range f.Names {
			params = append(params, n.Name+" "+render(f.Type))
		}
	}
	return "[" + strings.Join(params, ", ") + "]"
}

func typeSignature(spec *ast.TypeSpec) string {
	sig := "type " + typeParams(spec.TypeParams)
	if spec.Assign.IsValid() {
		sig += "= "
	}
	if st, ok := spec.Type.(*ast.StructType); ok {
		return sig + structSignature(st)
	}
	return sig + render(spec.Type)
}

// structSignature leaves out the fields that no other package can name.
func structSignature(st *ast.StructType) string {
	var fields []string
	for _, f := range st.Fields.List {
		if len(f.Names) == 0 {
			fields = append(fields, render(f.Type)+tag(f))
		}
		for _, n := range f.Names {
			if n.IsExported() {
				fields = append(fields, n.Name+" "+render(f.Type)+tag(f))
			}
		}
	}
	return "struct{" + strings.Join(fields, "; ") + "}"
}

func tag(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	return " " + f.Tag.Value
}

// render prints a type on one line, comments left out.
func render(e ast.Expr) string {
	if e == nil {
		return ""
	}
	if s, ok := rendered(e); ok {
		return s
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok {
			f.Doc, f.Comment = nil, nil
		}
		return true
	})
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		return ""
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// rendered is what render prints, without the printer, of the types that most declarations have.
func rendered(e ast.Expr) (string, bool) {
	before, inner := "", ast.Expr(nil)
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name, true
	case *ast.SelectorExpr:
		of, ok := x.X.(*ast.Ident)
		if !ok {
			return "", false
		}
		return of.Name + "." + x.Sel.Name, true
	case *ast.StarExpr:
		before, inner = "*", x.X
	case *ast.Ellipsis:
		before, inner = "...", x.Elt
	case *ast.ArrayType:
		before, inner = "[]", x.Elt
		if x.Len != nil {
			return "", false
		}
	case *ast.MapType:
		key, ok := rendered(x.Key)
		if !ok {
			return "", false
		}
		before, inner = "map["+key+"]", x.Value
	}
	if inner == nil {
		return "", false
	}
	s, ok := rendered(inner)
	return before + s, ok
}
