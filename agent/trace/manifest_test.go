package trace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// rendered is an evidence directory with a job, reports of a run and its views.
func rendered(t *testing.T) string {
	t.Helper()
	dir := writeTrace(t, lines(0, TypeRun, RunData{Phase: "see", N: 1, Report: "reports/see-1"}, 0, TypeStop, Stop{Reason: Flaky, Text: "x"}), "")
	if err := os.MkdirAll(filepath.Join(dir, "reports", "see-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"stdout": "ok\n", "stderr": ""} {
		if err := os.WriteFile(filepath.Join(dir, "reports", "see-1", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Render(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// problems is what VerifyManifest says, as "code path".
func problems(t *testing.T, dir string) []string {
	t.Helper()
	found, err := VerifyManifest(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range found {
		out = append(out, p.Code+" "+p.Path)
	}
	return out
}

func TestVerifyManifest(t *testing.T) {
	at := func(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for name, tc := range map[string]struct {
		do   func(dir string) error
		want []string
	}{
		"nothing": {func(string) error { return nil }, nil},
		"cancel marker changed": {func(d string) error { // one that was there when the evidence was closed
			if err := errors.Join(RequestCancel(d, "early"), Render(d)); err != nil {
				return err
			}
			return os.WriteFile(at(d, CancelFile), []byte("{}"), 0o600)
		}, []string{"evidence_tampered cancel"}},
		"cancel marker":  {func(d string) error { return RequestCancel(d, "late") }, nil},
		"file gone":      {func(d string) error { return os.Remove(at(d, "reports/see-1/stdout")) }, []string{"evidence_missing reports/see-1/stdout"}},
		"file longer":    {func(d string) error { return os.WriteFile(at(d, "reports/see-1/stderr"), []byte("x"), 0o600) }, []string{"evidence_tampered reports/see-1/stderr"}},
		"file changed":   {func(d string) error { return os.WriteFile(at(d, "reports/see-1/stdout"), []byte("no\n"), 0o600) }, []string{"evidence_tampered reports/see-1/stdout"}},
		"file more":      {func(d string) error { return os.WriteFile(at(d, "reports/see-1/junit.xml"), nil, 0o600) }, []string{"evidence_extra reports/see-1/junit.xml"}},
		"no manifest":    {func(d string) error { return os.Remove(at(d, ManifestFile)) }, []string{"evidence_missing manifest.json"}},
		"empty manifest": {func(d string) error { return os.WriteFile(at(d, ManifestFile), nil, 0o600) }, []string{"evidence_tampered manifest.json"}},
		"renamed": {func(d string) error { return os.Rename(at(d, "LOG.md"), at(d, "log.txt")) },
			[]string{"evidence_missing LOG.md", "evidence_extra log.txt"}},
		"link instead": {func(d string) error {
			if err := os.Rename(at(d, "LOG.md"), at(d, "cancel")); err != nil {
				return err
			}
			return os.Symlink("cancel", at(d, "LOG.md"))
		}, []string{"evidence_extra LOG.md", "evidence_missing LOG.md"}},
		"folder instead": {func(d string) error {
			if err := os.Remove(at(d, "LOG.md")); err != nil {
				return err
			}
			return os.Mkdir(at(d, "LOG.md"), 0o700)
		}, []string{"evidence_missing LOG.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := rendered(t)
			if err := tc.do(dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, problems(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEverySingleByteCounts changes every byte of every file, the manifest's own included, one at a time.
func TestEverySingleByteCounts(t *testing.T) {
	dir := rendered(t)
	files := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = &fstest.MapFile{Data: b, Mode: 0o600}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := VerifyManifest(files); err != nil || len(found) > 0 {
		t.Fatalf("untouched: %v, %v", found, err)
	}
	for name, f := range files {
		for i := range f.Data {
			f.Data[i] ^= 1
			found, err := VerifyManifest(files)
			if err != nil || len(found) == 0 {
				t.Fatalf("byte %d of %s: %v, %v", i, name, found, err)
			}
			if !strings.HasPrefix(found[0].Code, "evidence_") || found[0].Text == "" || len(found) != 1 || found[0].Path != name {
				t.Fatalf("byte %d of %s: %+v", i, name, found[0])
			}
			f.Data[i] ^= 1
		}
	}
}

func TestManifestThatPointsElsewhere(t *testing.T) {
	for name, files := range map[string][]ManifestFact{
		"parent":   {{Path: "../x"}},
		"absolute": {{Path: "/etc/passwd"}},
		"twice":    {{Path: "a"}, {Path: "a"}},
		"order":    {{Path: "b"}, {Path: "a"}},
		"itself":   {{Path: ManifestFile}},
		"no list":  nil,
	} {
		m := Manifest{SchemaVersion: ManifestVersion, Files: files}
		m.Sum, _ = m.sum()
		b, err := m.bytes()
		if err != nil {
			t.Fatal(err)
		}
		found, err := VerifyManifest(fstest.MapFS{ManifestFile: {Data: b}})
		if err != nil || len(found) != 1 || found[0].Code != EvidenceTampered || found[0].Path != ManifestFile {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
