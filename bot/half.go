package bot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
)

// received ends a job by evidence that another Bot's half left. Nothing of it is believed: a proof is admitted by this
// side's own files, and a stop is told as what the other side said.
func (w *work) received(ctx context.Context, j job.Job) (job.Outcome, error) {
	out := job.Outcome{Evidence: w.dir}
	j.Evidence, j.Spec.ID = w.dir, filepath.Base(w.dir)
	if _, err := os.Lstat(filepath.Join(w.dir, proof.ReceiptFile)); err == nil {
		return j.Resume(ctx)
	}
	var err error
	out.Stop, err = lastStop(w.dir)
	if err == nil && out.Stop.Reason == trace.Fixed {
		err = errors.New("it says fixed, and holds no receipt")
	}
	if err != nil {
		out.Stop = trace.Stop{Reason: trace.NotProven, Class: "evidence_missing", Text: "The evidence of the repair job is not whole: " + w.Clean.Log(err.Error()) + ".", Next: "Look at the repair job's log."}
	}
	return out, nil
}

// lastStop is the stop that a trace ends in.
func lastStop(dir string) (trace.Stop, error) {
	events, _, err := trace.Read(filepath.Join(dir, trace.FileName))
	if err != nil {
		return trace.Stop{}, err
	}
	for _, e := range slices.Backward(events) {
		if e.Type == trace.TypeStop {
			return trace.StopOf(e)
		}
	}
	return trace.Stop{}, errors.New("no stop was written")
}

// ending is what a proof ends in; the repair half leaves its evidence alone, and a diagnosis has no draft, whatever its evidence says.
func (w *work) ending() job.End {
	if w.Half == RepairHalf || w.job.Diagnose {
		return nil
	}
	return draftEnd{w}
}

// check is the configured check that the job is for; none where the operator's own command counts.
func (w *work) check() string {
	if w.Repair.Command != "" {
		return ""
	}
	return w.job.Check
}

// lastColor is the color that the check ended in: that of the proof, else of the last time the whole check was judged.
func lastColor(s Story) string {
	switch {
	case s.stop().Reason == trace.Fixed, s.stop().Reason == trace.NotReproduced:
		return "green"
	case s.stop().Reason == trace.Exhausted, s.stop().Reason == trace.NotProven:
		return "red"
	}
	return ""
}
