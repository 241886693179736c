package sandbox

import "time"

// order is what Run asks of the shim: one line of JSON on descriptor orderFD, which then stays open for as long as
// the caller wants the command to live. Its end of file means: kill everything.
type order struct {
	Tier    Tier
	Argv    []string
	Dir     string
	Env     []string
	Grants  []grant // what Landlock allows
	Network Network
	Forward []int // ports of its loopback whose listeners are sent over Door
	Door    int   // descriptor, void without Forward
	Wall    time.Duration
	Memory  int64
	Pids    int
	Capped  bool  // the kernel caps Memory: nobody need watch it
	Join    []int // descriptors: the thread that starts the command writes itself to them first
	Halt    int   // descriptor that takes "0" for "nothing new begins", 0 if none
	Disk    int64
	Watch   []string // folders whose new bytes count towards Disk
	Shm     string   // a memory-backed folder that counts towards Memory, "" if none
}

// grant is one path and what may be done beneath it.
type grant struct {
	Path string
	Do   access
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

	firstFileFD = 5 // of files that a launcher reads; they do not reach the shim
)
