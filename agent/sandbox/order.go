package sandbox

// access is a set of rights as this package speaks of them.
type access string

const (
	readOnly  access = "r"   // read and list
	readRun   access = "rx"  // and execute
	readWrite access = "rwx" // and change, create, remove
	device    access = "dev" // read and write one existing node
)
