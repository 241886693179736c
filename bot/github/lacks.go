package github

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot"
)

// needed are the permissions of an App that can do all of a job's life.
var needed = map[string]string{
	"metadata": "read", "contents": "write", "pull_requests": "write", "issues": "write", "checks": "write", "actions": "read", "statuses": "read",
}

// Permissions are those that an App needs for all of a job's life, in a copy: "write" or "read" by name.
func Permissions() map[string]string { return maps.Clone(needed) }

// Events are those that an App must be sent, in a copy.
func Events() []string { return slices.Clone(events) }

// because says what cannot be done without a permission.
var because = map[string]string{
	"contents":      "no branch can be read or pushed",
	"pull_requests": "no draft can be opened",
	"issues":        "no label can be taken off and no question answered",
	"checks":        "no red check can be seen and no check run written",
	"actions":       "the workflow of a red check cannot be found",
	"statuses":      "checks of third parties cannot be seen",
}

// events are those that an App must be sent.
var events = []string{"check_run", "check_suite", "issue_comment", "issues", "pull_request", "status", "workflow_run"}

// Check says what is missing before any work.
func (h *Hub) Check(ctx context.Context, r bot.Repo) (all []bot.Lack, err error) {
	doing := "look at what is granted in " + clip(r.String())
	ops := []op{getOrg, getUser, getActionsSetting, openPull} // a plain token may be refused, and then it is not known
	if h.app != nil {
		ops = nil
		l := h.appLine(getInstallation, getApp)
		l.repo = r
		i, err := l.installation(ctx)
		switch {
		case is(err, bot.NotFound) && !moved(err):
			return []bot.Lack{h.notInstalled(ctx, r)}, nil
		case moved(err) && r.Installation != 0: // renamed: the next call tells where it went
		case err != nil:
			return nil, h.say(doing, err)
		case i.SuspendedAt != nil:
			return []bot.Lack{{What: "installation of the App", Why: "GitHub refuses every call", Fix: "Unsuspend the App's installation.", URL: i.HTMLURL}}, nil
		default:
			r.Installation = i.ID
			all = h.ungranted(i)
			if i.Permissions["organization_plan"] != "" {
				ops = []op{getOrg}
			}
		}
	}
	more, err := h.settings(ctx, r, ops)
	return append(all, more...), err
}

func (h *Hub) notInstalled(ctx context.Context, r bot.Repo) bot.Lack {
	lack := bot.Lack{What: "installation of the App", Why: "nothing here can be seen", Fix: "Install the App on " + r.String() + "."}
	if a, err := h.getApp(ctx); err == nil {
		lack.URL = strings.TrimRight(a.HTMLURL, "/") + "/installations/new"
	}
	return lack
}

// ungranted are the permissions that an installation does not grant, each where it is changed.
func (h *Hub) ungranted(i installation) (all []bot.Lack) {
	for _, need := range missing(i.Permissions, needed) {
		name, level, _ := strings.Cut(need, ": ")
		all = append(all, bot.Lack{
			What: "permission " + need, Why: because[name], URL: i.HTMLURL,
			Fix: "Give the App " + title(name) + ": " + spoken[level] + " under Permissions & events of its settings, then accept the new permission on the installation's page.",
		})
	}
	return all
}

var spoken = map[string]string{"read": "Read-only", "write": "Read and write"}

