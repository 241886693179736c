package scenes

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKept: a tree is made once, and again where its repair was lost; what fails leaves nothing.
func TestKept(t *testing.T) {
	work, times := t.TempDir(), 0
	prepare := func(parent string) (string, map[string][]byte, error) {
		times++
		dir, err := os.MkdirTemp(parent, "case-*")
		return dir, map[string][]byte{"m.py": []byte("new")}, err
	}
	first, err := kept(work, "example.com/m@v1", prepare)
	if err != nil {
		t.Fatal(err)
	}
	again, err := kept(work, "example.com/m@v1", prepare)
	if d := cmp.Diff(first, again); err != nil || d != "" || times != 1 || string(again.Fix["m.py"]) != "new" {
		t.Errorf("made %d times, %v (-first +again):\n%s", times, err, d)
	}
	if err := os.WriteFile(first.Dir+".repair.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err = kept(work, "example.com/m@v1", prepare); err != nil || times != 2 || string(again.Fix["m.py"]) != "new" {
		t.Errorf("half a repair: made %d times, %v; want it made again", times, err)
	}
	refused := errors.New("REFUSED")
	if _, err := kept(work, "other", func(string) (string, map[string][]byte, error) { return "", nil, refused }); !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
	if left, err := os.ReadDir(filepath.Join(work, "trees")); err != nil || len(left) != 2 {
		t.Errorf("got %v, %v; want the tree and its repair alone", left, err)
	}
}
