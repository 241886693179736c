package report

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// level joins the names of suites and tests in an id.
const level = " > "

// jsFrame reads the places of a JavaScript stack: "at f (a.js:1:2)", "at a.js:1:2", vitest's "❯ f a.js:1:2", TAP's "f (a.js:1:2)".
var jsFrame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(])((?:file://)?[^\s()'"]+\.[cm]?[jt]sx?|(?:file://)?[^\s()'"]+\.(?:vue|svelte)):(\d{1,8}):\d+\)?$`)
})

// jsPlace is the innermost frame in the tree.
func (c *collector) jsPlace(lines []string) (file string, line int) {
	for _, l := range lines {
		if !strings.Contains(l, ":") || len(l) > 1000 {
			continue
		}
		m := jsFrame().FindStringSubmatch(strings.TrimRight(strings.TrimSuffix(strings.TrimRight(l, " "), "{"), " "))
		if m == nil {
			continue
		}
		if rel, mine := c.own(strings.TrimPrefix(m[1], "file://")); mine {
			line, _ = strconv.Atoi(m[2])
			return rel, line
		}
	}
	return "", 0
}

// isJSFile reports whether a name is that of a script, which hardly any test's name is.
func isJSFile(s string) bool {
	if strings.ContainsAny(s, " \t") {
		return false
	}
	for _, ext := range []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"} {
		if strings.HasSuffix(s, ext) {
			return true
		}
	}
	return false
}

// describeJS takes message, class, place, got and want from the lines that a JavaScript runner printed about a failure.
func (c *collector) describeJS(r *Result, lines []string) {
	lines = dedent(lines)
	r.File, r.Line = c.jsPlace(lines)
	said := beforeStack(lines)
	r.Message = strings.TrimSpace(strings.Join(said, "\n"))
	switch r.Status, r.Class = c.jsKind(strings.Join(lines, "\n"), r.Message); r.Class {
	case Assertion:
		r.Got, r.Want = jsGotWant(lines)
	case Panic, Compile, MissingDependency:
		r.Trace = strings.TrimSpace(strings.Join(lines, "\n"))
	}
}

// beforeStack are the lines above the first frame and above a quoted source.
func beforeStack(lines []string) []string {
	for i, l := range lines {
		body := strings.TrimSpace(l)
		if strings.HasPrefix(body, "at ") && strings.Contains(body, ":") || strings.HasPrefix(body, "❯ ") || isQuotedSource(body) {
			return lines[:i]
		}
	}
	return lines
}

// isQuotedSource knows "> 12 | code", "12 | code" and vitest's "12| code".
func isQuotedSource(body string) bool {
	body = strings.TrimSpace(strings.TrimPrefix(body, ">"))
	_, rest, ok := digits(body)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " "), "|")
}

