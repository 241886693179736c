package worktree

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	s := openStore(t)
	day := 24 * time.Hour
	later := func(days int) time.Time { return time.Now().Add(time.Duration(days) * day) }
	sweep := func(days, want int) {
		t.Helper()
		if gone, err := s.Sweep(t.Context(), 30*day, later(days)); err != nil || gone != want {
			t.Errorf("after %d days %d mirrors went, %v; want %d", days, gone, err, want)
		}
	}
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	mirror := mirrorOf(t, s, repo)
	sweep(29, 0)
	tree := cut(t, mirror, "HEAD")
	sweep(100, 0) // it has a tree
	if err := tree.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	lock, err := mirror.lock(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	sweep(100, 0) // somebody is at work
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-20 * day)
	if err := os.Chtimes(guardOf(mirror.git), old, old); err != nil {
		t.Fatal(err)
	}
	mirrorOf(t, s, repo) // which is a use
	sweep(29, 0)
	sweep(31, 1)
	sweep(31, 0)
	if left, _ := filepath.Glob(filepath.Join(s.mirrors(), "*")); len(left) != 1 || filepath.Ext(left[0]) != ".guard" {
		t.Errorf("left: %v", left)
	}
	cut(t, mirrorOf(t, s, repo), "HEAD")
}
