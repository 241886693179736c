package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tree of long ago has another name than one that is made of its files today; a commit on it leaves all of it as it is
// but what is changed.
func TestOldTrees(t *testing.T) {
	for _, tt := range []struct {
		name string
		make string // shell text that prints a tree of a.txt and d/b.txt
	}{
		{"as today", `printf '100644 blob %s\ta.txt\n040000 tree %s\td\n' $A $D | git mktree`},
		{"group may write", `printf '100664 blob %s\ta.txt\n040000 tree %s\td\n' $A $D | git mktree`},
		{"group may write below", `O=$(printf '100664 blob %s\tb.txt\n' $A | git mktree); printf '100644 blob %s\ta.txt\n040000 tree %s\td\n' $A $O | git mktree`},
		{"a padded mode", `git cat-file tree HEAD^{tree} | sed 's/40000 d/040000 d/' | git hash-object -t tree -w --stdin --literally`},
		{"a folder without files", `E=$(git mktree < /dev/null); printf '100644 blob %s\ta.txt\n040000 tree %s\td\n040000 tree %s\te\n' $A $D $E | git mktree`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repo := repository(t, map[string]string{"a.txt": "a\n", "d/b.txt": "a\n"})
			today := plain(t, repo, "rev-parse", "HEAD^{tree}")
			text := `A=$(git rev-parse HEAD:a.txt); D=$(git rev-parse HEAD:d); T=$(` + tt.make + `); git update-ref refs/heads/main "$(git commit-tree -m old "$T")"; echo "$T" > .git/tree`
			if err := shell(repo, "", "", "", text); err != nil {
				t.Skipf("REFUSED: the git or the shell of this machine does not make it: %v", err)
			}
			s := openStore(t)
			m := mirrorOf(t, s, repo)
			tree := cut(t, m, "HEAD")
			if tree.TreeID != today {
				t.Errorf("the tree is named %s, want %s", tree.TreeID, today)
			}
			sha, name, err := m.Commit(t.Context(), m.Head(), []File{{Path: "a.txt", Data: []byte("b\n")}}, someone)
			if err != nil {
				t.Fatal(err)
			}
			after := cut(t, m, sha)
			if b, err := os.ReadFile(filepath.Join(after.Dir, "a.txt")); string(b) != "b\n" || after.TreeID != name {
				t.Errorf("a.txt is %q, %v; the tree is named %s and %s", b, err, after.TreeID, name)
			}
			if err := m.Deliver(t.Context(), repo, "redraft/x", sha, ""); err != nil {
				t.Fatal(err)
			}
			if got := plain(t, repo, "diff", "--name-only", "HEAD", "redraft/x"); got != "a.txt" {
				t.Errorf("it changes %q", got)
			}
			if log, err := m.Log(t.Context(), sha, 5); err != nil || len(log) != 2 || log[0].Tree != name || log[1].Tree != today {
				t.Errorf("log: %+v, %v", log, err)
			}
		})
	}
}

// A disk that folds names is asked only for trees that it can hold.
func TestSameName(t *testing.T) {
	for _, tt := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"a": "", "b": "", "d/a": "", "e/A": ""}, ""},
		{map[string]string{"d/Name": "1", "d/name": "2"}, `"d/Name" and "d/name"`},
		{map[string]string{"Dir/a": "1", "dir/b": "2"}, `"Dir" and "dir"`},
		{map[string]string{"\u00e9": "1", "e\u0301": "2"}, "are one name to it"},
		{map[string]string{"stra\u00dfe": "1", "STRASSE": "2"}, "are one name to it"},
	} {
		s := openStore(t)
		if s.folds() {
			t.Skip("REFUSED: this disk folds names itself")
		}
		m := mirrorOf(t, s, repository(t, tt.files))
		tree, err := m.treeFS(m.Head())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.describe(false); err != nil {
			t.Error(err)
		}
		_, err = tree.describe(true)
		if (tt.want == "") != (err == nil) || err != nil && (!errors.Is(err, ErrTree) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v, want %q", tt.files, err, tt.want)
		}
	}
}

// What cannot be laid on this disk is told apart from a disk that fails, and nothing of it is left.
func TestNoSuchTree(t *testing.T) {
	deep := strings.Repeat("d/", copyDepth+1) + "f"
	for name, path := range map[string]string{"too deep": deep, "a name of .git on another system": "git~1/config", "a name that is too long": strings.Repeat("n", 300)} {
		repo := repository(t, map[string]string{"a.txt": "a\n"})
		blob := plain(t, repo, "rev-parse", "HEAD:a.txt")
		plain(t, repo, "-c", "core.protectNTFS=false", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
		plain(t, repo, "-c", "core.protectNTFS=false", "commit", "-q", "-m", "odd")
		s := openStore(t)
		m := mirrorOf(t, s, repo)
		if tree, err := m.Cut(t.Context(), m.Head()); !errors.Is(err, ErrTree) {
			t.Errorf("%s: %v, %v", name, tree, err)
		}
		if left := leftovers(t, s); len(left) > 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
}