// dedent takes off the indent that all lines have.
func dedent(lines []string) []string {
	common := -1
	for _, l := range lines {
		if body := strings.TrimLeft(l, " "); body != "" && (common < 0 || len(l)-len(body) < common) {
			common = len(l) - len(body)
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(max(common, 0), len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return out
}

var jsTimeouts = []string{"Exceeded timeout of ", "Test timed out in ", "Hook timed out in ", "test timed out after ", "Timeout of ", "testTimeoutFailure"}

var jsCompiles = []string{
	"SyntaxError: ", "Failed to parse source", "Jest encountered an unexpected token", "Transform failed with", "does not provide an export named",
	"error TS", "TSError: ",
}

// jsKind is what a failure's text says it is: an assertion, or an error of the product or of the test.
func (c *collector) jsKind(all, message string) (Status, Class) {
	for _, w := range jsTimeouts {
		if i := strings.Index(all, w); i >= 0 && (w != "Timeout of " || strings.Contains(all[i:], "ms exceeded")) {
			return Error, Timeout
		}
	}
	if class := c.jsImport(message); class != "" {
		return Error, class
	}
	for _, w := range jsCompiles {
		if strings.HasPrefix(message, w) || strings.Contains(message, "\n"+w) {
			return Error, Compile
		}
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(message, "Error: "), "\n")
	if strings.Contains(all, "ERR_ASSERTION") || strings.Contains(first, "AssertionError") || strings.HasPrefix(first, "expect(") ||
		strings.HasPrefix(first, "assert.") || strings.HasPrefix(first, "expected ") || strings.Contains(all, "\nExpected: ") || strings.Contains(all, "\nExpected ") {
		return Fail, Assertion
	}
	return Error, Panic
}

// jsImport tells which module was not found, in the words of node, jest, vite and webpack: the tree's own, or one to install.
func (c *collector) jsImport(message string) Class {
	for _, w := range []string{"Cannot find module ", "Cannot find package ", "Failed to resolve import ", "Failed to load url ", "Can't resolve "} {
		i := strings.Index(message, w)
		if i < 0 || i > 0 && message[i-1] == '\'' {
			continue
		}
		name := strings.TrimLeft(message[i+len(w):], `'"`)
		if j := strings.IndexAny(name, `'" `); j >= 0 {
			name = name[:j]
		}
		return c.jsModule(name)
	}
	return ""
}

func (c *collector) jsModule(name string) Class {
	switch {
	case strings.HasPrefix(name, "node:"):
		return MissingDependency // of another release of node
	case name == "" || strings.IndexByte("./~#", name[0]) >= 0 || strings.HasPrefix(name, "@/") || strings.HasPrefix(name, "src/"):
		if strings.Contains(name, "node_modules/") {
			return MissingDependency
		}
		return Compile
	}
	parts := strings.SplitN(name, "/", 3)
	if name[0] == '@' && len(parts) > 1 {
		return c.missing(parts[0] + "/" + parts[1])
	}
	return c.missing(parts[0])
}

// jsGotWant reads what the assertion libraries of JavaScript say they have and want.
func jsGotWant(lines []string) (got, want string) {
	for _, read := range []func([]string) (string, string){jestLabels, expectedBlock, jsDiff, nodeProperties, chaiWords, nodeUnequal} {
		if got, want = read(lines); got != "" || want != "" {
			return got, want
		}
	}
	return gotWant(strings.Join(beforeStack(lines), "\n"))
}

// jestLabels reads "Expected: 3" and "Received: 4", and their like with a word more: "Expected substring: ", "Received array: ".
func jestLabels(lines []string) (got, want string) {
	for _, l := range beforeStack(lines) {
		label, value, ok := strings.Cut(l, ": ")
		switch value = strings.TrimSpace(value); {
		case !ok || value == "" || len(label) > 30:
		case strings.HasPrefix(label, "Expected") && want == "":
			want = value
		case strings.HasPrefix(label, "Received") && got == "" && label != "Received function did not throw":
			got = value
		}
	}
	return got, want
}

// expectedBlock reads jest's words for node's assert: "Expected value to strictly be equal to:", a value, "Received:", a value.
func expectedBlock(lines []string) (got, want string) {
	var to *string
	for _, l := range beforeStack(lines) {
		body := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(l, "Expected value") && strings.HasSuffix(body, ":"):
			to = &want
		case body == "Received:":
			to = &got
		case body == "" || !strings.HasPrefix(l, "  "):
			to = nil
		case to != nil:
			*to = strings.TrimSpace(*to + "\n" + body)
		}
	}
	return got, want
}

// jsDiff reads the diffs: jest's and vitest's "- Expected", "+ Received"; mocha's "+ expected - actual"; node's "+ actual - expected".
func jsDiff(lines []string) (got, want string) {
	for i, l := range lines {
		body := strings.TrimSpace(l)
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		indent := len(l) - len(strings.TrimLeft(l, " "))
		switch {
		case strings.HasPrefix(body, "- Expected") && strings.HasPrefix(next, "+ Received"):
			return diffOf(lines[i+2:], indent, '+')
		case body == "+ expected - actual":
			return diffOf(lines[i+1:], indent, '-')
		case body == "+ actual - expected" || strings.HasPrefix(body, "+ actual - expected ..."):
			return diffOf(lines[i+1:], indent, '+')
		}
	}
	return "", ""
}

// diffOf takes the sides of a diff apart; gotMark marks what was got. Of a long diff only what differs is kept.
func diffOf(lines []string, indent int, gotMark byte) (got, want string) {
	var both, changed [2][]string
	n := 0
	for _, l := range lines {
		body := strings.TrimSpace(l)
		if body == "" && n == 0 {
			continue
		}
		if body == "" || strings.HasPrefix(body, "at ") || strings.HasPrefix(body, "❯ ") || body == "+ expected - actual" || strings.HasPrefix(body, "AssertionError") {
			break
		}
		n++
		l = l[min(indent, len(l)-len(strings.TrimLeft(l, " "))):]
		side := -1
		if l[0] == '+' || l[0] == '-' {
			if side = 1; l[0] == gotMark {
				side = 0
			}
		}
		for s := range both {
			if side < 0 || side == s {
				both[s] = append(both[s], strings.TrimRight(l[1:], " "))
			}
			if side == s {
				changed[s] = append(changed[s], strings.TrimRight(l[1:], " "))
			}
		}
	}
	if n > 12 {
		both = changed
	}
	return strings.TrimSpace(strings.Join(dedent(both[0]), "\n")), strings.TrimSpace(strings.Join(dedent(both[1]), "\n"))
}

// nodeProperties reads "actual: 4," and "expected: 3," of an inspected AssertionError.
func nodeProperties(lines []string) (got, want string) {
	var to *string
	for _, l := range lines {
		body := strings.TrimSpace(l)
		key, value, _ := strings.Cut(body, ": ")
		switch {
		case key == "actual":
			got, to = value, &got
		case key == "expected":
			want, to = value, &want
		case key == "operator" || key == "diff" || body == "}":
			to = nil
		case to != nil:
			*to += "\n" + body
		}
	}
	return strings.TrimSuffix(got, ","), strings.TrimSuffix(want, ",")
}

// chaiSayings set the two sides of chai's sentences apart, the longer first.
var chaiSayings = []string{
	" not to equal ", " to not equal ", " not to deeply equal ", " to not deeply equal ", " not to be ",
	" to strictly equal ", " to deeply equal ", " to loosely deep equal ", " to equal ", " to be an instance of ", " to be above ", " to be below ", " to be at least ",
	" to be at most ", " to be greater than ", " to be less than ", " to have property ", " to include ", " to match ", " to throw ", " to have a length of ", " to be ",
}

func chaiWords(lines []string) (got, want string) {
	for _, l := range beforeStack(lines) {
		_, rest, ok := strings.Cut(l, "expected ")
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, " // Object.is equality")
		for _, s := range chaiSayings {
			left, right, found := cutOutside(rest, s)
			if !found {
				continue
			}
			right, _, _ = cutOutside(right, " but got ")
			switch s = strings.TrimPrefix(strings.TrimSpace(s), "to "); s {
			case "equal", "strictly equal", "deeply equal", "loosely deep equal", "be":
				return left, right
			}
			return left, s + " " + right
		}
	}
	return "", ""
}

// nodeUnequal reads node's "4 !== 3" and "'a' == 'b'".
func nodeUnequal(lines []string) (got, want string) {
	for _, l := range beforeStack(lines) {
		l = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(l), "AssertionError [ERR_ASSERTION]: "), "AssertionError ")
		for _, op := range []string{" !== ", " == ", " != "} {
			if left, right, ok := cutOutside(l, op); ok {
				return left, right
			}
		}
	}
	return "", ""
}
