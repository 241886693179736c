package github

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/redraft-dev/redraft/bot"
)

// transport is the one way out: it refuses what is not on its list, keeps GitHub's pace, waits out limits, and asks
// again where that changes nothing. A write leaves at most once a RoundTrip, unless GitHub said that it did not do it.
type transport struct {
	hub  *Hub
	next http.RoundTripper // signs and sends
	gate *gate             // of the credential
	who  string            // the credential's name in the cache
	ops  []op              // what this line is for
}

const (
	tries       = 4        // of a read or a token, and of any call that meets a limit
	longest     = 16 << 20 // bytes of an answer
	attemptTime = 30 * time.Second
)

var errTooLong = fmt.Errorf("an answer of more than %d MiB", longest>>20)

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	call, err := t.hub.permit(r, body, t.ops)
	if err != nil {
		t.hub.log.Error("a call that is not on the list was refused", "method", r.Method)
		return nil, err
	}
	for try := 1; ; try++ {
		res, answer, err := t.attempt(r, call, body)
		pause, again, err := t.judge(r.Context(), call, res, answer, err, try)
		if !again && err != nil {
			return nil, err
		}
		if !again {
			return res, nil
		}
		t.hub.log.Debug("asking GitHub again", "method", call.Method, "path", call.Path, "try", try, "pause", pause)
		if err := t.hub.rest(r.Context(), pause); err != nil {
			return nil, err
		}
	}
}

func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// attempt sends a request once, when it may, and reads the whole answer.
func (t *transport) attempt(r *http.Request, call Call, body []byte) (*http.Response, []byte, error) {
	ctx := r.Context()
	if err := t.gate.pass(ctx, t.hub); err != nil {
		return nil, nil, err
	}
	leave, err := t.turn(ctx, call)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	ctx, stop := context.WithTimeout(ctx, t.hub.timeout)
	defer stop()
	out := r.Clone(ctx)
	out.Body, out.GetBody = nil, nil
	if body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	key := t.who + " " + r.URL.String()
	old, known := t.hub.cache.get(key)
	if known = known && call.reads(); known {
		out.Header.Set("If-None-Match", old.etag)
	}
	res, err := t.next.RoundTrip(out)
	if err != nil {
		return nil, nil, err
	}
	answer, err := readAll(res.Body)
	if err != nil {
		return nil, nil, err
	}
	if known && res.StatusCode == http.StatusNotModified {
		res.StatusCode, res.Status, answer = http.StatusOK, "200 OK", old.body
		res.Header = old.header.Clone()
	} else if call.reads() && res.StatusCode == http.StatusOK {
		t.hub.cache.put(cached{key: key, etag: res.Header.Get("Etag"), header: lean(res.Header), body: answer})
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(answer)), int64(len(answer))
	return res, answer, nil
}

// turn is the place in the row of writes, or among the reads that may run at once.
func (t *transport) turn(ctx context.Context, call Call) (leave func(), err error) {
	if call.spaced() {
		return t.hub.pace.enter(ctx)
	}
	select {
	case t.hub.side <- struct{}{}:
		return func() { <-t.hub.side }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func readAll(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	answer, err := io.ReadAll(io.LimitReader(body, longest+1))
	if err == nil && len(answer) > longest {
		return nil, errTooLong
	}
	return answer, err
}

// lean is what of an answer's header outlives it.
func lean(h http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Content-Type", "Etag", "Link"} {
		if v := h.Values(name); len(v) > 0 {
			kept[name] = v
		}
	}
	return kept
}

// judge decides what an attempt means: an answer for the caller, an error, or another attempt after a pause.
func (t *transport) judge(ctx context.Context, call Call, res *http.Response, answer []byte, err error, try int) (pause time.Duration, again bool, _ error) {
	var no *bot.HubError
	switch {
	case ctx.Err() != nil:
		return 0, false, context.Cause(ctx)
	case errors.As(err, &no):
		return 0, false, err
	case err != nil:
		return backoff(try), call.again() && try < tries && mayPass(err), &bot.HubError{Class: bot.Unavailable, Text: "no answer: " + err.Error()}
	}
	if kind, wait := limited(res, answer, t.hub.now()); kind != "" {
		wait = t.gate.hold(t.hub.now(), wait)
		t.hub.log.Info("GitHub's limit", "kind", kind, "wait", wait, "credential", t.who, "path", call.Path)
		text := fmt.Sprintf("%s limit: %s", kind, wording(answer))
		return 0, try < tries && wait <= t.hub.patience, &bot.HubError{Class: bot.RateLimited, Status: res.StatusCode, After: wait, Text: text}
	}
	t.gate.open()
	if wait := spent(res.Header, t.hub.now()); wait > 0 {
		t.gate.hold(t.hub.now(), wait) // the next one would only be told so
	}
	// The client of go-github would refuse calls by these; here the gate does.
	for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		res.Header.Del(name)
	}
	if res.StatusCode >= 500 && call.again() && try < tries {
		after, _ := retryAfter(res.Header, t.hub.now())
		return min(max(backoff(try), after), t.hub.patience), true, nil
	}
	return 0, false, nil
}

func backoff(try int) time.Duration { return time.Second << (try - 1) }

// mayPass says whether a call without an answer may get one by and by.
func mayPass(err error) bool {
	var cert *tls.CertificateVerificationError
	return !errors.Is(err, errTooLong) && !errors.As(err, &cert)
}
