package scenes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/benchmarks"
)

// Case is one red check of a project.
type Case struct {
	ID         string                               // as in "parse@1.22.3": the package and its bad version
	Language   string                               // go, python
	Lines      int                                  // of the released repair
	Check      string                               // the command that is red
	Reproduced func(findings []string) (why string) // what of its red differs from what was seen; nothing if empty
	Lay        func(ctx context.Context, work string) (Tree, error)
}

// Tree is a case on this machine.
type Tree struct {
	Dir string            // the red tree, only read
	Bin string            // folder of programs that stands before all others, "" if none
	Fix map[string][]byte // the released repair: new text of files, by their names with slashes
}

// PerLanguage is how many cases of each language are chosen where nobody says.
const PerLanguage = 15

// unfit are packages that are left out, each with the reason.
var unfit = map[string]string{
	"marshmallow": "its tests depend on the date",
}

// Cases chooses the cases with the smallest repairs, each languages's first n of them in turn. data is the folder of public
// inputs. Left out are Python packages whose tests depend on the date, and cases that are red with their repair too.
func Cases(data string, n int) ([]Case, error) {
	modules, err := benchmarks.GoModules()
	if err != nil {
		return nil, err
	}
	packages, err := benchmarks.PyPackages(data)
	if err != nil {
		return nil, err
	}
	var inGo, inPython []Case
	for _, m := range modules {
		inGo = append(inGo, goCase(m))
	}
	for _, p := range packages {
		if unfit[p.Package] == "" && len(p.Known) == 0 {
			inPython = append(inPython, pythonCase(p))
		}
	}
	byLines := func(a, b Case) int { return cmp.Compare(a.Lines, b.Lines) }
	slices.SortStableFunc(inGo, byLines)
	slices.SortStableFunc(inPython, byLines)
	var cases []Case
	for i := range n { // in turn, so that a run that is cut short has both
		for _, of := range [][]Case{inGo, inPython} {
			if i < len(of) {
				cases = append(cases, of[i])
			}
		}
	}
	return cases, nil
}

// Pick takes the cases whose language is one of the patterns, or whose id holds one; all if there are none.
func Pick(cases []Case, patterns []string) ([]Case, error) {
	if len(patterns) == 0 {
		return cases, nil
	}
	used := map[string]bool{}
	some := slices.DeleteFunc(slices.Clone(cases), func(c Case) bool {
		fits := false
		for _, p := range patterns {
			if p == c.Language || p != "go" && p != "python" && strings.Contains(c.ID, p) {
				used[p], fits = true, true
			}
		}
		return !fits
	})
	for _, p := range patterns {
		if !used[p] {
			return nil, fmt.Errorf("no case matches %q", p)
		}
	}
	return some, nil
}

func goCase(m benchmarks.Case) Case {
	c := Case{ID: m.Module + "@" + m.Bad, Language: "go", Lines: m.Lines, Check: benchmarks.GoCheck, Reproduced: m.Reproduced}
	c.Lay = func(ctx context.Context, work string) (Tree, error) {
		return kept(work, c.ID, func(parent string) (string, map[string][]byte, error) { return benchmarks.Prepare(ctx, m, parent) })
	}
	return c
}

func pythonCase(p benchmarks.PythonCase) Case {
	c := Case{ID: p.Package + "@" + p.Bad, Language: "python", Lines: p.Lines, Check: p.Check, Reproduced: p.Reproduced}
	c.Lay = func(ctx context.Context, work string) (Tree, error) {
		bin, err := p.Interpreter(ctx, filepath.Join(work, "python"))
		if err != nil {
			return Tree{}, err
		}
		tree, err := kept(work, c.ID, func(parent string) (string, map[string][]byte, error) { return p.Prepare(ctx, bin, parent) })
		tree.Bin = bin
		return tree, err
	}
	return c
}

// kept is a tree that was made before, with its repair beside it, or else is made now.
func kept(work, id string, prepare func(parent string) (string, map[string][]byte, error)) (t Tree, err error) {
	parent := filepath.Join(work, "trees")
	t.Dir = filepath.Join(parent, fileName(id))
	repair := t.Dir + ".repair.json"
	if raw, err := os.ReadFile(repair); err == nil && json.Unmarshal(raw, &t.Fix) == nil {
		if _, err := os.Stat(t.Dir); err == nil {
			return t, nil
		}
	}
	if err := errors.Join(os.MkdirAll(parent, 0o755), os.RemoveAll(t.Dir)); err != nil { // half of one has no use
		return t, err
	}
	made, fix, err := prepare(parent)
	if err != nil {
		return t, err
	}
	raw, err := json.Marshal(fix)
	if err = errors.Join(err, os.WriteFile(repair, raw, 0o644)); err == nil {
		err = os.Rename(made, t.Dir)
	}
	if err != nil {
		return t, errors.Join(err, os.RemoveAll(made))
	}
	t.Fix = fix
	return t, nil
}

// fileName is a case's id as the name of a file.
func fileName(id string) string { return strings.ReplaceAll(id, "/", "_") }
