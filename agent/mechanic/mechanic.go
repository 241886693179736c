// Package mechanic repairs without a model: the project's own fixers first, then a search over small typed
// edits at the lines that the failing tests suspect. It leaves the last word to the oracle, whose full check
// judges what it offers. It never touches a protected file, and everything it runs runs in the jail.
package mechanic
