package scenes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	Dir string // the red tree, only read
	Bin string // folder of programs that stands before all others, "" if none
}

// PerLanguage is how many cases of each language are chosen where nobody says.
const PerLanguage = 14

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
		dir, err := kept(work, c.ID, func(parent string) (string, error) {
			dir, _, err := benchmarks.Prepare(ctx, m, parent)
			return dir, err
		})
		return Tree{Dir: dir}, err
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
		dir, err := kept(work, c.ID, func(parent string) (string, error) {
			dir, _, err := p.Prepare(ctx, bin, parent)
			return dir, err
		})
		return Tree{Dir: dir, Bin: bin}, err
	}
	return c
}

// kept is the folder of a tree that was made before, or else is made now.
func kept(work, id string, prepare func(parent string) (string, error)) (string, error) {
	parent := filepath.Join(work, "trees")
	dir := filepath.Join(parent, strings.ReplaceAll(id, "/", "_"))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	made, err := prepare(parent)
	if err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil {
		return "", errors.Join(err, os.RemoveAll(made))
	}
	return dir, nil
}
