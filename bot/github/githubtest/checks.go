package githubtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// suite is the check runs of one App on one commit: of one workflow's run, if the App is Actions.
type suite struct {
	id          int64
	app         *app
	sha, branch string
	from        *Repo // that the commit came from
	before      string
	made        time.Time
	updated     time.Time
}

// check is one check run.
type check struct {
	id                   int64
	suite                *suite
	name, external       string
	details              string
	status, conclusion   string
	title, summary, text string
	annotations          []any
	started, done        time.Time
	steps                []Step // of a workflow's job, those that GitHub adds among them
	runner               string
}

// run is a workflow's run.
type run struct {
	id, workflow  int64
	number        int
	attempt       int
	name, path    string
	event         string
	suite         *suite
	actor         *account
	conclusion    string // "" while it runs
	made, updated time.Time
	jobs          []*check
}

type status struct {
	id               int64
	sha, context     string
	state, text, url string
	by               *account
	made             time.Time
}

// Check is a check run as a test looks at it.
type Check struct {
	ID          int64
	Name, SHA   string
	Status      string // queued, in_progress, completed
	Conclusion  string
	ExternalID  string
	Title       string
	Summary     string
	Annotations int
	App         int64
	URL         string
}

// Job is one job of a workflow, which is one check run.
type Job struct {
	Name           string
	Conclusion     string // "" is still running; success, failure, cancelled, timed_out, skipped, neutral, action_required
	Title, Summary string // of the check run's output
	Steps          []Step // in order, without those that GitHub adds; none at all, as of a runner that was lost, if nil
	Runner         string // its name; "GitHub Actions 1" if empty
}

// Step is one step of a job as GitHub shows it.
type Step struct {
	Name       string
	Conclusion string // "success" if empty; failure, skipped, cancelled
}

// Workflow is a run of a workflow to make.
type Workflow struct {
	Name   string // "CI" if empty
	Path   string // ".github/workflows/ci.yml" if empty
	Branch string // whose tip ran; default branch if empty
	Pull   int    // or a pull request, whose head ran (on its merge, as GitHub does)
	Event  string // what started it; push, or pull_request with Pull, if empty
	Actor  string // login; the owner's if empty
	Jobs   []Job
}

// RunWorkflow makes a run and sends what GitHub sends of one: workflow_run requested, check_run created for each job and, for
// each that has a conclusion, completed. When all have one it ends, with check_suite completed and workflow_run completed;
// FinishWorkflow ends the others.
func (r *Repo) RunWorkflow(w Workflow) (id int64, err error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	from, branch, sha, err := r.place(w.Branch, w.Pull)
	if err != nil {
		return 0, fmt.Errorf("run a workflow: %w", err)
	}
	event := or(w.Event, "push")
	if w.Pull != 0 {
		event = or(w.Event, "pull_request")
	}
	now := r.s.now()
	k := &run{
		id: r.s.id(), workflow: r.workflowID(or(w.Path, ".github/workflows/ci.yml")), number: len(r.runs) + 1, attempt: 1, name: or(w.Name, "CI"),
		path: or(w.Path, ".github/workflows/ci.yml"), event: event, actor: r.s.account(or(w.Actor, r.owner.login), "User"), made: now, updated: now,
		suite: r.newSuite(r.s.apps[actionsApp], from, branch, sha),
	}
	r.runs = append(r.runs, k)
	r.begin(k, w.Jobs)
	return k.id, nil
}

// begin starts the jobs of a run, tells of them and ends the run when nothing is left to wait for.
func (r *Repo) begin(k *run, jobs []Job) {
	r.tellRun(k, "requested")
	k.jobs = nil
	for _, j := range jobs {
		c := r.newCheck(k.suite, j.Name, "in_progress")
		c.details = r.html(fmt.Sprintf("/actions/runs/%d/job/%d", k.id, c.id))
		c.runner = or(j.Runner, "GitHub Actions 1")
		if j.Steps != nil {
			c.steps = slices.Concat([]Step{{Name: "Set up job"}}, j.Steps, []Step{{Name: "Complete job"}})
		}
		k.jobs = append(k.jobs, c)
		r.tellCheck(c, "created", k.actor)
	}
	for i, j := range jobs {
		r.finish(k.jobs[i], j, k.actor)
	}
	r.end(k)
}

