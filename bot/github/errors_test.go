package github

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot"
)

func TestNoes(t *testing.T) {
	for _, tt := range []struct {
		status           int
		accepted, body   string
		want             bot.Class
		permission, text string
	}{
		{403, "issues=write; pull_requests=write", `{"message":"Resource not accessible by integration"}`, bot.Forbidden, "issues: write or pull_requests: write", "Resource not accessible by integration"},
		{403, "contents=read,workflows=write", `{"message":"no"}`, bot.Forbidden, "contents: read, workflows: write", "no"},
		{403, "", `{"message":"no"}`, bot.Forbidden, "issues: read, pull_requests: read", "no"},
		{403, `<script>="x"; ==; A=b`, `{"message":"no"}`, bot.Forbidden, "issues: read, pull_requests: read", "no"},
		{404, "", `{"message":"Not Found"}`, bot.NotFound, "", "Not Found"},
		{410, "", `{"message":"This issue was deleted"}`, bot.NotFound, "", "This issue was deleted"},
		{409, "", `{"message":"Git Repository is empty."}`, bot.Conflicting, "", "Git Repository is empty."},
		{400, "", `{"message":"Problems parsing JSON"}`, bot.Invalid, "", "Problems parsing JSON"},
		{422, "", `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"No commits between main and x"}]}`, bot.Invalid, "", "Validation Failed; No commits between main and x"},
		{422, "", `{"message":"Validation Failed","errors":[{"field":"base","code":"invalid"}]}`, bot.Invalid, "", "Validation Failed; base; invalid"},
		{422, "", `{"message":"Validation Failed","errors":"in one string"}`, bot.Invalid, "", "Validation Failed; in one string"},
		{422, "", `{"message":"Draft pull requests are not supported in this repository."}`, bot.NoDrafts, "", "Draft pull requests are not supported in this repository."},
		{403, "", `{"message":"GitHub Actions is not permitted to create or approve pull requests."}`, bot.NoPulls, "", "GitHub Actions is not permitted to create or approve pull requests."},
		{422, "", `[]`, bot.Invalid, "", ""},
		{422, "", `{"message":7,"errors":{"a":{"b":[1]}}}`, bot.Invalid, "", ""},
		{422, "", "{\"message\":\"a\\u001b[31mb\\n\\u0000c\"}", bot.Invalid, "", "a [31mb  c"},
		{451, "", `{"message":"blocked"}`, bot.Forbidden, "issues: read, pull_requests: read", "blocked"},
		{202, "", `{}`, bot.Unavailable, "", "*"},
		{304, "", ``, bot.Unavailable, "", ""},
	} {
		t.Run(fmt.Sprint(tt.status, tt.body), func(t *testing.T) {
			s := play(t, Options{Token: "plain-token"}, func(w http.ResponseWriter, r *http.Request, n int) {
				if tt.accepted != "" {
					w.Header().Set("X-Accepted-GitHub-Permissions", tt.accepted)
				}
				w.WriteHeader(tt.status)
				if tt.status != 304 {
					w.Write([]byte(tt.body))
				}
			})
			_, err := s.hub.Issue(t.Context(), widget, 3)
			no := wantClass(t, err, tt.want)
			if no.Permission != tt.permission {
				t.Errorf("permission %q, want %q", no.Permission, tt.permission)
			}
			if tt.text != "*" && no.Text != tt.text {
				t.Errorf("text %q, want %q", no.Text, tt.text)
			}
			if want := "look at issue 3 in acme/widget"; no.Doing != want {
				t.Errorf("doing %q, want %q", no.Doing, want)
			}
		})
	}
}

func TestClip(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\tb\x7fc", "a b c"},
		{"a\xffb", "a b"},
		{strings.Repeat("é", 400), strings.Repeat("é", longestText) + "…"},
		{strings.Repeat("x", 1<<20), strings.Repeat("x", longestText) + "…"},
	} {
		if got := clip(tt.in); got != tt.want {
			t.Errorf("got %.40q…, want %.40q…", got, tt.want)
		}
	}
}
