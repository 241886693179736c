package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
	"github.com/redraft-dev/redraft/worktree"
)

// sceneFlags is what scene is told.
type sceneFlags struct {
	dir, log, check, sandbox string
	reports, off, on         []string
	tokens                   int
	wide                     bool
}

// sceneSections are the names that --off and --on know.
var sceneSections = []string{
	perceive.Task, perceive.Project, perceive.Tests, perceive.Source, perceive.Breaking, perceive.History, perceive.Finding, perceive.Previous,
	perceive.Said, perceive.Answer, perceive.Coverage,
}

// sceneCmd prints what a turn would show.
func (a *app) sceneCmd() *cobra.Command {
	var f sceneFlags
	cmd := &cobra.Command{
		Use:   "scene",
		Short: "print what a model would be shown of the red, with each section's tokens",
		Long: "scene prints what the first turn of a repair would show a model: the failing test with what it needs, the source at issue, what\n" +
			"depends on it, what the last commits changed there, and the finding. A list of the sections with their tokens follows. It sees the\n" +
			"red as explain-red does: by running the check on HEAD in a jail, or with --report or --log from files, and then runs nothing. The\n" +
			"tree is the folder as it lies. The source is chosen by what the failing tests run, where the check's runs can tell that (Go, pytest,\n" +
			"unittest) and coverage is not off. A token is 3.2 bytes here. A file named - is standard input.\n\n" +
			"Sections: " + strings.Join(sceneSections, ", ") + ".\nThe skeleton is off unless --on names it; coverage is no section, and is switched off like one.\n\nExit: 0 shown, 1 nothing is red, 2 usage, 3 our side failed.",
		Example: "  redraft scene --check 'go test ./...'\n  pytest -q | redraft scene --report -\n  redraft scene --log job.log --off dependents",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.scene(cmd, f) },
	}
	dirFlag(cmd, &f.dir)
	cmd.Flags().StringVar(&f.log, "log", "", "read this log of a job, or zip of a run's logs")
	cmd.Flags().StringArrayVar(&f.reports, "report", nil, "read this report of a tool (may be repeated)")
	cmd.Flags().StringVar(&f.check, "check", "", "the command that is red (found in the repository if empty); with --report or --log its name only")
	cmd.Flags().StringVar(&f.sandbox, "sandbox", "", "sandbox tier: bubblewrap, landlock, seatbelt or none")
	cmd.Flags().StringArrayVar(&f.off, "off", nil, "a section that is not shown (may be repeated)")
	cmd.Flags().StringArrayVar(&f.on, "on", nil, "a section that is shown only where it is asked for (may be repeated)")
	cmd.Flags().IntVar(&f.tokens, "tokens", 7500, "budget in tokens of 3.2 bytes")
	cmd.Flags().BoolVar(&f.wide, "wide", false, "whole files where they fit, as after failures that repeat")
	cmd.MarkFlagsMutuallyExclusive("log", "report")
	cmd.MarkFlagsMutuallyExclusive("log", "sandbox")
	cmd.MarkFlagsMutuallyExclusive("report", "sandbox")
	return cmd
}

// valid says what is wrong with the flags.
func (f sceneFlags) valid() error {
	for _, name := range slices.Concat(f.off, f.on) {
		if !slices.Contains(sceneSections, name) {
			return usage("no section is called %q; there are %s", name, strings.Join(sceneSections, ", "))
		}
	}
	if f.tokens <= 0 {
		return usage("--tokens %d is not above zero", f.tokens)
	}
	return nil
}

// red is what a scene is about.
type red struct {
	findings []report.Result
	command  string // that showed it, as far as that is known
	ran      trace.RanData
}

// redOf is what is red by a log, by reports, or by the check's own runs.
func (a *app) redOf(cmd *cobra.Command, f sceneFlags) (red, error) {
	switch {
	case f.log != "":
		l, err := readLog(cmd.InOrStdin(), f.log)
		return red{findings: l.Report.Findings(), command: firstLine(l.Step.Command)}, err
	case len(f.reports) > 0:
		files, err := readReports(cmd.InOrStdin(), f.reports)
		r, _ := report.ReadFiles(files)
		return red{findings: r.Findings()}, err
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return red{}, ourSide(err)
	}
	var on []string
	if !slices.Contains(f.off, perceive.Coverage) {
		on = []string{perceive.Coverage}
	}
	ui, out, err := a.see(cmd.Context(), dir, fixFlags{check: f.check, sandbox: f.sandbox}, on...)
	if err != nil {
		return red{}, err
	}
	if ui.see == nil || ui.see.Color != "red" {
		return red{}, &coded{exitStopped, fmt.Errorf("nothing is red here: %s", out.Stop.Text)}
	}
	all := red{command: ui.see.Command, ran: ui.ran}
	for _, x := range ui.see.Findings {
		all.findings = append(all.findings, report.Result{
			ID: x.ID, Kind: report.Kind(x.Kind), Status: report.Status(x.Status), File: x.File, Line: x.Line, Got: x.Got, Want: x.Want, Message: x.Message,
		})
	}
	return all, nil
}

