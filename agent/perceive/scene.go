package perceive

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// viewer is one scene in the making.
type viewer struct {
	Look
	budget  int
	texts   map[string]*text
	folders map[string][]string
	counted map[string]int
	bytes   int // that were counted, and their tokens
	tokens  int
	spans   map[string][]span // what the tests section is about, by file
	words   map[string]int    // names that the tests and the findings speak of
	files   []string
	cut     []string
	seen    []Lines

	suspected map[string]map[int]float64 // by file and line, see suspicion
	watched   map[string]bool            // ends of file names of whose lines it is known whether they ran
}

func newViewer(l Look) *viewer {
	v := &viewer{
		Look: l, budget: l.Budget, texts: map[string]*text{}, folders: map[string][]string{}, counted: map[string]int{}, spans: map[string][]span{}, words: map[string]int{},
	}
	if v.budget <= 0 {
		v.budget = 7500
	}
	if v.Answer <= 0 {
		v.Answer = 1024
	}
	if v.Tokens == nil {
		v.Tokens = estimate
	}
	v.Ran = v.mayChange(l.Ran)
	return v
}

// mayChange is what ran of the root's files that may be changed, each by its name here.
func (v *viewer) mayChange(ran []Ran) (out []Ran) {
	if v.off(Coverage) {
		return nil
	}
	names := map[string]string{} // "" for a file that is not here, or may not be changed
	for _, r := range ran {
		name, known := names[r.File]
		if !known {
			var ok bool
			if name, ok = v.resolve(r.File); !ok || v.protected(name) {
				name = ""
			}
			names[r.File] = name
		}
		if r.File = name; name != "" {
			out = append(out, r)
		}
	}
	return out
}

// estimate is 3.2 bytes a token, which is on the high side for code.
func estimate(s string) int { return (len(s)*5 + 15) / 16 }

// shown is a section's text, or nothing where it is switched off: what is not shown takes no room.
func (v *viewer) shown(name, text string) string {
	if v.off(name) {
		return ""
	}
	return text
}

// count is the tokens of a text and of the empty line below it. A model's own counter may cost a request: each text
// is counted once.
func (v *viewer) count(s string) int {
	if s == "" {
		return 0
	}
	if n, ok := v.counted[s]; ok {
		return n
	}
	n := v.Tokens(s) + 2
	v.counted[s] = n
	v.bytes += len(s)
	v.tokens += n
	return n
}

// guess is what a text may count, by what was counted so far. It costs nothing.
func (v *viewer) guess(s string) int {
	if v.bytes == 0 {
		return estimate(s)
	}
	return (len(s)*v.tokens + v.bytes - 1) / v.bytes
}

// fit cuts a text until it counts no more than some tokens; nothing is left of it where there is no room.
func (v *viewer) fit(s string, tokens int) string {
	for range 8 {
		n := v.count(s)
		if n <= tokens {
			return s
		}
		s = clip(s, len(s)*max(tokens-16, 0)/n)
	}
	return ""
}

// text is a file of the root.
type text struct {
	name    string
	src     string
	lines   []string // with their ends
	outline syntax.Outline
	grammar syntax.Grammar // its zero reads nothing
	parsed  bool
	named   map[string][]syntax.Symbol
	said    calls // what a test file of JavaScript declares, once it was asked for
	asked   bool
	inside  map[int]bool // lines that begin inside a string or a comment; nil until somebody asks
}

// maxText is the longest file that is looked into, in bytes.
const maxText = 1 << 20

// text reads a file, once. It is nil for what is no text, too long or not there.
func (v *viewer) text(name string) *text {
	if t, ok := v.texts[name]; ok {
		return t
	}
	v.texts[name] = nil
	info, err := fs.Stat(v.Root, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return nil
	}
	b, err := fs.ReadFile(v.Root, name)
	if err != nil || len(b) > maxText || slices.Contains(b, 0) {
		return nil
	}
	t := &text{name: name, src: string(b), lines: strings.SplitAfter(string(b), "\n")}
	if g, ok := syntax.For(name); ok {
		o, err := outline(g, b)
		t.grammar, t.outline, t.parsed, t.named = g, o, err == nil, map[string][]syntax.Symbol{}
		for _, sym := range o.Symbols {
			t.named[sym.Name] = append(t.named[sym.Name], sym)
		}
	}
	v.texts[name] = t
	return t
}

