//go:build unix

package sandboxtest_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/sandbox/sandboxtest"
	"github.com/redraft-dev/redraft/worktree"
)

// TestHostStartsNothing has everything that the host does to a tree done to a hostile one (E24, E25): copied, inspected, read
// for its checks, harvested. Nothing planted in it may run. That it would run for somebody careless is seen first.
func TestHostStartsNothing(t *testing.T) {
	temp, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(temp, "home"))
	dir, mark := filepath.Join(temp, "tree"), filepath.Join(temp, "mark")
	for _, d := range []string{dir, filepath.Join(temp, "home"), filepath.Join(temp, "copies")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := sandboxtest.Plant(dir, mark); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{".", "linked", "worktree", "nested"} {
		careless := exec.Command("git", "status")
		careless.Dir = filepath.Join(dir, in)
		_ = careless.Run()
		if err := os.Remove(mark); err != nil {
			t.Errorf("nothing fires in %s: %v", in, err)
		}
	}
	hostDoes(t, dir, filepath.Join(temp, "copies"))
	if b, err := os.ReadFile(mark); err == nil {
		t.Errorf("the host started something: %s", b)
	}
}

// hostDoes is what happens to a tree outside of a sandbox. An error is fine, starting something is not.
func hostDoes(t *testing.T, dir, copies string) {
	t.Helper()
	git, err := worktree.OpenGit("git")
	if err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	store, err := worktree.Open(git, filepath.Join(copies, "store"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, in := range []string{".", "linked", "worktree", "nested", "vendor/deep", ".vscode"} {
		_, _ = worktree.Inspect(ctx, git, filepath.Join(dir, in))
		_, _ = store.Inspect(ctx, filepath.Join(dir, in))
		_, _ = store.Mirror(ctx, filepath.Join(dir, in))
	}
	from := worktree.Copies{From: dir, Into: copies}
	fresh, remove, err := from.Fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	set, err := plan.Find(os.DirFS(fresh))
	if err != nil || len(set.Checks) == 0 {
		t.Errorf("no check was found, so nothing was read: %v", err)
	}
	_, _ = plan.Fingerprint(os.DirFS(fresh), set.Checks)
	_ = filepath.WalkDir(fresh, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(fresh, path)
			if _, err := sandbox.Harvest(fresh, name, 1<<20); err != nil {
				t.Error(err)
			}
		}
		return err
	})
	if err := remove(ctx); err != nil {
		t.Error(err)
	}
}

// TestOutputIsCleaned: what a command prints to deceive a reader, a terminal or a runner arrives as it is in a Result, and
// deceives nobody once it has passed the cleaner (E33).
func TestOutputIsCleaned(t *testing.T) {
	box, err := sandbox.Open(sandbox.Options{})
	if err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	dir, secret := t.TempDir(), "canary-0123456789abcdef"
	lines := "a\\000b\n\\033[2J\\033]0;title\\007red\n\\342\\200\\256reversed\n::set-env name=PATH::/x\n##[add-path]/x\n" +
		"::add-mask::x\n--- PASS: TestForged\nok  \tforged\t0.1s\n" + secret + "\n\\377\\376\n"
	res, err := box.Run(t.Context(), sandbox.Command{Argv: []string{"printf", lines}, Dir: dir, Write: []string{dir}, Env: []string{"PATH=/usr/bin:/bin"}})
	if err != nil || res.Exit != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	raw := string(res.Stdout)
	for _, want := range []string{"a\x00b", "\x1b[2J", "\u202e", "::set-env", secret, "\xff\xfe"} {
		if !strings.Contains(raw, want) {
			t.Errorf("%q was lost on the way: %q", want, raw)
		}
	}
	cleaner := redact.New(secret)
	for name, clean := range map[string]func(string) string{"Terminal": cleaner.Terminal, "Markdown": cleaner.Markdown, "Log": cleaner.Log} {
		got := clean(raw)
		if strings.Contains(got, secret) || !strings.Contains(got, "TestForged") {
			t.Errorf("%s: %q", name, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}) {
			t.Errorf("%s leaves a control: %q", name, got)
		}
	}
	for line := range strings.Lines(cleaner.Log(raw)) {
		if strings.HasPrefix(line, "::") || strings.HasPrefix(line, "##[") {
			t.Errorf("a line is an order to a runner: %q", line)
		}
	}
}
