// Package registry is a read-only door to package registries: GET and HEAD of a closed list of paths, as the registries of
// Go, npm, PyPI and crates speak, at allowlisted hosts over TLS. It leaves to others who may knock, and keeps no credential,
// no cache and no state but counts. Every request is recorded, the refused ones too, and nothing of a client's headers goes
// out but the form of answer that it wants.
package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a proxy is made of.
type Options struct {
	Port      int               // of the command's own loopback, where it reaches the proxy; links are rewritten to it
	Upstreams map[string]string // base addresses by ecosystem (go, npm, pypi, crates); the official ones where missing
	Roots     *x509.CertPool    // authorities; the system's if nil
	File      int64             // bytes of one file; 1 GiB if zero
	Index     int64             // bytes of one index page, unpacked; 64 MiB if zero
	Total     int64             // bytes of all answers; 4 GiB if zero
	Requests  int               // in all; 20,000 if zero
	Stall     time.Duration     // without a byte from upstream; 30 seconds if zero
	Wall      time.Duration     // of one request; 10 minutes if zero
	Record    func(Record)      // told of every request when it is over, one call at a time; nobody is if nil
}

// Record is one request, as it stands in the evidence.
type Record struct {
	TS      time.Time `json:"ts"`
	Method  string    `json:"method"`
	Host    string    `json:"host,omitempty"` // that was asked; none when the request was refused here
	Path    string    `json:"path"`           // there, or as it was asked of us
	Status  int       `json:"status"`         // that the command was given; 0 when the answer was broken off
	Bytes   int64     `json:"bytes"`          // given to the command
	Seconds float64   `json:"seconds"`
	Refused string    `json:"refused,omitempty"` // why we did not ask, or broke off
}

// Proxy answers the requests of one setup. Make it with New; safe for several goroutines.
type Proxy struct {
	opt      Options
	upstream map[string]*upstream
	client   *http.Client
	busy     chan struct{} // bounds requests at once
	asked    atomic.Int64
	spent    atomic.Int64

	mu  sync.Mutex // guards Record and what is learned of upstreams
	dl  string     // template of crate files, "" until it was read
	sum *bool      // whether the Go upstream serves the checksum database too
}

// upstream is the registry of one ecosystem.
type upstream struct {
	base  *url.URL // path ends in /
	hosts []string // that may be asked, host or host:port
}

// Ecosystems are the names under which upstreams can be replaced.
func Ecosystems() []string { return []string{"go", "npm", "pypi", "crates"} }

// New checks the options. A replaced upstream is asked at its own host alone, the official ones no more.
func New(opt Options) (*Proxy, error) {
	if opt.Port < 1 || opt.Port > 65535 {
		return nil, fmt.Errorf("open the registry proxy: %d is no port", opt.Port)
	}
	opt = opt.filled()
	p := &Proxy{opt: opt, upstream: map[string]*upstream{}, busy: make(chan struct{}, 32)}
	for eco, u := range official {
		base, err := url.Parse(u.base)
		if err != nil {
			return nil, err
		}
		p.upstream[eco] = &upstream{base, u.hosts}
	}
	for eco, address := range opt.Upstreams {
		u, err := replaced(eco, address)
		if err != nil {
			return nil, fmt.Errorf("open the registry proxy: %w", err)
		}
		p.upstream[eco] = u
	}
	p.client = p.newClient()
	return p, nil
}

// CheckUpstreams says what is wrong with addresses of an operator's file.
func CheckUpstreams(upstreams map[string]string) error {
	for eco, address := range upstreams {
		if _, err := replaced(eco, address); err != nil {
			return err
		}
	}
	return nil
}

func replaced(eco, address string) (*upstream, error) {
	if !slices.Contains(Ecosystems(), eco) {
		return nil, fmt.Errorf("%q is none of %s", eco, strings.Join(Ecosystems(), ", "))
	}
	base, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("upstream of %s: %w", eco, err)
	case base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("upstream of %s: %q is no https address", eco, address)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("upstream of %s: an address with credentials or a query is not asked", eco)
	}
	base.Path = strings.TrimSuffix(base.Path, "/") + "/"
	return &upstream{base, []string{hostOf(base)}}, nil
}

// hostOf is the host of an address, without the port that its scheme implies.
func hostOf(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Host, ":443")) }

func (o Options) filled() Options {
	set := func(n *int64, v int64) {
		if *n <= 0 {
			*n = v
		}
	}
	set(&o.File, 1<<30)
	set(&o.Index, 64<<20)
	set(&o.Total, 4<<30)
	if o.Requests <= 0 {
		o.Requests = 20_000
	}
	if o.Stall <= 0 {
		o.Stall = 30 * time.Second
	}
	if o.Wall <= 0 {
		o.Wall = 10 * time.Minute
	}
	return o
}

// newClient asks upstreams directly: no proxy of the environment, no cookies, no redirect but to a host of the same list.
func (p *Proxy) newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{RootCAs: p.opt.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: p.opt.Stall, MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			allowed, _ := r.Context().Value(hostsKey{}).([]string)
			if len(via) > 5 {
				return errors.New("more than 5 redirects")
			}
			r.Header.Del("Referer") // which the client adds by itself
			if !permitted(r.URL, allowed) {
				return refusal(fmt.Sprintf("a redirect to %s://%s, which is not on the list", r.URL.Scheme, r.URL.Host))
			}
			return nil
		},
	}
}

type hostsKey struct{} // context key: hosts that a request and its redirects may go to

func permitted(u *url.URL, hosts []string) bool {
	return u.Scheme == "https" && u.User == nil && slices.Contains(hosts, hostOf(u))
}

// refusal is why a request was not done, or not to its end.
type refusal string

func (r refusal) Error() string { return string(r) }

// Serve answers what comes to a listener until that is closed. The error is never about one request.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		DisableGeneralOptionsHandler: true, BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: silent,
	}
	defer srv.Close()
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	if err := srv.Serve(ln); !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
