package syntax

import (
	"bytes"
	"go/format"
	"slices"
	"strconv"
	"strings"
)

// Same says whether two texts are one program in two layouts: equal but for white space, and for the commas, semicolons,
// brackets and quotes that formatters put or take. It errs on the side of no; what does not parse is no program.
func (g Grammar) Same(a, b []byte) bool {
	if g.readable(a) != nil || g.readable(b) != nil {
		return false
	}
	switch l := g.language.(type) {
	case golang:
		return sameGo(a, b)
	case sitter:
		x, errA := l.tree(a)
		y, errB := l.tree(b)
		return errA == nil && errB == nil && slices.Equal(x.shape(), y.shape())
	}
	return false
}

// sameGo compares what gofmt makes of both. Carriage returns are layout to it.
func sameGo(a, b []byte) bool {
	x, errA := format.Source(bytes.ReplaceAll(a, []byte("\r\n"), []byte("\n")))
	y, errB := format.Source(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")))
	return errA == nil && errB == nil && bytes.Equal(x, y)
}

// brackets are nodes that only hold another one: what they say, the tree says by itself.
const brackets = "parenthesized_expression"

// shape is a tree without its layout: kind and depth of every node that the grammar names, and the text of its leaves.
func (t *tree) shape() []string {
	var out []string
	t.outline(0, 0, &out)
	return out
}

func (t *tree) outline(n, depth int, out *[]string) {
	kind, text := t.kind(n), t.text(n)
	say := func(s string) { *out = append(*out, strconv.Itoa(depth)+s) }
	switch {
	case t.comment(n):
		say(kind + " " + strings.Join(strings.Fields(text), " "))
		return
	case strings.Contains(kind, "string") || strings.HasPrefix(kind, "char"): // grammars name no text between quotes
		say(kind + " " + unquoted(text))
		return
	case t.leaf(n) && !t.has(n, named):
		if !strings.Contains(",;()", text) {
			say(text)
		}
		return
	case t.leaf(n):
		say(kind + " " + text)
		return
	case kind != brackets:
		say(kind)
		depth++
	}
	for c := range t.children(n) {
		t.outline(c, depth, out)
	}
}

// unquoted is a string without the quotes that a formatter may choose, where nothing inside depends on the choice.
func unquoted(text string) string {
	quotes := strings.IndexAny(text, `"'`)
	if quotes < 0 || strings.Contains(text, `\`) {
		return text
	}
	body := text[quotes:]
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		inner, ok := strings.CutPrefix(body, q)
		if inner, end := strings.CutSuffix(inner, q); ok && end && !strings.ContainsAny(inner, `"'`) {
			return strings.ToLower(text[:quotes]) + strconv.Itoa(len(q)) + inner
		}
	}
	return text
}
