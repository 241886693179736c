package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

func (a *app) demoCmd() *cobra.Command {
	var f fixFlags
	var seed int
	var all, onGitHub bool
	var local githubDemo
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "watch a red check become a proved patch, in a small repository made for it",
		Long: "demo makes a small Go repository with one fault, sees its check red, repairs it, proves the repair, and shows the diff and the\n" +
			"proof. Without --seed it takes a fault that the mechanic is known to repair without any model; --seed N picks any, and\n" +
			"--all runs every one and prints the share solved. With --github the same happens on a GitHub: one is started on this\n" +
			"machine, its failed check reaches redraft as a signed webhook, and the answer is a draft pull request there.\n" +
			"Exit: 0 proved (with --all: every seed ended in a typed stop), 1 stopped, 2 usage, 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("seed") && (seed < 1 || seed > demoSeeds()) {
				return usage("--seed takes 1 to %d", demoSeeds())
			}
			if !onGitHub && (local.keep || local.repo != "" || f.check != "") {
				return usage("--keep, --repo and --check go with --github")
			}
			if onGitHub && f.evidence != "" {
				return usage("--evidence goes without --github: the server keeps the evidence, and its place is printed")
			}
			if all && onGitHub {
				return usage("--all goes without --github")
			}
			if onGitHub {
				return a.demoGitHub(cmd.Context(), f, local, seed)
			}
			if all {
				return a.demoAll(cmd.Context(), f)
			}
			return a.demo(cmd.Context(), f, seed, cmd.Flags().Changed("seed"))
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&seed, "seed", demoDefault, fmt.Sprintf("which fault: 1 to %d", demoSeeds()))
	cmd.Flags().BoolVar(&onGitHub, "github", false, "on a GitHub of this machine's own: from a signed webhook to a draft pull request")
	cmd.Flags().BoolVar(&local.keep, "keep", false, "with --github: leave GitHub and server running, and print their addresses")
	cmd.Flags().StringVar(&f.check, "check", "", "with --repo: the command that is red there, as in 'go test ./...'")
	cmd.Flags().StringVar(&local.repo, "repo", "", "with --github: put this repository there instead of the demo's; needs --check")
	cmd.Flags().BoolVar(&all, "all", false, "run every seed and print the share solved")
	return cmd
}

// demo runs one seed as fix would run it.
func (a *app) demo(ctx context.Context, f fixFlags, seed int, chosen bool) error {
	dir, remove, err := a.demoRepository(ctx, seed)
	if err != nil {
		return ourSide(err)
	}
	if !a.json {
		_, fault := demoRepo(seed)
		fmt.Fprintf(a.out, "A small repository with one fault was made: %s\nProgram %q, fault of seed %d", dir, fault.Program, seed)
		if chosen {
			fmt.Fprintf(a.out, " (%s).\n", fault.Kind)
		} else {
			fmt.Fprintf(a.out, ", one that the mechanic is known to repair; --seed N picks another.\n")
		}
	}
	err = a.fix(ctx, dir, f)
	if err != nil || a.json {
		remove()
	} else {
		fmt.Fprintf(a.out, "The repository stays at %s until you remove it.\n", dir)
	}
	return err
}

// demoRepository makes the repository of a seed in a temporary folder.
func (a *app) demoRepository(ctx context.Context, seed int) (string, func(), error) {
	files, _ := demoRepo(seed)
	parent, err := os.MkdirTemp("", "redraft-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("make the demo repository: %w", err)
	}
	dir := filepath.Join(parent, "demo")
	if err := worktree.Init(ctx, dir, files, "A small program and its tests"); err != nil {
		return "", nil, fmt.Errorf("make the demo repository: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(parent) }, nil
}

// seedResult is how one seed of the demo ended.
type seedResult struct {
	Seed     int     `json:"seed"`
	Program  string  `json:"program"`
	Kind     string  `json:"kind"`
	Mechanic bool    `json:"mechanic_can"`
	Stop     string  `json:"stop"`
	By       string  `json:"by,omitempty"`
	Seconds  float64 `json:"seconds"`
	Text     string  `json:"text,omitempty"`
}

// demoAll runs every seed and prints the share solved, the unsolved ones with their stop.
func (a *app) demoAll(ctx context.Context, f fixFlags) error {
	if f.evidence != "" {
		return usage("--evidence goes with one seed, not with --all")
	}
	var results []seedResult
	for seed := 1; seed <= demoSeeds(); seed++ {
		r, err := a.demoSeed(ctx, f, seed)
		if err != nil {
			return err
		}
		results = append(results, r)
		if !a.json {
			fmt.Fprintf(a.out, "%3d  %-9s %-18s %-12s %-9s %5.1fs\n", r.Seed, r.Program, r.Kind, r.Stop, r.By, r.Seconds)
		}
	}
	solved := 0
	unsolved := map[string][]int{}
	for _, r := range results {
		if r.Stop == string(trace.Fixed) {
			solved++
		} else {
			unsolved[r.Stop] = append(unsolved[r.Stop], r.Seed)
		}
	}
	if a.json {
		a.printJSON(map[string]any{"seeds": results, "solved": solved, "of": len(results)})
		return nil
	}
	fmt.Fprintf(a.out, "\nsolved %d of %d (%.0f%%)\n", solved, len(results), 100*float64(solved)/float64(len(results)))
	var stops []string
	for s := range unsolved {
		stops = append(stops, s)
	}
	sort.Strings(stops)
	for _, s := range stops {
		fmt.Fprintf(a.out, "%s: seeds %v\n", s, unsolved[s])
	}
	return nil
}

// demoSeed runs one seed quietly.
func (a *app) demoSeed(ctx context.Context, f fixFlags, seed int) (seedResult, error) {
	_, fault := demoRepo(seed)
	r := seedResult{Seed: seed, Program: fault.Program, Kind: fault.Kind, Mechanic: fault.MechanicCan}
	dir, remove, err := a.demoRepository(ctx, seed)
	if err != nil {
		return r, ourSide(err)
	}
	defer remove()
	start := time.Now()
	out, err := a.quietly(ctx, dir, f, "demo")
	if err != nil {
		return r, a.endOf(ctx, out, fmt.Errorf("seed %d: %w", seed, err))
	}
	r.Stop, r.Text, r.Seconds = string(out.Stop.Reason), out.Stop.Text, time.Since(start).Seconds()
	if out.Proof != nil {
		r.By = out.Proof.Receipt().By
	}
	return r, nil
}

// quietly does a job and shows nothing.
func (a *app) quietly(ctx context.Context, dir string, f fixFlags, trigger string) (job.Outcome, error) {
	s, err := a.begin(ctx, dir, f)
	if err != nil {
		return job.Outcome{}, err
	}
	return s.job(a, f, trigger, nil).Do(ctx)
}
