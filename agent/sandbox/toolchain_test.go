package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeGo stands in for the go command: it lists, and leaves a line in the cache for every compilation.
const fakeGo = `#!/bin/sh
case "$1" in
list) echo errors; echo fmt; echo odd ;;
*) grep -q '_ "fmt"' base_test.go || { echo no import >&2; exit 2; }
   grep -q odd base_test.go && exit 3
   mkdir -p "$GOCACHE/ab" && echo "$* $GOFLAGS $GOPROXY $KEEP" >>"$GOCACHE/ab/log" && echo 1 >"$GOCACHE/trim.txt"
   ln -sf /etc/passwd "$GOCACHE/link" ;;
esac
`

func fakeSpec(t *testing.T, script string) BaseSpec {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return BaseSpec{Key: "go1 linux", State: t.TempDir(), Read: []string{bin}, Flags: []string{"-race"},
		Env: []string{"PATH=" + bin + ":/usr/bin:/bin", "GOFLAGS=-mod=vendor -trimpath", "GOPROXY=https://elsewhere", "KEEP=kept"}}
}

func openAny(t *testing.T) *Sandbox {
	t.Helper()
	box, err := Open(Options{Allow: []Tier{Unconfined}})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestBuildBase(t *testing.T) {
	box, spec := openAny(t), fakeSpec(t, fakeGo)
	if HasBase(spec) {
		t.Error("a base before any was made")
	}
	var mu sync.Mutex
	var dirs []string
	var wg sync.WaitGroup
	made := 0
	for range 3 { // once, however many ask
		wg.Go(func() {
			dir, did, err := BuildBase(t.Context(), box, spec)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if did {
				made++
			}
			dirs = append(dirs, dir)
		})
	}
	wg.Wait()
	if made != 1 || dirs[0] != dirs[1] || dirs[1] != dirs[2] || !HasBase(spec) {
		t.Fatalf("made %d times: %q", made, dirs)
	}
	b, err := os.ReadFile(filepath.Join(dirs[0], "ab", "log"))
	want := "vet -race . -trimpath off kept\ntest -run=^$ -race . -trimpath off kept\ntest -run=^$ -cover -race . -trimpath off kept\n"
	if err != nil || string(b) != want {
		t.Errorf("compiled %q, %v\nwant %q", b, err, want)
	}
	if _, err := os.Lstat(filepath.Join(dirs[0], "link")); err == nil {
		t.Error("a link is part of the base")
	}
	if fi, err := os.Stat(filepath.Join(dirs[0], "ab", "log")); err != nil || fi.Mode().Perm() != 0o444 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(dirs[0]))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the cache lie %v, %v", entries, err)
	}
	other := spec
	if other.Key = "go2 linux"; HasBase(other) {
		t.Error("two keys share a base")
	}
}

// TestBuildBaseFails: what did not become whole is not there, neither is what a killed maker left.
func TestBuildBaseFails(t *testing.T) {
	box := openAny(t)
	for _, tt := range []struct{ name, script, want string }{
		{"compiler", "#!/bin/sh\n[ $1 = list ] && exit 0\necho 'internal compiler error' >&2\nexit 2\n", "go vet: exit 2: internal compiler error"},
		{"no list", "#!/bin/sh\nexit 1\n", "go list: exit 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := fakeSpec(t, tt.script)
			if err := os.MkdirAll(spec.home()+".new-killed", 0o755); err != nil {
				t.Fatal(err)
			}
			if _, _, err := BuildBase(t.Context(), box, spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if left, _ := filepath.Glob(spec.home() + "*"); len(left) != 1 || HasBase(spec) { // the lock
				t.Errorf("left: %q", left)
			}
		})
	}
	spec := fakeSpec(t, "#!/bin/sh\nsleep 60\n")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	if _, _, err := BuildBase(ctx, box, spec); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCopyBase(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	long := time.Now().Add(-30 * 24 * time.Hour)
	for name, mode := range map[string]os.FileMode{"ab/x-d": 0o444, "ab/tool": 0o555, "trim.txt": 0o444} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(from, "ab", "link")); err != nil {
		t.Fatal(err)
	}
	if err := CopyBase(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"ab/x-d": 0o644, "ab/tool": 0o755} {
		fi, err := os.Stat(filepath.Join(to, name))
		if err != nil || fi.Mode().Perm() != mode || time.Since(fi.ModTime()) > time.Hour {
			t.Errorf("%s: %v, %v", name, fi, err)
		}
		was, err := os.Stat(filepath.Join(from, name))
		if err != nil || os.SameFile(fi, was) {
			t.Errorf("%s is the base's own file: %v", name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "ab", "link")); err == nil {
		t.Error("a link was copied")
	}
	if b, err := os.ReadFile(filepath.Join(to, "trim.txt")); err != nil || string(b) == "trim.txt" {
		t.Errorf("trim.txt says %q, %v: the go command would empty the copy", b, err)
	}
	if err := CopyBase(t.Context(), from, to); err == nil {
		t.Error("a copy over what was there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := CopyBase(ctx, from, to+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
