package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Bounds on what is kept of an output, whatever its size.
const (
	maxLine    = 64 << 10 // of one text line
	maxEvent   = 1 << 20  // of one JSON event; test2json writes at most a few KiB
	maxCapture = 64 << 10 // of one test's output, and again of its crash
	maxMessage = 4 << 10
	maxTrace   = 8 << 10
	maxID      = 4 << 10
	maxTests   = 250_000
	maxPkgs    = 20_000
	maxBlocks  = 10_000
	maxProblem = 50
)

// nextLine cuts the first line off b, without its newline and carriage return.
func nextLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// cut shortens s to at most n bytes on a rune boundary.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clean makes text valid UTF-8 without terminal escapes and without control characters but newline and tab.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := plainLen(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		if n := escapeLen(s[i:]); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !isControl(r) {
			b.WriteRune(r) // an invalid byte becomes U+FFFD
		}
		i += n
	}
	return b.String()
}

// plainLen is how many bytes at the start of s are printable ASCII.
func plainLen(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; isControl(rune(c)) && c < utf8.RuneSelf {
			return false
		}
	}
	return utf8.ValidString(s) && !strings.ContainsFunc(s, isControl)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// escapeLen is the length of the terminal escape at the start of s (ECMA-48 CSI and OSC), or 0.
func escapeLen(s string) int {
	if len(s) < 2 || s[0] != 0x1b {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s) && s[i] != '\n'; i++ {
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2 // the string terminator, as behind a hyperlink
			}
			if s[i] == 0x07 || s[i] == 0x1b {
				return i + 1
			}
		}
	}
	return 1
}

// capture keeps the first part of an output, and again the first part of whatever follows the last sign of a crash.
type capture struct {
	buf   []byte
	crash int // where the last crash begins in buf; 0 with none, since position is counted from 1
	cut   bool
}

// add appends a piece of output; only a piece that begins a line can begin a crash. It reports whether one began.
func (c *capture) add(b []byte) (crashed bool) {
	b = b[:min(len(b), maxLine)]
	if c.lineStart() && isCrashLine(b) {
		crashed = true
		c.cut = false
		c.crash = len(c.buf) + 1
	}
	limit := maxCapture
	if c.crash > 0 {
		limit = c.crash + maxCapture
	}
	if room := limit - len(c.buf); room < len(b) {
		b, c.cut = b[:max(room, 0)], true
	}
	c.buf = append(c.buf, b...)
	return crashed
}

// addLine is add for a line without its end.
func (c *capture) addLine(line []byte) (crashed bool) {
	crashed = c.add(line)
	if len(line) < maxLine {
		c.add(newline)
	}
	return crashed
}

var newline = []byte("\n")

func (c *capture) lineStart() bool {
	return c.cut || len(c.buf) == 0 || c.buf[len(c.buf)-1] == '\n'
}

func (c *capture) text() string { return clean(string(c.buf)) }

// split gives what came before the crash, and the crash.
func (c *capture) split() (before, crash string) {
	if c.crash == 0 {
		return c.text(), ""
	}
	return clean(string(c.buf[:c.crash-1])), clean(string(c.buf[c.crash-1:]))
}

var crashStarts = [][]byte{
	[]byte("panic: "), []byte("fatal error: "), []byte("unexpected fault address "), []byte("SIGQUIT: quit"),
	[]byte("runtime: goroutine stack exceeds"), []byte("runtime: out of memory"),
}

func isCrashLine(b []byte) bool {
	if len(b) == 0 || b[0] != 'p' && b[0] != 'f' && b[0] != 'u' && b[0] != 'S' && b[0] != 'r' {
		return false
	}
	for _, p := range crashStarts {
		if bytes.HasPrefix(b, p) {
			return true
		}
	}
	return false
}
