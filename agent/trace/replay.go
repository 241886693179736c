package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ReplayOptions choose how a job is printed.
type ReplayOptions struct {
	Color bool // colour sequences of a terminal; plain text says the same
	Full  bool // questions and answers whole, and git children that went well
	Quiet bool // no single runs and trees
}

// ErrTorn says that the process died while writing the last line; what came before it is whole.
var ErrTorn = errors.New("the last line is torn: the process died while writing it")

// ReplayFile prints the job of one trace file. A file that is no trace is an error before anything is printed; a torn last
// line is ErrTorn after everything is.
func ReplayFile(w io.Writer, path string, opt ...ReplayOptions) error {
	events, torn, err := Read(path)
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("read trace %s: it has no whole line", path)
	}
	if err != nil {
		return err
	}
	if err := Replay(w, events, opt...); err != nil {
		return err
	}
	if torn {
		return fmt.Errorf("read trace %s: %w", path, ErrTorn)
	}
	return nil
}

// Replay prints a job as a person wants to read it, from its lines alone. Whatever the lines hold, nothing but plain
// text, newlines and (with Color) our own colours reach w. Of several options the last counts.
func Replay(w io.Writer, events []Event, opt ...ReplayOptions) error {
	p := &player{w: bufio.NewWriter(w), story: tell(events, false)}
	if len(opt) > 0 {
		p.opt = opt[len(opt)-1]
	}
	for _, e := range events {
		p.play(e)
	}
	p.flush()
	p.end()
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// player prints events one after the other, and sums up what comes in crowds.
type player struct {
	w       *bufio.Writer
	opt     ReplayOptions
	story   *story
	section string
	tried   []CandidateData // not yet printed
	cheap   []RunData       // not yet printed
	pieces  strings.Builder // of an answer that has not come yet
	rungs   []RungData      // not yet printed
}

func (p *player) play(e Event) {
	if !p.crowd(e) {
		p.flush()
	}
	p.head(e)
	switch e.Type {
	case TypeCandidate:
		p.tried = append(p.tried, decode[CandidateData](e))
	case TypeRung:
		p.rungs = append(p.rungs, decode[RungData](e))
	case TypeTokens:
		p.pieces.WriteString(decode[TokensData](e).Text)
	case TypeRun:
		p.run(decode[RunData](e))
	case TypeTree, TypeGit:
		if p.opt.Full || e.Type == TypeTree && !p.opt.Quiet || decode[GitData](e).Exit != 0 {
			p.line(dim, e.Type, EventText(e))
		}
	default:
		p.single(e)
	}
}

// crowd says whether an event belongs to what is being summed up.
func (p *player) crowd(e Event) bool {
	switch e.Type {
	case TypeCandidate, TypeRung, TypeTokens, TypeReply:
		return true
	case TypeRun:
		return isCheap(decode[RunData](e).Phase)
	}
	return false
}

func isCheap(phase string) bool { return phase == "cheap" || phase == "cover" }

func (p *player) single(e Event) {
	switch e.Type {
	case TypeEvent:
		p.job(decode[Job](e))
	case TypeVerdict:
		p.verdict(decode[VerdictData](e))
	case TypeRequest:
		p.request(e)
	case TypeReply:
		p.reply(decode[ReplyData](e))
	case TypeSlip:
		p.line(red, "slip", slipText(decode[SlipData](e)))
	case TypePatch:
		p.patch(decode[PatchData](e))
	case TypeStep:
		p.line(dim, "·", EventText(e))
	case TypeStop, TypeScene, TypeEscalate, TypeReceipt, TypeAdmit, TypeDraft:
		if e.Type != TypeStop { // the end is printed at the end
			p.line("", e.Type, EventText(e))
		}
	default:
		p.line(dim, oneLine(e.Type, 30), EventText(e))
	}
}

// head opens a new part of the page when an event belongs to one.
func (p *player) head(e Event) {
	section := sectionOf(e)
	if section != "" && section != p.section {
		p.flush()
		p.section = section
		fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, section))
	}
}

// sectionOf is the part of the page that an event belongs to; empty when it goes where the one before it went.
func sectionOf(e Event) string {
	phase := ""
	switch e.Type {
	case TypeEvent, TypeStop, TypeTokens:
		return ""
	case TypeAdmit, TypeDraft:
		return "publisher"
	case TypeRung, TypeReceipt:
		return "proof"
	case TypeCandidate:
		phase = "cheap"
	case TypeRun:
		phase = decode[RunData](e).Phase
	case TypeVerdict:
		phase = decode[VerdictData](e).Phase
	}
	switch {
	case slices.Contains([]string{"confirm", "revert", "canary", "mutated", "other", "fixer"}, phase):
		return "proof"
	case e.Turn > 0:
		return fmt.Sprintf("turn %d", e.Turn)
	case phase == "see":
		return "see: the untouched root"
	case isCheap(phase) || phase == "fix":
		return "mechanic"
	}
	return ""
}

func (p *player) job(j Job) {
	id := j.ID
	if len(p.story.events) > 0 {
		id = p.story.events[0].Job
	}
	fmt.Fprintf(p.w, "%s  %s\n", p.paint(bold, "job "+oneLine(id, 128)), jobText(j))
	for _, c := range p.story.commands() {
		if c.Red {
			p.line("", "check", oneLine(c.Run, 200)+"  ("+word(orUnknown(c.Provenance))+", "+word(orUnknown(c.Source))+")")
		}
	}
	if len(j.Tiers) > 0 {
		p.line("", "tiers", oneLine(strings.Join(j.Tiers, ", "), 80))
	}
}

