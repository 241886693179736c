package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// grace is how long a shim that was told to end everything may take before it is done from outside.
const grace = 10 * time.Second

// run starts the warden and waits for its answer.
func (s *Sandbox) run(ctx context.Context, c Command) (res Result, err error) {
	if c.Memory <= 0 {
		c.Memory = freeMemory() / 4 * 3
	}
	tmp, remove, err := runDir(s.tmp)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	l := &launch{wires: wires{out: capture{max: c.Output}, err: capture{max: c.Output}}, argv: append(slices.Clone(s.shim), shimMarker)}
	if l.order, err = s.plan(c, tmp); err != nil {
		return Result{}, err
	}
	closeDoors, err := forward(c.Forward)
	if err != nil {
		return Result{}, err
	}
	defer closeDoors()
	return l.run(ctx, c.Stdin)
}

// plan is the order for the warden.
func (s *Sandbox) plan(c Command, tmp string) (order, error) {
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return order{}, fmt.Errorf("working directory: %w", err)
	}
	watch, _, err := realPaths(append([]string{tmp}, c.Write...))
	if err != nil {
		return order{}, err
	}
	o := order{Argv: c.Argv, Dir: dir, Env: c.env(tmp), Wall: c.Wall, Memory: c.Memory, Pids: c.Pids, Disk: c.Disk, Watch: watch}
	keeper := append(slices.Clone(s.shim), keeperMarker, shimMarker)
	if s.tier != Seatbelt {
		o.Launch = keeper
		return o, nil
	}
	p, err := s.profile(c, tmp)
	if err != nil {
		return order{}, err
	}
	o.Sealed, o.Launch = true, []string{sandboxExec, "-p", p.text}
	for _, kv := range p.params {
		o.Launch = append(o.Launch, "-D", kv)
	}
	o.Launch = append(append(o.Launch, "--"), keeper...)
	return o, nil
}

// profile is the profile of one command, over real paths.
func (s *Sandbox) profile(c Command, tmp string) (profile, error) {
	b := seatbelt{Shim: s.shim[0], Home: operatorHome(), Network: c.Network, Closed: slices.Concat(s.closed, c.DenyPorts)}
	slices.Sort(b.Closed)
	b.Closed = slices.Compact(b.Closed)
	tmps, _, err := realPaths([]string{tmp})
	if err != nil {
		return profile{}, err
	}
	b.Tmp = tmps[0]
	var readLinks, writeLinks []string
	if b.Read, readLinks, err = realPaths(append(developerTools(), c.Read...)); err != nil {
		return profile{}, err
	}
	if b.Write, writeLinks, err = realPaths(c.Write); err != nil {
		return profile{}, err
	}
	b.Links = append(readLinks, writeLinks...)
	return b.compile()
}

// realPaths are what paths lead to, as Seatbelt sees them, and those that were other names for it.
func realPaths(paths []string) (out, links []string, err error) {
	for _, p := range paths {
		r, err := filepath.EvalSymlinks(p)
		if err != nil {
			return nil, nil, fmt.Errorf("path to give: %w", err)
		}
		if r = firm(r); r != p {
			links = append(links, p)
		}
		out = append(out, r)
	}
	return out, links, nil
}

// forward listens where the command will look for its ports: its loopback is the machine's. Others on this machine reach them too.
func forward(list []Forward) (closeAll func(), err error) {
	var open []net.Listener
	closeAll = func() {
		for _, l := range open {
			l.Close()
		}
	}
	for _, f := range list {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Port)))
		if err != nil {
			closeAll()
			return nil, fmt.Errorf("forward port %d: %w", f.Port, err)
		}
		open = append(open, l)
		go f.Serve(l)
	}
	return closeAll, nil
}

// launch is one run as the caller's process sees it.
type launch struct {
	order order
	argv  []string
	wires

	cmd *exec.Cmd
}

func (l *launch) run(ctx context.Context, stdin io.Reader) (Result, error) {
	pipes, err := l.start(stdin)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", l.argv[0], err)
	}
	defer pipes.close()
	answer := l.await(ctx)
	state := l.cmd.Wait()
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
	case <-ctx.Done():
	case <-late.C:
	}
	l.life.Close()
	select {
	case a := <-l.answer:
		return a
	case <-time.After(grace):
		killFamily(l.cmd.Process.Pid)
		return l.lastWord()
	}
}

// killFamily kills everything below root and then root, from outside: for a shim that does not answer.
func killFamily(root int) {
	id, maker := numbers(root)
	family := newKin(relative{pid: root, group: -1, id: id, maker: maker})
	for range 50 {
		list, err := table()
		if err != nil {
			break
		}
		below := family.grow(list)
		delete(below, root)
		for pid := range below {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		if len(below) == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	_ = unix.Kill(root, unix.SIGKILL)
}

// start starts the shim with an empty environment and hands it the order.
func (l *launch) start(stdin io.Reader) (ours pipes, err error) {
	l.cmd = &exec.Cmd{Path: l.argv[0], Args: l.argv, Env: []string{}, Dir: "/"}
	if ours, err = l.wires.start(l.cmd, stdin, nil); err != nil {
		return ours, err
	}
	go func() { _ = json.NewEncoder(l.life).Encode(l.order) }() // one that died does not read it: its answer tells
	return ours, nil
}

// result turns the shim's answer into a Result.
func (l *launch) result(answer []byte, state error) (Result, error) {
	stdout, cutOut := l.out.bytes()
	stderr, cutErr := l.err.bytes()
	var e ending
	if err := json.Unmarshal(answer, &e); err != nil {
		return Result{}, fmt.Errorf("the shim died without an answer: %s", said(state, stderr))
	}
	if e.Failure != "" {
		return Result{}, errors.New(said(errors.New(e.Failure), stderr))
	}
	if e.NotFound != "" {
		stderr = append(stderr, e.NotFound+"\n"...)
	}
	var refused []string
	if note := nestedNote(l.order.Argv, stdout, stderr); note != "" && l.order.Sealed {
		stderr, refused = append(stderr, note...), []string{"sandbox_apply"}
	}
	return Result{
		Exit: e.Exit, Signal: e.Signal, Limit: e.Limit, Wall: e.Wall, User: e.User, Sys: e.Sys, MaxRSS: e.MaxRSS,
		Stdout: stdout, Stderr: stderr, Truncated: cutOut || cutErr, Refused: refused,
	}, nil
}
