package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/bot"
)

// TestWritesKeepTheirDistance: ten writers at once, each write a second after the end of the one before.
func TestWritesKeepTheirDistance(t *testing.T) {
	s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case r.Method == "POST":
			reply(w, 201, map[string]any{"id": 1, "html_url": "u"})
		default:
			reply(w, 200, []any{})
		}
	}))
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if _, err := s.hub.Comment(t.Context(), widget, i+1, "<!-- m -->", "hello"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var last time.Time
	writes := 0
	for i, what := range s.record() {
		if !strings.HasPrefix(what, "POST /repos/") {
			continue
		}
		if writes++; writes > 1 && s.times[i].Sub(last) < time.Second {
			t.Errorf("a write %s after another", s.times[i].Sub(last))
		}
		last = s.times[i]
	}
	if writes != 10 {
		t.Errorf("%d writes, want 10", writes)
	}
}

func TestReadsAreAskedAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter, n int)
		want   bot.Class // "" for none
		calls  int
		slept  []time.Duration
	}{
		{"twice 502", func(w http.ResponseWriter, n int) {
			if n < 3 {
				no(w, 502, "Bad Gateway")
			} else {
				reply(w, 200, repoJSON(7, "widget"))
			}
		}, "", 3, []time.Duration{time.Second, 2 * time.Second}},
		{"cut off once", func(w http.ResponseWriter, n int) {
			if n == 1 {
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, "{")
			} else {
				reply(w, 200, repoJSON(7, "widget"))
			}
		}, "", 2, []time.Duration{time.Second}},
		{"always 500", func(w http.ResponseWriter, n int) { no(w, 500, "oh") }, bot.Unavailable, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{"503 says when", func(w http.ResponseWriter, n int) {
			if n == 1 {
				w.Header().Set("Retry-After", "9")
				no(w, 503, "later")
			} else {
				reply(w, 200, repoJSON(7, "widget"))
			}
		}, "", 2, []time.Duration{9 * time.Second}},
		{"never an answer", func(w http.ResponseWriter, n int) { panic(http.ErrAbortHandler) }, bot.Unavailable, 4, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{"no JSON", func(w http.ResponseWriter, n int) { io.WriteString(w, "<html>") }, bot.Unavailable, 1, nil},
		{"wrong types", func(w http.ResponseWriter, n int) { reply(w, 200, map[string]any{"id": "seven"}) }, bot.Unavailable, 1, nil},
		{"null", func(w http.ResponseWriter, n int) { reply(w, 200, nil) }, bot.Unavailable, 1, nil},
		{"too long", func(w http.ResponseWriter, n int) {
			junk := strings.Repeat(" ", 1<<20)
			for range longest>>20 + 1 {
				io.WriteString(w, junk)
			}
		}, bot.Unavailable, 1, nil},
		{"gone", func(w http.ResponseWriter, n int) { no(w, 410, "gone") }, bot.NotFound, 1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) { tt.answer(w, n) })
			_, err := s.hub.Repo(t.Context(), widget)
			if tt.want != "" {
				wantClass(t, err, tt.want)
			} else if err != nil {
				t.Error(err)
			}
			if len(s.record()) != tt.calls {
				t.Errorf("%d calls, want %d", len(s.record()), tt.calls)
			}
			if d := cmp.Diff(tt.slept, s.clock.slept); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSlowAnswer(t *testing.T) {
	free := make(chan struct{})
	s := play(t, Options{Token: "x", Reply: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			<-free
		}
		reply(w, 200, repoJSON(7, "widget"))
	})
	defer close(free)
	if _, err := s.hub.Repo(t.Context(), widget); err != nil {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	at := func(s *stage, d time.Duration) string { return strconv.FormatInt(s.clock.now().Add(d).Unix(), 10) }
	const secondary = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
	for _, tt := range []struct {
		name  string
		set   func(s *stage, w http.ResponseWriter, n int) bool // false: a good answer
		want  bot.Class
		slept []time.Duration
		after time.Duration
		kind  string
	}{
		{"retry-after", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("Retry-After", "30")
			w.Header().Set("X-RateLimit-Remaining", "4000")
			no(w, 403, secondary)
			return n == 1
		}, "", []time.Duration{30 * time.Second}, 0, "secondary"},
		{"retry-after wins over reset", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("Retry-After", "5")
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", at(s, time.Hour))
			no(w, 429, "API rate limit exceeded")
			return n == 1
		}, "", []time.Duration{5 * time.Second}, 0, "primary"},
		{"reset soon", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", at(s, 40*time.Second))
			no(w, 403, "API rate limit exceeded for installation ID 99.")
			return n == 1
		}, "", []time.Duration{41 * time.Second}, 0, "primary"},
		{"reset in an hour", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", at(s, time.Hour))
			no(w, 403, "API rate limit exceeded for installation ID 99.")
			return true
		}, bot.RateLimited, nil, time.Hour + time.Second, "primary"},
		{"no header, twice", func(s *stage, w http.ResponseWriter, n int) bool {
			if n < 3 {
				no(w, 429, secondary)
			}
			return n < 3
		}, "", []time.Duration{time.Minute, 2 * time.Minute}, 0, "secondary"},
		{"403 by its words alone", func(s *stage, w http.ResponseWriter, n int) bool {
			if n == 1 {
				no(w, 403, secondary)
			}
			return n == 1
		}, "", []time.Duration{time.Minute}, 0, "secondary"},
		{"again and again", func(s *stage, w http.ResponseWriter, n int) bool {
			no(w, 403, secondary)
			return true
		}, bot.RateLimited, []time.Duration{time.Minute, 2 * time.Minute}, 4 * time.Minute, "secondary"},
		{"a 403 that is no limit", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("X-RateLimit-Remaining", "4000")
			no(w, 403, "Resource not accessible by integration")
			return true
		}, bot.Forbidden, nil, 0, ""},
		{"a year of waiting", func(s *stage, w http.ResponseWriter, n int) bool {
			w.Header().Set("Retry-After", "31536000")
			no(w, 429, secondary)
			return true
		}, bot.RateLimited, nil, longestHold, "secondary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s *stage
			s = play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) {
				buffer := &late{ResponseWriter: w}
				if tt.set(s, buffer, n) {
					buffer.send()
				} else {
					clear(w.Header())
					reply(w, 200, repoJSON(7, "widget"))
				}
			})
			_, err := s.hub.Repo(t.Context(), widget)
			if tt.want != "" {
				if no := wantClass(t, err, tt.want); no.After != tt.after {
					t.Errorf("after %s, want %s", no.After, tt.after)
				}
			} else if err != nil {
				t.Error(err)
			}
			if d := cmp.Diff(tt.slept, s.clock.slept); d != "" {
				t.Error(d)
			}
			if tt.kind != "" && !strings.Contains(s.log.String(), "kind="+tt.kind) {
				t.Errorf("the log does not say %s: %s", tt.kind, s.log.String())
			}
		})
	}
}

