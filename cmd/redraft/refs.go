package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// refsCmd says who uses a symbol.
func (a *app) refsCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "refs NAME",
		Short: "say who uses a symbol, each place with its line and the rule that bound it",
		Long: "refs prints every place that uses a symbol: file and line, what the line says, and why the name there means this symbol.\n" +
			"A name that two definitions could be meant by is no such place; it is counted as a blind spot.\n" +
			"Exit: 0 found, 1 absent, 2 usage.",
		Example: "  redraft refs Cart.total",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			x, err := a.index(cmd.Context(), dir, true)
			if err != nil {
				return err
			}
			defer x.close()
			found, err := a.symbolsNamed(x, args[0])
			if err != nil {
				return err
			}
			a.refs(x, found)
			return nil
		},
	}
	dirFlag(cmd, &dir)
	return cmd
}

// refsOf is one definition and who uses it.
type refsOf struct {
	Symbol perceive.Definition `json:"symbol"`
	Edges  []perceive.Edge     `json:"edges"`
	Blind  int                 `json:"blind"` // uses of this name that could mean another definition, too
}

func (a *app) refs(x *indexed, found []perceive.Definition) {
	var all []refsOf
	var b strings.Builder
	for _, d := range found {
		r := refsOf{Symbol: d, Edges: append([]perceive.Edge{}, x.Refs(d)...), Blind: x.BlindTo(d)}
		all = append(all, r)
		fmt.Fprintf(&b, "%s  %s %s: %s\n", place(d), d.Kind, d.Name, countOf(len(r.Edges), "place"))
		for _, e := range r.Edges {
			b.WriteString(edgeText(e))
		}
		if r.Blind > 0 {
			fmt.Fprintf(&b, "  %s of this name may mean it or another definition: not listed.\n", countOf(r.Blind, "use"))
		}
	}
	if a.json {
		a.printJSON(map[string]any{"refs": all})
		return
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

func edgeText(e perceive.Edge) string {
	who := e.From.Name
	if who == "" {
		who = "top level"
	}
	return fmt.Sprintf("  %s:%d  %s from %s [%s]\n      %s\n", e.File, e.Line, e.Kind, who, e.Rule, cut(e.Text, 6))
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
