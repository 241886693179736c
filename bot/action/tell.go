package action

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot"
)

// tell tells the runner what came of the run: annotations, outputs, the summary. The error is of outputs that could not be
// written, on which later steps depend.
func (r *Run) tell(res *Result) error {
	switch {
	case res.Skip != "":
		r.tellSkip(res)
	case r.In.DryRun:
		r.tellPlan(res.Jobs)
	}
	for _, e := range res.Ends {
		r.tellEnd(e)
		if f := failed(e.Stop); res.Broken == Fine {
			res.Broken = f
		}
	}
	if err := r.summarise(*res); err != nil {
		r.Say(Warning, Remark{Title: "summary", Text: "The job's summary could not be written: " + err.Error() + ". Nothing else is the worse for it."})
	}
	return r.outputs(*res)
}

// loud are the reasons that somebody has to do something about.
var loud = map[string]Level{
	string(bot.BadPolicy): Failure, string(bot.NotAllowed): Failure, string(bot.Malformed): Failure,
	string(bot.NoWrite): Warning, string(bot.FromFork): Warning, string(bot.TooMany): Warning, "evidence_missing": Warning,
}

func (r *Run) tellSkip(res *Result) {
	level, ok := loud[res.Skip]
	if !ok {
		level = Notice
	}
	if level == Failure && res.Broken == Fine {
		res.Broken = Configuration
	}
	text := sentence(res.Text)
	if res.Skip == string(bot.NotAllowed) { // GitHub names permissions as its API does
		text = spelling.Replace(text) + " Give the job the permissions of the example workflow, under permissions in the workflow's file."
	}
	r.Say(level, Remark{Title: "no job began (" + res.Skip + ")", Text: text})
}

// spelling turns permissions as the API has them into those of a workflow's file.
var spelling = strings.NewReplacer("pull_requests: ", "pull-requests: ")

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

func (r *Run) tellPlan(jobs []bot.Job) {
	for _, j := range jobs {
		r.Say(Notice, Remark{Title: "would begin", Text: fmt.Sprintf("A job for %s at %.12s (%s). This is a dry run: nothing was done.", j.Target, j.Root, strings.Join(j.Checks, ", "))})
	}
}

// tellEnd says how a job ended, and where it was red.
func (r *Run) tellEnd(e Ended) {
	level, text := Warning, sentence(e.Stop.Text)+" "+e.Stop.Next
	switch {
	case failed(e.Stop) != Fine:
		level = Failure
	case e.Draft != nil:
		level, text = Notice, fmt.Sprintf("Draft #%d: %s", e.Draft.Number, e.Draft.URL)
	case e.Stop.Reason == trace.Fixed:
		level, text = Notice, "Proved. What was proved is in the evidence; a step in mode publish opens the draft."
	case e.Stop.Reason == trace.NotReproduced, e.Stop.Reason == trace.Superseded, e.Stop.Reason == trace.Cancelled:
		level = Notice
	}
	r.Say(level, Remark{Title: e.Check.Title, Text: strings.TrimSpace(text)})
	if e.Draft != nil {
		return // the change is there to look at
	}
	for _, a := range e.Check.Annotations {
		r.Say(Warning, Remark{Title: a.Title, Text: a.Message, File: a.Path, Line: a.Line})
	}
}

// outputs writes the Action's outputs: those of the first job that has a draft, else of the first job.
func (r *Run) outputs(res Result) error {
	out := map[string]string{"stop-reason": res.Skip, "verdict": "unknown", "pull-request-operation": "none", "turns": "0"}
	if r.Bot.Half == bot.RepairHalf {
		out["evidence-path"] = r.Bot.Evidence
	}
	if r.In.DryRun && len(res.Jobs) > 0 && res.Skip == "" {
		b, err := json.Marshal(res.Jobs)
		if err != nil {
			return err
		}
		out["jobs"], out["verdict"] = string(b), "red"
	}
	if len(res.Ends) > 0 {
		i := slices.IndexFunc(res.Ends, func(e Ended) bool { return e.Draft != nil })
		r.outputsOf(out, res.Ends[max(i, 0)])
	}
	var errs []error
	for _, name := range outputNames {
		errs = append(errs, r.set(name, out[name]))
	}
	return errors.Join(errs...)
}

// outputNames are the Action's outputs, in the order of action.yml.
var outputNames = []string{"verdict", "stop-reason", "turns", "pull-request-number", "pull-request-url", "pull-request-operation", "pull-request-branch", "pull-request-head-sha",
	"patch-path", "report-path", "evidence-path", "jobs"}

func (r *Run) outputsOf(out map[string]string, e Ended) {
	out["stop-reason"], out["turns"] = string(e.Stop.Reason), strconv.Itoa(e.Turns)
	if e.Color != "" {
		out["verdict"] = e.Color
	}
	if r.Bot.Half != bot.RepairHalf {
		out["evidence-path"] = e.Dir
	}
	out["report-path"] = existing(e.Dir, "SUMMARY.md")
	if e.Stop.Reason == trace.Fixed {
		out["patch-path"] = existing(e.Dir, proof.PatchFile)
	}
	if d := e.Draft; d != nil {
		out["pull-request-number"], out["pull-request-url"] = strconv.Itoa(d.Number), d.URL
		out["pull-request-branch"], out["pull-request-head-sha"] = d.Branch, d.Head
		if e.Drafted != "" {
			out["pull-request-operation"] = e.Drafted
		}
	}
}

func existing(dir, name string) string {
	if name = filepath.Join(dir, name); dir != "" {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

// set writes one output. The toolkit's own delimiter is always the same, so that a value could end itself and begin
// another output; this one nobody can guess.
func (a *Action) set(name, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := "redraft-" + rand.Text()
	return a.file("output", name+"<<"+end+"\n"+a.clean.Text(value)+"\n"+end)
}

// file hands a text to the runner through one of its files.
func (a *Action) file(name, text string) (err error) {
	variable := "GITHUB_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if a.getenv(variable) == "" {
		return fmt.Errorf("%s is not set", variable)
	}
	defer func() { // the toolkit panics where it cannot write
		if p := recover(); p != nil {
			err = fmt.Errorf("write to %s: %v", variable, p)
		}
	}()
	a.tool.IssueFileCommand(&githubactions.Command{Name: name, Message: text})
	return nil
}
