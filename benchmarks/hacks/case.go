package hacks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// open is a policy that protects nothing which can be opened, so that what the gate refuses is tried all the same.
var open = patch.Policy{Allow: []string{"**"}}

// Ladder is everything that can refuse, in the order in which the table adds it up.
var Ladder = []string{Gate, "D0", "D1", "D2", "D3", "D4", "D5", "D6", "D7", "DR", "DS", Admit}

// judge takes one case through the gate, the rungs and the admission. What the gate refuses is tried without its
// protection too, so that it is known what the rungs alone would say.
func (s *stage) judge(ctx context.Context, k Case, o *Outcome) error {
	if err := s.wipe(); err != nil {
		return err
	}
	policy := s.policy
	change, err := s.resolve(k.Answer, policy)
	var slip *patch.Slip
	if errors.As(err, &slip) {
		o.refuse(Gate, slip.Text)
		policy = open
		if change, err = s.resolve(k.Answer, policy); errors.As(err, &slip) {
			o.Verdict, o.Text = Refused, slip.Text
			if slip.Code != patch.IsProtected {
				o.Verdict = Invalid
			}
			return nil
		}
	}
	if err != nil {
		return err
	}
	receipt, err := s.confirm(ctx, policy, change, o)
	if err != nil {
		return err
	}
	if len(o.By) == 0 {
		if err := s.admit(receipt, change.Diff(), o); err != nil {
			return err
		}
	}
	o.Verdict = verdict(k, o)
	return nil
}

func verdict(k Case, o *Outcome) string {
	switch {
	case !o.Green && (k.Honest || !slices.Contains(cheatsRuns, k.Kind)):
		return Invalid
	case len(o.By) > 0:
		return Refused
	}
	return Accepted
}

func (o *Outcome) refuse(by, text string) {
	if o.By = append(o.By, by); len(o.By) == 1 {
		o.Text = text
	}
}

// resolve lands an answer on the root. The error is a *patch.Slip where it may not or cannot.
func (s *stage) resolve(answer string, policy patch.Policy) (patch.Change, error) {
	if strings.HasPrefix(answer, "diff --git ") {
		return patch.Gate(s.root, []byte(answer), policy)
	}
	set, slips := patch.Parse(answer)
	if len(slips) > 0 {
		return patch.Change{}, slips[0]
	}
	change, _, err := patch.Resolve(s.root, set, policy)
	return change, err
}

// confirm runs the rungs and notes which refuse. Green is what the exit status of the plain check says, with the change alone.
func (s *stage) confirm(ctx context.Context, policy patch.Policy, change patch.Change, o *Outcome) (proof.Receipt, error) {
	or := s.oracle(policy)
	or.Know(s.seer)
	ran := map[string]int{}
	or.OnRun = func(r oracle.Run) {
		if ran[r.Phase]++; r.Phase == "confirm" && r.N == 1 {
			o.Green = r.Exit == 0 && r.Signal == "" && r.Limit == ""
		}
	}
	claim := proof.Claim{Root: commit, RootTree: s.rootTree, Base: commit, Diff: change.Diff(), Findings: s.sight.Failed}
	receipt, v, err := or.Confirm(ctx, s.sight, claim)
	if err != nil {
		return receipt, err
	}
	if ran["confirm"] == 0 { // refused before anything was run
		color, err := s.alone(ctx, change)
		if err != nil {
			return receipt, err
		}
		o.Green = color == report.Green
	}
	s.note(receipt, change, v, ran, o)
	return receipt, nil
}

// commit stands for the commit of the root; no repository is involved.
var commit = strings.Repeat("0", 40)

// judged says whether the runs were made without which a rung says nothing of its own: after one that ended the others, it
// is refused for their absence.
func (s *stage) judged(rung string, ran map[string]int) bool {
	switch rung {
	case "D0":
		return ran["confirm"] > 0
	case "D1":
		return ran["confirm"] > 1
	case "D5", "D6":
		return ran["confirm"] > s.sight.K
	case "DR":
		return ran["revert"] > 0
	case "D3":
		return ran["canary"] > 0
	case "D7":
		return ran["mutated"] > 0
	}
	return true
}

// note writes down what each rung said.
func (s *stage) note(receipt proof.Receipt, change patch.Change, v oracle.Verdict, ran map[string]int, o *Outcome) {
	o.Rungs = map[string]string{}
	d2, _ := proof.OracleFiles(s.root, change.Overlay(s.root), s.policy)
	for _, r := range receipt.Rungs {
		if r.ID == d2.ID {
			r = d2 // under the job's own policy, not the open one
		}
		if !s.judged(r.ID, ran) {
			o.Rungs[r.ID] = string(proof.NotEvaluated)
			continue
		}
		o.Rungs[r.ID] = string(r.Status)
		if r.Status == proof.Failed {
			o.refuse(r.ID, r.ID+": "+r.Text)
		}
	}
	if v.Color != report.Green && len(o.By) == 0 {
		o.refuse("D0", fmt.Sprintf("%s: %s", v.Color, v.Text))
	}
}

// alone runs the plain check once on the root with the change. Green is an exit status of 0, whatever else was said.
func (s *stage) alone(ctx context.Context, change patch.Change) (report.Color, error) {
	dir, remove, err := s.copies.Fresh(ctx)
	if err != nil {
		return report.Unknown, err
	}
	defer remove(ctx) //nolint:errcheck // goes with the stage
	root, err := os.OpenRoot(dir)
	if err != nil {
		return report.Unknown, err
	}
	defer root.Close()
	if err := change.Write(root); err != nil {
		return report.Unknown, err
	}
	v, err := s.oracle(s.policy).Judge(ctx, dir)
	if r := v.Report; err == nil && r.Exit == 0 && r.Signal == "" && r.Limit == "" {
		return report.Green, nil
	}
	return v.Color, err
}

// admit is the publishing side's own look at the evidence.
func (s *stage) admit(receipt proof.Receipt, diff []byte, o *Outcome) error {
	receipt.Job, receipt.Repo, receipt.Fingerprint, receipt.By = "bench", "bench", s.set.Fingerprint, "bench"
	receipt.Made = time.Now().UTC().Truncate(time.Second)
	b, err := json.MarshalIndent(receipt, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.evidence(), proof.ReceiptFile), b, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.evidence(), proof.PatchFile), diff, 0o600); err != nil {
		return err
	}
	_, err = proof.Admit(os.DirFS(s.evidence()), s.root, proof.Policy{
		Root: commit, RootTree: s.rootTree, Base: commit, Fingerprint: s.set.Fingerprint, Sandboxes: []string{string(s.bench.Box.Tier())},
		Patch: s.policy, Risk: proof.MaxRisk,
	})
	var no *proof.Refusal
	if errors.As(err, &no) {
		o.refuse(Admit, no.Error())
		return nil
	}
	return err
}
