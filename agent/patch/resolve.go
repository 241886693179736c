package patch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Resolve lands a set on the root's text without writing anything. The error is a *Slip when the model is at
// fault. What it returns has passed Gate.
func Resolve(root fs.FS, set Set, policy Policy) (Change, []Landing, error) {
	if len(set) == 0 {
		return Change{}, nil, noEdit()
	}
	if s := admissible(set, policy); s != nil {
		return Change{}, nil, s
	}
	r := newReader(root)
	var change Change
	landings := make([]Landing, len(set))
	for _, name := range filesOf(set) {
		f, err := r.land(name, set, policy, landings)
		if err != nil {
			return Change{}, nil, err
		}
		if f != nil {
			change.Files = append(change.Files, *f)
		}
	}
	if len(change.Files) == 0 {
		return Change{}, nil, slip(NothingChanged, set[0], "The edit is what "+quote(set[0].File)+" says already; nothing changed.",
			"Change the lines that are wrong.")
	}
	if err := r.gated(change, policy); err != nil {
		return Change{}, nil, err
	}
	return change, landings, nil
}

// admissible judges paths before any coordinate: where they lead, and whether they may be touched.
func admissible(set Set, policy Policy) *Slip {
	for _, e := range set {
		if s := checkPath(strings.TrimPrefix(e.File, "./")); s != nil {
			s.Addr = e.Addr
			return s
		}
	}
	for _, e := range set {
		if s := policy.refuses(strings.TrimPrefix(e.File, "./")); s != nil {
			s.Addr = e.Addr
			return s
		}
	}
	if n := len(filesOf(set)); n > policy.files() {
		return limit(about(""), "files", int64(n), int64(policy.files()))
	}
	return nil
}

// refuses is the slip for a protected path, or nil.
func (p Policy) refuses(name string) *Slip {
	why, protected := p.Protected(name)
	if !protected {
		return nil
	}
	return slip(IsProtected, about(name), quote(name)+" is protected: "+why+".",
		"Leave it as it is and repair the program's own source instead.")
}

func limit(e Edit, what string, have, most int64) *Slip {
	return slip(Limit, e, fmt.Sprintf("The change has %d %s; at most %d are allowed.", have, what, most), "Make a smaller change.")
}

