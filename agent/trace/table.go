package trace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// rungTitles say what each rung shows, in a few words.
var rungTitles = map[string]string{
	"D0": "green as configured, in every run",
	"D1": "the findings are gone, nothing else got worse",
	"D2": "tests and runner files are the root's",
	"D3": "canaries behave",
	"D4": "the diff plays no tricks",
	"D5": "test count and duration as before",
	"D6": "repeats: fresh copies, shuffled",
	"D7": "mutated asserts turn red",
	"DR": "red again without the patch",
	"DS": "the other checks are no worse",
}

var statusWords = map[string]string{"held": "held", "failed": "FAILED", "not_evaluated": "not evaluated"}

func statusWord(s string) string {
	if w, ok := statusWords[s]; ok {
		return w
	}
	return word(s)
}

// ProofTable is the proof as a plain-text table, one line a rung, safe for a terminal; empty when there is no rung.
func ProofTable(rungs []RungData) string {
	if len(rungs) == 0 {
		return ""
	}
	rows := [][]string{{"rung", "shows", "status", "seen"}}
	for _, r := range rungs {
		rows = append(rows, []string{oneLine(r.ID, 12), rungTitles[r.ID], statusWord(r.Status), oneLine(r.Text, 200)})
	}
	return columns(rows)
}

// columns lines up all columns but the last.
func columns(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// ProofMarkdown is the same table in Markdown; nothing in it is markup of anyone else's.
func ProofMarkdown(rungs []RungData) string {
	if len(rungs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| rung | shows | status | seen |\n|---|---|---|---|\n")
	for _, r := range rungs {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", prose(r.ID), rungTitles[r.ID], prose(statusWord(r.Status)), prose(r.Text))
	}
	return b.String()
}

// FindingText is one finding as a person wants it: what failed, where, got and want; safe for a terminal. It ends in a
// newline.
func FindingText(f Finding) string {
	var b strings.Builder
	b.WriteString(findingHead(f) + "\n")
	if f.Got != "" || f.Want != "" {
		b.WriteString(labelled("  got   ", f.Got))
		b.WriteString(labelled("  want  ", f.Want))
	}
	if m := strings.TrimSpace(visible(f.Message)); m != "" {
		b.WriteString(indent("  ", clipLines(m, 12)))
	}
	return b.String()
}

// findingHead is a finding on one line, without its values.
func findingHead(f Finding) string {
	head := word(f.ID)
	if f.Kind != "" && f.Kind != "test" {
		head += " (" + oneLine(f.Kind, 20) + ")"
	}
	if f.Status == "error" {
		head += " could not be run to its end"
	}
	if where := place(f.File, f.Line); where != "" {
		head += "  " + where
	}
	return head
}

func place(file string, line int) string {
	file = oneLine(file, 200)
	if file != "" && line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// labelled puts a label before the first line of a value and its width before the others.
func labelled(label, value string) string {
	value = clipLines(visible(value), 20)
	if value == "" {
		return label + "(empty)\n"
	}
	return label + strings.ReplaceAll(value, "\n", "\n"+strings.Repeat(" ", len(label))) + "\n"
}
