package worktree

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// forge is git over smart HTTP on loopback, as a forge serves it.
type forge struct {
	Remote
	dir string // the bare repository

	mu     sync.Mutex
	seen   map[string]bool // Authorization headers
	before func()          // runs when a push begins, once
	deaf   bool            // a push is taken and its answer lost
}

const forgeToken = "ghs_0123456789abcdefghijklmnopqrstuvwxyz"

func newForge(t *testing.T) *forge {
	t.Helper()
	dir := t.TempDir()
	f := &forge{dir: filepath.Join(dir, "o", "r.git"), seen: map[string]bool{}}
	plain(t, dir, "init", "--quiet", "--bare", "--initial-branch=main", f.dir)
	plain(t, dir, "--git-dir="+f.dir, "config", "http.receivepack", "true")
	git := openStore(t).git
	backend := &cgi.Handler{Path: git.Path(), Args: []string{"http-backend"}, Env: []string{
		"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + dir, "REMOTE_USER=redraft",
	}, Stderr: io.Discard}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen[r.Header.Get("Authorization")] = true
		before, deaf := f.before, f.deaf
		if r.URL.Query().Get("service") == "git-receive-pack" {
			f.before = nil
		} else {
			before = nil
		}
		f.mu.Unlock()
		if before != nil {
			before()
		}
		if _, token, ok := r.BasicAuth(); !ok || token != forgeToken {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if deaf && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			backend.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		backend.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener, _ = net.Listen("tcp", "127.0.0.1:0")
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that a test wants refused
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Remote = Remote{URL: server.URL + "/o/r.git", Token: forgeToken, CA: ca}
	return f
}

// commit puts a commit on a branch of the forge, as a person's push does.
func (f *forge) commit(t *testing.T, branch, name, text string) string {
	t.Helper()
	work := t.TempDir()
	plain(t, work, "clone", "--quiet", f.dir, "w")
	w := filepath.Join(work, "w")
	if plain(t, w, "ls-remote", "origin", "refs/heads/"+branch) != "" {
		plain(t, w, "checkout", "--quiet", "-B", branch, "origin/"+branch)
	} else {
		plain(t, w, "checkout", "--quiet", "-B", branch)
	}
	if err := os.WriteFile(filepath.Join(w, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plain(t, w, "add", "-A")
	plain(t, w, "commit", "--quiet", "-m", "change "+name)
	plain(t, w, "push", "--quiet", "origin", "HEAD:refs/heads/"+branch)
	return strings.TrimSpace(plain(t, w, "rev-parse", "HEAD"))
}

func (f *forge) tip(t *testing.T, branch string) string {
	t.Helper()
	return strings.TrimSpace(plain(t, f.dir, "--git-dir="+f.dir, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch))
}

func TestRemote(t *testing.T) {
	f := newForge(t)
	first := f.commit(t, "main", "a.txt", "one\n")
	second := f.commit(t, "main", "a.txt", "two\n")
	s := openStore(t)
	var ran []string
	s.git.OnRun = func(argv []string, _ int, _ time.Duration) { ran = append(ran, strings.Join(argv, " ")) }
	m, err := s.FetchFrom(t.Context(), "host/1", f.Remote, first)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := m.FileAt(first, "a.txt"); err != nil || string(b) != "one\n" {
		t.Errorf("a.txt of the first commit is %q, %v", b, err)
	}
	if _, err := m.TreeFS(second); err == nil {
		t.Error("a commit that was not asked for was brought")
	}
	if m, err = s.FetchFrom(t.Context(), "host/1", f.Remote, first, second); err != nil {
		t.Fatal(err)
	}
	if tip, err := m.TipAt(t.Context(), f.Remote, "main"); err != nil || tip != second {
		t.Errorf("main stands at %q, %v", tip, err)
	}
	if tip, err := m.TipAt(t.Context(), f.Remote, "redraft/none"); err != nil || tip != "" {
		t.Errorf("a branch that is not there stands at %q, %v", tip, err)
	}
	sha := commitOn(t, m, second, File{Path: "a.txt", Data: []byte("three\n")})
	for range 2 { // the second push of the same is no error
		if err := m.Push(t.Context(), f.Remote, "redraft/pull-7", sha, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.tip(t, "redraft/pull-7"); got != sha {
		t.Errorf("the branch stands at %s, want %s", got, sha)
	}
	if said := strings.Join(ran, "\n"); strings.Contains(said, forgeToken) || strings.Contains(said, "Authorization") || strings.Contains(said, "--force") || strings.Contains(said, "+refs") {
		t.Errorf("git was told on its command line:\n%s", said)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[""] || len(f.seen) != 1 {
		t.Errorf("the forge saw the headers %v, want the token's alone", f.seen)
	}
}

// A moved root makes a commit with two parents; the tree is the proved one, whatever the branch held.
func TestPushFollows(t *testing.T) {
	f := newForge(t)
	root := f.commit(t, "main", "a.txt", "one\n")
	s := openStore(t)
	m, err := s.FetchFrom(t.Context(), "host/1", f.Remote, root)
	if err != nil {
		t.Fatal(err)
	}
	old := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("patched\n")})
	if err := m.Push(t.Context(), f.Remote, "redraft/pull-7", old, ""); err != nil {
		t.Fatal(err)
	}
	moved := f.commit(t, "main", "b.txt", "new\n")
	if m, err = s.FetchFrom(t.Context(), "host/1", f.Remote, moved, old); err != nil {
		t.Fatal(err)
	}
	msg := someone
	msg.Parents = []string{old, moved}
	next, tree, err := m.Commit(t.Context(), moved, []File{{Path: "a.txt", Data: []byte("patched again\n")}}, msg)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Push(t.Context(), f.Remote, "redraft/pull-7", next, old); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) string {
		return strings.TrimSpace(plain(t, f.dir, append([]string{"--git-dir=" + f.dir}, args...)...))
	}
	if got := git("rev-parse", "redraft/pull-7^{tree}", "redraft/pull-7^1", "redraft/pull-7^2"); got != tree+"\n"+old+"\n"+moved {
		t.Errorf("tree and parents are\n%s\nwant\n%s", got, tree+"\n"+old+"\n"+moved)
	}
}

func TestPushRefuses(t *testing.T) {
	f := newForge(t)
	root := f.commit(t, "main", "a.txt", "one\n")
	s := openStore(t)
	m, err := s.FetchFrom(t.Context(), "host/1", f.Remote, root)
	if err != nil {
		t.Fatal(err)
	}
	sha := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("ours\n")})
	other := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("other\n")})
	theirs := f.commit(t, "redraft/pull-7", "c.txt", "a person's\n")
	anonymous, wrong := f.Remote, f.Remote
	anonymous.Token, wrong.Token = "", "ghs_wrong"
	elsewhere := f.Remote
	elsewhere.URL = strings.Replace(f.URL, "/o/r.git", "/o/none.git", 1)
	for _, c := range []struct {
		name, branch, expect string
		r                    Remote
		sha                  string
		want                 error
	}{
		{"a person's branch", "redraft/pull-7", "", f.Remote, sha, ErrBranchTaken},
		{"a person's commit on ours", "redraft/pull-7", theirs, f.Remote, sha, ErrBranchTaken},
		{"another old tip", "redraft/pull-7", root, f.Remote, sha, ErrBranchTaken},
		{"a branch that should be there", "redraft/pull-8", root, f.Remote, sha, ErrBranchTaken},
		{"no token", "redraft/pull-9", "", anonymous, sha, ErrDenied},
		{"wrong token", "redraft/pull-9", "", wrong, sha, ErrDenied},
		{"no such repository", "redraft/pull-9", "", elsewhere, sha, ErrDenied},
		{"main", "main", root, f.Remote, sha, nil},
		{"refs/heads/main", "refs/heads/main", root, f.Remote, sha, nil},
		{"a short name", "redraft/x", "", f.Remote, sha[:12], ErrNoSuchCommit},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := m.Push(t.Context(), c.r, c.branch, c.sha, c.expect)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), forgeToken) || strings.Contains(err.Error(), "ghs_wrong")) {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
	if f.tip(t, "redraft/pull-7") != theirs || f.tip(t, "main") != root {
		t.Error("a refused push changed a branch")
	}
	if err := m.Push(t.Context(), f.Remote, "redraft/sibling", sha, ""); err != nil {
		t.Fatal(err)
	}
	if err := m.Push(t.Context(), f.Remote, "redraft/sibling", other, sha); !errors.Is(err, ErrBranchTaken) {
		t.Errorf("a sibling was pushed over ours: %v", err)
	}
}

