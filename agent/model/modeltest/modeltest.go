// Package modeltest is a scripted model server on a loopback port that speaks the real protocol; it is a fake,
// for tests, demo and selftest only. It also starts the real llama-server, for those who have it, and leaves
// fetching that to a script. What the fake says is held against the real server by a test.
package modeltest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/model"
)

// Script answers one request. It may be called by several goroutines at once.
type Script func(Request) Reply

// Request is one chat request as the server got it.
type Request struct {
	N           int    // from 1
	Body        []byte // as received
	Model       string
	Messages    []model.Message
	Temperature float64
	Seed        int64 // 0 if none was sent
	MaxTokens   int   // 0 if none was sent
	Stop        []string
}

// Prompt is the text of all messages, for scripts that look at it.
func (r Request) Prompt() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(m.Content)
		b.WriteByte('\n')
	}
	return b.String()
}

// Reply is what the server does with one request; the zero Reply is an empty answer that ends with "stop".
type Reply struct {
	Text   string
	Finish string // stop if empty; length where max_tokens of the request cut the text
	Model  string // id that the answer names; the server's if empty. Another one is a wrong model.

	Delay  time.Duration // before the status line
	Pace   time.Duration // before every piece
	Hang   bool          // says nothing, ever
	HangIn int           // goes silent after this many pieces, if not 0
	DieIn  int           // closes the connection after this many pieces, if not 0; -1 before the first
	Status int           // answers with this HTTP status and Body; 200 and a stream if 0
	Body   string        // of Status; an error object in llama-server's shape if empty

	Garbage   bool   // answers 200 with something that is no stream
	BadChunk  bool   // the stream breaks off into something that is no JSON
	Error     string // an error object of this type comes in the stream, after the text
	NoFinish  bool   // ends with [DONE] and without finish reason
	Redirect  string // answers 307 with this Location
	NoUsage   bool   // no usage chunk
	Prompt    int    // tokens the usage tells; estimated if 0
	Cached    int    // tokens the usage tells as cached
	Reasoning string // comes before Text, apart from it
}

// Replies answers the requests in order; a request too many gets status 500.
func Replies(replies ...Reply) Script {
	var mu sync.Mutex
	return func(Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		if len(replies) == 0 {
			return Reply{Status: http.StatusInternalServerError}
		}
		r := replies[0]
		replies = replies[1:]
		return r
	}
}

// Texts is Replies of texts alone.
func Texts(texts ...string) Script {
	replies := make([]Reply, len(texts))
	for i, t := range texts {
		replies[i].Text = t
	}
	return Replies(replies...)
}

// Config is a server to be started. The zero Config answers every request with an empty text.
type Config struct {
	Script  Script
	ID      string                          // of the model; "scripted" if empty
	More    []string                        // further ids that it lists
	Context int                             // tokens; 8192 if zero. A longer prompt gets llama-server's error.
	Remote  bool                            // tells, as Ollama does, that it passes ID on to another machine
	Answers map[string]Canned               // instead of its own answer to a path such as "/props"
	Wrap    func(http.Handler) http.Handler // around everything
	Listen  string                          // address; a free port of 127.0.0.1 if empty
}

// Canned is one fixed answer.
type Canned struct {
	Status int // 200 if zero
	Body   string
}

// Cleaner runs functions at the end of a test; *testing.T is one.
type Cleaner interface{ Cleanup(func()) }

// Server is a running fake.
type Server struct {
	config Config
	http   *http.Server
	url    string
	quit   chan struct{}
	done   chan struct{}

	mu      sync.Mutex
	bodies  [][]byte
	dropped int
}

// New starts a server that answers by script, and closes it when t ends; t may be nil.
func New(t Cleaner, script Script) *Server { return Start(t, Config{Script: script}) }

// Start starts a server, and closes it when t ends; t may be nil. It panics where no loopback port can be had.
func Start(t Cleaner, c Config) *Server {
	if c.ID == "" {
		c.ID = "scripted"
	}
	if c.Context == 0 {
		c.Context = 8192
	}
	if c.Script == nil {
		c.Script = func(Request) Reply { return Reply{} }
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	s := &Server{config: c, url: "http://" + l.Addr().String(), quit: make(chan struct{}), done: make(chan struct{})}
	s.http = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always http.ErrServerClosed: Close is the only end
	}()
	if t != nil {
		t.Cleanup(s.Close)
	}
	return s
}

// URL is the base URL, ending in /v1.
func (s *Server) URL() string { return s.url + "/v1" }

// Root is the base URL without /v1.
func (s *Server) Root() string { return s.url }

// ID is the id of the model.
func (s *Server) ID() string { return s.config.ID }

// Close ends the server and every answer under way. It may be called twice.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	s.mu.Unlock()
	_ = s.http.Close()
	<-s.done
}

// Requests are the bodies of the chat requests so far, as received.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Dropped counts the answers that clients hung up on.
func (s *Server) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Handler answers as the server does, for those who listen elsewhere.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.json(func() any { return map[string]string{"status": "ok"} }))
	mux.HandleFunc("GET /v1/models", s.json(s.models))
	mux.HandleFunc("GET /props", s.json(s.props))
	mux.HandleFunc("POST /tokenize", s.tokenize)
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	if s.config.Remote {
		mux.HandleFunc("GET /api/version", s.json(func() any { return map[string]string{"version": "0.13.0"} }))
		mux.HandleFunc("GET /api/tags", s.json(s.tags))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, problem{Code: 404, Message: "File Not Found", Type: "not_found_error"})
	})
	h := s.canned(mux)
	if s.config.Wrap != nil {
		h = s.config.Wrap(h)
	}
	return h
}

// canned puts the configured answers before the server's own.
func (s *Server) canned(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := s.config.Answers[r.URL.Path]
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		if c.Status != 0 {
			w.WriteHeader(c.Status)
		}
		_, _ = io.WriteString(w, c.Body)
	})
}

func (s *Server) json(value func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, value()) }
}

func (s *Server) models() any {
	var data []map[string]any
	for _, id := range append([]string{s.config.ID}, s.config.More...) {
		data = append(data, map[string]any{"id": id, "aliases": []string{id}, "tags": []string{}, "object": "model",
			"created": time.Now().Unix(), "owned_by": "llamacpp", "meta": map[string]any{"n_ctx": s.config.Context}})
	}
	return map[string]any{"object": "list", "data": data}
}

func (s *Server) props() any {
	return map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.config.Context},
		"total_slots":                 1,
		"model_alias":                 s.config.ID,
		"model_path":                  s.config.ID,
		"chat_template":               "",
	}
}

func (s *Server) tags() any {
	return map[string]any{"models": []any{map[string]any{"name": s.config.ID, "remote_model": s.config.ID,
		"remote_host": "https://ollama.com:443"}}}
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Content string `json:"content"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(&in) != nil {
		fail(w, http.StatusBadRequest, problem{Code: 400, Message: "not JSON", Type: "invalid_request_error"})
		return
	}
	ids := make([]int, len(pieces(in.Content)))
	for i := range ids {
		ids[i] = i
	}
	send(w, http.StatusOK, map[string]any{"tokens": ids})
}

// problem is llama-server's error object.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Prompt  int    `json:"n_prompt_tokens,omitempty"`
	Context int    `json:"n_ctx,omitempty"`
}

func fail(w http.ResponseWriter, status int, p problem) {
	send(w, status, map[string]problem{"error": p})
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that hung up is no concern of the fake's
}
