package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// further adds to a world the runs beyond those that every claim has: canaries, mutated literals, another check on both trees.
func further(t *testing.T) *world {
	w := newWorld(t)
	add := func(r proof.RunRecord, exit int, stdout string) {
		r.N, r.Command, r.Dir, r.Place, r.Cache, r.Module, r.Tier, r.Exit = 1, "go test ./...", ".", "/copies/"+r.Phase, "confirm", "example.com/a", "bubblewrap", exit
		if r.Tree == "" {
			r.Tree = w.receipt.Tree
		}
		for _, other := range w.runs {
			if other.Phase == r.Phase {
				r.N++
			}
		}
		w.runs = append(w.runs, run{r, stdout})
	}
	add(proof.RunRecord{Phase: "canary", Mode: proof.Instrumented, Canary: &proof.Canary{Runner: "go test", Pass: []string{"TestG"}, Fail: []string{"TestH"}}},
		1, stream(map[string]string{"TestF": "pass", "TestG": "pass", "TestH": "fail"}))
	add(proof.RunRecord{Phase: "mutated", Mode: proof.Instrumented, Mutated: []proof.Mutation{{ID: "example.com/a.TestF", File: "a_test.go", Line: 5, From: "2", To: "3"}}},
		1, stream(red))
	w.receipt.Others = []proof.Other{{ID: "vet", Command: "go vet ./...", Dir: "."}}
	w.policy.Others = w.receipt.Others
	for _, tree := range []string{w.receipt.RootTree, w.receipt.Tree} {
		add(proof.RunRecord{Phase: "other", Mode: proof.Plain, Check: "vet", Tree: tree}, 0, "")
		w.runs[len(w.runs)-1].Command = "go vet ./..."
	}
	return w
}

func TestAdmitFurther(t *testing.T) {
	w := further(t)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Receipt().Rungs {
		if r.Status != proof.Held {
			t.Errorf("%s: %s: %s", r.ID, r.Status, r.Text)
		}
	}
	if n := len(p.Receipt().Rungs); n != 10 {
		t.Errorf("%d rungs, want all 10", n)
	}
}

