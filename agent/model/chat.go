package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"
)

const (
	streamLimit = 8 << 20  // bytes of one streamed answer
	eventLimit  = 1 << 20  // bytes of one event of it
	errorLimit  = 64 << 10 // bytes of an error's body that are looked at
)

// question is the body of a chat request.
type question struct {
	Model       string        `json:"model"`
	Messages    []Message     `json:"messages"`
	Stream      bool          `json:"stream"`
	Options     streamOptions `json:"stream_options"`
	Temperature float64       `json:"temperature"`
	Seed        *int64        `json:"seed,omitempty"`
	MaxTokens   int           `json:"max_tokens"`
	Stop        []string      `json:"stop,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// Complete asks once and reads the whole streamed answer. The caller decides whether to ask again. Cancelling ctx closes
// the connection, which ends the generation on the server.
func (s *Server) Complete(ctx context.Context, r Request) (Reply, error) {
	// json.Marshal, with its escapes of < > &, so that the body stays the same when it is put into other JSON.
	body, err := json.Marshal(s.question(r))
	if err != nil {
		return Reply{}, &Error{Class: Invalid, Doing: s.completing(), Err: errors.New("the request is no JSON: a temperature that is no number")}
	}
	asking, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := s.watch(cancel, len(body))
	defer w.timer.Stop()
	if r.OnSend != nil {
		r.OnSend(body)
	}

	resp, err := s.send(asking, http.MethodPost, "/v1/chat/completions", body)
	if err != nil {
		return Reply{}, s.blame(ctx, s.asking(), firstCause(asking, err))
	}
	defer resp.Body.Close()
	w.r = resp.Body
	if resp.StatusCode != http.StatusOK {
		data, err := io.ReadAll(io.LimitReader(w, errorLimit))
		if err != nil && ctx.Err() != nil {
			return Reply{}, context.Cause(ctx)
		}
		return Reply{}, statusError(s.completing(), resp.StatusCode, data)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return Reply{}, &Error{Class: Invalid, Doing: s.completing(), Err: errors.New("the answer is not a stream of events")}
	}
	a := answer{server: s, onToken: r.OnToken}
	a.reply.Sent = body
	return a.finish(ctx, firstCause(asking, a.read(w)))
}

func (s *Server) question(r Request) question {
	q := question{Model: s.id, Messages: r.Messages, Stream: true, Options: streamOptions{IncludeUsage: true},
		Temperature: r.Temperature, MaxTokens: r.MaxTokens, Stop: r.Stop}
	if q.Messages == nil {
		q.Messages = []Message{}
	}
	if q.MaxTokens <= 0 {
		q.MaxTokens = 1024
	}
	if r.Temperature != 0 {
		seed := r.Seed & 0x7fffffff
		q.Seed = &seed
	}
	return q
}

func (s *Server) asking() string     { return "complete with " + shown(s.Name()) }
func (s *Server) completing() string { return s.doing(s.asking()) }

// firstCause prefers the reason for which we hung up over the error that hanging up brought.
func firstCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// watched is a body under the two waits and the size limit. Time that the reader spends elsewhere does not count.
type watched struct {
	r     io.Reader
	timer *time.Timer
	idle  time.Duration
	begun bool
	left  int
}

// watch starts the wait for the first byte; when a wait ends too late it cancels with errSilent.
func (s *Server) watch(cancel context.CancelCauseFunc, body int) *watched {
	first, idle := s.endpoint.FirstByte, s.endpoint.Idle
	if first <= 0 {
		first = 120*time.Second + time.Duration(body/160)*time.Second
	}
	if idle <= 0 {
		idle = 60 * time.Second
	}
	return &watched{timer: time.AfterFunc(first, func() { cancel(errSilent) }), idle: idle, left: streamLimit}
}

func (w *watched) Read(p []byte) (int, error) {
	if w.left <= 0 {
		return 0, errTooBig
	}
	if w.begun {
		w.timer.Reset(w.idle)
	}
	n, err := w.r.Read(p[:min(len(p), w.left)])
	if n > 0 {
		w.begun = true
		w.timer.Stop()
	}
	w.left -= n
	return n, err
}

// chunk is one event of a streamed answer, as far as it is looked at.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string `json:"content"`
			Reasoning string `json:"reasoning_content"` // llama-server, LM Studio, vLLM
			Thinking  string `json:"reasoning"`         // Ollama, newer vLLM
		} `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt  int `json:"prompt_tokens"`
		Output  int `json:"completion_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// answer gathers one streamed reply.
type answer struct {
	server  *Server
	onToken func(int, string)
	reply   Reply
	text    strings.Builder
	thought strings.Builder
	pieces  int
}

// read takes events until [DONE], the end, or the first thing that is wrong.
func (a *answer) read(r io.Reader) error {
	for e, err := range sse.Read(r, &sse.ReadConfig{MaxEventSize: eventLimit}) {
		if err != nil {
			return err
		}
		if e.Data == "[DONE]" {
			return nil
		}
		if e.Data == "" {
			continue
		}
		if err := a.take(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) take(e sse.Event) error {
	var c chunk
	if err := json.Unmarshal([]byte(e.Data), &c); err != nil {
		return a.fault(Invalid, errors.New("an event of the answer is not a chat chunk"))
	}
	if failed := len(c.Error) > 0 && string(c.Error) != "null"; failed || e.Type == "error" {
		return a.fault(bodyError([]byte(e.Data)))
	}
	if err := a.server.pin(c.Model); err != nil {
		return a.fault(Refused, err)
	}
	if c.Model != "" {
		a.reply.Model = c.Model
	}
	if u := c.Usage; u != nil {
		a.reply.Usage = Usage{Prompt: max(u.Prompt, 0), Cached: max(u.Details.Cached, 0), Output: max(u.Output, 0)}
	}
	return a.choose(c)
}

// choose adds what the first choice says; redraft asks for one choice only.
func (a *answer) choose(c chunk) error {
	for _, o := range c.Choices {
		if o.Index != 0 {
			continue
		}
		a.thought.WriteString(o.Delta.Reasoning + o.Delta.Thinking)
		if text := o.Delta.Content; text != "" {
			a.pieces++
			a.text.WriteString(text)
			if a.onToken != nil {
				a.onToken(a.pieces, text)
			}
		}
		switch o.Finish {
		case "":
		case "stop", "eos", "end_turn", "stop_sequence":
			a.reply.Finish = "stop"
		case "length", "max_tokens":
			a.reply.Finish = "length"
		default:
			return a.fault(Invalid, errors.New("the answer ended for a reason other than stop or length"))
		}
	}
	return nil
}

func (a *answer) fault(c Class, err error) *Error {
	return &Error{Class: c, Doing: a.server.completing(), Err: err}
}

// finish judges the answer as a whole; err is what ended the reading, nil at its regular end. An answer that has its finish
// reason is whole, even if the server died before it could tell the usage.
func (a *answer) finish(ctx context.Context, err error) (Reply, error) {
	a.reply.Text, a.reply.Reasoning = a.text.String(), a.thought.String()
	var e *Error
	switch {
	case ctx.Err() != nil && (err != nil || a.reply.Finish == ""):
		return Reply{}, context.Cause(ctx)
	case errors.As(err, &e):
		return Reply{}, e
	case a.reply.Finish != "":
		return a.roomy()
	case errors.Is(err, errSilent):
		return Reply{}, a.fault(Timeout, fmt.Errorf("%w after %d pieces", errSilent, a.pieces))
	case errors.Is(err, errTooBig):
		return Reply{}, a.fault(Invalid, errTooBig)
	}
	return Reply{}, a.fault(Invalid, fmt.Errorf("the answer was cut off after %d pieces, without a finish reason", a.pieces))
}

// roomy names a prompt that left no room for an answer: servers cut such a prompt in silence and answer nothing.
func (a *answer) roomy() (Reply, error) {
	r := a.reply
	empty := r.Text == "" && r.Reasoning == "" && r.Finish == "length"
	if empty && r.Usage.Prompt > 0 && (r.Usage.Output == 0 || r.Usage.Prompt >= a.server.context-8) {
		return Reply{}, a.fault(ContextExceeded, fmt.Errorf(
			"the prompt was cut to fit: %d tokens of prompt, a context of %d, no answer", r.Usage.Prompt, a.server.context))
	}
	return r, nil
}
