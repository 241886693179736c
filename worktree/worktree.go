// Package worktree is the one place that runs git: a bare mirror per repository, trees cut at a pinned commit,
// sealed copies without .git, and commits made by plumbing. It leaves what is done in a tree to others. Every
// tree has an owner file, and what has no live owner is removed at the next start, whatever killed it.
package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Store is the folder that mirrors and trees live in. Several processes may hold the same one open, and several
// goroutines may use one Store.
//
//	mirrors/<id>.git    bare mirror of one repository       mirrors/<id>.guard  its lock
//	trees/<id>/         owner.json, view/, sealed copies    tmp/<id>/           owner.json, short-lived files
type Store struct {
	git *Git
	dir string // absolute, no symbolic link
}

// Open opens the store at dir, made if missing and readable by nobody else, and clears away what has no live owner.
func Open(git *Git, dir string) (*Store, error) {
	s, err := open(git, dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reapTime)
	defer cancel()
	if err := s.reap(ctx); err != nil {
		return nil, fmt.Errorf("open store: clear %s: %w", s.dir, err)
	}
	return s, nil
}

func open(git *Git, dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	real, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(real, 0o700); err != nil {
		return nil, err
	}
	s := &Store{git: git, dir: real}
	for _, d := range []string{s.mirrors(), s.trees(), s.tmp()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

func (s *Store) mirrors() string { return filepath.Join(s.dir, "mirrors") }
func (s *Store) trees() string   { return filepath.Join(s.dir, "trees") }
func (s *Store) tmp() string     { return filepath.Join(s.dir, "tmp") }
func (s *Store) guard() string   { return filepath.Join(s.dir, "guard") }

// folds reports whether the store's disk takes names for one that differ in case alone.
func (s *Store) folds() bool {
	_, err := os.Lstat(filepath.Join(s.dir, "TREES"))
	return err == nil
}
