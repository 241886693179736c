package perceive

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// word finds what may be a name.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL_][\pL\pN_]*`) })

// maxTests is how many findings' tests are looked for.
const maxTests = 8

// part is some lines that belong to the failing tests.
type part struct {
	file string
	span
	depth int // 0 a test itself, then how far from it
}

// tests shows the source of the failing tests with what they need, and takes the words of it that may be names.
func (v *viewer) tests(budget int) string {
	var all []part
	for i, f := range v.Findings {
		for _, w := range word().FindAllString(f.Message+" "+f.Trace, 200) {
			v.words[w]++
		}
		if i >= maxTests {
			continue
		}
		for _, t := range v.locate(f) {
			if !slices.ContainsFunc(all, func(p part) bool { return p.file == t.file && p.span == t.span }) {
				all = append(all, part{t.file, t.span, 0})
			}
		}
	}
	all = v.needed(all)
	for _, p := range all {
		for _, w := range word().FindAllString(v.text(p.file).of(p.span), -1) {
			v.words[w] += 2
		}
		v.spans[p.file] = append(v.spans[p.file], p.span)
	}
	return v.testText(all, budget)
}

// testText shows the parts that there is room for, the tests first.
func (v *viewer) testText(all []part, budget int) string {
	const title = "## The failing test\n"
	slices.SortStableFunc(all, func(a, b part) int { return a.depth - b.depth })
	var order []string
	take := map[string][]span{}
	left, dropped := budget-v.guess(title)-40, 0
	for _, p := range all {
		cost := v.guess(v.text(p.file).of(p.span)) + 12
		if cost > left && len(order) > 0 {
			dropped++
			continue
		}
		if !slices.Contains(order, p.file) {
			order, cost = append(order, p.file), cost+v.guess(p.file)+16
		}
		left -= cost
		take[p.file] = append(take[p.file], p.span)
	}
	if len(order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title)
	left = budget - v.count(title) - 40
	for _, name := range order {
		block := v.testBlock(v.text(name), take[name], left)
		left -= v.count(block)
		b.WriteString(block)
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "[… %s not shown …]\n", plural(dropped, "helper of it is", "helpers of it are"))
	}
	b.WriteString(v.readFiles(take))
	return b.String()
}

// testBlock is the lines of one file, with the imports and the types around them.
func (v *viewer) testBlock(t *text, spans []span, budget int) string {
	lines := slices.Concat(spans, t.imports(spans))
	for _, s := range spans {
		for _, sym := range t.symbolsIn(s) {
			lines = append(lines, t.heads(sym)...)
		}
	}
	head := label(t.name) + " (may not be changed):\n"
	body := v.fit(source(t.excerpt(lines)), min(budget-v.guess(head)-12, fieldCap/3))
	if body == "" {
		return head + "[… not shown: there is no room …]\n"
	}
	return head + Fence(language(t.name), body)
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// quoted finds the strings of a program that may be names of files.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[\"'`]([\\w./@+-]{3,200})[\"'`]") })

// maxReads is how many files that tests read are named.
const maxReads = 6

// readFiles names the files of the tree that the tests' text speaks of; what is in them is not shown.
func (v *viewer) readFiles(take map[string][]span) string {
	var names []string
	for file, spans := range take {
		for _, s := range spans {
			for _, m := range quoted().FindAllStringSubmatch(v.text(file).of(s), 100) {
				if name, ok := v.beside(file, m[1]); ok && name != file && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	more := ""
	if n := len(names) - maxReads; n > 0 {
		names, more = names[:maxReads], fmt.Sprintf(" and %d more", n)
	}
	for i, n := range names {
		names[i] = label(n)
	}
	return fmt.Sprintf("It reads files that are not shown: %s%s.\n", strings.Join(names, ", "), more)
}

// beside is a file of the tree that is no program, as a test in another file names it.
func (v *viewer) beside(file, name string) (string, bool) {
	if !strings.ContainsAny(name, "./") {
		return "", false
	}
	for _, dir := range []string{path.Dir(file), path.Join(path.Dir(file), "testdata"), "."} {
		full := path.Join(dir, name)
		if _, program := syntax.For(full); program {
			continue
		}
		if found, ok := v.resolve(full); ok && found == strings.TrimPrefix(full, "./") {
			return found, true
		}
	}
	return "", false
}
