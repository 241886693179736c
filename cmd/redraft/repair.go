package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/machine"
	"github.com/redraft-dev/redraft/agent/mechanic"
	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

// repairExe is the program that repairs: this one. Tests put another build of it there.
var repairExe = func() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// repairCmd is the process that fix and the server start: it talks to the model and orders runs, and holds no credential.
func (a *app) repairCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "repair JOB.json",
		Short: "do one job that another redraft process wrote down (started by fix and demo, not by people)",
		Long: "repair reads JOB.json and does the job: it sees the red, asks the proposers, proves a repair, and writes the\n" +
			"evidence. It expects an empty environment and a standard input that stays open as long as its parent lives;\n" +
			"it prints one JSON line an event. Exit: 0 fixed, 1 another stop, 2 an unusable job, 3 our side failed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := trace.ReadJob(args[0])
			if err != nil {
				return usage("%w", err)
			}
			if env := os.Environ(); len(env) > 0 && j.Trigger != "by-hand" {
				return usage("repair: the environment must be empty; it holds %d variables. Start it through redraft fix", len(env))
			}
			return a.repair(cmd.Context(), j)
		},
	}
}

// errParent is the cause of the end when the process that started this one is gone.
var errParent = errors.New("the process that started this job is gone")

func (a *app) repair(ctx context.Context, j trace.Job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // a pipe that nobody writes to: its end is the parent's
		_, _ = io.Copy(io.Discard, a.stdin)
		cancel(errParent)
	}()
	ctx, unwatch := trace.WatchCancel(ctx, j.Evidence)
	defer unwatch()
	var mu sync.Mutex
	rec, err := trace.Open(j.Evidence, j.ID, a.clean.Text, func(e trace.Event) {
		mu.Lock()
		defer mu.Unlock()
		_ = trace.WriteProgress(a.out, e) // a parent that no longer reads is noticed by its pipe
	})
	if err != nil {
		return ourSide(err)
	}
	defer rec.Close()
	ag, done, err := a.assemble(ctx, j, rec)
	if err != nil {
		return ourSide(errors.Join(err, noted(rec, err)))
	}
	defer done()
	peers := machine.Sample(ctx, sampleEvery)
	stop, err := ag.Repair(ctx)
	err = errors.Join(err, rec.Add(0, trace.TypeEgress, egress(peers)))
	if err != nil {
		return ourSide(errors.Join(err, noted(rec, err)))
	}
	if stop.Reason != trace.Fixed {
		return stopped()
	}
	return nil
}

// sampleEvery is how often this process' own connections are looked at.
const sampleEvery = 250 * time.Millisecond

// egress is what this process was seen connected to.
func egress(s *machine.Sampler) trace.EgressData {
	all, looks := s.Stop()
	d := trace.EgressData{Process: "repair", Samples: looks, To: []trace.Reach{}}
	for _, p := range all {
		d.To = append(d.To, trace.Reach{To: p.Address.String(), N: p.Looks})
	}
	return d
}

// noted leaves the reason of a failure in the trace, where a person looks.
func noted(rec *trace.Recorder, err error) error {
	return rec.Add(0, trace.TypeStep, trace.StepData{Text: "our side failed: " + err.Error()})
}

