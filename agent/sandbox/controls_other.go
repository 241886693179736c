//go:build !linux

package sandbox

// controls are the kernel's own caps, which no other system has.
type controls struct{}
