package githubtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/redraft-dev/redraft/bot/github/githubtest/openapi"
)

// write is a good body of one write call, with every field that the fake serves.
type write struct {
	call, path string
	body       obj
	unserved   []string // fields of the description that the fake refuses, since redraft sends none
	optional   string   // why the description makes nothing of the body required
}

func writes(w *world, sha string) []write {
	const repo = "/repos/acme/widget"
	note := obj{
		"path": "add.go", "start_line": 1, "end_line": 1, "start_column": 1, "end_column": 2, "annotation_level": "failure", "message": "m", "title": "t",
		"raw_details": "r",
	}
	check := obj{
		"name": "redraft", "head_sha": sha, "details_url": "https://example.com", "external_id": "k", "status": "completed", "conclusion": "neutral",
		"started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:00:00Z",
		"output": obj{"title": "t", "summary": "s", "text": "x", "annotations": []any{note}},
	}
	edit := maps.Clone(check)
	delete(edit, "head_sha")
	token := w.token(nil)
	_, _, k := w.ask("POST", repo+"/issues/2/comments", token, obj{"body": "ours"})
	_, _, c := w.ask("POST", repo+"/check-runs", token, obj{"name": "redraft", "head_sha": sha})
	id := func(o obj) string { return fmt.Sprintf("%.0f", o["id"]) }
	return []write{
		{"POST /app/installations/{installation_id}/access_tokens", "/app/installations/" + itoa(w.id) + "/access_tokens",
			obj{"repositories": []any{"widget"}, "repository_ids": []any{w.repo.ID()}, "permissions": obj{"contents": "read"}}, nil, "a token is not narrowed then"},
		{"POST /app/hook/deliveries/{delivery_id}/attempts", "/app/hook/deliveries/1/attempts", nil, nil, ""},
		{"DELETE /installation/token", "/installation/token", nil, nil, ""},
		{"POST /repos/{owner}/{repo}/check-runs", repo + "/check-runs", check, []string{"actions"}, ""},
		{"PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", repo + "/check-runs/" + id(c), edit, []string{"actions"}, "what is not said stays"},
		{"POST /repos/{owner}/{repo}/issues/{issue_number}/comments", repo + "/issues/2/comments", obj{"body": "b"}, nil, ""},
		{"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", repo + "/issues/comments/" + id(k), obj{"body": "b"}, nil, ""},
		{"POST /repos/{owner}/{repo}/issues/{issue_number}/labels", repo + "/issues/2/labels", obj{"labels": []any{"x"}}, nil, "the description forgot it; the fake refuses no labels"},
		{"DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", repo + "/issues/2/labels/x", nil, nil, ""},
		{"POST /repos/{owner}/{repo}/labels", repo + "/labels", obj{"name": "n", "color": "00ff00", "description": "d"}, nil, ""},
		{"POST /repos/{owner}/{repo}/pulls", repo + "/pulls",
			obj{"title": "t", "head": "more", "base": "main", "body": "b", "draft": true, "maintainer_can_modify": false}, []string{"head_repo", "issue"}, ""},
		{"PATCH /repos/{owner}/{repo}/pulls/{pull_number}", repo + "/pulls/1",
			obj{"title": "t", "body": "b", "state": "open", "base": "main", "maintainer_can_modify": true}, nil, "what is not said stays"},
		{"POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers", repo + "/pulls/1/requested_reviewers", obj{"reviewers": []any{"acme"}}, []string{"team_reviewers"}, "the fake refuses no reviewers"},
	}
}

// TestRefuses sends every write call with a field missing, mistaken or unknown, at any depth. The fake and the description must
// both refuse it, and nothing may have happened.
func TestRefuses(t *testing.T) {
	w, sha, _ := busy(t)
	if _, err := w.repo.Commit("more", map[string]string{"more.go": "package widget\n"}, octo, "more"); err != nil {
		t.Fatal(err)
	}
	d, err := openapi.Load()
	if err != nil {
		t.Fatal(err)
	}
	all := writes(w, sha)
	for _, x := range all {
		t.Run(x.call, func(t *testing.T) {
			schema := d.Body(x.call)
			if schema != nil && len(schema.OneOf) == 1 {
				schema = schema.OneOf[0].Value
			}
			if (schema == nil) != (x.body == nil) {
				t.Fatalf("body: got %v, the description has %v", x.body, schema)
			}
			if schema != nil {
				covers(t, schema, x)
			}
			bad := spoil(schema, x.body)
			if len(bad) == 0 || schema != nil && x.optional == "" && !slices.ContainsFunc(bad, func(b spoiled) bool { return strings.HasPrefix(b.what, "without") }) {
				t.Fatalf("got %d ways to be wrong", len(bad))
			}
			for _, b := range bad {
				w.refused(t, d, x, b)
			}
		})
	}
	for _, name := range d.Calls() {
		if !strings.HasPrefix(name, "GET ") && !slices.ContainsFunc(all, func(x write) bool { return x.call == name }) {
			t.Errorf("%s is a write that nothing here spoils", name)
		}
	}
}

