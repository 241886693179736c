package trace

import (
	"fmt"
	"strings"
)

const (
	summaryFindings = 5
	summaryPatches  = 8
)

// summary is SUMMARY.md: one page, in the order in which a person asks.
func (s *story) summary() string {
	var b strings.Builder
	b.WriteString("# " + s.title() + "\n\n")
	s.writeStop(&b)
	s.writeAsked(&b)
	s.writeSeen(&b)
	s.writeFound(&b)
	s.writeDone(&b)
	s.writeProof(&b)
	s.writeUsed(&b)
	s.writeWhere(&b)
	return b.String()
}

func (s *story) title() string {
	id := "a job without a line"
	if len(s.events) > 0 {
		id = "job " + prose(s.events[0].Job)
	}
	if s.stop == nil {
		return id + ": " + string(s.state())
	}
	return id + ": " + prose(strings.ReplaceAll(string(s.stop.Reason), "_", " "))
}

func (s *story) writeStop(b *strings.Builder) {
	switch {
	case s.stop != nil && s.stop.Class != "":
		fmt.Fprintf(b, "**%s** (%s): %s\n\n", prose(string(s.stop.Reason)), prose(s.stop.Class), prose(s.stop.Text))
	case s.stop != nil:
		fmt.Fprintf(b, "**%s**: %s\n\n", prose(string(s.stop.Reason)), prose(s.stop.Text))
	default:
		fmt.Fprintf(b, "**%s**: the trace has no stop line.\n\n", s.state())
	}
	if next := s.next(); next != "" {
		fmt.Fprintf(b, "Next safe action: %s\n\n", ownProse(next))
	}
	fmt.Fprintf(b, "Process: %s. Outcome: %s. Trace: %s. Evidence: %s.\n\n", s.state(), s.outcome(), s.validity(), s.level())
}

// ownProse keeps the code spans of a sentence that this program wrote, and defuses any other.
func ownProse(text string) string {
	for _, e := range endings {
		if e.next == text {
			return text
		}
	}
	return prose(text)
}

func (s *story) writeAsked(b *strings.Builder) {
	b.WriteString("## What was asked\n\n")
	if s.job == nil {
		b.WriteString("No line says what was asked.\n\n")
		return
	}
	fmt.Fprintf(b, "- %s\n", prose(jobText(*s.job)))
	if s.job.Base != "" && s.job.Base != s.job.Root {
		fmt.Fprintf(b, "- base %s\n", code(short(s.job.Base)))
	}
	for _, c := range s.commands() {
		if c.Red {
			fmt.Fprintf(b, "- check %s: %s in %s\n", code(c.ID), code(c.Run), code(c.Dir))
		}
	}
	b.WriteString("\n")
}

func (s *story) writeSeen(b *strings.Builder) {
	b.WriteString("## What was seen\n\n")
	v := s.seen()
	if v == nil {
		b.WriteString("The check was not judged on the untouched root.\n\n")
		return
	}
	fmt.Fprintf(b, "On the untouched root: **%s**%s, %d passed, %d skipped, %s in the jail.\n\n",
		colorOf(v.Color), comma(prose(v.Class)), v.Passed, v.Skipped, count(s.runsOf("see"), "run"))
	if v.Text != "" {
		b.WriteString(prose(v.Text) + "\n\n")
	}
	for i, f := range v.Findings {
		if i == summaryFindings {
			fmt.Fprintf(b, "… and %s more\n\n", count(len(v.Findings)-i, "finding"))
			break
		}
		writeFinding(b, f)
	}
	if len(v.Unstable) > 0 {
		fmt.Fprintf(b, "Red in some runs only, and no part of any claim: %s\n\n", prose(strings.Join(v.Unstable, ", ")))
	}
}

func comma(s string) string {
	if s == "" {
		return ""
	}
	return ", " + s
}

func (s *story) runsOf(phase string) int {
	n := 0
	for _, r := range s.runs {
		if r.Phase == phase {
			n++
		}
	}
	return n
}

func writeFinding(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "- %s", code(word(f.ID)))
	if where := place(f.File, f.Line); where != "" {
		fmt.Fprintf(b, " at %s", code(where))
	}
	b.WriteString("\n")
	if f.Got != "" || f.Want != "" {
		fmt.Fprintf(b, "  - got: %s\n  - want: %s\n", valueCode(f.Got), valueCode(f.Want))
	} else if f.Message != "" {
		fmt.Fprintf(b, "  - %s\n", code(oneLine(f.Message, 200)))
	}
	b.WriteString("\n")
}

func valueCode(s string) string {
	if s == "" {
		return "(empty)"
	}
	return code(oneLine(s, 160))
}

