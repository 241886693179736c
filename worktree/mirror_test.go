package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// odd is content that git would change on the way to the disk, under names that it would quote.
var odd = map[string]string{
	".gitattributes":     "* text=auto\n*.bat text eol=crlf\n*.u16 working-tree-encoding=UTF-16\n*.id ident\n*.f filter=lfs diff=lfs merge=lfs\n",
	"crlf.txt":           "one\r\ntwo\r\n",
	"mixed.bat":          "one\r\ntwo\nthree\r",
	"lf.bat":             "one\ntwo\n",
	"wide.u16":           "plain\n",
	"keyword.id":         "$Id$ $Id: x $\n",
	"large.f":            "version https://git-lfs.github.com/spec/v1\n",
	"latin\xe9.txt":      "\xff\xfe\x00\n",
	"tab\tquote\"\n.txt": "",
	"dir é/run.sh*":      "#!/bin/sh\n",
	"no-newline":         "x",
	"bom":                "\xef\xbb\xbfx\n",
	"-q":                 "like an option\n",
	":(top)x":            "like a pathspec\n",
}

// oddRepository holds odd as plain blobs, which no filter or line ending of git's has touched, and links.
func oddRepository(t *testing.T) (repo string) {
	t.Helper()
	repo = repository(t, map[string]string{"x": ""})
	config(t, repo, "core.autocrlf", "false")
	writeFiles(t, repo, map[string]string{".git/info/attributes": "* -text !eol -ident -filter !working-tree-encoding\n"})
	writeFiles(t, repo, odd)
	for name, target := range map[string]string{"link": "crlf.txt", "out": "/etc/passwd", "dangling": "no/such"} {
		if err := os.Symlink(target, filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	plain(t, repo, "add", "-A")
	plain(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",vendor/sub")
	plain(t, repo, "commit", "-q", "-m", "odd")
	if err := os.Remove(filepath.Join(repo, ".git/info/attributes")); err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestCutIsByteForByte(t *testing.T) {
	repo := oddRepository(t)
	control := filepath.Join(t.TempDir(), "control")
	plain(t, repo, "-c", "filter.lfs.smudge=tr a-z A-Z", "worktree", "add", "-q", "--detach", control)
	same := 0
	for name, want := range odd {
		b, err := os.ReadFile(filepath.Join(control, strings.TrimSuffix(name, "*")))
		if err == nil && string(b) == want {
			same++
		}
	}
	if same > len(odd)-4 {
		t.Errorf("the control changes only %d files", len(odd)-same)
	}
	tree := cut(t, mirrorOf(t, openStore(t), repo), "HEAD")
	sealed, err := tree.Seal(t.Context(), "root")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{tree.Dir, sealed} {
		for name, want := range odd {
			name, executable := strings.CutSuffix(name, "*")
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || string(b) != want {
				t.Errorf("%q is %q, %v; want %q", name, b, err, want)
			}
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && (info.Mode()&0o100 != 0) != executable {
				t.Errorf("%q has mode %v", name, info.Mode())
			}
		}
		if target, err := os.Readlink(filepath.Join(dir, "out")); target != "/etc/passwd" {
			t.Errorf("the link names %q, %v", target, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(sealed, ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the sealed copy has a .git")
	}
	if want := map[string]string{"vendor/sub": strings.Repeat("ab", 20)}; !cmp.Equal(tree.Links, want) {
		t.Errorf("links %v, want %v", tree.Links, want)
	}
	if want := plain(t, repo, "rev-parse", "HEAD^{tree}"); tree.TreeID != want {
		t.Errorf("tree %s, want %s", tree.TreeID, want)
	}
}

func TestSealNames(t *testing.T) {
	tree := cut(t, mirrorOf(t, openStore(t), repository(t, map[string]string{"a.txt": "a\n"})), "HEAD")
	for _, name := range []string{"", ".", "..", "view", "owner.json", "a/b", "../x", ".git", strings.Repeat("x", 65)} {
		if dir, err := tree.Seal(t.Context(), name); err == nil {
			t.Errorf("sealed as %q at %s", name, dir)
		}
	}
	if _, err := tree.Seal(t.Context(), "root"); err != nil {
		t.Error(err)
	}
	if _, err := tree.Seal(t.Context(), "root"); err == nil {
		t.Error("a copy was sealed over another")
	}
}

func TestResolve(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	one := plain(t, repo, "rev-parse", "HEAD")
	plain(t, repo, "tag", "-a", "-m", "t", "v1")
	plain(t, repo, "update-ref", "refs/remotes/origin/main", one)
	commitWith(t, repo, "a.txt", "b\n")
	two := plain(t, repo, "rev-parse", "HEAD")
	plain(t, repo, "checkout", "-q", "--detach")
	commitWith(t, repo, "a.txt", "c\n")
	three := plain(t, repo, "rev-parse", "HEAD") // on no branch
	m := mirrorOf(t, openStore(t), repo)
	tests := []struct{ rev, want string }{
		{"HEAD", three}, {"@", three}, {"HEAD~1", two}, {"HEAD^^", one}, {"@~2", one}, {"main", two}, {"refs/heads/main", two},
		{"v1", one}, {"origin/main", one}, {three, three}, {three[:12], three}, {"HEAD~3", ""}, {"nope", ""}, {"HEADER", ""}, {"HEAD:a.txt", ""},
	}
	for _, tt := range tests {
		got, err := m.Resolve(t.Context(), tt.rev)
		if got != tt.want || (tt.want == "") != errors.Is(err, ErrNoSuchCommit) {
			t.Errorf("%s: %s, %v; want %s", tt.rev, got, err, tt.want)
		}
	}
	if _, err := m.Cut(t.Context(), strings.Repeat("0", 39)+"1"); !errors.Is(err, ErrNoSuchCommit) {
		t.Errorf("cut of a commit that is not there: %v", err)
	}
}

// A mirror follows what the repository does to its branches, the rude things too.
func TestMirrorFollows(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	s := openStore(t)
	plain(t, repo, "branch", "topic")
	mirrorOf(t, s, repo)
	plain(t, repo, "branch", "-D", "topic")
	plain(t, repo, "branch", "topic/deeper")
	plain(t, repo, "commit", "-q", "--amend", "-m", "another")
	m := mirrorOf(t, s, filepath.Join(repo, ".git"))
	want := plain(t, repo, "for-each-ref", "--format=%(refname) %(objectname)")
	got := plain(t, repo, "--git-dir="+m.Dir(), "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")
	if got != want {
		t.Errorf("the mirror has\n%s\nwant\n%s", got, want)
	}
}

// Checkouts of one repository share a mirror, and each keeps its own HEAD.
func TestMirrorOfLinkedCheckouts(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	linked := filepath.Join(filepath.Dir(repo), "linked")
	plain(t, repo, "worktree", "add", "-q", "--detach", linked)
	commitWith(t, linked, "a.txt", "linked\n")
	s := openStore(t)
	a, b := mirrorOf(t, s, repo), mirrorOf(t, s, linked)
	if a.Dir() != b.Dir() || a.Head() == b.Head() {
		t.Errorf("mirrors %s %s, heads %s %s", a.Dir(), b.Dir(), a.Head(), b.Head())
	}
	for m, want := range map[*Mirror]string{a: "a\n", b: "linked\n"} {
		if got, err := m.FileAt(m.Head(), "a.txt"); string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

// CI checks out with a depth of one, and as another user than the one who runs us.
func TestMirrorOfShallowAndForeign(t *testing.T) {
	origin := repository(t, map[string]string{"a.txt": "a\n"})
	commitWith(t, origin, "a.txt", "b\n")
	commitWith(t, origin, "a.txt", "c\n")
	repo := filepath.Join(realTemp(t), `sh"al\low 'x'`)
	plain(t, filepath.Dir(repo), "clone", "-q", "--depth=1", "file://"+origin, repo)
	if os.Getuid() == 0 {
		err := filepath.WalkDir(repo, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, 65534, 65534))
		})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := try1(t, repo, nil, "status"); err == nil {
			t.Fatalf("the control was let in: %s", out)
		}
	}
	everything(t, repo, "-c", "safe.directory=*")
	s := openStore(t)
	mirrorOf(t, s, repo)
	plain(t, repo, "-c", "safe.directory=*", "fetch", "-q", "--unshallow", "file://"+origin)
	everythingWith(t, s, repo, "redraft/fix-b", "-c", "safe.directory=*")
}

func TestTreeFS(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n", "d/e/run*": "#!\n", "d/x": "x"})
	links := map[string]string{"l": "d/x", "d/up": "../a.txt", "sub": "d", "abs": "/etc/passwd", "out": "../x", "loop": "loop", "gone": "none"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	plain(t, repo, "add", "-A")
	plain(t, repo, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("ab", 20)+",vendor/sub")
	plain(t, repo, "commit", "-q", "-m", "links")
	s := openStore(t)
	m := mirrorOf(t, s, repo)
	fsys, err := m.TreeFS(m.Head())
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range links {
		if got, err := fs.ReadLink(fsys, name); got != target {
			t.Errorf("link %s: %q, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"l": "x", "d/up": "a\n", "sub/x": "x", "sub/up": "a\n", "a.txt": "a\n", "abs": "", "out": "", "loop": "", "gone": "", "sub": "", "../x": "", "/a.txt": "", "a.txt/": "", "a.txt/b": "", "vendor/sub/x": ""} {
		got, err := fs.ReadFile(fsys, name)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	tests := map[string]fs.FileMode{"a.txt": 0o644, "d/e/run": 0o755, "d": fs.ModeDir | 0o755, "l": fs.ModeSymlink | 0o777, "vendor/sub": fs.ModeDir | 0o755}
	for name, want := range tests {
		if info, err := fs.Lstat(fsys, name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info, err, want)
		}
	}
	plain(t, repo, "rm", "-q", "abs", "out", "loop", "gone") // fstest opens all it finds
	plain(t, repo, "commit", "-q", "-m", "fewer")
	m = mirrorOf(t, s, repo)
	if fsys, err = m.TreeFS(m.Head()); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(fsys, "a.txt", "d/e/run", "d/x", "l", "vendor/sub"); err != nil {
		t.Error(err)
	}
}

func TestReadOddNames(t *testing.T) {
	m := mirrorOf(t, openStore(t), oddRepository(t))
	for name, want := range odd {
		got, err := m.FileAt(m.Head(), strings.TrimSuffix(name, "*"))
		if err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	if _, err := m.FileAt(m.Head(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := m.TreeFS(strings.Repeat("0", 40)); !errors.Is(err, ErrNoSuchCommit) {
		t.Errorf("a missing commit: %v", err)
	}
	log, err := m.Log(t.Context(), m.Head(), 10)
	if err != nil || len(log) != 2 || log[0].SHA != m.Head() || log[0].Text != "odd\n" || log[1].Text != "one\n" {
		t.Errorf("log %+v, %v", log, err)
	}
}
