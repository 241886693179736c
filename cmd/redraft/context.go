package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/perceive"
)

// contextCmd prints the skeleton of a tree.
func (a *app) contextCmd() *cobra.Command {
	var dir string
	var o perceive.SkeletonOptions
	cmd := &cobra.Command{
		Use:   "context",
		Short: "print the skeleton of a tree in a budget of tokens: the signatures of what is used most",
		Long: "context prints files in the order in which the rest of the tree leans on them, each with the signatures of its symbols,\n" +
			"until the budget is spent. What is left out is counted in a last line. A token is four bytes. Exit: 0, 2 usage.",
		Example: "  redraft context --tokens 2000\n  redraft context --near shop/cart.py",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Budget <= 0 {
				return usage("--tokens %d is not above zero", o.Budget)
			}
			x, err := a.index(cmd.Context(), dir, true)
			if err != nil {
				return err
			}
			defer x.close()
			s := x.Skeleton(o)
			if a.json {
				a.printJSON(s)
				return nil
			}
			fmt.Fprint(a.out, a.clean.Terminal(s.Text))
			return nil
		},
	}
	dirFlag(cmd, &dir)
	cmd.Flags().IntVar(&o.Budget, "tokens", 4000, "budget in tokens of four bytes")
	cmd.Flags().StringArrayVar(&o.Near, "near", nil, "a file or folder that matters most (may be repeated)")
	return cmd
}
