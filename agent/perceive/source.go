package perceive

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// shown is text for a section and the words in it.
type shown struct {
	text  string
	words map[string]int
}

var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

// symbol is one definition of a file of the root.
type symbol struct {
	file  string
	name  string
	addr  string // as an edit addresses it
	kind  string // func, method, type, const, var
	text  string
	score int
	order int
}

// goID splits a Go test's id: import path, then the first element that looks like a test.
var goID = regexp.MustCompile(`^(.+?)\.((?:Test|Example|Fuzz)(?:[^a-z/][^/]*)?)(?:/.*)?$`)

// folder is the folder of a finding, relative to the root.
func (l Look) folder(f report.Result) string {
	if f.File != "" {
		return path.Dir(f.File)
	}
	pkg := f.ID
	if m := goID.FindStringSubmatch(f.ID); m != nil {
		pkg = m[1]
	} else if p, _, ok := strings.Cut(f.ID, ".["); ok {
		pkg = p
	}
	if pkg == l.Module {
		return "."
	}
	return strings.TrimPrefix(pkg, l.Module+"/")
}

// tests shows the source of the failing tests, and takes the words of it that may be names.
func (l Look) tests(budget int) shown {
	out := shown{words: map[string]int{}}
	var b strings.Builder
	seen := map[string]bool{}
	for _, f := range l.Findings {
		m := goID.FindStringSubmatch(f.ID)
		for _, w := range word.FindAllString(f.Message+" "+f.Trace, 200) {
			out.words[w]++
		}
		if m == nil || seen[m[1]+m[2]] {
			continue
		}
		seen[m[1]+m[2]] = true
		dir := l.folder(f)
		for _, sym := range l.symbols(dir, true) {
			if sym.name != m[2] {
				continue
			}
			text := clip(source(sym.text), min(budget, fieldCap))
			for _, w := range word.FindAllString(sym.text, -1) {
				out.words[w] += 2
			}
			if b.Len()+len(text) < budget {
				fmt.Fprintf(&b, "%s (may not be changed):\n%s", sym.file, Fence("go", text))
			}
		}
	}
	if b.Len() > 0 {
		out.text = "## The failing test\n" + b.String()
	}
	return out
}

