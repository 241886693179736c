package patch

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// source is one file of the root, ready to be addressed.
type source struct {
	name    string
	data    []byte
	body    int   // where the text begins, after a byte order mark
	starts  []int // offset of each line's first byte, and the length of the file at the end
	eol     string
	grammar syntax.Grammar
	known   bool // there is a grammar
	symbols []syntax.Symbol
	broken  error // why there are no symbols
	// literals are the lines that begin inside a string or a comment; nil until somebody asks.
	literals map[int]bool
	own      *style // of the file; nil until somebody asks
}

// piece is where one edit lands: bytes start to end of the root's text give way to text.
type piece struct {
	edit        Edit
	index       int // of the edit in its set
	addr        address
	start, end  int
	first, last int // lines; last is first-1 for an insertion
	text        []byte
	added       int            // lines of an insertion
	target      *syntax.Symbol // what is replaced, when the address is a symbol
	kept        int            // how many of its first lines stay: the comment above a definition
}

func newSource(name string, data []byte) *source {
	s := &source{name: name, data: data, eol: eolOf(data)}
	if bytes.HasPrefix(data, bom) {
		s.body = len(bom)
	}
	at := s.body
	for _, l := range splitLines(data[s.body:]) {
		s.starts = append(s.starts, at)
		at += len(l)
	}
	s.starts = append(s.starts, at)
	if s.grammar, s.known = syntax.For(name); s.known {
		s.symbols, s.broken = s.grammar.Symbols(data)
	}
	return s
}

// lines is how many lines the file has.
func (s *source) lines() int { return len(s.starts) - 1 }

// place finds where an edit lands and what its text becomes there.
func (s *source) place(e Edit) (piece, *Slip) {
	addr, ok := parseAddr(e.Addr)
	if !ok {
		return piece{}, badAddress(e)
	}
	if bad := checkText(e, e.Body); bad != nil {
		return piece{}, bad
	}
	e.Body = bytes.TrimPrefix(e.Body, bom)
	p := piece{edit: e, addr: addr}
	switch addr.kind {
	case whole:
		return s.placeWhole(p)
	case span:
		return s.placeSpan(p)
	case before:
		return s.placeBefore(p)
	case fit:
		return s.placeFit(p)
	case create:
		return s.placeCreate(p)
	}
	return s.placeSymbol(p)
}

func badAddress(e Edit) *Slip {
	return slip(BadHeader, e, quote(e.Addr)+" is not an address.",
		"Use `name`, `Type.name`, `+name` to create, `L3-L9` for lines, `+L4` to insert before a line, or `*` for the whole file.")
}

func (s *source) placeWhole(p piece) (piece, *Slip) {
	if len(bytes.TrimSpace(p.edit.Body)) == 0 {
		return p, slip(Empty, p.edit, "The text for "+p.edit.place()+" is empty.", "Give the file's whole text, or address only the lines to change.")
	}
	return s.cover(p, 1, s.lines(), bodyLines(p.edit.Body), false), nil
}

func (s *source) placeSpan(p piece) (piece, *Slip) {
	a := p.addr
	if a.from < 1 || a.from > a.to || a.to > s.lines() {
		return p, s.badRange(p.edit, "")
	}
	return s.cover(p, a.from, a.to, bodyLines(p.edit.Body), false), nil
}

func (s *source) placeBefore(p piece) (piece, *Slip) {
	if p.addr.from < 1 || p.addr.from > s.lines()+1 {
		return p, s.badRange(p.edit, fmt.Sprintf(" `+L%d` appends to it.", s.lines()+1))
	}
	return s.insert(p, p.addr.from, bodyLines(p.edit.Body)), nil
}

func (s *source) badRange(e Edit, more string) *Slip {
	return slip(BadRange, e, fmt.Sprintf("%s runs backwards or past the end: %s has %s.%s", quote(e.Addr), quote(e.File), count(s.lines(), "line"), more),
		"Count the lines again, from 1, the smaller number first.")
}

// cover replaces whole lines, which end as they do in the file.
func (s *source) cover(p piece, first, last int, lines []string, loose bool) piece {
	p.first, p.last = first, last
	p.start, p.end = s.starts[first-1], s.starts[last]
	p.text = dress(splitLines(s.data[p.start:p.end]), lines, s.eol, loose)
	if p.end == len(s.data) && p.end > p.start && s.data[p.end-1] != '\n' {
		p.text = []byte(trimEOL(string(p.text)))
	}
	return p
}

// insert puts lines before a line, or after the last one. A file that ends without a newline still does.
func (s *source) insert(p piece, line int, lines []string) piece {
	p.first, p.last, p.added = line, line-1, len(lines)
	p.start, p.end = s.starts[line-1], s.starts[line-1]
	p.text = dress(nil, lines, s.eol, false)
	if len(lines) > 0 && p.start == len(s.data) && p.start > s.body && s.data[p.start-1] != '\n' {
		p.text = []byte(s.eol + trimEOL(string(p.text)))
	}
	return p
}

