package bot

import (
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// unprovedStory is a job on a pull request whose tries came to nothing; its stop is the caller's.
func unprovedStory(stop trace.Stop) Story {
	s := &script{}
	s.begin("pytest -q", "services/api")
	s.runs("see", 4)
	if stop.Reason == trace.Exhausted || stop.Reason == trace.NotProven {
		s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "red", Class: "assertion", Passed: 8, Command: "pytest -q tests/test_cart.py::test_total",
			Findings: []trace.Finding{{ID: "tests/test_cart.py::test_total", Kind: "test", Status: "fail", File: "services/api/tests/test_cart.py", Line: 12, Got: "90", Want: "100"}}})
		s.ask(1, "small", "qwen2.5-coder-7b-instruct-q4_k_m", "http://127.0.0.1:8080/v1", "x")
		s.add(1, trace.TypeSlip, trace.SlipData{Code: "protected", File: "tests/test_cart.py", Text: "It is a test."})
		for turn := 2; turn < 10; turn++ {
			s.ask(turn, "small", "qwen2.5-coder-7b-instruct-q4_k_m", "http://127.0.0.1:8080/v1", "x")
			s.add(turn, trace.TypePatch, trace.PatchData{By: "small", Tree: "7", Landings: []string{"cart.py Cart.total L4-L13 [1 of 10 lines rewritten]"}})
			s.add(turn, trace.TypeVerdict, trace.VerdictData{Phase: "judge", Color: "red", Findings: []trace.Finding{{ID: "tests/test_cart.py::test_total", Got: "95"}}})
		}
		s.add(10, trace.TypePatch, trace.PatchData{By: "small", Tree: "8", Why: "cart.py L4"})
	}
	if stop.Reason == trace.Flaky {
		s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "unknown", Class: "flaky", Unstable: []string{"tests/test_clock.py::test_now"}, Command: "pytest -q"})
	}
	if stop.Reason == trace.Flaky {
		s.add(0, trace.TypeFlake, flakeStory())
	}
	if stop.Reason == trace.NotReproduced {
		s.add(0, trace.TypeVerdict, trace.VerdictData{Phase: "see", Color: "green", Passed: 9, Command: "pytest -q"})
	}
	s.add(0, trace.TypeStop, stop)
	return s.tell(Story{Evidence: "20261129-090000-cafe", Job: Job{
		Key: "4242/pull/7/.github/workflows/ci.yml", Repo: Repo{ID: 4242, Owner: "acme", Name: "shop"}, Target: Target{Kind: ForPull, Number: 7, Branch: "quotes"},
		Root: rootSHA, Base: baseSHA, Workflow: ".github/workflows/ci.yml", Checks: []string{"unit"}, URL: redRun, Trigger: "issue_comment", Asked: true,
	}})
}

// stops are one of each reason, with the words that the repair process has for them.
var stops = []trace.Stop{
	{Reason: trace.Fixed},
	{Reason: trace.NotReproduced, Text: "The check is green here, in all 4 runs of the untouched root."},
	{Reason: trace.Flaky, Text: "1 test was red in 2 of 4 runs of the same files.", Next: "Repair the test or its isolation; it reads the clock."},
	{Reason: trace.BaseDrift, Text: "The head is green, its merge with the base is red."},
	{Reason: trace.BaseRed},
	{Reason: trace.PlanChanged},
	{Reason: trace.NeedsConfiguration, Text: "There is no go.mod, package.json or Makefile."},
	{Reason: trace.NeedsTier, Class: "needs_tier", Text: "The check opens sockets, which this machine's sandbox tier refuses."},
	{Reason: trace.Infra, Class: "out_of_memory", Text: "The check could not be judged (out_of_memory): it was ended by the memory limit.", Next: "Free memory or raise the run's memory ceiling, then run again."},
	{Reason: trace.Exhausted, Text: "No change turned the check green (6 turns are spent; 6 turns, 810 tokens)."},
	{Reason: trace.NotProven, Text: "A change made the check green, but the proof did not hold: D1: run 2: example.com/a.TestG passed on the root and is missing now"},
	{Reason: trace.Superseded},
	{Reason: trace.Cancelled, Text: "A person said /redraft stop."},
}

func TestAnswer(t *testing.T) {
	for _, stop := range stops {
		t.Run(string(stop.Reason), func(t *testing.T) {
			got := Answer(unprovedStory(stop), redact.New())
			if !strings.HasPrefix(got, AnswerMarker(Target{Kind: ForPull, Number: 7})+"\n") || len(got) > 6000 {
				t.Errorf("%d bytes that begin with %.60q", len(got), got)
			}
			golden(t, "answer-"+string(stop.Reason), got)
		})
	}
	if len(stops) != len(meanings) {
		t.Errorf("%d stops are told of, there are %d", len(stops), len(meanings))
	}
}

func TestAnswerElse(t *testing.T) {
	hostile := hostileStory(t)
	hostile.Proof, hostile.Status.Stop.Reason = nil, trace.Exhausted
	golden(t, "answer-hostile", Answer(hostile, redact.New()))

	drafted := mechanicStory(t)
	drafted.Draft = &Draft{Number: 31, URL: "https://github.com/acme/shop/pull/31"}
	golden(t, "answer-draft", Answer(drafted, redact.New()))

	died := unprovedStory(trace.Stop{Reason: "no reason at all"})
	if got := Answer(died, redact.New()); !strings.Contains(got, "ended without a word") {
		t.Errorf("a stop that is none is told as %q", got)
	}
}

// TestAnswerIsShort: whatever the texts, a comment stays one that a person reads.
func TestAnswerIsShort(t *testing.T) {
	s := unprovedStory(stops[9])
	long := strings.Repeat("word `x` @octocat <b> ", 10000)
	v := &s.Status.Verdicts[0].VerdictData
	v.Command, v.Findings[0].Got, v.Findings[0].Message, s.Status.Stop.Text, s.Status.Stop.Next = long, long, long, long, long
	got := Answer(s, redact.New())
	if len(got) > limit {
		t.Errorf("got %d bytes", len(got))
	}
	for _, what := range append(alive(t, got), unclean(got)...) {
		t.Error(what)
	}
}
