package worktree

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sealedOf is a sealed copy of a repository's HEAD, and copies of it.
func sealedOf(t *testing.T, repo string) (*Tree, *Copies) {
	t.Helper()
	tree := cut(t, mirrorOf(t, openStore(t), repo), "HEAD")
	sealed, err := tree.Seal(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	into, err := tree.Scratch("fresh")
	if err != nil {
		t.Fatal(err)
	}
	return tree, &Copies{From: sealed, Into: into, Links: tree.Links}
}

func fresh(t *testing.T, c *Copies) string {
	t.Helper()
	dir, _, err := c.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func throwaway(t *testing.T, c *Copies, dir string) (remove func() error) {
	t.Helper()
	remove, err := c.Repository(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return remove
}

// oddTree is a repository of everything that git's formats treat in a way of its own.
func oddTree(t *testing.T) string {
	t.Helper()
	repo := repository(t, map[string]string{
		"a": "a\n", "a-b": "x", "a.b/c": "c\n", "a0/x": "x\n", "ab/c/d/e": "e\n", "empty": "", "run.sh*": "#!/bin/sh\n", "same": "a\n",
		"line\nbreak": "n\n", "latin-\xe9": "l\n", "quo\"te": "q\n", "Case": "1\n", "case": "2\n", ".gitignore": "*.log\n",
		".gitattributes":              "* text=auto eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.bin filter=lfs diff=lfs merge=lfs -text\n",
		"crlf.txt":                    "one\r\ntwo\n",
		"x.id":                        "$Id$\n",
		strings.Repeat("n", 200):      "n\n",
		strings.Repeat("deep/", 60):   "",
		"sub.txt":                     "s\n",
		"dir/.gitignore":              "*\n",
		"z" + strings.Repeat("/z", 9): "z\n",
	})
	writeFiles(t, repo, map[string]string{"kept.log": "tracked and ignored\n", "x.u16": "no UTF-16\n"})
	plain(t, repo, "-c", "core.attributesFile=/dev/null", "add", "-f", "kept.log", "dir/.gitignore")
	blob := plain(t, repo, "hash-object", "-w", "--no-filters", "x.u16")
	plain(t, repo, "update-index", "--add", "--cacheinfo", "100644,"+blob+",x.u16")
	plain(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+plain(t, repo, "rev-parse", "HEAD")+",module")
	if err := os.Symlink("/etc/passwd", filepath.Join(repo, "out")); err != nil {
		t.Fatal(err)
	}
	plain(t, repo, "add", "out")
	big := make([]byte, bigFile+12345)
	_, _ = rand.Read(big)
	if err := os.WriteFile(filepath.Join(repo, "big"), big, 0o644); err != nil {
		t.Fatal(err)
	}
	plain(t, repo, "add", "big")
	plain(t, repo, "commit", "-q", "-m", "odd")
	return repo
}

// TestThrowaway holds a throw-away repository against git's own idea of one.
func TestThrowaway(t *testing.T) {
	tree, copies := sealedOf(t, oddTree(t))
	dir := fresh(t, copies)
	remove := throwaway(t, copies, dir)
	git := func(args ...string) string { t.Helper(); return plain(t, dir, args...) }
	git("fsck", "--full", "--strict")
	git("verify-pack", filepath.Join(".git", "objects", "pack", "pack-files.idx"))
	if got := git("rev-parse", "HEAD^{tree}"); got != tree.TreeID {
		t.Errorf("its tree is %s, want %s", got, tree.TreeID)
	}
	for _, args := range [][]string{{"status", "--porcelain"}, {"diff", "--exit-code"}, {"diff-index", "--exit-code", "HEAD", "--"}, {"diff-files", "--exit-code"}, {"stash", "list"}, {"remote"}, {"tag"}} {
		if got := git(args...); got != "" {
			t.Errorf("git %v: %q", args, got)
		}
	}
	if got := git("rev-list", "--count", "--all") + " " + git("branch", "--show-current"); got != "1 main" {
		t.Errorf("commits and branch: %q", got)
	}
	if got := git("log", "-1", "--format=%an %ae %ad %cn %cd %P", "--date=iso"); got != "redraft redraft@localhost 2001-09-09 01:46:40 +0000 redraft 2001-09-09 01:46:40 +0000 " {
		t.Errorf("the commit: %q", got)
	}
	entries, err := os.ReadDir(filepath.Join(dir, ".git"))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); err != nil || got != "HEAD config index info objects refs" {
		t.Errorf(".git holds %s, %v", got, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		t.Error(".git is still there")
	}
}

// TestThrowawaySees changes each kind of thing after the repository was made, at once, and asks git.
func TestThrowawaySees(t *testing.T) {
	_, copies := sealedOf(t, repository(t, map[string]string{"a.txt": "abc\n", "b.txt": "b\n", "run.sh*": "#!/bin/sh\n"}))
	for name, change := range map[string]func(dir string) error{
		"M a.txt":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.txt"), []byte("abd\n"), 0o644) }, // the same size
		"D b.txt":  func(dir string) error { return os.Remove(filepath.Join(dir, "b.txt")) },
		"M run.sh": func(dir string) error { return os.Chmod(filepath.Join(dir, "run.sh"), 0o644) },
		"? new":    func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o644) },
	} {
		dir := fresh(t, copies)
		// A file that the patch has just written: the check may change it again within the same second.
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("abx\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		throwaway(t, copies, dir)
		if got := plain(t, dir, "status", "--porcelain"); got != "" {
			t.Errorf("before the change: %q", got)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if got := plain(t, dir, "status", "--porcelain"); !strings.Contains(got, name) {
			t.Errorf("%q, want %q", got, name)
		}
	}
}

// TestThrowawayAgain is a copy that was changed between two runs, by the first of them in the worst way.
func TestThrowawayAgain(t *testing.T) {
	_, copies := sealedOf(t, repository(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n"}))
	mark := filepath.Join(t.TempDir(), "mark")
	fire := script(t, mark, "exit 0")
	dir := fresh(t, copies)
	throwaway(t, copies, dir)
	config(t, dir, "core.fsmonitor", fire)
	hook(t, filepath.Join(dir, ".git", "hooks"), fire, hooks...)
	loudly(t, dir, "status")
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the control did not fire: %v", err)
	}
	writeFiles(t, dir, map[string]string{"a.txt": "changed\n", "d/.git/config": "[core]\n\tfsmonitor = " + fire + "\n", "left": "left\n"})
	remove := throwaway(t, copies, dir)
	if got := plain(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status: %q", got)
	}
	if got := plain(t, dir, "show", "HEAD:a.txt"); got != "changed" {
		t.Errorf("a.txt is %q", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("fired")
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	victim := t.TempDir()
	writeFiles(t, victim, map[string]string{"HEAD": "x"})
	if err := os.Symlink(victim, filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	throwaway(t, copies, dir)
	if b, err := os.ReadFile(filepath.Join(victim, "HEAD")); string(b) != "x" || err != nil {
		t.Errorf("what a link in .git's place named holds %q, %v", b, err)
	}
}

// The same files make the same commit, in any copy and at any time.
func TestThrowawayIsTheSame(t *testing.T) {
	_, copies := sealedOf(t, repository(t, map[string]string{"a.txt": "a\n"}))
	seen := map[string]bool{}
	for range 3 {
		dir := fresh(t, copies)
		throwaway(t, copies, dir)
		seen[plain(t, dir, "rev-parse", "HEAD")] = true
		time.Sleep(5 * time.Millisecond)
	}
	if len(seen) != 1 {
		t.Errorf("%d commits, want one: %v", len(seen), seen)
	}
}

func TestPackHeader(t *testing.T) {
	for size, want := range map[int64]string{0: "30", 15: "3f", 16: "b001", 2047: "bf7f", 2048: "b08001", 1 << 32: "b08080808001"} {
		if got := fmt.Sprintf("%x", packHeader(packedBlob, size)); got != want {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
}

// A pack of more than 2 GiB has a table of its own for far offsets.
func TestPackIndexFar(t *testing.T) {
	b := packIndex([]packedAt{{name: name20{1}, offset: 12}, {name: name20{2}, offset: 5 << 30}}, make([]byte, 20))
	tail := b[8+256*4+2*20+2*4:]
	if want := []byte{0, 0, 0, 12, 0x80, 0, 0, 0, 0, 0, 0, 1, 0x40, 0, 0, 0}; !bytes.HasPrefix(tail, want) {
		t.Errorf("offsets: %x", tail[:16])
	}
}
