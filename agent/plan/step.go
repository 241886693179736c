package plan

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// place is where a step stands: what it may speak of and what it inherits.
type place struct {
	tree    fs.FS
	id      string // of the check
	scope   scope
	env     *object // evaluated; a value is text or unknown
	dir     string  // defaults.run, as written
	shell   string
	runner  string // as shown, "" if it is not known
	labels  string // as written
	source  string
	line    int
	inner   string   // the step that is meant in a local action
	wants   []string // what the job did before
	written []string // names of variables that steps before set; "" for one whose name is not seen
	action  bool     // a local action, where defaults do not hold

	sets      []string // variables of the step itself
	moved     bool     // the repository is checked out elsewhere than in the job's folder
	container bool     // the job runs in one, where paths are others
}

// planned is a check and what its job did before.
type planned struct {
	Check
	wants []string
	os    string // of the runner, as GOOS has it; "" if it is not known
	bound bool   // the step asks for it
}

// asksSystem reports whether a step names the system of its runner.
func asksSystem(step *object, run string) bool {
	own, _ := step.get("env").(*object)
	texts := []string{run}
	for _, k := range own.names() {
		texts = append(texts, flatText(own.get(k))...)
	}
	return slices.ContainsFunc(texts, func(t string) bool {
		t = strings.ToLower(t)
		return strings.Contains(t, "runner.os") || strings.Contains(t, "runner_os")
	})
}

// os is the operating system of the job's runner as Go calls it.
func (p *place) os() string {
	o, _ := p.scope["runner"].(open)
	name, _ := o.known.get("os").(string)
	return map[string]string{"Linux": "linux", "macOS": "darwin", "Windows": "windows"}[name]
}

// place is that of a job's steps.
func (w *flow) place(id string, job *object, c combination) (place, error) {
	s := w.contexts(id)
	if c.values != nil {
		s = s.with("matrix", c.values)
	}
	p := place{tree: w.tree, id: id, scope: s.with("strategy", open{newObject(), "strategy"})}
	if c.values != nil {
		p.id = w.shownName(id, job, c)
	}
	p.runner = p.runsOn(job)
	p.scope = p.scope.with("runner", open{runnerValues(p.runner), "runner"})
	p.layer(w.top.get("env"))
	p.layer(job.get("env"))
	for _, o := range []*object{w.top, job} {
		d, _ := o.get("defaults").(*object)
		run, _ := d.get("run").(*object)
		if t, ok := asText(run.get("working-directory")); ok && t != "" {
			p.dir = t
		}
		if t, ok := asText(run.get("shell")); ok && t != "" {
			p.shell = t
		}
	}
	p.surroundings(job)
	return p, nil
}

// shownName is the job's name as GitHub shows it, which names the check.
func (w *flow) shownName(id string, job *object, c combination) string {
	name := first(c.names(id))
	if raw, ok := asText(job.get("name")); ok && raw != "" {
		if t, err := w.contexts(id).with("matrix", c.values).text(raw); err == nil {
			name = t
		}
	}
	if !checkName.MatchString(name) {
		return id
	}
	return name
}

// runsOn is the labels of a job's runner, "" if they are not known.
func (p *place) runsOn(job *object) string {
	p.labels = clipped(strings.Join(flatText(job.get("runs-on")), ", "))
	v, err := p.scope.all(job.get("runs-on"))
	if err != nil {
		return ""
	}
	if o, ok := v.(*object); ok {
		v = o.get("labels")
	}
	return strings.Join(flatText(v), ", ")
}

// runnerValues is what a hosted runner's label says of it.
func runnerValues(labels string) *object {
	o := newObject()
	for prefix, os := range map[string]string{"ubuntu-": "Linux", "windows-": "Windows", "macos-": "macOS"} {
		if strings.HasPrefix(labels, prefix) {
			o.set("os", os)
		}
	}
	return o
}

