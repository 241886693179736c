package patch

import (
	"regexp"
	"strings"
)

// Models were trained on two further spellings of edits: SEARCH/REPLACE blocks and diffs. Both say what the old
// text is instead of where it stands.

var (
	searchMark  = regexp.MustCompile(`^\s*<{5,9} ?(?:SEARCH|ORIGINAL)\s*$`)
	dividerMark = regexp.MustCompile(`^\s*={5,9}\s*$`)
	replaceMark = regexp.MustCompile(`^\s*>{5,9} ?(?:REPLACE|UPDATED)\s*$`)
)

// spelled reads a fence's body in one of the further spellings. It returns false when the body is in neither.
func (p *parser) spelled(h *header, f fence, body []string, line int) bool {
	file := p.above
	if h != nil {
		file = h.file
	}
	for _, l := range body {
		if searchMark.MatchString(l) {
			p.blocks(file, body, line)
			return true
		}
	}
	kind, _, _ := strings.Cut(strings.ToLower(f.info), " ")
	if kind != "diff" && kind != "patch" && kind != "udiff" {
		return false
	}
	if h == nil {
		file = ""
	}
	return p.diff(file, body, line)
}

// bareBlock reads one SEARCH/REPLACE block that stands outside a fence.
func (p *parser) bareBlock() {
	for end := p.at; end < len(p.lines); end++ {
		if replaceMark.MatchString(p.lines[end]) {
			file := p.above
			if p.pending != nil {
				file = p.pending.file
			}
			first := p.at
			p.pending, p.at = nil, end+1
			p.blocks(file, p.lines[first:end+1], first)
			return
		}
	}
	p.slip(slip(Unclosed, about(fileName(p.above)), "A SEARCH block is not closed; the answer seems to be cut off.", "Give the whole block again."))
	p.pending, p.at = nil, len(p.lines)
}

// blocks reads SEARCH/REPLACE blocks; line is the line of the answer above the first of them. A line of the body in
// front of a block may name its file.
func (p *parser) blocks(file string, body []string, line int) {
	file = fileName(file)
	for i := 0; i < len(body); i++ {
		if !searchMark.MatchString(body[i]) {
			if name := fileName(body[i]); name != "" && i+1 < len(body) && searchMark.MatchString(body[i+1]) {
				file = name
			}
			continue
		}
		middle := find(dividerMark, body, i+1)
		end := find(replaceMark, body, middle+1)
		e := Edit{File: file, Addr: Fit, Line: line + 1 + i}
		switch {
		case middle < 0 || end < 0:
			p.slip(slip(Unclosed, e, "A SEARCH block for "+quote(file)+" is not closed.", "Give the whole block again."))
			return
		case file == "":
			p.slip(slip(BadHeader, e, "A SEARCH block names no file.", "Write the file's path on the line above the block."))
		default:
			e.Old, e.Body = join(body[i+1:middle]), join(body[middle+1:end])
			p.add(e.created())
		}
		i = end
	}
}

// created turns an edit of nothing into the whole of a new file.
func (e Edit) created() Edit {
	if len(strings.TrimSpace(string(e.Old))) == 0 {
		e.Addr, e.Old = "*", nil
	}
	return e
}

func find(mark *regexp.Regexp, lines []string, from int) int {
	for i := max(from, 1); i < len(lines); i++ {
		if mark.MatchString(lines[i]) {
			return i
		}
	}
	return -1
}

// fileName takes a path out of a line that is above a block: the whole line but for markup, or the one word in it
// that has a dot in the middle. Empty if there is none.
func fileName(line string) string {
	s := strings.Trim(line, "#*_`:\"'/<>!- \t\r")
	for _, lead := range []string{"File:", "file:", "Filename:", "filename:"} {
		s = strings.Trim(strings.TrimPrefix(s, lead), "*_`:\"' \t")
	}
	if s != "" && len(s) < 1024 && !strings.ContainsAny(s, " \t") && strings.ContainsAny(s, "./") {
		return s
	}
	if words := pathWord.FindAllString(s, 2); len(words) == 1 {
		return words[0]
	}
	return ""
}

var pathWord = regexp.MustCompile(`[\pL\pN_@+./\[\]-]+\.[\pL\pN]+`)

var hunkMark = regexp.MustCompile(`^@@.*@@|^@@\s*$|^@@ \.\.\. @@`)

// diff reads a diff whose line numbers nobody trusts: each hunk becomes an edit that lands where its old lines
// stand. It returns false when nothing in the body is a changed line.
func (p *parser) diff(file string, body []string, line int) bool {
	var hunk []string
	start, fresh, any := 0, false, false
	flush := func() {
		any = p.hunk(file, hunk, line+1+start, fresh) || any
		hunk = nil
	}
	for i := 0; i < len(body); i++ {
		l := body[i]
		switch {
		case strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "index ") && len(hunk) == 0:
			flush()
		case strings.HasPrefix(l, "--- ") && i+1 < len(body) && strings.HasPrefix(body[i+1], "+++ "):
			flush()
			fresh = diffName(l[4:]) == ""
			file = diffName(body[i+1][4:])
			i++
			if file == "" {
				p.slip(slip(BadDiff, about(diffName(l[4:])), "A diff deletes "+quote(diffName(l[4:]))+".", "Files cannot be deleted; change their text."))
				return true
			}
		case hunkMark.MatchString(l):
			flush()
			start = i + 1
		default:
			hunk = append(hunk, l)
		}
	}
	flush()
	return any
}

// diffName is the path of a --- or +++ line, without its prefix and time stamp; empty for /dev/null.
func diffName(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\t")
	if s == devNull {
		return ""
	}
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest
		}
	}
	return s
}

// hunk adds one hunk as an edit. It returns false when there is none in the lines.
func (p *parser) hunk(file string, lines []string, line int, fresh bool) bool {
	var old, now []string
	changed := false
	for _, l := range trimBlank(lines) {
		switch {
		case l == "":
			old, now = append(old, ""), append(now, "")
		case l[0] == '-':
			old, changed = append(old, l[1:]), true
		case l[0] == '+':
			now, changed = append(now, l[1:]), true
		case l[0] == ' ':
			old, now = append(old, l[1:]), append(now, l[1:])
		case l[0] == '\\' || strings.HasPrefix(l, "new file mode ") || strings.HasPrefix(l, "similarity "):
		default:
			old, now = append(old, l), append(now, l)
		}
	}
	if !changed {
		return false
	}
	// Old is never nil: an edit that fits nowhere is still addressed by its old text, and refused for its emptiness.
	e := Edit{File: file, Addr: Fit, Line: line, Old: append([]byte{}, join(old)...), Body: join(now)}
	switch {
	case file == "":
		p.slip(slip(BadHeader, e, "A diff names no file.", "Begin it with the lines `--- a/FILE` and `+++ b/FILE`."))
	case fresh:
		p.add(e.created())
	default:
		p.add(e)
	}
	return true
}
