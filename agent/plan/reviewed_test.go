package plan

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReviewed(t *testing.T) {
	base := []string{
		"Makefile", "include mk/a.mk\ntest:\n\t./ci/test.sh\n", "mk/a.mk", "x:\n", "ci/test.sh", "go test ./...\n", "main.go", "package main\n",
		FileName, "version: 1\nchecks:\n  unit: {run: make test}\n",
	}
	with := func(pairs ...string) fs.FS { return tree(append(append([]string{}, base...), pairs...)...) }
	npm := func(text string) fs.FS { return tree("package.json", text) }
	for _, tt := range []struct {
		name       string
		root, main fs.FS
		want       []string
	}{
		{"the same", with(), with(), nil},
		{"other product code", with("main.go", "package x\n", "go.mod", "module m\n"), with(), nil},
		{"another command", with(FileName, "version: 1\nchecks:\n  unit: {run: make -k test}\n"), with(), []string{`the command of check "unit"`}},
		{"another folder", with(FileName, "version: 1\nchecks:\n  unit: {run: make test, env: {A: b}}\n"), with(), []string{`the command of check "unit"`}},
		{"another time limit", with(FileName, "version: 1\nchecks:\n  unit: {run: make test, timeout: 5m}\n"), with(), nil},
		{"a check more", with(FileName, "version: 1\nchecks:\n  unit: {run: make test}\n  new: {run: 'true'}\n"), with(), []string{`check "new", which is not there`}},
		{"the Makefile", with("Makefile", "test:\n\t-./ci/test.sh\n"), with(), []string{"Makefile"}},
		{"an included file", with("mk/a.mk", "x:\n\ttrue\n"), with(), []string{"mk/a.mk"}},
		{"a script", with("ci/test.sh", "exit 0\n"), with(), []string{"ci/test.sh"}},
		{"a script of a script", with("ci/test.sh", "./ci/more.sh\n", "ci/more.sh", "true\n"), with(), []string{"ci/more.sh", "ci/test.sh"}},
		{"a script that is gone", with("ci/test.sh", "go test ./...\n"), with("ci/test.sh", "./ci/more.sh\n", "ci/more.sh", "true\n"), []string{"ci/more.sh", "ci/test.sh"}},
		{"dependencies of a package", npm(`{"scripts":{"test":"jest"},"devDependencies":{"jest":"30"}}`), npm("{\"scripts\": {\"test\": \"jest\"}, \"devDependencies\": {\"jest\": \"29\"}}\n"), nil},
		{"scripts of a package", npm(`{"scripts":{"test":"jest || true"}}`), npm(`{"scripts":{"test":"jest"}}`), []string{"package.json"}},
		{"settings in a package", npm(`{"scripts":{"test":"jest"},"jest":{"testMatch":[]}}`), npm(`{"scripts":{"test":"jest"}}`), []string{"package.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Find(tt.root)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Find(tt.main)
			if err != nil {
				t.Fatal(err)
			}
			err = Reviewed(tt.root, tt.main, set, again)
			var c *Changed
			if err != nil && !errors.As(err, &c) {
				t.Fatal(err)
			}
			var got []string
			if c != nil {
				got = c.What
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("Reviewed mismatch (-want +got):\n%s", d)
			}
		})
	}
	if err := Reviewed(with(), with(), Set{Setup: []string{"make a"}}, Set{}); err == nil {
		t.Error("other setup commands are taken for the same")
	}
}

// The same step of another workflow file is another command.
func TestReviewedWorkflow(t *testing.T) {
	at := At{Job: "a", Step: "1"}
	text := func(run string) fs.FS {
		return tree(ciFile, "jobs: {a: {runs-on: ubuntu-latest, steps: [{run: '"+run+"'}]}}\n")
	}
	set, err := FromWorkflow(text("make test"), ciFile, at)
	if err != nil {
		t.Fatal(err)
	}
	for run, same := range map[string]bool{"make test": true, "make test || true": false} {
		root, err := FromWorkflow(text(run), ciFile, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := Reviewed(text(run), text("make test"), root, set) == nil; got != same {
			t.Errorf("%s: reviewed %v, want %v", run, got, same)
		}
	}
}
