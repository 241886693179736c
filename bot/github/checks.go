package github

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot"
)

// checkRun is as much of a check run as is used here.
type checkRun struct {
	ID         int64       `json:"id"`
	Name       string      `json:"name"`
	SHA        string      `json:"head_sha"`
	ExternalID string      `json:"external_id"`
	Status     string      `json:"status"`
	Conclusion string      `json:"conclusion"`
	HTMLURL    string      `json:"html_url"`
	DetailsURL string      `json:"details_url"`
	Suite      numbered    `json:"check_suite"`
	App        checkApp    `json:"app"`
	Pulls      []numbering `json:"pull_requests"`
	Output     struct {
		Title       string `json:"title"`
		Summary     string `json:"summary"`
		Annotations int    `json:"annotations_count"`
	} `json:"output"`
}

type numbered struct {
	ID int64 `json:"id"`
}

type checkApp struct {
	ID   int64  `json:"id"`
	Slug string `json:"slug"`
}

type numbering struct {
	Number int `json:"number"`
}

// workflowRun is as much of a workflow's run as is used here.
type workflowRun struct {
	ID         int64       `json:"id"`
	Name       string      `json:"name"`
	Path       string      `json:"path"` // may end in @ and a ref
	SHA        string      `json:"head_sha"`
	Branch     string      `json:"head_branch"`
	Event      string      `json:"event"`
	Status     string      `json:"status"`
	Conclusion string      `json:"conclusion"`
	Attempt    int         `json:"run_attempt"`
	Suite      int64       `json:"check_suite_id"`
	HTMLURL    string      `json:"html_url"`
	Repo       numbered    `json:"repository"`
	HeadRepo   numbered    `json:"head_repository"`
	Pulls      []numbering `json:"pull_requests"`
}

func numbersOf(pulls []numbering) (all []int) {
	for _, p := range pulls {
		all = append(all, p.Number)
	}
	return all
}

func (w workflowRun) check() bot.Check {
	path, _, _ := strings.Cut(w.Path, "@")
	return bot.Check{
		ID: w.ID, Name: w.Name, Workflow: path, Title: w.Name, SHA: w.SHA, Branch: w.Branch, HeadRepo: w.HeadRepo.ID, Done: w.Status == "completed",
		Conclusion: w.Conclusion, Attempt: w.Attempt, URL: w.HTMLURL, Pulls: numbersOf(w.Pulls), Event: w.Event, Run: w.ID,
	}
}

// check is a check run, with what its workflow's run knows of it.
func (c checkRun) check(w workflowRun) bot.Check {
	out := w.check()
	out.ID, out.Name, out.SHA, out.Done, out.Conclusion, out.App = c.ID, c.Name, c.SHA, c.Status == "completed", c.Conclusion, c.App.ID
	out.URL = or(c.HTMLURL, out.URL)
	if len(c.Pulls) > 0 {
		out.Pulls = numbersOf(c.Pulls)
	}
	return out
}

// status is a commit status of some context.
type status struct {
	State     string `json:"state"`
	Context   string `json:"context"`
	TargetURL string `json:"target_url"`
}

const (
	checkPages = 10 // GitHub itself stops at 1,000
	runPages   = 10
	statePages = 5
)

// Checks are the check runs and statuses of a commit, the latest of each name. The same name in two workflows, or of
// one workflow started by two kinds of event, is two checks: a green one must not hide a red one.
func (h *Hub) Checks(ctx context.Context, r bot.Repo, sha string) (all []bot.Check, err error) {
	err = h.at(ctx, "read the checks of "+clip(sha), r, []op{listCheckRuns, listRuns, getStatus}, func(l *line) error {
		all = nil
		found, err := l.checkRuns(ctx, sha, url.Values{"filter": {"latest"}})
		if err != nil {
			return err
		}
		runs, err := l.runs(ctx, sha, found)
		if err != nil {
			return err
		}
		for _, c := range found {
			all = append(all, c.check(runs[c.Suite.ID]))
		}
		all = latest(all)
		states, err := l.statuses(ctx, sha)
		all = append(all, states...)
		return err
	})
	return all, err
}

// latest keeps the newest check of each name, in the order of their names.
func latest(all []bot.Check) []bot.Check {
	type same struct {
		name, workflow, event string
		app                   int64
	}
	newest := map[same]bot.Check{}
	for _, c := range all {
		k := same{c.Name, c.Workflow, c.Event, c.App}
		if old, ok := newest[k]; !ok || c.ID > old.ID {
			newest[k] = c
		}
	}
	kept := all[:0]
	for _, c := range newest {
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b bot.Check) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return kept
}

