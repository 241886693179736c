package patch

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// section is one file's part of a diff, of which every line has been accounted for.
type section struct {
	name    string
	created bool
	deleted bool
	mode    string        // of a created or deleted file
	changed int           // lines added and removed
	parsed  *gitdiff.File // nil when there are no hunks
}

// readDiff reads a diff line by line, so that nothing in it is passed over: programs that apply diffs disagree about
// what they skip. Only then does go-gitdiff take each file's part.
func readDiff(diff []byte) ([]section, error) {
	if len(bytes.TrimSpace(diff)) == 0 {
		return nil, slip(NothingChanged, about(""), "The diff is empty.", "Change the lines that are wrong.")
	}
	d := &diffLexer{lines: splitLines(diff)}
	var sections []section
	for d.at < len(d.lines) {
		start := d.at
		sec, err := d.section()
		if err != nil {
			return nil, err
		}
		if err := sec.parse(strings.Join(d.lines[start:d.at], "")); err != nil {
			return nil, err
		}
		sections = append(sections, sec)
	}
	return sections, nil
}

// parse has go-gitdiff read a section that the lexer has been through.
func (sec *section) parse(text string) error {
	files, preamble, err := gitdiff.Parse(strings.NewReader(text))
	if err != nil {
		return badDiff(sec.name, "cannot be read: "+err.Error())
	}
	if len(files) != 1 || preamble != "" || files[0].IsBinary || files[0].IsRename || files[0].IsCopy {
		return badDiff(sec.name, "says more than one thing")
	}
	if len(files[0].TextFragments) > 0 {
		sec.parsed = files[0]
	}
	return nil
}

func badDiff(name, what string) *Slip {
	return slip(BadDiff, about(name), "The diff "+quote(what)+".", "Write a plain diff of text files, as `git diff` makes it.")
}

// diffLexer walks over the lines of a diff.
type diffLexer struct {
	lines []string
	at    int
}

// line is the line the lexer stands on, without its newline; ok is false at the end.
func (d *diffLexer) line() (line string, ok bool) {
	if d.at >= len(d.lines) {
		return "", false
	}
	return strings.TrimSuffix(d.lines[d.at], "\n"), true
}

func (d *diffLexer) section() (section, error) {
	head, _ := d.line()
	name, ok := headName(head)
	if !ok {
		return section{}, badDiff("", fmt.Sprintf("has a line that belongs to no file, or a name that cannot be read: %q", head))
	}
	sec := section{name: name}
	d.at++
	named, err := d.header(&sec)
	if err != nil {
		return sec, err
	}
	for {
		line, ok := d.line()
		if !ok || !strings.HasPrefix(line, "@@ ") {
			break
		}
		if !named {
			return sec, badDiff(name, "has a hunk before it names the two sides of "+name)
		}
		if err := d.hunk(&sec); err != nil {
			return sec, err
		}
	}
	if !sec.created && !sec.deleted && sec.changed == 0 {
		return sec, badDiff(name, "says nothing about "+name)
	}
	return sec, nil
}

// headName takes the one name out of `diff --git a/NAME b/NAME`, where both have to be the same.
func headName(head string) (name string, ok bool) {
	both, ok := strings.CutPrefix(head, "diff --git ")
	if !ok || !utf8.ValidString(both) {
		return "", false
	}
	if strings.HasPrefix(both, `"`) {
		first, second, ok := strings.Cut(both, `" "`)
		if !ok {
			return "", false
		}
		a, errA := strconv.Unquote(first + `"`)
		b, errB := strconv.Unquote(`"` + second)
		name, ok = strings.CutPrefix(a, "a/")
		return name, ok && errA == nil && errB == nil && b == "b/"+name
	}
	half := (len(both) - 1) / 2
	if len(both) < 5 || len(both)%2 == 0 || both[half] != ' ' {
		return "", false
	}
	name, ok = strings.CutPrefix(both[:half], "a/")
	return name, ok && both[half+1:] == "b/"+name
}

// header reads what stands between the first line of a section and its hunks; named says that both sides' names did.
func (d *diffLexer) header(sec *section) (named bool, err error) {
	for {
		line, ok := d.line()
		if !ok || strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "diff --git ") {
			return false, nil
		}
		if strings.HasPrefix(line, "--- ") {
			return true, d.names(sec)
		}
		if err := headerLine(sec, line); err != nil {
			return false, err
		}
		d.at++
	}
}

var indexLine = regexp.MustCompile(`^index [0-9a-f]{4,64}\.\.[0-9a-f]{4,64}(?: (\d{6}))?$`)

