package perceive

import (
	"path"
	"slices"
	"strings"
)

// filesCalled are the files of the tree whose path ends in a name.
func (x *Index) filesCalled(name string) (out []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, e := range x.files {
		if e.record != nil && (e.path == name || strings.HasSuffix(e.path, "/"+name)) {
			out = append(out, e.path)
		}
	}
	return out
}

// called are the definitions of a name, and of a container's member where that is given.
func (x *Index) called(container, member string) (out []Definition) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, n := range x.defs[x.wordOr(member)] {
		if d := x.definition(n); container == "" || d.Name == container+"."+member {
			out = append(out, d)
		}
	}
	sortDefinitions(out)
	return out
}

// usedAt are the definitions that some lines of a file use, in order of line, each once.
func (x *Index) usedAt(file string, lines []span) (out []Definition) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i, ok := x.byPath[file]
	if !ok {
		return nil
	}
	seen := map[uint32]bool{}
	for _, g := range x.files[i].edges {
		if x.nodes[g.to].symbol == 0 || seen[g.to] || !slices.ContainsFunc(lines, func(s span) bool { return s.holds(int(g.line)) }) {
			continue
		}
		seen[g.to] = true
		out = append(out, x.definition(g.to))
	}
	return out
}

// importedBy are the files that a file imports.
func (x *Index) importedBy(file string) (out []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	i, ok := x.byPath[file]
	if !ok {
		return nil
	}
	for _, g := range x.files[i].edges {
		to := x.files[x.nodes[g.to].file]
		if g.kind == Imports && to.record != nil && to.path != file && !slices.Contains(out, to.path) {
			out = append(out, to.path)
		}
	}
	return out
}

// likeness is how many of some names stand in a path, as folders or as the file's own name.
func likeness(name string, parts []string) (n int) {
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, p := range strings.Split(stem, "/") {
		if slices.Contains(parts, p) {
			n++
		}
	}
	return n
}
