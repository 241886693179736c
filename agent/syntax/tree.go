package syntax

import (
	"fmt"
	"iter"
	"sort"
	"strings"
)

// tree is a text's syntax tree as the module gives it: its nodes in preorder, the root first. A node is named by its
// index; -1 is none.
type tree struct {
	src    []byte
	nodes  []node
	names  *names
	lines  []int   // where lines start
	parent []int32 // of each node; made when it is first asked for
	before []int32 // the sibling in front of each node, likewise
}

type node struct {
	kind         uint16
	field, flags uint8
	start, end   uint32
	next         uint32 // behind the last descendant
}

const (
	named = 1 << iota
	broken
	missing
	extra
	marked // a symbol of an outline
)

func (t *tree) kind(n int) string {
	if n < 0 || t.nodes[n].flags&broken != 0 {
		return ""
	}
	if k := int(t.nodes[n].kind); k < len(t.names.kinds) {
		return t.names.kinds[k]
	}
	return ""
}

// is says whether a node is of one of some kinds.
func (t *tree) is(n int, kinds ...string) bool {
	k := t.kind(n)
	for _, want := range kinds {
		if k == want && k != "" {
			return true
		}
	}
	return false
}

func (t *tree) fieldName(n int) string {
	if f := int(t.nodes[n].field); f < len(t.names.fields) {
		return t.names.fields[f]
	}
	return ""
}

func (t *tree) has(n int, flag uint8) bool { return t.nodes[n].flags&flag != 0 }

// text is a node's bytes; spans beyond the text are cut.
func (t *tree) text(n int) string {
	if n < 0 {
		return ""
	}
	end := min(int(t.nodes[n].end), len(t.src))
	return string(t.src[min(int(t.nodes[n].start), end):end])
}

// start and end are a node's bytes; those of none are the text's first place.
func (t *tree) start(n int) int {
	if n < 0 {
		return 0
	}
	return min(int(t.nodes[n].start), len(t.src))
}

func (t *tree) end(n int) int {
	if n < 0 {
		return 0
	}
	return min(int(t.nodes[n].end), len(t.src))
}

// children are all of a node's children, punctuation and comments included.
func (t *tree) children(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if n < 0 {
			return
		}
		for c := n + 1; c < int(t.nodes[n].next); c = int(t.nodes[c].next) {
			if !yield(c) {
				return
			}
		}
	}
}

// named are a node's children that the grammar names, comments left out.
func (t *tree) named(n int) []int {
	var out []int
	for c := range t.children(n) {
		if t.has(c, named) && !t.comment(c) {
			out = append(out, c)
		}
	}
	return out
}

// all are a node and what lies below it.
func (t *tree) all(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if n < 0 {
			return
		}
		for c := n; c < int(t.nodes[n].next); c++ {
			if !yield(c) {
				return
			}
		}
	}
}

// leaf says whether a node has no children.
func (t *tree) leaf(n int) bool { return int(t.nodes[n].next) == n+1 }

// at is the child in a field, -1 if there is none.
func (t *tree) at(n int, field string) int {
	for c := range t.children(n) {
		if t.fieldName(c) == field && !t.comment(c) {
			return c
		}
	}
	return -1
}

// child is the first child of one of some kinds.
func (t *tree) child(n int, kinds ...string) int {
	for c := range t.children(n) {
		if t.is(c, kinds...) {
			return c
		}
	}
	return -1
}

// up is a node's parent.
func (t *tree) up(n int) int {
	if n < 0 {
		return -1
	}
	t.link()
	return int(t.parent[n])
}

// prev is the sibling in front of a node.
func (t *tree) prev(n int) int {
	if n < 0 {
		return -1
	}
	t.link()
	return int(t.before[n])
}

func (t *tree) link() {
	if t.parent != nil {
		return
	}
	t.parent, t.before = make([]int32, len(t.nodes)), make([]int32, len(t.nodes))
	t.parent[0], t.before[0] = -1, -1
	for p := range t.nodes {
		last := int32(-1)
		for c := range t.children(p) {
			t.parent[c], t.before[c] = int32(p), last
			last = int32(c)
		}
	}
}

func (t *tree) comment(n int) bool { return t.is(n, "comment", "line_comment", "block_comment") }

// line is the line, from 1, in which a byte stands.
func (t *tree) line(offset int) int { return sort.SearchInts(t.lines, offset+1) }

// last is the line of a node's last byte.
func (t *tree) last(n int) int {
	end := t.end(n)
	for end > t.start(n) && (t.src[end-1] == '\n' || t.src[end-1] == '\r') {
		end--
	}
	return t.line(max(t.start(n), end-1))
}

// whole is the span of lines first to last.
func (t *tree) whole(first, last int) Span {
	end := len(t.src)
	if last < len(t.lines) {
		end = t.lines[last]
	}
	return Span{Start: t.lines[first-1], End: end, First: first, Last: last}
}

// wrong is the first place at which the text is not of the language, or nil.
func (t *tree) wrong() error {
	for n := range t.nodes {
		if !t.has(n, broken|missing) {
			continue
		}
		e := &Error{Line: t.line(t.start(n)), Column: t.start(n) - t.lines[t.line(t.start(n))-1] + 1}
		if t.has(n, missing) {
			e.Message = fmt.Sprintf("missing %q", t.kind(n))
			return e
		}
		first, _, _ := strings.Cut(strings.TrimSpace(t.text(n)), "\n")
		e.Message = fmt.Sprintf("unexpected %q", clip(first, 40))
		return e
	}
	return nil
}

// clip is the first bytes of a text, whole characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}
