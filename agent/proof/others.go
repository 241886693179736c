package proof

import (
	"fmt"
	"slices"

	"github.com/redraft-dev/redraft/agent/report"
)

// others is DS: every other configured check is no worse with the change than on the root, each run once on both.
func others(receipt Receipt, runs []Recorded) Rung {
	if len(receipt.Others) == 0 {
		return Rung{"DS", NotEvaluated, "no other check is configured"}
	}
	unjudged := 0
	for _, o := range receipt.Others {
		var root, patched *Recorded
		for i, r := range runs {
			switch {
			case r.Check != o.ID:
			case r.Tree == receipt.Tree:
				patched = &runs[i]
			default:
				root = &runs[i]
			}
		}
		if root == nil || patched == nil {
			return Rung{"DS", Failed, fmt.Sprintf("check %q was not run on both trees", o.ID)}
		}
		if bad := worse(root.Report, patched.Report); bad != "" {
			return Rung{"DS", Failed, fmt.Sprintf("check %q: %s", o.ID, bad)}
		}
		if root.Report.Color() == report.Unknown {
			unjudged++
		}
	}
	text := fmt.Sprintf("%s no worse than on the root", count(len(receipt.Others), "other check"))
	if unjudged > 0 {
		text += fmt.Sprintf(", %d of them could not be judged there", unjudged)
	}
	return Rung{"DS", Held, text}
}

// worse says what is worse with the change, or "".
func worse(root, patched report.Report) string {
	was, now := root.Color(), patched.Color()
	switch {
	case was == report.Unknown || now == report.Green:
		return ""
	case was == report.Green || now == report.Unknown:
		return fmt.Sprintf("%s on the root and %s with the change%s", was, now, why(patched))
	case root.Format == "exit" || patched.Format == "exit":
		return ""
	}
	for _, id := range patched.Failed() {
		if !slices.Contains(root.Failed(), id) {
			return id + " is red, which it is not on the root"
		}
	}
	return ""
}
