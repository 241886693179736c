package bot

import "github.com/redraft-dev/redraft/agent/trace"

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
