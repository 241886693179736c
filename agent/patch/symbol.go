package patch

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// placeSymbol replaces a definition, doc comment included.
func (s *source) placeSymbol(p piece) (piece, *Slip) {
	if bad := s.addressable(p.edit); bad != nil {
		return p, bad
	}
	target, bad := s.find(p.edit, p.addr)
	if bad != nil {
		return p, bad
	}
	p.target = &target
	block := splitLines(bytes.TrimPrefix(s.data[target.Start:target.End], bom))
	lines := bodyLines(p.edit.Body)
	if target.Grouped {
		lines = ungroup(s.grammar, target, lines)
	}
	lines = s.fitted(trimBlank(lines), target, block)
	whole := s.keepDoc(target, lines)
	p.kept = len(whole) - len(lines)
	return s.cover(p, target.First, target.Last, whole, true), nil
}

// fitted is a definition's new text at its old column and in its file's style. Files are not always of one style or in line,
// so of the ways to indent it that one counts which gives the most of the old lines.
func (s *source) fitted(lines []string, target syntax.Symbol, block []string) []string {
	column := indent(block[0])
	home := styleOf(s.code(block, target.First))
	if home == (style{}) {
		home = s.style()
	}
	inside := s.grammar.Literals([]byte(strings.Join(lines, "\n")))
	best := reindent(lines, inside, column, home)
	least := s.leastIndent(block, target.First)
	for _, other := range [][]string{lines, reindent(lines, inside, column, style{}), reindent(lines, inside, least, home)} {
		if kept(block, other) > kept(block, best) {
			best = other
		}
	}
	return best
}

// leastIndent is what all of a block's lines of code begin with, which is less than its first line's where that is out of line.
func (s *source) leastIndent(block []string, first int) string {
	least := indent(block[0])
	for i, l := range block {
		if !s.literals[first+i] && strings.TrimSpace(l) != "" {
			least = commonPrefix(least, indent(l))
		}
	}
	return least
}

// kept is how many lines of a block are lines of a new text, too.
func kept(block, lines []string) int {
	have, n := map[string]int{}, 0
	for _, l := range block {
		have[trimEOL(l)]++
	}
	for _, l := range lines {
		if have[l]--; have[l] >= 0 {
			n++
		}
	}
	return n
}

// code is the lines that tell of a style, their own column taken away: what is in a string or a comment does not.
func (s *source) code(lines []string, first int) []string {
	if s.literals == nil {
		s.literals = s.grammar.Literals(s.data)
	}
	var out []string
	own := indent(lines[0])
	for i, l := range lines {
		if !s.literals[first+i] {
			out = append(out, strings.TrimPrefix(l, own))
		}
	}
	return out
}

// keepDoc is the body as it is, or with the definition's own doc comment and directives above it when the body has
// none: a model that repairs code rarely means to delete the words about it.
func (s *source) keepDoc(target syntax.Symbol, lines []string) []string {
	if target.Head == target.First || s.literals[target.Head] { // there is none, or it ends on the definition's line
		return lines
	}
	alone, first := strings.Join(lines, "\n"), 1
	if target.Grouped {
		alone, first = target.Kind+" (\n"+alone+"\n)", 2
	}
	found, err := s.grammar.Fragment([]byte(alone))
	bare := slices.ContainsFunc(found, func(f syntax.Symbol) bool { // several names may stand in one declaration
		return f.Name == target.Name && (s.grammar.Nested() || f.Container == target.Container) && f.Head <= first && f.First <= first
	})
	if err != nil || !bare {
		return lines
	}
	doc := bodyLines(bytes.TrimPrefix(s.data[target.Start:target.End], bom))[:target.Head-target.First]
	return append(slices.Clone(doc), lines...)
}

