package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

// fixFlags are the flags of the commands that do a job.
type fixFlags struct {
	check    string
	baseURL  string
	model    string
	tiers    string
	turns    int
	minutes  int
	evidence string
	sandbox  string
	timeout  time.Duration
	apply    bool
	seed     int64
}

func (f *fixFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.baseURL, "base-url", "", "address of a model server on this machine, as in http://127.0.0.1:8080/v1 (found on the usual ports if empty)")
	fs.StringVar(&f.model, "model", "", "id of the model there (its only one if empty)")
	fs.StringVar(&f.tiers, "tiers", "mechanic,small,big", "proposers to use, weakest first: a subset of mechanic,small,big")
	fs.IntVar(&f.turns, "turns", 0, "how often each model is asked (6 if zero)")
	fs.IntVar(&f.minutes, "minutes", 0, "how long the job may take (30 if zero)")
	fs.StringVar(&f.evidence, "evidence", "", "folder for the evidence (one in the user's state folder if empty; never inside the repository)")
	fs.StringVar(&f.sandbox, "sandbox", "", "sandbox tier: bubblewrap, landlock, seatbelt, or none to run unconfined at your own risk (the strongest that works if empty)")
	fs.DurationVar(&f.timeout, "timeout", 0, "how long one run of the check may take, as in 90s (10m if zero)")
	fs.Int64Var(&f.seed, "job-seed", 1, "seed of sampling and of test orders")
}

func (a *app) fixCmd() *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   "fix",
		Short: "repair this repository's red check and leave one commit on a branch",
		Long: "fix finds this repository's check (or takes --check), sees it red on HEAD in a jail, repairs it, proves the repair, and\n" +
			"leaves one commit on a branch redraft/fix-…. It writes nothing else in the repository.\n" +
			"Exit: 0 proved, 1 stopped with a typed reason, 2 usage or configuration, 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return ourSide(err)
			}
			return a.fix(cmd.Context(), dir, f)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.check, "check", "", "the command that is red, as in 'go test ./...' (found in the repository if empty)")
	cmd.Flags().BoolVar(&f.apply, "apply", false, "bring the commit into the checkout as well, if that is clean")
	return cmd
}

// fix does one local job and shows it.
func (a *app) fix(ctx context.Context, dir string, f fixFlags) error {
	s, err := a.begin(ctx, dir, f)
	if err != nil {
		return err
	}
	if f.apply && s.repo.Dirty {
		return usage("--apply needs a clean checkout: %d files differ from HEAD and %d are untracked. Commit or stash them, or run without --apply", s.repo.Changed, s.repo.Untracked)
	}
	ui := a.newScreen()
	ui.opening(s)
	if err := a.sweep(ctx, s.store, s.state); err != nil {
		ui.warn(fmt.Sprintf("old evidence stays: %v", err))
	}
	out, err := s.job(a, f, "fix", ui.event).Do(ctx)
	if err != nil {
		ui.failed(s, err)
		return a.endOf(ctx, out, err)
	}
	if f.apply && out.Proof != nil {
		if err := s.store.ApplyToCheckout(ctx, s.repo, out.Commit); err != nil {
			ui.warn(fmt.Sprintf("not applied: %v", err))
		} else {
			ui.applied = true
		}
	}
	ui.closing(s, out)
	if out.Stop.Reason != trace.Fixed {
		return stopped()
	}
	return nil
}

// endOf is the exit of a job that our side could not finish.
func (a *app) endOf(ctx context.Context, out job.Outcome, err error) error {
	if ctx.Err() != nil {
		return stopped()
	}
	return ourSide(err)
}

// setting is the opened surroundings of local jobs.
type setting struct {
	repo     worktree.Repo
	store    *worktree.Store
	mirror   *worktree.Mirror
	state    string
	evidence string
	id       string
	tiers    []string
	models   []trace.ModelChoice
	found    []model.Found
	command  string
	file     plan.File // of HEAD; zero when there is none
	key      *proof.Key
}

