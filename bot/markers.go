package bot

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
)

// Markers are the hidden lines of a body, by which a later process finds what is ours.
type Markers struct {
	Key         string // of the job
	Run         string // id of the job
	Root        string
	Tree        string
	Fingerprint string
	Receipt     string // sha256
	Superseded  bool
}

// Markers of a job's draft. A value that the cleaner would change is told by its hash.
func (s Story) Markers(c *redact.Cleaner) Markers {
	m := Markers{Key: s.Job.Key, Run: s.run(), Root: s.Job.Root}
	if s.proved() {
		r := s.Proof.Receipt()
		m.Root, m.Tree, m.Fingerprint, m.Receipt = r.Root, r.Tree, Fingerprint(r), s.Proof.ReceiptSum()
	}
	for _, f := range m.fields() {
		*f.value = unsecret(c, *f.value)
	}
	return m
}

// unsecret is a value without a secret in it, else its hash.
func unsecret(c *redact.Cleaner, value string) string {
	if strings.Contains(c.Text(value), redact.Mark) {
		return "sha256:" + digest([]byte(value))
	}
	return value
}

// String is the markers, one HTML comment a line. Values hold no character that could end one.
func (m Markers) String() string {
	var b strings.Builder
	for _, f := range m.fields() {
		if *f.value != "" {
			b.WriteString(marker(f.name, *f.value) + "\n")
		}
	}
	if m.Superseded {
		b.WriteString(marker("superseded", "yes") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type markerField struct {
	name  string
	value *string
}

func (m *Markers) fields() []markerField {
	return []markerField{{"key", &m.Key}, {"run", &m.Run}, {"root", &m.Root}, {"tree", &m.Tree},
		{"fingerprint", &m.Fingerprint}, {"receipt", &m.Receipt}}
}

// AnswerMarker is the first line of the one comment of a target, by which it is found again.
func AnswerMarker(t Target) string { return marker("comment", unsecret(&redact.Cleaner{}, t.Key())) }

func marker(name, value string) string {
	return fmt.Sprintf("<!-- redraft:%s=%s -->", name, encodeMarker(value))
}

// longestMarker is the length of the longest value that is written as it is; of a longer one its hash is.
const longestMarker = 2000

// encodeMarker spells a value with letters, digits and /._:- alone, every other byte as %XX. Two hyphens never touch, which
// some readers of comments take for their end. A % of the value itself is spelled out, so every value can be read back.
func encodeMarker(value string) string {
	if len(value) > longestMarker {
		return "sha256:" + digest([]byte(value))
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/._:", c) >= 0,
			c == '-' && i > 0 && value[i-1] != '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func decodeMarker(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var markerLine = regexp.MustCompile(`^<!-- redraft:([a-z]{1,20})=([A-Za-z0-9/._:%-]+) -->\s*$`)

// ParseMarkers reads them back: the last lines of a body that stand together and name a key. Anyone can write such lines:
// believe them only in a body that is ours.
func ParseMarkers(body string) (Markers, bool) {
	m, _, _ := lastMarkers(lines(body))
	return m, m.Key != ""
}

// Mark is a body with other markers in the place of those it has, or at its end.
func Mark(body string, m Markers) string {
	all := lines(body)
	_, from, to := lastMarkers(all)
	if to == 0 {
		return strings.TrimRight(body, "\n") + "\n\n" + m.String() + "\n"
	}
	rest := append([]string{m.String()}, all[to:]...)
	return strings.Join(append(all[:from:from], rest...), "\n") + "\n"
}

// lastMarkers are the markers of the last lines that stand together and name a key, and where they are; to is 0 if there
// are none.
func lastMarkers(all []string) (m Markers, from, to int) {
	var now Markers
	start := -1
	for i, l := range append(all, "") {
		f := markerLine.FindStringSubmatch(l)
		switch {
		case f != nil && start < 0:
			start, now = i, Markers{}
			now.set(f[1], decodeMarker(f[2]))
		case f != nil:
			now.set(f[1], decodeMarker(f[2]))
		case start >= 0:
			if now.Key != "" {
				m, from, to = now, start, i
			}
			start = -1
		}
	}
	return m, from, to
}

// set takes one value; names that this version does not know are left.
func (m *Markers) set(name, value string) {
	if name == "superseded" {
		m.Superseded = true
		return
	}
	for _, f := range m.fields() {
		if f.name == name {
			*f.value = value
		}
	}
}
