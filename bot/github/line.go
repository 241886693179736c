package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot"
)

// line is a way to GitHub with one credential, open for some calls of the table and no others.
type line struct {
	hub    *Hub
	client *github.Client
	repo   bot.Repo // with the name that it has now; zero of a line about none
	token  secret   // nil of the App's
	minted bool     // the token is revoked at the end
	held   *held    // by whom, when others use the token too
}

// call is one call on a line.
type call struct {
	op    op
	args  []string // for the path's braces, after owner and repo
	query url.Values
	body  any
	out   any // pointer; nil when the answer does not matter
}

func (h *Hub) line(who string, next http.RoundTripper, ops []op) *line {
	t := &transport{hub: h, next: next, gate: h.gate(who), who: who, ops: ops}
	c := github.NewClient(&http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})
	c.BaseURL, c.UserAgent = h.api, "redraft"
	return &line{hub: h, client: c}
}

func (h *Hub) appLine(ops ...op) *line { return h.line("app", h.app, ops) }

func (h *Hub) tokenLine(token secret, who string, ops ...op) *line {
	l := h.line(who, bearer{h.base, token}, ops)
	l.token = token
	return l
}

// bearer puts a token on a request.
type bearer struct {
	next  http.RoundTripper
	token secret
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+b.token())
	return b.next.RoundTrip(r)
}

// call makes one call. next is the page after this one, 0 after the last. Errors are *bot.HubError without Doing.
func (l *line) call(ctx context.Context, c call) (next int, err error) {
	answer, err := l.send(ctx, c)
	if err != nil {
		return 0, refused(ctx, table[c.op], err, l.secret())
	}
	return answer.NextPage, nil
}

// send is call with go-github's own answer and error.
func (l *line) send(ctx context.Context, c call) (*github.Response, error) {
	row := table[c.op]
	path := fill(row.Path, l.repo, c.args)
	if len(c.query) > 0 {
		path += "?" + c.query.Encode()
	}
	r, err := l.client.NewRequest(row.Method, path, c.body)
	if err != nil {
		return nil, refusal("%s %s: an argument that makes no path", row.Method, row.Path)
	}
	return l.client.Do(ctx, r, c.out)
}

func (l *line) secret() string {
	if l.token == nil {
		return ""
	}
	return l.token()
}

// fill puts escaped arguments into a pattern. One that is missing leaves its brace, which no call is allowed to have.
func fill(pattern string, r bot.Repo, args []string) string {
	parts := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	args = append([]string(nil), args...)
	for i, p := range parts {
		switch {
		case p == "{owner}":
			parts[i] = url.PathEscape(r.Owner)
		case p == "{repo}":
			parts[i] = url.PathEscape(r.Name)
		case !strings.HasPrefix(p, "{") || len(args) == 0:
		case strings.HasSuffix(p, "...}"):
			segments := strings.Split(args[0], "/")
			for j, s := range segments {
				segments[j] = url.PathEscape(s)
			}
			parts[i], args = strings.Join(segments, "/"), args[1:]
		default:
			parts[i], args = url.PathEscape(args[0]), args[1:]
		}
	}
	return strings.Join(parts, "/")
}

func num[T int | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

const perPage = 100

// pages walks the pages of a list, at most some, until take has enough. whole is false when pages were left.
func pages[T any](ctx context.Context, l *line, c call, most int, take func(T) (enough bool)) (whole bool, err error) {
	query := url.Values{}
	for k, v := range c.query {
		query[k] = v
	}
	query.Set("per_page", num(perPage))
	c.query = query
	for page := 1; most > 0; most-- {
		var out T
		c.out = &out
		if page > 1 {
			query.Set("page", num(page))
		}
		next, err := l.call(ctx, c)
		if err != nil {
			return false, err
		}
		if take(out) || next <= page {
			return true, nil
		}
		page = next
	}
	return false, nil
}

// at opens a line to a repository for some calls, does something on it, and closes it. A token that GitHub no longer
// takes is minted anew once, and a repository that was renamed is followed once; both do everything again, so do looks
// before it writes.
func (h *Hub) at(ctx context.Context, doing string, r bot.Repo, ops []op, do func(l *line) error) error {
	doing += " in " + clip(r.String())
	ops = append([]op{getRepo, getMoved}, ops...)
	for minted, renamed := false, false; ; {
		l, err := h.open(ctx, r, ops)
		if err != nil {
			return h.say(doing, err)
		}
		if err = l.pinned(ctx, ops); err == nil {
			err = do(l)
		}
		if moved(err) && !renamed {
			renamed = true
			r, err = l.follow(ctx, err)
			l.close(ctx, err)
			if err != nil {
				return h.say(doing, err)
			}
			if l.held != nil {
				l.held.rename(r)
			}
			continue
		}
		l.close(ctx, err)
		if is(err, bot.BadAuth) && l.minted && !minted {
			minted = true
			continue
		}
		return h.say(doing, err)
	}
}

// say puts what was being done on an error.
func (h *Hub) say(doing string, err error) error {
	var no *bot.HubError
	if errors.As(err, &no) {
		said := *no
		said.Doing = doing
		return &said
	}
	if err != nil {
		return &cut{doing, err}
	}
	return nil
}

// cut is the end of the caller's context, while something was being done.
type cut struct {
	doing string
	err   error
}

func (c *cut) Error() string { return c.doing + ": " + c.err.Error() }
func (c *cut) Unwrap() error { return c.err }

// once does what find does not find. After a write without an answer it waits and looks before it writes again.
func once[T any](ctx context.Context, h *Hub, find func() (T, bool, error), do func() (T, error)) (T, error) {
	var failed error
	for try := 1; ; try++ {
		v, ok, err := find()
		if err != nil || ok {
			return v, err
		}
		if try > 3 {
			return v, failed
		}
		if v, failed = do(); failed == nil || !lost(failed) {
			return v, failed
		}
		if err := h.rest(ctx, time.Duration(try)*2*time.Second); err != nil {
			return v, err
		}
	}
}
