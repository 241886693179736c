package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Submit puts a job into the queue. Key, Target, Head, Again and Args are read. id is the job's, or that of the one
// that stands in its way.
func (q *Queue) Submit(ctx context.Context, j Job) (id string, s Submission, err error) {
	if err := j.check(); err != nil {
		return "", "", fmt.Errorf("submit a job: %w", err)
	}
	var cancels []func()
	err = q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var other string // unfinished, of another head
		if id, other, s, err = standing(ctx, tx, j); err != nil || s != "" {
			return err
		}
		s = Added
		if other != "" {
			s = Superseded
			cause := &Cause{Text: clip("superseded: the head is " + j.Head + " now"), Head: j.Head}
			if cancels, err = q.cancel(ctx, tx, cause, "id = ?", other); err != nil {
				return err
			}
		}
		id, err = q.add(ctx, tx, j)
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("submit job %q: %w", j.Key, err)
	}
	for _, cancel := range cancels {
		cancel()
	}
	ring(q.driver.bell.jobs)
	return id, s, nil
}

func (j Job) check() error {
	for _, f := range []struct {
		name, value string
		least       int
	}{{"key", j.Key, 1}, {"target", j.Target, 1}, {"head", j.Head, 0}} {
		if len(f.value) < f.least || len(f.value) > longestKey {
			return fmt.Errorf("its %s has %d bytes, and %d to %d are allowed", f.name, len(f.value), f.least, longestKey)
		}
	}
	if len(j.Args) > longestData {
		return fmt.Errorf("its arguments have %d bytes, and %d are allowed", len(j.Args), longestData)
	}
	if j.Args != nil && !json.Valid(j.Args) {
		return errors.New("its arguments are no JSON")
	}
	return nil
}

// standing looks for what stands in a job's way: s is "" when nothing does. other is the unfinished job of the key that
// it supersedes.
func standing(ctx context.Context, tx *sql.Tx, j Job) (id, other string, s Submission, err error) {
	var head string
	err = tx.QueryRowContext(ctx, "SELECT id, head FROM jobs WHERE key = ? AND ended IS NULL AND cancelled IS NULL", j.Key).Scan(&id, &head)
	switch {
	case err == nil && head == j.Head:
		return id, "", Waiting, nil
	case err == nil:
		other = id
	case !errors.Is(err, sql.ErrNoRows):
		return "", "", "", err
	}
	if j.Again {
		return "", other, "", nil
	}
	// A head that was superseded and then came back was never looked at to its end.
	err = tx.QueryRowContext(ctx, "SELECT id FROM jobs WHERE key = ? AND head = ? AND superseded = '' ORDER BY seq DESC LIMIT 1",
		j.Key, j.Head).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", other, "", nil
	}
	return id, "", Done, err
}