// TestRefusedFurther breaks one thing a row, as TestRefused does.
func TestRefusedFurther(t *testing.T) {
	for _, row := range []struct {
		name, code, say string
		make            func(w *world)
	}{
		{"D3 the failing canary passes", "not_proven", "D3", func(w *world) {
			w.run("canary", 1).stdout = stream(map[string]string{"TestF": "fail", "TestG": "pass", "TestH": "pass"})
		}},
		{"D3 a flake is taken for the failing canary", "not_proven", "TestH, was not seen failing", func(w *world) {
			w.run("see", 3).stdout = stream(map[string]string{"TestF": "fail", "TestG": "fail", "TestH": "skip"})
			w.run("canary", 1).Canary.Pass = []string{"TestF"}
			w.run("canary", 1).stdout = stream(map[string]string{"TestF": "pass", "TestG": "fail", "TestH": "pass"})
		}},
		{"D3 the check is green over a failing canary", "not_proven", "D3", func(w *world) { w.run("canary", 1).Exit = 0 }},
		{"D3 the passing canary is skipped", "not_proven", "D3", func(w *world) {
			w.run("canary", 1).stdout = stream(map[string]string{"TestF": "pass", "TestG": "skip", "TestH": "fail"})
		}},
		{"D3 another test is red beside it", "not_proven", "D3", func(w *world) {
			w.run("canary", 1).stdout = stream(map[string]string{"TestF": "fail", "TestG": "pass", "TestH": "fail"})
		}},
		{"D3 no names", "not_proven", "D3", func(w *world) { w.run("canary", 1).Canary = &proof.Canary{} }},
		{"D3 a run of another phase over canaries", "evidence_tampered", "confirm-1", func(w *world) { w.run("confirm", 1).Canary = &proof.Canary{} }},
		{"D3 the root shows canaries and the change does not", "not_proven", "D3", func(w *world) {
			c := *w.run("canary", 1)
			c.N, c.Tree, c.Place = 2, w.receipt.RootTree, "/copies/control"
			w.run("canary", 1).stdout = stream(green)
			w.runs = append(w.runs, c)
		}},
		{"D5 fewer tests", "not_proven", "D5", func(w *world) {
			for _, n := range []int{2, 3} { // one that was skipped on the root is gone
				w.run("confirm", n).stdout = stream(map[string]string{"TestF": "pass", "TestG": "pass"})
			}
		}},
		{"D5 far quicker", "not_proven", "D5", func(w *world) {
			for _, n := range []int{2, 3} {
				w.run("see", n).Seconds = 100
			}
		}},
		{"D5 far slower", "not_proven", "D5", func(w *world) { w.run("confirm", 2).Seconds = 100 }},
		{"D7 green with other values", "not_proven", "the check is green", func(w *world) { w.run("mutated", 1).Exit, w.run("mutated", 1).stdout = 0, stream(green) }},
		{"D7 another test is red", "not_proven", "D7", func(w *world) {
			w.run("mutated", 1).stdout = stream(map[string]string{"TestF": "pass", "TestG": "fail"})
		}},
		{"D7 nothing was mutated", "evidence_tampered", "mutated-1", func(w *world) { w.run("mutated", 1).Mutated = nil }},
		{"D7 the same value", "not_proven", "D7", func(w *world) { w.run("mutated", 1).Mutated[0].To = "2" }},
		{"D7 on the root", "evidence_tampered", "mutated-1", func(w *world) { w.run("mutated", 1).Tree = w.receipt.RootTree }},
		{"DS another check is red", "not_proven", "DS", func(w *world) { w.run("other", 2).Exit = 1 }},
		{"DS another check cannot be judged", "not_proven", "DS", func(w *world) { w.run("other", 2).Exit = 127 }},
		{"DS not run on the root", "not_proven", "DS", func(w *world) { w.drop("other", 1) }},
		{"DS not run at all", "not_proven", "DS", func(w *world) { w.drop("other", 1); w.drop("other", 2) }},
		{"DS another command", "evidence_tampered", "other-2", func(w *world) { w.run("other", 2).Command = "true" }},
		{"DS checks of its own choice", "plan_changed", "other checks", func(w *world) { w.policy.Others = []proof.Other{} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := further(t)
			row.make(w)
			w.write(t)
			_, err := proof.Admit(w.evidence, w.root, w.policy)
			var no *proof.Refusal
			if !errors.As(err, &no) || no.Code != row.code || !strings.Contains(no.Text, row.say) {
				t.Errorf("got %v, want code %s and %q", err, row.code, row.say)
			}
		})
	}
}

// TestAdmitLints: D4 is Admit's own look at the diff, whatever the receipt says of it.
func TestAdmitLints(t *testing.T) {
	w := newWorld(t)
	c := patch.Change{Files: []patch.FileChange{{Path: "a.go", Old: []byte(source), New: []byte("package a\n\nimport \"os\"\n\nfunc F() int {\n\tos.Exit(0)\n\treturn 2\n}\n"), Mode: 0o644}}}
	tree := treeID(t, c.Overlay(w.root))
	for i := range w.runs {
		if w.runs[i].Tree == w.receipt.Tree {
			w.runs[i].Tree = tree
		}
	}
	w.diff = c.Diff()
	w.receipt.Diff, w.receipt.Tree = proof.Sum(w.diff), tree
	w.receipt.Rungs = append(w.receipt.Rungs, proof.Rung{ID: "D4", Status: proof.Held, Text: "trust me"})
	w.write(t)
	_, err := proof.Admit(w.evidence, w.root, w.policy)
	var no *proof.Refusal
	if !errors.As(err, &no) || no.Code != "not_proven" || !strings.Contains(no.Text, "D4: process-exit at a.go:") {
		t.Errorf("got %v, want D4 to refuse the exit", err)
	}
}

