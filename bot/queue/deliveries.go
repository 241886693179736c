package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Bounds of what is taken in.
const (
	longestID      = 256      // of a delivery, and of its event
	longestKey     = 4 << 10  // of a job, of its target and its head, and of a kept value's name
	longestText    = 4 << 10  // of notes, causes and errors; longer ones are cut
	longestPayload = 32 << 20 // GitHub sends at most 25 MB
	longestData    = 1 << 20  // of a job's arguments and of a transition
	longestValue   = 16 << 20
)

// handling is how long one delivery's handler may take: the next one waits for it.
const handling = 5 * time.Minute

// Receive stores a delivery on disk (synchronous=FULL) before it returns. again is true when its ID was stored before;
// then nothing changes, unless its last retry was an error: it is handled afresh, since somebody asked for that.
func (q *Queue) Receive(ctx context.Context, d Delivery) (again bool, err error) {
	if err := d.check(); err != nil {
		return false, fmt.Errorf("store a delivery: %w", err)
	}
	due := false
	err = q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var seq int64
		var failed bool
		switch err := tx.QueryRowContext(ctx, "SELECT seq, failed FROM deliveries WHERE id = ?", d.ID).Scan(&seq, &failed); {
		case errors.Is(err, sql.ErrNoRows):
			due = true
			return q.store(ctx, tx, d)
		case err != nil:
			return err
		}
		again, due = true, failed
		if !failed {
			return nil
		}
		if _, err := tx.ExecContext(ctx, "UPDATE deliveries SET handled = NULL, failed = 0, failures = 0 WHERE seq = ?", seq); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO payloads VALUES (?, ?)", seq, some(d.Payload)); err != nil {
			return err
		}
		return q.hand(ctx, tx, seq, 0)
	})
	if err != nil {
		return false, fmt.Errorf("store delivery %q: %w", d.ID, err)
	}
	if due {
		ring(q.driver.bell.deliveries)
	}
	return again, nil
}

func (d Delivery) check() error {
	switch {
	case d.ID == "" || len(d.ID) > longestID:
		return fmt.Errorf("its id has %d bytes, and 1 to %d are allowed", len(d.ID), longestID)
	case d.Event == "" || len(d.Event) > longestID:
		return fmt.Errorf("its event has %d bytes, and 1 to %d are allowed", len(d.Event), longestID)
	case len(d.Payload) > longestPayload:
		return fmt.Errorf("its payload has %d bytes, and %d are allowed", len(d.Payload), longestPayload)
	}
	return nil
}

// store writes a new delivery and the ticket to handle it.
func (q *Queue) store(ctx context.Context, tx *sql.Tx, d Delivery) error {
	received := d.Received
	if received.IsZero() {
		received = q.o.Now()
	}
	ticket, err := q.ticket(ctx, tx, deliveryTicket{}, forDeliveries, 0)
	if err != nil {
		return err
	}
	row, err := tx.ExecContext(ctx, "INSERT INTO deliveries (id, event, received, ticket) VALUES (?, ?, ?, ?)",
		d.ID, d.Event, received.UnixNano(), ticket)
	if err != nil {
		return err
	}
	seq, err := row.LastInsertId()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO payloads VALUES (?, ?)", seq, some(d.Payload))
	return err
}

// hand gives a delivery a new ticket.
func (q *Queue) hand(ctx context.Context, tx *sql.Tx, seq int64, pause time.Duration) error {
	ticket, err := q.ticket(ctx, tx, deliveryTicket{}, forDeliveries, pause)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE deliveries SET ticket = ? WHERE seq = ?", ticket, seq)
	return err
}

// some is b, never NULL.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// deliver has the delivery of a ticket handled, and then whatever else has arrived: asking River for each ticket would
// cost more than handling it. An error means that the queue stops; the tickets stay for later.
func (q *Queue) deliver(ctx context.Context, ticket int64) (err error) {
	for err == nil && ticket != 0 {
		if err = q.deliverOne(ctx, ticket); err == nil {
			ticket, err = q.nextDelivery(ctx)
		}
	}
	return err
}

