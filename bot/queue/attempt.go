package queue

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// attempt is one run of the job of a ticket. An error means that the queue stops; the ticket stays for later.
func (q *Queue) attempt(ctx context.Context, ticket int64) error {
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer q.enlist(ticket, cancel)() // before the row is read, so that a Cancel is seen in one place or the other
	seq, j, cause, err := q.begin(ctx, ticket)
	if err != nil || seq == 0 {
		ring(q.driver.bell.jobs) // its target's next may have its turn now
		return err
	}
	if cause != nil {
		cancel(cause)
	}
	stop := q.renew(ctx, seq)
	trouble := call(func() error { return q.handlers.Job(work, j) })
	stop()
	stopping := trouble != nil && q.stopping(ctx)
	var pause time.Duration
	err = q.persist(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if stopping {
			return putBack(ctx, tx, ticket)
		}
		pause, err = q.attempted(ctx, tx, seq, ticket, trouble)
		return err
	})
	q.ringAfter(q.driver.bell.jobs, pause)
	return err
}

// begin writes down that an attempt begins, and reads its job. seq is 0 when there is nothing to do.
func (q *Queue) begin(ctx context.Context, ticket int64) (seq int64, j Job, cause *Cause, err error) {
	err = q.persist(ctx, func(ctx context.Context, tx *sql.Tx) error {
		at := q.o.Now()
		var cancelled bool
		var why, head string
		err := tx.QueryRowContext(ctx, `UPDATE jobs SET attempt = attempt + 1, began = coalesce(began, ?), owner = ?, until = ?
			WHERE ticket = ? AND ended IS NULL RETURNING seq, cancelled IS NOT NULL, why, superseded`,
			at.UnixNano(), q.owner, at.Add(q.o.Lease).UnixNano(), ticket).Scan(&seq, &cancelled, &why, &head)
		if errors.Is(err, sql.ErrNoRows) {
			return q.idle(ctx, tx, ticket)
		}
		if err != nil {
			return err
		}
		if cancelled {
			cause = &Cause{Text: why, Head: head}
		}
		j, err = scanJob(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE seq = ?", seq).Scan)
		return err
	})
	return seq, j, cause, err
}

// idle takes out a ticket that stands for no work: its job was closed, by another or just before a kill.
func (q *Queue) idle(ctx context.Context, tx *sql.Tx, ticket int64) error {
	ended, err := list[int64](ctx, tx, "SELECT seq FROM jobs WHERE ticket = ?", ticket)
	if err != nil {
		return err
	}
	for _, seq := range ended {
		if err := q.release(ctx, tx, seq); err != nil {
			return err
		}
	}
	return spend(ctx, tx, ticket)
}

// attempted writes down how a handler returned. pause is how long the next attempt waits.
func (q *Queue) attempted(ctx context.Context, tx *sql.Tx, seq, ticket int64, trouble error) (pause time.Duration, err error) {
	var ended bool
	var failures int
	var e Ending
	err = tx.QueryRowContext(ctx, "SELECT ended IS NOT NULL, failures, why, superseded FROM jobs WHERE seq = ?", seq).
		Scan(&ended, &failures, &e.Cancelled, &e.Superseded)
	if err != nil {
		return 0, err
	}
	if trouble != nil {
		failures++
		e.Error = clip(trouble.Error())
	}
	_, err = tx.ExecContext(ctx, "UPDATE jobs SET owner = '', until = NULL, failures = ?, trouble = coalesce(nullif(?, ''), trouble) WHERE seq = ?",
		failures, e.Error, seq)
	switch {
	case err != nil:
		return 0, err
	case ended:
		return 0, q.release(ctx, tx, seq)
	case trouble == nil || failures > q.o.Retries:
		return 0, q.end(ctx, tx, seq, e)
	}
	if err := spend(ctx, tx, ticket); err != nil {
		return 0, err
	}
	pause = q.pause(failures, trouble)
	return pause, q.turn(ctx, tx, seq, pause)
}

// enlist makes the attempt of a ticket known to Cancel until the returned function is called.
func (q *Queue) enlist(ticket int64, cancel context.CancelCauseFunc) (dismiss func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[ticket] = cancel
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.running, ticket)
	}
}

// interrupt ends the context of the attempt of a ticket, if it runs.
func (q *Queue) interrupt(ticket int64, c *Cause) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cancel := q.running[ticket]; cancel != nil {
		cancel(c)
	}
}

// renew renews a job's lease until the returned function is called, which waits for the last renewal.
func (q *Queue) renew(ctx context.Context, seq int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(q.o.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE jobs SET until = ? WHERE seq = ? AND owner = ?", q.o.Now().Add(q.o.Lease).UnixNano(), seq, q.owner)
				return err
			})
			if err != nil {
				q.o.Log.Warn("renew a job's lease", "error", err)
			}
		}
	}()
	return func() { cancel(); <-done }
}
