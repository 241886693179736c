package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestParseVersion(t *testing.T) {
	tests := []struct{ line, want string }{
		{"git version 2.39.5", "2.39.5"},
		{"git version 2.39.5 (Apple Git-154)\n", "2.39.5"},
		{"git version 2.50.0.rc1", "2.50.0"},
		{"git version 3.0.1", "3.0.1"},
		{"git version 2.32", "2.32"},
		{"git version 2.31.8", ""},
		{"git version 1.99.0", ""},
		{"git version 2", ""},
		{"hub version 2.40.0", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := parseVersion(tt.line)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v; want %q", tt.line, got, err, tt.want)
		}
	}
}

func fakeGit(t *testing.T, dir, body string) string {
	t.Helper()
	path := filepath.Join(dir, "git")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenGit(t *testing.T) {
	g := openGit(t)
	if !filepath.IsAbs(g.Path()) || g.Version() == "" {
		t.Errorf("path %q, version %q", g.Path(), g.Version())
	}
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	mark := filepath.Join(t.TempDir(), "mark")
	planted := fakeGit(t, repo, "touch '"+mark+"'; echo git version 2.40.0")
	link := filepath.Join(t.TempDir(), "git")
	if err := os.Symlink(planted, link); err != nil {
		t.Fatal(err)
	}
	old := fakeGit(t, t.TempDir(), "echo git version 2.20.1")
	tests := []struct{ name, path, wd, want string }{
		{"relative", "./git", repo, "absolute"},
		{"planted in the repository", planted, repo, "planted"},
		{"linked to one planted there", link, repo, "planted"},
		{"planted above the folder", planted, filepath.Join(repo, ".git"), "planted"},
		{"missing", filepath.Join(repo, "none"), "/", "no such file"},
		{"a folder", repo, "/", "not a program"},
		{"too old", old, "/", "2.32 or newer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.wd)
			if _, err := OpenGit(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want …%s…", err, tt.want)
			}
		})
	}
	for _, path := range []string{".", repo, ""} {
		t.Chdir(repo)
		t.Setenv("PATH", path)
		if _, err := OpenGit("git"); err == nil {
			t.Errorf("git was found by PATH=%q", path)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the planted git was run")
	}
}

// A git that was found elsewhere is still refused for the repository that it lies in.
func TestGitOfTheRepository(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	g, err := OpenGit(fakeGit(t, repo, `echo git version 2.40.0`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), g, repo); err == nil || !strings.Contains(err.Error(), "planted") {
		t.Errorf("inspect: %v", err)
	}
	s, err := Open(g, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Mirror(t.Context(), repo); err == nil || !strings.Contains(err.Error(), "planted") {
		t.Errorf("mirror: %v", err)
	}
}

func TestOnRun(t *testing.T) {
	g := openGit(t)
	var argv []string
	exit := -2
	g.OnRun = func(a []string, e int, took time.Duration) {
		argv, exit = a, e
		if took <= 0 {
			t.Errorf("took %v", took)
		}
	}
	_, err := g.run(t.Context(), call{args: []string{"check-ref-format", "refs/heads/.."}})
	if exit != 1 || exitCode(err) != 1 || strings.Join(argv, " ") != "git check-ref-format refs/heads/.." {
		t.Errorf("told of %q, exit %d; error %v", argv, exit, err)
	}
}

// A child that ignores its end is killed with its own children, and its output is bounded.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	child := filepath.Join(dir, "child")
	g := &Git{path: fakeGit(t, dir, "trap '' TERM\nsh -c 'trap \"\" TERM; echo $$ > \""+child+"\"; exec sleep 60' &\nwhile :; do sleep 0.1; done")}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := g.run(ctx, call{args: []string{"x"}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > grace+2*time.Second {
		t.Errorf("ended after %v", took)
	}
	b, err := os.ReadFile(child)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 2 {
		t.Fatalf("the child said %q, %v", b, err)
	}
	for end := time.Now().Add(5 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("a child of the child lived on")
		}
	}
	loud := &Git{path: fakeGit(t, t.TempDir(), "head -c 400000 /dev/zero")}
	if _, err := loud.run(t.Context(), call{args: []string{"x"}, most: 1000}); !errors.Is(err, errTooMuch) {
		t.Errorf("error %v, want %v", err, errTooMuch)
	}
	angry := &Git{path: fakeGit(t, t.TempDir(), `printf 'warning: w\nfatal: bad \033[31mthing\377\nmore\n' >&2; yes x | head -c 100000 >&2; exit 128`)}
	_, err = angry.run(t.Context(), call{args: []string{"worktree", "add"}})
	if got, want := err.Error(), "git worktree add: exit status 128: fatal: bad  [31mthing?"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

// Nothing of our environment reaches git.
func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "s3cret")
	g := &Git{path: fakeGit(t, t.TempDir(), "env")}
	out, err := g.run(t.Context(), call{args: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "GIT_") && name != "PATH" && name != "HOME" && name != "LC_ALL" && name != "PWD" && name != "_" && name != "SHLVL" && name != "OLDPWD" {
			t.Errorf("git is given %s", line)
		}
	}
	for _, want := range []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1"} {
		if !strings.Contains(string(out), want+"\n") {
			t.Errorf("git is not given %s", want)
		}
	}
}