// filesOf gives the files of a set, each once, sorted.
func filesOf(set Set) []string {
	var names []string
	for _, e := range set {
		names = append(names, e.File)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// gated holds a change against the gate, which judges it as the diff that everybody else will see.
func (r *reader) gated(change Change, policy Policy) error {
	passed, err := r.gate(change.Diff(), policy)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(passed.Files, change.Files, sameChange) {
		return errors.New("resolve edits: the change and its diff say different things")
	}
	return nil
}

func sameChange(a, b FileChange) bool {
	return a.Path == b.Path && a.Created == b.Created && a.Deleted == b.Deleted && a.Mode == b.Mode &&
		bytes.Equal(a.Old, b.Old) && bytes.Equal(a.New, b.New)
}

// land lands all edits of one file. It returns nil when they change nothing.
func (r *reader) land(name string, set Set, policy Policy, landings []Landing) (*FileChange, error) {
	var edits []int
	for i, e := range set {
		if e.File == name {
			edits = append(edits, i)
		}
	}
	f, err := r.lookup(strings.TrimPrefix(name, "./"))
	if err != nil {
		return nil, located(err, set[edits[0]])
	}
	for _, i := range edits { // what is longer than the file and the limit together is over the limit as a diff, too
		if most := int64(len(f.data)) + policy.bytes(); int64(len(set[i].Body)) > most {
			return nil, limit(set[i], "bytes in one edit", int64(len(set[i].Body)), most)
		}
	}
	if !f.exists || name != strings.TrimPrefix(name, "./") {
		return r.landNew(set, edits, landings)
	}
	src := newSource(name, f.data)
	var pieces []piece
	for _, i := range edits {
		p, s := src.place(set[i])
		if s == nil {
			s = unseen(p, policy.Unseen[name])
		}
		if s != nil {
			return nil, s
		}
		p.index = i
		pieces = append(pieces, p)
	}
	after, err := src.splice(pieces)
	if err != nil {
		return nil, err
	}
	for _, p := range pieces {
		landings[p.index] = src.landing(p)
	}
	if bytes.Equal(after, f.data) {
		return nil, nil
	}
	if s := src.check(after, pieces); s != nil {
		return nil, s
	}
	r.parsed[name] = after
	return &FileChange{Path: name, Old: f.data, New: after, Mode: f.mode}, nil
}

// located adds an edit's address to a slip that knows only the file.
func located(err error, e Edit) error {
	var s *Slip
	if errors.As(err, &s) {
		s.Addr = e.Addr
	}
	return err
}

// landNew makes a new file from the one edit that says so.
func (r *reader) landNew(set Set, edits []int, landings []Landing) (*FileChange, error) {
	e := set[edits[0]]
	for _, i := range edits {
		if set[i].Addr != "*" || r.misspelled(e.File) {
			return nil, unknownFile(set[i], r.near(e.File))
		}
	}
	if len(edits) > 1 {
		return nil, slip(TwoEditsAFile, e, fmt.Sprintf("%d edits make the new file %s.", len(edits), quote(e.File)), "Give its text once.")
	}
	if len(bytes.TrimSpace(e.Body)) == 0 {
		return nil, slip(Empty, e, "The new file "+quote(e.File)+" is empty.", "Give the file's whole text.")
	}
	if s := checkText(e, e.Body); s != nil {
		return nil, s
	}
	if s := parses(e, nil, e.Body); s != nil {
		return nil, s
	}
	r.parsed[e.File] = e.Body
	landings[edits[0]] = Landing{File: e.File, Addr: e.Addr, First: 1, Last: 0, Added: len(splitLines(e.Body))}
	return &FileChange{Path: e.File, New: slices.Clone(e.Body), Created: true, Mode: 0o644}, nil
}

// misspelled says whether a path is that of an existing file behind a prefix that diffs and shells put there, and
// that is no folder of the tree.
func (r *reader) misspelled(name string) bool {
	prefix, rest, ok := strings.Cut(name, "/")
	if !ok || prefix != "." && prefix != "a" && prefix != "b" {
		return false
	}
	if f, err := r.folder(prefix); prefix != "." && (err != nil || len(f.entries) > 0) {
		return false
	}
	f, err := r.lookup(rest)
	return err != nil || f.exists || prefix == "."
}

func unknownFile(e Edit, near []string) *Slip {
	remedy := "To make a new file, give its whole text at the address `*`."
	if len(near) > 0 {
		remedy = "Did you mean " + quote(strings.Join(near, ", ")) + "? " + remedy
	}
	return slip(UnknownFile, e, "There is no file "+quote(e.File)+".", remedy)
}

// checkText refuses text that is none.
func checkText(e Edit, body []byte) *Slip {
	if bytes.IndexByte(body, 0) < 0 {
		return nil
	}
	return slip(NotText, e, "The text for "+e.place()+" has a NUL byte in it.", "Write text only.")
}

// unseen refuses a piece that replaces lines which the model was not shown. What names its old text itself has seen it.
func unseen(p piece, hidden []Lines) *Slip {
	if p.edit.Addr == Fit {
		return nil
	}
	first := p.first + p.kept
	for _, h := range hidden {
		if first > p.last || first > h.Last || h.First > p.last {
			continue
		}
		remedy := "Address only lines that you can see, as in `L3-L9`."
		if p.target != nil && h.Last < p.target.Head {
			remedy = "Leave the comment above it out of your answer: it stays as it is."
		}
		return slip(NotShown, p.edit, fmt.Sprintf("%s replaces lines %d to %d, which you were not shown.", p.edit.place(), max(first, h.First), min(p.last, h.Last)), remedy)
	}
	return nil
}

// splice puts the pieces into the text twice: whole, and narrowed to the lines that differ. Both must give the
// same bytes; only then is the narrow one an honest account of what changed.
func (s *source) splice(pieces []piece) ([]byte, error) {
	sorted := slices.Clone(pieces)
	slices.SortStableFunc(sorted, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	if err := overlapping(sorted); err != nil {
		return nil, err
	}
	var wide, narrow bytes.Buffer
	at := 0
	for _, p := range sorted {
		wide.Write(s.data[at:p.start])
		wide.Write(p.text)
		narrow.Write(s.data[at:p.start])
		narrow.Write(s.narrowed(p))
		at = p.end
	}
	wide.Write(s.data[at:])
	narrow.Write(s.data[at:])
	if !bytes.Equal(wide.Bytes(), narrow.Bytes()) {
		return nil, fmt.Errorf("land edits on %s: the narrow splice differs from the wide one", s.name)
	}
	return narrow.Bytes(), nil
}

// overlapping refuses pieces of which one begins before the one in front of it ends. Insertions at one point, and
// at a piece's edges, are no overlap: they land in the order of the answer.
func overlapping(sorted []piece) error {
	for i := 1; i < len(sorted); i++ {
		a, b := sorted[i-1], sorted[i]
		if b.start < a.end || b.start == a.start && b.end == a.end && a.end > a.start {
			return slip(Overlap, b.edit, b.edit.place()+" overlaps with "+a.edit.place()+".", "Join the two into one edit.")
		}
	}
	return nil
}

// narrowed is the piece's block with only those lines replaced that differ; the others are the root's own bytes.
func (s *source) narrowed(p piece) []byte {
	old, fresh := splitLines(s.data[p.start:p.end]), splitLines(p.text)
	var out bytes.Buffer
	at := 0
	for _, r := range diffLines(old, fresh) {
		for _, l := range old[at:r.From] {
			out.WriteString(l)
		}
		for _, l := range fresh[r.NewFrom:r.NewTo] {
			out.WriteString(l)
		}
		at = r.To
	}
	for _, l := range old[at:] {
		out.WriteString(l)
	}
	return out.Bytes()
}

// landing counts what a piece changed.
func (s *source) landing(p piece) Landing {
	l := Landing{File: s.name, Addr: p.addr.String(), First: p.first, Last: p.last}
	if p.addr.kind == fit {
		l.Addr = linesAddr(p.first, p.last)
	}
	old, fresh := splitLines(s.data[p.start:p.end]), splitLines(p.text)
	l.Total = len(old)
	for _, r := range diffLines(old, fresh) {
		l.Rewritten += r.To - r.From
		l.Added += max(0, (r.NewTo-r.NewFrom)-(r.To-r.From))
	}
	if p.added > 0 {
		l.Added = p.added
	}
	return l
}
