package bot

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/queue"
)

// progress says of each state what is under way, as a check's title has it.
var progress = map[queue.State]string{
	queue.Received:   "waiting",
	queue.Authorised: "waiting: it is allowed",
	queue.Pinned:     "preparing: commits are pinned",
	queue.Prepared:   "looking for the red in fresh copies",
	queue.Reproduced: "repairing: the red was seen here",
	queue.Proposed:   "proving a change in fresh copies",
	queue.Proved:     "checking the proof",
	queue.Publishing: "opening the draft",
	queue.Published:  "the draft is open",
}

// CheckText is the check run of a job, done or still running, with annotations at the findings' places. It is never a
// failure: success says that a draft is open, neutral everything else.
func CheckText(s Story, c *redact.Cleaner) CheckRun {
	p := pen{c}
	check := CheckRun{SHA: s.Job.Root, Key: s.Job.Key}
	if !s.ended() {
		check.Title = nonempty(progress[s.State], "under way")
		check.Summary = s.running(p)
		return check
	}
	check.Done, check.Conclusion = true, "neutral"
	if s.Draft != nil && s.proved() {
		check.Conclusion = "success"
	}
	if s.Draft != nil {
		check.DetailsURL = s.Draft.URL
	}
	check.Title, check.Summary, check.Annotations = s.checkTitle(p), s.checkSummary(p), s.annotations(p)
	return check
}

// running is the summary of a check that is under way.
func (s Story) running(p pen) string {
	text := "redraft answers"
	if len(s.Job.Checks) > 0 {
		text += " " + p.codes(s.Job.Checks, 120, 5)
	}
	how := "`/redraft stop`"
	if s.Workflow {
		how = "cancel the workflow's run"
	}
	return text + fmt.Sprintf(" on %s. State: %s. To end it: %s.\n", p.commit(s.Job.Root), word(string(s.State)), how)
}

func (s Story) checkTitle(p pen) string {
	title := s.ending().title
	switch {
	case s.Draft != nil && s.proved():
		return fmt.Sprintf("draft #%d: %s", s.Draft.Number, strings.TrimPrefix(s.title(p, 120), "redraft: "))
	case s.proved():
		return "proved, no draft: " + strings.TrimPrefix(s.title(p, 120), "redraft: ")
	case s.stop().Class != "":
		title += " (" + word(s.stop().Class) + ")"
	}
	return title + ": no draft"
}

// checkSummary is the answer without what belongs to a comment; with a proof, the proof.
func (s Story) checkSummary(p pen) string {
	g := &page{}
	s.tellStop(g, p)
	s.tellNext(g, p)
	s.tellRed(g, p)
	s.tellCommand(g, p)
	if s.proved() {
		d := newDraftText(s, p)
		d.proof()
		g.parts = append(g.parts, d.parts...)
		g.add("Receipt `sha256:%s`. ", s.Proof.ReceiptSum())
	} else {
		s.tellFound(g, p)
		s.tellTries(g, p)
	}
	s.tellJob(g, p)
	return g.String()
}

const annotationsShown = 10 // as many as a step of GitHub Actions may have

// annotations are remarks at the places of findings that have one.
func (s Story) annotations(p pen) []Annotation {
	var out []Annotation
	for _, f := range s.findings() {
		file := p.line(f.File, 1000)
		if len(out) == annotationsShown || f.Line < 1 || file != f.File || file == "." || !fs.ValidPath(file) {
			continue
		}
		out = append(out, Annotation{Path: file, Line: f.Line, Title: p.bare(f.ID, 200), Message: p.remark(f)})
	}
	return out
}

// remark is a finding as plain text.
func (p pen) remark(f trace.Finding) string {
	text := strings.Join(p.assertion(f), "\n")
	if text == "" {
		text = "red, without a message"
	}
	return redact.Clip(p.clean.Log(text), 4000)
}
