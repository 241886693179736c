package hacks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/worktree"
)

// Bench runs cases. Its fields are set once.
type Bench struct {
	Corpus  Corpus
	Box     *sandbox.Sandbox
	State   string              // absolute folder in which the toolchain's base is kept
	Dir     string              // absolute folder for trees, caches and evidence; what is made there is removed again
	Getenv  func(string) string // of the operator
	Width   int                 // programs at a time; the number of CPUs if zero
	Runs    int                 // k of See and Confirm; theirs if zero
	Timeout time.Duration       // of one run; two minutes if zero
	Clean   func(string) string // as of the oracle
	Every   bool                // every rung is asked, also after one that refuses: slower, and each is seen alone
	On      func(Outcome)       // told of every case, one call at a time; nobody if nil
}

// Outcome is what became of one case.
type Outcome struct {
	Case     string            `json:"case"`
	Stamp    string            `json:"stamp"` // of the case and its program
	Program  string            `json:"program"`
	Language string            `json:"language"`
	Kind     string            `json:"kind"`
	Honest   bool              `json:"honest"`
	Verdict  string            `json:"verdict"`         // accepted, refused; invalid: not green on its own; failed: our side, or the program cannot be run here
	Green    bool              `json:"green"`           // the plain check ended with status 0, with the change alone and no protection
	By       []string          `json:"by,omitempty"`    // everything that refused it, of Ladder
	Rungs    map[string]string `json:"rungs,omitempty"` // status of each rung, by its id
	Text     string            `json:"text,omitempty"`  // what the first refusal said
	Seconds  float64           `json:"seconds"`
}

// Verdicts.
const (
	Accepted = "accepted"
	Refused  = "refused"
	Invalid  = "invalid"
	Failed   = "failed"
)

// Names of what refuses besides the rungs.
const (
	Gate  = "gate"
	Admit = "admit"
)

// Run runs cases, several programs at a time, and returns their outcomes in no order. The error is the cause of an early
// end; what was done until then is returned too.
func (b *Bench) Run(ctx context.Context, cases []Case) ([]Outcome, error) {
	width := b.Width
	if width <= 0 {
		width = runtime.NumCPU()
	}
	groups := make(chan []Case)
	var mu sync.Mutex
	var all []Outcome
	done := func(o Outcome) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, o)
		if b.On != nil {
			b.On(o)
		}
	}
	var wg sync.WaitGroup
	for range width {
		wg.Go(func() {
			for g := range groups {
				b.program(ctx, g, done)
			}
		})
	}
	for _, g := range byProgram(cases) {
		select {
		case groups <- g:
		case <-ctx.Done():
		}
	}
	close(groups)
	wg.Wait()
	return all, context.Cause(ctx)
}

// program runs the cases of one program, one after the other: they share what See saw of the root.
func (b *Bench) program(ctx context.Context, cases []Case, done func(Outcome)) {
	if ctx.Err() != nil {
		return
	}
	s, err := b.stage(ctx, b.Corpus.Programs[cases[0].Program])
	if err == nil {
		defer s.close()
	}
	for _, k := range cases {
		if ctx.Err() != nil {
			return
		}
		o := Outcome{
			Case: k.ID(), Stamp: b.Corpus.stamp(k), Program: k.Program, Language: b.Corpus.Programs[k.Program].Language, Kind: k.Kind, Honest: k.Honest,
		}
		start := time.Now()
		if err == nil {
			err := s.judge(ctx, k, &o)
			if err != nil {
				o.Verdict, o.Text = Failed, err.Error()
			}
		} else {
			o.Verdict, o.Text = Failed, err.Error()
		}
		if o.Seconds = time.Since(start).Seconds(); ctx.Err() == nil {
			done(o)
		}
	}
}

// stage is one program laid out, its red seen.
type stage struct {
	bench    *Bench
	dir      string
	root     fs.FS
	shut     func() error
	copies   *worktree.Copies
	set      plan.Set
	needs    plan.Needs
	base     string
	module   string
	rootTree string
	policy   patch.Policy
	seer     *oracle.Oracle
	sight    oracle.Sight
}

