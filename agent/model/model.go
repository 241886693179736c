// Package model speaks to language models over HTTP on this machine: OpenAI-compatible chat completions,
// streamed, with the bytes that were sent kept. It leaves prompts and what an answer means to others. It dials
// loopback only, follows no redirect, uses no proxy, and no error of its own ever holds a provider's body.
package model

import "context"

// Model answers one request.
type Model interface {
	Complete(ctx context.Context, r Request) (Reply, error) // error is an *Error, or the context's cause
}

// Message is one chat message.
type Message struct {
	Role    string `json:"role"` // system, user, assistant
	Content string `json:"content"`
}

// Request is one question.
type Request struct {
	Messages    []Message
	Temperature float64 // 0 is greedy
	Seed        int64   // sent when Temperature is not 0, its low 31 bits: llama-server takes -1 as "any seed"
	MaxTokens   int     // 1024 if zero
	Stop        []string
	OnSend      func(body []byte)        // called with the body just before it is sent, byte for byte; it must not be changed
	OnToken     func(n int, text string) // called for every piece of the answer as it arrives; n counts pieces from 1
}

// Reply is one whole answer. A stream that ended without a finish reason is an *Error, never a Reply.
type Reply struct {
	Text      string
	Reasoning string // what the model thought aloud, where the server keeps that apart; not part of Text
	Finish    string // stop, length
	Model     string // id that the answer named; empty if it named none
	Sent      []byte // request body as sent, byte for byte; json.Compact leaves it as it is
	Usage     Usage
}

// Usage is in tokens; zero where the server did not say.
type Usage struct{ Prompt, Cached, Output int }