func (r *Repo) finish(c *check, j Job, by *account) {
	if j.Conclusion == "" {
		return
	}
	c.status, c.conclusion, c.done, c.title, c.summary = "completed", j.Conclusion, r.s.now(), j.Title, j.Summary
	r.tellCheck(c, "completed", by)
}

// end closes a run whose jobs are all done.
func (r *Repo) end(k *run) {
	worst := "success"
	for _, c := range k.jobs {
		if c.status != "completed" {
			return
		}
		if slices.Contains([]string{"failure", "timed_out", "cancelled", "action_required"}, c.conclusion) && worst != "failure" {
			worst = c.conclusion
		}
	}
	if worst == "timed_out" {
		worst = "failure" // a run does not time out, its jobs do
	}
	k.conclusion, k.updated = worst, r.s.now()
	k.suite.updated = k.updated
	r.tellSuite(k.suite, "completed", k.actor)
	r.tellRun(k, "completed")
}

// FinishWorkflow ends jobs of a run that are still running, by name.
func (r *Repo) FinishWorkflow(id int64, jobs ...Job) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	k := r.run(id)
	if k == nil {
		return fmt.Errorf("run %d: %w", id, errNoSuch)
	}
	for _, j := range jobs {
		i := slices.IndexFunc(k.jobs, func(c *check) bool { return c.name == j.Name && c.status != "completed" })
		if i < 0 {
			return fmt.Errorf("run %d: no job %s is running", id, j.Name)
		}
		r.finish(k.jobs[i], j, k.actor)
	}
	r.end(k)
	return nil
}

// Rerun runs a workflow's run again: the same id, the next attempt, new check runs in the same suite.
func (r *Repo) Rerun(id int64, jobs ...Job) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	k := r.run(id)
	if k == nil {
		return fmt.Errorf("run %d: %w", id, errNoSuch)
	}
	k.attempt++
	k.conclusion, k.updated = "", r.s.now()
	r.begin(k, jobs)
	return nil
}

// ForeignCheck is a check run of another App on this GitHub, one that is no workflow's.
type ForeignCheck struct {
	App        int64  // its id
	AppSlug    string // "ci-vendor" if empty
	Name       string
	Branch     string // whose tip; default branch if empty
	Pull       int    // or a pull request's head
	Conclusion string // "" is still running
}

// AddCheck makes a third party's check run, and tells of it and of its suite.
func (r *Repo) AddCheck(f ForeignCheck) (id int64, err error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	from, branch, sha, err := r.place(f.Branch, f.Pull)
	if err != nil {
		return 0, fmt.Errorf("add a check: %w", err)
	}
	a := r.s.apps[f.App]
	if a == nil {
		a = r.s.addApp(f.App, or(f.AppSlug, "ci-vendor"))
	}
	c := r.newCheck(r.suiteOf(a, from, branch, sha), f.Name, "in_progress")
	r.tellCheck(c, "created", a.bot)
	if f.Conclusion != "" {
		r.finish(c, Job{Conclusion: f.Conclusion}, a.bot)
		r.tellSuite(c.suite, "completed", a.bot)
	}
	return c.id, nil
}

// AddStatus sets a commit status: error, failure, pending or success.
func (r *Repo) AddStatus(sha, context, state, description, by string) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	c := r.commitAt(sha)
	if c == nil {
		return fmt.Errorf("set a status of %s: %w", sha, errNoSuch)
	}
	k := &status{id: r.s.id(), sha: sha, context: context, state: state, text: description, by: r.s.account(by, "User"), made: r.s.now()}
	r.statuses = append(r.statuses, k)
	var branches []any = []any{}
	for ref, tip := range r.refs {
		if b, ok := strings.CutPrefix(ref, "refs/heads/"); ok && tip == sha {
			branches = append(branches, obj{"name": b, "protected": r.protected[ref], "commit": obj{"sha": sha, "url": r.api("/commits/" + sha)}})
		}
	}
	r.s.emit(r, "status", "", obj{
		"id": k.id, "sha": sha, "name": r.full(), "context": context, "state": state, "description": orNil(description), "target_url": nil,
		"avatar_url": r.s.avatar(k.by), "commit": r.commitJSON(c), "branches": branches, "created_at": stamp(k.made), "updated_at": stamp(k.made),
	}, k.by)
	return nil
}

