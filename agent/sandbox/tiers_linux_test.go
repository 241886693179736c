package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

func TestBinds(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(real, "in"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	got, err := binds(Command{Read: []string{filepath.Join(real, "in"), link, "/usr/bin"}, Write: []string{real}})
	if err != nil {
		t.Fatal(err)
	}
	want := []bind{{real, link, false}, {real, real, false}, {real, real, true}, {filepath.Join(real, "in"), filepath.Join(real, "in"), false}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bind{})); diff != "" {
		t.Error(diff)
	}
	if _, err := grants(Command{Read: []string{filepath.Join(link, "in")}, Write: []string{real}}, dir); err == nil {
		t.Error("Landlock was asked to protect a folder below a writable one, and did not refuse")
	}
}

func TestGroupRoom(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/memory.max": "1000\n", "a/memory.current": "400\n", "a/memory.stat": "anon 1\ninactive_file 100\n",
		"b/memory.max": "max\n", "b/memory.current": "400\n",
		"memory/c/memory.limit_in_bytes": "500\n", "memory/c/memory.usage_in_bytes": "700\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const none = int64(1) << 62
	for groups, want := range map[string]int64{
		"": none, "junk\n": none, "0::/a\n": 700, "0::/b\n": none, "4:memory:/c\n0::/a\n": 0, "3:cpu:/a\n0::/missing\n": none,
	} {
		if got := groupRoom(root, groups); got != want {
			t.Errorf("%q leaves %d, want %d", groups, got, want)
		}
	}
	if free := freeMemory(); free < 1<<20 || free > 1<<50 {
		t.Errorf("this machine has %d bytes free", free)
	}
}

// TestLauncher: nothing of ours is in the launcher's hands but what it needs.
func TestLauncher(t *testing.T) {
	tmp := t.TempDir()
	args, files, err := bubblewrapArgs("/usr/bin/bwrap", Command{Memory: 1 << 20, Write: []string{tmp}}, "/run-tmp", []string{"/the/shim", "-x"})
	if err != nil {
		t.Fatal(err)
	}
	pipes(files).close()
	line := " " + strings.Join(args, " ") + " "
	for _, want := range []string{" --unshare-all ", " --die-with-parent ", " --new-session ", " --cap-drop ALL ", " --bind /run-tmp /tmp ",
		" --bind " + tmp + " " + tmp + " ", " -- " + shimPath + " -x " + warden.Marker + " "} {
		if !strings.Contains(line, want) {
			t.Errorf("no%sin%s", want, line)
		}
	}
	for _, never := range []string{"/", "/etc", "/root", "/home", "/var", "/run", "/sys"} {
		if i := slices.Index(args, never); i >= 0 && args[i-1] != "--remount-ro" && args[i-1] != "--chdir" {
			t.Errorf("%s is given: %s", never, line)
		}
	}
	if strings.Contains(line, "--clearenv") || strings.Contains(line, "--share-net") {
		t.Error(line)
	}
}
