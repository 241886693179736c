package patch

import (
	"bytes"
	"fmt"
	"strings"
)

// context is how many lines a hunk shows around what changes.
const context = 3

// Diff is the change as git would write it, with a/ and b/ prefixes, applicable by Gate and by git apply.
func (c Change) Diff() []byte {
	var out bytes.Buffer
	for _, f := range c.Files {
		f.diff(&out)
	}
	return out.Bytes()
}

func (f FileChange) diff(out *bytes.Buffer) {
	oldName, newName := quoteName("a/"+f.Path), quoteName("b/"+f.Path)
	fmt.Fprintf(out, "diff --git %s %s\n", oldName, newName)
	switch {
	case f.Created:
		fmt.Fprintf(out, "new file mode %s\n", gitMode(f))
		oldName = devNull
	case f.Deleted:
		fmt.Fprintf(out, "deleted file mode %s\n", gitMode(f))
		newName = devNull
	}
	if bytes.Equal(f.Old, f.New) {
		return
	}
	fmt.Fprintf(out, "--- %s\n+++ %s\n", spaced(oldName), spaced(newName))
	old, fresh := splitLines(f.Old), splitLines(f.New)
	for _, group := range hunks(diffLines(old, fresh)) {
		writeHunk(out, old, fresh, group)
	}
}

const devNull = "/dev/null"

func gitMode(f FileChange) string {
	if f.Mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// spaced ends a name that has a space in it with a tab, as git does, so that it can be told from a time stamp.
func spaced(name string) string {
	if strings.Contains(name, " ") {
		return name + "\t"
	}
	return name
}

// quoteName is a path as git shows it: in C's quotes when there is anything in it but printable ASCII.
func quoteName(name string) string {
	plain := true
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			plain = false
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			plain = false
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	if plain {
		return name
	}
	return `"` + b.String() + `"`
}

// hunks puts runs together whose context would touch.
func hunks(runs []run) [][]run {
	var out [][]run
	for _, r := range runs {
		if n := len(out); n > 0 {
			if last := out[n-1]; r.From-last[len(last)-1].To <= 2*context {
				out[n-1] = append(last, r)
				continue
			}
		}
		out = append(out, []run{r})
	}
	return out
}

func writeHunk(out *bytes.Buffer, old, fresh []string, runs []run) {
	first, last := runs[0], runs[len(runs)-1]
	lead := min(context, first.From)
	tail := min(context, len(old)-last.To)
	from, newFrom := first.From-lead, first.NewFrom-lead
	to, newTo := last.To+tail, last.NewTo+tail
	fmt.Fprintf(out, "@@ -%s +%s @@\n", hunkRange(from, to), hunkRange(newFrom, newTo))
	at := from
	for _, r := range runs {
		writeLines(out, ' ', old[at:r.From])
		writeLines(out, '-', old[r.From:r.To])
		writeLines(out, '+', fresh[r.NewFrom:r.NewTo])
		at = r.To
	}
	writeLines(out, ' ', old[at:to])
}

// hunkRange is lines from up to to, counted from 0, as a hunk's header counts them: from 1, the number left out
// when it is 1, and nothing at all standing after the line in front of it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(out *bytes.Buffer, op byte, lines []string) {
	for _, l := range lines {
		out.WriteByte(op)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
