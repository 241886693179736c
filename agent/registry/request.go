package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// silent takes what the HTTP server would print: a client's broken requests are nobody's news.
var silent = log.New(io.Discard, "", 0)

// exchange is one request while it is answered.
type exchange struct {
	p      *Proxy
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	path   string // decoded, clean
	record Record
	broken bool // the answer must not look whole
}

// ServeHTTP answers one request of the command.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(r.Context(), p.opt.Wall)
	defer cancel()
	x := &exchange{p: p, w: w, r: r, ctx: ctx, record: Record{TS: start.UTC(), Method: clip(r.Method, 20), Path: clip(r.URL.EscapedPath(), 300)}}
	defer func() {
		x.record.Seconds = time.Since(start).Seconds()
		p.told(x.record)
		if x.broken {
			panic(http.ErrAbortHandler) // how a server breaks a connection off, so that half a file is no file
		}
	}()
	if status, why := x.admit(); why != "" {
		x.refuse(status, why)
		return
	}
	select {
	case p.busy <- struct{}{}:
		defer func() { <-p.busy }()
	case <-ctx.Done():
		x.refuse(http.StatusServiceUnavailable, "too many requests at once")
		return
	}
	x.route()
}

// told hands a record on, one at a time.
func (p *Proxy) told(r Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opt.Record != nil {
		p.opt.Record(r)
	}
}

// admit says what is wrong with a request before anything is asked of anybody.
func (x *exchange) admit() (status int, why string) {
	r := x.r
	host := strings.TrimSuffix(r.Host, ":"+strconv.Itoa(x.p.opt.Port))
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		x.w.Header().Set("Allow", "GET, HEAD")
		return http.StatusMethodNotAllowed, "the method is neither GET nor HEAD"
	case r.URL.Scheme != "" || r.URL.Host != "" || r.URL.User != nil || r.URL.Opaque != "":
		return http.StatusBadRequest, "the request names another host: this is no general proxy"
	case host != "127.0.0.1" && host != "localhost":
		return http.StatusMisdirectedRequest, "the request is for another host"
	case r.ContentLength != 0 || len(r.TransferEncoding) > 0:
		return http.StatusBadRequest, "the request has a body"
	case r.URL.RawQuery != "" || r.URL.ForceQuery:
		return http.StatusBadRequest, "the request has a query"
	case !plain(r.URL.Path):
		return http.StatusBadRequest, "the path is not plain"
	case x.p.asked.Add(1) > int64(x.p.opt.Requests):
		return http.StatusTooManyRequests, fmt.Sprintf("more than %d requests", x.p.opt.Requests)
	case x.p.spent.Load() >= x.p.opt.Total:
		return http.StatusTooManyRequests, fmt.Sprintf("more than %d bytes in all", x.p.opt.Total)
	}
	x.path = r.URL.Path
	return 0, ""
}

// plain says whether a decoded path is one that no two programs read differently: absolute, without empty, "." and ".."
// parts, of letters, digits and few marks.
func plain(p string) bool {
	for _, c := range []byte(p) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("/-._~!$&'()*+,:;=@", rune(c)) {
			return false
		}
	}
	return len(p) <= 2000 && path.IsAbs(p) && path.Clean(p) == strings.TrimSuffix(p, "/")
}

// refuse answers without asking anybody.
func (x *exchange) refuse(status int, why string) {
	x.record.Status, x.record.Refused = status, why
	x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	x.w.WriteHeader(status)
	n, _ := fmt.Fprintf(x.w, "redraft: not fetched: %s\n", why)
	x.record.Bytes = int64(n)
}

// failed answers for an upstream that could not be asked, or whose answer is of no use.
func (x *exchange) failed(err error) {
	var no refusal
	switch {
	case errors.As(err, &no):
		x.refuse(http.StatusBadGateway, no.Error())
	case errors.Is(err, context.DeadlineExceeded), errors.Is(context.Cause(x.ctx), context.DeadlineExceeded):
		x.refuse(http.StatusGatewayTimeout, "upstream did not answer in time")
	default:
		x.refuse(http.StatusBadGateway, "upstream: "+clip(err.Error(), 300))
	}
}

// answer is what an upstream said.
type answer struct {
	status int
	kind   string // content type
	length int64  // -1 when it was not said
	body   io.ReadCloser
	url    *url.URL // after redirects
}

