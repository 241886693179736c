package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot"
)

// pull is as much of a pull request as is used here.
type pull struct {
	Number    int     `json:"number"`
	Title     string  `json:"title"`
	Body      string  `json:"body"`
	State     string  `json:"state"`
	HTMLURL   string  `json:"html_url"`
	Draft     bool    `json:"draft"`
	Merged    bool    `json:"merged"` // lists do not say
	MergedAt  *string `json:"merged_at"`
	CreatedAt string  `json:"created_at"`
	Mergeable *bool   `json:"mergeable"` // nil while GitHub finds out; lists do not say
	Merge     string  `json:"merge_commit_sha"`
	User      account `json:"user"`
	Labels    []label `json:"labels"`
	Head      ref     `json:"head"`
	Base      ref     `json:"base"`
}

type label struct {
	Name string `json:"name"`
}

type ref struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		ID int64 `json:"id"`
	} `json:"repo"` // null when the fork is gone
}

func (r ref) tip() bot.Tip { return bot.Tip{Repo: r.Repo.ID, Branch: r.Ref, SHA: r.SHA} }

func names(labels []label) (all []string) {
	for _, l := range labels {
		all = append(all, l.Name)
	}
	return all
}

func (p pull) merged() bool { return p.Merged || p.MergedAt != nil }

func (p pull) pull() bot.Pull {
	out := bot.Pull{
		Number: p.Number, Title: p.Title, State: p.State, Merged: p.merged(), Draft: p.Draft, Author: p.User.account(),
		Head: p.Head.tip(), Base: p.Base.tip(), Labels: names(p.Labels), Body: p.Body, URL: p.HTMLURL,
	}
	if p.State == "open" && p.Mergeable != nil && *p.Mergeable {
		out.Merge = p.Merge
	}
	return out
}

// checked is p, when it is a pull request of the line's repository.
func (l *line) checked(p pull) error {
	switch {
	case p.Number <= 0 || p.State == "" || p.Head.SHA == "" || p.Base.Repo.ID == 0:
		return unreadable("no pull request")
	case l.repo.ID != 0 && p.Base.Repo.ID != l.repo.ID:
		return &bot.HubError{Class: bot.NotFound, Status: http.StatusOK, Text: "a pull request of another repository"}
	}
	return nil
}

func (l *line) pull(ctx context.Context, number int) (pull, error) {
	var p pull
	_, err := l.call(ctx, call{op: getPull, args: []string{num(number)}, out: &p})
	if err == nil {
		err = l.checked(p)
	}
	return p, err
}

// looks is how often a pull request is looked at while GitHub tries whether it merges. Asking is what makes it try.
const looks = 3

// Pull is a pull request.
func (h *Hub) Pull(ctx context.Context, r bot.Repo, number int) (out bot.Pull, err error) {
	err = h.at(ctx, "look at pull request "+num(number), r, []op{getPull}, func(l *line) error {
		for look := 1; ; look++ {
			p, err := l.pull(ctx, number)
			if err != nil {
				return err
			}
			out = p.pull()
			if p.State != "open" || p.Mergeable != nil || look == looks {
				return nil
			}
			if err := h.rest(ctx, time.Second); err != nil {
				return err
			}
		}
	})
	return out, err
}

const (
	openPages = 5  // of pull requests of one branch
	ourPages  = 10 // of all pull requests, newest first
)

// PullsOf are the open pull requests whose head is a branch of this repository. Merge is not known of them.
func (h *Hub) PullsOf(ctx context.Context, r bot.Repo, branch string) (all []bot.Pull, err error) {
	err = h.at(ctx, "look for pull requests of "+clip(branch), r, []op{listPulls}, func(l *line) error {
		all = nil
		found, err := l.pulls(ctx, url.Values{"state": {"open"}, "head": {l.repo.Owner + ":" + branch}}, openPages)
		for _, p := range found {
			if p.Head.Ref == branch && p.Head.Repo.ID == p.Base.Repo.ID {
				all = append(all, p.pull())
			}
		}
		return err
	})
	return all, err
}

func (l *line) pulls(ctx context.Context, query url.Values, most int) (all []pull, err error) {
	_, bad := pages(ctx, l, call{op: listPulls, query: query}, most, func(page []pull) bool {
		for _, p := range page {
			if err = l.checked(p); err != nil {
				return true
			}
			all = append(all, p)
		}
		return false
	})
	if bad != nil {
		err = bad
	}
	return all, err
}

// ours says whether a pull request was opened by us, from a branch of ours in its own repository.
func (h *Hub) ours(p pull, self bot.Self) bool {
	if !strings.HasPrefix(p.Head.Ref, h.prefix) || p.Head.Repo.ID != p.Base.Repo.ID {
		return false
	}
	if self.Login == "" {
		_, marked := bot.ParseMarkers(p.Body)
		return marked && p.User.Type == "Bot"
	}
	return strings.EqualFold(p.User.Login, self.Login)
}

