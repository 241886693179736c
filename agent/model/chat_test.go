package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/model/modeltest"
)

func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: "user", Content: text}}}
}

func serve(t *testing.T, replies ...modeltest.Reply) (*modeltest.Server, *model.Server) {
	t.Helper()
	f := modeltest.New(t, modeltest.Replies(replies...))
	return f, dial(t, model.Endpoint{BaseURL: f.URL(), FirstByte: 5 * time.Second, Idle: 5 * time.Second})
}

func TestComplete(t *testing.T) {
	f, s := serve(t, modeltest.Reply{Text: "func f() {}\n", Prompt: 77, Cached: 70, Reasoning: "let me think"})
	var pieces []string
	r := ask("write <f> & say “ok”\u2028")
	r.OnToken = func(n int, text string) {
		if pieces = append(pieces, text); n != len(pieces) {
			t.Errorf("piece %d is numbered %d", len(pieces), n)
		}
	}
	got, err := s.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Reply{Text: "func f() {}\n", Reasoning: "let me think", Finish: "stop", Model: "scripted",
		Sent: f.Requests()[0], Usage: model.Usage{Prompt: 77, Cached: 70, Output: 3}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("reply (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"func", " f()", " {}\n"}, pieces); d != "" {
		t.Errorf("pieces (-want +got):\n%s", d)
	}
}

// What is recorded is what was sent, also after the recorder has put it into a line of JSON.
func TestSentSurvivesJSON(t *testing.T) {
	_, s := serve(t, modeltest.Reply{})
	got, err := s.Complete(t.Context(), ask("<b> & \u2028 \xff é"))
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(map[string]any{"body": json.RawMessage(got.Sent)})
	if err != nil || !bytes.Contains(line, got.Sent) {
		t.Errorf("%s does not hold %s (%v)", line, got.Sent, err)
	}
}

func TestWhatIsSent(t *testing.T) {
	f, s := serve(t, make([]modeltest.Reply, 3)...)
	greedy, sampled := ask("x"), ask("x")
	greedy.Seed = 7
	sampled.Temperature, sampled.Seed, sampled.MaxTokens, sampled.Stop = 0.7, -1, 50, []string{"END"}
	for _, r := range []model.Request{greedy, sampled, {}} {
		if _, err := s.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`{"model":"scripted","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_tokens":1024}`,
		`{"model":"scripted","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true},"temperature":0.7,"seed":2147483647,"max_tokens":50,"stop":["END"]}`,
		`{"model":"scripted","messages":[],"stream":true,"stream_options":{"include_usage":true},"temperature":0,"max_tokens":1024}`,
	}
	for i, body := range f.Requests() {
		if string(body) != want[i] {
			t.Errorf("request %d\n got %s\nwant %s", i, body, want[i])
		}
	}
}

func TestCompleteLength(t *testing.T) {
	_, s := serve(t, modeltest.Reply{Text: "one two three four five"})
	r := ask("x")
	r.MaxTokens = 2
	got, err := s.Complete(t.Context(), r)
	if err != nil || got.Finish != "length" || got.Text != "one two " {
		t.Errorf("got %q, %q, %v", got.Text, got.Finish, err)
	}
}

func TestCompleteWithoutUsage(t *testing.T) {
	_, s := serve(t, modeltest.Reply{Text: "x", NoUsage: true})
	if got, err := s.Complete(t.Context(), ask("x")); err != nil || got.Usage != (model.Usage{}) {
		t.Errorf("got %+v, %v", got.Usage, err)
	}
}

func TestCompleteFaults(t *testing.T) {
	body := func(text string) string {
		return `{"error":{"code":400,"message":"` + leak + ` ` + text + `","type":"invalid_request_error"}}`
	}
	for name, c := range map[string]struct {
		reply modeltest.Reply
		class model.Class
		words []string
	}{
		"busy":            {modeltest.Reply{Status: 503}, model.Overload, []string{`complete with "scripted" at 127.0.0.1:`, "status 503"}},
		"too many":        {modeltest.Reply{Status: 429, Body: leak}, model.Overload, []string{"status 429"}},
		"bad request":     {modeltest.Reply{Status: 400, Body: body("no")}, model.Invalid, []string{"status 400"}},
		"key":             {modeltest.Reply{Status: 401, Body: leak}, model.Refused, []string{"key"}},
		"gateway timeout": {modeltest.Reply{Status: 504}, model.Timeout, nil},
		"vLLM length":     {modeltest.Reply{Status: 400, Body: body("This model's maximum context length is 10 tokens")}, model.ContextExceeded, nil},
		"OpenAI length":   {modeltest.Reply{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"x"}}`}, model.ContextExceeded, nil},
		"LM Studio length": {modeltest.Reply{Status: 400, Body: `{"error":"Trying to keep the first 9 tokens when context the overflows ` + leak + `"}`},
			model.ContextExceeded, nil},
		"llama length": {modeltest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"` + leak + `","type":"exceed_context_size_error","n_prompt_tokens":3030,"n_ctx":2048}}`},
			model.ContextExceeded, []string{"3030 tokens", "2048"}},
		"too large":        {modeltest.Reply{Status: 413, Body: leak}, model.ContextExceeded, nil},
		"error that lies":  {modeltest.Reply{Status: 500, Body: leak + strings.Repeat("x", 1<<20)}, model.Invalid, nil},
		"redirect":         {modeltest.Reply{Redirect: "http://127.0.0.1:1/" + leak}, model.Refused, []string{"redirects"}},
		"garbage":          {modeltest.Reply{Garbage: true}, model.Invalid, []string{"not a stream"}},
		"bad chunk":        {modeltest.Reply{Text: "some text", BadChunk: true}, model.Invalid, []string{"not a chat chunk"}},
		"no finish":        {modeltest.Reply{Text: "some text", NoFinish: true}, model.Invalid, []string{"cut off after 3 pieces"}},
		"dies at once":     {modeltest.Reply{DieIn: -1}, model.Connection, []string{"closed the connection"}},
		"dies":             {modeltest.Reply{Text: "some text here", DieIn: 2}, model.Invalid, []string{"cut off after 2 pieces"}},
		"wrong model":      {modeltest.Reply{Text: "x", Model: "other"}, model.Refused, []string{`the answer came from "other", the pinned model is "scripted"`}},
		"error in stream":  {modeltest.Reply{Text: "abcdefgh", Error: "server_error"}, model.Invalid, []string{"answered with an error"}},
		"length in stream": {modeltest.Reply{Text: "abcdefgh", Error: "exceed_context_size_error"}, model.ContextExceeded, nil},
		"busy in stream":   {modeltest.Reply{Error: "unavailable_error"}, model.Overload, nil},
		"odd finish":       {modeltest.Reply{Text: "x", Finish: "tool_calls"}, model.Invalid, []string{"other than stop or length"}},
		"cut prompt":       {modeltest.Reply{Finish: "length", Prompt: 8192}, model.ContextExceeded, []string{"8192 tokens of prompt"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := serve(t, c.reply)
			r, err := s.Complete(t.Context(), ask("x"))
			if r.Text != "" {
				t.Errorf("an error came with the text %q", r.Text)
			}
			fault(t, err, c.class, c.words...)
		})
	}
}

