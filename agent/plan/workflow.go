package plan

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// At says which step of a workflow is meant, and what is known of its run. All of it only chooses among what the file
// holds: nothing here becomes part of a command, but for the words of GitHub, which are letters, digits and a few marks.
type At struct {
	Job    string            `json:"job"`             // its id, or its name as GitHub shows it; "caller / called" for a job of a workflow that another calls
	Step   string            `json:"step"`            // its name as GitHub shows it, its id, or its number in the file, from 1; "outer > inner" for one of a local action
	Shown  bool              `json:"shown,omitempty"` // Job and Step are names as GitHub shows them alone, and neither ids, numbers nor paths
	Nth    int               `json:"nth,omitempty"`   // with Shown: which of the Of steps that GitHub shows under this name, from 1; the only one if zero
	Of     int               `json:"of,omitempty"`
	Matrix map[string]string `json:"matrix,omitempty"` // as much of the matrix as is known; may be empty where there is one combination, or Job names it
	Inputs map[string]string `json:"inputs,omitempty"` // what the workflow was started with by hand
	GitHub map[string]string `json:"github,omitempty"` // of the github context: sha, ref, event_name …; names that are not listed in githubNames do not count
}

// FlowJob is one job of a workflow file.
type FlowJob struct {
	ID     string
	Steps  []string            // the names of its steps, as GitHub shows them
	Runs   []bool              // whether each is a run: step
	Matrix []map[string]string // its combinations, scalars alone
	Calls  string              // the workflow that it calls instead of steps
}

// flow is a workflow file, read.
type flow struct {
	tree fs.FS
	file string
	top  *object
	at   At
}

func readFlow(tree fs.FS, file string, at At) (*flow, error) {
	file = path.Clean(file)
	top, err := readObject(tree, file)
	if err != nil {
		return nil, err
	}
	if jobs, ok := top.get("jobs").(*object); !ok || len(jobs.keys) == 0 {
		return nil, unplanned(BadFile, file, "%s has no jobs", file)
	}
	return &flow{tree, file, top, at}, nil
}

// Jobs lists the jobs of a workflow file of the tree. The error is an *Unplanned.
func Jobs(tree fs.FS, file string) ([]FlowJob, error) {
	w, err := readFlow(tree, file, At{})
	if err != nil {
		return nil, err
	}
	return w.list(), nil
}

