package bot

import (
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
)

// Story is what every text about a job is written from. All strings in it are strangers' texts until a cleaner saw them.
type Story struct {
	Job      Job
	Status   trace.Status // of the evidence
	Proof    *proof.Proof // nil without one
	Template string       // the repository's pull request template, "" if none
	Criteria []string     // acceptance criteria and out-of-scope lines of the issue, as a person's checklist
	Quiet    string       // why the commit was pushed so that the draft's own CI does not start, and "" when it does
	Draft    *Draft       // the draft that was opened or stands, nil without one
	Evidence string       // where the operator finds it: the job's id, never a path
}

// Branch is the one branch of a job's target, as in "redraft/pull-7" or "redraft/branch-main-unit".
func Branch(j Job, prefix string) string { panic("stub") }

// Fingerprint names a failure: sha256 hex over the command and the sorted findings. A person who closes a draft says no to it.
func Fingerprint(r proof.Receipt) string { panic("stub") }

// DraftText is a draft's title and body, at most 60,000 characters.
func DraftText(s Story, c *redact.Cleaner) (title, body string) { panic("stub") }

// Answer is the comment of a job that ended without a draft: the typed stop, what reproduces it, what was tried.
func Answer(s Story, c *redact.Cleaner) string { panic("stub") }

// CheckText is the check run of a job, done or still running, with annotations at the findings' places.
func CheckText(s Story, c *redact.Cleaner) CheckRun { panic("stub") }

// CommitText is the message of the proved commit, with trailers. quiet adds the marker that keeps CI from starting.
func CommitText(s Story, c *redact.Cleaner, quiet bool) string { panic("stub") }

// Markers are the hidden lines of a body, by which a later process finds what is ours.
type Markers struct {
	Key         string // of the job
	Run         string // id of the job
	Root        string
	Tree        string
	Fingerprint string
	Receipt     string // sha256
	Superseded  bool
}

// String is the markers, one HTML comment a line. Values hold no character that could end one.
func (m Markers) String() string { panic("stub") }

// ParseMarkers reads them back. Anyone can write such lines: believe them only in a body that is ours.
func ParseMarkers(body string) (Markers, bool) { panic("stub") }

// Trailer says whether a commit message is one of ours.
func Trailer(message string) bool { panic("stub") }
