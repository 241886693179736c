package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

// verifyCmd checks a receipt against its evidence.
func (a *app) verifyCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "verify DIR|RECEIPT",
		Short: "check a proof: every hash, and every colour and rung recomputed from the raw reports",
		Long:  "verify recomputes a proof from its evidence and runs nothing. In a repository that holds the root commit, the diff is\ngated and the trees are hashed again as well.\nExit: 0 valid, 1 not valid (with a code), 2 no such evidence.",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return a.verify(args[0]) },
	}
}

func (a *app) verify(name string) error {
	if filepath.Base(name) == proof.ReceiptFile {
		name = filepath.Dir(name)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return usage("open the evidence: %w", err)
	}
	defer root.Close()
	problems, err := trace.VerifyManifest(root.FS())
	if err != nil {
		return a.invalid(&proof.Refusal{Code: "evidence_missing", Text: err.Error()})
	}
	if len(problems) > 0 {
		p := problems[0]
		return a.invalid(&proof.Refusal{Code: p.Code, Text: fmt.Sprintf("%s (%d problems in all)", p.Text, len(problems))})
	}
	receipt, _, err := proof.Verify(root.FS())
	var no *proof.Refusal
	if errors.As(err, &no) {
		return a.invalid(no)
	}
	if err != nil {
		return ourSide(err)
	}
	if a.json {
		a.printJSON(map[string]any{"valid": true, "receipt": receipt})
		return nil
	}
	fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("valid: `%s` was red x%d on %.12s and is green x%d with the patch (tree %.12s)\n", receipt.Command, receipt.K, receipt.Root, receipt.K+1, receipt.Tree)))
	fmt.Fprint(a.out, a.clean.Terminal(trace.ProofTable(rungData(receipt.Rungs))))
	return nil
}

func rungData(rungs []proof.Rung) []trace.RungData {
	var out []trace.RungData
	for _, r := range rungs {
		out = append(out, trace.RungData{ID: r.ID, Status: string(r.Status), Text: r.Text})
	}
	return out
}

// invalid says why a proof does not hold.
func (a *app) invalid(no *proof.Refusal) error {
	if a.json {
		a.printJSON(map[string]any{"valid": false, "code": no.Code, "text": no.Text})
	} else {
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("not valid: %s: %s\n", no.Code, no.Text)))
	}
	return stopped()
}
