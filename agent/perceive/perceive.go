// Package perceive is a stub.
package perceive
