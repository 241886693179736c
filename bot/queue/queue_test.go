package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/bot/queue"
)

func TestMain(m *testing.M) {
	if script := os.Getenv("REDRAFT_QUEUE_CHILD"); script != "" {
		child(script)
		return
	}
	os.Exit(m.Run())
}

// begin opens a queue that is closed with the test.
func begin(t testing.TB, o queue.Options) *queue.Queue {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "queue.db")
	}
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	q, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(t, q) })
	return q
}

// end closes a queue; a second time does nothing.
func end(t testing.TB, q *queue.Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := q.Close(ctx); err != nil {
		t.Error(err)
	}
}

// handlers fills in what a test does not care for.
func handlers(h queue.Handlers) queue.Handlers {
	if h.Delivery == nil {
		h.Delivery = func(context.Context, queue.Delivery) error { return nil }
	}
	if h.Job == nil {
		h.Job = func(context.Context, queue.Job) error { return nil }
	}
	return h
}

func run(t testing.TB, q *queue.Queue, h queue.Handlers) {
	t.Helper()
	if err := q.Run(context.WithoutCancel(t.Context()), handlers(h)); err != nil {
		t.Fatal(err)
	}
}

func submit(t testing.TB, q *queue.Queue, j queue.Job) string {
	t.Helper()
	id, s, err := q.Submit(t.Context(), j)
	if err != nil || s != queue.Added && s != queue.Superseded {
		t.Fatalf("submit %s: %v, %v", j.Key, s, err)
	}
	return id
}

func receive(t testing.TB, q *queue.Queue, id string) {
	t.Helper()
	if _, err := q.Receive(t.Context(), queue.Delivery{ID: id, Event: "ping", Payload: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
}

func job(t testing.TB, q *queue.Queue, id string) (queue.Job, []queue.Transition) {
	t.Helper()
	j, all, err := q.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return j, all
}

// until waits for something that must come.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not come", what)
		}
	}
}

func idle(t testing.TB, q *queue.Queue) queue.Stats {
	t.Helper()
	var s queue.Stats
	until(t, "an idle queue", func() (ok bool) {
		var err error
		if s, err = q.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.Unhandled+s.Waiting+s.Running == 0
	})
	return s
}

func closed(t testing.TB, q *queue.Queue, id string) queue.Job {
	t.Helper()
	var j queue.Job
	until(t, "the end of a job", func() bool { j, _ = job(t, q, id); return !j.Ended.IsZero() })
	return j
}

// notes is a list that several handlers write.
type notes struct {
	sync.Mutex
	list []string
}

func (n *notes) add(format string, a ...any) {
	n.Lock()
	defer n.Unlock()
	n.list = append(n.list, fmt.Sprintf(format, a...))
}

func (n *notes) all() []string {
	n.Lock()
	defer n.Unlock()
	return slices.Clone(n.list)
}

