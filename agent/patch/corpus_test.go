package patch_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// TestCorpus lands edits on real files of each language, out of packages that the registries serve: a sample, or with
// REDRAFT_CORPUS=all hundreds of each, as they are and in the forms that a text file can have. REDRAFT_CORPUS=click,zod takes
// those parcels alone.
func TestCorpus(t *testing.T) {
	for _, language := range []string{"python", "go", "typescript", "javascript", "rust", "java"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			c := &corpus{T: t, language: language, asked: os.Getenv("REDRAFT_CORPUS"), all: os.Getenv("REDRAFT_CORPUS") != "", skipped: map[string]int{}}
			began := time.Now()
			for i, f := range c.files() {
				c.file(f, i)
			}
			c.Logf("%d files, %d forms of them, %d symbols, %d edits in %v; failures %d; left out: %v", c.n.files, c.n.forms, c.n.symbols, c.n.edits, time.Since(began).Round(time.Millisecond), c.n.failures, c.skipped)
			for _, name := range c.unread {
				c.Log("the grammar does not read", name)
			}
			if least := map[bool]int{true: 300, false: 14}[c.all]; c.n.files < least && (c.asked == "all" || !c.all) {
				c.Errorf("%d files, want %d", c.n.files, least)
			}
		})
	}
}

type corpus struct {
	*testing.T
	language string
	asked    string // all, or some parcels by name
	all      bool   // not a sample
	n        struct{ files, forms, symbols, edits, failures int }
	skipped  map[string]int
	unread   []string
}

// files are those that the test is about, each time the same.
func (c *corpus) files() []realFile {
	const most, largest, sample, small = 130, 200 << 10, 16, 6 << 10
	var out []realFile
	taken := 0
	for _, p := range parcels {
		if p.language != c.language || c.all && c.asked != "all" && !slices.Contains(strings.Split(c.asked, ","), path.Base(p.name)) {
			continue
		}
		all := p.files(c.T)
		if !c.all {
			all = slices.DeleteFunc(all, func(f realFile) bool { return len(f.data) > small })
		}
		limit := map[bool]int{true: most, false: sample - len(out)}[c.all]
		for i, f := range all {
			if i*limit/len(all) == (i+1)*limit/len(all) && len(all) > limit {
				continue // evenly out of a large parcel
			}
			if len(f.data) <= largest {
				out = append(out, f)
			}
		}
		if taken++; !c.all && len(out) >= sample {
			break
		}
	}
	return out
}

// form is a file in one of the forms that a text may have.
type form struct {
	*corpus
	name    string // of the real file
	how     string
	file    string // in the tree
	g       syntax.Grammar
	data    []byte
	symbols []syntax.Symbol
	inside  map[int]bool
	lines   []int
	eol     string
}

func (c *corpus) file(f realFile, n int) {
	g, ok := syntax.For(f.name)
	if !ok {
		c.Fatalf("no grammar for %s", f.name)
	}
	if bytes.IndexByte(f.data, 0) >= 0 {
		c.skipped["not text"]++
		return
	}
	if err := g.Parse(f.data); err != nil {
		c.unread = append(c.unread, fmt.Sprintf("%s: %v", f.name, err))
		return
	}
	c.n.files++
	forms := formsOf(g, f.data)
	for i, how := range formNames {
		switch others := len(formNames) - 1; { // all files as they are and in two more forms; of a sample, each file in one form
		case c.all && i > 0 && (i-1)%3 != n%3, !c.all && (i == 0) == (n%3 == 0), !c.all && i > 0 && i != 1+n/3%others:
			continue
		}
		if data := forms[how](); data == nil || i > 0 && bytes.Equal(data, f.data) {
			c.skipped["form "+how]++
		} else {
			c.form(form{corpus: c, name: f.name, how: how, file: "src/f" + path.Ext(f.name), g: g, data: data}, i == 0 && (c.all || n%8 == 0) || c.all && n%10 == 0)
		}
	}
}

