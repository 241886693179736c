package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func commitOn(t *testing.T, m *Mirror, parent string, files ...File) string {
	t.Helper()
	sha, _, err := m.Commit(t.Context(), parent, files, someone)
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

func TestCommit(t *testing.T) {
	repo := oddRepository(t)
	m := mirrorOf(t, openStore(t), repo)
	files := []File{
		{Path: "crlf.txt", Data: []byte("one\r\nTWO\r\n")},
		{Path: "latin\xe9.txt", Deleted: true},
		{Path: "new\xff\n/d\t.bat", Data: []byte("x\n\r\n")},
		{Path: "dir é/run.sh", Data: []byte("#!/bin/bash\n")},
		{Path: "no-newline", Data: []byte("y"), Mode: modeExecutable},
		{Path: "bom/now a folder", Data: nil},
		{Path: "bom", Deleted: true},
	}
	msg := Message{Text: "subject\n\nbody #1", Author: Person{"A É", "a@example.org"}, Committer: Person{"C", "c@example.org"}, When: someone.When}
	sha, tree, err := m.Commit(t.Context(), m.Head(), files, msg)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := m.Commit(t.Context(), m.Head(), files, msg)
	if err != nil || again != sha {
		t.Errorf("the same commit is %s and %s, %v", sha, again, err)
	}
	git := func(args ...string) string {
		return plain(t, repo, append([]string{"--git-dir=" + m.Dir()}, args...)...)
	}
	want := "tree " + tree + "\nparent " + m.Head() + "\nauthor A É <a@example.org> 1700000000 +0000\ncommitter C <c@example.org> 1700000000 +0000\n\nsubject\n\nbody #1"
	if got := git("cat-file", "-p", sha); got != want {
		t.Errorf("commit is\n%s\nwant\n%s", got, want)
	}
	got := strings.Split(git("diff-tree", "-r", "-z", "--no-renames", "--name-status", m.Head(), sha), "\x00")
	names := []string{"D", "bom", "A", "bom/now a folder", "M", "crlf.txt", "M", "dir é/run.sh", "D", "latin\xe9.txt", "A", "new\xff\n/d\t.bat", "M", "no-newline", ""}
	if d := cmp.Diff(names, got); d != "" {
		t.Errorf("changed (-want +got):\n%s", d)
	}
	modes := git("ls-tree", "-z", sha, "no-newline") + git("ls-tree", "-z", "-r", sha, "dir é/run.sh")
	if strings.Count(modes, "100755 blob") != 2 {
		t.Errorf("modes: %s", modes)
	}
	for _, f := range files {
		b, err := m.FileAt(sha, f.Path)
		if !f.Deleted && (err != nil || string(b) != string(f.Data)) {
			t.Errorf("%q is %q, %v", f.Path, b, err)
		}
	}
}

func TestCommitRefuses(t *testing.T) {
	m := mirrorOf(t, openStore(t), oddRepository(t))
	paths := []string{"", ".", "/abs", "a/../b", "../x", "a//b", "a/", "./a", "nul\x00", ".git", ".git/config", "d/.GIT/x", ".git /x", ".git./x", ".git...  ",
		".g\u200cit/x", "\ufeff.git/x", "GIT~1/x", "git~2", "d/.git::$INDEX_ALLOCATION/x", `d\.git\config`, `..\.git/x`, strings.Repeat("x/", 2100) + "x",
		"link", "link/x", "vendor/sub", "vendor/sub/x", "vendor", "crlf.txt/x"}
	for _, p := range paths {
		if sha, _, err := m.Commit(t.Context(), m.Head(), []File{{Path: p, Data: []byte("x")}}, someone); err == nil {
			t.Errorf("%q was committed: %s", p, sha)
		}
	}
	for _, p := range []string{".gitx", "git", ".github/x", "git~", "agit~1", ".git~1x/a"} {
		if _, _, err := m.Commit(t.Context(), m.Head(), []File{{Path: p, Data: []byte("x")}}, someone); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	for _, set := range [][]File{{{Path: "x"}, {Path: "x"}}, {{Path: "x"}, {Path: "x/y"}}, {{Path: "x/y/z"}, {Path: "x"}}} {
		if _, _, err := m.Commit(t.Context(), m.Head(), set, someone); !errors.Is(err, ErrPath) {
			t.Errorf("%v: %v", set, err)
		}
	}
	tests := []struct {
		name string
		file File
		msg  Message
		is   error
	}{
		{"nothing differs", File{Path: "no-newline", Data: []byte("x")}, someone, ErrNoChange},
		{"deleting what is not there", File{Path: "none", Deleted: true}, someone, os.ErrNotExist},
		{"a mode of its own", File{Path: "x", Mode: 0o120000}, someone, nil},
		{"no message", File{Path: "x", Data: []byte("y")}, Message{Text: " \n", Author: someone.Author}, nil},
		{"no author", File{Path: "x", Data: []byte("y")}, Message{Text: "x"}, nil},
		{"an author of two lines", File{Path: "x", Data: []byte("y")}, Message{Text: "x", Author: Person{"a\nb", "c"}}, nil},
	}
	for _, tt := range tests {
		if _, _, err := m.Commit(t.Context(), m.Head(), []File{tt.file}, tt.msg); err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.is)
		}
	}
}

