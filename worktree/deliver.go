package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrBranchTaken is returned when the branch stands at something that the commit does not follow, is checked out, or
// was moved meanwhile: the caller picks another name.
var ErrBranchTaken = errors.New("the branch is taken")

// namespace holds every branch that redraft writes to a repository.
const namespace = "refs/heads/redraft/"

const (
	maxAhead = 64       // commits that one delivery brings
	maxNames = 1000     // branches of one name that FreeBranch tries
	absent   = "absent" // of a branch that is not there
)

// Deliver makes branch point at sha in a repository on this machine, bringing the objects that it lacks. The branch,
// "redraft/…" with or without refs/heads/, is made, or moved forward if sha follows what it stands at. expectOld is
// what it must stand at before, any such commit or none if empty. Nothing else in the repository changes: no hook
// runs, no reflog, no other ref. A second delivery of the same is no error.
func (m *Mirror) Deliver(ctx context.Context, local, branch, sha, expectOld string) error {
	if err := m.deliver(ctx, local, branch, sha, expectOld); err != nil {
		return fmt.Errorf("deliver %.8s to %s: %w", sha, branch, err)
	}
	return nil
}

func (m *Mirror) deliver(ctx context.Context, local, branch, sha, expectOld string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	p, err := m.store.source(ctx, local)
	if err != nil {
		return err
	}
	ref, err := m.store.git.branchRef(ctx, branch)
	if err != nil {
		return err
	}
	d := &delivery{mirror: m, git: m.store.git, place: p, ref: ref, sha: sha}
	old, err := d.look(ctx)
	if err != nil {
		return err
	}
	if expectOld != "" && old != expectOld && old != sha {
		return fmt.Errorf("it stands at %.8s, not at %.8s: %w", old, expectOld, ErrBranchTaken)
	}
	if old == sha {
		return nil
	}
	if err := d.follows(ctx, old); err != nil {
		return err
	}
	if err := d.bring(ctx); err != nil {
		return err
	}
	return d.point(ctx, old)
}

// branchRef is the full name of a branch of ours.
func (g *Git) branchRef(ctx context.Context, branch string) (string, error) {
	ref := "refs/heads/" + strings.TrimPrefix(branch, "refs/heads/")
	if !strings.HasPrefix(ref, namespace) || strings.ContainsRune(ref, 0) {
		return "", fmt.Errorf("%.80q: only branches below redraft/ are written", branch)
	}
	if _, err := g.run(ctx, call{args: []string{"check-ref-format", ref}}); err != nil {
		if exitCode(err) == 1 {
			err = fmt.Errorf("%.80q is no name for a branch", branch)
		}
		return "", err
	}
	return ref, nil
}

type delivery struct {
	mirror *Mirror
	git    *Git
	place  place
	ref    string
	sha    string
}

// there runs git in the operator's repository, here in the mirror.
func (d *delivery) there(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return d.git.run(ctx, call{dir: d.place.gitDir, args: args, stdin: stdin,
		config: [][2]string{{"core.logAllRefUpdates", "false"}}})
}

func (d *delivery) here(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return d.git.run(ctx, call{dir: d.mirror.git, args: args, stdin: stdin})
}

