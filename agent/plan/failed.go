package plan

import (
	"errors"
	"io/fs"
)

// Failed is a step of a workflow that failed, as a forge tells it.
type Failed struct {
	File string `json:"file"` // the workflow's, below the tree
	At
}

// FromFailed is the check that one of several failed steps is: of those that give a command the first whose runner has the
// operating system goos, else the first. It comes with the step that was taken. Where none gives a command the error is the
// first one's *Unplanned; of no steps it is a *NoCheck.
func FromFailed(tree fs.FS, steps []Failed, goos string) (set Set, taken Failed, err error) {
	err = &NoCheck{"no step of a workflow is known to have failed"}
	found := false
	for i, s := range steps {
		one, at, no := fromFailed(tree, s)
		var none *NoCheck
		switch {
		case no != nil && !errors.As(no, &none):
			return Set{}, Failed{}, no
		case no != nil && i == 0:
			err = no
		case no == nil && at == goos:
			return one, s, nil
		case no == nil && !found:
			set, taken, found = one, s, true
		}
	}
	if found {
		err = nil
	}
	return set, taken, err
}

func fromFailed(tree fs.FS, s Failed) (Set, string, error) {
	w, err := readFlow(tree, s.File, s.At)
	if err != nil {
		return Set{}, "", err
	}
	return w.set()
}
