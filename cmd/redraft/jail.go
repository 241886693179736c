package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/worktree"
)

// jailFlags are those of redraft jail.
type jailFlags struct {
	tier    string
	network string
	timeout time.Duration
}

func (a *app) jailCmd() *cobra.Command {
	var f jailFlags
	cmd := &cobra.Command{
		Use:   "jail -- COMMAND [ARGUMENT...]",
		Short: "run any command the way a check runs, and say what it hit",
		Long: "jail runs a command in a copy of this folder, without .git, in the jail that checks run in: with the check's environment,\n" +
			"without secrets and without a route off the machine. It shows what the command said, how it ended, which calls were refused\n" +
			"and what it tried to reach. What it writes is thrown away.\n" +
			"Exit: 0 the command ended with 0, 1 with anything else, 2 usage, 3 our side failed.",
		Example: "  redraft jail -- sh -c 'cat ~/.ssh/id_ed25519; curl -m 3 https://example.org'\n  redraft jail --network none -- go test ./...",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.jail(cmd.Context(), f, args) },
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&f.tier, "tier", "", "sandbox tier, or none to run unconfined (the strongest that works if empty)")
	cmd.Flags().StringVar(&f.network, "network", "loopback", "loopback: one of its own, as checks have; none: no internet socket at all")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "how long the command may take, as in 90s (10m if zero)")
	return cmd
}

func (a *app) jail(ctx context.Context, f jailFlags, args []string) error {
	network, ok := map[string]sandbox.Network{"loopback": sandbox.Loopback, "none": sandbox.None}[f.network]
	if !ok {
		return usage("--network %s is neither loopback nor none", f.network)
	}
	if err := knownTier("--tier", f.tier); err != nil {
		return err
	}
	opt := sandbox.Options{Tier: sandbox.Tier(orElse(f.tier, a.config.Sandbox.Tier))}
	for _, t := range append(a.config.Sandbox.Allow, f.tier) { // typed is allowed
		opt.Allow = append(opt.Allow, sandbox.Tier(t))
	}
	dir, err := os.Getwd()
	if err != nil {
		return ourSide(err)
	}
	scratch, err := os.MkdirTemp("", "redraft-jail-")
	if err != nil {
		return ourSide(err)
	}
	defer os.RemoveAll(scratch)
	opt.TmpDir = scratch
	box, err := sandbox.Open(opt)
	if err != nil {
		return usage("%w", err)
	}
	res, err := a.jailed(ctx, box, dir, scratch, args, f.timeout, network)
	if ctx.Err() != nil {
		return stopped()
	}
	if err != nil {
		return ourSide(err)
	}
	a.showJail(box, f.network, res)
	if res.Exit != 0 || res.Limit != "" {
		return stopped()
	}
	return nil
}

// jailed runs a command on a copy of dir as the oracle runs its own.
func (a *app) jailed(ctx context.Context, box *sandbox.Sandbox, dir, scratch string, args []string, timeout time.Duration, network sandbox.Network) (sandbox.Result, error) {
	tree := filepath.Join(scratch, "tree")
	if _, err := worktree.CopySealed(ctx, dir, tree); err != nil {
		return sandbox.Result{}, err
	}
	needs, err := plan.Toolchain(ctx, plan.Set{Checks: []plan.Check{{ID: "given", Run: strings.Join(args, " ")}}}, a.getenv, dir)
	if err != nil {
		return sandbox.Result{}, err
	}
	root, closeRoot, err := oracle.FS(tree)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer closeRoot() //nolint:errcheck // it was only read
	if !holdsGo(root) {
		needs.Go = ""
	}
	o := &oracle.Oracle{Box: box, Needs: needs, Root: root, Scratch: scratch, Clean: a.clean.Text}
	res, _, err := o.Exec(ctx, oracle.Exec{Phase: "jail", Dir: tree, Argv: args, Cache: "jail", Timeout: timeout, Network: network})
	return res, err
}

// showJail says how a command ended and what it hit.
func (a *app) showJail(box *sandbox.Sandbox, network string, res sandbox.Result) {
	if a.json {
		a.printJSON(map[string]any{
			"tier": box.Tier(), "network": network, "gaps": box.Gaps(), "exit": res.Exit, "signal": res.Signal, "limit": res.Limit, "seconds": res.Wall.Seconds(),
			"cpu_seconds": (res.User + res.Sys).Seconds(), "max_rss": res.MaxRSS, "refused": append([]string{}, res.Refused...), "egress": append([]sandbox.Attempt{}, res.Egress...),
			"truncated": res.Truncated, "stdout": string(res.Stdout), "stderr": string(res.Stderr),
		})
		return
	}
	fmt.Fprint(a.out, a.clean.Terminal(string(res.Stdout)))
	fmt.Fprint(a.err, a.clean.Terminal(string(res.Stderr)))
	end := fmt.Sprintf("exit status %d", res.Exit)
	if res.Signal != "" {
		end = "ended by " + res.Signal
	}
	if res.Limit != "" {
		end += ", at the limit of " + res.Limit
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\njail     %s, network %s\nended    %s, %.2f s, %.2f s of CPU, %d MiB\n", box.Tier(), network, end, res.Wall.Seconds(), (res.User + res.Sys).Seconds(), res.MaxRSS>>20)
	fmt.Fprintf(&b, "refused  %s\n", orElse(strings.Join(res.Refused, ", "), "no call"))
	fmt.Fprintf(&b, "egress   %s\n", orElse(attempts(res.Egress), "nothing was tried to be reached"))
	for _, g := range box.Gaps() {
		fmt.Fprintf(&b, "gap      %s\n", g)
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

func attempts(all []sandbox.Attempt) string {
	var out []string
	for _, a := range all {
		out = append(out, fmt.Sprintf("%s ×%d", a.To, a.N))
	}
	return strings.Join(out, ", ")
}
