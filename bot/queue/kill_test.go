package queue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/redraft-dev/redraft/bot/queue"
)

// child is another process of these tests. What it was told is done stands on its standard output, written without a
// buffer before anything else happens.
func child(script string) {
	verb, rest, _ := strings.Cut(script, " ")
	at, path, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(at)
	switch verb {
	case "hold":
		q, err := queue.Open(context.Background(), queue.Options{Path: path})
		fmt.Println("open", err)
		if err == nil {
			time.Sleep(time.Minute)
			q.Close(context.Background())
		}
	case "open":
		_, err := queue.Open(context.Background(), queue.Options{Path: path})
		fmt.Println("open", err)
	case "die":
		die(n)
		s := &story{path: path, done: map[string]bool{}, tell: func(s string) { fmt.Println(s) }}
		if err := s.run(); err != nil {
			fmt.Println("error", err)
		}
		fmt.Println("points", points.Load())
	}
}

var points atomic.Int64 // places at which the process could have been killed

// die kills this process at the n-th row that is about to be changed or transaction that is about to be committed,
// whoever does it: between any two writes, ours and River's, and before and after every commit.
func die(n int) {
	point := func() {
		if points.Add(1) == int64(n) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	sqlite.RegisterConnectionHook(func(c sqlite.ExecQuerierContext, _ string) error {
		h, ok := c.(sqlite.HookRegisterer)
		if !ok {
			return errors.New("no hooks")
		}
		h.RegisterPreUpdateHook(func(sqlite.SQLitePreUpdateData) { point() })
		h.RegisterCommitHook(func() int32 { point(); return 0 })
		return nil
	})
}

// story is what happens in a life of a queue. done holds the steps that were acknowledged in an earlier life: they are
// not taken again, as GitHub does not send again what was accepted.
type story struct {
	path string
	done map[string]bool
	tell func(string)
	q    *queue.Queue
	mu   sync.Mutex
}

func (s *story) say(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(fmt.Sprintf(format, a...))
}

func (s *story) step(name string, f func() error) error {
	if s.done[name] {
		return nil
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.say("did %s", name)
	return nil
}

func (s *story) run() (err error) {
	ctx := context.Background()
	if s.q, err = queue.Open(ctx, queue.Options{Path: s.path, Jobs: 2, Pause: time.Millisecond}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.q.Close(ctx)) }()
	if err := s.q.Run(ctx, queue.Handlers{Delivery: s.delivery, Job: s.job}); err != nil {
		return err
	}
	submit := func(head string) func() error {
		return func() error {
			id, _, err := s.q.Submit(ctx, queue.Job{Key: "moving", Target: "moving", Head: head})
			s.say("id moving %s %s", head, id)
			return err
		}
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"receive d1", s.receive("d1")},
		{"receive d2", s.receive("d2")},
		{"submit stuck", func() error {
			_, _, err := s.q.Submit(ctx, queue.Job{Key: "stuck", Target: "stuck", Head: "a"})
			return err
		}},
		{"submit a", submit("a")},
		{"submit b", submit("b")},
		{"put", func() error { return s.q.Put(ctx, "cursor", []byte("7")) }},
		{"cancel", func() error { _, err := s.q.Cancel(ctx, "stuck", "", "stop"); return err }},
		{"receive d1 again", s.receive("d1")},
	} {
		if err := s.step(step.name, step.do); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

func (s *story) receive(id string) func() error {
	return func() error {
		_, err := s.q.Receive(context.Background(), queue.Delivery{ID: id, Event: "push", Payload: []byte(id)})
		return err
	}
}

// settle waits until nothing is left to do.
func (s *story) settle(ctx context.Context) error {
	for range 10000 {
		st, err := s.q.Stats(ctx)
		if err != nil || st.Unhandled+st.Waiting+st.Running == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("it does not settle")
}

func (s *story) delivery(ctx context.Context, d queue.Delivery) error {
	if string(d.Payload) != d.ID {
		return fmt.Errorf("payload %q", d.Payload)
	}
	id, _, err := s.q.Submit(ctx, queue.Job{Key: d.ID, Target: "both", Head: "h"})
	if err != nil {
		return err
	}
	s.say("id %s h %s", d.ID, id)
	return s.q.Note(ctx, d.ID, "job", id)
}

func (s *story) job(ctx context.Context, j queue.Job) error {
	if j.Key == "stuck" {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return s.enter(j, queue.Closed, context.Cause(ctx).Error())
	}
	if j.Key == "d2" && j.Failures == 0 {
		return errors.New("once")
	}
	if err := s.enter(j, queue.Publishing, nil); err != nil {
		return err
	}
	return s.enter(j, queue.Closed, "fixed")
}

func (s *story) enter(j queue.Job, state queue.State, data any) error {
	err := s.q.Enter(context.Background(), j.ID, state, data)
	if err == nil {
		s.say("entered %s %s", j.ID, state)
	}
	return err
}

// spawn starts this test binary as a child.
func spawn(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "REDRAFT_QUEUE_CHILD="+script)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKill kills a process at every point of its life, or at every so manyth, and lets another one go on.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	out, err := spawn(t, "die 0 "+filepath.Join(dir, "whole")).Output()
	told := strings.Split(strings.TrimSpace(string(out)), "\n")
	all, _ := strconv.Atoi(strings.TrimPrefix(told[len(told)-1], "points "))
	if err != nil || all < 60 {
		t.Fatalf("got %v, %q, want a life with many points", err, told)
	}
	every := 12 * slow
	if os.Getenv("REDRAFT_KILL") == "all" {
		every = 1
	}
	tried := 0
	for n := 1 + os.Getpid()%every; n <= all; n += every {
		tried++
		killed(t, n, n < all*3/4, filepath.Join(dir, fmt.Sprint(n)))
	}
	t.Logf("killed at %d of %d points", tried, all)
}

// killed is one life that ends at point n, for sure if it is early enough, and the next one.
func killed(t *testing.T, n int, sure bool, path string) {
	t.Helper()
	cmd := spawn(t, fmt.Sprintf("die %d %s", n, path))
	out, err := cmd.Output()
	if status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus); sure && status.Signal() != syscall.SIGKILL {
		t.Errorf("point %d: not killed: %v", n, err)
	}
	s := &story{path: path, done: map[string]bool{}}
	ids, entered := map[string]string{}, []string{}
	listen := func(line string) {
		verb, what, _ := strings.Cut(line, " ")
		switch verb {
		case "did":
			s.done[what] = true
		case "entered":
			if slices.Contains(entered, what) && strings.HasSuffix(what, "closed") {
				t.Errorf("point %d: %s twice", n, what)
			}
			entered = append(entered, what)
		case "id":
			key, id := what[:strings.LastIndexByte(what, ' ')], what[strings.LastIndexByte(what, ' ')+1:]
			if ids[key] != "" && ids[key] != id {
				t.Errorf("point %d: %s is job %s and job %s", n, key, ids[key], id)
			}
			ids[key] = id
		default:
			t.Errorf("point %d: %s", n, line)
		}
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "points") { // the last lives may end before their point
			listen(line)
		}
	}
	s.tell = listen
	start := time.Now()
	if err := s.run(); err != nil {
		t.Errorf("point %d: the next process: %v", n, err)
	}
	if d := time.Since(start); d > 9*time.Second {
		t.Errorf("point %d: the next process took %v: something waited for a poll", n, d)
	}
	s.check(t, n, ids, entered)
}