// textOnly makes of a world one whose runner names no test that passes, so that plain runs are all there is.
func textOnly(t *testing.T) *world {
	w := newWorld(t)
	w.receipt.Trusted = false
	for i := range w.runs {
		r, plain := &w.runs[i], "see"
		if r.Phase == "confirm" {
			plain = r.Phase
		}
		r.Mode, r.stdout = proof.Plain, w.run(plain, 1).stdout
	}
	return w
}

// TestTextOnly: where only failing tests are named, D1 says so, and the red without the patch still has to be the same.
func TestTextOnly(t *testing.T) {
	w := textOnly(t)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Receipt().Rungs {
		if r.ID == "D1" && r.Status != proof.NotEvaluated || r.ID == "DR" && r.Status != proof.Held {
			t.Errorf("%+v", r)
		}
	}
	w = textOnly(t)
	w.run("revert", 1).stdout = strings.ReplaceAll(w.run("revert", 1).stdout, "TestF", "TestG")
	w.write(t)
	var no *proof.Refusal
	if _, err := proof.Admit(w.evidence, w.root, w.policy); !errors.As(err, &no) || !strings.Contains(no.Text, "DR: without the patch example.com/a.TestF is missing") {
		t.Errorf("with another test red without the patch: got %v", err)
	}
}

// TestNotEvaluated: what was not run is never held, whatever the receipt says of it; the reason given for it stays.
func TestNotEvaluated(t *testing.T) {
	w := newWorld(t)
	w.receipt.Rungs = append(w.receipt.Rungs, proof.Rung{ID: "D3", Status: proof.Held, Text: "trust me"}, proof.Rung{ID: "D7", Status: proof.NotEvaluated, Text: "no literal there"})
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Receipt().Rungs {
		if r.ID == "D3" && r.Status != proof.NotEvaluated || r.ID == "D7" && (r.Status != proof.NotEvaluated || r.Text != "no literal there") {
			t.Errorf("%+v", r)
		}
	}
}

// TestDeafRoot: where the root's own runner shows no test that is added to it, canaries show nothing either way.
func TestDeafRoot(t *testing.T) {
	w := further(t)
	c := *w.run("canary", 1)
	c.N, c.Tree, c.Place, c.stdout = 2, w.receipt.RootTree, "/copies/control", stream(red)
	w.run("canary", 1).Exit, w.run("canary", 1).stdout = 0, stream(green)
	w.runs = append(w.runs, c)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Receipt().Rungs {
		if r.ID == "D3" && r.Status != proof.NotEvaluated {
			t.Errorf("%+v", r)
		}
	}
}

// TestReportFiles: what a run left is read again from the evidence, and a report that the receipt does not name is missed.
func TestReportFiles(t *testing.T) {
	w := newWorld(t)
	r := w.run("confirm", 2)
	r.Left = append(r.Left, report.File{Name: "../../evil.xml", Data: []byte(`<testsuite name="s"><testcase classname="x.Y" name="z"/></testsuite>`)})
	w.write(t)
	got, err := proof.ReadRun(w.evidence, "reports/confirm-2")
	if err != nil || len(got.Left) != 1 || got.Left[0].Name != "../../evil.xml" || !strings.Contains(string(got.Left[0].Data), "x.Y") {
		t.Fatalf("got %+v, %v", got.Left, err)
	}
	if _, err := proof.Admit(w.evidence, w.root, w.policy); err != nil {
		t.Errorf("with a report: %v", err)
	}
	delete(w.evidence, "reports/confirm-2/left/1")
	var no *proof.Refusal
	if _, err := proof.Admit(w.evidence, w.root, w.policy); !errors.As(err, &no) || no.Code != "evidence_missing" {
		t.Errorf("without it: got %v", err)
	}
}
