package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// symbolsCmd lists what a tree defines.
func (a *app) symbolsCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "symbols [PATH]",
		Short: "list the symbols of a tree, or of one file or folder of it",
		Long: "symbols lists the definitions of the tree's Go, Python, JavaScript, TypeScript, Rust and Java files with kind, lines and\n" +
			"signature, and says which files could not be read. Exit: 0 listed, 1 none, 2 usage.",
		Example: "  redraft symbols\n  redraft symbols shop/cart.py",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			below := "."
			if len(args) == 1 {
				below = filepath.ToSlash(filepath.Clean(args[0]))
			}
			x, err := a.index(cmd.Context(), dir, false)
			if err != nil {
				return err
			}
			defer x.close()
			return a.symbols(x, below)
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

// dirFlag is the flag that all commands over a tree have.
func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".", "the tree")
}

func (a *app) symbols(x *indexed, below string) error {
	all := x.Symbols(below)
	refused := x.Stats().Refused
	if a.json {
		a.printJSON(map[string]any{"symbols": append([]perceive.Definition{}, all...), "refused": append([]perceive.Refused{}, refused...)})
	} else {
		fmt.Fprint(a.out, a.clean.Terminal(symbolsText(all)+refusedText(refused)))
	}
	if len(all) == 0 {
		return stopped()
	}
	return nil
}

func symbolsText(all []perceive.Definition) string {
	var b strings.Builder
	file := ""
	for _, d := range all {
		if d.File != file {
			file = d.File
			note := ""
			if d.Generated {
				note = " (generated)"
			}
			fmt.Fprintf(&b, "%s%s\n", file, note)
		}
		b.WriteString(cut(fmt.Sprintf("  %5d-%-5d %-6s %-24s %s", d.First, d.Last, d.Kind, d.Name, d.Signature), 0) + "\n")
	}
	if len(all) == 0 {
		return "There are no symbols here.\n"
	}
	return b.String()
}

func refusedText(all []perceive.Refused) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d files could not be read:\n", len(all))
	for i, r := range all {
		if i == 10 {
			fmt.Fprintf(&b, "  … and %d more; --json lists them all\n", len(all)-i)
			break
		}
		b.WriteString(cut(fmt.Sprintf("  %s %s", r.File, r.Why), -80) + "\n")
	}
	return b.String()
}
