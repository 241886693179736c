package job_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

// looks leaves the runs of a tree whose n.txt says which commit it is of: TestX is red from the commit on that red.txt names, and
// those in broken.txt cannot be judged, nor the first.
func looks(j trace.Job) error {
	at := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(j.Trees.Root, name))
		return string(b)
	}
	n, _ := strconv.Atoi(at("n.txt"))
	from, _ := strconv.Atoi(at("red.txt"))
	if at("red.txt") == "" || slices.Contains(strings.Fields(at("broken.txt")), at("n.txt")) {
		return nil
	}
	test := "TestX"
	if n >= from {
		test = "!TestX"
	}
	if j.Mode == trace.ModeLook && (len(j.Models) > 0 || len(j.Tiers) > 0) {
		return fmt.Errorf("a look has tiers %v and models %v", j.Tiers, j.Models)
	}
	return pretendedRun{proof.RunRecord{Phase: "see", N: 1, Mode: proof.Instrumented, Command: "go test ./...", Dir: ".", Tree: j.RootTree, Module: "m"}, []string{test}}.write(j.Evidence)
}

// history is a job at the last of n commits.
func history(t *testing.T, n, red int, broken string) (job.Job, []string) {
	t.Helper()
	j := world(t, "bisects")
	j.Bisect = true
	all := []string{j.Spec.Root}
	for i := 1; i < n; i++ {
		files := []worktree.File{{Path: "n.txt", Data: []byte(fmt.Sprint(i))}}
		if i == 1 {
			files = append(files, worktree.File{Path: "red.txt", Data: []byte(fmt.Sprint(red))}, worktree.File{Path: "broken.txt", Data: []byte(broken)})
		}
		sha, _, err := j.Mirror.Commit(t.Context(), all[i-1], files, worktree.Message{Text: fmt.Sprintf("commit %d", i), Author: worktree.Person{Name: "a", Email: "a@example.com"}, When: time.Unix(int64(i), 0)})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sha)
	}
	j.Spec.Root, j.Spec.Base = all[n-1], all[n-1]
	return j, all
}

// found is what a job's bisect came to.
func found(t *testing.T, j job.Job) *trace.BisectData {
	t.Helper()
	if out, err := j.Do(t.Context()); err != nil || out.Stop.Reason != trace.Exhausted {
		t.Fatalf("got %+v, %v", out.Stop, err)
	}
	events, torn, err := trace.Read(filepath.Join(j.Evidence, trace.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return trace.StatusOf(events, torn).Bisect
}

// TestBisect: the first red commit is found by looks at older ones, around those that cannot be judged, and within bounds.
func TestBisect(t *testing.T) {
	for _, row := range []struct {
		name   string
		n, red int
		broken string
		left   int
		why    string
		steps  int
	}{
		{"the last", 12, 11, "", 1, "", 1},
		{"far back", 12, 3, "", 1, "", 7},
		{"around a broken one", 12, 5, "7", 1, "", 8},
		{"between broken ones", 12, 8, "5 6 7", 4, "could not be judged", 8},
		{"always", 6, 1, "", 0, "as far back as the 6 commits", 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			j, all := history(t, row.n, row.red, row.broken)
			b := found(t, j)
			if b == nil || b.Finding != "m.TestX" || b.Left != row.left || !strings.Contains(b.Why, row.why) || len(b.Steps) > row.steps {
				t.Fatalf("got %+v", b)
			}
			if row.left == 1 && (b.Commit != all[row.red] || b.Subject != fmt.Sprintf("commit %d", row.red)) {
				t.Errorf("got %s %q, want %s", b.Commit, b.Subject, all[row.red])
			}
			if row.left != 1 && b.Commit != "" {
				t.Errorf("it names %s", b.Commit)
			}
		})
	}
}

// TestBisectEnds: it looks at so many commits and no more, and where the job's minutes are spent at none.
func TestBisectEnds(t *testing.T) {
	j, _ := history(t, 4, 1, "")
	j.Spec.Limits.Wall = time.Nanosecond
	if b := found(t, j); b == nil || b.Commit != "" || !strings.Contains(b.Why, "minutes") {
		t.Errorf("got %+v", b)
	}
	j, _ = history(t, 4, 1, "")
	j.Bisect = false
	if b := found(t, j); b != nil {
		t.Errorf("it was not asked for: %+v", b)
	}
}
