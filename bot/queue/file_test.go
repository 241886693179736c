package queue_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/redraft-dev/redraft/bot/queue"
)

// TestBadFiles refuses every file that is no queue of ours, naming it and what to do, and leaves it as it was.
func TestBadFiles(t *testing.T) {
	made := func(t *testing.T, statement string) string {
		path := filepath.Join(t.TempDir(), "queue.db")
		end(t, begin(t, queue.Options{Path: path}))
		edit(t, path, statement)
		return path
	}
	for name, tt := range map[string]struct {
		path func(t *testing.T) string
		want string
	}{
		"no path":      {func(*testing.T) string { return "" }, "no path"},
		"a folder":     {func(t *testing.T) string { return t.TempDir() }, "is a directory"},
		"below a file": {func(t *testing.T) string { return filepath.Join(write(t, "x"), "queue.db") }, "not a directory"},
		"no SQLite":    {func(t *testing.T) string { return write(t, strings.Repeat("no database ", 1000)) }, "move it and its -wal and -shm away"},
		"torn":         {func(t *testing.T) string { return torn(t, made(t, "SELECT 1")) }, "move it and its -wal and -shm away"},
		"newer":        {func(t *testing.T) string { return made(t, "PRAGMA user_version = 99") }, "a newer redraft wrote it (schema 99."},
		"newer River": {func(t *testing.T) string {
			return made(t, "INSERT INTO river_migration (line, version) VALUES ('main', 999)")
		}, ".999, this one knows"},
		"another program": {func(t *testing.T) string { return foreign(t, "CREATE TABLE songs (name TEXT)") }, "another program's database"},
		"another mark":    {func(t *testing.T) string { return foreign(t, "PRAGMA application_id = 7") }, "another program's database"},
	} {
		t.Run(name, func(t *testing.T) {
			path := tt.path(t)
			before, _ := os.ReadFile(path)
			q, err := queue.Open(t.Context(), queue.Options{Path: path})
			if err == nil {
				end(t, q)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), strings.TrimSuffix(path, "/queue.db")) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q and the path", err, tt.want)
			}
			if after, _ := os.ReadFile(path); len(before) != len(after) {
				t.Errorf("%d bytes became %d", len(before), len(after))
			}
		})
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func foreign(t *testing.T, statement string) string {
	path := filepath.Join(t.TempDir(), "file")
	edit(t, path, statement)
	return path
}

// torn overwrites what comes after the first page.
func torn(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(text); i++ {
		text[i] = byte(i * 7)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func edit(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// TestOddPath opens a file whose name would mean something in an address, in a folder that is not there yet.
func TestOddPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b", "q?_pragma=x&y#%41;'\"é.db")
	q := begin(t, queue.Options{Path: path})
	receive(t, q, "d")
	for _, name := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		if fi, err := os.Stat(name); err != nil || fi.Mode() != 0o600 {
			t.Errorf("%s: got %v, %v, want a file for its owner alone", name, fi, err)
		}
	}
}

// TestUnwritable opens a queue as a user who may not write it.
func TestUnwritable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("REFUSED: only root can become another user")
	}
	dir, err := os.MkdirTemp("", "redraft-queue-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "queue.db")
	end(t, begin(t, queue.Options{Path: path}))
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(path, 0o444), os.Chmod(path+".lock", 0o666), os.Link(exe, filepath.Join(dir, "exe"))); err != nil {
		t.Skip("REFUSED: " + err.Error())
	}
	cmd := spawn(t, "open 0 "+path)
	cmd.Path, cmd.Dir = filepath.Join(dir, "exe"), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), path+": permission denied; the queue must be a file that this user may write") {
		t.Errorf("got %q, %v", out, err)
	}
}

var (
	limit   atomic.Int64 // pages that SQLite may fill in a file called full.db; none if zero
	pragmas sync.Map     // what the connection to a file called durable.db is set to
)

func init() {
	sqlite.RegisterConnectionHook(func(c sqlite.ExecQuerierContext, dsn string) error {
		switch {
		case strings.Contains(dsn, "full.db") && limit.Load() > 0:
			_, err := c.ExecContext(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", limit.Load()), nil)
			return err
		case strings.Contains(dsn, "durable.db"):
			for _, pragma := range []string{"synchronous", "journal_mode", "auto_vacuum"} {
				rows, err := c.QueryContext(context.Background(), "PRAGMA "+pragma, nil)
				if err != nil {
					return err
				}
				value := make([]driver.Value, 1)
				if err := errors.Join(rows.Next(value), rows.Close()); err != nil {
					return err
				}
				pragmas.Store(pragma, value[0])
			}
		}
		return nil
	})
}

// TestFullDisk fills the disk under a queue: what was acknowledged is kept, what is not stored is not acknowledged, and
// with space again the next process goes on.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	limit.Store(100)
	q := begin(t, queue.Options{Path: path})
	acknowledged := 0
	var full error
	for i := 0; full == nil && i < 100; i++ {
		if _, full = q.Receive(t.Context(), queue.Delivery{ID: fmt.Sprint(i), Event: "e", Payload: make([]byte, 20<<10)}); full == nil {
			acknowledged++
		}
	}
	if full == nil || !strings.Contains(full.Error(), path+": no space is left on its disk; free some: ") || acknowledged == 0 {
		t.Fatalf("got %v after %d", full, acknowledged)
	}
	if err := q.Ready(t.Context()); err == nil {
		// The row that Ready writes may still fit; a larger one does not.
		if err := q.Put(t.Context(), "x", make([]byte, 1<<20)); err == nil {
			t.Error("a full disk takes a value")
		}
	}
	end(t, q)
	limit.Store(0)
	q = begin(t, queue.Options{Path: path})
	run(t, q, queue.Handlers{})
	if s := idle(t, q); s.Deliveries != acknowledged {
		t.Errorf("got %+v, want %d deliveries", s, acknowledged)
	}
}

