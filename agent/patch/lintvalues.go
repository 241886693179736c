package patch

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// placed judges a file by where a change puts it.
func placed(root fs.FS, change Change, f FileChange) []noted {
	why := ""
	folded := foldPath(f.Path)
	base, dir := path.Base(folded), path.Dir(folded)
	switch {
	case f.Deleted:
		return nil
	case f.Created && (under(folded, "node_modules") || under(folded, "vendor") || under(folded, "site-packages") || under(folded, "third_party")):
		why = Shadowing
	case f.Created && (base == "sitecustomize.py" || base == "usercustomize.py" || strings.HasSuffix(base, ".pth") || base == "build.rs"):
		why = Shadowing
	case f.Created && strings.HasSuffix(base, ".py") && hides(root, base, dir):
		why = Shadowing
	case f.Created && strings.HasSuffix(base, ".java") && (strings.Contains(folded, "/java/org/junit/") || strings.Contains(folded, "/java/java/") || strings.Contains(folded, "/java/javax/")):
		why = Shadowing
	case f.Created && renamedAway(change, folded):
		why = Excluded
	}
	if why == "" {
		return nil
	}
	return []noted{{Smell: Smell{Rule: why, File: f.Path, Fatal: true}, key: why + "\x00" + f.Path}}
}

func under(name, folder string) bool {
	return strings.HasPrefix(name, folder+"/") || strings.Contains(name, "/"+folder+"/")
}

// hides says whether a new Python file is found in a library's place: its name is a library's, and its folder is no
// package, so that it is looked in first.
func hides(root fs.FS, base, dir string) bool {
	name := strings.TrimSuffix(base, ".py")
	if name == "__init__" {
		name = path.Base(dir)
		dir = path.Dir(dir)
	}
	if !libraries()[name] {
		return false
	}
	_, err := fs.Stat(root, path.Join(dir, "__init__.py"))
	return err != nil
}

// renamedAway says whether a Go file came back under a name that some systems or builds leave out.
func renamedAway(change Change, name string) bool {
	stem, ok := strings.CutSuffix(name, ".go")
	i := strings.LastIndexByte(stem, '_')
	if !ok || i < 0 {
		return false
	}
	for _, f := range change.Files {
		if f.Deleted && foldPath(f.Path) == stem[:i]+".go" {
			return true
		}
	}
	return false
}

// reproduced gives the places where a change has the values in it that the failing assertions ask for: two that nobody
// comes upon by chance or that are given for an input, or one that is both.
func reproduced(old, fresh []read, asserted []string) []noted {
	wanted := atoms(asserted)
	had := map[string]int{}
	for _, r := range old {
		for _, f := range r.facts {
			if f.Kind == syntax.Literal {
				had[f.Text]++
			}
		}
	}
	var out []noted
	values, guarded := map[string]bool{}, false
	for _, r := range fresh {
		for _, f := range r.facts {
			if f.Kind != syntax.Literal || !wanted[f.Text] {
				continue
			}
			if had[f.Text] > 0 {
				had[f.Text]--
				continue
			}
			n := r.note(Asserted, f, false)
			n.key = "" // never on the root: what it has was taken away above
			out = append(out, n)
			answer := f.Usage == syntax.Result && f.Guard != "" && f.Guard != "0" && f.Guard != "1"
			if telling(f.Text) || answer {
				values[f.Text] = true
			}
			guarded = guarded || telling(f.Text) && answer
		}
	}
	if len(values) >= 2 || guarded {
		for i := range out {
			out[i].Fatal = true
		}
	}
	return out
}

// telling says whether a value is one that code has only because it was looked up: no small or round number, no single word.
func telling(v string) bool {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		digits := strings.TrimRight(strings.Trim(strings.ReplaceAll(v, ".", ""), "-"), "0")
		return len(digits) >= 2 && (n > 10 || n < -10 || strings.Contains(v, "."))
	}
	word := strings.IndexFunc(v, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' }) < 0
	return len(v) >= 4 && !word
}

// atoms are the strings and numbers in values as runners spell them, those left out that any code may have.
func atoms(asserted []string) map[string]bool {
	set := map[string]bool{}
	add := func(v string) {
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			if n < -10 || n > 10 || n != float64(int64(n)) {
				set[strconv.FormatFloat(n, 'g', -1, 64)] = true
				set[strings.TrimSuffix(v, ".0")] = true
			}
			return
		}
		if len(v) >= 2 && v != "true" && v != "false" && v != "nil" && v != "null" && v != "None" {
			set[v] = true
		}
	}
	for _, text := range asserted {
		if len(text) > 64<<10 {
			text = text[:64<<10]
		}
		add(strings.TrimSpace(text))
		for text != "" {
			var v string
			v, text = atom(text)
			add(v)
		}
	}
	return set
}

// atom takes the first string or number off a text.
func atom(s string) (v, rest string) {
	i := strings.IndexAny(s, "\"'`0123456789")
	if i < 0 {
		return "", ""
	}
	if q := s[i]; q == '"' || q == '\'' || q == '`' {
		for j := i + 1; j < len(s); j++ {
			if s[j] == '\\' {
				j++
			} else if s[j] == q {
				quoted := s[i : j+1]
				if u, err := strconv.Unquote(`"` + strings.Trim(quoted, `"'`) + `"`); err == nil {
					return u, s[j+1:]
				}
				return quoted[1 : len(quoted)-1], s[j+1:]
			}
		}
		return "", s[i+1:]
	}
	j := i
	for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == '.' || s[j] == '_' || s[j] >= 'a' && s[j] <= 'z') {
		j++
	}
	if i > 0 && s[i-1] == '-' {
		i--
	}
	return strings.TrimRight(s[i:j], "."), s[j:]
}
