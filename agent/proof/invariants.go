package proof

import (
	"fmt"

	"github.com/redraft-dev/redraft/agent/report"
)

// Bounds of D5's duration band: a run of the patched tree may be this many times shorter or longer than the root's, where
// the root's is long enough, or the longer one is, for that to mean something.
const (
	maxTimes    = 20
	worthTiming = 5.0  // seconds
	maxSlower   = 60.0 // seconds besides
)

// invariants is D5: no fewer tests than on the root, and about as long.
func invariants(base Baseline, receipt Receipt, see, confirm []Recorded) Rung {
	var root, patched []Recorded
	for _, r := range see {
		if (r.Mode == Instrumented) == receipt.Trusted && r.Report.Format != "exit" {
			root = append(root, r)
		}
	}
	for _, r := range confirm {
		if (r.Mode == Instrumented) == receipt.Trusted {
			patched = append(patched, r)
		}
	}
	was, longest, shortest, cut := measure(root)
	if was == 0 || len(patched) == 0 {
		return Rung{"D5", NotEvaluated, "no tests to count"}
	}
	for _, r := range patched {
		if base.unnamed(r.Report) {
			return Rung{"D5", NotEvaluated, "this runner does not name the tests that pass, so that they cannot be counted"}
		}
	}
	now, slowest, fastest, _ := measure(patched)
	switch {
	case now < was:
		return Rung{"D5", Failed, fmt.Sprintf("%s seen, %d on the root", count(now, "test"), was)}
	case slowest > longest*maxTimes+maxSlower:
		return Rung{"D5", Failed, fmt.Sprintf("a run took %.0f s, %.0f s on the root", slowest, longest)}
	case !cut && shortest >= worthTiming && fastest < shortest/maxTimes:
		return Rung{"D5", Failed, fmt.Sprintf("a run took %.1f s, %.0f s on the root", fastest, shortest)}
	}
	return Rung{"D5", Held, fmt.Sprintf("%s seen, %d on the root; no run far longer or shorter than there", count(now, "test"), was)}
}

// measure is the fewest tests seen in one of the runs, the longest and the shortest time, that of failing tests left out of
// the shortest, and whether a run was cut short.
func measure(runs []Recorded) (tests int, longest, shortest float64, cut bool) {
	for i, r := range runs {
		n, failing := 0, 0.0
		for _, res := range r.Report.Results {
			if res.Kind != report.Test {
				continue
			}
			n++
			if res.Status == report.Fail || res.Status == report.Error {
				failing = max(failing, res.Seconds)
			}
		}
		cut = cut || r.Report.Class == report.Timeout || r.Report.Class == report.Panic
		longest = max(longest, r.Seconds)
		if own := max(r.Seconds-failing, 0); i == 0 || own < shortest {
			shortest = own
		}
		if i == 0 || n < tests {
			tests = n
		}
	}
	return tests, longest, shortest, cut
}
