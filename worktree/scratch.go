package worktree

import (
	"fmt"
	"os"
	"path/filepath"
)

// Scratch makes an empty folder of that name beside the tree, for copies and caches of whoever works on it; it lives as
// long as the tree, and a start-up reaper takes it with the tree.
func (t *Tree) Scratch(name string) (string, error) {
	if !nameForm.MatchString(name) || name == filepath.Base(t.Dir) || name == ownerFile {
		return "", fmt.Errorf("scratch %.8s: %.80q cannot name a folder", t.SHA, name)
	}
	dir := filepath.Join(t.claim.dir, name)
	return dir, os.Mkdir(dir, 0o700)
}
