package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lens is a way of looking at a text: it says what s[i:] begins with, empty for nothing to be seen, and how many bytes of s,
// at least one, that takes. Where it says as many bytes as it takes, they stand for each other one by one.
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
				if len(out) == n {
					spans[j].from += max(hits[j].from-seen, 0)
				}
			}
			if spans[j].from < 0 || end < hits[j].to {
				break
			}
			spans[j].to = i + n
			if len(out) == n {
				spans[j].to = i + hits[j].to - seen
			}
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

// longest is how far the end of a string sequence is looked for, in bytes.
const longest = 1024

// str is the length of a string sequence's text and terminator on the same line, 0 if it has none.
func str(s string) int {
	for i := 0; i < min(len(s), longest) && s[i] != '\n'; i++ {
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

// stretch is the length of the plain ASCII at s[i:], from the byte lowest up and without the byte except.
func stretch(s string, i int, lowest, except byte) int {
	n := i
	for n < len(s) && s[n] >= lowest && s[n] < 0x7f && s[n] != except {
		n++
	}
	return n - i
}

// clear shows what a terminal would: no escape sequences, nothing hidden; every kind of line end is one newline.
func clear(s string, i int) (string, int) {
	if n := stretch(s, i, ' ', 0); n > 0 {
		return s[i : i+n], n
	}
	if n := sequence(s, i); n > 0 {
		return "", n
	}
	return bare(s, i)
}

// bare is clear with the text inside escape sequences.
func bare(s string, i int) (string, int) {
	if n := stretch(s, i, ' ', 0); n > 0 {
		return s[i : i+n], n
	}
	if s[i] == '\n' || s[i] == '\t' {
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

// joined is clear with lines joined: a line end and the indentation after it are not seen.
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
func solid(s string, i int) (string, int) { return unblank(clear, true, s, i) }

// solidSlash is solid with a backslash at a line's end, which may be the first half of an escape.
func solidSlash(s string, i int) (string, int) { return unblank(clear, false, s, i) }

// solidBare is solid with the text inside escape sequences.
func solidBare(s string, i int) (string, int) { return unblank(bare, true, s, i) }

func unblank(l lens, continues bool, s string, i int) (string, int) {
	if n := stretch(s, i, ' '+1, '\\'); n > 0 {
		return s[i : i+n], n
	}
	switch s[i] {
	case ' ', '\t', '\n', '\r':
		return "", 1
	case '\\':
		if continues && (strings.HasPrefix(s[i+1:], "\n") || strings.HasPrefix(s[i+1:], "\r")) {
			return "", 1
		}
		return s[i : i+1], 1
	}
	out, n := l(s, i)
	if r, _ := utf8.DecodeRuneInString(out); out != "" && unicode.IsSpace(r) {
		return "", n
	}
	return out, n
}

// The lenses from here on look at a solid view, so that an escape may be broken by a line end too.

// percent reads %41 as A.
func percent(s string, i int) (string, int) {
	if s[i] == '%' && i+2 < len(s) {
		if b, ok := hexByte(s[i+1 : i+3]); ok {
			return seen(oneByte(b)), 3
		}
	}
	return upTo(s, i, '%')
}

// escaped reads the escapes of JSON, Go, C and shells as what they stand for.
func escaped(s string, i int) (string, int) {
	if s[i] != '\\' || i+1 >= len(s) {
		return upTo(s, i, '\\')
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
	return s[i : i+1], 1
}

// entity reads &amp; as &.
func entity(s string, i int) (string, int) {
	if s[i] == '&' {
		if end := strings.IndexByte(s[i:min(len(s), i+12)], ';'); end > 0 {
			if out := html.UnescapeString(s[i : i+end+1]); len(out) < end+1 {
				return seen(out), end + 1
			}
		}
	}
	return upTo(s, i, '&')
}

// upTo takes everything before the next sign, and at least one byte.
func upTo(s string, i int, sign byte) (string, int) {
	n := strings.IndexByte(s[i+1:], sign) + 1
	if n == 0 {
		n = len(s) - i
	}
	return s[i : i+n], n
}

// hexed shows letters in lower case, and nothing of what is usually put between hex digits.
func hexed(s string, i int) (string, int) {
	switch c := s[i]; {
	case c == ':' || c == '-' || c == ',':
		return "", 1
	case (c == '0' || c == '\\') && i+1 < len(s) && (s[i+1] == 'x' || s[i+1] == 'X'):
		return "", 2
	case c >= 'A' && c <= 'Z':
		return oneByte(c | 0x20), 1
	}
	return s[i : i+1], 1
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