// check looks at what stands in the file when all is done.
func (s *story) check(t *testing.T, n int, ids map[string]string, entered []string) {
	t.Helper()
	q := begin(t, queue.Options{Path: s.path})
	defer end(t, q)
	st, err := q.Stats(t.Context())
	if want := (queue.Stats{Deliveries: 2, Closed: 5}); err != nil || st != want {
		t.Errorf("point %d: got %+v, %v, want %+v", n, st, err, want)
	}
	for _, id := range []string{"d1", "d2"} {
		if _, f, ok, err := q.Delivery(t.Context(), id); err != nil || !ok || f.Handled.IsZero() || f.Failed || f.Text != ids[id+" h"] {
			t.Errorf("point %d: delivery %s: %+v, %v, %v", n, id, f, ok, err)
		}
	}
	ends := map[string]string{"d1 h": `"fixed"`, "d2 h": `"fixed"`, "moving b": `"fixed"`}
	for key, id := range ids {
		j, all := job(t, q, id)
		var closings int
		for i, r := range all {
			if r.State == queue.Closed {
				closings++
			}
			if r.Seq != i+1 {
				t.Errorf("point %d: %s: a gap at %+v", n, key, r)
			}
		}
		if closings != 1 || ends[key] != "" && string(j.End) != ends[key] || key == "d2 h" && j.Failures != 1 || key != "d2 h" && j.Failures != 0 {
			t.Errorf("point %d: %s: closed %d times, end %s, %d failures", n, key, closings, j.End, j.Failures)
		}
		for _, e := range entered {
			if i := strings.IndexByte(e, ' '); e[:i] == id && !slices.ContainsFunc(all, func(r queue.Transition) bool { return string(r.State) == e[i+1:] }) {
				t.Errorf("point %d: %s was entered and is not there", n, e)
			}
		}
	}
	if j, ok, err := q.Last(t.Context(), "stuck"); err != nil || !ok || j.Cancelled != "stop" || !strings.Contains(string(j.End), "stop") {
		t.Errorf("point %d: the cancelled job: %+v, %v, %v", n, j, ok, err)
	}
	if v, err := q.Get(t.Context(), "cursor"); string(v) != "7" {
		t.Errorf("point %d: got %q, %v", n, v, err)
	}
}

// TestBusy holds a queue in another process, and kills that.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queue.db")
	holder := spawn(t, "hold 0 "+path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	defer holder.Wait()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open <nil>\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := queue.Open(t.Context(), queue.Options{Path: path}); !errors.Is(err, queue.ErrBusy) || !strings.Contains(err.Error(), path) {
		t.Errorf("while it lives: got %v, want ErrBusy with its path", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // it was killed
	q, err := queue.Open(t.Context(), queue.Options{Path: path})
	if err != nil {
		t.Fatalf("after its death: %v", err)
	}
	if _, err := queue.Open(t.Context(), queue.Options{Path: path}); !errors.Is(err, queue.ErrBusy) {
		t.Errorf("in the same process: got %v, want ErrBusy", err)
	}
	end(t, q)
}
