package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/action"
	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/worktree"
)

// actionCmd is the step of the Action. What goes wrong before and in it is one annotation each.
func (a *app) actionCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "answer the event of a GitHub Actions job (started by the Action, not by people)",
		Long: "action is the Action's step: it reads inputs, event and runner from the environment, answers as redraft serve does,\n" +
			"and writes outputs, a summary and annotations. A typed stop is no failure of the step.\n" +
			"Exit: 0 answered, or nothing to answer; 2 inputs, configuration or permissions; 3 our side failed.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tool := action.New(a.getenv, a.out)
			defer tool.Close()
			err := a.action(cmd.Context(), tool)
			var c *coded
			if !errors.As(err, &c) || c.err == nil {
				return err
			}
			tool.Say(action.Failure, action.Remark{Title: map[bool]string{true: "configuration", false: "our side failed"}[c.code == exitUsage], Text: c.err.Error()})
			return &coded{code: c.code} // it was said
		},
	}
}

func (a *app) action(ctx context.Context, tool *action.Action) error {
	in, err := tool.Inputs()
	if err != nil {
		return usage("%w", err)
	}
	a.clean = redact.New(append(secrets(a.getenv), in.Token)...)
	tool.Hide(a.clean, in.Token)
	at, err := tool.Place()
	if err != nil {
		return usage("%w", err)
	}
	if a.config, a.configFile, err = readConfig(a.getenv); err != nil {
		return err
	}
	if len(in.Setup) > 0 && !a.config.Setup.Allow && in.Mode != "publish" {
		return usage("input setup-commands: the runner's owner lets no commands be run before a check; let the owner write setup: {allow: true} into the runner's own config.yml, or prepare the runner instead")
	}
	b, err := a.actionBot(tool, in, at)
	if err != nil {
		return err
	}
	run := &action.Run{Action: tool, Bot: b, In: in, At: at, Settings: a.actionSettings(), Owner: a.config.Limits.plan()}
	res, err := run.Do(ctx)
	switch {
	case err != nil:
		return ourSide(err)
	case res.Broken == action.Configuration:
		return &coded{code: exitUsage}
	case res.Broken == action.OurSide:
		return &coded{code: exitFailed}
	}
	return nil
}

// actionBot is the bot of one run: with the job's token, and the runner's own configuration.
func (a *app) actionBot(tool *action.Action, in action.Inputs, at action.Place) (*bot.Bot, error) {
	log := slog.New(slog.NewTextHandler(tool, &slog.HandlerOptions{Level: slog.LevelWarn}))
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	c := a.config
	o := serverOptions{state: state, bases: state, log: log, tiers: []string{"mechanic", "small", "big"}, seed: 1, sandbox: trace.SandboxChoice{Tier: c.Sandbox.Tier, Allow: c.Sandbox.Allow}, setup: c.Setup.choice(""), models: c.tiers()}
	if o.key, err = c.Sign.key(); err != nil {
		return nil, err
	}
	o.hub = github.Options{API: orElse(c.GitHub.API, at.API), Git: orElse(c.GitHub.Git, at.Git), CA: c.GitHub.CAFile, Token: in.Token, Prefix: in.Prefix, Log: log,
		Nameless: a.getenv("REDRAFT_OWN_TOKEN") == "false"}
	if !at.OwnStep(in.Mode) {
		o.hub.Workflow = at.Workflow
	}
	hub, err := github.New(o.hub)
	if err != nil {
		return nil, usage("%w", err)
	}
	git, err := worktree.OpenGit("")
	if err != nil {
		return nil, usage("%w. Install git 2.32 or newer on the runner", err)
	}
	store, err := worktree.Open(git, state)
	if err != nil {
		return nil, ourSide(err)
	}
	screen := a.newScreen()
	screen.w = tool
	b := &bot.Bot{
		Hub: hub, Store: store, Host: hostOf(orElse(o.hub.Git, "https://github.com")), Operator: bot.Operator{Limits: a.ceilings(), Bots: c.GitHub.Bots}, Clean: a.clean, Log: log,
		OnTrace: screen.event, Repair: a.repairOptions(o),
	}
	b.Repair.Named = a.named
	if in.Mode == "publish" && b.Repair.Setup == nil { // nothing is run here: who repaired was let run them
		b.Repair.Setup = &trace.SetupChoice{}
	}
	b.Repair.Detect = func(ctx context.Context) []trace.ModelChoice {
		found := detect(ctx)
		if len(found) == 0 {
			tool.Say(action.Warning, action.Remark{Title: "no model", Text: "No model server answers on this runner (ports 1234, 11434, 8080, 8000), so only the mechanic is asked. Start one, or name its address in the runner's configuration."})
		}
		return found
	}
	return b, nil
}

// actionSettings are values of the runner's own configuration that a run's summary shows.
func (a *app) actionSettings() []action.Setting {
	tier, from := "the strongest that works", "default"
	if a.config.Sandbox.Tier != "" {
		tier, from = a.config.Sandbox.Tier, "the runner's configuration"
	}
	return []action.Setting{{Name: "sandbox", Value: tier, From: from}, {Name: "egress of checks", Value: "none", From: "always"}}
}

// tiers are the models that the configuration gives a tier.
func (c config) tiers() (all []trace.ModelChoice) {
	for _, tier := range []string{"small", "big"} {
		if m, ok := c.Models[tier]; ok {
			all = append(all, trace.ModelChoice{Tier: tier, Name: m.Name, BaseURL: m.BaseURL, Model: m.Model})
		}
	}
	return all
}
