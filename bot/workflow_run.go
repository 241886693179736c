package bot

import (
	"cmp"
	"strings"
)

// onWorkflowRun wakes when a workflow of GitHub Actions has ended.
var onWorkflowRun = kind{read: readWorkflowRun, complete: hasCheck, sift: siftCheck, steps: checkSteps, decide: decideCheck}

func readWorkflowRun(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		Workflow struct{ Name, Path string }
		Run      *struct {
			ID                                    int64
			Name, Path, Status, Conclusion, Event string
			HeadSHA                               string             `json:"head_sha"`
			HeadBranch                            string             `json:"head_branch"`
			HTMLURL                               string             `json:"html_url"`
			Attempt                               int                `json:"run_attempt"`
			HeadRepository                        struct{ ID int64 } `json:"head_repository"`
			Pulls                                 jsonPulls          `json:"pull_requests"`
		} `json:"workflow_run"`
	}](payload)
	e := p.event()
	if r := p.Run; r != nil {
		title := clip(cmp.Or(p.Workflow.Name, r.Name), longestName)
		e.Check = &Check{ID: r.ID, Name: title, Title: title, Workflow: workflowFile(cmp.Or(p.Workflow.Path, r.Path)), SHA: r.HeadSHA,
			Branch: r.HeadBranch, Done: r.Status == "completed", Conclusion: r.Conclusion, Attempt: r.Attempt, URL: r.HTMLURL, Event: r.Event, Run: r.ID}
		var head int64
		e.Check.Pulls, head = r.Pulls.of(e.Repo.ID)
		e.Check.HeadRepo = cmp.Or(r.HeadRepository.ID, head)
	}
	return e, err
}

// workflowFile is the path of a workflow without the ref that some answers of GitHub's put behind it, as in ci.yml@main.
func workflowFile(path string) string {
	path, _, _ = strings.Cut(path, "@")
	return clip(path, longestName)
}
