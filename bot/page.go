package bot

import (
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
)

// limit is how long a body may be, in bytes, which are never fewer than the characters that GitHub counts: it takes 65,536.
const limit = 60000

// page is a body in the making: Markdown of ours, and long texts that give way when it grows too long.
type page struct{ parts []part }

// part is one piece of a page.
type part struct {
	text     string // Markdown, when body is ""
	optional bool   // may be left out whole
	summary  string // of what is folded: words of ours, no Markdown
	language string
	body     string // goes into a fence, folded
	left     int    // lines of body left out
	bytes    int    // and bytes
}

// add puts Markdown onto the page.
func (g *page) add(format string, a ...any) {
	g.parts = append(g.parts, part{text: fmt.Sprintf(format, a...)})
}

// maybe puts Markdown onto the page that is left out if there is no other way.
func (g *page) maybe(text string) {
	if text != "" {
		g.parts = append(g.parts, part{text: text, optional: true})
	}
}

// fold puts a cleaned text onto the page, folded.
func (g *page) fold(summary, language, body string) {
	if strings.TrimSpace(body) == "" {
		return
	}
	p := part{summary: summary, language: language, body: strings.ToValidUTF8(strings.TrimRight(body, "\n"), "?") + "\n"}
	p.cut(len(p.body) - 2*limit)
	g.parts = append(g.parts, p)
}

// String is the page at no more than limit bytes: the longest folded part is cut first, then the optional ones go, the last
// one first.
func (g *page) String() string {
	for {
		s := g.render()
		over := len(s) - limit
		switch {
		case over <= 0:
			return s
		case g.cut(over):
		case !g.drop():
			return redact.Clip(s, limit) // every part that cannot give way is short: never seen
		}
	}
}

func (g *page) render() string {
	var b strings.Builder
	for _, p := range g.parts {
		b.WriteString(p.render())
	}
	return b.String()
}

func (p part) render() string {
	if p.summary == "" {
		return p.text
	}
	body := p.body
	if p.bytes > 0 {
		body += fmt.Sprintf("… %s (%s) left out here, for want of room\n", counted(p.left, "more line"), counted(p.bytes, "byte"))
	}
	return "<details>\n<summary>" + p.summary + "</summary>\n\n" + redact.FenceAs(p.language, body) + "\n</details>\n\n"
}

const (
	noteRoom = 100  // more than the sentence about what was left out takes
	morsel   = 1024 // what is cut at least, so that few cuts are enough
)

// cut shortens the longest folded part by what is over, in steps that leave it near the second longest; false when none has
// anything left.
func (g *page) cut(over int) bool {
	longest, second := -1, 0
	for i, p := range g.parts {
		switch {
		case longest < 0 || len(p.body) > len(g.parts[longest].body):
			if longest >= 0 {
				second = len(g.parts[longest].body)
			}
			longest = i
		case len(p.body) > second:
			second = len(p.body)
		}
	}
	if longest < 0 || g.parts[longest].body == "" {
		return false
	}
	p := &g.parts[longest]
	p.cut(min(over+noteRoom, max(len(p.body)-second, over/4, morsel)))
	return true
}

// cut takes at least n bytes from a body's end, in whole lines, and remembers how much it took.
func (p *part) cut(n int) {
	if n <= 0 {
		return
	}
	keep := p.body[:max(0, len(p.body)-n)]
	keep = keep[:strings.LastIndex(keep, "\n")+1]
	p.left += strings.Count(p.body[len(keep):], "\n")
	p.bytes += len(p.body) - len(keep)
	p.body = keep
}

func (g *page) drop() bool {
	for i := len(g.parts) - 1; i >= 0; i-- {
		if p := &g.parts[i]; p.optional {
			*p = part{text: "(A part of this text is left out here, for want of room.)\n\n"}
			return true
		}
	}
	return false
}