// symbols are the definitions of the files of one folder: of tests, or of everything else.
func (l Look) symbols(dir string, tests bool) []symbol {
	var out []symbol
	entries, err := fs.ReadDir(l.Root, path.Clean(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if !e.Type().IsRegular() || strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		out = append(out, l.fileSymbols(name)...)
	}
	return out
}

func (l Look) fileSymbols(name string) []symbol {
	g, ok := syntax.For(name)
	if !ok {
		return nil
	}
	b, err := fs.ReadFile(l.Root, name)
	if err != nil || len(b) > 1<<20 {
		return nil
	}
	syms, err := g.Symbols(b)
	if err != nil {
		return nil
	}
	out := make([]symbol, 0, len(syms))
	for i, s := range syms {
		out = append(out, symbol{file: name, name: s.Name, addr: s.String(), kind: s.Kind, text: string(b[s.Start:s.End]), order: i})
	}
	return out
}

// source shows the symbols at issue: those that the test names, then those that they name, whole files where they
// are small enough.
func (l Look) source(words map[string]int, budget int) (text, answer string, files, cut []string) {
	var all []symbol
	dirs := map[string]bool{}
	for _, f := range l.Findings {
		if d := l.folder(f); !dirs[d] {
			dirs[d] = true
			all = append(all, l.symbols(d, false)...)
		}
	}
	byFile := map[string][]symbol{}
	ranked := rank(all, words)
	for _, s := range ranked {
		if _, no := l.Protected(s.file); no {
			continue
		}
		byFile[s.file] = append(byFile[s.file], s)
	}
	var b strings.Builder
	for _, name := range filesByScore(byFile) {
		raw, err := fs.ReadFile(l.Root, name)
		if err != nil || b.Len() > budget {
			continue
		}
		if len(raw) < (budget-b.Len())*2/3 || l.Wide && len(raw) < budget-b.Len() {
			fmt.Fprintf(&b, "%s:\n%s", name, Fence("go", source(string(raw))))
			files = append(files, name)
			continue
		}
		if part := partOf(byFile[name], l.preface(name), budget-b.Len()); part != "" {
			fmt.Fprintf(&b, "%s (only a part is shown):\n%s", name, Fence("go", source(part)))
			files, cut = append(files, name), append(cut, name)
		}
	}
	if b.Len() == 0 {
		return "", "", nil, nil
	}
	return "## The source\n" + b.String(), l.answer(ranked, files), files, cut
}

// answer says what may be changed, likeliest first, and shows the form with the likeliest address in it: a small model
// copies what it sees last.
func (l Look) answer(ranked []symbol, files []string) string {
	var addrs []string
	for _, s := range ranked {
		if len(addrs) == 8 {
			break
		}
		if _, no := l.Protected(s.file); !no && slices.Contains(files, s.file) && (s.kind == "func" || s.kind == "method") {
			addrs = append(addrs, s.file+" :: "+s.addr)
		}
	}
	if len(addrs) == 0 {
		return ""
	}
	file, _, _ := strings.Cut(addrs[0], " :: ")
	return fmt.Sprintf("## Your answer\nThe test is right, the source is wrong. Likely places: `%s`.\n%s", strings.Join(addrs, "`, `"), Form(l.Spelling, file, addrs[0]))
}

// Form shows the form of an answer in a spelling, with a file and an address of it.
func Form(spelling, file, addr string) string {
	switch spelling {
	case Whole:
		return fmt.Sprintf("Give the corrected file, whole, in this form:\n\n```\n# edit: %s :: *\n…\n```\n", file)
	case Search:
		return fmt.Sprintf("Give the change in this form:\n\n%s\n<<<<<<< SEARCH\n…\n=======\n…\n>>>>>>> REPLACE\n", file)
	}
	return fmt.Sprintf("Give the corrected function, whole, in this form:\n\n```go\n# edit: %s\n…\n```\n", addr)
}

// rank scores symbols by how often the words name them, directly or through one that is named; what nobody names
// is left out unless nothing is named at all.
func rank(all []symbol, words map[string]int) []symbol {
	for hop := 3; hop > 0; hop-- {
		next := map[string]int{}
		for i, s := range all {
			if n := words[s.name]; n > 0 && s.score == 0 {
				all[i].score = hop*100 + min(n, 50)
				for _, w := range word.FindAllString(s.text, -1) {
					next[w]++
				}
			}
		}
		for w, n := range next {
			words[w] += n
		}
	}
	var out []symbol
	for _, s := range all {
		if s.score > 0 {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		out = all
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].score > out[j].score })
	return out
}

func filesByScore(byFile map[string][]symbol) []string {
	var names []string
	for n := range byFile {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := byFile[names[i]][0].score, byFile[names[j]][0].score
		return a > b || a == b && names[i] < names[j]
	})
	return names
}

// preface is what stands before a file's first symbol: its package clause and imports.
func (l Look) preface(name string) string {
	syms := l.fileSymbols(name)
	b, err := fs.ReadFile(l.Root, name)
	if err != nil || len(syms) == 0 {
		return ""
	}
	head, _, _ := strings.Cut(string(b), syms[0].text)
	return clip(head, 2<<10)
}

const gap = "// … more of the file is not shown …\n"

// partOf is a file's preface and the best of its symbols that fit, in the file's order, with a marker for what is left out.
func partOf(syms []symbol, preface string, budget int) string {
	var take []symbol
	used := len(preface)
	for _, s := range syms {
		if used+len(s.text) > budget*2/3 {
			continue
		}
		used += len(s.text) + 40
		take = append(take, s)
	}
	sort.Slice(take, func(i, j int) bool { return take[i].order < take[j].order })
	if len(take) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(preface)
	last := -1
	for _, s := range take {
		if s.order != last+1 {
			b.WriteString(gap + "\n")
		}
		b.WriteString(strings.TrimRight(s.text, "\n") + "\n\n")
		last = s.order
	}
	return b.String() + gap
}