func (l *line) checkRuns(ctx context.Context, sha string, query url.Values) (all []checkRun, err error) {
	type page struct {
		Runs []checkRun `json:"check_runs"`
	}
	_, err = pages(ctx, l, call{op: listCheckRuns, args: []string{sha}, query: query}, checkPages, func(p page) bool {
		for _, c := range p.Runs {
			if c.ID != 0 && c.Name != "" {
				c.SHA = or(c.SHA, sha)
				all = append(all, c)
			}
		}
		return false
	})
	return all, err
}

// runs are the workflow runs of a commit by check suite, or none when no check run is of Actions.
func (l *line) runs(ctx context.Context, sha string, found []checkRun) (map[int64]workflowRun, error) {
	by := map[int64]workflowRun{}
	if !slices.ContainsFunc(found, func(c checkRun) bool { return c.App.Slug == "github-actions" || c.App.Slug == "" }) {
		return by, nil
	}
	type page struct {
		Runs []workflowRun `json:"workflow_runs"`
	}
	_, err := pages(ctx, l, call{op: listRuns, query: url.Values{"head_sha": {sha}}}, runPages, func(p page) bool {
		for _, w := range p.Runs {
			if old, ok := by[w.Suite]; w.Suite != 0 && (!ok || w.Attempt > old.Attempt) {
				by[w.Suite] = w
			}
		}
		return false
	})
	return by, err
}

func (l *line) statuses(ctx context.Context, sha string) (all []bot.Check, err error) {
	type page struct {
		Statuses []status `json:"statuses"`
	}
	seen := map[string]bool{}
	_, err = pages(ctx, l, call{op: getStatus, args: []string{sha}}, statePages, func(p page) bool {
		for _, s := range p.Statuses {
			if s.Context == "" || seen[s.Context] { // newest first
				continue
			}
			seen[s.Context] = true
			c := bot.Check{Name: s.Context, SHA: sha, URL: s.TargetURL}
			if c.Done = s.State != "pending" && s.State != ""; c.Done {
				c.Conclusion = s.State
			}
			all = append(all, c)
		}
		return false
	})
	return all, err
}

// Run is a workflow's run by its id.
func (h *Hub) Run(ctx context.Context, r bot.Repo, id int64) (c bot.Check, err error) {
	err = h.at(ctx, "look at run "+num(id), r, []op{getRun}, func(l *line) error {
		var w workflowRun
		_, err := l.call(ctx, call{op: getRun, args: []string{num(id)}, out: &w})
		switch {
		case err != nil:
			return err
		case w.ID != id || w.SHA == "":
			return unreadable("another run")
		case l.repo.ID != 0 && w.Repo.ID != 0 && w.Repo.ID != l.repo.ID:
			return &bot.HubError{Class: bot.NotFound, Status: http.StatusOK, Text: "a run of another repository"}
		}
		c = w.check()
		return nil
	})
	return c, err
}

