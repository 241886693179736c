package patch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// Fixed is what the project's own tool made of a protected file of the root: the one way in which such a file may change.
type Fixed struct {
	Tool string
	Sum  string // SHA-256 of the file's bytes afterwards, in hex
	Same bool   // the tool only lays text out: what it wrote has to be the same program
}

// fixes says whether a protected file may change to what a tool made of it. What is never openable, what the configuration
// protects by name, and the check's own scripts may not.
func (p Policy) fixes(name string) (Fixed, bool) {
	f, ok := p.Fixed[name]
	if !ok {
		return f, false
	}
	p.Allow = []string{globEscape(name)}
	_, shut := p.Protected(name)
	return f, !shut
}

// globEscape is a path as a glob that matches it alone.
func globEscape(name string) string {
	var out []byte
	for i := range len(name) {
		switch name[i] {
		case '*', '?', '[', ']', '{', '}', '\\':
			out = append(out, '\\')
		}
		out = append(out, name[i])
	}
	return string(out)
}

// exactly refuses what a change makes of a file that only a tool may change, when it is not the tool's text.
func (p Policy) exactly(f FileChange) *Slip {
	if _, protected := p.Protected(f.Path); !protected {
		return nil
	}
	fix, ok := p.fixes(f.Path)
	switch sum := sha256.Sum256(f.New); {
	case !ok: // refused by its name already
		return nil
	case f.Created || f.Deleted || hex.EncodeToString(sum[:]) != fix.Sum:
		return slip(IsProtected, about(f.Path), quote(f.Path)+" is protected, and this is not what "+fix.Tool+" writes there.", "Leave it to the tool.")
	case fix.Same && !sameProgram(f):
		return slip(IsProtected, about(f.Path), quote(f.Path)+" is protected, and "+fix.Tool+" changed more than its layout.", "Leave it as it is.")
	}
	return nil
}

// sameProgram says whether a change is one of layout alone. Where no grammar can tell it is not.
func sameProgram(f FileChange) bool {
	g, ok := syntax.For(f.Path)
	return ok && g.Same(f.Old, f.New)
}
