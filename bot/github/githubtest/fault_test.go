package githubtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestFaults: what a client sees of each fault, and whether the request was acted on.
func TestFaults(t *testing.T) {
	reset := time.Unix(2_000_000_000, 0)
	for _, x := range []struct {
		what   string
		fault  githubtest.Fault
		status int // 0: no answer
		header [2]string
		acted  bool
	}{
		{"403 with retry-after", githubtest.SecondaryLimit(403, 7*time.Second), 403, [2]string{"Retry-After", "7"}, false},
		{"429 without", githubtest.SecondaryLimit(429, 0), 429, [2]string{"Retry-After", ""}, false},
		{"403 with reset", githubtest.PrimaryLimit(403, reset), 403, [2]string{"X-Ratelimit-Reset", "2000000000"}, false},
		{"502 before", githubtest.Fault{Status: 502, Body: "<html>"}, 502, [2]string{}, false},
		{"500 after", githubtest.Fault{Status: 500, After: true}, 500, [2]string{}, true},
		{"dropped before", githubtest.Fault{Drop: true}, 0, [2]string{}, false},
		{"dropped after", githubtest.Fault{Drop: true, After: true}, 0, [2]string{}, true},
		{"slow", githubtest.Fault{Delay: time.Millisecond}, 201, [2]string{}, true},
	} {
		t.Run(x.what, func(t *testing.T) {
			w := newWorld(t, options)
			token := w.token(nil)
			w.Inject(githubtest.Times(1, "POST", "/repos/*/*/labels", x.fault))
			req, err := http.NewRequest("POST", w.URL+"repos/acme/widget/labels", strings.NewReader(`{"name":"n"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			status := 0
			if resp, err := w.Client().Do(req); err == nil {
				resp.Body.Close()
				status = resp.StatusCode
				if got := resp.Header.Get(x.header[0]); x.header[0] != "" && got != x.header[1] {
					t.Errorf("%s: got %q, want %q", x.header[0], got, x.header[1])
				}
			}
			if status != x.status {
				t.Errorf("got %d, want %d", status, x.status)
			}
			want := 201
			if x.acted {
				want = 422 // it exists already
			}
			if got, _, _ := w.ask("POST", "/repos/acme/widget/labels", token, obj{"name": "n"}); got != want {
				t.Errorf("afterwards: got %d, want %d", got, want)
			}
			calls := w.Audit()
			if c := calls[len(calls)-2]; c.Status != x.status || c.Injected != (x.fault.Status != 0 || x.fault.Drop) {
				t.Errorf("audit: got %+v", c)
			}
		})
	}
}

// TestFaultsOfGit: faults strike pushes too, before and after.
func TestFaultsOfGit(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	dir := w.clone(token, "topic", "a", "1")
	for _, after := range []bool{false, true} {
		w.Inject(func(r *http.Request) *githubtest.Fault {
			if r.Method != "POST" || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
				return nil
			}
			return &githubtest.Fault{Status: 503, After: after}
		})
		if out, err := w.git(dir, token, "push", "origin", "HEAD:refs/heads/topic"); err == nil {
			t.Errorf("after %v: pushed\n%s", after, out)
		}
		if got := w.repo.Tip("topic") != ""; got != after {
			t.Errorf("after %v: branch there %v", after, got)
		}
	}
	w.Inject(nil)
	w.must(w.git(dir, token, "push", "origin", "HEAD:refs/heads/topic"))
}

func TestAudit(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(map[string]string{"issues": "write"})
	w.Forget()
	w.ask("POST", "/repos/acme/widget/labels?", token, obj{"name": "n"})
	w.ask("GET", "/repos/acme/widget/pulls?state=all", token, nil)
	w.ask("GET", "/rate_limit", "", nil)
	w.ask("PUT", "/repos/acme/widget/pulls/1/merge", token, nil)
	w.must(w.git("", token, "ls-remote", w.repo.GitURL()))
	var got []string
	for _, c := range w.Audit() {
		got = append(got, fmt.Sprintf("%s %s %s|%s|%d|%s|%s|%s|%s|%v", c.Method, c.Path, c.Query, c.Route, c.Status, c.Token, c.Login, c.Needs, c.Body, c.Write()))
		if len(c.Digest) != 64 || c.Time.IsZero() || c.Err != "" {
			t.Errorf("got %+v", c)
		}
	}
	want := []string{
		`POST /repos/acme/widget/labels |POST /repos/{owner}/{repo}/labels|201|installation|redraft[bot]|issues:write|{"name":"n"}|true`,
		`GET /repos/acme/widget/pulls state=all|GET /repos/{owner}/{repo}/pulls|403|installation|redraft[bot]|||false`,
		`GET /rate_limit |GET /rate_limit|200|none||||false`,
		`PUT /repos/acme/widget/pulls/1/merge ||404|installation|redraft[bot]|||true`,
		`GET /acme/widget.git/info/refs service=git-upload-pack||200|none||||false`,
		`POST /acme/widget.git/git-upload-pack ||200|none||||false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPages follows Link to the end, and asks again with the tag it was given.
func TestPages(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	w.repo.OpenIssue("t", "b", "octo")
	for range 7 {
		if _, err := w.repo.AddComment(1, "c", "octo"); err != nil {
			t.Fatal(err)
		}
	}
	var pages []int
	for path := "/repos/acme/widget/issues/1/comments?per_page=3"; path != ""; {
		_, header, text := w.raw("GET", path, token, nil)
		pages = append(pages, strings.Count(string(text), `"issue_url"`))
		path = ""
		for link := range strings.SplitSeq(header.Get("Link"), ", ") {
			if to, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
				path = strings.TrimPrefix(to, "<"+strings.TrimSuffix(w.URL, "/"))
			}
		}
	}
	if !slices.Equal(pages, []int{3, 3, 1}) {
		t.Errorf("got %v, want [3 3 1]", pages)
	}
	if _, _, text := w.raw("GET", "/repos/acme/widget/issues/1/comments?per_page=3&page=9", token, nil); string(text) != "[]" {
		t.Errorf("beyond: got %s", text)
	}

	_, header, _ := w.raw("GET", "/repos/acme/widget/issues/1", token, nil)
	ask := func() int {
		req, _ := http.NewRequest("GET", w.URL+"repos/acme/widget/issues/1", nil)
		req.Header.Set("Authorization", "token "+token)
		req.Header.Set("If-None-Match", header.Get("ETag"))
		resp, err := w.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := ask(); got != http.StatusNotModified {
		t.Errorf("unchanged: got %d, want 304", got)
	}
	if _, err := w.repo.AddComment(1, "c", "octo"); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != http.StatusOK {
		t.Errorf("changed: got %d, want 200", got)
	}
}

// TestClose leaves nothing that answers, and a folder that the caller may remove.
func TestClose(t *testing.T) {
	w := newWorld(t, options)
	w.must(w.git("", "", "ls-remote", w.repo.GitURL()))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Client().Get(w.URL); err == nil {
		t.Error("it still answers")
	}
	if _, err := githubtest.New(githubtest.Options{}); err == nil {
		t.Error("a server without a folder")
	}
	if _, err := githubtest.New(githubtest.Options{Dir: t.TempDir(), Listen: "nowhere:1:2"}); err == nil {
		t.Error("a server without an address")
	}
}
