package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/job"
)

// screen shows one job on a terminal, line by line; every line is readable without colour.
type screen struct {
	app     *app
	w       io.Writer
	quiet   bool // --json: nothing until the end
	start   time.Time
	tries   int
	green   int
	applied bool
	rungs   []trace.RungData
	see     *trace.VerdictData
	ran     trace.RanData
}

func (a *app) newScreen() *screen {
	return &screen{app: a, w: a.out, quiet: a.json, start: time.Now()}
}

func (s *screen) printf(format string, args ...any) {
	if !s.quiet {
		fmt.Fprint(s.w, s.app.clean.Terminal(fmt.Sprintf(format, args...)))
	}
}

// at prints a line with the time since the start.
func (s *screen) at(format string, args ...any) {
	s.printf("%6.1fs  %s\n", time.Since(s.start).Seconds(), fmt.Sprintf(format, args...))
}

func (s *screen) more(format string, args ...any) {
	s.printf("         %s\n", fmt.Sprintf(format, args...))
}

func (s *screen) warn(text string) { s.at("note: %s", text) }

// opening says what is about to be done and with what.
func (s *screen) opening(set *setting) {
	s.printf("redraft: %s at %.12s", set.repo.Dir, set.repo.Head)
	if set.repo.Branch != "" {
		s.printf(" (%s)", set.repo.Branch)
	} else {
		s.printf(" (detached HEAD)")
	}
	s.printf("\n")
	if set.repo.Dirty {
		s.printf("The checkout differs from HEAD (%d changed, %d untracked). The job is about HEAD, without that.\n", set.repo.Changed, set.repo.Untracked)
	}
	s.printf("Proposers: %s\n\n", s.proposers(set))
}

