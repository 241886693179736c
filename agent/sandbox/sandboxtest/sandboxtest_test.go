package sandboxtest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.Main()
	os.Exit(m.Run())
}

// TestTiers holds every tier to its promise. A machine that lacks a tier's backend says so; a backend that is there
// and does not work fails.
func TestTiers(t *testing.T) {
	for _, tier := range []sandbox.Tier{sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt, sandbox.Unconfined} {
		t.Run(string(tier), func(t *testing.T) {
			sandboxtest.Test(t, func() *sandbox.Sandbox {
				box, err := sandbox.Open(sandbox.Options{Tier: tier, Allow: []sandbox.Tier{sandbox.Unconfined}})
				if err != nil && lacking(err.Error()) {
					t.Skipf("REFUSED: %v", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				return box
			})
		})
	}
}

func lacking(text string) bool {
	for _, why := range []string{"bwrap is not installed", "this kernel has no Landlock", "Landlock is switched off", "Landlock of this kernel is version", "not available on"} {
		if strings.Contains(text, why) {
			return true
		}
	}
	return false
}
