package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestWatchdog: where no control group may be written, memory and processes are bounded all the same, and the gap is told.
func TestWatchdog(t *testing.T) {
	for _, tier := range confining {
		t.Run(string(tier), func(t *testing.T) {
			box, err := Open(Options{Tier: tier})
			if err != nil {
				t.Skipf("REFUSED: %v", err)
			}
			box.controls = controls{}
			if box.controls.gap() != watchdogGap {
				t.Errorf("gap %q", box.controls.gap())
			}
			for _, tt := range []struct{ script, limit string }{
				{"true", ""},
				{"head -c 400000000 /dev/zero | tail -n 1 | sleep 20", "memory"},
				{"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 20 & done; wait", "pids"},
			} {
				dir := t.TempDir()
				start := time.Now()
				res, err := box.Run(t.Context(), Command{Argv: []string{"sh", "-c", tt.script}, Dir: dir, Write: []string{dir},
					Env: []string{"PATH=/usr/bin:/bin"}, Memory: 64 << 20, Pids: 10, Wall: time.Minute})
				if err != nil || res.Limit != tt.limit {
					t.Errorf("%s: limit %q, exit %d, %v; want limit %q", tt.script, res.Limit, res.Exit, err, tt.limit)
				}
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("%s: it took %s", tt.script, took)
				}
			}
		})
	}
}

// TestCapsOfAnotherUser makes the tests of the caps once more as a user without rights, in groups that were given to it.
func TestCapsOfAnotherUser(t *testing.T) {
	c := findControls()
	setpriv, err := exec.LookPath("setpriv")
	if os.Getuid() != 0 || c.version != 1 || err != nil {
		t.Skip("REFUSED: it takes root, setpriv and control groups of version 1 to give some away")
	}
	const nobody = 65534
	dir := t.TempDir()
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := ""
	for _, parent := range []string{c.memory, c.pids} {
		given := filepath.Join(parent, "redraft-given-"+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(given, 0o755); err != nil {
			t.Skipf("REFUSED: %v", err)
		}
		defer func() { _ = (&folder{path: given, dir: os.NewFile(^uintptr(0), "")}).remove() }()
		if err := os.Chown(given, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		script += "echo 0 >" + given + "/cgroup.procs; "
	}
	exe, tmp := filepath.Join(dir, "test"), filepath.Join(dir, "tmp")
	if out, err := exec.Command("cp", os.Args[0], exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(tmp, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", script+`exec "$@"`, "sh", setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "--",
		exe, "-test.v", "-test.run", "^(TestCaps|TestGroupsGo)$")
	cmd.Dir, cmd.Env = tmp, []string{"TMPDIR=" + tmp, "HOME=" + tmp, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestCaps/landlock/memory_of_a_child") {
		t.Errorf("%v\n%s", err, out)
	}
}
