package redact

import (
	"regexp"
	"strings"
)

// quiet escapes what Markdown, as GitHub renders it, would make of a plain text. Escapes cannot stop a mention or a
// reference, for GitHub looks for those in the rendered text, so a word with one becomes code, where it does not look.
// An escape that stands there already is left, which makes quiet idempotent.
// https://github.github.com/gfm/ and https://docs.github.com/en/get-started/writing-on-github
func quiet(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = quietLine(line)
	}
	return strings.Join(lines, "\n")
}

var (
	entityLike = regexp.MustCompile(`^&(?:#[0-9]|#[xX][0-9a-fA-F]|[A-Za-z][A-Za-z0-9]*;)`)
	ruler      = regexp.MustCompile(`^[-=_*+:](?:[-=_*+:]|\s)*$`) // also underlines, which make a heading of the line before
	heading    = regexp.MustCompile(`^#{1,6}(?:\s|$)`)
	command    = regexp.MustCompile("^/[A-Za-z0-9`]") // "/merge": other bots read comments line by line
	list       = regexp.MustCompile(`^\s*(?:(?:[-+*]|[0-9]{1,9}[.)])\s+)*`)
	live       = regexp.MustCompile(`(?i)@[a-z0-9]|#[0-9]|\bgh-[0-9]|://|\bwww\.|mailto:|xmpp:`)
)

// quietLine walks a line: each step writes one unit.
func quietLine(s string) string {
	l := &line{s: s}
	l.begin()
	for l.i < len(s) {
		l.step()
	}
	return l.out.String()
}

// line is one line on its way through quiet.
type line struct {
	s    string
	i    int // what comes next
	dead int // up to here there is no live word
	out  strings.Builder
}

// write takes n bytes of the line and puts text in their place.
func (l *line) write(text string, n int) {
	l.out.WriteString(text)
	l.i += n
}

// begin deals with what is markup at the start of a line only.
func (l *line) begin() {
	if text := strings.TrimLeft(l.s, " \t"); starts(strings.TrimPrefix(text, "\\")) && ruler.MatchString(strings.TrimPrefix(text, "\\")) {
		l.write(l.s[:len(l.s)-len(text)], len(l.s)-len(text))
	} else {
		n := len(list.FindString(l.s))
		l.write(l.s[:n], n)
	}
	rest := l.s[l.i:]
	switch {
	case starts(rest):
		l.write("\\"+rest[:1], 1)
	case strings.HasPrefix(rest, "\\") && starts(rest[1:]):
		l.write(rest[:2], 2)
	}
}

func starts(s string) bool {
	return ruler.MatchString(s) || heading.MatchString(s) || command.MatchString(s)
}

// step writes the next thing of a line: an escape that is there already, a live word, or one character.
func (l *line) step() {
	rest := l.s[l.i:]
	for _, e := range []string{"&lt;", "&gt;", "&amp;"} {
		if strings.HasPrefix(rest, e) {
			l.write(e, len(e))
			return
		}
	}
	if n := code(l.s, l.i); n > 0 {
		l.write(rest[:n], n)
		return
	}
	if n := l.word(l.i); n > 0 {
		l.write("`"+rest[:n]+"`", n)
		return
	}
	l.character(rest)
}

// code is the length of a live word at i that is code already, as quiet writes it.
func code(s string, i int) int {
	if s[i] != '`' || i > 0 && s[i-1] != ';' && run(s[i-1:i]) > 0 {
		return 0
	}
	s = s[i:]
	n := 1 + run(s[1:])
	if n == 1 || n >= len(s) || s[n] != '`' || !live.MatchString(s[1:n]) {
		return 0
	}
	next := s[n+1:]
	if strings.HasPrefix(next, "`") || live.MatchString(next[:run(next)]) {
		return 0 // two pieces of code would touch, and be one
	}
	return n + 1
}

// word is the length of the live word at i, without the punctuation that ends it; 0 if there is none.
func (l *line) word(i int) int {
	if i < l.dead {
		return 0
	}
	n := run(l.s[i:])
	if !live.MatchString(l.s[i : i+n]) {
		l.dead = i + n
		return 0
	}
	if t := len(strings.TrimRight(l.s[i:i+n], ".,;:!?*_~")); live.MatchString(l.s[i : i+t]) {
		n = t
	}
	return n
}

// run is how far the characters go that a live word may have: all but those that quiet itself puts something before or
// that cannot stand in an address of mail, whose finder in some programs reads over backticks.
func run(s string) int {
	if n := strings.IndexAny(s, " \t`|<>[]()\\\""); n >= 0 {
		s = s[:n]
	}
	for _, e := range []string{"&lt;", "&gt;", "&amp;"} {
		if n := strings.Index(s, e); n >= 0 {
			s = s[:n]
		}
	}
	return len(s)
}

func (l *line) character(rest string) {
	switch c := rest[0]; c {
	case '<':
		l.write("&lt;", 1)
	case '>':
		l.write("&gt;", 1)
	case '&':
		if entityLike.MatchString(rest) {
			l.write("&amp;", 1)
			return
		}
		l.write("&", 1)
	case '\\':
		l.backslash(rest)
	case '`', '[', ']', '|', '~', '$':
		l.write("\\"+rest[:1], 1)
	case '*', '_':
		if l.flanks(c) {
			l.write("\\"+rest[:1], 1)
			return
		}
		l.write(rest[:1], 1)
	default:
		l.write(rest[:1], 1)
	}
}

// backslash leaves an escape of ours, and makes any other backslash one that is shown.
func (l *line) backslash(rest string) {
	switch {
	case len(rest) == 1:
		l.write(`\\`, 1)
	case strings.IndexByte("\\`*_[]|~$", rest[1]) >= 0:
		l.write(rest[:2], 2)
	case rest[1] > ' ' && rest[1] < 0x7f && !letterOrDigit(rest[1]), l.word(l.i+1) > 0:
		l.write(`\\`, 1)
	default:
		l.write(`\`, 1)
	}
}

// flanks reports whether a star or underscore might begin or end emphasis.
func (l *line) flanks(c byte) bool {
	before, after := byte(' '), byte(' ')
	if l.i > 0 {
		before = l.s[l.i-1]
	}
	if l.i+1 < len(l.s) {
		after = l.s[l.i+1]
	}
	if before <= ' ' && after <= ' ' {
		return false
	}
	return c == '*' || !letterOrDigit(before) || !letterOrDigit(after)
}
