package job

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
)

// seal ends the writing of evidence: its views, the list of its files, and over what was admitted the operator's signatures,
// of the receipt and of that list. The key never leaves this side.
func (j Job) seal(rec *trace.Recorder, out Outcome) error {
	if err := rec.Close(); err != nil {
		return err
	}
	signs := j.Key != nil && out.Proof != nil
	if signs {
		if err := j.sign(proof.ReceiptFile); err != nil {
			return err
		}
	}
	if err := trace.Render(j.Evidence); err != nil || !signs {
		return err
	}
	return j.sign(trace.ManifestFile)
}

// sign leaves a signature beside a file of the evidence.
func (j Job) sign(name string) error {
	b, err := os.ReadFile(filepath.Join(j.Evidence, name))
	if err != nil {
		return fmt.Errorf("sign %s: %w", name, err)
	}
	sig, err := j.Key.Sign(b)
	if err != nil {
		return fmt.Errorf("sign %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(j.Evidence, name+proof.SignatureSuffix), sig, 0o600)
}
