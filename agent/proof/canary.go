package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// Canary is what was put into a copy besides the tree, to see whether its runner can still tell right from wrong: tests with
// names that nobody could know before.
type Canary struct {
	Runner string            `json:"runner"`
	Pass   []string          `json:"pass"`  // parts of the ids of tests that pass
	Fail   []string          `json:"fail"`  // of tests that fail
	Files  map[string]string `json:"files"` // path -> whole text, laid over the tree
}

// canaries is D3: with the change, a test of ours that fails was seen failing, one that passes was seen passing, and the
// check was red for no other reason. Where they were not seen, the same was tried on the root: a check that runs no test
// that is added to it there either shows nothing.
func canaries(root Baseline, receipt Receipt, runs []Recorded) Rung {
	var patched, control []Recorded
	for _, r := range runs {
		if r.Tree == receipt.Tree {
			patched = append(patched, r)
		} else {
			control = append(control, r)
		}
	}
	if len(patched) == 0 {
		return Rung{"D3", NotEvaluated, ""}
	}
	for _, r := range patched {
		bad := silent(root, r)
		if bad == "" {
			bad = besides(root, r)
		}
		switch {
		case bad == "":
		case deaf(root, receipt, control):
			return Rung{"D3", NotEvaluated, "the check does not run tests that are added beside the failing one, on the root either"}
		default:
			return Rung{"D3", Failed, bad}
		}
	}
	c := patched[0].Canary
	return Rung{"D3", Held, fmt.Sprintf("%s: %s of ours seen failing, %s seen passing, and nothing else red", c.Runner, count(len(c.Fail), "test"), count(len(c.Pass), "test"))}
}

// silent says which canary was not seen as it had to be, or "".
func silent(root Baseline, r Recorded) string {
	if c := r.Report.Color(); c != report.Red {
		return fmt.Sprintf("with a test of ours that fails the check is %s, exit status %d", c, r.Exit)
	}
	if len(r.Canary.Pass) == 0 || len(r.Canary.Fail) == 0 {
		return "a canary is missing"
	}
	for _, name := range r.Canary.Fail {
		if !saw(r.Report, name, report.Fail, report.Error) {
			return "the test of ours that fails, " + name + ", was not seen failing"
		}
	}
	for _, name := range r.Canary.Pass {
		if !root.unnamed(r.Report) && !saw(r.Report, name, report.Pass) {
			return "the test of ours that passes, " + name + ", was not seen passing"
		}
	}
	return ""
}

func saw(r report.Report, name string, as ...report.Status) bool {
	return name != "" && slices.ContainsFunc(r.Results, func(res report.Result) bool {
		return res.Kind == report.Test && strings.Contains(res.ID, name) && slices.Contains(as, res.Status)
	})
}

// besides is what was red besides the canaries, or "".
func besides(root Baseline, r Recorded) string {
	for _, id := range r.Report.Failed() {
		ours := slices.ContainsFunc(r.Canary.Fail, func(name string) bool { return strings.Contains(id, name) })
		parent := slices.ContainsFunc(r.Report.Failed(), func(other string) bool {
			return strings.HasPrefix(other, id) && slices.ContainsFunc(r.Canary.Fail, func(name string) bool { return strings.Contains(other, name) })
		})
		if !ours && !parent && !slices.Contains(root.Some, id) {
			return id + " is red beside the test of ours that fails"
		}
	}
	return ""
}

// deaf says whether the root's own runner does not show the canaries either, though it did run the claim's tests.
func deaf(root Baseline, receipt Receipt, control []Recorded) bool {
	for _, r := range control {
		if silent(root, r) == "" {
			continue
		}
		got := r.Report.Statuses()
		for _, id := range receipt.Findings {
			if res := root.kinds[id]; res.Kind == report.Test && res.Class != report.Compile && (got[id] == report.Fail || got[id] == report.Error) {
				return true
			}
		}
	}
	return false
}

// CanariesSeen says whether a run over a patched tree shows its canaries as it has to.
func CanariesSeen(root Baseline, r Recorded) bool {
	return r.Canary != nil && silent(root, r) == "" && besides(root, r) == ""
}