func TestDeliverWritesNothingElse(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	plain(t, repo, "pack-refs", "--all")
	m := mirrorOf(t, openStore(t), repo)
	sha := commitOn(t, m, m.Head(), File{Path: "a.txt", Data: []byte("b\n")})
	before := listing(t, repo)
	if err := m.Deliver(t.Context(), repo, "redraft/fix-a", sha, ""); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	name := func(line string) string { return strings.SplitN(line, "\" ", 2)[0][1:] }
	for _, line := range before {
		known[line] = true
	}
	for _, line := range listing(t, repo) {
		n := name(line)
		if !known[line] && !strings.HasPrefix(n, ".git/objects") && n != ".git/refs/heads" && !strings.HasPrefix(n, ".git/refs/heads/redraft") && n != ".git" {
			t.Errorf("new or changed: %s", line)
		}
	}
	if got := plain(t, repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main\nrefs/heads/redraft/fix-a" {
		t.Errorf("refs: %s", got)
	}
	plain(t, repo, "fsck", "--strict")
	if got := plain(t, repo, "diff", "--stat", "main", "redraft/fix-a"); !strings.Contains(got, "1 file changed") {
		t.Errorf("diff: %s", got)
	}
}

func TestDeliver(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	s := openStore(t)
	m := mirrorOf(t, s, repo)
	root := m.Head()
	one := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("1\n")})
	two := commitOn(t, m, one, File{Path: "a.txt", Data: []byte("2\n")})
	fork := commitOn(t, m, root, File{Path: "a.txt", Data: []byte("3\n")})
	plain(t, repo, "branch", "redraft/at-root")
	plain(t, repo, "branch", "redraft/out")
	plain(t, repo, "worktree", "add", "-q", filepath.Join(filepath.Dir(repo), "out"), "redraft/out")
	plain(t, repo, "checkout", "-q", "-b", "redraft/foreign")
	commitWith(t, repo, "z", "z\n") // unknown to the mirror
	plain(t, repo, "checkout", "-q", "main")
	tests := []struct {
		name, branch, sha, old string
		is                     error // nil with ok false: any
		ok                     bool
	}{
		{"new", "redraft/x", one, "", nil, true},
		{"again", "redraft/x", one, "", nil, true},
		{"forward, full name", "refs/heads/redraft/x", two, one, nil, true},
		{"back", "redraft/x", one, "", ErrBranchTaken, false},
		{"aside", "redraft/x", fork, "", ErrBranchTaken, false},
		{"not where it was expected", "redraft/at-root", one, fork, ErrBranchTaken, false},
		{"from the root", "redraft/at-root", two, root, nil, true},
		{"expected but absent", "redraft/y", one, root, ErrBranchTaken, false},
		{"checked out", "redraft/out", one, "", ErrBranchTaken, false},
		{"somebody else's", "redraft/foreign", one, "", ErrBranchTaken, false},
		{"another namespace", "main", one, "", nil, false},
		{"a new branch of another namespace", "elsewhere", one, "", nil, false},
		{"out of the namespace", "redraft/../main", one, "", nil, false},
		{"the namespace itself", "redraft/", one, "", nil, false},
		{"no name", "redraft/a..b", one, "", nil, false},
		{"a lock", "redraft/a.lock", one, "", nil, false},
		{"below a branch", "redraft/x/y", one, "", nil, false},
		{"no commit", "redraft/z", strings.Repeat("0", 40), "", nil, false},
	}
	for _, tt := range tests {
		err := m.Deliver(t.Context(), repo, tt.branch, tt.sha, tt.old)
		if (err == nil) != tt.ok || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.is)
		}
	}
	if got := plain(t, repo, "rev-parse", "redraft/x", "redraft/at-root", "main"); got != two+"\n"+two+"\n"+root {
		t.Errorf("branches stand at %s", got)
	}
	plain(t, repo, "fsck", "--strict")
	other := repository(t, map[string]string{"other": "x\n"})
	if err := m.Deliver(t.Context(), other, "redraft/x", one, ""); err == nil {
		t.Error("delivered to a repository that knows no commit before it")
	}
}

