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
	Path    string        // of the SQLite file, made if missing, readable by nobody else
	Jobs    int           // jobs at once; 1 if zero
	Lease   time.Duration // how long a job's lease lasts without a sign of life; 1 minute if zero
	Retries int           // how often a handler's error is tried again; 4 if zero
	Log     *slog.Logger  // silent if nil
	Now     func() time.Time
}

// Delivery is one webhook as it came: at most once under its ID.
type Delivery struct {
	ID       string // X-GitHub-Delivery
	Event    string // X-GitHub-Event
	Payload  []byte // the raw body
	Received time.Time
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
	State    State
	Attempt  int    // from 1: how often a handler began it
	Evidence string // of the last attempt, set with Enter's data if the caller wants it found again
	Created  time.Time
	Ended    time.Time       // zero until Closed
	End      json.RawMessage // data of the Closed row
}

// Transition is one durable row.
type Transition struct {
	Job   string
	Seq   int // from 1 within the job
	State State
	At    time.Time
	Data  json.RawMessage // the caller's
}

// Errors of a queue.
var (
	ErrBusy   = errors.New("another process holds this queue") // of Open
	ErrCancel = errors.New("cancelled")                        // wrapped by the cause of a cancelled job's context, see Cause
)

// Cause is why a job's context ended: its Text is what Cancel was given.
type Cause struct{ Text string }

func (c *Cause) Error() string { return c.Text }
func (c *Cause) Unwrap() error { return ErrCancel }

// Submission says what became of a Submit.
type Submission string

const (
	Added      Submission = "added"
	Waiting    Submission = "waiting"    // the same key and head waits or runs already
	Done       Submission = "done"       // the same key and head has ended already
	Superseded Submission = "superseded" // added, and the unfinished job of another head was cancelled
)

// Queue is an open queue. Several goroutines may use it; one process at a time may hold the file.
type Queue struct{}

// Handlers do the work. A nil return means done; an error is tried again later, with growing pauses, and is final after
// Options.Retries. A handler whose context was cancelled through Cancel returns nil once it has written its end. Both are
// called again after a kill, for whatever was not done, so they look before they do.
type Handlers struct {
	Delivery func(ctx context.Context, d Delivery) error
	Job      func(ctx context.Context, j Job) error
}

// Open opens the queue, made if missing, and takes back whatever a dead process had begun.
func Open(ctx context.Context, o Options) (*Queue, error) { panic("stub") }

// Close stops the handlers, waits for them until ctx ends, and closes the file.
func (q *Queue) Close(ctx context.Context) error { panic("stub") }

// Run starts the handlers and returns. It is called at most once.
func (q *Queue) Run(ctx context.Context, h Handlers) error { panic("stub") }

// Receive stores a delivery on disk (synchronous=FULL) before it returns. again is true when its ID was stored before.
func (q *Queue) Receive(ctx context.Context, d Delivery) (again bool, err error) { panic("stub") }

// Note records what a delivery led to, in one word and one sentence, for people.
func (q *Queue) Note(ctx context.Context, delivery, outcome, text string) error { panic("stub") }

// Submit puts a job into the queue. Key, Target, Head, Again and Args are read. id is the job's, or that of the one
// that stands in its way.
func (q *Queue) Submit(ctx context.Context, j Job) (id string, s Submission, err error) {
	panic("stub")
}

// Enter writes a state of a job down. Entering Closed ends it.
func (q *Queue) Enter(ctx context.Context, id string, s State, data any) error { panic("stub") }

// Cancel cancels every unfinished job of a target, or of one key if it is not "". It is durable: a job that waits never
// begins, one that runs has its context cancelled with a *Cause within a second, and one that a dead process had begun
// is begun once more with a context that is cancelled already, so that its handler can write its end.
func (q *Queue) Cancel(ctx context.Context, target, key, why string) (n int, err error) {
	panic("stub")
}

// Job is one job by its id.
func (q *Queue) Job(ctx context.Context, id string) (Job, []Transition, error) { panic("stub") }

// Last is the newest job of a target, finished or not; ok is false when there was none.
func (q *Queue) Last(ctx context.Context, target string) (j Job, ok bool, err error) { panic("stub") }

// Since counts the jobs whose target begins with prefix that began after t.
func (q *Queue) Since(ctx context.Context, prefix string, t time.Time) (int, error) { panic("stub") }

// Put keeps a caller's value under a name; Get reads it, nil when there is none. Both are durable.
func (q *Queue) Put(ctx context.Context, name string, value []byte) error { panic("stub") }
func (q *Queue) Get(ctx context.Context, name string) ([]byte, error)     { panic("stub") }

// Stats is what stands in the queue.
type Stats struct {
	Deliveries int `json:"deliveries"` // stored in all
	Unhandled  int `json:"unhandled"`
	Waiting    int `json:"waiting"`
	Running    int `json:"running"`
	Closed     int `json:"closed"`
}

// Stats counts.
func (q *Queue) Stats(ctx context.Context) (Stats, error) { panic("stub") }

// Ready says whether the file can be written, for /readyz.
func (q *Queue) Ready(ctx context.Context) error { panic("stub") }
