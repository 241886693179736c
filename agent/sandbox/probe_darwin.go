package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// trial is what the probe is asked to try inside.
type trial struct {
	Write   string // must land
	Hook    string // a file of a repository's in the same folder: must not
	Outside string // must not
	Read    string // must be closed
	Dial    string // a listener of ours on a closed port: must be out of reach
	Signal  int    // a process of ours: must be out of reach
}

// tried is what the probe found: the error of each try, "" where it worked.
type tried struct {
	Write, Hook, Outside, Read, Dial, Signal string
	Loopback                                 string // a listener of its own, spoken to
	Env                                      []string
}

const (
	probeText   = "written by the probe\n"
	canaryText  = "a canary\n"
	probeWall   = 20 * time.Second
	dialTimeout = 2 * time.Second
)

// probe runs inside and tries everything, in both directions.
func probe(arg string, out io.Writer) int {
	var t trial
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		return 125
	}
	_, read := os.ReadFile(t.Read)
	got := tried{
		Write: text(os.WriteFile(t.Write, []byte(probeText), 0o600)), Hook: text(os.WriteFile(t.Hook, []byte(probeText), 0o600)),
		Outside: text(os.WriteFile(t.Outside, []byte(probeText), 0o600)), Read: text(read), Dial: text(dial(t.Dial)),
		Signal: text(unix.Kill(t.Signal, 0)), Loopback: text(loopback()), Env: os.Environ(),
	}
	if err := json.NewEncoder(out).Encode(got); err != nil {
		return 125
	}
	return 0
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func dial(addr string) error {
	c, err := net.DialTimeout("tcp", addr, dialTimeout)
	if err != nil {
		return err
	}
	return c.Close()
}

// loopback makes a listener and connects to it.
func loopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	return dial(l.Addr().String())
}

// prove runs the probe in the tier and believes nothing that it did not see: what must fail inside was seen to work outside
// first, and what must land is looked for afterwards.
func (s *Sandbox) prove() error {
	dir, remove, err := runDir(s.tmp)
	if err != nil {
		return err
	}
	defer remove() //nolint:errcheck // the reaper takes what stays
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the probe: %w", err)
	}
	defer l.Close()
	open, closed := filepath.Join(dir, "open"), filepath.Join(dir, "closed")
	t := trial{
		Write: filepath.Join(open, "landed"), Hook: filepath.Join(open, ".git", "config"), Outside: filepath.Join(closed, "landed"),
		Read: filepath.Join(closed, "canary"), Dial: l.Addr().String(), Signal: os.Getpid(),
	}
	if err := control(t); err != nil {
		return fmt.Errorf("probe outside the sandbox: %w", err)
	}
	got, err := s.try(t, l.Addr().(*net.TCPAddr).Port)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return s.believe(t, got)
}

// control shows that every denied way is open to this process.
func control(t trial) error {
	for _, p := range []string{t.Hook, t.Outside} {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			return err
		}
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	if err := os.WriteFile(t.Read, []byte(canaryText), 0o600); err != nil {
		return err
	}
	if err := unix.Kill(t.Signal, 0); err != nil {
		return err
	}
	return dial(t.Dial)
}

// try runs the probe inside, with one port closed.
func (s *Sandbox) try(t trial, port int) (tried, error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return tried{}, err
	}
	dir := filepath.Dir(t.Write)
	c := Command{Dir: dir, Write: []string{dir}, Wall: probeWall, Read: []string{s.shim[0]}, DenyPorts: []int{port}}
	c.Argv = append(append([]string{s.shim[0]}, s.shim[1:]...), probeMarker, string(arg))
	res, err := s.Run(context.Background(), c)
	if err != nil {
		return tried{}, err
	}
	var got tried
	if err := json.Unmarshal(res.Stdout, &got); err != nil {
		return tried{}, fmt.Errorf("it did not answer (exit %d %s%s): %s", res.Exit, res.Signal, res.Limit, said(nil, res.Stderr))
	}
	return got, nil
}

// believe compares what was tried with what the tier promises.
func (s *Sandbox) believe(t trial, got tried) error {
	if b, err := os.ReadFile(t.Write); got.Write != "" || err != nil || string(b) != probeText {
		return fmt.Errorf("an allowed write did not land: %s", got.Write)
	}
	if got.Loopback != "" {
		return fmt.Errorf("the loopback does not work: %s", got.Loopback)
	}
	if s.tier == Unconfined {
		return nil
	}
	for _, p := range []string{t.Outside, t.Hook} {
		if _, err := os.Lstat(p); err == nil || got.Outside == "" || got.Hook == "" {
			return fmt.Errorf("a write to %s was not denied", filepath.Base(p))
		}
	}
	switch {
	case got.Read == "":
		return errors.New("a file outside could be read")
	case got.Dial == "":
		return errors.New("a closed port could be reached")
	case got.Signal == "":
		return errors.New("a process outside could be signalled")
	case len(got.Env) != 1:
		return fmt.Errorf("the environment is not empty: %q", got.Env)
	}
	return nil
}
