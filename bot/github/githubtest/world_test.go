package githubtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/bot/github/githubtest/openapi"
)

// world is one GitHub with one repository and our App on it.
type world struct {
	*githubtest.Server
	t     *testing.T
	repo  *githubtest.Repo
	id    int64 // of the installation
	watch *openapi.Watch
	plain *http.Client // follows no redirect
}

var all = map[string]string{
	"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write", "statuses": "read", "actions": "read", "administration": "read",
}

func newWorld(t *testing.T, o githubtest.Options) *world {
	t.Helper()
	o.Dir = filepath.Join(t.TempDir(), "github")
	srv, err := githubtest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	w := &world{Server: srv, t: t, plain: srv.Client()}
	w.plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(w.plain.CloseIdleConnections)
	w.validate()
	srv.AddUser("octo")
	w.repo, err = srv.AddRepo("acme", "widget", githubtest.Seed{Files: map[string]string{
		"go.mod": "module widget\n", "add.go": "package widget\n", ".github/workflows/ci.yml": "on: push\n",
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.repo.SetPermission("octo", "write")
	w.id = srv.Install(all, w.repo)
	return w
}

// app is go-github as our App's installation.
func (w *world) app() *github.Client {
	w.t.Helper()
	tr, err := ghinstallation.New(w.Client().Transport, w.AppID(), w.id, w.AppKey())
	if err != nil {
		w.t.Fatal(err)
	}
	tr.BaseURL = w.URL
	c, err := github.NewClient(&http.Client{Transport: tr}).WithEnterpriseURLs(w.URL, w.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// jwt is go-github as the App itself.
func (w *world) jwt() *github.Client {
	w.t.Helper()
	tr, err := ghinstallation.NewAppsTransport(w.Client().Transport, w.AppID(), w.AppKey())
	if err != nil {
		w.t.Fatal(err)
	}
	tr.BaseURL = w.URL
	c, err := github.NewClient(&http.Client{Transport: tr}).WithEnterpriseURLs(w.URL, w.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// token mints an installation token with permissions; all of the installation's if nil.
func (w *world) token(permissions map[string]string) string {
	w.t.Helper()
	body := obj{"repository_ids": []int64{w.repo.ID()}}
	if permissions != nil {
		body["permissions"] = permissions
	}
	return w.mint(w.id, body)
}

func (w *world) mint(installation int64, body any) string {
	w.t.Helper()
	status, _, answer := w.ask("POST", "/app/installations/"+itoa(installation)+"/access_tokens", w.jwtText(), body)
	if status != http.StatusCreated {
		w.t.Fatalf("mint: got %d %v", status, answer)
	}
	return answer["token"].(string)
}

type obj = map[string]any

var options = githubtest.Options{}

var octo = githubtest.Person{Name: "octo", Email: "octo@example.com"}

// ask makes one call of REST by hand.
func (w *world) ask(method, path, token string, body any) (int, http.Header, obj) {
	w.t.Helper()
	status, header, text := w.raw(method, path, token, body)
	var answer any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &answer); err != nil {
			w.t.Fatalf("%s %s: %v in %q", method, path, err, text)
		}
	}
	o, _ := answer.(obj)
	return status, header, o
}

func (w *world) raw(method, path, token string, body any) (int, http.Header, []byte) {
	w.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, strings.TrimSuffix(w.URL, "/")+path, in)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		scheme := "token "
		if strings.HasPrefix(token, "ey") {
			scheme = "Bearer " // a JSON web token
		}
		req.Header.Set("Authorization", scheme+token)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := w.plain.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, text
}

// git runs the real one as a user of this GitHub.
func (w *world) git(dir, token string, args ...string) (string, error) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_SSL_CAINFO=" + w.CAFile,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	if token != "" {
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper",
			"GIT_CONFIG_VALUE_0=!f() { echo username=x-access-token; echo password="+token+"; }; f")
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) must(out string, err error) string {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// clone is a working tree of the repository, with one commit of ours on a branch.
func (w *world) clone(token, branch, file, text string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "clone")
	w.must(w.git("", token, "clone", "--quiet", w.repo.GitURL(), dir))
	w.must(w.git(dir, token, "checkout", "--quiet", "-B", branch))
	w.write(dir, file, text)
	return dir
}

func (w *world) write(dir, file, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.must(w.git(dir, "", "add", "-A"))
	w.must(w.git(dir, "", "commit", "--quiet", "-m", "change "+file))
}

func within(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(stop)
	return ctx
}

// validate has every call and, at the end, every webhook of a world judged by GitHub's description.
func (w *world) validate() {
	w.t.Helper()
	d, err := openapi.Load()
	if err != nil {
		w.t.Fatal(err)
	}
	w.watch = &openapi.Watch{}
	w.Observe(w.watch.Observe)
	w.t.Cleanup(func() {
		if err := w.watch.Err(); err != nil {
			w.t.Error(err)
		}
		for _, x := range w.Deliveries() {
			if err := d.Event(x.Event, x.Payload); err != nil {
				w.t.Error(err)
			}
		}
	})
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
