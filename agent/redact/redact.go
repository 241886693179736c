// Package redact is the one cleaner for every text that leaves: it removes secrets in the forms they travel
// in, control characters, terminal escapes, direction overrides, workflow commands and live markup. It leaves
// deciding where a text goes to its caller, who names the sink. It fails closed: what it cannot clean it drops.
package redact

// Cleaner knows the secrets of this process. The zero Cleaner knows only token shapes.
type Cleaner struct{}

// New makes a cleaner that removes the given secrets in raw, base64, hex, URL-escaped and line-split form.
func New(secrets ...string) *Cleaner { panic("stub") }

// Text cleans a text for a trace or a file: secrets gone, invalid UTF-8 and NUL replaced, the rest as it was.
func (c *Cleaner) Text(s string) string { panic("stub") }

// Terminal is Text without control characters, escapes and direction overrides; newlines and tabs stay.
func (c *Cleaner) Terminal(s string) string { panic("stub") }

// Markdown is Terminal with live markup neutralised: HTML, mentions, closing keywords, links, images.
func (c *Cleaner) Markdown(s string) string { panic("stub") }

// Log is Terminal with workflow commands (::x::, ##[x]) neutralised.
func (c *Cleaner) Log(s string) string { panic("stub") }

// Clip cuts s to at most n bytes on a rune boundary and says that it did.
func Clip(s string, n int) string { panic("stub") }
