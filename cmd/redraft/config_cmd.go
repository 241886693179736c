package main

import (
	_ "embed"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/plan"
)

//go:embed config.schema.json
var configSchema string

// configCmd shows the operator's configuration, or the schema of either file.
func (a *app) configCmd() *cobra.Command {
	var schema, repository bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "print the operator's configuration as it was read, or the schema of a configuration",
		Long: "config prints the operator's file as it was understood, defaults included, with where it was found. --schema prints\n" +
			"its JSON schema, and with --repository that of .github/redraft.yml. No secret stands in either file.\n" +
			"Exit: 0 printed, 2 the file is wrong.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			switch {
			case schema && repository:
				fmt.Fprint(a.out, string(plan.Schema))
			case schema:
				fmt.Fprint(a.out, configSchema)
			case repository:
				return usage("--repository goes with --schema")
			default:
				return a.showConfig()
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "print the JSON schema instead")
	cmd.Flags().BoolVar(&repository, "repository", false, "with --schema: of .github/redraft.yml")
	return cmd
}

func (a *app) showConfig() error {
	c := a.config
	l := a.ceilings()
	c.Limits = limitsConfig{Turns: l.Turns, Minutes: l.Minutes, Files: l.Files, Lines: l.Lines, OpenDrafts: l.OpenDrafts, PerDay: l.PerDay}
	c.GitHub.API, c.GitHub.Git = orElse(c.GitHub.API, "https://api.github.com"), orElse(c.GitHub.Git, "https://github.com")
	c.Serve.Listen, c.Serve.Jobs = orElse(c.Serve.Listen, defaultListen), max(c.Serve.Jobs, 1)
	var err error
	if c.State, err = a.stateDir(); err != nil {
		return err
	}
	if a.json {
		a.printJSON(map[string]any{"file": a.configFile, "config": c})
		return nil
	}
	b, err := yaml.Marshal(c)
	if err != nil {
		return ourSide(err)
	}
	fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("# read from %s\n%s", orElse(a.configFile, "nowhere: there is no file, these are the defaults"), b)))
	return nil
}
