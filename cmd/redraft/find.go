package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// findCmd says where a name is defined.
func (a *app) findCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "find NAME",
		Short: "say where a symbol is defined: name, Container.name, file:name or how it begins",
		Long: "find prints the definitions of a name, and those whose names only begin so. A name that the tree does not have is\n" +
			"ABSENT; the nearest ones are told. Exit: 0 found, 1 absent, 2 usage.",
		Example: "  redraft find total\n  redraft find Cart.total\n  redraft find cart.py:total",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := a.index(cmd.Context(), dir, false)
			if err != nil {
				return err
			}
			defer x.close()
			return a.findSymbol(x.Find(args[0]), args[0])
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

// maxBegin is how many names that only begin as asked are printed.
const maxBegin = 20

func (a *app) findSymbol(f perceive.Found, name string) error {
	if len(f.Exact)+len(f.Prefix) == 0 {
		return a.absent(name, f.Near)
	}
	if a.json {
		a.printJSON(map[string]any{"exact": append([]perceive.Definition{}, f.Exact...), "prefix": append([]perceive.Definition{}, f.Prefix...)})
		return nil
	}
	var b strings.Builder
	for _, d := range f.Exact {
		b.WriteString(definitionText(d))
	}
	if len(f.Prefix) > 0 {
		fmt.Fprintf(&b, "Begin so: %d\n", len(f.Prefix))
	}
	for i, d := range f.Prefix {
		if i == maxBegin {
			fmt.Fprintf(&b, "  … and %d more; --json lists up to 200\n", len(f.Prefix)-i)
			break
		}
		b.WriteString(cut(fmt.Sprintf("  %s  %s %s", place(d), d.Kind, d.Name), 0) + "\n")
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
	return nil
}

// definitionText is a definition in two lines.
func definitionText(d perceive.Definition) string {
	note := ""
	if d.Generated {
		note = ", generated"
	}
	return fmt.Sprintf("%s  %s %s, lines %d-%d%s\n  %s\n", place(d), d.Kind, d.Name, d.First, d.Last, note, cut(d.Signature, 2))
}
