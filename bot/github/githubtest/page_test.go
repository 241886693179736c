package githubtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
)

// A person's browser sees a pull request as it reads; what stands in a body does nothing there.
func TestPage(t *testing.T) {
	srv, err := githubtest.New(githubtest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	repo, err := srv.AddRepo("acme", "widget", githubtest.Seed{Files: map[string]string{"a.txt": "a\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.Commit("topic", map[string]string{"a.txt": "b\n"}, githubtest.Person{}, "Change"); err != nil {
		t.Fatal(err)
	}
	body := "### Proof\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<details><summary>more</summary>\n\n`x`\n</details>\n"
	n, err := repo.OpenPull(githubtest.NewPull{Title: "A <b>title</b>", Body: body, Head: "topic", Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AddComment(n, "**bold** <script>alert(1)</script>", "acme"); err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(srv.URL, "/api/v3/")
	get := func(path string) (int, http.Header, string) {
		t.Helper()
		resp, err := srv.Client().Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, string(b)
	}
	status, header, text := get("/acme/widget/pull/1")
	for _, want := range []string{"A &lt;b&gt;title&lt;/b&gt;", "<td>1</td>", "<summary>more</summary>", "draft pull request", "<strong>bold</strong>", "width=device-width"} {
		if !strings.Contains(text, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, text)
		}
	}
	if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") {
		t.Errorf("the policy is %q", policy)
	}
	for _, path := range []string{"/acme/widget/pull/9", "/acme/none/pull/1", "/acme/widget/pull/x", "/acme/widget"} {
		if status, _, _ := get(path); status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, status)
		}
	}
}
