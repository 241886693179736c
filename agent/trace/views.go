package trace

import (
	"fmt"
	"strings"
)

// commandsView is COMMANDS.md: the commands and where they were found, and apart from that how they ran.
func (s *story) commandsView() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n## What the check is\n\nRun them in a copy of the root" + s.rootText() + ".\n\n")
	commands := s.commands()
	if len(commands) == 0 {
		b.WriteString("No line names a command.\n\n")
	}
	for _, c := range commands {
		writeCommand(&b, c)
	}
	if s.set.Fingerprint != "" {
		fmt.Fprintf(&b, "Fingerprint of the set: %s\n\n", code(s.set.Fingerprint))
	}
	s.writeRuns(&b)
	b.WriteString("## By hand\n\n")
	if len(s.patches) > 0 {
		b.WriteString("Apply the change, in a checkout of the root (put this folder's path for EVIDENCE):\n\n" +
			"```sh\ngit apply --check EVIDENCE/patch.diff && git apply EVIDENCE/patch.diff\n```\n\n")
	}
	b.WriteString("Check this evidence, and print the job again, in this folder:\n\n" +
		"```sh\nredraft verify .\nredraft replay trace.jsonl\n```\n")
	return b.String()
}

func (s *story) rootText() string {
	if s.job == nil || s.job.Root == "" {
		return ""
	}
	return " " + code(s.job.Root)
}

func writeCommand(b *strings.Builder, c StatusCommand) {
	fmt.Fprintf(b, "### %s\n\n", code(word(c.ID)))
	b.WriteString(fence("sh", inDir(c.Dir, c.Run)) + "\n")
	fmt.Fprintf(b, "- provenance: %s\n- source: %s\n- the red one: %s\n\n",
		prose(orUnknown(c.Provenance)), code(orUnknown(c.Source)), yesNo(c.Red))
}

// inDir is a command that runs in a folder of the tree, as one can paste it.
func inDir(dir, run string) string {
	if dir == "" || dir == "." {
		return run
	}
	return "cd " + quoted(dir) + "\n" + run
}

// quoted is s as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func orUnknown(s *string) string {
	if s == nil {
		return "unknown"
	}
	return *s
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (s *story) writeRuns(b *strings.Builder) {
	b.WriteString("## How they ran\n\n")
	rows := s.runTable()
	if len(rows) == 0 {
		b.WriteString("Nothing ran.\n\n")
		return
	}
	b.WriteString("| phase | mode | command | sandbox | runs | red | green | unknown | time |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d | %d | %d | %d | %s |\n", prose(r.Phase), prose(r.Mode), code(r.Command),
			prose(r.Tier), r.Count, r.Red, r.Green, r.Unknown, seconds(r.Seconds))
	}
	b.WriteString("\n")
}

// logView is LOG.md: one line an event.
func (s *story) logView() string {
	var b strings.Builder
	from, _ := s.span()
	fmt.Fprintf(&b, "# Log\n\nTimes are UTC. The first line is of %s.\n\n", from.UTC().Format("2006-01-02"))
	for _, e := range s.events {
		turn := ""
		if e.Turn > 0 {
			turn = fmt.Sprintf(" turn %d", e.Turn)
		}
		fmt.Fprintf(&b, "- %s #%d%s **%s** %s\n", e.TS.UTC().Format("15:04:05.000"), e.Seq, turn, prose(e.Type), prose(EventText(e)))
	}
	if s.torn {
		b.WriteString("- the last line is torn: the process died while writing it\n")
	}
	return b.String()
}

// patchesView is PATCHES.md: every change that landed in a tree, and what the check said to it.
func (s *story) patchesView() string {
	var b strings.Builder
	b.WriteString("# Changes\n\n")
	stands := s.patch()
	for i := range s.patches {
		p := &s.patches[i]
		fmt.Fprintf(&b, "## Change %d, by %s", i+1, prose(word(p.V.By)))
		if p.Turn > 0 {
			fmt.Fprintf(&b, ", turn %d", p.Turn)
		}
		b.WriteString("\n\n")
		if &p.V == stands {
			b.WriteString("This is the one in `patch.diff`.\n\n")
		}
		s.writePatch(&b, *p)
	}
	return b.String()
}

func (s *story) writePatch(b *strings.Builder, p said[PatchData]) {
	if p.V.Why != "" {
		fmt.Fprintf(b, "- why: %s\n", prose(p.V.Why))
	}
	for _, l := range p.V.Landings {
		fmt.Fprintf(b, "- landed: %s\n", code(l))
	}
	fmt.Fprintf(b, "- tree: %s\n- judged: %s\n\n", code(word(p.V.Tree)), s.judgement(p.Event))
	b.WriteString(fence("diff", p.V.Diff) + "\n")
}
