package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/benchmarks"
)

// onGitHub is what redraft demo --github --json prints.
type onGitHub struct {
	Stop     struct{ Reason, Class, Text string }
	Draft    *struct{ Number int }
	Title    string
	Body     string
	Branches map[string]string
	Checks   []struct{ Name, Status, Conclusion string }
}

// outcome is the arm's: a draft where one must be, and where none may be a finished check run and nothing else.
func (s onGitHub) outcome(draft bool) Outcome {
	o := Outcome{Word: s.Stop.Reason, Text: s.Stop.Text}
	if s.Stop.Class != "" {
		o.Word += "{" + s.Stop.Class + "}"
	}
	var ours []string
	for name := range s.Branches {
		if strings.HasPrefix(name, "redraft/") {
			ours = append(ours, name)
		}
	}
	shown := false
	for _, c := range s.Checks {
		shown = shown || c.Name == "redraft" && c.Status == "completed" && c.Conclusion != "failure"
	}
	switch {
	case !shown:
		o.Text = "no finished check run says how it ended"
	case draft:
		o.OK = s.Stop.Reason == "fixed" && s.Draft != nil && len(ours) == 1 && s.Title != "" && s.Body != ""
		if o.OK {
			o = Outcome{Word: "drafted", OK: true}
		}
	default:
		o.OK = s.Stop.Reason != "fixed" && s.Draft == nil && len(ours) == 0
	}
	return o
}

// drafted answers a red check on a GitHub of this machine's own with the released repair: it must end in a draft.
func (b *bench) drafted(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	answer, err := released(p.repo, p.fix)
	if err != nil {
		return Outcome{}, err
	}
	server := modeltest.Start(nil, modeltest.Config{Script: modeltest.Texts(answer), Context: 1 << 20, Wrap: unlimited})
	defer server.Close()
	s, err := b.demo(ctx, p, server.URL(), 1)
	return s.outcome(true), err
}

// undrafted answers with the cheats in turn: it must end in a check run and no draft.
func (b *bench) undrafted(ctx context.Context, c benchmarks.Case, p prepared) (Outcome, error) {
	server, err := cheating(p.repo, c, cheats)
	if err != nil {
		return Outcome{}, err
	}
	defer server.Close()
	s, err := b.demo(ctx, p, server.URL(), len(cheats))
	if err == nil && len(server.Requests()) < len(cheats) {
		return Outcome{Word: s.Stop.Reason, Text: "not every cheat was tried: " + s.Stop.Text}, nil
	}
	return s.outcome(false), err
}

// draftedByModel lets the real model of 1.5B answer, two turns: a draft, or a stop that says why not.
func (b *bench) draftedByModel(ctx context.Context, _ benchmarks.Case, p prepared) (Outcome, error) {
	url, err := b.realModel(ctx)
	if err != nil {
		return Outcome{}, err
	}
	s, err := b.demo(ctx, p, url, 2)
	return s.outcome(s.Stop.Reason == "fixed"), err
}

func (b *bench) demo(ctx context.Context, p prepared, url string, turns int) (onGitHub, error) {
	var s onGitHub
	err := b.redraft(ctx, p.repo, &s, "demo", "--github", "--repo", p.repo, "--check", benchmarks.GoCheck, "--base-url", url, "--tiers", "small", "--turns", fmt.Sprint(turns))
	if err == nil && s.Stop.Reason == "" {
		err = errors.New("redraft demo --github ended without a stop")
	}
	return s, err
}
