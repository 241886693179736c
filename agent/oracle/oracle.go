// Package oracle runs a repository's check in the jail: it sees the red on the untouched root, judges a try, and
// confirms a claim in fresh copies. It leaves proposing repairs to others. The colour is the plain command's
// exit status and completeness; findings come from instrumented runs, and where the two disagree the colour wins.
package oracle

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// Trees gives fresh copies of the root.
type Trees interface {
	// Fresh returns a new directory that holds exactly the root's files, at a path not used before, and its remover. It may
	// be called while other copies are in use or being removed.
	Fresh(ctx context.Context) (dir string, close func(context.Context) error, err error)
}

// Judge gives a verdict on the tree in dir.
type Judge interface {
	Judge(ctx context.Context, dir string) (Verdict, error) // error: the checks could not be run
}

// Verdict is what one or more runs of the check add up to.
type Verdict struct {
	Color    report.Color
	Class    report.Class    // why it is not green
	Findings []report.Result // leaves, for people and proposers
	Failed   []string        // ids failing, parents included
	Passed   []string        // ids seen passing
	Skipped  int
	Unstable []string      // ids red in some runs only
	Report   report.Report // of the run that decided
	Text     string        // one sentence where the colour does not say it all
}

// Oracle runs one repository's check. Its exported fields are set once, before the first call.
type Oracle struct {
	Box     *sandbox.Sandbox
	Check   plan.Check // the red one
	Needs   plan.Needs
	Trees   Trees
	Root    fs.FS                                                            // the root's text
	Module  string                                                           // module path of the root's go.mod, "" if none
	Policy  patch.Policy                                                     // what may be touched: Confirm applies the claim's diff through its gate
	Links   map[string]string                                                // submodules of the root
	Scratch string                                                           // absolute folder for build caches and private homes
	Base    string                                                           // toolchain base: a Go build cache of the standard library; none if empty
	Timeout time.Duration                                                    // of one run; the check's if zero, 10 minutes if that is zero too
	Seed    int64                                                            // seeds of the orders in which instrumented runs shuffle tests derive from it
	Keep    func(proof.RunRecord, sandbox.Result) (map[string]string, error) // keeps a run's raw output as evidence and returns path -> sha256 of what it wrote; nothing is kept if nil
	Clean   func(string) string                                              // removes credentials from a run's output before anybody reads or keeps it; nothing is removed if nil
	// Repository makes the throw-away repository that a check which calls git finds in its tree, over what lies in dir, and
	// returns its remover; the tree has none if nil. It is there while a command runs, and is never looked into.
	Repository func(ctx context.Context, dir string) (remove func() error, err error)
	OnRun      func(Run) // told of every run in the jail, if not nil; one call at a time
	Setup      *Setup    // what is to be run before See; nothing if nil
	Every      bool      // Confirm makes its further runs even where a rung has failed already, so that each says what it would alone

	Fixers []proof.Fixer // the project's own tools that may write in protected files; none if empty
	Others []plan.Check  // the other configured checks, which Confirm compares with the root's

	mu       sync.Mutex
	counts   map[string]int
	trusted  bool     // instrumented runs of the root agreed with the plain one
	runners  []string // which the plain run of the root was heard to use, see heard
	once     sync.Once
	lines    string // see instrumentsDir
	linesErr error
	ownIs    sync.Once
	own      []string  // see ownModules
	caches   sync.Map  // name -> *sync.Once result
	base     *prepared // what Prepare left; nil without a setup
	laid     sync.Map  // tree -> what became of laying the layer under it, once
	coming   *ahead    // gives See's and Confirm's copies while they work; nil otherwise
}

// Run is one command that ran in the jail.
type Run struct {
	proof.RunRecord
	Result sandbox.Result
	Report report.Report
	Files  map[string]string // evidence files of the run, path -> sha256; empty when nothing was kept

	ran []TestLines // where it was watched
}

// Exec is a command of ours to be run in a tree.
type Exec struct {
	Phase   string
	Dir     string   // absolute directory of the tree; the command runs in Subdir below it
	Subdir  string   // "." if empty
	Argv    []string // as it is, no shell
	Env     []string // added to what the check needs
	Cache   string   // name of the build cache to use, as in "judge"; made from what See left behind when new
	Timeout time.Duration
	Network sandbox.Network // the command's own loopback if zero
}

