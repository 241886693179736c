package model_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/model/modeltest"
)

// fault asserts an *Error of a class that has all the words and none of the secrets that servers put into their bodies.
func fault(t *testing.T, err error, class model.Class, words ...string) {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an *Error of class %s", err, err, class)
	}
	if e.Class != class {
		t.Errorf("class %s, want %s: %v", e.Class, class, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q lacks %q", err, w)
		}
	}
	if strings.Contains(err.Error(), leak) {
		t.Errorf("%q holds what the server said", err)
	}
}

// leak is what hostile servers say in the tests.
const leak = "PROVIDER-TEXT"

func dial(t *testing.T, e model.Endpoint) *model.Server {
	t.Helper()
	s, err := model.Dial(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDialRefusesAddresses(t *testing.T) {
	for url, words := range map[string]string{
		"http://user:pw@127.0.0.1:1/v1":  "user name",
		"http://127.0.0.1:1/v1?x=1":      "query",
		"http://127.0.0.1:1/v1#x":        "query or fragment",
		"ftp://127.0.0.1:1":              `scheme "ftp"`,
		"127.0.0.1:8080":                 "begin it with http://",
		"localhost:8080":                 "begin it with http://",
		"http://":                        "no host",
		"http://10.1.2.3:8080":           "not a loopback address",
		"http://[2001:db8::1]:8080":      "not a loopback address",
		"http://0.0.0.0:8080":            "not a loopback address",
		"http://[::ffff:10.0.0.1]:8080":  "not a loopback address",
		"unix://host/path":               "unix:///path",
		"unix:///":                       "unix:///path",
		"http://127.0.0.1:1/\x7f" + leak: "cannot be read",
	} {
		_, err := model.Dial(t.Context(), model.Endpoint{Name: "m", BaseURL: url})
		fault(t, err, model.Refused, words, `dial the model "m"`)
	}
}

func TestCheckAddress(t *testing.T) {
	for url, ok := range map[string]bool{"http://127.0.0.1:8080/v1": true, "http://some-name:1": true, "unix:///x.sock": true,
		"http://10.0.0.1": false, "http://a:b@127.0.0.1": false, "localhost:1": false} {
		if err := model.CheckAddress(url); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestDialTakesEveryShapeOfBaseURL(t *testing.T) {
	f := modeltest.New(t, nil)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(f.Root(), "http://"))
	for _, url := range []string{f.Root(), f.Root() + "/", f.Root() + "/v1", f.Root() + "/v1/", "http://localhost:" + port + "/v1"} {
		if s := dial(t, model.Endpoint{BaseURL: url}); s.ID() != "scripted" {
			t.Errorf("%s: id %q", url, s.ID())
		}
	}
}

func TestDialUnixSocket(t *testing.T) {
	f := modeltest.Start(t, modeltest.Config{Script: modeltest.Texts("hi")})
	path := filepath.Join(t.TempDir(), "m.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: f.Handler()}
	go proxy.Serve(l)
	t.Cleanup(func() { proxy.Close() })
	s := dial(t, model.Endpoint{BaseURL: "unix://" + path})
	r, err := s.Complete(t.Context(), ask("x"))
	if err != nil || r.Text != "hi" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// A name that resolved to loopback at first and elsewhere later is refused when it is dialled.
func TestRebindingIsRefused(t *testing.T) {
	elsewhere := net.ParseIP(outward(t)).To4()
	var answer atomic.Value
	answer.Store([4]byte{127, 0, 0, 1})
	resolveWith(t, func() [4]byte { return answer.Load().([4]byte) })
	f := modeltest.New(t, modeltest.Texts("hi", "never"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(f.Root(), "http://"))
	s := dial(t, model.Endpoint{BaseURL: "http://rebind.example:" + port})
	if r, err := s.Complete(t.Context(), ask("x")); err != nil || r.Text != "hi" {
		t.Fatalf("while it is loopback: %q, %v", r.Text, err)
	}
	answer.Store([4]byte(elsewhere))
	_, err := s.Complete(t.Context(), ask("x"))
	fault(t, err, model.Refused, "not a loopback address")
}

// resolveWith has every name of this test's process resolve to what addr says, through a name server on loopback.
func resolveWith(t *testing.T, addr func() [4]byte) {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: addr()}}}
			}
			out, err := m.Pack()
			if err == nil {
				_, _ = c.WriteTo(out, from)
			}
		}
	}()
	old := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = old })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

