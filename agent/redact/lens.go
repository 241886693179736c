package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lens is a way of looking at a text: it says what s[i:] begins with, empty for nothing to be seen, and how many bytes of s,
// at least one, that takes.
type lens func(s string, i int) (out string, n int)

// view is the whole text through a lens.
func view(s string, l lens) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		out, n := l(s, i)
		b.WriteString(out)
		i += n
	}
	return b.String()
}

// origin turns spans of the view, sorted and apart, into the spans of s that they show.
func origin(s string, l lens, hits []span) []span {
	spans := make([]span, len(hits))
	for i := range spans {
		spans[i].from = -1
	}
	j, seen := 0, 0
	for i := 0; i < len(s) && j < len(hits); {
		out, n := l(s, i)
		end := seen + len(out)
		for j < len(hits) && end > seen {
			if spans[j].from < 0 && end > hits[j].from {
				spans[j].from = i
			}
			if spans[j].from < 0 || end < hits[j].to {
				break
			}
			spans[j].to = i + n
			j++
		}
		seen, i = end, i+n
	}
	return spans[:j]
}

// sequence is the length of the terminal escape sequence at s[i:], 0 if there is none. A string sequence that is never
// ended is its introducer alone, so that it cannot hide the text behind it.
// https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
func sequence(s string, i int) int {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "\x1b["):
		return 2 + control(rest[2:])
	case strings.HasPrefix(rest, "\u009b"):
		return 2 + control(rest[2:])
	case len(rest) > 1 && rest[0] == 0x1b && strings.IndexByte("]PX^_", rest[1]) >= 0:
		return 2 + str(rest[2:])
	case strings.HasPrefix(rest, "\x1b"):
		return 1 + short(rest[1:])
	}
	return 0
}

// control is the length of a control sequence after its introducer: parameters, intermediates, one final byte.
func control(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// str is the length of a string sequence's text and terminator on the same line, 0 if it has none.
func str(s string) int {
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == 0x07:
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
			return i + 2
		}
	}
	return 0
}

// short is the length of a two-character escape after ESC, with intermediates.
func short(s string) int {
	i := 0
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// invisible are runes that a reader does not see, or that change how others are seen, besides Unicode's Cf.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x3164, 0x3164, 1},
		{0xfe00, 0xfe0f, 1}, {0xffa0, 0xffa0, 1},
	},
	R32: []unicode.Range32{{0xe0000, 0xe0fff, 1}},
}

func hidden(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0xa0 && unicode.In(r, unicode.Cf, invisible)
}

// breaks reports whether a rune ends a line for some reader.
func breaks(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// clear shows what a terminal would: no escape sequences, nothing hidden; every kind of line end is one newline.
func clear(s string, i int) (string, int) {
	if n := sequence(s, i); n > 0 {
		return "", n
	}
	return bare(s, i)
}

// bare is clear with the text inside escape sequences.
func bare(s string, i int) (string, int) {
	if c := s[i]; c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
		return s[i : i+1], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '\r' && strings.HasPrefix(s[i+n:], "\n"):
		return "\n", n + 1
	case breaks(r):
		return "\n", n
	case r == utf8.RuneError, hidden(r):
		return "", n
	}
	return s[i : i+n], n
}

// joined is bare with lines joined: a line end and the indentation after it are not seen.
func joined(s string, i int) (string, int) {
	out, n := clear(s, i)
	if out != "\n" {
		return out, n
	}
	for i+n < len(s) && (s[i+n] == ' ' || s[i+n] == '\t' || s[i+n] == '\n') {
		n++
	}
	return "", n
}

// solid shows no blanks either, nor a backslash that continues a line.
func solid(s string, i int) (string, int) { return unblank(clear)(s, i) }

// solidBare is solid with the text inside escape sequences.
func solidBare(s string, i int) (string, int) { return unblank(bare)(s, i) }

func unblank(l lens) lens {
	return func(s string, i int) (string, int) {
		out, n := l(s, i)
		switch {
		case out == "":
		case out == "\\" && (strings.HasPrefix(s[i+n:], "\n") || strings.HasPrefix(s[i+n:], "\r\n")):
			return "", n
		case out[0] <= ' ', out[0] >= 0x80 && blank(out):
			return "", n
		}
		return out, n
	}
}

func blank(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// percent is solid with %41 read as A.
func percent(s string, i int) (string, int) {
	if s[i] == '%' && i+2 < len(s) {
		if b, ok := hexByte(s[i+1 : i+3]); ok {
			return seen(oneByte(b)), 3
		}
	}
	return solid(s, i)
}

// escaped is solid with the escapes of JSON, Go, C and shells read as what they stand for.
func escaped(s string, i int) (string, int) {
	if s[i] != '\\' || i+1 >= len(s) {
		return solid(s, i)
	}
	rest := s[i+1:]
	switch c := rest[0]; {
	case strings.IndexByte("nrtvfba", c) >= 0:
		return "", 2 // blank or hidden, each of them
	case c == 'x' && len(rest) > 2:
		if b, ok := hexByte(rest[1:3]); ok {
			return seen(oneByte(b)), 4
		}
	case c == 'u' && len(rest) > 4:
		if v, err := strconv.ParseUint(rest[1:5], 16, 16); err == nil {
			return seen(string(rune(v))), 6
		}
	case c == '0' && len(rest) > 2 && octal(rest[1:3]) >= 0:
		return seen(oneByte(byte(octal(rest[1:3])))), 4
	case c > ' ' && c < 0x7f && !letterOrDigit(c):
		return rest[:1], 2
	}
	return solid(s, i)
}

// entity is solid with &amp; read as &.
func entity(s string, i int) (string, int) {
	if s[i] == '&' {
		if end := strings.IndexByte(s[i:min(len(s), i+12)], ';'); end > 0 {
			if out := html.UnescapeString(s[i : i+end+1]); len(out) < end+1 {
				return seen(out), end + 1
			}
		}
	}
	return solid(s, i)
}

// hexed shows hex digits in lower case, without what is usually put between them, and everything else as it is.
func hexed(s string, i int) (string, int) {
	out, n := solid(s, i)
	switch {
	case len(out) != 1:
		return out, n
	case out == ":" || out == "-" || out == ",":
		return "", n
	case (out == "0" || out == "\\") && i+1 < len(s) && (s[i+1] == 'x' || s[i+1] == 'X'):
		return "", 2
	case out[0] >= 'A' && out[0] <= 'Z':
		return oneByte(out[0] | 0x20), n
	}
	return out, n
}

// seen drops what a decoded escape stands for when it would not be seen raw.
func seen(out string) string {
	if out == "" || out[0] <= ' ' || out[0] == 0x7f {
		return ""
	}
	if r, _ := utf8.DecodeRuneInString(out); r != utf8.RuneError && (hidden(r) || unicode.IsSpace(r)) {
		return ""
	}
	return out
}

func hexByte(s string) (byte, bool) {
	v, err := strconv.ParseUint(s, 16, 8)
	return byte(v), err == nil
}

func octal(s string) int {
	v, err := strconv.ParseUint(s, 8, 8)
	if err != nil {
		return -1
	}
	return int(v)
}

func letterOrDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// bytesOnly backs oneByte without an allocation for each.
var bytesOnly = func() (all [256]string) {
	for i := range all {
		all[i] = string([]byte{byte(i)})
	}
	return all
}()

func oneByte(b byte) string { return bytesOnly[b] }