// ask asks an upstream for one thing. Of the client nothing goes out but what it accepts.
func (x *exchange) ask(u *upstream, to *url.URL, accept, encoding string) (answer, error) {
	if to.RawPath == "" && plain(to.Path) {
		to.RawPath = to.Path // as the client wrote it: escaping more than it did would name another module to some mirrors
	}
	x.record.Host, x.record.Path = hostOf(to), clip(to.EscapedPath(), 300)
	if !permitted(to, u.hosts) {
		return answer{}, refusal(fmt.Sprintf("%s://%s is not on the list", to.Scheme, to.Host))
	}
	method := http.MethodGet
	if x.r.Method == http.MethodHead && encoding != "" {
		method = http.MethodHead
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(x.ctx, hostsKey{}, u.hosts))
	req, err := http.NewRequestWithContext(ctx, method, to.String(), nil)
	if err != nil {
		cancel(nil)
		return answer{}, err
	}
	req.Header.Set("User-Agent", "redraft")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if encoding != "" {
		req.Header.Set("Accept-Encoding", encoding) // as it is: else the transport asks for gzip, and unpacks it
	}
	resp, err := x.p.client.Do(req)
	if err != nil {
		cancel(nil)
		return answer{}, redirected(err)
	}
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), resp.ContentLength, newPatient(resp.Body, x.p.opt.Stall, cancel), resp.Request.URL}, nil
}

// redirected takes the client's own words off an error of ours.
func redirected(err error) error {
	var no refusal
	if errors.As(err, &no) {
		return no
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// patient is a body that is given up when nothing of it comes for a while.
type patient struct {
	io.ReadCloser
	stall  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

func newPatient(body io.ReadCloser, stall time.Duration, cancel context.CancelCauseFunc) *patient {
	return &patient{body, stall, time.AfterFunc(stall, func() { cancel(context.DeadlineExceeded) }), cancel}
}

func (p *patient) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.timer.Reset(p.stall)
	return n, err
}

func (p *patient) Close() error {
	p.timer.Stop()
	defer p.cancel(nil)
	return p.ReadCloser.Close()
}

// file hands one file through as it is, byte for byte.
func (x *exchange) file(u *upstream, to *url.URL, kind string) {
	a, err := x.ask(u, to, "", "identity")
	if err != nil {
		x.failed(err)
		return
	}
	defer a.body.Close()
	if a.status != http.StatusOK {
		x.passed(a)
		return
	}
	limit := min(x.p.opt.File, max(0, x.p.opt.Total-x.p.spent.Load()))
	if a.length > limit {
		x.refuse(http.StatusBadGateway, fmt.Sprintf("the file has %d bytes, %d are allowed", a.length, limit))
		return
	}
	x.head(http.StatusOK, kind, a.length)
	if x.r.Method == http.MethodHead {
		return
	}
	n, err := io.Copy(x.w, io.LimitReader(counted{a.body, &x.p.spent}, limit+1))
	x.record.Bytes = n
	switch {
	case n > limit:
		x.breakOff(fmt.Sprintf("the file has more than %d bytes", limit))
	case err != nil || a.length >= 0 && n != a.length:
		x.breakOff("the file was broken off")
	}
}

// counted adds what is read to a sum, before anybody has it.
type counted struct {
	io.Reader
	sum *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.sum.Add(int64(n))
	return n, err
}

func (x *exchange) breakOff(why string) { x.broken, x.record.Status, x.record.Refused = true, 0, why }

// passed gives an upstream's no without its words: 404 and 410 mean something to every client.
func (x *exchange) passed(a answer) {
	status := a.status
	if status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	x.head(status, "text/plain; charset=utf-8", -1)
	if x.r.Method == http.MethodHead {
		return
	}
	n, _ := fmt.Fprintf(x.w, "upstream said %d\n", a.status)
	x.record.Bytes = int64(n)
}

// head sends our own headers and no others.
func (x *exchange) head(status int, kind string, length int64) {
	x.record.Status = status
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if length >= 0 {
		h.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	x.w.WriteHeader(status)
}

// page reads an index page whole, unpacked, within its limit.
func (x *exchange) page(u *upstream, to *url.URL, accept string) (answer, []byte, error) {
	a, err := x.ask(u, to, accept, "")
	if err != nil {
		return a, nil, err
	}
	defer a.body.Close()
	if a.status != http.StatusOK {
		return a, nil, nil
	}
	limit := x.p.opt.Index
	b, err := io.ReadAll(io.LimitReader(a.body, limit+1))
	if err != nil {
		return a, nil, err
	}
	if int64(len(b)) > limit {
		return a, nil, refusal(fmt.Sprintf("the index page has more than %d bytes", limit))
	}
	return a, b, nil
}

// give sends a page that we made.
func (x *exchange) give(kind string, b []byte) {
	x.head(http.StatusOK, kind, int64(len(b)))
	if x.r.Method == http.MethodHead {
		return
	}
	x.p.spent.Add(int64(len(b)))
	n, _ := x.w.Write(b)
	x.record.Bytes = int64(n)
}

// clip bounds a text of a client's for the record.
func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
