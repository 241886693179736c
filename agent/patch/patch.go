// Package patch turns a model's answer into addressed edits and lands them byte for byte on a tree: parse,
// gate, resolve, diff. It leaves running checks and talking to models to others. Every address resolves
// against the root's text, one refusal voids the whole set, and no byte outside an address is retyped.
package patch

import (
	"fmt"
	"io/fs"
)

// Edit is one addressed edit as a model wrote it.
type Edit struct {
	File string // path relative to the tree, forward slashes, as written
	Addr string // "*", "+name", "C.+name", "+C.name", "L3-L9", "+L4", "name", "C.name"; Fit when Old is the address
	Body []byte // text between the fences, without the header line; ends in a newline unless empty
	Line int    // line of the answer where it begins, from 1
	Old  []byte // with Fit: the whole lines to be replaced, which must stand in the file exactly once
}

// Fit is the address of edits that are spelled as SEARCH/REPLACE blocks or as hunks of a diff: they land where
// their old text fits.
const Fit = "?"

// Set is the edits of one answer, in its order.
type Set []Edit

// Policy bounds what a set may touch. The zero Policy is the default protection with the default limits.
type Policy struct {
	Protect []string // further protected globs (doublestar), beyond the defaults
	Allow   []string // single paths or globs opened from the default protection; what is never openable stays shut
	Oracle  []string // script files that the check's command executes: protected
	Files   int      // 50 if zero
	Lines   int      // changed lines, 2000 if zero
	Bytes   int64    // of the diff, 512 KiB if zero
	// Unseen are the lines of a file that the proposer was not shown: Resolve refuses edits that replace them.
	// Gate, which sees diffs and not addresses, does not look at it.
	Unseen map[string][]Lines
	// Fixed are the protected files that may change all the same, each to one text. It comes from what the oracle saw the
	// project's own tools write on the root, never from a proposer.
	Fixed map[string]Fixed
}

// Lines are lines First to Last of a text, from 1.
type Lines struct{ First, Last int }

func (p Policy) files() int   { return orDefault(p.Files, 50) }
func (p Policy) lines() int   { return orDefault(p.Lines, 2000) }
func (p Policy) bytes() int64 { return orDefault(p.Bytes, 512<<10) }

func orDefault[T int | int64](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

// Change is a set of files that differ from the root, ready to be written.
type Change struct{ Files []FileChange } // sorted by Path

// FileChange is one file's old and new bytes.
type FileChange struct {
	Path    string
	Old     []byte // nil when Created
	New     []byte // nil when Deleted
	Created bool
	Deleted bool
	Mode    fs.FileMode // of the old file, or 0644
}

// Landing says where one edit landed, for people: "cart.py Cart.total L4-L13 [1 of 10 lines rewritten]".
type Landing struct {
	File, Addr       string
	First, Last      int // lines of the root's text, from 1; Last is First-1 for an insertion before First
	Rewritten, Total int // of the lines that the address owns; both 0 for an insertion
	Added            int // lines beyond those that were rewritten
}

func (l Landing) String() string {
	where, what := fmt.Sprintf("L%d-L%d", l.First, l.Last), fmt.Sprintf("%d of %d lines rewritten", l.Rewritten, l.Total)
	switch {
	case l.Last < l.First:
		where, what = fmt.Sprintf("L%d", l.First), count(l.Added, "line")+" added"
	case l.Added > 0:
		what += fmt.Sprintf(", %d added", l.Added)
	}
	if l.Addr == where {
		return fmt.Sprintf("%s %s [%s]", l.File, l.Addr, what)
	}
	return fmt.Sprintf("%s %s %s [%s]", l.File, l.Addr, where, what)
}

// count is a number with its noun, as in "1 line" or "3 lines".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
