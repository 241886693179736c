// Package plan finds which commands are a repository's check, each with where it was found, and pins the set
// with a fingerprint. It leaves running them to others. No text of an issue, a model or a receipt ever becomes
// a command here, and a file of the repository may only lower an operator's ceilings.
package plan

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // git's name for a blob
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
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
	Line       int               `json:"line,omitempty"`    // of Source's file, from 1: where the step begins; 0 where it is no step
	Scripts    []string          `json:"scripts,omitempty"` // files of the tree that the command executes, relative, sorted
	Git        bool              `json:"git,omitempty"`     // it calls git, so that it finds a throw-away repository over its own files
}

// Set is the checks of one tree.
type Set struct {
	Checks      []Check  `json:"checks"`
	Setup       []string `json:"setup,omitempty"` // run before the checks, in the order given; only where the operator lets setup commands be run
	Wants       []string `json:"wants,omitempty"` // what the workflow did before the check, and with which services: named for people, never run
	Fingerprint string   `json:"fingerprint"`     // sha256 hex over commands and the blobs of the scripts they name
}

// AllScripts are the files of the tree that the checks execute.
func (s Set) AllScripts() []string {
	var out []string
	for _, c := range s.Checks {
		out = append(out, c.Scripts...)
	}
	return out
}

// File is what .github/redraft.yml says, decoded and checked. What it leaves out is the zero value.
type File struct {
	Version     int
	Checks      []Check // in the file's order
	Setup       []string
	Protect     []string // globs protected besides the defaults
	Fixers      bool     // the tools that a check runs may write in protected files, see Fixers
	Allow       []string // single entries opened from the default protection
	Triggers    Triggers
	Limits      Limits // lower an operator's, see Under
	Small, Big  string // names of models in the operator's file
	Temperature []float64
	Publish     Publish
	Privacy     Privacy
}

// Triggers say what starts a job.
type Triggers struct {
	Workflows, Labels, NeverBranches []string
	Commands                         bool
}

// Publish says how a draft is opened.
type Publish struct {
	BranchPrefix string // "redraft/" if empty
	Labels       []string
	Reviewers    string
}

// Privacy says what may leave, and what is kept; the only egress there is to choose is none.
type Privacy struct{ Egress, Transcript string }

// Limits are ceilings; zero means not said.
type Limits struct{ Turns, Minutes, Files, Lines, OpenDrafts, PerDay int }

// NoCheck says that a tree has no check to be found, and why. It is a configuration matter, not a failure.
type NoCheck struct{ Why string }

func (n *NoCheck) Error() string { return n.Why }

// Find returns the checks of a tree: configured ones if there are any, else those that its files make customary, the
// likeliest first (see conventions), else those that its README names. The error is a *NoCheck when there is none, a *FileError when the
// configuration is wrong.
func Find(tree fs.FS) (Set, error) {
	f, err := ReadFile(tree)
	if err != nil {
		return Set{}, err
	}
	return FindWith(f, tree)
}

// ReadFile is a tree's own configuration, the zero File if it has none. The error is a *FileError when it is wrong.
func ReadFile(tree fs.FS) (File, error) {
	b, err := readFile(tree, FileName, maxFile+1)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", FileName, err)
	}
	return ParseFile(b)
}

// FindWith is Find with a configuration that was read elsewhere, as from the default branch: whatever the tree's own
// file says does not count. The zero File configures nothing.
func FindWith(f File, tree fs.FS) (Set, error) {
	if len(f.Checks) > 0 {
		return newSet(tree, slices.Clone(f.Checks))
	}
	found, err := conventions(tree)
	if err != nil {
		return Set{}, fmt.Errorf("look for a check: %w", err)
	}
	if len(found) == 0 {
		found = documented(tree)
	}
	if len(found) == 0 {
		return Set{}, &NoCheck{"no check was found: no checks in " + FileName + ", no go.mod, package.json with a test script, Cargo.toml, pytest configuration, or Makefile with a test or check target, and no such command in README.md"}
	}
	return newSet(tree, found)
}

