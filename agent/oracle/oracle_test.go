package oracle_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// copies gives fresh copies of a folder.
type copies struct {
	from, into string
	mu         sync.Mutex
	n          int
}

func (c *copies) Fresh(context.Context) (string, func(context.Context) error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	dir := filepath.Join(c.into, fmt.Sprint(c.n))
	return dir, func(context.Context) error { return os.RemoveAll(dir) }, os.CopyFS(dir, os.DirFS(c.from))
}

var (
	once sync.Once
	box  *sandbox.Sandbox
	why  error
	need plan.Needs
	base string
)

// surroundings are the sandbox, the toolchain and its base, made once for all tests.
func surroundings(t *testing.T) {
	t.Helper()
	once.Do(func() {
		if box, why = sandbox.Open(sandbox.Options{}); why != nil {
			return
		}
		if need, why = plan.Toolchain(context.Background(), plan.Set{Checks: []plan.Check{{Run: "go test ./..."}}}, os.Getenv); why != nil {
			return
		}
		state := filepath.Join(os.TempDir(), fmt.Sprintf("redraft-test-%d", os.Getuid()))
		if why = os.MkdirAll(state, 0o700); why == nil {
			base, _, why = sandbox.BuildBase(context.Background(), box, sandbox.BaseSpec{Key: need.Go, Env: need.Env, Read: need.Read, State: state})
		}
	})
	if why != nil {
		t.Skipf("REFUSED: no sandbox or no toolchain: %v", why)
	}
}

// world is an oracle over a little repository.
type world struct {
	*oracle.Oracle
	root string
	kept []proof.RunRecord
	runs []oracle.Run
}

