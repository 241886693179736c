package plan

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Changed says that a tree is not judged by the commands of the default branch, and what differs. It ends a job: a
// change cannot choose the command that judges it.
type Changed struct {
	What []string // as in "the command of check \"unit\"", "ci/test.sh"; sorted
}

func (c *Changed) Error() string {
	return "not as on the default branch: " + strings.Join(c.What, ", ")
}

// Reviewed compares a set as it stands in a tree with the one that the default branch's tree yields in the same way: nil,
// or a *Changed. The same commands are to come from the same place and run the same scripts, byte for byte; of a
// package.json all but its lists of dependencies, since those are what a change is often about, as go.mod is.
func Reviewed(tree, defaultTree fs.FS, set, defaultSet Set) error {
	var what []string
	for _, c := range set.Checks {
		i := slices.IndexFunc(defaultSet.Checks, func(d Check) bool { return d.ID == c.ID })
		if i < 0 {
			what = append(what, fmt.Sprintf("check %q, which is not there", c.ID))
			continue
		}
		d := defaultSet.Checks[i]
		if !sameCommand(c, d) {
			what = append(what, fmt.Sprintf("the command of check %q", c.ID))
		}
		for _, name := range slices.Concat(c.Scripts, d.Scripts) {
			same, err := sameScript(tree, defaultTree, name)
			if err != nil {
				return fmt.Errorf("compare %s with the default branch: %w", name, err)
			}
			if !same {
				what = append(what, name)
			}
		}
	}
	if !slices.Equal(set.Setup, defaultSet.Setup) {
		what = append(what, "the setup commands")
	}
	if len(what) == 0 {
		return nil
	}
	slices.Sort(what)
	return &Changed{slices.Compact(what)}
}

// sameCommand compares all that decides what is run. Limits of time are the operator's.
func sameCommand(a, b Check) bool {
	a.Scripts, b.Scripts, a.Git, b.Git, a.Timeout, b.Timeout = nil, nil, false, false, 0, 0
	if a.Provenance == Workflow && b.Provenance == Workflow { // the same file is asked for, not the same line
		a.Source, _, _ = strings.Cut(a.Source, ": ")
		b.Source, _, _ = strings.Cut(b.Source, ": ")
		a.Line, b.Line = 0, 0
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func sameScript(tree, other fs.FS, name string) (bool, error) {
	a, err := blobID(tree, name)
	if err != nil {
		return false, err
	}
	b, err := blobID(other, name)
	if err != nil || a == b {
		return a == b, err
	}
	if path.Base(name) != "package.json" {
		return false, nil
	}
	x, okX := withoutDependencies(tree, name)
	y, okY := withoutDependencies(other, name)
	return okX && okY && x == y, nil
}

// withoutDependencies is a package.json without its lists of dependencies, in one spelling.
func withoutDependencies(tree fs.FS, name string) (string, bool) {
	b, err := readFile(tree, name, maxScriptSize+1)
	var keys map[string]json.RawMessage
	if err != nil || len(b) > maxScriptSize || json.Unmarshal(b, &keys) != nil {
		return "", false
	}
	for _, k := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
		delete(keys, k)
	}
	out, err := json.Marshal(keys) // sorts keys and takes blanks out
	return string(out), err == nil
}
