package perceive

import (
	"cmp"
	"fmt"
	"maps"
	"math"
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
	why   int // it is at issue: traced, used, reached or named
	span

	suspicion float64 // of its lines, where it is known what ran
}

// function says whether a symbol is what an answer may give whole.
func (s symbol) function() bool { return s.kind == "func" || s.kind == "method" }

// Scores of what puts a symbol at issue. Words give less than any of them, but for one that is valueLess.
const (
	framed    = 10000 // a place of the trace lies in it; the first place most
	asked     = 3000  // the failing test uses it
	askedRare = 400   // and how much more at most, the fewer tests use it
	member    = 1200  // it is a member of a type that the failing test uses
	passed    = 1000  // what the failing test uses leads to it, at most
	valueLess = 500   // what a type, a constant or a variable has less than a function: answers address functions
	maxWord   = 350
)

// maxAtIssue is how many files of product code are looked through.
const maxAtIssue = 60

// ranked are the symbols at issue, the one most at issue first: those that the trace goes through, then those that the
// failing test uses directly, then over one step, then those that the words name.
func (v *viewer) ranked() []symbol {
	score := map[frame]int{} // by file and first line of a symbol
	files := append(v.scored(score), v.ranFiles()...)
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
	for i := range all {
		v.weigh(&all[i])
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
	from := map[uint32]float64{}
	for _, file := range slices.Sorted(maps.Keys(v.spans)) {
		for _, d := range v.Index.usedAt(file, v.spans[file]) {
			if inSpans(d, v.spans[d.File]) {
				continue
			}
			rare := 1 / math.Sqrt(float64(max(v.Index.testersOf(d, v.protected), 1)))
			from[d.node] += rare
			give(d.File, d.Line, asked+int(askedRare*rare))
			if d.Kind == "type" {
				v.members(d, func(line int) { give(d.File, line, member) })
			}
		}
		for _, name := range v.Index.importedBy(file) {
			if !v.protected(name) {
				files = append(files, name)
			}
		}
	}
	for _, p := range v.Index.proximities(from) {
		if d := p.Definition; d.Line > 0 && !inSpans(d, v.spans[d.File]) {
			give(d.File, d.Line, maxWord+1+int(passed*math.Sqrt(p.share)))
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

// maxDoc is how many lines a function's comment may have to be shown with it. The gate keeps the comment of a function whose new text has
// none.
const maxDoc = 3

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
		sym := symbol{
			file: name, name: s.Name, addr: s.String(), kind: s.Kind, text: t.src[s.Start:s.End], score: score[frame{name, s.First}], span: spanOf(s),
		}
		if s.Head-s.First > maxDoc && sym.function() && familyOf(t.grammar) == goFamily {
			sym.first = s.Head
			sym.text = t.of(sym.span)
		}
		out = append(out, sym)
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
		if (s.why == used || s.why == reached) && !s.function() && s.kind != "lines" {
			s.score = max(s.score-valueLess, 1)
		}
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
	blocks, unseen := v.blocks(ranked, budget-v.count(title)-24)
	if len(blocks) == 0 {
		return "", ""
	}
	var b strings.Builder
	b.WriteString(title)
	shown := map[string][]span{}
	for _, block := range blocks {
		b.WriteString(block.text)
		ranked = withParts(ranked, block.parts)
		v.files = append(v.files, block.file)
		shown[block.file] = block.spans
		if t := v.text(block.file); block.spans == nil {
			v.seen = append(v.seen, Lines{File: block.file, First: 1, Last: len(t.lines)})
		} else {
			v.cut = append(v.cut, block.file)
			v.seen = append(v.seen, t.seen(append(t.preface(), block.spans...))...)
		}
	}
	if unseen > 0 {
		fmt.Fprintf(&b, "[… %s not shown …]\n", plural(unseen, "file more that may matter is", "files more that may matter are"))
	}
	return b.String(), v.answer(ranked, shown)
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

const (
	maxParts  = 2  // functions of which a part is shown
	leastPart = 80 // tokens of a part
)

// part is what is shown of a function that is too long for some room: the lines that the trace goes through, or else those that the
// tests and the findings name most. It is addressed by its lines.
func (v *viewer) part(t *text, s symbol, room int) (part symbol, ok bool) {
	if s.why == named || room < leastPart || !s.function() {
		return part, false
	}
	room = min(room, v.mostAnswer())
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

// mostAnswer is how much text an answer is asked to give again, in tokens: it says more than that.
func (v *viewer) mostAnswer() int { return v.Answer * 3 / 4 }

// answerable says whether an answer has room for the whole of a symbol. Nobody gives a type again.
func (v *viewer) answerable(s symbol) bool { return !s.function() || v.guess(s.text) <= v.mostAnswer() }

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
	for i := range out {
		out[i] += int(300 * v.suspicion(t.name, span{at.first + i, at.first + i}))
	}
	lines := map[string][]int{}     // of the words that are named
	for i := 1; i < len(out); i++ { // the first line is shown in any case
		if !t.isCode(at.first + i) { // a docstring names what the test names, and is not what is wrong
			continue
		}
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
