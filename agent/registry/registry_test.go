package registry

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a proxy on loopback before an upstream of TLS that is asked for all ecosystems.
type world struct {
	t        *testing.T
	upstream *httptest.Server
	address  string
	proxy    *Proxy

	mu      sync.Mutex
	asked   []string // method, path and headers that upstream saw
	records []Record
	gets    int // each leaves one record
}

// newWorld starts both. Limits are opt's.
func newWorld(t *testing.T, opt Options, answer http.HandlerFunc) *world {
	t.Helper()
	w := &world{t: t}
	w.upstream = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+r.RequestURI)
		w.mu.Unlock()
		for _, name := range []string{"Authorization", "Cookie", "Referer", "X-Forwarded-For"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s went out to upstream", name)
			}
		}
		rw.Header().Set("Set-Cookie", "a=b")
		rw.Header().Set("Www-Authenticate", "Basic")
		answer(rw, r)
	}))
	t.Cleanup(w.upstream.Close)
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.address = ln.Addr().String()
	opt.Port = ln.Addr().(*net.TCPAddr).Port
	opt.Roots = x509.NewCertPool()
	opt.Roots.AddCert(w.upstream.Certificate())
	if opt.Upstreams == nil {
		opt.Upstreams = map[string]string{}
		for _, eco := range Ecosystems() {
			opt.Upstreams[eco] = w.upstream.URL + "/" + eco
		}
	}
	opt.Record = func(r Record) { w.records = append(w.records, r) }
	if w.proxy, err = New(opt); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.proxy.Serve(t.Context(), ln) }()
	t.Cleanup(func() {
		ln.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// raw sends bytes as they are and returns the status lines and all that came back.
func (w *world) raw(request string) string {
	w.t.Helper()
	c, err := net.Dial("tcp4", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		w.t.Fatal(err)
	}
	b, _ := io.ReadAll(c)
	return string(b)
}

// get asks as an ordinary client does.
func (w *world) get(path string, headers ...string) (*http.Response, string, error) {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+w.address+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.gets++
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("Cookie", "c=d")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// last is the record of the last get, without what differs from run to run. A record is written after its answer.
func (w *world) last() Record {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		w.proxy.mu.Lock()
		n := len(w.records)
		w.proxy.mu.Unlock()
		if n == w.gets {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("%d records of %d requests", n, w.gets)
		}
	}
	w.proxy.mu.Lock()
	defer w.proxy.mu.Unlock()
	r := w.records[len(w.records)-1]
	r.TS, r.Seconds = time.Time{}, 0
	return r
}

func (w *world) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// echo answers with what it was asked.
func echo(rw http.ResponseWriter, r *http.Request) { fmt.Fprintf(rw, "this is %s", r.RequestURI) }

func TestPaths(t *testing.T) {
	w := newWorld(t, Options{}, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/crates/config.json":
			fmt.Fprintf(rw, `{"dl":"%s/files/{lowerprefix}/{crate}-{version}","api":"x"}`, "https://"+r.Host)
		case strings.HasSuffix(r.URL.Path, "/gone"):
			rw.WriteHeader(http.StatusGone)
			fmt.Fprint(rw, "secret words")
		default:
			echo(rw, r)
		}
	})
	for _, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/go/golang.org/x/text/@v/list", 200, "this is /go/golang.org/x/text/@v/list"},
		{"/go/github.com/!burnt!sushi/toml/@v/v1.0.0+incompatible.zip", 200, "this is /go/github.com/!burnt!sushi/toml/@v/v1.0.0+incompatible.zip"},
		{"/go/example.com/m/@latest", 200, "this is /go/example.com/m/@latest"},
		{"/go/sumdb/" + checksums + "/supported", 200, "this is /go/sumdb/" + checksums + "/supported"},
		{"/go/sumdb/" + checksums + "/tile/8/0/x001/234.p/5", 200, "this is /go/sumdb/" + checksums + "/tile/8/0/x001/234.p/5"},
		{"/go/sumdb/example.com/latest", 404, "redraft: not fetched: no such checksum database\n"},
		{"/npm/is-odd/-/is-odd-3.0.1.tgz", 200, "this is /npm/is-odd/-/is-odd-3.0.1.tgz"},
		{"/npm/@babel/core/-/core-7.0.0.tgz", 200, "this is /npm/@babel/core/-/core-7.0.0.tgz"},
		{"/npm/-/npm/v1/security/advisories/bulk", 404, "redraft: not fetched: no registry has such a path\n"},
		{"/crates/config.json", 200, fmt.Sprintf(`{"dl":"http://%s/crates/dl/{crate}/{version}/download"}`, w.address)},
		{"/crates/se/rd/serde", 200, "this is /crates/se/rd/serde"},
		{"/crates/1/a", 200, "this is /crates/1/a"},
		{"/crates/3/s/syn", 200, "this is /crates/3/s/syn"},
		{"/crates/dl/Inflector/0.11.4/download", 200, "this is /files/in/fl/Inflector-0.11.4"},
		{"/crates/api/v1/crates", 404, "redraft: not fetched: no registry has such a path\n"},
		{"/go/gone/@v/list/gone", 404, "redraft: not fetched: no registry has such a path\n"},
		{"/crates/go/ne/gone", 410, "upstream said 410\n"},
		{"/pypi/simple/", 404, "redraft: not fetched: no registry has such a path\n"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			resp, body, err := w.get(tt.path)
			if err != nil || resp.StatusCode != tt.status || body != tt.body {
				t.Fatalf("got %d %q, %v, want %d %q", resp.StatusCode, body, err, tt.status, tt.body)
			}
			if c := resp.Header.Get("Set-Cookie") + resp.Header.Get("Www-Authenticate"); c != "" {
				t.Errorf("got headers of upstream: %s", c)
			}
			if r := w.last(); r.Status != tt.status || r.Bytes != int64(len(body)) || r.Method != "GET" {
				t.Errorf("got the record %+v", r)
			}
		})
	}
}

