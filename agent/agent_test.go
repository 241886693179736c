package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent"
	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/oracle"
	"github.com/redraft-dev/redraft/agent/patch"
	"github.com/redraft-dev/redraft/agent/perceive"
	"github.com/redraft-dev/redraft/agent/plan"
	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
	"github.com/redraft-dev/redraft/agent/trace"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write the golden traces anew")

// script is a model that says its lines in order; an error instead of a line is returned. Out of lines it fails the test.
type script struct {
	t     *testing.T
	lines []any // string, error, model.Reply
	asked []model.Request
}

func (s *script) Complete(_ context.Context, r model.Request) (model.Reply, error) {
	s.asked = append(s.asked, r)
	if len(s.asked) > len(s.lines) {
		s.t.Errorf("the model was asked %d times, the script has %d lines", len(s.asked), len(s.lines))
		return model.Reply{}, errors.New("out of lines")
	}
	if r.OnSend != nil {
		body, _ := json.Marshal(map[string]any{"messages": r.Messages, "temperature": r.Temperature})
		r.OnSend(body)
	}
	switch x := s.lines[len(s.asked)-1].(type) {
	case error:
		return model.Reply{}, x
	case model.Reply:
		return x, nil
	default:
		return model.Reply{Text: x.(string), Finish: "stop", Model: "scripted", Usage: model.Usage{Prompt: 100, Output: 20}}, nil
	}
}

type copies struct {
	from, into string
	mu         sync.Mutex
	n          int
}

func (c *copies) Fresh(context.Context) (string, func(context.Context) error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	dir := filepath.Join(c.into, fmt.Sprint(c.n))
	return dir, func(context.Context) error { return os.RemoveAll(dir) }, os.CopyFS(dir, os.DirFS(c.from))
}

const (
	source = "// Package m doubles.\npackage m\n\n// Double is twice x.\nfunc Double(x int) int {\n\treturn x + 1\n}\n"
	tests  = "package m\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif got := Double(2); got != 4 {\n\t\tt.Errorf(\"got %d, want %d\", got, 4)\n\t}\n}\n"
)

func edit(file, addr, body string) string {
	return "Because.\n\n```go\n# edit: " + file + " :: " + addr + "\n" + body + "```\n"
}

var (
	right = edit("m.go", "Double", "// Double is twice x.\nfunc Double(x int) int {\n\treturn x * 2\n}\n")
	wrong = edit("m.go", "Double", "// Double is twice x.\nfunc Double(x int) int {\n\treturn x * 3\n}\n")
	same  = edit("m.go", "Double", "// Double is twice x.\nfunc Double(x int) int {\n\treturn x + 1\n}\n")
	cheat = edit("m_test.go", "TestDouble", "func TestDouble(t *testing.T) {}\n")
)

// world is an agent over a little repository whose TestDouble is red.
type world struct {
	*agent.Agent
	evidence string
	models   map[string]*script
}

func newWorld(t *testing.T, tiers []string, lines map[string][]any) *world {
	t.Helper()
	box, err := sandbox.Open(sandbox.Options{})
	if err != nil {
		t.Skipf("REFUSED: no sandbox tier works on this machine: %v", err)
	}
	set := plan.Set{Checks: []plan.Check{{ID: "unit", Run: "go test ./...", Runs: 1}}, Fingerprint: "f"}
	needs, err := plan.Toolchain(t.Context(), set, os.Getenv)
	if err != nil || needs.Go == "" {
		t.Skipf("REFUSED: no Go toolchain: %v", err)
	}
	state := filepath.Join(os.TempDir(), fmt.Sprintf("redraft-test-%d", os.Getuid()))
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	base, _, err := sandbox.BuildBase(t.Context(), box, sandbox.BaseSpec{Key: needs.Go, Env: needs.Env, Read: needs.Read, State: state})
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "m.go": source, "m_test.go": tests} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys, done, err := oracle.FS(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { done() })
	id, err := patch.TreeID(fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{evidence: t.TempDir(), models: map[string]*script{}}
	rec, err := trace.Open(w.evidence, "job", func(s string) string { return s }, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	o := &oracle.Oracle{
		Box: box, Check: set.Checks[0], Needs: needs, Root: fsys, Module: "example.com/m", Trees: &copies{from: root, into: t.TempDir()},
		Scratch: t.TempDir(), Base: base, Timeout: time.Minute, Seed: 1, Keep: agent.Keep(w.evidence),
	}
	w.Agent = &agent.Agent{
		Job:  trace.Job{ID: "job", Root: "c0ffee", Base: "c0ffee", RootTree: id, Tiers: tiers, Limits: trace.Limits{Turns: 4}, Seed: 1},
		Plan: set, Oracle: o, Trace: rec, Root: fsys, Evidence: w.evidence,
	}
	o.OnRun = w.OnRun
	for tier, l := range lines {
		w.models[tier] = &script{t: t, lines: l}
		w.Job.Models = append(w.Job.Models, trace.ModelChoice{Tier: tier, Name: tier})
	}
	w.Dial = func(_ context.Context, tier string) (agent.Proposer, error) {
		return agent.Proposer{Model: w.models[tier], Name: tier, BaseURL: "http://127.0.0.1/v1", ID: "scripted"}, nil
	}
	return w
}

func (w *world) events(t *testing.T) []trace.Event {
	t.Helper()
	events, torn, err := trace.Read(filepath.Join(w.evidence, "trace.jsonl"))
	if err != nil || torn {
		t.Fatalf("read the trace: torn %v, %v", torn, err)
	}
	return events
}

// vary are the fields of a line that differ from run to run or from machine to machine.
var vary = []string{"ts", "seconds", "user_seconds", "sys_seconds", "max_rss", "digest", "tier", "sha256", "message", "excerpt"}

// tries is how many changes were tried, and the slips that were told.
func (w *world) tries(t *testing.T) (tried int, slips []trace.SlipData) {
	t.Helper()
	for _, e := range w.events(t) {
		switch e.Type {
		case trace.TypePatch:
			tried++
		case trace.TypeSlip:
			var d trace.SlipData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			slips = append(slips, d)
		}
	}
	return tried, slips
}

// golden is a trace without what varies.
func golden(t *testing.T, events []trace.Event) string {
	t.Helper()
	var b strings.Builder
	for _, e := range events {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		scrub(m)
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(out, '\n'))
	}
	return b.String()
}