func trimBlank(lines []string) []string {
	blank := func(l string) bool { return strings.TrimSpace(l) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// ungroup takes a spec out of the declaration that a model put around it: `const A = 1` for A among others between
// parentheses.
func ungroup(g syntax.Grammar, target syntax.Symbol, lines []string) []string {
	text := []byte(strings.Join(lines, "\n") + "\n")
	found, err := g.Fragment(text)
	if err != nil {
		return lines
	}
	for _, f := range found {
		switch {
		case f.Name != target.Name || f.Kind != target.Kind:
		case f.Grouped:
			return bodyLines(text[f.Start:f.End])
		default:
			out := slices.Clone(lines)
			own := strings.TrimLeft(out[f.Line-1], " \t")
			out[f.Line-1] = indent(out[f.Line-1]) + strings.TrimLeft(strings.TrimPrefix(own, f.Kind), " \t")
			return out
		}
	}
	return lines
}

// addressable refuses symbols of a file in which none can be found.
func (s *source) addressable(e Edit) *Slip {
	if !s.known {
		return slip(NoGrammar, e, "Symbols of "+quote(e.File)+" cannot be addressed: its language is not known here.",
			"Address lines, as in `L3-L9` or `+L4`, or the whole file as `*`.")
	}
	if s.broken != nil {
		return slip(NoSymbol, e, quote(e.File)+" does not parse as it is ("+quote(s.broken.Error())+"), so its symbols cannot be found.",
			"Address lines, as in `L3-L9`.")
	}
	return nil
}

// find gives the one symbol that an address names. A bare name means a definition at top level; only when there is
// none may it mean a method, if just one has that name.
func (s *source) find(e Edit, a address) (syntax.Symbol, *Slip) {
	var exact, loose []syntax.Symbol
	for _, sym := range s.symbols {
		switch {
		case sym.Name != a.name:
		case sym.Container == a.container:
			exact = append(exact, sym)
		case a.container == "":
			loose = append(loose, sym)
		}
	}
	if len(exact) == 0 {
		exact = loose
	}
	switch len(exact) {
	case 0:
		return syntax.Symbol{}, s.noSymbol(e, a)
	case 1:
		return exact[0], nil
	}
	var at []string
	for _, sym := range exact {
		at = append(at, fmt.Sprintf("%s at %s", sym, linesAddr(sym.First, sym.Last)))
	}
	return syntax.Symbol{}, slip(Ambiguous, e, quote(e.Addr)+" could be any of "+list(at, 8)+" in "+quote(e.File)+".",
		"Name the type as well, as in `Type.name`, or address the lines.")
}

func (s *source) noSymbol(e Edit, a address) *Slip {
	text := quote(e.File) + " has no " + quote(a.String()) + "."
	if near := s.nearSymbols(a); len(near) > 0 {
		text += " It has " + list(near, 5) + "."
	}
	return slip(NoSymbol, e, text, "Use a name that is there, or `+"+quote(a.String())+"` to create it.")
}

// nearSymbols gives the symbols whose name is like the one asked for, or, failing that, the first ones there are.
func (s *source) nearSymbols(a address) []string {
	var near, all []string
	for _, sym := range s.symbols {
		all = append(all, sym.String())
		like := strings.EqualFold(sym.Name, a.name) || distance(sym.Name, a.name) <= max(1, len(a.name)/3)
		if like || sym.Name == a.name {
			near = append(near, sym.String())
		}
	}
	if len(near) == 0 {
		near = all
	}
	return slices.Compact(near)
}

// placeCreate puts a new definition after the last one of the file, or after the last of its container.
func (s *source) placeCreate(p piece) (piece, *Slip) {
	if bad := s.addressable(p.edit); bad != nil {
		return p, bad
	}
	for _, sym := range s.symbols {
		if sym.Name == p.addr.name && sym.Container == p.addr.container && !repeatable(sym) {
			return p, slip(Exists, p.edit, fmt.Sprintf("%s is already in %s at %s.", sym, quote(p.edit.File), linesAddr(sym.First, sym.Last)),
				"To replace it, use its name without the `+`.")
		}
	}
	after, column, bad := s.sibling(p)
	if bad != nil {
		return p, bad
	}
	lines := trimBlank(bodyLines(p.edit.Body))
	lines = reindent(lines, s.grammar.Literals([]byte(strings.Join(lines, "\n"))), column, s.style())
	if len(lines) == 0 {
		return p, slip(Empty, p.edit, "The text for "+p.edit.place()+" is empty.", "Give the whole definition.")
	}
	return s.insert(p, after+1, s.spaced(after, p.addr.container, lines)), nil
}

// repeatable says whether a file may define a name several times, as Go lets init.
func repeatable(sym syntax.Symbol) bool { return sym.Kind == "func" && sym.Name == "init" }

// sibling is the last line of what a new definition goes after, and the column at which it begins.
func (s *source) sibling(p piece) (line int, column string, bad *Slip) {
	c := p.addr.container
	last, home := s.last(c), s.home(c)
	switch {
	case c == "" && last == nil:
		return s.lines(), "", nil
	case c == "":
		return last.Decl.Last, "", nil
	case last != nil && (home == nil || home.Decl.Last < last.Decl.Last || s.grammar.Nested()):
		if home != nil && s.braced() && home.First <= last.First && home.Last == last.Decl.Last {
			return 0, "", s.noRoom(p.edit, *home)
		}
		return last.Decl.Last, s.column(*last), nil
	case home != nil:
		return s.within(p.edit, *home)
	}
	var types []string
	for _, sym := range s.symbols {
		if sym.Kind == "type" {
			types = append(types, sym.Name)
		}
	}
	text := quote(p.edit.File) + " has neither a type " + c + " nor a method of one."
	if len(types) > 0 {
		text += " Its types are " + list(types, 8) + "."
	}
	return 0, "", slip(NoContainer, p.edit, text, "Name the file in which the type is defined.")
}

// last is the last definition of a container, or at top level, or nil. What stands deeper than others, as below an if of
// Python, is no place for another one.
func (s *source) last(container string) *syntax.Symbol {
	var last *syntax.Symbol
	for i, sym := range s.symbols {
		switch {
		case sym.Container != container && (container != "" || s.grammar.Nested()):
		case container == "" && s.column(sym) != "", last != nil && len(s.column(sym)) > len(s.column(*last)):
		default:
			last = &s.symbols[i]
		}
	}
	return last
}

// home is the last type of a name, or nil.
func (s *source) home(container string) *syntax.Symbol {
	for i, sym := range slices.Backward(s.symbols) {
		if sym.Kind == "type" && sym.Name == container {
			return &s.symbols[i]
		}
	}
	return nil
}

// braced says whether a type's methods stand between its braces.
func (s *source) braced() bool { return s.grammar.Nested() && s.grammar.Name != "python" }

func (s *source) noRoom(e Edit, home syntax.Symbol) *Slip {
	return slip(NoContainer, e, fmt.Sprintf("%s in %s has no line to which a definition could be added.", home, quote(e.File)),
		"Give the whole of "+quote(home.String())+" with the new definition in it.")
}

// column is the white space in front of a definition, "" where a method stands outside its type.
func (s *source) column(sym syntax.Symbol) string {
	if !s.grammar.Nested() {
		return ""
	}
	return indent(string(s.data[s.starts[sym.Head-1]:s.starts[sym.Head]]))
}

// style is the file's own; of a file that shows none, its language's if that has one.
func (s *source) style() style {
	if s.own == nil {
		var habit []string
		if s.grammar.Name == "go" {
			habit = []string{"\tgo\n"}
		}
		own := styleOf(habit)
		if s.lines() > 0 {
			own = styleOf(s.code(splitLines(s.data[s.body:]), 1), habit)
		}
		s.own = &own
	}
	return *s.own
}

// within is where the first definition inside a type goes: before its closing brace, or after its last line.
func (s *source) within(e Edit, home syntax.Symbol) (line int, column string, bad *Slip) {
	if !s.grammar.Nested() {
		return home.Decl.Last, "", nil
	}
	if s.grammar.Name == "rust" && home.BodyStart == home.End {
		return 0, "", slip(NoContainer, e, fmt.Sprintf("%s has no impl of %s to which a function could be added.", quote(e.File), home),
			fmt.Sprintf("Insert one below the type, as `+L%d`.", home.Last+1))
	}
	st := s.style()
	step := strings.Repeat(" ", st.step())
	if st.usesTabs() {
		step = "\t"
	}
	last := strings.TrimSpace(string(s.data[s.starts[home.Last-1]:s.starts[home.Last]]))
	switch {
	case home.Last > home.First && strings.HasPrefix(last, "}"):
		return home.Last - 1, s.column(home) + step, nil
	case s.braced():
		return 0, "", s.noRoom(e, home)
	}
	return home.Last, s.column(home) + step, nil
}

// spaced puts the file's own number of blank lines around a definition that follows a line.
func (s *source) spaced(after int, container string, lines []string) []string {
	gap := make([]string, s.gap(container != "" && s.grammar.Nested()))
	if after > 0 {
		lines = append(slices.Clone(gap), lines...)
	}
	if after < s.lines() && strings.TrimSpace(string(s.data[s.starts[after]:s.starts[after+1]])) != "" {
		lines = append(lines, gap...)
	}
	return lines
}

// gap is how many blank lines most often stand between two definitions, at top level or in a type: 1 or 2. Where nothing
// is to go by it is 1, and 2 at the top level of Python. https://peps.python.org/pep-0008/#blank-lines
func (s *source) gap(inType bool) int {
	twice, once := 0, 0
	for i := 1; i < len(s.symbols); i++ {
		above, below := s.symbols[i-1], s.symbols[i]
		if s.grammar.Nested() && ((above.Container != "") != inType || (below.Container != "") != inType) {
			continue
		}
		between := s.data[s.starts[min(above.Decl.Last, below.Decl.First-1)]:s.starts[below.Decl.First-1]]
		switch n := bytes.Count(between, []byte("\n")); {
		case len(bytes.TrimSpace(between)) > 0:
		case n == 1:
			once++
		case n == 2:
			twice++
		}
	}
	if twice > once || once+twice == 0 && s.grammar.Name == "python" && !inType {
		return 2
	}
	return 1
}

// checkSymbols holds what a file defines after the edits against what it defined before.
func (s *source) checkSymbols(now []syntax.Symbol, pieces []piece) *Slip {
	before, after := tally(s.symbols), tally(now)
	linewise := slices.ContainsFunc(pieces, func(p piece) bool { return p.addr.kind != symbol && p.addr.kind != create })
	for _, sym := range s.symbols {
		if bad := s.lost(sym, before, after, pieces[0].edit); bad != nil {
			return bad
		}
	}
	for _, p := range pieces {
		if bad := s.checkPiece(p, before, after, now); bad != nil {
			return bad
		}
	}
	if linewise {
		return nil // whoever addresses lines may move and remove definitions
	}
	for _, sym := range s.symbols {
		if after[sym.String()] == 0 {
			return slip(SymbolGone, pieces[0].edit, fmt.Sprintf("With the edit, %s no longer defines %s.", quote(s.name), sym), "Keep what the file defines.")
		}
	}
	return s.twice(now, before, after, pieces[0].edit)
}

// tally counts definitions by their address.
func tally(all []syntax.Symbol) map[string]int {
	n := map[string]int{}
	for _, sym := range all {
		n[sym.String()]++
	}
	return n
}

// lost refuses an edit after which an exported name is there in lower case only.
func (s *source) lost(sym syntax.Symbol, before, after map[string]int, e Edit) *Slip {
	small := sym
	small.Name = lowered(sym.Name)
	if !sym.Exported || after[sym.String()] > 0 || before[small.String()] > 0 || after[small.String()] == 0 {
		return nil
	}
	return slip(LostExport, e, fmt.Sprintf("%s was exported and is now %s.", sym, small), "Keep the name as it was.")
}

// shut says whether no definition of a name is exported any more.
func (s *source) shut(sym syntax.Symbol, now []syntax.Symbol) bool {
	return !slices.ContainsFunc(now, func(n syntax.Symbol) bool { return n.String() == sym.String() && n.Exported })
}

func lowered(name string) string {
	for i := range name {
		if i > 0 {
			return strings.ToLower(name[:i]) + name[i:]
		}
	}
	return strings.ToLower(name)
}

func (s *source) checkPiece(p piece, before, after map[string]int, now []syntax.Symbol) *Slip {
	switch {
	case p.target != nil && after[p.target.String()] == 0:
		return slip(SymbolGone, p.edit, fmt.Sprintf("The text for %s no longer defines %s.", p.edit.place(), p.target),
			"Give the whole definition under the same name.")
	case p.target != nil && p.target.Exported && s.shut(*p.target, now) && !bytes.Contains(p.edit.Body, []byte("export ")):
		return slip(LostExport, p.edit, fmt.Sprintf("%s could be seen from other files and no longer can.", p.target), "Keep its `export`, `pub` or `public`.")
	case p.addr.kind == create && after[strings.TrimPrefix(p.addr.String(), "+")] == 0:
		var fresh []string
		for _, sym := range now {
			if before[sym.String()] == 0 {
				fresh = append(fresh, sym.String())
			}
		}
		text := "The text for " + p.edit.place() + " does not define that name"
		if len(fresh) > 0 {
			text += " but " + list(fresh, 5)
		}
		return slip(OtherName, p.edit, text+".", "Let the address and the definition have the same name; a method's address is `+Type.name`.")
	}
	return nil
}

// twice refuses a definition that was there once and is there again.
func (s *source) twice(now []syntax.Symbol, before, after map[string]int, e Edit) *Slip {
	for _, sym := range now {
		if n := after[sym.String()]; n > max(1, before[sym.String()]) && !repeatable(sym) {
			return slip(Exists, e, fmt.Sprintf("With the edit, %s defines %s twice.", quote(s.name), sym), "Give only the definition that the address names.")
		}
	}
	return nil
}
