package syntax

import (
	"cmp"
	"slices"
	"strings"
)

// sitter is a language that is read with a tree-sitter grammar.
type sitter struct {
	id   int
	walk func(w *walk, n int, container string) // adds the symbols among a node's children
	wrap []string                               // a method alone is no program: it is read inside one of these
	read reader
}

var sitters = map[string]sitter{
	"python":     {id: pythonID, walk: pythonSymbols, read: pythonReader},
	"javascript": {id: javascriptID, walk: scriptSymbols, wrap: inClass, read: scriptReader},
	"typescript": {id: typescriptID, walk: scriptSymbols, wrap: inClass, read: scriptReader},
	"tsx":        {id: tsxID, walk: scriptSymbols, wrap: inClass, read: scriptReader},
	"rust":       {id: rustID, walk: rustSymbols, read: rustReader},
	"java":       {id: javaID, walk: javaSymbols, wrap: inType, read: javaReader},
}

func (s sitter) tree(src []byte) (*tree, error) {
	t, err := grow(s.id, src)
	if err != nil {
		return nil, err
	}
	return t, t.wrong()
}

func (s sitter) parse(src []byte) error {
	_, err := s.tree(src)
	return err
}

func (s sitter) symbols(src []byte) ([]Symbol, error) {
	t, err := s.tree(src)
	if err != nil {
		return nil, err
	}
	w := &walk{tree: t}
	s.gather(w)
	return w.found, nil
}

func (s sitter) gather(w *walk) {
	s.walk(w, 0, "")
	slices.SortStableFunc(w.found, func(a, b Symbol) int { return cmp.Compare(a.Start, b.Start) })
}

var (
	inClass = []string{"class X {\n"}
	inType  = []string{"class X {\n", "@interface X {\n", "record X() {\n"}
)

func (s sitter) fragment(src []byte) ([]Symbol, error) {
	found, err := s.symbols(src)
	if err == nil && len(found) > 0 {
		return found, nil
	}
	for _, head := range s.wrap {
		inside, bad := s.symbols(slices.Concat([]byte(head), src, []byte("\n}\n")))
		if bad != nil || len(inside) < 2 {
			continue
		}
		inside = inside[1:]
		for i := range inside {
			inside[i].Container = ""
			inside[i].move(-len(head), -1)
			inside[i].cut(len(src))
		}
		return inside, nil
	}
	return found, err
}

// move shifts a symbol by bytes and lines.
func (s *Symbol) move(bytes, lines int) {
	for _, offset := range []*int{&s.Start, &s.End, &s.BodyStart, &s.Decl.Start, &s.Decl.End} {
		*offset += bytes
	}
	for _, line := range []*int{&s.First, &s.Last, &s.Head, &s.Line, &s.Decl.First, &s.Decl.Last} {
		*line += lines
	}
}

// cut ends a symbol with its text.
func (s *Symbol) cut(size int) {
	for _, offset := range []*int{&s.Start, &s.End, &s.BodyStart, &s.Decl.Start, &s.Decl.End} {
		*offset = min(*offset, size)
	}
}

// quoted are the kinds of nodes whose lines are content.
var quoted = []string{
	"string", "template_string", "comment", "line_comment", "block_comment", "string_literal", "raw_string_literal",
	"text_block", "jsx_text", "regex", "html_comment",
}

func (s sitter) literals(src []byte) map[int]bool {
	t, err := grow(s.id, src)
	if err != nil {
		return nil
	}
	inside := map[int]bool{}
	for n := 0; n < len(t.nodes); n++ {
		if !t.has(n, named) || !t.is(n, quoted...) {
			continue
		}
		for line := t.line(t.start(n)) + 1; line <= t.last(n); line++ {
			inside[line] = true
		}
		n = int(t.nodes[n].next) - 1
	}
	return inside
}

// walk gathers the symbols of a tree.
type walk struct {
	*tree
	found []Symbol
	marks map[int32]string // the symbols by the nodes that hold them, for an outline; nil if nobody asks
}

