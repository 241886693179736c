package patch

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// splitLines cuts a text after every newline; the last line may have none. Joined, the lines are the text.
func splitLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	text := string(b)
	lines := make([]string, 0, 1+strings.Count(text, "\n"))
	for len(text) > 0 {
		n := strings.IndexByte(text, '\n') + 1
		if n == 0 {
			n = len(text)
		}
		lines, text = append(lines, text[:n]), text[n:]
	}
	return lines
}

// run is a stretch of old lines, From up to To, that gives way to new lines, NewFrom up to NewTo.
type run struct{ From, To, NewFrom, NewTo int }

// diffLines gives the runs by which two lists of lines differ, in order and apart from each other. What both begin
// and end with is set aside first, since that is most of a file; so are, in a long text, the lines that stand once in
// each: the search between them gives up at a hundred differences, and would then call half the text new.
func diffLines(old, new []string) []run {
	whole := trimmed(old, new, run{0, len(old), 0, len(new)})
	if min(whole.To-whole.From, whole.NewTo-whole.NewFrom) <= 100 {
		return between(nil, old, new, whole)
	}
	var runs []run
	at := whole
	for _, a := range append(anchors(old, new, whole), [2]int{whole.To, whole.NewTo}) {
		at.To, at.NewTo = a[0], a[1]
		runs = between(runs, old, new, trimmed(old, new, at))
		at.From, at.NewFrom = a[0]+1, a[1]+1
	}
	return runs
}

// trimmed is a part of two lists without the lines with which both begin and end there.
func trimmed(old, new []string, r run) run {
	for r.From < r.To && r.NewFrom < r.NewTo && old[r.From] == new[r.NewFrom] {
		r.From, r.NewFrom = r.From+1, r.NewFrom+1
	}
	for r.From < r.To && r.NewFrom < r.NewTo && old[r.To-1] == new[r.NewTo-1] {
		r.To, r.NewTo = r.To-1, r.NewTo-1
	}
	return r
}

// between adds the runs by which one part of two lists differs.
func between(runs []run, old, new []string, r run) []run {
	switch {
	case r.From == r.To && r.NewFrom == r.NewTo:
		return runs
	case r.From == r.To || r.NewFrom == r.NewTo:
		return append(runs, r)
	}
	for _, d := range lcs.DiffLines(old[r.From:r.To], new[r.NewFrom:r.NewTo]) {
		runs = append(runs, run{r.From + d.Start, r.From + d.End, r.NewFrom + d.ReplStart, r.NewFrom + d.ReplEnd})
	}
	return runs
}

// anchors are lines that stand once in each of two lists, within a part of them: as many as keep their order, each by its
// place in both.
func anchors(old, new []string, r run) [][2]int {
	once, there := singles(old, r.From, r.To), singles(new, r.NewFrom, r.NewTo)
	var ends []int // by length, the anchor that ends the chain of that length whose end is first
	var all [][2]int
	var before []int // of each anchor, the one in front of it in its chain
	for i := r.From; i < r.To; i++ {
		j, ok := there[old[i]]
		if !ok || j < 0 || once[old[i]] < 0 {
			continue
		}
		n := sort.Search(len(ends), func(k int) bool { return all[ends[k]][1] >= j })
		all, before = append(all, [2]int{i, j}), append(before, -1)
		if n > 0 {
			before[len(all)-1] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, 0)
		}
		ends[n] = len(all) - 1
	}
	var chain [][2]int
	for k := lastOf(ends); k >= 0; k = before[k] {
		chain = append(chain, all[k])
	}
	slices.Reverse(chain)
	return chain
}

// singles are the places of lines in a part of a list, -1 of those that stand there twice.
func singles(lines []string, from, to int) map[string]int {
	at := make(map[string]int, to-from)
	for i := from; i < to; i++ {
		if _, twice := at[lines[i]]; twice {
			at[lines[i]] = -1
		} else {
			at[lines[i]] = i
		}
	}
	return at
}

func lastOf(ends []int) int {
	if len(ends) == 0 {
		return -1
	}
	return ends[len(ends)-1]
}

// eolOf is the ending that most lines of a text have; "\n" if none has any.
func eolOf(b []byte) string {
	crlf := bytes.Count(b, []byte("\r\n"))
	if crlf > bytes.Count(b, []byte("\n"))-crlf {
		return "\r\n"
	}
	return "\n"
}

// trimEOL is a line without its ending.
func trimEOL(line string) string {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}

// bom is the byte order mark of UTF-8. It belongs to the file, not to its first line.
var bom = []byte("\ufeff")
