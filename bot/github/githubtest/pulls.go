package githubtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// pull is what makes an issue a pull request.
type pull struct {
	id             int64
	from           *Repo // nil when the fork is gone
	headRef, head  string
	baseRef, base  string
	draft          bool
	merged         bool
	mergedAt       time.Time
	mergedBy       *account
	mergeSHA       string // of the test merge, or of the merge once merged; "" when there is a conflict
	mergeRef       string // where refs/pull/N/merge stands: the last merge that could be made
	conflict, slow bool   // slow: the next read says that mergeability is not known yet
	maintainers    bool
	reviewers      []*account
}

// Pull is a pull request as a test looks at it.
type Pull struct {
	Number           int
	Title, Body      string
	State            string // open, closed
	Draft, Merged    bool
	Author, ClosedBy string // logins
	Head, HeadSHA    string
	HeadRepo         string // owner/name
	Base, BaseSHA    string
	Merge            string // where refs/pull/N/merge stands, "" when there is none
	Conflict         bool
	Labels           []string
	Reviewers        []string
	URL              string // for people
}

// NewPull is a pull request to open.
type NewPull struct {
	Title, Body string
	Head        string // branch, or owner:branch of a fork
	Base        string // default branch if empty
	Draft       bool
	By          string // login; the owner's if empty
}

// OpenPull opens a pull request as a person does, and answers with its number.
func (r *Repo) OpenPull(p NewPull) (int, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	is, err := r.openPull(p, r.s.account(or(p.By, r.owner.login), "User"), nil)
	if err != nil {
		return 0, fmt.Errorf("open a pull request of %s: %w", p.Head, err)
	}
	return is.number, nil
}

// Pull looks at one.
func (r *Repo) Pull(number int) (Pull, bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	is := r.issue(number)
	if is == nil || is.pull == nil {
		return Pull{}, false
	}
	return r.look(is), true
}

// Pulls looks at all, the oldest first.
func (r *Repo) Pulls() []Pull {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var all []Pull
	for _, is := range r.issues {
		if is.pull != nil {
			all = append(all, r.look(is))
		}
	}
	return all
}

func (r *Repo) look(is *issue) Pull {
	p := is.pull
	out := Pull{
		Number: is.number, Title: is.title, Body: is.body, State: is.state, Draft: p.draft, Merged: p.merged, Author: is.author.login,
		Head: p.headRef, HeadSHA: p.head, Base: p.baseRef, BaseSHA: p.base, Merge: p.mergeRef, Conflict: p.conflict,
		Labels: is.labelNames(), URL: r.html(fmt.Sprintf("/pull/%d", is.number)),
	}
	if p.from != nil {
		out.HeadRepo = p.from.full()
	}
	if is.closedBy != nil {
		out.ClosedBy = is.closedBy.login
	}
	for _, a := range p.reviewers {
		out.Reviewers = append(out.Reviewers, a.login)
	}
	return out
}

// openPull checks as GitHub does; its errors are answers.
func (r *Repo) openPull(n NewPull, by *account, via *app) (*issue, error) {
	from, branch := r, n.Head
	owner := r.owner.login
	if o, b, ok := strings.Cut(n.Head, ":"); ok {
		owner, branch = o, b
		if !strings.EqualFold(o, r.owner.login) {
			from = r.forkOf(o)
		}
	}
	base := or(n.Base, r.branch)
	var head string
	if from != nil {
		head = from.refs["refs/heads/"+branch]
	}
	tip := r.refs["refs/heads/"+base]
	switch {
	case head == "":
		return nil, validation(problem{Resource: "PullRequest", Field: "head", Code: "invalid"})
	case tip == "":
		return nil, validation(problem{Resource: "PullRequest", Field: "base", Code: "invalid"})
	case r.openOf(from, branch, base) != nil:
		return nil, validation(problem{Resource: "PullRequest", Code: "custom", Message: "A pull request already exists for " + owner + ":" + branch + "."})
	case n.Draft && r.noDrafts:
		return nil, invalidf("Draft pull requests are not supported in this repository.")
	}
	if from != r {
		if err := r.s.git.bring(r.dir, from.dir, head); err != nil {
			return nil, err
		}
	}
	if r.s.git.ancestor(r.dir, head, tip) {
		return nil, validation(problem{Resource: "PullRequest", Code: "custom", Message: "No commits between " + base + " and " + branch})
	}
	is := r.newIssue(n.Title, n.Body, by, via)
	is.pull = &pull{id: r.s.id(), from: from, headRef: branch, head: head, baseRef: base, draft: n.Draft}
	if err := r.remerge(is); err != nil {
		return nil, err
	}
	r.tellPull(is, "opened", nil, by)
	return is, nil
}

func (r *Repo) forkOf(owner string) *Repo {
	for _, f := range r.s.repos {
		if f.parent == r && strings.EqualFold(f.owner.login, owner) {
			return f
		}
	}
	return nil
}

func (r *Repo) openOf(from *Repo, branch, base string) *issue {
	for _, is := range r.issues {
		if p := is.pull; p != nil && is.state == "open" && p.from == from && p.headRef == branch && p.baseRef == base {
			return is
		}
	}
	return nil
}

