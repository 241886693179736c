package model

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Endpoint says where a model is. Endpoints come from the operator, never from a repository.
type Endpoint struct {
	Name          string        // the operator's word for it; the model's id if empty
	BaseURL       string        // http://127.0.0.1:8080 with or without /v1, or unix:///path/to.sock
	Model         string        // id; the server's only one if empty
	ContextLength int           // tokens; what the server says if zero
	AllowHosts    []string      // hosts that need not be loopback, from the operator's own file; none if empty
	FirstByte     time.Duration // longest wait for the first byte; 120 s and 1 s more for every 50 tokens of prompt if zero
	Idle          time.Duration // longest wait between two pieces; 60 s if zero
}

// address is a checked base URL.
type address struct {
	root    string // what paths such as /v1/models are added to
	show    string // for people: host:port, or the socket's path
	socket  string // path of a unix socket, empty for TCP
	allowed bool   // the operator named this host, so it need not be loopback
}

// parseAddress checks and normalises a base URL. It resolves nothing: that happens, and is checked, at every dial.
func parseAddress(base string, allow []string) (address, error) {
	if !strings.Contains(base, "://") {
		return address{}, errors.New("the base URL has no scheme: begin it with http://, https:// or unix://")
	}
	u, err := url.Parse(base)
	if err != nil {
		return address{}, errors.New("the base URL cannot be read")
	}
	switch {
	case u.User != nil:
		return address{}, errors.New("the base URL holds a user name or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return address{}, errors.New("the base URL has a query or fragment")
	case u.Scheme == "unix" && (u.Host != "" || len(u.Path) < 2):
		return address{}, errors.New("a unix base URL looks like unix:///path/to.sock")
	case u.Scheme == "unix":
		return address{root: "http://localhost", show: u.Path, socket: u.Path}, nil
	case u.Scheme != "http" && u.Scheme != "https":
		return address{}, fmt.Errorf("scheme %q is none of http, https, unix", u.Scheme)
	case u.Hostname() == "":
		return address{}, errors.New("the base URL has no host")
	}
	return tcpAddress(u, allow)
}

func tcpAddress(u *url.URL, allow []string) (address, error) {
	host := strings.ToLower(u.Hostname())
	allowed := slices.ContainsFunc(allow, func(h string) bool { return strings.EqualFold(h, host) })
	if ip, err := netip.ParseAddr(host); err == nil && !allowed && !ip.Unmap().IsLoopback() {
		return address{}, fmt.Errorf("%s: %w", host, errNotLoopback)
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	return address{root: u.Scheme + "://" + u.Host + path, show: u.Host, allowed: allowed}, nil
}

// client makes an HTTP client that can reach this address and nothing else.
func (a address) client() *http.Client {
	d := net.Dialer{Timeout: 10 * time.Second}
	if a.socket == "" && !a.allowed {
		d.Control = onlyLoopback
	}
	dial := d.DialContext
	if a.socket != "" {
		dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", a.socket) }
	}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy variable must not carry a prompt off the machine
			DialContext:            dial,
			DisableKeepAlives:      true, // llama-server closes idle connections after 5 s, which a POST would race with
			DisableCompression:     true, // so that a limit in bytes is one
			MaxResponseHeaderBytes: 64 << 10,
			TLSHandshakeTimeout:    10 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// onlyLoopback sees the address after resolving, so a name that resolves to another machine, now or later, is not dialled.
func onlyLoopback(_, addr string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil || !ap.Addr().Unmap().IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// CheckAddress says what is wrong with a base URL before anything is dialled, or nil: its form, and a literal address
// that is not loopback. A name is checked when it is dialled, by what it resolves to.
func CheckAddress(base string) error {
	_, err := parseAddress(base, nil)
	return err
}
