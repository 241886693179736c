package proof

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/report"
)

// DiffLint is D4: the diff holds nothing that an honest repair hardly ever has. tested is what Asserted gives.
func DiffLint(root fs.FS, change patch.Change, tested patch.Tested) Rung {
	smells := patch.Lint(root, change, tested)
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

// Asserted are the values of the findings' tests: what their failing assertions compared on the root, as the runner
// spelled it, and the literals of the functions in which they failed, as the root has them.
func Asserted(root fs.FS, findings []string, runs []Recorded) patch.Tested {
	var out patch.Tested
	at := map[string][]int{}
	for _, r := range runs {
		if r.Phase != "see" || r.ThrownAway != "" {
			continue
		}
		failed := slices.DeleteFunc(slices.Clone(r.Report.Results), func(res report.Result) bool { return !slices.Contains(findings, res.ID) })
		for _, res := range Placed(root, failed) {
			for _, v := range []string{res.Got, res.Want} {
				if v != "" && !slices.Contains(out.Compared, v) {
					out.Compared = append(out.Compared, v)
				}
			}
			if res.Kind == report.Test && res.File != "" && res.Line > 0 && !slices.Contains(at[res.File], res.Line) {
				at[res.File] = append(at[res.File], res.Line)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		out.Written = append(out.Written, patch.Written(root, name, at[name])...)
	}
	return out
}
