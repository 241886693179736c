package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	probeTime   = 10 * time.Second // for one small question about the server
	factsLimit  = 8 << 20          // bytes of an answer about the server
	assumed     = 4096             // tokens, where nobody says how long the context is
	shownIDs    = 12               // ids an error lists
	shownLength = 80               // bytes of one id in an error
)

// Server is one model of one model server, with its id pinned. Safe for several goroutines.
type Server struct {
	endpoint Endpoint
	address  address
	client   *http.Client
	id       string
	names    []string // what the server itself calls the model besides id
	kind     Kind
	context  int
	from     string // who said so

	mu     sync.Mutex
	pinned string // the name that the first answer gave; empty until then

	tokenizes atomic.Bool // the server has /tokenize and it worked the last time
}

var _ Model = (*Server)(nil)

// Dial finds the endpoint's model and what there is to know about it, and pins its id. It generates nothing. The error is
// an *Error, or the context's cause.
func Dial(ctx context.Context, e Endpoint) (*Server, error) {
	a, err := parseAddress(e.BaseURL, e.AllowHosts)
	if err != nil {
		return nil, &Error{Class: Refused, Doing: "dial the model " + shown(e.name()), Err: err}
	}
	s := &Server{endpoint: e, address: a, client: a.client()}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// ID is the pinned id, as sent with every request.
func (s *Server) ID() string { return s.id }

// Name is the operator's word for the model, or its id.
func (s *Server) Name() string {
	if s.endpoint.Name != "" {
		return s.endpoint.Name
	}
	return s.id
}

// Kind is the program that serves the model, as far as it can be told.
func (s *Server) Kind() Kind { return s.kind }

// Context is the context length in tokens; 4096 where neither the operator nor the server says.
func (s *Server) Context() int { return s.context }

// ContextFrom says who told the context length: operator, the address that answered, or "assumed".
func (s *Server) ContextFrom() string { return s.from }

// Tokens counts the tokens of a text with the server's own tokenizer, or estimates where it has none.
func (s *Server) Tokens(text string) int {
	if !s.tokenizes.Load() {
		return Estimate(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var answer struct {
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := s.ask(ctx, "/tokenize", map[string]string{"content": text}, &answer); err != nil || (text != "") != (len(answer.Tokens) > 0) {
		s.tokenizes.Store(false)
		return Estimate(text)
	}
	return len(answer.Tokens)
}

// Estimate guesses the tokens of a text from its length: 3.2 bytes each, rounded up, which is on the high side for code.
func Estimate(text string) int { return int(math.Ceil(float64(len(text)) / 3.2)) }

// find asks for the server's models and chooses the one that is meant.
func (s *Server) find(ctx context.Context) error {
	var list modelList
	if err := s.ask(ctx, "/v1/models", nil, &list); err != nil {
		return s.blame(ctx, "list the models", err)
	}
	m, err := list.choose(s.endpoint.Model)
	if err != nil {
		return &Error{Class: Invalid, Doing: s.doing("choose a model"), Err: err}
	}
	s.id, s.names, s.kind = m.ID, m.Aliases, list.kind()
	s.setContext(m.length(), "/v1/models")
	return nil
}

// setContext takes a context length unless one is known already; the operator's word comes first.
func (s *Server) setContext(n int, from string) {
	if s.context == 0 && s.endpoint.ContextLength > 0 {
		s.context, s.from = s.endpoint.ContextLength, "operator"
	}
	if s.context == 0 && n > 0 {
		s.context, s.from = n, from
	}
}

// ask sends one small question and decodes the answer; in is sent as JSON with POST, nil is a GET.
func (s *Server) ask(ctx context.Context, path string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTime, errSilent)
	defer cancel()
	method, body := http.MethodGet, []byte(nil)
	if in != nil {
		var err error
		method = http.MethodPost
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	resp, err := s.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, factsLimit+1))
	switch {
	case err != nil:
		return err
	case len(data) > factsLimit:
		return errTooBig
	case resp.StatusCode != http.StatusOK:
		return statusError("", resp.StatusCode, data)
	case json.Unmarshal(data, out) != nil: // its text would quote the answer
		return &Error{Class: Invalid, Err: errors.New("the answer is not the JSON that was expected")}
	}
	return nil
}

func (s *Server) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.address.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "redraft")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.client.Do(req)
}

// blame turns an error of ask or send into the caller's *Error, or into the context's cause when that ended it.
func (s *Server) blame(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *Error
	if errors.As(err, &e) {
		e.Doing = s.doing(what)
		return e
	}
	return wayError(s.doing(what), err)
}

func (s *Server) doing(what string) string { return what + " at " + s.address.show }

func (e Endpoint) name() string {
	if e.Name != "" {
		return e.Name
	}
	return e.Model
}

// shown is an id made fit for an error: its last path element, quoted, bounded.
func shown(id string) string {
	if strings.HasPrefix(id, "/") {
		id = path.Base(id) // a file on this machine; where it lies is nobody's business
	}
	if len(id) > shownLength {
		id = id[:shownLength]
	}
	return strconv.QuoteToASCII(id)
}

// same reports whether two names mean one model: servers answer with an alias, a file's path or a tag where the id is asked for.
func same(a, b string) bool { return a == b || plainName(a) == plainName(b) }

func plainName(id string) string {
	id = strings.ToLower(path.Base(id))
	return strings.TrimSuffix(strings.TrimSuffix(id, ":latest"), ".gguf")
}

// pin accepts the name that an answer gave, or says why it is another model. The first accepted name is the only one later on.
func (s *Server) pin(name string) error {
	if name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pinned == "" && s.known(name) {
		s.pinned = name
	}
	if s.pinned == name {
		return nil
	}
	return fmt.Errorf("the answer came from %s, the pinned model is %s", shown(name), shown(s.id))
}

func (s *Server) known(name string) bool {
	for _, n := range append([]string{s.id}, s.names...) {
		if same(n, name) {
			return true
		}
	}
	return false
}
