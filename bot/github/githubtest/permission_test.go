package githubtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// TestPermissions makes every call of a repository with a token that has all permissions but the needed one, and with one that has
// it alone.
func TestPermissions(t *testing.T) {
	w, sha, run := busy(t)
	full := w.token(nil)
	const repo = "/repos/acme/widget"
	_, _, comment := w.ask("POST", repo+"/issues/2/comments", full, obj{"body": "b"})
	for _, x := range []struct {
		method, path string
		body         obj
		needs        string // as the header has it
		more         string // what else the one call needs, when its permission alone does not do
	}{
		{"GET", "/collaborators/octo/permission", nil, "", ""},
		{"GET", "/actions/permissions/workflow", nil, "administration=read", ""},
		{"GET", "/actions/runs", nil, "actions=read", ""},
		{"GET", "/actions/runs/" + itoa(run), nil, "actions=read", ""},
		{"GET", "/actions/runs/" + itoa(run) + "/jobs", nil, "actions=read", ""},
		{"GET", "/branches/main", nil, "contents=read", ""},
		{"GET", "/git/ref/heads/main", nil, "contents=read", ""},
		{"GET", "/contents/go.mod", nil, "contents=read", ""},
		{"GET", "/commits/main", nil, "contents=read", ""},
		{"GET", "/commits/main/check-runs", nil, "checks=read", ""},
		{"GET", "/commits/main/status", nil, "statuses=read", ""},
		{"GET", "/commits/main/statuses", nil, "statuses=read", ""},
		{"POST", "/check-runs", obj{"name": "n", "head_sha": sha}, "checks=write", ""},
		{"GET", "/issues/2", nil, "issues=read; pull_requests=read", ""},
		{"POST", "/issues/2/comments", obj{"body": "b"}, "issues=write; pull_requests=write", ""},
		{"PATCH", "/issues/comments/" + strings.TrimSuffix(number(comment["id"]), "."), obj{"body": "b"}, "issues=write; pull_requests=write", ""},
		{"POST", "/issues/2/labels", obj{"labels": []string{"a"}}, "issues=write; pull_requests=write", ""},
		{"DELETE", "/issues/2/labels/a", nil, "issues=write; pull_requests=write", ""},
		{"POST", "/labels", obj{"name": "z"}, "issues=write; pull_requests=write", ""},
		{"GET", "/pulls", nil, "pull_requests=read", ""},
		{"GET", "/pulls/1", nil, "pull_requests=read", ""},
		{"PATCH", "/pulls/1", obj{"title": "t"}, "pull_requests=write", ""},
		{"POST", "/pulls/1/requested_reviewers", obj{"reviewers": []string{"acme"}}, "pull_requests=write", ""},
	} {
		none, only := map[string]string{}, map[string]string{}
		for name, level := range all {
			none[name] = level
		}
		for need := range strings.SplitSeq(x.needs, "; ") {
			name, level, _ := strings.Cut(need, "=")
			delete(none, name)
			if level == "write" && all[name] == "write" {
				none[name] = "read" // reading is not writing
			}
			if len(only) == 0 && name != "" {
				only[name] = level
			}
		}
		if x.needs != "" {
			before := len(w.Deliveries())
			status, header, answer := w.ask(x.method, repo+x.path, w.token(none), body(x.body))
			if status != http.StatusForbidden || answer["message"] != "Resource not accessible by integration" || header.Get("X-Accepted-GitHub-Permissions") != x.needs {
				t.Errorf("%s %s without: got %d %v %q, want 403 and %q", x.method, x.path, status, answer, header.Get("X-Accepted-GitHub-Permissions"), x.needs)
			}
			if len(w.Deliveries()) != before {
				t.Errorf("%s %s without: something happened", x.method, x.path)
			}
		}
		if status, _, answer := w.ask(x.method, repo+x.path, w.token(only), body(x.body)); status/100 != 2 {
			t.Errorf("%s %s with %v: got %d %v, want success", x.method, x.path, only, status, answer)
		}
	}
	// pull_requests speaks on pull requests, and on issues not.
	talk := w.token(map[string]string{"pull_requests": "write"})
	for path, want := range map[string]int{"/issues/1/comments": 201, "/issues/2/comments": 403} {
		if status, _, _ := w.ask("POST", repo+path, talk, obj{"body": "b"}); status != want {
			t.Errorf("pull_requests:write on %s: got %d, want %d", path, status, want)
		}
	}
}

