// Package proof holds receipts, and the one function that turns a receipt into a Proof. It runs nothing: all that
// can be recomputed without running code is recomputed from the raw reports, and the rest is compared with what
// the caller pinned. A Proof has one maker, Admit, and its zero value is good for nothing.
package proof

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// Proof is a claim that held in clean trees. Only Admit makes one.
type Proof struct {
	receipt Receipt
	sum     string
	diff    []byte
	change  patch.Change
}

// Valid says whether p came from Admit.
func (p *Proof) Valid() bool { return p != nil && p.receipt.Version == ReceiptVersion }

// Receipt is what was admitted, its rungs as recomputed.
func (p *Proof) Receipt() Receipt { return p.receipt }

// ReceiptSum is the SHA-256 of the receipt's bytes in hex, as it lies in the evidence.
func (p *Proof) ReceiptSum() string { return p.sum }

// Diff is the proved diff.
func (p *Proof) Diff() []byte { return slices.Clone(p.diff) }

// Change is the proved diff as files.
func (p *Proof) Change() patch.Change { return p.change }

// Policy is what the admitting side knows by itself and holds the evidence against.
type Policy struct {
	Root        string   // commit the job was pinned to
	RootTree    string   // its tree id
	Base        string   // tip of the base branch as it is now
	Fingerprint string   // of the checks as the admitting side found them
	Sandboxes   []string // tiers that are good enough
	Patch       patch.Policy
	Fixers      []Fixer           // the project's own tools that may write in protected files; none if empty
	Risk        patch.Class       // the highest class admitted
	Links       map[string]string // submodules of the root, path to commit
	Setup       []string          // commands that were to be run before the checks; none if empty
	Others      []Other           // the other configured checks, in the plan's order; the receipt's own list is taken if nil
}

// MaxRisk is the highest class that any proof may have: tests, the oracle and CI are never touched.
const MaxRisk = patch.R2

// PatchPolicy is the one policy of edits of a job, the same for the process that repairs and the one that admits:
// further protected globs, paths opened by the default branch, scripts that the checks execute, limits (0 for the default).
func PatchPolicy(protect, allow, scripts []string, files, lines int) patch.Policy {
	return patch.Policy{Protect: protect, Allow: allow, Oracle: scripts, Files: files, Lines: lines}
}

// Refusal is why evidence was not admitted.
type Refusal struct {
	Code string // evidence_missing, evidence_tampered, evidence_invalid, source_changed_after_run, plan_changed, sandbox_too_weak, gate, risk, not_proven
	Text string
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Text }

func refuse(code, format string, a ...any) error { return &Refusal{code, fmt.Sprintf(format, a...)} }

// Admit recomputes a receipt from the evidence and the admitting side's own files of the root, and returns the
// Proof if everything holds. The error is a *Refusal.
func Admit(evidence, root fs.FS, policy Policy) (*Proof, error) {
	receipt, diff, runs, err := verify(evidence)
	if err != nil {
		return nil, err
	}
	if receipt.Root != policy.Root || receipt.RootTree != policy.RootTree {
		return nil, refuse("source_changed_after_run", "the receipt is for root %.12s, this job is for %.12s", receipt.Root, policy.Root)
	}
	if receipt.Base != policy.Base {
		return nil, refuse("source_changed_after_run", "the base was %.12s and is %.12s now", receipt.Base, policy.Base)
	}
	if receipt.Fingerprint != policy.Fingerprint {
		return nil, refuse("plan_changed", "the checks that were run are not the checks of this repository")
	}
	if !slices.Contains(policy.Sandboxes, receipt.Tier) {
		return nil, refuse("sandbox_too_weak", "the runs were made in sandbox %q, which is not allowed here", receipt.Tier)
	}
	if policy.Patch, err = receipt.openFixed(root, runs, policy); err != nil {
		return nil, err
	}
	change, err := patch.Gate(root, diff, policy.Patch)
	if err != nil {
		return nil, refuse("gate", "%v", err)
	}
	if c := change.Risk(root, policy.Patch); c > policy.Risk {
		return nil, refuse("risk", "the change is of class %s, the highest allowed is %s", c, policy.Risk)
	}
	if err := sameTree(root, change, receipt, policy); err != nil {
		return nil, err
	}
	if err := sameSetup(root, change, receipt, policy); err != nil {
		return nil, err
	}
	if policy.Others != nil && !slices.Equal(receipt.Others, policy.Others) {
		return nil, refuse("plan_changed", "the other checks that were run are not those of this repository")
	}
	lint := DiffLint(root, change, Asserted(root, receipt.Findings, runs))
	if lint.Status == Failed {
		return nil, refuse("not_proven", "D4: %s", lint.Text)
	}
	receipt.Rungs = Merge(receipt.Rungs, []Rung{lint})
	b, err := fs.ReadFile(evidence, ReceiptFile)
	if err != nil {
		return nil, missing(err, ReceiptFile)
	}
	return &Proof{receipt: receipt, sum: Sum(b), diff: diff, change: change}, nil
}