func (s *story) writeDone(b *strings.Builder) {
	b.WriteString("## What was done\n\n")
	if len(s.patches)+len(s.candidates)+s.slips+len(s.models) == 0 {
		b.WriteString("Nothing was changed and nothing was tried.\n\n")
		return
	}
	if len(s.candidates) > 0 {
		fmt.Fprintf(b, "- small edits tried without a model: %d (%s)\n", len(s.candidates), prose(gotText(s.candidates)))
	}
	for _, m := range s.models {
		fmt.Fprintf(b, "- questions to %s: %d, answers: %d\n", prose(modelName(m.tier, m.model, "")), m.questions, m.answers)
	}
	if s.slips > 0 {
		fmt.Fprintf(b, "- answers that could not be landed: %d\n", s.slips)
	}
	for i, p := range s.patches {
		if i >= summaryPatches {
			fmt.Fprintf(b, "- … and %s more\n", count(len(s.patches)-i, "change"))
			break
		}
		fmt.Fprintf(b, "- change %d %s: %s\n", i+1, prose(patchText(p.V)), s.judgement(p.Event))
	}
	b.WriteString("\n")
}

func (s *story) judgement(p Event) string {
	v := s.judged(p)
	if v == nil {
		return "not judged"
	}
	return "**" + colorOf(v.Color) + "**" + comma(prose(v.Class))
}

func (s *story) writeProof(b *strings.Builder) {
	b.WriteString("## Proof\n\n")
	if len(s.rungs) == 0 {
		b.WriteString("None: no claim came to its rungs.\n\n")
		return
	}
	b.WriteString(ProofMarkdown(s.rungs) + "\n")
	if s.receipt != nil {
		fmt.Fprintf(b, "Receipt: sha256 %s of tree %s\n\n", code(s.receipt.SHA256), code(s.receipt.Tree))
	}
	if s.admit != nil {
		fmt.Fprintf(b, "Recomputed by the publisher: %s\n\n", prose(admitText(*s.admit)))
	}
	if s.draft != nil {
		fmt.Fprintf(b, "Left for a person: %s\n\n", prose(draftText(*s.draft)))
	}
}

// tries says what commands tried to reach.
func (s *story) tries() string {
	all := s.tried()
	if len(all) == 0 {
		return "nothing was tried to be reached"
	}
	return "commands tried to reach " + prose(reaches(all[:min(len(all), 10)])) + ", and were refused"
}

func (s *story) writeUsed(b *strings.Builder) {
	b.WriteString("## What it took\n\n")
	from, to := s.span()
	fmt.Fprintf(b, "%s in all, %s in the jail, tiers allowed: %s.\n", seconds(to.Sub(from).Seconds()),
		count(len(s.runs), "run"), s.tiersAllowed())
	level, hosts := s.egress()
	fmt.Fprintf(b, "Egress: **%s**%s. In the jail %s.", strings.ReplaceAll(level, "_", " "), comma(prose(strings.Join(hosts, ", "))), s.tries())
	for _, e := range s.sampled {
		fmt.Fprintf(b, " The %s process was seen connected to %s in %s.", prose(e.Process), orNone(prose(reaches(e.To))), count(e.Samples, "look"))
	}
	b.WriteString("\n\n")
	if len(s.models) == 0 {
		return
	}
	b.WriteString("| tier | model | questions | tokens read | cached | written | time |\n|---|---|---|---|---|---|---|\n")
	for _, m := range s.models {
		fmt.Fprintf(b, "| %s | %s | %d | %d | %d | %d | %s |\n", prose(m.tier), prose(m.model), m.questions,
			m.prompt, m.cached, m.output, seconds(m.seconds))
	}
	b.WriteString("\n")
}

func (s *story) tiersAllowed() string {
	if s.job == nil || len(s.job.Tiers) == 0 {
		return "not said"
	}
	return prose(strings.Join(s.job.Tiers, ", "))
}

func (s *story) writeWhere(b *strings.Builder) {
	b.WriteString("## Where everything is\n\n")
	b.WriteString("- `trace.jsonl`: every step, one line each; `redraft replay trace.jsonl` prints it\n")
	b.WriteString("- `status.json`: this page for programs\n- `COMMANDS.md`: what to run by hand\n- `LOG.md`: step by step\n")
	if len(s.patches) > 0 {
		b.WriteString("- `PATCHES.md`: every change that was tried\n- `patch.diff`: the last one, or the proved one\n")
	}
	if s.receipt != nil {
		b.WriteString("- `receipt.json`: the proof on paper\n")
	}
	if s.flake != nil {
		b.WriteString("- `" + FlakeFile + "`: the certificate of the flake\n")
	}
	if s.level() != "inferred" {
		b.WriteString("- `reports/`: what every run printed, raw\n")
	}
	b.WriteString("- `manifest.json`: size and hash of every file; `redraft verify .` checks them\n")
}
