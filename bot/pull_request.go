package bot

import "github.com/redraft-dev/redraft/agent/trace"

// onPullRequest answers labels, and ends jobs whose pull request moved on or closed.
var onPullRequest = kind{read: readPullRequest, complete: hasPull, sift: siftPullRequest, steps: labelSteps, decide: decidePullRequest}

func readPullRequest(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		Pull *jsonPull `json:"pull_request"`
	}](payload)
	e := p.event()
	if p.Pull != nil {
		e.Pull = p.Pull.pull()
	}
	return e, err
}

type jsonPull struct {
	Number             int
	Title, State, Body string
	Merged, Draft      bool
	User               jsonAccount
	Head, Base         jsonTip
	Merge              string `json:"merge_commit_sha"`
	Labels             jsonLabels
	HTMLURL            string `json:"html_url"`
}

type jsonTip struct {
	Ref, SHA string
	Repo     struct{ ID int64 } // null when the fork is gone
}

func (t jsonTip) tip() Tip { return Tip{Repo: t.Repo.ID, Branch: t.Ref, SHA: t.SHA} }

func (p jsonPull) pull() *Pull {
	return &Pull{Number: p.Number, Title: clip(p.Title, longestBody), State: p.State, Merged: p.Merged, Draft: p.Draft, Author: p.User.account(),
		Head: p.Head.tip(), Base: p.Base.tip(), Merge: p.Merge, Labels: p.Labels.names(), Body: clip(p.Body, longestBody), URL: p.HTMLURL}
}

func hasPull(e Event) bool {
	return e.Pull != nil && e.Pull.Number > 0 && branchOf(e.Pull.Head.Branch) && commitName.MatchString(e.Pull.Head.SHA) && e.Pull.Base.Repo == e.Repo.ID
}

func siftPullRequest(e Event, self Self) *Skip {
	p := e.Pull
	ours := !p.Fork() && ownBranch(p.Head.Branch, self)
	switch e.Action {
	case "labeled", "unlabeled":
		if ours {
			return skip(OwnWork, "pull request %d is a draft of ours; labels start jobs where the red is", p.Number)
		}
		return siftLabel(e, self, p.State)
	case "synchronize", "closed":
		if ours { // what a person said by closing it is kept by GitHub
			return skip(OwnWork, "pull request %d is a draft of ours", p.Number)
		}
		if p.Fork() {
			return skip(FromFork, "no job is for pull request %d, whose head lies in a fork", p.Number)
		}
		return nil
	}
	return skip(NotForUs, "nothing here answers pull_request %s", e.Action)
}

func decidePullRequest(l look) (Decision, *Skip) {
	t := Target{Kind: ForPull, Number: l.e.Pull.Number, Branch: l.e.Pull.Head.Branch}
	switch l.e.Action {
	case "synchronize":
		return cancels(t, trace.Superseded, "the pull request has a new head"), nil
	case "closed":
		return cancels(t, trace.Cancelled, "the pull request was closed"), nil
	}
	return decideLabel(l, t)
}
