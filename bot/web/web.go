// Package web is the webhook's door: it takes what GitHub signed, puts it on disk, and only then says yes. It leaves
// every decision to bot and keeps nothing in memory. Nothing unsigned, oversize or malformed passes it.
package web

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/redraft-dev/redraft/bot/queue"
)

// Intake stores a delivery durably; again is true when it was there.
type Intake interface {
	Receive(ctx context.Context, d queue.Delivery) (again bool, err error)
	Ready(ctx context.Context) error
}

// Server answers /webhook, /healthz and /readyz. Its fields are set before the first call.
type Server struct {
	Queue   Intake
	Secrets []string                        // webhook secrets that are live, one or two; none refuses everything
	Ready   func(ctx context.Context) error // asked by /readyz besides the queue; may be nil
	Version string
	Log     *slog.Logger // silent if nil
}

// Handler is the server's routes.
func (s *Server) Handler() http.Handler { panic("stub") }