// assemble puts the organs of one job together.
func (a *app) assemble(ctx context.Context, j trace.Job, rec *trace.Recorder) (ag *agent.Agent, done func(), err error) {
	var set plan.Set
	var needs plan.Needs
	if err := errors.Join(json.Unmarshal(j.Checks, &set), json.Unmarshal(j.Needs, &needs)); err != nil {
		return nil, nil, fmt.Errorf("read the job: %w", err)
	}
	i := slices.IndexFunc(set.Checks, func(c plan.Check) bool { return c.ID == j.Check })
	if i < 0 {
		return nil, nil, fmt.Errorf("read the job: there is no check %q in it", j.Check)
	}
	box, err := openBox(j)
	if err != nil {
		return nil, nil, err
	}
	fresh := filepath.Join(j.Scratch, "trees")
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make a folder for copies: %w", err)
	}
	root, closeRoot, err := oracle.FS(j.Trees.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("open the root: %w", err)
	}
	if !holdsGo(root) { // its toolchain is of no use, and compiling and copying its standard library would take the longest
		needs.Go = ""
	}
	o := &oracle.Oracle{
		Box: box, Check: set.Checks[i], Others: set.Others(j.Check), Needs: needs, Root: root, Module: modulePath(j.Trees.Root, set.Checks[i].Dir),
		Policy: proof.PatchPolicy(j.Protect, j.Allow, set.AllScripts(), j.Limits.Files, j.Limits.Lines), Links: j.Links, Scratch: j.Scratch, Seed: j.Seed, Clean: a.clean.Text, Keep: agent.Keep(j.Evidence),
	}
	giveTrees(o, &worktree.Copies{From: j.Trees.Root, Into: fresh, Links: j.Links})
	if o.Base, err = toolchainBase(ctx, box, needs, j, rec); err != nil {
		return nil, nil, errors.Join(err, closeRoot())
	}
	if o.Setup, err = setup(j, set, j.Trees.Root); err != nil {
		return nil, nil, errors.Join(err, closeRoot())
	}
	ag = &agent.Agent{Job: j, Plan: set, Oracle: o, Trace: rec, Root: root, Policy: o.Policy, Evidence: j.Evidence, Dial: dialer(j)}
	o.OnRun = ag.OnRun
	closeOthers, err := seesOthers(ag, o, j)
	if err != nil {
		return nil, nil, errors.Join(err, closeRoot())
	}
	if j.Fixers {
		o.Fixers = job.Fixers(root, o.Check)
	}
	own := fixers(root, o.Check)
	m := &mechanic.Mechanic{Oracle: o, Policy: o.Policy, Root: root, Module: o.Module, Fixers: own, Width: width(j)}
	ag.Coverage = m.Ran
	if slices.Contains(j.Tiers, agent.Mechanic) && (needs.Go != "" || len(own) > 0) {
		ag.Mechanic = m
		ag.Mechanic.OnTry = func(t mechanic.Try) { _ = rec.Add(0, trace.TypeCandidate, candidate(t)) }
	}
	return ag, func() { _, _ = closeRoot(), closeOthers() }, nil
}

// fixers are the writing forms of the tools that a check runs.
func fixers(root fs.FS, c plan.Check) []mechanic.Fixer {
	var out []mechanic.Fixer
	for _, f := range job.Fixers(root, c) {
		out = append(out, mechanic.Fixer{Tool: f.Tool, Kind: f.Kind, Argv: f.Argv, Dir: f.Dir, Bin: f.Bin})
	}
	return out
}

// giveTrees gives an oracle its copies, with a throw-away repository in each while a check that calls git runs.
func giveTrees(o *oracle.Oracle, c *worktree.Copies) {
	o.Trees = c
	if o.Check.Git {
		o.Repository = c.Repository
	}
}

// seesOthers gives the agent oracles over the merge of the root into its base and over that base, when the job has them.
// Nothing they see becomes evidence of a proof.
func seesOthers(ag *agent.Agent, o *oracle.Oracle, j trace.Job) (func() error, error) {
	var closers []func() error
	done := func() (err error) {
		for _, c := range closers {
			err = errors.Join(err, c())
		}
		return err
	}
	for _, other := range []struct {
		name, tree string
		runs       int // that a colour needs; as the check has it if zero
		see        *func(context.Context) (oracle.Sight, error)
	}{{"merge", j.Trees.Merge, 0, &ag.Merge}, {"base", j.Trees.Base, 1, &ag.Base}} {
		if other.tree == "" {
			continue
		}
		m, closeTree, err := another(o, j, other.name, other.tree)
		if err != nil {
			return nil, errors.Join(err, done())
		}
		closers = append(closers, closeTree)
		m.OnRun = func(r oracle.Run) {
			if r.Phase == "see" { // a phase is of one tree
				r.Phase = other.name
			}
			ag.OnRun(r)
		}
		if other.runs > 0 {
			m.Check.Runs = other.runs
		}
		*other.see = sees(m)
	}
	return done, nil
}

// another is an oracle like o over another tree, with copies and caches of its own.
func another(o *oracle.Oracle, j trace.Job, name, tree string) (*oracle.Oracle, func() error, error) {
	root, closeRoot, err := oracle.FS(tree)
	if err != nil {
		return nil, nil, fmt.Errorf("open the %s: %w", name, err)
	}
	dir := filepath.Join(j.Scratch, name)
	fresh := filepath.Join(dir, "trees")
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("make a folder for copies: %w", err), closeRoot())
	}
	m := &oracle.Oracle{
		Box: o.Box, Check: o.Check, Needs: o.Needs, Root: root, Module: o.Module, Policy: o.Policy, Links: o.Links, Scratch: dir, Seed: o.Seed, Clean: o.Clean, Base: o.Base,
	}
	giveTrees(m, &worktree.Copies{From: tree, Into: fresh, Links: j.Links})
	if o.Setup != nil {
		s := *o.Setup
		s.From, s.Keep = tree, nil
		m.Setup = &s
	}
	return m, closeRoot, nil
}