// Somebody pushes between our look and our push; and an answer is lost after the push was taken.
func TestPushRaces(t *testing.T) {
	f := newForge(t)
	root := f.commit(t, "main", "a.txt", "one\n")
	m, err := openStore(t).FetchFrom(t.Context(), "host/1", f.Remote, root)
	if err != nil {
		t.Fatal(err)
	}
	sha := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("ours\n")})
	theirs := make(chan string, 1)
	f.mu.Lock()
	f.before = func() { theirs <- f.commit(t, "redraft/race", "c.txt", "a person's\n") }
	f.mu.Unlock()
	if err := m.Push(t.Context(), f.Remote, "redraft/race", sha, ""); !errors.Is(err, ErrBranchTaken) {
		t.Errorf("got %v, want %v", err, ErrBranchTaken)
	}
	if got, want := f.tip(t, "redraft/race"), <-theirs; got != want {
		t.Errorf("the branch stands at %s, want the person's %s", got, want)
	}
	f.mu.Lock()
	f.deaf = true
	f.mu.Unlock()
	if err := m.Push(t.Context(), f.Remote, "redraft/deaf", sha, ""); err != nil {
		t.Errorf("a push whose answer was lost: %v", err)
	}
	if got := f.tip(t, "redraft/deaf"); got != sha {
		t.Errorf("the branch stands at %s, want %s", got, sha)
	}
}

