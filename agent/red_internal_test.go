package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
)

// TestNotRed: only a red that is the same in every run is one to repair.
func TestNotRed(t *testing.T) {
	for _, row := range []struct {
		name string
		seen oracle.Sight
		want trace.Reason // "" for a red
	}{
		{"red", oracle.Sight{Verdict: oracle.Verdict{Color: report.Red}}, ""},
		{"red in some runs", oracle.Sight{Verdict: oracle.Verdict{Color: report.Red}, Mixed: true}, trace.Flaky},
		{"green", oracle.Sight{Verdict: oracle.Verdict{Color: report.Green}}, trace.NotReproduced},
		{"not judged", oracle.Sight{Verdict: oracle.Verdict{Class: report.NoTests}}, trace.Infra},
	} {
		a := &Agent{Oracle: &oracle.Oracle{}, seen: row.seen}
		if stop, over := a.notRed(); stop.Reason != row.want || over != (row.want != "") {
			t.Errorf("%s: got %+v, %v; want %q", row.name, stop, over, row.want)
		}
	}
}

// TestShared: the base is red in the same way where a finding has the same id and class there, in every run.
func TestShared(t *testing.T) {
	sight := func(mixed bool, f ...report.Result) oracle.Sight {
		return oracle.Sight{Trusted: true, Mixed: mixed, Verdict: oracle.Verdict{Color: report.Red, Findings: f}}
	}
	one := report.Result{ID: "m.TestA", Class: report.Assertion}
	for _, row := range []struct {
		name string
		base oracle.Sight
		want []string
	}{
		{"the same", sight(false, one), []string{"m.TestA"}},
		{"another class", sight(false, report.Result{ID: "m.TestA", Class: report.Panic}), nil},
		{"another test", sight(false, report.Result{ID: "m.TestB", Class: report.Assertion}), nil},
		{"in some runs", sight(true, one), nil},
	} {
		if d := cmp.Diff(row.want, shared(sight(false, one), row.base)); d != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, d)
		}
	}
}

// TestInMode: a job that is to look or to diagnose ends with what it saw, and asks nobody.
func TestInMode(t *testing.T) {
	for mode, over := range map[string]bool{"": false, trace.ModeLook: true, trace.ModeDiagnose: true} {
		a := &Agent{Job: trace.Job{Mode: mode}, seen: oracle.Sight{Verdict: oracle.Verdict{Color: report.Red, Class: report.Assertion}}}
		stop, got, err := a.inMode(t.Context())
		if err != nil || got != over || over && stop.Reason != trace.Exhausted {
			t.Errorf("%q: got %+v, %v, %v", mode, stop, got, err)
		}
	}
}

// TestCovered: what the failing tests ran is seen once for all turns and written down, not at all where that is switched off, and
// missed where it cannot be seen.
func TestCovered(t *testing.T) {
	one := []perceive.Ran{{Lines: perceive.Lines{File: "a.go", First: 3, Last: 4}, Suspicion: 1}}
	for _, row := range []struct {
		name        string
		off         []string
		ran         []perceive.Ran
		err         error
		calls, told int
	}{
		{"seen", nil, one, nil, 1, 1},
		{"nothing ran", nil, nil, nil, 1, 0},
		{"not seen", nil, one, errors.New("no"), 1, 0},
		{"off", []string{perceive.Coverage}, one, nil, 0, 0},
	} {
		dir := t.TempDir()
		rec, err := trace.Open(dir, "j", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		a := &Agent{Trace: rec, Job: trace.Job{Off: row.off, On: []string{perceive.Coverage}, Mode: trace.ModeDiagnose}, Coverage: func(context.Context, oracle.Verdict) ([]perceive.Ran, error) {
			calls++
			return row.ran, row.err
		}}
		_, _, _ = a.inMode(t.Context())
		got := a.covered(t.Context())
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		if calls != row.calls || len(got) != row.told {
			t.Errorf("%s: %d calls, got %v", row.name, calls, got)
		}
		b, err := os.ReadFile(filepath.Join(dir, trace.FileName))
		if n := strings.Count(string(b), `"type":"ran"`); err != nil || n != row.told {
			t.Errorf("%s: told %d times, %v:\n%s", row.name, n, err, b)
		}
	}
}