// sees is what another tree shows. One that cannot be set up is not seen: the root's own colour stands.
func sees(m *oracle.Oracle) func(context.Context) (oracle.Sight, error) {
	return func(ctx context.Context) (oracle.Sight, error) {
		var no *oracle.Unprepared
		if err := m.Prepare(ctx); errors.As(err, &no) {
			return oracle.Sight{}, nil
		} else if err != nil {
			return oracle.Sight{}, err
		}
		return m.See(ctx)
	}
}

// openBox opens the sandbox that the operator chose, or the strongest that works.
func openBox(j trace.Job) (*sandbox.Sandbox, error) {
	opt := sandbox.Options{Tier: sandbox.Tier(j.Sandbox.Tier), TmpDir: j.Scratch, DenyPorts: modelPorts(j.Models)}
	for _, t := range j.Sandbox.Allow {
		opt.Allow = append(opt.Allow, sandbox.Tier(t))
	}
	return sandbox.Open(opt)
}

// toolchainBase makes the standard library's build cache once on this machine; without a Go toolchain there is none.
func toolchainBase(ctx context.Context, box *sandbox.Sandbox, needs plan.Needs, j trace.Job, rec *trace.Recorder) (string, error) {
	if needs.Go == "" {
		return "", nil
	}
	spec := sandbox.BaseSpec{Key: needs.Go, Env: needs.Env, Read: needs.Read, State: j.State}
	if !sandbox.HasBase(spec) {
		if err := rec.Add(0, trace.TypeStep, trace.StepData{Text: "compiling the standard library once for this machine (about 20 s)"}); err != nil {
			return "", err
		}
	}
	dir, _, err := sandbox.BuildBase(ctx, box, spec)
	return dir, err
}

// maxLook is how many entries of a tree holdsGo looks at; a larger tree is taken to hold some.
const maxLook = 200_000

// holdsGo reports whether a tree has anything that a Go toolchain would read.
func holdsGo(root fs.FS) bool {
	found, seen := false, 0
	_ = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxLook {
			found = true
		}
		base := path.Base(name)
		if err == nil && !d.IsDir() && (path.Ext(base) == ".go" || base == "go.mod" || base == "go.work") {
			found = true
		}
		if found {
			return fs.SkipAll
		}
		return nil // what cannot be read is looked at by nobody
	})
	return found
}

// modulePath is the module of the check's folder, or "".
func modulePath(root, dir string) string {
	r, err := os.OpenRoot(root)
	if err != nil {
		return ""
	}
	defer r.Close()
	b, err := r.ReadFile(filepath.ToSlash(filepath.Join(dir, "go.mod")))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(b)
}

// dialer opens the job's model of a tier when it is its turn.
func dialer(j trace.Job) func(context.Context, string) (agent.Proposer, error) {
	return func(ctx context.Context, tier string) (agent.Proposer, error) {
		for _, m := range j.Models {
			if m.Tier != tier {
				continue
			}
			s, err := model.Dial(ctx, model.Endpoint{Name: m.Name, BaseURL: m.BaseURL, Model: m.Model})
			if err != nil {
				return agent.Proposer{}, err
			}
			return agent.Proposer{Model: s, Name: s.Name(), BaseURL: m.BaseURL, ID: s.ID(), Context: s.Context(), Tokens: s.Tokens}, nil
		}
		return agent.Proposer{}, &model.Error{Class: model.Connection, Doing: "dial the " + tier + " model", Err: errors.New("none is configured")}
	}
}

func width(j trace.Job) int {
	if j.Limits.Width > 0 {
		return j.Limits.Width
	}
	return min(runtime.NumCPU(), 4)
}

func candidate(t mechanic.Try) trace.CandidateData {
	c := t.Candidate
	return trace.CandidateData{Edit: strings.TrimSuffix(c.Why, "."), File: c.File, Line: c.Line, Score: c.Score, Got: string(t.Outcome)}
}
