package worktree

import "context"

// CopyFolder is Copy without the .git of the top: what a sealed copy has of a folder.
func CopyFolder(ctx context.Context, src, dst string) (Stats, error) {
	return (&copier{skip: ".git"}).copy(ctx, src, dst)
}
