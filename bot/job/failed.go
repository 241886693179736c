package job

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
)

// configured is the checks of the configuration that counts; where it has none, the step of the workflow that failed, if one
// is known; else what the root's own files make customary.
func (j Job) configured(root fs.FS) (plan.Set, error) {
	switch {
	case j.Config == nil:
		return plan.Find(root)
	case j.asStep():
		set, _, err := plan.FromFailed(root, j.Failed, runtime.GOOS)
		return set, err
	}
	return plan.FindWith(*j.Config, root)
}

// asStep says whether a step that failed is the check.
func (j Job) asStep() bool {
	return j.Command == "" && j.Config != nil && len(j.Config.Checks) == 0 && len(j.Failed) > 0
}

// chosen is the job with the one step that the root gives a command for: the default branch is asked for that very one.
func (j Job) chosen(root fs.FS) (Job, error) {
	if !j.asStep() {
		return j, nil
	}
	_, taken, err := plan.FromFailed(root, j.Failed, runtime.GOOS)
	j.Failed = []plan.Failed{taken}
	return j, err
}

// claimed is chosen for evidence that was made before, maybe on a machine of another kind: of the steps that failed the one whose
// command the receipt names. A receipt that names none of them is refused when it is admitted.
func (j Job) claimed(root fs.FS) Job {
	if !j.asStep() {
		return j
	}
	var receipt struct{ Fingerprint string }
	if b, err := os.ReadFile(filepath.Join(j.Evidence, proof.ReceiptFile)); err == nil {
		_ = json.Unmarshal(b, &receipt) // what cannot be read names none
	}
	for _, step := range j.Failed {
		one := j
		one.Failed = []plan.Failed{step}
		var none *plan.NoCheck
		if set, err := one.find(root); err == nil && set.Fingerprint == receipt.Fingerprint {
			return one
		} else if err != nil && !errors.As(err, &none) {
			return j // find says so again
		}
	}
	if one, err := j.chosen(root); err == nil {
		return one
	}
	return j
}
