package mechanic

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Bounds of the coverage runs.
const (
	failingRuns = 12
	passingRuns = 40               // each of them a process
	coverTime   = 60 * time.Second // of all runs of one package's tests
	maxProfile  = 8 << 20
)

// workDir is where our own files lie in a scratch tree; the go command ignores a folder of such a name.
const workDir = "_redraft"

// spectra runs the failing tests, and passing ones of their packages, each alone in a lane, and counts what they ran.
// Without any profile of a failing test the spectrum is empty: that is no error.
func (h *hunt) spectra(ctx context.Context, l lane, red, green []testID) (s *spectrum, err error) {
	s = newSpectrum(h.Module)
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return s, fmt.Errorf("open a tree: %w", err)
	}
	defer root.Close()
	for _, pkg := range dirsOf(red) {
		if err := h.guard(root, pkg, guarded); err != nil {
			return s, err
		}
		ok, _, err := h.compile(ctx, l, pkg, "-vet=off", "-cover", "-covermode=set", "-coverpkg="+strings.Join(covered(h.project), ","))
		if ok && err == nil {
			err = h.profile(ctx, s, l, pkg, in(red, pkg), in(green, pkg))
		}
		if err = errors.Join(err, h.guard(root, pkg, nil)); err != nil {
			return s, err
		}
	}
	return s, nil
}

func in(tests []testID, dir string) []testID {
	return slices.DeleteFunc(slices.Clone(tests), func(t testID) bool { return t.dir != dir })
}

// covered are the import paths whose statements are counted: the module's packages that the tests reach.
func covered(p *project) []string {
	var out []string
	for _, dir := range p.packages() {
		out = append(out, p.importPath(dir))
	}
	return out
}

// binaryName is where the test binary of a package lies in a lane.
func binaryName(pkg string) string {
	return path.Join(workDir, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// compile builds the test binary of a package in a lane. ok is false, and output the compiler's words, when it does
// not compile.
func (h *hunt) compile(ctx context.Context, l lane, pkg string, flags ...string) (ok bool, output []byte, err error) {
	argv := append([]string{"go", "test", "-c", "-o", filepath.Join(l.dir, binaryName(pkg))}, h.flags()...)
	argv = append(append(argv, flags...), dotted(pkg))
	res, _, err := h.Oracle.Exec(ctx, oracle.Exec{Phase: "cover", Dir: l.dir, Argv: argv, Env: h.env(), Cache: l.cache,
		Timeout: 3 * time.Minute})
	if err != nil {
		return false, nil, fmt.Errorf("compile the tests of %s: %w", pkg, err)
	}
	return res.Exit == 0, append(res.Stdout, res.Stderr...), nil
}

// flags are those of the check's own go test that change what is built.
func (h *hunt) flags() []string {
	argv := h.Oracle.OnlyCommand(h.tests)
	if at := slices.Index(argv, "-run"); at > 2 {
		return slices.DeleteFunc(argv[2:at], func(f string) bool { return f == "-short" })
	}
	return nil
}

func dotted(dir string) string { return "./" + path.Clean(dir) }

// profile runs tests of one binary, each alone, and adds what they ran.
func (h *hunt) profile(ctx context.Context, s *spectrum, l lane, pkg string, red, green []testID) error {
	red = red[:min(len(red), failingRuns)]
	green = nearest(green, red, passingRuns)
	var script strings.Builder
	for i, t := range append(slices.Clone(red), green...) {
		fmt.Fprintf(&script, "%s -test.run %s -test.coverprofile %s -test.timeout %s >/dev/null 2>&1 </dev/null\n",
			quote(filepath.Join(l.dir, binaryName(pkg))), quote(t.pattern()),
			quote(filepath.Join(l.dir, workDir, profileName(i))), h.patience())
	}
	if _, err := h.script(ctx, l.dir, pkg, script.String(), coverTime); err != nil {
		return err
	}
	for i := range len(red) + len(green) {
		name := path.Join(workDir, profileName(i))
		text, err := sandbox.Harvest(l.dir, name, maxProfile)
		if err == nil {
			s.add(string(text), i < len(red))
		}
	}
	return nil
}

func profileName(i int) string { return strconv.Itoa(i) + ".cov" }

// script runs shell text of ours in a package's folder of a tree, as go test does with its binaries.
func (h *hunt) script(ctx context.Context, tree, pkg, text string, wall time.Duration) (sandbox.Result, error) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("open a tree: %w", err)
	}
	defer root.Close()
	if err := put(root, path.Join(workDir, "run.sh"), []byte(text), 0o644); err != nil {
		return sandbox.Result{}, err
	}
	res, _, err := h.Oracle.Exec(ctx, oracle.Exec{Phase: "cover", Dir: tree, Subdir: pkg, Env: h.env(),
		Argv: []string{"sh", filepath.Join(tree, workDir, "run.sh")}, Cache: firstCache, Timeout: wall})
	if err != nil {
		return res, fmt.Errorf("run tests of %s: %w", pkg, err)
	}
	return res, nil
}

