package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	junitlib "github.com/joshdk/go-junit"
)

// Where Read and go-junit part ways on the public reports, each looked at by eye.
var goJUnitDiffers = map[string]string{
	"dorny-test-reporter/external__jest__jest-test-results.xml": "cases without a class are told apart by their suite here",
	"mikepenz-junit/nested__junit.xml":                          "the same",
	"mikepenz-junit/issues__testDisabled.xml":                   "googletest's status=\"notrun\" is a skip here, a pass there",
}

// counted are a report's tests by status, error and fail as one.
func counted(r Report) map[string]int {
	n := map[string]int{}
	for _, res := range r.Results {
		if res.ID != "[exit]" {
			n[strings.Replace(string(res.Status), "error", "fail", 1)]++
		}
	}
	return n
}

// goJUnit is what github.com/joshdk/go-junit makes of a report: the worst of each id, as Read joins them.
func goJUnit(t *testing.T, raw []byte) map[string]int {
	t.Helper()
	suites, err := junitlib.Ingest(raw)
	if err != nil {
		return nil
	}
	worstOf := map[string]Status{}
	var walk func([]junitlib.Suite)
	walk = func(all []junitlib.Suite) {
		for _, s := range all {
			for _, c := range s.Tests {
				st := map[junitlib.Status]Status{junitlib.StatusPassed: Pass, junitlib.StatusSkipped: Skip, junitlib.StatusFailed: Fail, junitlib.StatusError: Fail}[c.Status]
				id := c.Classname + "." + c.Name
				if old, seen := worstOf[id]; seen {
					st = worst(old, st)
				}
				worstOf[id] = st
			}
			walk(s.Suites)
		}
	}
	walk(suites)
	n := map[string]int{}
	for _, st := range worstOf {
		n[string(st)]++
	}
	return n
}

func TestPublicJUnit(t *testing.T) {
	dir := dataDir(t, "reports")
	var files []string
	for _, pattern := range []string{"dorny-test-reporter/*.xml", "mikepenz-junit/*.xml", "test-summary/*.xml"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		files = append(files, names...)
	}
	same, seen := 0, 0
	for _, name := range files {
		raw := read(t, name)
		if root := rootElement(raw); root != "testsuites" && root != "testsuite" {
			continue
		}
		seen++
		rep := Read(Run{Exit: 1, Files: []File{{Name: filepath.Base(name), Data: raw}}})
		checkReport(t, rep)
		want, got := goJUnit(t, raw), counted(rep)
		if want == nil {
			want = map[string]int{}
		}
		base, _ := filepath.Rel(dir, name)
		why, known := goJUnitDiffers[base]
		switch d := cmp.Diff(want, got); {
		case d == "" && known:
			t.Errorf("%s agrees by now: take it off the table (%s)", base, why)
		case d != "" && !known:
			t.Errorf("%s (-go-junit +read): %s\n%v", base, strings.Join(strings.Fields(d), " "), rep.Problems)
		case d == "":
			same++
		}
	}
	t.Logf("%d of %d reports the same, %d looked at by eye", same, seen, seen-same)
	if seen < 60 {
		t.Errorf("%d reports read, want at least 60", seen)
	}
}

// What the public reports in other formats hold, counted by eye and by their own summaries.
var publicCounts = map[string]string{
	"dorny-test-reporter/dotnet-trx.trx":                           "trx fail 5 pass 5 skip 1",
	"dorny-test-reporter/dotnet-xunitv3.trx":                       "trx fail 3 pass 1 skip 0",
	"dorny-test-reporter/external__FluentValidation.Tests.trx":     "trx fail 0 pass 803 skip 1",
	"dorny-test-reporter/external__SilentNotes.trx":                "trx fail 0 pass 67 skip 12",
	"dorny-test-reporter/empty__dotnet-trx.trx":                    "trx fail 0 pass 0 skip 0",
	"dorny-test-reporter/empty__mocha-json.json":                   "mocha-json fail 0 pass 0 skip 0",
	"dorny-test-reporter/external__mocha__mocha-test-results.json": "mocha-json fail 0 pass 831 skip 6",
	"dorny-test-reporter/mocha-json.json":                          "mocha-json fail 4 pass 1 skip 1",
	"dorny-test-reporter/dotnet-nunit.xml":                         "nunit fail 5 pass 3 skip 1",
	"test-summary/tap__01-common.tap":                              "tap fail 0 pass 6 skip 0",
	"test-summary/tap__02-unknown-amount-and-failure.tap":          "tap fail 2 pass 5 skip 0",
	"test-summary/tap__03-bail-out.tap":                            "tap fail 2 pass 0 skip 0",
	"test-summary/tap__04-skipped.tap":                             "tap fail 0 pass 1 skip 4",
	"test-summary/tap__05-skip-everything.tap":                     "tap fail 0 pass 0 skip 0",
	"test-summary/tap__06-todo.tap":                                "tap fail 0 pass 2 skip 2",
	"test-summary/tap__07-creative-liberties.tap":                  "tap fail 0 pass 9 skip 0",
	"test-summary/tap__08-everything.tap":                          "tap fail 6 pass 6 skip 8",
	"test-summary/tap__09-node-tap.tap":                            "tap fail 4 pass 4 skip 2",
	"test-summary/tap__10-results-after-trailer.tap":               "tap fail 4 pass 4 skip 2",
}

func TestPublicOthers(t *testing.T) {
	dir := dataDir(t, "reports")
	for base, want := range publicCounts {
		rep := Read(Run{Exit: 1, Files: []File{{Name: filepath.Base(base), Data: read(t, filepath.Join(dir, base))}}})
		checkReport(t, rep)
		n := counted(rep)
		if got := fmt.Sprintf("%s fail %d pass %d skip %d", rep.Format, n["fail"], n["pass"], n["skip"]); got != want {
			t.Errorf("%s: %s, want %s %v", base, got, want, rep.Problems)
		}
	}
}
