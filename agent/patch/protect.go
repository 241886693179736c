package patch

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Protected says whether a path may not be touched, and why, in words for people. It looks at the folded path, so
// that no spelling of a protected name gets by; case does not count. What the policy opens is not protected,
// unless it can never be opened, is one of the policy's own globs, or is a script of the check.
func (p Policy) Protected(name string) (why string, protected bool) {
	folded := foldPath(name)
	if r, ok := matching(neverOpen, folded); ok {
		return r.why, true
	}
	for _, script := range p.Oracle {
		if foldPath(path.Clean(script)) == folded {
			return "a script that the check runs", true
		}
	}
	for _, glob := range p.Protect {
		if covers(glob, folded) {
			return "protected by the configuration's " + quote(glob), true
		}
	}
	r, ok := matching(byDefault, folded)
	if !ok || p.opens(folded) {
		return "", false
	}
	return r.why, true
}

// opens says whether the policy opens a folded path. An entry opens what it matches whole: neither a name in any
// folder nor all that lies below it.
func (p Policy) opens(folded string) bool {
	for _, glob := range p.Allow {
		if ok, err := doublestar.Match(foldGlob(glob), folded); err == nil && ok {
			return true
		}
	}
	return false
}

// covers says whether a glob protects a folded path: by matching it, a folder above it, or, when the glob has no
// slash, its name or a folder's in any place. A glob that cannot be read protects everything, since it was
// meant to protect something.
func covers(glob, folded string) bool {
	glob = strings.TrimSuffix(foldGlob(glob), "/")
	anywhere := !strings.Contains(glob, "/")
	for _, p := range append(parents(folded), folded) {
		if ok, err := doublestar.Match(glob, p); ok || err != nil {
			return true
		}
		if ok, _ := doublestar.Match(glob, path.Base(p)); ok && anywhere {
			return true
		}
	}
	return false
}

// foldGlob folds a glob's case and leaves its signs alone.
func foldGlob(glob string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/"))
}

func matching(rules []rule, folded string) (rule, bool) {
	for _, r := range rules {
		if r.matches(folded) {
			return r, true
		}
	}
	return rule{}, false
}

// rule protects paths for one reason. Its globs are lower case and are matched against folded paths.
type rule struct {
	why   string
	class Class
	names globs // of the file itself, in any folder
	under globs // of a folder above it, at any depth
	top   globs // of the outermost folder above it
	paths globs // of the whole path
}

func (r rule) matches(folded string) bool {
	folders := strings.Split(folded, "/")
	name := folders[len(folders)-1]
	folders = folders[:len(folders)-1]
	if r.names.match(name) || r.paths.match(folded) {
		return true
	}
	if len(folders) > 0 && r.top.match(folders[0]) {
		return true
	}
	for _, f := range folders {
		if r.under.match(f) {
			return true
		}
	}
	return false
}

// globs are patterns, sorted by how they can be tried cheaply: a policy is asked about every file of a tree.
type globs struct {
	exact    map[string]bool
	suffixes []string // of *x
	prefixes []string // of x*
	others   []string
}

// words makes globs of a list in one string, separated by white space.
func words(list string) globs {
	g := globs{exact: map[string]bool{}}
	for _, p := range strings.Fields(list) {
		switch {
		case !strings.ContainsAny(p, "*?[{"):
			g.exact[p] = true
		case !strings.ContainsAny(p[1:], "*?[{") && p[0] == '*':
			g.suffixes = append(g.suffixes, p[1:])
		case strings.IndexAny(p, "*?[{") == len(p)-1 && strings.HasSuffix(p, "*"):
			g.prefixes = append(g.prefixes, p[:len(p)-1])
		default:
			g.others = append(g.others, p)
		}
	}
	return g
}

func (g globs) match(name string) bool {
	if g.exact[name] {
		return true
	}
	for _, s := range g.suffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	for _, s := range g.prefixes {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	for _, p := range g.others {
		if ok, _ := doublestar.Match(p, name); ok {
			return true
		}
	}
	return false
}
