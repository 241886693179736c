package githubtest

import (
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// Fault is what goes wrong with one request.
type Fault struct {
	Delay  time.Duration // before anything else
	Drop   bool          // the connection, without an answer
	Status int           // answered instead of the true answer; 0 changes nothing
	Header http.Header
	Body   string // GitHub's words for the status if empty
	After  bool   // the request is acted on first: drop or status hides a success
}

// Inject asks f about every request of REST and git before it is answered; nil is no fault. A later call replaces f, nil ends it.
// f gets a request whose body it may read.
func (s *Server) Inject(f func(r *http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = f
}

// Times gives the fault to the first n requests of a method whose path matches a pattern of path.Match below the REST address, as in
// "/repos/*/*/pulls", and none to others.
func Times(n int, method, pattern string, f Fault) func(*http.Request) *Fault {
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	return func(r *http.Request) *Fault {
		if ok, _ := path.Match(pattern, strings.TrimPrefix(r.URL.Path, "/api/v3")); !ok || r.Method != method {
			return nil
		}
		select {
		case <-left:
			return &f
		default:
			return nil
		}
	}
}

// SecondaryLimit is GitHub's answer to too much at once: 403 or 429, with retry-after unless that is zero.
func SecondaryLimit(status int, retryAfter time.Duration) Fault {
	f := Fault{Status: status, Header: http.Header{}, Body: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}
	if retryAfter > 0 {
		f.Header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	return f
}

// PrimaryLimit is GitHub's answer when the hour's calls are used up.
func PrimaryLimit(status int, reset time.Time) Fault {
	f := Fault{Status: status, Header: http.Header{}, Body: "API rate limit exceeded for installation."}
	f.Header.Set("X-Ratelimit-Limit", "5000")
	f.Header.Set("X-Ratelimit-Remaining", "0")
	f.Header.Set("X-Ratelimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	return f
}

func (s *Server) fault(r *http.Request, body []byte) *Fault {
	s.mu.Lock()
	f := s.inject
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	shown := r.Clone(r.Context())
	shown.Body = io.NopCloser(strings.NewReader(string(body)))
	return f(shown)
}

// before does what happens before a request is acted on, and says whether that was all.
func (f *Fault) before(w http.ResponseWriter, r *http.Request, rec *Call) bool {
	if f == nil {
		return false
	}
	rec.Injected = f.Drop || f.Status != 0
	select {
	case <-time.After(f.Delay):
	case <-r.Context().Done():
	}
	return !f.After && f.answer(w, rec)
}

// after hides the true answer, and says whether it did.
func (f *Fault) after(w http.ResponseWriter, rec *Call) bool {
	return f != nil && f.After && f.answer(w, rec)
}

func (f *Fault) answer(w http.ResponseWriter, rec *Call) bool {
	if f.Drop {
		rec.Status = 0
		panic(http.ErrAbortHandler) // how net/http lets a handler drop its connection
	}
	if f.Status == 0 {
		return false
	}
	for k, v := range f.Header {
		w.Header()[k] = v
	}
	rec.Status = f.Status
	text := or(f.Body, http.StatusText(f.Status))
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "<") {
		text = `{"message":` + strconv.Quote(text) + `,"documentation_url":"` + documentation + `"}`
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.Status)
	io.WriteString(w, text)
	return true
}
