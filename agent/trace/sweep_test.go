package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// oldEvidence makes a job's folder of that many bytes, last written so many days ago.
func oldEvidence(t *testing.T, dir, id string, bytes int, days float64, now time.Time) {
	t.Helper()
	at := filepath.Join(dir, id, "runs")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	when := now.Add(-time.Duration(days * 24 * float64(time.Hour)))
	for name, text := range map[string]string{"../" + FileName: "{}\n", "out": strings.Repeat("x", bytes)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"out", "../" + FileName, ".", ".."} {
		if err := os.Chtimes(filepath.Join(at, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
}

func foldersOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestSweep(t *testing.T) {
	now := time.Now()
	for _, tt := range []struct {
		name string
		keep Keep
		want string
	}{
		{"what nobody configured", Keep{}, "a-now b-yesterday c-week file"},
		{"by age", Keep{Age: 3 * 24 * time.Hour}, "a-now b-yesterday file"},
		{"by weight", Keep{Bytes: 250_000}, "a-now b-yesterday file"},
		{"nothing fits", Keep{Bytes: 1}, "a-now file"},
		{"everything", Keep{Age: 1000 * 24 * time.Hour}, "a-now b-yesterday c-week d-old file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			oldEvidence(t, dir, "a-now", 100_000, 0.1, now)
			oldEvidence(t, dir, "b-yesterday", 100_000, 1.5, now)
			oldEvidence(t, dir, "c-week", 100_000, 7, now)
			oldEvidence(t, dir, "d-old", 100_000, 40, now)
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			jobs, bytes, err := Weigh(t.Context(), dir)
			if err != nil || jobs != 4 || bytes < 400_000 || bytes > 500_000 {
				t.Errorf("%d jobs of %d bytes, %v", jobs, bytes, err)
			}
			gone, err := Sweep(t.Context(), dir, tt.keep, now)
			got := foldersOf(t, dir)
			if err != nil || strings.Join(got, " ") != tt.want || gone != 5-len(got) {
				t.Errorf("%d went, %q, %v; want %q", gone, got, err, tt.want)
			}
		})
	}
}

// A job that is being recorded stays, however old its files are, and so does what a link names.
func TestSweepSpares(t *testing.T) {
	now := time.Now()
	dir, other := t.TempDir(), t.TempDir()
	oldEvidence(t, other, "theirs", 10, 100, now)
	oldEvidence(t, dir, "dead", 10, 100, now)
	if err := os.Symlink(filepath.Join(other, "theirs"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "dead", "out")); err != nil {
		t.Fatal(err)
	}
	oldEvidence(t, dir, "live", 10, 100, now)
	if err := os.Remove(filepath.Join(dir, "live", FileName)); err != nil {
		t.Fatal(err)
	}
	rec, err := Open(filepath.Join(dir, "live"), "live", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := now.Add(-100 * 24 * time.Hour)
	for _, name := range []string{"live/" + FileName, "live", "dead"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := Sweep(t.Context(), dir, Keep{}, now.Add(40*fresh)); err != nil || gone != 1 || !slices.Equal(foldersOf(t, dir), []string{"link", "live"}) {
		t.Errorf("%d went, %q, %v", gone, foldersOf(t, dir), err)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if gone, err := Sweep(t.Context(), dir, Keep{}, now.Add(40*fresh)); err != nil || gone != 1 {
		t.Errorf("once it has ended: %d went, %v", gone, err)
	}
	if _, err := os.Stat(filepath.Join(other, "theirs", "runs", "out")); err != nil {
		t.Error(err)
	}
	if gone, err := Sweep(t.Context(), filepath.Join(dir, "nowhere"), Keep{}, now); err != nil || gone != 0 {
		t.Errorf("no folder: %d, %v", gone, err)
	}
}
