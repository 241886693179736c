// Package oracle runs a repository's check in the jail: it sees the red on the untouched root, judges a try, and
// confirms a claim in fresh copies. It leaves proposing repairs to others. The colour is the plain command's
// exit status and completeness; findings come from instrumented runs, and where the two disagree the colour wins.
package oracle

import (
	"context"
	"time"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Trees gives fresh copies of the root.
type Trees interface {
	// Fresh returns a new directory that holds exactly the root's files, at a path not used before, and its remover.
	Fresh(ctx context.Context) (dir string, close func(context.Context) error, err error)
}

// Judge gives a verdict on the tree in dir.
type Judge interface {
	Judge(ctx context.Context, dir string) (Verdict, error) // error: the checks could not be run
}

// Verdict is what one or more runs of the check add up to.
type Verdict struct {
	Color    report.Color
	Class    report.Class // why it is not green
	Findings []report.Result
	Passed   []string // ids seen passing
	Skipped  []string
	Unstable []string      // ids red in some runs only
	Report   report.Report // of the run that decided
}

// Oracle runs one repository's check. Its fields are set once, before the first call.
type Oracle struct {
	Box     *sandbox.Sandbox
	Check   plan.Check // the red one
	Needs   plan.Needs
	Trees   Trees
	Scratch string        // folder for build caches: one per phase
	Base    string        // toolchain base (a Go build cache holding the standard library), copied into each cache; none if empty
	Timeout time.Duration // of one run; the check's, or 10 minutes
	OnRun   func(Run)     // told of every run in the jail, if not nil; called from one goroutine at a time
}

// Run is one command that ran in the jail.
type Run struct {
	Phase      string // see, judge, cheap, confirm, revert, fixer, cover
	N          int
	Mode       string // plain, instrumented
	Command    string
	Tree       string
	Result     sandbox.Result
	Report     report.Report
	ThrownAway string
	Seed       int64
	TZ         string
}

// Job is what a caller of Exec wants run in a tree.
type Exec struct {
	Phase   string
	Dir     string   // absolute directory of the tree; the command runs in Subdir below it
	Subdir  string   // "." if empty
	Argv    []string // as it is, no shell
	Env     []string // added to Needs.Env
	Cache   string   // name of the build cache to use, as in "judge-0"; made from what See left behind when new
	Timeout time.Duration
}

// Exec runs one command in a tree with the check's environment: for fixers, coverage, failing tests alone. Safe
// for several goroutines as long as each uses its own Dir and Cache.
func (o *Oracle) Exec(ctx context.Context, e Exec) (sandbox.Result, report.Report, error) {
	panic("stub")
}

// Only judges the given findings alone, the cheapest way there is for their runner: for Go
// `go test -run '^(TestA|TestB)$' ./pkg`. Its green is a hint, never a proof. ok is false when the findings cannot be
// run alone (a lint or a build finding), then the whole check is to be judged.
func (o *Oracle) Only(ctx context.Context, dir, cache string, findings []report.Result) (v Verdict, ok bool, err error) {
	panic("stub")
}
