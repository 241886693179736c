package job_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

// pretendedRun is a run of go test with these tests, which are red where they begin with "!".
type pretendedRun struct {
	proof.RunRecord
	tests []string
}

func (r pretendedRun) write(evidence string) error {
	var out strings.Builder
	end := "pass"
	for _, name := range r.tests {
		name, red := strings.CutPrefix(name, "!")
		result := "pass"
		if red {
			result, end, r.Exit = "fail", "fail", 1
		}
		for _, action := range []string{"run", result} {
			fmt.Fprintf(&out, `{"Action":%q,"Package":"m","Test":%q}`+"\n", action, name)
		}
	}
	fmt.Fprintf(&out, `{"Action":%q,"Package":"m"}`+"\n", end)
	files, err := r.Files([]byte(out.String()), nil)
	if err != nil {
		return err
	}
	for name, b := range files {
		name = filepath.Join(evidence, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// flakyRuns are five runs of a root: TestOrder is red out of its order, TestDice at random, one run is of another tree.
func flakyRuns(tree string) []pretendedRun {
	run := func(n int, seed int64, tz string, tests ...string) pretendedRun {
		return pretendedRun{proof.RunRecord{Phase: "see", N: n, Mode: proof.Instrumented, Command: "go test ./...", Dir: ".", Tree: tree, Module: "m", Seconds: 1.5, Seed: seed, TZ: tz}, tests}
	}
	other := run(5, 0, "", "!TestSound")
	other.Tree = strings.Repeat("e", 40)
	return []pretendedRun{
		run(1, 0, "", "TestSound", "TestOrder", "!TestDice"), run(2, 0, "", "TestSound", "TestOrder", "TestDice"),
		run(3, 7, "Asia/Tokyo", "TestSound", "!TestOrder", "TestDice"), run(4, 8, "UTC", "TestSound", "!TestOrder", "!TestDice"), other,
	}
}

// certificate is what flake.json of an evidence folder says, with the tests that differ by id.
func certificate(t *testing.T, evidence string) (trace.FlakeData, map[string]trace.FlakeTest) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(evidence, trace.FlakeFile))
	if err != nil {
		t.Fatal(err)
	}
	var c trace.FlakeData
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	tests := map[string]trace.FlakeTest{}
	for _, f := range c.Tests {
		tests[f.ID] = f
	}
	return c, tests
}

// TestFlakeCertificate: a flake is certified from the raw reports and from what this machine remembers of the same root, and
// the second job at that root knows of the first.
func TestFlakeCertificate(t *testing.T) {
	j := world(t, "flakes")
	out, err := j.Do(t.Context())
	if err != nil || out.Stop.Reason != trace.Flaky {
		t.Fatalf("got %+v, %v", out.Stop, err)
	}
	c, tests := certificate(t, j.Evidence)
	if len(c.Runs) != 4 || c.Runs[2].Seed != 7 || c.Runs[2].TZ != "Asia/Tokyo" || c.Runs[2].Seconds != 1.5 || !cmp.Equal(c.Runs[2].Red, []string{"m.TestOrder"}) {
		t.Errorf("runs: %+v", c.Runs)
	}
	want := map[string]trace.FlakeTest{
		"[check] given": {ID: "[check] given", Red: []int{1, 3, 4}, Green: []int{2}, Here: trace.FlakeRate{Runs: 4, Fails: 3, Mean: 4. / 6}},
		"m.TestDice":    {ID: "m.TestDice", Red: []int{1, 4}, Green: []int{2, 3}, Here: trace.FlakeRate{Runs: 4, Fails: 2, Mean: .5}},
		"m.TestOrder":   {ID: "m.TestOrder", Red: []int{3, 4}, Green: []int{1, 2}, With: "another order or time zone", Here: trace.FlakeRate{Runs: 4, Fails: 2, Mean: .5}},
	}
	for id, f := range tests {
		if f.Here.Low <= 0 || f.Here.High <= f.Here.Mean || f.Here.Low >= f.Here.Mean {
			t.Errorf("%s: no interval: %+v", id, f.Here)
		}
		f.Here.Low, f.Here.High = 0, 0
		tests[id] = f
	}
	if diff := cmp.Diff(want, tests); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	summary, err := os.ReadFile(filepath.Join(j.Evidence, trace.SummaryFile))
	if err != nil || !strings.Contains(string(summary), "Certificate of the flake") || !strings.Contains(string(summary), "Beta(1, 1)") {
		t.Errorf("the summary does not tell of it: %v\n%s", err, summary)
	}
	problems, err := trace.VerifyManifest(os.DirFS(j.Evidence))
	if err != nil || len(problems) > 0 {
		t.Errorf("got %v, %v", problems, err)
	}

	j.Spec.ID, j.Evidence = "job-2", filepath.Join(t.TempDir(), "again")
	if _, err := j.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, tests := certificate(t, j.Evidence); tests["m.TestDice"].Here.Runs != 8 || tests["m.TestDice"].Here.Fails != 4 {
		t.Errorf("the second job does not know of the first: %+v", tests["m.TestDice"].Here)
	}
}

// TestFlakeWithoutMemory: where nothing can be remembered, the certificate stands on this job's runs alone and says so.
func TestFlakeWithoutMemory(t *testing.T) {
	j := world(t, "flakes")
	if err := os.Mkdir(filepath.Join(j.State, "memory.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, tests := certificate(t, j.Evidence)
	if c.Prior != "" || len(tests) != 3 || tests["m.TestDice"].Here.Runs != 0 {
		t.Errorf("got prior %q and %+v", c.Prior, tests)
	}
	log, err := os.ReadFile(filepath.Join(j.Evidence, trace.LogFile))
	if err != nil || !strings.Contains(string(log), "what was seen is not remembered") {
		t.Errorf("nothing tells of it: %v", err)
	}
}
