package bot

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
)

// skipMarker keeps push and pull_request workflows from starting when the head commit's message holds it.
// https://docs.github.com/en/actions/managing-workflow-runs/skipping-workflow-runs
const skipMarker = "[skip ci]"

// CommitText is the message of the proved commit, with trailers. quiet adds the marker that keeps CI from starting. It
// closes no issue: a draft does that, when a person merges it.
func CommitText(s Story, c *redact.Cleaner, quiet bool) string {
	if !s.proved() {
		return ""
	}
	p, r := pen{c}, s.Proof.Receipt()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", s.title(p, 100))
	fmt.Fprintf(&b, "%s was red %dx on %.12s, is green %dx with this change,\nand is red again without it.\n\n",
		p.bare(p.script(r.Command), 300), r.K, r.Root, r.K+1)
	if quiet {
		fmt.Fprintf(&b, "%s until a person has read the change: a commit without this line starts it.\n\n", skipMarker)
	}
	fmt.Fprintf(&b, "Redraft-Run: %s\n", p.bare(r.Job, 200))
	fmt.Fprintf(&b, "Redraft-Model: %s\n", p.bare(s.proposer(), 200))
	fmt.Fprintf(&b, "Redraft-Oracle: %s red@%.12s green@%.12s x%d\n", p.bare(p.script(r.Command), 300), r.Root, r.Tree, r.K)
	fmt.Fprintf(&b, "Redraft-Receipt: sha256:%s\n", s.Proof.ReceiptSum())
	return b.String()
}

// title is "redraft: " and what went green, in at most n bytes and a few.
func (s Story) title(p pen, n int) string {
	r := s.Proof.Receipt()
	r.Command = p.line(p.script(r.Command), n*3/4)
	if f := s.findings(); len(f) > 0 && f[0].Kind != "" && f[0].Kind != "test" {
		r.Findings = nil // no test has a name that says what is green now
	}
	return "redraft: " + p.bare(job.Title(r), n)
}

// proposer is who proposed the proved change: the mechanic, or a model by tier and id.
func (s Story) proposer() string {
	by := s.Proof.Receipt().By
	if m := s.model(); m != nil && m.Model != "" && m.Model != by {
		return strings.TrimSpace(by + " " + m.Model)
	}
	return by
}

// model is the model that proposed the proved change, nil if none did.
func (s Story) model() *trace.StatusModel {
	by := s.Proof.Receipt().By
	for i := range s.Status.Models {
		if m := &s.Status.Models[i]; by == m.Tier || by == m.Model {
			return m
		}
	}
	return nil
}

var (
	trailerRun     = regexp.MustCompile(`(?m)^Redraft-Run: *\S`)
	paragraphs     = regexp.MustCompile(`\n[ \t]*\n`)
	trailerReceipt = regexp.MustCompile(`(?m)^Redraft-Receipt: *sha256:[0-9a-f]{64} *$`)
)

// Trailer says whether a commit message is one of ours: its last paragraph names a run and a receipt.
func Trailer(message string) bool {
	all := paragraphs.Split(strings.TrimSpace(strings.ReplaceAll(message, "\r\n", "\n")), -1)
	last := all[len(all)-1]
	return trailerRun.MatchString(last) && trailerReceipt.MatchString(last)
}