func TestRemoteHooks(t *testing.T) {
	f := newForge(t)
	root := f.commit(t, "main", "a.txt", "one\n")
	if err := os.WriteFile(filepath.Join(f.dir, "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	m, err := openStore(t).FetchFrom(t.Context(), "host/1", f.Remote, root)
	if err != nil {
		t.Fatal(err)
	}
	sha := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("ours\n")})
	if err := m.Push(t.Context(), f.Remote, "redraft/x", sha, ""); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v, want %v", err, ErrRefused)
	}
}

func TestFetchFromRefuses(t *testing.T) {
	f := newForge(t)
	root := f.commit(t, "main", "a.txt", "one\n")
	gone := strings.Repeat("1234567890", 4)
	with := func(change func(*Remote)) Remote {
		r := f.Remote
		change(&r)
		return r
	}
	for _, c := range []struct {
		name string
		r    Remote
		sha  string
		want error
	}{
		{"a commit that is not there", f.Remote, gone, ErrNoSuchCommit},
		{"a branch", f.Remote, "main", ErrNoSuchCommit},
		{"an option", f.Remote, "--upload-pack=x", ErrNoSuchCommit},
		{"no token", with(func(r *Remote) { r.Token = "" }), root, ErrDenied},
		{"an unknown authority", with(func(r *Remote) { r.CA = "" }), root, nil},
		{"plain http", with(func(r *Remote) { r.URL = strings.Replace(r.URL, "https", "http", 1) }), root, nil},
		{"a credential in the address", with(func(r *Remote) { r.URL = strings.Replace(r.URL, "https://", "https://x:secret@", 1) }), root, nil},
		{"ssh", with(func(r *Remote) { r.URL = "ssh://host/x" }), root, nil},
		{"ext", with(func(r *Remote) { r.URL = "ext::sh -c true" }), root, nil},
		{"a path", with(func(r *Remote) { r.URL = f.dir }), root, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openStore(t).FetchFrom(t.Context(), "host/1", c.r, c.sha)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error tells the credential: %v", err)
			}
		})
	}
}

// TestMayPush makes sure that trying is not doing, and that a credential that may not is told from one that may.
func TestMayPush(t *testing.T) {
	f := newForge(t)
	store := openStore(t)
	sha := f.commit(t, "main", "a.txt", "one\n")
	m, err := store.FetchFrom(t.Context(), "o/r", f.Remote, sha)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.MayPush(t.Context(), f.Remote, "redraft/x", sha); err != nil {
		t.Error(err)
	}
	if tip, err := m.TipAt(t.Context(), f.Remote, "redraft/x"); err != nil || tip != "" {
		t.Errorf("trying left a branch at %q, %v", tip, err)
	}
	other := f.Remote
	other.Token = strings.Replace(forgeToken, "0123", "3210", 1)
	if err := m.MayPush(t.Context(), other, "redraft/x", sha); !errors.Is(err, ErrDenied) {
		t.Errorf("got %v", err)
	}
	if err := m.MayPush(t.Context(), f.Remote, "main", sha); err == nil || errors.Is(err, ErrDenied) {
		t.Errorf("a branch that is not ours: got %v", err)
	}
}
