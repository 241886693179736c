package bot

// onIssueComment answers commands.
var onIssueComment = kind{read: readIssueComment, complete: hasComment, sift: siftIssueComment, steps: commandSteps, decide: decideCommand}

func readIssueComment(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		Issue   *jsonIssue
		Comment *struct {
			ID   int64
			Body string
			User jsonAccount
			App  jsonApp `json:"performed_via_github_app"`
		}
	}](payload)
	e := p.event()
	if p.Issue != nil {
		e.Issue = p.Issue.issue()
	}
	if c := p.Comment; c != nil {
		e.Comment = &Comment{ID: c.ID, Author: c.User.account(), Body: clip(c.Body, longestBody), App: c.App.ID}
	}
	return e, err
}

func hasComment(e Event) bool { return hasIssue(e) && e.Comment != nil }

func siftIssueComment(e Event, self Self) *Skip {
	switch {
	case e.Action != "created":
		return skip(NotForUs, "only a new comment is a command, not one that is %s", e.Action)
	case ownApp(e.Comment.App, self) || ownAccount(e.Comment.Author, self) || ownAccount(e.Sender, self):
		return skip(OwnWork, "the comment is ours")
	case parseCommand(e.Comment.Body).verb == noVerb:
		return skip(NoCommand, "the comment is no command")
	case e.Sender.Bot || e.Comment.Author.Bot:
		return skip(FromBot, "%s is a bot", e.Sender.Login)
	case e.Sender.Login == "" || e.Sender.ID != e.Comment.Author.ID:
		return skip(Malformed, "the sender of a new comment is not who wrote it")
	}
	return nil
}