// filesIn are the regular files of a folder.
func (v *viewer) filesIn(dir string) (out []string) {
	if had, ok := v.folders[dir]; ok {
		return had
	}
	entries, err := fs.ReadDir(v.Root, dir)
	for _, e := range entries {
		if err == nil && e.Type().IsRegular() {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	v.folders[dir] = out
	return out
}

// script says whether a file's tests are calls, not definitions.
func (t *text) script() bool { return familyOf(t.grammar) == scriptFamily }

// of is the text of some lines.
func (t *text) of(s span) string {
	first, last := max(s.first, 1), min(s.last, len(t.lines))
	if first > last {
		return ""
	}
	return strings.Join(t.lines[first-1:last], "")
}

// code is how many lines of a span are code.
func (t *text) code(s span) (n int) {
	for line := max(s.first, 1); line <= min(s.last, len(t.lines)); line++ {
		if t.isCode(line) {
			n++
		}
	}
	return n
}

// isCode says whether a line says something and begins outside of strings and comments.
func (t *text) isCode(line int) bool {
	if t.inside == nil && t.parsed {
		t.inside = t.grammar.Literals([]byte(t.src))
	}
	said := strings.TrimSpace(t.lines[line-1])
	return len(said) > 1 && !t.inside[line] && !strings.HasPrefix(said, "//") && !strings.HasPrefix(said, "#")
}

// enclosing is the smallest symbol that holds a line.
func (t *text) enclosing(line int) (best syntax.Symbol, ok bool) {
	for _, s := range t.outline.Symbols {
		if s.First <= line && line <= s.Last && (!ok || s.Last-s.First < best.Last-best.First) {
			best, ok = s, true
		}
	}
	return best, ok
}

// around is the type or module that a symbol stands in, as far as the text has it.
func (t *text) around(s syntax.Symbol) (outer syntax.Symbol, ok bool) {
	if s.Container == "" || !t.grammar.Nested() {
		return outer, false
	}
	for _, o := range t.outline.Symbols {
		if o.Kind == "type" && o.Name == s.Container && o.First <= s.First && s.Last <= o.Last && o != s {
			outer, ok = o, true
		}
	}
	return outer, ok
}

// language is the info string of a fence around a file's text.
func language(name string) string {
	if g, ok := syntax.For(name); ok {
		return g.Name
	}
	return map[string]string{
		".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php", ".kt": "kotlin",
		".swift": "swift", ".scala": "scala", ".sh": "sh", ".json": "json", ".yml": "yaml", ".yaml": "yaml", ".toml": "toml", ".md": "markdown",
		".css": "css", ".html": "html", ".sql": "sql",
	}[strings.ToLower(path.Ext(name))]
}

// resolve is the file of the root that a tool's name for a file means: the longest end of it that there is.
func (v *viewer) resolve(name string) (string, bool) {
	name = path.Clean(strings.ReplaceAll(strings.TrimPrefix(name, "file://"), "\\", "/"))
	for rest := strings.TrimLeft(name, "/."); rest != ""; {
		if fs.ValidPath(rest) {
			if info, err := fs.Stat(v.Root, rest); err == nil && info.Mode().IsRegular() {
				return rest, true
			}
		}
		var more bool
		if _, rest, more = strings.Cut(rest, "/"); !more {
			break
		}
	}
	return "", false
}

// folder is the folder of a finding, relative to the root: of the package that its id names where that is the root's own,
// else of its file.
func (v *viewer) folder(f report.Result) string {
	pkg, own := f.ID, false
	if p, _, ok := goID(f.ID); ok {
		pkg, own = p, true
	} else if p, _, ok := strings.Cut(f.ID, ".["); ok {
		pkg, own = p, true
	}
	if own && v.Module != "" && pkg == v.Module {
		return "."
	}
	if below, ok := strings.CutPrefix(pkg, v.Module+"/"); own && v.Module != "" && ok {
		return path.Clean(below)
	}
	if name, ok := v.resolve(f.File); ok {
		return path.Dir(name)
	}
	if f.File == "" {
		return path.Clean(pkg)
	}
	return path.Clean(path.Dir(f.File))
}