func TestCompleteUnreachable(t *testing.T) {
	f, s := serve(t)
	f.Close()
	_, err := s.Complete(t.Context(), ask("x"))
	fault(t, err, model.Connection, "connection refused")
}

func TestPromptOverTheContext(t *testing.T) {
	f := modeltest.Start(t, modeltest.Config{Context: 64})
	s := dial(t, model.Endpoint{BaseURL: f.URL()})
	_, err := s.Complete(t.Context(), ask(strings.Repeat("word ", 100)))
	fault(t, err, model.ContextExceeded, "126 tokens, the context 64")
}

func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		reply       modeltest.Reply
		first, idle time.Duration
		words       string
	}{
		"from the start": {modeltest.Reply{Hang: true}, 80 * time.Millisecond, time.Minute, "nothing arrived in time"},
		"in the middle":  {modeltest.Reply{Text: "some text here", HangIn: 2}, time.Minute, 400 * time.Millisecond, "after 2 pieces"},
	} {
		t.Run(name, func(t *testing.T) {
			f := modeltest.New(t, modeltest.Replies(c.reply))
			s := dial(t, model.Endpoint{BaseURL: f.URL(), FirstByte: c.first, Idle: c.idle})
			_, err := s.Complete(t.Context(), ask("x"))
			fault(t, err, model.Timeout, c.words)
			waitFor(t, "the server to see the hang-up", func() bool { return f.Dropped() == 1 })
		})
	}
}

// A caller that thinks about each piece for longer than the server may be silent does no harm.
func TestSlowReaderIsNoSilence(t *testing.T) {
	t.Parallel()
	f := modeltest.New(t, modeltest.Replies(modeltest.Reply{Text: "one two three", Pace: 20 * time.Millisecond}))
	s := dial(t, model.Endpoint{BaseURL: f.URL(), Idle: 2 * time.Second})
	r := ask("x")
	r.OnToken = func(n int, _ string) {
		if n == 1 {
			time.Sleep(2500 * time.Millisecond)
		}
	}
	if _, err := s.Complete(t.Context(), r); err != nil {
		t.Error(err)
	}
}

