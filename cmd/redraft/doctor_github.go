package main

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/github"
)

// doctorGitHub looks at the App: its key, what its installations grant, what it is sent, and this machine's secrets.
func (a *app) doctorGitHub(ctx context.Context, repositories []string) ([]diagnosis, error) {
	o, err := a.credential()
	if err != nil {
		return nil, err
	}
	hub, err := github.New(o)
	if err != nil {
		return nil, usage("doctor: %w", err)
	}
	all := a.seeSecretFiles()
	for _, d := range hub.Doctor(ctx) {
		next := d.Fix
		if d.URL != "" {
			next += " (" + d.URL + ")"
		}
		all = append(all, diagnosis{What: d.Name, OK: d.OK, Need: true, Seen: d.Text, Next: next})
	}
	for _, name := range repositories {
		owner, short, ok := strings.Cut(name, "/")
		if !ok || owner == "" || short == "" || strings.Contains(short, "/") {
			return nil, usage("--repository %s: name it as OWNER/NAME", name)
		}
		all = append(all, seeRepository(ctx, hub, bot.Repo{Owner: owner, Name: short})...)
	}
	return all, nil
}

// credential is the App's, or without an App the plain token of the environment, as a workflow has one.
func (a *app) credential() (github.Options, error) {
	c := a.config.GitHub
	if token := orElse(a.getenv("GITHUB_TOKEN"), a.getenv("GH_TOKEN")); c.AppID == 0 && token != "" {
		return github.Options{API: c.API, Git: c.Git, CA: c.CAFile, Token: token}, nil
	}
	o, err := a.serverOptions(slog.New(slog.DiscardHandler))
	return o.hub, err
}

// seeRepository looks at what one repository grants and allows.
func seeRepository(ctx context.Context, hub *github.Hub, r bot.Repo) (all []diagnosis) {
	what := "repository"
	lacks, err := hub.Check(ctx, r)
	if err != nil {
		return []diagnosis{{What: what, Need: true, Seen: err.Error(), Next: "See that the App is installed on " + r.String() + " and that GitHub can be reached."}}
	}
	for _, l := range lacks {
		next := l.Fix
		if l.URL != "" {
			next += " (" + l.URL + ")"
		}
		all = append(all, diagnosis{What: what, Need: true, Seen: r.String() + ": " + l.What + " is missing: " + l.Why, Next: next})
	}
	if len(all) == 0 {
		all = append(all, diagnosis{What: what, OK: true, Need: true, Seen: r.String() + ": nothing that is needed is missing"})
	}
	return all
}

// seeSecretFiles looks who else on this machine can read the files that hold secrets.
func (a *app) seeSecretFiles() (all []diagnosis) {
	for _, name := range append([]string{a.config.GitHub.PrivateKeyFile}, a.config.GitHub.WebhookSecretFiles...) {
		if name == "" {
			continue
		}
		d := diagnosis{What: "secret", OK: true, Seen: name + " is readable by its owner alone"}
		if info, err := os.Stat(name); err != nil {
			d = diagnosis{What: "secret", Seen: err.Error(), Need: true, Next: "Name a file that is there."}
		} else if info.Mode().Perm()&0o077 != 0 {
			d = diagnosis{What: "secret", Seen: name + " can be read by other users of this machine", Next: "chmod 600 " + name}
		}
		all = append(all, d)
	}
	return all
}
