// Package github is bot.Hub over GitHub's REST API, and the only code here that speaks to GitHub. It leaves deciding,
// wording and cleaning to bot, and moving branches to git. No call leaves that its table does not list, no token outlives
// its operation or is written down, and a write without an answer is looked for before it is done again.
package github

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"

	"github.com/redraft-dev/redraft/bot"
)

// Options of a Hub. AppID with Key, or Token, is needed; the rest may stay zero.
type Options struct {
	API      string        // "https://api.github.com" if empty; "https://host/api/v3" of an Enterprise Server
	Git      string        // where repositories and pages are; "https://github.com" if empty, or API's host when that is set
	CA       string        // PEM file of authorities, as of a local GitHub; the system's if empty
	AppID    int64         // of a GitHub App
	Key      []byte        // its private key, PEM
	Token    string        // a plain token instead, as GITHUB_TOKEN: nothing is minted or revoked
	Login    string        // whose plain token it is where GitHub does not say; "github-actions[bot]" if empty
	Nameless bool          // Token is an App's, of which GitHub does not say whose it is: what a bot did on a branch of ours, with our markers, is ours
	Workflow string        // path of the workflow that Token is for, whose checks are ours; none if empty
	Prefix   string        // of our branches; "redraft/" if empty
	Log      *slog.Logger  // silent if nil
	Pause    time.Duration // between two writes; 1 second if zero
	Wait     time.Duration // the longest wait for a limit within a call, after which it is an error; 2 minutes if zero
	Reply    time.Duration // how long one answer may take; 30 seconds if zero

	Now   func() time.Time                                 // time.Now if nil
	Sleep func(ctx context.Context, d time.Duration) error // until d has passed or ctx ends; a timer if nil
}

// String names the options without the secrets in them.
func (o Options) String() string {
	return fmt.Sprintf("github.Options{API: %q, AppID: %d}", o.API, o.AppID)
}

// GoString is String, for %#v.
func (o Options) GoString() string { return o.String() }

// Hub is a bot.Hub. Several goroutines may use it. A process makes one for a host, for its pace is the Hub's.
type Hub struct {
	api      *url.URL // ends in a slash
	git, ca  string
	prefix   string
	login    string            // of a plain token, where GitHub does not say; "" if nobody does
	workflow string            // that we run in
	base     http.RoundTripper // sends
	app      http.RoundTripper // signs as the App and sends; nil with a plain token
	plain    secret            // nil with an App
	log      *slog.Logger
	pause    time.Duration
	patience time.Duration
	timeout  time.Duration
	now      func() time.Time
	sleep    func(ctx context.Context, d time.Duration) error

	pace  *pace
	side  chan struct{} // reads that run at once
	cache cache
	locks locks

	mu        sync.Mutex
	gates     map[string]*gate // by credential
	self      bot.Self         // zero until asked
	selfKnown bool
	noes      map[int64]bot.Class
}

var _ bot.Hub = (*Hub)(nil)

// secret is a token that no fmt verb prints.
type secret func() string

const sideBySide = 20 // GitHub allows 100

// New makes a Hub. It makes no call.
func New(o Options) (*Hub, error) {
	h := &Hub{
		ca: o.CA, prefix: or(o.Prefix, "redraft/"), login: or(o.Login, actionsLogin), workflow: o.Workflow, log: o.Log,
		pause: or(o.Pause, time.Second), patience: or(o.Wait, 2*time.Minute), timeout: or(o.Reply, attemptTime),
		now: o.Now, sleep: o.Sleep, side: make(chan struct{}, sideBySide), gates: map[string]*gate{}, noes: map[int64]bot.Class{},
	}
	if o.Nameless {
		h.login = ""
	}
	h.pace = newPace(h)
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.sleep == nil {
		h.sleep = sleep
	}
	if err := h.addresses(o); err != nil {
		return nil, fmt.Errorf("connect to GitHub: %w", err)
	}
	if err := h.credentials(o); err != nil {
		return nil, fmt.Errorf("connect to GitHub: %w", err)
	}
	return h, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rest sleeps, and not at all when there is nothing to wait for.
func (h *Hub) rest(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	return h.sleep(ctx, d)
}

func (h *Hub) addresses(o Options) error {
	api, err := address(or(o.API, "https://api.github.com"))
	if err != nil {
		return err
	}
	git, err := address(or(o.Git, gitOf(api)))
	if err != nil {
		return err
	}
	h.git = strings.TrimRight(git.String(), "/")
	h.api = api
	h.api.Path = strings.TrimRight(api.Path, "/") + "/"
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: sideBySide, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 1 << 20,
		DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
	}
	h.base = t
	if o.CA == "" {
		return nil
	}
	pem, err := os.ReadFile(o.CA)
	if err != nil {
		return fmt.Errorf("read authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s holds no certificate", o.CA)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool}
	return nil
}

