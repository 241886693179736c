package oracle

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
)

// A check that names a test's file runs no other, so that canaries stand in that one.
func TestCanaryInTheNamedFile(t *testing.T) {
	for _, row := range []struct {
		run, file, text string
		make            func(file, text, tag string) *proof.Canary
		inside          bool
	}{
		{"pytest tests/test_a.py", "tests/test_a.py", "x = 1\n", pytestCanary, true},
		{"pytest", "tests/test_a.py", "x = 1\n", pytestCanary, false},
		{"rspec spec/a_spec.rb", "spec/a_spec.rb", "x = 1\n", rspecCanary, true},
		{"node --test a.test.js", "a.test.js", "test('x', f);\n", nodeCanary, true},
		{"go test a_test.go", "a_test.go", "package a\n", goCanary, false},
	} {
		c := named(row.make(row.file, row.text, "tag"), row.run, row.file, row.text)
		in, ok := c.Files[row.file]
		if ok != row.inside || len(c.Files) != 1 || len(c.Pass) != 1 || len(c.Fail) != 1 {
			t.Errorf("%s: got %v", row.run, c)
		} else if ok && (!strings.HasPrefix(in, row.text) || !strings.Contains(in, c.Pass[0]) || !strings.Contains(in, c.Fail[0])) {
			t.Errorf("%s: got %q", row.run, in)
		}
	}
}

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
