package plan

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environ is a getenv of its own for a test.
func environ(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// fakeGo writes a go command that answers go env with the given JSON and notes the folder it was asked in.
func fakeGo(t *testing.T, answer string) (bin, note string) {
	t.Helper()
	bin = t.TempDir()
	note = filepath.Join(t.TempDir(), "note")
	text := "#!/bin/sh\n{ pwd; ls -A; env; } > '" + note + "'\ncat <<'E'\n" + answer + "\nE\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin, note
}

func value(env []string, name string) (string, bool) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

func TestToolchainAsksInAnEmptyFolder(t *testing.T) {
	goroot, cache := t.TempDir(), t.TempDir()
	bin, note := fakeGo(t, `{"GOROOT":"`+goroot+`","GOMODCACHE":"`+cache+`","GOVERSION":"go1.26.1","GOOS":"linux","GOARCH":"amd64","CGO_ENABLED":"1","GOFLAGS":"-mod=mod -trimpath -buildvcs=false","GOEXPERIMENT":"","CC":"gcc","GONOSUMDB":"x.org"}`)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("go.mod", []byte("module evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := Toolchain(t.Context(), Set{}, environ(map[string]string{
		"PATH": bin + ":/usr/bin:/bin:relative:/no/such/folder", "HOME": t.TempDir(), "GOPROXY": "https://x", "SECRET": "s", "GOPATH": "/g",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"PATH": bin + ":/usr/bin:/bin", "LANG": "C.UTF-8", "GOROOT": goroot, "GOMODCACHE": cache, "GOPROXY": "off",
		"GOTOOLCHAIN": "local", "GOFLAGS": "-trimpath -buildvcs=false", "CGO_ENABLED": "1", "GONOSUMDB": "x.org",
	} {
		if got, _ := value(n.Env, name); got != want {
			t.Errorf("%s=%s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"HOME", "GOPATH", "SECRET", "GOEXPERIMENT"} {
		if v, ok := value(n.Env, name); ok {
			t.Errorf("%s=%s reaches a run", name, v)
		}
	}
	for _, dir := range []string{bin, goroot, cache} {
		if !slices.Contains(n.Read, dir) {
			t.Errorf("%s is not readable: %v", dir, n.Read)
		}
	}
	if want := `go1.26.1 linux/amd64 cgo=1 flags="-trimpath -buildvcs=false" experiment= cc=gcc`; n.Go != want {
		t.Errorf("Go = %s, want %s", n.Go, want)
	}
	asked, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(asked), "\n")
	if _, err := os.Stat(lines[0]); !os.IsNotExist(err) || strings.Contains(string(asked), "go.mod") || strings.Contains(string(asked), "SECRET") {
		t.Errorf("asked in a folder that stayed, was not empty, or with more than its environment:\n%s", asked)
	}
}

func TestToolchainWithoutGo(t *testing.T) {
	n, err := Toolchain(t.Context(), Set{}, environ(map[string]string{"PATH": t.TempDir()}))
	if err != nil || n.Go != "" {
		t.Errorf("Toolchain = %+v, %v; want no Go", n, err)
	}
	if _, ok := value(n.Env, "GOROOT"); ok {
		t.Error("GOROOT is set without Go")
	}
}

func TestToolchainReportsABrokenGo(t *testing.T) {
	for _, answer := range []string{"not JSON", `{"GOROOT":"relative"}`} {
		bin, _ := fakeGo(t, answer)
		if _, err := Toolchain(t.Context(), Set{}, environ(map[string]string{"PATH": bin + ":/usr/bin:/bin"})); err == nil {
			t.Errorf("a go that answers %q is believed", answer)
		}
	}
}

// A folder of PATH inside the repository never counts, by whatever link it is reached.
func TestToolchainPassesOverTheRepository(t *testing.T) {
	repo := t.TempDir()
	bin := filepath.Join(repo, "bin")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, link); err != nil {
		t.Fatal(err)
	}
	n, err := Toolchain(t.Context(), Set{}, environ(map[string]string{"PATH": bin + ":" + link}), repo)
	if err != nil || n.Go != "" || len(n.Read) > 0 {
		t.Errorf("Toolchain = %+v, %v; want nothing of the repository", n, err)
	}
}

func TestToolchainShowsWhatAFamilyNeeds(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".pyenv/shims", ".cargo/bin", ".cargo/registry", ".rustup", "go/bin", "bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(dir string) string { return filepath.Join(home, dir) }
	path := strings.Join([]string{home, in("go/bin"), in(".pyenv/shims"), in(".cargo/bin"), "/usr/bin"}, ":")
	for _, tt := range []struct {
		run  string
		want []string
	}{
		{"go test ./...", []string{in("go/bin")}},
		{"python3 -m pytest", []string{in("go/bin"), in(".pyenv")}},
		{"cargo test", []string{in("go/bin"), in(".rustup"), in(".cargo/bin"), in(".cargo/registry")}},
		{"make test", []string{in("go/bin"), in(".pyenv"), in(".rustup"), in(".cargo/bin"), in(".cargo/registry")}},
	} {
		n, err := Toolchain(t.Context(), Set{Checks: []Check{{Run: tt.run}}}, environ(map[string]string{"PATH": path, "HOME": home}))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.DeleteFunc(n.Read, func(d string) bool { return !within(d, home) }); !slices.Equal(got, tt.want) {
			t.Errorf("%s reads %v, want %v", tt.run, got, tt.want)
		}
		if slices.Contains(n.Read, home) || slices.Contains(n.Read, in(".cargo")) {
			t.Errorf("%s shows the whole of HOME or the folder of credentials", tt.run)
		}
	}
}

// The real go command answers, and what it needs is there.
func TestToolchainOfThisMachine(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("REFUSED: no go command on this machine")
	}
	n, err := Toolchain(t.Context(), Set{}, os.Getenv)
	if err != nil || !strings.HasPrefix(n.Go, "go1.") {
		t.Fatalf("Toolchain = %+v, %v", n, err)
	}
	root, _ := value(n.Env, "GOROOT")
	if _, err := os.Stat(filepath.Join(root, "src", "fmt")); err != nil || !slices.Contains(n.Read, root) {
		t.Errorf("GOROOT %q does not hold the standard library or is not readable: %v", root, err)
	}
}
