package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/redact"
)

// Exit codes, the same for every command.
const (
	exitProved  = 0 // or: done
	exitStopped = 1 // a typed stop, or: not valid
	exitUsage   = 2 // usage or configuration
	exitFailed  = 3 // our side
)

// coded is an error with the exit code it stands for.
type coded struct {
	code int
	err  error // nil: everything was said already
}

func (c *coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}
func (c *coded) Unwrap() error { return c.err }

func usage(format string, a ...any) error { return &coded{exitUsage, fmt.Errorf(format, a...)} }
func ourSide(err error) error             { return &coded{exitFailed, err} }
func stopped() error                      { return &coded{code: exitStopped} }

// app is the surroundings of one command line.
type app struct {
	getenv func(string) string
	stdin  io.Reader
	out    io.Writer
	err    io.Writer
	clean  *redact.Cleaner
	config config
	json   bool

	configFile string // that config was read from, "" if there is none
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{getenv: getenv, stdin: stdin, out: stdout, err: stderr, clean: redact.New(secrets(getenv)...)}
	cmd := a.root()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitProved
	}
	var c *coded
	if !errors.As(err, &c) {
		c = &coded{exitUsage, err} // cobra's own: an unknown command or flag
	}
	if ctx.Err() != nil && c.code == exitFailed { // a person's Ctrl-C is no failure of ours
		c = &coded{exitStopped, errors.New("interrupted; nothing was left in the repository")}
	}
	if c.err != nil {
		fmt.Fprintf(stderr, "redraft: %s\n", a.clean.Terminal(c.err.Error()))
	}
	return c.code
}

// root is the command tree.
func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "redraft",
		Short:         "answers red checks with proved patches, on this machine",
		Long:          "redraft sees a red check on this machine, lets a model on this machine repair it, and keeps only what the\nrepository's own check proves. It never merges, and nothing leaves the machine.",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if cmd.Name() == "repair" || cmd.Name() == "registry" || cmd.Name() == "action" { // told everything by its job; says in its own way what is wrong
				return nil
			}
			a.config, a.configFile, err = readConfig(a.getenv)
			return err
		},
	}
	cmd.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON value instead of text for people")
	cmd.AddCommand(a.demoCmd(), a.fixCmd(), a.explainCmd(), a.planCmd(), a.verifyCmd(), a.replayCmd(), a.viewCmd(), a.doctorCmd(), a.selftestCmd(), a.repairCmd(), a.registryCmd(), a.patchCmd(), a.serveCmd(), a.actionCmd(), a.jailCmd(), a.jobsCmd(), a.configCmd(), a.initCmd(), a.manCmd(), a.benchCmd(),
		a.symbolsCmd(), a.findCmd(), a.refsCmd(), a.graphCmd(), a.contextCmd(), a.sceneCmd())
	return cmd
}

//go:embed version.txt
var sourceVersion string // of this source, as in 0.1.0; a tag v0.1.0 has the same

// version is the module's version and commit as the build recorded them, or else the release that the source is of.
func version() string {
	v, rev := strings.TrimSpace(sourceVersion), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = strings.TrimPrefix(info.Main.Version, "v")
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				rev = " " + s.Value[:12]
			}
		}
	}
	return v + rev
}

// secrets are the credentials in this process's environment; no text that leaves may hold one.
func secrets(getenv func(string) string) []string {
	var out []string
	for _, k := range []string{"GITHUB_TOKEN", "GH_TOKEN", "INPUT_GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "REDRAFT_TOKEN", "REDRAFT_APP_KEY", "REDRAFT_WEBHOOK_SECRET", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
		if v := getenv(k); len(v) >= 8 {
			out = append(out, v)
		}
	}
	return out
}
