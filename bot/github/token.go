package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/bot"
)

// installation is as much of an App's installation as is used here.
type installation struct {
	ID          int64             `json:"id"`
	AppSlug     string            `json:"app_slug"`
	HTMLURL     string            `json:"html_url"`
	Account     account           `json:"account"`
	Permissions map[string]string `json:"permissions"`
	Events      []string          `json:"events"`
	SuspendedAt *string           `json:"suspended_at"`
}

// open opens a line to a repository: with a token minted for it and the least that the calls need, or the plain one.
func (h *Hub) open(ctx context.Context, r bot.Repo, ops []op) (*line, error) {
	if h.app == nil {
		l := h.tokenLine(h.plain, "token", ops...)
		l.repo = r
		return l, nil
	}
	if l, err := h.shared(ctx, r, ops); l != nil || err != nil {
		return l, err
	}
	return h.fresh(ctx, r, ops)
}

// fresh opens a line with a token of its own.
func (h *Hub) fresh(ctx context.Context, r bot.Repo, ops []op) (*line, error) {
	token, r, err := h.mint(ctx, r, permissions(ops))
	if err != nil {
		return nil, err
	}
	l := h.tokenLine(token, "installation "+num(r.Installation), append(slices.Clone(ops), revokeToken)...)
	l.repo, l.minted = r, true
	return l, nil
}

// mint makes a token, and says what the repository is called now.
func (h *Hub) mint(ctx context.Context, r bot.Repo, wanted map[string]string) (secret, bot.Repo, error) {
	l := h.appLine(mintToken, getInstallation)
	l.repo = r
	if r.Installation == 0 {
		i, err := l.installation(ctx)
		if err != nil {
			return nil, r, err
		}
		r.Installation = i.ID
	}
	body := map[string]any{"permissions": wanted}
	if r.ID != 0 {
		body["repository_ids"] = []int64{r.ID}
	} else {
		body["repositories"] = []string{r.Name}
	}
	var out struct {
		Token        string       `json:"token"`
		Repositories []repository `json:"repositories"`
	}
	_, err := l.call(ctx, call{op: mintToken, args: []string{num(r.Installation)}, body: body, out: &out})
	if err != nil {
		return nil, r, l.denied(ctx, err, wanted)
	}
	if out.Token == "" || strings.ContainsFunc(out.Token, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, r, unreadable("no token")
	}
	token := out.Token
	for _, now := range out.Repositories {
		if now.ID == r.ID && now.Name != "" && now.Owner.Login != "" {
			r.Owner, r.Name = now.Owner.Login, now.Name
		}
	}
	return func() string { return token }, r, nil
}

func (l *line) installation(ctx context.Context) (installation, error) {
	var i installation
	_, err := l.call(ctx, call{op: getInstallation, out: &i})
	if err == nil && i.ID == 0 {
		err = unreadable("an installation without an id")
	}
	return i, err
}

// denied names what is missing when no token was to be had.
func (l *line) denied(ctx context.Context, err error, wanted map[string]string) error {
	no, ok := err.(*bot.HubError)
	if !ok {
		return err
	}
	switch text := strings.ToLower(no.Text); {
	case no.Status == http.StatusUnprocessableEntity && strings.Contains(text, "not accessible"):
		no.Class = bot.NotFound // the installation does not reach the repository
	case no.Status == http.StatusUnprocessableEntity && strings.Contains(text, "permission"):
		no.Class, no.Permission = bot.Forbidden, spell(wanted)
		if i, err := l.installation(ctx); err == nil && len(missing(i.Permissions, wanted)) > 0 {
			no.Permission = strings.Join(missing(i.Permissions, wanted), ", ")
		}
	case no.Class == bot.Forbidden && no.Permission == "":
		no.Permission = spell(wanted)
	}
	return no
}

// missing are the permissions that are wanted and not granted, as in "checks: read", in order.
func missing(granted, wanted map[string]string) []string {
	rank := map[string]int{"read": 1, "write": 2, "admin": 3}
	var all []string
	for name, level := range wanted {
		if name != "metadata" && rank[granted[name]] < rank[level] {
			all = append(all, name+": "+level)
		}
	}
	slices.Sort(all)
	return all
}

func spell(wanted map[string]string) string { return strings.Join(missing(nil, wanted), ", ") }

const revokeTime = 10 * time.Second

// close revokes the line's token, also when the caller's context has ended; one that is held for others stays. why is
// how its use ended: a token that GitHub no longer takes needs no revoking.
func (l *line) close(ctx context.Context, why error) {
	dead := is(why, bot.BadAuth)
	if l.held != nil && dead {
		l.held.dead(l.token)
	}
	if !l.minted || l.held != nil || dead {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer stop()
	if _, err := l.call(ctx, call{op: revokeToken}); err != nil && !is(err, bot.BadAuth) {
		l.hub.log.Warn("a token was not revoked; it ends by itself within the hour", "repository", l.repo.String(), "err", err)
	}
}

// Remote is the repository's address for git with a token of its own.
func (h *Hub) Remote(ctx context.Context, r bot.Repo, push bool) (bot.Remote, func(), error) {
	level := "read"
	if push {
		level = "write"
	}
	token, release := h.plain, func() {}
	if h.app != nil {
		var err error
		doing := fmt.Sprintf("get a token to %s contents in %s", level, clip(r.String()))
		if token, r, err = h.mint(ctx, r, map[string]string{"contents": level, "metadata": "read"}); err != nil {
			return bot.Remote{}, nil, h.say(doing, err)
		}
		l := h.tokenLine(token, "installation "+num(r.Installation), revokeToken)
		l.repo, l.minted = r, true
		release = sync.OnceFunc(func() { l.close(ctx, nil) })
	}
	at, err := h.gitURL(r)
	if err != nil {
		release()
		return bot.Remote{}, nil, err
	}
	return bot.Remote{URL: at, Token: token(), CA: h.ca}, release, nil
}