// TestRefused sends what no client of a registry sends. Nothing of it may reach upstream.
func TestRefused(t *testing.T) {
	w := newWorld(t, Options{}, echo)
	host := "Host: " + w.address + "\r\nConnection: close\r\n\r\n"
	other := "Host: example.com\r\nConnection: close\r\n\r\n"
	for _, tt := range []struct{ name, request, want string }{
		{"POST", "POST /npm/x HTTP/1.1\r\n" + host, "405"},
		{"PUT", "PUT /npm/x HTTP/1.1\r\nContent-Length: 0\r\n" + host, "405"},
		{"DELETE", "DELETE /npm/x HTTP/1.1\r\n" + host, "405"},
		{"OPTIONS of all", "OPTIONS * HTTP/1.1\r\n" + host, "405"},
		{"CONNECT", "CONNECT example.com:443 HTTP/1.1\r\n" + other, "405"},
		{"absolute form", "GET http://example.com/npm/x HTTP/1.1\r\n" + other, "400"},
		{"absolute form of ours", "GET http://" + w.address + "/npm/x HTTP/1.1\r\n" + host, "400"},
		{"another host", "GET /npm/x HTTP/1.1\r\n" + other, "421"},
		{"a body", "GET /npm/x HTTP/1.1\r\nContent-Length: 3\r\n" + host + "abc", "400"},
		{"a chunked body", "GET /npm/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + host + "0\r\n\r\n", "400"},
		{"two lengths", "GET /npm/x HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n" + host, "400"},
		{"a query", "GET /npm/x?write=true HTTP/1.1\r\n" + host, "400"},
		{"parent folders", "GET /npm/../../etc/passwd HTTP/1.1\r\n" + host, "400"},
		{"hidden parents", "GET /npm/%2e%2e/%2e%2e/x HTTP/1.1\r\n" + host, "400"},
		{"hidden slashes", "GET /npm/..%2f..%2fx HTTP/1.1\r\n" + host, "400"},
		{"empty parts", "GET //evil.example/x HTTP/1.1\r\n" + host, "400"},
		{"backslashes", "GET /npm/..\\x HTTP/1.1\r\n" + host, "400"},
		{"escaped twice", "GET /npm/%252e%252e HTTP/1.1\r\n" + host, "400"},
		{"a line end in the path", "GET /npm/x%0d%0aHost:%20evil HTTP/1.1\r\n" + host, "400"},
		{"a bare line feed", "GET /npm/x\nX: y HTTP/1.1\r\n" + host, "400"},
		{"NUL", "GET /npm/x%00 HTTP/1.1\r\n" + host, "400"},
		{"a host of another ecosystem", "GET /f/pypi/evil.example/x HTTP/1.1\r\n" + host, "502"},
		{"a port of this machine", "GET /f/pypi/127.0.0.1:1/x HTTP/1.1\r\n" + host, "502"},
		{"no path", "GET / HTTP/1.1\r\n" + host, "400"},
		{"long", "GET /npm/" + strings.Repeat("a", 3000) + " HTTP/1.1\r\n" + host, "400"},
		{"TLS", "\x16\x03\x01\x00\x05hello\r\n\r\n", "400"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, _ := strings.Cut(w.raw(tt.request), "\r\n")
			if !strings.Contains(got, " "+tt.want+" ") {
				t.Errorf("got %q, want %s", got, tt.want)
			}
		})
	}
	if seen := w.seen(); len(seen) > 0 {
		t.Errorf("upstream was asked: %q", seen)
	}
}

