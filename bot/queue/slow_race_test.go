//go:build race

package queue_test

const slow = 5 // SQLite in Go under the race detector is about ten times slower
