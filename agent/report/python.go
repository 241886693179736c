package report

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// pyError is one Python exception as a traceback ends with it.
type pyError struct {
	kind string // "KeyError", "json.decoder.JSONDecodeError"; "AssertionError" for a bare assert
	text string // what follows the colon, perhaps over several lines
}

// parsePyError reads "ValueError: no price" and what follows it. A class's name has no blank in it.
func parsePyError(lines []string) (e pyError, ok bool) {
	if len(lines) == 0 {
		return e, false
	}
	first := strings.TrimRight(lines[0], " ")
	if body, found := strings.CutPrefix(first, "assert "); found {
		return pyError{"AssertionError", strings.Join(append([]string{"assert " + body}, lines[1:]...), "\n")}, true
	}
	kind, text, found := strings.Cut(first, ": ")
	kind = strings.TrimSuffix(kind, ":")
	if !isPyName(kind) || !found && !strings.Contains(kind, "Error") && !strings.Contains(kind, "Exception") && !pyEnds[kind] {
		return e, false
	}
	return pyError{kind, strings.TrimSpace(strings.Join(append([]string{text}, lines[1:]...), "\n"))}, true
}

// pyEnds are exceptions whose names do not say that they are one.
var pyEnds = map[string]bool{"SystemExit": true, "KeyboardInterrupt": true, "StopIteration": true, "Failed": true}

// isPyName accepts dotted identifiers.
func isPyName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f
		if !letter && (i == 0 || r != '.' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// pyKind is what an exception says of a test: only an assertion is a failure, everything else is an error.
func (c *collector) pyKind(e pyError) (Status, Class) {
	short := e.kind[strings.LastIndexByte(e.kind, '.')+1:]
	switch {
	case strings.HasPrefix(e.text, "Timeout (>") || short == "TimeoutExpired" && strings.Contains(e.text, "timed out"):
		return Error, Timeout
	case short == "Failed" || strings.HasSuffix(short, "AssertionError"):
		return Fail, Assertion
	case short == "SyntaxError" || short == "IndentationError" || short == "TabError":
		return Error, Compile
	case short == "ModuleNotFoundError" || short == "ImportError":
		return Error, c.pyImport(e.text)
	}
	return Error, Panic
}

// pyImport tells a module that is not installed from one that the tree itself does not have.
func (c *collector) pyImport(text string) Class {
	if strings.Contains(text, "cannot open shared object file") {
		return MissingDependency
	}
	_, rest, ok := strings.Cut(text, "No module named ")
	if !ok || strings.Contains(text, "is not a package") {
		return Compile
	}
	name, _, _ := strings.Cut(strings.TrimLeft(rest, `'"`), "'")
	first, _, below := strings.Cut(name, ".")
	if below && slices.Contains(c.run.Own, first+".") {
		return Compile
	}
	return c.missing(first)
}

// missing is the class of a module that was not found: the tree's own, or one that has to be installed.
func (c *collector) missing(module string) Class {
	if slices.Contains(c.run.Own, module) {
		return Compile
	}
	return MissingDependency
}

// pyGotWant reads the two sides of a comparison in the words of pytest, unittest, numpy and mock.
func pyGotWant(e pyError) (got, want string) {
	lines := strings.Split(cut(e.text, 4*maxMessage), "\n")
	for _, l := range lines {
		if expr, ok := strings.CutPrefix(strings.TrimSpace(l), "assert "); ok {
			return splitAssert(strings.TrimPrefix(expr, "not "))
		}
	}
	if got, want = unittestSides(lines[0]); got != "" || want != "" {
		return got, want
	}
	for _, pair := range [][2]string{{"ACTUAL:", "DESIRED:"}, {"Actual:", "Expected:"}, {"x:", "y:"}} {
		if got, want = labelPair(lines, pair[0], pair[1]); got != "" && want != "" {
			return got, want
		}
	}
	return gotWant(e.text)
}

// labelPair takes the lines behind two labels, each with the deeper lines that go on from it.
func labelPair(lines []string, gotLabel, wantLabel string) (got, want string) {
	var to *string
	for _, l := range lines {
		body := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(body, gotLabel):
			got, to = strings.TrimSpace(body[len(gotLabel):]), &got
		case strings.HasPrefix(body, wantLabel):
			want, to = strings.TrimSpace(body[len(wantLabel):]), &want
		case to != nil && body != "" && l[0] == ' ':
			*to += "\n" + body
		default:
			to = nil
		}
	}
	return got, want
}

// comparisons are Python's operators, the ones that others begin with last.
var comparisons = []string{" == ", " != ", " is not ", " not in ", " in ", " is ", " <= ", " >= ", " < ", " > "}