// sameTree is D2 and the tree's identity: what was run is root + diff, and the oracle's files are the root's.
func sameTree(root fs.FS, change patch.Change, receipt Receipt, policy Policy) error {
	id, err := patch.TreeID(root, policy.Links)
	if err != nil {
		return refuse("evidence_invalid", "hash the root: %v", err)
	}
	if id != policy.RootTree {
		return refuse("source_changed_after_run", "the files of the root hash to %.12s, its commit says %.12s", id, policy.RootTree)
	}
	patched := change.Overlay(root)
	if id, err = patch.TreeID(patched, policy.Links); err != nil {
		return refuse("evidence_invalid", "hash the patched tree: %v", err)
	}
	if id != receipt.Tree {
		return refuse("evidence_tampered", "root and diff hash to %.12s, the receipt says %.12s", id, receipt.Tree)
	}
	rung, sum := OracleFiles(root, patched, policy.Patch)
	if rung.Status != Held || sum != receipt.Oracle {
		return refuse("not_proven", "D2: %s", rung.Text)
	}
	return nil
}

// OracleFiles is D2: every protected file is byte-identical in both trees. sum is over the root's.
func OracleFiles(root, patched fs.FS, policy patch.Policy) (Rung, string) {
	a, n, err := oracleSum(root, policy)
	if err != nil {
		return Rung{"D2", Failed, err.Error()}, ""
	}
	b, _, err := oracleSum(patched, policy)
	if err != nil {
		return Rung{"D2", Failed, err.Error()}, ""
	}
	if a != b {
		return Rung{"D2", Failed, "a protected file differs from the root's"}, a
	}
	text := fmt.Sprintf("%d protected files are the root's, byte for byte", n)
	if wrote := len(policy.Fixed); wrote > 0 {
		text += fmt.Sprintf("; %s as the check's own tool wrote it on the root", count(wrote, "file"))
	}
	return Rung{"D2", Held, text}, a
}

// oracleSum hashes path and content of every protected file, and counts them.
func oracleSum(tree fs.FS, policy patch.Policy) (string, int, error) {
	var lines []string
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		if _, protected := policy.Protected(name); !protected {
			return nil
		}
		if _, fixed := policy.Fixed[name]; fixed { // Gate has held it against what the tool wrote
			return nil
		}
		b, err := fs.ReadFile(tree, name)
		lines = append(lines, Sum(b)+" "+name+"\n")
		return err
	})
	sort.Strings(lines)
	return Sum([]byte(strings.Join(lines, ""))), len(lines), err
}

// Verify checks a receipt against the evidence beside it: every file's hash, every colour and rung that the raw
// reports show. It cannot check the root's own files; Admit does. The error is a *Refusal.
func Verify(evidence fs.FS) (Receipt, []byte, error) {
	receipt, diff, _, err := verify(evidence)
	return receipt, diff, err
}