// begin opens the repository, the state folder and the models. It writes nothing into the repository.
func (a *app) begin(ctx context.Context, dir string, f fixFlags) (*setting, error) {
	s := &setting{command: f.check}
	var err error
	if s.tiers, err = tiers(f.tiers); err != nil {
		return nil, err
	}
	if f.turns < 0 || f.minutes < 0 || f.timeout < 0 {
		return nil, usage("--turns and --minutes take whole numbers from 1, --timeout a time such as 90s")
	}
	if err := knownTier("--sandbox", f.sandbox); err != nil {
		return nil, err
	}
	if f.check != "" && strings.TrimSpace(f.check) == "" {
		return nil, usage("--check is blank")
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		return nil, ourSide(err)
	}
	if s.state, err = a.stateDir(); err != nil {
		return nil, err
	}
	if s.key, err = a.config.Sign.key(); err != nil {
		return nil, err
	}
	if s.store, err = worktree.Open(git, s.state); err != nil {
		return nil, ourSide(err)
	}
	if s.repo, err = s.store.Inspect(ctx, dir); err != nil {
		return nil, uninspected(err)
	}
	if s.mirror, err = s.store.Mirror(ctx, s.repo.Dir); err != nil {
		return nil, ourSide(err)
	}
	if s.file, err = fileAt(s.mirror, s.repo.Head); err != nil {
		return nil, usage("read the configuration of HEAD: %w", err)
	}
	s.id = job.NewID(time.Now(), strings.ToLower(rand.Text()[:8]))
	if s.evidence, err = s.evidenceDir(f); err != nil {
		return nil, err
	}
	return s, a.chooseModels(ctx, s, f)
}

// uninspected is why a folder is no repository to work on: the user's to mend, unless git was ended from outside.
func uninspected(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return ourSide(err)
	}
	return usage("%w%s", err, remedy(err))
}

// knownTier refuses a tier that is none; "" is the strongest that works.
func knownTier(flag, tier string) error {
	known := []sandbox.Tier{"", sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt, sandbox.Unconfined}
	if !slices.Contains(known, sandbox.Tier(tier)) {
		return usage("%s %s is none of bubblewrap, landlock, seatbelt, none", flag, tier)
	}
	return nil
}

// fileAt is the repository's own configuration at a commit.
func fileAt(m *worktree.Mirror, sha string) (plan.File, error) {
	b, err := m.FileAt(sha, plan.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return plan.File{}, nil
	}
	if err != nil {
		return plan.File{}, err
	}
	return plan.ParseFile(b)
}

// remedy is what to do about a folder that no job can be about.
func remedy(err error) string {
	switch {
	case errors.Is(err, worktree.ErrNoCommits):
		return ". Commit what you have first: a job is about a commit"
	case errors.Is(err, worktree.ErrNotRepository):
		return ". Run it inside a git repository"
	}
	return ""
}

// evidenceDir is where the evidence goes: never inside the repository, never into a folder that holds something.
func (s *setting) evidenceDir(f fixFlags) (string, error) {
	if f.evidence == "" {
		return filepath.Join(s.state, "jobs", s.id), nil
	}
	dir, err := filepath.Abs(f.evidence)
	if err != nil {
		return "", usage("--evidence: %w", err)
	}
	if rel, err := filepath.Rel(s.repo.Dir, real(dir)); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", usage("--evidence %s lies inside the repository; choose a folder outside of it", f.evidence)
	}
	if names, err := os.ReadDir(dir); err == nil && len(names) > 0 {
		return "", usage("--evidence %s is not empty; every job has a folder of its own", f.evidence)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", usage("--evidence: %w", err)
	}
	return dir, nil
}

// real resolves the part of a path that exists.
func real(dir string) string {
	for rest := ""; ; {
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(r, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return filepath.Join(dir, rest)
		}
		rest, dir = filepath.Join(filepath.Base(dir), rest), parent
	}
}