// title is a permission as GitHub's pages name it.
func title(name string) string {
	if name == "statuses" {
		return "Commit statuses"
	}
	words := strings.ReplaceAll(name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// settings are those of the repository that stand in the way. ops are the calls that the credential can be tried with.
func (h *Hub) settings(ctx context.Context, r bot.Repo, ops []op) (all []bot.Lack, err error) {
	err = h.at(ctx, "look at the settings", r, ops, func(l *line) error {
		now, err := l.repository(ctx)
		if err != nil {
			return err
		}
		all = nil
		pages := h.git + "/" + now.Owner.Login + "/" + now.Name
		if now.Archived {
			all = append(all, bot.Lack{What: "archived repository", Why: "nothing can be written", Fix: "Unarchive it, or leave it in peace.", URL: pages + "/settings"})
		}
		self, err := l.hub.Self(ctx)
		if err != nil {
			return err
		}
		// Of an installation's token GitHub tells a role that it does not have.
		if push, said := now.Permissions["push"]; h.plain != nil && self.Login != "" && self.Login != actionsLogin && said && !push {
			all = append(all, bot.Lack{What: "permission contents: write", Why: because["contents"], Fix: "Use a token that may push to the repository."})
		}
		h.mu.Lock()
		no := h.noes[r.ID]
		h.mu.Unlock()
		if lack, tried := l.tryPulls(ctx, now, self); tried {
			no = lack
		}
		if no == bot.Forbidden {
			all = append(all, bot.Lack{What: "permission pull-requests: write", Why: because["pull_requests"], Fix: "Give the job pull-requests: write under permissions in the workflow's file."})
		}
		if no == bot.NoDrafts || l.free(ctx, now, ops) {
			all = append(all, bot.Lack{
				What: "draft pull requests", Why: "this plan has none in private repositories, and a ready one is never opened",
				Fix: "Make the repository public or change the owner's plan.", URL: pages + "/settings",
			})
		}
		if no == bot.NoPulls || h.plain != nil && l.forbidsPulls(ctx) {
			all = append(all, bot.Lack{
				What: "setting: Actions may create pull requests", Why: "GitHub refuses pull requests that a workflow's token opens",
				Fix: "Tick “Allow GitHub Actions to create and approve pull requests” under Settings, Actions, General; or use an App.", URL: pages + "/settings/actions",
			})
		}
		return nil
	})
	return all, err
}

// free says whether a private repository's owner is known to be on the plan without drafts. Mostly GitHub does not tell.
func (l *line) free(ctx context.Context, now repository, ops []op) bool {
	var out struct {
		Login string `json:"login"`
		Plan  struct {
			Name string `json:"name"`
		} `json:"plan"`
	}
	c := call{op: getOrg, args: []string{now.Owner.Login}, out: &out}
	if now.Owner.Type != "Organization" {
		c.op, c.args = getUser, nil
	}
	if !now.Private || !slices.Contains(ops, c.op) {
		return false
	}
	_, err := l.call(ctx, c)
	return err == nil && strings.EqualFold(out.Login, now.Owner.Login) && out.Plan.Name == "free"
}

// tryPulls asks for a pull request of the default branch into itself, which GitHub opens for nobody: it answers first
// whether the token and the settings would let us, and then that there are no commits between the two. An App's
// permissions and a person's role are known without. tried is false where the answer tells nothing.
func (l *line) tryPulls(ctx context.Context, now repository, self bot.Self) (no bot.Class, tried bool) {
	if l.hub.plain == nil || self.Login != "" && self.Login != actionsLogin || now.Archived || now.Default == "" {
		return "", false
	}
	body := &github.NewPullRequest{Title: github.String("redraft"), Body: github.String(""), Head: &now.Default, Base: &now.Default, Draft: github.Bool(true)}
	_, err := l.call(ctx, call{op: openPull, body: body})
	for _, c := range []bot.Class{bot.NoDrafts, bot.NoPulls, bot.Forbidden} {
		if is(err, c) {
			return c, true
		}
	}
	return "", is(err, bot.Invalid)
}

// forbidsPulls says whether the token of a workflow is known to be kept from opening pull requests.
func (l *line) forbidsPulls(ctx context.Context) bool {
	self, err := l.hub.Self(ctx)
	if err != nil || self.Login != actionsLogin {
		return false
	}
	var out struct {
		May *bool `json:"can_approve_pull_request_reviews"`
	}
	_, err = l.call(ctx, call{op: getActionsSetting, out: &out})
	return err == nil && out.May != nil && !*out.May
}