func TestFreeBranch(t *testing.T) {
	repo := repository(t, map[string]string{"a.txt": "a\n"})
	s := openStore(t)
	free := func(base string) string {
		name, err := s.FreeBranch(t.Context(), repo, base)
		if err != nil {
			return "error"
		}
		return name
	}
	for _, b := range []string{"redraft/a", "redraft/A-2", "redraft/a-3/deep", "redraft/way"} {
		plain(t, repo, "branch", b)
	}
	for base, want := range map[string]string{"redraft/b": "redraft/b", "redraft/a": "redraft/a-4", "refs/heads/redraft/b": "redraft/b", "redraft/way/x": "error", "main": "error", "redraft/..": "error"} {
		if got := free(base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
	bare := repository(t, map[string]string{"a.txt": "a\n"})
	plain(t, bare, "branch", "redraft")
	if _, err := s.FreeBranch(t.Context(), bare, "redraft/x"); err == nil || !strings.Contains(err.Error(), "in the way") {
		t.Errorf("a branch called redraft: %v", err)
	}
}

func TestApplyToCheckout(t *testing.T) {
	tests := []struct {
		name string
		do   func(t *testing.T, repo string)
		why  string // "" when it lands
	}{
		{"clean", func(t *testing.T, repo string) {}, ""},
		{"an untracked file elsewhere", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{"u": "u"}) }, ""},
		{"touched", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{"a.bat": "one\r\n"}) }, ""},
		{"detached", func(t *testing.T, repo string) { plain(t, repo, "checkout", "-q", "--detach") }, ""},
		{"changed", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{"b.txt": "mine\n"}) }, "1 tracked"},
		{"staged", func(t *testing.T, repo string) {
			writeFiles(t, repo, map[string]string{"s": "mine\n"})
			plain(t, repo, "add", "s")
		}, "1 tracked"},
		{"an untracked file in the way", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{"new": "mine\n"}) }, "overwritten"},
		{"a file where a folder goes", func(t *testing.T, repo string) {
			writeFiles(t, repo, map[string]string{"e": "mine\n", ".git/info/exclude": "e\n"})
		}, "overwritten"},
		{"an ignored file in the way", func(t *testing.T, repo string) {
			writeFiles(t, repo, map[string]string{"new": "mine\n", ".git/info/exclude": "new\n"})
		}, "overwritten"},
		{"another commit", func(t *testing.T, repo string) { plain(t, repo, "commit", "-q", "--allow-empty", "-m", "x") }, "HEAD has moved"},
		{"another branch", func(t *testing.T, repo string) { plain(t, repo, "checkout", "-q", "-b", "y") }, "HEAD has moved"},
		{"a merge", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{".git/MERGE_HEAD": "x"}) }, "merge"},
		{"git at work", func(t *testing.T, repo string) { writeFiles(t, repo, map[string]string{".git/index.lock": ""}) }, "at work"},
		{"sparse", func(t *testing.T, repo string) { config(t, repo, "core.sparseCheckout", "true") }, "sparse"},
		{"split index", func(t *testing.T, repo string) { plain(t, repo, "update-index", "--split-index") }, "split"},
		{"a filter", func(t *testing.T, repo string) {
			writeFiles(t, repo, map[string]string{".git/info/attributes": "a.bat filter=x\n"})
		}, "filter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			repo := repository(t, map[string]string{".gitattributes": "*.bat text eol=crlf\n", "a.bat": "one\r\n", "b.txt": "b\n", "c/d": "d\n"})
			s := openStore(t)
			m := mirrorOf(t, s, repo)
			if tt.name == "detached" {
				tt.do(t, repo)
			}
			r, err := s.Inspect(t.Context(), repo)
			if err != nil {
				t.Fatal(err)
			}
			sha := commitOn(t, m, r.Head, File{Path: "a.bat", Data: []byte("two\n")}, File{Path: "new", Data: []byte("n\n"), Mode: modeExecutable},
				File{Path: "c/d", Deleted: true}, File{Path: "e/f", Data: []byte("f\n")})
			if err := m.Deliver(t.Context(), repo, "redraft/x", sha, ""); err != nil {
				t.Fatal(err)
			}
			tt.do(t, repo)
			before := listing(t, repo)
			err = s.ApplyToCheckout(t.Context(), r, sha)
			if tt.why != "" {
				if !errors.Is(err, ErrNotClean) || !strings.Contains(err.Error(), tt.why) || !strings.Contains(err.Error(), "git merge --ff-only") {
					t.Errorf("error %v, want %q", err, tt.why)
				}
				untouched(t, before, listing(t, repo))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			applied(t, repo, sha)
		})
	}
}