func draft(p pull) bot.Draft {
	d := bot.Draft{
		Number: p.Number, URL: p.HTMLURL, Title: p.Title, Branch: p.Head.Ref, Head: p.Head.SHA, Base: p.Base.Ref,
		Open: p.State == "open", Merged: p.merged(), Ready: !p.Draft,
	}
	d.Created, _ = time.Parse(time.RFC3339, p.CreatedAt) // zero where GitHub does not say
	if m, ok := bot.ParseMarkers(p.Body); ok {
		d.Key, d.Root, d.Tree, d.Fingerprint, d.Superseded = m.Key, m.Root, m.Tree, m.Fingerprint, m.Superseded
	}
	return d
}

// asked is how many closed drafts GitHub is asked about who closed them; of older ones it stays unknown.
const asked = 30

// Drafts are our pull requests, newest first: all of one branch, or of all our branches among the newest thousand pull
// requests of the repository.
func (h *Hub) Drafts(ctx context.Context, r bot.Repo, branch string) (all []bot.Draft, err error) {
	self, err := h.Self(ctx)
	if err != nil {
		return nil, err
	}
	err = h.at(ctx, "look for our drafts", r, []op{listPulls, getIssue}, func(l *line) error {
		all = nil
		query, most := url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"desc"}}, ourPages
		if branch != "" {
			query.Set("head", l.repo.Owner+":"+branch)
			most = openPages
		}
		found, err := l.pulls(ctx, query, most)
		if err != nil {
			return err
		}
		slices.SortStableFunc(found, func(a, b pull) int { return b.Number - a.Number })
		for _, p := range found {
			if h.ours(p, self) && (branch == "" || p.Head.Ref == branch) {
				all = append(all, draft(p))
			}
		}
		return l.closers(ctx, all)
	})
	return all, err
}

// closers finds who closed the drafts that a person may have said no to.
func (l *line) closers(ctx context.Context, drafts []bot.Draft) error {
	left := asked
	for i, d := range drafts {
		if d.Open || d.Merged || d.Superseded || left == 0 {
			continue
		}
		left--
		n, err := l.issue(ctx, d.Number)
		if err != nil {
			return err
		}
		drafts[i].ClosedBy = n.ClosedBy.account()
	}
	return nil
}

// OpenDraft opens a draft, or returns ours that is open for the same head and base.
func (h *Hub) OpenDraft(ctx context.Context, r bot.Repo, d bot.NewDraft) (out bot.Draft, err error) {
	doing := "open a draft"
	if !strings.HasPrefix(d.Head, h.prefix) {
		return out, h.say(doing, refusal("a draft of %s, which is no branch of ours", d.Head))
	}
	self, err := h.Self(ctx)
	if err != nil {
		return out, err
	}
	release, err := h.locks.take(ctx, "draft "+num(r.ID)+" "+d.Head)
	if err != nil {
		return out, h.say(doing, err)
	}
	defer release()
	ops := []op{listPulls, getPull, openPull, editPull, getIssue, putLabels, askReviewers}
	err = h.at(ctx, doing, r, ops, func(l *line) error {
		opened := false
		find := func() (pull, bool, error) { return l.standing(ctx, d, self) }
		p, err := once(ctx, h, find, func() (pull, error) {
			opened = true
			return l.open(ctx, d, find)
		})
		if err != nil {
			h.remember(r, err)
			return err
		}
		out = draft(p)
		if err := l.label(ctx, p, d.Labels); err != nil {
			return err
		}
		if opened {
			l.ask(ctx, p.Number, d.Reviewers)
		}
		return nil
	})
	return out, err
}

// standing is our open pull request for a head and base; another's is a conflict, for GitHub allows one.
func (l *line) standing(ctx context.Context, d bot.NewDraft, self bot.Self) (pull, bool, error) {
	found, err := l.pulls(ctx, url.Values{"state": {"open"}, "head": {l.repo.Owner + ":" + d.Head}, "base": {d.Base}}, openPages)
	for _, p := range found {
		if p.Head.Ref != d.Head || p.Base.Ref != d.Base || p.Head.Repo.ID != p.Base.Repo.ID {
			continue
		}
		if l.hub.ours(p, self) {
			return p, true, err
		}
		return p, false, &bot.HubError{Class: bot.Conflicting, Status: http.StatusUnprocessableEntity, Text: "pull request " + num(p.Number) + " of " + d.Head + " is not ours"}
	}
	return pull{}, false, err
}

