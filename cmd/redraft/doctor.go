package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// finding of the doctor: what was looked at, what was seen, and what to do about it.
type diagnosis struct {
	What string   `json:"what"`
	OK   bool     `json:"ok"`
	Need bool     `json:"needed"` // a job cannot run without it
	Seen string   `json:"seen"`
	Gaps []string `json:"gaps,omitempty"`
	Next string   `json:"next,omitempty"` // for a failure
}

func (a *app) doctorCmd() *cobra.Command {
	var onGitHub, canary bool
	var repositories []string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look at this machine: git, sandbox and its gaps, toolchain, model servers, disk",
		Long: "doctor looks at what a job needs and says for every failure what to do. It changes nothing. With --github it looks at the\n" +
			"App that serve runs as: id and key, clock, permissions and events, webhook, installations; and with --repository at the\n" +
			"settings of that repository: whether it can have drafts, as far as can be known. Without an App it looks with the token in\n" +
			"GITHUB_TOKEN instead, and then also whether Actions may open pull requests, which is asked of such tokens alone.\n" +
			"With --canary it plants secrets (files of a home, a process' environment and arguments, a port) and goes for each by every\n" +
			"road, outside and in the jail: exit 1 if one arrives in there.\n" +
			"Exit: 0 a job can run here, 1 it cannot, 2 the configuration is wrong.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(repositories) > 0 && !onGitHub {
				return usage("--repository goes with --github")
			}
			if canary {
				return a.doctorCanary(cmd.Context())
			}
			return a.doctor(cmd.Context(), onGitHub, repositories)
		},
	}
	cmd.Flags().StringSliceVar(&repositories, "repository", nil, "with --github: look at the settings of OWNER/NAME too; may be given again")
	cmd.Flags().BoolVar(&onGitHub, "github", false, "look at the GitHub App of the configuration as well")
	cmd.Flags().BoolVar(&canary, "canary", false, "plant secrets and see that none arrives in the jail, instead")
	cmd.MarkFlagsMutuallyExclusive("canary", "github")
	return cmd
}

func (a *app) doctor(ctx context.Context, onGitHub bool, repositories []string) error {
	all := []diagnosis{a.seeGit(ctx), a.seeSandbox(), a.seeGo(ctx), a.seeState(ctx)}
	all = append(all, a.seeModels(ctx)...)
	if onGitHub {
		there, err := a.doctorGitHub(ctx, repositories)
		if err != nil {
			return err
		}
		all = append(all, there...)
	}
	bad := false
	for _, d := range all {
		bad = bad || d.Need && !d.OK
	}
	if a.json {
		a.printJSON(map[string]any{"ok": !bad, "diagnoses": all})
	} else {
		a.showDiagnoses(all)
	}
	if bad {
		return stopped()
	}
	return nil
}

func (a *app) showDiagnoses(all []diagnosis) {
	for _, d := range all {
		mark := "ok  "
		if !d.OK && d.Need {
			mark = "FAIL"
		} else if !d.OK {
			mark = "none"
		}
		fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("%s  %-12s %s\n", mark, d.What, d.Seen)))
		for _, g := range d.Gaps {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("                 gap: %s\n", g)))
		}
		if !d.OK && d.Next != "" {
			fmt.Fprint(a.out, a.clean.Terminal(fmt.Sprintf("                 next: %s\n", d.Next)))
		}
	}
}

// seeGit opens git and does one real worktree round in a temporary folder.
func (a *app) seeGit(ctx context.Context) diagnosis {
	d := diagnosis{What: "git", Need: true, Next: "Install git " + worktree.Floor + " or later and put it on PATH."}
	git, err := worktree.OpenGit("")
	if err != nil {
		d.Seen = err.Error()
		return d
	}
	d.Seen = git.Version()
	dir, err := os.MkdirTemp("", "redraft-doctor-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = tryWorktree(ctx, git, dir)
	}
	if err != nil {
		d.Seen, d.Next = d.Seen+": "+err.Error(), "See that the temporary folder is writable and has space."
		return d
	}
	d.OK, d.Seen = true, d.Seen+", a worktree was cut and removed"
	return d
}