// Checks looks at the check runs of a commit, the oldest first.
func (r *Repo) Checks(sha string) []Check {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	var all []Check
	for _, c := range r.checks {
		if c.suite.sha == sha {
			all = append(all, Check{
				ID: c.id, Name: c.name, SHA: sha, Status: c.status, Conclusion: c.conclusion, ExternalID: c.external, Title: c.title,
				Summary: c.summary, Annotations: len(c.annotations), App: c.suite.app.id, URL: r.checkHTML(c),
			})
		}
	}
	return all
}

// place is the commit that a check is of.
func (r *Repo) place(branch string, number int) (from *Repo, name, sha string, err error) {
	if number != 0 {
		is := r.issue(number)
		if is == nil || is.pull == nil {
			return nil, "", "", fmt.Errorf("pull request %d: %w", number, errNoSuch)
		}
		return is.pull.from, is.pull.headRef, is.pull.head, nil
	}
	branch = or(branch, r.branch)
	sha = r.refs["refs/heads/"+branch]
	if sha == "" {
		return nil, "", "", fmt.Errorf("branch %s: %w", branch, errNoSuch)
	}
	return r, branch, sha, nil
}

func (r *Repo) workflowID(path string) int64 {
	for _, k := range r.runs {
		if k.path == path {
			return k.workflow
		}
	}
	return r.s.id()
}

func (r *Repo) newSuite(a *app, from *Repo, branch, sha string) *suite {
	k := &suite{id: r.s.id(), app: a, sha: sha, branch: branch, from: from, before: strings.Repeat("0", 40), made: r.s.now(), updated: r.s.now()}
	if c := r.commitAt(sha); c != nil && len(c.parents) > 0 {
		k.before = c.parents[0]
	}
	r.suites = append(r.suites, k)
	return k
}

// suiteOf finds an App's suite of a commit, of which there is one unless it is Actions', or makes it.
func (r *Repo) suiteOf(a *app, from *Repo, branch, sha string) *suite {
	for _, k := range r.suites {
		if k.app == a && k.sha == sha {
			return k
		}
	}
	return r.newSuite(a, from, branch, sha)
}

func (r *Repo) newCheck(k *suite, name, status string) *check {
	c := &check{id: r.s.id(), suite: k, name: name, status: status, started: r.s.now()} // queued ones too, as GitHub has it
	r.checks = append(r.checks, c)
	return c
}

func (r *Repo) run(id int64) *run {
	for _, k := range r.runs {
		if k.id == id {
			return k
		}
	}
	return nil
}

// outcome is a suite's state as its check runs make it: the latest of each name.
func (r *Repo) outcome(k *suite) (status, conclusion string, n int) {
	conclusion = "success"
	for _, c := range r.latest(func(c *check) bool { return c.suite == k }) {
		n++
		if c.status != "completed" {
			return "in_progress", "", n
		}
		if !slices.Contains([]string{"success", "neutral", "skipped"}, c.conclusion) && conclusion == "success" {
			conclusion = c.conclusion
		}
	}
	if n == 0 {
		return "queued", "", 0
	}
	return "completed", conclusion, n
}

// latest are the check runs that match, without those that a later one of the same name and suite replaced.
func (r *Repo) latest(match func(*check) bool) []*check {
	var found []*check
	for _, c := range slices.Backward(r.checks) {
		if match(c) && !slices.ContainsFunc(found, func(o *check) bool { return o.name == c.name && o.suite == c.suite }) {
			found = append(found, c)
		}
	}
	slices.Reverse(found)
	return found
}

// pullsOf are the open pull requests that a check's events name: never those of forks.
func (r *Repo) pullsOf(k *suite) []any {
	all := []any{}
	if k.from != r {
		return all
	}
	for _, is := range r.issues {
		if p := is.pull; p != nil && is.state == "open" && p.from == r && p.headRef == k.branch && p.head == k.sha {
			all = append(all, r.shortPull(is))
		}
	}
	return all
}

func (r *Repo) tellCheck(c *check, action string, by *account) {
	r.s.emit(r, "check_run", action, obj{"check_run": r.checkJSON(c, true)}, by)
}

func (r *Repo) tellSuite(k *suite, action string, by *account) {
	r.s.emit(r, "check_suite", action, obj{"check_suite": r.suiteJSON(k)}, by)
}

func (r *Repo) tellRun(k *run, action string) {
	r.s.emit(r, "workflow_run", action, obj{"workflow_run": r.runJSON(k, true), "workflow": r.workflowJSON(k)}, k.actor)
}

