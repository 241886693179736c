package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/redraft-dev/redraft"
	"github.com/redraft-dev/redraft/agent/plan"
)

// The forms of the Action, each with a workflow file to copy of that name.
const (
	formFailed   = "failed-workflow"
	formLabel    = "label"
	formSchedule = "schedule"
	formSameJob  = "same-job"
	formTwoJob   = "two-job"
)

var forms = []string{formFailed, formLabel, formSchedule, formSameJob, formTwoJob}

const (
	workflowDir  = ".github/workflows"
	workflowPath = workflowDir + "/redraft.yml"
)

// newFile is a file that init would write.
type newFile struct {
	Path string `json:"path"` // below the top of the repository
	Text string `json:"text"`
}

// files are the texts of a form; of same-job the workflow is a step that a person adds.
func (f found) files(form string) (files []newFile, step string, err error) {
	settings, err := f.settings()
	if err != nil {
		return nil, "", err
	}
	files = []newFile{{plan.FileName, settings}}
	if form == formSameJob {
		step, err = f.step()
		return files, step, err
	}
	text, err := f.workflow(form)
	return append(files, newFile{workflowPath, text}), "", err
}

// The lines of the workflow files to copy that hold another repository's names.
const (
	exampleWorkflows = `    workflows: ["CI"] # the names of the workflows to answer`
	exampleRunner    = `    runs-on: [self-hosted, macOS, ARM64]`
	exampleCheck     = `          check: go test ./...`
)

// workflow is the file to copy with this repository's runner and workflows in it. Where no workflow was found the
// example's CI stays, for a person to replace.
func (f found) workflow(form string) (string, error) {
	text, err := example(form)
	if err != nil {
		return "", err
	}
	if text, err = replaceLine(text, exampleRunner, "    runs-on: "+flow(f.RunsOn.Labels)); err != nil {
		return "", err
	}
	if names := f.answered(); form == formFailed || form == formTwoJob {
		if len(names) == 0 {
			names = []string{"CI"}
		}
		if text, err = replaceLine(text, exampleWorkflows, "    workflows: "+flow(names)+" # the names of the workflows to answer"); err != nil {
			return "", err
		}
		return text, readBack(text, names, f.RunsOn.Labels)
	}
	return text, readBack(text, nil, f.RunsOn.Labels)
}

func example(form string) (string, error) {
	b, err := redraft.Examples.ReadFile(workflowDir + "/examples/" + form + ".yml")
	return string(b), err
}

// replaceLine puts a line in the place of one that stands exactly once.
func replaceLine(text, old, with string) (string, error) {
	if n := strings.Count(text, "\n"+old+"\n"); n != 1 {
		return "", fmt.Errorf("the file to copy has the line %q %d times, not once", strings.TrimSpace(old), n)
	}
	return strings.Replace(text, "\n"+old+"\n", "\n"+with+"\n", 1), nil
}

