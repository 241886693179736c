package github

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/bot"
)

func (s *stage) minted(t *testing.T) (all []map[string]any) {
	t.Helper()
	for i, what := range s.record() {
		if strings.HasPrefix(what, "POST /app/") {
			var body map[string]any
			if err := json.Unmarshal([]byte(s.sent[i]), &body); err != nil {
				t.Fatal(err)
			}
			all = append(all, body)
		}
	}
	return all
}

// TestTokens: one token an operation, for one repository, with what its calls need and no more, revoked at its end.
func TestTokens(t *testing.T) {
	s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+oddToken:
			no(w, 401, "Bad credentials")
		case strings.Contains(r.URL.Path, "check-runs"):
			reply(w, 200, map[string]any{"check_runs": []any{map[string]any{"id": 1, "name": "unit", "app": map[string]any{"slug": "github-actions"}}}})
		case strings.HasSuffix(r.URL.Path, "/repos/acme/widget"):
			reply(w, 200, repoJSON(7, "widget"))
		default:
			reply(w, 200, map[string]any{})
		}
	}))
	if _, err := s.hub.Checks(t.Context(), widget, "abcdef1234567"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.Repo(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"repository_ids": []any{7.0}, "permissions": map[string]any{"metadata": "read", "checks": "read", "actions": "read", "statuses": "read"}},
		{"repository_ids": []any{7.0}, "permissions": map[string]any{"metadata": "read"}},
	}
	if d := cmp.Diff(want, s.minted(t)); d != "" {
		t.Error(d)
	}
	if n := s.count("DELETE /installation/token"); n != 2 {
		t.Errorf("%d tokens revoked, want 2", n)
	}
	if s.record()[len(s.record())-1] != "DELETE /installation/token" {
		t.Errorf("the last call is %s", s.record()[len(s.record())-1])
	}
}

// TestRevokedAlways: also when the operation failed, and when its caller has gone.
func TestRevokedAlways(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) {
		cancel()
		no(w, 404, "Not Found")
	}))
	if _, err := s.hub.Repo(ctx, widget); err == nil {
		t.Fatal("no error")
	}
	if n := s.count("DELETE /installation/token"); n != 1 {
		t.Errorf("%d tokens revoked, want 1", n)
	}
}

// TestRevokeRefused: a token that cannot be revoked is said in the log, and the work stands.
func TestRevokeRefused(t *testing.T) {
	s := play(t, Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.Method == "DELETE" {
			no(w, 500, "oh "+oddToken)
			return
		}
		asApp(func(w http.ResponseWriter, r *http.Request, n int) { reply(w, 200, repoJSON(7, "widget")) })(w, r, n)
	})
	if _, err := s.hub.Repo(t.Context(), widget); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); !strings.Contains(log, "was not revoked") || strings.Contains(log, oddToken) {
		t.Errorf("log: %s", log)
	}
	if n := s.count("DELETE /installation/token"); n != 1 {
		t.Errorf("a write was sent %d times", n)
	}
}

func TestMintedAnewOnce(t *testing.T) {
	for _, tt := range []struct {
		name       string
		good       int // the call that is let in; 0 for none
		mints, end int
		want       bot.Class
	}{
		{"revoked under way", 2, 2, 1, ""},
		{"never let in", 0, 2, 0, bot.BadAuth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) {
				if n == tt.good {
					reply(w, 200, repoJSON(7, "widget"))
				} else {
					no(w, 401, "Bad credentials")
				}
			}))
			_, err := s.hub.Repo(t.Context(), widget)
			if tt.want != "" {
				wantClass(t, err, tt.want)
			} else if err != nil {
				t.Error(err)
			}
			if n := len(s.minted(t)); n != tt.mints {
				t.Errorf("%d tokens, want %d", n, tt.mints)
			}
			if n := s.count("DELETE /installation/token"); n != tt.end {
				t.Errorf("%d revoked, want %d: a dead token needs none", n, tt.end)
			}
		})
	}
	t.Run("a plain token", func(t *testing.T) {
		s := play(t, Options{Token: oddToken}, func(w http.ResponseWriter, r *http.Request, n int) { no(w, 401, "Bad credentials") })
		_, err := s.hub.Repo(t.Context(), widget)
		wantClass(t, err, bot.BadAuth)
		if len(s.record()) != 1 {
			t.Errorf("asked %q", s.record())
		}
	})
}