// For is the check of the set that stands for checks as a forge names them: the one with such an id, else one whose id is
// a glob that matches, else the only one. A *NoCheck says that there are several and none of them is meant.
func (s Set) For(names []string) (Check, error) {
	for _, name := range names {
		for _, c := range s.Checks {
			if c.ID == name {
				return c, nil
			}
		}
	}
	for _, name := range names {
		for _, c := range s.Checks {
			if ok, err := doublestar.Match(c.ID, name); err == nil && ok {
				return c, nil
			}
		}
	}
	configured := len(s.Checks) > 0 && s.Checks[0].Provenance == Configured
	if len(s.Checks) == 1 || len(s.Checks) > 0 && !configured || len(names) == 0 && len(s.Checks) > 0 {
		return s.Checks[0], nil
	}
	var ids []string
	for _, c := range s.Checks {
		ids = append(ids, c.ID)
	}
	return Check{}, &NoCheck{fmt.Sprintf("none of the configured checks (%s) has the name of a red one, or a glob that matches it: %s", strings.Join(ids, ", "), strings.Join(names, ", "))}
}

// FromCommand is the set of one command that the operator typed.
func FromCommand(tree fs.FS, run string) (Set, error) {
	if strings.TrimSpace(run) == "" {
		return Set{}, &NoCheck{"the command is empty"}
	}
	return newSet(tree, []Check{{ID: "given", Run: run, Dir: ".", Provenance: Given, Source: "--check"}})
}

func newSet(tree fs.FS, checks []Check) (Set, error) {
	for i := range checks {
		checks[i] = checks[i].In(tree, checks[i].Dir)
	}
	f, err := Fingerprint(tree, checks)
	return Set{Checks: checks, Fingerprint: f}, err
}

// In is the check as it is when it runs in a folder of the tree.
func (c Check) In(tree fs.FS, dir string) Check {
	c.Dir = dir
	c.Scripts = Scripts(tree, dir, c.Run)
	c.Git = usesGit(tree, c)
	return c
}

// Fingerprint pins checks as they stand in tree: sha256 over the checks in canonical JSON, in the order of their ids,
// the git blob ids of the scripts they name, and the commands that are run before them, if there are any. A script that is
// gone is pinned as gone.
func Fingerprint(tree fs.FS, checks []Check, setup ...string) (string, error) {
	sorted := slices.Clone(checks)
	slices.SortStableFunc(sorted, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	blobs := map[string]string{}
	for i := range sorted {
		sorted[i].Dir = cmp.Or(sorted[i].Dir, ".")
		sorted[i].Shell = cmp.Or(sorted[i].Shell, "sh")
		for _, name := range sorted[i].Scripts {
			id, err := blobID(tree, name)
			if err != nil {
				return "", fmt.Errorf("fingerprint %s: %w", name, err)
			}
			blobs[name] = id
		}
	}
	b, err := json.Marshal(struct { // encoding/json sorts the keys of maps and keeps the order of fields
		Checks []Check           `json:"checks"`
		Blobs  map[string]string `json:"blobs"`
		Setup  []string          `json:"setup,omitempty"`
	}{sorted, blobs, setup})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// blobID is what git calls the content of a file, or "" when there is no such file.
// https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
func blobID(tree fs.FS, name string) (string, error) {
	f, err := tree.Open(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return "", err
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// readFile reads at most limit bytes of a regular file.
func readFile(tree fs.FS, name string, limit int64) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// Needs is what the commands of a set need of the machine: found by asking the toolchains in an empty folder.
type Needs struct {
	Env  []string `json:"env"`          // KEY=value, the allowlisted environment of a run
	Read []string `json:"read"`         // absolute paths to read and execute: toolchains, package caches
	Go   string   `json:"go,omitempty"` // "go1.26.1 linux/amd64 cgo=1 …", the key of a toolchain base; empty when no Go is there

	// Tools are the versions of the other tools that the commands name, as each says itself: "python" "Python 3.11.9".
	// A tool that is not there, or does not answer, has none.
	Tools map[string]string `json:"tools,omitempty"`
}
