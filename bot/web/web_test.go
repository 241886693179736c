package web_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot/queue"
	"github.com/redraft-dev/redraft/bot/web"
)

// shelf is an intake in memory.
type shelf struct {
	mu     sync.Mutex
	stored []queue.Delivery
	err    error // of everything
}

func (s *shelf) Receive(_ context.Context, d queue.Delivery) (again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return false, s.err
	}
	if again = slices.ContainsFunc(s.stored, func(o queue.Delivery) bool { return o.ID == d.ID }); !again {
		s.stored = append(s.stored, d)
	}
	return again, nil
}

func (s *shelf) Ready(context.Context) error { return s.err }

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stored)
}

const (
	secret = "the-first-live-secret"
	second = "the-second-live-secret"
	guid   = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
)

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// request is a delivery as GitHub sends it, with some headers changed; an empty value takes one away.
func request(t testing.TB, url, body string, change map[string]string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/webhook", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"X-Hub-Signature-256": {sign(secret, []byte(body))}, "X-Github-Event": {"check_run"},
		"X-Github-Delivery": {guid}, "Content-Type": {"application/json"},
	}
	for name, value := range change {
		switch values := strings.Split(value, "|"); {
		case name == "method":
			r.Method = value
		case name == "path":
			r.URL.Path = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return r
}

// send is what came back: status and line.
func send(t testing.TB, r *http.Request) (int, string, http.Header) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSuffix(string(text), "\n"), resp.Header
}

func serve(t testing.TB, s *web.Server) string {
	t.Helper()
	h := httptest.NewServer(s.Handler())
	t.Cleanup(h.Close)
	return h.URL
}

