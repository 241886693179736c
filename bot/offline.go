package bot

import (
	"context"
	"strings"

	"github.com/redraft-dev/redraft/worktree"
)

// Offline is a Hub of one event and nothing else: what the event says is how things are, and nothing is written. It lets
// a policy be tried on a stored payload without GitHub.
type Offline struct {
	Event      Event
	Me         Self
	Policy     []byte // .github/redraft.yml of the default branch; nil when there is none
	Permit     string // the sender's permission; write if empty
	DefaultRef string // default branch; the event's branch, else "main", if empty
}

// stand-in for a commit that the event does not name.
const unknownSHA = "0000000000000000000000000000000000000000"

func (o Offline) no(doing string, c Class) error {
	return &HubError{Class: c, Doing: doing, Text: "nothing but the event is known offline"}
}

func (o Offline) Self(context.Context) (Self, error) { return o.Me, nil }

func (o Offline) Repo(context.Context, Repo) (RepoFacts, error) {
	branch := o.DefaultRef
	if branch == "" {
		branch = "main"
		if o.Event.Pull == nil && o.Event.Check != nil && o.Event.Check.Branch != "" {
			branch = o.Event.Check.Branch
		}
	}
	return RepoFacts{Repo: o.Event.Repo, Default: branch}, nil
}

func (o Offline) Permission(context.Context, Repo, string) (string, error) {
	if o.Permit == "" {
		return "write", nil
	}
	return o.Permit, nil
}

// pull is the pull request that the event is about, as far as it says.
func (o Offline) pull() *Pull {
	if o.Event.Pull != nil {
		return o.Event.Pull
	}
	c := o.Event.Check
	if c == nil || len(c.Pulls) == 0 {
		return nil
	}
	return &Pull{Number: c.Pulls[0], State: "open", Head: Tip{Repo: o.Event.Repo.ID, Branch: c.Branch, SHA: c.SHA}, Base: Tip{Repo: o.Event.Repo.ID, Branch: "main"}}
}

func (o Offline) Pull(_ context.Context, r Repo, number int) (Pull, error) {
	if p := o.pull(); p != nil && p.Number == number {
		return *p, nil
	}
	if o.Event.Issue != nil && o.Event.Issue.Pull && o.Event.Issue.Number == number {
		tip := Tip{Repo: r.ID, Branch: "head", SHA: unknownSHA}
		return Pull{Number: number, State: o.Event.Issue.State, Author: o.Event.Issue.Author, Head: tip, Base: Tip{Repo: r.ID, Branch: "main", SHA: unknownSHA}, Labels: o.Event.Issue.Labels}, nil
	}
	return Pull{}, o.no("read a pull request", NotFound)
}

func (o Offline) PullsOf(_ context.Context, _ Repo, branch string) ([]Pull, error) {
	if p := o.pull(); p != nil && p.Head.Branch == branch && !p.Fork() {
		return []Pull{*p}, nil
	}
	return nil, nil
}

func (o Offline) Issue(_ context.Context, _ Repo, number int) (Issue, error) {
	if o.Event.Issue != nil && o.Event.Issue.Number == number {
		return *o.Event.Issue, nil
	}
	if p := o.pull(); p != nil && p.Number == number {
		return Issue{Number: number, State: p.State, Author: p.Author, Labels: p.Labels, Pull: true}, nil
	}
	return Issue{}, o.no("read an issue", NotFound)
}

func (o Offline) Tip(_ context.Context, r Repo, branch string) (Tip, error) {
	t := Tip{Repo: r.ID, Branch: branch, SHA: unknownSHA}
	if p := o.pull(); p != nil && p.Head.Branch == branch && p.Head.SHA != "" {
		t.SHA = p.Head.SHA
	} else if c := o.Event.Check; c != nil && (c.Branch == branch || c.Branch == "") && c.SHA != "" {
		t.SHA = c.SHA
	}
	return t, nil
}

func (o Offline) Message(context.Context, Repo, string) (string, error) { return "", nil }

// Checks are the event's own, taken for the whole; a label or a command is taken to mean a red check.
func (o Offline) Checks(context.Context, Repo, string) ([]Check, error) {
	if o.Event.Check != nil {
		return []Check{*o.Event.Check}, nil
	}
	return []Check{{Name: "assumed", Workflow: ".github/workflows/assumed.yml", Title: "assumed", Done: true, Conclusion: "failure"}}, nil
}

func (o Offline) Run(context.Context, Repo, int64) (Check, error) {
	return Check{}, o.no("read a workflow's run", NotFound)
}

func (o Offline) RunJobs(context.Context, Repo, int64) ([]RunJob, error) { return nil, nil }

func (o Offline) File(_ context.Context, _ Repo, path, _ string) ([]byte, error) {
	if o.Policy != nil && strings.HasSuffix(path, "redraft.yml") {
		return o.Policy, nil
	}
	return nil, o.no("read "+path, NotFound)
}

func (o Offline) Drafts(context.Context, Repo, string) ([]Draft, error) { return nil, nil }
func (o Offline) Check(context.Context, Repo) ([]Lack, error)           { return nil, nil }

func (o Offline) OpenDraft(context.Context, Repo, NewDraft) (Draft, error) {
	return Draft{}, o.no("open a draft", NotPermitted)
}
func (o Offline) EditDraft(context.Context, Repo, int, string, string) error {
	return o.no("edit a draft", NotPermitted)
}
func (o Offline) CloseDraft(context.Context, Repo, int) error {
	return o.no("close a draft", NotPermitted)
}
func (o Offline) Comment(context.Context, Repo, int, string, string) (string, error) {
	return "", o.no("comment", NotPermitted)
}
func (o Offline) CheckRun(context.Context, Repo, CheckRun) (string, error) {
	return "", o.no("write a check run", NotPermitted)
}
func (o Offline) RemoveLabel(context.Context, Repo, int, string) error {
	return o.no("remove a label", NotPermitted)
}
func (o Offline) Remote(context.Context, Repo, bool) (worktree.Remote, func(), error) {
	return worktree.Remote{}, func() {}, o.no("reach the repository", NotPermitted)
}

var _ Hub = Offline{}
