package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/plan"
)

// planFlags are those of redraft plan.
type planFlags struct {
	workflow, job, step string
	matrix, inputs      map[string]string
}

// planCmd prints which commands are this repository's check.
func (a *app) planCmd() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "print this repository's checks: command, where it was found, fingerprint",
		Long: "plan prints the checks of HEAD with their provenance and the fingerprint that a proof pins. It runs nothing.\n" +
			"With --workflow it prints the check that one step of a workflow is, or why none can be told from it.\n" +
			"Exit: 0 found, 1 none found, 2 not a repository.",
		Example: "  redraft plan\n  redraft plan --workflow .github/workflows/ci.yml --job test --step 'Run go test ./...' --matrix go=1.26",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.plan(cmd, f) },
	}
	cmd.Flags().StringVar(&f.workflow, "workflow", "", "file of a workflow, as in .github/workflows/ci.yml")
	cmd.Flags().StringVar(&f.job, "job", "", "id or shown name of a job (the only one if empty)")
	cmd.Flags().StringVar(&f.step, "step", "", "number, id or shown name of a step (the only run: if empty); 'outer > inner' for one of a local action")
	cmd.Flags().StringToStringVar(&f.matrix, "matrix", nil, "values of the matrix, as in os=ubuntu-latest,go=1.26")
	cmd.Flags().StringToStringVar(&f.inputs, "input", nil, "inputs that the workflow was started with by hand")
	return cmd
}

func (a *app) plan(cmd *cobra.Command, f planFlags) error {
	dir, err := os.Getwd()
	if err != nil {
		return ourSide(err)
	}
	if f.workflow == "" && (f.job != "" || f.step != "" || len(f.matrix)+len(f.inputs) > 0) {
		return usage("--job, --step, --matrix and --input speak of a --workflow")
	}
	s, err := a.begin(cmd.Context(), dir, fixFlags{tiers: "mechanic"})
	if err != nil {
		return err
	}
	root, err := s.mirror.TreeFS(s.repo.Head)
	if err != nil {
		return ourSide(err)
	}
	var set plan.Set
	if f.workflow == "" {
		set, err = plan.Find(root)
	} else {
		set, err = plan.FromWorkflow(root, f.workflow, plan.At{
			Job: f.job, Step: f.step, Matrix: f.matrix, Inputs: f.inputs, GitHub: map[string]string{"sha": s.repo.Head},
		})
	}
	var none *plan.NoCheck
	if errors.As(err, &none) {
		return a.noPlan(err)
	}
	if err != nil {
		return usage("%w", err)
	}
	a.showPlan(set)
	return nil
}

// noPlan says why there is no check.
func (a *app) noPlan(err error) error {
	var no *plan.Unplanned
	if !errors.As(err, &no) {
		return &coded{exitStopped, err}
	}
	if a.json {
		a.printJSON(map[string]any{"needs_configuration": no})
		return stopped()
	}
	fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("needs_configuration (%s)\n  %s\n  Name the command in %s, under checks.\n", no.Reason, no.Text, plan.FileName)))
	return stopped()
}

func (a *app) showPlan(set plan.Set) {
	if a.json {
		a.printJSON(set)
		return
	}
	for _, c := range set.Checks {
		fmt.Fprint(a.out, a.clean.Terminal(planText(c)))
	}
	for _, w := range set.Wants {
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("before it    %s\n", w)))
	}
	fmt.Fprintf(a.out, "fingerprint  %s\n", set.Fingerprint)
}

// planText is one check with all that decides what is run.
func planText(c plan.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  command    %s\n  folder     %s\n  found in   %s (%s)\n",
		c.ID, strings.ReplaceAll(c.Run, "\n", "\n             "), orElse(c.Dir, "."), c.Source, c.Provenance)
	if c.Shell != "" {
		fmt.Fprintf(&b, "  shell      %s\n", c.Shell)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		fmt.Fprintf(&b, "  sets       %s=%s\n", name, c.Env[name])
	}
	if len(c.Scripts) > 0 {
		fmt.Fprintf(&b, "  runs       %s (protected)\n", strings.Join(c.Scripts, ", "))
	}
	if c.Git {
		b.WriteString("  git        it finds a throw-away repository: one commit of its own files\n")
	}
	b.WriteString("  contract   in a jail: reads the toolchain, writes a copy of HEAD, no route off the machine\n")
	return b.String()
}
