package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCmd writes the manual pages; completions are cobra's own command.
func (a *app) manCmd() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man",
		Short: "write the manual pages into a folder",
		Long:  "man writes one page for every command, as in redraft-fix.1, into a folder that exists.\nExit: 0 written, 2 no such folder.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return usage("--dir %s is no folder: make it first", dir)
			}
			day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the same pages from the same source
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, &doc.GenManHeader{Title: "REDRAFT", Section: "1", Source: "redraft", Manual: "redraft", Date: &day}, dir); err != nil {
				return ourSide(fmt.Errorf("write the manual pages: %w", err))
			}
			pages, err := filepath.Glob(filepath.Join(dir, "redraft*.1"))
			if err != nil {
				return ourSide(err)
			}
			if a.json {
				a.printJSON(map[string]any{"pages": pages})
				return nil
			}
			fmt.Fprintf(a.out, "%d pages; read one with: man -l %s\n", len(pages), filepath.Join(dir, "redraft.1"))
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the folder")
	return cmd
}
