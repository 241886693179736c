package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/memory"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
)

// bounds of a certificate.
const (
	testsShown = 50
	mostRuns   = 200 // folders of runs that are read
)

// remember adds what the raw reports of a job show of the untouched root to this machine's memory of the repository, and
// certifies a flake from both. It reads the reports itself: what the repair process says of its runs is not taken. A memory
// that cannot be written leaves the job as it is, and says so.
func (j Job) remember(ctx context.Context, rec *trace.Recorder, spec trace.Job, stop trace.Stop) error {
	runs, err := readRuns(j.Evidence, spec.RootTree)
	if err != nil || len(runs) == 0 {
		return err
	}
	var told map[string]memory.History
	err = j.recall(ctx, spec, runs, &told)
	if err != nil {
		if err := rec.Add(0, trace.TypeStep, trace.StepData{Text: "what was seen is not remembered: " + err.Error()}); err != nil {
			return err
		}
	}
	if stop.Reason != trace.Flaky {
		return nil
	}
	c := certify(spec, runs, told)
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(j.Evidence, trace.FlakeFile), append([]byte(j.clean(string(b))), '\n'), 0o600); err != nil {
		return fmt.Errorf("write the certificate: %w", err)
	}
	return rec.Add(0, trace.TypeFlake, c)
}

// recall records the runs, then asks for the history of what differs between them.
func (j Job) recall(ctx context.Context, spec trace.Job, runs []proof.Recorded, told *map[string]memory.History) error {
	m, err := memory.Open(ctx, filepath.Join(j.State, memory.FileName))
	if err != nil {
		return err
	}
	defer m.Close()
	repo := filepath.Base(j.Mirror.Dir()) // made of the repository's place, not of its name
	counts := map[string]memory.Count{}
	for id, s := range tally(spec, runs) {
		counts[id] = memory.Count{Runs: len(s.red) + len(s.green), Fails: len(s.red)}
	}
	if err := m.Record(ctx, memory.Seen{Repo: repo, Tree: spec.RootTree, Job: spec.ID, At: time.Now(), Tests: counts}); err != nil {
		return err
	}
	all := map[string]memory.History{}
	for id, c := range counts {
		if c.Fails == 0 || c.Fails == c.Runs || len(all) > testsShown {
			continue
		}
		if all[id], err = m.Of(ctx, repo, id, spec.RootTree); err != nil {
			return err
		}
	}
	*told = all
	return nil
}

// readRuns are the runs of the untouched root as the evidence holds them, in order, each report read anew. What is no run of
// this root is passed over.
func readRuns(evidence, tree string) ([]proof.Recorded, error) {
	root, err := os.OpenRoot(evidence)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	folders, err := fs.ReadDir(root.FS(), proof.ReportsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var runs []proof.Recorded
	for _, d := range folders {
		if !d.IsDir() || !strings.HasPrefix(d.Name(), "see-") || len(runs) == mostRuns {
			continue
		}
		r, err := proof.ReadRun(root.FS(), path.Join(proof.ReportsDir, d.Name()))
		if err == nil && r.Tree == tree && r.Phase == "see" && r.Folder() == path.Join(proof.ReportsDir, d.Name()) {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b proof.Recorded) int { return a.N - b.N })
	return runs, err
}

// shown is in which runs something was red, and in which green.
type shown struct{ red, green []int }

// CheckID is the name under which a check as a whole is remembered beside its tests.
func CheckID(check string) string { return "[check] " + check }

// tally says of the check and of every test how the runs that count went.
func tally(spec trace.Job, runs []proof.Recorded) map[string]shown {
	all := map[string]shown{}
	add := func(id string, n int, red bool) {
		s := all[id]
		if red {
			s.red = append(s.red, n)
		} else {
			s.green = append(s.green, n)
		}
		all[id] = s
	}
	for _, r := range runs {
		color := r.Report.Color()
		if r.ThrownAway != "" || color == report.Unknown {
			continue
		}
		add(CheckID(spec.Check), r.N, color == report.Red)
		for id, s := range r.Report.Statuses() {
			switch s {
			case report.Pass:
				add(id, r.N, false)
			case report.Fail, report.Error:
				add(id, r.N, true)
			}
		}
	}
	return all
}

// certify is the certificate of runs that differ.
func certify(spec trace.Job, runs []proof.Recorded, told map[string]memory.History) trace.FlakeData {
	c := trace.FlakeData{Version: trace.FlakeVersion, Tree: spec.RootTree, Runs: []trace.FlakeRun{}, Tests: []trace.FlakeTest{}}
	if told != nil {
		c.Prior = memory.Prior
	}
	for _, r := range runs {
		c.Command = r.Command
		red := r.Report.Failed()
		c.Runs = append(c.Runs, trace.FlakeRun{N: r.N, Mode: r.Mode, Color: r.Report.Color().String(), Seed: r.Seed, TZ: r.TZ, Seconds: r.Seconds,
			Red: append([]string{}, red[:min(len(red), testsShown)]...), ThrownAway: r.ThrownAway, Report: r.Folder()})
	}
	for id, s := range tally(spec, runs) {
		if absent := len(s.red) > 0 && len(s.green) == 0 && id != CheckID(spec.Check) && missing(id, s, runs); len(s.red) == 0 || len(s.green) == 0 && !absent {
			continue
		}
		t := trace.FlakeTest{ID: id, Red: s.red, Green: append([]int{}, s.green...), With: with(s, runs)}
		if h, ok := told[id]; ok {
			p := h.Here.Posterior()
			t.Here = trace.FlakeRate{Runs: h.Here.Runs, Fails: h.Here.Fails, Mean: p.Mean, Low: p.Low, High: p.High}
			t.Trees, t.Mixed = h.Others, h.Mixed
		}
		c.Tests = append(c.Tests, t)
	}
	slices.SortFunc(c.Tests, func(a, b trace.FlakeTest) int { return strings.Compare(a.ID, b.ID) }) // "[" stands before most names
	if len(c.Tests) > testsShown {
		c.More, c.Tests = len(c.Tests)-testsShown, c.Tests[:testsShown]
	}
	return c
}

// missing says whether a test was red in some readable runs and not seen at all in others.
func missing(id string, s shown, runs []proof.Recorded) bool {
	for _, r := range runs {
		if r.ThrownAway == "" && r.Report.Color() != report.Unknown && len(r.Report.Results) > 0 && !slices.Contains(s.red, r.N) {
			return true
		}
	}
	return false
}

// with says what the red of something goes with: orders or time zones of their own, if it is red in none of the runs of one
// kind and in all of the other.
func with(s shown, runs []proof.Recorded) string {
	var natural, other []bool
	for _, r := range runs {
		red := slices.Contains(s.red, r.N)
		switch {
		case !red && !slices.Contains(s.green, r.N):
		case r.Seed == 0 && r.TZ == "":
			natural = append(natural, red)
		default:
			other = append(other, red)
		}
	}
	all := func(of []bool, red bool) bool { return len(of) > 0 && !slices.Contains(of, !red) }
	switch {
	case all(natural, false) && all(other, true):
		return "another order or time zone"
	case all(natural, true) && all(other, false):
		return "the runner's own order and this machine's time zone"
	}
	return ""
}