// splitAssert takes an evaluated comparison apart: what is equal is wanted as it is, all else with its operator.
func splitAssert(expr string) (got, want string) {
	for _, op := range comparisons {
		if left, right, ok := cutOutside(expr, op); ok {
			if word := strings.TrimSpace(op); word != "==" && word != "is" {
				right = word + " " + right
			}
			return left, right
		}
	}
	return expr, ""
}

// unittestSayings are the ways in which unittest's assertions put two values, the longer first.
var unittestSayings = []struct{ between, want string }{
	{" not found in ", "in "}, {" unexpectedly found in ", "not in "}, {" is not an instance of ", "an instance of "},
	{" not greater than or equal to ", ">= "}, {" not less than or equal to ", "<= "}, {" not greater than ", "> "}, {" not less than ", "< "},
	{" != ", ""}, {" == ", "!= "}, {" is not ", ""},
}

// unittestSides reads the first line of an assertion of unittest.
func unittestSides(line string) (got, want string) {
	if pattern, ok := strings.CutPrefix(line, "Regex didn't match: "); ok {
		pattern, text, _ := cutOutside(pattern, " not found in ")
		return text, "a match of " + pattern
	}
	if raised, ok := strings.CutSuffix(line, " not raised"); ok && isPyName(raised) {
		return "", raised + " raised"
	}
	if i := strings.Index(line, " differ: "); i > 0 && i < 20 {
		line = line[i+len(" differ: "):]
	}
	for _, s := range unittestSayings {
		left, right, ok := cutOutside(line, s.between)
		if !ok {
			continue
		}
		for _, tail := range []string{" : ", " within "} {
			right, _, _ = cutOutside(right, tail)
		}
		return left, s.want + right
	}
	return "", ""
}

// cutOutside cuts at the first separator that stands outside of quotes and brackets. Without one, all is before it.
func cutOutside(s, sep string) (before, after string, ok bool) {
	depth := 0
	var quote byte
	for i := 0; i < len(s); i++ {
		if depth == 0 && quote == 0 && strings.HasPrefix(s[i:], sep) {
			return s[:i], s[i+len(sep):], true
		}
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '\'' || c == '"') && (i == 0 || !isWordByte(s[i-1]) || isPyPrefix(s, i)):
			quote = c
		case strings.IndexByte("([{", c) >= 0 || c == '<' && i+1 < len(s) && isWordByte(s[i+1]):
			depth++
		case depth > 0 && strings.IndexByte(")]}>", c) >= 0:
			depth--
		}
	}
	return s, "", false
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c > 0x7f
}

// isPyPrefix reports whether the quote at i has only the prefix of a bytes literal before it.
func isPyPrefix(s string, i int) bool {
	return (s[i-1] == 'b' || s[i-1] == 'r') && (i == 1 || !isWordByte(s[i-2]))
}

// pyFrame reads a line that names a place in a Python traceback, in each of the ways that there are: native's
// `File "x.py", line 3, in f`, pytest's `x.py:3: in f` and `x.py:3: KeyError`.
func pyFrame(line string) (file string, n int, in string, ok bool) {
	if rest, found := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(line, "E"), " "), `File "`); found {
		file, rest, found = strings.Cut(rest, `", line `)
		if !found {
			return "", 0, "", false
		}
		n, rest, ok = digits(rest)
		_, in, _ = strings.Cut(rest, "in ")
		return file, n, strings.TrimSpace(in), ok
	}
	i := strings.Index(line, ".py:")
	if i <= 0 || line[0] == ' ' || line[0] == '>' {
		return "", 0, "", false
	}
	n, rest, ok := digits(line[i+4:])
	if !ok || rest != "" && rest[0] != ':' {
		return "", 0, "", false
	}
	in, found := strings.CutPrefix(rest, ": in ")
	if !found {
		in = ""
	}
	return line[:i+3], n, in, true
}

// digits reads the line number that s begins with.
func digits(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.Atoi(s[:i])
	return n, s[i:], err == nil && n > 0
}

// libraries are folders whose files are nobody's in the tree.
var libraries = []string{"site-packages/", "dist-packages/", "/lib/python3", "node_modules/", "/.pyenv/", "node:", "<", "/usr/lib/", ".venv/"}

// own is a file as the report names it, if it is one of the tree's.
func (c *collector) own(file string) (string, bool) {
	for _, l := range libraries {
		if strings.Contains(file, l) {
			return "", false
		}
	}
	rel := c.places.relative(file)
	if path.IsAbs(rel) && c.places.dir != "" || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return rel, rel != ""
}

// pyPlace is the innermost frame that is in the tree.
func (c *collector) pyPlace(lines []string) (file string, n int, in string) {
	for _, l := range lines {
		f, line, fn, ok := pyFrame(l)
		if !ok {
			continue
		}
		if rel, mine := c.own(f); mine {
			file, n, in = rel, line, fn
		}
	}
	return file, n, in
}
