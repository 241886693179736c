package bot

// onStatus wakes when a service that knows no checks has said how a commit did.
var onStatus = kind{read: readStatus, complete: hasCheck, sift: siftCheck, steps: checkSteps, decide: decideCheck}

func readStatus(payload []byte) (Event, error) {
	p, err := readJSON[struct {
		envelope
		SHA, State, Context string
		TargetURL           string `json:"target_url"`
		Branches            []struct {
			Name   string
			Commit struct{ SHA string }
		}
	}](payload)
	e := p.event()
	c := &Check{Name: clip(p.Context, longestName), SHA: p.SHA, Done: p.State != "pending", URL: p.TargetURL}
	if c.Done {
		c.Conclusion = p.State
	}
	for _, b := range p.Branches { // those that hold the commit; it is red where it is the tip
		if b.Commit.SHA == p.SHA && (c.Branch == "" || b.Name == p.Repository.DefaultBranch) {
			c.Branch = b.Name
		}
	}
	e.Check = c
	return e, err
}
