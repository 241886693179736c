package trace

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// visible makes any text safe to show: colour sequences go, every other control, format or direction character is
// spelled out as an escape, bytes that are no UTF-8 become U+FFFD. Newlines and tabs stay; CRLF is a newline.
func visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := colorSequence(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		crlf := r == '\r' && i+1 < len(s) && s[i+1] == '\n'
		if i += n; !crlf {
			writeVisible(&b, r)
		}
	}
	return b.String()
}

func writeVisible(b *strings.Builder, r rune) {
	switch {
	case r == '\n' || r == '\t':
		b.WriteRune(r)
	case !unicode.IsControl(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
		b.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// colorSequence is the length of the terminal colour sequence that s begins with, 0 if there is none.
func colorSequence(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < 32; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// oneLine is a visible text on one line, at most n characters long.
func oneLine(s string, n int) string {
	if len(s) > 8*n {
		s = s[:8*n] // enough for n characters, however they are spelled
	}
	s = strings.Join(strings.FieldsFunc(visible(s), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
	return clipRunes(strings.TrimSpace(s), n)
}

func clipRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// clipLines keeps the first n lines of s and says how many more there were.
func clipLines(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) <= n {
		return strings.Join(lines, "\n")
	}
	return fmt.Sprintf("%s\n… %s more", strings.Join(lines[:n], "\n"), count(len(lines)-n, "line"))
}

// indent puts prefix before every line of s, and ends it with a newline.
func indent(prefix, s string) string {
	s = strings.TrimRight(s, "\n")
	return prefix + strings.ReplaceAll(s, "\n", "\n"+prefix) + "\n"
}

// code is s as a code span of Markdown that s cannot leave, not even inside a table.
func code(s string) string {
	s = strings.ReplaceAll(oneLine(s, 400), "|", `\|`)
	if s == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fence is s as a fenced block of Markdown that s cannot leave.
func fence(info, s string) string {
	s = visible(s)
	ticks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return ticks + info + "\n" + strings.TrimRight(s, "\n") + "\n" + ticks + "\n"
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// prose is s as plain words of Markdown on one line: nothing in it is markup, a link, a mention or a reference.
func prose(s string) string {
	var b strings.Builder
	runes := []rune(oneLine(s, 600))
	for i, r := range runes {
		var before, after rune
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		b.WriteString(defused(before, r, after))
	}
	return b.String()
}

// defused is one character of a prose text between its neighbours, 0 where there is none. What is no danger where it
// stands is left alone: people read these files as they are, too.
func defused(before, r, after rune) string {
	switch {
	case r == '<':
		return "&lt;"
	case r == '&' && (after == '#' || isWord(after)):
		return "&amp;"
	case r == '@', r == ':' && after == '/', r == '#' && (before == 0 || isWord(after)), r == '.' && before == 'w':
		return string(r) + "\u200b"
	case strings.ContainsRune("\\`*[]|~", r), r == '_' && !(isWord(before) && isWord(after)):
		return `\` + string(r)
	case before == 0 && strings.ContainsRune("-+>=", r):
		return `\` + string(r)
	}
	return string(r)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// count is a number with its noun: "1 line", "3 lines".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// seconds is a duration for people, three figures at most.
func seconds(s float64) string {
	switch {
	case math.IsNaN(s) || s < 0 || s > 1e9:
		return "?"
	case s < 10:
		return fmt.Sprintf("%.2f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	}
	return (time.Duration(s) * time.Second).String()
}

func short(id string) string {
	if id = oneLine(id, 64); commitPattern.MatchString(id) {
		return id[:8]
	}
	return id
}

// word is s where it may stand for itself, and "unknown" where there is none.
func word(s string) string {
	if s = oneLine(s, 80); s == "" {
		return "unknown"
	}
	return s
}
