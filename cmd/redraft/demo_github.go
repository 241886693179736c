package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot"
	"github.com/redraft-dev/redraft/bot/github"
	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/worktree"
)

// githubDemo are the flags of demo --github.
type githubDemo struct {
	keep bool
	repo string
}

// Who is who on the local GitHub. Their names are examples and nobody's.
const (
	demoOwner = "demo-owner"
	demoName  = "demo"
	demoPlace = ".github/workflows/ci.yml"
)

// localGitHub is a GitHub on this machine with one repository whose check is red, and the App's server beside it.
type localGitHub struct {
	*githubtest.Server
	repo   *githubtest.Repo
	server *server
	state  string
	dir    string
	branch string // default one
	root   string // commit that is red
}

// demoGitHub shows the whole way: a red check on GitHub becomes a draft pull request there.
func (a *app) demoGitHub(ctx context.Context, f fixFlags, d githubDemo, seed int) error {
	if d.repo == "" && f.check != "" {
		return usage("--check goes with --repo: the demo's own repository has a check")
	}
	if d.repo != "" && f.check == "" {
		return usage("--repo needs --check: the command that is red there, as in --check 'go test ./...'")
	}
	sc := a.newScreen()
	sc.quiet = a.json
	g, err := a.openGitHub(ctx, f, d, seed, sc)
	if err != nil {
		return err
	}
	defer g.close()
	sc.printf("GitHub on this machine  %s  (a stand-in that remembers; nothing leaves this machine)\n", g.URL)
	sc.printf("Repository              %s/%s, red at %.12s\n", g.repo.Owner(), g.repo.Name(), g.root)
	sc.printf("redraft serve           http://%s/webhook\n\n", g.server.addr)
	sc.at("GitHub reports the failed check to the App: workflow_run, check_suite, check_run, signed")
	if _, err := g.repo.RunWorkflow(githubtest.Workflow{Branch: g.branch, Path: demoPlace, Name: "CI", Jobs: []githubtest.Job{{Name: "test", Conclusion: "failure"}}}); err != nil {
		return ourSide(fmt.Errorf("fail the check: %w", err))
	}
	end, err := g.wait(ctx)
	if err != nil {
		return err
	}
	a.showGitHub(g, end, sc)
	if d.keep {
		if end.Draft != nil {
			sc.printf("\nThe draft in a browser (it will ask about the certificate, which this machine made): %s\n", end.Draft.URL)
		}
		sc.printf("\nBoth go on until Ctrl-C. GitHub: %s (authority: %s). Server: http://%s. Repository: git -c http.sslCAInfo=%s clone %s\n", g.URL, g.CAFile, g.server.addr, g.CAFile, g.repo.GitURL())
		<-ctx.Done()
	}
	if end.Draft == nil {
		return stopped()
	}
	return nil
}

