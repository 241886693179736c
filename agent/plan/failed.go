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
		one, at, no := fromFailed(tree, s, goos)
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

// fromFailed is one of them, and the system of its runner. One that asks for a system that this machine does not have gives none.
func fromFailed(tree fs.FS, s Failed, goos string) (Set, string, error) {
	w, err := readFlow(tree, s.File, s.At)
	if err != nil {
		return Set{}, "", err
	}
	set, c, err := w.set()
	if err == nil && c.bound && c.os != goos {
		err = unplanned(BadRunner, c.os, "the step asks which system it runs on, which is %s there and %s here", c.os, goos)
	}
	return set, c.os, err
}
