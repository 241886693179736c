package bot

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/redact"
)

// Plain is a body of ours as text for a terminal: headings, tables in columns, what was folded indented under its title,
// nothing hidden. It reads the Markdown that this package writes; of other Markdown it leaves what it does not know.
func Plain(body string) string {
	r := &reader{}
	for _, l := range lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		r.line(l)
	}
	r.table()
	text := blankLines.ReplaceAllString(strings.Trim(r.out.String(), "\n"), "\n\n")
	return (&redact.Cleaner{}).Terminal(text) + "\n"
}

var (
	blankLines = regexp.MustCompile(`\n{3,}`)
	openFence  = regexp.MustCompile("^( *)(`{3,}|~{3,})[a-z]*$")
	summaryTag = regexp.MustCompile(`^<summary>(.*)</summary>$`)
	ruleRow    = regexp.MustCompile(`^\|(?: *:?-+:? *\|)+$`)
	headingTag = regexp.MustCompile(`^#{1,6} +(.*)$`)
	comment    = regexp.MustCompile(`<!--.*?-->`)
)

// reader goes through a body line by line.
type reader struct {
	out    strings.Builder
	fence  string // what ends the fence that we are in
	hidden bool   // within a comment of several lines
	rows   [][]string
}

func (r *reader) line(l string) {
	switch {
	case r.fence != "":
		r.fenced(l)
	case r.hidden || strings.Contains(l, "<!--"):
		r.commented(l)
	case strings.HasPrefix(l, "|"):
		r.row(l)
	default:
		r.table()
		r.text(l)
	}
}

func (r *reader) fenced(l string) {
	if strings.TrimSpace(l) == r.fence {
		r.fence = ""
		return
	}
	r.write("    " + l)
}

// commented drops comments, also those of several lines.
func (r *reader) commented(l string) {
	if r.hidden {
		_, after, ends := strings.Cut(l, "-->")
		if !ends {
			return
		}
		r.hidden, l = false, after
	}
	l = comment.ReplaceAllString(l, "")
	before, _, open := strings.Cut(l, "<!--")
	if strings.TrimSpace(before) != "" {
		r.line(before)
	}
	r.hidden = open
}

func (r *reader) text(l string) {
	if m := openFence.FindStringSubmatch(l); m != nil {
		r.fence = m[2]
		return
	}
	if m := summaryTag.FindStringSubmatch(l); m != nil {
		r.write("  " + inline(m[1]) + ":")
		return
	}
	if l == "<details>" || l == "</details>" {
		return
	}
	if m := headingTag.FindStringSubmatch(l); m != nil {
		title := inline(m[1])
		r.write("\n" + title + "\n" + strings.Repeat("-", utf8.RuneCountInString(title)))
		return
	}
	r.write(wrapped(l))
}

func (r *reader) write(s string) { r.out.WriteString(s + "\n") }

var (
	itemMark = regexp.MustCompile(`^(?:> ?|(?:[-*+]|[0-9]+[.)]) (?:\[[ xX]\] )?)`)
	width    = 96 // of a line of prose, in characters
)

// wrapped is a paragraph or an item in lines of a terminal's width, its mark before the first one.
func wrapped(l string) string {
	mark := itemMark.FindString(l)
	words := strings.Fields(inline(l[len(mark):]))
	indent := strings.Repeat(" ", len(mark))
	if strings.HasPrefix(mark, ">") {
		indent = mark
	}
	var b strings.Builder
	b.WriteString(mark)
	at := len(mark)
	for i, w := range words {
		n := utf8.RuneCountInString(w)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(w)
		at += n
	}
	return b.String()
}

var (
	linkTag  = regexp.MustCompile(`\[([^\[\]]*)\]\(([^()\s]*)\)`)
	escape   = regexp.MustCompile("\\\\([\\\\`*_\\[\\]|~$#+=:./<>-])")
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// inline is a line of Markdown without its markup; code stays between its ticks.
func inline(s string) string {
	var b strings.Builder
	for {
		from, to := codeSpan(s)
		if from < 0 {
			return b.String() + unmarked(s)
		}
		b.WriteString(unmarked(s[:from]) + s[from:to])
		s = s[to:]
	}
}

// codeSpan is where the first code span of a line is, -1 if there is none.
func codeSpan(s string) (from, to int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '`':
			ticks := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			if end := closing(s[i+ticks:], ticks); end >= 0 {
				return i, i + ticks + end + ticks
			}
			i += ticks - 1
		}
	}
	return -1, -1
}

// closing is where a run of exactly n ticks begins, -1 if there is none.
func closing(s string, n int) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run - 1
	}
	return -1
}

func unmarked(s string) string {
	s = linkTag.ReplaceAllString(s, "$1: $2")
	s = strings.ReplaceAll(s, "**", "")
	return entities.Replace(escape.ReplaceAllString(s, "$1"))
}

// row takes one row of a table.
func (r *reader) row(l string) {
	if ruleRow.MatchString(l) {
		return
	}
	var cells []string
	cell := strings.Builder{}
	for i := 1; i < len(l); i++ {
		switch {
		case l[i] == '\\' && i+1 < len(l) && l[i+1] == '|':
			cell.WriteByte('|')
			i++
		case l[i] == '|':
			cells = append(cells, inline(strings.TrimSpace(cell.String())))
			cell.Reset()
		default:
			cell.WriteByte(l[i])
		}
	}
	r.rows = append(r.rows, cells)
}

// table writes the rows that were taken: one row as a list, several in columns.
func (r *reader) table() {
	rows := r.rows
	if r.rows = nil; len(rows) == 0 {
		return
	}
	if len(rows) == 2 {
		rows = turned(rows[0], rows[1])
	}
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range rows {
		l := " "
		for i, c := range row {
			l += " " + c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+1)
		}
		r.write(strings.TrimRight(l, " "))
	}
}

// turned is a head and its one row as rows of two.
func turned(head, row []string) (out [][]string) {
	for i := range min(len(head), len(row)) {
		out = append(out, []string{head[i], row[i]})
	}
	return out
}