// covers wants every field of the description in the good body, so that each is mistaken once.
func covers(t *testing.T, schema *openapi3.Schema, x write) {
	t.Helper()
	for name := range schema.Properties {
		if _, ok := x.body[name]; !ok && !slices.Contains(x.unserved, name) {
			t.Errorf("the good body lacks %s", name)
		}
	}
	for _, name := range schema.Required {
		if x.optional != "" {
			t.Errorf("%s is required, and yet %s", name, x.optional)
		}
	}
}

func (w *world) refused(t *testing.T, d *openapi.Description, x write, b spoiled) {
	t.Helper()
	method, _, _ := strings.Cut(x.call, " ")
	token := w.token(nil)
	if strings.HasPrefix(x.path, "/app/") {
		token = w.jwtText()
	}
	text, err := json.Marshal(b.body)
	if err != nil {
		t.Fatal(err)
	}
	before := len(w.Deliveries())
	status, _, answer := w.ask(method, x.path, token, string(text))
	if status != 422 && status != 400 {
		t.Errorf("%s: got %d %v, want 422", b.what, status, answer)
	}
	if n := len(w.Deliveries()); n != before {
		t.Errorf("%s: %d webhooks say that something happened", b.what, n-before)
	}
	r, _ := http.NewRequest(method, x.path, bytes.NewReader(text))
	if err := d.Request(r, text); err == nil {
		t.Errorf("%s: the description lets it pass", b.what)
	}
}

// spoiled is a body with one thing wrong.
type spoiled struct {
	what string
	body any
}

// spoil makes every body that has one thing wrong.
func spoil(s *openapi3.Schema, good any) (bad []spoiled) {
	if s == nil {
		return []spoiled{{"a body where none is taken", obj{"x": 1}}}
	}
	switch g := good.(type) {
	case obj:
		bad = append(bad, spoiled{"with unknown field", with(g, "unheard-of", 1)})
		for _, name := range s.Required {
			less := maps.Clone(g)
			delete(less, name)
			bad = append(bad, spoiled{"without " + name, less})
		}
		for name, v := range g {
			for _, b := range spoil(s.Properties[name].Value, v) {
				bad = append(bad, spoiled{b.what + " in " + name, with(g, name, b.body)})
			}
			bad = append(bad, spoiled{"mistaken " + name, with(g, name, mistake(v))})
		}
	case []any:
		for _, b := range spoil(s.Items.Value, g[0]) {
			bad = append(bad, spoiled{b.what, []any{b.body}})
		}
		bad = append(bad, spoiled{"mistaken item", []any{mistake(g[0])}})
	case string:
		if len(s.Enum) > 0 {
			bad = append(bad, spoiled{"unknown word", "unheard-of"})
		}
		if s.Format == "date-time" {
			bad = append(bad, spoiled{"no time", "yesterday"})
		}
	}
	return bad
}

func with(o obj, name string, v any) obj {
	c := maps.Clone(o)
	c[name] = v
	return c
}

// mistake is a value of another type.
func mistake(v any) any {
	if _, ok := v.(string); ok {
		return 5
	}
	return "five"
}

// TestRefusesQuery: a parameter that the description does not know is refused on reads and writes.
func TestRefusesQuery(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	for _, path := range []string{"/repos/acme/widget?x=1", "/repos/acme/widget/pulls?heads=a", "/rate_limit?per_page=1", "/repos/acme/widget/contents/go.mod?page=2"} {
		if status, _, answer := w.ask("GET", path, token, nil); status != 422 {
			t.Errorf("%s: got %d %v, want 422", path, status, answer)
		}
	}
	if status, _, answer := w.ask("POST", "/repos/acme/widget/labels?x=1", token, obj{"name": "n"}); status != 422 {
		t.Errorf("write: got %d %v, want 422", status, answer)
	}
	if status, _, answer := w.ask("GET", "/repos/acme/widget/pulls?per_page=many", token, nil); status != 422 {
		t.Errorf("mistaken: got %d %v, want 422", status, answer)
	}
}

// TestMalformed: bodies that are no JSON object.
func TestMalformed(t *testing.T) {
	w := newWorld(t, options)
	token := w.token(nil)
	for _, body := range []string{"{", "5", `"x"`, `{"name":"n"} {}`, "[]", "[[[[[", "\x00", `{"name":`} {
		if status, _, _ := w.ask("POST", "/repos/acme/widget/labels", token, body); status != 400 {
			t.Errorf("%q: got %d, want 400", body, status)
		}
	}
	if status, _, _ := w.ask("POST", "/repos/acme/widget/labels", token, "null"); status != 422 {
		t.Errorf("null: got %d, want 422", status)
	}
}
