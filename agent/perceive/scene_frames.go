package perceive

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/redraft-dev/redraft/agent/report"
)

// frame is a place that a trace or a message names.
type frame struct {
	file string
	line int
}

// framePlaces finds file:line and file(line) as most tools write them, and Python's File "x", line 3.
var framePlaces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`File "([^"\n]{1,400})", line (\d{1,7})|([\w./\\@+~-]{1,400}\.[A-Za-z]{1,5})[:(](\d{1,7})`)
})

// maxFrames is how many places of one finding are looked at.
const maxFrames = 40

// frames are the places of a finding that lie in the root, the one that is most to blame first.
func (v *viewer) frames(f report.Result) (out []frame) {
	seen := map[frame]bool{}
	add := func(name string, line int) {
		file, ok := v.place(name)
		if at := (frame{file, line}); ok && line > 0 && !seen[at] {
			seen[at] = true
			out = append(out, at)
		}
	}
	add(f.File, f.Line)
	for _, said := range []string{f.Trace, f.Message} {
		said = said[:min(len(said), fieldCap)]
		all := framePlaces().FindAllStringSubmatch(said, maxFrames)
		if strings.Contains(said, "most recent call last") { // https://docs.python.org/3/library/traceback.html
			for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
				all[i], all[j] = all[j], all[i]
			}
		}
		for _, m := range all {
			line, _ := strconv.Atoi(m[2] + m[4])
			add(m[1]+m[3], line)
		}
	}
	return out
}

// place is the file of the root that a frame names. Java's frames name a file without its folder.
func (v *viewer) place(name string) (string, bool) {
	if name == "" {
		return "", false
	}
	if file, ok := v.resolve(name); ok {
		return file, true
	}
	if !strings.Contains(name, "/") && v.Index != nil {
		if all := v.Index.filesCalled(name); len(all) == 1 {
			return all[0], true
		}
	}
	return "", false
}
