package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Swift and .NET are not on every machine: their readers are held against text of the shape that their sources print.
func TestDocumentedShapes(t *testing.T) {
	for name, tc := range map[string]struct {
		exit int
		out  string
		want []string
	}{
		"xctest on macOS": {1, `Test Suite 'All tests' started at 2026-01-01 10:00:00.000
Test Suite 'CartTests' started at 2026-01-01 10:00:00.000
Test Case '-[ShopTests.CartTests testAdds]' started.
/tree/Tests/CartTests.swift:12: error: -[ShopTests.CartTests testAdds] : XCTAssertEqual failed: ("90") is not equal to ("100") - of two prices
Test Case '-[ShopTests.CartTests testAdds]' failed (0.002 seconds).
Test Case '-[ShopTests.CartTests testPasses]' started.
Test Case '-[ShopTests.CartTests testPasses]' passed (0.001 seconds).
Test Suite 'All tests' failed at 2026-01-01 10:00:00.010.
`, []string{
			"red xctest assertion",
			`fail test ShopTests.CartTests.testAdds assertion Tests/CartTests.swift:12 got "90" want "100" says "XCTAssertEqual failed: (\"90\") is not equal to (\"100\") - of two prices"`,
			"failed 1 passed 1",
		}},
		"xctest on Linux, that dies": {132, `Test Suite 'CartTests' started at 2026-01-01 10:00:00.000
Test Case 'CartTests.testDies' started at 2026-01-01 10:00:00.000
Fatal error: Index out of range
`, []string{
			"red xctest panic",
			`error test CartTests.testDies panic :0 says "the process ended while this test ran"`,
			"failed 1 passed 0",
			"problem XCTest's summary is missing",
		}},
		"swift testing": {1, `◇ Test run started.
◇ Suite CartTests started.
◇ Test adds() started.
✘ Test adds() recorded an issue at CartTests.swift:9:5: Expectation failed: (total(40, 50) → 90) == 100
✘ Test adds() failed after 0.001 seconds with 1 issue.
✔ Test passes() passed after 0.001 seconds.
✘ Test run with 2 tests failed after 0.002 seconds with 1 issue.
`, []string{
			"red swift-testing assertion",
			`fail test adds() assertion CartTests.swift:9 got "90" want "100" says "Expectation failed: (total(40, 50) → 90) == 100"`,
			"failed 1 passed 1",
		}},
		"dotnet test": {1, `Starting test execution, please wait...
  Failed Shop.CartTests.Adds [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 100
Actual:   90
  Stack Trace:
     at Shop.CartTests.Adds() in /tree/CartTests.cs:line 12
  Passed Shop.CartTests.Passes [< 1 ms]

Failed!  - Failed:     1, Passed:     1, Skipped:     0, Total:     2, Duration: 15 ms - Shop.dll (net8.0)
`, []string{
			"red dotnet-test assertion",
			`fail test Shop.CartTests.Adds assertion CartTests.cs:12 got "90" want "100" trace 0 lines says "Assert.Equal() Failure: Values differ"`,
			"failed 1 passed 1",
		}},
		"dotnet test of nothing": {0, "Passed!  - Failed:     0, Passed:     0, Skipped:     0, Total:     0, Duration: 1 ms - Shop.dll (net8.0)\n", []string{
			"unknown dotnet-test no_tests", "failed 0 passed 0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := told(Read(Run{Dir: "/tree", Stdout: []byte(tc.out), Exit: tc.exit}))
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
