package perceive

import "strings"

// sourceBlock is what is shown of one file.
type sourceBlock struct {
	file  string
	text  string
	spans []span   // nil where the file is whole
	parts []symbol // of functions that are too long
}

// blocks shows as many of the ranked symbols as there is room for, whatever files they stand in, and counts the files of which nothing
// is shown. What is chosen is guessed to fit and then counted, a few times.
func (v *viewer) blocks(ranked []symbol, left int) (best []sourceBlock, unseen int) {
	most := 0
	for room, fits, over, tries := left, 0, left*2, 0; tries < 8 && room > 40; tries++ {
		var blocks []sourceBlock
		n := 0
		for _, p := range v.picked(ranked, room) {
			b := v.block(p)
			n += v.count(b.text)
			blocks = append(blocks, b)
		}
		if n > left {
			over = room
		} else {
			if fits = room; n > most {
				best, most = blocks, n
			}
			if left-n < leastPart { // there is hardly room for more
				break
			}
		}
		room = (fits + over) / 2
	}
	files := map[string]bool{}
	for _, s := range ranked {
		files[s.file] = true
	}
	return best, len(files) - len(best)
}

// pick is what is to be shown of one file.
type pick struct {
	*text
	whole bool
	spans []span
	parts []symbol
}

// picker picks symbols until its room is used up.
type picker struct {
	*viewer
	room    int // tokens
	guessed int // of them, those that what words alone name may take; all of them where nothing else is at issue
	parts   int // so far
	picks   []*pick
	byFile  map[string]*pick
}

// picked are the best symbols that fit into some room, by file, and parts of those that are too long for it.
func (v *viewer) picked(ranked []symbol, room int) []*pick {
	p := &picker{viewer: v, room: room, guessed: room, byFile: map[string]*pick{}}
	if len(ranked) > 0 && ranked[0].why != named { // words are a guess beside a trace or an edge
		p.guessed = room / 4
	}
	for _, s := range ranked[:min(len(ranked), maxWithin)] {
		p.pick(s)
	}
	return p.picks
}

func (p *picker) pick(s symbol) {
	in, cost := p.open(s.file)
	if in.whole || s.in(in.spans) {
		return
	}
	room := p.room
	if s.why == named {
		room = min(room, p.guessed)
	}
	if n := p.guess(in.src) + fenceTokens; p.byFile[s.file] == nil && (s.why != reached && n < room*2/3 || p.Wide && n < room) {
		in.whole = true
		p.spend(in, s, n)
		return
	}
	if n := cost + p.guess(s.text) + gapTokens; n <= room && p.answerable(s) {
		in.show(s)
		p.spend(in, s, n)
		return
	}
	part, ok := p.part(in.text, s, room-cost)
	if !ok || p.parts == maxParts {
		return
	}
	p.parts++
	in.parts = append(in.parts, part)
	in.spans = append(in.spans, span{s.first, s.first})
	in.show(part)
	p.spend(in, s, cost+p.guess(part.text)+gapTokens)
}

// Tokens of what stands around a text.
const (
	fenceTokens = 24 // a file's name and its fences
	gapTokens   = 8  // the marker of a gap
)

// open is what is picked of a file so far, and what it costs to show anything of one of which nothing is.
func (p *picker) open(file string) (in *pick, cost int) {
	if in = p.byFile[file]; in != nil {
		return in, 0
	}
	in, cost = &pick{text: p.text(file)}, fenceTokens
	for _, s := range in.preface() {
		cost += p.guess(in.of(s))
	}
	return in, cost
}

// spend takes what a symbol's text costs.
func (p *picker) spend(in *pick, s symbol, tokens int) {
	if p.byFile[s.file] == nil {
		p.byFile[s.file] = in
		p.picks = append(p.picks, in)
	}
	p.room -= tokens
	if s.why == named {
		p.guessed -= tokens
	}
}

// show adds a symbol and the heads of what it stands in.
func (in *pick) show(s symbol) {
	in.spans = append(in.spans, s.span)
	if sym, ok := in.enclosing(s.first); ok {
		in.spans = append(in.spans, in.heads(sym)...)
	}
}

// block shows a file, or what was picked of it.
func (v *viewer) block(p *pick) sourceBlock {
	excerpt := p.excerpt(append(p.preface(), p.spans...))
	if p.whole || len(p.parts) == 0 && excerpt == strings.TrimRight(p.src, "\r\n")+"\n" {
		return sourceBlock{file: p.name, text: label(p.name) + ":\n" + Fence(language(p.name), source(p.src))}
	}
	text := label(p.name) + " (only a part is shown):\n" + Fence(language(p.name), source(excerpt))
	return sourceBlock{p.name, text, p.spans, p.parts}
}
