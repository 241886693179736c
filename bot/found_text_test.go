package bot

import (
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// TestDiagnosed: a job that was not to repair says what is red, what shows it and which commit is suspected, and offers a repair.
func TestDiagnosed(t *testing.T) {
	s := unprovedStory(trace.Stop{Reason: trace.Exhausted, Class: "assertion", Text: "The check is red (assertion). It was to be diagnosed alone: nothing was changed.", Next: "Read got and want of the first finding; the code under test or the test is wrong, and a person decides which."})
	s.Job.Diagnose = true
	when := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	s.Status.Models, s.Status.Usage = nil, trace.StatusUsage{}
	s.Status.Reduced = &trace.ReducedData{Finding: "tests/test_cart.py::test_total", Command: "pytest -q tests/test_cart.py::test_total", Tests: 1, Of: 9, Runs: 1,
		Excerpt: []string{"FAILED tests/test_cart.py::test_total - assert 90 == 100"}, Lines: 41}
	s.Status.Bisect = &trace.BisectData{Finding: "tests/test_cart.py::test_total", Commit: baseSHA, Subject: "Round totals, closes #3 @octocat", When: &when, Left: 1,
		Steps: []trace.BisectStep{{Commit: baseSHA, Color: "red"}, {Commit: rootSHA, Color: "green"}}}
	c := CheckText(s, redact.New())
	if c.Conclusion != "neutral" || c.Title != "diagnosed (assertion): no draft" {
		t.Errorf("got %q, %q", c.Conclusion, c.Title)
	}
	golden(t, "check-diagnosed", shown(c))
	golden(t, "answer-diagnosed", Answer(s, redact.New()))
	s.Status.Bisect = &trace.BisectData{Left: 4, Why: "the commits between could not be judged"}
	golden(t, "answer-diagnosed-between", Answer(s, redact.New()))
}

// flakeStory is the certificate of a test that reads the clock.
func flakeStory() trace.FlakeData {
	return trace.FlakeData{Version: 1, Tree: "7", Command: "pytest -q", Prior: "Beta(1, 1)",
		Runs: []trace.FlakeRun{
			{N: 1, Mode: "plain", Color: "green", Seconds: 1.2}, {N: 2, Mode: "instrumented", Color: "green", Seconds: 1.25},
			{N: 3, Mode: "instrumented", Color: "red", Seed: 7920, TZ: "Asia/Tokyo", Seconds: 1.31, Red: []string{"tests/test_clock.py::test_now"}},
			{N: 4, Mode: "instrumented", Color: "red", Seed: 15839, TZ: "America/Los_Angeles", Seconds: 1.28, Red: []string{"tests/test_clock.py::test_now"}}},
		Tests: []trace.FlakeTest{
			{ID: "[check] unit", Red: []int{3, 4}, Green: []int{1, 2}, With: "another order or time zone", Here: trace.FlakeRate{Runs: 12, Fails: 5, Mean: .4286, Low: .2240, High: .6450}},
			{ID: "tests/test_clock.py::test_now", Red: []int{3, 4}, Green: []int{2}, Here: trace.FlakeRate{Runs: 9, Fails: 5, Mean: .5455, Low: .3035, High: .7776}, Trees: 3, Mixed: 1}}}
}
