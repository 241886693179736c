package mechanic

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
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
	os.Exit(m.Run())
}

// file is a plain file of a root.
func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }

// program reads a little program of testdata.
func program(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := fstest.MapFS{}
	for _, f := range archive.Files {
		root[f.Name] = file(string(f.Data))
	}
	return root
}

// with is a program in which one text that stands there once is another.
func with(t testing.TB, root fstest.MapFS, name, old, new string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	maps.Copy(out, root)
	if n := strings.Count(string(root[name].Data), old); n != 1 {
		t.Fatalf("%q stands %d times in %s", old, n, name)
	}
	out[name] = file(strings.Replace(string(root[name].Data), old, new, 1))
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

// shared is the sandbox, the toolchain and its base, made once for all tests; the base is kept between runs.
var shared struct {
	once  sync.Once
	box   *sandbox.Sandbox
	needs plan.Needs
	base  string
	err   error
}

// surroundings fill shared. Where no sandbox works the test is refused.
func surroundings(t testing.TB) {
	t.Helper()
	shared.once.Do(func() {
		if shared.box, shared.err = sandbox.Open(sandbox.Options{}); shared.err != nil {
			return
		}
		check := plan.Set{Checks: []plan.Check{{Run: "go test ./..."}}}
		if shared.needs, shared.err = plan.Toolchain(context.Background(), check, os.Getenv); shared.err != nil {
			return
		}
		state := filepath.Join(os.TempDir(), fmt.Sprintf("redraft-test-%d", os.Getuid()))
		if shared.err = os.MkdirAll(state, 0o700); shared.err != nil {
			return
		}
		shared.base, _, shared.err = sandbox.BuildBase(context.Background(), shared.box, sandbox.BaseSpec{Key: shared.needs.Go,
			Env: shared.needs.Env, Read: shared.needs.Read, State: state})
	})
	if shared.err != nil {
		t.Skipf("REFUSED: no sandbox or no toolchain: %v", shared.err)
	}
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
	surroundings(t)
	w := &world{trees: &trees{root: root, dir: t.TempDir()}}
	module := ""
	if text, err := fs.ReadFile(root, "go.mod"); err == nil {
		module = strings.TrimSpace(strings.TrimPrefix(string(bytes.SplitN(text, []byte("\n"), 2)[0]), "module"))
	}
	w.Mechanic = &Mechanic{Root: root, Module: module, OnTry: func(try Try) { w.tries = append(w.tries, try) },
		Oracle: &oracle.Oracle{Box: shared.box, Check: plan.Check{ID: "check", Run: check}, Needs: shared.needs, Trees: w.trees, Root: root,
			Module: module, Scratch: t.TempDir(), Base: shared.base, Timeout: 2 * time.Minute}}
	for _, f := range plan.Fixers(root, w.Oracle.Check) {
		w.Fixers = append(w.Fixers, Fixer{f.Tool, string(f.Kind), f.Argv, f.Dir, f.Bin})
	}
	w.Oracle.OnRun = func(r oracle.Run) { w.runs = append(w.runs, r) }
	return w
}

// see is the verdict on a tree, from a run of all tests.
func (w *world) see(t testing.TB) oracle.Verdict {
	t.Helper()
	dir, end, _ := w.trees.Fresh(context.Background())
	defer end(context.Background())
	var env []string
	if strings.HasPrefix(w.Oracle.Check.Run, "go test") {
		env = []string{"GOFLAGS=-json"}
	}
	_, rep, err := w.Oracle.Exec(context.Background(), oracle.Exec{Phase: "see", Dir: dir, Argv: []string{"sh", "-c", w.Oracle.Check.Run},
		Env: env, Cache: "see"})
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
