package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/model"
)

// asked is the body of a chat request.
type asked struct {
	Model       string          `json:"model"`
	Messages    []model.Message `json:"messages"`
	Stream      bool            `json:"stream"`
	Temperature float64         `json:"temperature"`
	Seed        int64           `json:"seed"`
	MaxTokens   int             `json:"max_tokens"`
	Stop        []string        `json:"stop"`
	Options     struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	var in asked
	if err != nil || json.Unmarshal(body, &in) != nil || in.Messages == nil {
		fail(w, http.StatusBadRequest, problem{Code: 400, Message: "Expected 'messages' to be an array", Type: "invalid_request_error"})
		return
	}
	req := Request{N: s.record(body), Body: body, Model: in.Model, Messages: in.Messages, Temperature: in.Temperature,
		Seed: in.Seed, MaxTokens: in.MaxTokens, Stop: in.Stop}
	prompt := len(pieces(req.Prompt()))
	if prompt >= s.config.Context {
		fail(w, http.StatusBadRequest, problem{Code: 400, Type: "exceed_context_size_error", Prompt: prompt, Context: s.config.Context,
			Message: fmt.Sprintf("request (%d tokens) exceeds the available context size (%d tokens), try increasing it", prompt, s.config.Context)})
		return
	}
	reply := s.config.Script(req)
	if reply.Prompt == 0 {
		reply.Prompt = prompt
	}
	p := play{server: s, w: w, r: r, reply: reply, in: in}
	if !p.run() {
		s.mu.Lock()
		s.dropped++
		s.mu.Unlock()
	}
}

// record keeps a body and numbers it.
func (s *Server) record(body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies = append(s.bodies, body)
	return len(s.bodies)
}

// play is one reply on its way out.
type play struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	reply  Reply
	in     asked
}

// run plays the reply; false if the client hung up on it.
func (p *play) run() bool {
	if !p.wait(p.reply.Delay) {
		return false
	}
	switch {
	case p.reply.Hang:
		return p.wait(-1)
	case p.reply.Redirect != "":
		http.Redirect(p.w, p.r, p.reply.Redirect, http.StatusTemporaryRedirect)
		return true
	case p.reply.Status != 0:
		p.status()
		return true
	case p.reply.Garbage:
		p.w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(p.w, "<html>It works!</html>")
		return true
	case !p.in.Stream:
		fail(p.w, http.StatusNotImplemented, problem{Code: 501, Message: "the fake only streams", Type: "not_supported_error"})
		return true
	}
	p.w.Header().Set("Content-Type", "text/event-stream")
	return p.stream()
}

func (p *play) status() {
	if p.reply.Body != "" {
		p.w.WriteHeader(p.reply.Status)
		_, _ = io.WriteString(p.w, p.reply.Body)
		return
	}
	fail(p.w, p.reply.Status, problem{Code: p.reply.Status, Message: "as scripted", Type: "server_error"})
}

// stream sends the chunks as llama-server does: the role, the pieces, the finish reason, the usage with no choices, [DONE].
func (p *play) stream() bool {
	text, finish := p.cut()
	if p.reply.DieIn < 0 {
		p.die()
	}
	p.chunk(delta{Role: "assistant", Null: true}, "")
	if p.reply.Reasoning != "" {
		p.chunk(delta{Reasoning: p.reply.Reasoning}, "")
	}
	for i, piece := range text {
		if !p.wait(p.reply.Pace) {
			return false
		}
		p.chunk(delta{Content: piece}, "")
		if i+1 == p.reply.HangIn {
			return p.wait(-1)
		}
		if i+1 == p.reply.DieIn {
			p.die()
		}
	}
	switch {
	case p.reply.BadChunk:
		p.event("{\"choices\": [ oops")
	case p.reply.Error != "":
		p.value(map[string]problem{"error": {Code: 500, Message: "as scripted", Type: p.reply.Error}})
		return true
	case !p.reply.NoFinish:
		p.chunk(delta{}, finish)
	}
	if p.in.Options.IncludeUsage && !p.reply.NoUsage {
		p.usage(len(text))
	}
	p.event("[DONE]")
	return true
}

// cut splits the text into pieces, ends it at a stop word or at max_tokens, and says how it ended.
func (p *play) cut() (text []string, finish string) {
	whole := p.reply.Text
	for _, stop := range p.in.Stop {
		if i := strings.Index(whole, stop); stop != "" && i >= 0 {
			whole = whole[:i]
		}
	}
	text, finish = pieces(whole), "stop"
	if limit := p.in.MaxTokens; limit > 0 && len(text) > limit {
		text, finish = text[:limit], "length"
	}
	if p.reply.Finish != "" {
		finish = p.reply.Finish
	}
	return text, finish
}

// pieces splits a text as a tokenizer might: about four bytes each, never inside a rune.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		n := min(4, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// wait sleeps; negative is for ever. It ends early, and says false, when the client hangs up. A server that closes ends it too.
func (p *play) wait(d time.Duration) bool {
	if d == 0 {
		return p.r.Context().Err() == nil
	}
	var timer <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-timer:
		return true
	case <-p.server.quit:
		panic(http.ErrAbortHandler)
	case <-p.r.Context().Done():
		return false
	}
}

// die closes the connection in the middle of the answer.
func (p *play) die() { panic(http.ErrAbortHandler) }

// delta is what a chunk adds.
type delta struct {
	Role      string
	Null      bool // content is there and null, as in llama-server's first chunk
	Content   string
	Reasoning string
}

func (d delta) json() map[string]any {
	m := map[string]any{}
	if d.Role != "" {
		m["role"] = d.Role
	}
	if d.Null {
		m["content"] = nil
	}
	if d.Content != "" {
		m["content"] = d.Content
	}
	if d.Reasoning != "" {
		m["reasoning_content"] = d.Reasoning
	}
	return m
}

func (p *play) chunk(d delta, finish string) {
	choice := map[string]any{"index": 0, "delta": d.json(), "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	p.value(p.frame([]any{choice}))
}

func (p *play) frame(choices []any) map[string]any {
	id := p.reply.Model
	if id == "" {
		id = p.server.config.ID
	}
	return map[string]any{"choices": choices, "created": time.Now().Unix(), "id": "chatcmpl-scripted", "model": id,
		"system_fingerprint": "scripted", "object": "chat.completion.chunk"}
}

func (p *play) usage(output int) {
	f := p.frame([]any{})
	f["usage"] = map[string]any{"completion_tokens": output, "prompt_tokens": p.reply.Prompt,
		"total_tokens": p.reply.Prompt + output, "prompt_tokens_details": map[string]any{"cached_tokens": p.reply.Cached}}
	f["timings"] = map[string]any{"cache_n": p.reply.Cached, "prompt_n": p.reply.Prompt - p.reply.Cached, "predicted_n": output}
	p.value(f)
}

func (p *play) value(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	p.event(string(data))
}

func (p *play) event(data string) {
	_, _ = io.WriteString(p.w, "data: "+data+"\n\n")
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
}
