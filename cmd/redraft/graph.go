package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// graphFlags are those of redraft graph.
type graphFlags struct {
	dir   string
	depth int
	uses  bool
}

// graphCmd follows who uses whom.
func (a *app) graphCmd() *cobra.Command {
	var f graphFlags
	cmd := &cobra.Command{
		Use:   "graph [NAME]",
		Short: "say what depends on a symbol, or what the index of a tree holds",
		Long: "graph prints what depends on a symbol, step by step, and how far a change of it reaches. With --uses it goes the other\n" +
			"way. Without a name it counts the tree: edges by kind and rule, blind spots, imports from outside, which packages of\n" +
			"Go were typed. Exit: 0 found, 1 absent, 2 usage.",
		Example: "  redraft graph\n  redraft graph Cart.total --depth 2\n  redraft graph Cart.total --uses",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.depth < 0 {
				return usage("--depth %d is below zero", f.depth)
			}
			x, err := a.index(cmd.Context(), f.dir, true)
			if err != nil {
				return err
			}
			defer x.close()
			if len(args) == 0 {
				a.graphStats(x.Stats())
				return nil
			}
			found, err := a.symbolsNamed(x, args[0])
			if err != nil {
				return err
			}
			a.graph(x, found, f)
			return nil
		},
	}
	dirFlag(cmd, &f.dir)
	cmd.Flags().IntVar(&f.depth, "depth", 0, "how many steps; all if 0")
	cmd.Flags().BoolVar(&f.uses, "uses", false, "what it uses instead of what uses it")
	return cmd
}

// graphOf is one definition and what is reached from it.
type graphOf struct {
	Symbol  perceive.Definition `json:"symbol"`
	Reached []perceive.Reached  `json:"reached"`
	Blast   perceive.Blast      `json:"blast"` // of all steps, whatever --depth says
}

func (a *app) graph(x *indexed, found []perceive.Definition, f graphFlags) {
	way := perceive.Dependents
	if f.uses {
		way = perceive.Dependencies
	}
	var all []graphOf
	var b strings.Builder
	for _, d := range found {
		g := graphOf{Symbol: d, Reached: append([]perceive.Reached{}, x.Reach(d, way, f.depth)...), Blast: x.Blast(d)}
		all = append(all, g)
		fmt.Fprintf(&b, "%s  %s %s\n", place(d), d.Kind, d.Name)
		fmt.Fprintf(&b, "  a change reaches %s in %s, %d of them directly\n", countOf(g.Blast.Symbols, "symbol"), countOf(g.Blast.Files, "file"), g.Blast.Direct)
		for _, r := range g.Reached {
			b.WriteString(cut(fmt.Sprintf("  %d %s%s", r.Depth, strings.Repeat("  ", min(r.Depth, 8)-1), reachedText(r, f.uses)), 0) + "\n")
		}
	}
	if a.json {
		a.printJSON(map[string]any{"graph": all})
		return
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}

func reachedText(r perceive.Reached, uses bool) string {
	who := r.Name
	if who == "" {
		who = r.Kind
	}
	if uses {
		return fmt.Sprintf("%s  %s, used by %s", place(r.Definition), who, r.Via)
	}
	return fmt.Sprintf("%s  %s, uses %s", place(r.Definition), who, r.Via)
}

func (a *app) graphStats(s perceive.Stats) {
	if a.json {
		a.printJSON(s)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "files      %d, %d of them generated\nsymbols    %d\nedges      %d\n", s.Files, s.Generated, s.Symbols, s.Edges)
	for _, part := range []struct {
		name   string
		counts map[string]int
	}{{"by kind", s.Kinds}, {"by rule", s.Rules}, {"left out", s.Skipped}} {
		for i, k := range slices.SortedFunc(maps.Keys(part.counts), func(p, q string) int { return part.counts[q] - part.counts[p] }) {
			name := part.name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "%-10s %7d %s\n", name, part.counts[k], k)
		}
	}
	fmt.Fprintf(&b, "outside    %s, %s of them\n", countOf(len(s.Outside), "import"), countOf(s.OutsideUses, "use"))
	fmt.Fprintf(&b, "blind      %s that two definitions or more could be meant by\n", countOf(s.Blind, "use"))
	for _, e := range s.Examples[:min(5, len(s.Examples))] {
		fmt.Fprintf(&b, "  %s:%d %s, %d candidates\n", e.File, e.Line, e.Name, e.Candidates)
	}
	b.WriteString(refusedText(s.Refused))
	for _, p := range s.Packages {
		b.WriteString(cut(fmt.Sprintf("package    %s: %s", p.Folder, p.Typed()), 0) + "\n")
	}
	fmt.Fprint(a.out, a.clean.Terminal(b.String()))
}