// look says what the branch stands at, absent if it is not there.
func (d *delivery) look(ctx context.Context) (string, error) {
	out, err := d.there(ctx, nil, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", "--", d.ref)
	if err != nil {
		return "", err
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		f := strings.Split(line, "\x00")
		if len(f) != 3 || f[0] != d.ref {
			continue
		}
		if f[2] != "" {
			return "", fmt.Errorf("it is checked out in %s: %w", f[2], ErrBranchTaken)
		}
		return f[1], nil
	}
	return absent, nil
}

// follows makes sure that sha comes after old. What the mirror does not know it does not follow.
func (d *delivery) follows(ctx context.Context, old string) error {
	if old == absent {
		return nil
	}
	_, err := d.here(ctx, nil, "merge-base", "--is-ancestor", old, d.sha)
	if code := exitCode(err); code == 1 || code == 128 {
		return fmt.Errorf("it stands at %.8s, which %.8s does not follow: %w", old, d.sha, ErrBranchTaken)
	}
	return err
}

// bring packs what the repository lacks and adds it there. The pack appears whole or not at all. Pushing or fetching
// would read remotes and address rewriting from the repository's configuration; this reads neither.
func (d *delivery) bring(ctx context.Context) error {
	lock, err := d.mirror.lock(ctx, shared)
	if err != nil {
		return err
	}
	defer lock.Close()
	out, err := d.here(ctx, nil, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", maxAhead), "--end-of-options", d.sha)
	if err != nil {
		return err
	}
	found, err := d.there(ctx, out, "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	known := ""
	for line := range strings.SplitSeq(string(found), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "commit" && f[0] != d.sha {
			known = f[0]
			break
		}
	}
	if known == "" {
		return fmt.Errorf("%s knows none of the %d commits before it", d.place.common, maxAhead)
	}
	pack, err := d.git.run(ctx, call{
		dir: d.mirror.git, stdin: []byte(d.sha + "\n^" + known + "\n"), hold: []*os.File{lock},
		args: []string{"pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"},
	})
	if err != nil {
		return err
	}
	_, err = d.there(ctx, pack, "index-pack", "--stdin")
	return err
}

// point moves the branch, if it still stands at old.
func (d *delivery) point(ctx context.Context, old string) error {
	if old == absent {
		old = strings.Repeat("0", 40)
	}
	line := fmt.Sprintf("update %s\x00%s\x00%s\x00", d.ref, d.sha, old)
	_, err := d.there(ctx, []byte(line), "update-ref", "--no-deref", "-z", "--stdin")
	if err == nil {
		return nil
	}
	now, lookErr := d.look(ctx)
	if lookErr == nil && now == d.sha {
		return nil
	}
	if lookErr == nil && now != old && !(now == absent && strings.Trim(old, "0") == "") {
		return fmt.Errorf("%w: %w", ErrBranchTaken, err)
	}
	return err
}

// FreeBranch is the first of base, base-2, base-3, … that is no branch of the repository, nor a folder of branches.
// base begins with redraft/. Names that differ in case alone are the same to it, since to some disks they are.
func (s *Store) FreeBranch(ctx context.Context, local, base string) (string, error) {
	name, err := s.freeBranch(ctx, local, base)
	if err != nil {
		return "", fmt.Errorf("find a free branch: %w", err)
	}
	return name, nil
}

func (s *Store) freeBranch(ctx context.Context, local, base string) (string, error) {
	p, err := s.source(ctx, local)
	if err != nil {
		return "", err
	}
	ref, err := s.git.branchRef(ctx, base)
	if err != nil {
		return "", err
	}
	out, err := s.git.run(ctx, call{dir: p.gitDir, args: []string{"for-each-ref", "--format=%(refname)", "--", "refs/heads/redraft"}})
	if err != nil {
		return "", err
	}
	taken := strings.Split(strings.ToLower(strings.TrimSpace(string(out))), "\n")
	for n := 1; n <= maxNames; n++ {
		name := ref
		if n > 1 {
			name = fmt.Sprintf("%s-%d", ref, n)
		}
		clash := ""
		for _, t := range taken {
			if lower := strings.ToLower(name); t != "" && (below(t, lower) || below(lower, t)) {
				clash = t
			}
		}
		if clash == "" {
			return strings.TrimPrefix(name, "refs/heads/"), nil
		}
		if clash != strings.ToLower(name) && below(strings.ToLower(ref), clash) {
			return "", fmt.Errorf("the branch %s is in the way of every branch below it", strings.TrimPrefix(clash, "refs/heads/"))
		}
	}
	return "", fmt.Errorf("%s and %d more like it are taken", base, maxNames-1)
}

// FreeBranch is Store.FreeBranch.
func (m *Mirror) FreeBranch(ctx context.Context, local, base string) (string, error) {
	return m.store.FreeBranch(ctx, local, base)
}
