// Package warden is the first process of a run: it confines one thread of itself, starts the command from that thread,
// reaps, watches the limits, and answers when nothing of the command is alive any more. It leaves to the sandbox what
// a command may do, and decides nothing. It runs before any other package of the program begins, and imports little so
// that it can.
package warden

import "time"

// Marker is the last word of an argv that this package takes as its own, before main and before most of what is linked. It is
// no secret: a process that starts itself so without the pipes of the sandbox ends at once.
const Marker = "redraft-sandbox-shim"

// Descriptors that the process is started with, after the standard three.
const (
	OrderFD  = 3
	EndingFD = 4

	FirstFileFD = 5 // of files that a launcher reads, or that the order names
)

// Tier is what confines the command, beside the filter.
type Tier string

const (
	Bubblewrap Tier = "bubblewrap" // namespaces that the launcher made, of which this is process 1
	Landlock   Tier = "landlock"
	Unconfined Tier = "none"
)

// Order is what is to be done: one line of JSON on descriptor OrderFD, which then stays open for as long as the caller wants
// the command to live. A second line names a limit for which the command must end; end of file means: kill everything.
type Order struct {
	Tier     Tier
	Argv     []string
	Dir      string
	Env      []string
	Grants   []Grant // what Landlock allows
	Loopback bool    // sockets of the internet are allowed, in a network of its own
	Forward  []int   // ports of its loopback whose listeners are sent over Door
	Door     int     // descriptor, void without Forward
	Wall     time.Duration
	Memory   int64
	Pids     int
	Capped   bool  // the kernel caps Memory: nobody need watch it
	Join     []int // descriptors: the thread that starts the command writes itself to them first
	Halt     int   // descriptor that takes "0" for "nothing new begins", 0 if none
	Spare    int   // threads to have ready, for a time when the kernel refuses new ones
	Count    int   // descriptor that tells how many forks the kernel refused, as in "max 3", 0 if none
	Disk     int64
	Watch    []string // folders whose new bytes count towards Disk
	Shm      string   // a memory-backed folder that counts towards Memory, "" if none
}

// Grant is one path and what may be done beneath it.
type Grant struct {
	Path string
	Do   Access
}

// Access is a set of rights as the sandbox speaks of them.
type Access string

const (
	ReadOnly  Access = "r"   // read and list
	ReadRun   Access = "rx"  // and execute
	ReadWrite Access = "rwx" // and change, create, remove
	Device    Access = "dev" // read and write one existing node
)

// Ending is the answer on descriptor EndingFD, as JSON, when nothing of the command is alive any more.
type Ending struct {
	Failure         string // our side could not start the command; the rest is void
	NotFound        string // the program could not be executed: a sentence for the command's stderr
	Exit            int
	Signal          string
	Limit           string
	Wall, User, Sys time.Duration
	MaxRSS          int64
	Forks           int64 // that the kernel refused before the end began
	Refused         []string
	Egress          []Attempt
}

// Attempt is what the command tried to reach: an address, or, where none was ever named, the family.
type Attempt struct {
	IP   []byte // 4 or 16
	Port uint16
	Name string
	N    int // how often
}
