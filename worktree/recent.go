package worktree

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Touch is one place that a commit changed, at the lines where it stands in a later commit. What that one has no more is no touch.
type Touch struct {
	File        string
	First, Last int // from 1; around a deletion, the lines before and after it
	Commit      string
	When        time.Time
	Text        string // of the commit
	Diff        string // of the place: a hunk, with one line around it
}

// bounds of a look at recent commits.
const (
	maxCommitDiff = 16 << 20 // bytes; at a longer one the look ends, since lines cannot be followed through it
	maxTouchDiff  = 2 << 10  // bytes of a hunk that are kept, at a line
)

// Recent is what the last n commits that lead to a commit changed, along first parents, newest first. It ends early where the
// history does, at a commit that changes more than can be looked at, and when the diffs are longer than a number of bytes.
func (m *Mirror) Recent(ctx context.Context, sha string, n, most int) ([]Touch, error) {
	return m.store.git.recent(ctx, m.git, sha, n, most)
}

// Recent is the same of the commit that a checkout stands at. Files that differ from that commit have other lines.
func Recent(ctx context.Context, git *Git, repo Repo, n, most int) ([]Touch, error) {
	return git.recent(ctx, repo.CommonDir, repo.Head, n, most)
}

func (g *Git) recent(ctx context.Context, dir, sha string, n, most int) (all []Touch, err error) {
	if err := checkSHA(sha); err != nil {
		return nil, err
	}
	repo, err := gogit.PlainOpen(dir)
	if err != nil {
		return nil, fmt.Errorf("recent changes of %.8s: %w", sha, err)
	}
	newer := later{}
	for h := plumbing.NewHash(sha); n > 0 && ctx.Err() == nil; n-- {
		c, err := repo.CommitObject(h)
		if err != nil || len(c.ParentHashes) == 0 { // a first commit changed everything, which says nothing
			break
		}
		h = c.ParentHashes[0]
		diff, err := g.run(ctx, call{dir: dir, most: maxCommitDiff, args: []string{
			"diff-tree", "-r", "-p", "-U1", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--text", "--diff-algorithm=histogram", h.String(), c.Hash.String(),
		}})
		if err != nil { // the parent is not here, or there is too much
			break
		}
		files, _, err := gitdiff.Parse(bytes.NewReader(diff))
		if err != nil {
			break
		}
		for _, t := range newer.touches(files, c) {
			if most -= len(t.Diff); most < 0 {
				return all, nil
			}
			all = append(all, t)
		}
	}
	return all, context.Cause(ctx)
}

// later is what newer commits did to each file, the newest first.
type later map[string][][]*gitdiff.TextFragment

// touches are the places that a commit changed and that are still there. It then counts as newer itself.
func (l later) touches(files []*gitdiff.File, c *object.Commit) (all []Touch) {
	for _, f := range files {
		name := f.NewName
		if f.IsDelete || name == "" {
			continue
		}
		for _, part := range f.TextFragments {
			first, last, ok := l.now(name, changed(part))
			if ok && text(part) {
				all = append(all, Touch{File: name, First: first, Last: last, Commit: c.Hash.String(), When: c.Committer.When, Text: c.Message, Diff: hunk(part)})
			}
		}
	}
	for _, f := range files {
		name := cmp.Or(f.NewName, f.OldName) // the old one of what it deletes
		l[name] = append(l[name], f.TextFragments)
	}
	return all
}

// text says whether a fragment is of a text: git is told to take all for one, since a mirror's attributes call all binary.
func text(part *gitdiff.TextFragment) bool {
	return !slices.ContainsFunc(part.Lines, func(l gitdiff.Line) bool { return strings.ContainsRune(l.Line, 0) })
}

// changed is the lines of a fragment that are new, or those around what it only deletes.
func changed(part *gitdiff.TextFragment) (lines []int) {
	at := int(part.NewPosition)
	var around []int
	for _, l := range part.Lines {
		if l.Op == gitdiff.OpAdd {
			lines = append(lines, at)
		}
		if l.New() {
			around = append(around, at)
			at++
		}
	}
	if len(lines) == 0 {
		return around
	}
	return lines
}

// now is where lines of a file stand after the newer commits, and whether any of them does.
func (l later) now(name string, lines []int) (first, last int, ok bool) {
	for _, at := range lines {
		there := true
		for i := len(l[name]) - 1; i >= 0 && there; i-- {
			at, there = follow(l[name][i], at)
		}
		if there && !ok {
			first, ok = at, true
		}
		if there {
			last = at
		}
	}
	return first, last, ok
}

// follow is where a line stands after one commit more, and whether it still does.
func follow(parts []*gitdiff.TextFragment, line int) (int, bool) {
	moved := 0
	for _, part := range parts {
		if line < int(part.OldPosition) {
			break
		}
		if line >= int(part.OldPosition+part.OldLines) {
			moved = int(part.NewPosition+part.NewLines) - int(part.OldPosition+part.OldLines)
			continue
		}
		return within(part, line)
	}
	return line + moved, true
}

// within follows a line through the fragment that it stands in.
func within(part *gitdiff.TextFragment, line int) (int, bool) {
	old, at := int(part.OldPosition), int(part.NewPosition)
	for _, l := range part.Lines {
		if l.Op != gitdiff.OpAdd && old == line {
			return at, l.Op == gitdiff.OpContext
		}
		if l.Old() {
			old++
		}
		if l.New() {
			at++
		}
	}
	return 0, false
}

// hunk is a fragment's text, cut at a line.
func hunk(part *gitdiff.TextFragment) string {
	var b strings.Builder
	for i, l := range part.Lines {
		if b.Len()+len(l.Line) > maxTouchDiff {
			fmt.Fprintf(&b, "[… %d lines more …]\n", len(part.Lines)-i)
			break
		}
		b.WriteString(l.Op.String() + strings.TrimSuffix(l.Line, "\n") + "\n")
	}
	return b.String()
}

// Same says of files of a checkout whether they are on the disk as the commit it stands at has them, to the byte.
func Same(repo Repo) func(file string) bool {
	known := map[string]bool{}
	tree, err := treeAt(repo.CommonDir, repo.Head)
	return func(file string) bool {
		if is, asked := known[file]; asked || err != nil {
			return is
		}
		name := filepath.Join(repo.Dir, filepath.FromSlash(file))
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			want, err1 := tree.ReadFile(file)
			got, err2 := os.ReadFile(name)
			known[file] = err1 == nil && err2 == nil && bytes.Equal(want, got)
		}
		return known[file]
	}
}
