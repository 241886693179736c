package oracle

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxStatement is how many lines an assertion may go over, and maxBlock how many its test may have.
const (
	maxStatement = 20
	maxBlock     = 400
)

// equalities are assertions that two values are equal, by what their call begins with. Those with a tolerance, with an order
// or that deny are left out: another value may pass there.
var equalities = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:self\.assert(?:Equal|Equals|Is|ListEqual|DictEqual|TupleEqual|SetEqual|MultiLineEqual|CountEqual)|` +
		`(?:assert|t\.assert)\.(?:strictEqual|deepStrictEqual|equal|deepEqual)|assert_eq!)\s*\(`)
})

// expects is jest's and vitest's way of the same; what stands between the parentheses of expect is no concern of ours.
var expects = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^expect\s*\(`)
})

var toEqual = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\.(?:toBe|toEqual|toStrictEqual)\s*\(`)
})

// scaffold is what may stand around the literals of a value that is written out: brackets, names of fields, and wrappers.
var scaffold = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\s\[\]{}(),:&-]|[A-Za-z_]\w*\s*:|\b(?:Some|Ok|Err)\s*\(|vec!\s*\[|String::from\s*\(|\.to_string\(\)|\.into\(\)|None|null|undefined)*$`)
})

// stands finds what the equality on a line of a script, a Python or a Rust file asks for; where that line has none, what
// another one of the same test asks for, if both always run together.
func stands(name, text string, line int) (literal, bool) {
	lines := strings.SplitAfter(text, "\n")
	if line < 1 || line > len(lines) || !slices.Contains([]string{".py", ".rs", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx"}, path.Ext(name)) {
		return literal{}, false
	}
	if l, ok := equal(name, text, lines, line); ok {
		return l, ok
	}
	for _, n := range besideLines(lines, line) {
		if l, ok := equal(name, text, lines, n); ok {
			return l, ok
		}
	}
	return literal{}, false
}

// besideLines are the lines that start the other statements of a test, the later ones first: none of a block that is no
// test's own, or that may be left early.
func besideLines(lines []string, line int) (out []int) {
	own := depth(lines[line-1])
	first, last := line, line
	for first > 1 && line-first < maxBlock && (blank(lines[first-2]) || depth(lines[first-2]) >= own) {
		first--
	}
	for last < len(lines) && last-line < maxBlock && (blank(lines[last]) || depth(lines[last]) >= own) {
		last++
	}
	if first < 2 || own == 0 || !heads().MatchString(lines[first-2]) {
		return nil
	}
	for n := first; n <= last; n++ {
		if leaves().MatchString(lines[n-1]) {
			return nil
		}
		if n != line && !blank(lines[n-1]) && depth(lines[n-1]) == own {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		switch {
		case a > line && b < line:
			return -1
		case a < line && b > line:
			return 1
		}
		return 0
	})
	return out
}

// heads is the line above the first statement of a test.
var heads = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(?:async\s+)?def\s+test\w*\(.*:|(?:pub\s+)?fn\s+\w+\(\)\s*\{|(?:await\s+)?(?:test|it)\(.*(?:=>|function\s*\(\w*\))\s*\{)\s*$`)
})

// leaves is a way out of a test before its end.
var leaves = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:return|yield|raise|throw|break)\b|skip|\?;|should_panic|"""|'''`)
})

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func depth(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// equal is what an equality that starts on a line asks for: the last literal of the side that is written out. Where neither
// or both are, and the language has no types in the way, the whole second side is a value that can be another.
func equal(name, text string, lines []string, line int) (literal, bool) {
	at := 0
	for _, l := range lines[:line-1] {
		at += len(l)
	}
	at += depth(lines[line-1])
	end := len(text)
	if rest := lines[line-1:]; len(rest) > maxStatement {
		end = at - depth(lines[line-1])
		for _, l := range rest[:maxStatement] {
			end += len(l)
		}
	}
	sides, ok := sidesOf(text[:end], at)
	if !ok {
		return literal{}, false
	}
	var written []literal
	for _, s := range sides {
		if l, ok := writtenOut(name, text[s[0]:s[1]], s[0]); ok {
			written = append(written, l)
		}
	}
	if len(written) == 1 {
		return written[0], true
	}
	last := sides[len(sides)-1]
	whole := literal{at: last[0], text: text[last[0]:last[1]]}
	switch {
	case path.Ext(name) == ".rs" || whole.text == "" || strings.Contains(whole.text, "\n") || strings.ContainsAny(whole.text, "*#"):
		return literal{}, false
	case path.Ext(name) == ".py":
		whole.to = `("redraft", ` + whole.text + `)`
	default:
		whole.to = `["redraft", ` + whole.text + `]`
	}
	return whole, true
}

// sidesOf are the spans of what an equality that starts at an offset compares; of expect's only the second.
func sidesOf(text string, at int) ([][2]int, bool) {
	rest := text[at:]
	if m := equalities().FindString(rest); m != "" {
		args, _, ok := list(text, at+len(m))
		if !ok || len(args) < 2 {
			return nil, false
		}
		return args[:2], true
	}
	if m := expects().FindString(rest); m != "" {
		_, end, ok := list(text, at+len(m))
		if !ok {
			return nil, false
		}
		then := toEqual().FindString(text[end:])
		args, _, ok := list(text, end+len(then))
		return args, ok && then != "" && len(args) == 1
	}
	if line, _, _ := strings.Cut(rest, "\n"); strings.HasPrefix(line, "assert ") {
		return sidesOfAssert(line, at)
	}
	return nil, false
}

// sidesOfAssert are those of Python's statement on one line, its message left out.
func sidesOfAssert(line string, at int) ([][2]int, bool) {
	const word = len("assert ")
	args, _, ok := list(line[word:]+")", 0)
	if !ok || len(args) == 0 || len(args) > 2 {
		return nil, false
	}
	from, to := word+args[0][0], word+args[0][1]
	asked := line[from:to]
	i := strings.Index(asked, " == ")
	if bare := literalRE.ReplaceAllString(asked, ""); i < 0 || strings.Count(bare, "==") != 1 || strings.ContainsAny(bare, "<>!#\\") || logic().MatchString(bare) {
		return nil, false
	}
	if left, _, ok := list(asked[:i]+")", 0); !ok || len(left) != 1 {
		return nil, false // the sign stands within parentheses
	}
	return [][2]int{{at + from, at + from + i}, {at + from + i + len(" == "), at + to}}, true
}

var logic = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:and|or|not|if|for|in|is|lambda|approx|ANY)\b`)
})

// list are the spans between the commas from an offset to the parenthesis that closes there, and the offset behind it. What
// stands in quotes or in brackets is not looked at; a comment ends the search.
func list(text string, at int) (spans [][2]int, end int, ok bool) {
	open, from := 0, at
	add := func(to int) {
		for from < to && strings.IndexByte(" \t\r\n", text[from]) >= 0 {
			from++
		}
		for to > from && strings.IndexByte(" \t\r\n", text[to-1]) >= 0 {
			to--
		}
		if from < to {
			spans = append(spans, [2]int{from, to})
		}
	}
	for i := at; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'', '`':
			n := quoted(text[i:])
			if n == 0 {
				return nil, 0, false
			}
			i += n - 1
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			if open--; open < 0 {
				add(i)
				return spans, i + 1, c == ')'
			}
		case ',':
			if open == 0 {
				add(i)
				from = i + 1
			}
		case '#', '/':
			if c == '#' || strings.HasPrefix(text[i:], "//") || strings.HasPrefix(text[i:], "/*") {
				return nil, 0, false
			}
		}
	}
	return nil, 0, false
}

// quoted is how long the text in quotes is that starts here; zero where it does not end on its line.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return 0
		case text[0]:
			return i + 1
		}
	}
	return 0
}

// writtenOut is the last literal of a value that consists of nothing but literals and what holds them together.
func writtenOut(name, value string, offset int) (literal, bool) {
	all := literalRE.FindAllStringIndex(value, -1)
	if len(all) == 0 || !scaffold().MatchString(literalRE.ReplaceAllString(value, " ")) {
		return literal{}, false
	}
	m := all[len(all)-1]
	l := literal{at: offset + m[0], text: value[m[0]:m[1]]}
	return l, !(path.Ext(name) == ".rs" && l.text[0] == '\'')
}
