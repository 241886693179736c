package bot

import "strings"

// onFailedStep answers a step that failed in the very job that we run in. GitHub sends no such event: it comes from
// FailedStep alone. The place decides, as with every check.
var onFailedStep = kind{read: notSent, complete: hasCheck, sift: siftCheck, steps: failedSteps, decide: decideCheck}

// Step is where a step failed, as the runner tells its job.
type Step struct {
	Job      string // id
	Workflow string // path of its file
	Title    string // its name
	SHA      string // GITHUB_SHA: the pushed commit, or the merge of a pull request
	Ref      string // GITHUB_REF, as in refs/heads/main
	Event    string // that started the run
	Run      int64  // id of the run; 0 if it is not known
	Runner   string // name of the runner
	URL      string // of the run, for people
}

// FailedStep is the event of a step that failed. The payload is that of the event that started the workflow: of a pull
// request its head is what failed, else what the ref stands at.
func FailedStep(s Step, payload []byte, delivery string) (Event, error) {
	p, err := readJSON[struct {
		envelope
		Pull *jsonPull `json:"pull_request"`
	}](payload)
	if err != nil {
		return Event{}, skip(Malformed, "failed step: %v", err)
	}
	e := p.event()
	e.Name, e.Delivery, e.Label, e.Action = "failed_step", delivery, "", "completed"
	c := &Check{Name: s.Job, Workflow: workflowFile(s.Workflow), Title: clip(s.Title, longestName), SHA: s.SHA, HeadRepo: e.Repo.ID, Done: true, Conclusion: "failure", URL: s.URL,
		Run: s.Run, Runner: s.Runner, Event: s.Event}
	if e.Check = c; p.Pull != nil {
		pull := p.Pull.pull()
		c.SHA, c.Branch, c.HeadRepo = pull.Head.SHA, pull.Head.Branch, pull.Head.Repo
		if c.HeadRepo == 0 {
			return Event{}, skip(FromFork, "the head of pull request %d lies in a fork that is gone", pull.Number)
		}
		return made(e)
	}
	branch, ok := strings.CutPrefix(s.Ref, "refs/heads/")
	if !ok {
		return Event{}, skip(NotForUs, "%s is no branch, and a draft goes against one", clip(s.Ref, longestName))
	}
	c.Branch = branch
	return made(e)
}

func failedSteps(Event) []step {
	return []step{
		{askRepo, repoSays}, {askTip, tipSays}, {askPolicy, policySays}, {nil, branchSays}, {nil, workflowSays}, {askToday, todaySays},
		{askPulls, pullSays}, {askMessage, messageSays}, {askItself, groupsSay}, {askDrafts, draftsSay}, {askAuthor, nil}, {askMerge, nil}, {askJobs, nil},
	}
}