func (s *screen) proposers(set *setting) string {
	var out []string
	for _, t := range set.tiers {
		switch t {
		case "mechanic":
			out = append(out, "mechanic (no model)")
		default:
			for _, m := range set.models {
				if m.Tier == t {
					out = append(out, fmt.Sprintf("%s: %s at %s", t, orElse(m.Model, "the server's model"), m.BaseURL))
				}
			}
		}
	}
	if len(set.models) == 0 && len(set.tiers) > 1 {
		out = append(out, "no model server was found on this machine")
	}
	return strings.Join(out, ", ")
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// event shows one line of the trace, if a person wants to see it.
func (s *screen) event(e trace.Event) {
	switch e.Type {
	case trace.TypeStep:
		var d trace.StepData
		decode(e, &d)
		s.at("%s", d.Text)
	case trace.TypeVerdict:
		var d trace.VerdictData
		decode(e, &d)
		s.verdict(d)
	case trace.TypeCandidate:
		var d trace.CandidateData
		decode(e, &d)
		s.candidate(d)
	case trace.TypeSlip:
		var d trace.SlipData
		decode(e, &d)
		s.at("the answer was refused (%s): %s", d.Code, d.Text)
	case trace.TypePatch:
		var d trace.PatchData
		decode(e, &d)
		s.at("judging a change by %s%s", d.By, dash(d.Why))
	case trace.TypeRan:
		decode(e, &s.ran)
	case trace.TypeRung:
		var d trace.RungData
		decode(e, &d)
		s.rungs = append(s.rungs, d)
	}
}

func dash(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func (s *screen) verdict(d trace.VerdictData) {
	if d.Phase == "see" {
		s.see = &d
	}
	if d.Phase == "confirm" {
		return
	}
	s.at("%s%s", d.Color, class(d.Class))
	if d.Text != "" {
		s.more("%s", d.Text)
	}
	for i, f := range d.Findings {
		if i == 5 {
			s.more("and %d more", len(d.Findings)-i)
			break
		}
		for _, l := range strings.Split(strings.TrimRight(trace.FindingText(f), "\n"), "\n") {
			s.more("%s", l)
		}
		if d.Phase != "see" {
			break
		}
	}
}

func class(c string) string {
	if c == "" {
		return ""
	}
	return " (" + c + ")"
}

// candidate counts the mechanic's tries and shows the ones that turned the failing tests green.
func (s *screen) candidate(d trace.CandidateData) {
	s.tries++
	if d.Got == "green" {
		s.green++
		s.at("small edit %d turns the failing tests green: %s", s.tries, d.Edit)
	} else if s.tries%25 == 0 {
		s.at("%d small edits tried", s.tries)
	}
}

// closing shows the diff, the proof as a table, the stop, and where everything lies.
func (s *screen) closing(set *setting, out job.Outcome) {
	if s.quiet {
		s.app.printJSON(s.result(set, out))
		return
	}
	if out.Proof != nil {
		s.printf("\n%s\n", out.Proof.Diff())
		s.printf("%s", trace.ProofTable(s.last()))
		s.printf("\nBy %s, in sandbox %s%s.\n", out.Proof.Receipt().By, out.Proof.Receipt().Tier, unconfined(out.Proof.Receipt().Tier))
	}
	s.printf("\n%s: %s\n", out.Stop.Reason, out.Stop.Text)
	if out.Stop.Next != "" {
		s.printf("Next: %s\n", out.Stop.Next)
	}
	if out.Where != "" {
		s.printf("Branch: %s (%.12s)\n", out.Where, out.Commit)
		if s.applied {
			s.printf("The checkout has the change.\n")
		} else {
			s.printf("Look: git show %s    take it: git merge --ff-only %s\n", out.Where, out.Where)
		}
	}
	s.printf("Evidence: %s\n", out.Evidence)
}

// unconfined is the warning that goes with a proof whose runs were not confined at all.
func unconfined(tier string) string {
	if tier == string(sandbox.Unconfined) {
		return ": NOT confined, as you asked for; the check and the change could read and reach whatever you can"
	}
	return ""
}

// last is the rungs of the last claim.
func (s *screen) last() []trace.RungData {
	for i := len(s.rungs) - 1; i >= 0; i-- {
		if s.rungs[i].ID == "D0" {
			return s.rungs[i:]
		}
	}
	return s.rungs
}

func (s *screen) failed(set *setting, err error) {
	if s.quiet {
		s.app.printJSON(map[string]any{"error": s.app.clean.Terminal(err.Error()), "evidence": set.evidence})
		return
	}
	s.printf("\nEvidence: %s\n", set.evidence)
}

// result is what --json prints: stable keys, null for unknown.
type result struct {
	Stop     trace.Stop       `json:"stop"`
	Root     string           `json:"root"`
	Command  string           `json:"command"`
	Branch   *string          `json:"branch"`
	Commit   *string          `json:"commit"`
	Applied  bool             `json:"applied"`
	Diff     *string          `json:"diff"`
	By       *string          `json:"by"`
	Rungs    []trace.RungData `json:"proof"`
	Findings []trace.Finding  `json:"findings"`
	Tries    int              `json:"mechanic_tries"`
	Seconds  float64          `json:"seconds"`
	Evidence string           `json:"evidence"`
}

func (s *screen) result(set *setting, out job.Outcome) result {
	r := result{Stop: out.Stop, Root: set.repo.Head, Command: set.command, Applied: s.applied, Tries: s.tries, Seconds: time.Since(s.start).Seconds(), Evidence: out.Evidence}
	if len(out.Plan.Checks) > 0 {
		r.Command = out.Plan.Checks[0].Run
	}
	if s.see != nil {
		r.Findings = s.see.Findings
	}
	if out.Proof != nil {
		diff, by := string(out.Proof.Diff()), out.Proof.Receipt().By
		r.Diff, r.By, r.Rungs = &diff, &by, s.last()
	}
	if out.Where != "" {
		r.Branch, r.Commit = &out.Where, &out.Commit
	}
	return r
}

func decode(e trace.Event, v any) { _ = json.Unmarshal(e.Data, v) } // our own lines; a foreign one shows as zero

func (a *app) printJSON(v any) {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	_ = enc.Encode(v)
}
