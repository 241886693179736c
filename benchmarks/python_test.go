package benchmarks

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// targz packs files in the order in which they are given.
func targz(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f[0], Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f[1]))})
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// interpreter answers as Python and its pip do, with archives from a folder.
const interpreter = `#!/bin/sh
case "$2" in
venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
pip)
	for last; do :; done
	case "$3" in
	install) echo "$last" >> "$TOLD" ;;
	download) cp "$ARCHIVES/$last.tar.gz" . || { echo "no $last"; exit 1; } ;;
	esac ;;
esac
`

func pythonWorld(t *testing.T, archives map[string][]byte) (told string) {
	t.Helper()
	dir := t.TempDir()
	told = filepath.Join(dir, "told")
	if err := os.WriteFile(filepath.Join(dir, "python9.9"), []byte(interpreter), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range archives {
		if err := os.WriteFile(filepath.Join(dir, name+".tar.gz"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("ARCHIVES", dir)
	t.Setenv("TOLD", told)
	return told
}

var halfPython = PythonCase{
	Package: "half", Bad: "1", Good: "2", Python: "9.9", Files: []string{"half.py", "+two.py"}, Deps: []string{"pytest==1"}, Red: []string{"t.py::a"}, Known: []string{"t.py::k"},
}

func TestPythonPrepare(t *testing.T) {
	told := pythonWorld(t, map[string][]byte{
		"half==1": targz(t, [2]string{"half-1/half.py", "bad"}, [2]string{"half-1/t.py", "old test"}),
		"half==2": targz(t, [2]string{"half-2/half.py", "good"}, [2]string{"half-2/two.py", "2"}, [2]string{"half-2/tests/t.py", "test"}),
	})
	into := filepath.Join(t.TempDir(), "python")
	bin, err := halfPython.Interpreter(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := halfPython.Interpreter(t.Context(), into); err != nil || again != bin {
		t.Errorf("again: got %s, %v; want %s", again, err, bin)
	}
	if b, err := os.ReadFile(told); err != nil || string(b) != "pytest==1\n" {
		t.Errorf("installed %q, %v; want it once", b, err)
	}
	dir, fix, err := halfPython.Prepare(t.Context(), bin, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string][]byte{"half.py": []byte("good"), "two.py": []byte("2")}, fix); d != "" {
		t.Errorf("fix (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]string{"half.py": "bad", "tests/t.py": "test"}, committed(t, dir)); d != "" {
		t.Errorf("committed files (-want +got):\n%s", d)
	}
}

func TestPythonRefused(t *testing.T) {
	pythonWorld(t, map[string][]byte{"half==2": targz(t, [2]string{"half-2/half.py", "good"})})
	bin, err := halfPython.Interpreter(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	var refused *Refused
	if _, _, err := halfPython.Prepare(t.Context(), bin, parent); !errors.As(err, &refused) || !strings.Contains(err.Error(), "no half==1") {
		t.Errorf("a version that is not there: got %v, want a refusal with its reason", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("got %v left behind (%v), want nothing", left, err)
	}
	none := halfPython
	none.Python = "9.8"
	if _, err := none.Interpreter(t.Context(), t.TempDir()); !errors.As(err, &refused) {
		t.Errorf("no interpreter: got %v, want a refusal", err)
	}
}

func TestUntar(t *testing.T) {
	file := func(name string) [2]string { return [2]string{name, "text"} }
	for _, tt := range []struct {
		name string
		in   []byte
		ok   bool
	}{
		{"one folder", targz(t, file("a/b"), file("a/c/d")), true},
		{"two folders", targz(t, file("a/b"), file("c/d")), false},
		{"a file at the top", targz(t, file("a")), false},
		{"outside", targz(t, file("a/b"), file("../b")), false},
		{"absolute", targz(t, file("a/b"), file("/b")), false},
		{"nothing", targz(t), false},
		{"half", targz(t, file("a/b"))[:40], false},
		{"no archive", []byte("text"), false},
	} {
		top, err := untar(bytes.NewReader(tt.in), filepath.Join(t.TempDir(), "into"))
		if (err == nil) != tt.ok || tt.ok && filepath.Base(top) != "a" {
			t.Errorf("%s: got %s, %v", tt.name, top, err)
		}
	}
}

func TestPyPackages(t *testing.T) {
	dir := t.TempDir()
	if _, err := PyPackages(dir); err == nil {
		t.Error("no file is no error")
	}
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"[", `[{"package":"half"}]`, `{}`} {
		if err := os.WriteFile(filepath.Join(dir, "tasks", "pypackages.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := PyPackages(dir); err == nil || !strings.Contains(err.Error(), "pypackages.json") {
			t.Errorf("%s: got %v, want an error", text, err)
		}
	}
}

func TestPythonReproduced(t *testing.T) {
	for _, tt := range []struct {
		findings []string
		want     string
	}{
		{[]string{"t.py::a", "t.py::k"}, ""},
		{[]string{"t.py::k"}, "not seen red: t.py::a"},
		{[]string{"t.py::k", "t.py::a", "t.py::b"}, "red beyond the list: t.py::b"},
		{nil, "not seen red: t.py::a, t.py::k"},
	} {
		if got := halfPython.Reproduced(tt.findings); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.findings, got, tt.want)
		}
	}
}
