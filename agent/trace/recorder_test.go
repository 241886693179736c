package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

func TestRecorderContinues(t *testing.T) {
	dir := t.TempDir()
	var seen []int
	for part := range 3 {
		r, err := Open(dir, "job-1", nil, func(e Event) { seen = append(seen, e.Seq) })
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.Add(part, TypeStep, StepData{Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Add(0, TypeStep, nil); !errors.Is(err, os.ErrClosed) {
			t.Fatalf("Add after Close: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatalf("second Close: %v", err)
		}
	}
	events, torn := mustRead(t, dir)
	if len(events) != 6 || torn || events[5].Seq != 6 || events[5].Turn != 2 {
		t.Fatalf("read %d events, torn %v, last %+v", len(events), torn, events[len(events)-1])
	}
	if fmt.Sprint(seen) != "[1 2 3 4 5 6]" {
		t.Fatalf("onEvent saw %v", seen)
	}
	if info, _ := os.Stat(filepath.Join(dir, FileName)); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

// TestTornAtEveryByte cuts the last line at every byte: what is whole stays, what is torn goes, and work goes on.
func TestTornAtEveryByte(t *testing.T) {
	dir := writeTrace(t, lines(0, TypeStep, StepData{Text: "one"}, 1, TypeReply, ReplyData{Text: "tw\"o\né"}), "")
	path := filepath.Join(dir, FileName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for n := first; n <= len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 1
		if n == len(whole) {
			want = 2
		}
		events, torn := mustRead(t, dir)
		if len(events) != want || torn != (n > first && n < len(whole)) {
			t.Fatalf("cut at %d of %d: %d events, torn %v", n, len(whole), len(events), torn)
		}
		r := mustOpen(t, dir)
		if err := r.Add(0, TypeStep, StepData{Text: "next"}); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if events, torn = mustRead(t, dir); len(events) != want+1 || torn || events[want].Seq != want+1 {
			t.Fatalf("cut at %d, after going on: %d events, torn %v", n, len(events), torn)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	one := lines(0, TypeStep, StepData{Text: "one"})
	for name, tc := range map[string]struct{ dir, job, want string }{
		"another job":   {writeTrace(t, one, ""), "job-2", `of job "job-1"`},
		"no job id":     {t.TempDir(), "../x", "no job id"},
		"foreign":       {writeRaw(t, "hello\nworld\n"), "job-1", "line 1: not a line of a trace"},
		"gap":           {writeTrace(t, []Event{one[0], {Seq: 3, Job: "job-1", Type: "step"}}, ""), "job-1", "number is 3 where 2"},
		"no such place": {"/nonexistent/dir", "job-1", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(filepath.Join(tc.dir, FileName))
			_, err := Open(tc.dir, tc.job, nil, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want %q", err, tc.want)
			}
			if after, _ := os.ReadFile(filepath.Join(tc.dir, FileName)); !bytes.Equal(before, after) {
				t.Error("a refused file was changed")
			}
		})
	}
}

func TestOpenFollowsNoLink(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.Symlink(other, filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, "job-1", nil, nil); err == nil {
		t.Fatal("opened a symbolic link")
	}
	if _, err := os.Lstat(other); err == nil {
		t.Fatal("made the link's target")
	}
}

func TestGoroutines(t *testing.T) {
	dir := t.TempDir()
	last := 0
	r, err := Open(dir, "job-1", nil, func(e Event) {
		if e.Seq != last+1 {
			t.Errorf("onEvent saw %d after %d", e.Seq, last)
		}
		last = e.Seq
	})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := r.Add(g, TypeStep, StepData{Text: strings.Repeat("x", i*50)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if events, torn := mustRead(t, dir); len(events) != 400 || torn || last != 400 {
		t.Fatalf("%d events, torn %v, onEvent %d", len(events), torn, last)
	}
}

func TestBusy(t *testing.T) {
	old := lockWait
	lockWait = 30 * time.Millisecond
	defer func() { lockWait = old }()
	dir := t.TempDir()
	r := mustOpen(t, dir)
	if _, err := Open(dir, "job-1", nil, nil); !errors.Is(err, ErrBusy) {
		t.Fatalf("second Open: %v", err)
	}
	lockWait = 5 * time.Second
	time.AfterFunc(50*time.Millisecond, func() { _ = r.Close() })
	mustOpen(t, dir) // waits for the first
}

func TestCleanReachesEveryString(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, "job-1", func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := []any{
		StepData{Text: "hunter2"},
		RequestData{Body: json.RawMessage(`{"messages":[{"content":"say hunter2 \u003cnow\u003e"}],"n":1.50}`)},
		map[string]any{"sub hunter2 module": []string{"a", "hunter2hunter2"}, "deep": map[string]any{"x": []any{1, true, nil, "hunter2"}}},
	}
	for _, d := range data {
		if err := r.Add(0, "x", d); err != nil {
			t.Fatal(err)
		}
	}
	_ = r.Close()
	b, _ := os.ReadFile(filepath.Join(dir, FileName))
	if bytes.Contains(b, []byte("hunter2")) || bytes.Count(b, []byte("[secret]")) != 6 {
		t.Fatalf("not clean:\n%s", b)
	}
	mustRead(t, dir)
}

// TestBodyIsKeptByteForByte: what was sent is evidence, down to the spelling of its escapes and numbers.
func TestBodyIsKeptByteForByte(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"a\u003cb <c> \u0026 & \u2028 é \ud83d\ude00 \/"}],"temperature":0.70,"seed":12345678901234567890}`
	dir := t.TempDir()
	r, err := Open(dir, "job-1", func(s string) string { return s }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Add(1, TypeRequest, RequestData{Body: json.RawMessage(body)}); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	events, _ := mustRead(t, dir)
	if got := decode[RequestData](events[0]).Body; string(got) != body {
		t.Fatalf("got  %s\nwant %s", got, body)
	}
}

// TestLongLinesAreClipped: no line is over 8 MiB, and what is clipped says how long it was.
func TestLongLinesAreClipped(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	if err := r.Add(1, TypeReply, ReplyData{Text: strings.Repeat("x", 9<<20), Finish: "stop"}); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if info, _ := os.Stat(filepath.Join(dir, FileName)); info.Size() > maxLine {
		t.Fatalf("%d bytes", info.Size())
	}
	events, _ := mustRead(t, dir)
	got := decode[ReplyData](events[0])
	if !strings.HasSuffix(got.Text, "xxx… [clipped: 9437184 bytes in all]") || got.Finish != "stop" {
		t.Fatalf("…%s, finish %q", got.Text[max(0, len(got.Text)-60):], got.Finish)
	}
}

func TestEncodeFits(t *testing.T) {
	const limit = 10_000
	many := make([]string, 40)
	for i := range many {
		many[i] = strings.Repeat("é", 400)
	}
	for name, data := range map[string]any{
		"one string":   ReplyData{Text: strings.Repeat("é", limit)},
		"many strings": VerdictData{Unstable: many},
		"escapes":      ReplyData{Text: strings.Repeat("\x01", limit/3)},
		"a body":       RequestData{Body: json.RawMessage(`{"prompt":"` + strings.Repeat(`\n`, limit) + `"}`)},
		"only numbers": make([]int, limit),
		"names":        map[string]int{strings.Repeat("A", limit): 1},
	} {
		raw, err := encode(data, nil, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > limit || !json.Valid(raw) || !utf8.Valid(raw) || !bytes.Contains(raw, []byte("clipped")) {
			t.Errorf("%s: %d bytes: %.200s", name, len(raw), raw)
		}
	}
	if got := clipped("abc"+strings.Repeat("é", 100), 4); got != "abc… [clipped: 203 bytes in all]" {
		t.Errorf("clipped: %q", got)
	}
}

func TestAddRefuses(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	for _, err := range []error{r.Add(0, "", nil), r.Add(0, strings.Repeat("x", 65), nil), r.Add(0, TypeStep, func() {})} {
		if err == nil {
			t.Error("no error")
		}
	}
	if err := r.Add(0, TypeStep, StepData{Text: "fine"}); err != nil {
		t.Fatal(err)
	}
	if events, _ := mustRead(t, dir); len(events) != 1 || events[0].Seq != 1 {
		t.Fatalf("%v", events)
	}
	var none *Recorder
	if none.Add(0, TypeStep, nil) != nil || none.Close() != nil {
		t.Error("a nil Recorder said no")
	}
}

func TestFullTraceKeepsRoomForItsEnd(t *testing.T) {
	r := mustOpen(t, t.TempDir())
	r.size = maxTrace - reserve + 1
	if err := r.Add(0, TypeStep, StepData{Text: "x"}); err == nil {
		t.Error("a step went into a full trace")
	}
	if err := r.Add(0, TypeStop, Stop{Reason: Exhausted}); err != nil {
		t.Errorf("no room for the stop: %v", err)
	}
}

// TestBrokenWrite: a write that breaks off leaves no half line behind. The disk is full when the file may not grow.
func TestBrokenWrite(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	if err := r.Add(0, TypeStep, StepData{Text: "one"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.f.WriteString(`{"half`); err != nil {
		t.Fatal(err)
	}
	if err := r.undo(errors.New("disk full")); err == nil || err.Error() != "disk full" {
		t.Fatalf("undo: %v", err)
	}
	if err := r.Add(0, TypeStep, StepData{Text: "two"}); err != nil {
		t.Fatal(err)
	}
	if events, torn := mustRead(t, dir); len(events) != 2 || torn {
		t.Fatalf("%d events, torn %v", len(events), torn)
	}
}

// TestHandover: the publisher writes, then the repair process, then the publisher again.
func TestHandover(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	if err := r.Add(0, TypeEvent, Job{ID: "job-1"}); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if out, err := start(t, "40", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r = mustOpen(t, dir)
	if err := r.Add(0, TypeAdmit, AdmitData{Admitted: true}); err != nil {
		t.Fatal(err)
	}
	events, torn := mustRead(t, dir)
	if len(events) != 42 || torn || events[41].Seq != 42 || events[41].Type != TypeAdmit {
		t.Fatalf("%d events, torn %v", len(events), torn)
	}
}

// TestTwoLiveProcesses: the second one is told so, and the file lets go of a dead first one.
func TestTwoLiveProcesses(t *testing.T) {
	dir := t.TempDir()
	r := mustOpen(t, dir)
	cmd := start(t, "1", dir)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), ErrBusy.Error()) {
		t.Fatalf("second process: %v: %s", err, out)
	}
	_ = r.Close()

	holder := start(t, "hold", dir)
	ready, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = ready.Read(make([]byte, 16))
	old := lockWait
	lockWait = 10 * time.Millisecond
	_, err = Open(dir, "job-1", nil, nil)
	lockWait = old
	_ = holder.Process.Kill()
	_ = holder.Wait()
	if !errors.Is(err, ErrBusy) {
		t.Fatalf("Open beside a live writer: %v", err)
	}
	mustOpen(t, dir)
}

// TestKilledWhileWriting kills a writing process again and again; every time the lines so far are whole and in order.
func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	before := 0
	for round := range 8 {
		cmd := start(t, "forever", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitGrow(t, path, int64(500+round*397))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		events, _ := mustRead(t, dir)
		if len(events) <= before {
			t.Fatalf("round %d: %d lines after %d", round, len(events), before)
		}
		r := mustOpen(t, dir)
		if err := r.Add(0, TypeStep, StepData{Text: "after the kill"}); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		events, torn := mustRead(t, dir)
		if torn || events[len(events)-1].Seq != len(events) {
			t.Fatalf("round %d: torn %v, last number %d of %d", round, torn, events[len(events)-1].Seq, len(events))
		}
		before = len(events)
	}
}

// waitGrow waits until the file has grown by n bytes.
func waitGrow(t *testing.T, path string, n int64) {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	from := size()
	for deadline := time.Now().Add(20 * time.Second); size() < from+n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the writer writes nothing")
		}
	}
}
