package bot

import "github.com/redraft-dev/redraft/agent/trace"

// onIssues answers labels, and ends jobs whose issue is gone. An issue has no check of its own: see issue_body.go.
var onIssues = kind{read: readIssues, complete: hasIssue, sift: siftIssues, steps: labelSteps, decide: decideIssues}

func readIssues(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		Issue *jsonIssue
	}](payload)
	e := p.event()
	if p.Issue != nil {
		e.Issue = p.Issue.issue()
	}
	return e, err
}

type jsonIssue struct {
	Number             int
	Title, Body, State string
	User               jsonAccount
	Labels             jsonLabels
	HTMLURL            string    `json:"html_url"`
	Pull               *struct{} `json:"pull_request"`
}

func (i jsonIssue) issue() *Issue {
	return &Issue{Number: i.Number, Title: clip(i.Title, longestBody), Body: clip(i.Body, longestBody), State: i.State, Author: i.User.account(),
		Labels: i.Labels.names(), URL: i.HTMLURL, Pull: i.Pull != nil}
}

func hasIssue(e Event) bool { return e.Issue != nil && e.Issue.Number > 0 }

func siftIssues(e Event, self Self) *Skip {
	if e.Issue.Pull {
		return skip(NotForUs, "an event of its own tells this of pull requests")
	}
	switch e.Action {
	case "labeled", "unlabeled":
		return siftLabel(e, self, e.Issue.State)
	case "closed", "deleted", "transferred":
		return nil
	}
	return skip(NotForUs, "nothing here answers issues %s", e.Action)
}

func decideIssues(l look) (Decision, *Skip) {
	t := Target{Kind: ForIssue, Number: l.e.Issue.Number, Branch: l.f.Repo.Default}
	if l.e.Action == "labeled" || l.e.Action == "unlabeled" {
		return decideLabel(l, t)
	}
	return cancels(t, trace.Cancelled, "the issue is "+l.e.Action), nil
}