// layer adds one level of environment over what is inherited. What only a run knows is unknown from here on.
func (p *place) layer(raw any) {
	o, _ := raw.(*object)
	s := p.scope.with("env", p.envContext())
	p.env = p.env.clone()
	for _, k := range o.names() {
		v, err := s.all(o.get(k))
		if u, ok := err.(*Unplanned); ok { //nolint:errorlint // scope's own
			v = u.blame()
		} else if t, text := asText(v); text && envName.MatchString(k) && !strings.ContainsRune(t, 0) {
			v = t
		} else {
			v = unknown("env." + k)
		}
		p.env.set(k, v)
	}
	if raw != nil && o == nil {
		p.written = append(p.written, "")
	}
}

// envContext is what expressions see as env: what earlier steps wrote there is a run's.
func (p *place) envContext() any {
	if slices.Contains(p.written, "") {
		return open{newObject(), "env"}
	}
	env := p.env.clone()
	for _, name := range p.written {
		env.set(name, unknown("env."+name))
	}
	return env
}

// surroundings notes what a job needs besides its steps.
func (p *place) surroundings(job *object) {
	if strings.Contains(strings.ToLower(p.runner), "macos") {
		p.wants = append(p.wants, "a runner "+p.runner)
	}
	container := job.get("container")
	if o, ok := container.(*object); ok {
		container = o.get("image")
	}
	if t, ok := asText(container); ok && t != "" {
		p.container = true
		p.wants = append(p.wants, "container "+p.shown(t))
	}
	services, _ := job.get("services").(*object)
	for _, name := range services.names() {
		o, _ := services.get(name).(*object)
		image, _ := asText(o.get("image"))
		p.wants = append(p.wants, fmt.Sprintf("service %s (%s)", name, p.shown(image)))
	}
}

// shown is a text with its expressions evaluated where that works, short enough to be shown.
func (p *place) shown(raw string) string {
	if t, err := p.scope.with("env", p.envContext()).text(raw); err == nil {
		return clipped(strings.ReplaceAll(t, hereMark, "$"+hereVariable))
	}
	return clipped(raw)
}

// before notes what the steps before the one meant did: to be named, never to be run.
func (p *place) before(steps []any, depth int) {
	for _, s := range steps {
		o, _ := s.(*object)
		if p.skipped(o) {
			continue
		}
		if run, ok := asText(o.get("run")); ok && run != "" {
			p.written = append(p.written, writes(run)...)
			if depth == 0 {
				p.wants = append(p.wants, "run "+p.shown(firstLine(strings.TrimSpace(run))))
			}
			continue
		}
		uses, _ := asText(o.get("uses"))
		name := actionName(uses)
		if with, _ := o.get("with").(*object); name == "actions/checkout" && with.get("path") != nil && with.get("repository") == nil {
			p.moved = true
		}
		if depth == 0 && uses != "" && name != "actions/checkout" && name != "actions/cache" && name != "actions/upload-artifact" {
			p.wants = append(p.wants, p.used(uses, o))
		}
		if strings.HasPrefix(uses, "./") && depth < maxCalls {
			if action, err := localAction(p.tree, uses); err == nil {
				runs, _ := action.get("runs").(*object)
				p.before(list(runs.get("steps")), depth+1)
			}
		}
	}
}

// used is an action with the versions that it is asked for.
func (p *place) used(uses string, step *object) string {
	with, _ := step.get("with").(*object)
	var words []string
	for _, k := range with.names() {
		if t, ok := asText(with.get(k)); ok && strings.Contains(k, "version") {
			words = append(words, k+" "+p.shown(t))
		}
	}
	if len(words) == 0 {
		return uses
	}
	return uses + " (" + strings.Join(words, ", ") + ")"
}

// writes are the variables that a command sets for the steps after it, "" for one whose name is not seen.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#setting-an-environment-variable
func writes(run string) []string {
	var names []string
	if !strings.Contains(run, "GITHUB_ENV") {
		return nil
	}
	for line := range strings.Lines(run) {
		if !strings.Contains(line, "GITHUB_ENV") {
			continue
		}
		before, _, _ := strings.Cut(line, "GITHUB_ENV")
		found := ""
		for _, w := range strings.FieldsFunc(before, func(r rune) bool { return strings.ContainsRune(" \t\"'`(;&|", r) }) {
			if name, _, ok := strings.Cut(w, "="); ok && envName.MatchString(name) {
				found = name
			}
		}
		names = append(names, found)
	}
	return names
}

