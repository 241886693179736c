package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestHarvest(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	put := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(dir, "plain"))
	put(filepath.Join(dir, "sub", "plain"))
	put(filepath.Join(dir, "twice"))
	put(filepath.Join(other, "secret"))
	must(os.Link(filepath.Join(dir, "twice"), filepath.Join(dir, "again")))
	must(os.Symlink(filepath.Join(other, "secret"), filepath.Join(dir, "link")))
	must(os.Symlink(other, filepath.Join(dir, "folder")))
	must(os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))

	for _, tt := range []struct{ name, wrong string }{
		{"plain", ""},
		{"sub/plain", ""},
		{"./sub/../plain", ""},
		{"twice", "2 names"},
		{"link", "too many levels"},
		{"folder/secret", "not a directory"},
		{"zero", "too many levels"},
		{"fifo", "not a regular file"},
		{"sub", "not a regular file"},
		{"../" + filepath.Base(other) + "/secret", "leads out"},
		{filepath.Join(other, "secret"), "leads out"},
		{"", "leads out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Harvest(dir, tt.name, 5)
			if tt.wrong == "" && (err != nil || string(b) != "12345") {
				t.Errorf("got %q, %v", b, err)
			}
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong) || b != nil) {
				t.Errorf("got %q, error %v, want one that says %q", b, err, tt.wrong)
			}
		})
	}
	if _, err := Harvest(dir, "missing", 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Harvest(dir, "plain", 4); err == nil || !strings.Contains(err.Error(), "5 bytes, more than 4") {
		t.Errorf("too long: %v", err)
	}
}
