// Package patch turns a model's answer into addressed edits and lands them byte for byte on a tree: parse,
// gate, resolve, diff. It leaves running checks and talking to models to others. Every address resolves
// against the root's text, one refusal voids the whole set, and no byte outside an address is retyped.
package patch

import (
	"io/fs"
	"os"
)

// Edit is one addressed edit as a model wrote it.
type Edit struct {
	File string // path relative to the tree, forward slashes, as written
	Addr string // "*", "+name", "C.+name", "+C.name", "L3-L9", "+L4", "name", "C.name"
	Body []byte // text between the fences, without the header line; ends in a newline unless empty
	Line int    // line of the answer where it begins, from 1
}

// Set is the edits of one answer, in its order.
type Set []Edit

// Slip is the model's mistake: refused, with a remedy in one sentence. It is told to the model, never to the log.
type Slip struct {
	Code   string `json:"code"` // closed list: no_edit, protected, escapes, not_text, unknown_file, two_edits_a_file, … see slip.go
	File   string `json:"file,omitempty"`
	Addr   string `json:"addr,omitempty"`
	Text   string `json:"text"`   // what was wrong
	Remedy string `json:"remedy"` // what to do instead
}

func (s *Slip) Error() string { return s.Text + " " + s.Remedy }

// Policy bounds what a set may touch. The zero Policy is the default protection with the default limits.
type Policy struct {
	Protect []string // further protected globs (doublestar), beyond the defaults
	Allow   []string // single paths or globs opened from the default protection; what is never openable stays shut
	Oracle  []string // script files that the check's command executes: protected
	Files   int      // 50 if zero
	Lines   int      // changed lines, 2000 if zero
	Bytes   int64    // 512 KiB if zero
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
	First, Last      int // lines of the root's text, from 1
	Rewritten, Total int
}

// Parse finds the edits of an answer. Of several edits those that parse are taken; the others are slips. No
// edit at all is one slip, no_edit.
func Parse(answer string) (Set, []*Slip) { panic("stub") }

// Merge lays later over earlier: an edit of the same file and address replaces the earlier one, the others stay.
func Merge(earlier, later Set) Set { panic("stub") }

// Resolve lands a set on the root's text without writing anything. The error is a *Slip when the model is at fault.
func Resolve(root fs.FS, set Set, policy Policy) (Change, []Landing, error) { panic("stub") }

// Protected says whether a path may not be touched, and why, in words for people.
func (p Policy) Protected(path string) (why string, protected bool) { panic("stub") }

// Gate checks a diff as it stands, structurally, and returns the change that it makes to root. It is the one
// gate: what Resolve returns has passed it, and proof.Admit asks it again. The error is a *Slip for a refusal.
func Gate(root fs.FS, diff []byte, policy Policy) (Change, error) { panic("stub") }

// Diff is the change as git would write it, with a/ and b/ prefixes, applicable by Gate and by git apply.
func (c Change) Diff() []byte { panic("stub") }

// Write writes the change below dir through an os.Root, each file whole and atomically. dir must hold the root's text.
func (c Change) Write(dir *os.Root) error { panic("stub") }

// Overlay is root with the change applied, in memory.
func (c Change) Overlay(root fs.FS) fs.FS { panic("stub") }

// TreeID is git's id of the tree that a directory holds (SHA-1), computed in-process: regular files, the
// executable bit, symbolic links; empty directories and .git are left out. links maps paths of submodules to
// their commits.
func TreeID(fsys fs.FS, links map[string]string) (string, error) { panic("stub") }

// Class is the risk of a change, R0 to R3 (spec: R0 configuration and pins, R1 small source change, R2 public API,
// dependencies, migrations, R3 tests, oracle, CI).
type Class int

// Risk classifies a change.
func (c Change) Risk(root fs.FS, policy Policy) Class { panic("stub") }

func (c Class) String() string { return [...]string{"R0", "R1", "R2", "R3"}[c] }