// placeFit finds the one place where the old text stands: to the byte, or else but for white space at the ends of
// lines and for bytes that no text can say.
func (s *source) placeFit(p piece) (piece, *Slip) {
	want := bodyLines(p.edit.Old)
	if len(want) == 0 {
		return p, s.noFit(p.edit, "is empty")
	}
	all := bodyLines(s.data[s.body:])
	found := places(all, want, func(a string) string { return a })
	if len(found) == 0 {
		found = places(all, want, func(a string) string { return content(strings.TrimRight(a, " \t"), false) })
	}
	switch len(found) {
	case 0:
		return p, s.noFit(p.edit, "stands nowhere in the file")
	case 1:
		return s.cover(p, found[0], found[0]+len(want)-1, s.keepContext(found[0], want, bodyLines(p.edit.Body)), false), nil
	}
	at := make([]string, len(found))
	for i, n := range found {
		at[i] = fmt.Sprintf("L%d", n)
	}
	return p, s.noFit(p.edit, "stands in several places: "+list(at, 5))
}

func (s *source) noFit(e Edit, what string) *Slip {
	return slip(NoFit, e, "The old text for "+quote(e.File)+" "+what+".",
		"Copy the lines exactly as they stand in the file, with enough of them around to be unmistakable, or address them as in `L3-L9`.")
}

// places gives the lines at which want stands in all, compared as seen through a filter; the first few are enough.
func places(all, want []string, see func(string) string) []int {
	text, old := seen(all, see), seen(want, see)
	var found []int
	for at, line := 0, 1; len(found) < 8; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		line += strings.Count(text[at:at+i], "\n")
		found = append(found, line)
		at, line = at+i+1, line+1
	}
	return found
}

// seen joins lines so that a match begins and ends with one.
func seen(lines []string, see func(string) string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, l := range lines {
		b.WriteString(see(l))
		b.WriteByte('\n')
	}
	return b.String()
}

// keepContext gives the new lines, with the file's own in place of those that the model only repeated.
func (s *source) keepContext(first int, want, fresh []string) []string {
	var out []string
	at := 0
	keep := func(upTo int) {
		for ; at < upTo; at++ {
			line := s.data[s.starts[first-1+at]:s.starts[first+at]]
			out = append(out, trimEOL(string(line)))
		}
	}
	for _, r := range diffLines(want, fresh) {
		keep(r.From)
		out = append(out, fresh[r.NewFrom:r.NewTo]...)
		at = r.To
	}
	keep(len(want))
	return out
}

// check judges the text that came out: it parses, and it defines what it has to.
func (s *source) check(after []byte, pieces []piece) *Slip {
	if !s.known {
		return nil
	}
	now, err := s.grammar.Symbols(after)
	if err != nil && s.broken != nil && !s.grammar.Exact() {
		return nil // the language may be newer than its grammar
	}
	if err != nil {
		return doesNotParse(blame(after, pieces, err), after, err)
	}
	if s.broken != nil {
		return nil
	}
	return s.checkSymbols(now, pieces)
}

// blame gives the edit whose text holds the line at which the new text does not parse, or else the last one above
// that line: what an edit leaves open is noticed further down.
func blame(after []byte, pieces []piece, err error) Edit {
	var at *syntax.Error
	lines := splitLines(after)
	if !errors.As(err, &at) || at.Line < 1 || at.Line > len(lines) {
		return pieces[0].edit
	}
	offset := len(strings.Join(lines[:at.Line-1], ""))
	edit, nearest := pieces[0].edit, -1
	for _, p := range pieces {
		start := p.start
		for _, q := range pieces {
			if q.start < p.start {
				start += len(q.text) - (q.end - q.start)
			}
		}
		if start <= offset && start > nearest {
			edit, nearest = p.edit, start
		}
	}
	return edit
}

// parses refuses the text of a file whose grammar does not take it. Where the grammar may be older than the language,
// it has to have taken the old text.
func parses(e Edit, old, text []byte) *Slip {
	g, ok := syntax.For(e.File)
	if !ok {
		return nil
	}
	if err := g.Parse(text); err != nil {
		if !g.Exact() && len(old) > 0 && g.Parse(old) != nil {
			return nil
		}
		return doesNotParse(e, text, err)
	}
	return nil
}

func doesNotParse(e Edit, text []byte, err error) *Slip {
	var at *syntax.Error
	if !errors.As(err, &at) || at.Line == 0 {
		return slip(DoesNotParse, e, "With the edit, "+quote(e.File)+" does not parse: "+quote(err.Error())+".", "Give text that parses.")
	}
	line := ""
	if lines := splitLines(text); at.Line <= len(lines) {
		line = strings.TrimSpace(lines[at.Line-1])
	}
	remedy := "Correct that and give the whole edit again."
	if strings.HasPrefix(string(bytes.TrimSpace(e.Body)), "package ") && e.Addr != "*" {
		remedy = "Give the definition alone, without package clause and imports, or the whole file at the address `*`."
	}
	return slip(DoesNotParse, e, fmt.Sprintf("With the edit, %s does not parse: line %d, %s, at %q.", quote(e.File), at.Line, quote(at.Message), quote(line)), remedy)
}
