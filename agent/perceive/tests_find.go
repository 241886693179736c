package perceive

import (
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/syntax"
)

// goID splits a Go test's id: import path, then the first element that looks like a test, without subtests.
func goID(id string) (pkg, test string, ok bool) {
	for at := 0; at < len(id); {
		i := strings.IndexByte(id[at:], '.')
		if i < 0 {
			return "", "", false
		}
		at += i + 1
		name, _, _ := strings.Cut(id[at:], "/")
		for _, kind := range []string{"Test", "Example", "Fuzz"} {
			rest, ok := strings.CutPrefix(name, kind)
			if ok && at > 1 && (rest == "" || rest[0] < 'a' || rest[0] > 'z') && !strings.ContainsAny(name, ".[ (:") {
				return id[:at-1], name, true
			}
		}
	}
	return "", "", false
}

// locate finds the text of a failing test: by its id, else by the first place of the finding that may not be changed.
func (v *viewer) locate(f report.Result) []part {
	if f.Kind != report.Test && f.Kind != "" {
		return nil
	}
	at := v.frames(f)
	if found := v.byID(f, at); len(found) > 0 {
		return found
	}
	for _, p := range at {
		if t := v.text(p.file); t != nil && v.protected(p.file) {
			if s, ok := t.testAt(p.line); ok {
				return []part{{p.file, s, 0}}
			}
		}
	}
	return nil
}

// testAt is the test around a line.
func (t *text) testAt(line int) (span, bool) {
	if t.script() {
		if c, ok := t.calls().at(line); ok {
			return c.span, true
		}
	}
	s, ok := t.enclosing(line)
	if !ok || s.Kind == "type" && s.Last-s.First > 60 {
		return span{}, false
	}
	return spanOf(s), true
}

// byID finds a test by what its runner calls it.
func (v *viewer) byID(f report.Result, at []frame) []part {
	id, file := f.ID, ""
	if pkg, test, ok := goID(id); ok && v.goFolder(pkg) {
		return v.goTest(f, test)
	}
	if head, rest, ok := strings.Cut(id, "::"); ok && strings.Contains(head, ".") { // pytest's node id
		file, id = v.resolved(head), rest
	}
	if head, rest, ok := strings.Cut(id, level); ok && strings.Contains(head, ".") {
		if name := v.resolved(head); name != "" {
			file, id = name, rest
		}
	}
	var files []string
	for _, name := range append([]string{file, f.File}, filesOf(at)...) {
		if name, ok := v.place(name); ok && !slices.Contains(files, name) && (name == file || v.protected(name)) {
			files = append(files, name)
		}
	}
	if titles := strings.Split(id, level); len(titles) > 0 {
		for _, name := range files {
			if t := v.text(name); t != nil && t.script() {
				if c, ok := t.calls().titled(titles, f.Line); ok {
					return []part{{name, c.span, 0}}
				}
			}
		}
	}
	return v.bySymbol(names(id), files)
}

// level joins the names of suites and tests in an id.
const level = " > "

func filesOf(at []frame) (out []string) {
	for _, p := range at {
		out = append(out, p.file)
	}
	return out
}

func (v *viewer) resolved(name string) string {
	file, _ := v.resolve(name)
	return file
}

// names are the parts of an id: modules, classes and the test, without parameters.
func names(id string) []string {
	if i := strings.IndexAny(id, "[({"); i > 0 {
		id = id[:i]
	}
	return strings.FieldsFunc(strings.TrimSpace(id), func(r rune) bool { return r == '.' || r == ':' || r == '/' || r == '$' || r == '>' || r == ' ' })
}

// goFolder says whether a package of Go lies in the root.
func (v *viewer) goFolder(pkg string) bool {
	return v.Module == "" || pkg == v.Module || strings.HasPrefix(pkg, v.Module+"/")
}

// goTest is a test of the package that a finding is about.
func (v *viewer) goTest(f report.Result, test string) []part {
	for _, name := range v.filesIn(v.folder(f)) {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		t := v.text(name)
		if t == nil {
			continue
		}
		for _, s := range t.outline.Symbols {
			if s.Name == test && s.Container == "" {
				return []part{{name, spanOf(s), 0}}
			}
		}
	}
	return nil
}

// bySymbol finds a test that is a definition, in files that are known to hold it or else anywhere in the tree.
func (v *viewer) bySymbol(parts []string, files []string) []part {
	if len(parts) == 0 {
		return nil
	}
	member, container := parts[len(parts)-1], ""
	if len(parts) > 1 {
		container = parts[len(parts)-2]
	}
	for _, name := range files {
		t := v.text(name)
		if t == nil {
			continue
		}
		if s, ok := t.defined(container, member); ok {
			return []part{{name, spanOf(s), 0}}
		}
	}
	if v.Index == nil {
		return nil
	}
	all := v.Index.called(container, member)
	if len(all) == 0 {
		all = slices.DeleteFunc(v.Index.called("", member), func(d Definition) bool { return likeness(d.File, parts) == 0 })
	}
	best, most := -1, -1
	for i, d := range all {
		n := 2 * likeness(d.File, parts)
		if v.protected(d.File) {
			n++
		}
		if n > most && d.Kind != "type" {
			best, most = i, n
		}
	}
	if best < 0 || v.text(all[best].File) == nil {
		return nil
	}
	return []part{{all[best].File, span{all[best].First, all[best].Last}, 0}}
}

// defined is a file's definition of a name, in a container if one has it so.
func (t *text) defined(container, member string) (best syntax.Symbol, ok bool) {
	for _, s := range t.named[member] {
		if s.Kind != "type" && (!ok || s.Container == container) {
			best, ok = s, true
		}
	}
	return best, ok
}
