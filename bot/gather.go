package bot

import (
	"cmp"
	"context"
	"fmt"
)

// Gather asks GitHub for the facts that Accept needs of this event, in as few calls as it can, the cheap ones first. A
// *Skip as error is a no that made further calls needless; other errors are the hub's. known and began ask this machine
// alone, and may be nil.
func Gather(ctx context.Context, hub Hub, e Event, self Self, op Operator, known Known, began func(ctx context.Context, r Repo) (int, error)) (Facts, error) {
	if no := Sift(e, self); no != nil {
		return Facts{}, no
	}
	g := &gatherer{look: look{e: e, self: self}, hub: hub, op: op, known: known, began: began}
	for _, s := range kinds[e.Name].steps(e) {
		if s.ask != nil {
			if err := s.ask(ctx, g); err != nil {
				return g.f, g.no(err)
			}
		}
		if no := s.says(g.look); no != nil {
			return g.f, no
		}
	}
	return g.f, nil
}

// gatherer is a look that is still being filled.
type gatherer struct {
	look
	hub   Hub
	op    Operator
	known Known
	began func(ctx context.Context, r Repo) (int, error)
}

// no is what an error of the hub's means: what is not there is gone, and what we may not read needs a person first.
// Neither is cured by trying again.
func (g *gatherer) no(err error) error {
	switch {
	case isClass(err, NotFound):
		return g.say(Gone, "%v", err)
	case isClass(err, Forbidden):
		return g.say(NotAllowed, "%v", err)
	}
	return err
}

func (g *gatherer) repo() Repo { return g.f.Repo.Repo }

// askKnown keeps a green check that no draft of ours waits for from costing a call.
func askKnown(ctx context.Context, g *gatherer) error {
	c := g.e.Check
	targets := []Target{{Kind: ForBranch, Branch: c.Branch}}
	for _, n := range c.Pulls {
		targets = append(targets, Target{Kind: ForPull, Number: n, Branch: c.Branch})
	}
	for _, t := range targets {
		if g.known == nil {
			break
		}
		if ok, err := g.known(ctx, g.e.Repo, t); ok || err != nil {
			return err
		}
	}
	return skip(Green, "nothing is red, and no draft of ours waits for it")
}

func askRepo(ctx context.Context, g *gatherer) (err error) {
	g.f.Repo, err = g.hub.Repo(ctx, g.e.Repo)
	g.f.Branch = cmp.Or(g.op.Branch, g.f.Repo.Default)
	if g.f.Repo.Installation == 0 {
		g.f.Repo.Installation = g.e.Repo.Installation
	}
	return err
}

// askTip leaves no tip where there is no branch.
func askTip(ctx context.Context, g *gatherer) error { return g.askTipOf(ctx, g.e.Check.Branch) }

func (g *gatherer) askTipOf(ctx context.Context, branch string) (err error) {
	g.f.Tip, err = g.hub.Tip(ctx, g.repo(), branch)
	if isClass(err, NotFound) {
		g.f.Tip = Tip{}
		return nil
	}
	g.f.Tip.Branch = cmp.Or(g.f.Tip.Branch, branch)
	return err
}

// askPolicy reads the configuration from the tip of the default branch, whichever branch that is now.
func askPolicy(ctx context.Context, g *gatherer) (err error) {
	tip := g.f.Tip
	if tip.Branch != g.f.Repo.Default || tip.SHA == "" {
		if tip, err = g.hub.Tip(ctx, g.repo(), g.f.Repo.Default); err != nil {
			return err
		}
	}
	g.f.PolicySHA = tip.SHA
	g.f.Policy, err = readPolicy(ctx, g.hub, g.repo(), tip.SHA, g.op)
	return err
}

func askPermission(ctx context.Context, g *gatherer) (err error) {
	g.f.Permission, err = g.hub.Permission(ctx, g.repo(), g.e.Sender.Login)
	return err
}

func askToday(ctx context.Context, g *gatherer) (err error) {
	if g.began != nil {
		g.f.Today, err = g.began(ctx, g.repo())
	}
	return err
}

// askPulls finds the pull request of a branch: of several, the oldest.
func askPulls(ctx context.Context, g *gatherer) error {
	pulls, err := g.hub.PullsOf(ctx, g.repo(), g.f.Tip.Branch)
	for i, p := range pulls {
		if p.State == "open" && !p.Fork() && p.Head.Branch == g.f.Tip.Branch && (g.f.Pull == nil || p.Number < g.f.Pull.Number) {
			g.f.Pull = &pulls[i]
		}
	}
	return err
}

func askMessage(ctx context.Context, g *gatherer) error {
	message, err := g.hub.Message(ctx, g.repo(), g.f.Tip.SHA)
	g.f.Ours = Trailer(message)
	return err
}

