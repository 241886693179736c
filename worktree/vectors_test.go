package worktree

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A vector is a way in which a repository makes git start a program. Each is planted twice: the control shows that
// plain git fires it, and then everything that this package does to a repository must leave it dead.
type vector struct{ name, plant, control string }

// readVectors reads testdata/vectors.txt, which says what it is.
func readVectors(t *testing.T) (all []vector) {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(b), "\n== ")
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		plant, control, ok := strings.Cut(text, "\n-- control\n")
		if !ok {
			t.Fatalf("%s has no control", name)
		}
		all = append(all, vector{name, parts[0] + "\n" + plant, parts[0] + "\n" + control})
	}
	return all
}

// shell runs a vector's text in a repository.
func shell(repo, tmp, mark, fire, text string) error {
	cmd := exec.Command("sh", "-ec", text)
	cmd.Dir = repo
	cmd.Env = append(plainEnv(repo), "MARK="+mark, "FIRE="+fire, "TMP="+tmp)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// script makes a program that leaves a mark, and answers what git wants to hear of it.
func script(t *testing.T, mark, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fire.sh")
	text := "#!/bin/sh\necho fired >> '" + mark + "'\n" + body + "\n"
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func hook(t *testing.T, dir, fire string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\nexec '"+fire+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

var hooks = []string{"post-checkout", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change",
	"reference-transaction", "post-merge", "pre-auto-gc", "post-rewrite", "update", "post-update", "pre-receive", "post-receive"}

// loudly runs plain git where it does not matter how it ends.
func loudly(t *testing.T, repo string, args ...string) { _, _ = try1(t, repo, nil, args...) }

func config(t *testing.T, repo string, kv ...string) {
	t.Helper()
	for i := 0; i < len(kv); i += 2 {
		plain(t, repo, "config", "--", kv[i], kv[i+1])
	}
}

func commitWith(t *testing.T, repo, name, text string) {
	t.Helper()
	writeFiles(t, repo, map[string]string{name: text})
	plain(t, repo, "add", "-A")
	plain(t, repo, "commit", "-q", "-m", "more")
}

// everything does to a repository whatever this package can do. Refusals are fine, since the vector may stand in the
// way of honest work; firing is not.
func everything(t *testing.T, repo string, gitFlags ...string) {
	t.Helper()
	everythingWith(t, openStore(t), repo, "redraft/fix-a", gitFlags...)
}

func everythingWith(t *testing.T, s *Store, repo, branch string, gitFlags ...string) {
	t.Helper()
	ctx := t.Context()
	if _, err := Inspect(ctx, s.git, repo); err != nil {
		t.Error(err)
	}
	r, err := s.Inspect(ctx, repo)
	if err != nil {
		t.Error(err)
	}
	m, err := s.Mirror(ctx, repo)
	if err != nil {
		t.Fatal(err)
	}
	tree := cut(t, m, "HEAD")
	if _, err := tree.Seal(ctx, "root"); err != nil {
		t.Error(err)
	}
	sha, _, err := m.Commit(ctx, m.Head(), []File{{Path: "a.txt", Data: []byte("repaired on " + branch)}, {Path: "new", Data: []byte("n\n")}}, someone)
	if err != nil {
		t.Error(err)
	}
	if err := m.Deliver(ctx, repo, branch, sha, ""); err != nil {
		t.Error(err)
	}
	if got := plain(t, repo, append(gitFlags, "-c", "core.fsmonitor=false", "rev-parse", "refs/heads/"+branch)...); !strings.Contains(got, sha) {
		t.Errorf("the branch stands at %s, want %s", got, sha)
	}
	_ = s.ApplyToCheckout(ctx, r, sha)
	if err := tree.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestVectors(t *testing.T) {
	for _, v := range readVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "mark")
			fire := script(t, mark, "exit 0")
			for _, ours := range []bool{false, true} {
				repo, tmp := repository(t, map[string]string{"a.txt": "a\n"}), t.TempDir()
				if err := shell(repo, tmp, mark, fire, v.plant); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(mark); err != nil { // what planting itself fired
					t.Fatal(err)
				}
				var said error
				if ours {
					everything(t, repo)
				} else {
					said = shell(repo, tmp, mark, fire, v.control)
				}
				_, err := os.Stat(mark)
				if ours && err == nil {
					t.Error("fired")
				} else if !ours && err != nil {
					t.Skipf("REFUSED: the git of this machine does not fire it: %v", said)
				}
			}
		})
	}
}

