package worktree

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A lock is a file that is flocked. The kernel gives it back when the last process that shares it is gone, so a
// lock that can be taken had no live owner, whatever killed it: no process numbers to compare, none to be reused, and
// right across containers that share the folder.

type kind int

const (
	shared    kind = unix.LOCK_SH
	exclusive kind = unix.LOCK_EX
)

// take locks the file at path, made if missing, and waits until ctx ends.
func take(ctx context.Context, path string, k kind) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if err = try(f, k); err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("wait for %s: %w", path, context.Cause(ctx))
		case <-time.After(wait):
		}
	}
	f.Close()
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// try locks f at once, or returns EWOULDBLOCK.
func try(f *os.File, k kind) error {
	for {
		err := unix.Flock(int(f.Fd()), int(k)|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// owner is what owner.json says, for people; the lock on the file is what counts.
type owner struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	SHA   string    `json:"sha,omitempty"`
	Repo  string    `json:"repo,omitempty"`
}

const ownerFile = "owner.json"

// claim is a folder that lives as long as its owner: removed by release, or by the next Open once the owner is dead.
type claim struct {
	dir  string
	lock *os.File // on owner.json
}

// claim makes a new folder below parent. It holds the store's guard meanwhile, so that a reaper never meets a folder
// whose owner has not come yet.
func (s *Store) claim(ctx context.Context, parent string, o owner) (*claim, error) {
	guard, err := take(ctx, s.guard(), exclusive)
	if err != nil {
		return nil, err
	}
	defer guard.Close()
	c := &claim{dir: filepath.Join(parent, newID())}
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return nil, err
	}
	if err := c.own(o); err != nil {
		return nil, errors.Join(err, removeAll(c.dir))
	}
	return c, nil
}

func (c *claim) own(o owner) error {
	f, err := os.OpenFile(filepath.Join(c.dir, ownerFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	c.lock = f
	o.PID, o.Since = os.Getpid(), time.Now().UTC()
	line, err := json.Marshal(o)
	if err == nil {
		err = try(f, exclusive)
	}
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if err != nil {
		f.Close()
	}
	return err
}

// release removes the folder, the owner file last, so that a reaper never takes up what we are still at.
func (c *claim) release() error {
	entries, err := os.ReadDir(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if e.Name() != ownerFile {
			err = errors.Join(err, removeAll(filepath.Join(c.dir, e.Name())))
		}
	}
	if err == nil {
		err = removeAll(c.dir)
	}
	return errors.Join(err, c.lock.Close())
}

// alive reports whether somebody holds the folder's owner file.
func alive(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, ownerFile), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(try(f, exclusive), unix.EWOULDBLOCK)
}

// orphaned reports whether the process that made the folder is gone, whoever still holds its lock.
func orphaned(dir string) bool {
	b, err := readSmall(filepath.Join(dir, ownerFile), 8<<10)
	if err != nil {
		return false
	}
	var o owner
	return json.Unmarshal(b, &o) == nil && o.PID > 0 && errors.Is(unix.Kill(o.PID, 0), unix.ESRCH)
}

// newID names a folder, sorted by time of making.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return time.Now().UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}
