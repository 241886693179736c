// Package sandboxtest tries to break out of a sandbox, and to outlive, outgrow and deceive it. It leaves to the
// sandbox's own tests what only one tier has. Every attempt is first seen to succeed outside, so that a denial
// means something, and one that this machine cannot make even outside is REFUSED, not passed.
package sandboxtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// probeMarker begins the arguments of a process that is one of our attempts.
const probeMarker = "sandboxtest-probe"

// Main turns this process into the sandbox's shim or into one of the attempts when it was started as one, and then
// never returns. Call it first thing in TestMain.
func Main() {
	sandbox.Main()
	if len(os.Args) < 3 || os.Args[1] != probeMarker {
		return
	}
	p, ok := probes[os.Args[2]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such probe:", os.Args[2])
		syscall.Exit(2)
	}
	if err := p(os.Args[3:]); err != nil {
		fmt.Println("denied:", err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// probe makes one attempt: nil if it succeeded. It runs in a process of its own, outside and inside.
type probe func(args []string) error

// Test holds a sandbox to what its tier promises. open is called once; the test binary's TestMain must call Main.
func Test(t *testing.T, open func() *sandbox.Sandbox) {
	test(t, open())
}
