package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// patience is how long one read or write may wait for the file. A write that has begun is carried out even when its
// caller's context ends: it takes milliseconds, and half of it would be worth nothing.
const patience = 15 * time.Second

// Queue is an open queue. Several goroutines may use it; one process at a time may hold the file.
type Queue struct {
	o      Options
	lock   *os.File
	db     *sql.DB // one connection
	driver driver
	insert *river.Client[*sql.Tx] // puts tickets in, works none
	owner  string                 // of leases

	handlers Handlers
	client   *river.Client[*sql.Tx] // nil before Run
	stop     context.CancelCauseFunc
	helpers  sync.WaitGroup
	closed   sync.Once

	mu      sync.Mutex
	running map[int64]context.CancelCauseFunc // by ticket

	readyMu sync.Mutex
	readyAt time.Time
	ready   error
}

// Open opens the queue, made if missing, and takes back whatever a dead process had begun.
func Open(ctx context.Context, o Options) (*Queue, error) {
	o.Jobs, o.Lease, o.Pause = cmp.Or(max(o.Jobs, 0), 1), cmp.Or(o.Lease, time.Minute), cmp.Or(o.Pause, time.Second)
	o.Retries = max(cmp.Or(o.Retries, 4), 0)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	q := &Queue{o: o, running: map[int64]context.CancelCauseFunc{}, stop: func(error) {}}
	if err := q.open(ctx); err != nil {
		return nil, fmt.Errorf("open queue: %w", errors.Join(err, q.shut()))
	}
	return q, nil
}

func (q *Queue) open(ctx context.Context) (err error) {
	if q.o.Path == "" {
		return errors.New("no path")
	}
	if q.o.Path, err = filepath.Abs(q.o.Path); err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(q.o.Path), 0o700); err != nil {
		return err
	}
	if q.lock, err = hold(q.o.Path + ".lock"); err != nil {
		return err
	}
	if err = private(q.o.Path); err != nil {
		return err
	}
	host, _ := os.Hostname() // only for people
	q.owner = fmt.Sprintf("%s:%d", host, os.Getpid())
	if q.db, err = sql.Open("sqlite", address(q.o.Path)); err != nil {
		return err
	}
	q.db.SetMaxOpenConns(1) // SQLite has one writer; a second connection would only wait inside SQLite instead
	if err = q.connect(); err != nil {
		return err
	}
	if err = q.migrate(ctx); err != nil {
		return q.explain(err)
	}
	return q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := q.reclaim(ctx, tx); err != nil {
			return err
		}
		return q.drop(ctx, tx)
	})
}

// hold locks the sibling file, which the kernel gives back when its holder dies, whatever killed it. The database
// itself is no place for the lock: closing any descriptor of it would drop SQLite's own.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// private makes the file for its owner alone before SQLite sees it; SQLite gives its side files the same mode.
func private(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("%w; the queue must be a file that this user may write", err)
	}
	f.Close()
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// address is the file with what every connection to it is set to. Freed pages are given back (auto_vacuum), and so is a
// log that one large payload blew up (journal_size_limit).
func address(path string) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"auto_vacuum(2)", "journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(5000)", "journal_size_limit(8388608)"},
	}.Encode()}).String()
}

// explain adds to an error of SQLite which file it is about and what a person can do.
func (q *Queue) explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	advice := map[int]string{
		sqlite3.SQLITE_FULL:     "no space is left on its disk; free some",
		sqlite3.SQLITE_READONLY: "it cannot be written; check its owner, its mode and its disk",
		sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check its folder's owner and mode",
		sqlite3.SQLITE_IOERR:    "its disk does not answer as it should; check the disk and its free space",
		sqlite3.SQLITE_NOTADB:   "it is damaged or no queue; move it and its -wal and -shm away to begin with an empty one",
		sqlite3.SQLITE_CORRUPT:  "it is damaged; move it and its -wal and -shm away to begin with an empty one",
		sqlite3.SQLITE_BUSY:     "another program keeps it locked",
	}[e.Code()&0xff]
	if advice == "" {
		return fmt.Errorf("%s: %w", q.o.Path, err)
	}
	return fmt.Errorf("%s: %s: %w", q.o.Path, advice, err)
}

// transact runs f in one transaction that is on disk when it returns nil.
func (q *Queue) transact(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	tx, err := q.db.BeginTx(ctx, nil)
	if err != nil {
		return q.explain(err)
	}
	defer tx.Rollback()
	if err := f(ctx, tx); err != nil {
		return q.explain(err)
	}
	return q.explain(tx.Commit())
}

// Close stops the handlers, waits for them until ctx ends, and closes the file. A second time does nothing.
func (q *Queue) Close(ctx context.Context) error {
	q.stop(ErrStop)
	var late error
	if q.client != nil {
		select {
		case <-q.client.Stopped():
			q.helpers.Wait()
		case <-ctx.Done():
			late = fmt.Errorf("wait for handlers: %w", context.Cause(ctx))
		}
	}
	if err := errors.Join(late, q.shut()); err != nil {
		return fmt.Errorf("close queue: %w", err)
	}
	return nil
}

// shut closes what is open; the lock comes last.
func (q *Queue) shut() (err error) {
	q.closed.Do(func() {
		if q.db != nil {
			err = q.db.Close()
		}
		if q.lock != nil {
			err = errors.Join(err, q.lock.Close())
		}
	})
	return err
}
