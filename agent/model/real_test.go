package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/model/modeltest"
)

var (
	update = flag.Bool("update", false, "record the answers of the real server into testdata")
	cache  = modeltest.Cache(os.Getenv) // before a test changes HOME
)

// shared is the real server, started when the first test asks for it and ended after the last one.
var shared = sync.OnceValues(func() (*modeltest.Child, error) {
	return modeltest.Llama(context.Background(), cache, modeltest.Small, "-c", "2048")
})

func TestMain(m *testing.M) {
	code := m.Run()
	if used {
		if c, err := shared(); err == nil {
			c.Close()
		}
	}
	os.Exit(code)
}

var used bool // a test asked for the shared server; tests of this package that do are not parallel

// small is the real server with the smallest weights and a short context.
func small(t *testing.T) *modeltest.Child {
	t.Helper()
	if m := modeltest.Missing(cache, modeltest.Small); m != "" {
		t.Skip("REFUSED: " + m)
	}
	used = true
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call is one question in the wire's own words.
type call struct{ name, method, path, body string }

var calls = []call{
	{"health.json", "GET", "/health", ""},
	{"models.json", "GET", "/v1/models", ""},
	{"props.json", "GET", "/props", ""},
	{"tokenize.json", "POST", "/tokenize", `{"content":"func main() {}"}`},
	{"chat.sse", "POST", "/v1/chat/completions", chatBody("Say hello.", 6)},
	{"too_long.json", "POST", "/v1/chat/completions", chatBody(strings.Repeat("word ", 3000), 6)},
	{"bad_request.json", "POST", "/v1/chat/completions", `{"messages":5}`},
	{"not_found.json", "GET", "/nope", ""},
}

func chatBody(text string, n int) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_tokens":%d}`, text, n)
}

// answer is a status line, the content type, an empty line and the body.
func answer(t *testing.T, root string, c call) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, root+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d\n%s\n\n%s", resp.StatusCode, resp.Header.Get("Content-Type"), body)
}

// shape is what a text of JSON looks like, line by line: status, type, and for every value its path and kind.
func shape(t *testing.T, answer string) []string {
	t.Helper()
	head, body, _ := strings.Cut(answer, "\n\n")
	out := strings.Split(head, "\n")
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if line == "" || line == "[DONE]" {
			out = append(out, line)
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var keys []string
		walk("", v, &keys)
		slices.Sort(keys)
		out = append(out, strings.Join(slices.Compact(keys), " "))
	}
	return slices.Compact(out) // however many pieces there are
}

func walk(path string, v any, keys *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			walk(path+"."+k, x, keys)
		}
	case []any:
		*keys = append(*keys, path+"[]")
		for _, x := range v {
			walk(path+"[]", x, keys)
		}
	default:
		*keys = append(*keys, fmt.Sprintf("%s:%T", path, v))
	}
}

// The fake says nothing that the real server does not say: chat answers have the same keys (those of timings aside), and
// what it tells about itself is a part of what the real one tells.
func TestFakeSpeaksAsTheRealServer(t *testing.T) {
	real := small(t)
	fake := modeltest.Start(t, modeltest.Config{Context: 2048, Script: func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: "Hello! How can I assist you today?"}
	}})
	timings := regexp.MustCompile(` ?\.timings\.\w+:float64`)
	for _, c := range calls {
		r, f := answer(t, real.Root(), c), answer(t, fake.Root(), c)
		if *update {
			record(t, c.name, r)
		}
		rs, fs := shape(t, r), shape(t, f)
		switch c.name {
		case "models.json", "props.json":
			for _, key := range strings.Fields(fs[len(fs)-1]) {
				if !slices.Contains(strings.Fields(rs[len(rs)-1]), key) {
					t.Errorf("%s: the real server has no %s", c.name, key)
				}
			}
		default:
			for _, s := range [][]string{rs, fs} {
				for i := range s {
					s[i] = timings.ReplaceAllString(s[i], "")
				}
			}
			if d := cmp.Diff(rs, fs); d != "" {
				t.Errorf("%s (-real +fake):\n%s", c.name, d)
			}
		}
	}
}

// record keeps an answer without what differs from run to run or tells of this machine.
func record(t *testing.T, name, answer string) {
	t.Helper()
	for old, fresh := range map[string]string{
		`"created":\d+`: `"created":1`, `"chatcmpl-\w+"`: `"chatcmpl-0"`, `"system_fingerprint":"[^"]*"`: `"system_fingerprint":"b0"`,
		`"model_path":"[^"]*"`:   `"model_path":"/models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"`,
		`"media_marker":"[^"]*"`: `"media_marker":""`, `"chat_template":"(?:[^"\\]|\\.)*"`: `"chat_template":""`,
		`("\w+_ms"|"\w+_per_second"):[\d.]+`: `$1:1.5`,
	} {
		answer = regexp.MustCompile(old).ReplaceAllString(answer, fresh)
	}
	if strings.Contains(answer, cache) {
		t.Fatalf("%s would hold a path of this machine", name)
	}
	if err := os.WriteFile(filepath.Join("testdata", "llama-server", name), []byte(answer), 0o644); err != nil {
		t.Fatal(err)
	}
}

