package bot

import (
	"fmt"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// meaning is a stop in plain words of ours.
type meaning struct {
	title string // a few words, as a check's title has them
	means string // what it says about the code
	next  string // the next safe action
}

var meanings = map[trace.Reason]meaning{
	trace.Fixed: {"repaired",
		"A change was proved: the check is green with it and red again without it.",
		"Read the change, and decide whether it is merged."},
	trace.NotReproduced: {"not reproduced",
		"The check is green on this machine, on the very commit that was red. There is nothing here to repair, so nothing was tried.",
		"Compare the two machines: toolchain, environment, time zone, order of the tests."},
	trace.Flaky: {"flaky",
		"The check was red in some runs of the same files and green in others. A change that turns such a check green would prove nothing, so none was tried.",
		"Repair the test or its isolation first, and look at what differs from run to run."},
	trace.BaseDrift: {"red only together with its base",
		"The branch alone is green. Only its merge with the base is red.",
		"Bring the branch up to date with its base."},
	trace.BaseRed: {"red on the base as well",
		"The same finding is red on the base: this pull request did not cause it.",
		"Repair the base first."},
	trace.PlanChanged: {"commands changed",
		"The commands that judge this repository are not those of the default branch. A change cannot choose the command that judges it, so nothing was run.",
		"Review the changed commands on the default branch."},
	trace.NeedsConfiguration: {"needs configuration",
		"No command was found that is this repository's check.",
		"Name it in `.github/redraft.yml` on the default branch, under `checks`."},
	trace.NeedsTier: {"needs another sandbox",
		"The check asks for what the sandbox on this machine refuses. That says nothing about the code.",
		"On the machine, install bubblewrap, or allow another sandbox by name."},
	trace.Infra: {"this machine could not do it",
		"The check could not be judged here. That says nothing about the code.",
		"Put the machine right and ask again."},
	trace.Exhausted: {"no repair found",
		"The check is red here too, and no change that was tried turned it green.",
		"Repair it by hand, starting from the command below; or ask again with advice."},
	trace.NotProven: {"not proved",
		"A change turned the check green, and its proof did not hold. It was thrown away.",
		"Repair it by hand, starting from the command below."},
	trace.Superseded: {"superseded",
		"A newer commit has taken this one's place, and a newer job this job's.",
		"Nothing: the newer job answers here."},
	trace.Cancelled: {"cancelled",
		"The job was ended before it was done. Nothing was left behind.",
		"Ask again if it is still wanted."},
}

// diagnosed is what the end of a job means that was not to repair anything.
var diagnosed = meaning{"diagnosed",
	"The check is red here too. No more was asked for than what is red and why: nothing was changed, and nothing was tried.",
	"Say `/redraft` for a repair."}

// unfinished is what a job without a stop means.
var unfinished = meaning{"ended without a word",
	"The job ended without saying why, which is a fault of this program or its machine. That says nothing about the code.",
	"Ask again: what was under way is not taken for done."}

// ending is how the job ended, in plain words; a reason that is none is no end.
func (s Story) ending() meaning {
	if s.Job.Diagnose && s.stop().Reason == trace.Exhausted {
		return diagnosed
	}
	if m, ok := meanings[s.stop().Reason]; ok {
		return m
	}
	return unfinished
}

// Answer is the comment of a job that ended without a draft: the typed stop, what reproduces it, what was tried. With a
// draft it points there. Its first line is AnswerMarker, by which it is edited in place.
func Answer(s Story, c *redact.Cleaner) string {
	g, p := &page{}, pen{c}
	g.add("%s\n", AnswerMarker(s.Job.Target))
	s.tellStop(g, p)
	s.tellNext(g, p)
	if s.stop().Reason != trace.Fixed {
		s.tellRed(g, p)
		s.tellCommand(g, p)
		s.tellFound(g, p)
		s.tellTries(g, p)
	}
	stop := ""
	if !s.Workflow {
		stop = "; `/redraft stop` to end a job under way"
	}
	g.add("You can say `/redraft retry` with up to 200 characters of advice, which go to the model as data%s; or `/redraft explain` to hear this again. ", stop)
	s.tellJob(g, p)
	return g.String()
}

// tellJob names the job.
func (s Story) tellJob(g *page, p pen) {
	switch id := s.run(); {
	case id == "":
	case s.Artifact:
		g.add("Job %s: its evidence is an artifact of the workflow's run.", p.code(id, 120))
	default:
		g.add("Job %s: its evidence stays on the machine that ran it.", p.code(id, 120))
	}
	g.add("\n")
}

// tellStop says how it ended.
func (s Story) tellStop(g *page, p pen) {
	m, stop := s.ending(), s.stop()
	title := m.title
	if stop.Class != "" {
		title += " (" + word(stop.Class) + ")"
	}
	g.add("**redraft: %s.** %s\n\n", title, m.means)
	if text := p.talk(stop.Text, 500); text != "" && stop.Reason != trace.Fixed {
		g.add("> %s\n\n", text)
	}
	switch {
	case s.Draft != nil:
		g.add("The draft is #%d.\n\n", s.Draft.Number)
	case stop.Reason == trace.Fixed:
		g.add("No draft was opened for it.\n\n")
	}
}

// tellRed shows the failing test. What was never seen red is not spoken of.
func (s Story) tellRed(g *page, p pen) {
	v := s.verdict("see")
	if v == nil || v.Color == "green" {
		return
	}
	if len(v.Findings) > 0 {
		s.addFindings(g, p)
	}
	if s.Status.Flake != nil {
		s.tellFlake(g, p, *s.Status.Flake)
		return
	}
	if len(v.Unstable) > 0 {
		g.add("Red in some runs only: %s.\n\n", p.codes(v.Unstable, 120, namesShown))
	}
}

// tellCommand shows the smallest command that shows the red, with the commit to run it on.
func (s Story) tellCommand(g *page, p pen) {
	run, dir, known := s.command()
	if v := s.verdict("see"); v != nil && v.Command != "" {
		run, known = v.Command, true
	}
	if r := s.Status.Reduced; r != nil && r.Command != "" && !s.proved() {
		run, known = r.Command, true
	}
	if !known {
		return
	}
	var b strings.Builder
	if commitID.MatchString(s.Job.Root) {
		fmt.Fprintf(&b, "git switch --detach %s\n", s.Job.Root)
	}
	if dir = p.line(dir, 200); dir != "" && dir != "." {
		fmt.Fprintf(&b, "cd %s\n", quoted(dir))
	}
	g.add("To see it again:\n\n%s\n", p.fence("sh", b.String()+strings.TrimSpace(run), 2000))
	if step := s.step(p); step != "" {
		g.add("The check is the step that failed: %s.\n\n", step)
	}
}

// quoted is a word of a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
	}
	if strings.TrimFunc(s, plain) == "" && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

