package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxData leaves room for the rest of a line beside its data.
const maxData = maxLine - 4096

// encode is data as the trace keeps it: every string cleaned, and long ones clipped until all has room in limit bytes.
func encode(data any, clean func(string) string, limit int) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	raw, err := marshal(data)
	if err != nil {
		return nil, err
	}
	raw = raw[:len(raw)-1]
	if clean == nil {
		clean = func(s string) string { return s }
	}
	raw = eachString(raw, clean)
	for n := limit / 8; len(raw) > limit; n /= 4 {
		if n < 64 {
			return json.RawMessage(fmt.Sprintf(`{"clipped":%d}`, len(raw))), nil
		}
		raw = eachString(raw, func(s string) string { return clipped(s, n) })
	}
	return raw, nil
}

// clipped is the first n bytes of s, cut between two characters, with a mark that says how long it was.
func clipped(s string, n int) string {
	if len(s) <= n+64 { // the mark itself has room in 64 bytes
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… [clipped: %d bytes in all]", s[:n], len(s))
}

// eachString applies f to every string of a valid JSON text. What f leaves as it was keeps its very bytes, and
// so does all that is no string: a request's body is evidence of what was sent. Names of our own fields are no text.
func eachString(raw []byte, f func(string) string) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return append(out, raw[i:]...)
		}
		out = append(out, raw[i:i+n]...)
		i += n
		end := endOfString(raw, i)
		literal := raw[i:end]
		i = end
		if i < len(raw) && raw[i] == ':' && fieldName(literal[1:len(literal)-1]) {
			out = append(out, literal...)
			continue
		}
		out = append(out, mapString(literal, f)...)
	}
	return out
}

// endOfString is the index behind the string literal that begins at i: behind the next quote that is not escaped.
func endOfString(raw []byte, i int) int {
	for at := i + 1; ; {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return len(raw)
		}
		body := raw[i+1 : at+n]
		slashes := len(body) - len(bytes.TrimRight(body, `\`))
		if at += n + 1; slashes%2 == 0 {
			return at
		}
	}
}

func fieldName(b []byte) bool {
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 32
}

func mapString(literal []byte, f func(string) string) []byte {
	s, valid := string(literal[1:len(literal)-1]), utf8.Valid(literal)
	if strings.IndexByte(s, '\\') >= 0 || !valid {
		s = ""
		_ = json.Unmarshal(literal, &s) // a literal of a valid text
	}
	t := f(s)
	if t == s && valid {
		return literal
	}
	b, err := marshal(t)
	if err != nil {
		return []byte(`""`)
	}
	return b[:len(b)-1]
}