func TestSubmit(t *testing.T) {
	type step struct {
		do   string // submit HEAD, again HEAD, end HEAD, cancel
		want queue.Submission
		same string // the head of an earlier submit whose job this one must be
	}
	for name, steps := range map[string][]step{
		"new":                             {{do: "submit a", want: queue.Added}},
		"waits":                           {{do: "submit a", want: queue.Added}, {do: "submit a", want: queue.Waiting, same: "a"}},
		"waits, asked again":              {{do: "submit a", want: queue.Added}, {do: "again a", want: queue.Waiting, same: "a"}},
		"ended":                           {{do: "submit a", want: queue.Added}, {do: "end a"}, {do: "submit a", want: queue.Done, same: "a"}},
		"ended, asked again":              {{do: "submit a", want: queue.Added}, {do: "end a"}, {do: "again a", want: queue.Added}, {do: "submit a", want: queue.Waiting, same: "a"}},
		"another head":                    {{do: "submit a", want: queue.Added}, {do: "submit b", want: queue.Superseded}},
		"another head after the end":      {{do: "submit a", want: queue.Added}, {do: "end a"}, {do: "submit b", want: queue.Added}},
		"back to a superseded head":       {{do: "submit a", want: queue.Added}, {do: "submit b", want: queue.Superseded}, {do: "submit a", want: queue.Superseded}, {do: "submit b", want: queue.Superseded}},
		"back to an ended head":           {{do: "submit a", want: queue.Added}, {do: "end a"}, {do: "submit b", want: queue.Added}, {do: "submit a", want: queue.Done, same: "a"}},
		"back to an ended head, again":    {{do: "submit a", want: queue.Added}, {do: "end a"}, {do: "submit b", want: queue.Added}, {do: "again a", want: queue.Superseded}},
		"cancelled":                       {{do: "submit a", want: queue.Added}, {do: "cancel"}, {do: "submit a", want: queue.Done, same: "a"}},
		"cancelled, asked again":          {{do: "submit a", want: queue.Added}, {do: "cancel"}, {do: "again a", want: queue.Added}},
		"cancelled, another head":         {{do: "submit a", want: queue.Added}, {do: "cancel"}, {do: "submit b", want: queue.Added}},
		"cancelled and ended by its name": {{do: "submit a", want: queue.Added}, {do: "cancel"}, {do: "submit b", want: queue.Added}, {do: "end b"}, {do: "submit b", want: queue.Done, same: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			q, ids, seen := begin(t, queue.Options{}), map[string]string{}, map[string]bool{}
			for i, s := range steps {
				verb, head, _ := strings.Cut(s.do, " ")
				switch verb {
				case "end":
					if err := q.Enter(t.Context(), ids[head], queue.Closed, nil); err != nil {
						t.Fatal(err)
					}
				case "cancel":
					if n, err := q.Cancel(t.Context(), "t", "", "stop"); n != 1 || err != nil {
						t.Fatalf("step %d: cancelled %d, %v", i, n, err)
					}
				default:
					id, got, err := q.Submit(t.Context(), queue.Job{Key: "k", Target: "t", Head: head, Again: verb == "again"})
					if err != nil || got != s.want {
						t.Fatalf("step %d, %s: got %s, %v, want %s", i, s.do, got, err, s.want)
					}
					if s.same != "" && id != ids[s.same] || s.same == "" && seen[id] {
						t.Errorf("step %d, %s: got job %s of %v, want that of %q", i, s.do, id, ids, s.same)
					}
					ids[head], seen[id] = id, true
				}
			}
		})
	}
}

func TestSubmitKeepsWhatItWasGiven(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	q := begin(t, queue.Options{Now: func() time.Time { return at }})
	id := submit(t, q, queue.Job{Key: "k", Target: "t", Head: "h", Again: true, Args: json.RawMessage(`{"a":1}`), ID: "mine", State: queue.Closed, Attempt: 7})
	got, all := job(t, q, id)
	want := queue.Job{ID: id, Key: "k", Target: "t", Head: "h", Again: true, Args: json.RawMessage(`{"a":1}`), State: queue.Received, Created: at}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]queue.Transition{{Job: id, Seq: 1, State: queue.Received, At: at}}, all); d != "" {
		t.Error(d)
	}
	if strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || !strings.HasPrefix(id, "20260102-030405-") {
		t.Errorf("%q is no good file name", id)
	}
}

