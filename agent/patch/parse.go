package patch

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

const (
	maxAnswer = 1 << 20 // bytes of an answer
	maxEdits  = 400     // edits of an answer
	maxProse  = 3       // lines of prose between a header and its fence
)

// Parse finds the edits of an answer. Of several edits those that parse are taken; the others are slips. No
// edit at all is one slip, no_edit. What is not an edit is prose and is passed over, a leading <think> section
// included.
func Parse(answer string) (Set, []*Slip) {
	if len(answer) > maxAnswer {
		return nil, []*Slip{limit(about(""), "bytes in its answer", int64(len(answer)), maxAnswer)}
	}
	p := newParser(answer)
	for p.at < len(p.lines) {
		p.step()
	}
	p.drop()
	if len(p.set) == 0 && len(p.slips) == 0 {
		p.slips = []*Slip{noEdit()}
	}
	return p.set, p.slips
}

func noEdit() *Slip {
	return &Slip{Code: NoEdit, Text: "There is no edit in the answer.", Remedy: "For each edit " + form + "."}
}

// parser walks over an answer line by line.
type parser struct {
	lines   []string // without newlines
	closers [2][]int // for backticks and tildes: the longest bare fence at or below each line
	at      int
	pending *header // seen, but its fence not yet
	prose   int     // lines since then
	above   string  // last line that was not blank, for spellings that name the file there
	set     Set
	slips   []*Slip
}

func newParser(answer string) *parser {
	if strings.Count(answer, "\n") == strings.Count(answer, "\r\n") {
		answer = strings.ReplaceAll(answer, "\r\n", "\n")
	}
	p := &parser{lines: strings.Split(answer, "\n"), at: thought(answer)}
	for i := range p.closers {
		p.closers[i] = make([]int, len(p.lines)+1)
	}
	for i := len(p.lines) - 1; i >= 0; i-- {
		for c := range p.closers {
			p.closers[c][i] = p.closers[c][i+1]
		}
		if f, ok := openFence(p.lines[i]); ok && f.info == "" {
			p.closers[f.kind()][i] = max(p.closers[f.kind()][i], f.length)
		}
	}
	return p
}

// thought is how many lines a reasoning model's thoughts take at the head of its answer.
func thought(answer string) int {
	if !strings.HasPrefix(strings.TrimSpace(answer), "<think>") {
		return 0
	}
	before, _, ok := strings.Cut(answer, "</think>")
	if !ok {
		return strings.Count(answer, "\n") + 1
	}
	return strings.Count(before, "\n") + 1
}

func (p *parser) step() {
	line := p.lines[p.at]
	if f, ok := openFence(line); ok {
		p.fence(f)
		return
	}
	if searchMark.MatchString(line) {
		p.bareBlock()
		return
	}
	p.at++
	if h, ok := parseHeader(line); ok {
		p.drop()
		h.line = p.at
		p.pending, p.prose = &h, 0
		return
	}
	if strings.TrimSpace(line) == "" {
		return
	}
	p.above = line
	if p.prose++; p.prose > maxProse {
		p.drop()
	}
}

// drop gives up a header that no fence followed. One that nobody could read was prose.
func (p *parser) drop() {
	if h := p.pending; h != nil && h.ok {
		p.slip(slip(NoBody, h.edit(), "The edit "+h.edit().place()+" has no text.", "Put its new text in a fence right below the line that names it."))
	}
	p.pending = nil
}

func (p *parser) slip(s *Slip) {
	if len(p.slips) < maxEdits {
		p.slips = append(p.slips, s)
	}
}

// fence reads from an opening fence to the one that closes it.
func (p *parser) fence(f fence) {
	end := p.closing(f)
	if end < 0 {
		p.unclosed(f)
		return
	}
	body := p.lines[p.at+1 : end]
	first := p.at + 1 // line of the answer on which the fence stands, from 1
	p.at = end + 1
	h := p.pending
	inner, rest, ok := innerHeader(body)
	another := h != nil && h.ok && (h.file != inner.file || h.addr != inner.addr)
	if ok && !(another && f.length > 3) { // a longer fence is there to quote what would read as an edit
		if another {
			p.drop()
		}
		inner.line = first + len(body) - len(rest)
		h, body = &inner, rest
	}
	p.pending = nil
	body = outdent(body, f.indent)
	if p.spelled(h, f, body, first) || h == nil {
		return
	}
	p.edit(*h, f, body)
}

// closing is the line that closes a fence, or -1.
func (p *parser) closing(f fence) int {
	if p.closers[f.kind()][p.at+1] < f.length {
		return -1
	}
	for i := p.at + 1; i < len(p.lines); i++ {
		if c, ok := openFence(p.lines[i]); ok && c.closes(f) {
			return i
		}
	}
	return -1
}

// unclosed tells a cut-off edit from a fence that a text about fences has left open.
func (p *parser) unclosed(f fence) {
	h := p.pending
	if inner, _, ok := innerHeader(p.lines[p.at+1:]); ok {
		h = &inner
	}
	if h == nil {
		p.at++
		return
	}
	p.slip(slip(Unclosed, h.edit(), "The fence of "+h.edit().place()+" is not closed; the answer seems to be cut off.",
		"Give the whole edit again, address less text if it is long, and close the fence."))
	p.pending, p.at = nil, len(p.lines)
}