func headerLine(sec *section, line string) error {
	key, mode := line, ""
	if i := strings.LastIndexByte(line, ' '); i >= 0 {
		key, mode = line[:i], line[i+1:]
	}
	switch key {
	case "new file mode":
		sec.created, sec.mode = true, mode
		return checkMode(sec.name, mode, false)
	case "deleted file mode":
		sec.deleted, sec.mode = true, mode
		return checkMode(sec.name, mode, true)
	case "old mode", "new mode":
		if err := checkMode(sec.name, mode, true); err != nil {
			return err
		}
		return slip(Mode, about(sec.name), "The diff changes the mode of "+quote(sec.name)+".", "Leave modes as they are.")
	}
	if m := indexLine.FindStringSubmatch(line); m != nil {
		if m[1] == "" {
			return nil
		}
		return checkMode(sec.name, m[1], true)
	}
	if line == "GIT binary patch" || strings.HasPrefix(line, "Binary files ") {
		return slip(NotText, about(sec.name), "The diff changes the binary file "+quote(sec.name)+".", "Change text files only.")
	}
	return badDiff(sec.name, fmt.Sprintf("has a line that is none of a text file's change: %q", line))
}

// checkMode lets regular files through; an executable one only if it is there already.
func checkMode(name, mode string, exists bool) error {
	switch mode {
	case "100644":
		return nil
	case "100755":
		if exists {
			return nil
		}
		return slip(Mode, about(name), "The diff makes the new file "+quote(name)+" executable.", "Create it with mode 100644.")
	case "120000":
		return slip(Symlink, about(name), "The diff makes or changes the symbolic link "+quote(name)+".", "Change regular files only.")
	case "160000":
		return slip(Submodule, about(name), "The diff makes or changes the submodule "+quote(name)+".", "Change regular files only.")
	}
	return slip(Mode, about(name), "The diff gives "+quote(name)+" the mode "+quote(mode)+".", "Change regular files only.")
}

// names holds the --- and +++ lines against the name of the section.
func (d *diffLexer) names(sec *section) error {
	oldWant, newWant := "a/"+sec.name, "b/"+sec.name
	if sec.created {
		oldWant = devNull
	}
	if sec.deleted {
		newWant = devNull
	}
	for _, side := range []struct{ mark, want string }{{"--- ", oldWant}, {"+++ ", newWant}} {
		line, _ := d.line()
		rest, ok := strings.CutPrefix(line, side.mark)
		if !ok || sideName(rest) != side.want {
			return badDiff(sec.name, fmt.Sprintf("names two files in one part: %q", line))
		}
		d.at++
	}
	if line, ok := d.line(); !ok || !strings.HasPrefix(line, "@@ ") {
		return badDiff(sec.name, "has no hunk for "+sec.name)
	}
	return nil
}

func sideName(s string) string {
	if name, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) && utf8.ValidString(s) {
		return name
	}
	name, _, _ := strings.Cut(s, "\t")
	return name
}

var hunkLine = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?$`)

// hunk reads one hunk, as many lines as its header says.
func (d *diffLexer) hunk(sec *section) error {
	line, _ := d.line()
	m := hunkLine.FindStringSubmatch(line)
	if m == nil {
		return badDiff(sec.name, fmt.Sprintf("has a hunk header that cannot be read: %q", line))
	}
	old, fresh := hunkCount(m[2]), hunkCount(m[4])
	if old == 0 && m[1] != "0" {
		return badDiff(sec.name, "has a hunk without context")
	}
	d.at++
	last := "" // what may still come after a line without newline: any, "+" or nothing
	for old > 0 || fresh > 0 {
		line, ok := d.line()
		if !ok || line == "" || last == "end" || last == "+" && line[0] != '+' {
			return badDiff(sec.name, "has a hunk with fewer lines than its header says")
		}
		switch line[0] {
		case ' ':
			old, fresh = old-1, fresh-1
		case '-':
			old, sec.changed = old-1, sec.changed+1
		case '+':
			fresh, sec.changed = fresh-1, sec.changed+1
		default:
			return badDiff(sec.name, fmt.Sprintf("has a line in a hunk that says nothing: %q", line))
		}
		d.at++
		last = d.noNewline(line[0], last)
	}
	if old < 0 || fresh < 0 {
		return badDiff(sec.name, "has a hunk with more lines than its header says")
	}
	return nil
}

// noNewline takes the marker that a line is a file's last and has no newline. Only added lines may follow one that
// is removed, and nothing one that stays.
func (d *diffLexer) noNewline(op byte, last string) string {
	if line, ok := d.line(); !ok || line != `\ No newline at end of file` {
		return last
	}
	d.at++
	if op == '-' {
		return "+"
	}
	return "end"
}

func hunkCount(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}
