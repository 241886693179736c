package model

import (
	"context"
	"io"
	"net/http"
	"time"
)

// DetectWithin is Detect with another wait.
func DetectWithin(ctx context.Context, wait time.Duration, ports ...int) []Found {
	return detectAll(ctx, wait, ports)
}

// OnlyLoopback is the check that every dial passes.
func OnlyLoopback(network, address string) error { return onlyLoopback(network, address, nil) }

// TransportOf is the transport of a server's client.
func TransportOf(s *Server) *http.Transport { return s.client.Transport.(*http.Transport) }

// ReadStream reads the body of an answer of the model "m".
func ReadStream(body io.Reader) (Reply, error) {
	a := answer{server: &Server{id: "m", context: assumed}}
	return a.finish(context.Background(), a.read(body))
}

// WayError classifies an error of the transport.
func WayError(err error) error { return wayError("ask", err) }
