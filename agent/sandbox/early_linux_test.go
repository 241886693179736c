package sandbox

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// TestBeginsEarly: a process that is started as the shim runs nothing of the packages that begin later, of which net is one here.
func TestBeginsEarly(t *testing.T) {
	trace := func(arg string) string {
		cmd := exec.Command(os.Args[0], arg)
		cmd.Env = []string{"GODEBUG=inittrace=1"}
		out, _ := cmd.CombinedOutput() // without its pipes the shim ends with a status of its own
		return string(out)
	}
	for arg, later := range map[string]bool{"-test.run=^$": true, warden.Marker: false} {
		out := trace(arg)
		if !strings.Contains(out, "init golang.org/x/sys/unix @") {
			t.Fatalf("%s: no trace of what began:\n%s", arg, out)
		}
		if strings.Contains(out, "init net @") != later || strings.Contains(out, "init regexp @") != later {
			t.Errorf("%s: later packages began %v, want %v:\n%s", arg, !later, later, out)
		}
	}
}
