package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
)

// Keep writes the raw output of a run below the evidence directory; it is Oracle.Keep.
func Keep(evidence string) func(proof.RunRecord, sandbox.Result) (map[string]string, error) {
	return func(r proof.RunRecord, res sandbox.Result) (map[string]string, error) {
		files, err := r.Files(res.Stdout, res.Stderr)
		if err != nil {
			return nil, err
		}
		sums := map[string]string{}
		for name, b := range files {
			if err := writeFile(filepath.Join(evidence, filepath.FromSlash(name)), b); err != nil {
				return nil, err
			}
			sums[name] = proof.Sum(b)
		}
		return sums, nil
	}
}

// writeReceipt writes the diff, then the receipt that names it.
func (a *Agent) writeReceipt(turn int, r proof.Receipt, diff []byte) error {
	if err := writeFile(filepath.Join(a.Evidence, proof.PatchFile), diff); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := writeFile(filepath.Join(a.Evidence, proof.ReceiptFile), b); err != nil {
		return err
	}
	a.add(turn, trace.TypeReceipt, trace.ReceiptData{SHA256: proof.Sum(b), Tree: r.Tree})
	return a.broken()
}

// writeFile writes a file whole or not at all.
func writeFile(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := name + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}

// RunData is a run as the trace tells it.
func RunData(r oracle.Run) trace.RunData {
	d := trace.RunData{
		Phase: r.Phase, N: r.N, Mode: r.Mode, Command: r.Command, Dir: r.Dir, Tree: r.Tree, Tier: r.Tier, Exit: r.Exit, Signal: r.Signal,
		Limit: r.Limit, Seconds: r.Seconds, User: r.Result.User.Seconds(), Sys: r.Result.Sys.Seconds(), MaxRSS: r.Result.MaxRSS,
		Color: r.Report.Color().String(), ThrownAway: r.ThrownAway, Refused: r.Refused,
		Digest: proof.Sum(append(append(append([]byte{}, r.Result.Stdout...), 0), r.Result.Stderr...)),
	}
	for _, a := range r.Result.Egress {
		d.Egress = append(d.Egress, trace.Reach{To: a.To, N: a.N})
	}
	if len(r.Files) > 0 {
		d.Report = r.Folder()
	}
	return d
}

func verdictData(phase string, v oracle.Verdict) trace.VerdictData {
	d := trace.VerdictData{Phase: phase, Color: v.Color.String(), Class: string(v.Class), Passed: len(v.Passed), Skipped: v.Skipped, Unstable: v.Unstable, Text: v.Text}
	for _, f := range v.Findings {
		d.Findings = append(d.Findings, FindingData(f))
	}
	return d
}

// FindingData is a finding as the trace tells it.
func FindingData(f report.Result) trace.Finding {
	return trace.Finding{ID: f.ID, Kind: string(f.Kind), Status: string(f.Status), File: f.File, Line: f.Line, Got: f.Got, Want: f.Want, Message: f.Message}
}

// headline is a verdict in one line.
func headline(v oracle.Verdict) string {
	if len(v.Findings) == 0 {
		return fmt.Sprintf("%s (%s)", v.Color, v.Class)
	}
	f := v.Findings[0]
	s := f.ID
	if f.Got != "" || f.Want != "" {
		s += fmt.Sprintf(": got %s, want %s", line(f.Got), line(f.Want))
	} else if f.Message != "" {
		s += ": " + line(f.Message)
	}
	return s
}

// note1 is a verdict as the next turn is told it.
func note1(v oracle.Verdict) string {
	if v.Color == report.Unknown {
		return fmt.Sprintf("With it the check could not be judged (%s).", v.Class)
	}
	return "With it the check is still red: " + headline(v)
}

func line(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
