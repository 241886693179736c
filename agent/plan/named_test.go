package plan

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// What lies around a program that a check names is shown, whatever the program is called: the packages beside one of Node.js, and
// the interpreter that a script is written for.
func TestNamedPrograms(t *testing.T) {
	top := real(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("web/node_modules/oddlint/bin/cli.js", "#!/usr/bin/env node\n")
	write("web/node_modules/needed/index.js", "")
	write("venv/bin/oddsort", "#!"+filepath.Join(top, "venv/bin/python3.11")+"\n")
	write("venv/lib/oddsort.py", "")
	if err := os.Mkdir(filepath.Join(top, "web/node_modules/.bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../oddlint/bin/cli.js", filepath.Join(top, "web/node_modules/.bin/oddlint")); err != nil {
		t.Fatal(err)
	}
	path := []string{filepath.Join(top, "web/node_modules/.bin"), filepath.Join(top, "venv/bin")}
	var n Needs
	got := n.addNamed(Set{Checks: []Check{{Run: "oddlint . && oddsort --check . && missing"}}}, asker{t.Context(), path, func(string) string { return "" }})
	if want := []string{"node", "python"}; !slices.Equal(got, want) {
		t.Errorf("interpreters %q, want %q", got, want)
	}
	for _, want := range []string{"web/node_modules", "venv"} {
		if !slices.Contains(n.Read, filepath.Join(top, want)) {
			t.Errorf("%s is not shown: %q", want, n.Read)
		}
	}
}