// remerge brings refs/pull/N/head and refs/pull/N/merge to where head and base stand. As on GitHub the merge ref stays where
// it was when the two conflict. Without git's merge-tree, before 2.38, there is none.
func (r *Repo) remerge(is *issue) error {
	p := is.pull
	p.base = r.refs["refs/heads/"+p.baseRef]
	ref := fmt.Sprintf("refs/pull/%d/", is.number)
	if err := r.s.git.set(r.dir, ref+"head", p.head); err != nil {
		return err
	}
	p.slow = r.s.o.SlowMerge
	by := Person{"GitHub", "noreply@github.com"}
	sha, err := r.s.git.merge(r.dir, p.base, p.head, "Merge "+p.head+" into "+p.base, by, r.s.now())
	switch {
	case errors.Is(err, errNo):
		p.conflict, p.mergeSHA = true, ""
		return nil
	case errors.Is(err, errOld):
		return nil
	case err != nil:
		return err
	}
	p.conflict, p.mergeSHA, p.mergeRef = false, sha, sha
	return r.s.git.set(r.dir, ref+"merge", sha)
}

// follow does for open pull requests what a ref of theirs that moved asks for.
func (r *Repo) follow(ref, old, new string, by *account) (err error) {
	branch, ok := strings.CutPrefix(ref, "refs/heads/")
	if !ok {
		return nil
	}
	for _, in := range r.s.repos {
		for _, is := range in.issues {
			p := is.pull
			if p == nil || is.state != "open" {
				continue
			}
			if p.from == r && p.headRef == branch {
				err = errors.Join(err, in.headMoved(is, old, new, by))
			} else if in == r && p.baseRef == branch && new != "" {
				err = errors.Join(err, in.baseMoved(is, new, by))
			}
		}
	}
	return err
}

func (r *Repo) headMoved(is *issue, old, new string, by *account) error {
	if new == "" {
		r.closePull(is, by)
		return nil
	}
	if is.pull.from != r {
		if err := r.s.git.bring(r.dir, is.pull.from.dir, new); err != nil {
			return err
		}
	}
	is.pull.head = new
	is.updated = r.s.now()
	err := r.remerge(is)
	r.tellPull(is, "synchronize", obj{"before": old, "after": new}, by)
	return err
}

// baseMoved merges anew, or finds that someone merged by hand, which GitHub takes for a merge of the pull request.
func (r *Repo) baseMoved(is *issue, new string, by *account) error {
	p := is.pull
	if !r.s.git.ancestor(r.dir, p.head, new) {
		return r.remerge(is)
	}
	p.merged, p.mergedAt, p.mergedBy, p.mergeSHA, p.base = true, r.s.now(), by, new, new
	r.closePull(is, by)
	return nil
}

func (r *Repo) closePull(is *issue, by *account) {
	is.state, is.closed, is.closedBy, is.updated = "closed", r.s.now(), by, r.s.now()
	r.tellPull(is, "closed", nil, by)
}

// ClosePull closes one as a person does.
func (r *Repo) ClosePull(number int, by string) error {
	return r.withPull(number, by, func(is *issue, who *account) error {
		r.closePull(is, who)
		return nil
	})
}

// MarkReady takes one out of draft, as only a person does.
func (r *Repo) MarkReady(number int, by string) error {
	return r.withPull(number, by, func(is *issue, who *account) error {
		is.pull.draft = false
		r.tellPull(is, "ready_for_review", nil, who)
		return nil
	})
}

// EditPull changes title and body, as a person does.
func (r *Repo) EditPull(number int, title, body, by string) error {
	return r.withPull(number, by, func(is *issue, who *account) error {
		r.editIssue(is, &title, &body, who)
		return nil
	})
}

// MergePull merges one, as only a person does: the base moves to a merge commit.
func (r *Repo) MergePull(number int, by string) error {
	r.moving.Lock()
	defer r.moving.Unlock()
	var who *account
	err := r.withPull(number, by, func(is *issue, a *account) error {
		who = a
		p := is.pull
		message := fmt.Sprintf("Merge pull request #%d from %s\n\n%s", number, p.headRef, is.title)
		sha, err := r.s.git.merge(r.dir, p.base, p.head, message, Person{by, by + "@users.noreply.github.com"}, r.s.now())
		if err != nil {
			return err
		}
		p.merged, p.mergedAt, p.mergedBy, p.mergeSHA = true, r.s.now(), a, sha
		r.closePull(is, a)
		return r.s.git.set(r.dir, "refs/heads/"+p.baseRef, sha)
	})
	if err != nil {
		return err
	}
	return r.moved(who)
}

func (r *Repo) withPull(number int, by string, do func(*issue, *account) error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	is := r.issue(number)
	if is == nil || is.pull == nil || is.state != "open" {
		return fmt.Errorf("pull request %d: none is open", number)
	}
	if err := do(is, r.s.account(by, "User")); err != nil {
		return fmt.Errorf("pull request %d: %w", number, err)
	}
	return nil
}

