package report

import (
	"slices"
	"testing"
)

// A test has one id, however long it took, how often it was tried, and whether it failed or passed.
func TestVitestNames(t *testing.T) {
	for _, tt := range []struct{ line, id string }{
		{" ✓ test/a.test.js > suite > five 0ms", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five 12ms", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five  403ms", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five 7ms (retry x1)", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five 7ms (repeat x2)", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > suite > five 7ms (retry x1) (repeat x2)", "test/a.test.js > suite > five"},
		{" ✓ test/a.test.js > takes 5ms 0ms", "test/a.test.js > takes 5ms"},
		{" ✓ test/a.test.js > reads [a] 0ms", "test/a.test.js > reads [a]"},
		{" ↓ test/a.test.js > five [not today]", "test/a.test.js > five"},
		{" ✓ |unit| test/a.test.js > five 0ms", "test/a.test.js > five"},
		{" ✓  unit  test/a.test.js > five 0ms", "test/a.test.js > five"},
		{" ✓ test/a.test.js > two  blanks.js > five 0ms", "test/a.test.js > two  blanks.js > five"},
	} {
		out := " RUN  v4.1.12 /tree\n\n" + tt.line + "\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n"
		r := Read(Run{Command: "npx vitest run", Dir: "/tree", Stdout: []byte(out)})
		if !slices.ContainsFunc(r.Results, func(res Result) bool { return res.ID == tt.id }) || len(r.Results) != 1 {
			t.Errorf("%q: %+v, want the id %q", tt.line, r.Results, tt.id)
		}
	}
	r := Read(Run{Dir: "/tree", Exit: 1, Stdout: []byte(" RUN  v4.1.12 /tree\n\n FAIL   unit  test/a.test.js > five\nError: x\n\n Test Files  1 failed (1)\n")})
	if !slices.Equal(r.Failed(), []string{"test/a.test.js > five"}) {
		t.Errorf("failed %q", r.Failed())
	}
}
