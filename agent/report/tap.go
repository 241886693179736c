package report

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TAP as it is written: versions 12 to 14, node's and node-tap's subtests, mocha's texts without a block of YAML.
// https://testanything.org/tap-version-14-specification.html
var tapReader = textReader{
	format: "tap", tests: true,
	wakes: []string{"TAP version 1", "ok 1", "# Subtest: ", "1..", "Bail out!"},
	start: func(c *collector) lineReader { return newTap(c, false) },
	when: func(_ Run, l string) bool {
		_, isTest := tapTest(l, false)
		return strings.HasPrefix(l, "TAP version 1") || isTest || strings.HasPrefix(l, "# Subtest: ") || tapPlan(l) == 0 || strings.HasPrefix(l, "Bail out!")
	},
}

var tapFile = fileReader{
	format: "tap", tests: true,
	knows: func(name string, head []byte) bool {
		return strings.HasSuffix(name, ".tap") || bytes.HasPrefix(head, []byte("TAP version 1"))
	},
	read: func(c *collector, f File) error {
		t := newTap(c, true)
		for b := text8(f.Data); len(b) > 0; {
			var line []byte
			line, b = nextLine(b)
			t.line(clean(string(line[:min(len(line), maxLine)])))
		}
		t.end()
		return nil
	},
}

// tap reads one stream. A subtest's lines come before its own line and are indented, or follow it in braces.
type tap struct {
	c       *collector
	file    bool
	names   []string // of the open subtests, by depth
	failed  []bool   // whether a test below was seen failing, by depth
	below   []bool   // whether a test below was seen, by depth
	test    tapLine  // whose block may follow; zero when none
	id      string
	block   headTail
	began   bool
	plan    int // of the top; -1 when not seen
	seen    int // tests at the top
	bail    string
	braces  int
	version bool
	remarks headTail // since the last test: what a file that could not be loaded printed
}

func newTap(c *collector, file bool) *tap { return &tap{c: c, file: file, plan: -1} }

// tapLine is "not ok 3 - name # SKIP reason".
type tapLine struct {
	ok        bool
	name      string
	number    int    // 0 when it has none
	directive string // upper case; empty when there is none
	depth     int
	opens     bool
}

// tapTest reads a test's line at any depth. Where TAP was announced it is read as liberally as its grammar allows: the number,
// the dash and the blanks may be missing.
func tapTest(l string, announced bool) (t tapLine, is bool) {
	body := strings.TrimLeft(l, " ")
	t.depth = (len(l) - len(body)) / 4
	rest, failed := strings.CutPrefix(body, "not ")
	rest, ok := strings.CutPrefix(rest, "ok")
	if !ok || rest != "" && rest[0] != ' ' && !(announced && strings.IndexByte("-#", rest[0]) >= 0) || (len(l)-len(body))%4 != 0 {
		return t, false
	}
	t.ok = !failed
	rest = strings.TrimLeft(rest, " ")
	if n, after, numbered := digits(rest); numbered {
		t.number, rest = n, after
	} else if !announced && rest != "" && !strings.HasPrefix(rest, "- ") && !strings.HasPrefix(rest, "#") {
		return t, false // prose that begins with ok
	}
	if rest, t.opens = strings.CutSuffix(strings.TrimRight(rest, " "), " {"); t.opens {
		rest = strings.TrimRight(rest, " ")
	}
	t.name, t.directive = tapName(strings.TrimLeft(rest, " "))
	return t, true
}

