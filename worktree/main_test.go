package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("WORKTREE_TEST_HELPER"); mode != "" {
		if err := helper(mode, os.Getenv("WORKTREE_TEST_STORE"), os.Getenv("WORKTREE_TEST_REPO")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// plain runs git as anybody would, but with a home of the test's own.
func plain(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := try1(t, dir, nil, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func try1(t testing.TB, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(plainEnv(dir), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func plainEnv(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org",
		"GIT_TERMINAL_PROMPT=0",
	}
}

// repository makes a repository with one commit that holds the files; a name that ends in * is executable.
func repository(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(realTemp(t), "repo")
	plain(t, filepath.Dir(dir), "init", "-q", "-b", "main", "--template=", dir)
	writeFiles(t, dir, files)
	plain(t, dir, "add", "-A")
	plain(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if n, ok := strings.CutSuffix(name, "*"); ok {
			name, mode = n, 0o755
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func openGit(t testing.TB) *Git {
	t.Helper()
	g, err := OpenGit("git")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func openStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(openGit(t), filepath.Join(realTemp(t), "state"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mirrorOf(t testing.TB, s *Store, repo string) *Mirror {
	t.Helper()
	m, err := s.Mirror(t.Context(), repo)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cut(t testing.TB, m *Mirror, rev string) *Tree {
	t.Helper()
	sha, err := m.Resolve(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := m.Cut(t.Context(), sha)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tree
}

var someone = Message{Text: "repair\n", Author: Person{"redraft", "redraft@example.org"}, When: time.Unix(1700000000, 0).UTC()}

// cycle is the whole life of a job's trees.
func cycle(ctx context.Context, s *Store, repo string, n int) error {
	m, err := s.Mirror(ctx, repo)
	if err != nil {
		return err
	}
	tree, err := m.Cut(ctx, m.Head())
	if err != nil {
		return err
	}
	defer tree.Close(ctx)
	sealed, err := tree.Seal(ctx, "root")
	if err != nil {
		return err
	}
	into := filepath.Join(filepath.Dir(sealed), "fresh")
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	copies := Copies{From: sealed, Into: into}
	fresh, remove, err := copies.Fresh(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(fresh, "a.txt")); err != nil {
		return err
	}
	if err := remove(ctx); err != nil {
		return err
	}
	sha, _, err := m.Commit(ctx, tree.SHA, []File{{Path: "a.txt", Data: fmt.Appendf(nil, "n%d %d\n", n, os.Getpid())}}, someone)
	if err != nil {
		return err
	}
	for taken := true; taken; { // somebody else may be quicker
		branch, err := m.FreeBranch(ctx, repo, "redraft/fix-x")
		if err != nil {
			return err
		}
		err = m.Deliver(ctx, repo, branch, sha, "")
		if taken = errors.Is(err, ErrBranchTaken); err != nil && !taken {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "a.txt")); err != nil {
		return err
	}
	return tree.Close(ctx)
}

func helper(mode, dir, repo string) error {
	git, err := OpenGit("git")
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for n := range map[string]int{"forever": 1 << 30, "some": 5}[mode] {
		s, err := Open(git, dir)
		if err != nil {
			return err
		}
		if err := cycle(context.Background(), s, repo, n); err != nil {
			return err
		}
	}
	return nil
}

func TestCycle(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n", "run.sh*": "#!/bin/sh\n"})
	s := openStore(t)
	for n := range 3 {
		if err := cycle(t.Context(), s, repo, n); err != nil {
			t.Fatal(err)
		}
	}
	got := plain(t, repo, "for-each-ref", "--format=%(refname)")
	want := "refs/heads/main\nrefs/heads/redraft/fix-x\nrefs/heads/redraft/fix-x-2\nrefs/heads/redraft/fix-x-3"
	if got != want {
		t.Errorf("refs:\n%s\nwant:\n%s", got, want)
	}
}