// TestMintRefused: what is missing is named, before any work.
func TestMintRefused(t *testing.T) {
	for _, tt := range []struct {
		name, message string
		status        int
		want          bot.Class
		permission    string
	}{
		{"not granted", "The permissions requested are not granted to this installation.", 422, bot.Forbidden, "checks: read, statuses: read"},
		{"not this repository", "There is at least one repository that does not exist or is not accessible to the parent installation.", 422, bot.NotFound, ""},
		{"suspended", "This installation has been suspended", 403, bot.Forbidden, "actions: read, checks: read, statuses: read"},
		{"uninstalled", "Not Found", 404, bot.NotFound, ""},
		{"a wrong key", "A JSON web token could not be decoded", 401, bot.BadAuth, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
				if r.Method == "GET" {
					reply(w, 200, map[string]any{"id": 99, "permissions": map[string]any{"metadata": "read", "actions": "write"}})
					return
				}
				no(w, tt.status, tt.message)
			})
			_, err := s.hub.Checks(t.Context(), widget, "abcdef1234567")
			if no := wantClass(t, err, tt.want); no.Permission != tt.permission {
				t.Errorf("permission %q, want %q", no.Permission, tt.permission)
			}
			if n := s.count("POST /app/installations/99/access_tokens"); n != 1 {
				t.Errorf("asked %d times for a token", n)
			}
		})
	}
}

// TestInstallationIsFound when the event did not say.
func TestInstallationIsFound(t *testing.T) {
	s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) {
		if strings.HasSuffix(r.URL.Path, "/installation") {
			reply(w, 200, map[string]any{"id": 99})
			return
		}
		reply(w, 200, repoJSON(7, "widget"))
	}))
	f, err := s.hub.Repo(t.Context(), bot.Repo{Owner: "acme", Name: "widget"})
	if err != nil || f.ID != 7 || f.Installation != 99 {
		t.Errorf("got %+v %v", f, err)
	}
	if d := cmp.Diff([]any{"widget"}, s.minted(t)[0]["repositories"]); d != "" {
		t.Error(d)
	}
}

// TestTokensStaySecret: a GitHub that says a token back, in every way an answer can fail.
func TestTokensStaySecret(t *testing.T) {
	long := strings.Repeat("x", longestText-5) + oddToken
	for _, answer := range []func(w http.ResponseWriter, r *http.Request){
		func(w http.ResponseWriter, r *http.Request) { no(w, 403, "token "+oddToken+" may not") },
		func(w http.ResponseWriter, r *http.Request) { no(w, 422, long) },
		func(w http.ResponseWriter, r *http.Request) { no(w, 400, r.Header.Get("Authorization")) },
		func(w http.ResponseWriter, r *http.Request) {
			reply(w, 422, map[string]any{"message": "no", "errors": []any{map[string]any{"message": oddToken}, oddToken}})
		},
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/repositories/"+oddToken)
			w.WriteHeader(301)
		},
		func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(oddToken)) },
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7200")
			no(w, 429, oddToken)
		},
		func(w http.ResponseWriter, r *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Write([]byte("HTTP/1.1 " + oddToken + "\r\n\r\n"))
			c.Close()
		},
	} {
		s := play(t, Options{}, asApp(func(w http.ResponseWriter, r *http.Request, n int) { answer(w, r) }))
		_, err := s.hub.Issue(t.Context(), widget, 3)
		if err == nil {
			t.Error("no error")
			continue
		}
		for _, text := range []string{err.Error(), s.log.String()} {
			if strings.Contains(text, oddToken) || strings.Contains(text, oddToken[:5]) {
				t.Errorf("the token is in: %s", text)
			}
		}
	}
	s := play(t, Options{}, func(w http.ResponseWriter, r *http.Request, n int) { no(w, 401, r.Header.Get("Authorization")) })
	_, err := s.hub.Issue(t.Context(), widget, 3)
	if err == nil || strings.Contains(err.Error(), "eyJ") {
		t.Errorf("the App's signature is in: %v", err)
	}
}