// late holds an answer back until it is known to be wanted.
type late struct {
	http.ResponseWriter
	status int
	body   []byte
}

func (l *late) WriteHeader(status int)      { l.status = status }
func (l *late) Write(p []byte) (int, error) { l.body = append(l.body, p...); return len(p), nil }
func (l *late) send() {
	l.ResponseWriter.WriteHeader(l.status)
	l.ResponseWriter.Write(l.body)
}

// TestShutGate: while a limit lasts no call leaves, of that credential alone.
func TestShutGate(t *testing.T) {
	var s *stage
	s = play(t, Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/app/installations/"):
			reply(w, 201, map[string]any{"token": "ghs_" + strings.Split(r.URL.Path, "/")[3]})
		case r.Header.Get("Authorization") == "Bearer ghs_99":
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(s.clock.now().Add(time.Hour).Unix(), 10))
			no(w, 403, "API rate limit exceeded")
		default:
			reply(w, 200, repoJSON(7, "widget"))
		}
	})
	_, err := s.hub.Repo(t.Context(), widget)
	wantClass(t, err, bot.RateLimited)
	before := s.count("GET /repos/acme/widget")
	_, err = s.hub.Repo(t.Context(), widget)
	if no := wantClass(t, err, bot.RateLimited); no.After < 50*time.Minute {
		t.Errorf("after %s, want near an hour", no.After)
	}
	if s.count("GET /repos/acme/widget") != before {
		t.Error("a call left through a shut gate")
	}
	other := widget
	other.Installation = 100
	if _, err := s.hub.Repo(t.Context(), other); err != nil {
		t.Errorf("another installation: %v", err)
	}
	s.clock.sleep(t.Context(), 2*time.Hour)
	if s.hub.gate("installation 99").shut(s.clock.now()) > 0 {
		t.Error("the gate stays shut")
	}
}

// TestLastCall: the answer that says that it was the last shuts the gate, and go-github's own book of limits, which goes
// by another clock, has no say.
func TestLastCall(t *testing.T) {
	reset := time.Now().Add(time.Hour)
	s := play(t, Options{Token: "plain-token"}, func(w http.ResponseWriter, r *http.Request, n int) {
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
		reply(w, 200, map[string]any{"check_runs": []any{}, "statuses": []any{}})
	})
	s.clock.t = reset.Add(time.Hour)
	if _, err := s.hub.Checks(t.Context(), widget, "abcdef1"); err != nil || len(s.record()) != 2 {
		t.Errorf("%v after %q", err, s.record())
	}
	s.clock.t = reset.Add(-30 * time.Minute)
	_, err := s.hub.Checks(t.Context(), widget, "abcdef1")
	wantClass(t, err, bot.RateLimited)
	if n := len(s.record()); n != 3 {
		t.Errorf("%d calls left, want the last one only", n)
	}
}