// TestSmuggled hides a second request in the first: both are looked at, and upstream sees none of the client's bytes.
func TestSmuggled(t *testing.T) {
	w := newWorld(t, Options{}, echo)
	got := w.raw("GET /go/m/@latest HTTP/1.1\r\nHost: " + w.address + "\r\nX: y\r\n\r\nPOST /npm/evil HTTP/1.1\r\nHost: " + w.address + "\r\nConnection: close\r\n\r\n")
	if n := strings.Count(got, "HTTP/1.1 "); n != 2 || !strings.Contains(got, "405 ") {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff([]string{"GET /go/m/@latest"}, w.seen()); diff != "" {
		t.Error(diff)
	}
}

func TestRedirects(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer elsewhere.Close()
	plainly := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer plainly.Close()
	w := newWorld(t, Options{}, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/go/away/@latest":
			http.Redirect(rw, r, elsewhere.URL+"/x", http.StatusFound)
		case "/go/plain/@latest":
			http.Redirect(rw, r, plainly.URL+"/x", http.StatusFound)
		case "/go/file/@latest":
			http.Redirect(rw, r, "file:///etc/passwd", http.StatusFound)
		case "/go/round/@latest":
			http.Redirect(rw, r, "/go/round/@latest", http.StatusFound)
		case "/go/here/@latest":
			http.Redirect(rw, r, "/go/there", http.StatusMovedPermanently)
		default:
			echo(rw, r)
		}
	})
	for _, tt := range []struct {
		path   string
		status int
		want   string
	}{
		{"/go/away/@latest", 502, "a redirect to " + elsewhere.URL + ", which is not on the list"},
		{"/go/plain/@latest", 502, "a redirect to " + plainly.URL + ", which is not on the list"},
		{"/go/file/@latest", 502, "a redirect to file://"},
		{"/go/round/@latest", 502, "more than 5 redirects"},
		{"/go/here/@latest", 200, "this is /go/there"},
	} {
		resp, body, err := w.get(tt.path)
		if err != nil || resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: got %v %q, %v", tt.path, resp.StatusCode, body, err)
		}
		if r := w.last(); tt.status != 200 && !strings.Contains(r.Refused, tt.want) {
			t.Errorf("%s: got the record %+v", tt.path, r)
		}
	}
}

