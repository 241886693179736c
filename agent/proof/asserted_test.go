package proof_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// TestAsserted takes what the claimed tests compared and what is written in them, and nothing of the others.
func TestAsserted(t *testing.T) {
	root := fstest.MapFS{
		"a.go":      {Data: []byte("package a\n\nfunc F(n int) int { return n }\n")},
		"a_test.go": {Data: []byte("package a\n\nfunc TestF(t *T) {\n\tgot := F(37)\n\tif got != 24157817 {\n\t\tt.Error(got)\n\t}\n}\n\nfunc TestG(t *T) {\n\tF(91)\n}\n")},
	}
	result := func(id string, line int, got, want string) report.Result {
		return report.Result{ID: id, Kind: report.Test, Status: report.Fail, Class: report.Assertion, File: "a_test.go", Line: line, Got: got, Want: want}
	}
	run := func(phase, thrown string, results ...report.Result) proof.Recorded {
		return proof.Recorded{RunRecord: proof.RunRecord{Phase: phase, ThrownAway: thrown}, Report: report.Report{Results: results}}
	}
	runs := []proof.Recorded{
		run("see", "", result("a.TestF", 6, "took 3s", ""), result("a.TestG", 11, "7", "8")),
		run("see", "", result("a.TestF", 6, "took 4s", "")),
		run("see", "its colour is another", result("a.TestF", 11, "1", "2")),
		run("confirm", "", result("a.TestF", 11, "3", "4")),
	}
	got := proof.Asserted(root, []string{"a.TestF"}, runs)
	if d := cmp.Diff(patch.Tested{Compared: []string{"took 3s", "took 4s"}, Written: []string{"37", "24157817"}}, got); d != "" {
		t.Fatalf("Asserted mismatch (-want +got):\n%s", d)
	}
	change := patch.Change{Files: []patch.FileChange{{Path: "a.go", Old: root["a.go"].Data, New: []byte("package a\n\nfunc F(n int) int {\n\tif n == 37 {\n\t\treturn 24157817\n\t}\n\treturn n\n}\n")}}}
	if r := proof.DiffLint(root, change, got); r.Status != proof.Failed {
		t.Errorf("an input of the test that has its own answer: %+v", r)
	}
}
