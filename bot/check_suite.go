package bot

// onCheckSuite wakes when all that one App checks of a commit has ended.
var onCheckSuite = kind{read: readCheckSuite, complete: hasCheck, sift: siftCheck, steps: checkSteps, decide: decideCheck}

func readCheckSuite(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		CheckSuite *struct {
			ID                 int64
			Status, Conclusion string
			HeadSHA            string `json:"head_sha"`
			HeadBranch         string `json:"head_branch"`
			App                jsonApp
			Pulls              jsonPulls `json:"pull_requests"`
		} `json:"check_suite"`
	}](payload)
	e := p.event()
	if c := p.CheckSuite; c != nil {
		e.Check = &Check{ID: c.ID, Name: clip(c.App.Name, longestName), SHA: c.HeadSHA, Branch: c.HeadBranch,
			Done: c.Status == "completed", Conclusion: c.Conclusion, App: c.App.ID}
		e.Check.Pulls, e.Check.HeadRepo = c.Pulls.of(e.Repo.ID)
	}
	return e, err
}
