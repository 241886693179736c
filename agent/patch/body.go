package patch

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// bodyLines cuts a model's text into lines without their endings: what the lines end in is the file's affair.
func bodyLines(body []byte) []string {
	lines := splitLines(body)
	for i, l := range lines {
		lines[i] = trimEOL(l)
	}
	return lines
}

// dress gives the lines of a replacement the endings that they have in the file: a line that stood in the old text
// keeps its bytes, any other ends as most lines of the file do. With loose, lines of nothing but white space
// count as equal, and so keep the bytes they had.
func dress(old []string, lines []string, eol string, loose bool) []byte {
	bare := make([]string, len(old))
	for i, l := range old {
		bare[i] = content(trimEOL(l), loose)
	}
	fresh := make([]string, len(lines))
	for i, l := range lines {
		fresh[i] = content(l, loose)
	}
	var out bytes.Buffer
	at, next := 0, 0 // old and new lines that are dealt with
	keep := func(upTo int) {
		for ; at < upTo; at, next = at+1, next+1 {
			out.WriteString(withEOL(old[at], eol))
		}
	}
	for _, r := range diffLines(bare, fresh) {
		keep(r.From)
		for ; next < r.NewTo; next++ {
			out.WriteString(lines[next] + eol)
		}
		at = r.To
	}
	keep(len(old))
	return out.Bytes()
}

// content is what two lines have to have in common to be the same line: all of it, but for bytes that are no UTF-8. A
// model is shown a replacement character for those and can only give that back.
func content(line string, loose bool) string {
	if loose && strings.Trim(line, " \t") == "" {
		return ""
	}
	if utf8.ValidString(line) && !strings.Contains(line, replacement) {
		return line
	}
	line = strings.ToValidUTF8(line, replacement)
	for strings.Contains(line, replacement+replacement) { // of several bytes some make one character, some as many
		line = strings.ReplaceAll(line, replacement+replacement, replacement)
	}
	return line
}

const replacement = "\ufffd"

func withEOL(line, eol string) string {
	if strings.HasSuffix(line, "\n") {
		return line
	}
	return line + eol
}

// reindent brings the lines of a definition to a target column in the style of their new home. Lines that begin
// inside a string or a comment (inside has them, from 1) are content and stay as they are; blank lines are never padded.
func reindent(lines []string, inside map[int]bool, target string, home style) []string {
	code := func(i int) bool { return !inside[i+1] && strings.Trim(lines[i], " \t") != "" }
	common, first := "", true
	for i, l := range lines {
		if code(i) && first {
			common, first = indent(l), false
		} else if code(i) {
			common = commonPrefix(common, indent(l))
		}
	}
	out := make([]string, len(lines))
	var own style
	doc := remarks(lines)
	for i, l := range lines {
		out[i] = l
		if code(i) {
			out[i] = strings.TrimPrefix(l, common)
			own.see(out[i])
		}
	}
	for i, l := range out {
		switch {
		case code(i):
			in := indent(l)
			out[i] = target + own.convert(in, home) + l[len(in):]
		case !inside[i+1]:
			out[i] = ""
		case doc[i] && strings.HasPrefix(l, common):
			out[i] = target + strings.TrimPrefix(l, common)
		}
	}
	return out
}

// remarks are the lines that begin with a star in the block comments above a definition. They move with it, as the lines of a
// string may not.
func remarks(lines []string) map[int]bool {
	out := map[int]bool{}
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		rest, block := strings.CutPrefix(text, "/*")
		if !block && text != "" && !strings.HasPrefix(text, "//") {
			return out
		}
		for open := indent(lines[i]); block && !strings.Contains(rest, "*/"); rest = lines[i] {
			if i++; i == len(lines) {
				return out
			}
			in, aligned := strings.CutPrefix(indent(lines[i]), open)
			out[i] = aligned && len(in) <= 3 && strings.Trim(in, " ") == "" && strings.HasPrefix(strings.TrimSpace(lines[i]), "*")
		}
	}
	return out
}

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// style is how a text indents: by tabs or by a number of spaces. The zero style has seen no indented line.
type style struct {
	tabs, spaces int // lines that begin with one
	unit         int // spaces of one step: what the widths of all lines have in common
}

func (s *style) see(line string) {
	switch in := indent(line); {
	case in == "" || len(in) == len(line):
	case in[0] == '\t':
		s.tabs++
	case len(in) > 1: // one space alone continues a comment
		s.spaces++
		s.unit = gcd(s.unit, len(strings.TrimRight(in, "\t")))
	}
}

// styleOf is the style of the first of some texts that has one.
func styleOf(texts ...[]string) style {
	for _, lines := range texts {
		var s style
		for _, l := range lines {
			s.see(trimEOL(l))
		}
		if s.tabs+s.spaces > 0 {
			return s
		}
	}
	return style{}
}

func (s style) usesTabs() bool { return s.tabs > s.spaces }

// step is the spaces of one step of indentation; 4 if the text does not say.
func (s style) step() int {
	if s.unit < 2 {
		return 4
	}
	return s.unit
}

// convert writes an indentation of style s in the style of its new home, tabs for spaces or spaces for tabs. It
// changes nothing when either side has no style, or both have the same.
func (s style) convert(in string, home style) string {
	if s.tabs+s.spaces == 0 || home.tabs+home.spaces == 0 || s.usesTabs() == home.usesTabs() {
		return in
	}
	if s.usesTabs() {
		return strings.ReplaceAll(in, "\t", strings.Repeat(" ", home.step()))
	}
	if strings.HasPrefix(in, "\t") {
		return in
	}
	return strings.Repeat("\t", len(in)/s.step()) + strings.Repeat(" ", len(in)%s.step())
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
