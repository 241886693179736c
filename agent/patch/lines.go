package patch

import (
	"bytes"

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
// and end with is set aside first, since that is most of a file.
func diffLines(old, new []string) []run {
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	var runs []run
	for _, d := range lcs.DiffLines(old[head:len(old)-tail], new[head:len(new)-tail]) {
		runs = append(runs, run{head + d.Start, head + d.End, head + d.ReplStart, head + d.ReplEnd})
	}
	return runs
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