// check is the command of a step.
func (p place) check(step *object, depth int) (planned, error) {
	if run, ok := asText(step.get("run")); ok && strings.TrimSpace(run) != "" {
		return p.command(step, run)
	}
	uses, ok := asText(step.get("uses"))
	if !ok || uses == "" {
		return planned{}, unplanned(NoStep, p.source, "%s neither runs nor uses anything", p.source)
	}
	if err := p.strict(step); err != nil {
		return planned{}, err
	}
	with, _ := step.get("with").(*object)
	p.scope = p.scope.with("env", p.envContext())
	if strings.HasPrefix(uses, "./") {
		return p.inside(uses, with, depth)
	}
	known, s, err := p.known(uses, with)
	if err != nil {
		return planned{}, err
	}
	p.scope, p.dir, p.action = s, "", true
	return p.command(known, known.get("run").(string))
}

// strict lays the step's own environment over what is inherited. Here all must be known: it was written for this command.
func (p *place) strict(step *object) error {
	p.scope = p.scope.with("env", p.envContext())
	own, _ := step.get("env").(*object)
	if own == nil && step.get("env") != nil {
		return unplanned(BadExpression, "env", "the environment of %s is an expression", p.source)
	}
	p.env = p.env.clone()
	for _, k := range own.names() {
		v, err := p.scope.all(own.get(k))
		if err != nil {
			return err
		}
		t, ok := asText(v)
		if !ok || !envName.MatchString(k) || strings.ContainsRune(t, 0) {
			return unplanned(BadEnvironment, k, "%q of %s is no environment variable", clipped(k), p.source)
		}
		p.env.set(k, t)
		p.sets = append(p.sets, k)
		p.written = slices.DeleteFunc(p.written, func(w string) bool { return w == k })
	}
	return nil
}

// inside is the one step of a local action that runs a command, or the one that is meant.
func (p place) inside(uses string, with *object, depth int) (planned, error) {
	if depth >= maxCalls {
		return planned{}, unplanned(BadAction, uses, "local actions use each other more than %d deep", maxCalls)
	}
	action, err := localAction(p.tree, uses)
	if err != nil {
		return planned{}, err
	}
	runs, _ := action.get("runs").(*object)
	if using, _ := asText(runs.get("using")); using != "composite" {
		return planned{}, unplanned(BadAction, uses, "the action %s is a program (%s), not a list of commands", uses, clipped(using))
	}
	declared, _ := action.get("inputs").(*object)
	p.scope = p.scope.with("inputs", fill(p.scope.lenient(with), declared, p.scope))
	p.dir, p.shell, p.action = "", "", true
	steps := list(runs.get("steps"))
	want, rest, _ := strings.Cut(p.inner, " > ")
	p.inner = rest
	i, err := p.chooseInside(uses, steps, want)
	if err != nil {
		return planned{}, err
	}
	p.before(steps[:i], 1)
	p.source += fmt.Sprintf(" > %s steps[%d]", uses, i+1)
	step, _ := steps[i].(*object)
	return p.check(step, depth+1)
}

// chooseInside leaves out the steps that are skipped for sure.
func (p *place) chooseInside(uses string, steps []any, want string) (int, error) {
	if want != "" {
		return p.choose(steps, want)
	}
	var hits []int
	for i, s := range steps {
		o, _ := s.(*object)
		runs := o.get("run") != nil
		if u, ok := asText(o.get("uses")); ok && strings.HasPrefix(u, "./") {
			runs = true
		}
		if runs && !p.skipped(o) {
			hits = append(hits, i)
		}
	}
	if len(hits) == 1 {
		return hits[0], nil
	}
	return 0, unplanned(NoStep, uses, "%d steps of the action %s run commands; name the one that failed", len(hits), uses)
}

