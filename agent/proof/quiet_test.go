package proof

import (
	"errors"
	"slices"
	"testing"

	"github.com/redraft-dev/redraft/agent/report"
)

// quiet are runners in the form in which they name no test that passes, red and green.
var quiet = []struct{ name, command, red, green string }{
	{"cargo test -q", "cargo test -q",
		"\nrunning 3 tests\n.. 2/3\ndoubles --- FAILED\n\nfailures:\n\n---- doubles stdout ----\n\nthread 'doubles' (7191) panicked at src/lib.rs:7:5:\nassertion `left == right` failed\n  left: 3\n right: 4\n\n\nfailures:\n    doubles\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\n",
		"\nrunning 3 tests\n...\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"},
	{"mocha's dots", "npx mocha -R dot",
		"\n\n  .!\n\n  1 passing (4ms)\n  1 failing\n\n  1) cart\n       adds up:\n\n      AssertionError [ERR_ASSERTION]: 1 == 2\n      + expected - actual\n\n      -1\n      +2\n      \n      at Context.<anonymous> (test/a.js:1:100)\n\n\n\n",
		"\n\n  ..\n\n  2 passing (1ms)\n\n"},
	{"unittest", "python3 -m unittest",
		"F.\n======================================================================\nFAIL: test_a (test_a.T.test_a)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/tree/test_a.py\", line 3, in test_a\n    def test_a(self): self.assertEqual(1,2)\n                      ^^^^^^^^^^^^^^^^^^^^^\nAssertionError: 1 != 2\n\n----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
		"----------------------------------------------------------------------\nRan 2 tests in 0.000s\n\nOK\n"},
	{"rspec", "rspec",
		".F\n\nFailures:\n\n  1) a c\n     Failure/Error: it('c') { expect(1).to eq 2 }\n\n       expected: 2\n            got: 1\n\n       (compared using ==)\n     # ./a_spec.rb:3:in `block (2 levels) in <top (required)>'\n\nFinished in 0.02 seconds (files took 0.07 seconds to load)\n2 examples, 1 failure\n\nFailed examples:\n\nrspec ./a_spec.rb:3 # a c\n\n",
		"..\n\nFinished in 0.00337 seconds (files took 0.07386 seconds to load)\n2 examples, 0 failures\n\n"},
	{"phpunit", "phpunit",
		"PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nF                                                                   1 / 1 (100%)\n\nTime: 00:00.003, Memory: 4.00 MB\n\nThere was 1 failure:\n\n1) ATest::testA\nFailed asserting that false is true.\n\n/tree/ATest.php:2\n\nFAILURES!\nTests: 1, Assertions: 1, Failures: 1.\n",
		"PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n.                                                                   1 / 1 (100%)\n\nTime: 00:00.003, Memory: 4.00 MB\n\nOK (1 test, 1 assertion)\n"},
	{"gtest's brief form", "./t --gtest_brief=1",
		"Running main() from ./googletest/src/gtest_main.cc\nt.cc:9: Failure\nExpected equality of these values:\n  total(40, 50)\n    Which is: 90\n  100\n[  FAILED  ] Cart.Equal (0 ms)\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n",
		"Running main() from ./googletest/src/gtest_main.cc\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 2 tests.\n"},
	{"Catch2", "./t",
		"\n~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\nt is a Catch v2.13.10 host application.\nRun with -? for options\n\n-------------------------------------------------------------------------------\nadds up\n-------------------------------------------------------------------------------\nt.cc:4\n...............................................................................\n\nt.cc:5: FAILED:\n  REQUIRE( total(1, 2) == 3 )\nwith expansion:\n  4 == 3\n\n===============================================================================\ntest cases: 2 | 1 passed | 1 failed\nassertions: 2 | 1 passed | 1 failed\n\n",
		"===============================================================================\nAll tests passed (2 assertions in 2 test cases)\n\n"},
	{"nextest below its usual status level", "make test",
		"────────────\n Nextest run ID a with nextest profile: default\n    Starting 2 tests across 1 binary\n        FAIL [   0.030s] (1/2) shop a\n  stderr ───\n\n    thread 'a' (7191) panicked at src/lib.rs:2:14:\n    assertion `left == right` failed\n      left: 3\n     right: 4\n\n────────────\n     Summary [   0.100s] 2 tests run: 1 passed, 1 failed, 0 skipped\n",
		"────────────\n Nextest run ID a with nextest profile: default\n    Starting 2 tests across 1 binary\n────────────\n     Summary [   0.100s] 2 tests run: 2 passed, 0 skipped\n"},
	{"node's dots", "make test",
		"X..\n\nFailed tests:\n\n✖ double (2.847303ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n  \n  3 !== 4\n  \n      at TestContext.<anonymous> (/tree/shop.test.js:4:31)\n",
		"...\n"},
	{"pytest -q -q", "python3 -m pytest -q -q",
		"F.                                                                       [100%]\n=================================== FAILURES ===================================\n___________________________________ test_a ____________________________________\n\n    def test_a():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntest_a.py:2: AssertionError\n=========================== short test summary info ============================\nFAILED test_a.py::test_a - assert 1 == 2\n",
		"..                                                                       [100%]\n"},
}

