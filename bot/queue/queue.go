// Package queue keeps what waits: deliveries as GitHub sent them, and jobs, each key once, in one SQLite file through
// River. It leaves deciding and doing to its handlers. What it has acknowledged is on disk, survives a kill at any
// point, and is handled until a handler says that it is done.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"
)

// Options of a queue. Path is needed, the rest may stay zero.
type Options struct {
	Path    string           // of the SQLite file, made if missing with its folder, readable by nobody else
	Jobs    int              // jobs at once; 1 if zero
	Lease   time.Duration    // how long a job's lease lasts without a sign of life; 1 minute if zero
	Retries int              // how often a handler's error is tried again; 4 if zero, never if negative
	Pause   time.Duration    // before the first retry, each next one five times as long, at most 15 minutes; 1 second if zero
	Log     *slog.Logger     // silent if nil
	Now     func() time.Time // stamps what is written; time.Now if nil
}

// Delivery is one webhook as it came: at most once under its ID.
type Delivery struct {
	ID       string // X-GitHub-Delivery
	Event    string // X-GitHub-Event
	Payload  []byte // the raw body; nil once it was dropped
	Received time.Time
}

// Fate is what became of a delivery.
type Fate struct {
	Handled time.Time // zero until its handler said that it is done, or had its last retry
	Failed  bool      // the last retry was an error too; the same delivery sent again is tried afresh
	Trouble string    // the handler's last error
	Outcome string    // of Note
	Text    string    // of Note
}

// State is how far a job has come; each is entered once per attempt and leaves a durable row.
type State string

const (
	Received   State = "received"
	Authorised State = "authorised"
	Pinned     State = "pinned"
	Prepared   State = "prepared"
	Reproduced State = "reproduced"
	Proposed   State = "proposed"
	Proved     State = "proved"
	Publishing State = "publishing" // written down before the first write outward
	Published  State = "published"
	Closed     State = "closed" // the end, whatever came of it
)

// Job is one job in the queue.
type Job struct {
	ID       string          // given by Submit; safe as a file name
	Key      string          // one unfinished job under one key
	Target   string          // repository and target: jobs of one target run one after the other
	Head     string          // commit; another head under the same key supersedes the job
	Again    bool            // a finished job of the same key and head does not count
	Args     json.RawMessage // the caller's
	State    State           // the last one entered, in whichever attempt
	Attempt  int             // from 1: how often a handler began it; 0 while it waits for the first time
	Evidence string          // the member "evidence" of the data of the last Enter that had one
	Created  time.Time
	Began    time.Time       // of the first attempt; zero until then
	Ended    time.Time       // zero until Closed
	End      json.RawMessage // data of the Closed row; an Ending where no handler wrote one

	Owner     string    // of the lease: the process whose handler works on it; "" while none does
	Until     time.Time // when the lease ends unless it is renewed
	Failures  int       // handlers' errors so far; a kill is none
	Trouble   string    // the last of them
	Cancelled string    // why, "" when nobody cancelled it
}

// Ending is the data of a Closed row that the queue wrote itself: of a job that was cancelled before it began, whose
// handler had its last retry, or whose handler returned without an end.
type Ending struct {
	Cancelled  string `json:"cancelled,omitempty"`  // why
	Superseded string `json:"superseded,omitempty"` // by this head
	Error      string `json:"error,omitempty"`      // the handler's last
}

// Transition is one durable row.
type Transition struct {
	Job     string
	Seq     int // from 1 within the job
	Attempt int // 0 before the first
	State   State
	At      time.Time
	Data    json.RawMessage // the caller's
}

// Errors of a queue.
var (
	ErrBusy   = errors.New("another process holds this queue") // of Open
	ErrCancel = errors.New("cancelled")                        // wrapped by the cause of a cancelled job's context, see Cause
	ErrStop   = errors.New("the queue stops")                  // cause of a handler's context at Close; what it did not finish is begun again
	ErrNoJob  = errors.New("no such job")
	ErrEnded  = errors.New("the job has ended") // of Enter
)

// Cause is why a job's context ended: its Text is what Cancel was given.
type Cause struct {
	Text string
	Head string // that superseded the job; "" after Cancel
}

func (c *Cause) Error() string { return c.Text }
func (c *Cause) Unwrap() error { return ErrCancel }

// Later is a handler's error that asks for a longer pause than the usual one, as where GitHub said when to come back.
type Later struct {
	Err   error
	After time.Duration // at most a day
}

func (l *Later) Error() string { return l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// Submission says what became of a Submit.
type Submission string

const (
	Added      Submission = "added"
	Waiting    Submission = "waiting"    // the same key and head waits or runs already
	Done       Submission = "done"       // the same key and head has ended already, or was cancelled; not when another head had superseded it
	Superseded Submission = "superseded" // added, and the unfinished job of another head was cancelled
)

// Handlers do the work. A nil return means done; an error is tried again later, with growing pauses, and is final after
// Options.Retries. A handler whose context was cancelled through Cancel returns nil once it has written its end. Both are
// called again after a kill, for whatever was not done, so they look before they do. Deliveries are handled one at a
// time in order of arrival, each within five minutes; one that waits for its retry does not hold up the next.
type Handlers struct {
	Delivery func(ctx context.Context, d Delivery) error
	Job      func(ctx context.Context, j Job) error
}

// Stats is what stands in the queue.
type Stats struct {
	Deliveries int `json:"deliveries"` // stored in all
	Unhandled  int `json:"unhandled"`
	Waiting    int `json:"waiting"`
	Running    int `json:"running"`
	Closed     int `json:"closed"`
}
