//go:build !linux

package sandbox

// backend is empty: the tiers of other systems are found at fixed places, and their kernels cap nothing.
type backend struct{}