// add writes a new job down, and gives it a ticket if it is its target's turn.
func (q *Queue) add(ctx context.Context, tx *sql.Tx, j Job) (id string, err error) {
	at := q.o.Now()
	id = at.UTC().Format("20060102-150405-") + strings.ToLower(rand.Text()[:10])
	r, err := tx.ExecContext(ctx, `INSERT INTO jobs (id, key, target, head, again, args, state, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		id, j.Key, j.Target, j.Head, j.Again, []byte(j.Args), Received, at.UnixNano())
	if err != nil {
		return "", err
	}
	seq, err := r.LastInsertId()
	if err != nil {
		return "", err
	}
	if err := q.enter(ctx, tx, seq, Received, nil); err != nil {
		return "", err
	}
	return id, q.next(ctx, tx, j.Target)
}

// next gives the oldest unfinished job of a target its ticket, unless one of the target has one.
func (q *Queue) next(ctx context.Context, tx *sql.Tx, target string) error {
	var seq int64
	err := tx.QueryRowContext(ctx, `SELECT seq FROM jobs WHERE target = ?1 AND ended IS NULL
		AND NOT EXISTS (SELECT 1 FROM jobs WHERE target = ?1 AND ticket IS NOT NULL) ORDER BY seq LIMIT 1`, target).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return q.turn(ctx, tx, seq, 0)
}

// turn gives a job a new ticket.
func (q *Queue) turn(ctx context.Context, tx *sql.Tx, seq int64, pause time.Duration) error {
	ticket, err := q.ticket(ctx, tx, jobTicket{}, forJobs, pause)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE jobs SET ticket = ? WHERE seq = ?", ticket, seq)
	return err
}

// release takes the ticket of a job that ended, and lets the next of its target have its turn.
func (q *Queue) release(ctx context.Context, tx *sql.Tx, seq int64) error {
	var ticket sql.NullInt64
	var target string
	if err := tx.QueryRowContext(ctx, "SELECT ticket, target FROM jobs WHERE seq = ?", seq).Scan(&ticket, &target); err != nil {
		return err
	}
	if !ticket.Valid {
		return nil
	}
	if err := spend(ctx, tx, ticket.Int64); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE jobs SET ticket = NULL, owner = '', until = NULL WHERE seq = ?", seq); err != nil {
		return err
	}
	return q.next(ctx, tx, target)
}

var states = []State{Received, Authorised, Pinned, Prepared, Reproduced, Proposed, Proved, Publishing, Published, Closed}

// Enter writes a state of a job down. Entering Closed ends it. A member "evidence" of data becomes the job's.
func (q *Queue) Enter(ctx context.Context, id string, s State, data any) error {
	err := func() error {
		if !slices.Contains(states, s) {
			return errors.New("no such state")
		}
		raw, err := json.Marshal(data)
		if err != nil {
			return err
		}
		if len(raw) > longestData {
			return fmt.Errorf("its data has %d bytes, and %d are allowed", len(raw), longestData)
		}
		if data == nil {
			raw = nil
		}
		return q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error { return q.enterID(ctx, tx, id, s, raw) })
	}()
	if err != nil {
		return fmt.Errorf("enter state %s of job %q: %w", s, id, err)
	}
	if s == Closed {
		ring(q.driver.bell.jobs)
	}
	return nil
}

func (q *Queue) enterID(ctx context.Context, tx *sql.Tx, id string, s State, data []byte) error {
	var seq int64
	var ended sql.NullInt64
	var owner string
	err := tx.QueryRowContext(ctx, "SELECT seq, ended, owner FROM jobs WHERE id = ?", id).Scan(&seq, &ended, &owner)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ErrNoJob
	case err != nil:
		return err
	case ended.Valid:
		return ErrEnded
	}
	if err := q.enter(ctx, tx, seq, s, data); err != nil {
		return err
	}
	if s == Closed && owner == "" { // else its target is free once the handler returns
		return q.release(ctx, tx, seq)
	}
	return nil
}

// enter writes one transition and what follows from it.
func (q *Queue) enter(ctx context.Context, tx *sql.Tx, seq int64, s State, data []byte) error {
	at := q.o.Now().UnixNano()
	_, err := tx.ExecContext(ctx, `INSERT INTO transitions SELECT ?1, 1 + coalesce((SELECT max(seq) FROM transitions WHERE job = ?1), 0),
		attempt, ?2, ?3, ?4 FROM jobs WHERE seq = ?1`, seq, s, at, data)
	if err != nil {
		return err
	}
	var d struct{ Evidence string }
	_ = json.Unmarshal(data, &d) // data of another shape has no evidence
	if _, err := tx.ExecContext(ctx, "UPDATE jobs SET state = ?, evidence = coalesce(nullif(?, ''), evidence) WHERE seq = ?", s, d.Evidence, seq); err != nil || s != Closed {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE jobs SET ended = ?, end = ? WHERE seq = ?", at, data, seq)
	return err
}

// Cancel cancels every unfinished job of a target, or of one key if it is not "". It is durable: a job that waits never
// begins, one that runs has its context cancelled with a *Cause within a second, and one that a dead process had begun
// is begun once more with a context that is cancelled already, so that its handler can write its end. So is one that
// waits for a retry. With an empty target every job of the key is meant.
func (q *Queue) Cancel(ctx context.Context, target, key, why string) (n int, err error) {
	where, args := "target = ?1 AND (key = ?2 OR ?2 = '')", []any{target, key}
	if target == "" {
		where, args = "key = ?", []any{key}
	}
	var cancels []func()
	err = q.transact(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		cancels, err = q.cancel(ctx, tx, &Cause{Text: clip(cmp.Or(why, ErrCancel.Error()))}, where, args...)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("cancel jobs of %q: %w", cmp.Or(target, key), err)
	}
	for _, cancel := range cancels {
		cancel()
	}
	ring(q.driver.bell.jobs)
	return len(cancels), nil
}

// cancel cancels the unfinished jobs that a condition names, and returns what is left to do for each once that is on disk.
func (q *Queue) cancel(ctx context.Context, tx *sql.Tx, c *Cause, where string, args ...any) (after []func(), err error) {
	all, err := list[int64](ctx, tx, "SELECT seq FROM jobs WHERE ended IS NULL AND cancelled IS NULL AND "+where+" ORDER BY seq", args...)
	if err != nil {
		return nil, err
	}
	for _, seq := range all {
		var attempt int
		var ticket sql.NullInt64
		err := tx.QueryRowContext(ctx, "UPDATE jobs SET cancelled = ?, why = ?, superseded = ? WHERE seq = ? RETURNING attempt, ticket",
			q.o.Now().UnixNano(), c.Text, c.Head, seq).Scan(&attempt, &ticket)
		if err != nil {
			return nil, err
		}
		if attempt > 0 {
			err = hasten(ctx, tx, ticket.Int64)
		} else {
			err = q.end(ctx, tx, seq, Ending{Cancelled: c.Text, Superseded: c.Head})
		}
		if err != nil {
			return nil, err
		}
		after = append(after, func() { q.interrupt(ticket.Int64, c) })
	}
	return after, nil
}

// end closes a job in the queue's own words.
func (q *Queue) end(ctx context.Context, tx *sql.Tx, seq int64, e Ending) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := q.enter(ctx, tx, seq, Closed, data); err != nil {
		return err
	}
	return q.release(ctx, tx, seq)
}

const columns = `id, key, target, head, again, args, state, attempt, evidence, created, began, ended, end, owner, until, failures, trouble, why`

// scanJob reads one row of columns.
func scanJob(scan func(...any) error) (j Job, err error) {
	var created int64
	var began, ended, until sql.NullInt64
	var args, end []byte
	err = scan(&j.ID, &j.Key, &j.Target, &j.Head, &j.Again, &args, &j.State, &j.Attempt, &j.Evidence, &created, &began, &ended, &end,
		&j.Owner, &until, &j.Failures, &j.Trouble, &j.Cancelled)
	j.Args, j.End = args, end
	j.Created, j.Began, j.Ended, j.Until = time.Unix(0, created), when(began), when(ended), when(until)
	return j, err
}

// Job is one job by its id.
func (q *Queue) Job(ctx context.Context, id string) (j Job, all []Transition, err error) {
	err = q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if j, err = scanJob(tx.QueryRowContext(ctx, "SELECT "+columns+" FROM jobs WHERE id = ?", id).Scan); errors.Is(err, sql.ErrNoRows) {
			return ErrNoJob
		} else if err != nil {
			return err
		}
		all, err = transitions(ctx, tx, id)
		return err
	})
	if err != nil {
		return Job{}, nil, fmt.Errorf("read job %q: %w", id, err)
	}
	return j, all, nil
}

func transitions(ctx context.Context, tx *sql.Tx, id string) (all []Transition, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT t.seq, t.attempt, t.state, t.at, t.data FROM transitions AS t
		JOIN jobs ON jobs.seq = t.job WHERE jobs.id = ? ORDER BY t.seq`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		t := Transition{Job: id}
		var at int64
		var data []byte
		if err := rows.Scan(&t.Seq, &t.Attempt, &t.State, &at, &data); err != nil {
			return nil, err
		}
		t.At, t.Data = time.Unix(0, at), data
		all = append(all, t)
	}
	return all, rows.Err()
}

