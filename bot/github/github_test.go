package github

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot"
)

// clock stands still until somebody sleeps.
type clock struct {
	mu    sync.Mutex
	t     time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t, c.slept = c.t.Add(d), append(c.slept, d)
	return context.Cause(ctx)
}

var key = sync.OnceValue(func() []byte {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
})

// oddToken has a shape that no pattern of tokens knows.
const oddToken = `ghs_4711~a.b+c/d=="'\e`

// stage is a few answers of a GitHub, and what was asked.
type stage struct {
	clock clock
	hub   *Hub
	url   string
	log   strings.Builder

	mu    sync.Mutex
	asked []string    // "GET /repos/acme/widget"
	times []time.Time // on the stage's clock
	sent  []string    // bodies
	heads []http.Header
}

// play starts a hub against answers: for the n-th call of this method and path, from 1.
func play(t *testing.T, o Options, answer func(w http.ResponseWriter, r *http.Request, n int)) *stage {
	t.Helper()
	s := &stage{clock: clock{t: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		what := r.Method + " " + r.URL.EscapedPath()
		s.mu.Lock()
		s.asked, s.times, s.sent, s.heads = append(s.asked, what), append(s.times, s.clock.now()), append(s.sent, string(body)), append(s.heads, r.Header.Clone())
		n := 0
		for _, a := range s.asked {
			if a == what {
				n++
			}
		}
		s.mu.Unlock()
		answer(w, r, n)
	}))
	t.Cleanup(srv.Close)
	o.API, o.Now, o.Sleep, s.url = srv.URL, s.clock.now, s.clock.sleep, srv.URL
	o.Log = slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Token == "" {
		o.AppID, o.Key = 4711, key()
	}
	hub, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.hub = hub
	return s
}

// record is what was asked so far.
func (s *stage) record() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// count is how often something was asked.
func (s *stage) count(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a == what {
			n++
		}
	}
	return n
}

var widget = bot.Repo{ID: 7, Owner: "acme", Name: "widget", Installation: 99}

// asApp answers what an App's every operation needs, and leaves the rest to next.
func asApp(next func(w http.ResponseWriter, r *http.Request, n int)) func(w http.ResponseWriter, r *http.Request, n int) {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		switch r.Method + " " + r.URL.Path {
		case "GET /app":
			reply(w, 200, map[string]any{"id": 4711, "slug": "redraft"})
		case "POST /app/installations/99/access_tokens":
			reply(w, 201, map[string]any{"token": oddToken, "repositories": []any{map[string]any{"id": 7, "name": "widget", "owner": map[string]any{"login": "acme"}}}})
		case "DELETE /installation/token":
			w.WriteHeader(204)
		default:
			next(w, r, n)
		}
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

func no(w http.ResponseWriter, status int, message string) {
	reply(w, status, map[string]any{"message": message})
}

func repoJSON(id int64, name string) map[string]any {
	return map[string]any{"id": id, "name": name, "owner": map[string]any{"login": "acme"}, "default_branch": "main"}
}

func wantClass(t *testing.T, err error, c bot.Class) *bot.HubError {
	t.Helper()
	var no *bot.HubError
	if !errors.As(err, &no) || no.Class != c {
		t.Fatalf("got %v, want class %s", err, c)
	}
	if no.Doing == "" {
		t.Errorf("%v does not say what was being done", err)
	}
	return no
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string // in the error; "" for none
	}{
		{"an App", Options{AppID: 1, Key: key()}, ""},
		{"a token", Options{Token: "x"}, ""},
		{"an Enterprise Server", Options{Token: "x", API: "https://ghe.example/api/v3"}, ""},
		{"this machine", Options{Token: "x", API: "http://127.0.0.1:1"}, ""},
		{"nothing", Options{}, "no credential"},
		{"both", Options{AppID: 1, Key: key(), Token: "x"}, "want one"},
		{"an id alone", Options{AppID: 1}, "no credential"},
		{"a key that is none", Options{AppID: 1, Key: []byte("secret words")}, "no RSA private key"},
		{"in clear over the net", Options{Token: "x", API: "http://api.example"}, "want https"},
		{"a user in the address", Options{Token: "x", API: "https://a:b@api.example"}, "more than scheme"},
		{"a token of two lines", Options{Token: "a\nb"}, "control characters"},
		{"no such authority", Options{Token: "x", CA: "missing.pem"}, "read authorities"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.o)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret words") {
				t.Errorf("%v holds the key", err)
			}
		})
	}
}

func TestOptionsHideSecrets(t *testing.T) {
	o := Options{AppID: 1, Key: []byte("sesame"), Token: "sesame"}
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(f, o); strings.Contains(s, "sesame") || strings.Contains(s, "115 101") || strings.Contains(s, "0x73") {
			t.Errorf("%s prints %s", f, s)
		}
	}
	h, err := New(Options{Token: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	if s := fmt.Sprintf("%+v %#v", h, h); strings.Contains(s, "sesame") {
		t.Errorf("a Hub prints %s", s)
	}
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct{ api, git, want string }{
		{"", "", "https://github.com/acme/widget.git"},
		{"https://ghe.example/api/v3/", "", "https://ghe.example/acme/widget.git"},
		{"https://ghe.example/api/v3", "https://code.example/", "https://code.example/acme/widget.git"},
	} {
		h, err := New(Options{Token: "x", API: tt.api, Git: tt.git})
		if err != nil {
			t.Fatal(err)
		}
		r, done, err := h.Remote(t.Context(), widget, true)
		if err != nil || r.URL != tt.want || r.Token != "x" {
			t.Errorf("got %v %v, want %s", r.URL, err, tt.want)
		}
		done()
	}
	h, _ := New(Options{Token: "x"})
	for _, bad := range []bot.Repo{{Owner: "-u", Name: "x"}, {Owner: "a", Name: ".."}, {Owner: "a/b", Name: "c"}, {Owner: "a", Name: ""}, {Owner: "a", Name: "b?c"}} {
		if _, _, err := h.Remote(t.Context(), bad, false); err == nil {
			t.Errorf("%q has an address", bad)
		}
	}
}