func TestETags(t *testing.T) {
	s := play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.URL.Query().Get("page") == "2" {
			reply(w, 200, map[string]any{"statuses": []any{}})
			return
		}
		w.Header().Set("Etag", `"one"`)
		if n == 3 {
			w.Header().Set("Etag", `"two"`)
		} else if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(304)
			return
		}
		reply(w, 200, map[string]any{"id": 7, "name": "widget", "owner": map[string]any{"login": "acme"}, "default_branch": "main" + strconv.Itoa(n)})
	})
	var got []string
	for range 5 {
		f, err := s.hub.Repo(t.Context(), widget)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f.Default)
	}
	if d := cmp.Diff([]string{"main1", "main1", "main3", "main3", "main3"}, got); d != "" {
		t.Error(d)
	}
	var tags []string
	for _, h := range s.heads {
		tags = append(tags, h.Get("If-None-Match"))
	}
	if d := cmp.Diff([]string{"", `"one"`, `"one"`, `"two"`, `"two"`}, tags); d != "" {
		t.Error(d)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c cache
	for i := range 3 * cacheEntries {
		c.put(cached{key: fmt.Sprint(i), etag: "e", body: make([]byte, 100)})
	}
	if len(c.by) != cacheEntries || c.order.Len() != cacheEntries || c.bytes != 100*cacheEntries {
		t.Errorf("%d entries, %d bytes", len(c.by), c.bytes)
	}
	for i := range 40 {
		c.put(cached{key: "big" + fmt.Sprint(i), etag: "e", body: make([]byte, cacheEntry)})
	}
	if c.bytes > cacheBytes {
		t.Errorf("%d bytes, want at most %d", c.bytes, cacheBytes)
	}
	c.put(cached{key: "x", etag: "e", body: make([]byte, cacheEntry+1)})
	c.put(cached{key: "y"})
	for _, k := range []string{"x", "y", "0"} {
		if _, ok := c.get(k); ok {
			t.Errorf("%s is kept", k)
		}
	}
	c.put(cached{key: "big39", etag: "new", body: []byte("b")})
	if v, ok := c.get("big39"); !ok || v.etag != "new" {
		t.Errorf("got %v, want the new one", v.etag)
	}
}

// TestCancelled: the end of the caller's context stays what it is.
func TestCancelled(t *testing.T) {
	why := errors.New("superseded")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) {
		cancel(why)
		no(w, 500, "oh")
	})
	if _, err := s.hub.Repo(ctx, widget); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	if len(s.record()) > 1 {
		t.Errorf("asked %d times after the end", len(s.record()))
	}
}

// TestLocks: who waits for the same thing waits, who waits for another does not, and nothing is left over.
func TestLocks(t *testing.T) {
	var l locks
	release, _ := l.take(t.Context(), "a")
	other, _ := l.take(t.Context(), "b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.take(ctx, "a"); err == nil {
		t.Error("two hold one lock")
	}
	got := make(chan struct{})
	go func() {
		r, _ := l.take(t.Context(), "a")
		r()
		close(got)
	}()
	release()
	<-got
	other()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) != 0 {
		t.Errorf("%d locks are left over", len(l.held))
	}
}

// TestRedirects are followed to a repository of the same GitHub, once, and nowhere else.
func TestRedirects(t *testing.T) {
	for _, tt := range []struct {
		name, to string
		want     bot.Class // "" for none
		calls    int
	}{
		{"the repository by its id", "/repositories/7", "", 4},
		{"another repository", "/repositories/8", bot.NotFound, 3},
		{"another host", "http://127.0.0.2:1/repositories/7", bot.NotFound, 2},
		{"another call", "/repositories/7/issues/1", bot.NotFound, 2},
		{"no place", "", bot.NotFound, 2},
		{"round and round", "/repos/acme/widget", bot.NotFound, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, Options{Token: "plain-token"}, func(w http.ResponseWriter, r *http.Request, n int) {
				switch r.URL.Path {
				case "/repositories/7", "/repos/acme/gadget":
					reply(w, 200, repoJSON(7, "gadget"))
				case "/repositories/8":
					reply(w, 200, repoJSON(8, "gadget"))
				default:
					w.Header().Set("Location", tt.to)
					w.WriteHeader(301)
				}
			})
			f, err := s.hub.Repo(t.Context(), widget)
			if tt.want != "" {
				wantClass(t, err, tt.want)
			} else if err != nil || f.Name != "gadget" {
				t.Errorf("got %+v %v", f, err)
			}
			if d := cmp.Diff(tt.calls, len(s.record())); d != "" {
				t.Error(d, s.record())
			}
		})
	}
}
