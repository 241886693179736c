package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Call is one request that arrived, and what it came to.
type Call struct {
	Time        time.Time
	Method      string
	Path        string // below the REST address, as in /repos/acme/widget/pulls; whole for git
	Query       string
	Route       string // as in "POST /repos/{owner}/{repo}/pulls"; "" when there is no such call, and for git
	Status      int    // of what was sent; 0 when the connection was dropped
	Token       string // app, installation, actions, user, or none
	Permissions map[string]string
	Login       string   // whom the token makes
	Needs       string   // the permission that let it in, as in "contents:write"
	Body        []byte   // of REST, as it came
	Digest      string   // sha256 of the body, hex
	Refs        []string // that a push wanted moved
	Injected    bool     // the answer was a fault
	Err         string   // something went wrong on this side
}

// Write says whether the call wanted to change something.
func (c Call) Write() bool {
	return c.Method != http.MethodGet && c.Method != http.MethodHead && !strings.HasSuffix(c.Path, "/git-upload-pack")
}

func (c *Call) note(t *token) {
	c.Token = "none"
	if t != nil {
		c.Token, c.Permissions, c.Login = t.kind, t.perms, t.account.login
	}
}

func (s *Server) record(c *Call) {
	sum := sha256.Sum256(c.Body)
	c.Digest = hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audit = append(s.audit, *c)
}

// Audit is every call so far, in the order they were answered.
func (s *Server) Audit() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.audit)
}

// Forget empties the audit.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.audit = nil
}

// Observe has every call of REST shown, with the fake's own answer and without the address' /api/v3. It runs while the answer
// waits. nil ends it.
func (s *Server) Observe(f func(r *http.Request, body []byte, status int, header http.Header, answer []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe = f
}