// The operator's own configuration and environment are poisoned in the same ways on many machines.
func TestPoisonedSurroundings(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	fire := script(t, mark, "exit 0")
	home := t.TempDir()
	hook(t, filepath.Join(home, "hooks"), fire, hooks...)
	writeFiles(t, home, map[string]string{
		".gitconfig":             "[core]\n\tfsmonitor = " + fire + "\n\thooksPath = " + home + "/hooks\n[filter \"e\"]\n\tclean = " + fire + "\n",
		".config/git/attributes": "* filter=e\n",
	})
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	env := map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere",
		"GIT_INDEX_FILE": "/nowhere/index", "GIT_OBJECT_DIRECTORY": "/nowhere/objects", "GIT_EXTERNAL_DIFF": fire, "GIT_SSH_COMMAND": fire,
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + fire + "'", "GIT_TRACE": mark + ".trace", "GIT_TRACE2_EVENT": mark + ".trace2",
		"GIT_EXEC_PATH": home, "GIT_TEMPLATE_DIR": home, "GIT_CONFIG_COUNT": "x", "GIT_NAMESPACE": "n", "GIT_CEILING_DIRECTORIES": "/"}
	if _, err := try1(t, repo, []string{"HOME=" + home}, "status"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the control did not fire: %v", err)
	}
	for k, v := range env {
		t.Setenv(k, v)
	}
	everything(t, repo)
	for _, p := range []string{mark, mark + ".trace", mark + ".trace2"} {
		if _, err := os.Stat(p); err == nil {
			t.Errorf("%s was written", filepath.Base(p))
		}
	}
}

// A partial clone fetches what it lacks from wherever its configuration says, with a program that it names.
func TestLazyFetch(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	fire := script(t, mark, "exit 1")
	origin := repository(t, map[string]string{"a.txt": "a\n"})
	commitWith(t, origin, "a.txt", "b\n")
	config(t, origin, "uploadpack.allowFilter", "true", "uploadpack.allowAnySHA1InWant", "true")
	dir := filepath.Join(realTemp(t), "partial")
	plain(t, filepath.Dir(dir), "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+origin, dir)
	blob := plain(t, origin, "rev-parse", "HEAD:a.txt")
	config(t, dir, "remote.origin.uploadpack", fire)
	loudly(t, dir, "cat-file", "-p", blob)
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the control did not fire: %v", err)
	}
	s := openStore(t)
	if _, err := s.Inspect(t.Context(), dir); err != nil {
		t.Error(err)
	}
	_, err := s.Mirror(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "partial clone") {
		t.Errorf("mirror of a partial clone that lacks a blob: %v", err)
	}
	config(t, dir, "remote.origin.uploadpack", "git-upload-pack")
	plain(t, dir, "checkout", "-q", "main") // brings the files of HEAD, and of nothing before it
	config(t, dir, "remote.origin.uploadpack", fire)
	everything(t, dir)
	if _, err := os.Stat(mark); err == nil {
		t.Error("fired")
	}
}

// What serves a fetch reads its hook from the operator's configuration alone, and not even from there here.
func TestPackObjectsHook(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	fire := script(t, mark, "shift 0; exec \"$@\"")
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	config(t, repo, "uploadpack.packObjectsHook", fire)
	writeFiles(t, filepath.Dir(repo), map[string]string{".gitconfig": "[uploadpack]\n\tpackObjectsHook = " + fire + "\n"})
	plain(t, repo, "clone", "-q", "--no-local", repo, filepath.Join(t.TempDir(), "c"))
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the control did not fire: %v", err)
	}
	t.Setenv("HOME", filepath.Dir(repo))
	everything(t, repo)
	if _, err := os.Stat(mark); err == nil {
		t.Error("fired")
	}
}