func scrub(v any) {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range vary {
			delete(x, k)
		}
		for _, y := range x {
			scrub(y)
		}
	case []any:
		for _, y := range x {
			scrub(y)
		}
	}
}

// TestGoldenRuns takes the loop along its roads with a scripted model and holds every line of the trace against a file.
func TestGoldenRuns(t *testing.T) {
	for _, row := range []struct {
		name  string
		tiers []string
		lines map[string][]any
		want  trace.Reason
	}{
		{"first-try", []string{"small"}, map[string][]any{"small": {right}}, trace.Fixed},
		{"slip-red-green", []string{"small"}, map[string][]any{"small": {cheat, wrong, right}}, trace.Fixed},
		{"escalation", []string{"small", "big"}, map[string][]any{"small": {wrong, same, "prose", wrong, "prose"}, "big": {right}}, trace.Fixed},
		{"exhausted", []string{"small"}, map[string][]any{"small": {wrong, wrong, wrong, wrong, wrong}}, trace.Exhausted},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, row.tiers, row.lines)
			stop, err := w.Repair(t.Context())
			if err != nil || stop.Reason != row.want {
				t.Fatalf("got %+v, %v; want %s", stop, err, row.want)
			}
			file := filepath.Join("testdata", row.name+".trace.jsonl")
			got := golden(t, w.events(t))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the trace differs from %s (-want +got); run with -update if that is meant:\n%s", file, diff)
			}
		})
	}
}

func TestFixedEvidenceVerifies(t *testing.T) {
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {wrong, right}})
	if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != trace.Fixed {
		t.Fatalf("got %+v, %v", stop, err)
	}
	receipt, diff, err := proof.Verify(os.DirFS(w.evidence))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(diff), "+\treturn x * 2") || receipt.Fingerprint != "f" || receipt.By != "small" {
		t.Errorf("got %+v", receipt)
	}
}

// TestAnswersJudgedOnce: the same answer again costs a slip and no run of the check.
func TestAnswersJudgedOnce(t *testing.T) {
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {wrong, wrong, right}})
	if _, err := w.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	tried, slips := w.tries(t)
	if tried != 2 || len(slips) != 1 || slips[0].Code != "same_answer" {
		t.Errorf("got %d tries and slips %+v; want 2 and one same_answer", tried, slips)
	}
}

