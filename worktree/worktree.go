// Package worktree is the one place that runs git: a bare mirror per repository, trees cut at a pinned commit,
// sealed copies without .git, and commits made by plumbing. It leaves what is done in a tree to others. Every
// tree has an owner file, and what has no live owner is removed at the next start, whatever killed it.
package worktree
