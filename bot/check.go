package bot

import "strings"

// ownCheck is the name of our check run: a check, a workflow or a status that has it never starts anything.
const ownCheck = "redraft"

// queuePrefix is that of the branches on which a merge queue tries pull requests.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
const queuePrefix = "gh-readonly-queue/"

// The four check events only wake: what is red is read from GitHub once all of a workflow has ended.

func hasCheck(e Event) bool {
	return e.Check != nil && commitName.MatchString(e.Check.SHA) && (e.Check.Branch == "" || branchOf(e.Check.Branch))
}

func siftCheck(e Event, self Self) *Skip {
	c := e.Check
	switch {
	case c.own(self):
		return skip(OwnWork, "the check is ours")
	case c.HeadRepo != 0 && c.HeadRepo != e.Repo.ID:
		return skip(FromFork, "the commit came from another repository")
	case ownBranch(c.Branch, self):
		return skip(OwnWork, "%q is a branch of ours", c.Branch)
	case strings.HasPrefix(c.Branch, queuePrefix):
		return skip(NeverBranch, "%q is a merge queue's, and gone when it is red", c.Branch)
	case !c.Done:
		return skip(Running, "%q is not complete", c.Name)
	case e.Name != "status" && e.Action != "completed":
		return skip(NotForUs, "nothing here answers %s %s", e.Name, e.Action)
	case !c.Red() && !c.green():
		return skip(Green, "%q ended as %q, which no repair turns green", c.Name, c.Conclusion)
	case c.Branch == "" && e.Name == "status":
		return skip(Moved, "no branch of the repository stands at this commit")
	case c.Branch == "":
		return skip(FromFork, "no branch of this repository is named, as GitHub does for forks")
	}
	return nil
}

// own says whether a check is one that we write, or the run of a workflow that is us.
func (c Check) own(self Self) bool {
	return ownApp(c.App, self) || c.Name == ownCheck || c.Title == ownCheck || self.Workflow != "" && c.Workflow == self.Workflow
}

func (c Check) green() bool {
	return c.Done && (c.Conclusion == "success" || c.Conclusion == "neutral" || c.Conclusion == "skipped")
}

func ownApp(app int64, self Self) bool { return app != 0 && app == self.App }

// ownAccount says whether an account is ours alone. With a plain token we act as a person, who may still ask for things.
func ownAccount(a Account, self Self) bool {
	return self.Login != "" && strings.EqualFold(a.Login, self.Login) && (self.App != 0 || a.Bot)
}

// ownBranch says whether a branch of the repository is one that this program pushes, under this prefix or the default one.
func ownBranch(branch string, self Self) bool {
	return strings.HasPrefix(branch, defaultPrefix) || self.Prefix != "" && strings.HasPrefix(branch, self.Prefix)
}

func checkSteps(e Event) []step {
	if !e.Check.Red() {
		return []step{{askKnown, nil}, {askRepo, repoSays}, {askTip, tipSays}, {askPulls, nil}, {askChecks, allGreenSays}, {askDrafts, nil}, {askTouched, closingSays}}
	}
	return []step{
		{askRepo, repoSays}, {askTip, tipSays}, {askPolicy, policySays}, {nil, branchSays}, {nil, workflowSays}, {askToday, todaySays},
		{askPulls, pullSays}, {askMessage, messageSays}, {askChecks, groupsSay}, {askDrafts, draftsSay}, {askAuthor, nil}, {askMerge, nil}, {askJobs, nil},
	}
}

func decideCheck(l look) (Decision, *Skip) {
	if l.e.Check.Red() {
		return l.begin()
	}
	return Decision{Close: l.closings()}, nil
}

// tipSays no to an event about a commit that its branch has left. A status wakes for what the branch stands at now.
func tipSays(l look) *Skip {
	switch {
	case l.f.Tip.SHA == "":
		return skip(Gone, "branch %q is gone", l.e.Check.Branch)
	case l.f.Tip.SHA != l.e.Check.SHA && l.e.Name != "status":
		return skip(Moved, "branch %q stands elsewhere by now", l.e.Check.Branch)
	}
	return nil
}

// workflowSays no where the event itself names a workflow that is not listed.
func workflowSays(l look) *Skip {
	if c := l.e.Check; c.Workflow != "" && !l.f.Policy.workflow(c.Workflow, c.Title) {
		return skip(NotListed, "workflow %q is not in triggers.workflows", c.Title)
	}
	return nil
}

func messageSays(l look) *Skip {
	if l.f.Ours {
		return skip(OwnWork, "the red commit is ours")
	}
	return nil
}

// allGreenSays no unless every check of the head has ended, and well.
func allGreenSays(l look) *Skip {
	good := false
	for _, c := range l.f.Checks {
		switch {
		case c.own(l.self):
			continue
		case !c.Done:
			return skip(Running, "%q is not complete", c.Name)
		case !c.green():
			return skip(Green, "nothing begins for a green check, and %q is not green", c.Name)
		}
		good = good || c.Conclusion == "success"
	}
	if !good {
		return skip(Green, "no check of the head is green")
	}
	return nil
}

func closingSays(l look) *Skip {
	if len(l.closings()) == 0 {
		return skip(Green, "nothing is red, and no draft of ours waits for it")
	}
	return nil
}

// closings are the drafts that a green head makes needless. One that a person took up is theirs.
func (l look) closings() (all []Closing) {
	for _, d := range l.f.Drafts {
		if l.near(d) && d.Open && !d.Ready && !d.Touched {
			all = append(all, Closing{d, "every check of " + l.f.Tip.Branch + " is green without it"})
		}
	}
	return all
}