func tryWorktree(ctx context.Context, git *worktree.Git, dir string) error {
	repo := filepath.Join(dir, "repo")
	if err := worktree.Init(ctx, repo, map[string][]byte{"a": []byte("a\n")}, "one"); err != nil {
		return err
	}
	info, err := worktree.Inspect(ctx, git, repo)
	if err != nil {
		return err
	}
	store, err := worktree.Open(git, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}
	m, err := store.Mirror(ctx, repo)
	if err != nil {
		return err
	}
	t, err := m.Cut(ctx, info.Head)
	if err != nil {
		return err
	}
	return t.Close(ctx)
}

func (a *app) seeSandbox() diagnosis {
	d := diagnosis{What: "sandbox", Need: true, Next: "On Linux install bubblewrap, or use a kernel with Landlock (6.2 or later); on macOS run this outside of any other sandbox."}
	var models []trace.ModelChoice
	for _, m := range a.config.Models {
		models = append(models, trace.ModelChoice{BaseURL: m.BaseURL})
	}
	box, err := sandbox.Open(sandbox.Options{Tier: sandbox.Tier(a.config.Sandbox.Tier), DenyPorts: modelPorts(models)})
	if err != nil {
		d.Seen = err.Error()
		return d
	}
	d.OK, d.Seen, d.Gaps = true, string(box.Tier())+", proved both ways by its probe", box.Gaps()
	return d
}

func (a *app) seeGo(ctx context.Context) diagnosis {
	d := diagnosis{What: "go", Next: "Install Go if your checks need it."}
	needs, err := plan.Toolchain(ctx, plan.Set{Checks: []plan.Check{{ID: "go", Run: "go test ./..."}}}, a.getenv)
	if err != nil || needs.Go == "" {
		d.Seen = "no Go toolchain on PATH"
		if err != nil {
			d.Seen = err.Error()
		}
		return d
	}
	d.OK, d.Seen = true, strings.SplitN(needs.Go, "\n", 2)[0]
	return d
}

func (a *app) seeState(ctx context.Context) diagnosis {
	d := diagnosis{What: "state", Need: true, Next: "Make the folder writable, or name another one with `state:` in config.yml."}
	dir, err := a.stateDir()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		d.Seen = err.Error()
		return d
	}
	free, err := freeBytes(dir)
	if err != nil {
		d.Seen = err.Error()
		return d
	}
	d.OK, d.Seen = free > 2<<30, fmt.Sprintf("%s, %.1f GiB free; %s", dir, float64(free)/(1<<30), a.weight(ctx, dir))
	if !d.OK {
		d.Next = "Free some disk: a job wants 2 GiB."
	}
	return d
}

func (a *app) seeModels(ctx context.Context) []diagnosis {
	var out []diagnosis
	for tier, m := range a.config.Models {
		d := diagnosis{What: tier, Next: "Start the server, or correct models." + tier + " in config.yml."}
		s, err := model.Dial(ctx, model.Endpoint{Name: m.Name, BaseURL: m.BaseURL, Model: m.Model})
		if err != nil {
			d.Seen = err.Error()
		} else {
			d.OK, d.Seen = true, fmt.Sprintf("%s at %s, context %d tokens (%s)", s.ID(), m.BaseURL, s.Context(), s.ContextFrom())
		}
		out = append(out, d)
	}
	for _, f := range model.Detect(ctx) {
		d := diagnosis{What: "models", OK: true, Seen: fmt.Sprintf("%s (%v): %s", f.BaseURL, f.Kind, strings.Join(f.Models, ", "))}
		if len(f.Remote) > 0 {
			d.Gaps = []string{"refused because they run elsewhere: " + strings.Join(f.Remote, ", ")}
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		out = append(out, diagnosis{What: "models", Seen: "no model server on ports 1234, 11434, 8080, 8000", Next: "Start one (llama-server, LM Studio, Ollama, vLLM, mlx_lm.server), or go without: the mechanic needs none."})
	}
	return out
}
