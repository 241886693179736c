package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// ErrTree is returned for a commit whose tree cannot be laid on this disk: git takes one of its names for .git, or two of them
// for one, or it is too deep, or a name too long. Nothing is wrong with the machine.
var ErrTree = errors.New("the tree cannot be laid on this disk")

const closeTime = 10 * time.Second // waited for a mirror's lock

// Tree is a commit's files on disk, cut from a mirror. Only the host looks at it; what runs gets sealed copies.
type Tree struct {
	Dir    string            // the checkout
	SHA    string            // its commit
	TreeID string            // git's name of the commit's tree, as its files make it today; see describe of trees of long ago
	Links  map[string]string // path of each submodule -> its commit; the folder itself is empty

	mirror *Mirror
	claim  *claim
	book   string // the mirror's record of the checkout
	once   sync.Once
	closed error
}

// Cut checks a commit out into a new folder of the store. The files are the commit's blobs byte for byte: no line
// ending, keyword or filter is applied. Close it, or the next Open of the store does once this process is gone.
func (m *Mirror) Cut(ctx context.Context, sha string) (*Tree, error) {
	t, err := m.cut(ctx, sha)
	if err != nil {
		return nil, fmt.Errorf("cut %.8s: %w", sha, err)
	}
	return t, nil
}

func (m *Mirror) cut(ctx context.Context, sha string) (*Tree, error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	t := &Tree{SHA: sha, mirror: m}
	if err := errors.Join(context.Cause(ctx), t.describe()); err != nil {
		return nil, err
	}
	c, err := m.store.claim(ctx, m.store.trees(), owner{SHA: sha, Repo: m.name})
	if err != nil {
		return nil, err
	}
	t.claim, t.Dir = c, filepath.Join(c.dir, "view")
	if err := t.checkout(ctx); err != nil {
		return nil, errors.Join(err, t.Close(ctx))
	}
	return t, nil
}

// describe finds the tree's name and its submodules.
func (t *Tree) describe() error {
	tree, err := t.mirror.treeFS(t.SHA)
	if err != nil {
		return err
	}
	d, err := tree.describe(t.mirror.store.folds())
	t.TreeID, t.Links = d.name.String(), d.links
	return err
}

func (t *Tree) checkout(ctx context.Context) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	lock, err := t.mirror.lock(ctx, shared)
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = t.mirror.store.git.run(ctx, call{
		dir:    t.book,
		work:   t.Dir,
		args:   []string{"read-tree", "--reset", "-u", t.SHA},
		config: [][2]string{{"checkout.workers", "0"}},
		hold:   []*os.File{lock, t.claim.lock},
	})
	var g *gitError
	if errors.As(err, &g) && (strings.Contains(g.said, "invalid path") || strings.Contains(g.said, "File name too long")) {
		return fmt.Errorf("%w: %w", ErrTree, err)
	}
	return err
}

// enter puts the checkout into the mirror's books, still empty. It holds the lock alone: git reads the books of all
// checkouts whenever it makes one, and fails on a book that is half written or half removed.
func (t *Tree) enter(ctx context.Context) error {
	lock, err := t.mirror.lock(ctx, exclusive)
	if err != nil {
		return err
	}
	defer lock.Close()
	_, err = t.mirror.store.git.run(ctx, call{
		dir:  t.mirror.git,
		args: []string{"worktree", "add", "--quiet", "--detach", "--no-checkout", "--end-of-options", t.Dir, t.SHA},
		hold: []*os.File{lock, t.claim.lock},
	})
	// Read at once, and never again: what is in the folder later is not to be believed.
	t.book, _ = dotGit(t.Dir)
	if err == nil && filepath.Dir(t.book) != filepath.Join(t.mirror.git, "worktrees") {
		err = fmt.Errorf("git put the record of %s at %q", t.Dir, t.book)
	}
	if err != nil { // cut short, git may have begun a book that the tree does not name yet
		err = errors.Join(err, closeBooks(t.mirror.git))
	}
	return err
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Seal copies the tree without its .git to a folder of that name beside it, which lives as long as the tree.
func (t *Tree) Seal(ctx context.Context, name string) (string, error) {
	if !nameForm.MatchString(name) || name == filepath.Base(t.Dir) || name == ownerFile {
		return "", fmt.Errorf("seal %.8s: %.80q cannot name a copy", t.SHA, name)
	}
	dst := filepath.Join(t.claim.dir, name)
	if _, err := CopySealed(ctx, t.Dir, dst); err != nil {
		return "", fmt.Errorf("seal %.8s: %w", t.SHA, err)
	}
	return dst, nil
}

// Close removes the tree and its sealed copies, whatever was done to them and even when ctx has ended. A second call
// returns what the first did.
func (t *Tree) Close(ctx context.Context) error {
	t.once.Do(func() {
		if err := t.close(context.WithoutCancel(ctx)); err != nil {
			t.closed = fmt.Errorf("remove tree %.8s: %w", t.SHA, err)
		}
	})
	return t.closed
}

func (t *Tree) close(ctx context.Context) error {
	return errors.Join(t.leave(ctx), t.claim.release())
}

// leave takes the checkout out of the mirror's books. Where somebody is at work for long it leaves that to whoever
// heals the mirror next, and finds a record without a tree.
func (t *Tree) leave(ctx context.Context) error {
	if filepath.Dir(t.book) != filepath.Join(t.mirror.git, "worktrees") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	lock, err := t.mirror.lock(ctx, exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return removeAll(t.book)
}
