package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoCommits is returned for a repository whose HEAD names no commit yet.
var ErrNoCommits = errors.New("no commits yet")

// Repo is what a checkout is like.
type Repo struct {
	Dir       string // top of the checkout, absolute and without symbolic links
	Prefix    string // where the inspected folder lies below it, "." at the top
	GitDir    string // this checkout's
	CommonDir string // all checkouts'
	Branch    string // short name, "" when HEAD is detached
	Head      string // commit
	Dirty     bool   // Changed or Untracked is not 0
	Changed   int    // tracked files that differ from HEAD, staged or not; submodules do not count
	Untracked int    // files and folders that are neither tracked nor ignored
	Empty     bool   // HEAD names no commit yet
}

// Inspect looks at the checkout that dir lies in. It writes nothing there and starts none of the programs that the
// repository configures, so that a file whose bytes a filter changes counts as changed unless git's index knows
// better. The error is an ErrNotRepository, or an ErrNoCommits beside a Repo whose Empty is set.
func Inspect(ctx context.Context, git *Git, dir string) (Repo, error) {
	scratch, err := os.MkdirTemp("", "redraft-inspect-")
	if err != nil {
		return Repo{}, fmt.Errorf("inspect %s: %w", dir, err)
	}
	r, err := inspect(ctx, git, dir, scratch)
	if err := errors.Join(err, removeAll(scratch)); err != nil {
		return r, fmt.Errorf("inspect %s: %w", dir, err)
	}
	return r, nil
}

// Inspect is Inspect with its short-lived files in the store, where not even a kill leaves them behind.
func (s *Store) Inspect(ctx context.Context, dir string) (Repo, error) {
	c, err := s.claim(ctx, s.tmp(), owner{})
	if err != nil {
		return Repo{}, fmt.Errorf("inspect %s: %w", dir, err)
	}
	r, err := inspect(ctx, s.git, dir, c.dir)
	if err := errors.Join(err, c.release()); err != nil {
		return r, fmt.Errorf("inspect %s: %w", dir, err)
	}
	return r, nil
}

func inspect(ctx context.Context, git *Git, dir, scratch string) (Repo, error) {
	p, err := locate(dir)
	if err != nil {
		return Repo{}, err
	}
	if p.top == "" {
		return Repo{}, fmt.Errorf("a bare repository, without a checkout: %w", ErrNotRepository)
	}
	if err := git.outside(p.top); err != nil {
		return Repo{}, err
	}
	real, err := realDir(dir)
	if err != nil {
		return Repo{}, err
	}
	r := Repo{Dir: p.top, GitDir: p.gitDir, CommonDir: p.common}
	if r.Prefix, err = filepath.Rel(p.top, real); err != nil {
		return r, err
	}
	if err := git.sha1Only(ctx, p); err != nil {
		return r, err
	}
	if r.Branch, err = git.branch(ctx, p); err != nil {
		return r, err
	}
	if r.Head, err = git.head(ctx, p); err != nil {
		return r, err
	}
	if r.Empty = r.Head == ""; r.Empty {
		return r, ErrNoCommits
	}
	return r, r.count(ctx, git, p, scratch)
}

func (g *Git) branch(ctx context.Context, p place) (string, error) {
	out, err := g.run(ctx, call{dir: p.gitDir, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if exitCode(err) == 1 {
		return "", nil
	}
	return strings.TrimPrefix(strings.TrimSuffix(string(out), "\n"), "refs/heads/"), err
}

// count fills in what differs from HEAD.
func (r *Repo) count(ctx context.Context, git *Git, p place, scratch string) error {
	l, err := newLens(ctx, git, p, r.Head, filepath.Join(scratch, "lens"))
	if err != nil {
		return err
	}
	if err := l.copyIndex(); err != nil {
		return err
	}
	out, err := l.run(ctx, nil, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(out, []byte{0}) {
		switch {
		case bytes.HasPrefix(line, []byte("?? ")):
			r.Untracked++
		case len(line) > 3:
			r.Changed++
		}
	}
	r.Dirty = r.Changed+r.Untracked > 0
	return nil
}
