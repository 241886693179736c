// Package plan finds which commands are a repository's check, each with where it was found, and pins the set
// with a fingerprint. It leaves running them to others. No text of an issue, a model or a receipt ever becomes
// a command here, and a file of the repository may only lower an operator's ceilings.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"time"
)

// Provenance is how a command was found.
type Provenance string

const (
	Given      Provenance = "given"      // typed by the operator
	Configured Provenance = "configured" // .github/redraft.yml
	Workflow   Provenance = "workflow"
	Convention Provenance = "convention" // go.mod, package.json, pyproject.toml, Makefile
	Documented Provenance = "documented"
)

// Check is one command that is a check of this repository.
type Check struct {
	ID         string            `json:"id"`
	Run        string            `json:"run"`               // shell text, one or several lines
	Dir        string            `json:"dir"`               // relative to the tree, "." if empty
	Shell      string            `json:"shell,omitempty"`   // "sh" if empty; sh or bash
	Env        map[string]string `json:"env,omitempty"`     // added to the run's environment
	Timeout    time.Duration     `json:"timeout,omitempty"` // nanoseconds; 10 minutes if zero
	Runs       int               `json:"runs,omitempty"`    // k; chosen from the first run's time if zero
	Paths      []string          `json:"paths,omitempty"`
	Report     string            `json:"report,omitempty"` // glob of report files
	Provenance Provenance        `json:"provenance"`
	Source     string            `json:"source"`            // the file and key it was found at, as in "go.mod" or ".github/redraft.yml: checks.unit"
	Scripts    []string          `json:"scripts,omitempty"` // files of the tree that the command executes, relative, sorted
}

// Set is the checks of one tree.
type Set struct {
	Checks      []Check `json:"checks"`
	Fingerprint string  `json:"fingerprint"` // sha256 hex over commands and the blobs of the scripts they name
}

// File is what .github/redraft.yml says, decoded and checked.
type File struct {
	Version int
	Checks  []Check
	Protect []string
	Allow   []string
	Limits  Limits
	Small   string
	Big     string
}

// Limits are ceilings; zero means not said.
type Limits struct{ Turns, Minutes, Files, Lines, OpenDrafts, PerDay int }

// ParseFile reads a repository's configuration. Errors name line, column and the nearest known key.
func ParseFile(b []byte) (File, error) { panic("stub") }

// NoCheck says that a tree has no check to be found, and why. It is a configuration matter, not a failure.
type NoCheck struct{ Why string }

func (n *NoCheck) Error() string { return n.Why }

// Find returns the checks of a tree: configured ones if there are any, else conventions. The error is a *NoCheck
// when there is none.
func Find(tree fs.FS) (Set, error) {
	if _, err := fs.Stat(tree, "go.mod"); err != nil {
		return Set{}, &NoCheck{"no check was found"}
	}
	return set(tree, []Check{{ID: "go", Run: "go test ./...", Provenance: Convention, Source: "go.mod"}})
}

// FromCommand is the set of one command that the operator typed.
func FromCommand(tree fs.FS, run string) (Set, error) {
	return set(tree, []Check{{ID: "given", Run: run, Provenance: Given, Source: "--check"}})
}

func set(tree fs.FS, checks []Check) (Set, error) {
	f, err := Fingerprint(tree, checks)
	return Set{checks, f}, err
}

// Fingerprint pins checks as they stand in tree.
func Fingerprint(tree fs.FS, checks []Check) (string, error) {
	b, err := json.Marshal(checks)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Needs is what the commands of a set need of the machine: found by asking the toolchains in an empty folder.
type Needs struct {
	Env  []string `json:"env"`          // KEY=value, the allowlisted environment of a run
	Read []string `json:"read"`         // absolute paths to read and execute: toolchains, package caches
	Go   string   `json:"go,omitempty"` // "go1.26.1 linux/amd64 cgo=1 …", the key of a toolchain base; empty when no Go is there
}
