package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Run starts the handlers and returns. It is called at most once. When ctx ends they stop as at Close.
func (q *Queue) Run(ctx context.Context, h Handlers) error {
	if q.client != nil || h.Delivery == nil || h.Job == nil {
		return errors.New("run queue: it runs already, or a handler is missing")
	}
	q.handlers = h
	ctx, q.stop = context.WithCancelCause(ctx)
	if err := q.work(ctx); err != nil {
		q.stop(err)
		return fmt.Errorf("run queue: %w", q.explain(err))
	}
	q.helpers.Go(func() { q.hourly(ctx) })
	return nil
}

// stopping says whether a handler's context ended because the queue stops, not because its job was cancelled.
func (q *Queue) stopping(ctx context.Context) bool {
	return context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), ErrCancel)
}

// call is f with a panic as its error: a handler that panics on one delivery does not take the others with it.
func call(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// persist is transact for what must be written down before anything else can happen: it tries until the file takes it or
// the queue stops, when what was not written is found undone by the next Open.
func (q *Queue) persist(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		err := q.transact(ctx, f)
		if err == nil || q.stopping(ctx) {
			return err
		}
		q.o.Log.Error("the queue cannot write down how far it is and tries again", "error", err, "in", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// ringAfter rings at once, and again when a retry is due.
func (q *Queue) ringAfter(c chan struct{}, pause time.Duration) {
	ring(c)
	if pause > 0 {
		time.AfterFunc(pause+5*time.Millisecond, func() { ring(c) }) // River counts in milliseconds
	}
}

// pause is how long the retry after so many errors waits.
func (q *Queue) pause(failures int, trouble error) time.Duration {
	p := q.o.Pause
	for range failures - 1 {
		p = min(5*p, 15*time.Minute)
	}
	var later *Later
	if errors.As(trouble, &later) {
		p = max(p, min(later.After, 24*time.Hour))
	}
	return p
}

// clip bounds a text that people read, on a character's border.
func clip(s string) string {
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "…"
}

// when is a column's time; zero for NULL.
func when(ns sql.NullInt64) time.Time {
	if !ns.Valid {
		return time.Time{}
	}
	return time.Unix(0, ns.Int64)
}