// TestBounds: what is too large, too slow or too much is not given as if it were whole.
func TestBounds(t *testing.T) {
	bomb := func() []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range 64 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		z.Close()
		return b.Bytes()
	}()
	free := make(chan struct{})
	w := newWorld(t, Options{File: 1000, Index: 1 << 20, Stall: 200 * time.Millisecond}, func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/go/said/@latest":
			_, _ = rw.Write(make([]byte, 1001))
		case "/go/unsaid/@latest":
			for range 100 {
				_, _ = rw.Write(make([]byte, 100))
				rw.(http.Flusher).Flush()
			}
		case "/go/cut/@latest":
			rw.Header().Set("Content-Length", "900")
			_, _ = rw.Write(make([]byte, 10))
		case "/go/silent/@latest":
			<-free
		case "/go/slow/@latest":
			_, _ = rw.Write(make([]byte, 10))
			rw.(http.Flusher).Flush()
			<-free
		case "/npm/bomb", "/pypi/bomb/":
			rw.Header().Set("Content-Encoding", "gzip")
			_, _ = rw.Write(bomb)
		default:
			_, _ = rw.Write(make([]byte, 1000))
		}
	})
	defer close(free)
	for _, tt := range []struct {
		path   string
		status int // 0: the connection is broken off
		want   string
	}{
		{"/go/fits/@latest", 200, ""},
		{"/go/said/@latest", 502, "the file has 1001 bytes, 1000 are allowed"},
		{"/go/unsaid/@latest", 0, "the file has more than 1000 bytes"},
		{"/go/cut/@latest", 0, "the file was broken off"},
		{"/go/silent/@latest", 504, "did not answer in time"},
		{"/go/slow/@latest", 0, "the file was broken off"},
		{"/npm/bomb", 502, "the index page has more than 1048576 bytes"},
		{"/pypi/simple/bomb/", 502, "the index page has more than 1048576 bytes"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			resp, _, err := w.get(tt.path)
			if tt.status == 0 && err == nil || tt.status != 0 && (err != nil || resp.StatusCode != tt.status) {
				t.Errorf("got %+v, %v", resp, err)
			}
			if r := w.last(); r.Status != tt.status || !strings.Contains(r.Refused, tt.want) {
				t.Errorf("got the record %+v", r)
			}
		})
	}
}

func TestTotals(t *testing.T) {
	w := newWorld(t, Options{Total: 2500, Requests: 5}, func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(make([]byte, 1000)) })
	want := []int{200, 200, 502, 502, 502, 429}
	for i, status := range want {
		resp, _, err := w.get("/go/m/@latest")
		if err != nil || resp.StatusCode != status {
			t.Errorf("request %d: got %v, %v, want %d", i, resp, err, status)
		}
	}
}

// TestPackument: tarballs are asked of the proxy, their hashes and everything else stay.
func TestPackument(t *testing.T) {
	w := newWorld(t, Options{}, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", npmShort)
		fmt.Fprintf(rw, `{"name":"@a/b","asked":%q,"accept":%q,"versions":{"1.0.0":{"x":1e400,"dist":{"integrity":"sha512-<&>","tarball":"https://%s/npm/@a/b/-/b-1.0.0.tgz"}},"2.0.0":{"dist":{"tarball":"https://evil.example/b.tgz"}},"3.0.0":{"dist":7}}}`,
			r.RequestURI, r.Header.Get("Accept"), r.Host)
	})
	resp, body, err := w.get("/npm/@a%2fb", "Accept", npmShort)
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != npmShort {
		t.Fatalf("got %v %s, %v", resp, body, err)
	}
	var got struct {
		Asked, Accept string
		Versions      map[string]struct {
			X    json.RawMessage
			Dist json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	host := w.upstream.Listener.Addr().String()
	dist := fmt.Sprintf(`{"integrity":"sha512-<&>","tarball":"http://%s/f/npm/%s/npm/@a/b/-/b-1.0.0.tgz"}`, w.address, host)
	if v := got.Versions["1.0.0"]; string(v.Dist) != dist || string(v.X) != "1e400" {
		t.Errorf("got %s and %s, want %s", v.Dist, v.X, dist)
	}
	if d := string(got.Versions["2.0.0"].Dist); d != `{"tarball":"https://evil.example/b.tgz"}` {
		t.Errorf("got %s of a foreign host", d)
	}
	if got.Asked != "/npm/@a%2fb" || !strings.HasPrefix(got.Accept, npmShort) {
		t.Errorf("upstream was asked for %s, %s", got.Asked, got.Accept)
	}
	if resp, body, err := w.get("/f/npm/" + host + "/npm/@a/b/-/b-1.0.0.tgz"); err != nil || resp.StatusCode != 200 || !strings.Contains(body, "tarball") {
		t.Errorf("the link gives %v %s, %v", resp, body, err)
	}
}

func TestProject(t *testing.T) {
	w := newWorld(t, Options{}, func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), pypiJSON) {
			rw.Header().Set("Content-Type", pypiJSON)
			fmt.Fprintf(rw, `{"meta":{"api-version":"1.0"},"name":"six","files":[{"filename":"six-1.tar.gz","url":"https://%s/p/six-1.tar.gz","hashes":{"sha256":"ab"}},{"filename":"x","url":"../x.whl"}]}`, r.Host)
			return
		}
		fmt.Fprintf(rw, `<html><base href="https://evil.example/"><script>x()</script><a href="https://%s/p/six-1.tar.gz#sha256=ab" data-requires-python="&gt;=3" onclick="x()">six-1.tar.gz</a><a href="https://evil.example/six-2.tar.gz">six-2</a>`, r.Host)
	})
	host := w.upstream.Listener.Addr().String()
	base := "http://" + w.address + "/f/pypi/" + host
	_, body, err := w.get("/pypi/simple/six/", "Accept", pypiJSON+", text/html;q=0.1")
	want := fmt.Sprintf(`{"files":[{"filename":"six-1.tar.gz","hashes":{"sha256":"ab"},"url":"%s/p/six-1.tar.gz"},{"filename":"x","url":"%s/pypi/x.whl"}],"meta":{"api-version":"1.0"},"name":"six"}`, base, base)
	if err != nil || body != want {
		t.Errorf("got %s, %v, want %s", body, err, want)
	}
	_, body, err = w.get("/pypi/simple/six/")
	want = `<a href="` + base + `/p/six-1.tar.gz#sha256=ab" data-requires-python="&gt;=3">six-1.tar.gz</a><br>` + "\n" + `<a href="https://evil.example/six-2.tar.gz">six-2</a><br>`
	if err != nil || !strings.Contains(body, want) || strings.Contains(body, "base href") || strings.Contains(body, "x()") {
		t.Errorf("got %s, %v, want %s in it", body, err, want)
	}
}

