// Package githubtest gives a GitHub that remembers: REST as far as redraft calls it, real git over smart HTTP behind one TLS
// listener, App and installation tokens with their permissions enforced, and signed webhooks of what happens on it. It
// leaves deciding to its callers and is for tests, the demo and the self-test only; whether its answers are GitHub's is
// checked by its subpackage openapi, which tests alone link. It accepts nothing that GitHub's own description of its API
// does not know, keeps every call it was sent, and is stricter than GitHub in two things: a token that was not given a
// permission does not even read a public repository with it, and an unknown field or query parameter is refused.
//
// A world is built with methods and looked at through REST, git, webhooks, or methods again:
//
//	srv, err := githubtest.New(githubtest.Options{Dir: dir})
//	repo, err := srv.AddRepo("acme", "widget", githubtest.Seed{Files: map[string]string{"go.mod": "module widget\n"}})
//	id := srv.Install(map[string]string{"contents": "write", "pull_requests": "write"}, repo)
//	run, err := repo.RunWorkflow(githubtest.Workflow{Branch: "main", Jobs: []githubtest.Job{{Name: "unit", Conclusion: "failure"}}})
//
// Server.URL is the address of REST, as in https://127.0.0.1:4711/api/v3/: go-github's WithEnterpriseURLs takes it twice as it
// stands, ghinstallation's BaseURL takes it too. Repositories lie beside it for git, as in
// https://127.0.0.1:4711/acme/widget.git (Server.GitURL, Repo.GitURL). Server.CAFile is the PEM file that git (GIT_SSL_CAINFO,
// worktree.Remote.CA) and Go clients must trust; Server.Client trusts it already. Server.AppKey is the App's private key.
package githubtest

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options are what a server is made with.
type Options struct {
	Dir       string           // folder for repositories and the authority; made if missing, left when the server closes
	Listen    string           // "127.0.0.1:0" if empty
	Git       string           // absolute path of git; looked up if empty
	Clock     func() time.Time // what time it is on this GitHub, for tokens and signatures too; time.Now if nil
	AppID     int64            // of the App; 4711 if zero
	AppSlug   string           // its name and its bot's, as in redraft[bot]; "redraft" if empty
	HookURL   string           // where webhooks go; SetHook can say so later, until then they are kept undelivered
	Secret    string           // of the webhooks' signature
	SlowMerge bool             // the first read of a pull request after it moved says that mergeability is not known yet
}

// Server is one GitHub. Its methods may be called at any time by several goroutines.
type Server struct {
	URL    string // of REST, with a slash at its end
	CAFile string // PEM of the authority that signed this server's certificate

	origin string // https://host:port
	o      Options
	ca     *authority
	key    *rsa.PrivateKey
	git    *git
	http   *http.Server
	routes *http.ServeMux
	stop   context.CancelFunc
	work   sync.WaitGroup // requests being answered, and the delivery of webhooks

	mu       sync.Mutex // guards all that follows and everything that a Repo points to
	ids      int64
	accounts map[string]*account // by login in lower case
	repos    map[int64]*Repo
	names    map[string]*Repo // by owner/name in lower case, former names too
	apps     map[int64]*app
	installs map[int64]*installation
	tokens   map[string]*token
	audit    []Call
	observe  func(r *http.Request, body []byte, status int, header http.Header, answer []byte)
	inject   func(r *http.Request) *Fault
	hooks    mailbox
}

// New starts a server. Close ends it and every process it started.
func New(o Options) (*Server, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &Server{
		o: o, CAFile: filepath.Join(o.Dir, "ca.pem"),
		ids:      5_000_000_000, // larger than 32 bits, as GitHub's are
		accounts: map[string]*account{}, repos: map[int64]*Repo{}, names: map[string]*Repo{}, apps: map[int64]*app{},
		installs: map[int64]*installation{}, tokens: map[string]*token{},
	}
	s.hooks.init(o.HookURL, o.Secret)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	var err error
	if s.key, err = appKey(); err != nil {
		return nil, fmt.Errorf("make the App's key: %w", err)
	}
	if s.git, err = newGit(ctx, o.Git, filepath.Join(o.Dir, "home")); err != nil {
		return nil, err
	}
	if s.ca, err = newAuthority(s.CAFile); err != nil {
		return nil, err
	}
	s.addApps()
	s.routes = s.mux()
	return s, s.serve(ctx)
}

func (o *Options) fill() error {
	if o.Dir == "" {
		return errors.New("a server needs a folder")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	o.Dir = dir
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.AppID == 0 {
		o.AppID = 4711
	}
	if o.AppSlug == "" {
		o.AppSlug = "redraft"
	}
	return os.MkdirAll(filepath.Join(dir, "repos"), 0o700)
}

// serve listens and begins to answer and to deliver.
func (s *Server) serve(ctx context.Context) error {
	l, err := net.Listen("tcp", s.o.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.origin = "https://" + l.Addr().String()
	s.URL = s.origin + "/api/v3/"
	var only1 http.Protocols
	only1.SetHTTP1(true) // so that a connection can be dropped without its neighbours
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.answer),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{s.ca.leaf}, MinVersion: tls.VersionTLS12},
		Protocols:         &only1,
		ReadHeaderTimeout: 30 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // dropped connections and handshakes are a test's doing
	}
	s.work.Go(func() { s.http.ServeTLS(l, "", "") })
	s.work.Go(func() { s.deliverAll(ctx) })
	return nil
}

// Close ends the server. What it kept in its folder stays.
func (s *Server) Close() error {
	s.stop()
	s.hooks.wake()
	err := s.http.Close()
	s.work.Wait()
	return err
}

// Client is an HTTP client that trusts this server, and nobody else.
func (s *Server) Client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	t.TLSClientConfig = &tls.Config{RootCAs: s.ca.pool, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: t}
}

// GitURL is a repository's address for git.
func (s *Server) GitURL(owner, name string) string {
	return s.origin + "/" + owner + "/" + name + ".git"
}

// AppID is the App's id.
func (s *Server) AppID() int64 { return s.o.AppID }

// now is the time on this GitHub, to the second as GitHub tells it.
func (s *Server) now() time.Time { return s.o.Clock().UTC().Truncate(time.Second) }

// id is a new one; no two things of any kind share one, so that a mix-up is found.
func (s *Server) id() int64 {
	s.ids += 17
	return s.ids
}

func fold(parts ...string) string { return strings.ToLower(strings.Join(parts, "/")) }
