//go:build !linux && !darwin

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// confining is empty: no tier for this system is built in.
var confining = []Tier{}

const advice = "this program cannot confine commands on " + runtime.GOOS + " yet: use it on Linux; " +
	"--sandbox none runs commands unconfined, on your own word"

func (s *Sandbox) open([]string) error {
	s.backend = backend{}
	if s.tier != Unconfined {
		return fmt.Errorf("not available on %s", runtime.GOOS)
	}
	s.gaps = []string{
		"Commands are not confined: they may read and write what this user may, and reach the network.",
		"Only time and output are bounded, and a process that leaves the command's group outlives it.",
	}
	return nil
}

// shim and probe have no part on this system.
func shim() int                   { return 125 }
func probe(string, io.Writer) int { return 125 }

// run runs the command in a process group of its own and kills the group at the end.
func (s *Sandbox) run(ctx context.Context, c Command) (res Result, err error) {
	tmp, remove, err := runDir(s.tmp)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	path, err := lookPath(c)
	if err != nil {
		return Result{Exit: 127, Stderr: []byte("redraft: " + err.Error() + "\n")}, nil
	}
	out, errs := capture{max: c.Output}, capture{max: c.Output}
	wall, stop := context.WithTimeout(ctx, c.Wall)
	defer stop()
	cmd := exec.CommandContext(wall, path, c.Argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Env = c.Argv[0], c.Dir, c.env(tmp)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Result{Exit: 126, Stderr: []byte("redraft: " + err.Error() + "\n")}, nil
	}
	_ = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return outcome(cmd.ProcessState, &out, &errs, time.Since(start), wall.Err() != nil), nil
}

func outcome(state *os.ProcessState, out, errs *capture, took time.Duration, late bool) Result {
	res := Result{Exit: state.ExitCode(), Wall: took, User: state.UserTime(), Sys: state.SystemTime()}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Signal = ws.Signal().String()
		if ws.Signal() == syscall.SIGKILL {
			res.Signal = "SIGKILL"
		}
	}
	if late {
		res.Limit = "wall"
	}
	var cutOut, cutErr bool
	res.Stdout, cutOut = out.bytes()
	res.Stderr, cutErr = errs.bytes()
	res.Truncated = cutOut || cutErr
	return res
}

// lookPath finds the program in the PATH of the command's own environment.
func lookPath(c Command) (string, error) {
	name := c.Argv[0]
	if filepath.Base(name) != name {
		if filepath.IsAbs(name) {
			return name, nil
		}
		return filepath.Join(c.Dir, name), nil
	}
	for _, kv := range c.Env {
		if len(kv) < 5 || kv[:5] != "PATH=" {
			continue
		}
		for _, dir := range filepath.SplitList(kv[5:]) {
			file := filepath.Join(dir, name)
			if fi, err := os.Stat(file); err == nil && filepath.IsAbs(dir) && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%s: command not found", name)
}