func verify(evidence fs.FS) (receipt Receipt, diff []byte, runs []Recorded, err error) {
	b, err := fs.ReadFile(evidence, ReceiptFile)
	if err != nil {
		return receipt, nil, nil, missing(err, ReceiptFile)
	}
	if err := json.Unmarshal(b, &receipt); err != nil {
		return receipt, nil, nil, refuse("evidence_invalid", "%s: %v", ReceiptFile, err)
	}
	if receipt.Version != ReceiptVersion {
		return receipt, nil, nil, refuse("evidence_invalid", "%s has version %d, this program reads %d", ReceiptFile, receipt.Version, ReceiptVersion)
	}
	diff, err = fs.ReadFile(evidence, PatchFile)
	if err != nil {
		return receipt, nil, nil, missing(err, PatchFile)
	}
	if Sum(diff) != receipt.Diff {
		return receipt, nil, nil, refuse("evidence_tampered", "%s is not the diff that the receipt names", PatchFile)
	}
	runs, err = recordedRuns(evidence, receipt)
	if err != nil {
		return receipt, nil, nil, err
	}
	rungs, err := Recompute(receipt, runs)
	if err != nil {
		return receipt, nil, nil, err
	}
	receipt.Rungs = Merge(receipt.Rungs, rungs)
	return receipt, diff, runs, nil
}