func (c *corpus) form(f form, whole bool) {
	var err error
	if f.symbols, err = f.g.Symbols(f.data); err != nil {
		c.skipped["form "+f.how]++
		return
	}
	c.n.forms++
	f.inside = f.g.Literals(f.data)
	f.lines = []int{0}
	for i, b := range f.data {
		if b == '\n' && i+1 < len(f.data) {
			f.lines = append(f.lines, i+1)
		}
	}
	if f.eol = "\n"; 2*bytes.Count(f.data, []byte("\r\n")) > bytes.Count(f.data, []byte("\n")) {
		f.eol = "\r\n"
	}
	for _, layer := range f.layers() {
		c.n.symbols += len(layer)
		f.retype(layer, whole)
		f.change(layer, whole)
	}
	if f.ranges(); whole {
		f.wholeFile()
		f.creates()
	}
}

// formNames are the forms in the order in which a sample takes them.
var formNames = []string{"as it is", "CRLF", "byte order mark", "no final newline", "tabs", "invalid UTF-8", "lone CR"}

// formsOf makes the forms; nil where there is none, as of a shebang behind a byte order mark.
func formsOf(g syntax.Grammar, data []byte) map[string]func() []byte {
	return map[string]func() []byte{
		"as it is": func() []byte { return data },
		"CRLF": func() []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
		},
		"byte order mark": func() []byte {
			if bytes.HasPrefix(data, []byte("\ufeff")) || bytes.HasPrefix(data, []byte("#!")) {
				return nil
			}
			return append([]byte("\ufeff"), data...)
		},
		"no final newline": func() []byte { return bytes.TrimRight(data, "\r\n") },
		"tabs":             func() []byte { return tabbed(g, data) },
		"invalid UTF-8":    func() []byte { return remarked(g, data, "caf\xe9 \xff\xfe") },
		"lone CR":          func() []byte { return remarked(g, data, "a\rb") },
	}
}

// tabbed has a tab for every four spaces at the head of a line.
func tabbed(g syntax.Grammar, data []byte) []byte {
	inside := g.Literals(data)
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i, l := range lines {
		if inside[i+1] && !bytes.HasPrefix(bytes.TrimSpace(l), []byte("* ")) {
			continue
		}
		for n := 0; bytes.HasPrefix(l[n:], []byte("    ")); n++ {
			l = slices.Concat(l[:n], []byte("\t"), l[n+4:])
		}
		lines[i] = l
	}
	return bytes.Join(lines, nil)
}