func TestWebhook(t *testing.T) {
	const body = `{"action":"completed","mark":"echo-me-not"}`
	form := "payload=%7B%7D"
	for _, tt := range []struct {
		name   string
		body   string
		change map[string]string
		status int
		say    string
	}{
		{"right", body, nil, 202, "stored"},
		{"the second secret", body, map[string]string{"X-Hub-Signature-256": sign(second, []byte(body))}, 202, "stored"},
		{"with a charset", body, map[string]string{"Content-Type": "application/json; charset=utf-8"}, 202, "stored"},
		{"white space", " \n" + body, nil, 202, "stored"},
		{"unsigned", body, map[string]string{"X-Hub-Signature-256": ""}, 401, "there is no X-Hub-Signature-256"},
		{"signed twice", body, map[string]string{"X-Hub-Signature-256": sign(secret, []byte(body)) + "|" + sign(secret, []byte(body))}, 401, "there is no"},
		{"old signature", body, map[string]string{"X-Hub-Signature-256": "", "X-Hub-Signature": "sha1=00"}, 401, "there is no"},
		{"another secret", body, map[string]string{"X-Hub-Signature-256": sign("guess", []byte(body))}, 401, "does not fit"},
		{"the empty secret", body, map[string]string{"X-Hub-Signature-256": sign("", []byte(body))}, 401, "does not fit"},
		{"another body", body, map[string]string{"X-Hub-Signature-256": sign(secret, []byte(body+" "))}, 401, "does not fit"},
		{"a short signature", body, map[string]string{"X-Hub-Signature-256": sign(secret, []byte(body))[:40]}, 401, "there is no"},
		{"no hex", body, map[string]string{"X-Hub-Signature-256": "sha256=" + strings.Repeat("z", 64)}, 401, "there is no"},
		{"without sha256=", body, map[string]string{"X-Hub-Signature-256": sign(secret, []byte(body))[7:]}, 401, "there is no"},
		{"no event", body, map[string]string{"X-GitHub-Event": ""}, 400, "X-GitHub-Event names no event"},
		{"an odd event", body, map[string]string{"X-GitHub-Event": "check run"}, 400, "X-GitHub-Event names no event"},
		{"a long event", body, map[string]string{"X-GitHub-Event": strings.Repeat("e", 65)}, 400, "X-GitHub-Event names no event"},
		{"two events", body, map[string]string{"X-GitHub-Event": "ping|push"}, 400, "X-GitHub-Event names no event"},
		{"no id", body, map[string]string{"X-GitHub-Delivery": ""}, 400, "X-GitHub-Delivery is no delivery's id"},
		{"an odd id", body, map[string]string{"X-GitHub-Delivery": "../../etc/passwd"}, 400, "X-GitHub-Delivery is no delivery's id"},
		{"a long id", body, map[string]string{"X-GitHub-Delivery": strings.Repeat("a", 65)}, 400, "X-GitHub-Delivery is no delivery's id"},
		{"a form", form, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415, "choose application/json as the webhook's content type"},
		{"no type", body, map[string]string{"Content-Type": ""}, 415, "not announced as application/json"},
		{"another type", body, map[string]string{"Content-Type": "text/html"}, 415, "not announced as application/json"},
		{"no JSON", "{echo-me-not", nil, 400, "no JSON object"},
		{"no object", `["echo-me-not"]`, nil, 400, "no JSON object"},
		{"two objects", body + body, nil, 400, "no JSON object"},
		{"nothing", "", nil, 400, "no JSON object"},
		{"deep", strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), nil, 400, "no JSON object"},
		{"a form, unsigned", form, map[string]string{"Content-Type": "application/x-www-form-urlencoded", "X-Hub-Signature-256": ""}, 401, "there is no"},
		{"GET", "", map[string]string{"method": "GET"}, 405, "deliveries are sent with POST"},
		{"PUT", body, map[string]string{"method": "PUT"}, 405, "deliveries are sent with POST"},
		{"elsewhere", body, map[string]string{"path": "/webhook/"}, 404, "nothing is here"},
		{"nowhere", body, map[string]string{"path": "//webhook"}, 404, "nothing is here"},
		{"too large", strings.Repeat(" ", 25<<20-1) + "{}", nil, 413, "larger than 25 MB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var box shelf
			url := serve(t, &web.Server{Queue: &box, Secrets: []string{secret, "", second}})
			status, text, header := send(t, request(t, url, tt.body, tt.change))
			if status != tt.status || !strings.Contains(text, tt.say) || strings.Contains(text, "\n") || strings.Contains(text, "echo-me-not") {
				t.Errorf("got %d %q, want %d and one line with %q", status, text, tt.status, tt.say)
			}
			want := map[bool]int{true: 1}[tt.status == 202]
			if box.count() != want {
				t.Errorf("stored %d, want %d", box.count(), want)
			}
			if want == 1 {
				d := box.stored[0]
				if d.ID != guid || d.Event != "check_run" || string(d.Payload) != tt.body || time.Since(d.Received) > time.Minute {
					t.Errorf("stored %+v", d)
				}
			}
			if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" ||
				!strings.HasPrefix(header.Get("Content-Type"), "text/plain") || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("got headers %v", header)
			}
		})
	}
}

// TestOversizeWithoutLength sends more than is allowed in chunks, so that no header says how much comes.
func TestOversizeWithoutLength(t *testing.T) {
	var box shelf
	r := request(t, serve(t, &web.Server{Queue: &box, Secrets: []string{secret}}), "{}", nil)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, 26<<20))), -1
	resp, err := http.DefaultClient.Do(r)
	if err == nil { // the server may hang up first, which is as good
		defer resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("got %s", resp.Status)
		}
	}
	if box.count() != 0 {
		t.Errorf("stored %d", box.count())
	}
}

// TestBudget fills the memory for bodies with clients that never finish theirs; once they are gone there is room again.
func TestBudget(t *testing.T) {
	var box shelf
	url := serve(t, &web.Server{Queue: &box, Secrets: []string{secret}})
	var writers []*io.PipeWriter
	chunk := make([]byte, 24<<20)
	answers := make(chan int, 9)
	for range 6 {
		pr, pw := io.Pipe()
		writers = append(writers, pw)
		r := request(t, url, "{}", nil)
		r.Body, r.ContentLength = pr, -1
		go func() {
			status := 0
			if resp, err := http.DefaultClient.Do(r); err == nil {
				status = resp.StatusCode
				resp.Body.Close()
			}
			answers <- status
		}()
		go pw.Write(chunk)
	}
	if got := <-answers; got != 503 && got != 0 { // 0: hung up on while it still wrote
		t.Errorf("got %d while 144 MB are in memory", got)
	}
	for _, w := range writers {
		w.CloseWithError(errors.New("gone"))
	}
	for range 5 {
		<-answers
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if status, text, _ := send(t, request(t, url, "{}", nil)); status == 202 {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("got %d %q after all of them were gone", status, text)
		}
	}
}

