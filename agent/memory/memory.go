// Package memory is what this machine remembers of repositories: how often each test ran and failed on each tree. It leaves
// seeing, judging and saying to others, and believes whoever calls it. Nothing of one repository is ever told of another:
// every question names its repository, and what was recorded under another name does not exist for it.
package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// FileName is the name of the memory's file in a state folder.
const FileName = "memory.db"

// bounds of what is kept and taken.
const (
	keepDays   = 180     // a tree that no job saw for so long is forgotten
	keepTrees  = 2000    // of one repository, the newest
	mostTests  = 200_000 // of one job; further ones are left out
	longestID  = 1000    // bytes of a test's id; a longer one is left out
	patienceMS = 15_000  // how long one statement waits for another process
)

const schema = `
CREATE TABLE IF NOT EXISTS trees (id INTEGER PRIMARY KEY, repo TEXT NOT NULL, tree TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (repo, tree));
CREATE TABLE IF NOT EXISTS tests (id INTEGER PRIMARY KEY, repo TEXT NOT NULL, test TEXT NOT NULL, UNIQUE (repo, test));
CREATE TABLE IF NOT EXISTS counts (test INTEGER NOT NULL, tree INTEGER NOT NULL, runs INTEGER NOT NULL, fails INTEGER NOT NULL, PRIMARY KEY (test, tree)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS counts_of_tree ON counts (tree);
CREATE TABLE IF NOT EXISTS jobs (repo TEXT NOT NULL, job TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (repo, job)) WITHOUT ROWID;
PRAGMA user_version = 1;`

// Memory is an open memory. Several goroutines and several processes may use one file.
type Memory struct{ db *sql.DB }

// Open opens the memory's file, made if missing and readable by nobody else.
func Open(ctx context.Context, file string) (*Memory, error) {
	m, err := open(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("open memory: %w", err)
	}
	return m, nil
}

func open(ctx context.Context, file string) (*Memory, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would make it readable by others
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", Path: file, RawQuery: fmt.Sprintf("_pragma=busy_timeout(%d)&_txlock=immediate", patienceMS)}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if version > 1 {
		return nil, errors.Join(fmt.Errorf("%s has version %d, this program reads 1", file, version), db.Close())
	}
	if version == 1 {
		return &Memory{db}, nil
	}
	if err := furnish(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Memory{db}, nil
}

// furnish makes the tables, in one transaction, since another process may be about the same.
func furnish(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	return tx.Commit()
}

// Close closes the file.
func (m *Memory) Close() error { return m.db.Close() }

// Count is how often something ran, and how often it failed of that.
type Count struct {
	Runs  int `json:"runs"`
	Fails int `json:"fails"`
}

// Seen is what the runs of one job showed on one tree.
type Seen struct {
	Repo  string // which repository, as nobody else names another; never empty
	Tree  string // tree id that the runs were made on
	Job   string // recorded once, however often it is told
	At    time.Time
	Tests map[string]Count // by test id
}

// Record adds a job's runs. One that was recorded already changes nothing.
func (m *Memory) Record(ctx context.Context, s Seen) error {
	if s.Repo == "" || s.Tree == "" || s.Job == "" {
		return errors.New("remember runs: repository, tree or job is not named")
	}
	tx, err := m.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("remember runs: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := record(ctx, tx, s); err != nil {
		return fmt.Errorf("remember runs: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("remember runs: %w", err)
	}
	return nil
}

func record(ctx context.Context, tx *sql.Tx, s Seen) error {
	at := s.At.Unix()
	res, err := tx.ExecContext(ctx, "INSERT INTO jobs (repo, job, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", s.Repo, s.Job, at)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	var tree int64
	err = tx.QueryRowContext(ctx, "INSERT INTO trees (repo, tree, at) VALUES (?, ?, ?) ON CONFLICT (repo, tree) DO UPDATE SET at = max(at, excluded.at) RETURNING id", s.Repo, s.Tree, at).Scan(&tree)
	if err != nil {
		return err
	}
	if err := count(ctx, tx, s, tree); err != nil {
		return err
	}
	return forget(ctx, tx, s.Repo, at)
}

// count adds the job's figures to those of the tree.
func count(ctx context.Context, tx *sql.Tx, s Seen, tree int64) error {
	test, err := tx.PrepareContext(ctx, "INSERT INTO tests (repo, test) VALUES (?, ?) ON CONFLICT (repo, test) DO UPDATE SET test = test RETURNING id")
	if err != nil {
		return err
	}
	defer test.Close()
	add, err := tx.PrepareContext(ctx, "INSERT INTO counts (test, tree, runs, fails) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, fails = fails + excluded.fails")
	if err != nil {
		return err
	}
	defer add.Close()
	n := 0
	for id, c := range s.Tests {
		if n++; n > mostTests {
			break
		}
		if len(id) > longestID || c.Runs < 1 || c.Fails < 0 || c.Fails > c.Runs {
			continue
		}
		var key int64
		if err := test.QueryRowContext(ctx, s.Repo, id).Scan(&key); err != nil {
			return err
		}
		if _, err := add.ExecContext(ctx, key, tree, c.Runs, c.Fails); err != nil {
			return err
		}
	}
	return nil
}

// forget drops the trees of a repository that are too old or too many, and what hung on them alone.
func forget(ctx context.Context, tx *sql.Tx, repo string, now int64) error {
	old := now - keepDays*24*3600
	for _, q := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM counts WHERE tree IN (SELECT id FROM trees WHERE repo = ?1 AND (at < ?2 OR id NOT IN (SELECT id FROM trees WHERE repo = ?1 ORDER BY at DESC, id DESC LIMIT ?3)))", []any{repo, old, keepTrees}},
		{"DELETE FROM trees WHERE repo = ?1 AND (at < ?2 OR id NOT IN (SELECT id FROM trees WHERE repo = ?1 ORDER BY at DESC, id DESC LIMIT ?3))", []any{repo, old, keepTrees}},
		{"DELETE FROM jobs WHERE repo = ?1 AND at < ?2", []any{repo, old}},
		{"DELETE FROM tests WHERE repo = ?1 AND NOT EXISTS (SELECT 1 FROM counts WHERE counts.test = tests.id)", []any{repo}},
	} {
		if _, err := tx.ExecContext(ctx, q.text, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// History is what is remembered of one test of one repository.
type History struct {
	Here   Count // on this very tree
	Others int   // other trees of the repository that it ran on
	Mixed  int   // of those, trees on which it both failed and passed
}

// Of is the history of a test on a tree; the zero History when nothing is remembered.
func (m *Memory) Of(ctx context.Context, repo, test, tree string) (History, error) {
	const q = `SELECT trees.tree = ?3, counts.runs, counts.fails FROM counts
	JOIN tests ON tests.id = counts.test JOIN trees ON trees.id = counts.tree
	WHERE tests.repo = ?1 AND tests.test = ?2 AND trees.repo = ?1`
	var h History
	rows, err := m.db.QueryContext(ctx, q, repo, test, tree)
	if err != nil {
		return h, fmt.Errorf("recall %s: %w", test, err)
	}
	defer rows.Close()
	for rows.Next() {
		var here bool
		var c Count
		if err := rows.Scan(&here, &c.Runs, &c.Fails); err != nil {
			return h, fmt.Errorf("recall %s: %w", test, err)
		}
		switch {
		case here:
			h.Here = c
			continue
		case c.Fails > 0 && c.Fails < c.Runs:
			h.Mixed++
		}
		h.Others++
	}
	if err := rows.Err(); err != nil {
		return h, fmt.Errorf("recall %s: %w", test, err)
	}
	return h, nil
}
