package proof_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
)

const (
	source = "package a\n\nfunc F() int { return 1 }\n"
	fixed  = "package a\n\nfunc F() int { return 2 }\n"
)

func rootFiles() fstest.MapFS {
	return fstest.MapFS{
		"go.mod":    {Data: []byte("module example.com/a\n\ngo 1.21\n"), Mode: 0o644},
		"a.go":      {Data: []byte(source), Mode: 0o644},
		"a_test.go": {Data: []byte("package a\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {}\n"), Mode: 0o644},
	}
}

// world is one job's evidence, built so that it is admitted; a test breaks one thing.
type world struct {
	root     fstest.MapFS
	diff     []byte
	receipt  proof.Receipt
	policy   proof.Policy
	runs     []run
	evidence fstest.MapFS
}

type run struct {
	proof.RunRecord
	stdout string
}

// stream is a go test -json stream of one package.
func stream(results map[string]string) string {
	var b strings.Builder
	worst := "pass"
	line := func(action, test, output string) {
		e := map[string]string{"Action": action, "Package": "example.com/a"}
		if test != "" {
			e["Test"] = test
		}
		if output != "" {
			e["Output"] = output
		}
		j, _ := json.Marshal(e)
		b.Write(append(j, '\n'))
	}
	line("start", "", "")
	for _, name := range []string{"TestF", "TestG", "TestH"} {
		r, ok := results[name]
		if !ok {
			continue
		}
		line("run", name, "")
		line("output", name, "=== RUN   "+name+"\n")
		if r == "fail" {
			line("output", name, "    a_test.go:5: got 1, want 2\n")
			worst = "fail"
		}
		line("output", name, fmt.Sprintf("--- %s: %s (0.00s)\n", strings.ToUpper(r), name))
		line(r, name, "")
	}
	line("output", "", strings.ToUpper(worst)+"\n")
	line(worst, "", "")
	return b.String()
}

var (
	red   = map[string]string{"TestF": "fail", "TestG": "pass", "TestH": "skip"}
	green = map[string]string{"TestF": "pass", "TestG": "pass", "TestH": "skip"}
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{root: rootFiles()}
	c := patch.Change{Files: []patch.FileChange{{Path: "a.go", Old: []byte(source), New: []byte(fixed), Mode: 0o644}}}
	w.diff = c.Diff()
	rootTree := treeID(t, w.root)
	tree := treeID(t, c.Overlay(w.root))
	d2, oracle := proof.OracleFiles(w.root, c.Overlay(w.root), patch.Policy{})
	w.receipt = proof.Receipt{
		Version: proof.ReceiptVersion, Job: "j", Root: "c0ffee", RootTree: rootTree, Base: "ba5e", Tree: tree, Diff: proof.Sum(w.diff),
		Command: "go test ./...", Dir: ".", Fingerprint: "f", K: 2, Trusted: true, Findings: []string{"example.com/a.TestF"},
		Oracle: oracle, Rungs: []proof.Rung{d2}, Tier: "bubblewrap",
	}
	w.policy = proof.Policy{Root: "c0ffee", RootTree: rootTree, Base: "ba5e", Fingerprint: "f", Sandboxes: []string{"bubblewrap"}, Risk: 2}
	add := func(phase, mode, tree string, exit int, results map[string]string) {
		n := 1
		for _, r := range w.runs {
			if r.Phase == phase {
				n++
			}
		}
		r := run{RunRecord: proof.RunRecord{Phase: phase, N: n, Mode: mode, Command: "go test ./...", Dir: ".", Tree: tree,
			Place: fmt.Sprintf("/copies/%s-%d", phase, n), Cache: phase, Module: "example.com/a", Tier: "bubblewrap", Exit: exit}}
		if mode == proof.Instrumented {
			r.stdout = stream(results)
		} else if exit == 0 {
			r.stdout = "ok  \texample.com/a\t0.001s\n"
		} else {
			r.stdout = "--- FAIL: TestF (0.00s)\n    a_test.go:5: got 1, want 2\nFAIL\nFAIL\texample.com/a\t0.001s\nFAIL\n"
		}
		w.runs = append(w.runs, r)
	}
	add("see", proof.Plain, rootTree, 1, nil)
	add("see", proof.Instrumented, rootTree, 1, red)
	add("see", proof.Instrumented, rootTree, 1, red)
	add("confirm", proof.Plain, tree, 0, nil)
	add("confirm", proof.Instrumented, tree, 0, green)
	add("confirm", proof.Instrumented, tree, 0, green)
	w.runs[len(w.runs)-1].Cache = "base"
	add("revert", proof.Instrumented, rootTree, 1, red)
	return w
}

