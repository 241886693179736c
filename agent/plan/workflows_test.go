package plan

import (
	"encoding/json"
	"errors"
	goflag "flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = goflag.Bool("update", false, "write the golden files")

// workflowTrees are the public workflow files, each repository's in a tree of its own.
func workflowTrees(t *testing.T) (trees map[string]fstest.MapFS, files map[string][]string) {
	t.Helper()
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA is not set")
	}
	dir := filepath.Join(data, "workflows")
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Skip("REFUSED: workflows is not in the folder that REDRAFT_DATA names")
	}
	var index []struct{ File, Repo, Path string }
	if err := json.Unmarshal(b, &index); err != nil {
		t.Fatal(err)
	}
	trees, files = map[string]fstest.MapFS{}, map[string][]string{}
	for _, f := range index {
		b, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil {
			t.Fatal(err)
		}
		if trees[f.Repo] == nil {
			trees[f.Repo] = fstest.MapFS{}
		}
		trees[f.Repo][f.Path] = &fstest.MapFile{Data: b, Mode: 0o644}
		files[f.Repo] = append(files[f.Repo], f.Path)
	}
	return trees, files
}

// Every run: step of every public workflow gives a command or a named reason; the table says how many of each.
func TestPublicWorkflows(t *testing.T) {
	trees, files := workflowTrees(t)
	counts, n, steps := map[string]int{}, 0, 0
	var log strings.Builder
	for _, repo := range slices.Sorted(maps.Keys(trees)) {
		for _, file := range files[repo] {
			n++
			w, err := readFlow(trees[repo], file, At{})
			if err != nil {
				counts["the file: "+reasonOf(t, err)]++
				fmt.Fprintf(&log, "%s %s: %v\n", repo, file, err)
				continue
			}
			for _, j := range w.list() {
				for i, run := range j.Runs {
					if !run {
						continue
					}
					steps++
					key := planStep(t, w, j, i, &log)
					counts[key]++
				}
			}
		}
	}
	table := fmt.Sprintf("%d files, %d run: steps\n", n, steps)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		table += fmt.Sprintf("%5d  %s\n", counts[k], k)
	}
	t.Log("\n" + table)
	if out := os.Getenv("REDRAFT_PLAN_LOG"); out != "" {
		if err := os.WriteFile(out, []byte(log.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "testdata/workflows.txt", table)
}

// planStep tries one step with the first combination of its matrix, and says what came of it.
func planStep(t *testing.T, w *flow, j FlowJob, i int, log *strings.Builder) string {
	at := At{Job: j.ID, Step: fmt.Sprint(i + 1), GitHub: map[string]string{
		"sha": strings.Repeat("a", 40), "ref": "refs/heads/main", "ref_name": "main", "ref_type": "branch", "repository": "o/r",
		"repository_owner": "o", "event_name": "push", "server_url": "https://github.com", "api_url": "https://api.github.com",
	}}
	if len(j.Matrix) > 0 {
		at.Matrix = j.Matrix[0]
	}
	file := w.file
	w.at = at
	set, _, err := w.set()
	if err != nil {
		fmt.Fprintf(log, "%s %s %d: %s\n", file, j.ID, i+1, err)
		return reasonOf(t, err)
	}
	c := set.Checks[0]
	if len(set.Checks) != 1 || c.Run == "" || c.Provenance != Workflow || strings.Contains(c.Run, "${{") || len(set.Fingerprint) != 64 {
		t.Errorf("%s %s %d: %+v", file, j.ID, i+1, set)
	}
	fmt.Fprintf(log, "%s %s %d: plan %q in %s by %s env %v; wants %q\n", file, j.ID, i+1, c.Run, c.Dir, c.Shell, c.Env, set.Wants)
	return "a command"
}

func reasonOf(t *testing.T, err error) string {
	var u *Unplanned
	var none *NoCheck
	if !errors.As(err, &u) || !errors.As(err, &none) || u.Text == "" {
		t.Errorf("%v is no named reason", err)
		return "?"
	}
	if root, _, _ := strings.Cut(u.Asks, "."); u.Reason == BadExpression {
		return string(u.Reason) + ": " + root
	}
	return string(u.Reason)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s mismatch (-want +got); -update writes it:\n%s", name, d)
	}
}