// TestDurable asks the connection that the queue itself uses what a commit waits for.
func TestDurable(t *testing.T) {
	begin(t, queue.Options{Path: filepath.Join(t.TempDir(), "durable.db")})
	for pragma, want := range map[string]any{"synchronous": int64(2), "journal_mode": "wal", "auto_vacuum": int64(2)} {
		if got, _ := pragmas.Load(pragma); got != want {
			t.Errorf("got %s %v, want %v", pragma, got, want)
		}
	}
}

// TestRaces has many callers do everything at once.
func TestRaces(t *testing.T) {
	q := begin(t, queue.Options{Jobs: 3, Retries: 1})
	run(t, q, queue.Handlers{
		Delivery: func(ctx context.Context, d queue.Delivery) error {
			return q.Note(ctx, d.ID, "job", "text")
		},
		Job: func(ctx context.Context, j queue.Job) error {
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Millisecond):
			}
			return errors.Join(q.Enter(ctx, j.ID, queue.Pinned, nil), context.Cause(ctx))
		},
	})
	var callers sync.WaitGroup
	var added notes
	for caller := range 4 {
		callers.Go(func() {
			for i := range 40 / slow {
				id, s, err := q.Submit(t.Context(), queue.Job{Key: fmt.Sprint(i % 3), Target: fmt.Sprint("t", i%2), Head: fmt.Sprint(caller % 2), Again: i%5 == 0})
				if err != nil {
					t.Error(err)
				} else if s == queue.Added || s == queue.Superseded {
					added.add("%s", id)
				}
				_, err1 := q.Receive(t.Context(), queue.Delivery{ID: fmt.Sprint(i), Event: "e"})
				_, err2 := q.Cancel(t.Context(), fmt.Sprint("t", i%2), fmt.Sprint(i%7), "stop")
				_, _, err3 := q.Job(t.Context(), id)
				if err := errors.Join(err1, err2, err3, q.Ready(t.Context()), q.Put(t.Context(), "n", []byte{1})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	if s := idle(t, q); s.Closed != len(added.all()) || s.Deliveries != 40/slow {
		t.Errorf("got %+v, want %d jobs closed and %d deliveries", s, len(added.all()), 40/slow)
	}
}

// FuzzNames stores under any id, key, target and head, and finds each under its own name alone.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"a", "\x00", "a\x00b", "\xff\xfe", "' OR 1=1 --", "%", "é\u202e", strings.Repeat("k", 5000)} {
		f.Add(s, s+"x", "{}")
		f.Add("x"+s, s, s)
	}
	q := begin(f, queue.Options{})
	n := 0
	f.Fuzz(func(t *testing.T, a, b, data string) {
		n++
		_, _, known, err := q.Delivery(t.Context(), a) // an earlier input may have had the id
		if err != nil {
			t.Error(err)
		}
		again, err := q.Receive(t.Context(), queue.Delivery{ID: a, Event: b, Payload: []byte(data)})
		d, _, ok, e := q.Delivery(t.Context(), a)
		if e != nil || ok != (known || err == nil) || err == nil && again != known || ok && !known && (d.ID != a || d.Event != b || string(d.Payload) != data) {
			t.Errorf("got %+v, %v, %v after %v, known before: %v", d, ok, e, err, known)
		}
		target := fmt.Sprint(b, n) // a new one each time
		id, s, err := q.Submit(t.Context(), queue.Job{Key: target, Target: target, Head: a, Args: []byte(data)})
		if err != nil {
			return
		}
		if _, err := fs.Stat(os.DirFS("/"), id); s != queue.Added || !fs.ValidPath(id) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %s, %q, %v", s, id, err)
		}
		j, ok, err := q.Last(t.Context(), target)
		if err != nil || !ok || j.ID != id || j.Key != target || j.Head != a || string(j.Args) != data {
			t.Errorf("got %+v, %v, %v", j, ok, err)
		}
		if n, err := q.Cancel(t.Context(), target, target, b); n != 1 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
	})
}