// define adds a symbol. outer is the node that its span covers, such as the export or the decorators around it; item
// is the definition itself.
func (w *walk) define(s Symbol, outer, item, name, body int) {
	s.Name = w.text(name)
	if s.Name == "" {
		return
	}
	span := w.whole(w.top(outer), w.closed(outer))
	s.Start, s.End, s.First, s.Last = span.Start, span.End, span.First, span.Last
	s.Decl, s.BodyStart = span, span.End
	s.Line = w.line(w.start(name))
	s.Head = min(w.head(outer), s.Line)
	if body >= 0 {
		s.BodyStart = min(max(w.start(body), span.Start), span.End)
	}
	if s.Signature == "" {
		s.Signature = w.signature(item, body)
	}
	w.found = append(w.found, s)
	if w.marks != nil {
		w.mark(s.String(), outer, item, w.up(name))
	}
}

// mark says which nodes hold a symbol; the first symbol of a node has it.
func (w *walk) mark(of string, nodes ...int) {
	for _, n := range nodes {
		if !w.has(n, marked) {
			w.nodes[n].flags |= marked
			w.marks[int32(n)] = of
		}
	}
}

// head is the line on which a definition begins, below its decorators.
func (w *walk) head(outer int) int {
	for c := range w.children(outer) {
		if !w.is(c, "decorator") && !w.comment(c) {
			return w.line(w.start(c))
		}
	}
	return w.line(w.start(outer))
}

// top is the line on which the comments and attributes directly above a node begin.
func (w *walk) top(n int) int {
	first := w.line(w.start(n))
	for c := w.prev(n); c >= 0; c = w.prev(c) {
		attribute := w.is(c, "attribute_item", "decorator")
		if !attribute && !w.comment(c) || w.is(c, "inner_attribute_item") || w.inner(c) {
			break
		}
		begun := w.last(c) == first // a comment that ends where the definition begins
		if !attribute && !begun && (w.last(c) != first-1 || !w.alone(c)) {
			break
		}
		first = min(first, w.line(w.start(c)))
	}
	return first
}

// closed is the line of a node's last byte, or the one on which a comment ends that begins on that line and runs on.
func (w *walk) closed(n int) int {
	last := w.last(n)
	for c := int(w.nodes[n].next); c < len(w.nodes) && w.comment(c) && w.line(w.start(c)) == last; c = int(w.nodes[c].next) {
		last = w.last(c)
	}
	return last
}

// inner says whether a comment is about what holds it, as in Rust's //!.
func (w *walk) inner(n int) bool {
	text := w.text(n)
	return strings.HasPrefix(text, "//!") || strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "#!")
}

// alone says whether nothing stands in front of a node on its line.
func (w *walk) alone(n int) bool {
	at := w.start(n)
	return strings.Trim(string(w.src[w.lines[w.line(at)-1]:at]), " \t\ufeff") == ""
}

// private are the names that no caller can see: a parameter's own.
func (w *walk) private(n int) bool {
	switch p := w.up(n); {
	case w.is(p, "parameter", "required_parameter", "optional_parameter") && w.fieldName(n) == "pattern":
		return w.is(n, "identifier")
	case w.is(p, "formal_parameter") && w.fieldName(n) == "name":
		return true
	case w.is(p, "formal_parameters"):
		return w.is(n, "identifier")
	case w.is(p, "variable_declarator") && w.is(w.up(p), "spread_parameter"):
		return true
	}
	return false
}

// hidden are the parts of a definition that no caller relies on: comments, values, bodies, a struct's own fields.
func (w *walk) hidden(n int) bool {
	p := w.up(n)
	switch w.fieldName(n) {
	case "value":
		return w.is(p, "const_item", "static_item", "variable_declarator", "public_field_definition", "field_definition")
	case "body":
		return w.is(p, "function_item")
	}
	if w.is(p, "field_declaration_list") && w.is(w.up(p), "struct_item") {
		return w.is(n, "field_declaration") && w.child(n, "visibility_modifier") < 0 || w.is(n, ",")
	}
	return w.comment(n) || w.is(n, "decorator", "attribute_item", "docstring")
}

// signature is a definition's words up to its body, those that callers cannot see left out.
func (w *walk) signature(item, body int) string {
	var out []string
	for n := item; n < int(w.nodes[item].next); n++ {
		switch {
		case n == body || n != item && w.hidden(n):
			n = int(w.nodes[n].next) - 1
		case w.private(n):
			out = append(out, "_")
		case w.leaf(n):
			if text := strings.Join(strings.Fields(w.text(n)), " "); text != "" && text != ";" {
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, " ")
}
