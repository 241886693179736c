package queue

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// A ticket is a job of River's: one attempt of a delivery or of a job of ours, put in by the transaction that made the
// attempt due and taken out by the one that writes down what came of it. River hands them out; everything that must
// not be lost or done twice stands in our own rows. River's leader, with its rescuer, scheduler and cleaners, does not
// run: it would write to an idle disk every five seconds, and there is nothing left for it to do.

const (
	forDeliveries = "deliveries" // one worker: in order of arrival
	forJobs       = "jobs"
)

type deliveryTicket struct{}

func (deliveryTicket) Kind() string { return "delivery" }

type jobTicket struct{}

func (jobTicket) Kind() string { return "job" }

// driver is River's for SQLite, but for notifications: those of a queue that one process holds need not pass the file.
type driver struct {
	*riversqlite.Driver
	bell *bell
}

func (d driver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener { return d.bell }
func (d driver) SupportsListenNotify() bool                                        { return false } // writes none

// bell wakes River's producers within this process, once a ticket is committed. A ring that nobody hears is made
// up for by the next poll.
type bell struct{ deliveries, jobs chan struct{} }

func newBell() *bell { return &bell{make(chan struct{}, 1), make(chan struct{}, 1)} }

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it rings already
	}
}

// WaitForNotification speaks River's language:
// https://github.com/riverqueue/river/blob/v0.51.2/internal/notifier/notifier.go#L29
func (b *bell) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	name := ""
	select {
	case <-b.deliveries:
		name = forDeliveries
	case <-b.jobs:
		name = forJobs
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return &riverdriver.Notification{Topic: "river_insert", Payload: fmt.Sprintf(`{"queue": %q}`, name)}, nil
}

func (b *bell) Close(context.Context) error            { return nil }
func (b *bell) Connect(context.Context) error          { return nil }
func (b *bell) Listen(context.Context, string) error   { return nil }
func (b *bell) Unlisten(context.Context, string) error { return nil }
func (b *bell) Ping(context.Context) error             { return nil }
func (b *bell) Schema() string                         { return "" }
func (b *bell) SetAfterConnectExec(string)             {}

// river is where River's own warnings go.
func (q *Queue) river() *slog.Logger { return slog.New(warnings{q.o.Log.Handler()}) }

type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && w.Handler.Enabled(ctx, l)
}
func (w warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{w.Handler.WithAttrs(a)} }
func (w warnings) WithGroup(name string) slog.Handler   { return warnings{w.Handler.WithGroup(name)} }

// connect makes the client that puts tickets in.
func (q *Queue) connect() (err error) {
	q.driver = driver{riversqlite.New(q.db), newBell()}
	q.insert, err = river.NewClient(q.driver, &river.Config{Logger: q.river(), MaxAttempts: 1 << 14})
	return err
}

// work starts the client that hands tickets out, at least one to deliveries whatever the jobs do.
func (q *Queue) work(ctx context.Context) (err error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, t *river.Job[deliveryTicket]) error {
		return q.deliver(ctx, t.ID)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, t *river.Job[jobTicket]) error {
		return q.attempt(ctx, t.ID)
	}))
	q.client, err = river.NewClient(q.driver, &river.Config{
		Logger:                 q.river(),
		Workers:                workers,
		LeaderElectionDisabled: true,
		JobTimeout:             -1,
		FetchPollInterval:      10 * time.Second, // finds retries that were due after a restart; all else is rung for
		Queues: map[string]river.QueueConfig{
			forDeliveries: {MaxWorkers: 1, FetchCooldown: 50 * time.Millisecond},
			forJobs:       {MaxWorkers: q.o.Jobs, FetchCooldown: 20 * time.Millisecond},
		},
	})
	if err != nil {
		return err
	}
	return q.client.Start(ctx)
}

// now is when a ticket that is due is due: long ago, so that only the order of ids counts and a clock that is set back
// neither reorders nor delays anything.
const now = "2000-01-01 00:00:00.000"

// ticket puts in a ticket that is due after a pause.
func (q *Queue) ticket(ctx context.Context, tx *sql.Tx, args river.JobArgs, queue string, pause time.Duration) (id int64, err error) {
	t, err := q.insert.InsertTx(ctx, tx, args, &river.InsertOpts{Queue: queue})
	if err != nil {
		return 0, err
	}
	// Not InsertOpts.ScheduledAt: River's scheduler would have to make such a ticket available.
	if pause <= 0 {
		_, err = tx.ExecContext(ctx, "UPDATE river_job SET scheduled_at = ? WHERE id = ?", now, t.Job.ID)
	} else {
		_, err = tx.ExecContext(ctx, "UPDATE river_job SET scheduled_at = datetime('now', 'subsec', ?) WHERE id = ?",
			fmt.Sprintf("+%.3f seconds", pause.Seconds()), t.Job.ID)
	}
	return t.Job.ID, err
}

// spend takes a ticket out. River finds it gone when its worker returns, and leaves it at that.
func spend(ctx context.Context, tx *sql.Tx, ticket int64) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM river_job WHERE id = ?", ticket)
	return err
}

// putBack makes a ticket that is handed out available again, in its old place.
func putBack(ctx context.Context, tx *sql.Tx, ticket int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE river_job SET state = 'available', scheduled_at = ? WHERE id = ? AND state = 'running'", now, ticket)
	return err
}

// hasten makes a ticket that waits for its pause to end due now.
func hasten(ctx context.Context, tx *sql.Tx, ticket int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE river_job SET scheduled_at = ? WHERE id = ? AND state = 'available'", now, ticket)
	return err
}

// reclaim takes back what a dead process had begun, which it must be, since the lock is ours: River would wait for
// RescueStuckJobsAfter. It also gives a ticket to whatever should have one and has none.
func (q *Queue) reclaim(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range []string{
		"UPDATE river_job SET state = 'available', attempt = 0, attempted_by = NULL, errors = NULL, finalized_at = NULL WHERE state <> 'available'",
		"UPDATE jobs SET owner = '', until = NULL WHERE owner <> ''",
		"UPDATE deliveries SET ticket = NULL WHERE ticket IS NOT NULL AND ticket NOT IN (SELECT id FROM river_job)",
		"UPDATE jobs SET ticket = NULL WHERE ticket IS NOT NULL AND ticket NOT IN (SELECT id FROM river_job)",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	unhandled, err := list[int64](ctx, tx, "SELECT seq FROM deliveries WHERE handled IS NULL AND ticket IS NULL ORDER BY seq")
	if err != nil {
		return err
	}
	for _, seq := range unhandled {
		if err := q.hand(ctx, tx, seq, 0); err != nil {
			return err
		}
	}
	idle, err := list[string](ctx, tx, `SELECT DISTINCT target FROM jobs AS j WHERE ended IS NULL
		AND NOT EXISTS (SELECT 1 FROM jobs AS o WHERE o.target = j.target AND o.ticket IS NOT NULL)`)
	if err != nil {
		return err
	}
	for _, target := range idle {
		if err := q.next(ctx, tx, target); err != nil {
			return err
		}
	}
	return nil
}

// list reads one column.
func list[T any](ctx context.Context, tx *sql.Tx, query string, args ...any) (all []T, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
