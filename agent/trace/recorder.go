package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// FileName is the name of the trace in an evidence directory.
const FileName = "trace.jsonl"

const (
	maxLine  = 8 << 20 // of one line, its newline included
	maxTrace = 1 << 30 // of a whole trace
	reserve  = 4 * maxLine
)

// ErrBusy says that another live process, or another Recorder of this one, is writing the same trace.
var ErrBusy = errors.New("another process is writing it")

// lockWait is how long Open waits for the writer before it to close.
var lockWait = 5 * time.Second

// synced are the types after which the trace is on the disk before Add returns.
var synced = map[string]bool{
	TypeStop: true, TypeReply: true, TypeTokens: true, TypeVerdict: true,
	TypeReceipt: true, TypeAdmit: true, TypeDraft: true,
}

// Recorder appends events to the trace.jsonl of one evidence directory. Safe for several goroutines. A nil
// Recorder records nothing.
type Recorder struct {
	job     string
	clean   func(string) string
	onEvent func(Event)

	mu     sync.Mutex
	f      *os.File
	seq    int   // of the last line
	size   int64 // of the whole lines
	broken error // why nothing more can be written
}

// Open opens or continues dir/trace.jsonl; a torn last line is cut off. One Recorder at a time has the file: the next
// one waits a few seconds for Close, then gets ErrBusy. onEvent, if not nil, sees every event after it is on file, in
// order, and must not call Add. clean, if not nil, is applied to every string before it is written.
func Open(dir, job string, clean func(string) string, onEvent func(Event)) (*Recorder, error) {
	if !idPattern.MatchString(job) {
		return nil, fmt.Errorf("open trace: %q is no job id", job)
	}
	path := filepath.Join(dir, FileName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	r := &Recorder{job: job, clean: clean, onEvent: onEvent, f: f}
	if err := r.resume(dir); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open trace %s: %w", path, err)
	}
	return r, nil
}

// resume takes the lock, finds the last whole line and cuts off what follows it.
func (r *Recorder) resume(dir string) error {
	if err := lock(r.f, lockWait); err != nil {
		return err
	}
	good, torn, err := scan(r.f, func(e Event) error {
		if e.Job != r.job {
			return fmt.Errorf("it is of job %q, not of %q", e.Job, r.job)
		}
		r.seq = e.Seq
		return nil
	})
	if err != nil {
		return err
	}
	if r.size = good; torn {
		if err := r.f.Truncate(good); err != nil {
			return fmt.Errorf("cut off the torn last line: %w", err)
		}
	}
	if good == 0 {
		return syncDir(dir) // the file may be new
	}
	return nil
}

// lock takes the file for this Recorder alone. The kernel lets go of it when the process dies, however it dies.
func lock(f *os.File, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("lock: %w", err)
		case !time.Now().Before(deadline):
			return ErrBusy
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Add appends one event; data is marshalled, and left out when nil. A line is written whole or not at all, and
// fsync happens at stop, reply, tokens, verdict, receipt, admit and draft lines.
func (r *Recorder) Add(turn int, typ string, data any) error {
	if r == nil {
		return nil
	}
	if typ == "" || len(typ) > 64 {
		return fmt.Errorf("record: %q is no type", typ)
	}
	raw, err := encode(data, r.clean, maxData)
	if err != nil {
		return fmt.Errorf("record %s: %w", typ, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := Event{TS: time.Now().Round(0).UTC(), Seq: r.seq + 1, Job: r.job, Turn: turn, Type: typ, Data: raw}
	if err := r.append(e); err != nil {
		return fmt.Errorf("record %s: %w", typ, err)
	}
	if r.onEvent != nil {
		r.onEvent(e)
	}
	return nil
}

func (r *Recorder) append(e Event) error {
	if r.broken != nil {
		return r.broken
	}
	line, err := marshal(e)
	if err != nil {
		return err
	}
	if err := r.room(e.Type, len(line)); err != nil {
		return err
	}
	if _, err := r.f.Write(line); err != nil {
		return r.undo(err)
	}
	r.seq, r.size = e.Seq, r.size+int64(len(line))
	if synced[e.Type] {
		return r.f.Sync()
	}
	return nil
}

// room keeps the last megabytes of a full trace for the lines that end a job.
func (r *Recorder) room(typ string, n int) error {
	limit := int64(maxTrace)
	if !synced[typ] || typ == TypeTokens || typ == TypeReply {
		limit -= reserve
	}
	if r.size+int64(n) > limit {
		return fmt.Errorf("the trace is full: %d bytes", r.size)
	}
	return nil
}

// undo takes back what a write that broke off (a full disk) left behind, so that the next line begins a line.
func (r *Recorder) undo(err error) error {
	if cut := r.f.Truncate(r.size); cut != nil {
		r.broken = fmt.Errorf("take back half a line: %w", cut)
	}
	return err
}

// Close syncs and closes the file. What follows an Add after Close is an error; a second Close does nothing.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(r.broken, os.ErrClosed) {
		return nil
	}
	r.broken = os.ErrClosed
	return errors.Join(r.f.Sync(), r.f.Close())
}

// marshal is v as one line of JSON: strings as they are, without the escapes that HTML would need, so that a
// request's body stays the bytes that were sent.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