func (w *flow) list() []FlowJob {
	var all []FlowJob
	jobs := w.jobs()
	for _, id := range jobs.keys {
		o, _ := jobs.get(id).(*object)
		j := FlowJob{ID: id}
		j.Calls, _ = asText(o.get("uses"))
		for _, s := range list(o.get("steps")) {
			step, _ := s.(*object)
			_, run := step.get("run").(string)
			j.Runs = append(j.Runs, run)
			j.Steps = append(j.Steps, first(stepNames(step, nil)))
		}
		if combos, err := w.contexts(id).combinations(o.get("strategy")); err == nil {
			for _, c := range combos {
				j.Matrix = append(j.Matrix, c.texts())
			}
		}
		all = append(all, j)
	}
	return all
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func (c combination) texts() map[string]string {
	m := map[string]string{}
	for _, k := range c.values.keys {
		if t, ok := asText(c.values.get(k)); ok {
			m[k] = t
		}
	}
	return m
}

func (w *flow) jobs() *object {
	o, _ := w.top.get("jobs").(*object)
	return o
}

// FromWorkflow is the check that a step of a workflow is: its command with its folder, shell and environment, as they
// are in tree. The error is an *Unplanned where that cannot be told from the file; nothing is guessed.
func FromWorkflow(tree fs.FS, file string, at At) (Set, error) {
	w, err := readFlow(tree, file, at)
	if err != nil {
		return Set{}, err
	}
	set, _, err := w.set()
	return set, err
}

// set is the one check that is meant, with what else is known of it.
func (w *flow) set() (set Set, c planned, err error) {
	p, step, err := w.find(0)
	if err != nil {
		return Set{}, c, err
	}
	if c, err = p.check(step, 0); err != nil {
		return Set{}, c, err
	}
	set, err = newSet(w.tree, []Check{c.Check})
	set.Wants = c.wants
	return set, c, err
}

// maxCalls is how deep workflows and local actions may call each other.
const maxCalls = 4

// find is the step that is meant and the place that it stands in.
func (w *flow) find(calls int) (place, *object, error) {
	id, combo, rest, err := w.job()
	if err != nil {
		return place{}, nil, err
	}
	job, _ := w.jobs().get(id).(*object)
	if uses, ok := job.get("uses").(string); ok {
		called, err := w.called(id, uses, combo, rest, calls)
		if err != nil {
			return place{}, nil, err
		}
		return called.find(calls + 1)
	}
	if rest != "" {
		return place{}, nil, unplanned(NoStep, w.at.Job, "job %s calls no workflow, and %q is to be in one", id, rest)
	}
	p, err := w.place(id, job, combo)
	if err != nil {
		return place{}, nil, err
	}
	want := w.at.Step
	if !w.at.Shown { // a name as it is shown may hold anything
		want, p.inner, _ = strings.Cut(want, " > ")
	}
	i, err := w.choose(p, list(job.get("steps")), want)
	if err != nil {
		return place{}, nil, err
	}
	step, _ := list(job.get("steps"))[i].(*object)
	p.before(list(job.get("steps"))[:i], 0)
	p.source = fmt.Sprintf("%s: jobs.%s.steps[%d]", w.file, id, i+1)
	if step != nil {
		p.line = step.line
	}
	return p, step, nil
}

// job is the id and the combination that are meant; rest is what follows " / " in the name, of a workflow that it calls.
func (w *flow) job() (id string, c combination, rest string, err error) {
	want := strings.TrimSpace(w.at.Job)
	type found struct {
		id    string
		combo combination
		rest  string
	}
	var hits []found
	jobs := w.jobs()
	for _, id := range jobs.keys {
		o, _ := jobs.get(id).(*object)
		combos, err := w.contexts(id).combinations(o.get("strategy"))
		if err != nil {
			combos = []combination{{}} // the steps may do without
		}
		for _, c := range combos {
			if c.values != nil && !c.has(w.at.Matrix) {
				continue
			}
			if rest, ok := w.isCalled(want, id, o, c); ok || want == "" && len(jobs.keys) == 1 {
				hits = append(hits, found{id, c, rest})
			}
		}
	}
	switch {
	case len(hits) == 0:
		return "", c, "", unplanned(NoStep, want, "no job of %s is called %q with these values: it has %s", w.file, want, strings.Join(jobs.keys, ", "))
	case slices.ContainsFunc(hits, func(h found) bool { return h.id != hits[0].id }):
		return "", c, "", unplanned(NoStep, want, "%d jobs of %s are called %q", len(hits), w.file, want)
	case len(hits) > 1: // which combination is open, and matters only to what asks for it
		return hits[0].id, combination{}, hits[0].rest, nil
	}
	return hits[0].id, hits[0].combo, hits[0].rest, nil
}

// isCalled reports whether a job goes by a name, and what of the name is left for the workflow that it calls.
func (w *flow) isCalled(want, id string, job *object, c combination) (rest string, ok bool) {
	for _, n := range w.jobNames(id, job, c) {
		if want == n || len(n) > 100 && want == n[:97]+"..." {
			return "", true
		}
		if rest, ok := strings.CutPrefix(want, n+" / "); ok && job.get("uses") != nil {
			return rest, true
		}
	}
	return "", false
}

// jobNames are what one run of a job goes by. One with a name of its own is shown under it: as it is where it speaks of the
// matrix, else with the values behind it.
func (w *flow) jobNames(id string, job *object, c combination) []string {
	ids := []string{id}
	if w.at.Shown {
		ids = nil
	}
	raw, said := asText(job.get("name"))
	if said = said && raw != ""; !said && c.values == nil {
		return []string{id}
	}
	if !said {
		return append(ids, c.names(id)...)
	}
	s := w.contexts(id)
	if c.values != nil {
		s = s.with("matrix", c.values)
	}
	name, err := s.text(raw)
	if err != nil {
		return ids
	}
	if ids = append(ids, name); c.values != nil && !strings.Contains(raw, "${{") {
		ids = append(ids, c.names(name)...)
	}
	return ids
}

// called is the workflow of this tree that a job calls.
func (w *flow) called(id, uses string, c combination, rest string, calls int) (*flow, error) {
	if !strings.HasPrefix(uses, "./") {
		return nil, unplanned(BadAction, uses, "job %s calls %s, which is not in this tree", id, uses)
	}
	if calls >= maxCalls {
		return nil, unplanned(BadFile, uses, "workflows call each other more than %d deep", maxCalls)
	}
	at := w.at
	at.Job, at.Matrix = rest, nil
	inner, err := readFlow(w.tree, strings.TrimPrefix(uses, "./"), at)
	if err != nil {
		return nil, err
	}
	s := w.contexts(id)
	if c.values != nil {
		s = s.with("matrix", c.values)
	}
	job, _ := w.jobs().get(id).(*object)
	with, _ := job.get("with").(*object)
	given := s.lenient(with)
	inner.top = inner.top.clone()
	inner.top.set(" inputs", fill(given, inner.declared("workflow_call"), s))
	inner.top.set(" file", w.topFile())
	return inner, nil
}

// topFile names the workflow that began it all.
func (w *flow) topFile() string {
	if f, ok := w.top.get(" file").(string); ok {
		return f
	}
	return w.file
}

// declared are the inputs that an event of the workflow declares, nil if it has no such event.
func (w *flow) declared(event string) *object {
	switch on := w.top.get("on").(type) {
	case string:
		if on == event {
			return newObject()
		}
	case []any:
		if slices.Contains(on, any(event)) {
			return newObject()
		}
	case *object:
		if v, ok := on.find(event); ok {
			o, _ := v.(*object)
			if in, ok := o.get("inputs").(*object); ok {
				return in
			}
			return newObject()
		}
	}
	return nil
}

// fill gives declared inputs their defaults; one that is wanted and not given is unknown, any other is empty.
func fill(given, declared *object, s scope) *object {
	out := newObject()
	for _, name := range declared.names() {
		d, _ := declared.get(name).(*object)
		v, has := given.find(name)
		switch {
		case has:
		case d.get("default") != nil:
			var err error
			if v, err = s.all(d.get("default")); err != nil {
				v = unknown("inputs." + name)
			}
		case truthy(d.get("required")):
			v = unknown("inputs." + name)
		default:
			v = map[any]any{"boolean": false, "number": 0.0}[d.get("type")]
			if v == nil {
				v = ""
			}
		}
		out.set(name, v)
	}
	return out
}

// open is a context of which only some values are known; the others are a run's.
type open struct {
	known *object
	name  string
}

// githubNames are what may be told of the github context. Nothing is among them that anyone may choose freely, as a title.
var githubNames = []string{
	"sha", "ref", "ref_name", "ref_type", "base_ref", "repository", "repository_owner", "event_name", "server_url", "api_url",
}

// harmless reports whether a text can stand in a command without meaning anything to a shell.
func harmless(s string) bool {
	return len(s) < 256 && strings.IndexFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@+-", r)
	}) < 0
}