// recordedRuns reads every run that the receipt names, after its hashes held.
func recordedRuns(evidence fs.FS, receipt Receipt) ([]Recorded, error) {
	var runs []Recorded
	names := make([]string, 0, len(receipt.Evidence))
	for name := range receipt.Evidence {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		b, err := fs.ReadFile(evidence, name)
		if err != nil {
			return nil, missing(err, name)
		}
		if Sum(b) != receipt.Evidence[name] {
			return nil, refuse("evidence_tampered", "%s is not what the receipt names", name)
		}
		if path.Base(name) != runFile {
			continue
		}
		r, err := ReadRun(evidence, path.Dir(name))
		if err != nil {
			return nil, missing(err, name)
		}
		if r.Folder() != path.Dir(name) {
			return nil, refuse("evidence_tampered", "%s says that it is %s", name, r.Folder())
		}
		for _, f := range r.parts() {
			if _, named := receipt.Evidence[path.Join(path.Dir(name), f)]; !named {
				return nil, refuse("evidence_missing", "%s of %s is not named by the receipt", f, path.Dir(name))
			}
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// parts are the files of a run's folder beside run.json.
func (r Recorded) parts() []string {
	out := []string{stdoutFile, stderrFile}
	for i := range r.Reports {
		out = append(out, r.leftFile("", i))
	}
	return out
}

// Recompute derives the rungs from recorded runs. The error is a *Refusal when one of them fails.
func Recompute(receipt Receipt, runs []Recorded) ([]Rung, error) {
	if err := receipt.setUp(runs); err != nil {
		return nil, err
	}
	if _, err := receipt.fixed(runs); err != nil {
		return nil, err
	}
	by, err := receipt.sorted(runs)
	if err != nil {
		return nil, err
	}
	root, err := recomputeRed(receipt, by["see"])
	if err != nil {
		return nil, err
	}
	confirm := by["confirm"]
	rungs := []Rung{
		exitStatus(confirm, receipt.K, receipt.Trusted), resultsHeld(root, receipt, confirm), canaries(root, receipt, by["canary"]),
		invariants(root, receipt, by["see"], confirm), repeats(confirm), mutations(receipt, by["mutated"]),
		redAgain(receipt.RootTree, receipt.Findings, by["revert"], root.Read), others(receipt, by["other"]),
	}
	for _, r := range rungs {
		if r.Status == Failed {
			return rungs, refuse("not_proven", "%s: %s", r.ID, r.Text)
		}
	}
	return rungs, nil
}

// sorted are the runs that count by phase, each of the receipt's own command, folder, sandbox and trees.
func (r Receipt) sorted(runs []Recorded) (map[string][]Recorded, error) {
	by := map[string][]Recorded{}
	for _, run := range runs {
		if run.Phase == SetupPhase || run.Phase == FixerPhase {
			continue
		}
		command, dir, ok := r.command(run.RunRecord)
		if !ok || run.Command != command || run.Dir != dir || run.Tier != r.Tier {
			return nil, refuse("evidence_tampered", "run %s-%d is of another command, folder or sandbox than the receipt's", run.Phase, run.N)
		}
		if run.ThrownAway != "" && !r.throws(run.RunRecord) {
			return nil, refuse("evidence_tampered", "run %s-%d was thrown away, which it may not be", run.Phase, run.N)
		}
		if run.ThrownAway != "" {
			continue
		}
		if run.Tree != r.Tree && (run.Phase == "confirm" || run.Phase == "mutated" || run.Tree != r.RootTree) {
			return nil, refuse("evidence_tampered", "run %s-%d was made on another tree", run.Phase, run.N)
		}
		if (run.Canary != nil) != (run.Phase == "canary") || (len(run.Mutated) > 0) != (run.Phase == "mutated") {
			return nil, refuse("evidence_tampered", "run %s-%d was made over files that such a run has not", run.Phase, run.N)
		}
		by[run.Phase] = append(by[run.Phase], run)
	}
	return by, nil
}

// command is what a run had to be of; ok is false for a check that the receipt does not name.
func (r Receipt) command(run RunRecord) (command, dir string, ok bool) {
	if run.Phase != "other" {
		return r.Command, r.Dir, run.Check == ""
	}
	for _, o := range r.Others {
		if o.ID == run.Check {
			return o.Command, o.Dir, true
		}
	}
	return "", "", false
}

// throws says whether a run may be thrown away: an instrumented one of the root, where none is trusted, or where it was made
// in another order or time zone and those give other results.
func (r Receipt) throws(run RunRecord) bool {
	if run.Mode != Instrumented || run.Phase != "see" {
		return false
	}
	return !r.Trusted || r.Natural && (run.Seed != 0 || run.TZ != "")
}

// recomputeRed asks that the root was red in every run that counts, and for the receipt's findings.
func recomputeRed(receipt Receipt, see []Recorded) (Baseline, error) {
	var counted []report.Report
	for _, r := range see {
		if r.Tree != receipt.RootTree { // also where the patched tree is meant
			return Baseline{}, refuse("evidence_tampered", "run see-%d was not made on the root", r.N)
		}
		if c := r.Report.Color(); c != report.Red {
			return Baseline{}, refuse("not_proven", "run see-%d of the root is %s, not red", r.N, c)
		}
		if r.Mode == Instrumented || !receipt.Trusted {
			counted = append(counted, r.Report)
		}
	}
	if receipt.K < 1 || len(counted) < receipt.K {
		return Baseline{}, refuse("not_proven", "the root was seen red in %d runs, fewer than k=%d", len(counted), receipt.K)
	}
	root := Base(counted)
	for _, r := range see {
		root.left = root.left || r.Mode == Instrumented && len(r.Reports) > 0
	}
	if receipt.Trusted && len(receipt.Findings) == 0 {
		return root, refuse("not_proven", "the receipt names no finding")
	}
	for _, id := range receipt.Findings {
		if receipt.Trusted && !slices.Contains(root.Red, id) {
			return root, refuse("not_proven", "%s was not red in every run of the root", id)
		}
	}
	return root, nil
}

// Merge is rungs as they were written with those that were found in their place, in the order in which people read them. It
// keeps the written words for a rung for which nothing was run: only the side that runs things knows why.
func Merge(written, recomputed []Rung) []Rung {
	out := slices.Clone(written)
	for _, r := range recomputed {
		same := func(w Rung) bool { return w.ID == r.ID }
		i := slices.IndexFunc(out, same)
		if r.Text == "" && i >= 0 && out[i].Status == r.Status {
			continue
		}
		if j := slices.IndexFunc(Unbuilt(), same); r.Text == "" && j >= 0 {
			r = Unbuilt()[j]
		}
		if i < 0 {
			out = append(out, r)
		} else {
			out[i] = r
		}
	}
	SortRungs(out)
	return out
}

func missing(err error, name string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("evidence_missing", "%s is not there", name)
	}
	return refuse("evidence_invalid", "%s: %v", name, err)
}
