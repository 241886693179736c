package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

const day = 24 * time.Hour

// keep is how much of old evidence stays, and how long a mirror that nobody uses.
func (c config) keep() trace.Keep {
	k := trace.Keep{Age: 30 * day, Bytes: 5 << 30}
	if c.Keep.Days > 0 {
		k.Age = time.Duration(c.Keep.Days) * day
	}
	if c.Keep.Gigabytes > 0 {
		k.Bytes = int64(c.Keep.Gigabytes) << 30
	}
	return k
}

// sweep removes old evidence and unused mirrors from the state folder, if that was not done within a day.
func (a *app) sweep(ctx context.Context, store *worktree.Store, state string) error {
	mark, now := filepath.Join(state, "swept"), time.Now()
	if info, err := os.Stat(mark); err == nil && now.Sub(info.ModTime()).Abs() < day {
		return nil
	}
	keep := a.config.keep()
	_, evidenceErr := trace.Sweep(ctx, filepath.Join(state, "jobs"), keep, now)
	_, mirrorErr := store.Sweep(ctx, keep.Age, now)
	if err := errors.Join(evidenceErr, mirrorErr, sweepFolder(filepath.Join(state, "indexes"), keep.Age, now)); err != nil {
		return err
	}
	return os.WriteFile(mark, []byte(now.UTC().Format(time.RFC3339)+"\n"), 0o600)
}

// sweepFolder removes the files of a folder that nobody wrote for so long.
func sweepFolder(dir string, age time.Duration, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !e.IsDir() && now.Sub(info.ModTime()) > age {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// sweepDaily sweeps for as long as a server runs.
func (a *app) sweepDaily(ctx context.Context, log *slog.Logger, state string) {
	for {
		git, err := worktree.OpenGit("")
		if err == nil {
			var store *worktree.Store
			if store, err = worktree.Open(git, state); err == nil {
				err = a.sweep(ctx, store, state)
			}
		}
		if err != nil && ctx.Err() == nil {
			log.Warn("old evidence could not be removed", "error", a.clean.Log(err.Error()))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(day / 4):
		}
	}
}

// weight is what evidence takes, and how much of it stays, for doctor.
func (a *app) weight(ctx context.Context, state string) string {
	jobs, bytes, err := trace.Weigh(ctx, filepath.Join(state, "jobs"))
	if err != nil {
		return "evidence cannot be read: " + err.Error()
	}
	k := a.config.keep()
	return fmt.Sprintf("evidence of %d jobs, %.1f GiB; %d days and %d GiB of it stay", jobs, float64(bytes)/(1<<30), k.Age/day, k.Bytes>>30)
}
