package web

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/bot/queue"
)

const (
	largest = 25 << 20  // of a body; GitHub sends none that is larger: https://docs.github.com/en/webhooks/webhook-events-and-payloads
	budget  = 128 << 20 // of all bodies in memory at once
)

// refusal is a no to a delivery.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

var (
	event    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	delivery = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{7,63}$`) // GitHub sends a UUID
)

// webhook takes one delivery in.
func (s *Server) webhook(w http.ResponseWriter, r *http.Request) {
	d, release, err := s.delivery(w, r)
	defer release()
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			no = &refusal{http.StatusBadRequest, "the body did not come whole"}
		}
		s.log().Info("a delivery is refused", "from", r.RemoteAddr, "status", no.status, "reason", no.text)
		say(w, no.status, no.text)
		return
	}
	again, err := s.Queue.Receive(r.Context(), d)
	switch {
	case err != nil:
		s.log().Error("a delivery is not stored", "delivery", d.ID, "event", d.Event, "error", err)
		w.Header().Set("Retry-After", "60")
		say(w, http.StatusServiceUnavailable, "the delivery is not stored; redeliver it later")
	case again:
		s.log().Info("a delivery came again", "delivery", d.ID, "event", d.Event)
		say(w, http.StatusOK, "already here")
	default:
		s.log().Info("a delivery is stored", "delivery", d.ID, "event", d.Event)
		say(w, http.StatusAccepted, "stored")
	}
}

// delivery checks a request, the cheap things first, and nothing of what it says before its signature. release is
// called when the body is needed no longer.
func (s *Server) delivery(w http.ResponseWriter, r *http.Request) (d queue.Delivery, release func(), err error) {
	release = func() {}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		return d, release, &refusal{http.StatusMethodNotAllowed, "deliveries are sent with POST"}
	}
	if r.ContentLength > largest {
		return d, release, tooLarge
	}
	signature, ok := one(r, "X-Hub-Signature-256")
	sum, hexErr := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	if !ok || !strings.HasPrefix(signature, "sha256=") || hexErr != nil || len(sum) != sha256.Size {
		return d, release, &refusal{http.StatusUnauthorized, "there is no X-Hub-Signature-256; set a secret in the webhook's settings"}
	}
	if d.Payload, release, err = s.body(w, r); err != nil {
		return d, release, err
	}
	if !s.signed(d.Payload, sum) {
		return d, release, &refusal{http.StatusUnauthorized, "X-Hub-Signature-256 does not fit; is the webhook's secret the one configured here?"}
	}
	d.Received = time.Now()
	d.Event, d.ID, err = headers(r)
	if err == nil {
		err = isJSON(r, d.Payload)
	}
	return d, release, err
}

var tooLarge = &refusal{http.StatusRequestEntityTooLarge, "the body is larger than 25 MB"}

// one is the value of a header that must be there once.
func one(r *http.Request, name string) (value string, ok bool) {
	all := r.Header.Values(name)
	if len(all) != 1 {
		return "", false
	}
	return all[0], true
}

// body reads a body that is not too large, as long as all bodies together are not.
func (s *Server) body(w http.ResponseWriter, r *http.Request) (body []byte, release func(), err error) {
	counted := &counter{r: http.MaxBytesReader(w, r.Body, largest), s: s}
	release = func() { s.held.Add(-counted.n) }
	var b bytes.Buffer
	_, err = io.Copy(&b, counted)
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		err = tooLarge
	}
	return b.Bytes(), release, err
}

// counter counts what is read into memory, byte by byte as it comes: a client that only promises a large body holds
// nothing back from others.
type counter struct {
	r io.Reader
	s *Server
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.s.held.Add(int64(n)) > budget {
		return n, &refusal{http.StatusServiceUnavailable, "too many large deliveries at once; redeliver it later"}
	}
	return n, err
}

// signed says whether a live secret made the signature. Every secret is tried whatever the others say, and each in
// constant time.
func (s *Server) signed(body, sum []byte) (ok bool) {
	for _, secret := range s.live() {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		if hmac.Equal(mac.Sum(nil), sum) {
			ok = true
		}
	}
	return ok
}

// live are the secrets that count: anyone could sign with an empty one.
func (s *Server) live() []string {
	return slices.DeleteFunc(slices.Clone(s.Secrets), func(secret string) bool { return secret == "" })
}

func headers(r *http.Request) (name, id string, err error) {
	name, ok := one(r, "X-GitHub-Event")
	if !ok || !event.MatchString(name) {
		return "", "", &refusal{http.StatusBadRequest, "X-GitHub-Event names no event"}
	}
	if id, ok = one(r, "X-GitHub-Delivery"); !ok || !delivery.MatchString(id) {
		return "", "", &refusal{http.StatusBadRequest, "X-GitHub-Delivery is no delivery's id"}
	}
	return name, id, nil
}

func isJSON(r *http.Request, body []byte) error {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case kind == "application/x-www-form-urlencoded":
		return &refusal{http.StatusUnsupportedMediaType, "the body is a form; choose application/json as the webhook's content type"}
	case kind != "application/json":
		return &refusal{http.StatusUnsupportedMediaType, "the body is not announced as application/json"}
	case !json.Valid(body) || !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")):
		return &refusal{http.StatusBadRequest, "the body is no JSON object"}
	}
	return nil
}