// open opens a draft. A ready pull request that came instead is closed at once.
func (l *line) open(ctx context.Context, d bot.NewDraft, find func() (pull, bool, error)) (pull, error) {
	var p pull
	body := &github.NewPullRequest{Title: &d.Title, Body: &d.Body, Head: &d.Head, Base: &d.Base, Draft: github.Bool(true)}
	_, err := l.call(ctx, call{op: openPull, body: body, out: &p})
	var no *bot.HubError
	if errors.As(err, &no) && no.Class == bot.Invalid && strings.Contains(strings.ToLower(no.Text), "already exists") {
		found, ok, bad := find()
		if ok || bad != nil {
			return found, bad
		}
		no.Class = bot.Conflicting
		return p, no
	}
	if err == nil {
		err = l.checked(p)
	}
	if err == nil && !p.Draft {
		return p, l.undo(ctx, p.Number)
	}
	return p, err
}

// undo closes a ready pull request that came instead of a draft.
func (l *line) undo(ctx context.Context, number int) error {
	no := &bot.HubError{Class: bot.NoDrafts, Status: http.StatusCreated, Text: "a ready pull request came instead; it was closed"}
	if err := l.edit(ctx, number, map[string]string{"state": "closed"}, closed, func(pull) error { return nil }); err != nil {
		no.Text = "a ready pull request came instead, number " + num(number) + ", and could not be closed: " + err.Error()
	}
	return no
}

// remember keeps a setting's no of a repository for Check.
func (h *Hub) remember(r bot.Repo, err error) {
	for _, c := range []bot.Class{bot.NoDrafts, bot.NoPulls} {
		if is(err, c) {
			h.mu.Lock()
			h.noes[r.ID] = c
			h.mu.Unlock()
		}
	}
}

// label puts labels on a pull request that it does not carry.
func (l *line) label(ctx context.Context, p pull, wanted []string) error {
	more := lacking(p.Labels, wanted)
	if len(more) == 0 {
		return nil
	}
	_, err := once(ctx, l.hub, func() (int, bool, error) {
		n, err := l.issue(ctx, p.Number)
		return 0, len(lacking(n.Labels, more)) == 0, err
	}, func() (int, error) {
		return l.call(ctx, call{op: putLabels, args: []string{num(p.Number)}, body: map[string][]string{"labels": more}})
	})
	return err
}

// lacking are the wanted labels that are not on; case does not count.
func lacking(on []label, wanted []string) (more []string) {
	for _, name := range wanted {
		if !slices.ContainsFunc(on, func(l label) bool { return strings.EqualFold(l.Name, name) }) {
			more = append(more, name)
		}
	}
	return more
}

// ask asks people to look at a draft. One who may not be asked is no reason to have no draft.
func (l *line) ask(ctx context.Context, number int, logins []string) {
	if len(logins) == 0 {
		return
	}
	_, err := l.call(ctx, call{op: askReviewers, args: []string{num(number)}, body: map[string][]string{"reviewers": logins}})
	if err != nil {
		l.hub.log.Warn("nobody was asked to look at the draft", "repository", l.repo.String(), "pull", number, "err", err)
	}
}

// EditDraft gives a draft of ours its title and body.
func (h *Hub) EditDraft(ctx context.Context, r bot.Repo, number int, title, body string) error {
	return h.change(ctx, "edit draft", r, number, map[string]string{"title": title, "body": body}, func(p pull) bool {
		return p.Title == title && sameText(p.Body, body)
	})
}

// CloseDraft closes a draft of ours; one that is closed is fine.
func (h *Hub) CloseDraft(ctx context.Context, r bot.Repo, number int) error {
	return h.change(ctx, "close draft", r, number, map[string]string{"state": "closed"}, closed)
}

func closed(p pull) bool { return p.State == "closed" }

// change edits a pull request of ours until it is as wanted. Others' are never touched.
func (h *Hub) change(ctx context.Context, doing string, r bot.Repo, number int, body map[string]string, done func(pull) bool) error {
	self, err := h.Self(ctx)
	if err != nil {
		return err
	}
	return h.at(ctx, doing+" "+num(number), r, []op{getPull, editPull}, func(l *line) error {
		return l.edit(ctx, number, body, done, func(p pull) error {
			if !h.ours(p, self) {
				return &bot.HubError{Class: bot.Conflicting, Status: http.StatusOK, Text: "pull request " + num(number) + " is not ours"}
			}
			return nil
		})
	})
}

// edit changes a pull request that may be changed, until it is done.
func (l *line) edit(ctx context.Context, number int, body map[string]string, done func(pull) bool, may func(pull) error) error {
	_, err := once(ctx, l.hub, func() (pull, bool, error) {
		p, err := l.pull(ctx, number)
		if err == nil {
			err = may(p)
		}
		return p, done(p), err
	}, func() (pull, error) {
		var p pull
		_, err := l.call(ctx, call{op: editPull, args: []string{num(number)}, body: body, out: &p})
		return p, err
	})
	return err
}

// sameText compares what was sent with what GitHub keeps of it.
func sameText(a, b string) bool {
	flat := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return flat(a) == flat(b)
}
