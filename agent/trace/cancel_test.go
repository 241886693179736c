package trace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := WatchCancel(t.Context(), dir)
		defer stop()
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Fatal("cancelled by nobody")
		}
		if err := RequestCancel(dir, "lunch"); err != nil {
			t.Fatal(err)
		}
		if ctx.Err() != nil {
			t.Fatal("cancelled before it could know")
		}
		asked := time.Now()
		<-ctx.Done()
		if took := time.Since(asked); took > 200*time.Millisecond {
			t.Errorf("noticed after %v", took)
		}
		var why *CancelError
		if !errors.As(context.Cause(ctx), &why) || why.Why != "lunch" || why.Error() != "cancelled: lunch" {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	})
}

// TestCancelIsDurable: a watcher that starts later is told at once, and the first reason stays.
func TestCancelIsDurable(t *testing.T) {
	dir := t.TempDir()
	for _, why := range []string{"first", "second"} {
		if err := RequestCancel(dir, why); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := WatchCancel(context.Background(), dir)
	defer stop()
	if cause := context.Cause(ctx); cause == nil || cause.Error() != "cancelled: first" {
		t.Errorf("cause %v", cause)
	}
}

func TestCancelMarkerThatCannotBeRead(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"garbage":   func(p string) error { return os.WriteFile(p, []byte("\x00{"), 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
	} {
		dir := t.TempDir()
		if err := make(filepath.Join(dir, CancelFile)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := WatchCancel(context.Background(), dir)
		var why *CancelError
		if !errors.As(context.Cause(ctx), &why) || why.Error() != "cancelled" {
			t.Errorf("%s: cause %v", name, context.Cause(ctx))
		}
		stop()
	}
}

// TestWatchEnds: stop and the parent's end both leave no goroutine behind; synctest fails where one stays.
func TestWatchEnds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := WatchCancel(t.Context(), dir)
		stop()
		stop()
		if !errors.Is(context.Cause(ctx), context.Canceled) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		parent, end := context.WithCancelCause(t.Context())
		ctx, stop = WatchCancel(parent, dir)
		gone := errors.New("parent is gone")
		end(gone)
		<-ctx.Done()
		if context.Cause(ctx) != gone {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		stop()
	})
}

func TestRequestCancelWithoutFolder(t *testing.T) {
	if err := RequestCancel(filepath.Join(t.TempDir(), "nowhere"), "x"); err == nil {
		t.Error("no error")
	}
}
