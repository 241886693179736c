package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/trace"
)

// replayCmd prints a job from its trace alone.
func (a *app) replayCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE",
		Short: "print a job from its trace alone: no model, no network",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if info, err := os.Stat(name); err == nil && info.IsDir() {
				name = filepath.Join(name, "trace.jsonl")
			}
			events, torn, err := trace.Read(name)
			if err != nil {
				return usage("replay: %w", err)
			}
			if a.json {
				a.printJSON(map[string]any{"torn": torn, "events": events})
				return nil
			}
			if err := trace.Replay(a.out, events); err != nil {
				return ourSide(err)
			}
			if torn {
				fmt.Fprintln(a.out, "The last line was torn: the job was cut off while writing it.")
			}
			return nil
		},
	}
}

// viewCmd renders a job as one HTML file.
func (a *app) viewCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "view FILE OUT.html",
		Short: "write a job as one HTML file, from its trace alone: timeline, prompts, diffs, got and want",
		Args:  cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			events, _, err := trace.Read(args[0])
			if err != nil {
				return usage("view: %w", err)
			}
			f, err := os.OpenFile(args[1], os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
			if err != nil {
				return usage("view: %w", err)
			}
			if err := errors.Join(trace.View(f, events), f.Close()); err != nil {
				return ourSide(err)
			}
			return nil
		},
	}
}

// patchCmd says what a model's answer would change in a tree, or changes it.
func (a *app) patchCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "patch", Short: "check or apply addressed edits"}
	for _, verb := range []string{"check", "apply"} {
		var dir string
		c := &cobra.Command{
			Use:   verb + " FILE",
			Short: map[string]string{"check": "say what would land, or why not", "apply": "land the edits in the tree"}[verb],
			Long:  "Reads a model's answer from FILE. Exit: 0 landed, 1 refused (the slips on standard output), 2 usage.",
			Args:  cobra.ExactArgs(1),
			RunE:  func(_ *cobra.Command, args []string) error { return a.patch(args[0], dir, verb == "apply") },
		}
		c.Flags().StringVar(&dir, "tree", ".", "the tree that the addresses speak of")
		cmd.AddCommand(c)
	}
	return cmd
}

func (a *app) patch(file, dir string, apply bool) error {
	answer, err := os.ReadFile(file)
	if err != nil {
		return usage("read the answer: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return usage("open the tree: %w", err)
	}
	defer root.Close()
	set, slips := patch.Parse(string(answer))
	var change patch.Change
	var landings []patch.Landing
	if len(set) > 0 {
		var slip *patch.Slip
		change, landings, err = patch.Resolve(root.FS(), set, patch.Policy{})
		if errors.As(err, &slip) {
			slips, err = append(slips, slip), nil
		}
		if err != nil {
			return ourSide(err)
		}
	}
	if len(landings) == 0 {
		a.showSlips(slips)
		return stopped()
	}
	if apply {
		if err := change.Write(root); err != nil {
			return ourSide(err)
		}
	}
	a.showLandings(landings, slips)
	return nil
}

func (a *app) showSlips(slips []*patch.Slip) {
	if a.json {
		a.printJSON(map[string]any{"landed": []string{}, "slips": slips})
		return
	}
	for _, s := range slips {
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%s: %s\n", s.Code, s.Error())))
	}
}

func (a *app) showLandings(landings []patch.Landing, slips []*patch.Slip) {
	var lines []string
	for _, l := range landings {
		lines = append(lines, l.String())
	}
	if a.json {
		a.printJSON(map[string]any{"landed": lines, "slips": slips})
		return
	}
	for _, l := range lines {
		fmt.Fprintln(a.out, a.clean.Terminal(l))
	}
	a.showSlips(slips)
}
