package oracle_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
)

// TestTraps: ways in which a check hides its findings or its colour.
func TestTraps(t *testing.T) {
	for _, row := range []struct {
		name, run string
		files     map[string]string
		color     report.Color
		class     report.Class
		trusted   bool
		d1        proof.Status // what the right change gets, where the root is red
	}{
		{name: "the exit code is swallowed", run: "python3 -m unittest || true", color: report.Unknown, class: report.Infra},
		{name: "nothing is collected", run: "python3 -m unittest discover -s empty || true", files: map[string]string{"empty/__init__.py": ""}, color: report.Unknown, class: report.NoTests},
		{name: "the variables are dropped", run: `env -i PATH="$PATH" HOME="$HOME" PYENV_ROOT="$PYENV_ROOT" python3 -m unittest`, color: report.Red, class: report.Assertion, trusted: true, d1: proof.NotEvaluated},
		{name: "the variables turn it green", run: `test -n "$REDRAFT_REPORTS" || python3 -m unittest`, color: report.Red, class: report.Assertion, d1: proof.NotEvaluated},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := runners[0]
			r.run, r.files = row.run, map[string]string{}
			for _, files := range []map[string]string{runners[0].files, row.files} {
				for name, text := range files {
					r.files[name] = text
				}
			}
			w := newRunner(t, r)
			s := w.see(t)
			if s.Color != row.color || s.Class != row.class || s.Trusted != row.trusted {
				t.Fatalf("got %v (%s), trusted %v, mixed %v %q, format %s", s.Color, s.Class, s.Trusted, s.Mixed, s.Text, s.Report.Format)
			}
			if row.d1 == "" {
				return
			}
			receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, r.source, r.fixed))
			if err != nil || v.Color != report.Green || rung(receipt, "D1").Status != row.d1 {
				t.Errorf("got %v %q, %v, D1 %+v", v.Color, v.Text, err, rung(receipt, "D1"))
			}
			if got := rung(receipt, "D1").Text; row.d1 == proof.NotEvaluated && !strings.Contains(got, "exit status") {
				t.Errorf("D1 does not say what is left: %q", got)
			}
		})
	}
}

// TestNodeReporters: Node's own runner names tests whatever reporter the check asks for, and where it takes none of ours the
// right change is confirmed by what is left.
func TestNodeReporters(t *testing.T) {
	for _, row := range []struct {
		name, run string
		trusted   bool
		d1        proof.Status
	}{
		{"dots", "node --test --test-reporter=dot", true, proof.Held},
		{"dots that nobody sees", "make test", false, proof.NotEvaluated},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := runners[2]
			r.tools, r.run = append(r.tools, strings.Fields(row.run)[0]), row.run
			r.files = map[string]string{"Makefile": "test:\n\t@node --test --test-reporter=dot\n"}
			maps.Copy(r.files, runners[2].files)
			w := newRunner(t, r)
			s := w.see(t)
			if s.Color != report.Red || s.Trusted != row.trusted || len(s.Findings) != 1 || !strings.HasSuffix(s.Findings[0].ID, "double") {
				t.Fatalf("got %v (%s), trusted %v, findings %v, format %s", s.Color, s.Class, s.Trusted, s.Findings, s.Report.Format)
			}
			receipt, v, err := w.Confirm(t.Context(), s, w.claim(t, s, r.source, r.fixed))
			if err != nil || v.Color != report.Green || rung(receipt, "D1").Status != row.d1 {
				t.Errorf("got %v %q, %v, %+v", v.Color, v.Text, err, receipt.Rungs)
			}
		})
	}
}

// TestNodeFiles: a test of Node's own runner is named with its file, whatever else is called the same.
func TestNodeFiles(t *testing.T) {
	t.Parallel()
	r := runners[2]
	r.files = map[string]string{
		"a.test.js":    "const { test, describe, it } = require('node:test');\nconst bad = () => { throw new Error('bad'); };\ntest('one', bad);\ndescribe('s', () => { it('one', bad); it('two', () => {}); it('later', { todo: true }, bad); it.skip('never', bad); });\ntest('outer', async (t) => { await t.test('one', bad); await t.test('two', () => {}); });\n",
		"d/b.test.mjs": "import test from 'node:test';\ntest('one', () => { throw new Error('bad'); });\ntest('two', () => {});\n",
		"c.test.js":    "require('./nothing-here');\n",
		"e.test.js":    "",
	}
	s := newRunner(t, r).see(t)
	failed := "a.test.js > one, a.test.js > outer > one, a.test.js > s > one, c.test.js, d/b.test.mjs > one"
	passed := "a.test.js > outer > two, a.test.js > s > two, d/b.test.mjs > two"
	if got := strings.Join(s.Failed, ", "); got != failed {
		t.Errorf("failed: %s, want %s", got, failed)
	}
	if got := strings.Join(s.Passed, ", "); got != passed {
		t.Errorf("passed: %s, want %s", got, passed)
	}
	for _, f := range s.Findings {
		if f.ID == "c.test.js" && (f.Kind != report.Build || f.Class != report.Compile || !strings.Contains(f.Message, "nothing-here")) {
			t.Errorf("a file that does not load: %+v", f)
		}
	}
}
