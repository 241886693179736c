package perceive

import (
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// callKind is what a call of a JavaScript test file declares.
type callKind int

const (
	testCall callKind = iota
	suiteCall
	hookCall
)

// callKinds are the names by which jest, vitest, mocha, node:test, tap and Playwright declare.
var callKinds = map[string]callKind{
	"test": testCall, "it": testCall, "specify": testCall, "xit": testCall, "fit": testCall, "xtest": testCall,
	"describe": suiteCall, "suite": suiteCall, "context": suiteCall, "fdescribe": suiteCall, "xdescribe": suiteCall,
	"beforeEach": hookCall, "beforeAll": hookCall, "before": hookCall, "afterEach": hookCall, "afterAll": hookCall, "after": hookCall,
	"setup": hookCall, "teardown": hookCall, "suiteSetup": hookCall, "suiteTeardown": hookCall,
}

// call is one declaration.
type call struct {
	kind  callKind
	title string // "" where it is no literal
	span
	start, end int // offsets
}

// calls are a file's declarations in order.
type calls []call

// Bounds of looking for declarations: a text may be made to be looked through again and again.
const (
	maxCalls = 4000
	maxScan  = 32 << 20 // bytes
	maxSuite = 3000     // lines
	maxDeep  = 20       // suites around a test
)

// calls finds the declarations of a file, once.
func (t *text) calls() calls {
	if !t.asked {
		t.asked, t.said = true, t.declarations()
	}
	return t.said
}

func (t *text) declarations() (out calls) {
	scanned := 0
	uses := slices.Clone(t.outline.Uses)
	slices.SortStableFunc(uses, func(a, b syntax.Use) int { return a.Start - b.Start })
	for _, u := range uses {
		kind, ok := callKinds[u.Name]
		if !ok || kind != testCall && u.Before != "" || u.Before == "?" || u.Start > len(t.src) {
			continue
		}
		title, end := t.declared(u.Start + len(u.Name))
		if end > 0 {
			scanned += end - u.Start
			last := u.Line + strings.Count(t.src[u.Start:end], "\n")
			out = append(out, call{kind, title, span{u.Line, last}, u.Start, end})
		} else {
			scanned += len(t.src) - u.Start
		}
		if scanned > maxScan || len(out) == maxCalls {
			break
		}
	}
	return out
}

// declared reads what follows a declaring name: .only, .each([…]), and the parentheses. end is 0 where that is no call.
func (t *text) declared(at int) (title string, end int) {
	for at < len(t.src) {
		switch c := t.src[at]; {
		case c == '.':
			for at++; at < len(t.src) && isLetter(t.src[at]); at++ {
			}
		case c == '(' || c == '`':
			close := closing(t.src, at, 0)
			if close < 0 {
				return title, end
			}
			if c == '(' {
				title, end = literal(strings.TrimLeft(t.src[at+1:close], " \t\r\n")), close+1
			}
			at = close + 1
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			next := strings.TrimLeft(t.src[at:], " \t\r\n")
			if !strings.HasPrefix(next, ".") && !strings.HasPrefix(next, "(") || end > 0 {
				return title, end
			}
			at = len(t.src) - len(next)
		default:
			return title, end
		}
	}
	return title, end
}

func isLetter(c byte) bool {
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// literal is the text of the string literal that a text begins with, "" where it begins with none.
func literal(s string) string {
	if s == "" || !strings.ContainsRune("'\"`", rune(s[0])) {
		return ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return b.String()
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return ""
}

// closing is the offset at which what opens at an offset closes: a bracket, a string or a template. It is -1 where it
// does not.
func closing(s string, at, depth int) int {
	if depth > 200 {
		return -1
	}
	if strings.IndexByte("'\"`", s[at]) >= 0 {
		return closingQuote(s, at, depth)
	}
	before := byte('(')
	for i := at + 1; i < len(s); i++ {
		switch c := s[i]; {
		case strings.IndexByte("([{'\"`", c) >= 0:
			if i = closing(s, i, depth+1); i < 0 {
				return -1
			}
		case strings.IndexByte(")]}", c) >= 0:
			return i
		case c == '/':
			i = pastSlash(s, i, before)
		}
		if i < len(s) && strings.IndexByte(" \t\r\n", s[i]) < 0 {
			before = s[i]
		}
	}
	return -1
}

// closingQuote is closing for strings, and for templates with their expressions.
func closingQuote(s string, at, depth int) int {
	for i := at + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == s[at]:
			return i
		case s[i] == '\n' && s[at] != '`':
			return -1
		case s[at] == '`' && s[i] == '$' && i+1 < len(s) && s[i+1] == '{':
			if i = closing(s, i+1, depth+1); i < 0 {
				return -1
			}
		}
	}
	return -1
}

// pastSlash is the last offset of the comment or the regular expression that a slash begins, or of the slash itself where
// it divides: after a value.
func pastSlash(s string, at int, before byte) int {
	rest := s[at:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			return at + n
		}
		return len(s)
	case strings.HasPrefix(rest, "/*"):
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			return at + n + 3
		}
		return len(s)
	case strings.IndexByte("(,=:[!&|?{};+-*%<>~^", before) < 0:
		return at
	}
	class := false
	for i := at + 1; i < len(s) && s[i] != '\n'; i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return i
		}
	}
	return at
}