func TestNoSecretRefusesAll(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}} {
		var box shelf
		url := serve(t, &web.Server{Queue: &box, Secrets: secrets})
		if status, _, _ := send(t, request(t, url, "{}", map[string]string{"X-Hub-Signature-256": sign("", []byte("{}"))})); status != 401 {
			t.Errorf("%q: got %d", secrets, status)
		}
		if status, text := get(t, url+"/readyz"); status != 503 || text != "not ready: no webhook secret is configured" {
			t.Errorf("%q: got %d %q", secrets, status, text)
		}
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, text, _ := send(t, r)
	return status, text
}

// TestStored sends real deliveries to a real queue: again, at once, and after it was opened anew.
func TestStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	for life, want := range []int{202, 200} {
		q, err := queue.Open(t.Context(), queue.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		url := serve(t, &web.Server{Queue: q, Secrets: []string{secret}})
		for i, want := range []int{want, 200} {
			if status, text, _ := send(t, request(t, url, "{}", nil)); status != want || want == 200 && text != "already here" {
				t.Errorf("life %d, %d: got %d %q, want %d", life, i, status, text, want)
			}
		}
		d, _, ok, err := q.Delivery(t.Context(), guid)
		if err != nil || !ok || string(d.Payload) != "{}" || d.Event != "check_run" {
			t.Errorf("life %d: got %+v, %v, %v", life, d, ok, err)
		}
		if err := q.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if status, text, h := send(t, request(t, url, "{}", nil)); status != 503 || text != "the delivery is not stored; redeliver it later" || h.Get("Retry-After") == "" {
			t.Errorf("life %d, closed: got %d %q", life, status, text)
		}
	}
}

