package bot

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redraft-dev/redraft/agent/plan"
)

const (
	mostRuns   = 3  // workflow runs of which one event looks at the jobs
	mostFailed = 20 // failed steps that a job carries; a matrix may have hundreds, of one command

	longestStep = 4 << 10 // bytes of a step's and its job's name
)

// askJobs looks for the steps that failed, one call a workflow run, where no check is configured. What GitHub does not tell, or
// not to us, is not known: then the repository's own files say what its check is.
func askJobs(ctx context.Context, g *gatherer) error {
	if g.f.Jobs = nil; len(g.f.Policy.File.Checks) > 0 {
		return nil
	}
	groups, no := g.repairable()
	if no != nil {
		return nil
	}
	for _, group := range groups {
		for _, c := range group.red {
			if _, known := g.f.Jobs[c.Run]; known || !group.ofFile() || c.Run == 0 || len(g.f.Jobs) >= mostRuns {
				continue
			}
			jobs, err := g.hub.RunJobs(ctx, g.repo(), c.Run)
			if err != nil && !isClass(err, NotFound) && !isClass(err, Forbidden) {
				return err
			}
			if g.f.Jobs == nil {
				g.f.Jobs = map[int64][]RunJob{}
			}
			g.f.Jobs[c.Run] = jobs
		}
	}
	return nil
}

// ofFile says whether a group is that of a workflow with a file in the repository.
func (g group) ofFile() bool { return path.Dir(g.workflow)+"/" == workflows }

// failed are the first failed steps of the jobs that a group's red checks are, in the order of those. Of a job without one, as when
// its runner was lost, nothing is known.
func (l look) failed(g group) (all []plan.Failed) {
	if !g.ofFile() || g.check != "" {
		return nil
	}
	for _, c := range g.red {
		for _, j := range jobsOf(c, l.f.Jobs[c.Run]) {
			if at, ok := j.failed(); ok && len(all) < mostFailed {
				at.GitHub = l.context(c)
				all = append(all, plan.Failed{File: g.workflow, At: at})
			}
		}
	}
	return all
}

// jobsOf are the jobs that a check stands for: its own; of a failed step of our own job that which runs on our runner, or where
// that has no failed step, as in a later job that publishes, every job that has ended red.
func jobsOf(c Check, jobs []RunJob) (found []RunJob) {
	for _, j := range jobs {
		switch {
		case c.Runner == "" && c.ID != 0 && j.Check == c.ID:
			return []RunJob{j}
		case c.Runner == "":
		case j.Runner == c.Runner && !j.Done:
			if _, ok := j.failed(); ok {
				return []RunJob{j}
			}
		case j.Done && (j.Conclusion == "failure" || j.Conclusion == "timed_out"):
			found = append(found, j)
		}
	}
	return found
}

// failed is where the job's first failed step stands among its steps; not ok where that is none of the workflow's own.
func (j RunJob) failed() (at plan.At, ok bool) {
	i := slices.IndexFunc(j.Steps, func(s RunStep) bool { return s.Conclusion == "failure" })
	if i < 0 || j.added(i) || j.Steps[i].Name == "" || j.Name == "" || len(j.Steps[i].Name)+len(j.Name) > longestStep {
		return at, false
	}
	at = plan.At{Job: j.Name, Step: j.Steps[i].Name, Shown: true}
	for k, s := range j.Steps {
		if s.Name == at.Step {
			if at.Of++; k <= i {
				at.Nth++
			}
		}
	}
	return at, true
}

// added says whether a step is one that GitHub adds: before and after all others, and what an action does ahead and afterwards.
// https://github.com/actions/runner/blob/main/src/Runner.Worker/JobExtension.cs
func (j RunJob) added(i int) bool {
	name := j.Steps[i].Name
	if i == 0 && name == "Set up job" || i == len(j.Steps)-1 && name == "Complete job" || name == "Initialize containers" || name == "Stop containers" {
		return true
	}
	for _, prefix := range []string{"Pre ", "Post "} {
		if of, ok := strings.CutPrefix(name, prefix); ok && slices.ContainsFunc(j.Steps, func(s RunStep) bool { return s.Name == of }) {
			return true
		}
	}
	return false
}

// context is what is known for sure of the github context in the run of a check. A pull request's runs are of its merge, whose
// commit no check names.
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows
func (l look) context(c Check) map[string]string {
	r := l.f.Repo.Repo
	known := map[string]string{"repository": r.String(), "repository_owner": r.Owner}
	switch p := l.f.Pull; {
	case (c.Event == "push" || c.Event == "schedule") && c.Branch != "" && c.Branch == l.f.Tip.Branch: // a tag's name stands there as well
		known["event_name"], known["sha"], known["ref_type"] = c.Event, l.f.Tip.SHA, "branch"
		known["ref"], known["ref_name"] = "refs/heads/"+c.Branch, c.Branch
	case c.Event == "pull_request" && p != nil:
		known["event_name"], known["ref_name"] = c.Event, strconv.Itoa(p.Number)+"/merge"
		known["ref"] = "refs/pull/" + known["ref_name"]
	case c.Event == "pull_request":
		known["event_name"] = c.Event
	}
	return known
}