// contexts are those of a job before its matrix is known.
func (w *flow) contexts(job string) scope {
	gh := newObject()
	for name, v := range w.at.GitHub {
		if slices.Contains(githubNames, name) && harmless(v) {
			gh.set(name, v)
		}
	}
	gh.set("job", job)
	gh.set("workspace", hereMark)
	gh.set("workflow", w.title())
	s := scope{"github": open{gh, "github"}}
	if in, ok := w.top.get(" inputs").(*object); ok {
		return s.with("inputs", in)
	}
	return s.with("inputs", w.inputs())
}

// title is the workflow's name as GitHub gives it: its name, else its path; of a called one, that of its caller.
func (w *flow) title() any {
	if _, called := w.top.get(" file").(string); called {
		return unknown("github.workflow")
	}
	if raw := w.top.get("name"); raw != nil {
		if t, ok := asText(raw); ok && !strings.Contains(t, "${{") {
			return t
		}
		return unknown("github.workflow")
	}
	return w.file
}

// inputs are those of a workflow that no other calls.
func (w *flow) inputs() any {
	declared := w.declared("workflow_dispatch")
	switch event := w.at.GitHub["event_name"]; {
	case declared != nil && (event == "workflow_dispatch" || len(w.at.Inputs) > 0):
		given := newObject()
		for k, v := range w.at.Inputs {
			if harmless(v) {
				given.set(k, v)
			} else {
				given.set(k, unknown("inputs."+k))
			}
		}
		return fill(given, declared, scope{})
	case w.declared("workflow_call") != nil && (event == "" || event == "workflow_call"), declared != nil && event == "":
		return unknown("inputs")
	}
	return newObject()
}

