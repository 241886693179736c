package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	reapTime   = 2 * time.Minute // of one reaping in all
	orphanTime = 3 * time.Second // waited for git children that outlived their parents, in all
	busyTime   = time.Second     // waited for a mirror that is in use
)

// reap removes what has no live owner. It holds the guard while it decides, not while it removes: the names are never
// used again, and two reapers at one folder do not disturb each other.
func (s *Store) reap(ctx context.Context) error {
	dead, err := s.dead(ctx)
	if err != nil {
		return err
	}
	for _, dir := range dead {
		err = errors.Join(err, removeAll(dir))
	}
	names, readErr := filepath.Glob(filepath.Join(s.mirrors(), "*.guard"))
	err = errors.Join(err, readErr)
	for _, name := range names {
		err = errors.Join(err, s.healIfFree(ctx, strings.TrimSuffix(name, ".guard")+".git"))
	}
	return err
}

// dead lists the folders below trees and tmp whose owner is gone. One that is locked by a git child of a dead
// process is given a moment to end.
func (s *Store) dead(ctx context.Context) ([]string, error) {
	guard, err := take(ctx, s.guard(), exclusive)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	var dead []string
	deadline := time.Now().Add(orphanTime)
	for _, parent := range []string{s.trees(), s.tmp()} {
		entries, err := os.ReadDir(parent)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			dir := filepath.Join(parent, e.Name())
			for alive(dir) && orphaned(dir) && time.Now().Before(deadline) {
				time.Sleep(5 * time.Millisecond)
			}
			if !alive(dir) {
				dead = append(dead, dir)
			}
		}
	}
	return dead, nil
}

// healIfFree heals a mirror that nobody is using; one in use is healed by whoever takes its lock next.
func (s *Store) healIfFree(ctx context.Context, git string) error {
	ctx, cancel := context.WithTimeout(ctx, busyTime)
	defer cancel()
	lock, err := take(ctx, guardOf(git), exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return heal(git)
}

// guardOf is the lock of the mirror at git. Whoever adds objects or fills a checkout shares it; whoever moves refs,
// makes or removes the record of a checkout, or heals, holds it alone. It is never removed.
func guardOf(git string) string { return strings.TrimSuffix(git, ".git") + ".guard" }

// heal clears what a killed git left in a mirror: lock files, half-written packs and objects, and the books of
// trees that are gone. The caller holds the mirror's lock alone, so none of it is in use. `git worktree prune` would
// leave the books of a tree whose making was cut short, which git locks.
func heal(git string) error {
	leftovers, err := filepath.Glob(git + ".new-*")
	for _, dir := range leftovers {
		err = errors.Join(err, removeAll(dir))
	}
	return errors.Join(err, closeBooks(git), sweep(git))
}

// closeBooks removes the books of trees that are gone, or never came to be. The caller holds the mirror's lock alone.
func closeBooks(git string) error {
	books, err := os.ReadDir(filepath.Join(git, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range books {
		book := filepath.Join(git, "worktrees", e.Name())
		pointer, _ := readPointer(filepath.Join(book, "gitdir"), "")
		if _, statErr := os.Lstat(pointer); statErr != nil {
			err = errors.Join(err, removeAll(book))
		}
	}
	return err
}

// sweep removes git's lock files below git, and temporary files of its object store. No ref's name ends in .lock.
// https://git-scm.com/docs/git-check-ref-format
func sweep(git string) error {
	objects := filepath.Join(git, "objects")
	return filepath.WalkDir(git, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		temporary := below(path, objects) && (strings.HasPrefix(e.Name(), "tmp_") || strings.HasPrefix(e.Name(), ".tmp-"))
		switch {
		case e.IsDir() && temporary:
			if err := removeAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		case !e.IsDir() && (temporary || strings.HasSuffix(e.Name(), ".lock")):
			return os.Remove(path)
		}
		return nil
	})
}
