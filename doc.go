// Package redraft holds the workflow files to copy and no code: the program is cmd/redraft, and its three rooms are bot,
// agent and worktree. The one test here keeps the rules of the house (ARCHITECTURE.md): who imports whom, who starts
// processes, what is named how. A rule that someone wants to break is changed in both places or not broken.
package redraft

import "embed"

// Examples are the workflow files to copy, at the paths that they have in this tree. redraft init writes them with the
// names and labels of a repository put in, so that what is read here and what is written there is one text.
//
//go:embed .github/workflows/examples/*.yml
var Examples embed.FS
