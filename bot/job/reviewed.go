package job

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/redraft-dev/redraft/agent/plan"
)

// reviewed compares the checks of the root with those that the default branch's tree yields in the same way. The error
// is a *plan.Changed where they differ: then nothing is run, since a change cannot choose the command that judges it.
func (j Job) reviewed(root fs.FS, set plan.Set) error {
	if j.Reviewed == "" || j.Reviewed == j.Spec.Root {
		return nil
	}
	tree, err := j.Mirror.TreeFS(j.Reviewed)
	if err != nil {
		return fmt.Errorf("read the default branch: %w", err)
	}
	theirs, err := j.find(tree)
	var none *plan.NoCheck
	if err != nil && !errors.As(err, &none) { // none there: each is one that is not there
		return fmt.Errorf("find the checks of the default branch: %w", err)
	}
	theirs.Setup = set.Setup // both are the counting configuration's
	return plan.Reviewed(root, tree, set, theirs)
}