func (a *app) scene(cmd *cobra.Command, f sceneFlags) error {
	if err := f.valid(); err != nil {
		return err
	}
	r, err := a.redOf(cmd, f)
	if err != nil {
		return err
	}
	if len(r.findings) == 0 {
		return &coded{exitStopped, errors.New("nothing is told to be red")}
	}
	x, err := a.index(cmd.Context(), f.dir, true)
	if err != nil {
		return err
	}
	defer x.close()
	look := perceive.Look{
		Root: x.tree, Index: x.Index, Module: modulePath(f.dir, "."), Rules: agent.Rules(),
		Command: cmp.Or(f.check, r.command, "the check"), Findings: r.findings, Protected: patch.Policy{}.Protected,
		Suspects: agent.Suspects(a.recent(cmd.Context(), f.dir)), Budget: f.tokens, Wide: f.wide, Off: f.off, On: f.on,
	}
	for _, l := range r.ran.Lines {
		look.Ran = append(look.Ran, perceive.Ran{Lines: perceive.Lines{File: l.File, First: l.First, Last: l.Last}, Suspicion: l.Suspicion})
	}
	a.showScene(look.Scene(), f.tokens, r.covered(f.off))
	return nil
}

// recent is what the last commits changed in a folder's files, as far as the folder has them as HEAD does. A folder that is no
// repository has no history.
func (a *app) recent(ctx context.Context, dir string) (all []trace.Touch) {
	git, err := worktree.OpenGit("")
	if err != nil {
		return nil
	}
	repo, err := worktree.Inspect(ctx, git, dir)
	if err != nil {
		return nil
	}
	found, err := worktree.Recent(ctx, git, repo, job.RecentCommits, job.RecentBytes)
	if err != nil {
		return nil
	}
	same := worktree.Same(repo)
	for _, t := range job.Touches(found, a.clean.Text) {
		name, err := filepath.Rel(repo.Prefix, filepath.FromSlash(t.File))
		if err != nil || !same(t.File) {
			continue
		}
		t.File = filepath.ToSlash(name)
		all = append(all, t)
	}
	return all
}

// sceneSection is one section as --json prints it.
type sceneSection struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Off    bool   `json:"off"`
	Text   string `json:"text,omitempty"`
}

// covered says what is known of the lines that the failing tests run.
func (r red) covered(off []string) string {
	switch {
	case slices.Contains(off, perceive.Coverage):
		return "off"
	case len(r.ran.Lines) == 0:
		return "not known"
	}
	return trace.RanText(r.ran)
}

func (a *app) showScene(s perceive.Scene, budget int, covered string) {
	var all []sceneSection
	var list strings.Builder
	total := 0
	for _, sec := range s.Sections {
		out := sceneSection{Name: sec.Name, Tokens: sec.Tokens, Off: sec.Off, Text: sec.Text}
		size := fmt.Sprintf("%d tokens", sec.Tokens)
		switch {
		case sec.Off:
			out.Text, size = "", "off"
		case sec.Text == "":
			size = "nothing to show"
		}
		total += sec.Tokens
		fmt.Fprintf(&list, "%-11s %s\n", sec.Name, size)
		all = append(all, out)
	}
	if a.json {
		a.printJSON(map[string]any{
			"sections": all, "tokens": total, "budget": budget, "coverage": covered, "files": append([]string{}, s.Files...), "cut": append([]string{}, s.Cut...),
		})
		return
	}
	text := fmt.Sprintf("%s----\n%s%-11s %d of %d tokens\n%-11s %s\n", s.Text(), list.String(), "in all", total, budget, perceive.Coverage, covered)
	fmt.Fprint(a.out, a.clean.Terminal(text))
}
