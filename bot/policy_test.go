package bot

import (
	"errors"
	"testing"

	"github.com/redraft-dev/redraft/agent/plan"
)

func policyOf(t *testing.T, file string, op Operator) Policy {
	t.Helper()
	w := newWorld()
	if file != "" {
		w.files[mainSHA] = file
	}
	p, err := readPolicy(t.Context(), w, widget, mainSHA, op)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPolicyLimits(t *testing.T) {
	if got := policyOf(t, "", Operator{}).Limits; got != plan.DefaultLimits {
		t.Errorf("nothing said: %+v", got)
	}
	want := plan.DefaultLimits
	want.PerDay, want.Turns, want.OpenDrafts = 2, 4, 20
	got := policyOf(t, "version: 1\nlimits: {per-day: 2, turns: 100, open-drafts: 30}\n", Operator{Limits: plan.Limits{Turns: 4, OpenDrafts: 20}}).Limits
	if got != want {
		t.Errorf("the stricter of both: got %+v, want %+v", got, want)
	}
}

func TestPolicyCommands(t *testing.T) {
	for file, want := range map[string]bool{
		"":                                      true,
		"version: 1\n":                          true,
		"version: 1\ntriggers: {labels: [x]}\n": true,
		"version: 1\ntriggers: {commands: true}\n":              true,
		"version: 1\ntriggers: {commands: false}\n":             false,
		"version: 1\ntriggers:\n  commands: false\n":            false,
		"\"version\": 1\n\"triggers\": {\"commands\": false}\n": false,
	} {
		if p := policyOf(t, file, Operator{}); p.Broken != nil || p.commands() != want {
			t.Errorf("%q: commands %v (%v), want %v", file, p.commands(), p.Broken, want)
		}
	}
}

func TestPolicyBroken(t *testing.T) {
	for _, file := range []string{"version: 2\n", "checks: 1\n", "version: 1\nunknown: 1\n", "\xff", "version: 1\ntriggers: {never-branches: [\"{a\"]}\n"} {
		p := policyOf(t, file, Operator{})
		var wrong *plan.FileError
		if !errors.As(p.Broken, &wrong) || p.Limits != plan.DefaultLimits || !p.trigger("redraft") {
			t.Errorf("%q: got %+v", file, p)
		}
	}
	w := newWorld()
	w.no = map[string]error{"File": &HubError{Class: Unavailable}}
	if _, err := readPolicy(t.Context(), w, widget, mainSHA, Operator{}); err == nil {
		t.Error("a file that cannot be read now is no missing file")
	}
}

func TestPolicyMatches(t *testing.T) {
	p := policyOf(t, "version: 1\ntriggers: {workflows: [CI, lint.yml, .github/workflows/x.yml, coverage], labels: [Fix], never-branches: [\"release/*\", \"gh-pages\", \"{a,b}/**\"]}\n", Operator{})
	for _, tt := range []struct {
		file, title string
		want        bool
	}{
		{ciFile, "CI", true}, {".github/workflows/lint.yml", "Lint", true}, {".github/workflows/x.yml", "X", true}, {"", "coverage", true},
		{ciFile, "ci", false}, {".github/workflows/a/lint.yaml", "Lint", false}, {"", "lint", false}, {"", "", false},
	} {
		if got := p.workflow(tt.file, tt.title); got != tt.want {
			t.Errorf("workflow %q %q: %v, want %v", tt.file, tt.title, got, tt.want)
		}
	}
	for branch, want := range map[string]bool{"release/1": true, "release/1/2": false, "gh-pages": true, "a/b/c": true, "main": false, "release": false} {
		if got := p.never(branch); got != want {
			t.Errorf("never %q: %v, want %v", branch, got, want)
		}
	}
	if !p.trigger("fix") || p.trigger("redraft") {
		t.Error("the listed labels start jobs, whatever their case, and no other")
	}
}
