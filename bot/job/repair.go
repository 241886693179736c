package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/trace"
)

// grace is how long a cancelled repair process may take to write its stop and clean up before it is killed.
const grace = 20 * time.Second

// repair starts the repair process with an empty environment, shows its progress, and reads its stop from the trace.
func (j Job) repair(ctx context.Context, spec trace.Job) (trace.Stop, error) {
	file, err := trace.WriteJob(j.Evidence, spec)
	if err != nil {
		return trace.Stop{}, fmt.Errorf("write the job: %w", err)
	}
	said, err := os.Create(filepath.Join(j.Evidence, "repair.log"))
	if err != nil {
		return trace.Stop{}, err
	}
	defer said.Close()
	argv := append(append([]string{}, j.Exe...), "repair", file)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{} // not nil: nil would inherit ours, credentials and all
	cmd.Dir = j.Evidence
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C reaches this side alone, which then cancels in order
	// Never written to: its end tells repair that this process is gone, whatever killed it.
	alive, err := cmd.StdinPipe()
	if err != nil {
		return trace.Stop{}, err
	}
	defer alive.Close()
	progress, err := cmd.StdoutPipe()
	if err != nil {
		return trace.Stop{}, err
	}
	if err := cmd.Start(); err != nil {
		return trace.Stop{}, fmt.Errorf("start repair: %w", err)
	}
	stopped := context.AfterFunc(ctx, func() { j.cancel(cmd, context.Cause(ctx)) })
	defer stopped()
	scanErr := trace.ScanProgress(progress, func(e trace.Event) {
		if j.OnEvent != nil {
			j.OnEvent(e)
		}
	})
	err = errors.Join(cmd.Wait(), scanErr)
	return j.stopOf(err)
}

// cancel asks repair to end, durably and by signal, and kills it when it does not.
func (j Job) cancel(cmd *exec.Cmd, why error) {
	_ = trace.RequestCancel(j.Evidence, why.Error())
	_ = cmd.Process.Signal(syscall.SIGTERM)
	time.AfterFunc(grace, func() { _ = cmd.Process.Kill() })
}

// stopOf is the stop that repair left in the trace; without one it failed, and its last words say why.
func (j Job) stopOf(exit error) (trace.Stop, error) {
	events, _, err := trace.Read(filepath.Join(j.Evidence, "trace.jsonl"))
	if err != nil {
		return trace.Stop{}, errors.Join(exit, err)
	}
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == trace.TypeStop {
			return trace.StopOf(events[i])
		}
	}
	said, _ := os.ReadFile(filepath.Join(j.Evidence, "repair.log"))
	if exit == nil {
		exit = errors.New("no stop was written")
	}
	return trace.Stop{}, fmt.Errorf("repair: %w: %s", exit, j.clean(tail(said)))
}

func tail(b []byte) string {
	if len(b) > 2000 {
		b = b[len(b)-2000:]
	}
	return string(b)
}
