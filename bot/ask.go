package bot

import (
	"cmp"
	"slices"

	"github.com/redraft-dev/redraft/agent/trace"
)

// A person asks with a label or a command. Who asked is found out before anything is said; from then on a no is told.

const mostJobs = 3 // of one event

// startSteps lead from a person who may ask to jobs.
var startSteps = []step{
	{nil, policySays}, {askPlace, placeSays}, {askGoal, goalSays}, {nil, branchSays}, {askToday, todaySays}, {askFailing, nil},
	{askChecks, groupsSay}, {askDrafts, draftsSay}, {askAuthor, nil}, {askJobs, nil},
}

// siftLabel says the noes of a label that was put on or taken off something in this state.
func siftLabel(e Event, self Self, state string) *Skip {
	off := e.Action == "unlabeled"
	switch {
	case e.Label == "":
		return skip(Malformed, "no label is named")
	case ownAccount(e.Sender, self), off && self.Login != "" && e.Sender.Login == self.Login:
		return skip(OwnWork, "the label is our own doing")
	case hasLabel([]string{vetoLabel}, e.Label) && off:
		return skip(NotForUs, "taking %s off starts nothing", vetoLabel)
	case hasLabel([]string{vetoLabel}, e.Label):
		return nil
	case hasLabel([]string{reproduceLabel}, e.Label):
		return skip(NotForUs, "%s is not built yet", e.Label)
	case e.Sender.Login == "":
		return skip(Malformed, "nobody is named as the sender")
	case e.Sender.Bot:
		return skip(FromBot, "%s is a bot", e.Sender.Login)
	case state == "closed":
		return skip(Gone, "what the label is on is closed")
	}
	return nil
}

// labelSteps are those of issues and pull_request. A veto, a new head and an end need no facts.
func labelSteps(e Event) []step {
	switch {
	case e.Action == "unlabeled":
		return []step{{askRepo, repoSays}, {askPolicy, labelSays}}
	case e.Action == "labeled" && !hasLabel([]string{vetoLabel}, e.Label):
		return append([]step{{askRepo, repoSays}, {askPolicy, labelSays}, {askPermission, permissionSays}}, startSteps...)
	}
	return nil
}

func decideLabel(l look, t Target) (Decision, *Skip) {
	switch {
	case l.e.Action == "unlabeled":
		return cancels(t, trace.Cancelled, l.e.Sender.Login+" took the label off"), nil
	case hasLabel([]string{vetoLabel}, l.e.Label):
		return cancels(t, trace.Cancelled, "the label "+vetoLabel+" was put on"), nil
	}
	return l.begin()
}

func cancels(t Target, reason trace.Reason, why string) Decision {
	return Decision{Cancel: []Cancel{{Target: t, Why: why, Reason: string(reason)}}}
}

// asked says whether a person who may ask did: that person is owed an answer.
func (l look) asked() bool { return l.e.Check == nil && writer(l.f.Permission) }

// say is a no that is told to whoever asked.
func (l look) say(r Reason, format string, a ...any) *Skip {
	s := skip(r, format, a...)
	s.Tell = l.asked()
	return s
}

// onPull says whether the event is about a pull request.
func (l look) onPull() bool { return l.e.Pull != nil || l.e.Issue != nil && l.e.Issue.Pull }

// draft is the draft of ours that a command stands under, nil if it stands elsewhere.
func (l look) draft() *Draft {
	if l.e.Comment == nil || !l.onPull() {
		return nil
	}
	i := slices.IndexFunc(l.f.Drafts, func(d Draft) bool { return d.Number == l.e.number() })
	if i < 0 {
		return nil
	}
	return &l.f.Drafts[i]
}

// target is what the event is about. Under a draft of ours it is what the draft is for.
func (l look) target() (t Target) {
	p := l.f.Pull
	switch d := l.draft(); {
	case l.e.Check != nil && p != nil:
		t = Target{Kind: ForPull, Number: p.Number}
	case l.e.Check != nil:
		return Target{Kind: ForBranch, Branch: cmp.Or(l.f.Tip.Branch, l.e.Check.Branch)} // renamed by now, it may be
	case d != nil:
		t, _ = d.target(l.e.Repo.ID)
	case l.onPull():
		t = Target{Kind: ForPull, Number: l.e.number()}
	default:
		t = Target{Kind: ForIssue, Number: l.e.number()}
	}
	switch {
	case t.Kind == ForIssue:
		t.Branch = cmp.Or(l.f.Branch, l.f.Repo.Default)
	case t.Kind == ForPull && p != nil && p.Number == t.Number:
		t.Branch = p.Head.Branch
	}
	return t
}