// openGitHub makes the local GitHub, its repository and the server.
func (a *app) openGitHub(ctx context.Context, f fixFlags, d githubDemo, seed int, sc *screen) (_ *localGitHub, err error) {
	g := &localGitHub{}
	if g.dir, err = os.MkdirTemp("", "redraft-github-"); err != nil {
		return nil, ourSide(err)
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	git, err := worktree.OpenGit("")
	if err != nil {
		return nil, ourSide(err)
	}
	secret := rand.Text() + rand.Text()
	if g.Server, err = githubtest.New(githubtest.Options{Dir: filepath.Join(g.dir, "github"), Git: git.Path(), Secret: secret}); err != nil {
		return nil, ourSide(fmt.Errorf("start the local GitHub: %w", err))
	}
	if err := a.seedGitHub(ctx, g, f, d, seed); err != nil {
		return nil, err
	}
	g.Install(github.Permissions(), g.repo)
	bases, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	g.state = filepath.Join(g.dir, "server")
	tiers, err := tiers(f.tiers)
	if err != nil {
		return nil, err
	}
	key := g.AppKey()
	o := serverOptions{
		listen: "127.0.0.1:0", state: g.state, bases: bases, host: "local", secrets: []string{secret}, tiers: tiers, seed: f.seed, limits: a.demoLimits(f), clean: redact.New(append(secrets(a.getenv), secret, string(key))...),
		hub: github.Options{API: g.URL, Git: strings.TrimSuffix(g.URL, "/api/v3/"), CA: g.CAFile, AppID: g.AppID(), Key: key, Pause: 50 * time.Millisecond},
		log: slog.New(slog.DiscardHandler), onTrace: sc.event,
	}
	if f.sandbox != "" {
		o.sandbox = trace.SandboxChoice{Tier: f.sandbox, Allow: []string{f.sandbox}}
	}
	if f.baseURL != "" {
		if err := model.CheckAddress(f.baseURL); err != nil {
			return nil, usage("--base-url %s: %w", f.baseURL, err)
		}
		o.models = []trace.ModelChoice{{Tier: "small", Name: f.model, BaseURL: f.baseURL, Model: f.model}}
	}
	a.clean = o.clean
	if g.server, err = a.startServer(ctx, o); err != nil {
		return nil, err
	}
	g.SetHook("http://"+g.server.addr+"/webhook", secret)
	return g, nil
}

// seedGitHub puts the demo's repository, or the person's own, on the local GitHub.
func (a *app) seedGitHub(ctx context.Context, g *localGitHub, f fixFlags, d githubDemo, seed int) (err error) {
	g.AddUser(demoOwner)
	from, name := githubtest.Seed{Files: map[string]string{}, Branch: "main"}, demoName
	g.branch = from.Branch
	if d.repo != "" {
		git, err := worktree.OpenGit("")
		if err != nil {
			return ourSide(err)
		}
		info, err := worktree.Inspect(ctx, git, d.repo)
		if err != nil {
			return usage("%w%s", err, remedy(err))
		}
		if info.Branch == "" {
			return usage("--repo %s: HEAD is on no branch; check one out", d.repo)
		}
		from, name, g.branch = githubtest.Seed{From: info.Dir, Branch: info.Branch}, filepath.Base(info.Dir), info.Branch
	} else {
		files, _ := demoRepo(seed)
		for path, text := range files {
			from.Files[path] = string(text)
		}
	}
	if g.repo, err = g.AddRepo(demoOwner, safeName(name), from); err != nil {
		return ourSide(err)
	}
	if f.check != "" { // as a maintainer would write it down, on the default branch
		timeout := ""
		if f.timeout > 0 {
			timeout = fmt.Sprintf(", timeout: %s", f.timeout)
		}
		config := map[string]string{".github/redraft.yml": fmt.Sprintf("version: 1\nchecks:\n  test: {run: %q%s}\n", f.check, timeout)}
		if _, err := g.repo.Commit(g.branch, config, githubtest.Person{}, "Name the check"); err != nil {
			return ourSide(err)
		}
	}
	g.root = g.repo.Tip(g.branch)
	return nil
}

// demoLimits are the ceilings with what the flags say.
func (a *app) demoLimits(f fixFlags) plan.Limits {
	l := a.ceilings()
	if f.turns > 0 {
		l.Turns = f.turns
	}
	if f.minutes > 0 {
		l.Minutes = f.minutes
	}
	return l
}

// safeName is a folder's name as GitHub takes it for a repository.
func safeName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '-'
	}, name)
	if strings.Trim(out, "-.") == "" {
		return demoName
	}
	return strings.TrimLeft(out, ".")
}

// wait waits for the end of the job that the red check became.
func (g *localGitHub) wait(ctx context.Context) (bot.End, error) {
	for {
		select {
		case <-ctx.Done():
			return bot.End{}, ourSide(context.Cause(ctx))
		case err := <-g.server.failed:
			return bot.End{}, err
		case <-time.After(100 * time.Millisecond):
		}
		end, ok, err := g.server.ended(ctx, g.repo.ID(), bot.Target{Kind: bot.ForBranch, Branch: g.branch})
		if err != nil {
			return bot.End{}, ourSide(err)
		}
		if ok {
			return end, nil
		}
	}
}

// close ends the server, then GitHub, and removes both.
func (g *localGitHub) close() {
	if g.server != nil {
		_ = g.server.stop()
	}
	if g.Server != nil {
		_ = g.Server.Close()
	}
	_ = os.RemoveAll(g.dir)
}

// showGitHub shows what stands on GitHub now.
func (a *app) showGitHub(g *localGitHub, end bot.End, sc *screen) {
	var shown githubtest.Pull
	for _, p := range g.repo.Pulls() {
		if end.Draft != nil && p.Number == end.Draft.Number {
			shown = p
		}
	}
	checks := g.repo.Checks(g.root)
	evidence := filepath.Join(g.server.bot.Repair.State, "jobs", end.Evidence)
	if a.json {
		a.printJSON(map[string]any{"stop": end.Stop, "draft": end.Draft, "title": shown.Title, "body": shown.Body, "branches": g.repo.Branches(), "checks": checks, "evidence": evidence})
		return
	}
	sc.printf("\n")
	if end.Draft == nil {
		sc.printf("No draft: %s. %s\n%s\n", end.Stop.Reason, end.Stop.Text, end.Stop.Next)
	} else {
		sc.printf("%s\n%s\n\n%s\n", shown.Title, strings.Repeat("=", min(len(shown.Title), 78)), bot.Plain(shown.Body))
		sc.printf("Draft      #%d, draft: %v, %s into %s, open, not merged\n", shown.Number, shown.Draft, shown.Head, shown.Base)
	}
	for _, name := range slices.Sorted(maps.Keys(g.repo.Branches())) {
		sc.printf("Branch     %-32s %.12s\n", name, g.repo.Branches()[name])
	}
	for _, c := range checks {
		sc.printf("Check      %-32s %s %s\n", c.Name, c.Status, c.Conclusion)
	}
	sc.printf("Evidence   %s\nVerify     redraft verify %s\n", evidence, quoted(evidence))
}
