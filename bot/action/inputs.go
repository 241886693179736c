package action

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/bot"
)

// InputsVariable names the environment variable that holds the Action's inputs, one JSON object: name to text.
const InputsVariable = "REDRAFT_INPUTS"

// Inputs are the Action's, checked. action.yml says what each is for.
type Inputs struct {
	Token        string
	Mode         string   // auto, repair, publish, ambient or diagnose
	Check        string   // one command on one line, found if empty
	Setup        []string // commands before the check, one a line; those of the configuration if empty
	Dir          string   // slash-separated, below the root; "." for the root itself
	Base         string   // branch; the default branch if empty
	Prefix       string   // "redraft/" if empty
	Labels       []string
	Turns        int // as allowed otherwise if zero
	Minutes      int // as allowed otherwise if zero
	Model, Big   string
	Instructions string
	Evidence     string // folder; chosen if empty
	Jobs         []bot.Job
	DryRun       bool
}

// BadInput is an input that cannot be meant.
type BadInput struct {
	Name string // "" when none could be read
	Text string // what is wrong, and what to write
}

func (e *BadInput) Error() string {
	if e.Name == "" {
		return "read the inputs: " + e.Text
	}
	return "input " + e.Name + ": " + e.Text
}

func bad(name, format string, args ...any) error {
	return &BadInput{name, fmt.Sprintf(format, args...)}
}

// names are the Action's inputs, in the order of action.yml.
var names = []string{"github-token", "mode", "check", "setup-commands", "working-directory", "base-branch", "branch-prefix", "labels", "turns", "timeout-minutes", "model",
	"big-model", "additional-instructions", "evidence-path", "jobs", "dry-run"}

// modes are those that Mode may be; what stands behind built of them is known and not built.
var modes = []string{"auto", "repair", "publish", "ambient", "diagnose", "reproduce"}

const built = 5

const (
	mostInstructions = 2000 // characters
	mostLabels       = 20
	mostSetup        = 20
	mostJobs         = 10 // that one event may decide
)

// Inputs reads the inputs. The error is a *BadInput.
func (a *Action) Inputs() (in Inputs, err error) {
	if err := a.readInputs(); err != nil {
		return in, err
	}
	in = Inputs{
		Token: a.tool.GetInput("github-token"), Mode: a.text("mode", "auto"), Check: a.tool.GetInput("check"), Setup: commands(a.tool.GetInput("setup-commands")), Dir: a.text("working-directory", "."),
		Base: a.tool.GetInput("base-branch"), Prefix: a.tool.GetInput("branch-prefix"), Labels: list(a.tool.GetInput("labels")), Model: a.tool.GetInput("model"),
		Big: a.tool.GetInput("big-model"), Instructions: a.tool.GetInput("additional-instructions"), Evidence: a.tool.GetInput("evidence-path"),
	}
	for _, check := range []func(*Inputs) error{a.numbers, a.switches, a.jobs, checkMode, checkCommand, checkPlaces, checkLimits} {
		if err := check(&in); err != nil {
			return in, err
		}
	}
	return in, nil
}

// readInputs finds the inputs, and refuses a name that is none.
func (a *Action) readInputs() error {
	text := a.getenv(InputsVariable)
	if text == "" {
		return bad("", "the environment variable %s is not set; the Action sets it, and by hand redraft fix is the command", InputsVariable)
	}
	if err := json.Unmarshal([]byte(text), &a.inputs); err != nil {
		return bad("", "%s is no JSON object of texts: %v", InputsVariable, err)
	}
	for name := range a.inputs {
		if !slices.Contains(names, name) {
			return bad(name, "there is no such input%s", didYouMean(name))
		}
	}
	return nil
}

func didYouMean(name string) string {
	if near := plan.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; there are " + strings.Join(names, ", ")
}

func (a *Action) text(name, otherwise string) string {
	if s := a.tool.GetInput(name); s != "" {
		return s
	}
	return otherwise
}

