// Package syntax is a stub.
package syntax
