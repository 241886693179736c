//go:build !race

package queue_test

const slow = 1 // how many times less a test does