func TestRefusals(t *testing.T) {
	q := begin(t, queue.Options{})
	long := strings.Repeat("x", 1<<20+1)
	id := submit(t, q, queue.Job{Key: "k", Target: "t"})
	for name, f := range map[string]func() error{
		"no key":    func() error { _, _, err := q.Submit(t.Context(), queue.Job{Target: "t"}); return err },
		"no target": func() error { _, _, err := q.Submit(t.Context(), queue.Job{Key: "a"}); return err },
		"long key":  func() error { _, _, err := q.Submit(t.Context(), queue.Job{Key: long, Target: "t"}); return err },
		"long head": func() error {
			_, _, err := q.Submit(t.Context(), queue.Job{Key: "a", Target: "t", Head: long})
			return err
		},
		"no JSON": func() error {
			_, _, err := q.Submit(t.Context(), queue.Job{Key: "a", Target: "t", Args: []byte("{")})
			return err
		},
		"long args": func() error {
			_, _, err := q.Submit(t.Context(), queue.Job{Key: "a", Target: "t", Args: []byte(`"` + long + `"`)})
			return err
		},
		"no delivery":   func() error { _, err := q.Receive(t.Context(), queue.Delivery{Event: "e"}); return err },
		"no event":      func() error { _, err := q.Receive(t.Context(), queue.Delivery{ID: "d"}); return err },
		"long delivery": func() error { _, err := q.Receive(t.Context(), queue.Delivery{ID: long, Event: "e"}); return err },
		"huge payload": func() error {
			_, err := q.Receive(t.Context(), queue.Delivery{ID: "d", Event: "e", Payload: make([]byte, 33<<20)})
			return err
		},
		"no state":    func() error { return q.Enter(t.Context(), id, "fixed", nil) },
		"no job":      func() error { return q.Enter(t.Context(), "x", queue.Pinned, nil) },
		"odd data":    func() error { return q.Enter(t.Context(), id, queue.Pinned, func() {}) },
		"long data":   func() error { return q.Enter(t.Context(), id, queue.Pinned, long) },
		"no note":     func() error { return q.Note(t.Context(), "x", "skip", "") },
		"no name":     func() error { return q.Put(t.Context(), "", []byte("v")) },
		"no handlers": func() error { return q.Run(t.Context(), queue.Handlers{}) },
		"unknown job": func() error { _, _, err := q.Job(t.Context(), "x"); return err },
	} {
		if err := f(); err == nil || len(err.Error()) > 300 {
			t.Errorf("%s: got %v, want a short refusal", name, err)
		}
	}
	if s, err := q.Stats(t.Context()); err != nil || s != (queue.Stats{Waiting: 1}) {
		t.Errorf("got %+v, %v, want nothing but the first job", s, err)
	}
}

