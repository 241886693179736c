package report

import (
	"regexp"
	"strings"
)

// entry is one message that a test logged, at the place it logged it from.
type entry struct {
	file string
	line int
	text string // without the position and the indent of go test
}

// logPrefix reads the "x_test.go:12: " that the testing package puts before a message.
func logPrefix(line string) (file string, n int, ok bool) {
	body := strings.TrimLeft(line, " \t")
	i := strings.Index(body, ".go:")
	if i <= 0 || strings.ContainsAny(body[:i], " \t:\"'(") {
		return "", 0, false
	}
	n, _, ok = leadingNumber(body[i+4:])
	return body[:i+3], n, ok && n > 0
}

// entries takes the output of one test apart into its logged messages. A line that is not indented was printed past
// the log and belongs to none, unless the position was printed without an indent too.
func entries(own string) []entry {
	var out []entry
	indent := 0
	for len(own) > 0 {
		var line string
		line, own, _ = strings.Cut(own, "\n")
		body := strings.TrimLeft(line, " ")
		file, n, ok := logPrefix(line)
		switch {
		case ok && len(out) < 1000:
			indent = len(line) - len(body) + 4
			_, text, _ := strings.Cut(line, ".go:")
			_, text, _ = leadingNumber(text)
			out = append(out, entry{file, n, strings.TrimPrefix(text, " ")})
		case indent > 0 && (len(line) > len(body) || line == "" || indent == 4):
			last := &out[len(out)-1]
			if len(last.text) < 4*maxMessage {
				last.text += "\n" + line[min(indent, len(line)-len(body)):]
			}
		default:
			indent = 0
		}
	}
	return out
}

// message is a test's output as a person wants to see it: without the indent that all of it has.
func message(own string) string {
	lines := strings.Split(cut(own, 4*maxMessage), "\n")
	common := -1
	for _, l := range lines {
		if body := strings.TrimLeft(l, " "); body != "" && (common < 0 || len(l)-len(body) < common) {
			common = len(l) - len(body)
		}
	}
	for i, l := range lines {
		lines[i] = strings.TrimRight(l[min(max(common, 0), len(l)):], " \t\u00a0")
	}
	return strings.TrimSpace(cut(strings.TrimSpace(strings.Join(lines, "\n")), maxMessage))
}

// gotWant finds what a failed evaluation had and what it should have had, in the words of the usual ways to say so.
// Both are empty when the text names neither.
func gotWant(text string) (got, want string) {
	text = cut(text, 4*maxMessage)
	for _, read := range []func(string) (string, string){testify, labelled, gomega, diffSides, unequal, inline} {
		if got, want = read(text); got != "" || want != "" {
			return got, want
		}
	}
	return "", ""
}

var (
	gotWord  = `(?:actually got|but got|got|gotten|actual|have|received|obtained|returned)`
	wantWord = `(?:want(?:ed|s|Err)?|expect(?:ed|ing|s)?|exp|should (?:be|have been|equal))`

	gotLabel   = labels(gotWord, `\s*(?:[:=]\s?|$)`)
	wantLabel  = labels(wantWord, `\s*(?:[:=]\s?|$)`)
	gotSpaced  = labels(gotWord, `\s+`)
	wantSpaced = labels(wantWord, `\s+`)
	otherLabel = regexp.MustCompile(`(?i)^(?:error|comment|stack|diff(?: \(.*\))?|messages?|note|test|error trace|input|in chain):`)
)

