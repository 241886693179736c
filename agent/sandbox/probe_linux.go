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
	"slices"
	"time"
)

// trial is what the probe is asked to try inside.
type trial struct {
	Write   string // must land
	Outside string // must not
	Read    string // must be closed
	Dial    string // a listener of ours on the host's loopback: must be out of reach

	Take *taking // tried instead of all the others, if not nil
}

// finding of the probe: the error of each try, "" where it worked.
type tried struct {
	Write, Outside, Read, Dial string
	Loopback                   string // a listener of its own, spoken to
	Env                        []string
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
	if t.Take != nil {
		if t.Take.take() != nil {
			return 1
		}
		return 0
	}
	_, read := os.ReadFile(t.Read)
	got := tried{
		Write:    text(os.WriteFile(t.Write, []byte(probeText), 0o600)),
		Outside:  text(os.WriteFile(t.Outside, []byte(probeText), 0o600)),
		Read:     text(read),
		Dial:     text(dial(t.Dial)),
		Loopback: text(loopback()),
		Env:      os.Environ(),
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

// prove runs the probe in the tier and believes nothing that it did not see: what must fail inside was seen to work
// outside first, and what must land is looked for afterwards.
func (s *Sandbox) prove() error {
	dir, remove, err := runDir(s.tmp)
	if err != nil {
		return err
	}
	defer remove()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the probe: %w", err)
	}
	defer l.Close()
	t := trial{
		Write: filepath.Join(dir, "open", "landed"), Outside: filepath.Join(dir, "closed", "landed"),
		Read: filepath.Join(dir, "closed", "canary"), Dial: l.Addr().String(),
	}
	if err := control(t); err != nil {
		return fmt.Errorf("probe outside the sandbox: %w", err)
	}
	got, refused, err := s.try(t)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return s.believe(t, got, refused)
}

// control shows that every denied way is open to this process.
func control(t trial) error {
	for _, p := range []string{t.Write, t.Outside} {
		if err := os.Mkdir(filepath.Dir(p), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(t.Outside, nil, 0o600); err != nil {
		return err
	}
	if err := os.Remove(t.Outside); err != nil {
		return err
	}
	if err := os.WriteFile(t.Read, []byte(canaryText), 0o600); err != nil {
		return err
	}
	return dial(t.Dial)
}

// probing is the command that runs the probe inside.
func (s *Sandbox) probing(dir string, t trial) (Command, error) {
	arg, err := json.Marshal(t)
	if err != nil {
		return Command{}, err
	}
	c := Command{Dir: dir, Write: []string{dir}, Wall: probeWall}
	exe := s.shim[0]
	if s.tier == Bubblewrap {
		exe = shimPath
	} else {
		c.Read = []string{exe}
	}
	c.Argv = append(append([]string{exe}, s.shim[1:]...), probeMarker, string(arg))
	return c, nil
}

// try runs the probe inside.
func (s *Sandbox) try(t trial) (tried, []string, error) {
	c, err := s.probing(filepath.Dir(t.Write), t)
	if err != nil {
		return tried{}, nil, err
	}
	res, err := s.Run(context.Background(), c)
	if err != nil {
		return tried{}, nil, err
	}
	var got tried
	if err := json.Unmarshal(res.Stdout, &got); err != nil {
		return tried{}, nil, fmt.Errorf("it did not answer (exit %d %s%s): %s", res.Exit, res.Signal, res.Limit, said(nil, res.Stderr))
	}
	return got, res.Refused, nil
}

// believe compares what was tried with what the tier promises.
func (s *Sandbox) believe(t trial, got tried, refused []string) error {
	if b, err := os.ReadFile(t.Write); got.Write != "" || err != nil || string(b) != probeText {
		return fmt.Errorf("an allowed write did not land: %s", got.Write)
	}
	if s.tier == Unconfined {
		return nil
	}
	if _, err := os.Lstat(t.Outside); err == nil || got.Outside == "" {
		return errors.New("a write outside was not denied")
	}
	if got.Read == "" {
		return errors.New("a file outside could be read")
	}
	if got.Dial == "" {
		return errors.New("a listener of the machine could be reached")
	}
	if len(got.Env) != 1 {
		return fmt.Errorf("the environment is not empty: %q", got.Env)
	}
	if s.tier == Bubblewrap && got.Loopback != "" {
		return fmt.Errorf("the loopback of its own does not work: %s", got.Loopback)
	}
	if s.tier == Landlock && !slices.Contains(refused, "socket AF_INET") {
		return errors.New("a refused socket was not reported")
	}
	return nil
}
