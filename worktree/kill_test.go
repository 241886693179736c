package worktree

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start runs this test binary as another process that uses the store.
func start(t *testing.T, mode, store, repo string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WORKTREE_TEST_HELPER="+mode, "WORKTREE_TEST_STORE="+store, "WORKTREE_TEST_REPO="+repo)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("helper said %q, %v", line, err)
	}
	return cmd
}

// leftovers lists what nobody owns any more.
func leftovers(t *testing.T, s *Store) []string {
	t.Helper()
	var left []string
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, _ := filepath.Rel(s.dir, path)
		parts := strings.Split(rel, "/")
		switch {
		case (parts[0] == "trees" || parts[0] == "tmp") && len(parts) == 2,
			len(parts) == 4 && parts[2] == "worktrees",
			strings.HasSuffix(rel, ".lock"), strings.Contains(rel, ".new-"),
			strings.HasPrefix(e.Name(), "tmp_"), strings.HasPrefix(e.Name(), ".tmp-"):
			left = append(left, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func TestKilledAtAnyPoint(t *testing.T) {
	files := map[string]string{"a.txt": "a\n"}
	for i := range 150 { // enough for a checkout to be met half way
		files[filepath.Join("d", string(rune('a'+i%26)), strings.Repeat("f", 1+i/26))] = strings.Repeat("x", 100*i)
	}
	repo := repository(t, files)
	dir := filepath.Join(realTemp(t), "state")
	rng := rand.New(rand.NewPCG(1, 2))
	dirty := 0
	for range 30 {
		cmd := start(t, "forever", dir, repo)
		time.Sleep(time.Duration(rng.IntN(150)) * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if s, err := open(openGit(t), dir); err == nil && len(leftovers(t, s)) > 0 {
			dirty++
		}
		s, err := Open(openGit(t), dir)
		if err != nil {
			t.Fatal(err)
		}
		if left := leftovers(t, s); len(left) > 0 {
			t.Fatalf("left after a kill: %q", left)
		}
	}
	if dirty < 5 {
		t.Errorf("only %d of 30 kills left anything to clear, so this test shows little", dirty)
	}
	s, err := Open(openGit(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := cycle(t.Context(), s, repo, 0); err != nil {
		t.Error(err)
	}
	for _, git := range []string{mirrorOf(t, s, repo).Dir(), filepath.Join(repo, ".git")} {
		plain(t, repo, "--git-dir="+git, "fsck", "--connectivity-only", "--no-dangling")
		for ref := range strings.SplitSeq(plain(t, repo, "--git-dir="+git, "for-each-ref", "--format=%(refname)"), "\n") {
			if ref != "refs/heads/main" && !strings.HasPrefix(ref, "refs/heads/redraft/fix-x") && !strings.HasPrefix(ref, "refs/redraft/head/") {
				t.Errorf("%s has a ref %s", git, ref)
			}
		}
	}
}

// Several processes work in one store while others clear it.
func TestSeveralProcesses(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n", "b/c.txt": "c\n"})
	dir := filepath.Join(realTemp(t), "state")
	helpers := []*exec.Cmd{start(t, "some", dir, repo), start(t, "some", dir, repo), start(t, "some", dir, repo)}
	stop := time.After(2 * time.Second)
	for n := 0; ; n++ {
		if _, err := Open(openGit(t), dir); err != nil {
			t.Error(err)
			break
		}
		select {
		case <-stop:
		case <-time.After(20 * time.Millisecond):
			continue
		}
		break
	}
	for _, h := range helpers {
		if err := h.Wait(); err != nil {
			t.Errorf("a helper failed: %v", err)
		}
	}
	s, err := Open(openGit(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, s); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if n := strings.Count(plain(t, repo, "for-each-ref", "refs/heads/redraft"), "\n") + 1; n != 15 {
		t.Errorf("%d branches, want 15", n)
	}
}

func TestOpenKeepsWhatIsOwned(t *testing.T) {
	s := openStore(t)
	tree := cut(t, mirrorOf(t, s, repository(t, map[string]string{"a.txt": "a\n"})), "HEAD")
	if _, err := Open(openGit(t), s.Dir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tree.Dir, "a.txt")); err != nil {
		t.Errorf("Open removed a tree that is in use: %v", err)
	}
}

// A store is found as a power cut or an older program may leave it.
func TestOpenHeals(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	plain(t, repo, "branch", "tmp_honest")
	s := openStore(t)
	m := mirrorOf(t, s, repo)
	writeFiles(t, s.Dir(), map[string]string{
		"trees/old/view/x":              "x",
		"trees/stray-file":              "x",
		"trees/torn/owner.json":         "{",
		"tmp/old/owner.json":            `{"pid":1}`,
		"mirrors/" + "x.git.new-1/HEAD": "x",
		"mirrors/x.guard":               "",
	})
	writeFiles(t, m.Dir(), map[string]string{
		"packed-refs.lock": "", "refs/heads/main.lock": "", "shallow.lock": "", "config.lock": "",
		"objects/pack/tmp_pack_1": "", "objects/pack/.tmp-1-pack-2.pack": "", "objects/aa/tmp_obj_1": "", "objects/tmp_objdir-incoming-1/aa/b": "",
		"worktrees/view9/gitdir": "/no/such/view/.git\n", "worktrees/view9/locked": "initializing", "worktrees/view8/locked": "initializing",
	})
	if err := os.Chmod(filepath.Join(s.Dir(), "trees/old/view"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(openGit(t), s.Dir()); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, s); len(left) != 1 || left[0] != "mirrors/"+filepath.Base(m.Dir())+"/refs/heads/tmp_honest" {
		t.Errorf("left: %q, want the branch tmp_honest alone", left)
	}
	info, err := os.Stat(s.Dir())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A mirror that a power cut has broken is made again, unless trees still hang on it.
func TestBrokenMirror(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	s := openStore(t)
	breakIt := func(m *Mirror) {
		t.Helper()
		if err := os.Truncate(filepath.Join(m.Dir(), "refs/heads/main"), 0); err != nil {
			t.Fatal(err)
		}
		packs, _ := filepath.Glob(filepath.Join(m.Dir(), "objects/??/*"))
		more, _ := filepath.Glob(filepath.Join(m.Dir(), "objects/pack/*"))
		for _, p := range append(packs, more...) {
			if err := errors.Join(os.Chmod(p, 0o600), os.Truncate(p, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	m := mirrorOf(t, s, repo)
	tree := cut(t, m, "HEAD")
	breakIt(m)
	if _, err := s.Mirror(t.Context(), repo); err == nil {
		t.Error("a broken mirror with a tree was replaced")
	}
	if err := tree.Close(t.Context()); err != nil {
		t.Error(err)
	}
	again := cut(t, mirrorOf(t, s, repo), "HEAD")
	if b, err := os.ReadFile(filepath.Join(again.Dir, "a.txt")); string(b) != "a\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestCancelled(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[filepath.Join("d", strings.Repeat("n", 1+i%50), string(rune('a'+i/50)))] = strings.Repeat("x", 2000)
	}
	repo := repository(t, files)
	s := openStore(t)
	m := mirrorOf(t, s, repo)
	sha := m.Head()
	failed := 0
	for wait := time.Duration(0); wait < 60*time.Millisecond; wait += 3 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		tree, err := m.Cut(ctx, sha)
		if err != nil {
			failed++
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", wait, err)
			}
		} else {
			<-ctx.Done()
			if _, err := tree.Seal(ctx, "root"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("seal: %v", err)
			}
			if err := tree.Close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		cancel()
		if left := leftovers(t, s); len(left) > 0 {
			t.Fatalf("left when cancelled after %v: %q", wait, left)
		}
	}
	if failed == 0 {
		t.Error("no cut was cancelled, so this test shows little")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := s.Mirror(ctx, repo); err == nil || !strings.HasSuffix(err.Error(), "enough") {
		t.Errorf("mirror: %v", err)
	}
}

// A git child that outlives us holds on to our locks, so that nobody clears away what it still writes.
func TestLocksOutliveUs(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("REFUSED: no /proc to see a child's descriptors in")
	}
	seen := filepath.Join(t.TempDir(), "seen")
	body := `for a; do case $a in add|read-tree|fetch|pack-objects|write-tree) echo "$a" $(for f in /proc/$$/fd/*; do readlink $f; done) >> '` + seen + `';; esac; done; exec '` + openGit(t).Path() + `' "$@"`
	g, err := OpenGit(fakeGit(t, t.TempDir(), body))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(g, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cycle(t.Context(), s, repository(t, map[string]string{"a.txt": "a\n"}), 0); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if !strings.Contains(line, ".guard") {
			t.Errorf("a child without its lock: %s", line)
		}
	}
	if n := strings.Count(string(b), ownerFile); n != 2 {
		t.Errorf("%d children hold their tree's owner file, want the 2 that make it:\n%s", n, b)
	}
	if n := strings.Count(string(b), "\n"); n != 6 {
		t.Errorf("%d children seen, want 6:\n%s", n, b)
	}
}