func body(o obj) any {
	if o == nil {
		return nil
	}
	return o
}

// TestStrangers are credentials that do not reach a repository.
func TestStrangers(t *testing.T) {
	w := newWorld(t, options)
	secret, err := w.AddRepo("acme", "secret", githubtest.Seed{Files: map[string]string{"a": "a"}, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.AddRepo("acme", "other", githubtest.Seed{Files: map[string]string{"a": "a"}})
	if err != nil {
		t.Fatal(err)
	}
	secret.SetPermission("friend", "read")
	secret.SetPermission("maker", "write")
	w.AddUser("nobody")
	token := w.token(nil)
	for _, x := range []struct {
		what, method, path, token string
		body                      any
		want                      int
	}{
		{"nobody on a private repository", "GET", "/repos/acme/secret", "", nil, 404},
		{"nobody on a public one", "GET", "/repos/acme/other", "", nil, 200},
		{"nobody writes", "POST", "/repos/acme/other/labels", "", obj{"name": "n"}, 401},
		{"a token of another repository", "GET", "/repos/acme/secret", token, nil, 404},
		{"a token of another repository reads a public one", "GET", "/repos/acme/other/pulls", token, nil, 200},
		{"a token of another repository writes", "POST", "/repos/acme/other/labels", token, obj{"name": "n"}, 403},
		{"a wrong token", "GET", "/repos/acme/other", "ghs_x", nil, 401},
		{"a person without access", "GET", "/repos/acme/secret", w.UserToken("nobody"), nil, 404},
		{"a person with read", "GET", "/repos/acme/secret/contents/a", w.UserToken("friend"), nil, 200},
		{"a person with read comments on nothing", "POST", "/repos/acme/secret/issues/1/comments", w.UserToken("friend"), obj{"body": "b"}, 404},
		{"a person with read labels", "POST", "/repos/acme/secret/labels", w.UserToken("friend"), obj{"name": "n"}, 403},
		{"a person with write labels", "POST", "/repos/acme/secret/labels", w.UserToken("maker"), obj{"name": "n"}, 201},
		{"a person writes a check run", "POST", "/repos/acme/secret/check-runs", w.UserToken("maker"), obj{"name": "n", "head_sha": secret.Tip("main")}, 403},
		{"a JSON web token on a repository", "GET", "/repos/acme/other", w.jwtText(), nil, 403},
		{"an installation token as the App", "GET", "/app", token, nil, 401},
		{"no such repository", "GET", "/repos/acme/none", token, nil, 404},
	} {
		if status, _, answer := w.ask(x.method, x.path, x.token, x.body); status != x.want {
			t.Errorf("%s: got %d %v, want %d", x.what, status, answer, x.want)
		}
	}
	_ = other
}

func TestRoles(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	for login, want := range map[string][2]string{
		"acme": {"admin", "admin"}, "m": {"write", "maintain"}, "w": {"write", "write"}, "t": {"read", "triage"}, "r": {"read", "read"}, "octocat": {"read", "read"},
	} {
		w.AddUser(login)
		if login != "acme" && login != "octocat" {
			w.repo.SetPermission(login, want[1])
		}
		_, _, answer := w.ask("GET", "/repos/acme/widget/collaborators/"+login+"/permission", token, nil)
		if answer["permission"] != want[0] || answer["role_name"] != want[1] {
			t.Errorf("%s: got %v and %v, want %q", login, answer["permission"], answer["role_name"], want)
		}
	}
}
