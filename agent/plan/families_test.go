package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakeTool writes a program that notes its environment and folder and says something.
func fakeTool(t *testing.T, bin, name, says string) {
	t.Helper()
	text := "#!/bin/sh\n{ pwd; ls -A; env; } >> '" + filepath.Join(filepath.Dir(bin), "note") + "'\ncat <<'E'\n" + says + "\nE\n"
	if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFamiliesSayWhatTheyNeed(t *testing.T) {
	top, home := t.TempDir(), t.TempDir()
	bin := filepath.Join(top, "bin")
	dirs := []string{
		bin, filepath.Join(top, "venv"), filepath.Join(top, "node/bin"), filepath.Join(top, "rust"), filepath.Join(top, "jdk"), filepath.Join(top, "gems"),
		filepath.Join(home, ".cargo/registry"), filepath.Join(home, ".m2/repository"), filepath.Join(home, ".local/lib"), filepath.Join(home, ".cache/pre-commit"), filepath.Join(home, ".ssh"),
	}
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fakeTool(t, bin, "python3", `{"version":"Python 3.12.1","venv":true,"prefix":"`+top+`/venv","user":"`+home+`/.local","dirs":["`+top+`/venv","/usr","`+home+`","`+home+`/.ssh","","relative"]}`)
	fakeTool(t, bin, "node", `{"version":"Node.js v22.1.0","path":"`+top+`/node/bin/node"}`)
	fakeTool(t, bin, "rustc", top+"/rust")
	fakeTool(t, bin, "cargo", "")
	fakeTool(t, bin, "java", "openjdk 21.0.1 2023-10-17\nmore")
	fakeTool(t, bin, "ruby", "ruby 3.3.0\n"+top+"/gems:/usr/lib/ruby")
	getenv := environ(map[string]string{"PATH": bin + ":/usr/bin:/bin", "HOME": home, "JAVA_HOME": filepath.Join(top, "jdk"), "VIRTUAL_ENV": "x", "TOKEN": "s3cret", "PYENV_VERSION": "3.12"})
	for _, tt := range []struct {
		run, tool, version string
		env, read          []string
	}{
		{"python3 -m pytest", "python", "Python 3.12.1", []string{"PIP_NO_INDEX=1", "PYTHONDONTWRITEBYTECODE=1", "VIRTUAL_ENV=" + top + "/venv", "PYTHONUSERBASE=" + home + "/.local", "PRE_COMMIT_HOME=" + home + "/.cache/pre-commit", "PYENV_VERSION=3.12"}, []string{top + "/venv", home + "/.local/lib"}},
		{"npm test; node x", "node", "Node.js v22.1.0", []string{"npm_config_offline=true"}, []string{top + "/node"}},
		{"cargo test", "rust", top + "/rust", []string{"CARGO_NET_OFFLINE=true", "CARGO_HOME=" + home + "/.cargo"}, []string{top + "/rust", home + "/.cargo/registry"}},
		{"mvn test && java -version", "java", "openjdk 21.0.1 2023-10-17", []string{"MAVEN_ARGS=-o", "JAVA_HOME=" + top + "/jdk", "MAVEN_OPTS=-Dmaven.repo.local=" + home + "/.m2/repository"}, []string{top + "/jdk", home + "/.m2/repository"}},
		{"ruby -Itest", "ruby", "ruby 3.3.0", []string{"GEM_PATH=" + top + "/gems:/usr/lib/ruby"}, []string{top + "/gems"}},
	} {
		n, err := Toolchain(t.Context(), Set{Checks: []Check{{Run: tt.run}}}, getenv)
		if err != nil {
			t.Fatal(err)
		}
		if len(n.Tools) != 1 || n.Tools[tt.tool] != tt.version {
			t.Errorf("%s: tools %v, want %s %s alone", tt.run, n.Tools, tt.tool, tt.version)
		}
		for _, e := range tt.env {
			if !slices.Contains(n.Env, e) {
				t.Errorf("%s: no %s in %q", tt.run, e, n.Env)
			}
		}
		for _, d := range tt.read {
			if !slices.Contains(n.Read, d) {
				t.Errorf("%s: %s is not readable: %q", tt.run, d, n.Read)
			}
		}
		for _, d := range []string{home, filepath.Join(home, ".ssh"), filepath.Join(home, ".cargo"), filepath.Join(home, ".m2"), filepath.Join(home, ".local"), "/usr", "/"} {
			if slices.Contains(n.Read, d) {
				t.Errorf("%s shows %s", tt.run, d)
			}
		}
	}
	note, err := os.ReadFile(filepath.Join(top, "note"))
	if err != nil || strings.Contains(string(note), "s3cret") || strings.Contains(string(note), "families_test.go") {
		t.Errorf("a tool was asked with more than its environment, or in the repository: %v", err)
	}
}

// A tool that fails or says nothing of use is no error: it has no version, and whoever needs it will see.
func TestFamiliesWithBrokenTools(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"python3", "node", "rustc", "java", "ruby"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho nonsense\nexit 3\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n, err := Toolchain(t.Context(), Set{Checks: []Check{{Run: "make"}}}, environ(map[string]string{"PATH": bin, "HOME": t.TempDir()}))
	if err != nil || len(n.Tools) > 0 {
		t.Errorf("Toolchain = %+v, %v; want no tools", n, err)
	}
}

// The operator's own variables move the folders of a family.
func TestFamiliesMoved(t *testing.T) {
	home, moved := t.TempDir(), t.TempDir()
	registry := filepath.Join(moved, "registry")
	bin := t.TempDir()
	fakeTool(t, bin, "cargo", "")
	if err := os.Mkdir(registry, 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := Toolchain(t.Context(), Set{Checks: []Check{{Run: "cargo test"}}}, environ(map[string]string{"PATH": bin, "HOME": home, "CARGO_HOME": moved}))
	if got, _ := value(n.Env, "CARGO_HOME"); err != nil || got != moved || !slices.Contains(n.Read, registry) || slices.Contains(n.Read, moved) {
		t.Errorf("CARGO_HOME=%s, reads %q, %v", got, n.Read, err)
	}
}
