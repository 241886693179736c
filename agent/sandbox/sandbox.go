// Package sandbox runs one command confined and bounded: no route off the machine, no secrets, nothing
// readable but what it was given, nothing alive when it returns. It leaves what a command means to others and
// knows nothing of checks. A Sandbox exists only after its two-way probe passed on this machine, in this
// process: no probe, no run.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Network is what a command may reach.
type Network int

const (
	Loopback Network = iota // its own loopback, nothing else; the Landlock tier gives none
	None                    // no socket of the internet families at all
)

// Command is one program to run.
type Command struct {
	Argv      []string          // Argv[0] is looked up in PATH of Env when it has no slash
	Dir       string            // absolute working directory; must lie under one of Write or Read
	Env       []string          // the whole environment, KEY=value; nothing is inherited
	Stdin     io.Reader         // nothing if nil
	Read      []string          // absolute paths, readable and executable
	Write     []string          // absolute paths, readable and writable
	Network   Network           // Loopback if zero
	Forward   []Forward         // ports of its loopback that lead to the caller; see Sandbox.Forwards
	Places    map[string]string // paths of Read or Write -> where the command sees them instead; see Sandbox.Places
	DenyPorts []int             // closed besides those of Options; void in tiers whose loopback is the command's own
	Wall      time.Duration     // 10 minutes if zero
	Memory    int64             // bytes; 75% of what is free if zero
	Pids      int               // 512 if zero
	Disk      int64             // bytes that may be written under Write; 4 GiB if zero
	Output    int64             // bytes kept of each stream, head and tail; 64 MiB if zero
}

// Result is how the command ended. A command that ran and failed is a Result, never an error.
type Result struct {
	Exit            int    // -1 when a signal ended it
	Signal          string // "" or as in "SIGKILL"
	Limit           string // "" or the limit that ended it: wall, memory, pids, disk
	Wall, User, Sys time.Duration
	MaxRSS          int64 // bytes, largest process
	Stdout, Stderr  []byte
	Truncated       bool      // a stream was longer than Output: head and tail are kept around a marker line
	Refused         []string  // calls that the filter refused, as in "socket AF_INET", each once
	Egress          []Attempt // what the command tried to reach off the machine, and was refused
}

// Attempt is an address that a command tried to reach. To is as in "192.0.2.1:443"; where the filter refused the socket
// itself and no address was ever named, the family, as in "AF_INET".
type Attempt struct {
	To string `json:"to"`
	N  int    `json:"n"` // how often
}

// Tier names how strongly commands are confined.
type Tier string

const (
	Bubblewrap Tier = "bubblewrap" // namespaces, seccomp, own loopback
	Landlock   Tier = "landlock"   // Landlock strict, seccomp on socket families, no loopback
	Seatbelt   Tier = "seatbelt"   // macOS: sandbox-exec, the machine's loopback but for closed ports
	Unconfined Tier = "none"       // only ever by an operator's own word
)

// Options choose a tier.
type Options struct {
	Tier      Tier     // the strongest that passes its probe if empty
	Allow     []Tier   // weaker tiers an operator allows by name; Bubblewrap, Landlock and Seatbelt need no allowance, Unconfined always does
	Shim      []string // argv that starts this binary's Main; the running executable if nil
	TmpDir    string   // where per-run temporary folders are made; os.TempDir if empty
	DenyPorts []int    // ports of this machine that no command may reach or take where its loopback is the machine's: the model's, and those an operator lists
}

// Sandbox runs commands in one tier that has passed its probe. Safe for several goroutines. Its zero value refuses
// to run.
type Sandbox struct {
	tier   Tier
	gaps   []string
	shim   []string // resolved argv of the shim, without its marker
	tmp    string
	closed []int // Options.DenyPorts

	backend // what this system's tiers need besides
}

// Open probes the tiers and returns the strongest that works both ways, or an error that says what each tier
// lacked and what to do.
func Open(opt Options) (*Sandbox, error) {
	if opt.Tier == Unconfined && !slices.Contains(opt.Allow, Unconfined) {
		return nil, errors.New("open the sandbox: tier none runs commands unconfined and must be allowed by name")
	}
	tmp, err := tempRoot(opt.TmpDir)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	reapRuns(tmp)
	var lacks []string
	for _, tier := range candidates(opt) {
		s := &Sandbox{tier: tier, tmp: tmp, closed: opt.DenyPorts}
		if err := s.open(opt.Shim); err != nil {
			lacks = append(lacks, fmt.Sprintf("%s: %v", tier, err))
			continue
		}
		return s, nil
	}
	return nil, fmt.Errorf("open the sandbox: no tier works on this machine (%s); %s", strings.Join(lacks, "; "), advice)
}

// candidates are the tiers to try, strongest first.
func candidates(opt Options) []Tier {
	if opt.Tier != "" {
		return []Tier{opt.Tier}
	}
	tiers := slices.Clone(confining)
	if slices.Contains(opt.Allow, Unconfined) {
		tiers = append(tiers, Unconfined)
	}
	return tiers
}

// tempRoot is the real path of the folder that per-run temporary folders are made in: rules name real paths.
func tempRoot(dir string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Tier is the tier in use.
func (s *Sandbox) Tier() Tier { return s.tier }

// Gaps are the sentences of what this tier does not confine on this machine, for people to read.
func (s *Sandbox) Gaps() []string { return slices.Clone(s.gaps) }

// Run runs one command and returns when nothing of it is alive any more. An error is our side's failure, or the
// cause of ctx when that ended first. A program that is not found is exit 127, as in a shell. TMPDIR is added to
// Env where it is missing: an empty folder of this run alone, removed afterwards.
func (s *Sandbox) Run(ctx context.Context, c Command) (Result, error) {
	if s == nil || s.tier == "" {
		return Result{}, errors.New("run a command: the sandbox was not opened")
	}
	c = c.filled()
	if err := errors.Join(c.check(), s.checkForwards(c), s.checkPlaces(c)); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	res, err := s.run(ctx, c)
	if ctx.Err() != nil && err != nil {
		return res, context.Cause(ctx)
	}
	if err != nil {
		return res, fmt.Errorf("run %s: %w", c.name(), err)
	}
	return res, nil
}

// Main turns this process into the sandbox's shim when it was started as one, and then never returns. Call it
// first thing in main and in TestMain.
func Main() {
	args := os.Args // syscall.Exit: nothing is to be run at the end, and a race detector would wait for a second
	if len(args) >= 2 && args[len(args)-1] == shimMarker {
		syscall.Exit(shim())
	}
	if len(args) >= 3 && args[len(args)-2] == probeMarker {
		syscall.Exit(probe(args[len(args)-1], os.Stdout))
	}
}

// Last words of an argv that Main takes as its own. They are no secret: a process that starts itself so without
// the pipes of Run ends at once.
const (
	shimMarker  = "redraft-sandbox-shim"
	probeMarker = "redraft-sandbox-probe"
)