// lenient evaluates the values of a mapping one by one; what is not known is unknown.
func (s scope) lenient(o *object) *object {
	out := newObject()
	for _, k := range o.names() {
		v, err := s.all(o.get(k))
		if u, ok := err.(*Unplanned); ok { //nolint:errorlint // scope's own
			v = u.blame()
		}
		out.set(k, v)
	}
	return out
}

// choose is the index of the step of a job that is meant.
func (w *flow) choose(p place, steps []any, want string) (int, error) {
	if !w.at.Shown {
		return p.choose(steps, want)
	}
	var hits []int
	for i, s := range steps {
		o, _ := s.(*object)
		if want != "" && first(stepNames(o, p.scope)) == want {
			hits = append(hits, i)
		}
	}
	switch {
	case len(hits) == 1 && w.at.Of <= 1:
		return hits[0], nil
	case len(hits) > 1 && len(hits) == w.at.Of && w.at.Nth >= 1 && w.at.Nth <= w.at.Of:
		return hits[w.at.Nth-1], nil
	}
	return 0, unplanned(NoStep, clipped(want), "%d steps of job %s of %s are shown as %q, and GitHub shows %d", len(hits), w.at.Job, w.file, clipped(want), max(w.at.Of, 1))
}

// choose is the index of the step that is meant.
func (p *place) choose(steps []any, want string) (int, error) {
	if len(steps) == 0 {
		return 0, unplanned(NoStep, want, "the job has no steps")
	}
	if n, err := strconv.Atoi(want); err == nil && want != "" {
		if n < 1 || n > len(steps) {
			return 0, unplanned(NoStep, want, "there is no step %d: the job has %d", n, len(steps))
		}
		return n - 1, nil
	}
	var hits []int
	var all []string
	for i, s := range steps {
		o, _ := s.(*object)
		names := stepNames(o, p.scope)
		all = append(all, strconv.Quote(clipped(first(names))))
		if slices.Contains(names, want) || want == "" && o.get("run") != nil {
			hits = append(hits, i)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return 0, unplanned(NoStep, want, "no step is called %q: there are %s", want, strings.Join(all, ", "))
	}
	return 0, unplanned(NoStep, want, "%d steps go by %q; name one by its number", len(hits), want)
}

// stepNames are what a step goes by: the name GitHub shows first, then its id and its name as written.
func stepNames(step *object, s scope) []string {
	var names []string
	raw, _ := asText(step.get("name"))
	if raw == "" {
		if run, ok := asText(step.get("run")); ok && run != "" {
			raw = "Run " + firstLine(strings.TrimSpace(run))
		} else if uses, ok := asText(step.get("uses")); ok && uses != "" {
			raw = "Run " + uses
		}
	}
	if t, err := s.text(raw); err == nil {
		names = append(names, t)
	}
	names = append(names, raw)
	if id, ok := asText(step.get("id")); ok && id != "" {
		names = append(names, id)
	}
	return names
}