func TestDialChecksTheAddress(t *testing.T) {
	elsewhere := outward(t)
	f := modeltest.Start(t, modeltest.Config{Listen: elsewhere + ":0"})
	_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: f.Root()})
	fault(t, err, model.Refused, "not a loopback address")
	if s := dial(t, model.Endpoint{BaseURL: f.Root(), AllowHosts: []string{elsewhere}}); s.ID() != "scripted" {
		t.Errorf("id %q", s.ID())
	}
	if err := model.OnlyLoopback("tcp4", elsewhere+":80"); err == nil {
		t.Error("a resolved address elsewhere was let through")
	}
	for _, a := range []string{"127.0.0.1:80", "127.8.9.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80"} {
		if err := model.OnlyLoopback("tcp", a); err != nil {
			t.Errorf("%s: %v", a, err)
		}
	}
	for _, a := range []string{"10.0.0.1:80", "[fe80::1%eth0]:80", "169.254.169.254:80", "0.0.0.0:80", "[::]:80", "name:80", ""} {
		if err := model.OnlyLoopback("tcp", a); err == nil {
			t.Errorf("%s was let through", a)
		}
	}
}

// outward is an address of this machine that is not loopback; connecting to it stays on the machine.
func outward(t *testing.T) string {
	t.Helper()
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			return n.IP.String()
		}
	}
	t.Skip("REFUSED: this machine has loopback addresses only")
	return ""
}

func TestProxyVariablesAreIgnored(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	if tr := model.TransportOf(dial(t, model.Endpoint{BaseURL: modeltest.New(t, nil).URL()})); tr.Proxy != nil {
		t.Error("the transport has a proxy") // loopback is never proxied by net/http, so only this tells
	}
}

func TestDialChoosesTheModel(t *testing.T) {
	many := modeltest.Start(t, modeltest.Config{ID: "qwen2.5-coder:7b", More: []string{"llama3:latest", "text-embedding-x", "/models/a/phi.gguf"}})
	one := modeltest.Start(t, modeltest.Config{ID: "qwen", More: []string{"text-embedding-nomic"}})
	for _, c := range []struct{ url, want, id, words string }{
		{many.URL(), "llama3:latest", "llama3:latest", ""},
		{many.URL(), "llama3", "llama3:latest", ""},
		{many.URL(), "phi", "/models/a/phi.gguf", ""},
		{many.URL(), "nope", "", `no model "nope", only "qwen2.5-coder:7b", "llama3:latest", "text-embedding-x", "phi.gguf"`},
		{many.URL(), "", "", `name one of its models: "qwen2.5-coder:7b"`},
		{one.URL(), "", "qwen", ""},
	} {
		s, err := model.Dial(t.Context(), model.Endpoint{BaseURL: c.url, Model: c.want})
		switch {
		case c.words != "":
			fault(t, err, model.Invalid, c.words, "choose a model")
		case err != nil:
			t.Errorf("%q: %v", c.want, err)
		case s.ID() != c.id:
			t.Errorf("%q: got %q, want %q", c.want, s.ID(), c.id)
		}
	}
}

func TestDialNamesAServerWithoutModels(t *testing.T) {
	f := modeltest.Start(t, modeltest.Config{Answers: map[string]modeltest.Canned{"/v1/models": {Body: `{"object":"list","data":[]}`}}})
	_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: f.URL()})
	fault(t, err, model.Invalid, "no model: load one first")
}

func TestDialFaults(t *testing.T) {
	gone := modeltest.New(nil, nil)
	gone.Close()
	_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: gone.URL()})
	fault(t, err, model.Connection, "list the models at 127.0.0.1:", "connection refused")

	fault(t, model.WayError(&net.DNSError{Err: leak, Name: leak}), model.Connection, "cannot be resolved") // no test asks a real resolver
	fault(t, model.WayError(fmt.Errorf("tls: %w", errors.New(leak))), model.Invalid, "not HTTP")

	for _, c := range []struct {
		answer modeltest.Canned
		class  model.Class
		words  string
	}{
		{modeltest.Canned{Body: leak}, model.Invalid, "not the JSON"},
		{modeltest.Canned{Status: 503, Body: leak}, model.Overload, "status 503"},
		{modeltest.Canned{Status: 401, Body: leak}, model.Refused, "asks for a key"},
		{modeltest.Canned{Status: 404, Body: leak}, model.Invalid, "no such address"},
		{modeltest.Canned{Status: 302, Body: leak}, model.Refused, "redirects"},
		{modeltest.Canned{Status: 500, Body: leak}, model.Invalid, "status 500"},
		{modeltest.Canned{Body: `{"data":[{"id":"a"}]` + strings.Repeat(" ", 9<<20)}, model.Invalid, "larger than"},
	} {
		f := modeltest.Start(t, modeltest.Config{Answers: map[string]modeltest.Canned{"/v1/models": c.answer}})
		_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: f.URL()})
		fault(t, err, c.class, c.words)
	}
}