func repoSays(l look) *Skip {
	switch r := l.f.Repo; {
	case r.ID != l.e.Repo.ID:
		return skip(Gone, "%s is another repository by now", l.e.Repo)
	case r.Archived:
		return skip(Gone, "%s is archived", r.Repo)
	case r.Default == "":
		return skip(Gone, "%s has no default branch", l.e.Repo)
	}
	return nil
}

func labelSays(l look) *Skip {
	if !l.f.Policy.trigger(l.e.Label) && !l.asksDiagnosis() {
		return skip(NotListed, "label %q is not in triggers.labels", l.e.Label)
	}
	return nil
}

func permissionSays(l look) *Skip {
	if !writer(l.f.Permission) {
		return skip(NoWrite, "%s may not write here", l.e.Sender.Login)
	}
	return nil
}

func policySays(l look) *Skip {
	if l.f.Policy.Broken != nil {
		return l.say(BadPolicy, "%v", l.f.Policy.Broken)
	}
	return nil
}

// placeSays no to a command under a branch of ours that cannot mean what the draft is for.
func placeSays(l look) *Skip {
	if d := l.draft(); d != nil {
		if _, ok := d.target(l.e.Repo.ID); !ok {
			return l.say(OwnWork, "pull request %d does not say what it is for", d.Number)
		}
		if l.command().verb == toStart {
			return l.say(OwnWork, "pull request %d is a draft of ours: write /redraft retry", d.Number)
		}
		return nil
	}
	if p := l.f.Pull; l.onPull() && p != nil && !p.Fork() && ownBranch(p.Head.Branch, l.self) {
		return l.say(OwnWork, "%q is a branch of ours", p.Head.Branch)
	}
	return nil
}

// goalSays no where the target takes no draft.
func goalSays(l look) *Skip {
	t := l.target()
	switch i := l.f.Issue; {
	case t.Kind == ForPull && (l.f.Pull == nil || l.f.Pull.Number != t.Number):
		return l.say(Gone, "%s is gone", t)
	case t.Kind == ForPull:
		return pullSays(l)
	case l.f.Tip.SHA == "" || l.f.Tip.Branch != t.Branch:
		return l.say(Gone, "branch %q is gone", t.Branch)
	case t.Kind == ForBranch:
		return nil
	case i == nil || i.Number != t.Number || i.State != "open":
		return l.say(Gone, "%s is gone or closed", t)
	default:
		return l.labelsSay(i.Labels)
	}
}

// pullSays no to a pull request that takes no draft.
func pullSays(l look) *Skip {
	p := l.f.Pull
	switch {
	case p == nil: // a branch
		return nil
	case p.State != "open":
		return l.say(Gone, "pull request %d is closed", p.Number)
	case p.Fork() && l.f.Policy.Forks:
		return l.say(FromFork, "the head of pull request %d lies in a fork; answers by comments alone are not built yet", p.Number)
	case p.Fork():
		return l.say(FromFork, "the head of pull request %d lies in a fork", p.Number)
	case p.Head.Repo != l.e.Repo.ID || p.Head.Branch != l.f.Tip.Branch || l.f.Tip.SHA == "":
		return l.say(Gone, "pull request %d has another branch by now", p.Number)
	case p.Author.Bot && !l.f.Policy.Bots:
		return l.say(FromBot, "%s, who wrote pull request %d, is a bot", p.Author.Login, p.Number)
	}
	return l.labelsSay(p.Labels)
}

// labelsSay no to a veto, and to a label that was taken off again.
func (l look) labelsSay(labels []string) *Skip {
	switch {
	case hasLabel(labels, vetoLabel):
		return l.say(Vetoed, "it has the label %s", vetoLabel)
	case l.e.Label != "" && !hasLabel(labels, l.e.Label):
		return skip(Gone, "the label %q was taken off again", l.e.Label)
	}
	return nil
}

func branchSays(l look) *Skip {
	b := l.target().Branch
	switch {
	case ownBranch(b, l.self):
		return l.say(OwnWork, "%q is a branch of ours", b)
	case l.f.Policy.never(b):
		return l.say(NeverBranch, "%q is in triggers.never-branches", b)
	}
	return nil
}

