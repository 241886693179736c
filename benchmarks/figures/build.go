package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	mainPackage = "github.com/redraft-dev/redraft/cmd/redraft"
	maxBytes    = 40 << 20
	maxCPU      = 250 * time.Second
)

// build measures a clean build of the stripped program, and, in the same run, one of net/http to compare it with.
func (b *bench) build(ctx context.Context) (within bool, err error) {
	exe := filepath.Join(b.dir, "stripped")
	ours, err := b.clean(ctx, "build", "-trimpath", "-ldflags=-s -w", "-o", exe, mainPackage)
	if err != nil {
		return false, err
	}
	theirs, err := b.clean(ctx, "build", "net/http")
	if err != nil {
		return false, err
	}
	info, err := os.Stat(exe)
	if err != nil {
		return false, err
	}
	b.exe = exe
	fmt.Fprintf(b.out, "stripped binary     %.1f MB (limit %d)\n", float64(info.Size())/(1<<20), maxBytes>>20)
	fmt.Fprintf(b.out, "clean build         %.0f CPU-s (limit %.0f), %.1f times net/http's %.0f\n", ours.Seconds(), maxCPU.Seconds(), ours.Seconds()/theirs.Seconds(), theirs.Seconds())
	return info.Size() < maxBytes && ours < maxCPU, nil
}

// clean runs one go command with an empty build cache and says how much CPU it took, its children included.
func (b *bench) clean(ctx context.Context, args ...string) (time.Duration, error) {
	cache, err := os.MkdirTemp(b.dir, "cache-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(cache)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOCACHE="+cache, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go %v: %w: %s", args, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
