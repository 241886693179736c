package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/registry"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/worktree"
)

// registryPort is where setup commands find the proxy, on a loopback that is theirs alone.
const registryPort = 4873

// listenersFD is the socket over which the proxy is handed its listeners.
const listenersFD = 3

// registryCmd is the process between setup commands and package registries: it has a way out, and neither a credential nor
// anything of a repository.
func (a *app) registryCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "registry UPSTREAMS",
		Short:  "answer setup commands for package registries (started by repair, not by people)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if env := os.Environ(); len(env) > 0 {
				return usage("registry: the environment must be empty; it holds %d variables", len(env))
			}
			var upstreams map[string]string
			if err := json.Unmarshal([]byte(args[0]), &upstreams); err != nil {
				return usage("registry: read the upstreams: %w", err)
			}
			return a.registry(cmd.Context(), upstreams)
		},
	}
}

// registry serves until its standard input ends, as it does when the parent is gone.
func (a *app) registry(ctx context.Context, upstreams map[string]string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	enc := json.NewEncoder(a.out)
	proxy, err := registry.New(registry.Options{Port: registryPort, Upstreams: upstreams, Record: func(r registry.Record) { _ = enc.Encode(r) }})
	if err != nil {
		return usage("%w", err)
	}
	conn, err := unixConn(os.NewFile(listenersFD, "listeners"))
	if err != nil {
		return usage("registry: no socket to be handed listeners over: %w", err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(io.Discard, a.stdin)
		cancel()
		conn.Close()
	}()
	for {
		ln, err := receiveListener(conn)
		if err != nil {
			return nil //nolint:nilerr // the parent wants no more
		}
		go func() { _ = proxy.Serve(ctx, ln) }()
	}
}

// startRegistry starts the proxy's process. What serve is given is answered for there; stop ends it.
func startRegistry(exe string, upstreams map[string]string) func(context.Context, *os.File) (func(net.Listener), func() error, error) {
	return func(ctx context.Context, record *os.File) (serve func(net.Listener), stop func() error, err error) {
		arg, err := json.Marshal(upstreams)
		if err != nil {
			return nil, nil, err
		}
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return nil, nil, err
		}
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
		theirs := os.NewFile(uintptr(fds[1]), "listeners")
		defer theirs.Close()
		ours, err := unixConn(os.NewFile(uintptr(fds[0]), "listeners"))
		if err != nil {
			return nil, nil, err
		}
		cmd := exec.Command(exe, "registry", string(arg))
		cmd.Env, cmd.Dir, cmd.Stdout = []string{}, "/", record
		cmd.ExtraFiles = []*os.File{theirs}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		alive, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			ours.Close()
			return nil, nil, err
		}
		return func(ln net.Listener) { sendListener(ours, ln) }, func() error { return stopRegistry(cmd, alive, ours) }, nil
	}
}

// stopRegistry ends the proxy by the end of its input, and by force if it does not hear.
func stopRegistry(cmd *exec.Cmd, alive io.Closer, conn io.Closer) error {
	alive.Close()
	conn.Close()
	late := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the registry proxy: %w", err)
	}
	return nil
}

func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("it is of another kind"), c.Close())
	}
	return u, nil
}

// sendListener hands a listener over. Who cannot take it leaves the command with a port that nobody answers.
func sendListener(conn *net.UnixConn, ln net.Listener) {
	tcp, ok := ln.(*net.TCPListener)
	if !ok {
		return
	}
	f, err := tcp.File()
	if err != nil {
		return
	}
	defer f.Close()
	_, _, _ = conn.WriteMsgUnix([]byte{1}, unix.UnixRights(int(f.Fd())), nil)
}

func receiveListener(conn *net.UnixConn) (net.Listener, error) {
	data, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(data, oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener came")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("no listener came")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// setup is the oracle's setup of a job, nil where the operator lets none be run or none is configured.
func setup(j trace.Job, set plan.Set, from string) (*oracle.Setup, error) {
	if j.Setup == nil || len(set.Setup) == 0 {
		return nil, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the running executable: %w", err)
	}
	return &oracle.Setup{
		Commands: set.Setup, From: from, State: j.State, Domain: j.Setup.Domain, Port: registryPort, Env: registry.Environ(registryPort), Files: registry.Files(registryPort),
		Proxy: startRegistry(exe, j.Setup.Registries), Keep: agent.KeepFile(j.Evidence),
		Copy: func(ctx context.Context, from, to string) error {
			_, err := worktree.Copy(ctx, filepath.Clean(from), to)
			return err
		},
	}, nil
}
