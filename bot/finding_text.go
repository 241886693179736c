package bot

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

const (
	linesShown = 20  // of the first finding, before it is folded
	lineLength = 240 // of one of those lines, in bytes
	namesShown = 8   // findings by name
)

// addFindings puts what was red onto a page: the first finding with its place, got and want, the others folded.
func (s Story) addFindings(g *page, p pen) {
	all := s.findings()
	if len(all) == 0 {
		g.add("Only the exit status is known: nothing here reads this runner's results.\n\n")
		return
	}
	g.add("%s\n\n", p.headline(all[0]))
	p.addAssertion(g, all[0])
	p.addOthers(g, all[1:])
}

// headline is a finding's name and place.
func (p pen) headline(f trace.Finding) string {
	text := "**" + p.code(f.ID, 200) + "**"
	if kind := word(f.Kind); kind != "test" && kind != unknown {
		text += " (" + kind + ")"
	}
	if f.Status == "error" {
		text += " could not be run to its end"
	}
	if place := p.place(f); place != "" {
		text += " at " + place
	}
	return text
}

// place is file:line as code, "" if the file is not known.
func (p pen) place(f trace.Finding) string {
	switch {
	case f.File == "":
		return ""
	case f.Line > 0:
		return p.code(fmt.Sprintf("%s:%d", p.line(f.File, 200), f.Line), 220)
	}
	return p.code(f.File, 200)
}

// addAssertion puts got, want and message onto a page: at most 20 lines of them open, the others folded. Where one of the
// open lines is cut, all of them are folded as well.
func (p pen) addAssertion(g *page, f trace.Finding) {
	all := p.assertion(f)
	if len(all) == 0 {
		return
	}
	shown, cut := min(len(all), linesShown), false
	var open []string
	for _, l := range all[:shown] {
		short := redact.Clip(l, lineLength)
		cut = cut || short != l
		open = append(open, short)
	}
	g.add("%s\n", redact.FenceAs("text", strings.Join(open, "\n")))
	summary, rest := counted(len(all)-shown, "more line"), all[shown:]
	if cut {
		summary, rest = "All of it, "+counted(len(all), "line"), all
	}
	g.fold(summary, "text", strings.Join(rest, "\n"))
}

// assertion is got, want and message of a finding in cleaned lines; none if it has none.
func (p pen) assertion(f trace.Finding) []string {
	var out []string
	if f.Got != "" || f.Want != "" {
		out = append(p.labelled("got   ", f.Got), p.labelled("want  ", f.Want)...)
	}
	m := strings.TrimSpace(still(p.seen(f.Message)))
	if m == "" {
		return out
	}
	if len(out) > 0 {
		out = append(out, "")
	}
	return append(out, lines(m)...)
}

// labelled puts a label before a value's first line, and its width before the others.
func (p pen) labelled(label, value string) []string {
	all := lines(still(p.seen(value)))
	if len(all) == 1 && strings.TrimSpace(all[0]) == "" {
		return []string{label + "(empty)"}
	}
	for i := range all {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		all[i] = label + all[i]
	}
	return all
}

// addOthers names the findings behind the first one, and folds what they say.
func (p pen) addOthers(g *page, others []trace.Finding) {
	if len(others) == 0 {
		return
	}
	var names []string
	var all []string
	for i, f := range others {
		if i < namesShown {
			names = append(names, f.ID)
		}
		all = append(all, p.told(f)...)
	}
	text := p.codes(names, 120, namesShown)
	if len(others) > len(names) {
		text += fmt.Sprintf(" and %d more", len(others)-len(names))
	}
	g.add("Red as well: %s.\n\n", text)
	g.fold("Got and want of "+counted(len(others), "more finding"), "text", strings.Join(all, "\n"))
}

// told is one finding in lines.
func (p pen) told(f trace.Finding) []string {
	head := p.line(f.ID, 200)
	if f.File != "" {
		head += "  " + p.line(f.File, 200)
		if f.Line > 0 {
			head += fmt.Sprintf(":%d", f.Line)
		}
	}
	out := []string{still(head)}
	for _, l := range p.assertion(f) {
		out = append(out, strings.TrimRight("  "+l, " "))
	}
	return append(out, "")
}

// try is a change that was judged.
type try struct {
	event   trace.Event
	patch   trace.PatchData
	verdict *trace.VerdictData // the full check's, else the cheap one's, nil if neither
}

// tries are the changes that were judged, in order.
func (s Story) tries() []try {
	var all []try
	for _, e := range s.Events {
		switch {
		case e.Type == trace.TypePatch:
			all = append(all, try{event: e, patch: told[trace.PatchData](e)})
		case e.Type == trace.TypeVerdict && len(all) > 0:
			v := told[trace.VerdictData](e)
			if v.Phase == "judge" || v.Phase == "cheap" {
				all[len(all)-1].verdict = &v
			}
		}
	}
	return all
}

// told reads an event's data as far as it can be read: a trace may come from anywhere.
func told[T any](e trace.Event) T {
	var v T
	_ = json.Unmarshal(e.Data, &v)
	return v
}

// provedTry is the change that the proof is of, nil where the trace does not tell.
func (s Story) provedTry() *try {
	all := s.tries()
	for i := len(all) - 1; i >= 0 && s.proved(); i-- {
		if all[i].patch.Tree == s.Proof.Receipt().Tree {
			return &all[i]
		}
	}
	return nil
}

// opinion is what the model said before it gave the edits that are proved now, "" if it said nothing.
func (s Story) opinion(t try) string {
	text := ""
	for _, e := range s.Events {
		if e.Seq >= t.event.Seq {
			break
		}
		if e.Type == trace.TypeReply && e.Turn == t.event.Turn {
			text = told[trace.ReplyData](e).Text
		}
	}
	for i, l := range lines(text) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") || strings.HasPrefix(l, "# edit:") {
			return strings.TrimSpace(strings.Join(lines(text)[:i], "\n"))
		}
	}
	return strings.TrimSpace(text)
}

const (
	causeSentences = 3
	causeLength    = 600
)

func (d *draftText) cause() {
	d.add("### Cause\n\n")
	t := d.provedTry()
	switch {
	case t == nil:
		d.add("Nobody claims to know it: the job's record gives no reason for this change.\n\n")
	case d.model() == nil:
		d.add("Nobody claims to know it: no model was asked. The mechanic searched small edits, and this one holds: %s\n\n", d.code(t.patch.Why, 400))
	default:
		said := firstSentences(d.line(d.opinion(*t), 4*causeLength), causeSentences)
		if said == "" {
			d.add("The model gave no reason, only the change")
			if t.patch.Why != "" {
				d.add(": %s", d.code(t.patch.Why, 300))
			}
			d.add(".\n\n")
			return
		}
		d.add("The model's opinion, which nothing here has checked:\n\n> %s\n\n", d.talk(said, causeLength))
	}
}

// firstSentences are at most n sentences of a line.
func firstSentences(s string, n int) string {
	for i := range len(s) - 1 {
		if strings.IndexByte(".!?", s[i]) >= 0 && s[i+1] == ' ' {
			if n--; n == 0 {
				return s[:i+1]
			}
		}
	}
	return s
}
