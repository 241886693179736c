package job

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/worktree"
)

// Branch is the end of a local job: one commit on a new branch of the operator's repository, nothing else.
type Branch struct {
	Mirror *worktree.Mirror
	Repo   string // the operator's repository, absolute
	Clean  *redact.Cleaner
}

// Will is the first free branch name for the proof's first finding.
func (b Branch) Will(ctx context.Context, p *proof.Proof) (string, error) {
	return b.Mirror.FreeBranch(ctx, b.Repo, "redraft/fix-"+Slug(p.Receipt()))
}

// Do commits the proved change on the root, checks that the commit's tree is the proved one, and brings the branch over.
func (b Branch) Do(ctx context.Context, p *proof.Proof, where string) (string, error) {
	if !p.Valid() {
		return "", errors.New("commit: there is no proof")
	}
	r := p.Receipt()
	sha, tree, err := b.Mirror.Commit(ctx, r.Root, Files(p), worktree.Message{
		Text: b.message(p), Author: worktree.Person{Name: "redraft", Email: "redraft@users.noreply.github.com"}, When: time.Now(),
	})
	if err != nil {
		return "", err
	}
	if tree != r.Tree {
		return "", fmt.Errorf("commit: the tree %.12s is not the proved %.12s", tree, r.Tree)
	}
	return sha, b.Mirror.Deliver(ctx, b.Repo, where, sha, "")
}

// Files are a proved change as a commit takes it.
func Files(p *proof.Proof) []worktree.File {
	var files []worktree.File
	for _, f := range p.Change().Files {
		mode := uint32(0o100644)
		if f.Mode&0o111 != 0 {
			mode = 0o100755
		}
		files = append(files, worktree.File{Path: f.Path, Data: f.New, Mode: mode, Deleted: f.Deleted})
	}
	return files
}

// message is the commit's: a title, what was proved, and trailers.
func (b Branch) message(p *proof.Proof) string {
	r := p.Receipt()
	var s strings.Builder
	fmt.Fprintf(&s, "redraft: %s\n\n", b.Clean.Markdown(Title(r)))
	fmt.Fprintf(&s, "`%s` was red %dx on %.12s and is green %dx with this change.\n\n", b.Clean.Markdown(r.Command), r.K, r.Root, r.K+1)
	fmt.Fprintf(&s, "Redraft-Run: %s\nRedraft-Model: %s\n", r.Job, b.Clean.Markdown(r.By))
	fmt.Fprintf(&s, "Redraft-Oracle: %s red@%.12s green@%.12s x%d\n", b.Clean.Markdown(strings.ReplaceAll(r.Command, "\n", " ; ")), r.Root, r.Tree, r.K)
	fmt.Fprintf(&s, "Redraft-Receipt: sha256:%s\n", p.ReceiptSum())
	return s.String()
}

// Title is what went green, in a few words.
func Title(r proof.Receipt) string {
	if !named(r) {
		return "`" + strings.ReplaceAll(r.Command, "\n", " ") + "` is green"
	}
	name := short(r.Findings[0])
	if len(r.Findings) == 1 {
		return name + " passes"
	}
	return fmt.Sprintf("%s and %d more pass", name, len(r.Findings)-1)
}

// testName is what stands after the import path in a Go finding's id; the path itself may hold dots.
var testName = regexp.MustCompile(`\.((?:Test|Example|Fuzz).*|\[[a-z]+\])$`)

// short is a finding's name without what it stands in: a package, a file, a suite; of a diagnostic its tool, rule and file.
func short(finding string) string {
	if m := testName.FindStringSubmatch(finding); m != nil {
		return m[1]
	}
	for _, mark := range []string{" > ", "::"} { // jest, vitest, mocha, node:test; pytest, cargo
		if i := strings.LastIndex(finding, mark); i >= 0 && i+len(mark) < len(finding) {
			return finding[i+len(mark):]
		}
	}
	if parts := strings.SplitN(finding, ":", 3); len(parts) == 3 && parts[2] != "" {
		return parts[0] + " " + parts[1] + " in " + path.Base(parts[2])
	}
	if i := strings.LastIndex(finding, "."); i >= 0 && !strings.Contains(finding, "/") && i+1 < len(finding) { // JUnit, unittest
		return finding[i+1:]
	}
	return path.Base(finding)
}

// Slug is a short name for a branch, from the first finding or the command.
var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// Slug is a short name for a branch, from the first finding or the command.
func Slug(r proof.Receipt) string {
	if named(r) {
		return SlugOf(r.Findings[0])
	}
	return slug(r.Command)
}

// named says whether a reader found what was red; otherwise the command is all there is to name.
func named(r proof.Receipt) bool {
	return len(r.Findings) > 0 && !strings.HasPrefix(r.Findings[0], "[")
}

// SlugOf is what stands after a finding's package, in lower case letters, digits and hyphens, at most 40.
func SlugOf(finding string) string { return slug(short(finding)) }

func slug(text string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-")
	if len(s) > 40 {
		s = strings.Trim(s[:40], "-")
	}
	if s == "" {
		return "check"
	}
	return s
}
