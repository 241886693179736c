package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

// verifyFlags are what verify is told besides where the evidence lies.
type verifyFlags struct {
	signers string
	run     bool
	branch  string
	sandbox string
}

// verifyCmd checks a receipt against its evidence.
func (a *app) verifyCmd() *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify DIR|RECEIPT",
		Short: "check a proof: every hash, and every colour and rung recomputed from the raw reports",
		Long: "verify holds every byte of the evidence to its manifest, checks the signatures that lie there, and recomputes the proof from\n" +
			"the raw reports. It runs nothing.\n" +
			"With --run, in a repository that holds the root commit, the proof is made once more in the jail: red, green with the patch,\n" +
			"and red again without. Only a command that the repository's own default branch yields is run, after it is printed; the\n" +
			"receipt chooses nothing.\n" +
			"Exit: 0 valid, 1 not valid (with a code), 2 no such evidence.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.signers, "signers", "", "file of allowed signers, as ssh-keygen has it; the evidence must be signed by one of them")
	cmd.Flags().BoolVar(&f.run, "run", false, "make the proof once more, in this repository")
	cmd.Flags().StringVar(&f.branch, "branch", "", "with --run: the default branch (as origin has it, else main or master, if empty)")
	cmd.Flags().StringVar(&f.sandbox, "sandbox", "", "with --run: sandbox tier")
	return cmd
}

// verified is what verify prints with --json.
type verified struct {
	Valid    bool            `json:"valid"`
	Code     string          `json:"code,omitempty"`
	Text     string          `json:"text,omitempty"`
	Problems []trace.Problem `json:"problems,omitempty"`
	Receipt  *proof.Receipt  `json:"receipt,omitempty"`
	Signed   *signature      `json:"signature,omitempty"` // null without one
	Again    string          `json:"again,omitempty"`     // what was run once more
}

// signature says who signed.
type signature struct {
	Key    string `json:"key"`
	Signer string `json:"signer"` // "" when no list of signers was given
}

func (a *app) verify(ctx context.Context, name string, f verifyFlags) error {
	if !f.run && (f.branch != "" || f.sandbox != "") {
		return usage("--branch and --sandbox go with --run")
	}
	if filepath.Base(name) == proof.ReceiptFile {
		name = filepath.Dir(name)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return usage("open the evidence: %w", err)
	}
	defer root.Close()
	v, diff, err := a.checked(root.FS(), f)
	var no *proof.Refusal
	if err == nil && f.run {
		v.Again, err = a.runAgain(ctx, *v.Receipt, diff, f)
	}
	if errors.As(err, &no) {
		return a.invalid(no, v.Problems)
	}
	if err != nil {
		return err
	}
	v.Valid = true
	if a.json {
		a.printJSON(v)
		return nil
	}
	a.showVerified(v)
	return nil
}

func (a *app) showVerified(v verified) {
	receipt := v.Receipt
	text := fmt.Sprintf("valid: `%s` was red x%d on %.12s and is green x%d with the patch (tree %.12s)\n", receipt.Command, receipt.K, receipt.Root, receipt.K+1, receipt.Tree)
	switch {
	case v.Signed == nil:
		text += "not signed\n"
	case v.Signed.Signer == "":
		text += fmt.Sprintf("signed with %s, held against no list: --signers FILE names whose it is\n", v.Signed.Key)
	default:
		text += fmt.Sprintf("signed by %s with %s\n", v.Signed.Signer, v.Signed.Key)
	}
	fmt.Fprint(a.out, a.clean.Terminal(text+trace.ProofTable(rungData(receipt.Rungs))))
	if v.Again != "" {
		fmt.Fprint(a.out, a.clean.Terminal(v.Again+"\n"))
	}
}

// checked is all that can be checked without running anything. The error is a *proof.Refusal, or our side's.
func (a *app) checked(evidence fs.FS, f verifyFlags) (v verified, diff []byte, err error) {
	if v.Problems, err = trace.VerifyManifest(evidence); err != nil {
		return v, nil, &proof.Refusal{Code: "evidence_missing", Text: err.Error()}
	}
	if len(v.Problems) > 0 {
		p := v.Problems[0]
		return v, nil, &proof.Refusal{Code: p.Code, Text: fmt.Sprintf("%s: %s", p.Path, p.Text)}
	}
	if v.Signed, err = signedBy(evidence, f.signers); err != nil {
		return v, nil, err
	}
	receipt, diff, err := proof.Verify(evidence)
	v.Receipt = &receipt
	return v, diff, err
}

