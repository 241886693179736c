package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInspect(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c/d.txt": "d\n", ".gitignore": "*.o\n"})
	head := plain(t, repo, "rev-parse", "HEAD")
	clean := Repo{Dir: repo, Prefix: ".", GitDir: repo + "/.git", CommonDir: repo + "/.git", Branch: "main", Head: head}
	linked := filepath.Join(filepath.Dir(repo), "linked")
	tests := []struct {
		name string
		do   func(t *testing.T)
		dir  string
		want func(r *Repo)
	}{
		{"clean", func(t *testing.T) {}, ".", func(r *Repo) {}},
		{"a folder below", func(t *testing.T) {}, "c", func(r *Repo) { r.Prefix = "c" }},
		{"changed, staged, removed, untracked, ignored", func(t *testing.T) {
			writeFiles(t, repo, map[string]string{"a.txt": "x\n", "new/1": "", "new/2": "", "x.o": "", "n.txt": ""})
			plain(t, repo, "rm", "-q", "b.txt")
		}, ".", func(r *Repo) { r.Dirty, r.Changed, r.Untracked = true, 2, 2 }},
		{"an ignored file of the repository's own list", func(t *testing.T) {
			writeFiles(t, repo, map[string]string{"mine": "", ".git/info/exclude": "mine\n"})
		}, ".", func(r *Repo) {}},
		{"detached", func(t *testing.T) { plain(t, repo, "checkout", "-q", "--detach") }, ".", func(r *Repo) { r.Branch = "" }},
		{"executable bit", func(t *testing.T) {
			if err := os.Chmod(repo+"/a.txt", 0o755); err != nil {
				t.Fatal(err)
			}
		}, ".", func(r *Repo) { r.Dirty, r.Changed = true, 1 }},
		{"executable bit that does not count", func(t *testing.T) {
			config(t, repo, "core.fileMode", "false")
			if err := os.Chmod(repo+"/a.txt", 0o755); err != nil {
				t.Fatal(err)
			}
		}, ".", func(r *Repo) {}},
		{"split index", func(t *testing.T) {
			plain(t, repo, "update-index", "--split-index")
			writeFiles(t, repo, map[string]string{"a.txt": "x\n"})
		}, ".", func(r *Repo) { r.Dirty, r.Changed = true, 1 }},
		{"no index", func(t *testing.T) {
			if err := os.Remove(repo + "/.git/index"); err != nil {
				t.Fatal(err)
			}
		}, ".", func(r *Repo) { r.Dirty, r.Changed, r.Untracked = true, 4, 4 }},
		{"linked", func(t *testing.T) { plain(t, repo, "worktree", "add", "-q", "-b", "side", linked) }, "../linked", func(r *Repo) {
			*r = Repo{Dir: linked, Prefix: ".", GitDir: repo + "/.git/worktrees/linked", CommonDir: repo + "/.git", Branch: "side", Head: head}
		}},
	}
	pristine := filepath.Join(t.TempDir(), "pristine")
	if _, err := Copy(t.Context(), repo, pristine); err != nil {
		t.Fatal(err)
	}
	s := openStore(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.do(t)
			want := clean
			tt.want(&want)
			inspectTwice(t, s, filepath.Dir(repo), filepath.Join(repo, tt.dir), want)
			if err := removeAll(repo); err != nil {
				t.Fatal(err)
			}
			if _, err := Copy(t.Context(), pristine, repo); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// inspectTwice inspects by the store and without one, and sees that neither writes below top or leaves anything.
func inspectTwice(t *testing.T, s *Store, top, dir string, want Repo) {
	t.Helper()
	before := listing(t, top)
	got, err := s.Inspect(t.Context(), dir)
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	again, err := Inspect(t.Context(), s.git, dir)
	if err != nil || !cmp.Equal(got, again) {
		t.Errorf("%+v, %v", again, err)
	}
	if d := cmp.Diff(before, listing(t, top)); d != "" {
		t.Errorf("inspecting wrote to the repository:\n%s", d)
	}
	if left := leftovers(t, s); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestInspectErrors(t *testing.T) {
	g := openGit(t)
	top := realTemp(t)
	empty := filepath.Join(top, "empty")
	plain(t, top, "init", "-q", "-b", "trunk", empty)
	plain(t, top, "init", "-q", "--bare", "bare.git")
	plain(t, top, "init", "-q", "--object-format=sha256", "long")
	writeFiles(t, top, map[string]string{"file": "", "none/x": "", "badfile/.git": "gitdir: /no/such\n", "nofile/.git": "hello\n", "loop/.git": "gitdir: .git\n"})
	tests := []struct {
		dir  string
		is   error
		text string
	}{
		{"none", ErrNotRepository, "not a git repository"},
		{"empty", ErrNoCommits, "no commits"},
		{"bare.git", ErrNotRepository, "bare"},
		{"badfile", ErrNotRepository, "missing"},
		{"nofile", ErrNotRepository, "names no folder"},
		{"loop", ErrNotRepository, "no git directory"},
		{"file", nil, "not a folder"},
		{"missing", os.ErrNotExist, "no such file"},
		{"long", nil, "sha256"},
	}
	for _, tt := range tests {
		r, err := Inspect(t.Context(), g, filepath.Join(top, tt.dir))
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %v and %q", tt.dir, err, tt.is, tt.text)
		}
		if r.Empty != (tt.dir == "empty") || r.Empty && r.Branch != "trunk" {
			t.Errorf("%s: %+v", tt.dir, r)
		}
	}
}

// A folder deep in a checkout that only looks like a bare repository is content, not a repository.
func TestEmbeddedBareRepository(t *testing.T) {
	repo := repository(t, map[string]string{"x/HEAD": "ref: refs/heads/main\n", "x/objects/a": "", "x/refs/a": "", "x/config": "[core]\n\tbare = true\n"})
	r, err := Inspect(t.Context(), openGit(t), filepath.Join(repo, "x"))
	if err != nil || r.Dir != repo || r.Prefix != "x" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A change in the very second in which git wrote its index is seen only by an index of the right age.
func TestInspectRacyChange(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	info, err := os.Stat(repo + "/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, repo, map[string]string{"a.txt": "b\n"})
	old := info.ModTime()
	if err := errors.Join(os.Chtimes(repo+"/a.txt", old, old), os.Chtimes(repo+"/.git/index", old, old)); err != nil {
		t.Fatal(err)
	}
	config(t, repo, "core.trustctime", "false", "core.checkStat", "minimal")
	time.Sleep(time.Until(old.Add(1100 * time.Millisecond)))
	r, err := Inspect(t.Context(), openGit(t), repo)
	if err != nil || r.Changed != 1 {
		t.Errorf("changed %d, %v", r.Changed, err)
	}
}

// Line endings that the repository asks for are no change, though a filter never runs.
func TestInspectLineEndings(t *testing.T) {
	repo := repository(t, map[string]string{".gitattributes": "*.bat text eol=crlf\n*.txt text\n", "x.bat": "one\r\ntwo\r\n", "y.txt": "y\n"})
	future := time.Now().Add(time.Hour)
	for _, name := range []string{"/x.bat", "/y.txt"} {
		if err := os.Chtimes(repo+name, future, future); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Inspect(t.Context(), openGit(t), repo)
	if err != nil || r.Dirty {
		t.Errorf("%+v, %v", r, err)
	}
	writeFiles(t, repo, map[string]string{"x.bat": "one\r\ntwo\r\nthree\r\n"})
	if r, err = Inspect(t.Context(), openGit(t), repo); err != nil || r.Changed != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
