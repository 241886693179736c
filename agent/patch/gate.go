package patch

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// Gate checks a diff as it stands, structurally, and returns the change that it makes to root. It is the one
// gate: what Resolve returns has passed it, and proof.Admit asks it again. The error is a *Slip for a refusal.
func Gate(root fs.FS, diff []byte, policy Policy) (Change, error) {
	return newReader(root).gate(diff, policy)
}

func (r *reader) gate(diff []byte, policy Policy) (Change, error) {
	if n := int64(len(diff)); n > policy.bytes() {
		return Change{}, limit(about(""), "bytes", n, policy.bytes())
	}
	sections, err := readDiff(diff)
	if err != nil {
		return Change{}, err
	}
	if s := screen(sections, policy); s != nil {
		return Change{}, s
	}
	var change Change
	for _, sec := range sections {
		f, err := r.apply(sec)
		if err != nil {
			return Change{}, err
		}
		if s := policy.exactly(f); s != nil {
			return Change{}, s
		}
		change.Files = append(change.Files, f)
	}
	slices.SortFunc(change.Files, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return change, nil
}

// screen judges all that can be judged without the root: paths, protection, and how much it is.
func screen(sections []section, policy Policy) *Slip {
	for _, sec := range sections {
		if s := checkPath(sec.name); s != nil {
			return s
		}
	}
	lines := 0
	for _, sec := range sections {
		if s := policy.refuses(sec.name); s != nil {
			if _, ok := policy.fixes(sec.name); !ok {
				return s
			}
		}
		lines += sec.changed
	}
	if n := len(sections); n > policy.files() {
		return limit(about(""), "files", int64(n), int64(policy.files()))
	}
	if lines > policy.lines() {
		return limit(about(""), "changed lines", int64(lines), int64(policy.lines()))
	}
	return apart(sections)
}

// apart refuses two sections for one file, and for two files that one machine may take for one, or for a folder of
// the other.
func apart(sections []section) *Slip {
	seen := map[string]string{}
	for _, sec := range sections {
		folded := foldPath(sec.name)
		switch other, twice := seen[folded]; {
		case twice && other == sec.name:
			return slip(TwoEditsAFile, about(sec.name), "The diff has two parts for "+quote(sec.name)+".", "Give one part for each file.")
		case twice:
			return slip(Collision, about(sec.name), quote(sec.name)+" and "+quote(other)+" cannot be told apart on every machine.",
				"Use names that differ in more than case or invisible characters.")
		}
		seen[folded] = sec.name
	}
	for _, sec := range sections {
		for _, dir := range parents(foldPath(sec.name)) {
			if other, ok := seen[dir]; ok {
				return slip(Collision, about(sec.name), quote(other)+" would be a file and a folder.", "Use another name.")
			}
		}
	}
	return foldersApart(sections)
}

// foldersApart refuses new folders that one machine takes for one and another for two.
func foldersApart(sections []section) *Slip {
	spelled := map[string]string{}
	for _, sec := range sections {
		for _, dir := range parents(sec.name) {
			if other, ok := spelled[foldPath(dir)]; ok && other != dir {
				return slip(Collision, about(sec.name), "The folders "+quote(dir)+" and "+quote(other)+" cannot be told apart on every machine.",
					"Spell a folder in one way.")
			}
			spelled[foldPath(dir)] = dir
		}
	}
	return nil
}

// apply makes one section's change to the root's text, exactly where it says, and judges what comes out.
func (r *reader) apply(sec section) (FileChange, error) {
	f, err := r.lookup(sec.name)
	if err != nil {
		return FileChange{}, err
	}
	if s := fits(sec, f); s != nil {
		return FileChange{}, s
	}
	change := FileChange{Path: sec.name, Old: f.data, Created: sec.created, Deleted: sec.deleted, Mode: f.mode}
	if sec.created {
		change.Old, change.Mode = nil, 0o644
	}
	after, err := sec.applyTo(f.data)
	if err != nil {
		return FileChange{}, slip(NoFit, about(sec.name), "The diff does not fit "+quote(sec.name)+": "+quote(err.Error())+".",
			"Make it against the text as it stands, with exact lines and line numbers.")
	}
	if bytes.IndexByte(after, 0) >= 0 {
		return FileChange{}, slip(NotText, about(sec.name), "The diff makes "+quote(sec.name)+" binary.", "Write text only.")
	}
	if sec.deleted {
		if len(after) > 0 {
			return FileChange{}, slip(NoFit, about(sec.name), "The diff deletes "+quote(sec.name)+" but not all of its lines.", "Make it against the text as it stands.")
		}
		return change, nil
	}
	change.New = after
	if !sec.created && bytes.Equal(after, f.data) {
		return FileChange{}, slip(NothingChanged, about(sec.name), "The diff does not change "+quote(sec.name)+".", "Change the lines that are wrong.")
	}
	if known, ok := r.parsed[sec.name]; ok && bytes.Equal(known, after) {
		return change, nil
	}
	if s := parses(about(sec.name), f.data, after); s != nil {
		return FileChange{}, s
	}
	return change, nil
}

// fits holds what a section says about a file's being there against the root.
func fits(sec section, f file) *Slip {
	switch {
	case sec.created && f.exists:
		return slip(Exists, about(sec.name), "The diff creates "+quote(sec.name)+", which is there already.", "Change the existing file.")
	case !sec.created && !f.exists:
		return slip(UnknownFile, about(sec.name), "There is no file "+quote(sec.name)+".", "Name a file of the tree, or say that the file is new.")
	case sec.deleted && (sec.mode == "100755") != (f.mode&0o100 != 0):
		return slip(Mode, about(sec.name), "The diff deletes "+quote(sec.name)+" with another mode than it has.", "Leave modes as they are.")
	}
	return nil
}

// applyTo applies the section's hunks, every line of context compared to the byte.
func (sec section) applyTo(old []byte) ([]byte, error) {
	out := bytes.NewBuffer([]byte{})
	if sec.parsed == nil {
		if sec.deleted {
			return old, nil // of an empty file nothing is left; of any other this says that something is
		}
		return append([]byte{}, old...), nil
	}
	for _, f := range sec.parsed.TextFragments {
		if endsFile(f) && max(0, f.OldPosition-1)+f.OldLines != int64(len(splitLines(old))) {
			return nil, errors.New("a line without a newline is not the file's last")
		}
	}
	if err := gitdiff.Apply(out, bytes.NewReader(old), sec.parsed); err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	return out.Bytes(), nil
}

// endsFile says whether a hunk leaves a line without a newline.
func endsFile(f *gitdiff.TextFragment) bool {
	return slices.ContainsFunc(f.Lines, func(l gitdiff.Line) bool { return l.New() && l.NoEOL() })
}