func listChecks(c *call) (any, error) {
	k := c.repo.commitAt(c.r.PathValue("ref"))
	if k == nil {
		return nil, invalidf("No commit found for SHA: %s", c.r.PathValue("ref"))
	}
	q := c.r.URL.Query()
	match := func(x *check) bool {
		return x.suite.sha == k.sha && (q.Get("check_name") == "" || q.Get("check_name") == x.name) && (q.Get("status") == "" || q.Get("status") == x.status) &&
			(q.Get("app_id") == "" || q.Get("app_id") == strconv.FormatInt(x.suite.app.id, 10))
	}
	found := c.repo.latest(match)
	if q.Get("filter") == "all" {
		found = slices.DeleteFunc(slices.Clone(c.repo.checks), func(x *check) bool { return !match(x) })
	}
	slices.Reverse(found) // the newest first
	return counted(c, "check_runs", found, func(x *check) any { return c.repo.checkJSON(x, false) })
}

func getCheck(c *call) (any, error) {
	k := c.check()
	if k == nil {
		return nil, notFound
	}
	return c.repo.checkJSON(k, false), nil
}

func (c *call) check() *check {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	for _, k := range c.repo.checks {
		if k.id == id {
			return k
		}
	}
	return nil
}

// onlyApps is GitHub's no to people: check runs are written by Apps.
func (c *call) onlyApps() error {
	if c.who.app == nil {
		return &no{status: http.StatusForbidden, message: "You must authenticate via a GitHub App."}
	}
	return nil
}

func createCheck(c *call) (any, error) {
	if err := c.onlyApps(); err != nil {
		return nil, err
	}
	sha := c.text("head_sha")
	if c.repo.commitAt(sha) == nil || !hexadecimal(sha) {
		return nil, invalidf("No commit found for SHA: %s", sha)
	}
	if strings.TrimSpace(c.text("name")) == "" {
		return nil, validation(problem{Resource: "CheckRun", Field: "name", Code: "missing_field"})
	}
	if err := c.checkOutput(); err != nil {
		return nil, err
	}
	branch := ""
	for ref, tip := range c.repo.refs {
		if tip == sha && strings.HasPrefix(ref, "refs/heads/") {
			branch = strings.TrimPrefix(ref, "refs/heads/")
		}
	}
	k := c.repo.newCheck(c.repo.suiteOf(c.who.app, c.repo, branch, sha), c.text("name"), "queued")
	c.fillCheck(k)
	c.header.Set("Location", c.repo.api(fmt.Sprintf("/check-runs/%d", k.id)))
	c.repo.tellCheck(k, "created", c.who.account)
	if k.status == "completed" {
		c.repo.tellCheck(k, "completed", c.who.account)
	}
	return c.repo.checkJSON(k, false), nil
}

