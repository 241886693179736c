package bot

// onCheckRun wakes when one check of a commit has ended.
var onCheckRun = kind{read: readCheckRun, complete: hasCheck, sift: siftCheck, steps: checkSteps, decide: decideCheck}

func readCheckRun(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		CheckRun *struct {
			ID                       int64
			Name, Status, Conclusion string
			HeadSHA                  string `json:"head_sha"`
			HTMLURL                  string `json:"html_url"`
			App                      jsonApp
			Pulls                    jsonPulls `json:"pull_requests"`
			CheckSuite               struct {
				HeadBranch string `json:"head_branch"`
			} `json:"check_suite"`
		} `json:"check_run"`
	}](payload)
	e := p.event()
	if c := p.CheckRun; c != nil {
		e.Check = &Check{ID: c.ID, Name: clip(c.Name, longestName), SHA: c.HeadSHA, Branch: c.CheckSuite.HeadBranch,
			Done: c.Status == "completed", Conclusion: c.Conclusion, App: c.App.ID, URL: c.HTMLURL}
		e.Check.Pulls, e.Check.HeadRepo = c.Pulls.of(e.Repo.ID)
	}
	return e, err
}

// jsonPulls are the pull requests that a check names: those whose head it ran on, of any repository.
type jsonPulls []struct {
	Number     int
	Head, Base struct{ Repo struct{ ID int64 } }
}

// of are the pull requests within one repository, and the repository that the commit came from, 0 if they do not say.
func (ps jsonPulls) of(repo int64) (numbers []int, head int64) {
	for _, p := range ps[:min(len(ps), mostPulls)] {
		if head != repo {
			head = p.Head.Repo.ID
		}
		if p.Head.Repo.ID == repo && p.Base.Repo.ID == repo && p.Number > 0 {
			numbers = append(numbers, p.Number)
		}
	}
	return numbers, head
}
