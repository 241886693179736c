package github

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/bot"
)

// pace lets one write out at a time, each a pause after the one before.
type pace struct {
	hub   *Hub
	turn  chan struct{} // holds one value while nobody writes
	ended time.Time     // of the last write; owned by whoever holds the turn
}

func newPace(h *Hub) *pace {
	p := &pace{hub: h, turn: make(chan struct{}, 1)}
	p.turn <- struct{}{}
	return p
}

// enter waits for the turn and the pause. leave gives the turn on.
func (p *pace) enter(ctx context.Context) (leave func(), err error) {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !p.ended.IsZero() {
		if err := p.hub.rest(ctx, p.hub.pause-p.hub.now().Sub(p.ended)); err != nil {
			p.turn <- struct{}{}
			return nil, err
		}
	}
	return func() {
		p.ended = p.hub.now()
		p.turn <- struct{}{}
	}, nil
}

// gate is shut while GitHub wants no calls of one credential.
type gate struct {
	mu      sync.Mutex
	until   time.Time
	strikes int // limits in a row that did not say for how long
}

const (
	unsaid      = time.Minute // GitHub's advice where a limit does not say how long it lasts
	longestHold = 2 * time.Hour
)

// hold shuts the gate for as long as a limit says, or for a minute, doubled each time that it does not say.
func (g *gate) hold(now time.Time, wait time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if wait <= 0 {
		wait = unsaid << min(g.strikes, 6)
		g.strikes++
	}
	wait = min(wait, longestHold)
	if until := now.Add(wait); until.After(g.until) {
		g.until = until
	}
	return wait
}

// open forgets the limits in a row: an answer came.
func (g *gate) open() {
	g.mu.Lock()
	g.strikes = 0
	g.mu.Unlock()
}

func (g *gate) shut(now time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until.Sub(now)
}

// pass waits for the gate, unless that takes longer than anybody here should wait: then the caller is told when.
func (g *gate) pass(ctx context.Context, h *Hub) error {
	for {
		d := g.shut(h.now())
		if d <= 0 {
			return nil
		}
		if d > h.patience {
			return &bot.HubError{Class: bot.RateLimited, After: d, Text: "a limit that GitHub set before"}
		}
		if err := h.rest(ctx, d); err != nil {
			return err
		}
	}
}

// limited says whether an answer is a limit, which kind, and how long it asks to wait; 0 when it does not say. Other
// 403s are want of a permission. https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
func limited(r *http.Response, body []byte, now time.Time) (kind string, wait time.Duration) {
	if r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusTooManyRequests {
		return "", 0
	}
	after, asked := retryAfter(r.Header, now)
	text := strings.ToLower(string(body[:min(len(body), 4096)]))
	switch last := r.Header.Get("X-Ratelimit-Remaining") == "0"; {
	case last && !strings.Contains(text, "secondary"):
		kind = "primary"
	case asked || r.StatusCode == http.StatusTooManyRequests || strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection"):
		kind = "secondary"
	default:
		return "", 0
	}
	if !asked {
		after = spent(r.Header, now)
	}
	return kind, after
}

// spent is how long it takes until there are calls again, when this was the last one.
func spent(header http.Header, now time.Time) time.Duration {
	reset, err := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || header.Get("X-Ratelimit-Remaining") != "0" {
		return 0
	}
	return max(time.Unix(reset, 0).Sub(now)+time.Second, 0) // its clock counts whole seconds
}

func retryAfter(header http.Header, now time.Time) (after time.Duration, asked bool) {
	v := header.Get("Retry-After")
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseInt(v, 10, 64); err == nil {
		return time.Duration(min(max(s, 0), int64(longestHold/time.Second))) * time.Second, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, true
}

// locks are one lock a name, so that two callers never look and write the same thing side by side.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	turn  chan struct{}
	users int
}

func (l *locks) take(ctx context.Context, name string) (release func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	k := l.held[name]
	if k == nil {
		k = &lock{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		l.held[name] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		if k.users--; k.users == 0 {
			delete(l.held, name)
		}
		l.mu.Unlock()
	}
	select {
	case <-k.turn:
		return func() { k.turn <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
