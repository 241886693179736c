package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/worktree"
)

// draftEnd is the end of a job on GitHub: the proved tree on a branch of ours, and one draft for it.
type draftEnd struct{ w *work }

// Will looks whether a draft may be left, and names its branch.
func (e draftEnd) Will(ctx context.Context, p *proof.Proof) (string, error) {
	w := e.w
	if !p.Valid() {
		return "", errors.New("publish: there is no proof")
	}
	if err := w.still(ctx); err != nil {
		return "", err
	}
	branch := w.branch()
	drafts, err := w.Hub.Drafts(ctx, w.job.Repo, "")
	if err != nil {
		return "", err
	}
	if err := w.only(drafts, branch); err != nil {
		return "", err
	}
	drafts = slices.DeleteFunc(drafts, func(d Draft) bool { return d.Branch != branch })
	w.standing = slices.ContainsFunc(drafts, func(d Draft) bool { return d.Open })
	self, err := w.who(ctx)
	if err != nil {
		return "", err
	}
	if err := saidNo(drafts, Fingerprint(p.Receipt()), self); err != nil {
		return "", err
	}
	w.quiet = quiet(w.job, p.Diff())
	return branch, w.enter(ctx, queue.Publishing, map[string]string{"branch": branch, "tree": p.Receipt().Tree})
}

// only stops a second draft of one target, as when two of its workflows are red.
func (w *work) only(drafts []Draft, branch string) error {
	for _, d := range drafts {
		if t, ok := d.target(w.job.Repo.ID); ok && t.same(w.job.Target) && d.Open && d.Branch != branch {
			return ended(trace.Superseded, fmt.Sprintf("Draft #%d is open for this already, and one target gets one draft.", d.Number), "Merge or close that draft; what is red then starts a new job.")
		}
	}
	return nil
}

// branch is this target's, or the next one when that name is somebody else's.
func (w *work) branch() string {
	name := Branch(w.job, w.prefix())
	if w.suffix > 0 {
		name = fmt.Sprintf("%s-%d", name, w.suffix+1)
	}
	return name
}

func (w *work) prefix() string {
	if w.policy.Publish.BranchPrefix != "" {
		return w.policy.Publish.BranchPrefix
	}
	return "redraft/"
}

// saidNo stops a draft that a person said no to: one of the same failure that somebody closed, or one that somebody took
// over.
func saidNo(drafts []Draft, fingerprint string, self Self) error {
	for _, d := range drafts {
		byUs := d.Superseded || d.ClosedBy.Login != "" && d.ClosedBy.Login == self.Login
		switch {
		case !d.Open && !d.Merged && !byUs && d.Fingerprint == fingerprint:
			return ended(trace.Cancelled, fmt.Sprintf("Somebody closed draft #%d for this same failure, so it is not proposed again.", d.Number), "Reopen the draft, or say /redraft retry with what should be different.")
		case d.Open && d.Ready:
			return ended(trace.Superseded, fmt.Sprintf("Somebody took draft #%d over: it is no draft any more.", d.Number), "Nothing: a person decides about it.")
		}
	}
	return nil
}

// Do pushes the proved tree and opens or updates the one draft. Doing it twice leaves it once.
func (e draftEnd) Do(ctx context.Context, p *proof.Proof, branch string) (string, error) {
	w := e.w
	sha, err := w.push(ctx, p, branch)
	if errors.Is(err, errPerson) || errors.Is(err, worktree.ErrBranchTaken) {
		return "", w.taken(err)
	}
	if errors.Is(err, worktree.ErrRefused) {
		return "", ended(trace.NeedsConfiguration, fmt.Sprintf("GitHub refused the push to %s: a rule protects it.", branch), "Let redraft write below redraft/ in the repository's rules.")
	}
	if err != nil {
		return "", err
	}
	if w.draft, err = w.open(ctx, p, branch); err != nil {
		return "", err
	}
	w.draft.Head, w.draft.Tree, w.draft.Root = sha, p.Receipt().Tree, w.job.Root
	text, err := json.Marshal(w.draft)
	if err != nil {
		return "", err
	}
	at := Target{Kind: ForBranch, Branch: w.job.Target.Branch} // a commit's status names no pull request
	for _, t := range []Target{w.job.Target, at} {
		if err := w.Queue.Put(ctx, draftName(w.job.Repo, t), text); err != nil {
			return "", err
		}
	}
	return sha, w.enter(ctx, queue.Published, w.draft)
}

// errPerson says that a person's commit lies on a branch of ours.
var errPerson = errors.New("a person's commit is on the branch")

// taken answers a branch that is not ours to write to: a person's commit on our draft's branch stops us for good, a
// branch of that name that never was ours makes another name.
func (w *work) taken(err error) error {
	if errors.Is(err, errPerson) {
		return ended(trace.Superseded, "Somebody pushed to the draft's branch: it is theirs now.", "Nothing: a person decides about it.")
	}
	w.suffix++
	return err
}

