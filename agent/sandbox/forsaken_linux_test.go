package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestForsaken has a launcher die and leave a process behind that waits for good with the answer's pipe open, as bubblewrap's
// inner one does when the outer one is killed too early: the run ends soon, and so does what was left.
func TestForsaken(t *testing.T) {
	tmp := t.TempDir()
	left := filepath.Join(tmp, "left")
	launcher := filepath.Join(tmp, "launcher")
	script := fmt.Sprintf("#!/bin/sh\nsleep 1000 </dev/null >/dev/null 2>&1 &\necho $! >%s\nexit 0\n", left)
	if err := os.WriteFile(launcher, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{tier: Bubblewrap, tmp: tmp, shim: []string{exe}, backend: backend{bwrap: launcher}}
	start := time.Now()
	_, err = s.Run(t.Context(), Command{Argv: []string{"true"}, Dir: tmp, Write: []string{tmp}, Env: []string{"PATH=/usr/bin:/bin"}, Wall: 5 * time.Minute})
	if err == nil || !strings.Contains(err.Error(), "died without an answer") {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	b, err := os.ReadFile(left)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(b))
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s is left: %s", pid, stat)
		}
	}
}
