package perceive

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// symbol is one definition of a file of the root that may be at issue.
type symbol struct {
	file  string
	name  string
	addr  string // as an edit addresses it
	kind  string // func, method, type, const, var; lines where there is no grammar
	text  string
	score int
	words int // of the score, what the words gave
	span
}

// Scores of what puts a symbol at issue. Words give less than any of them.
const (
	framed  = 10000 // a place of the trace lies in it; the first place most
	asked   = 3000  // the failing test uses it
	member  = 1200  // it is a member of a type that the failing test uses
	asked2  = 1000  // what the failing test uses uses it
	maxWord = 350
)

// maxAtIssue is how many files of product code are looked through.
const maxAtIssue = 60

// ranked are the symbols at issue, the one most at issue first: those that the trace goes through, then those that the
// failing test uses directly, then over one step, then those that the words name.
func (v *viewer) ranked() []symbol {
	score := map[frame]int{} // by file and first line of a symbol
	files := v.scored(score)
	for _, f := range v.Findings[:min(len(v.Findings), maxTests)] {
		files = append(files, v.filesIn(v.folder(f))...)
	}
	if len(files) == 0 || v.onlyProtected(files) {
		files = append(files, v.byWords()...)
	}
	var all []symbol
	seen := map[string]bool{}
	for _, name := range files {
		if seen[name] || v.protected(name) || len(seen) > maxAtIssue {
			continue
		}
		seen[name] = true
		all = append(all, v.symbols(name, score)...)
	}
	return rank(all, maps.Clone(v.words))
}

// scored finds the symbols that the trace and the index put at issue, and gives their files in order.
func (v *viewer) scored(score map[frame]int) (files []string) {
	give := func(file string, line, n int) {
		if v.protected(file) {
			return
		}
		files = append(files, file)
		if at := v.symbolAt(file, line); score[at] < n {
			score[at] = n
		}
	}
	for _, f := range v.Findings[:min(len(v.Findings), maxTests)] {
		for i, p := range v.frames(f) {
			give(p.file, p.line, framed-i)
		}
	}
	if v.Index == nil {
		return files
	}
	for file, spans := range v.spans {
		for _, d := range v.Index.usedAt(file, spans) {
			if inSpans(d, v.spans[d.File]) {
				continue
			}
			give(d.File, d.Line, asked)
			if d.Kind == "type" {
				v.members(d, func(line int) { give(d.File, line, member) })
			}
			for _, r := range v.Index.Reach(d, Dependencies, 1) {
				if r.Line > 0 && !inSpans(r.Definition, v.spans[r.File]) {
					give(r.File, r.Line, asked2)
				}
			}
		}
		for _, name := range v.Index.importedBy(file) {
			if !v.protected(name) {
				files = append(files, name)
			}
		}
	}
	return files
}

// maxMembers is how many members of a type are put at issue with it.
const maxMembers = 40

// members gives the lines of a type's own members.
func (v *viewer) members(d Definition, each func(line int)) {
	t, n := v.text(d.File), 0
	if t == nil {
		return
	}
	for _, s := range t.outline.Symbols {
		if n < maxMembers && s.Container == d.Name {
			n++
			each(s.Line)
		}
	}
}

func inSpans(d Definition, spans []span) bool { return span{d.First, d.Last}.in(spans) }

// symbolAt is what stands for the symbol around a line: its file and first line.
func (v *viewer) symbolAt(file string, line int) frame {
	if t := v.text(file); t != nil {
		if s, ok := t.enclosing(line); ok {
			return frame{file, s.First}
		}
	}
	return frame{file, line}
}

func (v *viewer) onlyProtected(files []string) bool {
	return !slices.ContainsFunc(files, func(f string) bool {
		_, program := syntax.For(f)
		return program && !v.protected(f)
	})
}

