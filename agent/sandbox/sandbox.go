// Package sandbox runs one command confined and bounded: no route off the machine, no secrets, nothing
// readable but what it was given, nothing alive when it returns. It leaves what a command means to others and
// knows nothing of checks. A Sandbox exists only after its two-way probe passed on this machine, in this
// process: no probe, no run.
package sandbox

import (
	"context"
	"io"
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
	Argv    []string      // Argv[0] is looked up in PATH of Env when it has no slash
	Dir     string        // absolute working directory; must lie under one of Write or Read
	Env     []string      // the whole environment, KEY=value; nothing is inherited
	Stdin   io.Reader     // nothing if nil
	Read    []string      // absolute paths, readable and executable
	Write   []string      // absolute paths, readable and writable
	Network Network       // Loopback if zero
	Wall    time.Duration // 10 minutes if zero
	Memory  int64         // bytes; 75% of what is free if zero
	Pids    int           // 512 if zero
	Disk    int64         // bytes that may be written under Write; 4 GiB if zero
	Output  int64         // bytes kept of each stream, head and tail; 64 MiB if zero
}

// Result is how the command ended. A command that ran and failed is a Result, never an error.
type Result struct {
	Exit            int    // -1 when a signal ended it
	Signal          string // "" or as in "SIGKILL"
	Limit           string // "" or the limit that ended it: wall, memory, pids, disk
	Wall, User, Sys time.Duration
	MaxRSS          int64 // bytes, largest process
	Stdout, Stderr  []byte
	Truncated       bool     // a stream was longer than Output: head and tail are kept around a marker line
	Refused         []string // calls that the filter refused, as in "socket AF_INET", each once
}

// Tier names how strongly commands are confined.
type Tier string

const (
	Bubblewrap Tier = "bubblewrap" // namespaces, seccomp, own loopback
	Landlock   Tier = "landlock"   // Landlock strict, seccomp on socket families, no loopback
	Unconfined Tier = "none"       // only ever by an operator's own word
)

// Options choose a tier.
type Options struct {
	Tier   Tier     // the strongest that passes its probe if empty
	Allow  []Tier   // weaker tiers an operator allows by name; Bubblewrap and Landlock need no allowance, Unconfined always does
	Shim   []string // argv that starts this binary's Main; the running executable if nil
	TmpDir string   // where per-run temporary folders are made; os.TempDir if empty
}

// Sandbox runs commands in one tier that has passed its probe.
type Sandbox struct{ tier Tier }

// Open probes the tiers and returns the strongest that works both ways, or an error that says what each tier
// lacked and what to do.
func Open(opt Options) (*Sandbox, error) { panic("stub") }

// Tier is the tier in use.
func (s *Sandbox) Tier() Tier { return s.tier }

// Gaps are the sentences of what this tier does not confine on this machine, for people to read.
func (s *Sandbox) Gaps() []string { panic("stub") }

// Run runs one command and returns when nothing of it is alive any more. An error is our side's failure.
func (s *Sandbox) Run(ctx context.Context, c Command) (Result, error) { panic("stub") }

// Main turns this process into the sandbox's shim when it was started as one, and then never returns. Call it
// first thing in main and in TestMain.
func Main() {}