const triesShown = 6

// tellTries says what was tried, and the last tries one by one.
func (s Story) tellTries(g *page, p pen) {
	u := s.Status.Usage
	if u.Candidates+u.Patches+u.Slips+len(s.Status.Models) == 0 {
		return
	}
	g.add("What was tried: %s.\n\n", spent(s.Status))
	for _, m := range s.Status.Models {
		g.add("- %s, the %s model: %s\n", p.code(m.Model, 160), word(m.Tier), counted(m.Questions, "question"))
	}
	tries := s.tries()
	if n := len(tries) - triesShown; n > 0 {
		g.add("- … %s before these\n", counted(n, "change"))
		tries = tries[n:]
	}
	for _, t := range tries {
		g.add("- %s\n", p.try(t))
	}
	g.add("\n")
}

// try is one change and what the check said to it.
func (p pen) try(t try) string {
	what := strings.Join(t.patch.Landings, "; ")
	if what == "" {
		what = t.patch.Why
	}
	text := word(t.patch.By)
	if t.event.Turn > 0 {
		text = fmt.Sprintf("turn %d", t.event.Turn)
	}
	text += ": " + p.code(what, 200) + ": "
	if t.verdict == nil {
		return text + "not judged"
	}
	text += "**" + word(t.verdict.Color) + "**"
	if len(t.verdict.Findings) > 0 {
		f := t.verdict.Findings[0]
		text += ", " + p.code(f.ID, 120)
		if f.Got != "" {
			text += " got " + p.code(f.Got, 80)
		}
	}
	return text
}

// tellNext is the next safe action: the stop's own, else that of its reason.
func (s Story) tellNext(g *page, p pen) {
	next := nonempty(sentence(p.talk(s.stop().Next, 400)), s.ending().next)
	if s.stop().Reason == trace.Fixed && s.Draft == nil {
		next = "The change is `patch.diff` in the evidence of this job."
	}
	g.add("**Next:** %s\n\n", next)
}