// quote makes one word of the shell's.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// put writes a file of a tree, whatever a run has left at that name.
func put(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	temporary := name + ".redraft"
	if err := root.RemoveAll(temporary); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// nearest picks passing tests: subtests beside a failing one first, then tests whose names are most like a failing
// one's. A subtest of a test that passes as a whole is left to that test.
func nearest(green, red []testID, n int) []testID {
	parents := map[string]bool{}
	for _, t := range red {
		for name := path.Dir(t.name); name != "."; name = path.Dir(name) {
			parents[name] = true
		}
	}
	out := slices.DeleteFunc(slices.Clone(green), func(t testID) bool {
		up := path.Dir(t.name)
		return up != "." && !parents[up] || parents[t.name]
	})
	sort.SliceStable(out, func(i, j int) bool { return likeness(out[i], red) > likeness(out[j], red) })
	return out[:min(n, len(out))]
}

func likeness(t testID, red []testID) int {
	best := 0
	for _, r := range red {
		n := 0
		for n < len(t.name) && n < len(r.name) && t.name[n] == r.name[n] {
			n++
		}
		best = max(best, n)
	}
	return best
}

// guard rewrites the tests of a package in a lane, or restores them where how is nil. Guarded, a panic in a test fails
// it instead of ending the process: a process that dies writes no profile.
func (h *hunt) guard(root *os.Root, pkg string, how func(*source, *project) []byte) error {
	for _, s := range h.project.dirs[pkg] {
		if !s.test {
			continue
		}
		text := s.text
		if how != nil {
			text = how(s, h.project)
		}
		if err := put(root, s.path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// guarded is a test file in which every function with a *testing.T begins with a recover, on the line of its brace.
func guarded(s *source, p *project) []byte {
	type insertion struct {
		at   int
		text string
	}
	var list []insertion
	ast.Inspect(s.file, func(n ast.Node) bool {
		var typ *ast.FuncType
		var body *ast.BlockStmt
		switch f := n.(type) {
		case *ast.FuncDecl:
			typ, body = f.Type, f.Body
		case *ast.FuncLit:
			typ, body = f.Type, f.Body
		}
		if body == nil {
			return true
		}
		if t := testingT(typ); t != "" {
			list = append(list, insertion{p.offset(body.Lbrace) + 1,
				"defer func() { if e := recover(); e != nil { " + t + ".Fatal(e) } }();"})
		}
		return true
	})
	sort.Slice(list, func(i, j int) bool { return list[i].at > list[j].at })
	out := string(s.text)
	for _, i := range list {
		out = out[:i.at] + i.text + out[i.at:]
	}
	return []byte(out)
}

// testingT is the name of a function's *testing.T, or "".
func testingT(f *ast.FuncType) string {
	for _, field := range f.Params.List {
		star, ok := field.Type.(*ast.StarExpr)
		if !ok || len(field.Names) == 0 || field.Names[0].Name == "_" {
			continue
		}
		sel, ok := star.X.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "T" {
			continue
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "testing" {
			return field.Names[0].Name
		}
	}
	return ""
}