// nextDelivery is the ticket of the oldest delivery that is due; 0 when none is, or the queue stops.
func (q *Queue) nextDelivery(ctx context.Context) (ticket int64, err error) {
	if q.stopping(ctx) {
		return 0, nil
	}
	err = q.read(ctx, `SELECT ticket FROM deliveries CROSS JOIN river_job ON river_job.id = ticket
		WHERE handled IS NULL AND river_job.state = 'available' AND scheduled_at <= datetime('now', 'subsec')
		ORDER BY seq LIMIT 1`, nil, &ticket)
	if errors.Is(err, sql.ErrNoRows) || q.stopping(ctx) {
		return 0, nil
	}
	return ticket, err
}

func (q *Queue) deliverOne(ctx context.Context, ticket int64) error {
	var seq int64
	var d Delivery
	err := q.persist(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var received int64
		err := tx.QueryRowContext(ctx, `SELECT seq, id, event, received, coalesce(body, x'') FROM deliveries
			LEFT JOIN payloads ON delivery = seq WHERE ticket = ?`, ticket).Scan(&seq, &d.ID, &d.Event, &received, &d.Payload)
		if errors.Is(err, sql.ErrNoRows) { // one that nothing waits for
			return spend(ctx, tx, ticket)
		}
		d.Received = time.Unix(0, received)
		return err
	})
	if err != nil || seq == 0 {
		return err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, handling, fmt.Errorf("a delivery is handled within %v", handling))
	defer cancel()
	trouble := call(func() error { return q.handlers.Delivery(bounded, d) })
	stopping := trouble != nil && q.stopping(ctx)
	var pause time.Duration
	err = q.persist(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if stopping {
			return putBack(ctx, tx, ticket)
		}
		pause, err = q.delivered(ctx, tx, seq, ticket, trouble)
		return err
	})
	q.ringAfter(q.driver.bell.deliveries, pause)
	return err
}

// delivered writes down how a handler returned. pause is how long the retry waits.
func (q *Queue) delivered(ctx context.Context, tx *sql.Tx, seq, ticket int64, trouble error) (pause time.Duration, err error) {
	if err := spend(ctx, tx, ticket); err != nil {
		return 0, err
	}
	if trouble == nil {
		return 0, q.handled(ctx, tx, seq, false)
	}
	var failures int
	err = tx.QueryRowContext(ctx, "UPDATE deliveries SET failures = failures + 1, trouble = ? WHERE seq = ? RETURNING failures",
		clip(trouble.Error()), seq).Scan(&failures)
	if err != nil {
		return 0, err
	}
	if failures > q.o.Retries {
		return 0, q.handled(ctx, tx, seq, true)
	}
	pause = q.pause(failures, trouble)
	return pause, q.hand(ctx, tx, seq, pause)
}

func (q *Queue) handled(ctx context.Context, tx *sql.Tx, seq int64, failed bool) error {
	_, err := tx.ExecContext(ctx, "UPDATE deliveries SET handled = ?, failed = ?, ticket = NULL WHERE seq = ?", q.o.Now().UnixNano(), failed, seq)
	return err
}

// Note records what a delivery led to, in one word and one sentence, for people.
func (q *Queue) Note(ctx context.Context, delivery, outcome, text string) error {
	err := q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "UPDATE deliveries SET outcome = ?, text = ? WHERE id = ?", clip(outcome), clip(text), delivery)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, errors.New("no such delivery"))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note what delivery %q led to: %w", delivery, err)
	}
	return nil
}

// Delivery is one delivery by its id; ok is false when it was never stored.
func (q *Queue) Delivery(ctx context.Context, id string) (d Delivery, f Fate, ok bool, err error) {
	var received int64
	var handled sql.NullInt64
	err = q.read(ctx, `SELECT id, event, received, handled, failed, trouble, outcome, text, body FROM deliveries
		LEFT JOIN payloads ON delivery = seq WHERE id = ?`, []any{id},
		&d.ID, &d.Event, &received, &handled, &f.Failed, &f.Trouble, &f.Outcome, &f.Text, &d.Payload)
	if errors.Is(err, sql.ErrNoRows) {
		return Delivery{}, Fate{}, false, nil
	}
	if err != nil {
		return Delivery{}, Fate{}, false, fmt.Errorf("read delivery %q: %w", id, err)
	}
	d.Received, f.Handled = time.Unix(0, received), when(handled)
	return d, f, true, nil
}
