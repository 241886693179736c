package model

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Found is a model server that answered on this machine.
type Found struct {
	BaseURL string   // as in http://127.0.0.1:8080/v1
	Kind    Kind     // Unknown if it cannot be told
	Models  []string // ids that can be asked here
	Remote  []string // ids that the server would pass on to another machine; Dial refuses them
}

const (
	foundIDs   = 500 // ids of one server that Detect reports
	factLength = 500 // bytes of one of them
)

// Ports are where LM Studio, Ollama, llama-server and mlx_lm.server, and vLLM listen unless told otherwise.
var Ports = []int{1234, 11434, 8080, 8000}

// Detect asks the given ports of 127.0.0.1, Ports if none, all at once and for at most 300 ms each. Those that answered
// come back in the order of the ports.
func Detect(ctx context.Context, ports ...int) []Found {
	if len(ports) == 0 {
		ports = Ports
	}
	return detectAll(ctx, 300*time.Millisecond, ports)
}

func detectAll(ctx context.Context, wait time.Duration, ports []int) []Found {
	answers := make([]*Found, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() { answers[i] = detect(ctx, wait, port) })
	}
	wg.Wait()
	var found []Found
	for _, f := range answers {
		if f != nil {
			found = append(found, *f)
		}
	}
	return found
}

// detect asks one port; nil if no model server answers there in time.
func detect(ctx context.Context, wait time.Duration, port int) *Found {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	a, err := parseAddress(fmt.Sprintf("http://127.0.0.1:%d", port), nil)
	if err != nil {
		return nil
	}
	s := &Server{address: a, client: a.client()}
	var list modelList
	if err := s.ask(ctx, "/v1/models", nil, &list); err != nil || list.Data == nil {
		return nil
	}
	f := &Found{BaseURL: a.root + "/v1", Kind: list.kind()}
	tags, _ := s.tags(ctx) // an Ollama too slow to say is asked again by Dial, which is strict
	if tags != nil {
		f.Kind = Ollama
	}
	for _, m := range list.Data[:min(len(list.Data), foundIDs)] {
		if len(m.ID) == 0 || len(m.ID) > factLength {
			continue
		}
		if cloudName(m.ID) || tags != nil && tags.remote(m.ID) {
			f.Remote = append(f.Remote, m.ID)
		} else {
			f.Models = append(f.Models, m.ID)
		}
	}
	if f.Kind == Unknown {
		f.Kind = s.guess(ctx)
	}
	return f
}

// guess tells a program that does not sign its list by what else it answers.
func (s *Server) guess(ctx context.Context) Kind {
	if s.lookProps(ctx) == nil && s.kind == LlamaCPP {
		return LlamaCPP
	}
	// mlx_lm.server is a Python http.server; https://github.com/ml-explore/mlx-lm/blob/main/mlx_lm/server.py
	resp, err := s.send(ctx, http.MethodGet, "/health", nil)
	if err != nil {
		return Unknown
	}
	resp.Body.Close()
	if name := resp.Header.Get("Server"); len(name) >= 10 && name[:10] == "BaseHTTP/0" {
		return MLX
	}
	return Unknown
}