// byWords are the files that define what the tests and the findings name.
func (v *viewer) byWords() (files []string) {
	if v.Index == nil {
		return nil
	}
	count := map[string]int{}
	for w := range v.words {
		if all := v.Index.called("", w); len(w) > 2 && len(all) < 20 {
			for _, d := range all {
				count[d.File] += v.words[w]
			}
		}
	}
	for name := range count {
		files = append(files, name)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	return files[:min(len(files), 10)]
}

// around is how many lines before and after a place are shown of a file without symbols.
const around = 20

// symbols are the definitions of a file, with what they score; of a file that has none, the lines around the places that
// do.
func (v *viewer) symbols(name string, score map[frame]int) (out []symbol) {
	t := v.text(name)
	if t == nil {
		return nil
	}
	for _, s := range t.outline.Symbols {
		out = append(out, symbol{
			file: name, name: s.Name, addr: s.String(), kind: s.Kind, text: t.src[s.Start:s.End], score: score[frame{name, s.First}], span: spanOf(s),
		})
	}
	for at, n := range score {
		if s, ok := t.enclosing(at.line); at.file == name && (!ok || s.First != at.line) && at.line <= len(t.lines) {
			lines := span{max(at.line-around, 1), min(at.line+around, len(t.lines))}
			out = append(out, symbol{file: name, addr: fmt.Sprintf("L%d-L%d", lines.first, lines.last), kind: "lines", text: t.of(lines), score: n, span: lines})
		}
	}
	return out
}

// rank adds to the scores of symbols how often the words name them, directly or through one that is named; what nobody
// names is left out unless nothing is named at all.
func rank(all []symbol, words map[string]int) []symbol {
	for hop := 3; hop > 0; hop-- {
		next := map[string]int{}
		for i, s := range all {
			if n := words[s.name]; n > 0 && s.words == 0 && s.name != "" {
				all[i].words = min(hop*100+min(n, 50), maxWord)
				for _, w := range word().FindAllString(s.text[:min(len(s.text), fieldCap)], -1) {
					next[w]++
				}
			}
		}
		for w, n := range next {
			words[w] += n
		}
	}
	var out []symbol
	for _, s := range all {
		if s.score += s.words; s.score > 0 {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		out = all
	}
	slices.SortStableFunc(out, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.file, b.file), cmp.Compare(a.first, b.first))
	})
	return out
}

// source shows the symbols at issue, whole files where they are small enough, and says what may be changed.
func (v *viewer) source(ranked []symbol, budget int) (text, answer string) {
	const title = "## The source\n"
	var order []string
	byFile := map[string][]symbol{}
	for _, s := range ranked {
		if byFile[s.file] == nil {
			order = append(order, s.file)
		}
		byFile[s.file] = append(byFile[s.file], s)
	}
	var b strings.Builder
	left := budget - v.count(title) - 24
	guessed := budget / 4
	shown, unseen := map[string][]span{}, 0
	for _, name := range order {
		room := left
		if ranked[0].score > maxWord && byFile[name][0].score <= maxWord { // words alone are a guess beside a trace or an edge
			room = min(left, guessed)
		}
		block, spans, parts := v.sourceBlock(name, byFile[name], room)
		ranked = withParts(ranked, parts)
		if block == "" {
			unseen++
			continue
		}
		b.WriteString(block)
		left -= v.count(block)
		if byFile[name][0].score <= maxWord {
			guessed -= v.count(block)
		}
		v.files = append(v.files, name)
		shown[name] = spans
		if spans != nil {
			v.cut = append(v.cut, name)
		}
	}
	if b.Len() == 0 {
		return "", ""
	}
	if unseen > 0 {
		fmt.Fprintf(&b, "[… %s not shown …]\n", plural(unseen, "file more that may matter is", "files more that may matter are"))
	}
	return title + b.String(), v.answer(ranked, shown)
}

// sourceBlock shows a file, or the best of its symbols that fit; spans are nil where the file is whole.
func (v *viewer) sourceBlock(name string, syms []symbol, budget int) (block string, spans []span, parts []symbol) {
	t := v.text(name)
	head := label(name) + ":\n"
	near := syms[0].score >= asked || syms[0].score <= maxWord
	whole := source(t.src)
	if guess := v.guess(head+whole) + 12; near && guess < budget*2/3 || v.Wide && guess < budget {
		block = head + Fence(language(name), whole)
		if v.count(block) <= budget {
			return block, nil, nil
		}
	}
	head = label(name) + " (only a part is shown):\n"
	for room := budget*2/3 - v.guess(head) - 12; room > 40; room /= 2 {
		if spans, parts = v.best(t, syms, room); len(spans) == 0 {
			return "", nil, nil
		}
		body := source(t.excerpt(append(t.preface(), spans...)))
		if block = head + Fence(language(name), body); v.count(block) <= budget {
			return block, spans, parts
		}
	}
	return "", nil, nil
}

// withParts are ranked symbols with the parts that are shown of some in the place of those.
func withParts(ranked, parts []symbol) []symbol {
	if len(parts) == 0 {
		return ranked
	}
	out := slices.Clone(ranked)
	for i, s := range out {
		for _, p := range parts {
			if p.file == s.file && p.name == s.name && s.first <= p.first && p.last <= s.last {
				out[i] = p
			}
		}
	}
	return out
}

// best are the lines of the best symbols that fit into some room, and in the room that is left parts of those that do not fit. Of a type
// that does not fit its head is shown.
func (v *viewer) best(t *text, syms []symbol, room int) (out []span, parts []symbol) {
	for _, s := range t.preface() {
		room -= v.guess(t.of(s))
	}
	take := func(s symbol) {
		room -= v.guess(s.text) + 8
		out = append(out, s.span)
		if sym, ok := t.enclosing(s.first); ok {
			out = append(out, t.heads(sym)...)
		}
	}
	var long []symbol
	for _, s := range syms[:min(len(syms), maxWithin)] {
		switch {
		case s.in(out):
		case v.guess(s.text)+8 <= room:
			take(s)
		default:
			long = append(long, s)
		}
	}
	for _, s := range long {
		if part, ok := v.part(t, s, room); ok && len(parts) < maxParts {
			parts, out = append(parts, part), append(out, span{s.first, s.first})
			take(part)
		}
	}
	return out, parts
}

