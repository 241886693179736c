package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"

	"github.com/redraft-dev/redraft/agent/plan"
)

// Labels that mean something everywhere. The ones that start are triggers.labels.
const (
	defaultLabel   = "redraft"
	vetoLabel      = "redraft:skip"
	diagnoseLabel  = "redraft:diagnose"
	reproduceLabel = "redraft:reproduce"
)

// readPolicy reads a repository's configuration from one commit of its default branch. A wrong one is no error: it is
// said to whoever asked.
func readPolicy(ctx context.Context, hub Hub, r Repo, sha string, op Operator) (Policy, error) {
	p := Policy{Limits: ceilings(op.Limits), Forks: op.Forks, Bots: op.Bots, Look: op.Look}
	b, err := hub.File(ctx, r, plan.FileName, sha)
	if isClass(err, NotFound) {
		p.File = op.over(plan.File{})
		p.Limits = p.Limits.Under(p.File.Limits)
		return p, nil
	}
	if err != nil {
		return p, err
	}
	f, err := plan.ParseFile(b)
	if err == nil {
		err = globs(f.Triggers.NeverBranches)
	}
	if err != nil {
		p.Broken = err
		return p, nil
	}
	f.Triggers.Commands = f.Triggers.Commands || !saysCommands(b)
	f = op.over(f)
	p.File, p.Limits = f, p.Limits.Under(f.Limits)
	return p, nil
}

// over is a configuration with what a workflow's inputs say.
func (op Operator) over(f plan.File) plan.File {
	if op.Over == nil {
		return f
	}
	return op.Over(f)
}

// ceilings are limits with the defaults where nothing is said.
func ceilings(l plan.Limits) plan.Limits {
	d := plan.DefaultLimits
	return plan.Limits{Turns: cmp.Or(l.Turns, d.Turns), Minutes: cmp.Or(l.Minutes, d.Minutes), Files: cmp.Or(l.Files, d.Files),
		Lines: cmp.Or(l.Lines, d.Lines), OpenDrafts: cmp.Or(l.OpenDrafts, d.OpenDrafts), PerDay: cmp.Or(l.PerDay, d.PerDay)}
}

func globs(patterns []string) error {
	for _, p := range patterns {
		if !doublestar.ValidatePattern(p) {
			return &plan.FileError{Text: fmt.Sprintf("triggers.never-branches: %q is no glob", p)}
		}
	}
	return nil
}

// saysCommands says whether a file that was parsed already has triggers.commands: left out it is on, and a plan.File
// does not tell the one from the other.
func saysCommands(b []byte) (says bool) {
	defer func() { // the file is anyone's; the YAML library's own slips are not to end the process
		if recover() != nil {
			says = true
		}
	}()
	var f struct {
		Triggers struct {
			Commands *bool `yaml:"commands"`
		} `yaml:"triggers"`
	}
	return yaml.Unmarshal(b, &f) != nil || f.Triggers.Commands != nil
}

// commands says whether comments are listened to.
func (p Policy) commands() bool { return p.File.Version == 0 || p.File.Triggers.Commands }

// trigger says whether a label starts jobs.
func (p Policy) trigger(label string) bool {
	labels := p.File.Triggers.Labels
	if len(labels) == 0 {
		labels = []string{defaultLabel}
	}
	return hasLabel(labels, label)
}

// workflow says whether a workflow is listed by its file's path or name, or by its title; a third party's check has a
// title alone. An empty list has them all.
func (p Policy) workflow(file, title string) bool {
	listed := p.File.Triggers.Workflows
	return len(listed) == 0 || slices.ContainsFunc(listed, func(w string) bool {
		return w != "" && (w == file || w == title || file != "" && w == path.Base(file))
	})
}

// never says whether a branch gets no drafts.
func (p Policy) never(branch string) bool {
	return slices.ContainsFunc(p.File.Triggers.NeverBranches, func(glob string) bool {
		ok, err := doublestar.Match(glob, branch)
		return ok || err != nil
	})
}

// hasLabel compares as GitHub does, where no two labels of a repository differ in case alone.
func hasLabel(labels []string, label string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, label) })
}

func isClass(err error, c Class) bool {
	var no *HubError
	return errors.As(err, &no) && no.Class == c
}

// writer says whether a permission lets push.
func writer(permission string) bool {
	return permission == "admin" || permission == "maintain" || permission == "write"
}
