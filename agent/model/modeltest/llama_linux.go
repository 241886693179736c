package modeltest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// dieWithUs has the kernel kill the child when the thread that started it ends.
func dieWithUs(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// runThread starts cmd on a thread that lives as long as the child, for the kernel watches the thread, not the process
// (https://go.dev/issue/27505), and closes gone when the child has ended.
func runThread(cmd *exec.Cmd, gone chan<- struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // killed is how it usually ends
			close(gone)
		}
	}()
	return <-started
}
