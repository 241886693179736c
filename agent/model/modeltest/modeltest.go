// Package modeltest is a scripted model server on a loopback port that speaks the real protocol; it is a fake,
// for tests, demo and selftest only.
package modeltest