func editCheck(c *call) (any, error) {
	if err := c.onlyApps(); err != nil {
		return nil, err
	}
	k := c.check()
	if k == nil {
		return nil, notFound
	}
	if k.suite.app != c.who.app {
		return nil, &no{status: http.StatusForbidden, message: fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", c.who.app.id)}
	}
	if err := c.checkOutput(); err != nil {
		return nil, err
	}
	was := k.status
	c.fillCheck(k)
	if k.status == "completed" && was != "completed" {
		c.repo.tellCheck(k, "completed", c.who.account)
	}
	return c.repo.checkJSON(k, false), nil
}

// checkOutput refuses what GitHub refuses beyond shapes: a half-said end, too much text, too many annotations.
func (c *call) checkOutput() error {
	state, _ := c.given("status")
	conclusion, concluded := c.given("conclusion")
	_, done := c.given("completed_at")
	switch {
	case conclusion == "stale":
		return validation(problem{Resource: "CheckRun", Field: "conclusion", Code: "invalid"})
	case !concluded && (state == "completed" || done):
		return invalidf("Invalid request.\n\nMissing required keys \"conclusion\".")
	case concluded && state != "" && state != "completed":
		return validation(problem{Resource: "CheckRun", Field: "status", Code: "invalid"})
	}
	output, _ := c.body["output"].(obj)
	for _, field := range []string{"summary", "text"} {
		if text, _ := output[field].(string); len(text) > 65535 {
			return invalidf("Invalid request.\n\nOnly 65535 characters are allowed; %d were supplied.", len(text))
		}
	}
	notes, _ := output["annotations"].([]any)
	if len(notes) > 50 {
		return invalidf("Invalid request.\n\nNo more than 50 items are allowed; %d were supplied.", len(notes))
	}
	return nil
}

// fillCheck writes what the body says onto a check run; annotations are added to those there are.
func (c *call) fillCheck(k *check) {
	set := func(field string, to *string) {
		if v, given := c.given(field); given {
			*to = v
		}
	}
	set("name", &k.name)
	set("external_id", &k.external)
	set("details_url", &k.details)
	set("status", &k.status)
	set("conclusion", &k.conclusion)
	if output, given := c.body["output"].(obj); given {
		for field, to := range map[string]*string{"title": &k.title, "summary": &k.summary, "text": &k.text} {
			if v, ok := output[field].(string); ok {
				*to = v
			}
		}
		notes, _ := output["annotations"].([]any)
		k.annotations = append(k.annotations, notes...)
	}
	if v, given := c.given("started_at"); given {
		k.started, _ = time.Parse(time.RFC3339, v)
	}
	if _, concluded := c.given("conclusion"); concluded {
		k.status, k.done = "completed", c.s.now()
		if v, given := c.given("completed_at"); given {
			k.done, _ = time.Parse(time.RFC3339, v)
		}
	} else if k.status != "completed" {
		k.conclusion, k.done = "", time.Time{}
	}
	k.suite.updated = c.s.now()
}

// statusesOf are a commit's statuses, the newest first; once is the latest of each context.
func (r *Repo) statusesOf(sha string, once bool) []*status {
	var found []*status
	for _, k := range slices.Backward(r.statuses) {
		if k.sha == sha && !(once && slices.ContainsFunc(found, func(o *status) bool { return o.context == k.context })) {
			found = append(found, k)
		}
	}
	return found
}

func combinedStatus(c *call) (any, error) {
	k := c.repo.commitAt(c.r.PathValue("ref"))
	if k == nil {
		return nil, invalidf("No commit found for SHA: %s", c.r.PathValue("ref"))
	}
	found := c.repo.statusesOf(k.sha, true)
	state := "success"
	for _, x := range found {
		switch {
		case x.state == "failure" || x.state == "error":
			state = "failure"
		case x.state == "pending" && state == "success":
			state = "pending"
		}
	}
	if len(found) == 0 {
		state = "pending"
	}
	answer, err := counted(c, "statuses", found, func(x *status) any { return c.repo.statusJSON(x, false) })
	if err != nil {
		return nil, err
	}
	return with(answer.(obj), obj{
		"state": state, "sha": k.sha, "repository": c.repo.json(false), "commit_url": c.repo.api("/commits/" + k.sha),
		"url": c.repo.api("/commits/" + k.sha + "/status"),
	}), nil
}

func listStatuses(c *call) (any, error) {
	k := c.repo.commitAt(c.r.PathValue("ref"))
	if k == nil {
		return nil, invalidf("No commit found for SHA: %s", c.r.PathValue("ref"))
	}
	return page(c, c.repo.statusesOf(k.sha, false), func(x *status) any { return c.repo.statusJSON(x, true) })
}

func listRuns(c *call) (any, error) {
	q := c.r.URL.Query()
	var found []*run
	for _, k := range slices.Backward(c.repo.runs) {
		state, _, _ := c.repo.outcome(k.suite)
		if k.conclusion == "" {
			state = "in_progress"
		}
		want := func(key, is string) bool { return q.Get(key) == "" || q.Get(key) == is }
		if want("head_sha", k.suite.sha) && want("branch", k.suite.branch) && want("event", k.event) && want("actor", k.actor.login) &&
			want("check_suite_id", strconv.FormatInt(k.suite.id, 10)) && (want("status", state) || want("status", k.conclusion)) {
			found = append(found, k)
		}
	}
	return counted(c, "workflow_runs", found, func(k *run) any { return c.repo.runJSON(k, false) })
}

func getRun(c *call) (any, error) {
	id, err := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	if k := c.repo.run(id); err == nil && k != nil {
		return c.repo.runJSON(k, false), nil
	}
	return nil, notFound
}

// listJobs are the jobs of a run: of its latest attempt, or of all of them.
func listJobs(c *call) (any, error) {
	id, err := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	k := c.repo.run(id)
	if err != nil || k == nil {
		return nil, notFound
	}
	return counted(c, "jobs", k.jobs, func(j *check) any { return c.repo.jobJSON(k, j) })
}

func getWorkflowPermissions(c *call) (any, error) {
	return obj{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": c.repo.pulls}, nil
}

var errNoSuch = errors.New("there is none")
