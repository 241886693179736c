package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// TestLines are the lines that one test ran.
type TestLines struct {
	Test  string           `json:"test"`
	Lines map[string][]int `json:"lines"` // from 1, by file of the tree
}

// watching is what a run is to be watched for.
type watching struct {
	Runner string   `json:"runner"`
	Tests  []string `json:"tests"`
}

const (
	ranFile = "ran.jsonl"
	maxRan  = 32 << 20 // bytes of it
	maxLine = 1 << 20  // number of a line
)

// Watch runs some tests of a tree with the check's own command, the first of them first, and tells which lines each of them ran. It
// leaves the others out. What it tells is a hint: the run is not trusted. Nothing comes back of a runner that cannot be asked, which is
// every one but pytest and unittest; and what was not reached within wall is missing.
func (o *Oracle) Watch(ctx context.Context, dir string, tests []string, wall time.Duration) ([]TestLines, error) {
	at := slices.IndexFunc(o.runners, func(r string) bool { return r == "pytest" || r == "unittest" })
	if at < 0 || len(tests) == 0 {
		return nil, nil
	}
	lines, err := o.instrumentsDir()
	if err != nil {
		return nil, err
	}
	w := &watching{Runner: o.runners[at], Tests: tests}
	check := o.Check
	check.Run = watched(check.Run, w.folder(lines))
	r, err := o.run(ctx, request{phase: "cover", mode: proof.Plain, dir: dir, cache: "judge", as: &check, wall: wall, watch: w})
	if err != nil {
		return nil, fmt.Errorf("see what tests run: %w", err)
	}
	return r.ran, nil
}

// folder is that from which Python takes what watches its tests.
func (w *watching) folder(lines string) string { return filepath.Join(lines, "watch-"+w.Runner) }

var setsPath = regexp.MustCompile(`(^|[\s;&|(])PYTHONPATH=`)

// watched is a command whose own PYTHONPATH, which would win over the environment's, begins with a folder.
func watched(run, dir string) string {
	quoted := "'" + strings.ReplaceAll(dir, "'", `'\''`) + string(filepath.ListSeparator) + "'"
	return setsPath.ReplaceAllStringFunc(run, func(m string) string { return m + quoted })
}

// watch adds to an environment what has the tests of a tree watched.
func (w *watching) watch(env *environ, tree, reports, lines string) {
	env.prepend("PYTHONPATH", w.folder(lines))
	env.set("REDRAFT_RAN", reports)
	env.set("REDRAFT_TREE", tree)
	if w.Runner == "pytest" {
		env.add("PYTEST_ADDOPTS", "-p redraft_ran -p no:cacheprovider")
	}
}

// ask writes down which tests are asked for.
func (w *watching) ask(reports string) error {
	b, err := json.Marshal(w)
	if err == nil {
		err = os.WriteFile(filepath.Join(reports, "asked.json"), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write which tests are to be watched: %w", err)
	}
	return nil
}

// heard are the tests that a run told of. A line that is none of ours, or is cut, tells nothing.
func (w *watching) heard(reports string) (out []TestLines, err error) {
	b, err := sandbox.Harvest(reports, ranFile, maxRan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(b) {
		var t TestLines
		if json.Unmarshal(line, &t) != nil || !slices.Contains(w.Tests, t.Test) {
			continue
		}
		for name, at := range t.Lines {
			t.Lines[name] = slices.DeleteFunc(at, func(n int) bool { return n < 1 || n > maxLine })
			if !fs.ValidPath(name) || len(t.Lines[name]) == 0 {
				delete(t.Lines, name)
			}
		}
		out = append(out, t)
	}
	return out, err
}
