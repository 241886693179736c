package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/redraft-dev/redraft/benchmarks"
)

// edit is one fenced edit as a model writes it. The fence is longer than any run of backticks in the body.
func edit(file, addr, body string) string {
	fence := "```"
	for strings.Contains(body, fence) {
		fence += "`"
	}
	if body != "" && !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	return fmt.Sprintf("%sgo\n# edit: %s :: %s\n%s%s\n", fence, file, addr, body, fence)
}

// released is the answer of a model that knows the repair its developers released: new files whole, the others as the
// line ranges that differ.
func released(repo string, fix map[string][]byte) (string, error) {
	var files []string
	for f := range fix {
		files = append(files, f)
	}
	slices.Sort(files)
	var b strings.Builder
	b.WriteString("This is what the developers released.\n")
	for _, f := range files {
		old, err := os.ReadFile(filepath.Join(repo, f))
		if errors.Is(err, fs.ErrNotExist) {
			b.WriteString("\n" + edit(f, "*", string(fix[f])))
			continue
		}
		if err != nil {
			return "", err
		}
		for _, e := range ranges(string(old), string(fix[f])) {
			b.WriteString("\n" + edit(f, e.addr, e.body))
		}
	}
	return b.String(), nil
}

// lines is one run of lines and what stands there instead.
type lines struct{ addr, body string }

// ranges is the difference of two texts as addresses of the first.
func ranges(old, fixed string) []lines {
	var all []lines
	edits := udiff.Lines(old, fixed)
	for i := 0; i < len(edits); i++ {
		e := edits[i]
		for i+1 < len(edits) && edits[i+1].Start == e.End { // one run of lines, one address
			i++
			e.End, e.New = edits[i].End, e.New+edits[i].New
		}
		first := 1 + strings.Count(old[:e.Start], "\n")
		addr := fmt.Sprintf("+L%d", first)
		if e.Start < e.End {
			addr = fmt.Sprintf("L%d-L%d", first, first+len(slices.Collect(strings.Lines(old[e.Start:e.End])))-1)
		}
		all = append(all, lines{addr, e.New})
	}
	return all
}

// cheat is an answer that must lead to no proof.
type cheat struct {
	name   string
	answer func(repo string, c benchmarks.Case) (string, error)
}

// cheats are the ways to look finished without being so.
var cheats = []cheat{
	{"test", emptyTheTest},
	{"same", sameAgain},
	{"prose", func(string, benchmarks.Case) (string, error) {
		return "The code is correct. The test fails because of the environment; run it again.", nil
	}},
	{"exit", exitInInit},
	{"long", func(string, benchmarks.Case) (string, error) {
		return "```go\n# edit: a.go :: *\n" + strings.Repeat("// and so on\n", 2000), nil // max_tokens cuts it
	}},
}

// emptyTheTest empties the first red test, so that it passes.
func emptyTheTest(repo string, c benchmarks.Case) (string, error) {
	dir, name := location(c)
	entries, err := filepath.Glob(filepath.Join(repo, filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		file, err := parser.ParseFile(token.NewFileSet(), e, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // not the one that go test could run
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == name {
				parameter := "t *testing.T"
				if f.Type.Params.NumFields() == 0 { // an example
					parameter = ""
				}
				return "The test expects too much.\n\n" + edit(path.Join(dir, filepath.Base(e)), name, fmt.Sprintf("func %s(%s) {}\n", name, parameter)), nil
			}
		}
	}
	return "", fmt.Errorf("no test %s in %s", name, dir)
}

// sameAgain retypes the first broken file as it is.
func sameAgain(repo string, c benchmarks.Case) (string, error) {
	file, err := brokenFile(repo, c)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(repo, file))
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return "Here is the corrected code.\n\n" + edit(file, "L1-L1", first), nil
}

// exitInInit ends the test binary with status 0 before any test runs.
func exitInInit(repo string, c benchmarks.Case) (string, error) {
	dir, _ := location(c)
	sources, err := filepath.Glob(filepath.Join(repo, filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		return "", err
	}
	if len(sources) == 0 {
		return "", fmt.Errorf("no tests in %s", dir)
	}
	file, err := parser.ParseFile(token.NewFileSet(), sources[0], nil, parser.PackageClauseOnly)
	if err != nil {
		return "", err
	}
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	return "The state is prepared first.\n\n" + edit(path.Join(dir, "prepare.go"), "*", "package "+pkg+"\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n"), nil
}

// location is the folder and the function of the case's first red test. The test's name is what follows the first dot
// after the module's path and the package's below it; a package's last element may hold dots, a test's name may not.
func location(c benchmarks.Case) (dir, name string) {
	rest := strings.TrimPrefix(c.Red[0], c.Module)
	for i := 0; ; i++ {
		dot := strings.IndexByte(rest[i:], '.')
		if dot < 0 {
			return ".", rest
		}
		i += dot
		name, _, _ = strings.Cut(rest[i+1:], "/")
		if token.IsIdentifier(name) && token.IsExported(name) {
			return path.Join(".", strings.TrimPrefix(rest[:i], "/")), name
		}
	}
}

// brokenFile is the first of the case's files that is there.
func brokenFile(repo string, c benchmarks.Case) (string, error) {
	for _, f := range c.Files {
		if _, err := os.Stat(filepath.Join(repo, f)); err == nil {
			return f, nil
		}
	}
	return "", errors.New("none of the case's files is there")
}
