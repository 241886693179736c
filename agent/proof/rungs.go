package proof

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/redraft-dev/redraft/agent/report"
)

// Baseline is what the untouched root's runs showed, the ground of every comparison.
type Baseline struct {
	Red     []string        // ids failing in every run that counts
	Some    []string        // ids failing in some of them only
	Pass    []string        // ids of tests passing in every one
	Skipped int             // the most ids skipped in one run
	Seen    map[string]bool // every id of any run
	Cut     bool            // a panic or a time-out ended a run early, so that some ids were never seen
	Read    bool            // a reader understood the runs: ids mean something

	kinds map[string]report.Result // the worst result of each failing id
	tests bool                     // a test was seen, whatever became of it
	left  bool                     // a run left a report, so the runner hears what it is asked for
	tox   bool                     // every run was told by tox, which may hide what is well
	dots  bool                     // every run was told in dots that no reader knows when all is well
}

// Base adds up the reports of the root's runs that count. Findings compare by id, never by message: addresses,
// times and temporary paths differ honestly.
func Base(runs []report.Report) Baseline {
	fails, passes := map[string]int{}, map[string]int{}
	b := Baseline{Read: len(runs) > 0, dots: len(runs) > 0, tox: len(runs) > 0, Seen: map[string]bool{}, kinds: map[string]report.Result{}}
	for _, r := range runs {
		b.Read = b.Read && r.Format != "exit"
		formats := strings.Split(r.Format, "+")
		b.dots = b.dots && slices.Contains(formats, "node-test-dots")
		b.tox = b.tox && slices.Contains(formats, "tox")
		b.Cut = b.Cut || r.Class == report.Panic || r.Class == report.Timeout
		skipped := 0
		for _, res := range r.Results {
			b.tests = b.tests || res.Kind == report.Test
			if res.Status == report.Fail || res.Status == report.Error {
				b.kinds[res.ID] = res
			}
			if res.Status == report.Pass && res.Kind == report.Test { // a warning that is gone is no loss
				passes[res.ID]++
			}
		}
		for id, s := range r.Statuses() {
			b.Seen[id] = true
			switch s {
			case report.Pass:
			case report.Skip:
				skipped++
			default:
				fails[id]++
			}
		}
		b.Skipped = max(b.Skipped, skipped)
	}
	for id, n := range fails {
		if n == len(runs) {
			b.Red = append(b.Red, id)
		} else {
			b.Some = append(b.Some, id)
		}
	}
	for id, n := range passes {
		if n == len(runs) {
			b.Pass = append(b.Pass, id)
		}
	}
	sort.Strings(b.Red)
	sort.Strings(b.Some)
	sort.Strings(b.Pass)
	return b
}

// exitStatus is D0: green as configured in the plain run and in all k.
func exitStatus(runs []Recorded, k int, trusted bool) Rung {
	plain, inst := 0, 0
	for _, r := range runs {
		if c := r.Report.Color(); c != report.Green {
			return Rung{"D0", Failed, fmt.Sprintf("run %d (%s) is %s, exit status %d%s", r.N, r.Mode, c, r.Exit, why(r.Report))}
		}
		if r.Mode == Plain {
			plain++
		} else {
			inst++
		}
	}
	if plain < 1 || plain+inst < 1+k && trusted || !trusted && plain < k {
		return Rung{"D0", Failed, fmt.Sprintf("%d plain and %d instrumented runs are recorded, fewer than k=%d asks for", plain, inst, k)}
	}
	return Rung{"D0", Held, fmt.Sprintf("exit status 0 in %d of %d runs", len(runs), len(runs))}
}

func why(r report.Report) string {
	if r.Class == "" {
		return ""
	}
	return ", " + string(r.Class)
}

// Modes of a run.
const (
	Plain        = "plain"
	Instrumented = "instrumented"
)

// repeats is D6: every run in a copy of its own, one order or more, once from the toolchain base alone.
func repeats(runs []Recorded) Rung {
	places, seeds, base := map[string]bool{}, map[int64]bool{}, false
	for _, r := range runs {
		if places[r.Place] {
			return Rung{"D6", Failed, "two runs share the copy " + r.Place}
		}
		places[r.Place] = true
		seeds[r.Seed] = true
		base = base || r.Cache == "base"
	}
	if !base {
		return Rung{"D6", Failed, "no run started from the toolchain base alone"}
	}
	return Rung{"D6", Held, fmt.Sprintf("%d fresh copies, %d orders, once from the toolchain base alone", len(places), len(seeds))}
}

// redAgain is DR: with only the patch taken away, the claim's findings are back.
func redAgain(rootTree string, claim []string, runs []Recorded, read bool) Rung {
	if len(runs) == 0 {
		return Rung{"DR", Failed, "no run without the patch is recorded"}
	}
	for _, r := range runs {
		if r.Tree != rootTree {
			return Rung{"DR", Failed, "the tree without the patch is not the root's"}
		}
		if c := r.Report.Color(); c != report.Red {
			return Rung{"DR", Failed, fmt.Sprintf("without the patch the check is %s", c)}
		}
		if !read {
			continue
		}
		got := r.Report.Statuses()
		for _, id := range claim {
			if s := got[id]; s != report.Fail && s != report.Error {
				return Rung{"DR", Failed, fmt.Sprintf("without the patch %s is %s", id, word(s))}
			}
		}
	}
	return Rung{"DR", Held, "red again without the patch, with the same findings"}
}

// order is the order in which people read the rungs.
const order = "D0 D1 D2 D3 D4 D5 D6 D7 DR DS"

// SortRungs puts rungs in the order in which people read them.
func SortRungs(rungs []Rung) {
	slices.SortStableFunc(rungs, func(a, b Rung) int { return strings.Index(order, a.ID) - strings.Index(order, b.ID) })
}

// Unbuilt are the rungs before anything was run or looked at for them, so that no reader takes their absence for a pass.
func Unbuilt() []Rung {
	return []Rung{
		{"D3", NotEvaluated, "canary tests: none was run"},
		{"D4", NotEvaluated, "lint of the diff: not looked at"},
		{"D5", NotEvaluated, "test count and duration: not compared"},
		{"D7", NotEvaluated, "mutated literals: not tried"},
		{"DS", NotEvaluated, "other configured checks: not run"},
	}
}