const (
	maxParts  = 2  // symbols of a file of which a part is shown
	leastPart = 80 // tokens of a part
)

// part is what is shown of a function that is too long for some room: the lines that the trace goes through, or else those that the
// tests and the findings name most. It is addressed by its lines.
func (v *viewer) part(t *text, s symbol, room int) (part symbol, ok bool) {
	if s.score <= maxWord || room < leastPart || s.kind != "func" && s.kind != "method" {
		return part, false
	}
	weight := v.weights(t, s.span)
	at, best := s.span, -1
	for first, last, sum, cost := s.first, s.first, 0, 0; last <= s.last; last++ {
		sum, cost = sum+weight[last-s.first], cost+v.guess(t.of(span{last, last}))
		for cost > room-16 && first <= last {
			sum, cost, first = sum-weight[first-s.first], cost-v.guess(t.of(span{first, first})), first+1
		}
		if sum > best && first <= last {
			at, best = span{first, last}, sum
		}
	}
	part = s
	part.kind, part.span, part.addr = "lines", at, fmt.Sprintf("L%d-L%d", at.first, at.last)
	part.text = t.of(at)
	return part, best >= 0
}

// weights says how much each line of a span has to do with what is red.
func (v *viewer) weights(t *text, at span) []int {
	out := make([]int, at.last-at.first+1)
	for _, f := range v.Findings[:min(len(v.Findings), maxTests)] {
		for _, p := range v.frames(f) {
			if p.file == t.name && at.holds(p.line) {
				out[p.line-at.first] += 1000
			}
		}
	}
	lines := map[string][]int{}     // of the words that are named
	for i := 1; i < len(out); i++ { // the first line is shown in any case
		for _, w := range word().FindAllString(t.of(span{at.first + i, at.first + i}), -1) {
			if v.words[w] > 0 && len(w) > 2 {
				lines[w] = append(lines[w], i)
			}
		}
	}
	for _, in := range lines {
		for _, i := range in {
			out[i] += 100 / len(in) // a word that stands everywhere says nothing
		}
	}
	return out
}

// preface is what stands before a file's first symbol: its package clause and imports.
func (t *text) preface() []span {
	first := len(t.lines)
	for _, s := range t.outline.Symbols {
		first = min(first, s.First-1)
	}
	if !t.parsed || first < 1 {
		return nil
	}
	return []span{{1, min(first, 60)}}
}

// Bounds of the addresses that an answer is offered.
const (
	maxAddresses = 8
	addressBytes = 480 // in all
)

// answer says what may be changed, likeliest first, and shows the form with the likeliest address in it: a small model
// copies what it sees last.
func (v *viewer) answer(ranked []symbol, shown map[string][]span) string {
	var addrs []string
	used := 0
	for _, s := range ranked {
		spans, ok := shown[s.file]
		if !ok || spans != nil && !s.in(spans) || s.kind != "func" && s.kind != "method" && s.kind != "lines" {
			continue
		}
		if s.score <= maxWord && ranked[0].score > maxWord && len(addrs) > 0 {
			break
		}
		addr := label(s.file) + " :: " + label(s.addr)
		if used += len(addr); len(addrs) == maxAddresses || used > addressBytes {
			break
		}
		if !slices.Contains(addrs, addr) {
			addrs = append(addrs, addr)
		}
	}
	if len(addrs) == 0 {
		return ""
	}
	file, _, _ := strings.Cut(addrs[0], " :: ")
	return fmt.Sprintf("## Your answer\nThe test is right, the source is wrong. Likely places: `%s`.\n%s", strings.Join(addrs, "`, `"), Form(file, addrs[0]))
}

// Form shows the form of an answer, with a file and an address of it.
func Form(file, addr string) string {
	what := "function"
	if _, at, ok := strings.Cut(addr, " :: "); ok && isLines(at) {
		what = "lines"
	}
	info := "go"
	if path.Ext(file) != "" {
		info = language(file)
	}
	return fmt.Sprintf("Give the corrected %s, whole, in this form:\n\n```%s\n# edit: %s\n…\n```\n", what, info, addr)
}

// isLines says whether an address is a range of lines: L12-L18.
func isLines(addr string) bool {
	rest, ok := strings.CutPrefix(addr, "L")
	return ok && rest != "" && '0' <= rest[0] && rest[0] <= '9' && strings.Contains(rest, "-L")
}
