package github

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/bot"
)

// issue is as much of an issue as is used here; GitHub has every pull request as one too.
type issue struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	Body     string   `json:"body"`
	State    string   `json:"state"`
	User     account  `json:"user"`
	Labels   []label  `json:"labels"`
	ClosedBy account  `json:"closed_by"`
	Pull     *present `json:"pull_request"`
}

// present is a field of which only its being there matters.
type present struct{}

func (*present) UnmarshalJSON([]byte) error { return nil }

func (l *line) issue(ctx context.Context, number int) (issue, error) {
	var n issue
	_, err := l.call(ctx, call{op: getIssue, args: []string{num(number)}, out: &n})
	if err == nil && (n.Number != number || n.State == "") {
		err = unreadable("another issue")
	}
	return n, err
}

// Issue is an issue, or a pull request as one.
func (h *Hub) Issue(ctx context.Context, r bot.Repo, number int) (out bot.Issue, err error) {
	err = h.at(ctx, "look at issue "+num(number), r, []op{getIssue}, func(l *line) error {
		n, err := l.issue(ctx, number)
		out = bot.Issue{
			Number: n.Number, Title: n.Title, Body: n.Body, State: n.State, Author: n.User.account(), Labels: names(n.Labels), Pull: n.Pull != nil,
		}
		return err
	})
	return out, err
}

// RemoveLabel takes a label off; one that is not there, or an issue that is not there any more, is fine.
func (h *Hub) RemoveLabel(ctx context.Context, r bot.Repo, number int, name string) error {
	return h.at(ctx, "take label "+clip(name)+" off "+num(number), r, []op{getIssue, dropLabel}, func(l *line) error {
		_, err := once(ctx, h, func() (issue, bool, error) {
			n, err := l.issue(ctx, number)
			on := slices.ContainsFunc(n.Labels, func(l label) bool { return strings.EqualFold(l.Name, name) })
			return n, err == nil && !on, err
		}, func() (issue, error) {
			_, err := l.call(ctx, call{op: dropLabel, args: []string{num(number), name}})
			return issue{}, err
		})
		if is(err, bot.NotFound) && !moved(err) {
			return nil
		}
		return err
	})
}

// comment is as much of a comment as is used here.
type comment struct {
	ID      int64   `json:"id"`
	Body    string  `json:"body"`
	HTMLURL string  `json:"html_url"`
	User    account `json:"user"`
	App     *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

const commentPages = 100

// Comment writes our comment with this marker, or edits it in place.
func (h *Hub) Comment(ctx context.Context, r bot.Repo, number int, marker, body string) (at string, err error) {
	doing := "comment on " + num(number)
	if strings.TrimSpace(marker) == "" {
		return "", h.say(doing, refusal("a comment without a marker"))
	}
	if !strings.Contains(body, marker) {
		body = strings.TrimRight(body, "\n") + "\n\n" + marker
	}
	self, err := h.Self(ctx)
	if err != nil {
		return "", err
	}
	release, err := h.locks.take(ctx, "comment "+num(r.ID)+" "+num(number)+" "+marker)
	if err != nil {
		return "", h.say(doing, err)
	}
	defer release()
	err = h.at(ctx, doing, r, []op{listComments, addComment, editComment}, func(l *line) error {
		var mine comment
		c, err := once(ctx, h, func() (comment, bool, error) {
			var err error
			mine, err = l.comment(ctx, number, marker, self)
			return mine, mine.ID != 0 && sameText(mine.Body, body), err
		}, func() (out comment, err error) {
			c := call{op: addComment, args: []string{num(number)}, body: map[string]string{"body": body}, out: &out}
			if mine.ID != 0 {
				c.op, c.args = editComment, []string{num(mine.ID)}
			}
			if _, err = l.call(ctx, c); err == nil && out.ID == 0 {
				err = unreadable("no comment")
			}
			return out, err
		})
		at = c.HTMLURL
		return err
	})
	return at, err
}

// comment finds ours with a marker, the oldest if there are several; zero when there is none.
func (l *line) comment(ctx context.Context, number int, marker string, self bot.Self) (mine comment, err error) {
	whole, err := pages(ctx, l, call{op: listComments, args: []string{num(number)}}, commentPages, func(page []comment) bool {
		for _, c := range page {
			byUs := strings.EqualFold(c.User.Login, self.Login) || self.Login == "" && c.User.Type == "Bot" || self.App != 0 && c.App != nil && c.App.ID == self.App
			if byUs && c.ID != 0 && strings.Contains(c.Body, marker) {
				mine = c
				return true
			}
		}
		return false
	})
	if err == nil && mine.ID == 0 && !whole {
		err = &bot.HubError{Class: bot.Conflicting, Status: http.StatusOK, Text: "too many comments to find ours among them"}
	}
	return mine, err
}