// TestQuietRunners: an honest repair is not refused because its runner names no test that passes; nothing is said of single tests.
func TestQuietRunners(t *testing.T) {
	for _, row := range quiet {
		t.Run(row.name, func(t *testing.T) {
			root := report.Read(report.Run{Command: row.command, Dir: "/tree", Stdout: []byte(row.red), Exit: 1})
			now := report.Read(report.Run{Command: row.command, Dir: "/tree", Stdout: []byte(row.green)})
			if root.Color() != report.Red || len(root.Failed()) != 1 || now.Color() != report.Green {
				t.Fatalf("the root is %s %v, the repair %s %s by %s", root.Color(), root.Failed(), now.Color(), now.Class, now.Format)
			}
			b := Base([]report.Report{root})
			if err := compare(b, b.Red, now); !errors.Is(err, errUnnamed) {
				t.Errorf("got %v, want %v", err, errUnnamed)
			}
			b.Pass = []string{"named"} // the runner named one on the root: it has to now
			if err := compare(b, b.Red, now); err == nil || errors.Is(err, errUnnamed) {
				t.Errorf("got %v where the root's run named a test", err)
			}
		})
	}
	spec := report.Read(report.Run{Command: "make test", Stdout: []byte("✖ a (2.8ms)\n  Error: bad\n      at f (/tree/a.test.js:4:31)\n\nℹ tests 1\nℹ pass 0\nℹ fail 1\n"), Exit: 1})
	if b := Base([]report.Report{spec}); len(b.Red) != 1 || errors.Is(compare(b, b.Red, report.Read(report.Run{Command: "make test", Stdout: []byte("...\n")})), errUnnamed) {
		t.Errorf("silence is taken for dots where the root's run was no dots: %v", b.Red)
	}
	parallel := []byte("  py: OK (1.53=setup[1.33]+cmd[0.21] seconds)\n  congratulations :) (1.63 seconds)\n")
	for tail, want := range map[string]bool{"  py: FAIL code 1 (0.7 seconds)\n  evaluation failed :( (0.8 seconds)\n": true, "": false} {
		root := report.Read(report.Run{Command: "make test", Dir: "/tree", Stdout: []byte("py: commands[0]> python -m pytest -v\n" + quiet[len(quiet)-1].red + tail), Exit: 1})
		b := Base([]report.Report{root})
		b.Pass = []string{"named"}
		for text, want := range map[string]bool{string(parallel): want, "py: commands[0]> python -m pytest -v\n" + string(parallel): false} {
			if err := compare(b, b.Red, report.Read(report.Run{Command: "make test", Stdout: []byte(text)})); errors.Is(err, errUnnamed) != want {
				t.Errorf("tox after %q, by %s: got %v for %q", tail, root.Format, err, text)
			}
		}
	}
	if slices.Contains(unnaming, "exit") || slices.Contains(unnaming, "tap") {
		t.Error("a form that names every test, or is no runner's, is taken for one that does not")
	}
}
