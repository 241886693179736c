package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// pattern is one form of a secret, as it looks through a lens.
type pattern struct {
	text  string
	hex   bool // looked for where hex digits are in lower case
	left  int  // characters before it that hold some of the secret's bits
	right int  // and after it
}

// shortest is the length under which a form of a secret cannot be told from other text.
const shortest = 4

// patterns are all forms of one secret. Forms that differ in escapes and line ends alone are one pattern: the lenses see
// them alike.
func patterns(secret string) []pattern {
	if len(secret) < shortest {
		return nil
	}
	all := []pattern{{text: view(secret, solid)}, {text: view(secret, solidBare)},
		{text: view(view(url.QueryEscape(secret), solid), percent)}, // a blank became a plus, which no lens can know
		{text: hex.EncodeToString([]byte(secret)), hex: true}}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, inBase64(enc, secret, before))
		}
	}
	var out []pattern
	seen := map[pattern]bool{}
	for _, p := range all {
		if len(p.text) >= shortest && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// inBase64 is what a secret looks like inside a longer text in base64, with before%3 bytes before it: the characters
// that hold bits of the secret alone.
func inBase64(enc *base64.Encoding, secret string, before int) pattern {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
	from, to := (8*before+5)/6, 8*(before+len(secret))/6
	p := pattern{text: text[from:to]}
	if 8*before%6 != 0 {
		p.left = 1
	}
	if 8*(before+len(secret))%6 != 0 {
		p.right = 1
	}
	return p
}

// known finds the secrets' patterns through every lens that may show one.
func known(s string, patterns []pattern) []span {
	found := through(s, solid, patterns)
	if strings.ContainsAny(s, "\x1b\u009b") {
		found = append(found, through(s, solidBare, patterns)...)
	}
	if strings.Contains(s, "\\\n") || strings.Contains(s, "\\\r") {
		found = append(found, through(s, solidSlash, patterns)...)
	}
	return found
}

// through looks at the solid view itself and at what it says decoded.
func through(s string, l lens, patterns []pattern) []span {
	v := view(s, l)
	hits := search(v, false, patterns)
	for sign, decode := range map[string]lens{"%": percent, "\\": escaped, "&": entity, "": hexed} {
		if strings.Contains(v, sign) {
			hits = append(hits, origin(v, decode, search(view(v, decode), sign == "", patterns))...)
		}
	}
	if len(hits) == 0 {
		return nil
	}
	return origin(s, l, merge(hits))
}

// search finds the patterns in a view.
func search(v string, hex bool, patterns []pattern) []span {
	var hits []span
	for _, p := range patterns {
		if p.hex != hex {
			continue
		}
		for at := 0; ; {
			i := strings.Index(v[at:], p.text)
			if i < 0 {
				break
			}
			hits = append(hits, p.widen(v, at+i))
			at += i + 1
		}
	}
	return merge(hits)
}

// widen takes in the characters around a hit that hold some bits of the secret, and base64's padding.
func (p pattern) widen(v string, at int) span {
	h := span{at, at + len(p.text)}
	if p.left > 0 && h.from > 0 && base64Char(v[h.from-1]) {
		h.from--
	}
	if p.right > 0 {
		if h.to < len(v) && base64Char(v[h.to]) {
			h.to++
		}
		for h.to < len(v) && v[h.to] == '=' {
			h.to++
		}
	}
	return h
}

func base64Char(c byte) bool { return letterOrDigit(c) || strings.IndexByte("+/-_", c) >= 0 }
