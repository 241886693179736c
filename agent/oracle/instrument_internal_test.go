package oracle

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/plan"
)

// There are as many reporters as destinations, or none is asked for where there was one.
func TestNodeReporter(t *testing.T) {
	for _, row := range []struct{ run, script, more string }{
		{"node --test", "", " --test-reporter=spec --test-reporter-destination=stdout"},
		{"node --test --test-reporter=dot", "", " --test-reporter-destination=stdout"},
		{"npm test", "node --test --test-reporter dot", " --test-reporter-destination=stdout"},
		{"npm test", "node --test", " --test-reporter=spec --test-reporter-destination=stdout"},
		{"node --test --test-reporter=tap --test-reporter-destination=stdout", "", ""},
		{"node --test --test-reporter=tap --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=a.xml", "", ""},
	} {
		o := &Oracle{Check: plan.Check{Run: row.run, Dir: "web"}, Root: fstest.MapFS{"web/package.json": {Data: []byte(`{"scripts": {"test": "` + row.script + `"}}`)}}}
		ours := "--test-reporter=/lines/node-test.mjs --test-reporter-destination=/reports/node-test.heard"
		if got := o.nodeReporter("/reports", "/lines"); got != ours+row.more {
			t.Errorf("%s, %s: got %q after ours, want %q", row.run, row.script, strings.TrimPrefix(got, ours), row.more)
		}
	}
}