// push commits the proved change and pushes it, unless the branch has the proved tree already.
func (w *work) push(ctx context.Context, p *proof.Proof, branch string) (string, error) {
	remote, done, err := w.Hub.Remote(ctx, w.job.Repo, true)
	if err != nil {
		return "", err
	}
	defer done()
	tip, err := w.mirror.TipAt(ctx, remote, branch)
	if err != nil {
		return "", err
	}
	parents, same, err := w.onto(ctx, remote, tip, p.Receipt())
	if err != nil || same {
		return tip, err
	}
	msg := worktree.Message{
		Text: CommitText(w.story(p), w.Clean, w.quiet != ""), Author: w.author(ctx), When: p.Receipt().Made, Parents: parents,
	}
	if msg.When.IsZero() {
		msg.When = w.now()
	}
	sha, tree, err := w.mirror.Commit(ctx, w.job.Root, job.Files(p), msg)
	if err != nil {
		return "", err
	}
	if tree != p.Receipt().Tree {
		return "", fmt.Errorf("commit: the tree %.12s is not the proved %.12s", tree, p.Receipt().Tree)
	}
	return sha, w.mirror.Push(ctx, remote, branch, sha, tip)
}

// onto looks at what the branch holds: nothing, the proved tree already, an older draft of ours to add a commit to, or
// something that is not ours.
func (w *work) onto(ctx context.Context, remote worktree.Remote, tip string, r proof.Receipt) (parents []string, same bool, err error) {
	if tip == "" {
		return []string{w.job.Root}, false, nil
	}
	if _, err := w.Store.FetchFrom(ctx, fmt.Sprintf("%s/%d", w.Host, w.job.Repo.ID), remote, tip); err != nil {
		return nil, false, err
	}
	log, err := w.mirror.Log(ctx, tip, 20)
	if err != nil || len(log) == 0 {
		return nil, false, errors.Join(err, worktree.ErrNoSuchCommit)
	}
	if !Trailer(log[0].Text) {
		for _, c := range log {
			if Trailer(c.Text) {
				return nil, false, errPerson
			}
		}
		return nil, false, fmt.Errorf("%s: %w", w.branch(), worktree.ErrBranchTaken)
	}
	if log[0].Tree == r.Tree && w.mirror.Follows(ctx, w.job.Root, tip) {
		return nil, true, nil
	}
	if w.mirror.Follows(ctx, w.job.Root, tip) {
		return []string{tip}, false, nil
	}
	return []string{tip, w.job.Root}, false, nil
}

// author is who commits: the App's bot.
func (w *work) author(ctx context.Context) worktree.Person {
	self, err := w.who(ctx)
	if err != nil || self.Login == "" {
		return worktree.Person{Name: "redraft", Email: "redraft@users.noreply.github.com"}
	}
	address := self.Login + "@users.noreply.github.com"
	if self.ID != 0 { // the form by which GitHub finds the account
		address = fmt.Sprintf("%d+%s", self.ID, address)
	}
	return worktree.Person{Name: self.Login, Email: address}
}

// open opens the draft, or brings the one that is open up to date.
func (w *work) open(ctx context.Context, p *proof.Proof, branch string) (*Draft, error) {
	s := w.story(p)
	if template, err := w.Hub.File(ctx, w.job.Repo, ".github/pull_request_template.md", w.job.Policy); err == nil {
		s.Template = string(template)
	}
	if w.job.Target.Kind == ForIssue {
		// An edit after the question is somebody else's word.
		if issue, err := w.Hub.Issue(ctx, w.job.Repo, w.job.Target.Number); err == nil && proof.Sum([]byte(issue.Body)) == w.job.Body {
			s.Criteria = Criteria(issue.Body)
		}
	}
	title, body := DraftText(s, w.Clean)
	d, err := w.Hub.OpenDraft(ctx, w.job.Repo, NewDraft{Title: title, Body: body, Head: branch, Base: w.job.Target.Branch, Key: w.job.Key, Labels: w.labels()})
	if err != nil {
		return nil, err
	}
	if !w.standing {
		w.drafted = "created"
	}
	if d.Root != w.job.Root || d.Tree != p.Receipt().Tree { // an older one of ours
		w.drafted = "updated"
		if err := w.Hub.EditDraft(ctx, w.job.Repo, d.Number, title, body); err != nil {
			return nil, err
		}
	}
	d.Key, d.Fingerprint = w.job.Key, Fingerprint(p.Receipt())
	return &d, nil
}

// labels are the draft's; none unless the repository asks for them.
func (w *work) labels() []string { return w.policy.Publish.Labels }