func (p *player) run(r RunData) {
	if isCheap(r.Phase) {
		p.cheap = append(p.cheap, r)
		return
	}
	if !p.opt.Quiet {
		p.line("", "run", p.colors(runText(r), r.Color))
	}
}

// colors paints the word of a colour in its colour.
func (p *player) colors(text, color string) string {
	color = colorOf(color)
	if i := strings.Index(text, ": "+color); i >= 0 && p.opt.Color {
		return text[:i+2] + p.paint(paints[color], color) + text[i+2+len(color):]
	}
	return text
}

func (p *player) verdict(v VerdictData) {
	findings := v.Findings
	v.Findings = nil
	text := p.colors(verdictText(v), v.Color)
	if len(findings) > 0 {
		text += ", " + count(len(findings), "finding")
	}
	p.line("", "verdict", text)
	for i, f := range findings {
		if i == 10 {
			p.block(fmt.Sprintf("… and %s more", count(len(findings)-i, "finding")))
			break
		}
		p.block(FindingText(f))
	}
}

func (p *player) request(e Event) {
	r := decode[RequestData](e)
	p.line("", "ask", requestText(r))
	if p.opt.Full {
		for _, m := range messagesOf(r.Body) {
			p.block(p.paint(bold, oneLine(m.Role, 20)) + "\n" + visible(m.Content))
		}
	}
}

func (p *player) reply(r ReplyData) {
	p.pieces.Reset()
	p.line("", "answer", replyText(r))
	if p.opt.Full {
		p.block(visible(r.Text))
	}
}

func (p *player) patch(d PatchData) {
	p.line("", "patch", patchText(d))
	for line := range strings.Lines(visible(d.Diff)) {
		fmt.Fprintf(p.w, "    %s\n", p.paint(diffPaint(line), strings.TrimSuffix(line, "\n")))
	}
}

// flush prints what was being summed up.
func (p *player) flush() {
	if len(p.cheap) > 0 && !p.opt.Quiet {
		p.line(dim, "runs", cheapText(p.cheap))
	}
	if len(p.tried) > 0 {
		p.candidates()
	}
	if p.pieces.Len() > 0 {
		p.line(red, "answer", "cut off after "+count(p.pieces.Len(), "byte"))
		p.block(visible(p.pieces.String()))
	}
	if len(p.rungs) > 0 {
		p.block(p.paintTable(ProofTable(p.rungs)))
	}
	p.cheap, p.tried, p.rungs = nil, nil, nil
	p.pieces.Reset()
}

func cheapText(runs []RunData) string {
	total, by := 0.0, map[string]int{}
	for _, r := range runs {
		total += r.Seconds
		by[colorOf(r.Color)]++
	}
	text := count(len(runs), "short run") + " in " + seconds(total)
	for _, c := range sortedKeys(by) {
		text += fmt.Sprintf(", %d %s", by[c], c)
	}
	return text
}

// candidates prints how many small edits were tried, and those that came out green.
func (p *player) candidates() {
	p.line("", "tried", visible(count(len(p.tried), "small edit"))+": "+gotText(p.tried))
	for _, c := range p.tried {
		if c.Got == "green" {
			p.line("", "", p.colors(candidateText(c), c.Got))
		}
	}
}

func gotText(tried []CandidateData) string {
	by := map[string]int{}
	for _, c := range tried {
		by[strings.ReplaceAll(word(c.Got), "_", " ")]++
	}
	var parts []string
	for _, got := range sortedKeys(by) {
		parts = append(parts, fmt.Sprintf("%d %s", by[got], got))
	}
	return strings.Join(parts, ", ")
}

// end prints the stop, or that there is none.
func (p *player) end() {
	s := p.story
	from, to := s.span()
	took := seconds(to.Sub(from).Seconds())
	switch {
	case len(s.events) == 0:
		fmt.Fprintln(p.w, "no line")
	case s.stop == nil:
		fmt.Fprintf(p.w, "\n%s: no stop line, the last line is %s after the first\n", p.paint(red, string(s.state())), took)
	default:
		fmt.Fprintf(p.w, "\n%s %s\n", p.paint(bold, "stop"), stopText(*s.stop))
	}
	if s.stop != nil {
		level, _ := s.egress()
		p.line("", "took", took+", "+count(len(s.runs), "run")+", egress "+strings.ReplaceAll(level, "_", " "))
	}
	if next := s.next(); next != "" {
		p.line("", "next", oneLine(next, 400))
	}
}

func (p *player) line(paint, label, text string) {
	fmt.Fprintf(p.w, "  %s %s\n", p.paint(paint, fmt.Sprintf("%-8s", label)), text)
}

func (p *player) block(text string) { _, _ = p.w.WriteString(indent("    ", text)) }

const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

var paints = map[string]string{"red": red, "green": green, "unknown": bold}

func (p *player) paint(paint, text string) string {
	if !p.opt.Color || paint == "" || text == "" {
		return text
	}
	return paint + text + reset
}

func (p *player) paintTable(table string) string {
	head, rest, _ := strings.Cut(table, "\n")
	rest = strings.ReplaceAll(rest, "FAILED", p.paint(red, "FAILED"))
	return p.paint(bold, head) + "\n" + rest
}

func diffPaint(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return bold
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	}
	return ""
}
