package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/report"
)

// sceneFlags is what scene is told.
type sceneFlags struct {
	dir, log, check, spelling string
	reports, off, on          []string
	tokens                    int
	wide                      bool
}

// sceneSections are the names that --off and --on know.
var sceneSections = []string{
	perceive.Task, perceive.Project, perceive.Tests, perceive.Source, perceive.Breaking, perceive.History, perceive.Finding, perceive.Previous,
	perceive.Said, perceive.Answer,
}

// sceneCmd prints what a turn would show.
func (a *app) sceneCmd() *cobra.Command {
	var f sceneFlags
	cmd := &cobra.Command{
		Use:   "scene {--report FILE | --log FILE}",
		Short: "print what a model would be shown of the red in a report or a log, with each section's tokens",
		Long: "scene reads what is red from a report of a tool or from a job's log, as explain-red does, and prints what the first turn of a\n" +
			"repair would show a model: the failing test with what it needs, the source at issue, what depends on it, and the finding. A list\n" +
			"of the sections with their tokens follows. Nothing is run. A token is 3.2 bytes here. A file named - is standard input.\n\n" +
			"Sections: " + strings.Join(sceneSections, ", ") + ".\nThe skeleton is off unless --on names it.\n\nExit: 0 shown, 1 nothing is red, 2 usage.",
		Example: "  pytest -q | redraft scene --report -\n  redraft scene --log job.log --off dependents",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.scene(cmd, f) },
	}
	dirFlag(cmd, &f.dir)
	cmd.Flags().StringVar(&f.log, "log", "", "read this log of a job, or zip of a run's logs")
	cmd.Flags().StringArrayVar(&f.reports, "report", nil, "read this report of a tool (may be repeated)")
	cmd.Flags().StringVar(&f.check, "check", "", "the command that is red, as the scene names it (the failed step's if empty)")
	cmd.Flags().StringVar(&f.spelling, "spelling", perceive.Addressed, "of edits: addressed, whole or search")
	cmd.Flags().StringArrayVar(&f.off, "off", nil, "a section that is not shown (may be repeated)")
	cmd.Flags().StringArrayVar(&f.on, "on", nil, "a section that is shown only where it is asked for (may be repeated)")
	cmd.Flags().IntVar(&f.tokens, "tokens", 7500, "budget in tokens of 3.2 bytes")
	cmd.Flags().BoolVar(&f.wide, "wide", false, "whole files where they fit, as after failures that repeat")
	cmd.MarkFlagsMutuallyExclusive("log", "report")
	cmd.MarkFlagsOneRequired("log", "report")
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
	if !slices.Contains([]string{perceive.Addressed, perceive.Whole, perceive.Search}, f.spelling) {
		return usage("no spelling is called %q; there are addressed, whole and search", f.spelling)
	}
	return nil
}

// redOf is what is red by a log or by reports, and the command that showed it as far as a log says it.
func redOf(stdin io.Reader, f sceneFlags) (report.Report, string, error) {
	if f.log != "" {
		l, err := readLog(stdin, f.log)
		return l.Report, l.Step.Command, err
	}
	files, err := readReports(stdin, f.reports)
	if err != nil {
		return report.Report{}, "", err
	}
	r, _ := report.ReadFiles(files)
	return r, "", nil
}

func (a *app) scene(cmd *cobra.Command, f sceneFlags) error {
	if err := f.valid(); err != nil {
		return err
	}
	red, command, err := redOf(cmd.InOrStdin(), f)
	if err != nil {
		return err
	}
	if len(red.Findings()) == 0 {
		return &coded{exitStopped, errors.New("nothing is told to be red")}
	}
	x, err := a.index(cmd.Context(), f.dir, true)
	if err != nil {
		return err
	}
	defer x.close()
	look := perceive.Look{
		Root: x.tree, Index: x.Index, Module: modulePath(f.dir, "."), Rules: agent.Rules(f.spelling), Spelling: f.spelling,
		Command: orElse(f.check, orElse(firstLine(command), "the check")), Findings: red.Findings(), Protected: patch.Policy{}.Protected,
		Budget: f.tokens, Wide: f.wide, Off: f.off, On: f.on,
	}
	a.showScene(look.Scene(), f.tokens)
	return nil
}

// sceneSection is one section as --json prints it.
type sceneSection struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
	Off    bool   `json:"off"`
	Text   string `json:"text,omitempty"`
}

func (a *app) showScene(s perceive.Scene, budget int) {
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
			"sections": all, "tokens": total, "budget": budget, "files": append([]string{}, s.Files...), "cut": append([]string{}, s.Cut...),
		})
		return
	}
	text := fmt.Sprintf("%s----\n%s%-11s %d of %d tokens\n", s.Text(), list.String(), "in all", total, budget)
	fmt.Fprint(a.out, a.clean.Terminal(text))
}
