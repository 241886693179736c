package patch

import (
	"io/fs"
	"path"
	"slices"
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

// reproduced gives the places where a change has the values in it that the failing tests ask for or ask with: two that
// nobody comes upon by chance or that are given for an input, or one that is both.
func reproduced(old, fresh []read, tested Tested) []noted {
	wanted := atoms(tested.Compared)
	for _, v := range tested.Written {
		wanted[v] = wanted[v] || worth(v)
	}
	had := map[string]int{}
	for _, f := range literalsOf(old) {
		had[f.Text]++
	}
	var out []noted
	values, guarded := map[string]bool{}, false
	for _, r := range fresh {
		for _, f := range literalsOf([]read{r}) {
			if !wanted[f.Text] {
				continue
			}
			if had[f.Text] > 0 {
				had[f.Text]--
				continue
			}
			n := r.note(Asserted, f, false)
			n.key = "" // never on the root: what it has was taken away above
			out = append(out, n)
			answer := f.Usage == syntax.Result && f.Guard != "" && f.Guard != "0" && f.Guard != "1" || wanted[f.Guard] && telling(f.Guard)
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

func literalsOf(all []read) (out []syntax.Fact) {
	for _, r := range all {
		for _, f := range r.facts {
			if f.Kind == syntax.Literal {
				out = append(out, f)
			}
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

// worth says whether a value is looked for at all: no text of one letter, no truth, no whole number up to ten.
func worth(v string) bool {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		return n < -10 || n > 10 || n != float64(int64(n))
	}
	return len(v) >= 2 && v != "true" && v != "false" && v != "nil" && v != "null" && v != "None"
}

// atoms are the strings and numbers in values as runners spell them, those left out that any code may have.
func atoms(asserted []string) map[string]bool {
	set := map[string]bool{}
	add := func(v string) {
		if !worth(v) {
			return
		}
		if n, err := strconv.ParseFloat(v, 64); err == nil {
			set[strconv.FormatFloat(n, 'g', -1, 64)] = true
			v = strings.TrimSuffix(v, ".0")
		}
		set[v] = true
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

// nearby is how many lines before and after a failing assertion belong to its test where no function says so.
const nearby = 15

// Written are the strings and numbers in the functions around lines of a file, and near lines that are in none. A file
// that no grammar reads has none.
func Written(root fs.FS, name string, lines []int) []string {
	g, ok := syntax.For(name)
	if !ok || !fs.ValidPath(name) {
		return nil
	}
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil
	}
	facts, _ := g.Facts(text) // a test that does not parse has no literals to give
	in := map[string]bool{}
	for _, f := range facts {
		if f.Func != "" && slices.Contains(lines, f.Line) {
			in[f.Func] = true
		}
	}
	var out []string
	for _, f := range facts {
		close := func(line int) bool { return f.Line >= line-nearby && f.Line <= line+nearby }
		if f.Kind == syntax.Literal && (in[f.Func] || f.Func == "" && slices.ContainsFunc(lines, close)) {
			out = append(out, f.Text)
		}
	}
	return out
}