func (a *Action) numbers(in *Inputs) error {
	for name, at := range map[string]*int{"turns": &in.Turns, "timeout-minutes": &in.Minutes} {
		s := a.tool.GetInput(name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 100_000 || strconv.Itoa(n) != s {
			return bad(name, "%q is no whole number from 1", s)
		}
		*at = n
	}
	return nil
}

func (a *Action) switches(in *Inputs) error {
	switch s := a.text("dry-run", "false"); s {
	case "true", "false":
		in.DryRun = s == "true"
		return nil
	default:
		return bad("dry-run", "%q is neither true nor false", s)
	}
}

var commitName = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (a *Action) jobs(in *Inputs) error {
	s := a.tool.GetInput("jobs")
	if s == "" {
		return nil
	}
	if in.Mode != "repair" {
		return bad("jobs", "it goes with mode repair")
	}
	if err := json.Unmarshal([]byte(s), &in.Jobs); err != nil || len(in.Jobs) == 0 || len(in.Jobs) > mostJobs {
		return bad("jobs", "it is not what the output jobs of a dry run holds")
	}
	for _, j := range in.Jobs {
		if !commitName.MatchString(j.Root) || !commitName.MatchString(j.Policy) || j.Merge != "" && !commitName.MatchString(j.Merge) || j.Onto != "" && !commitName.MatchString(j.Onto) || j.Repo.ID <= 0 || j.Key == "" {
			return bad("jobs", "it is not what the output jobs of a dry run holds: a commit, a key or the repository is missing")
		}
	}
	return nil
}

func checkMode(in *Inputs) error {
	switch {
	case !slices.Contains(modes, in.Mode):
		return bad("mode", "%q is none of %s", in.Mode, strings.Join(modes[:built], ", "))
	case slices.Contains(modes[built:], in.Mode):
		return bad("mode", "%s is not built yet; there are %s", in.Mode, strings.Join(modes[:built], ", "))
	case in.Mode == "publish" && in.Evidence == "":
		return bad("evidence-path", "mode publish needs the folder that the evidence of the repair job was downloaded to")
	case in.Token == "":
		return bad("github-token", "it is empty; leave it out for the job's own token")
	}
	return nil
}

// checkCommand refuses several lines: what a shell does with the second after the first failed is not what a check is.
func checkCommand(in *Inputs) error {
	if strings.ContainsAny(in.Check, "\r\n") {
		return bad("check", "it has several lines; write one command, as in make check, or join them with &&")
	}
	if strings.ContainsRune(in.Check, 0) || !utf8.ValidString(in.Check) || len(in.Check) > 4000 {
		return bad("check", "it is no command on one line of at most 4000 bytes")
	}
	return nil
}

func checkPlaces(in *Inputs) error {
	in.Dir = path.Clean(in.Dir)
	switch {
	case !fs.ValidPath(in.Dir):
		return bad("working-directory", "%q is no folder below the repository's root", in.Dir)
	case in.Dir != "." && in.Check == "":
		return bad("working-directory", "it goes with check; a configured check has a working-directory of its own")
	case in.Prefix != "" && !plan.ValidPrefix(in.Prefix):
		return bad("branch-prefix", "%q is neither redraft/ nor one folder below it, as in redraft/mac/; branches are pushed nowhere else", in.Prefix)
	case strings.ContainsAny(in.Evidence, "\r\n\x00"):
		return bad("evidence-path", "it has several lines")
	}
	return nil
}

func checkLimits(in *Inputs) error {
	switch n := utf8.RuneCountInString(in.Instructions); {
	case n > mostInstructions:
		return bad("additional-instructions", "%d characters; at most %d are shown to the model", n, mostInstructions)
	case len(in.Setup) > mostSetup:
		return bad("setup-commands", "%d commands; at most %d are run", len(in.Setup), mostSetup)
	case len(in.Labels) > mostLabels:
		return bad("labels", "%d labels; at most %d are put on a draft", len(in.Labels), mostLabels)
	}
	return nil
}

// commands are the lines that say something.
func commands(s string) (all []string) {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// list splits at commas and lines.
func list(s string) (all []string) {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(all, part) {
			all = append(all, part)
		}
	}
	return all
}

// Over is the default branch's configuration with what the inputs say. Limits are lowered, never raised.
func (in Inputs) Over(f plan.File) plan.File {
	f.Limits = plan.Limits{Turns: lower(f.Limits.Turns, in.Turns), Minutes: lower(f.Limits.Minutes, in.Minutes), Files: f.Limits.Files, Lines: f.Limits.Lines,
		OpenDrafts: f.Limits.OpenDrafts, PerDay: f.Limits.PerDay}
	if in.Prefix != "" {
		f.Publish.BranchPrefix = in.Prefix
	}
	if len(in.Labels) > 0 {
		f.Publish.Labels = in.Labels
	}
	if len(in.Setup) > 0 {
		f.Setup = in.Setup
	}
	if in.Model != "" {
		f.Small = in.Model
	}
	if in.Big != "" {
		f.Big = in.Big
	}
	return f
}

// lower is the lower of two limits; zero is none.
func lower(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
