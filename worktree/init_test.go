package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestInit(t *testing.T) {
	dir := filepath.Join(realTemp(t), "new")
	writeFiles(t, dir, map[string]string{"run.sh*": "#!/bin/sh\n", "kept": "old\n"})
	err := Init(t.Context(), dir, map[string][]byte{"a/b.txt": []byte("b\r\n"), "kept": []byte("new\n")}, "one")
	if err != nil {
		t.Fatal(err)
	}
	if got := plain(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status: %s", got)
	}
	if got := plain(t, dir, "log", "--format=%s %D"); got != "one HEAD -> main" {
		t.Errorf("log: %s", got)
	}
	s := openStore(t)
	r, err := s.Inspect(t.Context(), dir)
	if err != nil || r.Dirty || r.Branch != "main" {
		t.Errorf("%+v, %v", r, err)
	}
	tree := cut(t, mirrorOf(t, s, dir), "HEAD")
	for name, want := range map[string]string{"a/b.txt": "b\r\n", "kept": "new\n", "run.sh": "#!/bin/sh\n"} {
		if b, err := os.ReadFile(filepath.Join(tree.Dir, name)); string(b) != want {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Init(ended, t.TempDir(), map[string][]byte{"a": nil}, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func TestScratch(t *testing.T) {
	tree := cut(t, mirrorOf(t, openStore(t), repository(t, map[string]string{"a.txt": "a\n"})), "HEAD")
	dir, err := tree.Scratch("work")
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"x/y": "z"})
	for _, name := range []string{"work", "view", "..", "owner.json"} {
		if _, err := tree.Scratch(name); err == nil {
			t.Errorf("%q was made", name)
		}
	}
	if err := tree.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder outlives its tree: %v", err)
	}
}
