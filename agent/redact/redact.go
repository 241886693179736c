// Package redact is the one cleaner for every text that leaves: it removes secrets in the forms they travel
// in, control characters, terminal escapes, direction overrides, workflow commands and live markup. It leaves
// deciding where a text goes to its caller, who names the sink. It fails closed: what it cannot clean it drops.
//
// Every sink gives valid UTF-8 and is idempotent. A text is cleaned before it is clipped, since half a secret is not
// recognised as one, and clipped before Markdown, since half an escape is none.
package redact

import (
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "(redacted)"

// rounds is how often a text is looked at again after something was cut out of it.
const rounds = 16

// Cleaner knows the secrets of this process. The zero Cleaner knows only token shapes. Safe for several goroutines.
type Cleaner struct{ patterns []pattern }

// New makes a cleaner that removes the given secrets in raw, base64, hex, URL-escaped and line-split form. A secret shorter
// than four bytes cannot be told from other text and is ignored; of one with several lines each longer line counts too.
func New(secrets ...string) *Cleaner {
	c := &Cleaner{}
	for _, s := range secrets {
		c.patterns = append(c.patterns, patterns(strings.TrimSpace(s))...)
		if lines := strings.Split(strings.TrimSpace(s), "\n"); len(lines) > 1 {
			for _, line := range lines {
				if line = strings.TrimSpace(line); len(line) >= 8 {
					c.patterns = append(c.patterns, patterns(line)...)
				}
			}
		}
	}
	return c
}

// Text cleans a text for a trace or a file: secrets gone, invalid UTF-8 and NUL replaced, the rest as it was.
func (c *Cleaner) Text(s string) string {
	return c.redact(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD"))
}

// Terminal is Text without control characters, escapes and direction overrides; newlines and tabs stay.
func (c *Cleaner) Terminal(s string) string { return c.redact(plain(s)) }

// Markdown is Terminal with live markup neutralised: HTML, mentions, closing keywords, links, images. What would be live
// is shown as code, the rest as the text it is. Program output belongs into Fence instead, where nothing is live.
func (c *Cleaner) Markdown(s string) string {
	return settle(s, func(s string) string { return quiet(c.Terminal(s)) })
}

// Log is Terminal with workflow commands (::x::, ##[x]) neutralised.
func (c *Cleaner) Log(s string) string {
	return settle(s, func(s string) string { return tame(c.Terminal(s)) })
}

// settle repeats f until it changes nothing; a text that does not settle is dropped.
func settle(s string, f func(string) string) string {
	for range rounds {
		next := f(s)
		if next == s {
			return s
		}
		s = next
	}
	return Mark
}

// redact cuts out all secrets. Cutting may bring another one to light (its look depends on what is before it), so it looks
// again until there is none.
func (c *Cleaner) redact(s string) string {
	for range rounds {
		found := c.find(s)
		if len(found) == 0 {
			return s
		}
		s = replace(s, found)
	}
	return Mark
}

// span is a range of bytes.
type span struct{ from, to int }

// find looks for secrets between the marks that are there already.
func (c *Cleaner) find(s string) []span {
	var found []span
	at := 0
	for part := range strings.SplitSeq(s, Mark) {
		hits := shapes(part)
		if c != nil && len(c.patterns) > 0 {
			hits = append(hits, known(part, c.patterns)...)
		}
		for _, h := range hits {
			found = append(found, span{at + h.from, at + h.to})
		}
		at += len(part) + len(Mark)
	}
	return merge(found)
}

// merge sorts spans and joins those that overlap or touch.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// replace puts the mark in the place of each span; spans are sorted and apart.
func replace(s string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, p := range spans {
		b.WriteString(s[at:p.from])
		b.WriteString(Mark)
		at = p.to
	}
	b.WriteString(s[at:])
	return b.String()
}
