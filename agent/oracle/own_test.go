package oracle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

// TestOwnModules: a module of the root's own that is not found is a red, one of another's says nothing; the evidence says the same.
func TestOwnModules(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("REFUSED: python3 is not on this machine")
	}
	for _, row := range []struct {
		module, run, packaged string
		color                 report.Color
		own                   string
	}{
		{"shop.cart", "python3 main.py", "setup.cfg.txt", report.Red, "cart main shop tests"},
		{"not_installed_anywhere", "python3 main.py", "setup.cfg.txt", report.Unknown, "cart main shop tests"},
		{"shop", "python3 tests/start.py", "setup.cfg.txt", report.Red, "cart main shop tests"},
		{"shop", "python3 tests/start.py", "pyproject.toml", report.Unknown, "cart main. shop. tests."},
		{"shop.cart", "python3 main.py", "setup.cfg", report.Red, "cart main. shop. tests."},
	} {
		r := runners[0]
		r.run, r.files = row.run, map[string]string{"main.py": "import " + row.module + "\n", "tests/start.py": "import " + row.module + "\n", "shop/__init__.py": "", "lib/cart.rb": "", "docs/a.md": "", row.packaged: ""}
		w := newRunner(t, r)
		dir := t.TempDir()
		w.Keep = func(rec proof.RunRecord, res sandbox.Result) (map[string]string, error) {
			files, err := rec.Files(res.Stdout, res.Stderr)
			for name, b := range files {
				name = filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Error(err)
				}
				if err := os.WriteFile(name, b, 0o600); err != nil {
					t.Error(err)
				}
			}
			return nil, err
		}
		s := w.see(t)
		if s.Color != row.color {
			t.Errorf("%s: got %v (%s), want %v", row.module, s.Color, s.Class, row.color)
		}
		got, err := proof.ReadRun(os.DirFS(dir), s.Runs[0].Folder())
		if err != nil || got.Report.Class != s.Runs[0].Report.Class || !slices.Equal(got.Own, strings.Fields(row.own)) {
			t.Errorf("%s: the evidence says %s of %v, the run %s: %v", row.module, got.Report.Class, got.Own, s.Runs[0].Report.Class, err)
		}
	}
}

func TestOwnJavaPackages(t *testing.T) {
	files := map[string]string{"src/main/java/com/example/A.java": "", "two/src/test/java/org/own/deep/B.java": "", "two/src/main/kotlin/k/C.kt": "", "src/main/java/Top.java": "", "target/src/main/java/made/D.java": "", "java/no/E.java": "", "main.py": "", "src/main/java/com/readme.md": ""}
	w := newWorld(t, "true", files)
	w.see(t)
	if got, want := strings.Join(w.kept[0].Own, " "), "com.example k main org.own.deep"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