// chooseModels takes the flag's server, else the operator's file, else what answers on the usual ports.
func (a *app) chooseModels(ctx context.Context, s *setting, f fixFlags) error {
	if !slices.Contains(s.tiers, "small") && !slices.Contains(s.tiers, "big") {
		return nil
	}
	first := s.tiers[0]
	if first == "mechanic" {
		first = s.tiers[1]
	}
	switch {
	case f.baseURL != "":
		if err := model.CheckAddress(f.baseURL); err != nil {
			return usage("--base-url %s: %w", f.baseURL, err)
		}
		s.models = []trace.ModelChoice{{Tier: first, Name: f.model, BaseURL: f.baseURL, Model: f.model}}
	case len(a.config.Models) > 0:
		s.models = a.config.tiers()
	default:
		s.found = model.Detect(ctx)
		for _, found := range s.found {
			if id := pick(found.Models, f.model); id != "" {
				s.models = []trace.ModelChoice{{Tier: first, Name: id, BaseURL: found.BaseURL, Model: id}}
				break
			}
		}
	}
	if len(s.models) == 0 && !slices.Contains(s.tiers, "mechanic") {
		return ourSide(fmt.Errorf("no model server answers on this machine (ports 1234, 11434, 8080, 8000) and --tiers leaves the mechanic out. Start one, name it with --base-url, or add mechanic to --tiers"))
	}
	return nil
}

// pick is the model to use of a server's: the wanted one, else a coder, else the first.
func pick(ids []string, want string) string {
	for _, id := range ids {
		if want == id {
			return id
		}
	}
	if want != "" || len(ids) == 0 {
		return ""
	}
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), "coder") {
			return id
		}
	}
	return ids[0]
}

// job is the local job of this setting.
func (s *setting) job(a *app, f fixFlags, trigger string, onEvent func(trace.Event)) job.Job {
	j := job.Job{
		Mirror: s.mirror, Exe: []string{repairExe()}, Command: s.command, Dir: s.repo.Prefix, Timeout: f.timeout, Getenv: a.getenv, Outside: []string{s.repo.Dir}, Evidence: s.evidence, State: s.state,
		Sandboxes: []string{string(sandbox.Bubblewrap), string(sandbox.Landlock), string(sandbox.Seatbelt)}, Cleaner: a.clean, OnEvent: onEvent, Key: s.key,
		End: job.Branch{Mirror: s.mirror, Repo: s.repo.Dir, Clean: a.clean},
		Spec: trace.Job{
			ID: s.id, Key: s.repo.Dir + "#" + s.command, Repo: filepath.Base(s.repo.Dir), Target: "working copy", Trigger: trigger,
			Root: s.repo.Head, Base: s.repo.Head, Models: s.models, Tiers: s.tiers, Seed: f.seed, Limits: a.limits(f, s.file.Limits),
			Fixers: s.file.Fixers, Protect: s.file.Protect, Allow: s.file.Allow,
			Sandbox: trace.SandboxChoice{Tier: a.config.Sandbox.Tier, Allow: a.config.Sandbox.Allow}, Setup: a.config.Setup.choice("checkout " + s.repo.Dir),
		},
	}
	if f.sandbox != "" {
		j.Spec.Sandbox = trace.SandboxChoice{Tier: f.sandbox, Allow: []string{f.sandbox}}
	}
	if slices.Contains(j.Spec.Sandbox.Allow, string(sandbox.Unconfined)) {
		j.Sandboxes = append(j.Sandboxes, string(sandbox.Unconfined))
	}
	return j
}

// limits are the job's budgets: the operator's file lowered by the repository's, and a flag that the operator types wins.
func (a *app) limits(f fixFlags, repository plan.Limits) trace.Limits {
	under := a.ceilings().Under(repository)
	l := trace.Limits{Turns: under.Turns, Files: under.Files, Lines: under.Lines, Wall: time.Duration(under.Minutes) * time.Minute}
	if f.turns > 0 {
		l.Turns = f.turns
	}
	if f.minutes > 0 {
		l.Wall = time.Duration(f.minutes) * time.Minute
	}
	return l
}