// TestUnseenStays: an edit of what no scene has shown of a long file is a slip, told with its remedy, and costs no run of the check. A
// file of which nothing was shown may be changed.
func TestUnseenStays(t *testing.T) {
	far := edit("m.go", "Far1999", "func Far1999() int {\n\treturn 3\n}\n")
	other := edit("other.txt", "L1", "three\n")
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {far, right + other}})
	from := w.Oracle.Trees.(*copies).from
	long := source
	for i := range 2000 {
		long += fmt.Sprintf("\nfunc Far%d() int {\n\treturn 2\n}\n", i)
	}
	for name, text := range map[string]string{"m.go": long, "other.txt": "two\n"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	id, err := patch.TreeID(w.Root, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Job.RootTree = id
	if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != trace.Fixed {
		t.Fatalf("got %+v, %v", stop, err)
	}
	tried, slips := w.tries(t)
	if tried != 1 || len(slips) != 1 || slips[0].Code != patch.NotShown || slips[0].Remedy == "" {
		t.Errorf("got %d tries and slips %+v", tried, slips)
	}
}

// TestUnseen: what is not shown of a file is what lies between; of a file that no scene has shown nothing is told.
func TestUnseen(t *testing.T) {
	set := patch.Set{{File: "a.go", Addr: "F"}, {File: "b.go", Addr: "*"}, {File: "a.go", Addr: "L3"}}
	got := agent.Unseen(set, []perceive.Lines{{File: "a.go", First: 20, Last: 30}, {File: "a.go", First: 5, Last: 9}, {File: "c.go", First: 1, Last: 9}, {File: "a.go", First: 8, Last: 12}})
	want := map[string][]patch.Lines{"a.go": {{First: 1, Last: 4}, {First: 13, Last: 19}, {First: 31, Last: math.MaxInt}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestRecordedIsSent: the request line holds the bytes that went out, and the temperatures rise from greedy.
func TestRecordedIsSent(t *testing.T) {
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {wrong, "prose", right}})
	if _, err := w.Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, e := range w.events(t) {
		if e.Type != trace.TypeRequest {
			continue
		}
		var d trace.RequestData
		if err := json.Unmarshal(e.Data, &d); err != nil {
			t.Fatal(err)
		}
		asked := w.models["small"].asked[i]
		if !strings.Contains(string(d.Body), "TestDouble") || d.Temperature != asked.Temperature {
			t.Errorf("request %d: the recorded one is not the sent one", i+1)
		}
		i++
	}
	asked := w.models["small"].asked
	if len(asked) != 3 || asked[0].Temperature != 0 || asked[1].Temperature != 0.7 {
		t.Errorf("got %d requests", len(asked))
	}
	if strings.Contains(asked[0].Messages[0].Content, "previous try") || !strings.Contains(asked[1].Messages[0].Content, "previous try") || strings.Contains(asked[2].Messages[0].Content, "previous try") {
		t.Error("every second turn shows the previous try, the others are memoryless")
	}
}

// A root that is green by itself and red in its base: the base moved, and nothing is repaired.
func TestBaseDrift(t *testing.T) {
	for _, row := range []struct {
		name  string
		merge report.Color
		mixed bool
		want  trace.Reason
	}{
		{"red in its base", report.Red, false, trace.BaseDrift},
		{"green in its base", report.Green, false, trace.NotReproduced},
		{"flaky in its base", report.Red, true, trace.NotReproduced},
		{"not judged in its base", report.Unknown, false, trace.NotReproduced},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, []string{"small"}, map[string][]any{"small": {}})
			w.Oracle.Trees.(*copies).from = green(t)
			asked := 0
			w.Merge = func(context.Context) (oracle.Sight, error) {
				asked++
				return oracle.Sight{Verdict: oracle.Verdict{Color: row.merge}, Mixed: row.mixed}, nil
			}
			stop, err := w.Repair(t.Context())
			if err != nil || stop.Reason != row.want || asked != 1 {
				t.Errorf("got %+v, %v after %d looks at the merge; want %s after one", stop, err, asked, row.want)
			}
		})
	}
}

// green is the little repository with its fault repaired.
func green(t *testing.T) string {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.21\n", "m.go": strings.Replace(source, "x + 1", "x * 2", 1), "m_test.go": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModelGone(t *testing.T) {
	gone := &model.Error{Class: model.Connection, Doing: "complete", Err: errors.New("connection refused")}
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {gone}})
	_, err := w.Repair(t.Context())
	var me *model.Error
	if !errors.As(err, &me) || !strings.Contains(err.Error(), "no tier is left") {
		t.Errorf("got %v, want our side's failure that names the model", err)
	}
	w = newWorld(t, []string{"small", "big"}, map[string][]any{"small": {gone}, "big": {right}})
	if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != trace.Fixed {
		t.Errorf("got %+v, %v; want the big model to take over", stop, err)
	}
}

func TestBudgets(t *testing.T) {
	w := newWorld(t, []string{"small"}, map[string][]any{"small": {wrong, "prose"}})
	w.Job.Limits.Tokens = 30
	if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != trace.Exhausted || !strings.Contains(stop.Text, "tokens") {
		t.Errorf("tokens: got %+v, %v", stop, err)
	}
	w = newWorld(t, []string{"small"}, map[string][]any{"small": {right}})
	w.Job.Limits.Wall = time.Millisecond
	if stop, err := w.Repair(t.Context()); err != nil || stop.Reason != trace.Exhausted || !strings.Contains(stop.Text, "minutes") {
		t.Errorf("wall: got %+v, %v", stop, err)
	}
	w = newWorld(t, []string{"small"}, map[string][]any{"small": {right}})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("a person said so"))
	if stop, err := w.Repair(ctx); err != nil || stop.Reason != trace.Cancelled || !strings.Contains(stop.Text, "a person said so") {
		t.Errorf("cancel: got %+v, %v", stop, err)
	}
}