// runJob is as much of a run's job as is used here.
type runJob struct {
	Name       string `json:"name"`
	Runner     string `json:"runner_name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	CheckURL   string `json:"check_run_url"` // ends in the check run's id
	Steps      []struct {
		Name       string `json:"name"`
		Conclusion string `json:"conclusion"`
	} `json:"steps"`
}

func (j runJob) job() bot.RunJob {
	out := bot.RunJob{Name: j.Name, Runner: j.Runner, Done: j.Status == "completed", Conclusion: j.Conclusion}
	out.Check, _ = strconv.ParseInt(j.CheckURL[strings.LastIndexByte(j.CheckURL, '/')+1:], 10, 64)
	for _, s := range j.Steps {
		out.Steps = append(out.Steps, bot.RunStep{Name: s.Name, Conclusion: s.Conclusion})
	}
	return out
}

const jobPages = 5 // a matrix makes at most 256 jobs

// RunJobs are the jobs of a workflow's run, each as it was last run.
func (h *Hub) RunJobs(ctx context.Context, r bot.Repo, run int64) (all []bot.RunJob, err error) {
	type page struct {
		Jobs []runJob `json:"jobs"`
	}
	err = h.at(ctx, "read the jobs of run "+num(run), r, []op{listJobs}, func(l *line) error {
		all = nil
		_, err := pages(ctx, l, call{op: listJobs, args: []string{num(run)}, query: url.Values{"filter": {"latest"}}}, jobPages, func(p page) bool {
			for _, j := range p.Jobs {
				all = append(all, j.job())
			}
			return false
		})
		return err
	})
	return all, err
}

const (
	checkName      = "redraft"
	mostRemarks    = 200 // annotations of a check run
	remarksPerCall = 50  // GitHub's limit
)

// CheckRun writes our check run of a key on a commit, or edits it in place. Annotations are sent once: GitHub adds those
// of an edit to what is there, so that as many as it counts already are not sent again.
func (h *Hub) CheckRun(ctx context.Context, r bot.Repo, c bot.CheckRun) (at string, err error) {
	doing := "write a check run on " + clip(c.SHA)
	if c.Key == "" || c.Done && c.Conclusion != "neutral" && c.Conclusion != "success" {
		return "", h.say(doing, refusal("a check run of key %q that ends in %q", c.Key, c.Conclusion))
	}
	c.Annotations = c.Annotations[:min(len(c.Annotations), mostRemarks)]
	self, err := h.Self(ctx)
	if err != nil {
		return "", err
	}
	release, err := h.locks.take(ctx, "check "+num(r.ID)+" "+c.SHA+" "+c.Key)
	if err != nil {
		return "", h.say(doing, err)
	}
	defer release()
	err = h.at(ctx, doing, r, []op{listCheckRuns, addCheckRun, editCheckRun}, func(l *line) error {
		sent := 0
		for {
			var mine checkRun
			out, err := once(ctx, h, func() (checkRun, bool, error) {
				var err error
				mine, err = l.check(ctx, c, self)
				sent = max(sent, mine.Output.Annotations)
				return mine, mine.ID != 0 && sent >= len(c.Annotations) && asWanted(mine, c), err
			}, func() (checkRun, error) {
				batch := c.Annotations[min(sent, len(c.Annotations)):]
				batch = batch[:min(len(batch), remarksPerCall)]
				out, err := l.put(ctx, mine.ID, c, batch)
				if err == nil {
					sent += len(batch)
				}
				return out, err
			})
			if at = out.HTMLURL; err != nil || sent >= len(c.Annotations) {
				return err
			}
		}
	})
	return at, err
}

// check finds our check run of a key; zero when there is none.
func (l *line) check(ctx context.Context, c bot.CheckRun, self bot.Self) (mine checkRun, err error) {
	query := url.Values{"filter": {"all"}, "check_name": {checkName}}
	if self.App != 0 {
		query.Set("app_id", num(self.App))
	}
	found, err := l.checkRuns(ctx, c.SHA, query)
	for _, f := range found {
		byUs := self.App != 0 && f.App.ID == self.App || self.App == 0 && (self.Login == "" || f.App.Slug+"[bot]" == self.Login)
		if f.ExternalID == c.Key && byUs && (mine.ID == 0 || f.ID < mine.ID) {
			mine = f
		}
	}
	return mine, err
}

func asWanted(f checkRun, c bot.CheckRun) bool {
	return f.Status == state(c) && f.Conclusion == c.Conclusion && sameText(f.Output.Title, c.Title) && sameText(f.Output.Summary, c.Summary) &&
		(c.DetailsURL == "" || f.DetailsURL == c.DetailsURL)
}

func state(c bot.CheckRun) string {
	if c.Done {
		return "completed"
	}
	return "in_progress"
}

// put writes a check run: a new one when id is 0.
func (l *line) put(ctx context.Context, id int64, c bot.CheckRun, remarks []bot.Annotation) (out checkRun, err error) {
	body := github.CreateCheckRunOptions{
		Name: checkName, HeadSHA: c.SHA, ExternalID: &c.Key, Status: github.String(state(c)),
		Output: &github.CheckRunOutput{Title: &c.Title, Summary: &c.Summary, Annotations: annotations(remarks)},
	}
	if c.DetailsURL != "" {
		body.DetailsURL = &c.DetailsURL
	}
	if c.Done {
		body.Conclusion = &c.Conclusion
		body.CompletedAt = &github.Timestamp{Time: l.hub.now().UTC().Truncate(time.Second)}
	}
	put := call{op: addCheckRun, body: body, out: &out}
	if id != 0 {
		put = call{op: editCheckRun, args: []string{num(id)}, out: &out, body: github.UpdateCheckRunOptions{
			Name: body.Name, DetailsURL: body.DetailsURL, Status: body.Status, Conclusion: body.Conclusion, CompletedAt: body.CompletedAt, Output: body.Output,
		}}
	}
	if _, err = l.call(ctx, put); err == nil && out.ID == 0 {
		err = unreadable("no check run")
	}
	return out, err
}

func annotations(remarks []bot.Annotation) (all []*github.CheckRunAnnotation) {
	for _, a := range remarks {
		line := max(a.Line, 1)
		out := &github.CheckRunAnnotation{Path: &a.Path, StartLine: &line, EndLine: &line, AnnotationLevel: github.String("warning"), Message: &a.Message}
		if a.Title != "" {
			out.Title = &a.Title
		}
		all = append(all, out)
	}
	return all
}