// untouched allows git's index alone to be written: looking at files is remembered there.
func untouched(t *testing.T, before, after []string) {
	t.Helper()
	kept := func(lines []string) (out []string) {
		for _, l := range lines {
			if !strings.HasPrefix(l, `".git/index"`) && !strings.HasPrefix(l, `".git" `) {
				out = append(out, l)
			}
		}
		return out
	}
	if d := cmp.Diff(kept(before), kept(after)); d != "" {
		t.Errorf("a refusal wrote to the checkout:\n%s", d)
	}
}

func applied(t *testing.T, repo, sha string) {
	t.Helper()
	if got := plain(t, repo, "rev-parse", "HEAD"); got != sha {
		t.Errorf("HEAD is %s, want %s", got, sha)
	}
	if got := plain(t, repo, "status", "--porcelain", "--untracked-files=no"); got != "" {
		t.Errorf("status:\n%s", got)
	}
	if b, err := os.ReadFile(filepath.Join(repo, "a.bat")); string(b) != "two\r\n" {
		t.Errorf("a.bat is %q, %v", b, err)
	}
	if info, err := os.Stat(filepath.Join(repo, "new")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("new: %v", err)
	}
	if _, err := os.Stat(filepath.Join(repo, "c")); err == nil {
		t.Error("the folder of a deleted file stays")
	}
	if got := plain(t, repo, "reflog", "-1", "--format=%gs %gn"); got != "redraft: fast-forward redraft" {
		t.Errorf("reflog: %s", got)
	}
}
