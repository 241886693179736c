package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot"
)

// wire answers every call without a network.
type wire func(r *http.Request) *http.Response

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) { return w(r), nil }

func wired(t testing.TB, answer wire) *Hub {
	t.Helper()
	c := &clock{}
	h, err := New(Options{Token: "plain-token", Now: c.now, Sleep: c.sleep})
	if err != nil {
		t.Fatal(err)
	}
	h.base = answer
	h.self = bot.Self{App: 4711, Login: "redraft[bot]", Prefix: "redraft/"}
	return h
}

// FuzzAnswers: whatever answers, nothing panics, what comes back is bounded, and every no says what was being done.
func FuzzAnswers(f *testing.F) {
	const pull = `{"number":3,"state":"open","draft":true,"mergeable":null,"user":{"login":"redraft[bot]"},"head":{"ref":"redraft/x","sha":"abcdef1","repo":{"id":7}},"base":{"ref":"main","repo":{"id":7}}}`
	f.Add(200, "", "", `{"id":7,"name":"widget","owner":{"login":"acme"},"permissions":{"push":false}}`)
	f.Add(200, "", "", pull)
	f.Add(201, `<https://api.github.com/x?page=2>; rel="next"`, "", `[`+pull+`,null,{}]`)
	f.Add(200, `<x?page=99999999999999999999>; rel="next", <;>; rel`, "", `{"check_runs":[{"id":1,"name":"redraft","external_id":"k","app":{"id":4711},"output":{"annotations_count":-5}},null],"workflow_runs":[{"check_suite_id":0}],"statuses":[{"context":"c"}]}`)
	f.Add(200, "", "", `{"type":"file","encoding":"base64","content":"YQ==","size":-1,"ref":"refs/heads/main","object":{"sha":"x"}}`)
	f.Add(301, "", "https://api.github.com/repositories/7", `{}`)
	f.Add(302, "", "//evil.example/repositories/7", "")
	f.Add(307, "", "\x00", "[]")
	f.Add(422, "", "", `{"message":"A pull request already exists for acme:x.","errors":[[[["deep"]]],{"message":{}}]}`)
	f.Add(403, "", "", `"text"`)
	f.Add(429, "", "", `{"message":null}`)
	f.Add(204, "", "", ``)
	f.Add(200, "", "", `null`)
	f.Fuzz(func(t *testing.T, status int, link, location, body string) {
		if status < 200 || status > 599 {
			return
		}
		calls := 0
		h := wired(t, func(r *http.Request) *http.Response {
			if r.URL.Host != "api.github.com" || r.URL.Scheme != "https" {
				t.Fatalf("a call to %s", r.URL)
			}
			if calls++; calls > 5000 {
				t.Fatal("no end of calls")
			}
			head := http.Header{"Link": {link}, "Location": {location}, "Etag": {"e"}, "X-Accepted-Github-Permissions": {link}}
			return &http.Response{StatusCode: status, Header: head, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		})
		for _, err := range everything(t.Context(), h) {
			var no *bot.HubError
			if err != nil && (!errors.As(err, &no) || no.Doing == "" || no.Class == "" || len([]rune(no.Text)) > longestText+1 || strings.ContainsAny(no.Text, "\n\x1b")) {
				t.Errorf("got %#v", err)
			}
		}
	})
}

// everything calls every method.
func everything(ctx context.Context, h *Hub) (all []error) {
	note := func(_ any, err error) { all = append(all, err) }
	draft := bot.NewDraft{Head: "redraft/x", Base: "main", Labels: []string{"redraft"}, Reviewers: []string{"ada"}}
	check := bot.CheckRun{SHA: "abcdef1", Key: "k", Done: true, Conclusion: "neutral", Annotations: make([]bot.Annotation, 120)}
	note(h.Repo(ctx, widget))
	note(h.Permission(ctx, widget, "ada"))
	note(h.Pull(ctx, widget, 3))
	note(h.PullsOf(ctx, widget, "main"))
	note(h.Issue(ctx, widget, 3))
	note(h.Tip(ctx, widget, "main"))
	note(h.Message(ctx, widget, "abcdef1"))
	note(h.Checks(ctx, widget, "abcdef1"))
	note(h.Run(ctx, widget, 3))
	note(h.RunJobs(ctx, widget, 3))
	note(h.File(ctx, widget, "a.txt", "abcdef1"))
	note(h.Drafts(ctx, widget, ""))
	note(h.Check(ctx, widget))
	note(h.OpenDraft(ctx, widget, draft))
	note(0, h.EditDraft(ctx, widget, 3, "t", "b"))
	note(0, h.CloseDraft(ctx, widget, 3))
	note(h.Comment(ctx, widget, 3, "<!-- m -->", "x"))
	note(h.CheckRun(ctx, widget, check))
	note(0, h.RemoveLabel(ctx, widget, 3, "redraft"))
	h.Doctor(ctx)
	return all
}

// FuzzPaths: a name that a stranger chose reaches the place in the path that it is for, or the call does not leave.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"main", "a/b", "..", "a/../b", "%2e%2e", "?x=1", "#", "a b", "\x00", "ü", "a//b", "heads/../tags", "\\..", "git/refs", "a%2fb"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, owner, name, branch string) {
		var left *url.URL
		h := wired(t, func(r *http.Request) *http.Response {
			left = r.URL
			return &http.Response{StatusCode: 404, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
		})
		h.Tip(t.Context(), bot.Repo{Owner: owner, Name: name}, branch)
		if left == nil {
			return
		}
		if want := "/repos/" + owner + "/" + name + "/git/ref/heads/" + branch; left.Path != want || left.RawQuery != "" {
			t.Errorf("asked for %q, want %q", left, want)
		}
		if strings.Contains(owner+name, "/") || strings.Contains("/"+owner+"/"+name+"/"+branch+"/", "/../") {
			t.Errorf("%s left", left)
		}
	})
}
