package githubtest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// letter is one webhook that arrived.
type letter struct {
	event, guid string
	signed      bool
	body        string
}

// listen takes webhooks signed with "s".
func listen(t *testing.T) (url string, got func() []letter) {
	t.Helper()
	var mu sync.Mutex
	var all []letter
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, letter{
			r.Header.Get("X-GitHub-Event"), r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-Hub-Signature-256") == githubtest.Sign("s", body), string(body),
		})
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []letter {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}
