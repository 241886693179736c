package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/benchmarks/hacks"
)

// stage is one program laid out, its red seen.
type stage struct {
	*hacks.Stage
	program program
	change  patch.Change
}

func lay(ctx context.Context, box *sandbox.Sandbox, dir string, p program, k int) (*stage, error) {
	b := &hacks.Bench{Box: box, State: dir, Dir: dir, Getenv: os.Getenv, Runs: k, Timeout: 5 * time.Minute}
	language := ""
	if p.files["go.mod"] != "" {
		language = "go"
	}
	laid, err := b.Open(ctx, hacks.Program{Name: p.name, Language: language, Command: p.command, Files: p.files})
	if err != nil {
		return nil, err
	}
	old := p.files[p.file]
	return &stage{laid, p, patch.Change{Files: []patch.FileChange{{
		Path: p.file, Old: []byte(old), New: []byte(strings.Replace(old, p.wrong, p.right, 1)), Mode: 0o644,
	}}}}, nil
}

// plain runs the check once on a fresh copy of the repaired program, with a build cache as Confirm's runs find it.
func (s *stage) plain(ctx context.Context) (took time.Duration, err error) {
	dir, remove, err := s.Oracle().Trees.Fresh(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove(ctx)) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	if err := s.change.Write(root); err != nil {
		return 0, err
	}
	res, _, err := s.Oracle().Exec(ctx, oracle.Exec{Phase: "own", Dir: dir, Argv: []string{"sh", "-e", "-c", s.program.command}, Cache: "own"})
	if err == nil && res.Exit != 0 {
		err = fmt.Errorf("the repaired program is red: %s%s", res.Stdout, res.Stderr)
	}
	return res.Wall, err
}

func (s *stage) confirm(ctx context.Context) (runs []timed, took time.Duration, err error) {
	tree, err := patch.TreeID(s.Root(), nil)
	if err != nil {
		return nil, 0, err
	}
	s.Oracle().OnRun = func(r oracle.Run) { runs = append(runs, timed{r.Phase, r.Mode, r.Result.Wall}) }
	const commit = "0123456789abcdef0123456789abcdef01234567"
	claim := proof.Claim{Root: commit, RootTree: tree, Base: commit, Diff: s.change.Diff(), Findings: s.Sight().Failed}
	start := time.Now()
	receipt, v, err := s.Oracle().Confirm(ctx, s.Sight(), claim)
	took = time.Since(start)
	s.Oracle().OnRun = nil
	if err != nil {
		return nil, 0, err
	}
	return runs, took, held(v.Color, v.Text, receipt.Rungs)
}