// Exec runs one command in a tree with the check's environment: for fixers, coverage, failing tests alone. Safe
// for several goroutines as long as each uses its own Dir and Cache.
func (o *Oracle) Exec(ctx context.Context, e Exec) (sandbox.Result, report.Report, error) {
	run, err := o.run(ctx, request{
		phase: e.Phase, mode: proof.Plain, dir: e.Dir, sub: e.Subdir, argv: e.Argv, env: e.Env, cache: e.Cache, wall: e.Timeout, network: e.Network,
	})
	return run.Result, run.Report, err
}

// request is one command to run, of the check's or of ours.
type request struct {
	phase, mode string
	dir, sub    string
	argv        []string // the check's own command if nil
	env         []string
	cache       string
	wall        time.Duration
	network     sandbox.Network
	tree        string // tree id, where it was computed
	seed        int64
	tz          string
	keep        bool
	as          *plan.Check   // run this check instead of the oracle's
	asCheck     bool          // argv is run as the check would be, with what it adds to the environment
	canary      *proof.Canary // laid over the tree once that is hashed
	mutated     []proof.Mutation
	lay         map[string]string // texts of files laid over the tree once that is hashed
	watch       *watching         // which lines tests run is to be told; nothing if nil
}

// run runs one command in the jail and reads what it said.
func (o *Oracle) run(ctx context.Context, q request) (Run, error) {
	home, err := os.MkdirTemp(o.Scratch, "home-")
	if err != nil {
		return Run{}, fmt.Errorf("make a private home: %w", err)
	}
	defer os.RemoveAll(home)
	cache, err := o.cache(q.cache)
	if err != nil {
		return Run{}, err
	}
	check, command, argv, sub := o.commandOf(q)
	remove, err := o.repository(ctx, q.dir)
	if err != nil {
		return Run{}, err
	}
	defer remove() //nolint:errcheck // what stays goes with the copy
	if err := o.lay(ctx, q.dir); err != nil {
		return Run{}, err
	}
	reports, lines, err := o.reportsFor(q)
	if err != nil {
		return Run{}, err
	}
	defer os.RemoveAll(reports)
	jailed := sandbox.Command{
		Argv: argv, Dir: filepath.Join(q.dir, filepath.FromSlash(sub)), Env: o.env(q, check, home, cache, reports, lines),
		Read: write(append(slices.Clone(o.Needs.Read), lines)...), Write: write(q.dir, home, cache, reports), Wall: o.wall(q.wall, check), Network: q.network,
	}
	at := o.over(&jailed, q.dir)
	began := time.Now()
	res, err := o.Box.Run(ctx, jailed)
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", q.phase, err)
	}
	if o.Clean != nil { // here, so that what is kept is what was read, and what is sent is what was kept
		res.Stdout, res.Stderr = []byte(o.Clean(string(res.Stdout))), []byte(o.Clean(string(res.Stderr)))
	}
	r := Run{Result: res, RunRecord: proof.RunRecord{
		Phase: q.phase, N: o.next(q.phase), Mode: q.mode, Command: command, Dir: slash(sub), Tree: q.tree, Place: q.dir,
		Cache: q.cache, Module: o.Module, Own: o.ownOnce(), Tier: string(o.Box.Tier()), Exit: res.Exit, Signal: res.Signal, Limit: res.Limit,
		Truncated: res.Truncated, Refused: res.Refused, Seconds: res.Wall.Seconds(), Seed: q.seed, TZ: q.tz, At: at,
		Canary: q.canary, Mutated: q.mutated,
	}}
	if q.as != nil {
		r.Check = q.as.ID
	}
	if q.watch != nil {
		r.ran, _ = q.watch.heard(reports) // what cannot be read says nothing
	}
	if (q.argv == nil || q.asCheck) && q.watch == nil {
		r.Left = o.left(reports, q.dir, began, time.Now())
	}
	if o.base != nil {
		r.Setup = o.base.setup.Layer
	}
	r.Report = report.Read(report.Run{
		Command: command, Dir: cmp.Or(at, q.dir), Subdir: slash(sub), Module: o.Module, Own: r.Own, Stdout: res.Stdout, Stderr: res.Stderr, Files: r.Left, Exit: res.Exit,
		Signal: res.Signal, Limit: res.Limit, Truncated: res.Truncated, Refused: res.Refused, Duration: res.Wall,
	})
	if !q.keep {
		o.told(r)
	}
	return r, nil
}