// stage lays a program out and sees its red. The error says why it cannot be used.
func (b *Bench) stage(ctx context.Context, p Program) (s *stage, err error) {
	s = &stage{bench: b, shut: func() error { return nil }}
	if s.dir, err = os.MkdirTemp(b.Dir, p.Name+"-"); err != nil {
		return nil, err
	}
	if err = s.lay(ctx, p); err == nil {
		err = s.see(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stage) close() error { return errors.Join(s.shut(), os.RemoveAll(s.dir)) }

func (s *stage) evidence() string { return filepath.Join(s.dir, "evidence") }
func (s *stage) scratch() string  { return filepath.Join(s.dir, "scratch") }

// lay writes the program's files and finds what its check needs.
func (s *stage) lay(ctx context.Context, p Program) (err error) {
	root, trees := filepath.Join(s.dir, "root"), filepath.Join(s.dir, "trees")
	for name, text := range p.Files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(trees, 0o700), os.MkdirAll(s.scratch(), 0o700), os.MkdirAll(s.evidence(), 0o700)); err != nil {
		return err
	}
	s.copies = &worktree.Copies{From: root, Into: trees}
	if s.root, s.shut, err = oracle.FS(root); err != nil {
		return err
	}
	if s.set, err = plan.FromCommand(s.root, p.Command); err != nil {
		return err
	}
	s.set.Checks[0].Runs = s.bench.Runs
	if s.rootTree, err = patch.TreeID(s.root, nil); err != nil {
		return err
	}
	s.policy = proof.PatchPolicy(nil, nil, s.set.AllScripts(), 0, 0)
	if s.needs, err = plan.Toolchain(ctx, s.set, s.bench.Getenv); err != nil {
		return err
	}
	if p.Language != "go" {
		s.needs.Go = ""
		return nil
	}
	if _, after, ok := strings.Cut(p.Files["go.mod"], "module "); ok {
		s.module, _, _ = strings.Cut(after, "\n")
	}
	s.base, _, err = sandbox.BuildBase(ctx, s.bench.Box, sandbox.BaseSpec{Key: s.needs.Go, Env: s.needs.Env, Read: s.needs.Read, State: s.bench.State})
	return err
}

// oracle is a new one, as a job of its own would have: nothing of an earlier case is left but what See made. What See
// learned it has to be told.
func (s *stage) oracle(policy patch.Policy) *oracle.Oracle {
	wall := s.bench.Timeout
	if wall <= 0 {
		wall = 2 * time.Minute
	}
	o := &oracle.Oracle{
		Box: s.bench.Box, Check: s.set.Checks[0], Needs: s.needs, Root: s.root, Module: s.module, Policy: policy, Trees: s.copies,
		Scratch: s.scratch(), Base: s.base, Timeout: wall, Seed: 1, Clean: s.bench.Clean, Keep: agent.Keep(s.evidence()), Every: s.bench.Every,
	}
	if o.Check.Git {
		o.Repository = s.copies.Repository
	}
	return o
}

// see sees the red that every case of the program is about.
func (s *stage) see(ctx context.Context) (err error) {
	s.seer = s.oracle(s.policy)
	if s.sight, err = s.seer.See(ctx); err != nil {
		return fmt.Errorf("see the red: %w", err)
	}
	if s.sight.Color != report.Red || s.sight.Mixed {
		r := s.sight.Runs[0].Result
		return fmt.Errorf("the root is %s (%s) and not red here: %s", s.sight.Color, s.sight.Class, tail(string(r.Stdout)+string(r.Stderr)))
	}
	return nil
}

// wipe removes what an earlier case left: caches but that of See, homes, and evidence but that of See.
func (s *stage) wipe() error {
	var errs []error
	for _, glob := range []string{filepath.Join(s.scratch(), "*"), filepath.Join(s.evidence(), "*"), filepath.Join(s.evidence(), proof.ReportsDir, "*")} {
		names, err := filepath.Glob(glob)
		errs = append(errs, err)
		for _, name := range names {
			base := filepath.Base(name)
			if base == "cache-see" || base == proof.ReportsDir || strings.HasPrefix(base, "see-") {
				continue
			}
			errs = append(errs, os.RemoveAll(name))
		}
	}
	return errors.Join(errs...)
}

func tail(s string) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-300):]
}
