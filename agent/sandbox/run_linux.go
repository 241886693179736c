package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/redraft-dev/redraft/agent/sandbox/warden"
)

// grace is how long a shim that was told to end everything may take before it is done from outside.
const grace = 10 * time.Second

// run starts the tier's launcher around the shim and waits for the answer.
func (s *Sandbox) run(ctx context.Context, c Command) (res Result, err error) {
	if c.Memory <= 0 {
		c.Memory = freeMemory() / 4 * 3
	}
	tmp, remove, err := runDir(s.tmp)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	l := &launch{wires: wires{out: capture{max: c.Output}, err: capture{max: c.Output}}}
	defer func() { l.files.close() }()
	if l.order, l.argv, l.files, err = s.plan(c, tmp); err != nil {
		return Result{}, err
	}
	if err := l.forward(c.Forward); err != nil {
		return Result{}, err
	}
	defer l.doors.close()
	if l.group, err = s.controls.newGroup(c.Memory, c.Pids); err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, l.group.close()) }()
	if err := l.enter(); err != nil {
		return Result{}, err
	}
	return l.run(ctx, c.Stdin)
}

// plan is the order for the shim, and the command line that starts it with the files that the launcher reads.
func (s *Sandbox) plan(c Command, tmp string) (o warden.Order, argv []string, files pipes, err error) {
	o = warden.Order{Tier: warden.Tier(s.tier), Argv: c.Argv, Dir: c.Dir, Loopback: c.Network == Loopback, Wall: c.Wall, Memory: c.Memory, Pids: c.Pids, Disk: c.Disk}
	if s.tier == Bubblewrap {
		o.Env, o.Shm, o.Watch = c.env("/tmp"), "/dev/shm", []string{"/tmp"}
		o.Dir = c.seen(filepath.Clean(c.Dir))
		for _, w := range c.Write {
			o.Watch = append(o.Watch, c.seen(w))
		}
		argv, files, err = bubblewrapArgs(s.bwrap, c, tmp, s.shim)
		return o, argv, files, err
	}
	argv = append(slices.Clone(s.shim), warden.Marker)
	o.Env, o.Watch = c.env(tmp), append([]string{tmp}, c.Write...)
	if s.tier == Landlock {
		o.Grants, err = grants(c, tmp)
	}
	return o, argv, nil, err
}

// launch is one run as the caller's process sees it.
type launch struct {
	order warden.Order
	argv  []string
	doors *doors
	group *group
	files pipes // the launcher's, after the order and the ending
	wires

	cmd  *exec.Cmd
	over chan struct{} // closed when the launcher is dead
}

func (l *launch) run(ctx context.Context, stdin io.Reader) (Result, error) {
	// A launcher dies with the thread that started it: this thread must not end before.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pipes, err := l.start(stdin)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", l.argv[0], err)
	}
	defer pipes.close()
	answer := l.await(ctx)
	state := l.cmd.Wait()
	close(l.over)
	if len(answer) == 0 {
		l.group.kill()
	}
	l.drain(pipes)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	return l.result(answer, state)
}

// await is over when the shim has answered or is dead.
func (l *launch) await(ctx context.Context) []byte {
	late := time.NewTimer(l.order.Wall + grace)
	defer late.Stop()
	select {
	case a := <-l.answer:
		l.life.Close()
		return a
	case <-dead(l.cmd.Process.Pid):
		select {
		case a := <-l.answer:
			l.life.Close()
			return a
		case <-time.After(lastWords):
		}
		return l.forsaken()
	case <-ctx.Done():
	case <-late.C:
	}
	l.life.Close()
	select {
	case a := <-l.answer:
		return a
	case <-time.After(grace):
		warden.KillFamily(l.cmd.Process.Pid)
		return l.forsaken()
	}
}

// forsaken ends what a dead launcher left behind. bubblewrap's inner process asks to die with the outer one; where that was
// killed before it could ask, it waits for good for a word from nobody, and is nobody's child. It still holds the pipe that the
// answer would come by, and that is how it is found.
func (l *launch) forsaken() []byte {
	l.life.Close()
	killHolders(l.ending)
	return l.lastWord()
}

// dead is closed when a child has ended. It stays to be waited for.
func dead(pid int) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
		}
	}()
	return over
}

// killHolders kills every other process that has a pipe open.
func killHolders(pipe *os.File) {
	info, err := pipe.Stat()
	if err != nil {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	name := fmt.Sprintf("pipe:[%d]", st.Ino)
	all, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range all {
		pid, err := strconv.Atoi(strings.Split(fd, "/")[2])
		if to, lerr := os.Readlink(fd); err == nil && lerr == nil && to == name && pid != os.Getpid() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// start starts the launcher with an empty environment and hands it the order.
func (l *launch) start(stdin io.Reader) (ours pipes, err error) {
	l.cmd = &exec.Cmd{Path: l.argv[0], Args: l.argv, Env: []string{}, Dir: "/", SysProcAttr: l.group.attr()}
	if ours, err = l.wires.start(l.cmd, stdin, l.files); err != nil {
		return ours, err
	}
	// Where memory runs out the command goes first, and not the caller. Best effort: its children inherit it.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", l.cmd.Process.Pid), []byte("500"), 0)
	l.over = make(chan struct{})
	go l.give(l.life)
	return ours, nil
}

// give writes the order and leaves the pipe open. A launcher that died does not read it: its answer tells.
func (l *launch) give(w io.Writer) {
	_ = json.NewEncoder(w).Encode(l.order)
	l.guard(w)
}

// result turns the shim's answer into a Result.
func (l *launch) result(answer []byte, state error) (Result, error) {
	stdout, cutOut := l.out.bytes()
	stderr, cutErr := l.err.bytes()
	var e warden.Ending
	if err := json.Unmarshal(answer, &e); err != nil {
		if e = l.group.obituary(); e.Limit == "" {
			return Result{}, fmt.Errorf("the shim died without an answer: %s", said(state, stderr))
		}
	}
	if e.Failure != "" {
		return Result{}, errors.New(e.Failure)
	}
	l.group.blame(&e)
	if e.NotFound != "" {
		stderr = append(stderr, e.NotFound+"\n"...)
	}
	return Result{
		Exit: e.Exit, Signal: e.Signal, Limit: e.Limit, Wall: e.Wall, User: e.User, Sys: e.Sys, MaxRSS: e.MaxRSS,
		Stdout: stdout, Stderr: stderr, Truncated: cutOut || cutErr, Refused: e.Refused, Egress: attempts(e.Egress),
	}, nil
}
