package github

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot"
)

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Calls() {
		if c.Why == "" || !strings.HasPrefix(c.Path, "/") || seen[c.Method+c.Path] {
			t.Errorf("%s %s: no reason, no path, or there twice", c.Method, c.Path)
		}
		seen[c.Method+c.Path] = true
		for _, word := range []string{"merge", "review", "graphql", "ready", "approv", "dispatch", "secrets", "hooks"} {
			if strings.Contains(strings.ToLower(c.Path), word) && c.Path != "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers" {
				t.Errorf("%s %s has %s in it", c.Method, c.Path, word)
			}
		}
		if !c.reads() && (strings.Contains(c.Path, "/git/") || strings.Contains(c.Path, "/contents") || strings.Contains(c.Path, "/actions")) {
			t.Errorf("%s %s writes what git or people write", c.Method, c.Path)
		}
		if c.Method == http.MethodPut {
			t.Errorf("PUT %s: no call replaces a thing", c.Path)
		}
		for name, level := range parsePermissions(c.Needs) {
			if needed[name] != "write" && needed[name] != level && name != "administration" && name != "organization_plan" {
				t.Errorf("%s %s needs %s: %s, which no App is asked to grant", c.Method, c.Path, name, level)
			}
			if level == "write" && c.reads() {
				t.Errorf("%s %s reads with %s: write", c.Method, c.Path, name)
			}
		}
	}
	Calls()[0].Path = "/changed"
	if Calls()[0].Path == "/changed" {
		t.Error("the table can be changed from outside")
	}
}

func TestPermit(t *testing.T) {
	h, err := New(Options{Token: "x", API: "https://ghe.example/api/v3"})
	if err != nil {
		t.Fatal(err)
	}
	var all []op
	for o := range table {
		all = append(all, op(o))
	}
	const pulls = "/api/v3/repos/a/b/pulls"
	for _, tt := range []struct {
		method, path, body string
		ok                 bool
	}{
		{"GET", "/api/v3/repos/a/b", "", true},
		{"GET", "/api/v3/repositories/12", "", true},
		{"GET", "/api/v3/repos/a/b/git/ref/heads/redraft/pull-7", "", true},
		{"GET", "/api/v3/repos/a/b/git/ref/tags/v1", "", false},
		{"GET", "/api/v3/repos/a/b/git/ref/heads/a/../../x", "", false},
		{"GET", "/api/v3/repos/a/b/git/ref/heads/a/%2e%2e/x", "", false},
		{"GET", "/api/v3/repos/a/b/contents/.github/redraft.yml", "", true},
		{"GET", "/api/v3/repos/a/b/contents/", "", false},
		{"GET", "/api/v3/repos/a/b/contents/a%2f..%2fb", "", false},
		{"GET", "/api/v3/repos/a/b/pulls/7x", "", false},
		{"GET", "/api/v3/repos/a/b/pulls/", "", false},
		{"GET", "/api/v3/repos/a%2fb/c", "", false},
		{"GET", "/api/v3/repos/a/b/commits/main", "", false},
		{"GET", "/repos/a/b", "", false},
		{"HEAD", "/api/v3/repos/a/b", "", false},
		{"GET", "/api/v3/repos/a/b", "{}", false},
		{"DELETE", "/api/v3/repos/a/b/issues/7/labels/help%20wanted%2F1", "", true},
		{"DELETE", "/api/v3/repos/a/b/issues/7/labels", "", false},
		{"DELETE", "/api/v3/repos/a/b", "", false},
		{"DELETE", "/api/v3/repos/a/b/git/refs/heads/x", "", false},
		{"POST", "/api/v3/repos/a/b/git/refs", `{"ref":"refs/heads/x","sha":"1"}`, false},
		{"PATCH", "/api/v3/repos/a/b/git/refs/heads/main", `{"sha":"1"}`, false},
		{"PUT", "/api/v3/repos/a/b/contents/x", `{}`, false},
		{"PUT", pulls + "/7/merge", `{}`, false},
		{"POST", pulls + "/7/reviews", `{"event":"APPROVE"}`, false},
		{"POST", "/api/v3/repos/a/b/merges", `{}`, false},
		{"POST", "/api/graphql", `{"query":"mutation"}`, false},
		{"POST", "/api/v3/graphql", `{"query":"mutation"}`, false},
		{"POST", pulls, `{"title":"t","body":"b","head":"redraft/x","base":"main","draft":true}`, true},
		{"POST", pulls, `{"title":"t","body":"b","head":"redraft/x","base":"main","draft":false}`, false},
		{"POST", pulls, `{"title":"t","body":"b","head":"redraft/x","base":"main"}`, false},
		{"POST", pulls, `{"title":"t","body":"b","head":"redraft/x","base":"main","draft":true,"issue":3}`, false},
		{"POST", pulls, `[]`, false},
		{"POST", pulls, `{`, false},
		{"POST", pulls, ``, false},
		{"PATCH", pulls + "/7", `{"title":"t","body":"b"}`, true},
		{"PATCH", pulls + "/7", `{"state":"closed"}`, true},
		{"PATCH", pulls + "/7", `{"state":"open"}`, false},
		{"PATCH", pulls + "/7", `{"draft":false}`, false},
		{"PATCH", pulls + "/7", `{"base":"release"}`, false},
		{"PATCH", pulls + "/7", `{"maintainer_can_modify":true}`, false},
		{"POST", "/api/v3/repos/a/b/check-runs", `{"name":"redraft","head_sha":"1","external_id":"k","status":"completed","conclusion":"neutral","output":{}}`, true},
		{"POST", "/api/v3/repos/a/b/check-runs", `{"name":"redraft","head_sha":"1","external_id":"k","status":"completed","conclusion":"failure","output":{}}`, false},
		{"PATCH", "/api/v3/repos/a/b/check-runs/1", `{"name":"redraft","status":"completed","conclusion":"action_required","output":{}}`, false},
	} {
		r, err := http.NewRequest(tt.method, "https://ghe.example"+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = h.permit(r, []byte(tt.body), all)
		if tt.ok != (err == nil) || err != nil && !is(err, bot.NotPermitted) {
			t.Errorf("%s %s %s: got %v, want allowed %v", tt.method, tt.path, tt.body, err, tt.ok)
		}
		if tt.ok {
			for _, elsewhere := range []string{"http://ghe.example", "https://ghe.example.evil", "https://u@ghe.example"} {
				r, _ := http.NewRequest(tt.method, elsewhere+tt.path, nil)
				if _, err := h.permit(r, []byte(tt.body), all); err == nil {
					t.Errorf("%s %s is allowed", tt.method, r.URL)
				}
			}
		}
	}
}

// TestLineHoldsToItsCalls: a line that was opened for one call makes no other, though the table has it.
func TestLineHoldsToItsCalls(t *testing.T) {
	s := play(t, Options{Token: "x"}, func(w http.ResponseWriter, r *http.Request, n int) { reply(w, 200, repoJSON(7, "widget")) })
	l := s.hub.tokenLine(s.hub.plain, "token", getRepo)
	l.repo = widget
	if _, err := l.call(t.Context(), call{op: getRepo}); err != nil {
		t.Error(err)
	}
	if _, err := l.call(t.Context(), call{op: getIssue, args: []string{"1"}}); !is(err, bot.NotPermitted) {
		t.Errorf("got %v, want it refused", err)
	}
	if want := []string{"GET /repos/acme/widget"}; !slices.Equal(s.record(), want) {
		t.Errorf("asked %q, want %q", s.record(), want)
	}
}
