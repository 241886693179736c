// Package report reads what test runners, linters and compilers wrote and gives one Report: results with
// stable ids, the exit status, and a colour. It leaves running anything, and deciding what a colour is worth,
// to others. Whatever the input, a Report comes back: unreadable text is a Report with fewer results, never a
// panic, and everything in it is an attacker's text for whoever shows it.
package report

import (
	"sort"
	"strings"
	"time"
)

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
	Command   string   // the shell text or joined argv, to tell which tool ran
	Dir       string   // absolute directory of the tree: stripped from file names
	Subdir    string   // folder below Dir that the command ran in; the tree itself if empty
	Module    string   // path of the Go module whose go.mod lies in Subdir; taken from the output where it can be if empty
	Own       []string // names of modules that the tree has itself, as in "shop": a missing one is no missing dependency, and of "shop." none that lies below; not known if empty
	Stdout    []byte
	Stderr    []byte
	Exit      int    // -1 when a signal ended it
	Signal    string // "" or the signal's name, as in "SIGKILL"
	Limit     string // "" or the sandbox limit that ended it
	Truncated bool
	Files     []File   // report files that it left
	Refused   []string // what the sandbox's own filter refused, as in "socket AF_INET"
	Duration  time.Duration
}

// Read makes a Report of one run. It never fails: what it cannot read it leaves out and names in Problems.
func Read(r Run) Report {
	s := newStream(r)
	for _, b := range [][]byte{r.Stdout, r.Stderr} {
		s.read(b)
		s.closeText()
		s.others.end()
	}
	s.others.files()
	rep := Report{
		Exit: r.Exit, Signal: r.Signal, Limit: r.Limit, Seconds: r.Duration.Seconds(), Truncated: r.Truncated,
	}
	s.finish(&rep)
	rep.Class = s.class(rep)
	return rep
}

// Color is the colour of the run: its exit status and completeness, never a guess from text.
func (r Report) Color() Color {
	switch {
	case r.Format == "" || r.Signal != "" || r.Limit != "" || r.Exit < 0 || unjudged[r.Class]:
		return Unknown
	case r.Exit > 0:
		return Red
	case r.Class != "" || r.Truncated || len(r.Failed()) > 0:
		return Unknown
	}
	return Green
}

// Findings are the failing results, the strongest class first and then by id, without parents whose subtest is the
// one that failed. A parent that logged something of its own stays.
func (r Report) Findings() []Result {
	failing := r.Failed()
	var out []Result
	for _, res := range r.Results {
		if res.failed() && !(res.Message == "" && hasBelow(failing, res.ID)) {
			out = append(out, res)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if a, b := strength(out[i].Class), strength(out[j].Class); a != b {
			return a > b
		}
		return out[i].ID < out[j].ID
	})
	return out
}

// Failed are the ids of every failing result, parents of failing subtests included, sorted.
func (r Report) Failed() []string {
	var ids []string
	for _, res := range r.Results {
		if res.failed() {
			ids = append(ids, res.ID)
		}
	}
	sort.Strings(ids)
	return ids
}

// hasBelow reports whether a sorted list holds a name below this one: a parent says nothing of its own.
func hasBelow(sorted []string, name string) bool {
	i := sort.SearchStrings(sorted, name+"/")
	return i < len(sorted) && strings.HasPrefix(sorted[i], name+"/")
}

func (r Result) failed() bool { return r.Status == Fail || r.Status == Error }

// Statuses maps every result's id to its status.
func (r Report) Statuses() map[string]Status {
	m := make(map[string]Status, len(r.Results))
	for _, res := range r.Results {
		m[res.ID] = res.Status
	}
	return m
}