// askPlace finds what a label or a command stands under, and under a draft of ours the draft.
func askPlace(ctx context.Context, g *gatherer) error {
	if !g.onPull() {
		return nil
	}
	p, err := g.hub.Pull(ctx, g.repo(), g.e.number())
	if err != nil {
		return err
	}
	g.f.Pull, g.f.Tip = &p, p.Head
	if p.Fork() || !ownBranch(p.Head.Branch, g.self) || g.e.Comment == nil {
		return nil
	}
	all, err := g.hub.Drafts(ctx, g.repo(), p.Head.Branch)
	for _, d := range all {
		if d.Number == p.Number {
			g.f.Drafts = []Draft{d}
		}
	}
	return err
}

// askGoal finds the target, and where it stands.
func askGoal(ctx context.Context, g *gatherer) error {
	t := g.target()
	switch t.Kind {
	case ForPull:
		if g.draft() == nil {
			return nil // the place is the goal
		}
		p, err := g.hub.Pull(ctx, g.repo(), t.Number)
		g.f.Pull, g.f.Tip = &p, p.Head
		return err
	case ForIssue:
		i, err := g.hub.Issue(ctx, g.repo(), t.Number)
		g.f.Issue, g.f.Tip = &i, Tip{Repo: g.f.Repo.ID, Branch: g.f.Repo.Default, SHA: g.f.PolicySHA}
		if err == nil && t.Branch != g.f.Repo.Default {
			err = g.askTipOf(ctx, t.Branch)
		}
		return err
	}
	return g.askTipOf(ctx, t.Branch)
}

// askFailing reads what an issue's body names. A run that is not there, of a fork or not red names nothing.
func askFailing(ctx context.Context, g *gatherer) error {
	if g.target().Kind != ForIssue {
		return nil
	}
	if g.f.Failing = bodyCheck(g.body(), g.f.Policy.File.Checks); g.f.Failing != "" {
		return nil
	}
	id := bodyRun(g.body(), g.e.Issue.URL, g.e.Repo, g.repo())
	if id == 0 {
		return nil
	}
	run, err := g.hub.Run(ctx, g.repo(), id)
	if isClass(err, NotFound) {
		return nil
	}
	if err == nil && run.Red() && (run.HeadRepo == 0 || run.HeadRepo == g.f.Repo.ID) && !run.own(g.self) {
		g.f.Failing = workflowFile(run.Workflow)
	}
	return err
}

func askChecks(ctx context.Context, g *gatherer) (err error) {
	if g.f.Failing != "" && configured(g.f.Failing, g.f.Policy.File.Checks) {
		return nil
	}
	g.f.Checks, err = g.hub.Checks(ctx, g.repo(), g.f.Tip.SHA)
	return err
}

// askDrafts lists all of ours, as the limit counts them all, and keeps those near the target.
func askDrafts(ctx context.Context, g *gatherer) error {
	l := g.look // under a draft, that draft says what the target is
	all, err := g.hub.Drafts(ctx, g.repo(), "")
	if err != nil {
		return err
	}
	g.f.Open, g.f.Drafts = 0, nil
	for _, d := range all {
		if d.Open && !d.Ready {
			g.f.Open++
		}
		if l.near(d) {
			g.f.Drafts = append(g.f.Drafts, d)
		}
	}
	return nil
}

// askTouched looks at the heads of drafts that would be closed: a person's commit makes one theirs.
func askTouched(ctx context.Context, g *gatherer) error {
	for i := range g.f.Drafts {
		d := &g.f.Drafts[i]
		if !d.Open || d.Ready {
			continue
		}
		message, err := g.hub.Message(ctx, g.repo(), d.Head)
		if err != nil {
			return fmt.Errorf("look at draft %d: %w", d.Number, err)
		}
		d.Touched = !Trailer(message)
	}
	return nil
}

// askAuthor finds out whether who wrote the pull request or the issue may write here. A bot's word is nobody's.
func askAuthor(ctx context.Context, g *gatherer) (err error) {
	var author Account
	switch t := g.target(); {
	case t.Kind == ForPull:
		author = g.f.Pull.Author
	case t.Kind == ForIssue:
		author = g.f.Issue.Author
	}
	switch {
	case author.Login == "" || author.Bot:
		return nil
	case author.ID == g.e.Sender.ID && g.f.Permission != "":
		g.f.Author = g.f.Permission
		return nil
	}
	g.f.Author, err = g.hub.Permission(ctx, g.repo(), author.Login)
	return err
}

// askMerge asks for the merge that a list of pull requests may leave out. GitHub makes it when it is asked for one.
func askMerge(ctx context.Context, g *gatherer) error {
	if g.f.Pull == nil || g.f.Pull.Merge != "" {
		return nil
	}
	p, err := g.hub.Pull(ctx, g.repo(), g.f.Pull.Number)
	if err == nil && p.Head.SHA == g.f.Tip.SHA {
		g.f.Pull = &p
	}
	return err
}
