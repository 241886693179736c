package action

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/bot"
)

// Place is the job that this process is a step of, as the runner tells it.
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables
type Place struct {
	Event    string // GITHUB_EVENT_NAME
	Payload  string // file, GITHUB_EVENT_PATH
	Repo     bot.Repo
	Workflow string // path of the workflow's file
	Title    string // its name
	Job      string // id
	Run      string // id of the run and its attempt, as in 17-1
	Runner   string // its name
	URL      string // of the run
	SHA, Ref string
	Temp     string // folder that is emptied after the job
	API, Git string // addresses
}

// Place reads where this process runs. The error says what is missing.
func (a *Action) Place() (Place, error) {
	p := Place{
		Event: a.getenv("GITHUB_EVENT_NAME"), Payload: a.getenv("GITHUB_EVENT_PATH"), Repo: repository(a.getenv("GITHUB_REPOSITORY"), a.getenv("GITHUB_REPOSITORY_ID")), Workflow: workflowPath(a.getenv("GITHUB_WORKFLOW_REF")),
		Title: a.getenv("GITHUB_WORKFLOW"), Job: a.getenv("GITHUB_JOB"), SHA: a.getenv("GITHUB_SHA"), Ref: a.getenv("GITHUB_REF"), Temp: a.getenv("RUNNER_TEMP"),
		Runner: a.getenv("RUNNER_NAME"), API: a.getenv("GITHUB_API_URL"), Git: a.getenv("GITHUB_SERVER_URL"), Run: a.getenv("GITHUB_RUN_ID") + "-" + cmp.Or(a.getenv("GITHUB_RUN_ATTEMPT"), "1"),
	}
	if p.Git != "" && p.Repo.Name != "" {
		p.URL = fmt.Sprintf("%s/%s/actions/runs/%s", p.Git, p.Repo, a.getenv("GITHUB_RUN_ID"))
	}
	for name, value := range map[string]string{"GITHUB_EVENT_NAME": p.Event, "GITHUB_EVENT_PATH": p.Payload, "RUNNER_TEMP": p.Temp} {
		if value == "" {
			return p, fmt.Errorf("read where this runs: %s is not set. This command is the Action's; by hand, redraft fix is the one", name)
		}
	}
	return p, nil
}

// repository is owner/name and an id; of what is not given nothing is known.
func repository(name, id string) bot.Repo {
	owner, name, _ := strings.Cut(name, "/")
	n, _ := strconv.ParseInt(id, 10, 64)
	return bot.Repo{ID: n, Owner: owner, Name: name}
}

// workflowPath is the path of octo-org/hello/.github/workflows/ci.yml@refs/heads/main.
func workflowPath(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	_, rest, _ := strings.Cut(ref, "/")
	_, file, _ := strings.Cut(rest, "/")
	return file
}

// longestPayload is GitHub's own limit of an event.
const longestPayload = 25 << 20

func (p Place) payload() ([]byte, error) {
	f, err := os.Open(p.Payload)
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longestPayload+1))
	if err == nil && len(b) > longestPayload {
		err = errors.New("larger than an event is")
	}
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	return b, nil
}

// OwnStep says whether what is answered is a failed step of the very workflow that this is a step of.
func (p Place) OwnStep(mode string) bool {
	switch p.Event {
	case "workflow_run", "check_run", "check_suite", "status", "issues", "issue_comment", "schedule", "workflow_dispatch":
		return false
	case "pull_request":
		return mode != "ambient" && !p.labeled()
	}
	return mode != "ambient"
}

// labeled says whether the event puts a label on or takes one off; what is no event has none.
func (p Place) labeled() bool {
	b, err := p.payload()
	if err != nil {
		return false
	}
	e, err := bot.Decode("pull_request", p.Run, b)
	return err == nil && (e.Action == "labeled" || e.Action == "unlabeled")
}

// event is what there is to answer. The error is a *bot.Skip, or what kept it from being read.
func (p Place) event(in Inputs) (bot.Event, error) {
	payload, err := p.payload()
	if err != nil {
		return bot.Event{}, err
	}
	switch {
	case in.Mode == "ambient" || p.Event == "schedule" || p.Event == "workflow_dispatch":
		return bot.Scheduled(payload, p.Repo, in.Base, p.Run)
	case p.OwnStep(in.Mode):
		id, _, _ := strings.Cut(p.Run, "-")
		run, _ := strconv.ParseInt(id, 10, 64)
		return bot.FailedStep(bot.Step{Job: p.Job, Workflow: p.Workflow, Title: p.Title, SHA: p.SHA, Ref: p.Ref, URL: p.URL, Event: p.Event, Run: run, Runner: p.Runner}, payload, p.Run)
	}
	return bot.Decode(p.Event, p.Run, payload)
}