func todaySays(l look) *Skip {
	if most := ceilings(l.f.Policy.Limits).PerDay; l.f.Today >= most {
		return l.say(TooMany, "%d jobs began here in a day, which is what limits.per-day allows", l.f.Today)
	}
	return nil
}

func groupsSay(l look) *Skip {
	_, no := l.repairable()
	return no
}

// draftsSay no where a draft stands for this very commit, or a person took it up, or there is no room for one more.
func draftsSay(l look) *Skip {
	for _, d := range l.f.Drafts {
		switch t, _ := d.target(l.e.Repo.ID); {
		case !l.near(d) || !d.Open || l.diagnoses(): // which leads to no draft
			continue
		case d.Ready && t.same(l.target()):
			return l.say(AlreadyOpen, "pull request %d is open for %s, and a person took it up", d.Number, t)
		case d.Root == l.f.Tip.SHA && l.command().verb != toRetry:
			return l.say(AlreadyOpen, "draft %d is open for this very commit", d.Number)
		}
	}
	_, no := l.begin()
	return no
}

// near says whether a draft is the target's, or one against the same branch: a branch may have got its draft before its
// pull request was opened.
func (l look) near(d Draft) bool {
	t := l.target()
	u, ok := d.target(l.e.Repo.ID)
	return ok && (u.same(t) || t.Kind != ForIssue && u.Kind != ForIssue && d.Base == t.Branch)
}

// begin starts as many jobs as there is room for.
func (l look) begin() (d Decision, no *Skip) {
	groups, no := l.repairable()
	if no != nil {
		return d, no
	}
	most := ceilings(l.f.Policy.Limits)
	for _, g := range groups {
		j := l.job(g)
		if len(d.Start) < min(mostJobs, most.PerDay-l.f.Today) && (l.f.Open < most.OpenDrafts || l.updates(j) || j.Diagnose) {
			d.Start = append(d.Start, j)
		}
	}
	if len(d.Start) == 0 {
		return d, l.say(TooMany, "%d drafts of ours are open here, which is what limits.open-drafts allows", l.f.Open)
	}
	return d, nil
}

// updates says whether a job has a draft that is open already. A branch has one for each of its workflows.
func (l look) updates(j Job) bool {
	return slices.ContainsFunc(l.f.Drafts, func(d Draft) bool {
		t, ok := d.target(l.e.Repo.ID)
		return ok && d.Open && t.same(j.Target) && (t.Kind != ForBranch || d.Key == j.Key)
	})
}

func (l look) job(g group) Job {
	t, c := l.target(), l.command()
	j := Job{
		Key: jobKey(l.e.Repo.ID, t, g.id), Repo: l.f.Repo.Repo, Target: t, Root: l.f.Tip.SHA, Base: l.f.Tip.SHA, Policy: l.f.PolicySHA,
		Workflow: g.workflow, Checks: redNames(g.red), Check: g.check, Trigger: l.e.Name, Delivery: l.e.Delivery, Sender: l.e.Sender,
		Label: l.e.Label, Asked: l.asked(), Words: c.words, Retry: c.verb == toRetry, Diagnose: l.diagnoses(),
		Strange: t.Kind != ForBranch && !writer(l.f.Author),
	}
	if len(g.red) > 0 {
		j.URL = g.red[0].URL
	}
	j.Failed = l.failed(g)
	if p := l.f.Pull; t.Kind == ForPull && p.Head.SHA == j.Root {
		j.Merge, j.Onto = p.Merge, p.Base.SHA
	}
	if t.Kind == ForIssue {
		j.Body = digest([]byte(l.body()))
	}
	return j
}

// mostChecks are the names that a job carries of its red checks; a matrix may have hundreds.
const mostChecks = 50

func redNames(red []Check) (names []string) {
	for _, c := range red {
		if n := clip(c.Name, longestName); !slices.Contains(names, n) && len(names) < mostChecks {
			names = append(names, n)
		}
	}
	return names
}

// body is the issue's body when it was asked for: what was edited since, or said below by others, does not enter.
func (l look) body() string {
	if l.draft() != nil && l.f.Issue != nil {
		return l.f.Issue.Body
	}
	return l.e.Issue.Body
}
