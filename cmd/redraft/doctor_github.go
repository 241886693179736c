package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/redraft-dev/redraft/bot/github"
)

// doctorGitHub looks at the App: its key, what its installations grant, what it is sent, and this machine's secrets.
func (a *app) doctorGitHub(ctx context.Context) ([]diagnosis, error) {
	o, err := a.serverOptions(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	hub, err := github.New(o.hub)
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
	return all, nil
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
