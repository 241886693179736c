// Package report reads what test runners, linters and compilers wrote and gives one Report: results with
// stable ids, the exit status, and a colour. It leaves running anything, and deciding what a colour is worth,
// to others. Whatever the input, a Report comes back: unreadable text is a Report with fewer results, never a
// panic, and everything in it is an attacker's text for whoever shows it.
package report

import "time"

// Color is what one run of a check says. The first constant is the one nobody chose.
type Color int

const (
	Unknown Color = iota // not judged
	Red                  // a check failed
	Green                // every check passed
)

func (c Color) String() string { return [...]string{"unknown", "red", "green"}[c] }

// MarshalText spells a colour as the word that String gives.
func (c Color) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other word is Unknown.
func (c *Color) UnmarshalText(b []byte) error {
	*c = map[string]Color{"red": Red, "green": Green}[string(b)]
	return nil
}

// Kind says what sort of check a result comes from.
type Kind string

const (
	Test      Kind = "test"
	Build     Kind = "build"
	Lint      Kind = "lint"
	Typecheck Kind = "typecheck"
	Format    Kind = "format"
)

// Status is how one test or diagnostic ended.
type Status string

const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error" // could not be run to its end: build failure, panic outside a test
	Skip  Status = "skip"
)

// Class is why a run is not green, from the closed list of the verdict classes.
type Class string

const (
	Assertion         Class = "assertion"
	Panic             Class = "panic"
	Compile           Class = "compile"
	LintClass         Class = "lint"
	FormatClass       Class = "format"
	TypecheckClass    Class = "typecheck"
	MissingDependency Class = "missing_dependency"
	MissingAsset      Class = "missing_asset"
	NetworkNeeded     Class = "network_needed"
	SecretNeeded      Class = "secret_needed"
	ServiceNeeded     Class = "service_needed"
	NeedsTier         Class = "needs_tier"
	Timeout           Class = "timeout"
	OutOfMemory       Class = "out_of_memory"
	DiskFull          Class = "disk_full"
	CommandNotFound   Class = "command_not_found"
	NoTests           Class = "no_tests" // the runner ran to its end and ran nothing
	Infra             Class = "infra"
)

// Result is one test or one diagnostic.
type Result struct {
	ID      string  `json:"id"` // Go tests: import/path.TestName/sub; a package that did not build: import/path.[build]; diagnostics tool:rule:file
	Kind    Kind    `json:"kind"`
	Status  Status  `json:"status"`
	Class   Class   `json:"class,omitempty"`
	File    string  `json:"file,omitempty"` // relative to the tree where it can be told, forward slashes
	Line    int     `json:"line,omitempty"` // from 1; 0 unknown
	Message string  `json:"message,omitempty"`
	Got     string  `json:"got,omitempty"`
	Want    string  `json:"want,omitempty"`
	Trace   string  `json:"trace,omitempty"` // stack of a panic, cut at 8 KiB
	Seconds float64 `json:"seconds,omitempty"`
}

// Report is what one run of one command said.
type Report struct {
	Format    string   `json:"format"` // reader that understood the output: "go-test-json", "go-test", "go-build", "go-vet", "exit" when none did
	Results   []Result `json:"results"`
	Exit      int      `json:"exit"`
	Signal    string   `json:"signal,omitempty"`
	Limit     string   `json:"limit,omitempty"` // the sandbox limit that ended it: wall, memory, output, pids, disk
	Seconds   float64  `json:"seconds"`
	Truncated bool     `json:"truncated,omitempty"` // output was cut, so results may be missing
	Class     Class    `json:"class,omitempty"`     // why Color is not Green; empty when it is
	Problems  []string `json:"problems,omitempty"`  // what the reader could not make sense of
}

// Run is the raw outcome of one command, as the sandbox gave it.
type Run struct {
	Command   string // the shell text or joined argv, to tell which tool ran
	Dir       string // absolute directory of the tree: stripped from file names
	Stdout    []byte
	Stderr    []byte
	Exit      int    // -1 when a signal ended it
	Signal    string // "" or the signal's name, as in "SIGKILL"
	Limit     string // "" or the sandbox limit that ended it
	Truncated bool
	Refused   []string // what the sandbox's own filter refused, as in "socket AF_INET"
	Duration  time.Duration
}

// Read makes a Report of one run. It never fails: what it cannot read it leaves out and names in Problems.
func Read(r Run) Report { panic("stub") }

// Color is the colour of the run: its exit status and completeness, never a guess from text.
func (r Report) Color() Color { panic("stub") }

// Findings are the failing results, in a stable order, without parents whose subtest is the one that failed.
func (r Report) Findings() []Result { panic("stub") }

// Statuses maps every result's id to its status.
func (r Report) Statuses() map[string]Status { panic("stub") }

// NextSafeAction is one sentence: what a person should do about a class.
func (c Class) NextSafeAction() string { panic("stub") }