func listPulls(c *call) (any, error) {
	q := c.r.URL.Query()
	state := or(q.Get("state"), "open")
	owner, branch, labelled := strings.Cut(q.Get("head"), ":")
	var found []*issue
	for _, is := range c.repo.issues {
		p := is.pull
		if p == nil || state != "all" && is.state != state || q.Get("base") != "" && p.baseRef != q.Get("base") {
			continue
		}
		// GitHub ignores a head that names no owner.
		if labelled && (p.from == nil || p.headRef != branch || !strings.EqualFold(p.from.owner.login, owner)) {
			continue
		}
		found = append(found, is)
	}
	if q.Get("sort") == "updated" {
		slices.SortStableFunc(found, func(a, b *issue) int { return a.updated.Compare(b.updated) })
	}
	if q.Get("direction") != "asc" && !(q.Get("direction") == "" && q.Get("sort") == "updated") {
		slices.Reverse(found)
	}
	return page(c, found, func(is *issue) any { return c.repo.pullJSON(is, false) })
}

func getPull(c *call) (any, error) {
	is, err := c.pull()
	if err != nil {
		return nil, err
	}
	answer := c.repo.pullJSON(is, true)
	is.pull.slow = false
	return answer, nil
}

// pull finds the pull request that the path names.
func (c *call) pull() (*issue, error) {
	is, err := c.issue()
	if err == nil && is.pull == nil {
		err = notFound
	}
	return is, err
}

func createPull(c *call) (any, error) {
	if c.who.kind == "actions" && !c.repo.pulls {
		return nil, &no{status: http.StatusForbidden, message: "GitHub Actions is not permitted to create or approve pull requests."}
	}
	n := NewPull{Title: c.text("title"), Body: c.text("body"), Head: c.text("head"), Base: c.text("base"), Draft: c.yes("draft")}
	if strings.TrimSpace(n.Title) == "" {
		return nil, validation(problem{Resource: "PullRequest", Field: "title", Code: "missing_field"})
	}
	if err := tooLong("PullRequest", n.Body); err != nil {
		return nil, err
	}
	is, err := c.repo.openPull(n, c.who.account, c.who.app)
	if err != nil {
		return nil, err
	}
	is.pull.maintainers = c.yes("maintainer_can_modify")
	c.header.Set("Location", c.repo.api(fmt.Sprintf("/pulls/%d", is.number)))
	return c.repo.pullJSON(is, true), nil
}

func editPull(c *call) (any, error) {
	is, err := c.pull()
	if err != nil {
		return nil, err
	}
	if err := tooLong("PullRequest", c.text("body")); err != nil {
		return nil, err
	}
	if base, given := c.given("base"); given && base != is.pull.baseRef {
		if c.repo.refs["refs/heads/"+base] == "" {
			return nil, validation(problem{Resource: "PullRequest", Field: "base", Code: "invalid"})
		}
		is.pull.baseRef = base
		if err := c.repo.remerge(is); err != nil {
			return nil, err
		}
	}
	var title, body *string
	if t, given := c.given("title"); given {
		title = &t
	}
	if b, given := c.given("body"); given {
		body = &b
	}
	c.repo.editIssue(is, title, body, c.who.account)
	state, _ := c.given("state")
	switch {
	case state == "closed" && is.state == "open":
		c.repo.closePull(is, c.who.account)
	case state == "open" && is.state == "closed":
		if err := c.repo.reopen(is, c.who.account); err != nil {
			return nil, err
		}
	}
	return c.repo.pullJSON(is, true), nil
}

func (r *Repo) reopen(is *issue, by *account) error {
	p := is.pull
	if p.merged || p.from == nil || p.from.refs["refs/heads/"+p.headRef] == "" || r.openOf(p.from, p.headRef, p.baseRef) != nil {
		return validation(problem{Resource: "PullRequest", Field: "state", Code: "invalid", Message: "state cannot be changed."})
	}
	is.state, is.closed, is.closedBy, is.updated = "open", time.Time{}, nil, r.s.now()
	p.head = p.from.refs["refs/heads/"+p.headRef]
	if err := r.remerge(is); err != nil {
		return err
	}
	r.tellPull(is, "reopened", nil, by)
	return nil
}

func requestReviewers(c *call) (any, error) {
	is, err := c.pull()
	if err != nil {
		return nil, err
	}
	names := c.list("reviewers")
	if len(names) == 0 {
		return nil, invalidf("Invalid request.\n\nNo reviewers were supplied.")
	}
	for _, login := range names {
		a := c.s.accounts[fold(login)]
		switch {
		case a == nil || !c.repo.atLeast(login, "read") || c.repo.roles[fold(login)] == "":
			return nil, invalidf("Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s repository.", c.repo.full())
		case a == is.author:
			return nil, invalidf("Review cannot be requested from pull request author.")
		case !slices.Contains(is.pull.reviewers, a):
			is.pull.reviewers = append(is.pull.reviewers, a)
			c.repo.tellPull(is, "review_requested", obj{"requested_reviewer": c.s.userJSON(a)}, c.who.account)
		}
	}
	return c.repo.pullJSON(is, false), nil
}
