package job

import (
	"context"
	"errors"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// trees are what a job is cut from the mirror; only root is always there.
type trees struct{ root, merge, base *worktree.Tree }

// cut cuts the root, and of a pull request its merge and its base. An error of the root's tree is the root's alone; one that
// cannot be merged has no merge. What was cut is to be closed, error or not.
func (j Job) cut(ctx context.Context) (t trees, err error) {
	if t.root, err = j.Mirror.Cut(ctx, j.Spec.Root); err != nil {
		return t, err
	}
	merge := j.Merge
	if merge == "" && j.Onto != "" {
		merge, err = j.Mirror.Merge(ctx, j.Onto, j.Spec.Root)
		if err != nil && !errors.Is(err, worktree.ErrConflict) && !errors.Is(err, worktree.ErrOldGit) {
			return t, err
		}
	}
	if t.merge, err = j.other(ctx, merge); err != nil {
		return t, err
	}
	t.base, err = j.other(ctx, j.Onto)
	return t, err
}

// other cuts a commit that is not the root. One that cannot be laid on this disk is done without.
func (j Job) other(ctx context.Context, sha string) (*worktree.Tree, error) {
	if sha == "" || sha == j.Spec.Root {
		return nil, nil
	}
	t, err := j.Mirror.Cut(ctx, sha)
	if errors.Is(err, worktree.ErrTree) {
		return nil, nil
	}
	return t, err
}

func (t trees) all() []*worktree.Tree { return []*worktree.Tree{t.root, t.merge, t.base} }

// close removes them; the start-up reaper takes what stays.
func (t trees) close(ctx context.Context) {
	for _, one := range t.all() {
		if one != nil {
			_ = one.Close(ctx)
		}
	}
}

// seal makes the copies that the repair process gets.
func (t trees) seal(ctx context.Context) (sealed trace.Trees, err error) {
	into := []*string{&sealed.Root, &sealed.Merge, &sealed.Base}
	for i, one := range t.all() {
		if one == nil {
			continue
		}
		if *into[i], err = one.Seal(ctx, "root"); err != nil {
			return sealed, err
		}
	}
	return sealed, nil
}
