package proof

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// resultsHeld is D1: the claim's findings gone, their tests seen passing, nothing that passed now fails or is
// skipped, skips not higher, at least one test ran. It reads the instrumented runs where those are trusted, else the plain ones.
func resultsHeld(root Baseline, receipt Receipt, runs []Recorded) Rung {
	if !root.Read {
		return Rung{"D1", NotEvaluated, "exit status only: no reader for this runner's results"}
	}
	counted := 0
	for _, r := range runs {
		if (r.Mode == Instrumented) != receipt.Trusted {
			continue
		}
		counted++
		switch err := compare(root, receipt.Findings, r.Report); {
		case errors.Is(err, errUnnamed):
			return Rung{"D1", NotEvaluated, err.Error()}
		case err != nil:
			return Rung{"D1", Failed, fmt.Sprintf("run %d: %v", r.N, err)}
		}
	}
	if counted == 0 {
		return Rung{"D1", Failed, "no run whose results count is recorded"}
	}
	if !root.tests {
		return Rung{"D1", Held, fmt.Sprintf("%s gone and no other there, in %d runs", count(len(receipt.Findings), "finding"), counted)}
	}
	return Rung{"D1", Held, fmt.Sprintf("%d findings gone and seen passing, %d tests that passed still pass, in %d runs", len(receipt.Findings), len(root.Pass), counted)}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// errUnnamed: nothing can be said of single tests.
var errUnnamed = errors.New("exit status and names of failing tests only: this runner does not name the tests that pass")

// unnaming are the formats of runners whose text does not name the tests that pass unless they are told to, or are told not
// to: cargo test -q and the dots of mocha and node print a mark for each. That some ran is asked elsewhere: without one, no run is green.
var unnaming = []string{
	"pytest", "unittest", "jest", "vitest", "go-test", "rspec", "minitest", "phpunit", "surefire", "gradle",
	"ant-junit", "cargo-test", "nextest", "catch2", "dotnet-test", "gtest", "mocha", "node-test",
}

// compare says what one run of the patched tree lacks, or nil.
func compare(root Baseline, claim []string, r report.Report) error {
	got := r.Statuses()
	passed, skipped := 0, 0
	for id, s := range got {
		switch s {
		case report.Pass:
			passed++
		case report.Skip:
			if !root.Cut || root.Seen[id] { // what a panic hid on the root may be a skip of old
				skipped++
			}
		default:
			if !slices.Contains(root.Some, id) {
				return fmt.Errorf("%s is %s", id, s)
			}
		}
	}
	if passed == 0 && root.tests {
		if root.unnamed(r) {
			return errUnnamed
		}
		return errors.New("no test ran")
	}
	for _, id := range claim {
		if !root.mended(got, id) {
			return errors.New(id + " was not seen passing")
		}
	}
	for _, id := range root.Pass {
		if got[id] != report.Pass {
			return fmt.Errorf("%s passed on the root and is %s now", id, word(got[id]))
		}
	}
	if skipped > root.Skipped {
		return fmt.Errorf("%d tests are skipped, %d were on the root", skipped, root.Skipped)
	}
	return nil
}

// unnamed says whether neither the root's runs nor this one name any test that passes because the runner does not: it was
// never seen to hear that it should, which it shows by leaving a report.
func (b Baseline) unnamed(r report.Report) bool {
	named := slices.ContainsFunc(r.Results, func(res report.Result) bool { return res.Kind == report.Test && res.Status == report.Pass })
	if named || b.left || len(b.Pass) > 0 {
		return b.tox && r.Format == "tox-quiet"
	}
	return b.dots && r.Format == "exit" || b.tox && r.Format == "tox-quiet" || slices.ContainsFunc(strings.Split(r.Format, "+"), func(f string) bool { return slices.Contains(unnaming, f) })
}

func word(s report.Status) string {
	if s == "" {
		return "missing"
	}
	return string(s)
}

// mended asks for a test by its own id; for a package, file or module that did not build, or died outside its tests, for one
// of its tests; and of a diagnostic that it is gone.
func (b Baseline) mended(got map[string]report.Status, id string) bool {
	if got[id] == report.Pass {
		return true
	}
	res, known := b.kinds[id]
	if pkg, bracket, ok := strings.Cut(id, ".["); ok && strings.HasSuffix(bracket, "]") {
		return passing(got, func(rest string) bool { return rest[0] == '.' && !strings.Contains(rest, "/") }, pkg)
	}
	if known && (res.Kind == report.Build && res.Class == report.Compile) && id == b.whole(res) {
		return passing(got, func(rest string) bool {
			return rest[0] == '.' || strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, " > ")
		}, id)
	}
	return known && res.Kind != report.Test && got[id] == ""
}

// whole is the id of a result that stands for a whole test file or module, as it could not be collected; "" for a compiler's
// diagnostic, whose id names tool and rule.
func (b Baseline) whole(r report.Result) string {
	if strings.Count(r.ID, ":") >= 2 && !strings.Contains(r.ID, "::") {
		return ""
	}
	return r.ID
}

// passing says whether a test that lies below a name passed.
func passing(got map[string]report.Status, below func(rest string) bool, name string) bool {
	for other, s := range got {
		if rest, ok := strings.CutPrefix(other, name); ok && s == report.Pass && rest != "" && below(rest) {
			return true
		}
	}
	return false
}