func TestReceive(t *testing.T) {
	q := begin(t, queue.Options{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	d := queue.Delivery{ID: "d1", Event: "check_run", Payload: []byte("\x00\xff{}"), Received: at}
	for i, want := range []bool{false, true, true} {
		if again, err := q.Receive(t.Context(), d); again != want || err != nil {
			t.Errorf("%d: got %v, %v, want %v", i, again, err, want)
		}
	}
	got, fate, ok, err := q.Delivery(t.Context(), "d1")
	if got.Received = got.Received.UTC(); err != nil || !ok || !cmp.Equal(got, d) || fate != (queue.Fate{}) {
		t.Errorf("got %+v, %+v, %v, %v", got, fate, ok, err)
	}
	if _, _, ok, err := q.Delivery(t.Context(), "d2"); ok || err != nil {
		t.Errorf("one that was never stored: %v, %v", ok, err)
	}
	if err := q.Note(t.Context(), "d1", "skip", strings.Repeat("é", 4000)); err != nil {
		t.Error(err)
	}
	if _, fate, _, _ := q.Delivery(t.Context(), "d1"); fate.Outcome != "skip" || !strings.HasSuffix(fate.Text, "é…") || len(fate.Text) > 5000 {
		t.Errorf("got %q of %d bytes", fate.Outcome, len(fate.Text))
	}
}

func TestDuplicateDeliveries(t *testing.T) {
	q := begin(t, queue.Options{Jobs: 4})
	var jobs, handled notes
	run(t, q, queue.Handlers{
		Delivery: func(ctx context.Context, d queue.Delivery) error {
			handled.add("%s", d.ID)
			_, _, err := q.Submit(ctx, queue.Job{Key: d.ID, Target: "t" + d.ID[len(d.ID)-1:], Head: "h"})
			return err
		},
		Job: func(_ context.Context, j queue.Job) error { jobs.add("%s", j.Key); return nil },
	})
	const events = 100 / slow
	var fresh, again notes
	var senders sync.WaitGroup
	for sender := range 4 {
		senders.Go(func() {
			for i := range 250 / slow {
				id := fmt.Sprint("event-", (i*7+sender*31)%events)
				switch a, err := q.Receive(t.Context(), queue.Delivery{ID: id, Event: "status"}); {
				case err != nil:
					t.Error(err)
				case a:
					again.add("%s", id)
				default:
					fresh.add("%s", id)
				}
			}
		})
	}
	senders.Wait()
	s := idle(t, q)
	if len(fresh.all()) != events || len(again.all()) != 9*events || s.Deliveries != events || s.Closed != events {
		t.Errorf("got %d new, %d again, %+v, want %d, %d and as many jobs as new ones", len(fresh.all()), len(again.all()), s, events, 9*events)
	}
	if n := len(handled.all()); n != events {
		t.Errorf("deliveries were handled %d times, want each of %d once", n, events)
	}
	keys := jobs.all()
	if slices.Sort(keys); len(keys) != events || len(slices.Compact(keys)) != events {
		t.Errorf("got %d jobs begun, want each of %d once", len(jobs.all()), events)
	}
}

func TestDeliveriesInOrder(t *testing.T) {
	q := begin(t, queue.Options{Retries: 2})
	var seen notes
	for i := range 30 {
		receive(t, q, fmt.Sprintf("%02d", i))
	}
	run(t, q, queue.Handlers{Delivery: func(_ context.Context, d queue.Delivery) error {
		seen.add("%s", d.ID)
		switch d.ID {
		case "03":
			return errors.New("not today")
		case "05":
			panic("oh")
		}
		return nil
	}})
	idle(t, q)
	got := seen.all()
	var first []string
	for _, id := range got {
		if !slices.Contains(first, id) {
			first = append(first, id)
		}
	}
	if !slices.IsSorted(first) || len(first) != 30 || len(got) != 34 {
		t.Errorf("got %v, want each in order, and 03 and 05 three times", got)
	}
	for id, want := range map[string]string{"03": "not today", "05": "panic: oh\n", "07": ""} {
		_, f, _, err := q.Delivery(t.Context(), id)
		if err != nil || f.Failed != (want != "") || !strings.HasPrefix(f.Trouble, want) || f.Handled.IsZero() {
			t.Errorf("%s: got %+v, %v, want trouble %q", id, f, err, want)
		}
	}
	// Sent again by a person, one that failed is handled afresh; one that did not is not.
	for _, id := range []string{"03", "04"} {
		if again, err := q.Receive(t.Context(), queue.Delivery{ID: id, Event: "ping"}); !again || err != nil {
			t.Errorf("%s: %v, %v", id, again, err)
		}
	}
	idle(t, q)
	if more := seen.all()[34:]; !slices.Equal(more, []string{"03", "03", "03"}) {
		t.Errorf("sent again: handled %v, want 03 three times", more)
	}
}

func TestTargets(t *testing.T) {
	q := begin(t, queue.Options{Jobs: 3})
	var mu sync.Mutex
	var order notes
	busy, most, overlap := map[string]int{}, 0, false
	full := make(chan struct{}) // closed when as many are at work as may be
	enter := func(target string, by int) {
		mu.Lock()
		defer mu.Unlock()
		busy[target] += by
		busy[""] += by
		if most < 3 && busy[""] == 3 {
			close(full)
		}
		most, overlap = max(most, busy[""]), overlap || busy[target] > 1
	}
	for i := range 24 {
		target := fmt.Sprint("t", i%4)
		submit(t, q, queue.Job{Key: fmt.Sprint("k", i), Target: target, Args: json.RawMessage(fmt.Sprint(i))})
	}
	run(t, q, queue.Handlers{Job: func(ctx context.Context, j queue.Job) error {
		enter(j.Target, 1)
		defer enter(j.Target, -1)
		order.add("%s %02s", j.Target, j.Args)
		select { // however slow the machine is, the first ones wait for each other
		case <-full:
			time.Sleep(5 * time.Millisecond)
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
		if string(j.Args) == "4" && j.Attempt < 3 {
			return errors.New("later")
		}
		err := q.Enter(ctx, j.ID, queue.Closed, nil)
		time.Sleep(5 * time.Millisecond) // its last breath is its target's too
		return err
	}})
	s := idle(t, q)
	end(t, q) // waits for every last breath
	if s.Closed != 24 || overlap || most != 3 {
		t.Errorf("got %+v, overlap %v, at once %d, want 24 closed, no two of a target, 3 at once", s, overlap, most)
	}
	for n := range 4 {
		got := slices.DeleteFunc(order.all(), func(s string) bool { return !strings.HasPrefix(s, fmt.Sprint("t", n)) })
		if want := 6 + map[int]int{0: 2}[n]; !slices.IsSorted(got) || len(got) != want {
			t.Errorf("t%d: got %v, want %d in order", n, got, want)
		}
	}
}

func TestLongJobHoldsNoDelivery(t *testing.T) {
	q := begin(t, queue.Options{})
	release := make(chan struct{})
	run(t, q, queue.Handlers{Job: func(context.Context, queue.Job) error { <-release; return nil }})
	submit(t, q, queue.Job{Key: "k", Target: "t"})
	until(t, "a running job", func() bool { s, _ := q.Stats(t.Context()); return s.Running == 1 })
	receive(t, q, "d")
	until(t, "a handled delivery", func() bool { s, _ := q.Stats(t.Context()); return s.Unhandled == 0 })
	close(release)
	idle(t, q)
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		name     string
		retries  int
		fail     func(attempt int) error
		attempts int
		end      string
	}{
		{"once", 3, func(n int) error { return map[bool]error{true: errors.New("x")}[n == 1] }, 2, `{}`},
		{"always", 2, func(int) error { return errors.New("the disk is full") }, 3, `{"error":"the disk is full"}`},
		{"never again", -1, func(int) error { return errors.New("x") }, 1, `{"error":"x"}`},
		{"by default", 0, func(int) error { return errors.New("x") }, 5, `{"error":"x"}`},
		{"with a panic", -1, func(int) error { panic("oh") }, 1, `{"error":"panic: oh\n`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := begin(t, queue.Options{Retries: tt.retries})
			run(t, q, queue.Handlers{Job: func(_ context.Context, j queue.Job) error { return tt.fail(j.Attempt) }})
			j := closed(t, q, submit(t, q, queue.Job{Key: "k", Target: "t"}))
			if j.Attempt != tt.attempts || !strings.HasPrefix(string(j.End), tt.end) || j.State != queue.Closed {
				t.Errorf("got %d attempts, %s, %s, want %d, %s", j.Attempt, j.State, j.End, tt.attempts, tt.end)
			}
		})
	}
}

func TestPausesGrow(t *testing.T) {
	q := begin(t, queue.Options{Pause: 20 * time.Millisecond, Retries: 3})
	var mu sync.Mutex
	var begun []time.Time
	run(t, q, queue.Handlers{Job: func(_ context.Context, j queue.Job) error {
		mu.Lock()
		defer mu.Unlock()
		begun = append(begun, time.Now())
		if j.Attempt == 3 {
			return &queue.Later{Err: errors.New("come back"), After: 700 * time.Millisecond}
		}
		return errors.New("x")
	}})
	j := closed(t, q, submit(t, q, queue.Job{Key: "k", Target: "t"}))
	mu.Lock()
	defer mu.Unlock()
	for i, least := range []time.Duration{20, 100, 700} {
		if got := begun[i+1].Sub(begun[i]); got < least*time.Millisecond || got > (least+600)*time.Millisecond {
			t.Errorf("pause %d: got %v, want about %dms", i+1, got, least)
		}
	}
	if j.Failures != 4 || j.Trouble != "x" {
		t.Errorf("got %d failures, %q", j.Failures, j.Trouble)
	}
}

func TestEnter(t *testing.T) {
	q := begin(t, queue.Options{})
	id := submit(t, q, queue.Job{Key: "k", Target: "t"})
	for _, s := range []struct {
		state queue.State
		data  any
	}{
		{queue.Prepared, map[string]string{"evidence": "runs/1"}},
		{queue.Reproduced, []int{1}},
		{queue.Publishing, nil},
		{queue.Closed, map[string]any{"stop": "fixed"}},
	} {
		if err := q.Enter(t.Context(), id, s.state, s.data); err != nil {
			t.Fatal(err)
		}
	}
	j, all := job(t, q, id)
	var got []string
	for _, r := range all {
		got = append(got, fmt.Sprintf("%d %s %s", r.Seq, r.State, r.Data))
	}
	want := []string{"1 received ", `2 prepared {"evidence":"runs/1"}`, "3 reproduced [1]", "4 publishing ", `5 closed {"stop":"fixed"}`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if j.Evidence != "runs/1" || j.State != queue.Closed || j.Ended.IsZero() || string(j.End) != `{"stop":"fixed"}` {
		t.Errorf("got %+v", j)
	}
	if err := q.Enter(t.Context(), id, queue.Proved, nil); !errors.Is(err, queue.ErrEnded) {
		t.Errorf("after the end: got %v", err)
	}
	if err := q.Enter(t.Context(), "x", queue.Proved, nil); !errors.Is(err, queue.ErrNoJob) {
		t.Errorf("of no job: got %v", err)
	}
}

func TestCancel(t *testing.T) {
	q := begin(t, queue.Options{Jobs: 2})
	begun, causes := make(chan string, 9), make(chan error, 9)
	run(t, q, queue.Handlers{Job: func(ctx context.Context, j queue.Job) error {
		begun <- j.Key
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return q.Enter(ctx, j.ID, queue.Closed, map[string]string{"stop": "cancelled"}) // with a context that is over
	}})
	running := submit(t, q, queue.Job{Key: "k1", Target: "t", Head: "a"})
	<-begun
	waiting := submit(t, q, queue.Job{Key: "k2", Target: "t", Head: "a"})
	other := submit(t, q, queue.Job{Key: "k3", Target: "o", Head: "a"})
	<-begun
	for _, c := range []struct {
		target, key string
		want        int
	}{{"t", "k9", 0}, {"t", "k2", 1}, {"t", "", 1}, {"t", "", 0}, {"", "k9", 0}} {
		if n, err := q.Cancel(t.Context(), c.target, c.key, "a person said so"); n != c.want || err != nil {
			t.Errorf("%q %q: got %d, %v, want %d", c.target, c.key, n, err, c.want)
		}
	}
	var cause *queue.Cause
	if err := <-causes; !errors.As(err, &cause) || cause.Text != "a person said so" || cause.Head != "" || !errors.Is(err, queue.ErrCancel) {
		t.Errorf("got cause %#v", err)
	}
	if j := closed(t, q, running); string(j.End) != `{"stop":"cancelled"}` || j.Cancelled != "a person said so" {
		t.Errorf("got %+v", j)
	}
	if j, all := job(t, q, waiting); j.Attempt != 0 || string(j.End) != `{"cancelled":"a person said so"}` || len(all) != 2 {
		t.Errorf("one that waited: got %+v, %v", j, all)
	}
	newer := submit(t, q, queue.Job{Key: "k3", Target: "o", Head: "b"})
	if err := <-causes; !errors.As(err, &cause) || cause.Head != "b" {
		t.Errorf("superseded: got cause %#v", err)
	}
	closed(t, q, other)
	if key := <-begun; key != "k3" {
		t.Errorf("got %s begun, want the one that supersedes", key)
	}
	if n, err := q.Cancel(t.Context(), "", "k3", ""); n != 1 || err != nil {
		t.Errorf("by key alone: %d, %v", n, err)
	}
	closed(t, q, newer)
}

// TestCancelBetweenAttempts cancels a job that waits for its retry: it is begun once more, at once, to write its end.
func TestCancelBetweenAttempts(t *testing.T) {
	q := begin(t, queue.Options{Pause: time.Hour})
	run(t, q, queue.Handlers{Job: func(ctx context.Context, j queue.Job) error {
		if ctx.Err() != nil {
			return q.Enter(ctx, j.ID, queue.Closed, "my own end")
		}
		return errors.New("x")
	}})
	id := submit(t, q, queue.Job{Key: "k", Target: "t"})
	until(t, "the first error", func() bool { j, _ := job(t, q, id); return j.Failures == 1 })
	if n, err := q.Cancel(t.Context(), "t", "k", "stop"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if j := closed(t, q, id); j.Attempt != 2 || string(j.End) != `"my own end"` {
		t.Errorf("got %+v", j)
	}
}

// TestClose puts back what runs: no failure is counted, and the next process begins it again, cancelled or not.
func TestClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	q := begin(t, queue.Options{Path: path, Jobs: 2})
	var causes notes
	both := make(chan struct{}, 3)
	stuck := func(ctx context.Context, what string) error {
		both <- struct{}{}
		<-ctx.Done()
		causes.add("%s %v", what, context.Cause(ctx))
		return ctx.Err()
	}
	run(t, q, queue.Handlers{
		Delivery: func(ctx context.Context, d queue.Delivery) error { return stuck(ctx, d.ID) },
		Job:      func(ctx context.Context, j queue.Job) error { return stuck(ctx, j.Key) },
	})
	receive(t, q, "d1")
	receive(t, q, "d2")
	a := submit(t, q, queue.Job{Key: "a", Target: "a"})
	b := submit(t, q, queue.Job{Key: "b", Target: "b"})
	for range 3 {
		<-both
	}
	end(t, q)
	got := causes.all()
	if slices.Sort(got); !slices.Equal(got, []string{"a the queue stops", "b the queue stops", "d1 the queue stops"}) {
		t.Errorf("got causes %q", got)
	}
	if _, err := q.Receive(t.Context(), queue.Delivery{ID: "d3", Event: "e"}); err == nil {
		t.Error("a closed queue takes a delivery")
	}

	q = begin(t, queue.Options{Path: path, Retries: -1})
	if s, err := q.Stats(t.Context()); err != nil || s != (queue.Stats{Deliveries: 2, Unhandled: 2, Waiting: 2}) {
		t.Errorf("got %+v, %v", s, err)
	}
	if n, err := q.Cancel(t.Context(), "b", "", "gone"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	var seen notes
	run(t, q, queue.Handlers{
		Delivery: func(_ context.Context, d queue.Delivery) error { seen.add("%s", d.ID); return nil },
		Job: func(ctx context.Context, j queue.Job) error {
			var c *queue.Cause
			if errors.As(context.Cause(ctx), &c) {
				return q.Enter(ctx, j.ID, queue.Closed, c.Text)
			}
			return nil
		},
	})
	idle(t, q)
	if got := seen.all(); !slices.Equal(got, []string{"d1", "d2"}) {
		t.Errorf("got %v, want the deliveries in their old order", got)
	}
	for id, want := range map[string]string{a: `{}`, b: `"gone"`} {
		if j, _ := job(t, q, id); j.Attempt != 2 || j.Failures != 0 || string(j.End) != want {
			t.Errorf("got %+v, want a second attempt, no failure, end %s", j, want)
		}
	}
}

// TestRunEnds stops the handlers with Run's context.
func TestRunEnds(t *testing.T) {
	q := begin(t, queue.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	if err := q.Run(ctx, handlers(queue.Handlers{Job: func(ctx context.Context, _ queue.Job) error {
		close(begun)
		<-ctx.Done()
		return ctx.Err()
	}})); err != nil {
		t.Fatal(err)
	}
	if err := q.Run(ctx, handlers(queue.Handlers{})); err == nil {
		t.Error("it runs twice")
	}
	id := submit(t, q, queue.Job{Key: "k", Target: "t"})
	<-begun
	cancel()
	end(t, q)
	_ = id
}

func TestLease(t *testing.T) {
	q := begin(t, queue.Options{Lease: 150 * time.Millisecond})
	release := make(chan struct{})
	run(t, q, queue.Handlers{Job: func(context.Context, queue.Job) error { <-release; return nil }})
	id := submit(t, q, queue.Job{Key: "k", Target: "t"})
	if j, _ := job(t, q, id); j.Owner != "" && j.Attempt == 0 {
		t.Errorf("got owner %q of a job that waits", j.Owner)
	}
	var first time.Time
	until(t, "a lease", func() bool { j, _ := job(t, q, id); first = j.Until; return j.Owner != "" })
	if d := time.Until(first); d < 0 || d > 150*time.Millisecond {
		t.Errorf("a lease of %v", d)
	}
	until(t, "a renewed lease", func() bool { j, _ := job(t, q, id); return j.Until.After(first.Add(100 * time.Millisecond)) })
	close(release)
	if j := closed(t, q, id); j.Owner != "" || !j.Until.IsZero() {
		t.Errorf("got %+v after the end", j)
	}
}

func TestCountsAndValues(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	q := begin(t, queue.Options{Now: func() time.Time { return at }})
	run(t, q, queue.Handlers{})
	for i, target := range []string{"1/a", "1/b", "10/a", "1\xff", "2", "1/a"} {
		at = at.Add(time.Minute)
		closed(t, q, submit(t, q, queue.Job{Key: fmt.Sprint(i), Target: target}))
	}
	for _, tt := range []struct {
		prefix string
		before time.Duration
		want   int
	}{{"1/", time.Hour, 3}, {"1", time.Hour, 5}, {"", time.Hour, 6}, {"1\xff", time.Hour, 1}, {"3", time.Hour, 0}, {"1/", 3 * time.Minute, 1}, {"%", time.Hour, 0}} {
		if n, err := q.Since(t.Context(), tt.prefix, at.Add(-tt.before)); n != tt.want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", tt.prefix, n, err, tt.want)
		}
	}
	if j, ok, err := q.Last(t.Context(), "1/a"); !ok || err != nil || j.Key != "5" {
		t.Errorf("got %+v, %v, %v", j, ok, err)
	}
	if _, ok, err := q.Last(t.Context(), "9"); ok || err != nil {
		t.Errorf("got %v, %v of no target", ok, err)
	}
	for _, v := range [][]byte{nil, {}, []byte("\x00v"), []byte("w"), nil} {
		if err := q.Put(t.Context(), "n", v); err != nil {
			t.Fatal(err)
		}
		if got, err := q.Get(t.Context(), "n"); err != nil || !cmp.Equal(got, v) {
			t.Errorf("got %v, %v, want %v", got, err, v)
		}
	}
	if err := q.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRetention(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "queue.db")
	day := func(n int) *queue.Queue {
		return begin(t, queue.Options{Path: path, Now: func() time.Time { return at.Add(time.Duration(n) * 24 * time.Hour) }})
	}
	q := day(0)
	run(t, q, queue.Handlers{})
	receive(t, q, "handled")
	idle(t, q)
	var ids []string
	for i := range 2 {
		ids = append(ids, submit(t, q, queue.Job{Key: fmt.Sprint(i), Target: "t"}))
		closed(t, q, ids[i])
	}
	end(t, q)
	for _, tt := range []struct {
		day     int
		payload bool
		first   bool
	}{{2, true, true}, {4, false, true}, {399, false, true}, {401, false, false}} {
		q := day(tt.day)
		if tt.day == 2 {
			receive(t, q, "waits")
		}
		d, _, ok, err := q.Delivery(t.Context(), "handled")
		if err != nil || !ok || (d.Payload != nil) != tt.payload {
			t.Errorf("day %d: got %v, %q, %v, want a payload: %v", tt.day, ok, d.Payload, err, tt.payload)
		}
		if again, err := q.Receive(t.Context(), queue.Delivery{ID: "handled", Event: "e"}); !again || err != nil {
			t.Errorf("day %d: a replay is not known: %v, %v", tt.day, again, err)
		}
		if d, _, _, _ := q.Delivery(t.Context(), "waits"); string(d.Payload) != "{}" {
			t.Errorf("day %d: got %q of a delivery that nobody handled", tt.day, d.Payload)
		}
		if _, _, err := q.Job(t.Context(), ids[0]); (err == nil) != tt.first {
			t.Errorf("day %d: first job: %v, want it kept: %v", tt.day, err, tt.first)
		}
		if _, all, err := q.Job(t.Context(), ids[1]); err != nil || len(all) != 2 {
			t.Errorf("day %d: the newest job of its target: %v, %v", tt.day, all, err)
		}
		end(t, q)
	}
}