// signedBy checks the signatures of the manifest, which speaks of every file, and of the receipt, which may go its own ways. With
// a list of signers both have to be there, by one of them.
func signedBy(evidence fs.FS, list string) (*signature, error) {
	whole, err := proof.SignerOf(evidence, trace.ManifestFile)
	if err != nil {
		return nil, err
	}
	receipt, err := proof.SignerOf(evidence, proof.ReceiptFile)
	if err != nil {
		return nil, err
	}
	switch {
	case whole == nil && receipt != nil:
		return nil, &proof.Refusal{Code: "evidence_missing", Text: trace.SignatureFile + ": the receipt is signed, and the manifest is not"}
	case whole == nil && list != "":
		return nil, &proof.Refusal{Code: "not_signed", Text: "nobody signed this evidence"}
	case whole == nil:
		return nil, nil
	case receipt == nil || ssh.FingerprintSHA256(receipt) != ssh.FingerprintSHA256(whole):
		return nil, &proof.Refusal{Code: "evidence_tampered", Text: trace.SignatureFile + ": the receipt is not signed by the same key"}
	}
	s := &signature{Key: ssh.FingerprintSHA256(whole)}
	if list == "" {
		return s, nil
	}
	signers, err := proof.ReadSigners(list)
	if err != nil {
		return nil, usage("%w", err)
	}
	if s.Signer = signers.Name(whole, time.Now()); s.Signer == "" {
		return nil, &proof.Refusal{Code: "signer_unknown", Text: fmt.Sprintf("it is signed with %s, which is nobody's in %s", s.Key, list)}
	}
	return s, nil
}

func rungData(rungs []proof.Rung) []trace.RungData {
	var out []trace.RungData
	for _, r := range rungs {
		out = append(out, trace.RungData{ID: r.ID, Status: string(r.Status), Text: r.Text})
	}
	return out
}

const problemsShown = 20

// invalid says why a proof does not hold.
func (a *app) invalid(no *proof.Refusal, problems []trace.Problem) error {
	if a.json {
		a.printJSON(verified{Code: no.Code, Text: no.Text, Problems: problems})
		return stopped()
	}
	text := fmt.Sprintf("not valid: %s: %s\n", no.Code, no.Text)
	for i, p := range problems {
		switch {
		case i == 0: // it was just said
		case i == problemsShown:
			text += fmt.Sprintf("           … and %d more\n", len(problems)-i)
		case i < problemsShown:
			text += fmt.Sprintf("           %s: %s: %s\n", p.Code, p.Path, p.Text)
		}
	}
	fmt.Fprint(a.out, a.clean.Terminal(text))
	return stopped()
}

// runAgain makes a proof once more with the check of the local default branch, and returns what was done.
func (a *app) runAgain(ctx context.Context, receipt proof.Receipt, diff []byte, f verifyFlags) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", ourSide(err)
	}
	s, err := a.begin(ctx, dir, fixFlags{tiers: "mechanic", sandbox: f.sandbox})
	if err != nil {
		return "", err
	}
	branch, tip, err := s.defaultBranch(ctx, f.branch)
	if err != nil {
		return "", err
	}
	y, err := s.yields(branch, tip, receipt)
	if err != nil {
		return "", err
	}
	file, check := y.file, y.check
	fmt.Fprint(a.orErr(), a.clean.Terminal(fmt.Sprintf("to be run in a jail, on %.12s and with the patch (check %s of %s):\n  %s\n", receipt.Root, check.ID, branch, strings.ReplaceAll(check.Run, "\n", "\n  "))))
	ui := a.newScreen()
	ui.quiet = true
	j := s.job(a, fixFlags{sandbox: f.sandbox, seed: 1}, "verify", ui.event)
	j.Failed = y.steps
	j.Command, j.Dir, j.Config, j.End, j.Claim, j.Key = "", "", &file, nil, diff, nil
	j.Spec.Root, j.Spec.Base, j.Spec.Check, j.Spec.Mode, j.Spec.Tiers = receipt.Root, receipt.Base, check.ID, trace.ModeAgain, []string{}
	j.Spec.Fixers, j.Spec.Protect, j.Spec.Allow = file.Fixers, file.Protect, file.Allow
	out, err := j.Do(ctx)
	if err != nil {
		return "", a.endOf(ctx, out, err)
	}
	if out.Proof == nil {
		return "", &proof.Refusal{Code: orElse(out.Stop.Class, string(out.Stop.Reason)), Text: "run once more, it does not hold: " + out.Stop.Text}
	}
	again := out.Proof.Receipt()
	if again.Tree != receipt.Tree {
		return "", &proof.Refusal{Code: "evidence_tampered", Text: "run once more, the patch makes another tree"}
	}
	return fmt.Sprintf("run once more here: red x%d, green x%d with the patch, red again without; evidence in %s", again.K, again.K+1, out.Evidence), nil
}