// edit adds the one edit of a fence.
func (p *parser) edit(h header, f fence, body []string) {
	e := h.edit()
	e.Body = join(body)
	switch nested := nestedHeader(body); {
	case !h.ok:
		p.slip(slip(BadHeader, e, h.why, "Write `# edit: FILE :: ADDRESS`, where the address is a name, `Type.name`, `+name`, `L3-L9`, `+L4` or `*`."))
	case nested > 0 && f.length == 3:
		p.slip(slip(BadHeader, e, fmt.Sprintf("The fence of %s has a second edit in its line %d.", e.place(), nested), "Give each edit a fence of its own."))
	default:
		p.add(e)
	}
}

// add takes an edit, once: small models repeat themselves.
func (p *parser) add(e Edit) {
	for _, have := range p.set {
		if have.File == e.File && have.Addr == e.Addr && bytes.Equal(have.Body, e.Body) && bytes.Equal(have.Old, e.Old) {
			return
		}
	}
	if len(p.set) >= maxEdits {
		p.slip(limit(about(""), "edits", int64(len(p.set)+1), maxEdits))
		p.at = len(p.lines)
		return
	}
	p.set = append(p.set, e)
}

func join(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// fence is an opening line of backticks or tildes.
type fence struct {
	char   byte
	length int
	indent int
	info   string
}

func (f fence) kind() int {
	if f.char == '`' {
		return 0
	}
	return 1
}

func (f fence) closes(open fence) bool {
	return f.info == "" && f.char == open.char && f.length >= open.length
}

func openFence(line string) (fence, bool) {
	text := strings.TrimLeft(line, " \t")
	f := fence{indent: len(line) - len(text)}
	if text == "" || text[0] != '`' && text[0] != '~' {
		return f, false
	}
	f.char = text[0]
	rest := strings.TrimLeft(text, text[:1])
	f.length, f.info = len(text)-len(rest), strings.TrimSpace(rest)
	return f, f.length >= 3 && !(f.char == '`' && strings.Contains(rest, "`"))
}

// outdent takes a fence's own indentation from its lines, as far as they have it.
func outdent(lines []string, n int) []string {
	if n == 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(n, len(l)-len(strings.TrimLeft(l, " \t"))):]
	}
	return out
}

// innerHeader takes the header from the first line of a body that is not blank.
func innerHeader(body []string) (h header, rest []string, ok bool) {
	for i, l := range body {
		if strings.TrimSpace(l) != "" {
			h, ok = parseHeader(l)
			return h, body[i+1:], ok
		}
	}
	return header{}, nil, false
}

// nestedHeader is the first line, from 1, that reads as a header, or 0.
func nestedHeader(body []string) int {
	for i, l := range body {
		if h, ok := parseHeader(l); ok && h.ok {
			return i + 1
		}
	}
	return 0
}

// header is a line that names an edit.
type header struct {
	file, addr string
	line       int
	ok         bool   // the file and the address can be read
	why        string // if not
}

func (h header) edit() Edit { return Edit{File: h.file, Addr: h.addr, Line: h.line} }

var headerLead = regexp.MustCompile("^[ \t]*((?:#|//|/\\*|<!--|--|;|%|>|\\*|_|`|[ \t])*)(?i:edit)[ \t]*:[ \t]*(.*?)[ \t\r]*$")

// parseHeader reads a line such as `# edit: FILE :: ADDR` in any of its dresses. ok is false for a line that is not
// meant as one. Without a comment sign or bold type in front the whole line has to be right.
func parseHeader(line string) (h header, ok bool) {
	if len(line) > 8<<10 {
		return h, false
	}
	m := headerLead.FindStringSubmatch(line)
	if m == nil {
		return h, false
	}
	lead, rest := strings.TrimSpace(m[1]), undress(m[1], m[2])
	i := strings.LastIndex(rest, "::")
	if i < 0 {
		h.file, h.why = unwrap(rest), "The line `"+quote(strings.TrimSpace(line))+"` has no address after `::`."
		return h, lead != "" && rest != ""
	}
	h.file = unwrap(strings.TrimSpace(rest[:i]))
	h.addr, h.ok = readAddr(unwrap(strings.TrimSpace(rest[i+2:])))
	switch {
	case h.file == "":
		h.ok, h.why = false, "The line `"+quote(strings.TrimSpace(line))+"` names no file."
	case !h.ok:
		h.why = "The address `" + quote(h.addr) + "` of " + quote(h.file) + " cannot be read."
	}
	return h, lead != "" || h.ok && !strings.Contains(h.file, " ")
}

// undress takes off what a header's dress leaves at its end.
func undress(lead, rest string) string {
	for _, pair := range [][2]string{{"<!--", "-->"}, {"/*", "*/"}, {"**", "**"}, {"__", "__"}, {"`", "`"}} {
		if strings.Contains(lead, pair[0]) {
			rest = strings.TrimRight(strings.TrimSuffix(rest, pair[1]), " \t")
		}
	}
	return rest
}

// unwrap takes a pair of quotes off a name.
func unwrap(s string) string {
	for _, q := range []string{"`", `"`, "'"} {
		if len(s) > 2 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// readAddr gives the canonical form of an address; words behind it are a remark and do not count.
func readAddr(s string) (string, bool) {
	for _, word := range []string{"func ", "function ", "def ", "class ", "type ", "lines ", "line "} {
		s = strings.TrimSpace(strings.TrimPrefix(s, word))
	}
	s = spacedRange.ReplaceAllString(s, "$1-$2")
	first, _, _ := strings.Cut(s, " ")
	if a, ok := parseAddr(s); ok {
		return a.String(), true
	}
	a, ok := parseAddr(strings.TrimRight(unwrap(first), ",;:"))
	if !ok {
		return s, false
	}
	return a.String(), true
}

var spacedRange = regexp.MustCompile(`^([Ll]?\d+)\s*[-–]\s*([Ll]?\d+)`)
