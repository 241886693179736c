package queue

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/riverqueue/river/rivermigrate"
)

// application marks the file as ours ("rdrf"), so that no other program's database is ever written to.
const application = 0x72647266

// schemas are ours in order; PRAGMA user_version counts how many a file has. One that was released is never changed.
//
// A row's ticket is the id of the River job that stands for its next or present attempt. A job of ours has one while
// its turn has come: the unique index jobs_turn is what keeps the jobs of one target apart. Payloads lie apart, so that
// a change to a delivery does not write its payload again. Times are nanoseconds since 1970.
var schemas = []string{`
CREATE TABLE deliveries (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	id       TEXT NOT NULL UNIQUE,
	event    TEXT NOT NULL,
	received INTEGER NOT NULL,
	handled  INTEGER,
	failed   INTEGER NOT NULL DEFAULT 0,
	failures INTEGER NOT NULL DEFAULT 0,
	trouble  TEXT NOT NULL DEFAULT '',
	outcome  TEXT NOT NULL DEFAULT '',
	text     TEXT NOT NULL DEFAULT '',
	ticket   INTEGER
) STRICT;
CREATE INDEX deliveries_open ON deliveries (seq) WHERE handled IS NULL;
CREATE UNIQUE INDEX deliveries_ticket ON deliveries (ticket) WHERE ticket IS NOT NULL;
CREATE TABLE payloads (
	delivery INTEGER PRIMARY KEY,
	body     BLOB NOT NULL
) STRICT;
CREATE TABLE jobs (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT NOT NULL UNIQUE,
	key        TEXT NOT NULL,
	target     TEXT NOT NULL,
	head       TEXT NOT NULL,
	again      INTEGER NOT NULL,
	args       BLOB,
	state      TEXT NOT NULL,
	attempt    INTEGER NOT NULL DEFAULT 0,
	evidence   TEXT NOT NULL DEFAULT '',
	created    INTEGER NOT NULL,
	began      INTEGER,
	ended      INTEGER,
	end        BLOB,
	owner      TEXT NOT NULL DEFAULT '',
	until      INTEGER,
	failures   INTEGER NOT NULL DEFAULT 0,
	trouble    TEXT NOT NULL DEFAULT '',
	cancelled  INTEGER,
	why        TEXT NOT NULL DEFAULT '',
	superseded TEXT NOT NULL DEFAULT '',
	ticket     INTEGER
) STRICT;
CREATE UNIQUE INDEX jobs_key ON jobs (key) WHERE ended IS NULL AND cancelled IS NULL;
CREATE UNIQUE INDEX jobs_turn ON jobs (target) WHERE ticket IS NOT NULL;
CREATE UNIQUE INDEX jobs_ticket ON jobs (ticket) WHERE ticket IS NOT NULL;
CREATE INDEX jobs_open ON jobs (target, seq) WHERE ended IS NULL;
CREATE INDEX jobs_head ON jobs (key, head, seq);
CREATE INDEX jobs_target ON jobs (target, seq);
CREATE TABLE transitions (
	job     INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	state   TEXT NOT NULL,
	at      INTEGER NOT NULL,
	data    BLOB,
	PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE kept (
	name  TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT;
`}

// migrate brings the file to what this program knows: River's tables first, then ours, all in one transaction.
func (q *Queue) migrate(ctx context.Context) error {
	return q.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		version, err := q.version(ctx, tx)
		if err != nil {
			return err
		}
		m, err := rivermigrate.New(q.driver, &rivermigrate.Config{Logger: q.river()})
		if err != nil {
			return err
		}
		known := m.AllVersions()
		theirs, err := rivers(ctx, tx)
		if err != nil {
			return err
		}
		if version > len(schemas) || theirs > known[len(known)-1].Version {
			return fmt.Errorf("%s: a newer redraft wrote it (schema %d.%d, this one knows %d.%d); use that one, or another file",
				q.o.Path, version, theirs, len(schemas), known[len(known)-1].Version)
		}
		if theirs < known[len(known)-1].Version {
			//lint:ignore SA1019 River's tables and ours appear together or not at all; its SQLite migrations can share a transaction.
			if _, err := m.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil); err != nil {
				return err
			}
		}
		for _, s := range schemas[version:] {
			if _, err := tx.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(schemas)))
		return err
	})
}

// version is how many of our schemas the file has; a file that is neither empty nor ours is an error.
func (q *Queue) version(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var app, tables int
	for _, ask := range []struct {
		query string
		into  *int
	}{
		{"PRAGMA application_id", &app},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := tx.QueryRowContext(ctx, ask.query).Scan(ask.into); err != nil {
			return 0, err
		}
	}
	if app != application && (tables > 0 || app != 0) {
		return 0, fmt.Errorf("%s: another program's database; name another file", q.o.Path)
	}
	return version, nil
}

// rivers is the newest of River's migrations that the file has; 0 when it has none.
func rivers(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var there bool
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'river_migration'").Scan(&there); err != nil || !there {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM river_migration").Scan(&version)
	return version, err
}