func TestLooks(t *testing.T) {
	var log bytes.Buffer
	box := &shelf{}
	s := &web.Server{Queue: box, Secrets: []string{secret}, Version: "v1.2.3", Log: slog.New(slog.NewTextHandler(&log, nil))}
	url := serve(t, s)
	for _, tt := range []struct {
		method, path string
		queue, ready error
		status       int
		say          string
	}{
		{"GET", "/healthz", nil, nil, 200, "ok v1.2.3"},
		{"HEAD", "/healthz", nil, nil, 200, ""},
		{"GET", "/healthz", errors.New("x"), errors.New("x"), 200, "ok v1.2.3"},
		{"POST", "/healthz", nil, nil, 405, "only GET and HEAD are answered here"},
		{"GET", "/readyz", nil, nil, 200, "ok v1.2.3"},
		{"HEAD", "/readyz", errors.New("x"), nil, 503, ""},
		{"GET", "/readyz", errors.New("/secret/place/queue.db: full"), nil, 503, "not ready: the queue cannot be written; the server's log says why"},
		{"GET", "/readyz", nil, errors.New("github:\nno answer for " + secret), 503, "not ready: github: no answer for (redacted)"},
		{"GET", "/readyz", nil, errors.New("token ghp_" + strings.Repeat("aB3", 12)), 503, "not ready: token (redacted)"},
		{"DELETE", "/readyz", nil, nil, 405, "only GET and HEAD are answered here"},
		{"GET", "/", nil, nil, 404, "nothing is here"},
		{"GET", "/metrics", nil, nil, 404, "nothing is here"},
		{"GET", "/healthz/..", nil, nil, 404, "nothing is here"},
	} {
		box.err, s.Ready = tt.queue, func(context.Context) error { return tt.ready }
		r, err := http.NewRequestWithContext(t.Context(), tt.method, url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if status, text, _ := send(t, r); status != tt.status || text != tt.say {
			t.Errorf("%s %s: got %d %q, want %d %q", tt.method, tt.path, status, text, tt.status, tt.say)
		}
	}
	if !strings.Contains(log.String(), "/secret/place/queue.db: full") {
		t.Errorf("the log does not say why: %s", log.String())
	}
}

// TestSlowClients holds connections without sending what was announced; they are closed, and others are served meanwhile.
func TestSlowClients(t *testing.T) {
	var box shelf
	h := (&web.Server{Queue: &box, Secrets: []string{secret}}).HTTP("127.0.0.1:0")
	if h.ReadHeaderTimeout <= 0 || h.ReadTimeout <= 0 || h.WriteTimeout <= h.ReadTimeout || h.IdleTimeout <= 0 || h.MaxHeaderBytes > 64<<10 || h.ReadTimeout > time.Minute {
		t.Errorf("not bounded: %+v", h)
	}
	h.ReadHeaderTimeout, h.ReadTimeout = 200*time.Millisecond, 400*time.Millisecond
	l := listen(t)
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	for name, text := range map[string]string{
		"nothing":     "",
		"half a line": "POST /webhook HT",
		"no body":     "POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nX-Hub-Signature-256: " + sign(secret, nil) + "\r\n\r\n{",
		"huge header": "GET /healthz HTTP/1.1\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
	} {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if status, _ := get(t, "http://"+l.Addr().String()+"/healthz"); status != 200 {
			t.Errorf("%s: others get %d", name, status)
		}
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := io.Copy(io.Discard, bufio.NewReader(c)); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: held", name)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if box.count() != 0 {
		t.Errorf("stored %d", box.count())
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// slowly is an intake that takes its time.
type slowly struct {
	shelf
	begun, release chan struct{}
}

func (s *slowly) Receive(ctx context.Context, d queue.Delivery) (bool, error) {
	close(s.begun)
	<-s.release
	return s.shelf.Receive(ctx, d)
}

// TestServe stops while a delivery is being stored: it is answered, and nothing new is taken.
func TestServe(t *testing.T) {
	box := &slowly{begun: make(chan struct{}), release: make(chan struct{})}
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- (&web.Server{Queue: box, Secrets: []string{secret}}).Serve(ctx, l) }()
	answer := make(chan int, 1)
	go func() {
		resp, err := http.DefaultClient.Do(request(t, "http://"+l.Addr().String(), "{}", nil))
		if err != nil {
			t.Error(err)
			answer <- 0
			return
		}
		resp.Body.Close()
		answer <- resp.StatusCode
	}()
	<-box.begun
	cancel()
	for { // until the listener is closed
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(5 * time.Millisecond)
	}
	close(box.release)
	if got := <-answer; got != 202 {
		t.Errorf("got %d for what had begun", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := (&web.Server{Queue: box}).Serve(context.Background(), l); err == nil {
		t.Error("a closed listener is served")
	}
}

// FuzzWebhook sends anything to the handler: it answers from its list and stores nothing that is not signed.
func FuzzWebhook(f *testing.F) {
	f.Add("POST", "/webhook", "check_run", guid, "application/json", `{"a":1}`, true)
	f.Add("POST", "/webhook", "check_run", guid, "application/json", `{"a":1}`, false)
	f.Add("GET", "/readyz", "", "", "", "", false)
	f.Add("\x00", "/webhook\xff", "\r\n", "'--", "application/json; x=\"", "{", true)
	f.Fuzz(func(t *testing.T, method, path, event, id, kind, body string, signed bool) {
		var box shelf
		h := (&web.Server{Queue: &box, Secrets: []string{secret}}).Handler()
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Method, r.URL.Path = method, path
		r.Header = http.Header{"X-Github-Event": {event}, "X-Github-Delivery": {id}, "Content-Type": {kind}, "X-Hub-Signature-256": {sign("guess", []byte(body))}}
		if signed {
			r.Header.Set("X-Hub-Signature-256", sign(secret, []byte(body)))
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if !slices.Contains([]int{200, 202, 400, 401, 404, 405, 415}, w.Code) || strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("got %d %q", w.Code, w.Body)
		}
		if stored := box.count() == 1; stored != (w.Code == 202) || stored && (!signed || path != "/webhook" || method != "POST") {
			t.Errorf("stored %v after %d", stored, w.Code)
		}
		if fmt.Sprint(w.Body) == body && len(body) > 0 {
			t.Errorf("an echo: %q", body)
		}
	})
}
