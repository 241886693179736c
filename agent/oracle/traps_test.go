package oracle_test

import (
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
