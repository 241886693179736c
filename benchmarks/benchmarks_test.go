package benchmarks

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"
)

func TestGoModules(t *testing.T) {
	cases, err := GoModules()
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 15 {
		t.Errorf("got %d cases, want at least 15", len(cases))
	}
	for i, c := range cases {
		if c.N != i || c.Module == "" || c.Good == c.Bad || len(c.Files) == 0 || len(c.Red) == 0 || c.Passing == 0 {
			t.Errorf("case %d is incomplete: %+v", i, c)
		}
		for _, f := range c.Files {
			if !filepath.IsLocal(strings.TrimPrefix(f, "+")) || strings.HasSuffix(f, "_test.go") {
				t.Errorf("case %d: file %q is outside the tree or a test", i, f)
			}
		}
		for _, id := range c.Red {
			if !strings.HasPrefix(id, c.Module) {
				t.Errorf("case %d: %s is no test of %s", i, id, c.Module)
			}
		}
	}
	if h := SetHash(); len(h) != 12 {
		t.Errorf("got hash %q, want 12 digits", h)
	}
}

func TestReproduced(t *testing.T) {
	cut := Case{}
	for i := range listed {
		cut.Red = append(cut.Red, fmt.Sprintf("m.T/%02d", i))
	}
	for _, tt := range []struct {
		name     string
		c        Case
		findings []string
		want     string
	}{
		{"exactly", Case{Red: []string{"m.A", "m.B"}}, []string{"m.A", "m.B"}, ""},
		{"parents are found in their subtests", Case{Red: []string{"m.A", "m.A/x", "m.A/x/y"}}, []string{"m.A/x/y"}, ""},
		{"one missing", Case{Red: []string{"m.A", "m.B"}}, []string{"m.A"}, "not seen red: m.B"},
		{"a longer name is another test", Case{Red: []string{"m.A"}}, []string{"m.AB"}, "not seen red: m.A"},
		{"one too many", Case{Red: []string{"m.A"}}, []string{"m.A", "m.C"}, "red beyond the list: m.C"},
		{"a subtest that is not listed", Case{Red: []string{"m.A"}}, []string{"m.A/x"}, "red beyond the list: m.A/x"},
		{"green", Case{Red: []string{"m.A"}}, nil, "not seen red: m.A"},
		{"a cut list takes more", cut, append([]string{"m.Z"}, cut.Red...), ""},
		{"a cut list takes no less", cut, cut.Red[1:], "not seen red: m.T/00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.c.Reproduced(tt.findings); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A module proxy in a folder, so that no test here needs the network.
const module = "example.com/half"

var (
	bad = map[string]string{
		"go.mod":       "module example.com/half\n\ngo 1.22\n",
		"half.go":      "package half\n\nfunc Half(n int) int { return n - 2 }\n",
		"half_test.go": "package half\n",
	}
	good = map[string]string{
		"go.mod":       "module example.com/half\n\ngo 1.22\n",
		"half.go":      "package half\n\nfunc Half(n int) int { return n / two }\n",
		"half_test.go": "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(8) != 4 {\n\t\tt.Error(\"no half\")\n\t}\n}\n",
		"two/a.txt":    "in a folder",
		"const.go":     "package half\n\nconst two = 2\n",
	}
	halfCase = Case{Module: module, Bad: "v1.0.0", Good: "v1.0.1", Files: []string{"half.go", "+const.go"}, Red: []string{module + ".TestHalf"}}
)

func proxy(t *testing.T, versions map[string]map[string]string) {
	t.Helper()
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for version, files := range versions {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range files {
			w, err := z.Create(module + "@" + version + "/" + name)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for ext, text := range map[string][]byte{".zip": b.Bytes(), ".mod": []byte(files["go.mod"]), ".info": []byte(`{"Version":"` + version + `"}`)} {
			if err := os.WriteFile(filepath.Join(at, version+ext), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cache := t.TempDir()
	t.Cleanup(func() { makeWritable(cache) })
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(dir))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOENV", "off")
}

// makeWritable lets t.TempDir remove a module cache, whose files are read-only.
func makeWritable(dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
}

func TestPrepare(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOCACHE", cache)
	proxy(t, map[string]map[string]string{"v1.0.0": bad, "v1.0.1": good})
	dir, fix, err := Prepare(context.Background(), halfCase, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wantFix := map[string][]byte{"half.go": []byte(good["half.go"]), "const.go": []byte(good["const.go"])}
	if d := cmp.Diff(wantFix, fix); d != "" {
		t.Errorf("fix (-want +got):\n%s", d)
	}
	want := map[string]string{"half.go": bad["half.go"]}
	for _, name := range []string{"go.mod", "half_test.go", "two/a.txt"} {
		want[name] = good[name]
	}
	if d := cmp.Diff(want, committed(t, dir)); d != "" {
		t.Errorf("committed files (-want +got):\n%s", d)
	}
	if err := os.WriteFile(filepath.Join(dir, "half.go"), fix["half.go"], 0o600); err != nil {
		t.Errorf("a file is not writable: %v", err)
	}
}

// committed is the text of every file of HEAD, which must be main and equal to the checkout.
func committed(t *testing.T, dir string) map[string]string {
	t.Helper()
	repo, err := git.PlainOpen(dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := repo.Head()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := head.Name().String(), "refs/heads/main"; got != want {
		t.Errorf("HEAD: got %s, want %s", got, want)
	}
	w, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if status, err := w.Status(); err != nil || !status.IsClean() {
		t.Errorf("got a dirty checkout (%v), want a clean one\n%s", err, status)
	}
	commit, err := repo.CommitObject(head.Hash())
	if err != nil {
		t.Fatal(err)
	}
	files, err := commit.Files()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := files.ForEach(func(f *object.File) error {
		text, err := f.Contents()
		got[f.Name] = text
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestPrepareRefused(t *testing.T) {
	t.Setenv("GOCACHE", t.TempDir())
	proxy(t, map[string]map[string]string{"v1.0.1": good})
	parent := t.TempDir()
	_, _, err := Prepare(context.Background(), halfCase, parent)
	var refused *Refused
	if !errors.As(err, &refused) || refused.Reason == "" {
		t.Errorf("a version that the proxy lacks: got %v, want a refusal with its reason", err)
	}
	outside := halfCase
	outside.Bad, outside.Files = outside.Good, []string{"../half.go"}
	if _, _, err := Prepare(context.Background(), outside, parent); err == nil || errors.As(err, &refused) {
		t.Errorf("a file outside the tree: got %v, want an error that is no refusal", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("got %v left behind (%v), want nothing", left, err)
	}
}