// skipped reports whether the condition of a step is false for sure.
func (p *place) skipped(step *object) bool {
	raw := step.get("if")
	if raw == nil {
		return false
	}
	t, _ := asText(raw)
	var v any
	var err error
	if strings.Contains(t, "${{") {
		v, err = p.scope.template(t)
	} else {
		v, err = p.scope.expression(t)
	}
	return err == nil && !truthy(v)
}

// command is the check that a run: is.
func (p place) command(step *object, raw string) (planned, error) {
	if err := p.strict(step); err != nil {
		return planned{}, err
	}
	p.scope = p.scope.with("env", p.envContext())
	c := Check{ID: p.id, Provenance: Workflow, Source: p.source, Line: p.line, Env: map[string]string{}}
	var err error
	if c.Run, err = p.scope.text(raw); err != nil {
		return planned{}, err
	}
	if c.Run = strings.TrimRight(c.Run, "\r\n \t"); strings.TrimSpace(c.Run) == "" || strings.ContainsRune(c.Run, 0) {
		return planned{}, unplanned(NoStep, p.source, "the command of %s is empty once it is evaluated", p.source)
	}
	if err = p.folder(&c, step); err != nil {
		return planned{}, err
	}
	if err = p.interpreter(&c, step); err != nil {
		return planned{}, err
	}
	if err = p.environment(&c); err != nil {
		return planned{}, err
	}
	if err = p.settle(&c); err != nil {
		return planned{}, err
	}
	return planned{c, p.wants, p.os(), asksSystem(step, raw)}, nil
}

// folder is where the command begins.
func (p *place) folder(c *Check, step *object) error {
	raw := p.dir
	if t, ok := asText(step.get("working-directory")); ok && t != "" {
		raw = t
	}
	dir, err := p.scope.text(raw)
	if err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(dir, hereMark); ok && (rest == "" || rest[0] == '/') {
		if dir = "." + rest; p.moved || p.container {
			return unplanned(BadFolder, "github.workspace", "the working directory is below github.workspace, and the repository may stand elsewhere")
		}
	}
	c.Dir = path.Clean(strings.TrimPrefix(dir, "./"))
	if dir == "" {
		c.Dir = "."
	}
	if !fs.ValidPath(c.Dir) || marked(c.Dir) {
		return unplanned(BadFolder, clipped(dir), "the working directory %q lies outside the tree", clipped(dir))
	}
	return nil
}

// interpreter is the shell, with the options that GitHub gives it.
// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idstepsshell
func (p *place) interpreter(c *Check, step *object) error {
	raw := p.shell
	if t, ok := asText(step.get("shell")); ok && t != "" {
		raw = t
	}
	shell, err := p.scope.text(raw)
	if err != nil {
		return err
	}
	windows := strings.Contains(strings.ToLower(p.runner), "windows")
	switch words := strings.Fields(shell); {
	case windows:
		return unplanned(BadRunner, p.runner, "the job runs on %s", p.runner)
	case shell == "" && p.runner == "":
		return unplanned(BadRunner, p.labels, "which runner the job has, and so which shell, is not known: %s", p.labels)
	case shell == "bash", shell == "sh":
		c.Shell = shell
	case shell == "":
		c.Shell = "bash" // bash -e alone
		if strings.Contains(c.Run, "|") {
			c.Run = "set +o pipefail\n" + c.Run
		}
	case len(words) > 1 && (words[0] == "bash" || words[0] == "sh") && words[len(words)-1] == "{0}":
		return p.options(c, shell, words[0], words[1:len(words)-1])
	default:
		return unplanned(BadShell, clipped(shell), "the step is written for the shell %s", clipped(shell))
	}
	return nil
}

