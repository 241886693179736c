package main

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"
)

// That git was killed is our side's failure; that it says no is the user's to mend.
func TestUninspected(t *testing.T) {
	for script, want := range map[string]int{"kill -9 $$": exitFailed, "exit 128": exitUsage} {
		err := uninspected(fmt.Errorf("inspect: git status: %w", exec.Command("sh", "-c", script).Run()))
		var c *coded
		if !errors.As(err, &c) || c.code != want {
			t.Errorf("%s: %v, want status %d", script, err, want)
		}
	}
}