// tapName cuts the directive off and undoes the escapes of a name.
func tapName(s string) (name, directive string) {
	s = strings.TrimLeft(strings.TrimPrefix(s, "-"), " ")
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] != '#' {
			continue
		}
		word := strings.ToUpper(strings.TrimLeft(s[i+1:], " "))
		for _, d := range []string{"SKIP", "TODO"} {
			if strings.HasPrefix(word, d) {
				s, directive = s[:i], d
				break
			}
		}
		if strings.HasPrefix(word, "TIME=") {
			s = s[:i]
		}
	}
	return strings.NewReplacer(`\#`, "#", `\\`, `\`).Replace(strings.TrimSpace(s)), directive
}

// tapPlan is N of "1..N" at the top, or -1.
func tapPlan(l string) int {
	rest, ok := strings.CutPrefix(l, "1..")
	if !ok {
		return -1
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if word == "0" {
		return 0
	}
	if n, after, ok := digits(word); ok && after == "" {
		return n
	}
	return -1
}

func (t *tap) line(l string) {
	if test, ok := tapTest(l, t.version || t.file); ok {
		t.flush()
		t.open(test)
		return
	}
	body := strings.TrimLeft(l, " ")
	switch depth := (len(l) - len(body)) / 4; {
	case strings.HasPrefix(l, "TAP version 1"):
		t.recognise()
		t.version = true
	case strings.HasPrefix(body, "# Subtest: "):
		t.flush()
		t.recognise()
		t.enter(depth, strings.TrimPrefix(body, "# Subtest: "))
	case body == "}" && t.braces > 0:
		t.flush()
		t.braces--
	case tapPlan(l) >= 0:
		t.flush()
		t.plan = tapPlan(l)
		if t.plan == 0 {
			t.recognise()
			t.c.mark(NoTests)
		}
	case strings.HasPrefix(body, "Bail out!"):
		t.flush()
		t.recognise()
		t.bail = body
	case strings.HasPrefix(l, "# ") && t.c.tap:
		t.flush()
		t.remarks.add(l[2:])
	case t.test.name != "" || t.id != "":
		if body != "" && body[0] == '#' && len(l) == len(body) {
			t.flush()
			return
		}
		t.block.add(l)
	}
}

func (t *tap) recognise() {
	t.began, t.c.tap = true, true
	t.c.recognise("tap")
}

// enter opens the subtest of a depth: tests deeper than it are its own.
func (t *tap) enter(depth int, name string) {
	if depth > 50 {
		return
	}
	name, _ = tapName(name)
	for len(t.names) <= depth {
		t.names, t.failed, t.below = append(t.names, ""), append(t.failed, false), append(t.below, false)
	}
	t.names, t.failed, t.below = t.names[:depth+1], t.failed[:depth+1], t.below[:depth+1]
	t.names[depth], t.failed[depth], t.below[depth] = name, false, false
}

// open takes a test's line; what it is told with follows.
func (t *tap) open(l tapLine) {
	t.recognise()
	if l.depth > 50 {
		return
	}
	if l.depth == 0 {
		t.seen++
	}
	parent := l.depth < len(t.below) && t.below[l.depth] && !l.opens
	failedBelow := parent && t.failed[l.depth]
	name := l.name
	if name == "" {
		name = "test " + strconv.Itoa(cmp.Or(l.number, t.seen))
	}
	var levels []string
	for i := range min(l.depth, len(t.names)) {
		levels = append(levels, t.names[i])
		t.below[i] = true
		t.failed[i] = t.failed[i] || !l.ok && l.directive == ""
	}
	if l.opens {
		t.enter(l.depth, l.name)
		t.braces++
		return
	}
	t.names, t.failed, t.below = t.names[:min(l.depth, len(t.names))], t.failed[:min(l.depth, len(t.failed))], t.below[:min(l.depth, len(t.below))]
	if parent && (l.ok || failedBelow) {
		return // its tests were told
	}
	t.test, t.id = l, t.spell(append(levels, name))
}

// spell joins the levels of an id. A level that is a file of the tree is named as the tree names it.
func (t *tap) spell(levels []string) string {
	for i, n := range levels {
		if rel, mine := t.c.own(n); mine && isJSFile(n) {
			levels[i] = rel
		}
	}
	return strings.Join(levels, level)
}

// flush makes a result of the last test and of what followed it.
func (t *tap) flush() {
	if t.id == "" {
		return
	}
	l, lines := t.test, t.block.lines()
	r := Result{ID: t.id, Kind: Test, Status: Pass}
	t.test, t.id, t.block = tapLine{}, "", headTail{}
	file := isJSFile(l.name)
	switch {
	case l.directive != "":
		r.Status = Skip
	case l.ok && file: // node counts a file in which no test reported itself as one that passed
		r.Status, r.Message = Skip, "no test of this file was reported"
	case !l.ok:
		t.describe(&r, lines)
		if file {
			t.c.describeFile(&r, t.remarks.lines())
		}
	}
	t.remarks = headTail{}
	t.add(r)
}

// describeFile is a file that node ran and that ended with a status: what it printed says why.
func (c *collector) describeFile(r *Result, lines []string) {
	file, line := r.ID, r.Line
	if len(lines) > 0 {
		for i, l := range lines {
			if l != "" && l[0] != ' ' && strings.Contains(l, "Error: ") && isPyName(l[:strings.IndexByte(l, ':')]) {
				c.describeJS(r, lines[i:])
				break
			}
		}
		if name, n, ok := strings.Cut(strings.TrimSpace(lines[0]), ":"); ok && r.Class == Compile && r.File == "" && isJSFile(name) {
			r.File, _ = c.own(name)
			line, _, _ = digits(n)
		}
	}
	ofSuite(r, file)
	if r.Class == MissingDependency {
		c.mark(MissingDependency)
	}
	if r.File == "" || r.Line == 0 {
		r.File, r.Line = file, line
	}
}

func (t *tap) add(r Result) {
	if t.file {
		t.c.addFromFile("tap", r)
		return
	}
	t.c.add("tap", r)
}

// describe takes what a failing test says of itself: a block of YAML, or what a mocha prints.
func (t *tap) describe(r *Result, lines []string) {
	block := tapBlock(lines)
	if block == nil {
		t.c.describeJS(r, lines)
		if r.Message == "" {
			r.Status, r.Class = Fail, Assertion
		}
		return
	}
	if inner := tapBlock(append([]string{"---"}, strings.Split(block["error"], "\n")...)); inner["message"] != "" {
		delete(block, "error")
		maps.Copy(block, inner)
	}
	message := cmp.Or(block["error"], block["message"], block["diff"])
	stack := cmp.Or(block["stack"], block["at"])
	all := strings.Join([]string{cmp.Or(block["name"], "Error") + ": " + message, block["code"], block["failureType"], stack}, "\n")
	r.Message = strings.TrimSpace(message)
	r.File, r.Line = t.c.jsPlace(strings.Split(stack, "\n"))
	if r.File == "" {
		r.File, r.Line = t.c.jsPlace([]string{strings.TrimSpace(block["location"]), strings.TrimSpace(block["file"])})
	}
	r.Status, r.Class = t.c.jsKind(all, cmp.Or(block["name"], "Error")+": "+message)
	got, sawGot := firstKey(block, "actual", "found", "got")
	want, sawWant := firstKey(block, "expected", "wanted")
	switch {
	case sawGot || sawWant:
		r.Status, r.Class, r.Got, r.Want = Fail, Assertion, got, want
	case r.Class == Assertion:
		r.Got, r.Want = jsGotWant(strings.Split(message, "\n"))
	case block["failureType"] == "" && block["code"] == "" && r.Class == Panic && stack == "":
		r.Status, r.Class = Fail, Assertion
		r.Got, r.Want = gotWant(message)
	}
	if r.Class == Panic {
		r.Trace = stack
	}
}

func firstKey(block map[string]string, keys ...string) (string, bool) {
	for _, k := range keys {
		if v, ok := block[k]; ok {
			return v, true
		}
	}
	return "", false
}

// tapBlock reads the YAML below a test, as far as runners write it: keys of the first level, with a scalar or all that is
// indented deeper as their text. A whole reader of YAML would take aliases and other means of growth from a test's output.
func tapBlock(lines []string) map[string]string {
	start := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "---" })
	if start < 0 {
		return nil
	}
	block := map[string]string{}
	key, indent := "", -1
	var deeper []string
	keep := func() {
		if key != "" && len(deeper) > 0 {
			block[key] = strings.Trim(strings.Join(dedent(deeper), "\n"), "\n")
		}
		deeper = nil
	}
	quoted := false
	for _, l := range lines[start+1:] {
		body := strings.TrimLeft(l, " ")
		if quoted { // vitest leaves the lines of a text in quotes where they are
			block[key] += "\n" + strings.TrimSuffix(l, `"`)
			quoted = !strings.HasSuffix(l, `"`)
			continue
		}
		if body == "..." {
			break
		}
		if indent < 0 {
			indent = len(l) - len(body)
		}
		if len(l)-len(body) > indent || body == "" || !strings.Contains(body, ":") {
			deeper = append(deeper, l)
			continue
		}
		keep()
		var value string
		key, value, _ = strings.Cut(body, ":")
		if value = strings.TrimSpace(value); value != "|-" && value != "|" && value != ">-" && value != ">" && value != "|+" {
			block[key] = yamlScalar(value)
			if quoted = len(value) > 1 && value[0] == '"' && !strings.HasSuffix(value, `"`); quoted {
				block[key] = value[1:]
			}
		}
	}
	keep()
	return block
}

// yamlScalar takes the quotes off.
func yamlScalar(s string) string {
	if len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t").Replace(s[1 : len(s)-1])
	}
	return s
}

// end holds what was seen against the plan.
func (t *tap) end() {
	t.flush()
	if t.bail != "" {
		t.add(Result{ID: "[tap]", Kind: Test, Status: Error, Class: Infra, Message: t.bail})
		t.c.partial = true
	}
	if t.began && (t.plan >= 0 && t.plan != t.seen || t.plan < 0 && (t.version || t.file)) {
		t.c.partial = true
		t.c.note("tap: the plan does not name as many tests as there are")
	}
	t.c.tap = false
	*t = *newTap(t.c, t.file)
}
