package trace

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files and the schema anew")

// TestMain lets the test binary be the other process of a test.
func TestMain(m *testing.M) {
	if role := os.Getenv("TRACE_TEST_ROLE"); role != "" {
		if err := helper(role, os.Getenv("TRACE_TEST_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper writes as many step lines as its role says, or lines of all kinds without end for "forever". It holds the
// trace for "hold" until it is killed.
func helper(role, dir string) error {
	lockWait = 50 * time.Millisecond
	r, err := Open(dir, "job-1", nil, nil)
	if err != nil {
		return err
	}
	if role == "hold" {
		fmt.Println("ready")
		time.Sleep(time.Minute)
	}
	n, err := strconv.Atoi(role)
	for i := 0; (role == "forever" || i < n) && err == nil || role == "forever"; i++ {
		if err := r.Add(i%7, helperTypes[i%len(helperTypes)], StepData{Text: fmt.Sprint("line ", i)}); err != nil {
			return err
		}
	}
	return r.Close()
}

var helperTypes = []string{TypeStep, TypeRun, TypeTokens, TypeStep, TypeReply, TypeVerdict}

// start runs the test binary as another process; it is ended with the test at the latest.
func start(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{"TRACE_TEST_ROLE=" + role, "TRACE_TEST_DIR=" + dir}
	return cmd
}

// lines makes events of (turn, type, data) with numbers, one second apart.
func lines(entries ...any) []Event {
	var out []Event
	for i := 0; i+2 < len(entries); i += 3 {
		raw, err := json.Marshal(entries[i+2])
		if err != nil {
			panic(err)
		}
		n := len(out) + 1
		out = append(out, Event{TS: time.Date(2026, 11, 29, 9, 0, n, 0, time.UTC), Seq: n, Job: "job-1",
			Turn: entries[i].(int), Type: entries[i+1].(string), Data: raw})
	}
	return out
}

// writeTrace makes an evidence directory that holds these events and a tail.
func writeTrace(t *testing.T, events []Event, tail string) string {
	t.Helper()
	var b []byte
	for _, e := range events {
		line, err := marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, line...)
	}
	return writeRaw(t, string(b)+tail)
}

func writeRaw(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustRead(t *testing.T, dir string) ([]Event, bool) {
	t.Helper()
	events, torn, err := Read(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return events, torn
}

func mustOpen(t *testing.T, dir string) *Recorder {
	t.Helper()
	r, err := Open(dir, "job-1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
