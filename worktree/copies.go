package worktree

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// Copies gives fresh copies of one folder, each at a path of its own. Use it by pointer; several goroutines may.
type Copies struct {
	From  string            // folder that is copied; never written to
	Into  string            // folder that the copies lie in; exists
	Links map[string]string // path of each submodule -> its commit, for Repository

	once  sync.Once
	token string // sets our numbers apart from those of an earlier process
	last  atomic.Int64

	packing sync.Once
	packed  *pack // of From, for Repository
	packErr error
}

// Fresh copies From to a new folder below Into, numbered and never given twice, after its removal neither. The
// returned function removes the copy, whatever was done to it and even when its ctx has ended; a second call does
// nothing.
func (c *Copies) Fresh(ctx context.Context) (dir string, close func(context.Context) error, err error) {
	c.once.Do(func() { c.token = rand.Text()[:8] })
	dir = filepath.Join(c.Into, fmt.Sprintf("%s-%06d", strings.ToLower(c.token), c.last.Add(1)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("fresh copy: %w", err)
	}
	if _, err := Copy(ctx, c.From, dir); err != nil {
		return "", nil, errors.Join(fmt.Errorf("fresh copy: %w", err), removeAll(dir))
	}
	return dir, func(context.Context) error { return removeAll(dir) }, nil
}
