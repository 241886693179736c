package perceive

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
)

// goUnit is one folder's package as it is typed: what others import, its own tests with it, and the tests beside it.
type goUnit struct {
	dir, path string
	base      []int32
	inner     []int32  // tests of the same package
	outer     []int32  // tests of the package's own _test package
	needs     []string // packages of the tree that base imports
	tested    []string // those that the tests import
	seen      *looks   // of base, until the files were recalled
	sight     digest   // of what others see of base
	deep      digest   // of that, and of all it imports inside the tree
	level     int
	stale     map[int32]digest // files that have to be typed, with their keys
}

func (u *goUnit) files() int { return len(u.base) + len(u.inner) + len(u.outer) }

// recallUnits brings the packages up to date with the files that changed, and gives files what is known of them. It answers with the
// files that got something.
func (x *Index) recallUnits() (fresh []int32) {
	for _, u := range x.regroup() {
		fresh = append(fresh, x.recall(u)...)
	}
	return fresh
}

// regroup groups files into packages: all of them for the first time, later those of folders in which a file changed. It answers with the
// packages whose files may have another key than before.
func (x *Index) regroup() []*goUnit {
	if x.units == nil {
		return x.group()
	}
	var out, moved []*goUnit
	for dir := range x.moved {
		had, u := x.units[dir], x.goUnit(dir, x.folders[dir])
		switch {
		case had == nil && u == nil:
			continue
		case had == nil || u == nil: // others may import it, who did not or no longer do
			return x.group()
		}
		x.keepNeeds(u)
		u.level, u.deep = had.level, had.deep
		if u.sight != had.sight || !slices.Equal(u.needs, had.needs) {
			moved = append(moved, u)
		}
		x.units[dir] = u
		out = append(out, u)
	}
	clear(x.moved)
	for _, u := range x.resettle(moved) {
		if !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

func (x *Index) group() (out []*goUnit) {
	x.units = map[string]*goUnit{}
	clear(x.moved)
	for dir, files := range x.folders {
		if u := x.goUnit(dir, files); u != nil {
			x.units[dir] = u
			out = append(out, u)
		}
	}
	for _, u := range out {
		x.keepNeeds(u)
	}
	for _, u := range out {
		u.settle(x.units, map[string]bool{})
	}
	return out
}

// keepNeeds leaves out what is no package.
func (x *Index) keepNeeds(u *goUnit) {
	u.needs = slices.DeleteFunc(u.needs, func(d string) bool { return x.units[d] == nil || d == u.dir })
	slices.Sort(u.needs)
}

// resettle computes anew what stands on some packages, and answers with the packages that see a difference.
func (x *Index) resettle(moved []*goUnit) (out []*goUnit) {
	if len(moved) == 0 {
		return nil
	}
	stands := map[*goUnit]bool{} // on one of them, even through others
	for _, u := range moved {
		stands[u] = true
	}
	var on func(u *goUnit) bool
	on = func(u *goUnit) bool {
		if s, known := stands[u]; known {
			return s
		}
		stands[u] = false // a cycle, which Go does not have
		for _, d := range u.needs {
			if on(x.units[d]) {
				stands[u] = true
				break
			}
		}
		return stands[u]
	}
	before := map[string]digest{}
	for dir, u := range x.units {
		if on(u) {
			before[dir], u.level = u.deep, 0
		}
	}
	for dir := range before {
		x.units[dir].settle(x.units, map[string]bool{})
	}
	differs := func(dir string) bool {
		deep, again := before[dir]
		return again && deep != x.units[dir].deep
	}
	for _, u := range x.units {
		if slices.ContainsFunc(u.needs, differs) || slices.ContainsFunc(u.tested, differs) {
			out = append(out, u)
		}
	}
	return out
}

func (x *Index) goUnit(dir string, files []int32) *goUnit {
	u := &goUnit{dir: dir, path: x.rules.goPath(dir)}
	u.path = cmp.Or(u.path, "./"+dir)
	name := ""
	ordered := slices.Clone(files)
	slices.SortFunc(ordered, func(a, b int32) int { return strings.Compare(x.files[a].path, x.files[b].path) })
	for _, i := range ordered {
		e := x.files[i]
		if e.record.family != goFamily {
			continue
		}
		if e.typed = x.untypable(e); e.typed != "" {
			continue
		}
		pack, test := x.words.text(e.record.pack), strings.HasSuffix(e.path, "_test.go")
		switch {
		case test && strings.HasSuffix(pack, "_test"):
			u.outer = append(u.outer, i)
			u.tested = append(u.tested, x.foldersOf(e)...)
		case test:
			u.inner = append(u.inner, i)
			u.tested = append(u.tested, x.foldersOf(e)...)
		case name == "" || name == pack:
			name = pack
			u.base = append(u.base, i)
			u.needs = append(u.needs, x.foldersOf(e)...)
		default:
			e.typed = "another package of the same folder"
		}
	}
	if u.files() == 0 {
		return nil
	}
	for _, list := range []*[]string{&u.needs, &u.tested} {
		slices.Sort(*list)
		*list = slices.Clip(slices.Compact(*list))
	}
	u.seen = x.gather(u.base)
	u.sight = u.seen.sight
	return u
}

// untypable says why a file is left to the other rules, "" if it is not.
func (x *Index) untypable(e *entry) string {
	switch {
	case e.record.refused != 0:
		return "a file does not parse"
	case !builds(e.path, x.words.text(e.record.constraint), cmp.Or(x.options.System, runtime.GOOS+"/"+runtime.GOARCH)):
		return "a file is for other systems or tags"
	}
	return ""
}

// settle computes how deep a package lies in the imports, and the digest of all it stands on. Cycles, which Go does
// not have, are cut.
func (u *goUnit) settle(units map[string]*goUnit, open map[string]bool) {
	if u.level > 0 || open[u.dir] {
		return
	}
	open[u.dir] = true
	parts := [][]byte{u.sight[:]}
	level := 0
	for _, d := range u.needs {
		n := units[d]
		n.settle(units, open)
		level = max(level, n.level)
		parts = append(parts, n.deep[:])
	}
	u.level, u.deep = level+1, digestOf(parts...)
}

// recall gives files what the cache has of them, and notes those of which it has nothing.
func (x *Index) recall(u *goUnit) (fresh []int32) {
	needs := x.deepOf(u.needs)
	u.stale = nil
	note := func(files []int32, seen *looks, own bool) {
		for _, i := range files {
			e := x.files[i]
			around := needs
			if own {
				around = x.deepOf(append(x.foldersOf(e), u.needs...))
			}
			key := seen.key(e, around, cmp.Or(x.options.System, runtime.GOOS+"/"+runtime.GOARCH))
			if e.typing != nil && e.typing.key == key {
				continue
			}
			if e.typing != nil {
				x.past = append(x.past, e.typing.key)
			}
			if t := x.typings[key]; t != nil {
				e.typing = t
				fresh = append(fresh, i)
				continue
			}
			if u.stale == nil {
				u.stale = map[int32]digest{}
			}
			u.stale[i] = key
		}
	}
	if u.seen == nil {
		u.seen = x.gather(u.base)
	}
	note(u.base, u.seen, false)
	u.seen = nil
	if len(u.inner)+len(u.outer) > 0 {
		inner := slices.Concat(u.base, u.inner)
		note(u.inner, x.gather(inner), true)
		if len(u.outer) > 0 {
			note(u.outer, x.gather(append(inner, u.outer...)), true)
		}
	}
	return fresh
}

// foldersOf are the packages of the tree that a file imports.
func (x *Index) foldersOf(e *entry) (out []string) {
	for _, m := range e.record.imports {
		if d, ok := x.rules.goFolder(x.words.text(m.from)); ok {
			out = append(out, d)
		}
	}
	return out
}

// deepOf is a digest of what packages look like to those that import them.
func (x *Index) deepOf(dirs []string) []byte {
	slices.Sort(dirs)
	var all []byte
	for _, d := range slices.Compact(dirs) {
		if u := x.units[d]; u != nil {
			all = append(append(all, d...), u.deep[:]...)
		}
	}
	return all
}