// labels matches a word at the start of a line, perhaps with a word more, and what sets the value off.
func labels(word, set string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:\.\.\. )?` + word + `\b(?: [\w.()\[\]]+)??` + set + `(.*)$`)
}

// labelled reads values that stand on lines of their own behind "got:" and "want:", as in failing examples, quicktest,
// gocheck and many hand-written messages; or behind the bare words.
func labelled(text string) (got, want string) {
	if got, want = labelledBy(text, gotLabel, wantLabel); got != "" || want != "" {
		return got, want
	}
	return labelledBy(text, gotSpaced, wantSpaced)
}

func labelledBy(text string, gotLabel, wantLabel *regexp.Regexp) (got, want string) {
	var to *string
	var sawGot, sawWant, block bool
	for _, line := range strings.Split(text, "\n") {
		body := strings.TrimSpace(line)
		switch g, w := label(gotLabel, body), label(wantLabel, body); {
		case g != nil && !sawGot && !mentions(wantRE, *g):
			got, to, sawGot, block = *g, &got, true, *g == ""
		case w != nil && !sawWant && !mentions(gotRE, *w):
			want, to, sawWant, block = *w, &want, true, *w == ""
		case otherLabel.MatchString(body) || body == "" && !block:
			to = nil
		case to != nil:
			*to += "\n" + line
		}
	}
	if !sawGot || !sawWant && !strings.HasPrefix(strings.TrimSpace(text), "error:") { // quicktest may have no want
		return "", ""
	}
	return undent(got), undent(want)
}

// label is the value behind a label at the start of a line, or nil.
func label(re *regexp.Regexp, body string) *string {
	if len(body) > 2*maxMessage {
		return nil
	}
	if m := re.FindStringSubmatch(body); m != nil {
		return &m[1]
	}
	return nil
}

func mentions(re *regexp.Regexp, s string) bool { return keyword(re, s, nil) != nil }

// undent takes the common indent off a value of several lines.
func undent(s string) string {
	s = strings.Trim(s, "\n")
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	return message(strings.ReplaceAll(s, "\t", "    "))
}

// testify reads the block that github.com/stretchr/testify writes.
func testify(text string) (got, want string) {
	if !strings.Contains(text, "Error Trace:") && !strings.Contains(text, "\tError:") {
		return "", ""
	}
	_, body, _ := strings.Cut(text, "Error:")
	var lines []string
	for i, line := range strings.Split(body, "\n") {
		line = strings.TrimLeft(line, " \t")
		if i > 0 && (strings.HasPrefix(line, "Test:") || strings.HasPrefix(line, "Messages:") || strings.HasPrefix(line, "Diff:")) {
			break
		}
		lines = append(lines, line)
	}
	return testifyWords(strings.TrimSpace(strings.Join(lines, "\n")))
}

var (
	testifyWant = regexp.MustCompile(`(?s)\bexpected\s*: ?(.*?)(?:\n(?:actual|received|in chain)\s*:|$)`)
	testifyGot  = regexp.MustCompile(`(?s)\n(?:actual|received|in chain)\s*: ?(.*)$`)
	testifyLen  = regexp.MustCompile(`(?s)should have (\S+) item\(s\), but has (\d+)$`)
)

// testifyWords knows the sentences of testify's assertions that hold the values.
func testifyWords(s string) (got, want string) {
	if w := testifyWant.FindStringSubmatch(s); w != nil {
		if g := testifyGot.FindStringSubmatch(s); g != nil {
			return strings.TrimSpace(g[1]), strings.TrimSpace(w[1])
		}
	}
	if m := testifyLen.FindStringSubmatch(s); m != nil {
		return m[2] + " item(s)", m[1] + " item(s)"
	}
	for _, sentence := range []struct{ prefix, want string }{
		{"Received unexpected error:", "no error"}, {"Expected nil, but got:", "nil"}, {"Should be empty, but was", "empty"},
	} {
		if rest, ok := strings.CutPrefix(s, sentence.prefix); ok {
			return strings.TrimSpace(rest), sentence.want
		}
	}
	switch s {
	case "Should be true":
		return "false", "true"
	case "Should be false":
		return "true", "false"
	case "An error is expected but got nil.":
		return "nil", "an error"
	}
	return "", ""
}

// gomega reads "Expected\n    <int>: 1\nto equal\n    <int>: 2".
func gomega(text string) (got, want string) {
	m := gomegaForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return "", ""
	}
	return undent(m[1]), strings.TrimSpace(m[2] + " " + undent(m[3]))
}

var gomegaForm = regexp.MustCompile(`(?s)^Expected\n(\s+<.*?)\n(?:to equal|(to [a-z ]+|not to [a-z ]+))(?:\n(.*))?$`)

var (
	minusWant = regexp.MustCompile(`(?i)-\s?(?:want|expected|exp)\b[^\n+]*\+\s?(?:got|actual|have)\b|--- (?:want|expected)\b.*\n\s*\+\+\+ (?:got|actual)\b`)
	minusGot  = regexp.MustCompile(`(?i)-\s?(?:got|actual|have)\b[^\n+]*\+\s?(?:want|expected|exp)\b|--- (?:got|actual)\b.*\n\s*\+\+\+ (?:want|expected)\b|--- ←\n\s*\+\+\+ →`)
)

// diffSides reads a diff whose legend says which side is which, as go-cmp's users write it: "(-want +got)".
// gotest.tools has arrows for its first argument, which it documents as the value got.
func diffSides(text string) (got, want string) {
	loc := minusWant.FindStringIndex(text)
	swapped := loc == nil
	if swapped {
		loc = minusGot.FindStringIndex(text)
	}
	if loc == nil {
		return "", ""
	}
	_, body, _ := strings.Cut(text[loc[1]:], "\n")
	minus, plus := sides(body)
	if swapped {
		return minus, plus
	}
	return plus, minus
}

// sides collects the lines that a diff takes away and adds. go-cmp writes no-break spaces at random.
func sides(body string) (minus, plus string) {
	lines := strings.Split(strings.ReplaceAll(body, "\u00a0", " "), "\n")
	indent := -1
	for _, l := range lines {
		if t := strings.TrimLeft(l, " \t"); t != "" && (t[0] == '-' || t[0] == '+') && (indent < 0 || len(l)-len(t) < indent) {
			indent = len(l) - len(t)
		}
	}
	var m, p []string
	for _, l := range lines {
		if indent < 0 || len(l) <= indent || strings.TrimLeft(l[:indent], " \t") != "" {
			continue
		}
		switch value := strings.TrimSpace(l[indent+1:]); l[indent] {
		case '-':
			m = append(m, value)
		case '+':
			p = append(p, value)
		}
	}
	return side(m), side(p)
}

func side(lines []string) string {
	if len(lines) == 1 {
		return strings.TrimSuffix(lines[0], ",")
	}
	return strings.Join(lines, "\n")
}

var (
	gotestTools = regexp.MustCompile(`(?s)^assertion failed: (.*) \((?:\w+ )?[^()\s]+\) != (.*?) \((?:\w+ )?[^()\s]+\)(?:: .*)?$`)
	comment     = regexp.MustCompile(` // .*$`)
)

