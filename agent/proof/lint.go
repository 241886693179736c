package proof

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
)

// DiffLint is D4: the diff holds nothing that an honest repair hardly ever has. asserted is what Asserted gives.
func DiffLint(root fs.FS, change patch.Change, asserted []string) Rung {
	smells := patch.Lint(root, change, asserted)
	var told []string
	for _, s := range smells {
		where := fmt.Sprintf("%s at %s:%d", s.Rule, s.File, s.Line)
		if s.Fatal {
			return Rung{"D4", Failed, where}
		}
		told = append(told, where)
	}
	unread := patch.Unlinted(change)
	if len(change.Files) > 0 && len(unread) >= len(change.Files) {
		return Rung{"D4", NotEvaluated, "no grammar reads " + strings.Join(first(unread, 3), ", ")}
	}
	text := "nothing to object to in " + count(len(change.Files)-len(unread), "file")
	if len(told) > 0 {
		text = "to be looked at: " + strings.Join(first(told, 5), ", ")
	}
	if len(unread) > 0 {
		text += "; no grammar reads " + strings.Join(first(unread, 3), ", ")
	}
	return Rung{"D4", Held, text}
}

func first(all []string, n int) []string { return all[:min(n, len(all))] }

// Asserted are the values that the failing assertions of the findings compared on the root, as the runner spelled them.
func Asserted(findings []string, runs []Recorded) []string {
	var out []string
	for _, r := range runs {
		if r.Phase != "see" || r.ThrownAway != "" {
			continue
		}
		for _, res := range r.Report.Results {
			if !slices.Contains(findings, res.ID) {
				continue
			}
			for _, v := range []string{res.Got, res.Want} {
				if v != "" && !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
