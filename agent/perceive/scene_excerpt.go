package perceive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// span is some lines of a file, from 1, both ends in it.
type span struct{ first, last int }

func spanOf(s syntax.Symbol) span { return span{s.First, s.Last} }

func (s span) holds(line int) bool { return s.first <= line && line <= s.last }

func (s span) in(all []span) bool {
	return slices.ContainsFunc(all, func(o span) bool { return o.first <= s.first && s.last <= o.last })
}

// joined are spans in order, each line once; those with at most two lines between them become one.
func joined(all []span) (out []span) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last)) })
	for _, s := range all {
		if n := len(out); n > 0 && s.first <= out[n-1].last+3 {
			out[n-1].last = max(out[n-1].last, s.last)
			continue
		}
		out = append(out, s)
	}
	return out
}

// excerpt is the text of some lines of a file, with markers that count what is left out.
func (t *text) excerpt(all []span) string {
	var b strings.Builder
	total := len(t.lines)
	if total > 0 && t.lines[total-1] == "" {
		total--
	}
	next := 1
	for _, s := range joined(all) {
		s.first, s.last = max(s.first, 1), min(s.last, total)
		if s.first > s.last {
			continue
		}
		b.WriteString(t.gap(next, s.first-1))
		b.WriteString(strings.TrimRight(t.of(s), "\r\n") + "\n")
		next = s.last + 1
	}
	b.WriteString(t.gap(next, total))
	return b.String()
}

// seen are the lines that an excerpt shows, with the empty ones between them.
func (t *text) seen(all []span) (out []Lines) {
	for _, s := range joined(all) {
		s.first, s.last = max(s.first, 1), min(s.last, len(t.lines))
		if n := len(out); n > 0 && strings.TrimSpace(t.of(span{out[n-1].Last + 1, s.first - 1})) == "" {
			out[n-1].Last = s.last
			continue
		}
		out = append(out, Lines{File: t.name, First: s.first, Last: s.last})
	}
	return out
}

// gap marks lines that are not shown, as a comment of the language. Empty ones are no loss.
func (t *text) gap(first, last int) string {
	if strings.TrimSpace(t.of(span{first, last})) == "" {
		return ""
	}
	mark := "//"
	switch language(t.name) {
	case "python", "ruby", "sh", "yaml", "toml", "":
		mark = "#"
	}
	lines := "1 line is"
	if n := last - first + 1; n > 1 {
		lines = fmt.Sprintf("%d lines are", n)
	}
	return fmt.Sprintf("%s … %s not shown …\n", mark, lines)
}

// heads are the lines that say in which type or module the symbols stand.
func (t *text) heads(s syntax.Symbol) (out []span) {
	for range 5 {
		outer, ok := t.around(s)
		if !ok {
			return out
		}
		out = append(out, span{outer.Head, outer.Head})
		s = outer
	}
	return out
}

// imports are the lines that bring in names which some lines use. Go's say little that the uses do not.
func (t *text) imports(all []span) (out []span) {
	if familyOf(t.grammar) == goFamily {
		return nil
	}
	used := map[string]bool{}
	for _, u := range t.outline.Uses {
		if slices.ContainsFunc(all, func(s span) bool { return s.holds(u.Line) }) {
			used[u.Name] = true
			first, _, _ := strings.Cut(strings.ReplaceAll(u.Before, "::", "."), ".")
			used[first] = true
		}
	}
	for _, m := range t.outline.Imports {
		if first, _, _ := strings.Cut(m.As, "."); m.In == "" && (used[first] && first != "" || m.Name == "*") {
			out = append(out, t.statement(m.Line))
		}
	}
	return out
}

// statement is an import's lines up to the one that holds its name: those before it that are of the same list.
func (t *text) statement(line int) span {
	s := span{line, line}
	for s.first > 1 && line-s.first < 8 && !importing(t.of(span{s.first, s.first})) {
		s.first--
	}
	if !importing(t.of(span{s.first, s.first})) {
		s.first = line
	}
	return s
}

func importing(line string) bool {
	line = strings.TrimSpace(line)
	for _, word := range []string{"import ", "import{", "from ", "use ", "pub use ", "export ", "const ", "let ", "var ", "extern "} {
		if strings.HasPrefix(line, word) {
			return true
		}
	}
	return strings.Contains(line, "require(") || strings.Contains(line, "import(")
}
