package perceive

import (
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

const (
	maxHelpers   = 24   // parts that the failing tests need
	helperDepth  = 3    // steps from a test to what it needs
	helperLength = 120  // lines that a helper may have
	maxUses      = 2000 // of one part that are looked at
	maxWithin    = 200  // symbols of one part that are looked at
)

// needed adds to the tests what they need in files that may not be changed: hooks, fixtures, helpers, and what those
// need.
func (v *viewer) needed(all []part) []part {
	for i := 0; i < len(all) && len(all) < maxHelpers; i++ {
		p := all[i]
		if p.depth >= helperDepth {
			continue
		}
		t := v.text(p.file)
		for _, more := range slices.Concat(t.hooks(p.span), v.fixtures(t, p.span), v.helpers(t, p.span)) {
			known := slices.ContainsFunc(all, func(o part) bool { return o.file == more.file && (more.in([]span{o.span}) || o.in([]span{more.span})) })
			if !known && len(all) < maxHelpers && more.last-more.first < helperLength {
				more.depth = p.depth + 1
				all = append(all, more)
			}
		}
	}
	return all
}

// symbolsIn are the symbols that stand in some lines as a whole.
func (t *text) symbolsIn(s span) (out []syntax.Symbol) {
	for _, sym := range t.outline.Symbols {
		if spanOf(sym).in([]span{s}) && len(out) < maxWithin {
			out = append(out, sym)
		}
	}
	return out
}

// hooks are what a runner calls around a test: the methods of its class, and JavaScript's hooks.
func (t *text) hooks(s span) (out []part) {
	if t.script() {
		used := map[string]bool{}
		for _, w := range word().FindAllString(t.of(s), -1) {
			used[w] = true
		}
		for _, h := range t.setUps(s, used) {
			out = append(out, part{file: t.name, span: h})
		}
		return out
	}
	containers := map[string]bool{}
	for _, sym := range t.symbolsIn(s) {
		containers[sym.Container] = true
		for _, sup := range t.outline.Supers {
			if sup.Of == sym.Container {
				containers[sup.Name] = true
			}
		}
	}
	for _, sym := range t.outline.Symbols {
		if containers[sym.Container] && t.hook(sym) {
			out = append(out, part{file: t.name, span: spanOf(sym)})
		}
	}
	return out
}

// hookNames are unittest's, pytest's and JUnit 3's. https://docs.pytest.org/en/stable/how-to/xunit_setup.html
var hookNames = map[string]bool{
	"setUp": true, "setUpClass": true, "asyncSetUp": true, "setUpModule": true, "tearDown": true, "tearDownClass": true, "asyncTearDown": true,
	"setup_method": true, "setup_class": true, "setup_module": true, "setup_function": true, "teardown_method": true, "teardown_class": true,
}

func (t *text) hook(s syntax.Symbol) bool {
	if s.Kind != "func" && s.Kind != "method" {
		return false
	}
	switch familyOf(t.grammar) {
	case pythonFamily:
		return hookNames[s.Name] || strings.Contains(t.decorators(s), "fixture") && strings.Contains(t.decorators(s), "autouse=True")
	case javaFamily:
		head := t.of(span{s.First, s.Line})
		return s.Name == "setUp" || slices.ContainsFunc([]string{"@BeforeEach", "@BeforeAll", "@Before", "@BeforeClass"}, func(a string) bool { return containsWord(head, a) })
	}
	return false
}

func containsWord(s, w string) bool {
	for at := 0; ; {
		i := strings.Index(s[at:], w)
		if i < 0 {
			return false
		}
		at += i + len(w)
		if at == len(s) || !isLetter(s[at]) {
			return true
		}
	}
}

// decorators are the lines of a symbol above its name's line.
func (t *text) decorators(s syntax.Symbol) string { return t.of(span{s.First, s.Line - 1}) }

// fixtures are pytest's: what a test names among its parameters or in usefixtures, defined in its file or in a conftest.py
// above it. https://docs.pytest.org/en/stable/reference/fixtures.html
func (v *viewer) fixtures(t *text, s span) (out []part) {
	if familyOf(t.grammar) != pythonFamily {
		return nil
	}
	files := []*text{t}
	for dir := path.Dir(t.name); ; dir = path.Dir(dir) {
		if c := v.text(path.Join(dir, "conftest.py")); c != nil && c != t {
			files = append(files, c)
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	asked := map[string]bool{}
	for _, sym := range t.symbolsIn(s) {
		for _, name := range t.asks(sym) {
			asked[name] = true
		}
	}
	for _, f := range files {
		for _, sym := range f.outline.Symbols {
			automatic := f != t && strings.Contains(f.decorators(sym), "autouse=True")
			if strings.Contains(f.decorators(sym), "fixture") && (asked[f.fixtureName(sym)] || automatic) && spanOf(sym) != s {
				out = append(out, part{file: f.name, span: spanOf(sym)})
				if !automatic {
					delete(asked, f.fixtureName(sym)) // the nearest one counts
				}
			}
		}
	}
	return out
}

// fixtureName is the name of a fixture, which its decorator may say.
func (t *text) fixtureName(s syntax.Symbol) string {
	if _, rest, ok := strings.Cut(t.decorators(s), "name="); ok {
		if name := literal(strings.TrimSpace(rest)); name != "" {
			return name
		}
	}
	return s.Name
}

// asks are the fixtures that a test or a fixture asks for by name.
func (t *text) asks(s syntax.Symbol) (out []string) {
	if _, rest, ok := strings.Cut(t.decorators(s), "usefixtures"); ok {
		for _, m := range quoted().FindAllStringSubmatch(rest, 20) {
			out = append(out, m[1])
		}
	}
	text := t.of(span{s.Line, s.Last})
	open := strings.IndexByte(text, '(')
	if open < 0 || s.Kind == "type" {
		return out
	}
	close := closing(text, open, 0)
	if close < 0 {
		return out
	}
	for _, p := range strings.Split(text[open+1:close], ",") {
		name := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(p), "*"))
		if i := strings.IndexAny(name, ":= \n"); i >= 0 {
			name = name[:i]
		}
		if name != "" && name != "self" && name != "cls" {
			out = append(out, name)
		}
	}
	return out
}

// helpers are the definitions that some lines use, in the same file by its own text and in others by the index, as long as
// they may not be changed or stand in the test's own module.
func (v *viewer) helpers(t *text, s span) (out []part) {
	own := map[string]bool{}
	for _, sym := range t.symbolsIn(s) {
		own[sym.Container] = true
	}
	looked := 0
	for _, u := range t.outline.Uses {
		if !s.holds(u.Line) || looked == maxUses {
			continue
		}
		looked++
		for _, sym := range t.named[u.Name] {
			if !t.means(u, sym, own) || spanOf(sym).holds(s.first) || !v.protected(t.name) && (sym.Container == "" || !own[sym.Container]) {
				continue
			}
			out = append(out, part{file: t.name, span: spanOf(sym)})
		}
	}
	if v.Index == nil {
		return out
	}
	for _, d := range v.Index.usedAt(t.name, []span{s}) {
		if d.File != t.name && v.protected(d.File) && v.text(d.File) != nil {
			out = append(out, part{file: d.File, span: span{d.First, d.Last}})
		}
	}
	return out
}

// means says whether a use may be of a symbol of its own file.
func (t *text) means(u syntax.Use, s syntax.Symbol, own map[string]bool) bool {
	if u.Type != "" {
		if s.Container == u.Type {
			return true
		}
		return s.Container != "" && slices.ContainsFunc(t.outline.Supers, func(p syntax.Super) bool { return p.Of == u.Type && p.Name == s.Container })
	}
	return u.Before == "" && (s.Container == "" || own[s.Container] && s.Kind != "method")
}
