package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// listing describes all below dir: kind, mode, time, and bytes or target.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := ""
		switch info.Mode().Type() {
		case 0:
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		case fs.ModeSymlink:
			text, _ = os.Readlink(path)
		}
		rel, _ := filepath.Rel(dir, path)
		out = append(out, fmt.Sprintf("%q %v %v %q", rel, info.Mode(), info.ModTime().UnixNano(), text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCopy(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	writeFiles(t, src, map[string]string{"a.txt": "a\r\nb", "run*": "#!", "deep/er/x": "x", "odd \xff\n\"name": "", "big": strings.Repeat("0123456789", 60000)})
	for i := range 200 {
		writeFiles(t, src, map[string]string{fmt.Sprintf("many/%03d", i): fmt.Sprint(i)})
	}
	links := map[string]string{"in": "a.txt", "out": "/etc/passwd", "up": "../../..", "loop": "loop", "dir": "deep"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(src, name)); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Unix(1500000000, 123456789)
	for _, name := range []string{"a.txt", "deep/er", "deep", "."} {
		if err := os.Chtimes(filepath.Join(src, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	dst := filepath.Join(t.TempDir(), "dst")
	stats, err := Copy(t.Context(), src, dst)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(listing(t, src), listing(t, dst)); d != "" {
		t.Errorf("copy differs (-src +dst):\n%s", d)
	}
	stats.Cloned = 0 // as the disk has it
	if want := (Stats{Files: 205, Dirs: 4, Links: 5, Bytes: 600007 + 490}); stats != want {
		t.Errorf("stats %+v, want %+v", stats, want)
	}
}

// Files of a module cache are read-only; some trees carry bits that mean something to a host.
func TestCopyModes(t *testing.T) {
	for _, c := range []struct{ src, want fs.FileMode }{
		{0o444, 0o644}, {0o555, 0o755}, {0o644, 0o644}, {0o400, 0o600}, {0o755 | fs.ModeSetuid | fs.ModeSetgid, 0o755}, {0o777, 0o777},
	} {
		src, dst := t.TempDir(), filepath.Join(t.TempDir(), "dst")
		writeFiles(t, src, map[string]string{"d/f": "x"})
		if err := errors.Join(os.Chmod(src+"/d/f", c.src), os.Chmod(src+"/d", 0o555)); err != nil {
			t.Fatal(err)
		}
		_, err := Copy(t.Context(), src, dst)
		if err := errors.Join(err, os.Chmod(src+"/d", 0o755)); err != nil {
			t.Fatal(err)
		}
		file, err1 := os.Stat(dst + "/d/f")
		dir, err2 := os.Stat(dst + "/d")
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if file.Mode() != c.want || dir.Mode().Perm() != 0o755 {
			t.Errorf("%v became %v in %v, want %v", c.src, file.Mode(), dir.Mode(), c.want)
		}
	}
}

func TestCopyRefuses(t *testing.T) {
	socket := func(path string) error {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	deep := func(path string) error { return os.MkdirAll(path+strings.Repeat("/d", copyDepth+1), 0o755) }
	tests := []struct {
		name string
		make func(path string) error
		want error
	}{
		{"named pipe", func(path string) error { return unix.Mkfifo(path, 0o644) }, ErrSpecial},
		{"socket", socket, ErrSpecial},
		{"too deep", deep, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src, into := t.TempDir(), t.TempDir()
			writeFiles(t, src, map[string]string{"a": "a"})
			if err := tt.make(filepath.Join(src, "s")); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { _, err := Copy(context.Background(), src, filepath.Join(into, "dst")); done <- err }()
			select {
			case err := <-done:
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("error %v, want %v", err, tt.want)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("the copy hangs")
			}
			if left, _ := os.ReadDir(into); len(left) > 0 {
				t.Error("a failed copy stays")
			}
		})
	}
	src := t.TempDir()
	writeFiles(t, src, map[string]string{"a": "a", "full/b": "b"})
	for _, dst := range []string{src, src + "/inside", src + "/full", src + "/a", t.TempDir() + "/no/parent"} {
		if _, err := Copy(t.Context(), src, dst); err == nil {
			t.Errorf("copied %s to %s", src, dst)
		}
	}
	if _, err := Copy(t.Context(), src+"/none", t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing source: %v", err)
	}
	if b, err := os.ReadFile(src + "/full/b"); string(b) != "b" {
		t.Errorf("a refused copy touched its target: %v", err)
	}
}

func TestCopyCancelled(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "dst")
	for i := range 500 {
		writeFiles(t, src, map[string]string{fmt.Sprintf("%d/%d", i%20, i): "x"})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	time.AfterFunc(2*time.Millisecond, func() { cancel(enough) })
	if _, err := Copy(ctx, src, dst); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
	if _, err := os.Lstat(dst); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a cancelled copy stays")
	}
}

func TestFresh(t *testing.T) {
	src := t.TempDir()
	writeFiles(t, src, map[string]string{"a": "a", "d/b*": "b"})
	copies := &Copies{From: src, Into: t.TempDir()}
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			dir, remove, err := copies.Fresh(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			if seen[dir] {
				t.Errorf("%s was given twice", dir)
			}
			seen[dir] = true
			mu.Unlock()
			if d := cmp.Diff(listing(t, src)[1:], listing(t, dir)[1:]); d != "" {
				t.Error(d)
			}
			if err := errors.Join(remove(t.Context()), remove(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if left, _ := os.ReadDir(copies.Into); len(left) > 0 || len(seen) != 12 {
		t.Errorf("%d left of %d", len(left), len(seen))
	}
	again := &Copies{From: src, Into: copies.Into}
	dir, remove, err := again.Fresh(t.Context())
	if err != nil || seen[dir] {
		t.Errorf("a later process gets %s again, %v", dir, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := remove(ctx); err != nil {
		t.Errorf("remove with an ended context: %v", err)
	}
	if _, _, err := again.Fresh(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("fresh with an ended context: %v", err)
	}
	if left, _ := os.ReadDir(copies.Into); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// Tests leave what they like: locked folders, links out, pipes, names of any bytes, folders without end. As root
// nothing is locked, so the work is done as another user where that can be.
func TestRemoveHostile(t *testing.T) {
	if os.Getuid() == 0 && os.Getenv("WORKTREE_TEST_NOT_ROOT") == "" {
		asNobody(t)
	} else if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: 200}); err != nil && os.Getuid() != 0 {
		t.Fatal(err) // not every folder can be held open
	}
	top := realTemp(t)
	victim := filepath.Join(top, "victim")
	writeFiles(t, victim, map[string]string{"keep": "keep"})
	dir := filepath.Join(top, "dir")
	writeFiles(t, dir, map[string]string{"ro/a/b": "x", "none/c": "x", "odd\xff\n/f": "", ".moved-1/x/y": "", ".moved-2": ""})
	err := errors.Join(
		os.Symlink(victim, dir+"/out"), os.Symlink("..", dir+"/ro/up"), unix.Mkfifo(dir+"/pipe", 0),
		os.Chmod(dir+"/ro/a", 0o500), os.Chmod(dir+"/ro", 0o555), os.Chmod(dir+"/none", 0), os.Chmod(dir+"/odd\xff\n", 0o111),
	)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Repeat("deep", 5)
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 400 { // deeper than any path is long
		if err := unix.Mkdirat(fd, name, 0o700); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	if err := removeAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder stays")
	}
	if b, err := os.ReadFile(victim + "/keep"); string(b) != "keep" {
		t.Errorf("what a link named was touched: %v", err)
	}
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("what a link named was touched: %v, %v", info.Mode(), err)
	}
	if err := errors.Join(removeAll(dir), removeAll(dir+"/no/such")); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
}

// asNobody runs the calling test again as a user without rights.
func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "worktree-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	bin := filepath.Join(dir, "test")
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(bin, b, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-test.run=^"+t.Name()+"$")
	cmd.Dir = dir
	cmd.Env = []string{"WORKTREE_TEST_NOT_ROOT=1", "TMPDIR=" + dir, "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = otherUser()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

func BenchmarkCopy(b *testing.B) {
	src := b.TempDir()
	for i := range 1200 {
		writeFiles(b, src, map[string]string{fmt.Sprintf("p%d/q%d/f%d.go", i%12, i%7, i): strings.Repeat("package x\n", 50+i%900)})
	}
	names := []string{"Copy", "cp -r"}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range names { // in turns, so that what else the machine does meets both
			dst := filepath.Join(b.TempDir(), "dst")
			start := time.Now()
			if name == "Copy" {
				if _, err := Copy(b.Context(), src, dst); err != nil {
					b.Fatal(err)
				}
			} else if out, err := exec.Command("cp", "-r", src, dst).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			took[name] = append(took[name], time.Since(start))
			b.StopTimer()
			if err := removeAll(dst); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
	median := func(name string) time.Duration { slices.Sort(took[name]); return took[name][len(took[name])/2] }
	b.ReportMetric(float64(median("Copy").Microseconds())/1000, "ms/Copy")
	b.ReportMetric(float64(median("cp -r").Microseconds())/1000, "ms/cp")
	b.ReportMetric(float64(median("Copy"))/float64(median("cp -r")), "Copy/cp")
}

// What the system takes off a mode is known, or said not to be.
func TestMasked(t *testing.T) {
	now := unix.Umask(0)
	unix.Umask(now)
	if got := masked(); got != uint32(now) && got != 0o777 {
		t.Errorf("%o, want %o", got, now)
	}
	src := t.TempDir()
	for _, mode := range []os.FileMode{0o400, 0o644, 0o666, 0o755, 0o777, 0o600} {
		name := filepath.Join(src, mode.String())
		if err := errors.Join(os.WriteFile(name, []byte("x"), 0o600), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
	}
	dst := filepath.Join(t.TempDir(), "dst")
	if _, err := Copy(t.Context(), src, dst); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dst)
	if err != nil || len(entries) != 6 {
		t.Fatal(err, entries)
	}
	for _, e := range entries {
		info, err := e.Info()
		if was, statErr := os.Stat(filepath.Join(src, e.Name())); err != nil || statErr != nil || info.Mode() != was.Mode()|0o600 {
			t.Errorf("%s became %v: %v, %v", e.Name(), info.Mode(), err, statErr)
		}
	}
}
