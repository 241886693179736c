//go:build !linux

package modeltest

import "os/exec"

// dieWithUs does nothing here: only Linux can tie a child to its parent.
func dieWithUs(*exec.Cmd) {}

// runThread starts cmd and closes gone when the child has ended.
func runThread(cmd *exec.Cmd, gone chan<- struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait() // killed is how it usually ends
		close(gone)
	}()
	return nil
}
