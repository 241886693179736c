package patch

import (
	"bytes"
	"slices"
	"sort"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// splitLines cuts a text after every newline; the last line may have none. Joined, the lines are the text.
func splitLines(b []byte) []string {
	var lines []string
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		lines = append(lines, string(b[:n]))
		b = b[n:]
	}
	return lines
}

// run is a stretch of old lines, From up to To, that gives way to new lines, NewFrom up to NewTo.
type run struct{ From, To, NewFrom, NewTo int }

// diffLines gives the runs by which two lists of lines differ, in order and apart from each other. What both begin
// and end with is set aside first, since that is most of a file; so are, in a long text, the lines that stand once in
// each: the search between them gives up at a hundred differences, and would then call half the text new.
func diffLines(old, new []string) []run {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	old, new = old[:len(old)-tail], new[:len(new)-tail]
	if min(len(old), len(new))-head <= 100 {
		return between(nil, old, new, run{head, len(old), head, len(new)})
	}
	var runs []run
	at := run{From: head, NewFrom: head}
	for _, a := range append(anchors(old, new, head), [2]int{len(old), len(new)}) {
		at.To, at.NewTo = a[0], a[1]
		runs = between(runs, old, new, at)
		at.From, at.NewFrom = a[0]+1, a[1]+1
	}
	return runs
}

// between adds the runs by which one part of two lists differs.
func between(runs []run, old, new []string, at run) []run {
	for _, d := range lcs.DiffLines(old[at.From:at.To], new[at.NewFrom:at.NewTo]) {
		runs = append(runs, run{at.From + d.Start, at.From + d.End, at.NewFrom + d.ReplStart, at.NewFrom + d.ReplEnd})
	}
	return runs
}

// anchors are lines that stand once in each of two lists, from a line on: as many of them as keep their order, each by its
// place in both.
func anchors(old, new []string, from int) [][2]int {
	places := func(lines []string) map[string]int {
		at := map[string]int{}
		for i, l := range lines[from:] {
			if _, twice := at[l]; twice {
				at[l] = -1
			} else {
				at[l] = from + i
			}
		}
		return at
	}
	there := places(new)
	once := places(old)
	var ends []int // by length, the anchor that ends the chain of that length whose end is first
	var all [][2]int
	var before []int // of each anchor, the one in front of it in its chain
	for i, l := range old[from:] {
		j, ok := there[l]
		if !ok || j < 0 || once[l] < 0 {
			continue
		}
		n := sort.Search(len(ends), func(k int) bool { return all[ends[k]][1] >= j })
		all, before = append(all, [2]int{from + i, j}), append(before, -1)
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
