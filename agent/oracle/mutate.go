package oracle

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// maxMutations is how many findings have a literal mutated; all of them in one run.
const maxMutations = 20

// mutatedRuns runs the check over the patched tree with other values in the failing assertions. Nil with the reason where
// there is no literal to be found cheaply.
func (o *Oracle) mutatedRuns(ctx context.Context, seen Sight, change patch.Change) ([]Run, string, error) {
	muts, lay := o.mutations(seen, change.Overlay(o.Root))
	if len(muts) == 0 {
		return nil, "mutated literals: no failing assertion compares with a literal that is easily found", nil
	}
	run, err := o.fresh(ctx, &change, request{
		phase: "mutated", mode: modeOf(seen.Trusted), cache: "confirm", keep: true, mutated: muts, lay: lay,
	})
	return []Run{run}, "", err
}

// mutations finds the literals that failing assertions ask for, and gives the texts with others in their place.
func (o *Oracle) mutations(seen Sight, tree fs.FS) ([]proof.Mutation, map[string]string) {
	texts := map[string]string{}
	var out []proof.Mutation
	for _, f := range seen.Findings {
		if len(out) >= maxMutations || f.Kind != report.Test || f.Class != report.Assertion || f.File == "" || f.Line < 1 || f.Want == "" || !slices.Contains(seen.Failed, f.ID) {
			continue
		}
		if _, protected := o.Policy.Protected(f.File); !protected {
			continue // the change may have touched it
		}
		text, there := texts[f.File]
		if !there {
			b, err := fs.ReadFile(tree, f.File)
			if err != nil || len(b) > maxSource {
				continue
			}
			text = string(b)
		}
		if lit, ok := asked(f, text); ok {
			texts[f.File] = text[:lit.at] + lit.other() + text[lit.at+len(lit.text):]
			out = append(out, proof.Mutation{ID: f.ID, File: f.File, Line: 1 + strings.Count(text[:lit.at], "\n"), From: lit.text, To: lit.other()})
		}
	}
	for name := range texts {
		if !slices.ContainsFunc(out, func(m proof.Mutation) bool { return m.File == name }) {
			delete(texts, name)
		}
	}
	return out, texts
}

// literal is one literal of a text.
type literal struct {
	at   int
	text string
}

// other is a literal of the same kind and another value, of the same length or one longer, and on the same line.
func (l literal) other() string {
	if q := l.text[0]; strings.IndexByte("\"'`", q) >= 0 {
		return l.text[:len(l.text)-1] + "~" + l.text[len(l.text)-1:]
	}
	switch l.text {
	case "true":
		return "false"
	case "false":
		return "true"
	case "True":
		return "False"
	case "False":
		return "True"
	}
	i := strings.IndexAny(l.text, "0123456789")
	d := byte('1')
	if l.text[i] != '9' && l.text[i] != '0' {
		d = l.text[i] + 1
	}
	return l.text[:i] + string(d) + l.text[i+1:]
}

// says reports whether the literal spells a value as a runner prints it.
func (l literal) says(want string) bool {
	want = strings.TrimSpace(want)
	if l.text == want {
		return true
	}
	if strings.IndexByte("\"'`", l.text[0]) < 0 || strings.Contains(l.text, `\`) {
		return false
	}
	inner := l.text[1 : len(l.text)-1]
	return inner == want || len(want) >= 2 && strings.IndexByte("\"'`", want[0]) >= 0 && want[len(want)-1] == want[0] && want[1:len(want)-1] == inner
}

// asked is the one literal that a failing assertion asks for.
func asked(f report.Result, text string) (literal, bool) {
	if path.Ext(f.File) == ".go" {
		return askedGo(f, text)
	}
	start := 0
	for n := 1; n < f.Line; n++ {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return literal{}, false
		}
		start += i + 1
	}
	line, _, _ := strings.Cut(text[start:], "\n")
	if !asserting.MatchString(line) || strings.Count(line, "(") != strings.Count(line, ")") {
		return literal{}, false
	}
	return only(literals(line, start), f.Want)
}

var (
	asserting = regexp.MustCompile(`(?i)assert|expect|should|==`)
	literalRE = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b\d[\d_]*(?:\.\d+)?\b|\b(?:true|false|True|False)\b`)
)

// literals are those of one line, comments left out as far as a line can tell.
func literals(line string, offset int) []literal {
	var out []literal
	for _, m := range literalRE.FindAllStringIndex(line, -1) {
		if before := literalRE.ReplaceAllString(line[:m[0]], ""); strings.Contains(before, "//") || strings.Contains(before, "#") {
			break
		}
		out = append(out, literal{offset + m[0], line[m[0]:m[1]]})
	}
	return out
}

// only is the one literal that says the value; where several do, none is it.
func only(all []literal, want string) (literal, bool) {
	all = slices.DeleteFunc(all, func(l literal) bool { return !l.says(want) })
	if len(all) != 1 {
		return literal{}, false
	}
	return all[0], true
}

// askedGo looks in Go's own way of testing: the condition above the line that complained, the call on that line where it is
// an assertion library's, else the one literal of the value in the test that is no part of a message.
func askedGo(f report.Result, text string) (literal, bool) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, f.File, text, parser.SkipObjectResolution)
	if err != nil {
		return literal{}, false
	}
	var in *ast.FuncDecl
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && set.Position(fn.Pos()).Line <= f.Line && f.Line <= set.Position(fn.End()).Line {
			in = fn
		}
	}
	if in == nil {
		return literal{}, false
	}
	var condition, whole []literal
	take := func(n ast.Node) (out []literal) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && complains(call) {
				return false
			}
			if b, ok := n.(*ast.BasicLit); ok && b.Kind != token.CHAR && b.Kind != token.IMAG {
				out = append(out, literal{set.Position(b.Pos()).Offset, b.Value})
			}
			return true
		})
		return out
	}
	ast.Inspect(in.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.IfStmt); ok && set.Position(c.Body.Pos()).Line <= f.Line && f.Line <= set.Position(c.Body.End()).Line {
			condition = take(c.Cond)
		}
		return true
	})
	if l, ok := only(condition, f.Want); ok {
		return l, true
	}
	whole = take(in.Body)
	return only(whole, f.Want)
}

// complains says whether a call is one of testing's that say something: what stands there is no value that is asked for.
func complains(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := sel.X.(*ast.Ident)
	said := slices.Contains([]string{"Errorf", "Error", "Fatalf", "Fatal", "Logf", "Log", "Skip", "Skipf"}, sel.Sel.Name)
	return ok && said && (on.Name == "t" || on.Name == "b" || on.Name == "tb" || on.Name == "tt" || on.Name == "f")
}