// options turns the options of a shell into a set before the command.
func (p *place) options(c *Check, shell, name string, flags []string) error {
	on := map[byte]bool{}
	pipefail := false
	for i := 0; i < len(flags); i++ {
		f := flags[i]
		if f == "--noprofile" || f == "--norc" {
			continue
		}
		letters := strings.TrimPrefix(f, "-")
		if letters == f || letters == "" || strings.Trim(letters, "euxo") != "" {
			return unplanned(BadShell, clipped(shell), "the step is written for a shell with options of its own: %s", clipped(shell))
		}
		for _, l := range []byte(letters) {
			on[l] = true
		}
		if strings.HasSuffix(letters, "o") {
			if i++; i >= len(flags) || flags[i] != "pipefail" {
				return unplanned(BadShell, clipped(shell), "the step is written for a shell with options of its own: %s", clipped(shell))
			}
			pipefail = true
		}
	}
	c.Shell = name
	var set []string
	for _, l := range []byte("eux") {
		if sign := map[bool]string{true: "-", false: "+"}[on[l]]; on[l] != (l == 'e') {
			set = append(set, sign+string(l))
		}
	}
	if name == "bash" && !pipefail {
		set = append(set, "+o", "pipefail")
	}
	if len(set) > 0 {
		c.Run = "set " + strings.Join(set, " ") + "\n" + c.Run
	}
	return nil
}

// runnerFiles are where a step writes for the steps after it, which nobody reads here.
var runnerFiles = []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY", "GITHUB_STATE"}

// shellNames are variables that every shell has.
var shellNames = []string{"HOME", "PATH", "PWD", "USER", "TMPDIR", "IFS", "LANG", "SHELL"}

// environment is what the command finds set: the levels of the workflow, and of the runner's own what it names.
func (p *place) environment(c *Check) error {
	named := variables(c.Run)
	for _, k := range p.env.names() {
		switch v := p.env.get(k).(type) {
		case string:
			c.Env[k] = v
		case unknown:
			if slices.Contains(named, k) {
				return unplanned(BadExpression, string(v), "only a run of the workflow knows %s, which is %s", k, v)
			}
			p.wants = append(p.wants, fmt.Sprintf("variable %s (%s), which is left out", k, v))
		}
	}
	for _, name := range named {
		_, here := c.Env[name]
		anyName := slices.Contains(p.written, "") && !here && !slices.Contains(shellNames, name) && !strings.Contains(c.Run, name+"=") &&
			!strings.HasPrefix(name, "GITHUB_") && !strings.HasPrefix(name, "RUNNER_")
		if slices.Contains(p.written, name) || anyName {
			return unplanned(BadEnvironment, name, "a step before this one may set %s, and what to is not known", name)
		}
	}
	for _, name := range named {
		if _, own := c.Env[name]; own {
			continue
		}
		if v, mine, err := p.runnerVariable(name); err != nil {
			return err
		} else if mine {
			c.Env[name] = v
		}
	}
	if c.Env["CI"] == "" {
		c.Env["CI"] = "true" // https://docs.github.com/en/actions/reference/workflows-and-actions/variables#default-environment-variables
	}
	return nil
}

// runnerVariable is the value of a variable that the runner sets; not mine where it sets none of this name.
func (p *place) runnerVariable(name string) (v string, mine bool, err error) {
	if slices.Contains(runnerFiles, name) {
		return "/dev/null", true, nil
	}
	if name == "GITHUB_ACTIONS" {
		return "true", true, nil
	}
	for _, context := range []string{"github", "runner"} {
		rest, ok := strings.CutPrefix(name, strings.ToUpper(context)+"_")
		if !ok {
			continue
		}
		o, _ := p.scope[context].(open)
		t, known := asText(o.known.get(strings.ToLower(rest)))
		if !known || t == "" {
			return "", true, unplanned(BadEnvironment, name, "the runner sets %s, and what to is not known", name)
		}
		return t, true, nil
	}
	return "", false, nil
}

// variables are the names that shell text takes the value of, in order, each once.
func variables(text string) []string {
	var names []string
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '$' {
			continue
		}
		rest := strings.TrimPrefix(text[i+1:], "{")
		end := strings.IndexFunc(rest, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if end < 0 {
			end = len(rest)
		}
		if name := rest[:end]; envName.MatchString(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
