package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestReapRuns(t *testing.T) {
	root := t.TempDir()
	live, end, err := runDir(root)
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(root, runPrefix+"dead")
	young, old := filepath.Join(root, runPrefix+"young"), filepath.Join(root, runPrefix+"old")
	stranger := filepath.Join(root, "redraft-other")
	for _, dir := range []string{filepath.Join(dead, "tmp", "closed"), young, old, stranger} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dead, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dead, "tmp", "closed"), 0); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	reapRuns(root)
	for path, want := range map[string]bool{live: true, young: true, stranger: true, dead: false, old: false} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Dir(live)); err == nil {
		t.Error("a finished run left its folder")
	}
}