// readBack reads a workflow of ours as YAML and wants the names and labels that were put in, and no more rights at the top.
func readBack(text string, names, labels []string) error {
	var w struct {
		On struct {
			Run struct{ Workflows []string } `yaml:"workflow_run"`
		}
		Permissions *map[string]string
		Jobs        map[string]struct {
			RunsOn any `yaml:"runs-on"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return fmt.Errorf("read the workflow back: %w", err)
	}
	var want any = slices.Collect(func(yield func(any) bool) {
		for _, l := range labels {
			if !yield(l) {
				return
			}
		}
	})
	there := false
	for _, j := range w.Jobs {
		there = there || reflect.DeepEqual(j.RunsOn, want)
	}
	if !slices.Equal(w.On.Run.Workflows, names) || !there || w.Permissions == nil || len(*w.Permissions) > 0 {
		return errors.New("read the workflow back: it does not say what was put in")
	}
	return nil
}

// step is what the form same-job adds to a job: its permissions, and the step after the check.
func (f found) step() (string, error) {
	text, err := example(formSameJob)
	if err != nil {
		return "", err
	}
	run, dir := "", "."
	if i := slices.IndexFunc(f.Checks, func(c foundCheck) bool { return c.Active }); i >= 0 {
		run, dir = f.Checks[i].Run, f.Checks[i].Dir
	}
	with := "          check: " + scalar(orElse(run, "the command of the step that is red"))
	if dir != "." {
		with += "\n          working-directory: " + scalar(dir)
	}
	if text, err = replaceLine(text, exampleCheck, with); err != nil {
		return "", err
	}
	_, permissions, one := strings.Cut(text, "    timeout-minutes: 60\n")
	permissions, _, two := strings.Cut(permissions, "    steps:\n")
	_, last, three := strings.Cut(text, "      - if: failure()\n")
	if !one || !two || !three {
		return "", errors.New("the file to copy has no permissions before its steps, or no step that is for a failure")
	}
	return permissions + "    steps:\n      # after the step that runs the check\n      - if: failure()\n" + last, nil
}

// settings is the text of .github/redraft.yml: what was found, and the other keys as comments that hold the defaults.
func (f found) settings() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# What redraft does in this repository. It is read from the default branch%s alone.\n", inBrackets(f.Branch.Name))
	b.WriteString("# All keys: redraft config --schema --repository\nversion: 1\n\n")
	f.writeChecks(&b)
	f.writeTriggers(&b)
	l := plan.DefaultLimits
	fmt.Fprintf(&b, "\n# These only lower what the runner's owner allows.\n#limits: {turns: %d, minutes: %d, files: %d, lines: %d, open-drafts: %d, per-day: %d}\n",
		l.Turns, l.Minutes, l.Files, l.Lines, l.OpenDrafts, l.PerDay)
	b.WriteString("\n# Files that no patch may change, besides tests, CI, lockfiles and the checks' own scripts.\n#protect: {paths: [\"**/*.golden\", CODEOWNERS]}\n")
	b.WriteString("\n# Names of models in the runner's own configuration, never addresses.\n#models: {small: qwen2.5-coder-7b}\n")
	b.WriteString("\n# How a draft is opened.\n#publish: {labels: [redraft]}\n")
	return b.String(), f.settingsReadBack(b.String())
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// mostComments is how many checks stand in the file as comments.
const mostComments = 5

func (f found) writeChecks(b *strings.Builder) {
	if len(f.Checks) == 0 {
		b.WriteString("# No check was found. Take the signs off and name the command that is red when something is wrong.\n" +
			"#checks:\n#  unit:\n#    run: make test\n#    working-directory: .\n#    timeout: 10m\n")
		return
	}
	b.WriteString("# The commands that are red when something is wrong. Where there are several, a check's name is that of its job on GitHub,\n" +
		"# or a glob of it.\nchecks:\n")
	comments := 0
	for _, c := range f.Checks {
		if c.Active {
			b.WriteString(c.entry())
		} else if comments++; comments <= mostComments {
			b.WriteString(c.entry())
		}
	}
	if comments > mostComments {
		fmt.Fprintf(b, "# %d more were found: redraft plan\n", comments-mostComments)
	}
	b.WriteString("#    timeout: 10m\n#    env: {TZ: UTC}\n")
}

// entry is a check below checks; one that is not active is a comment.
func (c foundCheck) entry() string {
	sign := ""
	if !c.Active {
		sign = "#"
	}
	return fmt.Sprintf("%[1]s  %[2]s: # %[5]s\n%[1]s    run: %[3]s\n%[1]s    working-directory: %[4]s\n", sign, scalar(c.ID), scalar(c.Run), scalar(c.Dir), c.Source)
}

func (f found) writeTriggers(b *strings.Builder) {
	names, sign := f.answered(), ""
	b.WriteString("\n# What starts a job: a red run of these workflows (all of them if left out), a label, and comments by people who may write.\n")
	if len(names) == 0 {
		names, sign = []string{"CI"}, "#"
	}
	fmt.Fprintf(b, "%[1]striggers:\n%[1]s  workflows: %[2]s\n", sign, flow(names))
	b.WriteString("#  labels: [redraft]\n#  commands: true\n#  never-branches: [\"release/*\"]\n")
}

// settingsReadBack reads the text as every job will, and wants what was put in.
func (f found) settingsReadBack(text string) error {
	file, err := plan.ParseFile([]byte(text))
	if err != nil {
		return fmt.Errorf("read it back: %w", err)
	}
	active := slices.DeleteFunc(slices.Clone(f.Checks), func(c foundCheck) bool { return !c.Active })
	same := slices.EqualFunc(file.Checks, active, func(is plan.Check, want foundCheck) bool {
		return is.ID == want.ID && is.Run == want.Run && is.Dir == want.Dir
	})
	if !same || !slices.Equal(file.Triggers.Workflows, f.answered()) {
		return fmt.Errorf("read %s back: it does not say what was put in", plan.FileName)
	}
	return nil
}

var (
	word     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
	notWords = regexp.MustCompile(`(?i)^(?:y|n|yes|no|on|off|true|false|null)$`)
)

// scalar is a text as YAML: a plain word as it is, anything else in JSON's quotes, which are YAML's too.
func scalar(s string) string {
	if word.MatchString(s) && !notWords.MatchString(s) || s == "." {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// flow is a list of texts as YAML, on one line.
func flow(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = scalar(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// next is what a person does after the files are written.
func (f found) next(form, branch string) []string {
	all := []string{"Look the files over, and commit them to " + orElse(f.Branch.Name, "the default branch") + ": GitHub and redraft read them there alone."}
	if f.Branch.Name != "" && branch != "" && branch != f.Branch.Name {
		all[0] += " You are on " + branch + "."
	}
	if form == formSameJob {
		all[0] = strings.Replace(all[0], "the files", "the file", 1)
		all = append(all, "Add the permissions and the step above to the job that runs the check.")
	}
	if len(f.answered()) == 0 && (form == formFailed || form == formTwoJob) {
		all = append(all, "No workflow to answer was found: put the names of yours in the place of CI in "+workflowPath+".")
	}
	if len(f.Checks) == 0 {
		all = append(all, "Name the check in "+plan.FileName+": without one no job can begin.")
	}
	return append(all,
		"Let Actions open pull requests: Settings, Actions, General, \"Allow GitHub Actions to create and approve pull requests\".",
		"See that a runner with the labels "+strings.Join(f.RunsOn.Labels, ", ")+" is registered; on it, redraft doctor says whether a job can run.",
		"The tag v0 moves with every release of it. Where your rules ask for a commit, write the commit in its place.")
}

// vacant wants every path free, and each folder on the way to be one or missing. A symbolic link on the way is refused:
// GitHub follows none, and neither do we.
func vacant(root *os.Root, paths []string) error {
	for _, name := range paths {
		for _, dir := range folders(name) {
			info, err := root.Lstat(dir)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return fmt.Errorf("look at %s: %w", dir, bare(err))
			case info.Mode()&fs.ModeSymlink != 0:
				return fmt.Errorf("%s is a symbolic link, and GitHub reads nothing through one. Make it a folder", dir)
			case !info.IsDir():
				return fmt.Errorf("%s is no folder. Move it out of the way", dir)
			}
		}
		_, err := root.Lstat(name)
		if err == nil {
			return fmt.Errorf("%s is there already, and init changes no file. Edit it, or move it away and run init again", name)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at %s: %w", name, bare(err))
		}
	}
	return nil
}

// folders are the folders above a path, the topmost first.
func folders(name string) (all []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		all = append([]string{dir}, all...)
	}
	return all
}

// bare is an error without the call and the path, which its caller names.
func bare(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// writeNew writes all of the files or none: each is complete under another name before the first appears under its own,
// and what was made is taken away again after an error. No file that exists is changed, not even one that came just now.
func writeNew(root *os.Root, files []newFile) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range slices.Backward(made) {
			_ = root.Remove(name) // a folder that others have put something into stays
		}
	}()
	staged := map[string]string{}
	for _, f := range files {
		for _, dir := range folders(f.Path) {
			switch err := root.Mkdir(dir, 0o755); {
			case err == nil:
				made = append(made, dir)
			case !errors.Is(err, fs.ErrExist):
				return fmt.Errorf("make %s: %w", dir, bare(err))
			}
		}
		temp := path.Join(path.Dir(f.Path), ".redraft-"+strings.ToLower(rand.Text()))
		made = append(made, temp)
		staged[f.Path] = temp
		if err := writeTemp(root, temp, f.Text); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, bare(err))
		}
	}
	for _, f := range files {
		if err := appear(root, staged[f.Path], f.Path); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, bare(err))
		}
		made = append(made, f.Path)
	}
	return nil
}

func writeTemp(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// appear gives a file its name where nothing has that name: a link never takes another's place, as a rename would. On a
// disk without links it is a look and a rename.
func appear(root *os.Root, temp, name string) error {
	err := root.Link(temp, name)
	switch {
	case err == nil:
		_ = root.Remove(temp) // the file is there under both names; a left one is hidden and ours
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := root.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return root.Rename(temp, name)
}
