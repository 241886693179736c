package job

import (
	"context"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// Bounds of what a job is told of its root's history.
const (
	RecentCommits = 16
	RecentBytes   = 64 << 10 // of diffs
)

// recent is what the last commits changed: the repair process has no history of its own. A job that shows it to no model gets none.
func (j Job) recent(ctx context.Context, spec trace.Job) ([]trace.Touch, error) {
	if len(spec.Models) == 0 || slices.Contains(spec.Off, "history") {
		return nil, nil
	}
	found, err := j.Mirror.Recent(ctx, spec.Root, RecentCommits, RecentBytes)
	return Touches(found, j.clean), err
}

// Touches are recent changes as a job names them, cleaned.
func Touches(found []worktree.Touch, clean func(string) string) (all []trace.Touch) {
	for _, t := range found {
		line, _, _ := strings.Cut(strings.TrimSpace(t.Text), "\n")
		all = append(all, trace.Touch{
			File: t.File, First: t.First, Last: t.Last, Commit: t.Commit, Line: clean(line), When: t.When.UTC(), Diff: clean(t.Diff),
		})
	}
	return all
}
