// Package redraft holds no code: the program is cmd/redraft, and its three rooms are bot, agent and worktree. The one
// test here keeps the rules of the house (ARCHITECTURE.md): who imports whom, who starts processes, what is named how.
// A rule that someone wants to break is changed in both places or not broken.
package redraft