// orErr is where what is said before the result goes: with --json not among it.
func (a *app) orErr() io.Writer {
	if a.json {
		return a.err
	}
	return a.out
}

// defaultBranch is the branch that decides what may be run, and where it stands.
func (s *setting) defaultBranch(ctx context.Context, named string) (branch, tip string, err error) {
	tries := []string{"refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"}
	if named != "" {
		tries = []string{"refs/heads/" + named}
	}
	for _, ref := range tries {
		if tip, err = s.mirror.Resolve(ctx, ref); err == nil {
			return strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/remotes/"), tip, nil
		}
	}
	return "", "", usage("find the default branch: none of %s is there; name it with --branch", strings.Join(tries, ", "))
}

// yielded is what a branch yields for a receipt: the configuration, the check, and the workflow's step that it is, if it is one.
type yielded struct {
	file  plan.File
	check plan.Check
	steps []plan.Failed
}

// yields is the default branch's own check that the receipt is about. Its commands, and the scripts that they run, must be the
// same on the root, byte for byte: what runs is what was reviewed.
func (s *setting) yields(branch, tip string, receipt proof.Receipt) (y yielded, err error) {
	if y.file, err = fileAt(s.mirror, tip); err != nil {
		return y, usage("read the configuration of %s: %w", branch, err)
	}
	here, err := s.planAt(y, tip)
	found := func() bool {
		for _, c := range here.Checks {
			if c.Run == receipt.Command && orElse(c.Dir, ".") == orElse(receipt.Dir, ".") {
				y.check = c
				return true
			}
		}
		return false
	}
	if !found() && len(y.file.Checks) == 0 {
		steps, bad := s.workflowSteps(tip)
		err = errors.Join(bad)
		for _, one := range steps {
			y.steps = []plan.Failed{one}
			if here, bad = s.planAt(y, tip); bad == nil && found() {
				break
			}
		}
	}
	if err != nil {
		return y, err
	}
	if y.check.Run == "" {
		return y, &proof.Refusal{Code: "plan_changed", Text: fmt.Sprintf("%s yields no such command, so it is not run: %s", branch, receipt.Command)}
	}
	there, err := s.planAt(y, receipt.Root)
	if err == nil && there.Fingerprint != here.Fingerprint {
		err = &proof.Refusal{Code: "plan_changed", Text: fmt.Sprintf("the checks of the root, or the scripts that they run, are not those of %s", branch)}
	}
	return y, err
}

// stepsLooked is how many steps of workflows are looked at for a receipt's command.
const stepsLooked = 1000

// workflowSteps are the steps of a commit's workflows that run something, one for each combination of its job's matrix.
func (s *setting) workflowSteps(commit string) (steps []plan.Failed, err error) {
	tree, err := s.mirror.TreeFS(commit)
	if err != nil {
		return nil, &proof.Refusal{Code: "source_missing", Text: fmt.Sprintf("this repository does not hold %.12s", commit)}
	}
	files, err := fs.Glob(tree, ".github/workflows/*.y*ml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		jobs, err := plan.Jobs(tree, file)
		if err != nil {
			continue // a workflow that cannot be read yields nothing
		}
		for _, j := range jobs {
			for i, runs := range j.Runs {
				for _, m := range append(j.Matrix, nil)[:max(1, len(j.Matrix))] {
					if runs && len(steps) < stepsLooked {
						steps = append(steps, plan.Failed{File: file, At: plan.At{Job: j.ID, Step: strconv.Itoa(i + 1), Matrix: m}})
					}
				}
			}
		}
	}
	return steps, nil
}

// planAt is what a configuration, or a workflow's step, makes of a commit.
func (s *setting) planAt(y yielded, commit string) (set plan.Set, err error) {
	tree, err := s.mirror.TreeFS(commit)
	if err != nil {
		return plan.Set{}, &proof.Refusal{Code: "source_missing", Text: fmt.Sprintf("this repository does not hold %.12s", commit)}
	}
	if len(y.steps) > 0 {
		set, _, err = plan.FromFailed(tree, y.steps, runtime.GOOS)
	} else {
		set, err = plan.FindWith(y.file, tree)
	}
	var none *plan.NoCheck
	if errors.As(err, &none) {
		return set, &proof.Refusal{Code: "plan_changed", Text: err.Error()}
	}
	return set, err
}
