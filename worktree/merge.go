package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrConflict is returned for two commits that git cannot merge by itself.
	ErrConflict = errors.New("the two do not merge without a person")
	// ErrOldGit is returned where this machine's git cannot merge without a checkout.
	ErrOldGit = errors.New("git 2.38 or newer is needed")
)

// Merge makes the commit that a forge would make of a branch that goes onto another one: first parent onto, second root. It is
// made in the mirror alone, on no branch, and touches no checkout. The same two commits make the same one.
func (m *Mirror) Merge(ctx context.Context, onto, root string) (sha string, err error) {
	if sha, err = m.merge(ctx, onto, root); err != nil {
		return "", fmt.Errorf("merge %.8s onto %.8s: %w", root, onto, err)
	}
	return sha, nil
}

// merge goes through a git folder of its own over the mirror's objects, since the mirror's own attributes switch merging off.
func (m *Mirror) merge(ctx context.Context, onto, root string) (sha string, err error) {
	if err := errors.Join(checkSHA(onto), checkSHA(root)); err != nil {
		return "", err
	}
	if !atLeast(m.store.git.version, 2, 38) {
		return "", ErrOldGit
	}
	lock, err := m.lock(ctx, shared)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	c, err := m.store.claim(ctx, m.store.tmp(), owner{SHA: root, Repo: m.name})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, c.release()) }()
	bare := filepath.Join(c.dir, "merge.git")
	if err := m.beside(bare); err != nil {
		return "", err
	}
	msg := Message{Author: Person{"redraft", "redraft@users.noreply.github.com"}, When: time.Unix(0, 0)}
	run := func(args ...string) (string, error) {
		out, err := m.store.git.run(ctx, call{dir: bare, args: args, stdin: []byte("merge\n"), hold: []*os.File{lock},
			env: append([]string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(m.git, "objects")}, msg.environ()...)})
		line, _, _ := strings.Cut(string(out), "\n")
		return line, err
	}
	// Exit 1 is a conflict. https://git-scm.com/docs/git-merge-tree#_exit_status
	tree, err := run("merge-tree", "--write-tree", "--no-messages", onto, root)
	if exitCode(err) == 1 || err != nil && strings.Contains(err.Error(), "unrelated histories") {
		return "", ErrConflict
	}
	if err != nil {
		return "", err
	}
	return run("commit-tree", "-p", onto, "-p", root, "-F", "-", tree)
}

// beside makes a git folder at dir that has nothing but what the mirror knows of where its history ends.
func (m *Mirror) beside(dir string) error {
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	ends, err := os.ReadFile(filepath.Join(m.git, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := os.WriteFile(filepath.Join(dir, "shallow"), ends, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600)
}

// atLeast compares the first two numbers of a version.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a > major || a == major && b >= minor)
}
