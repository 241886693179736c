package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// tries is how many turns are measured.
const tries = 6

// turn measures the program's own time in a turn: what is left of the time from one scene to the next when the model's
// and the check's are taken out. The model is scripted, and every answer is another wrong one.
func (b *bench) turn(ctx context.Context) (within bool, err error) {
	repo := filepath.Join(b.dir, "sum")
	if err := worktree.Init(ctx, repo, sum, "a sum"); err != nil {
		return false, err
	}
	server := modeltest.New(nil, func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: fmt.Sprintf("```go\n# edit: sum.go :: Sum\nfunc Sum(xs ...int) int { return %d }\n```\n", 100+r.N)}
	})
	defer server.Close()
	evidence := filepath.Join(b.dir, "evidence")
	cmd, err := b.command(ctx, repo, "fix", "--json", "--check", "go test ./...", "--base-url", server.URL(), "--tiers", "small", "--turns", fmt.Sprint(tries), "--evidence", evidence)
	if err != nil {
		return false, err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		return false, fmt.Errorf("redraft fix: %w: %s", err, stderr.Bytes())
	}
	events, _, err := trace.Read(filepath.Join(evidence, "trace.jsonl"))
	if err != nil {
		return false, err
	}
	turns, err := split(events)
	if err != nil {
		return false, err
	}
	own, check := median(turns, func(t part) time.Duration { return t.own }), median(turns, func(t part) time.Duration { return t.check })
	fmt.Fprintf(b.out, "own time of a turn  %.1f ms (goal 30), %.3f of the check's %.0f ms (median of %d turns)\n", ms(own), own.Seconds()/check.Seconds(), ms(check), len(turns))
	return true, nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// sum is the repository: a sum that is wrong.
var sum = map[string][]byte{
	"go.mod":      []byte("module example.com/sum\n\ngo 1.22\n"),
	"sum.go":      []byte("package sum\n\nfunc Sum(xs ...int) int { return 0 }\n"),
	"sum_test.go": []byte("package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif got := Sum(1, 2, 3); got != 6 {\n\t\tt.Errorf(\"got %d, want %d\", got, 6)\n\t}\n}\n"),
}

// part is one turn's time.
type part struct{ own, check time.Duration }

// split takes a trace apart into turns, each from its scene to the next one's, the last to the job's stop.
func split(events []trace.Event) ([]part, error) {
	var turns []part
	var from time.Time // of the turn under way; zero before the first
	var now part
	for _, e := range events {
		switch e.Type {
		case trace.TypeScene, trace.TypeStop:
			if !from.IsZero() {
				now.own += e.TS.Sub(from)
				turns = append(turns, now)
			}
			if e.Type == trace.TypeStop {
				if len(turns) == 0 {
					return nil, errors.New("the job had no turn")
				}
				return turns, nil
			}
			from, now = e.TS, part{}
		case trace.TypeRun:
			took, err := seconds(e)
			if err != nil {
				return nil, err
			}
			now.check, now.own = now.check+took, now.own-took
		case trace.TypeReply:
			took, err := seconds(e)
			if err != nil {
				return nil, err
			}
			now.own -= took
		}
	}
	return nil, errors.New("the job has no stop")
}

func seconds(e trace.Event) (time.Duration, error) {
	var d struct {
		Seconds float64 `json:"seconds"`
	}
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return 0, fmt.Errorf("trace line %d: %w", e.Seq, err)
	}
	return time.Duration(d.Seconds * float64(time.Second)), nil
}

// median of a list that is not empty.
func median(turns []part, of func(part) time.Duration) time.Duration {
	var all []time.Duration
	for _, t := range turns {
		all = append(all, of(t))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