// commandOf is the check that a request runs, and its command as records and as the system have it, and where.
func (o *Oracle) commandOf(q request) (check plan.Check, command string, argv []string, sub string) {
	check = o.Check
	if q.as != nil {
		check = *q.as
	}
	switch {
	case q.argv != nil:
		return check, patch.Line(q.argv), q.argv, q.sub
	case q.watch != nil:
		return check, o.Check.Run, shell(check), check.Dir // what is put in front of its path is no part of it
	}
	return check, check.Run, shell(check), check.Dir
}

// reportsFor makes the folder that an instrumented or watched run leaves its reports in, and names the one that it is instrumented from.
func (o *Oracle) reportsFor(q request) (reports, lines string, err error) {
	if q.mode != proof.Instrumented && q.watch == nil {
		return "", "", nil
	}
	if lines, err = o.instrumentsDir(); err != nil {
		return "", "", err
	}
	if reports, err = os.MkdirTemp(o.Scratch, "reports-"); err != nil {
		return "", "", fmt.Errorf("make a folder for reports: %w", err)
	}
	if q.watch != nil {
		err = q.watch.ask(reports)
	}
	return reports, lines, err
}

// repository makes the repository that a run finds in its tree, if there is to be one.
func (o *Oracle) repository(ctx context.Context, dir string) (remove func() error, err error) {
	if o.Repository == nil {
		return func() error { return nil }, nil
	}
	return o.Repository(ctx, dir)
}

// told tells of a run.
func (o *Oracle) told(r Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.OnRun != nil {
		o.OnRun(r)
	}
}

// keep writes a run's raw output into the evidence, then tells of it.
func (o *Oracle) keep(r *Run) (err error) {
	if o.Keep != nil {
		if r.Files, err = o.Keep(r.RunRecord, r.Result); err != nil {
			return fmt.Errorf("keep the report of %s-%d: %w", r.Phase, r.N, err)
		}
	}
	o.told(*r)
	return nil
}

// shell is a check's command as a shell runs it; -e as hosted runners do, and pipefail where bash was asked for.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
func shell(c plan.Check) []string {
	if c.Shell == "bash" {
		return []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", c.Run}
	}
	return []string{"sh", "-e", "-c", c.Run}
}

// env is a run's whole environment; later entries win over earlier ones.
func (o *Oracle) env(q request, check plan.Check, home, cache, reports, lines string) []string {
	env := newEnviron(o.Needs.Env)
	env.set("HOME", home)
	if o.Needs.Tools["java"] != "" && env.get("GRADLE_USER_HOME") == "" {
		env.set("GRADLE_USER_HOME", filepath.Join(home, ".gradle")) // a JVM asks the system for its home, not the environment
	}
	env.set("GOENV", "off")
	env.set("GIT_CONFIG_NOSYSTEM", "1") // where the machine's file is not readable, git would not start
	env.set("GIT_CEILING_DIRECTORIES", filepath.Dir(q.dir))
	if o.Needs.Go != "" {
		env.set("GOCACHE", cache)
		env.set("GOPATH", filepath.Join(home, "go"))
	}
	if q.argv == nil || q.asCheck {
		for k, v := range check.Env {
			env.set(k, v)
		}
	}
	if q.tz != "" {
		env.set("TZ", q.tz)
	}
	if q.mode == proof.Instrumented {
		o.instrument(env, q, reports, lines)
	}
	if q.watch != nil {
		q.watch.watch(env, q.dir, reports, lines)
	}
	for _, kv := range q.env {
		env.setPair(kv)
	}
	return env.list()
}

// wall is the time one run may take.
func (o *Oracle) wall(asked time.Duration, check plan.Check) time.Duration {
	for _, d := range []time.Duration{asked, o.Timeout, check.Timeout} {
		if d > 0 {
			return d
		}
	}
	return 10 * time.Minute
}

// next numbers the runs of a phase from 1.
func (o *Oracle) next(phase string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.counts == nil {
		o.counts = map[string]int{}
	}
	o.counts[phase]++
	return o.counts[phase]
}
