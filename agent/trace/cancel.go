package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// CancelFile is the marker in an evidence directory that says: stop.
const CancelFile = "cancel"

// cancelPoll is how often a watcher looks for the marker.
const cancelPoll = 200 * time.Millisecond

// CancelError is the cause of a context that a marker has ended.
type CancelError struct {
	Why string // as RequestCancel was told; empty when the marker could not be read
}

func (e *CancelError) Error() string {
	if e.Why == "" {
		return "cancelled"
	}
	return "cancelled: " + e.Why
}

type marker struct {
	Why string `json:"why"`
}

// RequestCancel leaves a marker in the evidence directory that outlives this process and the one that works there. The
// first one stays: a second request changes nothing.
func RequestCancel(dir, why string) error {
	if _, err := os.Lstat(filepath.Join(dir, CancelFile)); err == nil {
		return nil
	}
	b, err := marshal(marker{Why: why})
	if err != nil {
		return fmt.Errorf("request cancel: %w", err)
	}
	if err := writeDurable(dir, CancelFile, b); err != nil {
		return fmt.Errorf("request cancel: %w", err)
	}
	return nil
}

// WatchCancel returns a context that ends with a *CancelError as its cause soon after dir has a marker; at once when it
// has one already. stop ends the watching and the context, and returns when nothing watches any more.
func WatchCancel(ctx context.Context, dir string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	if err := cancelled(dir); err != nil {
		cancel(err)
	}
	go func() {
		defer close(done)
		watch(ctx, dir, cancel)
	}()
	return ctx, func() {
		cancel(context.Canceled)
		<-done
	}
}

func watch(ctx context.Context, dir string, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(cancelPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := cancelled(dir); err != nil {
				cancel(err)
			}
		}
	}
}

// cancelled is a *CancelError when dir has a marker. A marker that cannot be read is one all the same.
func cancelled(dir string) error {
	f, err := os.Open(filepath.Join(dir, CancelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &CancelError{}
	}
	defer f.Close()
	var m marker
	_ = json.NewDecoder(io.LimitReader(f, 64<<10)).Decode(&m)
	return &CancelError{Why: m.Why}
}
