package mechanic

import (
	"go/ast"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// suspects says how much each place of a project is suspected of the fault.
type suspects struct {
	project  *project
	spectrum *spectrum
	lines    map[string]map[int]float64 // by file and line: what a stack trace names
	funcs    map[*ast.FuncDecl]float64  // what a trace lies in, or what a test's source names
	used     map[string]float64         // names of package-level variables and constants that suspected places use
}

func suspect(p *project, s *spectrum, red []testID, findings []report.Result) *suspects {
	x := &suspects{project: p, spectrum: s, lines: map[string]map[int]float64{}, funcs: map[*ast.FuncDecl]float64{},
		used: map[string]float64{}}
	for _, f := range findings {
		x.trace(f.Trace + "\n" + f.Message)
	}
	if s.failing == 0 {
		x.named(red)
	}
	p.each(func(s *source) {
		if !s.test {
			x.uses(s)
		}
	})
	return x
}

// at is the suspicion of one place, 0 to 1.1.
func (x *suspects) at(e edit) float64 {
	score := max(x.spectrum.suspicion(e.file, e.line, e.col), x.funcs[e.fn])
	if t := x.lines[e.file][e.line]; t > 0 {
		score = max(score, t) + .1*t
	}
	return score
}

var frame = regexp.MustCompile(`([^\s():]+\.go):(\d+)`)

// trace reads the frames of a stack, the innermost first. Only the first few of the project's own count.
func (x *suspects) trace(text string) {
	weight := 1.0
	for _, m := range frame.FindAllStringSubmatch(text, 200) {
		s := x.suffix(m[1])
		line, err := strconv.Atoi(m[2])
		if s == nil || s.test || err != nil {
			continue
		}
		if x.lines[s.path] == nil {
			x.lines[s.path] = map[int]float64{}
		}
		x.lines[s.path][line] = max(x.lines[s.path][line], weight)
		if fn := x.around(s, line); fn != nil {
			x.funcs[fn] = max(x.funcs[fn], .7*weight)
		}
		if weight *= .85; weight < .3 {
			return
		}
	}
}

// suffix is the source whose path ends a path of a trace, the longest such.
func (x *suspects) suffix(name string) (found *source) {
	x.project.each(func(s *source) {
		if (name == s.path || strings.HasSuffix(name, "/"+s.path)) && (found == nil || len(s.path) > len(found.path)) {
			found = s
		}
	})
	return found
}

func (x *suspects) around(s *source, line int) *ast.FuncDecl {
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, _ := x.project.place(fn.Pos())
		to, _ := x.project.place(fn.End())
		if from <= line && line <= to {
			return fn
		}
	}
	return nil
}

// named suspects the functions that the failing tests' own source names, and less those that these name.
func (x *suspects) named(red []testID) {
	decls := map[string][]*ast.FuncDecl{}
	tests := map[string][]*ast.FuncDecl{}
	x.project.each(func(s *source) {
		into := decls
		if s.test {
			into = tests
		}
		for _, d := range s.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				into[fn.Name.Name] = append(into[fn.Name.Name], fn)
			}
		}
	})
	var wave []*ast.FuncDecl
	for _, t := range red {
		wave = append(wave, tests[t.top()]...)
	}
	for _, weight := range []float64{.8, .6, .4} {
		wave = x.next(wave, decls, weight)
	}
}

// next suspects the functions that the wave's bodies name, and gives those that were not suspected before.
func (x *suspects) next(wave []*ast.FuncDecl, decls map[string][]*ast.FuncDecl, weight float64) (out []*ast.FuncDecl) {
	for _, fn := range wave {
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			for _, d := range decls[id.Name] {
				if x.funcs[d] == 0 {
					x.funcs[d] = weight
					out = append(out, d)
				}
			}
			return true
		})
	}
	return out
}

// uses notes which names suspected function bodies use, so that the declarations of package-level variables and
// constants, which no profile counts, are suspected too.
func (x *suspects) uses(s *source) {
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				line, col := x.project.place(id.Pos())
				at := x.at(edit{file: s.path, line: line, col: col, fn: fn})
				x.used[id.Name] = max(x.used[id.Name], at)
			}
			return true
		})
	}
}

// declared is the suspicion of a place outside every function: a part of what the users of its names have.
func (x *suspects) declared(spec *ast.ValueSpec) float64 {
	best := 0.0
	for _, n := range spec.Names {
		best = max(best, .6*x.used[n.Name])
	}
	return best
}

// ranked are the edits of the catalogue at suspected places, the likeliest first. Equal ones keep the file's order.
func ranked(x *suspects, may func(*source) bool) []edit {
	types := typecheck(x.project)
	var out []edit
	x.project.each(func(s *source) {
		if s.test || !may(s) {
			return
		}
		edits(x.project, types, s, func(e edit) {
			suspicion := x.at(e)
			if e.spec != nil {
				suspicion = x.declared(e.spec)
			}
			if e.score = suspicion * e.weight; e.score > 0 {
				out = append(out, e)
			}
		})
	})
	sort.SliceStable(out, func(i, j int) bool { return out[i].score > out[j].score })
	return out
}
