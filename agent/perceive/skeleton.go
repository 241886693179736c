package perceive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// SkeletonOptions says how much of a tree's skeleton is shown.
type SkeletonOptions struct {
	Budget int                   // in tokens; 4000 if zero
	Tokens func(text string) int // of the model in use; four bytes are one if nil
	Near   []string              // files or folders that matter most; none if empty
}

// Skeleton is what a tree looks like from far away: signatures, the files first that the others lean on.
type Skeleton struct {
	Text        string   `json:"text"`
	Tokens      int      `json:"tokens"`
	Files       []string `json:"files"`   // shown, in that order
	Symbols     int      `json:"symbols"` // shown
	FilesLeft   int      `json:"files_left"`
	SymbolsLeft int      `json:"symbols_left"`
}

// Skeleton shows as much as the budget allows. What does not fit is counted where it would stand.
func (x *Index) Skeleton(o SkeletonOptions) Skeleton {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if o.Tokens == nil {
		o.Tokens = func(text string) int { return (len(text) + 3) / 4 }
	}
	o.Budget = cmp.Or(o.Budget, 4000)
	s := skeleton{x: x, o: o, left: o.Budget - o.Tokens(lastLine(1<<20, 1<<20))}
	for _, f := range x.ranked(o.Near) {
		if len(x.files[f].nodes) == 0 {
			continue
		}
		if !s.full {
			s.file(f)
			continue
		}
		s.out.FilesLeft++
		s.out.SymbolsLeft += len(x.files[f].nodes)
	}
	if s.out.FilesLeft+s.out.SymbolsLeft > 0 {
		s.b.WriteString(lastLine(s.out.FilesLeft, s.out.SymbolsLeft))
	}
	s.out.Text = s.b.String()
	s.out.Tokens = o.Tokens(s.out.Text)
	return s.out
}

func lastLine(files, symbols int) string {
	return fmt.Sprintf("[… %d files and %d symbols are not shown …]\n", files, symbols)
}

// skeleton is one that grows.
type skeleton struct {
	x    *Index
	o    SkeletonOptions
	b    strings.Builder
	out  Skeleton
	left int
	full bool
}

// file adds a file. One that is large shows only what is used most, so that it leaves room for others.
func (s *skeleton) file(f int32) {
	e := s.x.files[f]
	src := s.x.textOf(e.path)
	head := e.path + "\n"
	room := min(s.left, max(s.o.Budget/4, 200)) - s.o.Tokens(head)
	type line struct {
		at   int
		text string
	}
	var lines []line
	order := s.x.byUse(e)
	marker := s.o.Tokens(moreLine(len(order)))
	for i, n := range order {
		text := s.x.headOf(e, n, src)
		cost := s.o.Tokens(text)
		if need := cost + marker; i < len(order)-1 && need > room || cost > room {
			break
		}
		room -= cost
		lines = append(lines, line{n, text})
	}
	if len(lines) == 0 {
		s.full = true
		s.out.FilesLeft++
		s.out.SymbolsLeft += len(e.nodes)
		return
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	var b strings.Builder
	b.WriteString(head)
	for _, l := range lines {
		b.WriteString(l.text)
	}
	if more := len(order) - len(lines); more > 0 {
		b.WriteString(moreLine(more))
		s.out.SymbolsLeft += more
	}
	s.b.WriteString(b.String())
	s.left -= s.o.Tokens(b.String())
	s.out.Files = append(s.out.Files, e.path)
	s.out.Symbols += len(lines)
}

func moreLine(n int) string { return fmt.Sprintf("  [… %d more here …]\n", n) }

// byUse are a file's symbols, those first that others use most; what others cannot see comes last.
func (x *Index) byUse(e *entry) []int {
	users := x.users()
	score := make([]int, len(e.nodes))
	order := make([]int, len(e.nodes))
	for i, n := range e.nodes {
		order[i] = i
		for _, u := range users.of(n) {
			if x.files[u.file] != e {
				score[i] += 4
			}
			score[i]++
		}
		s := e.record.symbols[i]
		if s.exported {
			score[i] += 2
		}
		switch x.words.text(s.kind) {
		case "type":
			score[i] += 3
		case "const", "var":
			score[i] /= 4
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	return order
}

// maxHead is how much of a definition's head is shown, in bytes.
const maxHead = 160

// headOf is the definition's own words up to its body, on one line.
func (x *Index) headOf(e *entry, symbol int, src []byte) string {
	s := e.record.symbols[symbol]
	text := x.words.text(s.kind) + " " + x.words.text(s.name) + " " + x.words.text(s.signature)
	if int(s.end) <= len(src) {
		if t := headText(string(src[s.start:s.end]), int(s.head)-int(s.first), int(s.bodyStart)-int(s.start)); t != "" {
			text = t
		}
	}
	indent := "  "
	if s.container != 0 && e.record.family != goFamily {
		indent = "    "
	}
	if len(text) > maxHead {
		text = strings.ToValidUTF8(text[:maxHead], "") + "…"
	}
	return indent + source(text) + "\n"
}

// headText cuts a definition's text: from the line on which it begins up to its body, or that line alone.
func headText(text string, skip, body int) string {
	from := 0
	for range skip {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 {
			return ""
		}
		from += i + 1
	}
	if body > from && body < len(text) {
		text = text[from:body]
	} else {
		text, _, _ = strings.Cut(text[from:], "\n")
	}
	text = strings.Join(strings.Fields(text), " ")
	return strings.TrimRight(text, "{: ")
}

const (
	rounds  = 12   // of the ranking
	damping = 0.85 // how much of a file's weight goes on to what it uses
)

// ranked are the files in order of how much of the tree leans on them: each gives its weight to those that it uses.
func (x *Index) ranked(near []string) []int32 {
	files := x.sources()
	slices.SortFunc(files, func(a, b int32) int { return strings.Compare(x.files[a].path, x.files[b].path) })
	weight, base := make([]float64, len(x.files)), make([]float64, len(x.files))
	total := 0.0
	for _, f := range files {
		base[f] = x.ownWeight(f, near)
		total += base[f]
	}
	out := x.fileEdges(files)
	copy(weight, base)
	for range rounds {
		next := make([]float64, len(x.files))
		for _, f := range files {
			next[f] += (1 - damping) * base[f] / total * float64(len(files))
			for _, s := range out[f] {
				next[s.to] += damping * weight[f] * s.part
			}
		}
		weight = next
	}
	slices.SortStableFunc(files, func(a, b int32) int { return cmp.Compare(weight[b], weight[a]) })
	return files
}

// ownWeight is how much a file matters by itself.
func (x *Index) ownWeight(f int32, near []string) float64 {
	for _, n := range near {
		if _, in := under(x.files[f].path, n); in {
			return 50
		}
	}
	if x.files[f].record.generated {
		return 0.1
	}
	return 1
}

// fileEdges is which share of its uses each file has in others.
func (x *Index) fileEdges(files []int32) [][]share {
	out := make([][]share, len(x.files))
	count := map[int32]int{}
	for _, f := range files {
		clear(count)
		total := 0
		for _, g := range x.files[f].edges {
			if to := x.nodes[g.to].file; to != f && x.files[to].record != nil {
				count[to]++
				total++
			}
		}
		for to, n := range count {
			out[f] = append(out[f], share{to, float64(n) / float64(total)})
		}
		slices.SortFunc(out[f], func(a, b share) int { return cmp.Compare(a.to, b.to) })
	}
	return out
}

// share is a part of a file's uses.
type share struct {
	to   int32
	part float64
}