// replay serves what record kept.
func replay(t *testing.T) *modeltest.Server {
	t.Helper()
	return modeltest.Start(t, modeltest.Config{Wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			name := "not_found.json"
			for _, c := range calls {
				if c.path == r.URL.Path && c.name != "bad_request.json" && (c.name == "too_long.json") == (len(body) > 4000) {
					name = c.name
				}
			}
			kept, err := os.ReadFile(filepath.Join("testdata", "llama-server", name))
			if err != nil {
				t.Error(err)
			}
			head, text, _ := bytes.Cut(kept, []byte("\n\n"))
			status, kind, _ := strings.Cut(string(head), "\n")
			var code int
			fmt.Sscan(status, &code)
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = w.Write(text)
		})
	}})
}

// The client reads what the real server once said.
func TestRecorded(t *testing.T) {
	s := dial(t, model.Endpoint{BaseURL: replay(t).URL()})
	if s.ID() != "qwen2.5-coder-0.5b-instruct-q4_k_m" || s.Kind() != model.LlamaCPP || s.Context() != 2048 || s.ContextFrom() != "/props" {
		t.Errorf("got %q, %q, %d from %q", s.ID(), s.Kind(), s.Context(), s.ContextFrom())
	}
	if n := s.Tokens("func main() {}"); n != 4 {
		t.Errorf("%d tokens, want 4", n)
	}
	got, err := s.Complete(t.Context(), ask("Say hello."))
	if err != nil {
		t.Fatal(err)
	}
	got.Sent = nil
	want := model.Reply{Text: "Hello! How can I assist", Finish: "length", Model: s.ID(), Usage: model.Usage{Prompt: 32, Output: 6}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
	_, err = s.Complete(t.Context(), ask(strings.Repeat("word ", 3000)))
	fault(t, err, model.ContextExceeded, "3030 tokens, the context 2048")
}

// What is promised of Complete holds with the real server too.
func TestRealServer(t *testing.T) {
	c := small(t)
	s := dial(t, model.Endpoint{BaseURL: c.URL()})
	if s.ID() != c.ID() || s.Context() != 2048 {
		t.Errorf("id %q, context %d", s.ID(), s.Context())
	}
	r := ask("Write a Go function add(a, b int) int. Answer with code only.")
	r.MaxTokens = 30
	first, err := s.Complete(t.Context(), r)
	if err != nil || !strings.Contains(first.Text, "func add") || first.Usage.Prompt == 0 || first.Usage.Output == 0 {
		t.Errorf("got %+v, %v", first, err)
	}
	if again, err := s.Complete(t.Context(), r); err != nil || again.Text != first.Text || again.Usage.Cached == 0 {
		t.Errorf("greedy again: %q, %d cached, %v; want %q", again.Text, again.Usage.Cached, err, first.Text)
	}
	_, err = s.Complete(t.Context(), ask(strings.Repeat("word ", 3000)))
	fault(t, err, model.ContextExceeded, "the context 2048")

	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	long := ask("Count from 1 to 1000, one number a line.")
	long.OnToken = func(n int, _ string) {
		if n == 3 {
			cancel(why)
		}
	}
	if _, err := s.Complete(ctx, long); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	idle := func() bool {
		return !strings.Contains(answer(t, c.Root(), call{method: "GET", path: "/slots"}), `"is_processing":true`)
	}
	waitFor(t, "the server to stop generating", idle)
}

// The child ends with Close, and takes its port with it.
func TestLlamaEnds(t *testing.T) {
	if m := modeltest.Missing(cache, modeltest.Small); m != "" {
		t.Skip("REFUSED: " + m)
	}
	c, err := modeltest.Llama(t.Context(), cache, modeltest.Small, "-c", "512")
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	client := http.Client{Timeout: time.Second}
	if _, err := client.Get(c.Root() + "/health"); err == nil {
		t.Error("the server still answers")
	}
	if _, err := modeltest.Llama(t.Context(), cache, "no-such-weights.gguf"); err == nil || !strings.Contains(err.Error(), "no no-such-weights.gguf") {
		t.Errorf("got %v", err)
	}
	if _, err := modeltest.Llama(t.Context(), cache, modeltest.Small, "--no-such-flag"); err == nil || !strings.Contains(err.Error(), "it ended") {
		t.Errorf("got %v", err)
	}
}
