package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
)

// Class is what went wrong, from a closed list.
type Class string

const (
	Connection      Class = "connection"
	Timeout         Class = "timeout"
	Overload        Class = "overload"
	ContextExceeded Class = "context_exceeded"
	Refused         Class = "refused" // not loopback, a remote model, a redirect, another model id than the pinned one
	Invalid         Class = "invalid" // an answer that is not the protocol, or cut off
)

// Error is a failure of a model or of the way to it.
type Error struct {
	Class  Class
	Doing  string // what was being done, as in "complete with qwen at 127.0.0.1:8080"
	Status int    // HTTP status, 0 if none
	Err    error  // never a provider's text
}

// Error says what was being done and what came of it.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: %v (status %d)", e.Doing, e.Err, e.Status)
	}
	return fmt.Sprintf("%s: %v", e.Doing, e.Err)
}

// Unwrap gives the cause; it is never a provider's text either.
func (e *Error) Unwrap() error { return e.Err }

var (
	errNotLoopback = errors.New("not a loopback address, and the operator's file allows no such host")
	errSilent      = errors.New("nothing arrived in time")
	errTooBig      = errors.New("the answer is larger than redraft reads")
)

// wayError classifies an error of the transport. Its own text is dropped, since net/http quotes what a server sent.
func wayError(doing string, err error) *Error {
	e := &Error{Doing: doing, Class: Connection}
	var errno syscall.Errno
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, errNotLoopback):
		e.Class, e.Err = Refused, errNotLoopback
	case errors.Is(err, errTooBig):
		e.Class, e.Err = Invalid, errTooBig
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		e.Class, e.Err = Timeout, errSilent
	case errors.As(err, &errno):
		e.Err = errno
	case errors.As(err, &dns):
		e.Err = errors.New("the host name cannot be resolved")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Err = errors.New("the server closed the connection")
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Class, e.Err = Timeout, errSilent
	default:
		e.Class, e.Err = Invalid, errors.New("the answer is not HTTP")
	}
	return e
}

// statusError classifies an answer whose status is not 200. Only numbers of its body get into the error.
func statusError(doing string, status int, body []byte) *Error {
	e := &Error{Doing: doing, Status: status, Class: Invalid}
	switch {
	case status >= 300 && status < 400:
		e.Class, e.Err = Refused, errors.New("the server redirects, and redirects are not followed")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Class, e.Err = Refused, errors.New("the server asks for a key")
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == 529:
		e.Class, e.Err = Overload, errors.New("the server is busy or still loading the model")
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		e.Class, e.Err = Timeout, errors.New("the server gave up waiting")
	case status == http.StatusRequestEntityTooLarge:
		e.Class, e.Err = ContextExceeded, errors.New("the request is larger than the server takes")
	case status == http.StatusNotFound:
		e.Err = errors.New("the server has no such address or model")
	default:
		e.Class, e.Err = bodyError(body)
	}
	return e
}

// complaint is the error object of an OpenAI-compatible server, as far as it is looked at.
type complaint struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a number or a word
	Prompt  int             `json:"n_prompt_tokens"`
	Context int             `json:"n_ctx"`
}

// bodyError classifies what the error object of an answer says; it keeps numbers, never words.
func bodyError(body []byte) (Class, error) {
	c := readComplaint(body)
	switch {
	case c.Type == "exceed_context_size_error" && c.Context > 0:
		return ContextExceeded, fmt.Errorf("the prompt has %d tokens, the context %d", c.Prompt, c.Context)
	case tooLong(c):
		return ContextExceeded, errors.New("the prompt is longer than the context")
	case c.Type == "unavailable_error", string(c.Code) == "503", string(c.Code) == "429":
		return Overload, errors.New("the server is busy or still loading the model")
	}
	return Invalid, errors.New("the server answered with an error")
}

// readComplaint finds the error object in {"error": {...}}, {"error": "text"} or at the top (vLLM before 0.10).
func readComplaint(body []byte) (c complaint) {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	raw := body
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		raw = outer.Error
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte{'"'}) {
		_ = json.Unmarshal(raw, &c.Message) // an error that is not even a string stays empty
		return c
	}
	_ = json.Unmarshal(raw, &c)
	return c
}

// tooLong reports whether a complaint is about the length of the prompt, in the words of the servers in use:
// llama-server, llama-cpp-python and OpenAI by type or code, vLLM, LM Studio and Ollama by message.
func tooLong(c complaint) bool {
	if c.Type == "exceed_context_size_error" || strings.Contains(string(c.Code), "context_length_exceeded") {
		return true
	}
	text := strings.ToLower(c.Message)
	for _, words := range []string{"maximum context length", "exceed context window", "exceeds the available context",
		"greater than the context length", "context length exceeded", "exceeds context length", "exceeds the context length",
		"context the overflows", "longer than the maximum model length", "exceeds maximum context"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
