package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/worktree"
)

// onGitHub is what demo --github --json prints.
type onGitHub struct {
	Stop     struct{ Reason, Text string }
	Draft    *struct{ Number int }
	Title    string
	Body     string
	Branches map[string]string
	Checks   []struct{ Name, Status, Conclusion string }
	Evidence string
}

// TestDemoGitHub runs the README's first command, redraft demo --github, with the default seed, and verifies what it left.
func TestDemoGitHub(t *testing.T) {
	needBox(t)
	getenv := homely(t)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"demo", "--github", "--json", "--tiers", "mechanic"}, getenv, strings.NewReader(""), &out, &errs)
	var r onGitHub
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || code != exitProved || r.Stop.Reason != "fixed" || r.Draft == nil {
		t.Fatalf("exit status %d, %v, stop %+v:\n%s%s", code, err, r.Stop, out.String(), errs.String())
	}
	if !strings.HasPrefix(r.Title, "redraft: ") || !strings.Contains(r.Body, "## Proof") || len(r.Branches) != 2 || len(r.Checks) != 2 {
		t.Errorf("got %+v", r)
	}
	out.Reset()
	if code := run(t.Context(), []string{"verify", r.Evidence}, getenv, strings.NewReader(""), &out, &errs); code != exitProved {
		t.Errorf("verify: exit status %d:\n%s%s", code, out.String(), errs.String())
	}
}

// TestDemoGitHubOwn runs redraft demo --github --keep --repo DIR --check CMD on a person's own repository, which is only
// read, until Ctrl-C.
func TestDemoGitHubOwn(t *testing.T) {
	needBox(t)
	dir := filepath.Join(t.TempDir(), "own")
	if err := worktree.Init(t.Context(), dir, map[string][]byte{"answer.txt": []byte("the answer is wrong\n")}, "one"); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &said{}
	done := make(chan int)
	var errs bytes.Buffer
	go func() {
		done <- run(ctx, []string{"demo", "--github", "--keep", "--repo", dir, "--check", "grep -q right answer.txt", "--tiers", "mechanic", "--minutes", "1"}, homely(t), strings.NewReader(""), out, &errs)
	}()
	f := &forge{t: t, said: out}
	f.until("both go on", func() bool { return strings.Contains(out.String(), "Both go on until Ctrl-C") })
	cancel()
	if code := <-done; code != exitStopped {
		t.Errorf("exit status %d, want %d: the mechanic repairs no text\n%s%s", code, exitStopped, out, errs.String())
	}
	for _, want := range []string{"No draft: exhausted", "redraft serve", "/webhook", "completed neutral", "clone https://127.0.0.1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the repository changed:\n%s\nbefore\n%s", after, before)
	}
	for _, wrong := range [][]string{{"--repo", dir}, {"--repo", t.TempDir(), "--check", "true"}, {"--all"}} {
		if code := run(t.Context(), append([]string{"demo", "--github"}, wrong...), homely(t), strings.NewReader(""), out, &errs); code != exitUsage {
			t.Errorf("%v: exit status %d, want %d", wrong, code, exitUsage)
		}
	}
	if code := run(t.Context(), []string{"demo", "--keep"}, homely(t), strings.NewReader(""), out, &errs); code != exitUsage {
		t.Errorf("--keep without --github: exit status %d, want %d", code, exitUsage)
	}
}

// listing is every file of a folder with its size and time.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(strings.Join([]string{name, info.Mode().String(), info.ModTime().String()}, " ") + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestDoctorGitHub runs redraft doctor --github on an App that is as it should be, and on one that lacks something.
func TestDoctorGitHub(t *testing.T) {
	f := newForge(t, rightAnswer)
	getenv := homely(t)
	see := func(more ...string) (code int, all []diagnosis) {
		t.Helper()
		var out, errs bytes.Buffer
		code = run(t.Context(), append([]string{"doctor", "--github", "--json"}, more...), func(k string) string {
			if k == "REDRAFT_CONFIG" {
				return f.file("config.yml")
			}
			return getenv(k)
		}, strings.NewReader(""), &out, &errs)
		var d struct{ Diagnoses []diagnosis }
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("exit status %d, %v:\n%s%s", code, err, out.String(), errs.String())
		}
		return code, d.Diagnoses
	}
	bad := func(all []diagnosis) (names []string) {
		for _, d := range all {
			if !d.OK && d.Need {
				names = append(names, d.What)
				if d.Next == "" {
					t.Errorf("%s failed without a next step: %s", d.What, d.Seen)
				}
			}
		}
		return names
	}
	f.SetHook("https://hooks.example/webhook", hookSecret)
	if code, all := see(); code != exitProved {
		t.Errorf("a whole App: exit status %d, bad: %v\n%+v", code, bad(all), all)
	}
	if code, all := see("--repository", "acme/widget"); code != exitProved {
		t.Errorf("a whole repository: exit status %d, bad: %v", code, bad(all))
	}
	f.repo.Archive()
	if code, all := see("--repository", "acme/widget"); code != exitStopped || strings.Join(bad(all), " ") != "repository" {
		t.Errorf("an archived repository: exit status %d, bad: %v", code, bad(all))
	}
	if code, all := see("--repository", "acme/none"); code != exitStopped || strings.Join(bad(all), " ") != "repository" {
		t.Errorf("no such repository: exit status %d, bad: %v", code, bad(all))
	}
	few := github.Permissions()
	delete(few, "checks")
	other, err := f.AddRepo("other", "thing", seedOf("x"))
	if err != nil {
		t.Fatal(err)
	}
	f.Install(few, other)
	code, all := see()
	if names := strings.Join(bad(all), " "); code != exitStopped || !strings.Contains(names, "other") {
		t.Errorf("an installation without checks: exit status %d, bad: %s", code, names)
	}
	if err := os.WriteFile(f.file("app.pem"), []byte("no key\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"doctor", "--github"}, func(k string) string {
		if k == "REDRAFT_CONFIG" {
			return f.file("config.yml")
		}
		return getenv(k)
	}, strings.NewReader(""), &out, &errs); code != exitUsage || strings.Contains(errs.String(), "no key") {
		t.Errorf("a broken key: exit status %d:\n%s%s", code, out.String(), errs.String())
	}
}

// TestDoctorToken runs redraft doctor --github --repository with a workflow's token instead of an App: a repository where Actions may
// not open pull requests is named, and one where they may is well.
func TestDoctorToken(t *testing.T) {
	f := newForge(t, rightAnswer)
	permissions := github.Permissions()
	permissions["administration"] = "read"
	token := f.repo.ActionsToken(permissions)
	config := fmt.Sprintf("github: {api: %q, git: %q, ca-file: %q}\n", f.URL, strings.TrimSuffix(f.URL, "/api/v3/"), f.CAFile)
	if err := os.WriteFile(f.file("config.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, may := range []bool{true, false} {
		f.repo.CanCreatePulls(may)
		var out, errs bytes.Buffer
		getenv := homely(t)
		code := run(t.Context(), []string{"doctor", "--github", "--repository", "acme/widget"}, func(k string) string {
			switch k {
			case "REDRAFT_CONFIG":
				return f.file("config.yml")
			case "GITHUB_TOKEN":
				return token
			}
			return getenv(k)
		}, strings.NewReader(""), &out, &errs)
		if named := strings.Contains(out.String(), "Actions may create pull requests is missing"); (code == exitProved) != may || named == may || strings.Contains(out.String()+errs.String(), token) {
			t.Errorf("Actions may open pull requests: %v; exit status %d\n%s%s", may, code, out.String(), errs.String())
		}
	}
}