// at is the smallest test around a line.
func (all calls) at(line int) (best call, ok bool) {
	for _, c := range all {
		if c.kind == testCall && c.holds(line) && (!ok || c.end-c.start < best.end-best.start) {
			best, ok = c, true
		}
	}
	return best, ok
}

// titled is the test of a title, in suites of the titles before it; of several the one around the line.
func (all calls) titled(titles []string, line int) (best call, ok bool) {
	most := -1
	for _, c := range all {
		if c.kind != testCall || !titleFits(c.title, titles[len(titles)-1]) {
			continue
		}
		n := 0
		for _, o := range all {
			if o.kind == suiteCall && o.start < c.start && c.end <= o.end && slices.ContainsFunc(titles, func(t string) bool { return titleFits(o.title, t) }) {
				n += 2
			}
		}
		if c.holds(line) {
			n++
		}
		if n > most {
			best, most = c, n
		}
	}
	return best, most >= 0
}

// titleFits says whether a runner may have made a title of one in the text, which may hold places for values: %s, $name
// and ${name}.
func titleFits(written, shown string) bool {
	if written == shown {
		return written != ""
	}
	i := strings.IndexAny(written, "%$")
	return i >= 0 && strings.HasPrefix(shown, written[:i])
}

// setUps are the hooks of the suites around some lines, the lines that begin those suites, and what they declare that the
// lines name.
func (t *text) setUps(s span, used map[string]bool) (out []span) {
	all := t.calls()
	deep := 0
	for _, c := range all {
		around := c.kind == suiteCall && c.first <= s.first && s.last <= c.last
		if deep == maxDeep {
			break
		}
		if around {
			deep++
			out = append(out, span{c.first, c.first})
			out = append(out, t.variables(all, c, used)...)
		}
		if c.kind == hookCall && all.suiteOf(c).around(s) {
			out = append(out, c.span)
		}
	}
	return out
}

// around says whether a suite holds some lines; the zero suite, which is the file, holds all.
func (c call) around(s span) bool { return c.end == 0 || c.first <= s.first && s.last <= c.last }

// suiteOf is the smallest suite around a declaration, the zero one if there is none.
func (all calls) suiteOf(c call) (best call) {
	for _, o := range all {
		if o.kind == suiteCall && o.start < c.start && c.end <= o.end && (best.end == 0 || o.end-o.start < best.end-best.start) {
			best = o
		}
	}
	return best
}

// variables are the declarations of a suite's own body of names that are used.
func (t *text) variables(all calls, suite call, used map[string]bool) (out []span) {
	offset := strings.LastIndexByte(t.src[:suite.start], '\n') + 1
	for line := suite.first; line <= min(suite.last, suite.first+maxSuite, len(t.lines)); line++ {
		text := t.lines[line-1]
		inner := slices.ContainsFunc(all, func(c call) bool {
			return c.start > suite.start && c.end <= suite.end && c.start <= offset && offset < c.end
		})
		if name := declaredName(text); name != "" && used[name] && !inner && line > suite.first {
			end := t.endOf(offset)
			out = append(out, span{line, line + strings.Count(t.src[offset:end], "\n")})
		}
		offset += len(text)
	}
	return out
}

// declaredName is the first name that a line declares.
func declaredName(line string) string {
	line = strings.TrimSpace(line)
	for _, word := range []string{"const ", "let ", "var ", "function ", "async function ", "class "} {
		if rest, ok := strings.CutPrefix(line, word); ok {
			rest = strings.TrimLeft(rest, " {[*")
			n := 0
			for n < len(rest) && isLetter(rest[n]) {
				n++
			}
			return rest[:n]
		}
	}
	return ""
}

// endOf is where the statement that begins at an offset ends: at the first line's end outside of brackets.
func (t *text) endOf(at int) int {
	for i := at; i < len(t.src); i++ {
		switch c := t.src[i]; {
		case strings.IndexByte("([{'\"`", c) >= 0:
			if i = closing(t.src, i, 0); i < 0 {
				return at
			}
		case c == '\n' || strings.IndexByte(")]}", c) >= 0:
			return i
		}
	}
	return len(t.src)
}