func treeID(t *testing.T, fsys fs.FS) string {
	t.Helper()
	id, err := patch.TreeID(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// run by phase and number.
func (w *world) run(phase string, n int) *run {
	for i := range w.runs {
		if w.runs[i].Phase == phase && w.runs[i].N == n {
			return &w.runs[i]
		}
	}
	panic("no such run")
}

func (w *world) drop(phase string, n int) {
	for i := range w.runs {
		if w.runs[i].Phase == phase && w.runs[i].N == n {
			w.runs = append(w.runs[:i], w.runs[i+1:]...)
			return
		}
	}
}

// write writes the evidence down as it stands, hashes and all.
func (w *world) write(t *testing.T) {
	t.Helper()
	w.evidence = fstest.MapFS{proof.PatchFile: {Data: w.diff}}
	w.receipt.Evidence = map[string]string{}
	for _, r := range w.runs {
		files, err := r.Files([]byte(r.stdout), nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range files {
			w.evidence[name] = &fstest.MapFile{Data: b}
			w.receipt.Evidence[name] = proof.Sum(b)
		}
	}
	b, err := json.Marshal(w.receipt)
	if err != nil {
		t.Fatal(err)
	}
	w.evidence[proof.ReceiptFile] = &fstest.MapFile{Data: b}
}

func TestAdmit(t *testing.T) {
	w := newWorld(t)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Valid() || !bytes.Equal(p.Diff(), w.diff) || len(p.Change().Files) != 1 {
		t.Errorf("the proof is not of the claim: valid %v, %d files", p.Valid(), len(p.Change().Files))
	}
	held := map[string]proof.Status{}
	for _, r := range p.Receipt().Rungs {
		held[r.ID] = r.Status
	}
	for _, id := range []string{"D0", "D1", "D2", "D6", "DR"} {
		if held[id] != proof.Held {
			t.Errorf("rung %s: got %q, want held", id, held[id])
		}
	}
}

func TestZeroProof(t *testing.T) {
	var none *proof.Proof
	if none.Valid() || (&proof.Proof{}).Valid() {
		t.Error("a proof that Admit did not make is valid")
	}
}

// TestRefused holds one broken thing a row against Admit: whatever the receipt claims, the raw reports decide.
func TestRefused(t *testing.T) {
	none := map[string]string{}
	for _, row := range []struct {
		name string
		code string
		say  string // part of the refusal
		make func(w *world)
		then func(w *world) // after the evidence was written
	}{
		{name: "D0 a plain run is red", code: "not_proven", say: "D0", make: func(w *world) { w.run("confirm", 1).Exit = 1 }},
		{name: "D0 a run was killed", code: "not_proven", say: "D0", make: func(w *world) { w.run("confirm", 2).Signal = "SIGKILL"; w.run("confirm", 2).Exit = -1 }},
		{name: "D0 no plain run", code: "not_proven", say: "D0", make: func(w *world) { w.drop("confirm", 1) }},
		{name: "D0 fewer runs than k", code: "not_proven", say: "D0", make: func(w *world) { w.drop("confirm", 2) }},
		{name: "D1 no test ran", code: "not_proven", make: func(w *world) { w.run("confirm", 2).stdout = stream(none) }},
		{name: "D1 the named test was not seen", code: "not_proven", say: "D1", make: func(w *world) {
			w.run("confirm", 2).stdout = stream(map[string]string{"TestG": "pass", "TestH": "skip"})
		}},
		{name: "D1 the named test is skipped", code: "not_proven", say: "D1", make: func(w *world) {
			w.run("confirm", 2).stdout = stream(map[string]string{"TestF": "skip", "TestG": "pass"})
		}},
		{name: "D1 another test vanished", code: "not_proven", say: "D1", make: func(w *world) {
			w.run("confirm", 3).stdout = stream(map[string]string{"TestF": "pass", "TestH": "skip"})
		}},
		{name: "D1 another test is skipped", code: "not_proven", say: "D1", make: func(w *world) {
			w.run("confirm", 3).stdout = stream(map[string]string{"TestF": "pass", "TestG": "skip", "TestH": "pass"})
		}},
		{name: "D1 no instrumented run", code: "not_proven", make: func(w *world) {
			for _, n := range []int{2, 3} {
				w.run("confirm", n).Mode = proof.Plain
			}
		}},
		{name: "D2 a test was edited", code: "gate", make: func(w *world) {
			old := w.root["a_test.go"].Data
			w.diff = patch.Change{Files: []patch.FileChange{{Path: "a_test.go", Old: old, New: append([]byte("// x\n"), old...), Mode: 0o644}}}.Diff()
			w.receipt.Diff = proof.Sum(w.diff)
		}},
		{name: "D2 the oracle's hash is another", code: "not_proven", say: "D2", make: func(w *world) { w.receipt.Oracle = "0" }},
		{name: "D6 two runs in one copy", code: "not_proven", say: "D6", make: func(w *world) { w.run("confirm", 2).Place = w.run("confirm", 3).Place }},
		{name: "D6 never from the toolchain base", code: "not_proven", say: "D6", make: func(w *world) { w.run("confirm", 3).Cache = "confirm" }},
		{name: "DR green without the patch", code: "not_proven", say: "DR", make: func(w *world) {
			w.run("revert", 1).Exit, w.run("revert", 1).stdout = 0, stream(green)
		}},
		{name: "DR another test is red", code: "not_proven", say: "DR", make: func(w *world) {
			w.run("revert", 1).stdout = stream(map[string]string{"TestF": "pass", "TestG": "fail"})
		}},
		{name: "DR no such run", code: "not_proven", say: "DR", make: func(w *world) { w.drop("revert", 1) }},
		{name: "DR on another tree", code: "not_proven", say: "DR", make: func(w *world) { w.run("revert", 1).Tree = w.receipt.Tree }},
		{name: "green before", code: "not_proven", say: "see-2", make: func(w *world) { w.run("see", 2).Exit, w.run("see", 2).stdout = 0, stream(green) }},
		{name: "seen red too seldom", code: "not_proven", say: "k=2", make: func(w *world) { w.drop("see", 3) }},
		{name: "a finding red in one run only", code: "not_proven", say: "TestF", make: func(w *world) {
			w.run("see", 3).stdout = stream(map[string]string{"TestF": "pass", "TestG": "fail", "TestH": "skip"})
		}},
		{name: "no finding", code: "not_proven", make: func(w *world) { w.receipt.Findings = nil }},
		{name: "k is zero", code: "not_proven", make: func(w *world) { w.receipt.K = 0 }},
		{name: "a red run thrown away", code: "evidence_tampered", make: func(w *world) { w.run("confirm", 1).ThrownAway = "why not" }},
		{name: "an instrumented run of the root thrown away", code: "evidence_tampered", make: func(w *world) { w.run("see", 3).ThrownAway = "why not" }},
		{name: "a run in the runner's own order thrown away", code: "evidence_tampered", make: func(w *world) {
			w.receipt.Natural, w.run("see", 3).ThrownAway = true, "why not"
		}},
		{name: "another root", code: "source_changed_after_run", make: func(w *world) { w.policy.Root = "d00d" }},
		{name: "the base moved", code: "source_changed_after_run", make: func(w *world) { w.policy.Base = "d00d" }},
		{name: "another plan", code: "plan_changed", make: func(w *world) { w.policy.Fingerprint = "g" }},
		{name: "another command", code: "evidence_tampered", make: func(w *world) { w.run("confirm", 2).Command = "true" }},
		{name: "another folder", code: "evidence_tampered", make: func(w *world) { w.run("confirm", 2).Dir = "sub" }},
		{name: "another tree", code: "evidence_tampered", make: func(w *world) { w.run("confirm", 2).Tree = w.receipt.RootTree }},
		{name: "a weaker sandbox", code: "sandbox_too_weak", make: func(w *world) {
			w.receipt.Tier = "none"
			for i := range w.runs {
				w.runs[i].Tier = "none"
			}
		}},
		{name: "one run in a weaker sandbox", code: "evidence_tampered", make: func(w *world) { w.run("see", 2).Tier = "none" }},
		{name: "a higher risk class", code: "risk", make: func(w *world) { w.policy.Risk = 0 }},
		{name: "files of the root changed", code: "source_changed_after_run", make: func(w *world) {
			w.root["b.go"] = &fstest.MapFile{Data: []byte("package a\n"), Mode: 0o644}
		}},
		{name: "the tree is another", code: "evidence_tampered", make: func(w *world) {
			w.receipt.Tree = w.receipt.RootTree
			for i := range w.runs {
				w.runs[i].Tree = w.receipt.RootTree
			}
		}},
		{name: "version", code: "evidence_invalid", make: func(w *world) { w.receipt.Version = 2 }},
		{name: "a report was edited", code: "evidence_tampered", then: func(w *world) {
			w.evidence["reports/confirm-2/stdout"].Data = []byte("ok\n")
		}},
		{name: "a report is gone", code: "evidence_missing", then: func(w *world) { delete(w.evidence, "reports/confirm-2/stdout") }},
		{name: "the diff was edited", code: "evidence_tampered", then: func(w *world) { w.evidence[proof.PatchFile].Data = []byte("x") }},
		{name: "the diff is gone", code: "evidence_missing", then: func(w *world) { delete(w.evidence, proof.PatchFile) }},
		{name: "the receipt is gone", code: "evidence_missing", then: func(w *world) { delete(w.evidence, proof.ReceiptFile) }},
		{name: "the receipt is no JSON", code: "evidence_invalid", then: func(w *world) { w.evidence[proof.ReceiptFile].Data = []byte("{") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			if row.make != nil {
				row.make(w)
			}
			w.write(t)
			if row.then != nil {
				row.then(w)
			}
			p, err := proof.Admit(w.evidence, w.root, w.policy)
			var no *proof.Refusal
			if !errors.As(err, &no) || p != nil {
				t.Fatalf("got %v, %v; want a refusal and no proof", p, err)
			}
			if no.Code != row.code || !strings.Contains(no.Text, row.say) {
				t.Errorf("got %q, want code %s and %q", no.Error(), row.code, row.say)
			}
		})
	}
}

// TestUnlistedRun shows that a report which the receipt does not name counts for nothing.
func TestUnlistedRun(t *testing.T) {
	w := newWorld(t)
	w.write(t)
	for _, f := range []string{"run.json", "stdout", "stderr"} {
		delete(w.receipt.Evidence, path.Join("reports/confirm-1", f))
	}
	b, _ := json.Marshal(w.receipt)
	w.evidence[proof.ReceiptFile].Data = b
	if _, err := proof.Admit(w.evidence, w.root, w.policy); err == nil || !strings.Contains(err.Error(), "D0") {
		t.Errorf("got %v, want D0 to miss its plain run", err)
	}
}
