package proof_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/proof"
)

// newPrepared is a world whose runs were made over a layer.
func newPrepared(t *testing.T) *world {
	w := newWorld(t)
	w.receipt.Setup = &proof.Setup{Commands: []string{"make a", "make b"}, Layer: "1a4e", Made: []string{"node_modules", "gen.txt"}}
	w.policy.Setup = []string{"make a", "make b"}
	for i := range w.runs {
		w.runs[i].Setup = "1a4e"
	}
	for i, c := range w.receipt.Setup.Commands {
		w.runs = append(w.runs, run{RunRecord: proof.RunRecord{Phase: proof.SetupPhase, N: i + 1, Mode: proof.Plain, Command: c, Dir: ".", Tree: w.receipt.RootTree, Tier: "bubblewrap"}})
	}
	return w
}

func TestAdmitPrepared(t *testing.T) {
	w := newPrepared(t)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Receipt().Setup; s == nil || s.Layer != "1a4e" {
		t.Errorf("got the setup %+v", s)
	}
}

func TestRefusedPrepared(t *testing.T) {
	for _, tt := range []struct {
		name  string
		code  string
		spoil func(*world)
	}{
		{"no setup where there is to be one", "plan_changed", func(w *world) { *w = *newWorld(t); w.policy.Setup = []string{"make a"} }},
		{"a setup where there is to be none", "plan_changed", func(w *world) { w.policy.Setup = nil }},
		{"other commands", "plan_changed", func(w *world) { w.policy.Setup = []string{"make a", "make c"} }},
		{"another order", "plan_changed", func(w *world) { w.policy.Setup = []string{"make b", "make a"} }},
		{"a run over another layer", "evidence_tampered", func(w *world) { w.run("confirm", 2).Setup = "0" }},
		{"a red run without the layer", "evidence_tampered", func(w *world) { w.run("see", 1).Setup = "" }},
		{"layers without a setup", "evidence_tampered", func(w *world) { *w = *newWorld(t); w.run("see", 1).Setup = "1a4e" }},
		{"setup runs without a setup", "evidence_missing", func(w *world) {
			*w = *newWorld(t)
			w.runs = append(w.runs, run{RunRecord: proof.RunRecord{Phase: proof.SetupPhase, N: 1, Command: "make a"}})
		}},
		{"a command that was not run", "evidence_missing", func(w *world) { w.drop(proof.SetupPhase, 2) }},
		{"a command that failed", "evidence_tampered", func(w *world) { w.run(proof.SetupPhase, 1).Exit = 1 }},
		{"a command that was ended", "evidence_tampered", func(w *world) { w.run(proof.SetupPhase, 1).Limit = "wall" }},
		{"another command was run", "evidence_tampered", func(w *world) { w.run(proof.SetupPhase, 1).Command = "curl" }},
		{"set up on another tree", "evidence_tampered", func(w *world) { w.run(proof.SetupPhase, 1).Tree = w.receipt.Tree }},
		{"set up in another sandbox", "evidence_tampered", func(w *world) { w.run(proof.SetupPhase, 1).Tier = "none" }},
		{"no layer", "evidence_invalid", func(w *world) { w.receipt.Setup.Layer = "" }},
		{"no commands", "evidence_invalid", func(w *world) { w.receipt.Setup.Commands = nil }},
		{"it made a file of the root", "evidence_tampered", func(w *world) { w.receipt.Setup.Made = []string{"a_test.go"} }},
		{"it made something below a file", "evidence_invalid", func(w *world) { w.receipt.Setup.Made = []string{"a.go/x"} }},
		{"it made something outside", "evidence_invalid", func(w *world) { w.receipt.Setup.Made = []string{"../x"} }},
		{"it made everything", "evidence_invalid", func(w *world) { w.receipt.Setup.Made = []string{"."} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newPrepared(t)
			tt.spoil(w)
			w.write(t)
			_, err := proof.Admit(w.evidence, w.root, w.policy)
			var no *proof.Refusal
			if !errors.As(err, &no) || no.Code != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
		})
	}
}

// TestTouches: a change stays out of what a setup made, above and below.
func TestTouches(t *testing.T) {
	w := newPrepared(t)
	w.write(t)
	p, err := proof.Admit(w.evidence, w.root, w.policy)
	if err != nil {
		t.Fatal(err)
	}
	for made, want := range map[string]string{"a.go": "a.go", "a.go/x": "a.go", "a": "", "b": "", "a.go2": ""} {
		s := proof.Setup{Made: slices.Concat([]string{"zzz"}, strings.Fields(made))}
		if got := s.Touches(p.Change()); got != want {
			t.Errorf("made %s: got %q, want %q", made, got, want)
		}
	}
}