// raw answers every connection with fixed bytes and closes it.
func raw(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Read(make([]byte, 4096))
				fmt.Fprint(c, answer)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestDialServerThatIsNoHTTP(t *testing.T) {
	_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: raw(t, "SSH-2.0-"+leak+"\r\n")})
	fault(t, err, model.Invalid, "not HTTP")
	_, err = model.Dial(t.Context(), model.Endpoint{BaseURL: raw(t, "HTTP/1.1 200 "+leak+"\r\nBad Header "+leak+"\r\n\r\n")})
	fault(t, err, model.Invalid, "not HTTP")
	_, err = model.Dial(t.Context(), model.Endpoint{BaseURL: raw(t, "")})
	fault(t, err, model.Connection, "closed the connection")
}

func TestDialIsCancelled(t *testing.T) {
	f := modeltest.Start(t, modeltest.Config{Wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	}})
	why := errors.New("the operator pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := model.Dial(ctx, model.Endpoint{BaseURL: f.URL()}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestDialRefusesRemoteModels(t *testing.T) {
	version := modeltest.Canned{Body: `{"version":"0.13.0"}`}
	local := modeltest.Canned{Body: `{"models":[{"name":"m:latest"}]}`}
	for name, c := range map[string]struct {
		config modeltest.Config
		words  string
	}{
		"tags":  {modeltest.Config{ID: "gpt-oss:120b", Remote: true}, "another machine"},
		"name":  {modeltest.Config{ID: "gpt-oss:120b-cloud"}, "another machine"},
		"name2": {modeltest.Config{ID: "glm-4.6:cloud"}, "another machine"},
		"show": {modeltest.Config{ID: "m", Answers: map[string]modeltest.Canned{"/api/version": version, "/api/tags": local,
			"/api/show": {Body: `{"remote_host":"https://ollama.com:443","remote_model":"x"}`}}}, "another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: modeltest.Start(t, c.config).URL()})
			fault(t, err, model.Refused, c.words)
		})
	}
	// an Ollama that does not say whether the model is local
	f := modeltest.Start(t, modeltest.Config{ID: "m", Answers: map[string]modeltest.Canned{"/api/version": version, "/api/tags": local,
		"/api/show": {Status: 500, Body: leak}}})
	_, err := model.Dial(t.Context(), model.Endpoint{BaseURL: f.URL()})
	fault(t, err, model.Invalid, `see whether "m" is local`)
}