func newWorld(t *testing.T, run string, files map[string]string) *world {
	t.Helper()
	surroundings(t)
	w := &world{root: t.TempDir()}
	for name, text := range files {
		name = filepath.Join(w.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, done, err := oracle.FS(w.root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	w.Oracle = &oracle.Oracle{
		Box: box, Check: plan.Check{ID: "unit", Run: run}, Needs: need, Root: root, Module: "example.com/m",
		Trees: &copies{from: w.root, into: t.TempDir()}, Scratch: t.TempDir(), Base: base, Timeout: time.Minute, Seed: 1,
		OnRun: func(r oracle.Run) { w.runs = append(w.runs, r) },
		Keep: func(r proof.RunRecord, _ sandbox.Result) (map[string]string, error) {
			w.kept = append(w.kept, r)
			return map[string]string{r.Folder(): "sum"}, nil
		},
	}
	return w
}

func (w *world) see(t *testing.T) oracle.Sight {
	t.Helper()
	s, err := w.See(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const mod = "module example.com/m\n\ngo 1.21\n"

// double is a package whose Double is body, with a test that it doubles and one that has nothing to do with it.
func double(body string) map[string]string {
	return map[string]string{
		"go.mod":    mod,
		"d.go":      "package m\n\nfunc Double(x int) int {\n\treturn " + body + "\n}\n",
		"d_test.go": "package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif got := Double(2); got != 4 {\n\t\tt.Errorf(\"got %d, want %d\", got, 4)\n\t}\n}\n\nfunc TestOther(t *testing.T) {}\n",
	}
}

func TestSeeRed(t *testing.T) {
	w := newWorld(t, "go test ./...", double("x + 1"))
	s := w.see(t)
	if s.Color != report.Red || s.Class != report.Assertion || !s.Trusted || s.Mixed {
		t.Fatalf("got %v (%s), trusted %v, mixed %v; want a trusted red", s.Color, s.Class, s.Trusted, s.Mixed)
	}
	if s.K != 3 || len(s.Runs) != 4 || len(w.kept) != 4 {
		t.Errorf("got k=%d, %d runs, %d kept; want 3, 4 and 4", s.K, len(s.Runs), len(w.kept))
	}
	if !slices.Equal(s.Failed, []string{"example.com/m.TestDouble"}) || !slices.Contains(s.Passed, "example.com/m.TestOther") {
		t.Errorf("got failed %v, passed %v", s.Failed, s.Passed)
	}
	if f := s.Findings; len(f) != 1 || f[0].Got != "3" || f[0].Want != "4" || f[0].File != "d_test.go" || f[0].Line != 7 {
		t.Errorf("finding: got %+v", f)
	}
	places, seeds := map[string]bool{}, map[int64]bool{}
	for _, r := range s.Runs {
		places[r.Place], seeds[r.Seed] = true, true
	}
	if len(places) != 4 || len(seeds) < 3 {
		t.Errorf("got %d places and %d orders in 4 runs", len(places), len(seeds))
	}
}

func TestSeeGreen(t *testing.T) {
	s := newWorld(t, "go test ./...", double("x + x")).see(t)
	if s.Color != report.Green || s.Mixed {
		t.Errorf("got %v, mixed %v; want green", s.Color, s.Mixed)
	}
}

// TestSeeMixed uses a test that fails in one time zone only: red in one run, green in the others.
func TestSeeMixed(t *testing.T) {
	files := double("x + x")
	files["z_test.go"] = "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestZone(t *testing.T) {\n\tif os.Getenv(\"TZ\") == \"Asia/Tokyo\" {\n\t\tt.Error(\"zone\")\n\t}\n}\n"
	s := newWorld(t, "go test ./...", files).see(t)
	if !s.Mixed || !strings.Contains(s.Text, "red in 1 and green in 3 of 4") {
		t.Errorf("got mixed %v, %q", s.Mixed, s.Text)
	}
}

// TestSeeNaturalOrder: a test that kills the program in another order hides the red that was asked about; the runner's own
// order shows it, and the proof is made in that order.
func TestSeeNaturalOrder(t *testing.T) {
	files := double("x + 1")
	files["a_test.go"] = "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestA(t *testing.T) {\n\tif os.Getenv(\"TZ\") != \"\" {\n\t\tpanic(\"elsewhere\")\n\t}\n}\n"
	w := newWorld(t, "go test ./...", files)
	s := w.see(t)
	if s.Color != report.Red || !s.Natural || s.Mixed || !s.Trusted || !slices.Equal(s.Failed, []string{"example.com/m.TestDouble"}) {
		t.Fatalf("got %v, natural %v, mixed %v, trusted %v, failed %v", s.Color, s.Natural, s.Mixed, s.Trusted, s.Failed)
	}
	receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, "d.go", "package m\n\nfunc Double(x int) int {\n\treturn 2 * x\n}\n"))
	if err != nil || v.Color != report.Green || !receipt.Natural || rung(receipt, "D1").Status != proof.Held {
		t.Errorf("got %v %q, %v, %+v", v.Color, v.Text, err, receipt.Rungs)
	}
}

// TestSeeThrowsInstrumentedAway: go vet exits 0 on a real diagnostic when it is asked for JSON.
func TestSeeThrowsInstrumentedAway(t *testing.T) {
	files := double("x + x")
	files["v.go"] = "package m\n\nimport \"fmt\"\n\nfunc v() { fmt.Printf(\"%d\\n\", \"x\") }\n"
	w := newWorld(t, "go vet ./...", files)
	s := w.see(t)
	if s.Color != report.Red || s.Trusted {
		t.Fatalf("got %v, trusted %v; want an untrusted red", s.Color, s.Trusted)
	}
	thrown, plain := 0, 0
	for _, r := range s.Runs {
		if r.ThrownAway != "" {
			thrown++
		} else if r.Mode == proof.Plain {
			plain++
		}
	}
	if thrown == 0 || plain != 3 {
		t.Errorf("got %d thrown away and %d plain runs, want some and k=3", thrown, plain)
	}
}

func TestSeeUnknown(t *testing.T) {
	for _, row := range []struct {
		run  string
		want report.Class
	}{
		{"no-such-command-here", report.CommandNotFound},
		{"sleep 30", report.Timeout},
		{"kill -9 $$", report.Infra},
	} {
		w := newWorld(t, row.run, double("x"))
		w.Timeout = 2 * time.Second
		s := w.see(t)
		if s.Color != report.Unknown || s.Class != row.want {
			t.Errorf("%s: got %v (%s), want unknown (%s)", row.run, s.Color, s.Class, row.want)
		}
		if len(w.kept) != 1 {
			t.Errorf("%s: %d runs kept, want 1", row.run, len(w.kept))
		}
	}
}

func TestOnly(t *testing.T) {
	w := newWorld(t, "go test -short ./...", double("x + 1"))
	s := w.see(t)
	if got, want := strings.Join(w.OnlyCommand(s.Findings), " "), "go test -short -run ^(TestDouble)$ ."; got != want {
		t.Errorf("command: got %q, want %q", got, want)
	}
	v, ok, err := w.Only(t.Context(), w.root, "x", s.Findings)
	if err != nil || !ok || v.Color != report.Red {
		t.Errorf("got %v, %v, %v; want red", v.Color, ok, err)
	}
	if _, ok, _ := w.Only(t.Context(), w.root, "x", []report.Result{{ID: "go vet:printf:v.go"}}); ok {
		t.Error("a lint finding was run alone")
	}
}

func TestSplitID(t *testing.T) {
	for _, row := range []struct{ id, pkg, test, sub string }{
		{"example.com/m.TestA", "example.com/m", "TestA", ""},
		{"gopkg.in/yaml.v3.TestA/b.c/d", "gopkg.in/yaml.v3", "TestA", "/b.c/d"},
		{"m.ExampleT_m", "m", "ExampleT_m", ""},
		{"m.FuzzX/seed#0", "m", "FuzzX", "/seed#0"},
		{"m.Test", "m", "Test", ""},
		{"m.Testify", "", "", ""},
		{"m.[build]", "", "", ""},
	} {
		pkg, test, sub, ok := oracle.SplitID(row.id)
		if pkg != row.pkg || test != row.test || sub != row.sub || ok != (row.pkg != "") {
			t.Errorf("%s: got %q %q %q %v", row.id, pkg, test, sub, ok)
		}
	}
}

// claim is the change of one file of the world, as a claim.
func (w *world) claim(t *testing.T, s oracle.Sight, name, text string) proof.Claim {
	t.Helper()
	old, err := os.ReadFile(filepath.Join(w.root, name))
	c := patch.Change{Files: []patch.FileChange{{Path: name, Old: old, New: []byte(text), Created: err != nil, Mode: 0o644}}}
	id, err := patch.TreeID(w.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return proof.Claim{Root: "c0ffee", RootTree: id, Base: "c0ffee", Diff: c.Diff(), Findings: s.Failed}
}

func rung(r proof.Receipt, id string) proof.Rung {
	for _, x := range r.Rungs {
		if x.ID == id {
			return x
		}
	}
	return proof.Rung{}
}

func TestConfirmHolds(t *testing.T) {
	w := newWorld(t, "go test ./...", double("x + 1"))
	s := w.see(t)
	receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, "d.go", "package m\n\nfunc Double(x int) int {\n\treturn 2 * x\n}\n"))
	if err != nil || v.Color != report.Green {
		t.Fatalf("got %v %q, %v; want green", v.Color, v.Text, err)
	}
	if len(v.Passed) == 0 {
		t.Errorf("the verdict names no test that passed: %v", v.Passed)
	}
	for _, id := range []string{"D0", "D1", "D2", "D3", "D5", "D6", "D7", "DR"} {
		if r := rung(receipt, id); r.Status != proof.Held {
			t.Errorf("%s: got %s: %s", id, r.Status, r.Text)
		}
	}
	if r := rung(receipt, "DS"); r.Status != proof.NotEvaluated {
		t.Errorf("DS: got %s, want it said that there is no other check", r.Status)
	}
	// 4 of See, 4 of Confirm, 1 each of the revert, the canaries and the mutated literals
	if len(receipt.Evidence) != 11 {
		t.Errorf("the receipt names %d runs, want 11", len(receipt.Evidence))
	}
}

// TestConfirmRefuses holds cheats against the proof that a green exit status alone would let through.
func TestConfirmRefuses(t *testing.T) {
	for _, row := range []struct{ name, file, text, say string }{
		{"exit in init", "d.go", "package m\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n\nfunc Double(x int) int { return x + 1 }\n", ""},
		{"breaks another test", "e.go", "package m\n\nfunc init() { broken = true }\n", ""},
		{"the same broken code", "d.go", "package m\n\nfunc Double(x int) int {\n\treturn 1 + x\n}\n", "D0"},
		{"the test", "d_test.go", "package m\n", "protected"},
	} {
		t.Run(row.name, func(t *testing.T) {
			files := double("x + 1")
			files["b.go"] = "package m\n\nvar broken bool\n"
			files["b_test.go"] = "package m\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) {\n\tif broken {\n\t\tt.Fatal(\"broken\")\n\t}\n}\n"
			w := newWorld(t, "go test ./...", files)
			s := w.see(t)
			_, v, err := w.Confirm(t.Context(), s, w.claim(t, s, row.file, row.text))
			if err != nil {
				t.Fatal(err)
			}
			if v.Color == report.Green || !strings.Contains(v.Text, row.say) {
				t.Errorf("got %v %q, want a refusal that says %q", v.Color, v.Text, row.say)
			}
		})
	}
}

// TestConfirmAllSkipped: a patch that makes the named test skip itself is green by exit status.
func TestConfirmAllSkipped(t *testing.T) {
	files := double("x + 1")
	files["d_test.go"] = "package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Skip {\n\t\tt.Skip()\n\t}\n\tif Double(2) != 4 {\n\t\tt.Error(\"no\")\n\t}\n}\n"
	files["s.go"] = "package m\n\nvar Skip = false\n"
	w := newWorld(t, "go test ./...", files)
	s := w.see(t)
	receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, "s.go", "package m\n\nvar Skip = true\n"))
	if err != nil || v.Color == report.Green || rung(receipt, "D1").Status != proof.Failed {
		t.Errorf("got %v %q, D1 %v, %v; want D1 to fail", v.Color, v.Text, rung(receipt, "D1"), err)
	}
}

func TestJudgeAndWorse(t *testing.T) {
	w := newWorld(t, "go test ./...", double("x + 1"))
	s := w.see(t)
	dir := filepath.Join(t.TempDir(), "try")
	if err := os.CopyFS(dir, os.DirFS(w.root)); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "d.go"), []byte("package m\n\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		text string
		want report.Color
	}{
		{"func Double(x int) int { return x * 3 }\n", report.Red},
		{"func Double(x int) int { return }\n", report.Red},
		{"func Double(x int) int { return x * 2 }\n", report.Green},
	} {
		write(row.text)
		v, err := w.Judge(t.Context(), dir)
		if err != nil || v.Color != row.want {
			t.Errorf("%s: got %v, %v; want %v", row.text, v.Color, err, row.want)
		}
		if worse := s.Worse(v); worse != "" {
			t.Errorf("%s: worse: %s", row.text, worse)
		}
	}
	if s.Worse(oracle.Verdict{Color: report.Green, Passed: []string{"example.com/m.TestDouble"}}) == "" {
		t.Error("a test that vanished is no worse")
	}
}

func TestCancel(t *testing.T) {
	w := newWorld(t, "sleep 30", double("x"))
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := w.See(ctx); err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}
