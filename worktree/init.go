package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Init makes a repository with one commit on branch main: files by path, on top of what lies in dir already. It is for
// demonstrations and tests, and starts no program.
func Init(ctx context.Context, dir string, files map[string][]byte, message string) error {
	for name, b := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if old, err := os.ReadFile(name); err == nil && string(old) == string(b) {
			continue
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return err
		}
	}
	if err := commitAll(dir, message); err != nil {
		return fmt.Errorf("make a repository in %s: %w", dir, err)
	}
	return nil
}

func commitAll(dir, message string) error {
	repo, err := gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{
		InitOptions: gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	})
	if err != nil {
		return err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	if err := tree.AddWithOptions(&gogit.AddOptions{All: true}); err != nil {
		return err
	}
	who := &object.Signature{Name: "redraft", Email: "redraft@users.noreply.github.com", When: time.Now()}
	_, err = tree.Commit(message, &gogit.CommitOptions{Author: who, Committer: who, AllowEmptyCommits: true})
	return err
}