// remarked has a comment above some definitions, which makes it theirs.
func remarked(g syntax.Grammar, data []byte, words string) []byte {
	symbols, err := g.Symbols(data)
	if err != nil {
		return nil
	}
	comment := "/* " + words + " */"
	if g.Name == "python" {
		comment = "# " + words
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	last := 0
	for i, s := range symbols {
		if s.First <= last || i%3 != 0 || s.Head != s.First {
			continue
		}
		last = s.First
		at := indentOf(lines[s.First-1])
		eol := "\n"
		if bytes.HasSuffix(lines[s.First-1], []byte("\r\n")) {
			eol = "\r\n"
		}
		lines[s.First-1] = slices.Concat(at, []byte(comment+eol), lines[s.First-1])
	}
	return bytes.Join(lines, nil)
}

func indentOf(line []byte) []byte { return line[:len(line)-len(bytes.TrimLeft(line, " \t"))] }

// layers are the symbols that can be addressed, in sets that do not overlap.
func (f form) layers() [][]syntax.Symbol {
	times := map[string]int{}
	for _, s := range f.symbols {
		times[s.String()]++
	}
	var rest []syntax.Symbol
	for _, s := range f.symbols {
		switch {
		case times[s.String()] > 1:
			f.skipped["symbols of one name"]++
		case strings.ContainsAny(s.String(), "\"'/"): // declare module "a/b"
			f.skipped["a name that no address has"]++
		case lineLike(s.String()):
			f.skipped["a name like a line"]++
		default:
			rest = append(rest, s)
		}
	}
	var out [][]syntax.Symbol
	for len(rest) > 0 {
		var layer, later []syntax.Symbol
		end := 0
		for _, s := range rest {
			if s.First > end {
				layer, end = append(layer, s), s.Last
			} else {
				later = append(later, s)
			}
		}
		out, rest = append(out, layer), later
	}
	return out
}

func lineLike(name string) bool {
	return len(name) > 1 && strings.Trim(name[1:], "0123456789") == "" && (name[0] == 'L' || name[0] == 'l')
}

// way is one in which a model types a definition.
type way struct {
	name string
	of   func(f form, s syntax.Symbol, text string, head int) (string, bool)
}

var ways = []way{
	{"to the byte", func(_ form, _ syntax.Symbol, text string, _ int) (string, bool) { return text, true }},
	{"without its comment", func(f form, s syntax.Symbol, text string, head int) (string, bool) {
		return strings.Join(strings.SplitAfter(text, "\n")[head:], ""), head > 0
	}},
	{"in LF, at the margin", func(f form, s syntax.Symbol, text string, head int) (string, bool) {
		lines := strings.SplitAfter(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		own := string(indentOf([]byte(lines[head])))
		for i, l := range lines {
			switch {
			case f.inside[s.First+i] && i < s.Head-s.First && starred(l, own):
				lines[i] = l[len(own):] // of a doc comment
			case f.inside[s.First+i] && i <= s.Head-s.First || strings.Trim(l, " \t\n") == "":
			case f.inside[s.First+i]: // a string's own lines stay
			case !strings.HasPrefix(l, own):
				return "", false
			default:
				lines[i] = l[len(own):]
			}
		}
		return "\n" + strings.Join(lines, "") + "\n\n", own != "" || f.eol != "\n"
	}},
	{"in CRLF", func(f form, _ syntax.Symbol, text string, _ int) (string, bool) {
		return strings.ReplaceAll(text, "\n", "\r\n"), f.eol == "\n" && !strings.Contains(text, "\r")
	}},
	{"with what no UTF-8 can say replaced", func(_ form, _ syntax.Symbol, text string, _ int) (string, bool) {
		valid := strings.ToValidUTF8(text, "\ufffd")
		return valid, valid != text
	}},
}

// starred says whether a line is one of a block comment that begins at a column.
func starred(line, column string) bool {
	rest, ok := strings.CutPrefix(line, column)
	bare := strings.TrimLeft(rest, " ")
	return ok && len(rest)-len(bare) <= 3 && strings.HasPrefix(bare, "*")
}

// retype gives every symbol its own text. Nothing may change.
func (f form) retype(layer []syntax.Symbol, whole bool) {
	for i, w := range ways {
		if !whole && i != len(f.data)%3 && (i != 4 || f.how != "invalid UTF-8") {
			continue
		}
		var set patch.Set
		for _, s := range layer {
			if body, ok := w.of(f, s, string(f.data[s.Start:s.End]), s.Head-s.First); ok {
				set = append(set, edit(f.file, s.String(), body))
			}
		}
		if len(set) == 0 {
			continue
		}
		f.lands("retyped "+w.name, set, f.data)
		if whole && i == 0 {
			f.read(set)
		}
	}
}

// remark is where a comment goes into a symbol's text, and which.
func (f form) remark(s syntax.Symbol) (offset int, text string, ok bool) {
	end := s.End
	for end > s.Start && (f.data[end-1] == '\n' || f.data[end-1] == '\r') {
		end--
	}
	python := f.g.Name == "python"
	lineStart := bytes.LastIndexByte(f.data[:min(s.BodyStart, len(f.data))], '\n') + 1
	switch {
	case python && s.BodyStart < s.End && len(bytes.TrimLeft(f.data[lineStart:s.BodyStart], " \t")) == 0:
		return lineStart, string(f.data[lineStart:s.BodyStart]) + "# changed" + f.eol, true
	case python:
		return end, "  # changed", !f.inside[s.Last+1]
	case s.BodyStart < s.End && f.data[s.BodyStart] == '{':
		next := bytes.IndexByte(f.data[s.BodyStart:s.End], '\n') + 1
		if next == 0 || len(bytes.TrimSpace(f.data[s.BodyStart+1:s.BodyStart+next])) > 0 || s.BodyStart+next >= s.End {
			return s.BodyStart + 1, " /* changed */", true
		}
		next += s.BodyStart
		return next, string(indentOf(f.data[next:])) + "// changed" + f.eol, true
	case s.BodyStart < s.End:
		return s.BodyStart, "/* changed */ ", true
	}
	return end, " // changed", !f.inside[s.Last+1]
}

// remarks are the comments for a layer's symbols, without those that would break the program.
func (f form) remarks(layer []syntax.Symbol) map[string]insertion {
	out := map[string]insertion{}
	all := newWanted(f.data)
	for _, s := range layer {
		if offset, text, ok := f.remark(s); ok && offset >= f.lines[s.Head-1] {
			out[s.String()] = insertion{offset, text}
			all.insert(offset, text)
		} else {
			f.skipped["symbols without room for a comment"]++
		}
	}
	if len(out) == 0 || f.g.Parse(all.bytes()) == nil {
		return out
	}
	for name, i := range out {
		one := newWanted(f.data)
		one.insert(i.at, i.text)
		if f.g.Parse(one.bytes()) != nil {
			f.skipped["comments that break a program"]++
			delete(out, name)
		}
	}
	return out
}

// change puts a comment into every symbol. Nothing else may change.
func (f form) change(layer []syntax.Symbol, whole bool) {
	remarks := f.remarks(layer)
	for i, w := range ways[:3] {
		if !whole && i != len(layer)%3 {
			continue
		}
		var set patch.Set
		want := newWanted(f.data)
		for _, s := range layer {
			in, ok := remarks[s.String()]
			if !ok {
				continue
			}
			changed := string(f.data[s.Start:in.at]) + in.text + string(f.data[in.at:s.End])
			moved := f
			if strings.HasSuffix(in.text, "\n") {
				moved.inside = shifted(f.inside, f.line(in.at))
			}
			if body, ok := w.of(moved, s, changed, s.Head-s.First); ok {
				set = append(set, edit(f.file, s.String(), body))
				want.insert(in.at, in.text)
			}
		}
		if len(set) > 0 {
			f.lands("changed "+w.name, set, want.bytes())
		}
	}
}

// shifted is what lies inside literals once there is one more line.
func shifted(inside map[int]bool, line int) map[int]bool {
	out := map[int]bool{}
	for l := range inside {
		if l >= line {
			l++
		}
		out[l] = true
	}
	return out
}

func (f form) line(offset int) int {
	n, found := slices.BinarySearch(f.lines, offset)
	if !found {
		n--
	}
	return n + 1
}

// wanted is a text with insertions.
type wanted struct {
	data []byte
	ins  []insertion
}

type insertion struct {
	at   int
	text string
}

func newWanted(data []byte) *wanted { return &wanted{data: data} }

func (w *wanted) insert(at int, text string) { w.ins = append(w.ins, insertion{at, text}) }

func (w *wanted) bytes() []byte {
	slices.SortStableFunc(w.ins, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	at := 0
	for _, i := range w.ins {
		out.Write(w.data[at:i.at])
		out.WriteString(i.text)
		at = i.at
	}
	out.Write(w.data[at:])
	return out.Bytes()
}

var roomy = patch.Policy{Files: 10, Lines: 1 << 20, Bytes: 1 << 30}

// lands holds that a set gives exactly a text: at once, and where it does not, edit by edit to see which one is to blame.
func (f form) lands(what string, set patch.Set, want []byte) {
	f.n.edits += len(set)
	got, err := f.resolve(set)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	f.n.failures++
	if f.n.failures > 12 {
		return
	}
	for _, e := range set {
		alone, err := f.resolve(patch.Set{e})
		var s *patch.Slip
		if errors.As(err, &s) || len(set) == 1 || bytes.Equal(want, f.data) && !bytes.Equal(alone, f.data) {
			f.Errorf("%s (%s), %s, %s: %v\n%s", f.name, f.how, e.Addr, what, err, difference(want, alone))
			return
		}
	}
	f.Errorf("%s (%s), %s: %v\n%s", f.name, f.how, what, err, difference(want, got))
}

// resolve is the text after a set; nothing changed is no mistake here.
func (f form) resolve(set patch.Set) ([]byte, error) {
	change, _, err := patch.Resolve(tree(f.file, string(f.data)), set, roomy)
	var s *patch.Slip
	if errors.As(err, &s) && s.Code == patch.NothingChanged {
		return f.data, nil
	}
	if err != nil {
		return nil, err
	}
	return change.Files[0].New, nil
}

func difference(want, got []byte) string {
	a, b := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d\nwant %q\ngot  %q", i+1, bytes.Join(a[i:min(i+3, len(a))], nil), bytes.Join(b[i:min(i+3, len(b))], nil))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}

// read holds that a set written as an answer is read as that set.
func (f form) read(set patch.Set) {
	fence := "```"
	for bytes.Contains(f.data, []byte(fence)) {
		fence += "`"
	}
	if bytes.Contains(f.data, []byte("edit:")) {
		fence += "``" // a longer fence quotes what would read as an edit
	}
	var answer strings.Builder
	bytesOf := 0
	for i, e := range set {
		if bytesOf += len(e.Body) + 100; i == 400 || bytesOf > 900_000 {
			set = set[:i]
			break
		}
		fmt.Fprintf(&answer, "Here.\n\n# edit: %s :: %s\n%s\n%s", e.File, e.Addr, fence, e.Body)
		if !bytes.HasSuffix(e.Body, []byte("\n")) {
			answer.WriteString("\n")
		}
		answer.WriteString(fence + "\n")
	}
	got, slips := patch.Parse(answer.String())
	same := func(a, b patch.Edit) bool {
		return a.File == b.File && a.Addr == b.Addr && strings.TrimSuffix(string(a.Body), "\n") == strings.TrimSuffix(string(b.Body), "\n")
	}
	if len(slips) > 0 || !slices.EqualFunc(set, got, same) {
		f.n.failures++
		f.Errorf("%s (%s): read back as %d edits of %d, %v", f.name, f.how, len(got), len(set), slips)
	}
}

// ranges inserts before a line, rewrites lines and fits old text, all in one set.
func (f form) ranges() {
	comment := map[bool]string{true: "# changed", false: "// changed"}[f.g.Name == "python"]
	free := func(line int) bool { // a comment may go before this line
		return line > 1 && line <= len(f.lines) && !f.inside[line] && !bytes.HasSuffix(bytes.TrimRight(f.text(line-1, line-1), "\r\n"), []byte(`\`))
	}
	var at []int
	for line := 2; line <= len(f.lines) && len(at) < 3; line++ {
		if n := len(f.lines) * (1 + 2*len(at)) / 7; line > n && free(line) && (len(at) == 0 || line > at[len(at)-1]+4) {
			at = append(at, line)
		}
	}
	if len(at) < 3 || at[2]+2 > len(f.lines) {
		f.skipped["files too short for ranges"]++
		return
	}
	lf := func(from, to int) string { return strings.ReplaceAll(string(f.text(from, to)), "\r\n", "\n") }
	set := patch.Set{edit(f.file, fmt.Sprintf("+L%d", at[0]), comment+"\n"),
		edit(f.file, fmt.Sprintf("L%d-L%d", at[1]-1, at[1]+1), lf(at[1]-1, at[1]-1)+comment+"\n"+lf(at[1], at[1]+1))}
	want := newWanted(f.data)
	want.insert(f.lines[at[0]-1], comment+f.eol)
	want.insert(f.lines[at[1]-1], comment+f.eol)
	old := lf(at[2]-1, at[2]+1)
	if once(lf(1, len(f.lines)), old) {
		set = append(set, patch.Edit{File: f.file, Addr: patch.Fit, Old: []byte(old), Body: []byte(lf(at[2]-1, at[2]-1) + comment + "\n" + lf(at[2], at[2]+1))})
		want.insert(f.lines[at[2]-1], comment+f.eol)
	}
	if mixed(f.data) {
		f.skipped["files of mixed endings, by lines"]++
		return
	}
	if f.g.Parse(want.bytes()) != nil {
		f.skipped["comments that break a program"]++
		return
	}
	f.lands("by lines", set, want.bytes())
	f.lands("lines retyped", patch.Set{edit(f.file, fmt.Sprintf("L%d-L%d", at[0], at[2]), lf(at[0], at[2]))}, f.data)
}

// once says whether whole lines stand in a text in one place.
func once(text, lines string) bool {
	text, lines = "\n"+strings.TrimSuffix(text, "\n")+"\n", "\n"+lines
	first, last := strings.Index(text, lines), strings.LastIndex(text, lines)
	return first == last && first >= 0
}

// mixed says whether a text has both kinds of line endings.
func mixed(data []byte) bool {
	n := bytes.Count(data, []byte("\r\n"))
	return n > 0 && n != bytes.Count(data, []byte("\n"))
}

// text is lines from to to.
func (f form) text(from, to int) []byte {
	end := len(f.data)
	if to < len(f.lines) {
		end = f.lines[to]
	}
	return f.data[f.lines[from-1]:end]
}

// wholeFile gives the whole file: as it is, and with a comment at its end.
func (f form) wholeFile() {
	if len(bytes.TrimSpace(f.data)) == 0 {
		return
	}
	text := strings.ReplaceAll(string(f.data), "\r\n", "\n")
	f.lands("the whole file", patch.Set{edit(f.file, "*", text)}, f.data)
	if comment := map[bool]string{true: "# changed\n", false: "// changed\n"}[f.g.Name == "python"]; strings.HasSuffix(text, "\n") && !mixed(f.data) {
		f.lands("the whole file and a comment", patch.Set{edit(f.file, "*", text+comment)}, append(slices.Clone(f.data), strings.ReplaceAll(comment, "\n", f.eol)...))
	}
}

// news are new definitions: at the top and in a type.
var news = map[string][2]string{
	"python":     {"def redraft_new():\n  if True:\n    return 1\n", "def redraft_new(self):\n  if True:\n    return 1\n"},
	"go":         {"func redraft_new() int {\n  if true {\n    return 1\n  }\n  return 2\n}\n", "func (TYPE) redraft_new() int {\n  if true {\n    return 1\n  }\n  return 2\n}\n"},
	"javascript": {"function redraft_new() {\n  if (true) {\n    return 1;\n  }\n}\n", "redraft_new() {\n  if (true) {\n    return 1;\n  }\n}\n"},
	"rust":       {"fn redraft_new() -> u8 {\n  if true {\n    return 1;\n  }\n  2\n}\n", "fn redraft_new(&self) -> u8 {\n  if true {\n    return 1;\n  }\n  2\n}\n"},
	"java":       {"class redraft_new {\n  int one() {\n    return 1;\n  }\n}\n", "int redraft_new() {\n  if (true) {\n    return 1;\n  }\n  return 2;\n}\n"},
}

// creates adds a definition to the file and one to its types.
func (f form) creates() {
	body := news[f.language]
	if f.language == "typescript" {
		body = news["javascript"]
	}
	f.created("", "redraft_new", body[0])
	done := 0
	types := map[string]int{}
	for _, s := range f.symbols {
		if s.Kind == "type" {
			types[s.Name]++
		}
	}
	for _, s := range f.symbols {
		methods := slices.ContainsFunc(f.symbols, func(m syntax.Symbol) bool { return m.Container == s.Name && m.Kind == "method" })
		if s.Kind != "type" || !methods || types[s.Name] > 1 || done == 3 || strings.Contains(string(f.data[s.Start:s.BodyStart]), "@interface") || lineLike(s.Name) {
			continue
		}
		done++
		f.created(s.Name, "redraft_new", strings.ReplaceAll(body[1], "TYPE", s.Name))
	}
}

func (f form) created(container, name, body string) {
	addr := "+" + name
	if container != "" {
		addr = container + ".+" + name
	}
	f.n.edits++
	fail := func(format string, args ...any) {
		if f.n.failures++; f.n.failures <= 12 {
			f.Errorf("%s (%s), %s: %s", f.name, f.how, addr, fmt.Sprintf(format, args...))
		}
	}
	got, err := f.resolve(patch.Set{edit(f.file, addr, body)})
	if err != nil {
		fail("%v", err)
		return
	}
	same := 0
	for same < len(f.data) && got[same] == f.data[same] {
		same++
	}
	if more := len(got) - len(f.data); more <= 0 || !bytes.Equal(got[same+more:], f.data[same:]) {
		fail("other bytes are touched: %s", difference(f.data, got))
		return
	}
	now, err := f.g.Symbols(got)
	if err != nil {
		fail("%v", err)
		return
	}
	for _, s := range now {
		if s.Name == name && s.Container == container {
			f.indented(got, s, fail)
			return
		}
	}
	fail("it is not there")
}

// indented holds that a new definition stands where its siblings do.
func (f form) indented(got []byte, s syntax.Symbol, fail func(string, ...any)) {
	at := indentOf(got[s.Start:s.End])
	if s.Container == "" {
		if len(bytes.TrimPrefix(at, []byte("\ufeff"))) > 0 {
			fail("it is indented by %q", at)
		}
		return
	}
	for _, o := range f.symbols {
		if o.Container == s.Container && bytes.Equal(at, indentOf(f.data[f.lines[o.Head-1]:])) {
			return
		}
	}
	fail("it is indented by %q, unlike its siblings", at)
}
