package sandboxtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights.
const nobody = 65534

// TestAnotherUser makes the attempts once more as a user without rights: what keeps root from something may be its lost
// capabilities, and what keeps others from it their modes.
func TestAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("REFUSED: only root can become another user, and this is none: TestTiers was made as such a one")
	}
	dir := t.TempDir()
	exe := filepath.Join(dir, "suite")
	copyFile(t, os.Args[0], exe)
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	for path := dir; path != "/"; path = filepath.Dir(path) { // the test's own folders, which are closed to others
		if strings.HasPrefix(filepath.Base(path), "TestAnotherUser") || path == dir {
			if err := os.Chmod(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chown(tmp, nobody, nobody); err != nil {
		t.Skipf("REFUSED: %v", err)
	}
	cmd := exec.Command(exe, "-test.v", "-test.run", "^TestTiers$/^(bubblewrap|landlock)$/^(escapes|room|left behind)$")
	cmd.Dir, cmd.Env = tmp, []string{"TMPDIR=" + tmp, "HOME=" + tmp, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, table := range regexp.MustCompile(`(?m)^ +\w+\.go:\d+: tier .*\n(?: +E\d\d .*\n)+`).FindAllString(string(out), -1) {
		t.Log("as another user:\n" + table)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