// unequal reads "a != b" of gotest.tools and of matryer/is, and of those who write nothing more: got comes first there.
func unequal(text string) (got, want string) {
	if m := gotestTools.FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	if rest, ok := strings.CutPrefix(text, "assertion failed: error is not nil: "); ok {
		return rest, "nil"
	}
	if strings.Contains(text, "\n") {
		return "", ""
	}
	if parts := splitOutside(comment.ReplaceAllString(text, ""), " != "); len(parts) == 2 && !mentions(wantRE, text) {
		return strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])
	}
	return "", ""
}

var (
	gotRE  = regexp.MustCompile(`(?i)\b` + gotWord + `\b`)
	wantRE = regexp.MustCompile(`(?i)\b` + wantWord + `\b`)
)

// inline reads one sentence: "got X, want Y", "expected X, got Y", "F() = X; want Y".
func inline(text string) (got, want string) {
	text = strings.TrimSpace(text)
	w := keyword(wantRE, text, nil)
	if w == nil {
		return "", ""
	}
	g := keyword(gotRE, text, w)
	switch {
	case g == nil:
		if got = valueBefore(text[:w[0]]); got == "" {
			return "", ""
		}
		return got, value(text[w[1]:])
	case g[0] < w[0]:
		return value(text[g[1]:w[0]]), value(text[w[1]:])
	}
	return value(text[g[1]:]), value(text[w[1]:g[0]])
}