func TestContext(t *testing.T) {
	version := modeltest.Canned{Body: `{"version":"0.13.0"}`}
	local := modeltest.Canned{Body: `{"models":[{"name":"m:latest"}]}`}
	none := modeltest.Canned{Status: 404}
	list := modeltest.Canned{Body: `{"data":[{"id":"m","owned_by":"x"}]}`}
	ollama := func(show, ps string) map[string]modeltest.Canned {
		return map[string]modeltest.Canned{"/v1/models": list, "/props": none, "/api/version": version, "/api/tags": local,
			"/api/show": {Body: show}, "/api/ps": {Body: ps}}
	}
	for name, c := range map[string]struct {
		answers  map[string]modeltest.Canned
		override int
		n        int
		from     string
		kind     model.Kind
	}{
		"llama-server": {nil, 0, 8192, "/props", model.LlamaCPP},
		"override":     {nil, 100, 100, "operator", model.LlamaCPP},
		"vLLM": {map[string]modeltest.Canned{"/v1/models": {Body: `{"data":[{"id":"m","owned_by":"vllm","max_model_len":32768}]}`}, "/props": none},
			0, 32768, "/v1/models", model.VLLM},
		"LM Studio": {map[string]modeltest.Canned{"/v1/models": {Body: `{"data":[{"id":"m","owned_by":"organization_owner"}]}`},
			"/props": {Body: `{"error":"Unexpected endpoint"}`}, "/api/version": {Body: `{"error":"Unexpected endpoint"}`},
			"/api/v0/models": {Body: `{"data":[{"id":"m","loaded_context_length":12000,"max_context_length":99999}]}`}}, 0, 12000, "/api/v0/models", model.LMStudio},
		"Ollama, loaded":  {ollama(`{"model_info":{"q.context_length":32768}}`, `{"models":[{"name":"m:latest","context_length":16384}]}`), 0, 16384, "/api/ps", model.Ollama},
		"Ollama, num_ctx": {ollama(`{"parameters":"stop \"x\"\nnum_ctx    8000","model_info":{"q.context_length":32768}}`, `{}`), 0, 8000, "/api/show", model.Ollama},
		"Ollama, default": {ollama(`{"model_info":{"q.context_length":32768}}`, `{}`), 0, 4096, "/api/show", model.Ollama},
		"Ollama, small":   {ollama(`{"model_info":{"q.context_length":2048}}`, `{}`), 0, 2048, "/api/show", model.Ollama},
		"nobody says":     {map[string]modeltest.Canned{"/v1/models": list, "/props": none}, 0, 4096, "assumed", model.Unknown},
	} {
		f := modeltest.Start(t, modeltest.Config{Answers: c.answers})
		s := dial(t, model.Endpoint{BaseURL: f.URL(), ContextLength: c.override})
		if s.Context() != c.n || s.ContextFrom() != c.from || s.Kind() != c.kind {
			t.Errorf("%s: %d from %q, kind %q; want %d from %q, kind %q", name, s.Context(), s.ContextFrom(), s.Kind(), c.n, c.from, c.kind)
		}
	}
}

func TestTokens(t *testing.T) {
	s := dial(t, model.Endpoint{BaseURL: modeltest.New(t, nil).URL()})
	if got := s.Tokens("12345678"); got != 2 {
		t.Errorf("with a tokenizer: %d, want 2", got)
	}
	if got := s.Tokens(""); got != 0 {
		t.Errorf("nothing is %d tokens", got)
	}
	broken := modeltest.Start(t, modeltest.Config{Answers: map[string]modeltest.Canned{"/tokenize": {Body: leak}}})
	s = dial(t, model.Endpoint{BaseURL: broken.URL()})
	if got := s.Tokens("12345678"); got != 3 {
		t.Errorf("without a tokenizer: %d, want 3", got)
	}
	for text, want := range map[string]int{"": 0, "a": 1, "abc": 1, "abcd": 2, strings.Repeat("a", 32): 10, strings.Repeat("a", 33): 11} {
		if got := model.Estimate(text); got != want {
			t.Errorf("Estimate of %d bytes: %d, want %d", len(text), got, want)
		}
	}
}

func TestDetect(t *testing.T) {
	port := func(root string) (n int) {
		fmt.Sscanf(root, "http://127.0.0.1:%d", &n)
		return n
	}
	llama := modeltest.Start(t, modeltest.Config{ID: "a", More: []string{"b"}})
	cloud := modeltest.Start(t, modeltest.Config{ID: "gpt-oss:120b", More: []string{"x:cloud", "local"}, Remote: true})
	hangs := modeltest.Start(t, modeltest.Config{Wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	}})
	web := raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<html></html>")
	gone := modeltest.New(nil, nil)
	gone.Close()

	begin := time.Now()
	got := model.DetectWithin(t.Context(), 2*time.Second, port(cloud.Root()), port(hangs.Root()), port(web), port(gone.Root()), port(llama.Root()))
	want := []model.Found{
		{BaseURL: cloud.URL(), Kind: model.Ollama, Models: []string{"local"}, Remote: []string{"gpt-oss:120b", "x:cloud"}},
		{BaseURL: llama.URL(), Kind: model.LlamaCPP, Models: []string{"a", "b"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Detect (-want +got):\n%s", d)
	}
	if took := time.Since(begin); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	if got := model.Detect(t.Context(), port(gone.Root())); got != nil {
		t.Errorf("nothing listens, and Detect found %v", got)
	}
}
