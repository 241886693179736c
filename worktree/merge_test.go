package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMerge: two branches that changed one file in different places merge as git merges them, no checkout is touched and no
// branch is made; what needs a person is a conflict.
func TestMerge(t *testing.T) {
	lines := strings.Repeat("line\n", 20)
	repo := repository(t, map[string]string{"a.txt": "top\n" + lines + "end\n", "b.txt": "b\n"})
	change := func(branch, file, text string) string {
		plain(t, repo, "switch", "-q", "-c", branch, "main")
		writeFiles(t, repo, map[string]string{file: text})
		plain(t, repo, "commit", "-qam", branch)
		return plain(t, repo, "rev-parse", "HEAD")
	}
	plain(t, repo, "branch", "-M", "main")
	onto := change("onto", "a.txt", "TOP\n"+lines+"end\n")
	root := change("topic", "a.txt", "top\n"+lines+"END\n")
	other := change("other", "a.txt", "other\n"+lines+"end\n")
	m := mirrorOf(t, openStore(t), repo)
	if !atLeast(m.store.git.version, 2, 38) {
		t.Skipf("REFUSED: git %s cannot merge without a checkout", m.store.git.version)
	}
	refs := plain(t, m.Dir(), "for-each-ref")
	sha, err := m.Merge(t.Context(), onto, root)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Merge(t.Context(), onto, root)
	if err != nil || again != sha {
		t.Errorf("a second time: %s, %v; the first was %s", again, err, sha)
	}
	tree := cut(t, m, sha)
	if b, err := os.ReadFile(filepath.Join(tree.Dir, "a.txt")); err != nil || string(b) != "TOP\n"+lines+"END\n" {
		t.Errorf("got %q, %v", b, err)
	}
	if !m.Follows(t.Context(), root, sha) || !m.Follows(t.Context(), onto, sha) {
		t.Error("it does not come after both")
	}
	if got := plain(t, m.Dir(), "for-each-ref"); got != refs {
		t.Errorf("refs are %s, were %s", got, refs)
	}
	if _, err := m.Merge(t.Context(), onto, other); !errors.Is(err, ErrConflict) {
		t.Errorf("of a conflict: %v", err)
	}
	if _, err := m.Merge(t.Context(), "--help", root); err == nil {
		t.Error("an option passed for a commit")
	}
	m.store.git.version = "2.37.9"
	if _, err := m.Merge(t.Context(), onto, root); !errors.Is(err, ErrOldGit) {
		t.Errorf("of an old git: %v", err)
	}
}
