package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// What is kept, and how long. A delivery's payload is kept as long as GitHub keeps its own; its id stays far longer, since
// a replay is known by it. A busy installation of 3,000 deliveries a day fills ids in a year, which is about 200 MB.
const (
	keepPayload    = 3 * 24 * time.Hour   // of a handled delivery
	keepDeliveries = 1_000_000            // the newest, without payload
	keepJobs       = 400 * 24 * time.Hour // after their end, with their transitions; the newest of a target always
)

// drop deletes what is kept no longer.
func (q *Queue) drop(ctx context.Context, tx *sql.Tx) error {
	const old = "FROM jobs AS j WHERE ended < ? AND ticket IS NULL AND EXISTS (SELECT 1 FROM jobs AS n WHERE n.target = j.target AND n.seq > j.seq)"
	at := q.o.Now()
	for _, s := range []struct {
		statement string
		arg       int64
	}{
		{"DELETE FROM payloads WHERE delivery IN (SELECT delivery FROM payloads JOIN deliveries ON seq = delivery WHERE handled < ?)", at.Add(-keepPayload).UnixNano()},
		{"DELETE FROM deliveries WHERE seq <= (SELECT max(seq) FROM deliveries) - ? AND handled IS NOT NULL", keepDeliveries},
		{"DELETE FROM transitions WHERE job IN (SELECT seq " + old + ")", at.Add(-keepJobs).UnixNano()},
		{"DELETE FROM jobs WHERE seq IN (SELECT seq " + old + ")", at.Add(-keepJobs).UnixNano()},
	} {
		if _, err := tx.ExecContext(ctx, s.statement, s.arg); err != nil {
			return err
		}
	}
	return nil
}

// hourly drops what is old and gives the space back, until ctx ends.
func (q *Queue) hourly(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := q.transact(ctx, q.drop)
		if err == nil {
			_, err = q.db.ExecContext(ctx, "PRAGMA incremental_vacuum(10000)")
		}
		if err != nil {
			q.o.Log.Warn("drop what is old", "error", q.explain(err))
		}
	}
}

// Put keeps a caller's value under a name; nil takes it away. Get reads it, nil when there is none. Both are durable.
func (q *Queue) Put(ctx context.Context, name string, value []byte) error {
	if name == "" || len(name) > longestKey || len(value) > longestValue {
		return fmt.Errorf("keep a value: its name has %d bytes and it has %d; 1 to %d and %d are allowed", len(name), len(value), longestKey, longestValue)
	}
	err := q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if value == nil {
			_, err := tx.ExecContext(ctx, "DELETE FROM kept WHERE name = ?", name)
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO kept VALUES (?, ?)", name, value)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep %q: %w", name, err)
	}
	return nil
}

// Get reads what Put kept.
func (q *Queue) Get(ctx context.Context, name string) (value []byte, err error) {
	err = q.read(ctx, "SELECT value FROM kept WHERE name = ?", []any{name}, &value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return some(value), nil
}

// Stats counts.
func (q *Queue) Stats(ctx context.Context) (s Stats, err error) {
	err = q.read(ctx, `SELECT (SELECT count(*) FROM deliveries), (SELECT count(*) FROM deliveries WHERE handled IS NULL),
		count(*) FILTER (WHERE ended IS NULL AND owner = ''), count(*) FILTER (WHERE ended IS NULL AND owner <> ''),
		count(*) FILTER (WHERE ended IS NOT NULL) FROM jobs`, nil, &s.Deliveries, &s.Unhandled, &s.Waiting, &s.Running, &s.Closed)
	if err != nil {
		return Stats{}, fmt.Errorf("count what stands in the queue: %w", err)
	}
	return s, nil
}

// readyFor is how long an answer of Ready holds: anyone may ask /readyz, and each answer costs a write.
const readyFor = time.Second

// Ready says whether the file can be written, for /readyz.
func (q *Queue) Ready(ctx context.Context) error {
	q.readyMu.Lock()
	defer q.readyMu.Unlock()
	if time.Since(q.readyAt) < readyFor {
		return q.ready
	}
	q.ready = q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO kept VALUES ('', ?)", []byte(q.o.Now().UTC().Format(time.RFC3339Nano)))
		return err
	})
	q.readyAt = time.Now()
	return q.ready
}

// read reads one row.
func (q *Queue) read(ctx context.Context, query string, args []any, into ...any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return q.explain(q.db.QueryRowContext(ctx, query, args...).Scan(into...))
}
