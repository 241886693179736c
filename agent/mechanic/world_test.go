package mechanic

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	code := m.Run()
	if base.dir != "" {
		os.RemoveAll(base.dir)
	}
	os.Exit(code)
}

// program reads a little program of testdata.
func program(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{}
	for _, f := range archive.Files {
		root[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return root
}

// with is a program in which one text that stands there once is another.
func with(t testing.TB, root fstest.MapFS, file, old, new string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for name, f := range root {
		out[name] = f
	}
	if n := strings.Count(string(root[file].Data), old); n != 1 {
		t.Fatalf("%q stands %d times in %s", old, n, file)
	}
	out[file] = &fstest.MapFile{Data: []byte(strings.Replace(string(root[file].Data), old, new, 1)), Mode: 0o644}
	return out
}

// trees gives copies of a root below a folder of the test's.
type trees struct {
	root fs.FS
	dir  string
	open atomic.Int32
}

func (tr *trees) Fresh(context.Context) (string, func(context.Context) error, error) {
	dir, err := os.MkdirTemp(tr.dir, "tree-")
	if err != nil {
		return "", nil, err
	}
	if err := os.CopyFS(dir, tr.root); err != nil {
		return "", nil, err
	}
	tr.open.Add(1)
	return dir, func(context.Context) error { tr.open.Add(-1); return os.RemoveAll(dir) }, nil
}

// base is a build cache that holds what our little programs need of the standard library, made once a test binary.
var base struct {
	once sync.Once
	dir  string
	err  error
}

const basis = `package basis

import (
	_ "errors"
	_ "fmt"
	_ "os"
	_ "runtime/coverage"
	_ "runtime/debug"
	_ "slices"
	_ "strings"
	"testing"
)

func TestNothing(*testing.T) {}
`

func toolchainBase(t testing.TB) string {
	t.Helper()
	base.once.Do(func() {
		if base.dir, base.err = os.MkdirTemp("", "redraft-base-"); base.err != nil {
			return
		}
		src := filepath.Join(base.dir, "src")
		base.err = os.CopyFS(src, fstest.MapFS{"go.mod": {Data: []byte("module basis\n\ngo 1.22\n")}, "basis_test.go": {Data: []byte(basis)}})
		for _, flags := range [][]string{nil, {"-cover"}} {
			cmd := exec.Command("go", append(append([]string{"test", "-c", "-o", os.DevNull}, flags...), ".")...)
			cmd.Dir = src
			cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(base.dir, "cache"), "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				base.err = fmt.Errorf("%w: %s", err, out)
			}
		}
	})
	if base.err != nil {
		t.Fatalf("make a toolchain base: %v", base.err)
	}
	return filepath.Join(base.dir, "cache")
}

// world is a mechanic before a root, in a real jail.
type world struct {
	*Mechanic
	trees *trees
	tries []Try
	runs  []oracle.Run
	wall  time.Duration
}

// enter makes a world. Where no sandbox works here the test is refused.
func enter(t testing.TB, root fs.FS, check string) *world {
	t.Helper()
	box, err := sandbox.Open(sandbox.Options{TmpDir: t.TempDir()})
	if err != nil {
		t.Skip("REFUSED: " + err.Error())
	}
	needs, err := plan.Toolchain(context.Background(), plan.Set{}, os.Getenv)
	if err != nil || needs.Go == "" {
		t.Skipf("REFUSED: no Go toolchain: %v", err)
	}
	needs.Env = append(needs.Env, "CGO_ENABLED=0")
	w := &world{trees: &trees{root: root, dir: t.TempDir()}}
	module := ""
	if text, err := fs.ReadFile(root, "go.mod"); err == nil {
		module = strings.TrimSpace(strings.TrimPrefix(string(bytes.SplitN(text, []byte("\n"), 2)[0]), "module"))
	}
	w.Mechanic = &Mechanic{Root: root, Module: module, OnTry: func(try Try) { w.tries = append(w.tries, try) },
		Oracle: &oracle.Oracle{Box: box, Check: plan.Check{ID: "check", Run: check}, Needs: needs, Trees: w.trees, Root: root,
			Module: module, Scratch: t.TempDir(), Base: toolchainBase(t), Timeout: 2 * time.Minute}}
	w.Oracle.OnRun = func(r oracle.Run) { w.runs = append(w.runs, r) }
	return w
}

// see is the verdict on a tree, from a run of all tests.
func (w *world) see(t testing.TB) oracle.Verdict {
	t.Helper()
	dir, end, _ := w.trees.Fresh(context.Background())
	defer end(context.Background())
	_, rep, err := w.Oracle.Exec(context.Background(), oracle.Exec{Phase: "see", Dir: dir, Argv: []string{"sh", "-c", w.Oracle.Check.Run},
		Env: []string{"GOFLAGS=-json"}, Cache: "see"})
	if err != nil {
		t.Fatal(err)
	}
	v := oracle.Verdict{Color: rep.Color(), Class: rep.Class, Findings: rep.Findings(), Report: rep}
	for id, s := range rep.Statuses() {
		if s == report.Pass {
			v.Passed = append(v.Passed, id)
		}
	}
	return v
}

// green says whether the whole check is green with a change.
func (w *world) green(t testing.TB, c patch.Change) bool {
	t.Helper()
	dir, end, _ := w.trees.Fresh(context.Background())
	defer end(context.Background())
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := c.Write(root); err != nil {
		t.Fatal(err)
	}
	v, err := w.Oracle.Judge(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return v.Color == report.Green
}

// repair is the loop's part: it takes the first candidate under which the whole check is green.
func (w *world) repair(t testing.TB) (found Candidate, offered int) {
	t.Helper()
	seen := w.see(t)
	if seen.Color != report.Red {
		t.Fatalf("the root is %v (%s), want red: %s", seen.Color, seen.Class, seen.Report.Problems)
	}
	begin := time.Now()
	for c, err := range w.Candidates(context.Background(), seen) {
		if err != nil {
			t.Fatal(err)
		}
		offered++
		if w.green(t, c.Change) {
			found = c
			break
		}
	}
	w.wall = time.Since(begin)
	if n := w.trees.open.Load(); n != 0 {
		t.Errorf("%d trees were left", n)
	}
	return found, offered
}

// tally counts tries by outcome.
func (w *world) tally() map[Outcome]int {
	out := map[Outcome]int{}
	for _, try := range w.tries {
		out[try.Outcome]++
	}
	return out
}
