package github

import (
	"context"
	"sync"

	"github.com/redraft-dev/redraft/bot"
)

// reading are the calls that looking at a repository is made of.
var reading = []op{getRepo, getMoved, getPermission, getPull, listPulls, getIssue, listComments, getBranch, getCommit, getFile, listCheckRuns, getStatus, listRuns, getRun, listJobs}

// held is one token that the reads of one context share.
type held struct {
	hub  *Hub
	repo int64
	mu   sync.Mutex
	line *line // nil until the first read, and after GitHub took it no more
	over bool
}

type heldKey struct{}

// Hold makes looking at one repository one operation: reads with the context that it returns share a token, minted at the
// first of them with what reading needs and nothing else, until release revokes it. Writes get tokens of their own as
// ever. Without it each method is an operation, and looking at an event with eight of them costs sixteen calls more.
func (h *Hub) Hold(ctx context.Context, r bot.Repo) (_ context.Context, release func()) {
	if h.app == nil || r.ID == 0 {
		return ctx, func() {}
	}
	k := &held{hub: h, repo: r.ID}
	return context.WithValue(ctx, heldKey{}, k), func() { k.end(ctx) }
}

// shared is the line that a context holds for these calls, nil when it holds none.
func (h *Hub) shared(ctx context.Context, r bot.Repo, ops []op) (*line, error) {
	k, _ := ctx.Value(heldKey{}).(*held)
	if k == nil || k.hub != h || k.repo != r.ID {
		return nil, nil
	}
	for _, o := range ops {
		if !among(o, reading) {
			return nil, nil
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil, nil
	}
	if k.line == nil {
		l, err := h.fresh(ctx, r, reading)
		if is(err, bot.Forbidden) {
			k.over = true // something is not granted that these calls may not need
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		k.line = l
	}
	own := *k.line
	own.held = k
	return &own, nil
}

// dead forgets a token that GitHub takes no more.
func (k *held) dead(token secret) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.line != nil && k.line.token() == token() {
		k.line = nil
	}
}

// rename keeps what a repository is called now, for the reads to come.
func (k *held) rename(r bot.Repo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.line != nil {
		k.line.repo = r
	}
}

func (k *held) end(ctx context.Context) {
	k.mu.Lock()
	l := k.line
	k.line, k.over = nil, true
	k.mu.Unlock()
	if l != nil {
		l.close(ctx, nil)
	}
}
