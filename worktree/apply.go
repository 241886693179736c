package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotClean is returned when a checkout is not as the commit expects it; nothing was written then.
var ErrNotClean = errors.New("the checkout is not ready for it")

// ApplyToCheckout brings sha, which Deliver has brought to the repository, into the checkout: its files, its index and
// the branch that it is on. It does so only where nothing can be lost: HEAD is still repo.Head and sha follows it, no
// tracked file differs, no untracked file is in the way, no merge or rebase is under way, and none of the changed files
// goes through a filter. Otherwise it returns an ErrNotClean that says how a person can do it.
func (s *Store) ApplyToCheckout(ctx context.Context, repo Repo, sha string) error {
	if err := s.apply(ctx, repo, sha); err != nil {
		return fmt.Errorf("apply %.8s to %s: %w", sha, repo.Dir, err)
	}
	return nil
}

func notClean(sha, why string) error {
	return fmt.Errorf("%w: %s; to do it by hand: git merge --ff-only %.12s", ErrNotClean, why, sha)
}

func (s *Store) apply(ctx context.Context, repo Repo, sha string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	now, err := s.Inspect(ctx, repo.Dir)
	if err != nil {
		return err
	}
	switch {
	case now.Head != repo.Head || now.Branch != repo.Branch:
		return notClean(sha, "HEAD has moved")
	case now.Changed > 0:
		return notClean(sha, fmt.Sprintf("%d tracked files are changed", now.Changed))
	}
	if why := underWay(now.GitDir); why != "" {
		return notClean(sha, why)
	}
	c, err := s.claim(ctx, s.tmp(), owner{SHA: sha, Repo: now.CommonDir})
	if err != nil {
		return err
	}
	p := place{top: now.Dir, gitDir: now.GitDir, common: now.CommonDir}
	return errors.Join(s.forward(ctx, p, now.Head, sha, c.dir), c.release())
}

// underWay names what git is in the middle of, or keeps in a way that is not handled here.
func underWay(gitDir string) string {
	for name, what := range map[string]string{
		"MERGE_HEAD": "a merge is under way", "CHERRY_PICK_HEAD": "a cherry-pick is under way", "REVERT_HEAD": "a revert is under way",
		"rebase-merge": "a rebase is under way", "rebase-apply": "a rebase is under way", "index.lock": "git is at work there (index.lock)",
	} {
		if _, err := os.Lstat(filepath.Join(gitDir, name)); err == nil {
			return what
		}
	}
	if shared, _ := filepath.Glob(filepath.Join(globQuote(gitDir), "sharedindex.*")); len(shared) > 0 {
		return "its index is split"
	}
	return ""
}

// forward moves files and index, then the branch: a kill between the two shows as staged changes, and loses nothing.
func (s *Store) forward(ctx context.Context, p place, head, sha, scratch string) error {
	if _, err := s.git.run(ctx, call{dir: p.gitDir, args: []string{"merge-base", "--is-ancestor", head, sha}}); err != nil {
		if exitCode(err) > 0 {
			return notClean(sha, fmt.Sprintf("it does not follow HEAD, %.8s", head))
		}
		return err
	}
	l, err := newLens(ctx, s.git, p, head, filepath.Join(scratch, "lens"))
	if err != nil {
		return err
	}
	l.index = filepath.Join(p.gitDir, "index")
	if l.value("core.sparsecheckout") == "true" {
		return notClean(sha, "the checkout is sparse")
	}
	if err := l.noFilters(ctx, head, sha); err != nil {
		return err
	}
	if err := l.nothingInTheWay(ctx, head, sha); err != nil {
		return err
	}
	if _, err := l.run(ctx, nil, "update-index", "-q", "--refresh"); err != nil && exitCode(err) < 0 {
		return err
	}
	if _, err := l.run(ctx, nil, "read-tree", "-m", "-u", head, sha); err != nil {
		if exitCode(err) > 0 {
			return notClean(sha, err.Error())
		}
		return err
	}
	_, err = s.git.run(ctx, call{dir: p.gitDir, args: []string{"update-ref", "-m", "redraft: fast-forward", "HEAD", sha, head},
		env: []string{"GIT_COMMITTER_NAME=redraft", "GIT_COMMITTER_EMAIL=redraft@localhost"}})
	return err
}

// noFilters refuses a commit that changes a file which a filter of the operator's stands before: without the
// filter the file on disk would be wrong, and with it a program would run.
func (l *lens) noFilters(ctx context.Context, head, sha string) error {
	changed, err := l.changed(ctx, head, sha)
	if err != nil {
		return err
	}
	out, err := l.run(ctx, changed, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	fields := bytes.Split(out, []byte{0}) // path, "filter", value, …
	for i := 2; i < len(fields); i += 3 {
		if v := string(fields[i]); v != "unspecified" && v != "unset" {
			return notClean(sha, fmt.Sprintf("%q goes through the filter %q", fields[i-2], v))
		}
	}
	return nil
}

func (l *lens) changed(ctx context.Context, head, sha string, flags ...string) ([]byte, error) {
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv"}
	return l.run(ctx, nil, append(append(args, flags...), head, sha)...)
}

// nothingInTheWay refuses a commit whose new files stand there already: git itself writes over an ignored one.
func (l *lens) nothingInTheWay(ctx context.Context, head, sha string) error {
	added, err := l.changed(ctx, head, sha, "--diff-filter=A")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(l.place.top)
	if err != nil {
		return err
	}
	defer root.Close()
	for name := range bytes.SplitSeq(bytes.TrimSuffix(added, []byte{0}), []byte{0}) {
		if len(name) == 0 {
			continue
		}
		if _, err := root.Lstat(string(name)); !errors.Is(err, fs.ErrNotExist) {
			return notClean(sha, fmt.Sprintf("%q is in the way and would be overwritten", name))
		}
	}
	return nil
}