// gitOf is where an API's repositories are: an Enterprise Server has both on one host.
func gitOf(api *url.URL) string {
	if api.Host == "api.github.com" {
		return "https://github.com"
	}
	return api.Scheme + "://" + api.Host
}

// address reads a base URL. A token goes over HTTPS, or to this machine.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("an address that is no URL")
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("an address with more than scheme, host and path")
	case u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && local):
		return nil, fmt.Errorf("%s: want https://", clip(text))
	}
	return u, nil
}

func (h *Hub) credentials(o Options) error {
	hasApp := o.AppID != 0 || len(o.Key) > 0
	switch {
	case hasApp && o.Token != "":
		return errors.New("both an App and a plain token: want one")
	case o.Token != "":
		token := strings.TrimSpace(o.Token)
		if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return errors.New("the token holds blanks or control characters")
		}
		h.plain = func() string { return token }
		return nil
	case o.AppID <= 0 || len(o.Key) == 0:
		return errors.New("no credential: want an App's id and key, or a token")
	}
	t, err := ghinstallation.NewAppsTransport(h.base, o.AppID, o.Key)
	if err != nil {
		return errors.New("the App's key is no RSA private key in PEM")
	}
	h.app = t
	return nil
}

// gate is the one of a credential.
func (h *Hub) gate(who string) *gate {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gates[who] == nil {
		h.gates[who] = &gate{}
	}
	return h.gates[who]
}

// Self is who the credential makes us. GitHub is asked once.
func (h *Hub) Self(ctx context.Context) (bot.Self, error) {
	h.mu.Lock()
	self, known := h.self, h.selfKnown
	h.mu.Unlock()
	if known {
		return self, nil
	}
	self, err := h.whoami(ctx)
	if err != nil {
		return bot.Self{}, h.say("ask GitHub who we are", err)
	}
	h.mu.Lock()
	h.self, h.selfKnown = self, true
	h.mu.Unlock()
	return self, nil
}

func (h *Hub) whoami(ctx context.Context) (bot.Self, error) {
	if h.app != nil {
		a, err := h.getApp(ctx)
		return bot.Self{App: a.ID, Login: a.Slug + "[bot]", Prefix: h.prefix}, err
	}
	var u account
	_, err := h.tokenLine(h.plain, "token", getUser).call(ctx, call{op: getUser, out: &u})
	switch {
	case is(err, bot.Forbidden) && h.login == actionsLogin: // an installation's token, as a workflow's, belongs to no user
		u, err = account{ID: actionsID, Login: h.login}, nil
	case is(err, bot.Forbidden):
		u, err = account{Login: h.login}, nil
	case err == nil && u.Login == "":
		err = unreadable("a user without a login")
	}
	return bot.Self{ID: u.ID, Login: u.Login, Prefix: h.prefix, Workflow: h.workflow}, err
}

// Who a workflow's own token acts as. https://api.github.com/users/github-actions%5Bbot%5D
const (
	actionsLogin = "github-actions[bot]"
	actionsID    = 41898282
)

// app is as much of a GitHub App as is used here.
type app struct {
	ID          int64             `json:"id"`
	Slug        string            `json:"slug"`
	HTMLURL     string            `json:"html_url"`
	Owner       account           `json:"owner"`
	Permissions map[string]string `json:"permissions"`
	Events      []string          `json:"events"`
}

// account is a user, an organization or a bot.
type account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (a account) account() bot.Account {
	return bot.Account{ID: a.ID, Login: a.Login, Bot: a.Type == "Bot"}
}

func (h *Hub) getApp(ctx context.Context) (app, error) {
	var a app
	_, err := h.appLine(getApp).call(ctx, call{op: getApp, out: &a})
	if err == nil && (a.ID == 0 || a.Slug == "") {
		err = unreadable("an App without id and slug")
	}
	return a, err
}

// unreadable is an answer without what it must have.
func unreadable(what string) error {
	return &bot.HubError{Class: bot.Unavailable, Text: "GitHub's answer is " + what}
}
