package perceive

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxSubjects   = 5  // symbols whose dependents and history are shown
	maxDependents = 12 // places
	maxSuspects   = 3  // commits
)

// project is the skeleton of the tree, the folders of the findings first.
func (v *viewer) project(tokens int) string {
	if v.Index == nil || v.off(Project) {
		return ""
	}
	var near []string
	for _, f := range v.Findings[:min(len(v.Findings), maxTests)] {
		near = append(near, v.folder(f))
	}
	head := "## The project\nFiles and what they define, those first that others lean on:\n"
	room := tokens - v.count(head) - 12
	if room < 40 {
		return ""
	}
	s := v.Index.Skeleton(SkeletonOptions{Budget: room, Tokens: v.guess, Near: near})
	if s.Text == "" {
		return ""
	}
	return head + Fence("", v.fit(Clean(s.Text, fieldCap), room))
}

// subjects are the symbols most at issue that can be told apart from what only a word names.
func (v *viewer) subjects(ranked []symbol) (out []symbol) {
	for _, s := range ranked {
		if len(out) < maxSubjects && s.kind != "lines" && (s.why != named || len(out) == 0) {
			out = append(out, s)
		}
	}
	return out
}

// breaking lists the places that use the symbols at issue, but for the failing tests and the symbols themselves.
func (v *viewer) breaking(ranked []symbol, tokens int) string {
	if v.Index == nil || v.off(Breaking) {
		return ""
	}
	subjects := v.subjects(ranked)
	var lines, tests []string // of files that may be changed, and of others
	blind := 0
	for _, s := range subjects {
		for _, d := range v.Index.called("", s.name) {
			if d.File != s.file || d.Name != s.addr {
				continue
			}
			blind += v.Index.BlindTo(d)
			for _, e := range v.Index.Refs(d) {
				if line := v.dependent(s, e, subjects); line != "" && v.protected(e.File) {
					tests = append(tests, line)
				} else if line != "" {
					lines = append(lines, line)
				}
			}
		}
	}
	if lines = slices.Compact(append(lines, tests...)); len(lines) == 0 {
		return ""
	}
	return v.listed("## What depends on it\nThese places use what is at issue and must keep working:\n", lines, maxDependents, tokens, blind)
}

// dependent is one place as a line, "" where it is part of what is shown already.
func (v *viewer) dependent(s symbol, e Edge, subjects []symbol) string {
	own := slices.ContainsFunc(subjects, func(o symbol) bool { return o.file == e.File && o.holds(e.Line) })
	if at := (span{e.Line, e.Line}); own || at.in(v.spans[e.File]) || e.Kind == Imports.String() {
		return ""
	}
	in := ""
	if e.From.Name != "" {
		in = " in " + label(e.From.Name)
	}
	return fmt.Sprintf("%s: %s:%d%s: %s", label(s.addr), label(e.File), e.Line, in, label(e.Text))
}

// listed is a fenced list of lines, as many as there is room for, with a count of the others.
func (v *viewer) listed(head string, lines []string, most, tokens, blind int) string {
	room := tokens - v.count(head) - 48
	var take []string
	for _, l := range lines {
		if room -= v.guess(l) + 1; room < 0 || len(take) == most {
			break
		}
		take = append(take, l)
	}
	if len(take) == 0 {
		return ""
	}
	text := head + Fence("", strings.Join(take, "\n"))
	if n := len(lines) - len(take); n > 0 {
		text += fmt.Sprintf("[… %s not shown …]\n", plural(n, "place more is", "places more are"))
	}
	if blind > 0 {
		text += fmt.Sprintf("(%s may mean these names or others.)\n", plural(blind, "place more", "places more"))
	}
	return text
}

// history shows the commits that changed the lines at issue last.
func (v *viewer) history(ranked []symbol, tokens int) string {
	if v.Suspects == nil || v.off(History) {
		return ""
	}
	var lines []Lines
	for _, s := range v.subjects(ranked) {
		lines = append(lines, Lines{File: s.file, First: s.first, Last: s.last})
	}
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	head := "## The last changes of these lines\nOne of them may have made it red:\n"
	left, dropped := tokens-v.count(head)-24, 0
	for i, s := range v.Suspects(lines) {
		block := v.suspect(s, min(left, tokens/2))
		if i >= maxSuspects || block == "" || v.count(block) > left {
			dropped++
			continue
		}
		left -= v.count(block)
		b.WriteString(block)
	}
	if b.Len() == 0 {
		return ""
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "[… %s not shown …]\n", plural(dropped, "commit more is", "commits more are"))
	}
	return head + b.String()
}

// suspect is one commit, as data between fences.
func (v *viewer) suspect(s Suspect, tokens int) string {
	when := ""
	if !s.When.IsZero() {
		when = s.When.UTC().Format(" 2006-01-02")
	}
	said := fmt.Sprintf("%.8s%s %s\n%s lines %d to %d\n", label(s.Commit), when, label(s.Subject), label(s.File), s.First, s.Last)
	body := v.fit(said+source(s.Text[:min(len(s.Text), fieldCap)]), tokens-12)
	if body == "" {
		return ""
	}
	return Fence("", body)
}