// TestChecksums: where the module proxy serves no checksum database and is another one than the official, there is none.
func TestChecksums(t *testing.T) {
	w := newWorld(t, Options{}, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNotFound) })
	resp, _, err := w.get("/go/sumdb/" + checksums + "/supported")
	if err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("got %v, %v", resp, err)
	}
}

// TestUpgrade: cargo asks for HTTP/2 in passing, and is answered as if it had not.
func TestUpgrade(t *testing.T) {
	w := newWorld(t, Options{}, echo)
	got := w.raw("GET /go/m/@latest HTTP/1.1\r\nHost: " + w.address + "\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.HasSuffix(got, "this is /go/m/@latest") {
		t.Errorf("got %q", got)
	}
}

func TestHead(t *testing.T) {
	w := newWorld(t, Options{}, echo)
	got := w.raw("HEAD /go/m/@latest HTTP/1.1\r\nHost: " + w.address + "\r\nConnection: close\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(got)), &http.Request{Method: http.MethodHead})
	if err != nil || r.StatusCode != 200 || !strings.HasSuffix(got, "\r\n\r\n") {
		t.Errorf("got %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"HEAD /go/m/@latest"}, w.seen()); diff != "" {
		t.Error(diff)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		opt  Options
		want string
	}{
		{Options{}, "0 is no port"},
		{Options{Port: 1, Upstreams: map[string]string{"maven": "https://x"}}, `"maven" is none of go, npm, pypi, crates`},
		{Options{Port: 1, Upstreams: map[string]string{"go": "http://x"}}, "no https address"},
		{Options{Port: 1, Upstreams: map[string]string{"go": "https://u:p@x/"}}, "credentials"},
		{Options{Port: 1, Upstreams: map[string]string{"go": "https://x/?a=b"}}, "a query"},
		{Options{Port: 1, Upstreams: map[string]string{"go": "https://x y/"}}, "upstream of go"},
		{Options{Port: 1, Upstreams: map[string]string{"go": "direct"}}, "no https address"},
	} {
		if _, err := New(tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q in it", err, tt.want)
		}
	}
	p, err := New(Options{Port: 4873, Upstreams: map[string]string{"go": "https://mirror.example:443/go"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mirror.example"}, p.upstream["go"].hosts); diff != "" {
		t.Error(diff)
	}
	for eco, u := range p.upstream {
		if !permitted(u.at("x"), u.hosts) {
			t.Errorf("the upstream of %s is not on its own list", eco)
		}
	}
}