// Last is the newest job of a target, finished or not; ok is false when there was none.
func (q *Queue) Last(ctx context.Context, target string) (j Job, ok bool, err error) {
	j, err = scanJob(func(into ...any) error {
		return q.read(ctx, "SELECT "+columns+" FROM jobs WHERE target = ? ORDER BY seq DESC LIMIT 1", []any{target}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, false, nil
	}
	if err != nil {
		return Job{}, false, fmt.Errorf("read the last job of %q: %w", target, err)
	}
	return j, true, nil
}

// Since counts the jobs whose target begins with prefix that began after t.
func (q *Queue) Since(ctx context.Context, prefix string, t time.Time) (n int, err error) {
	// A range, so that the index is used and every byte of the prefix means itself.
	where, args := "target >= ?", []any{prefix, t.UnixNano()}
	if above := after(prefix); above != "" {
		where, args = "target >= ? AND target < ?", []any{prefix, above, t.UnixNano()}
	}
	if err := q.read(ctx, "SELECT count(*) FROM jobs WHERE "+where+" AND began > ?", args, &n); err != nil {
		return 0, fmt.Errorf("count the jobs of %q: %w", prefix, err)
	}
	return n, nil
}

// after is the least string above every one that begins with prefix; "" when there is none.
func after(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 {
		if b[len(b)-1]++; b[len(b)-1] != 0 {
			return string(b)
		}
		b = b[:len(b)-1]
	}
	return ""
}
