// Package web is the webhook's door: it takes what GitHub signed, puts it on disk, and only then says yes. It leaves
// every decision to bot and keeps nothing in memory. Nothing unsigned, oversize or malformed passes it.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/redraft-dev/redraft/agent/redact"
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

	held atomic.Int64 // bytes of bodies in memory now
}

// Handler is the server's routes. There is no mux: it would answer some unknown paths with a redirect.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Type":            "text/plain; charset=utf-8",
			"Cache-Control":           "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
			"Referrer-Policy":         "no-referrer",
			"X-Content-Type-Options":  "nosniff",
		} {
			w.Header().Set(name, value)
		}
		switch r.URL.Path {
		case "/webhook":
			s.webhook(w, r)
		case "/healthz":
			s.look(w, r, func(context.Context) error { return nil })
		case "/readyz":
			s.look(w, r, s.ready)
		default:
			say(w, http.StatusNotFound, "nothing is here")
		}
	})
}

// say is the one way to answer: one plain line, with nothing of the request in it.
func say(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	fmt.Fprintln(w, text) // a client that is gone cannot be told so
}

// look answers a question about this process.
func (s *Server) look(w http.ResponseWriter, r *http.Request, ask func(context.Context) error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "only GET and HEAD are answered here")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := ask(ctx); err != nil {
		say(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	say(w, http.StatusOK, "ok "+cmp.Or(s.Version, "unknown version"))
}

// ready says why a delivery would not be taken or not be acted on, in words that anyone may read: no path, no secret.
func (s *Server) ready(ctx context.Context) error {
	if len(s.live()) == 0 {
		return errors.New("not ready: no webhook secret is configured")
	}
	if err := s.Queue.Ready(ctx); err != nil {
		s.log().Error("the queue cannot be written", "error", err)
		return errors.New("not ready: the queue cannot be written; the server's log says why")
	}
	if s.Ready == nil {
		return nil
	}
	if err := s.Ready(ctx); err != nil {
		line := strings.Join(strings.Fields(redact.New(s.Secrets...).Log(err.Error())), " ")
		return errors.New("not ready: " + redact.Clip(line, 200))
	}
	return nil
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

// Bounds of a connection. GitHub itself gives up after 10 seconds, an Enterprise Server after 30.
const (
	headerTime  = 5 * time.Second
	bodyTime    = 30 * time.Second
	answerTime  = 45 * time.Second // from the end of the header
	idleTime    = time.Minute
	headerBytes = 16 << 10
	connections = 512
	grace       = 10 * time.Second
)

// HTTP is a server for the routes that a slow or silent client cannot hold for long.
func (s *Server) HTTP(addr string) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           s.Handler(),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       bodyTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
	}
}

// Serve answers on a listener until ctx ends, then lets what has begun come to its end, for ten seconds at most. It
// closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := s.HTTP(l.Addr().String())
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		stopped <- errors.Join(h.Shutdown(late), h.Close())
	})
	err := h.Serve(netutil.LimitListener(l, connections))
	if stop() { // it ended by itself
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	if err := <-stopped; err != nil {
		return fmt.Errorf("stop serving on %s: %w", l.Addr(), err)
	}
	return nil
}
