package sandbox

import "time"

// order is what Run asks of the shim on macOS (package warden has that of Linux): one line of JSON on descriptor orderFD,
// which then stays open for as long as the caller wants the command to live. Its end of file means: kill everything.
type order struct {
	Tier    Tier
	Argv    []string
	Dir     string
	Env     []string
	Network Network
	Wall    time.Duration
	Memory  int64
	Pids    int
	Disk    int64
	Watch   []string // folders whose new bytes count towards Disk
}

// access is a set of rights as this package speaks of them.
type access string

const (
	readOnly  access = "r"   // read and list
	readRun   access = "rx"  // and execute
	readWrite access = "rwx" // and change, create, remove
	device    access = "dev" // read and write one existing node
)

// ending is what the shim answers on descriptor endingFD, as JSON, when nothing of the command is alive any more.
type ending struct {
	Failure         string // our side could not start the command; the rest is void
	NotFound        string // the program could not be executed: a sentence for the command's stderr
	Exit            int
	Signal          string
	Limit           string
	Wall, User, Sys time.Duration
	MaxRSS          int64
	Refused         []string
	Egress          []Attempt
}

// Descriptors that the shim is started with, after the standard three.
const (
	orderFD  = 3
	endingFD = 4
)