// keyword finds the first match outside of quotes that does not touch the span not, if there is one.
func keyword(re *regexp.Regexp, text string, not []int) []int {
	quoted := quotes(text)
	for _, loc := range re.FindAllStringIndex(text, 100) {
		if !quoted(loc[0]) && (not == nil || loc[1] <= not[0] || loc[0] >= not[1]) {
			return loc
		}
	}
	return nil
}

// quotes tells for each position whether it lies inside "…" or `…`; a quote that is never closed opens nothing.
func quotes(text string) func(int) bool {
	var spans [][2]int
	for i := 0; i < len(text); i++ {
		if text[i] != '"' && text[i] != '`' {
			continue
		}
		if end := closing(text, i); end > 0 {
			spans = append(spans, [2]int{i, end})
			i = end
		}
	}
	return func(pos int) bool {
		for _, s := range spans {
			if s[0] <= pos && pos <= s[1] {
				return true
			}
		}
		return false
	}
}

func closing(text string, open int) int {
	for i := open + 1; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == '\\' && text[open] == '"':
			i++
		case text[i] == text[open]:
			return i
		}
	}
	return -1
}

// value takes the words and marks off that join a value to its sentence.
func value(s string) string {
	s = strings.TrimLeft(s, " \t:=\n")
	for _, filler := range []string{"to be ", "to get ", "to have ", "to equal ", "value to be ", "value: "} {
		if rest, ok := strings.CutPrefix(s, filler); ok {
			s = rest
		}
	}
	s = strings.TrimRight(s, " \t\n(")
	for again := true; again; {
		again = false
		for _, tail := range []string{",", ";", ":", " but", " and", " it", " instead", " instead of", " we", " -", "."} {
			if rest, ok := strings.CutSuffix(s, tail); ok && rest != "" {
				s, again = strings.TrimRight(rest, " \t\n("), true
			}
		}
	}
	for _, pair := range []string{"()", "[]"} { // of the sentence around it
		if strings.HasSuffix(s, pair[1:]) && strings.Count(s, pair[1:]) > strings.Count(s, pair[:1]) {
			s = strings.TrimSuffix(s, pair[1:])
		}
	}
	return s
}

// valueBefore is the value that a clause ends with: "F(3) = 4; " gives 4. It must be set off from what is wanted.
func valueBefore(s string) string {
	trimmed := strings.TrimRight(s, " ")
	set := strings.HasSuffix(trimmed, " but") || strings.HasSuffix(trimmed, " -") || strings.HasSuffix(trimmed, " instead of")
	if trimmed == "" || !set && !strings.ContainsAny(trimmed[len(trimmed)-1:], ",;(:") {
		return ""
	}
	s = value(trimmed)
	for _, sep := range []string{" = ", " => ", " -> ", " == ", " returned ", " was ", " is ", " as ", ": "} {
		if parts := splitOutside(s, sep); len(parts) > 1 {
			return strings.TrimSpace(parts[len(parts)-1])
		}
	}
	if len(s) > 200 {
		return ""
	}
	return s
}

// splitOutside splits at sep where it stands outside of quotes.
func splitOutside(s, sep string) []string {
	quoted := quotes(s)
	var parts []string
	start := 0
	for i := 0; i+len(sep) <= len(s); i++ {
		if strings.HasPrefix(s[i:], sep) && !quoted(i) {
			parts = append(parts, s[start:i])
			start = i + len(sep)
			i = start - 1
		}
	}
	return append(parts, s[start:])
}
