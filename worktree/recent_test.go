package worktree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recent is what Recent says of a repository as it stands.
func recent(t *testing.T, repo string, n, most int) []Touch {
	t.Helper()
	g, err := OpenGit("")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Recent(t.Context(), g, Repo{CommonDir: repo + "/.git", Head: plain(t, repo, "rev-parse", "HEAD")}, n, most)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func commitFiles(t *testing.T, repo, message string, files map[string]string) {
	t.Helper()
	writeFiles(t, repo, files)
	plain(t, repo, "add", "-A")
	plain(t, repo, "commit", "-q", "--allow-empty", "-m", message)
}

// TestRecent: what each commit changed, at the lines of today.
func TestRecent(t *testing.T) {
	repo := repository(t, map[string]string{"a": "1\n2\n3\n4\n5\n6\n", "gone": "x\n", "-q": "1\n"})
	commitFiles(t, repo, "two\n\nbody", map[string]string{"a": "1\n2\n3\n4\nfive\n6\n", "gone": "y\n", "-q": "2\n"})
	plain(t, repo, "rm", "-q", "gone")
	commitFiles(t, repo, "three", map[string]string{"a": "0\n1\n2\n3\nfive\n6\n", "new": "n", "bytes": "a\x00b"})
	commitFiles(t, repo, "empty", nil)
	var got []string
	for _, c := range recent(t, repo, 9, 1<<20) {
		subject, _, _ := strings.Cut(c.Text, "\n")
		got = append(got, fmt.Sprintf("%s %d-%d %s %q", c.File, c.First, c.Last, subject, c.Diff))
	}
	want := []string{
		`a 1-1 three "+0\n 1\n"`, `a 4-5 three " 3\n-4\n five\n"`, `new 1-1 three "+n\n"`,
		`-q 1-1 two "-1\n+2\n"`, `a 5-5 two " 4\n-5\n+five\n 6\n"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(recent(t, repo, 1, 1<<20)); n != 0 {
		t.Errorf("the last commit changed %d places", n)
	}
	if n := len(recent(t, repo, 9, 12)); n != 1 {
		t.Errorf("%d places in 12 bytes", n)
	}
	shallow := realTemp(t) + "/shallow"
	plain(t, repo, "clone", "-q", "--depth=2", "file://"+repo, shallow)
	if n := len(recent(t, shallow, 9, 1<<20)); n != 0 {
		t.Errorf("%d places in a history of an empty commit and one without a parent", n)
	}
}

// TestRecentAsBlame holds the lines of random histories against git blame.
func TestRecentAsBlame(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		fresh := func() string { return fmt.Sprintf("%x\n", rng.Uint64()) }
		for range 40 {
			lines = append(lines, fresh())
		}
		repo := repository(t, map[string]string{"f": strings.Join(lines, "")})
		for i := range 14 {
			for range 1 + rng.IntN(4) {
				at, n, more := rng.IntN(len(lines)+1), rng.IntN(4), []string{}
				for range rng.IntN(4) {
					more = append(more, fresh())
				}
				lines = slices.Replace(lines, at, min(at+n, len(lines)), more...)
			}
			commitFiles(t, repo, fmt.Sprint(i), map[string]string{"f": strings.Join(lines, "")})
		}
		all, first := recent(t, repo, 20, 1<<20), plain(t, repo, "rev-list", "--max-parents=0", "HEAD")
		blamed := map[string]bool{}
		for i, line := range strings.Split(plain(t, repo, "blame", "-l", "--root", "f"), "\n") {
			sha := line[:40]
			blamed[fmt.Sprint(sha, i+1)] = true
			if !slices.ContainsFunc(all, func(c Touch) bool { return c.Commit == sha && c.First <= i+1 && i+1 <= c.Last }) && sha != first {
				t.Errorf("seed %d: no change of %.8s at line %d", seed, sha, i+1)
			}
		}
		for _, c := range all {
			adds := strings.HasPrefix(c.Diff, "+") || strings.Contains(c.Diff, "\n+")
			if adds && (!blamed[fmt.Sprint(c.Commit, c.First)] || !blamed[fmt.Sprint(c.Commit, c.Last)]) {
				t.Errorf("seed %d: %.8s did not change lines %d and %d last:\n%s", seed, c.Commit, c.First, c.Last, c.Diff)
			}
		}
	}
}