// What serves a fetch is started by git, which strips the hardening from its environment.
func TestServerIsHardened(t *testing.T) {
	real := openGit(t)
	seen := filepath.Join(t.TempDir(), "seen")
	g, err := OpenGit(fakeGit(t, t.TempDir(), `[ "$1" = upload-pack ] && env > '`+seen+`'; exec '`+real.Path()+`' "$@"`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(g, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	mirrorOf(t, s, repository(t, map[string]string{"a.txt": "a\n"}))
	b, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GIT_ALLOW_PROTOCOL=none", fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(hardening)), "GIT_CONFIG_KEY_0=" + hardening[0][0], "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_NOSYSTEM=1"} {
		if !strings.Contains(string(b), want+"\n") {
			t.Errorf("it is not given %s", want)
		}
	}
}

// A mirror has objects of its own: one that borrows them reads whatever the repository points at, and breaks with it.
func TestAlternates(t *testing.T) {
	origin := repository(t, map[string]string{"a.txt": "a\n"})
	repo := filepath.Join(realTemp(t), "borrower")
	plain(t, filepath.Dir(repo), "clone", "-q", "--shared", origin, repo)
	control := filepath.Join(realTemp(t), "control.git")
	plain(t, repo, "clone", "-q", "--bare", "--local", repo, control)
	s := openStore(t)
	m := mirrorOf(t, s, repo)
	if err := os.RemoveAll(origin); err != nil {
		t.Fatal(err)
	}
	if out, err := try1(t, control, nil, "cat-file", "-p", "HEAD"); err == nil {
		t.Errorf("the control does not depend on what it borrowed: %s", out)
	}
	tree := cut(t, m, "HEAD")
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); string(b) != "a\n" {
		t.Errorf("a.txt is %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(m.Dir(), "objects", "info", "alternates")); err == nil {
		t.Error("the mirror borrows objects")
	}
}

// A branch may be called like an option: git's porcelain refuses to make one, its plumbing does not.
func TestBranchLikeAnOption(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	commitWith(t, repo, "a.txt", "b\n")
	out := filepath.Join(t.TempDir(), "written")
	name := "--output=" + out
	plain(t, repo, "update-ref", "refs/heads/"+name, "HEAD~1")
	plain(t, repo, "symbolic-ref", "HEAD", "refs/heads/"+name)
	plain(t, repo, "diff", name)
	if err := os.Remove(out); err != nil {
		t.Fatalf("the control wrote nothing: %v", err)
	}
	s := openStore(t)
	r, err := s.Inspect(t.Context(), repo)
	if err != nil || r.Branch != name {
		t.Errorf("branch %q, %v", r.Branch, err)
	}
	m := mirrorOf(t, s, repo)
	sha, err := m.Resolve(t.Context(), name)
	if err != nil || sha != m.Head() {
		t.Errorf("resolve: %s, %v; want %s", sha, err, m.Head())
	}
	for _, bad := range []string{name, "-q", "--all", "", "main^{tree}", "no-such", "main\x00", "main..HEAD", ":/one", "@{-1}"} {
		if _, err := m.Cut(t.Context(), bad); err == nil {
			t.Errorf("cut %q succeeded", bad)
		}
		if err := m.Deliver(t.Context(), repo, bad, m.Head(), ""); err == nil {
			t.Errorf("delivered to %q", bad)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}

// What ran near a tree may have rewritten its .git file to a repository of its own making.
func TestRewrittenDotGit(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	fire := script(t, mark, "exit 0")
	evil := repository(t, map[string]string{"a.txt": "a\n"})
	hook(t, filepath.Join(evil, ".git/hooks"), fire, hooks...)
	config(t, evil, "core.fsmonitor", fire)
	s := openStore(t)
	m := mirrorOf(t, s, repository(t, map[string]string{"a.txt": "a\n"}))
	tree := cut(t, m, "HEAD")
	victim := filepath.Join(realTemp(t), "victim")
	writeFiles(t, victim, map[string]string{"keep": "keep\n"})
	for _, pointer := range []string{filepath.Join(evil, ".git"), victim} {
		if err := os.WriteFile(filepath.Join(tree.Dir, ".git"), []byte("gitdir: "+pointer+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, ".git"), []byte("gitdir: "+evil+"/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	loudly(t, tree.Dir, "status")
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the control did not fire: %v", err)
	}
	sealed, err := tree.Seal(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(sealed, ".git")); err == nil {
		t.Error("the sealed copy has a .git")
	}
	if _, _, err := m.Commit(t.Context(), m.Head(), []File{{Path: "a.txt", Data: []byte("b\n")}}, someone); err != nil {
		t.Error(err)
	}
	if err := tree.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("fired")
	}
	for _, kept := range []string{filepath.Join(evil, ".git", "HEAD"), filepath.Join(victim, "keep")} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("closing the tree removed what its .git named: %v", err)
		}
	}
	books, err := os.ReadDir(filepath.Join(m.Dir(), "worktrees"))
	if err != nil && !os.IsNotExist(err) || len(books) > 0 {
		t.Errorf("%d records of trees left: %v", len(books), err)
	}
}

// A mirror belongs to nobody who is in the tree: no configuration of the repository gets into it.
func TestMirrorHoldsNoConfiguration(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	config(t, repo, "core.fsmonitor", "x", "alias.st", "!x", "remote.origin.url", "ext::x")
	hook(t, filepath.Join(repo, ".git/hooks"), "/bin/true", hooks...)
	m := mirrorOf(t, openStore(t), repo)
	err := filepath.WalkDir(m.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "hooks" {
			err = fmt.Errorf("the mirror has hooks")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	b, err := os.ReadFile(filepath.Join(m.Dir(), "config"))
	if err != nil || strings.Contains(string(b), "fsmonitor") || strings.Contains(string(b), "remote") {
		t.Errorf("the mirror's configuration: %s, %v", b, err)
	}
}