// An answer that has its finish reason is whole, even when the server dies over the usage.
func TestWholeWithoutDone(t *testing.T) {
	f := stream(t, `data: {"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\n")
	r, err := dial(t, model.Endpoint{BaseURL: f}).Complete(t.Context(), ask("x"))
	if err != nil || r.Text != "hi" {
		t.Errorf("got %q, %v", r.Text, err)
	}
}

// stream is a server of the model "m" that answers every question with fixed events.
func stream(t *testing.T, events string) string {
	t.Helper()
	return modeltest.Start(t, modeltest.Config{ID: "m", Wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/chat/completions" {
				next.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			fmt.Fprint(w, events)
		})
	}}).URL()
}

func TestOddStreams(t *testing.T) {
	end := `data: {"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	for name, c := range map[string]struct{ events, text, words string }{
		"comments, CRLF, other events": {": ping\r\n\r\nevent: x\r\ndata: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n" + end, "a", ""},
		"no model named":               {`data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n" + end, "a", ""},
		"a file's path":                {`data: {"model":"/models/M.gguf","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n", "a", ""},
		"second choice":                {`data: {"model":"m","choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}]}` + "\n\n" + end, "a", ""},
		"nulls":                        {`data: {"model":"m","choices":[{"index":0,"delta":{"content":null},"finish_reason":null}],"usage":null,"error":null}` + "\n\n" + end, "", ""},
		"empty":                        {"", "", "cut off after 0 pieces"},
		"done alone":                   {"data: [DONE]\n\n", "", "cut off"},
		"last event not ended":         {`data: {"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`, "", "cut off"},
		"array":                        {"data: []\n\n" + end, "", "not a chat chunk"},
		"other type":                   {`data: {"choices":"` + leak + `"}` + "\n\n", "", "not a chat chunk"},
		"two models":                   {`data: {"model":"m"}` + "\n\n" + `data: {"model":"m2"}` + "\n\n" + end, "", `came from "m2"`},
		"error event":                  {"event: error\ndata: {\"message\":\"" + leak + "\"}\n\n", "", "answered with an error"},
		"error string":                 {`data: {"error":"` + leak + `"}` + "\n\n", "", "answered with an error"},
		"a huge event":                 {"data: " + strings.Repeat("x", 2<<20) + "\n\n", "", "cut off"},
		"an endless stream":            {strings.Repeat(`data: {"model":"m","choices":[{"delta":{"content":"`+strings.Repeat("a", 4000)+`"}}]}`+"\n\n", 2200), "", "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := dial(t, model.Endpoint{BaseURL: stream(t, c.events)}).Complete(t.Context(), ask("x"))
			if c.words == "" {
				if err != nil || r.Text != c.text {
					t.Errorf("got %q, %v; want %q", r.Text, err, c.text)
				}
				return
			}
			var e *model.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), leak) {
				t.Errorf("got %v, want %q", err, c.words)
			}
		})
	}
}

// The first answer pins the name; later ones must give the same.
func TestPin(t *testing.T) {
	_, s := serve(t, modeltest.Reply{Text: "a"}, modeltest.Reply{Text: "b", Model: "scripted.gguf"})
	if _, err := s.Complete(t.Context(), ask("x")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Complete(t.Context(), ask("x"))
	fault(t, err, model.Refused, `came from "scripted.gguf"`)
}

func TestCancelEndsTheAnswer(t *testing.T) {
	f, s := serve(t, modeltest.Reply{Text: strings.Repeat("word ", 1000), Pace: 2 * time.Millisecond})
	why := errors.New("superseded")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := ask("x")
	r.OnToken = func(n int, _ string) {
		if n == 3 {
			cancel(why)
		}
	}
	if _, err := s.Complete(ctx, r); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	waitFor(t, "the server to see the hang-up", func() bool { return f.Dropped() == 1 })

	done, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	if _, err := s.Complete(done, ask("x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestRequestThatIsNoJSON(t *testing.T) {
	_, s := serve(t)
	r := ask("x")
	r.Temperature = math.NaN()
	_, err := s.Complete(t.Context(), r)
	fault(t, err, model.Invalid, "no JSON")
}

func FuzzStream(f *testing.F) {
	f.Add("data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	f.Add("event: error\ndata: {\"error\":{\"type\":\"exceed_context_size_error\",\"n_ctx\":-1}}\n\n")
	f.Fuzz(func(t *testing.T, events string) {
		r, err := model.ReadStream(strings.NewReader(events))
		if (err == nil) != (r.Finish == "stop" || r.Finish == "length") {
			t.Errorf("finish %q with error %v", r.Finish, err)
		}
	})
}
