package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/worktree"
)

// stage is one program laid out.
type stage struct {
	program program
	dir     string
	root    fs.FS
	shut    func() error
	oracle  *oracle.Oracle
	sight   oracle.Sight
	change  patch.Change
}

func lay(ctx context.Context, box *sandbox.Sandbox, parent string, p program, k int) (s *stage, err error) {
	s = &stage{program: p, dir: filepath.Join(parent, p.name), shut: func() error { return nil }}
	root, trees, scratch := filepath.Join(s.dir, "root"), filepath.Join(s.dir, "trees"), filepath.Join(s.dir, "scratch")
	for name, text := range p.files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(os.MkdirAll(trees, 0o700), os.MkdirAll(scratch, 0o700)); err != nil {
		return nil, err
	}
	if s.root, s.shut, err = oracle.FS(root); err != nil {
		return nil, err
	}
	set, err := plan.FromCommand(s.root, p.command)
	if err != nil {
		return nil, err
	}
	needs, err := plan.Toolchain(ctx, set, os.Getenv)
	if err != nil {
		return nil, err
	}
	s.oracle = &oracle.Oracle{
		Box: box, Check: set.Checks[0], Needs: needs, Root: s.root, Trees: &worktree.Copies{From: root, Into: trees}, Scratch: scratch,
		Timeout: 5 * time.Minute, Seed: 1, Policy: proof.PatchPolicy(nil, nil, set.AllScripts(), 0, 0), Keep: agent.Keep(filepath.Join(s.dir, "evidence")),
	}
	s.oracle.Check.Runs = k
	if _, module, ok := strings.Cut(p.files["go.mod"], "module "); ok {
		s.oracle.Module, _, _ = strings.Cut(module, "\n")
		s.oracle.Base, _, err = sandbox.BuildBase(ctx, box, sandbox.BaseSpec{Key: needs.Go, Env: needs.Env, Read: needs.Read, State: parent})
	} else {
		s.oracle.Needs.Go = ""
	}
	old := p.files[p.file]
	s.change = patch.Change{Files: []patch.FileChange{{Path: p.file, Old: []byte(old), New: []byte(strings.Replace(old, p.wrong, p.right, 1)), Mode: 0o644}}}
	return s, errors.Join(err, os.MkdirAll(filepath.Join(s.dir, "evidence"), 0o700))
}

func (s *stage) close() error { return errors.Join(s.shut(), os.RemoveAll(s.dir)) }

func (s *stage) see(ctx context.Context) (err error) {
	if s.sight, err = s.oracle.See(ctx); err != nil {
		return err
	}
	if s.sight.Color != report.Red || s.sight.Mixed {
		return fmt.Errorf("the program is %s (%s) and not red here: %s", s.sight.Color, s.sight.Class, s.sight.Text)
	}
	return nil
}

// plain runs the check once on a fresh copy of the repaired program, with a build cache as Confirm's runs find it.
func (s *stage) plain(ctx context.Context) (took time.Duration, err error) {
	dir, remove, err := s.oracle.Trees.Fresh(ctx)
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
	res, _, err := s.oracle.Exec(ctx, oracle.Exec{Phase: "own", Dir: dir, Argv: []string{"sh", "-e", "-c", s.program.command}, Cache: "own"})
	if err == nil && res.Exit != 0 {
		err = fmt.Errorf("the repaired program is red: %s%s", res.Stdout, res.Stderr)
	}
	return res.Wall, err
}

func (s *stage) confirm(ctx context.Context) (runs []timed, took time.Duration, err error) {
	tree, err := patch.TreeID(s.root, nil)
	if err != nil {
		return nil, 0, err
	}
	s.oracle.OnRun = func(r oracle.Run) { runs = append(runs, timed{r.Phase, r.Mode, r.Result.Wall}) }
	const commit = "0123456789abcdef0123456789abcdef01234567"
	claim := proof.Claim{Root: commit, RootTree: tree, Base: commit, Diff: s.change.Diff(), Findings: s.sight.Failed}
	start := time.Now()
	receipt, v, err := s.oracle.Confirm(ctx, s.sight, claim)
	took = time.Since(start)
	s.oracle.OnRun = nil
	if err != nil {
		return nil, 0, err
	}
	return runs, took, held(v.Color, v.Text, receipt.Rungs)
}