func TestRemote(t *testing.T) {
	ca := filepath.Join(t.TempDir(), "ca.pem")
	s := play(t, Options{Git: "https://git.example"}, asApp(func(w http.ResponseWriter, r *http.Request, n int) { t.Errorf("asked %s", r.URL) }))
	s.hub.ca = ca
	for i, tt := range []struct {
		push bool
		want string
	}{{false, "read"}, {true, "write"}} {
		remote, done, err := s.hub.Remote(t.Context(), widget, tt.push)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(bot.Remote{URL: "https://git.example/acme/widget.git", Token: oddToken, CA: ca}, remote); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(map[string]any{"metadata": "read", "contents": tt.want}, s.minted(t)[i]["permissions"]); d != "" {
			t.Error(d)
		}
		if n := s.count("DELETE /installation/token"); n != i {
			t.Errorf("%d tokens revoked before their end", n-i)
		}
		done()
		done()
		if n := s.count("DELETE /installation/token"); n != i+1 {
			t.Errorf("%d tokens revoked, want %d", n, i+1)
		}
	}
}

func TestAuthorities(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Token: "x", CA: file}); err == nil || !strings.Contains(err.Error(), "holds no certificate") {
		t.Errorf("got %v", err)
	}
}

func TestSelf(t *testing.T) {
	s := play(t, Options{}, asApp(nil))
	for range 2 {
		self, err := s.hub.Self(t.Context())
		if d := cmp.Diff(bot.Self{App: 4711, Login: "redraft[bot]", Prefix: "redraft/"}, self); d != "" || err != nil {
			t.Error(d, err)
		}
	}
	if want := []string{"GET /app"}; !slices.Equal(s.record(), want) {
		t.Errorf("asked %q, want %q", s.record(), want)
	}
	for _, tt := range []struct {
		status int
		body   map[string]any
		want   string
	}{
		{200, map[string]any{"login": "ada", "id": 1}, "ada"},
		{403, map[string]any{"message": "Resource not accessible by integration"}, "github-actions[bot]"},
	} {
		s := play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) { reply(w, tt.status, tt.body) })
		if self, err := s.hub.Self(t.Context()); err != nil || self.Login != tt.want || self.App != 0 {
			t.Errorf("got %+v %v, want %s", self, err, tt.want)
		}
	}
}

// TestOwnPlan: a person's token tells the plan of that person's own repositories.
func TestOwnPlan(t *testing.T) {
	for plan, want := range map[string]int{"free": 1, "pro": 0, "": 0} {
		s := play(t, Options{Token: "plain-token"}, func(w http.ResponseWriter, r *http.Request, n int) {
			switch r.URL.Path {
			case "/user":
				reply(w, 200, map[string]any{"login": "Acme", "plan": map[string]any{"name": plan}})
			case "/repos/acme/widget":
				repo := repoJSON(7, "widget")
				repo["private"] = true
				reply(w, 200, repo)
			default:
				no(w, 403, "Resource not accessible")
			}
		})
		lacks, err := s.hub.Check(t.Context(), widget)
		if err != nil || len(lacks) != want {
			t.Errorf("%q: got %+v %v, want %d", plan, lacks, err, want)
		}
	}
}

// TestMintIsTriedAgain: reads do not fail for a token that was slow to come.
func TestMintIsTriedAgain(t *testing.T) {
	s := play(t, Options{}, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.Method == "POST" && n < 3 {
			no(w, 502, "Bad Gateway")
			return
		}
		asApp(func(w http.ResponseWriter, r *http.Request, n int) { reply(w, 200, repoJSON(7, "widget")) })(w, r, n)
	})
	if _, err := s.hub.Repo(t.Context(), widget); err != nil {
		t.Error(err)
	}
	if n := s.count("POST /app/installations/99/access_tokens"); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}
