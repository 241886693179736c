package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/trace"
)

func event(at int, typ, data string) trace.Event {
	return trace.Event{TS: time.UnixMilli(int64(at)), Type: typ, Data: json.RawMessage(data)}
}

func TestSplit(t *testing.T) {
	turns, err := split([]trace.Event{
		event(0, trace.TypeEvent, "{}"),
		event(900, trace.TypeRun, `{"seconds":0.9}`), // before the first turn
		event(1000, trace.TypeScene, "{}"),
		event(1200, trace.TypeReply, `{"seconds":0.19}`),
		event(1900, trace.TypeRun, `{"seconds":0.65}`),
		event(1950, trace.TypeVerdict, "{}"),
		event(2000, trace.TypeScene, "{}"),
		event(2100, trace.TypeReply, `{"seconds":0.095}`),
		event(2105, trace.TypeSlip, "{}"),
		event(2110, trace.TypeStop, "{}"),
		event(9000, trace.TypeAdmit, "{}"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []part{{own: 160 * time.Millisecond, check: 650 * time.Millisecond}, {own: 15 * time.Millisecond}}
	if len(turns) != 2 || turns[0] != want[0] || turns[1] != want[1] {
		t.Errorf("got %v, want %v", turns, want)
	}
}

func TestSplitRefuses(t *testing.T) {
	for name, events := range map[string][]trace.Event{
		"nothing":       nil,
		"no turn":       {event(0, trace.TypeStop, "{}")},
		"no stop":       {event(0, trace.TypeScene, "{}")},
		"a broken line": {event(0, trace.TypeRun, `{"seconds":"x"}`)},
	} {
		if turns, err := split(events); err == nil {
			t.Errorf("%s: got %v, want an error", name, turns)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"--only", "speed"}, {"--only", ""}, {"turn"}, {"--fast"}} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%q: got exit %d, %q, want 2 and a sentence", args, code, stderr.String())
		}
	}
}

func TestPack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, bytes.Repeat([]byte("the same again "), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	packed, plain, err := pack(name)
	if err != nil || plain != 1_500_000 || packed < 100 || packed > plain/50 {
		t.Errorf("got %d of %d bytes (%v), want a small part of 1500000", packed, plain, err)
	}
	if _, _, err := pack(name + " is not there"); err == nil {
		t.Error("got no error for a file that is not there")
	}
}

func TestCleanBuild(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	first, err := b.clean(context.Background(), "build", "unicode")
	if err != nil || first <= 0 {
		t.Errorf("got %v (%v), want some CPU time", first, err)
	}
	if again, err := b.clean(context.Background(), "build", "-x", "unicode"); err != nil || again < first/4 {
		t.Errorf("the second time: got %v (%v) after %v, want it as clean as the first", again, err, first)
	}
	if left, err := os.ReadDir(b.dir); err != nil || len(left) != 0 {
		t.Errorf("got %v left behind (%v), want nothing", left, err)
	}
	if _, err := b.clean(context.Background(), "build", "example.invalid/none"); err == nil || !strings.Contains(err.Error(), "example.invalid/none") {
		t.Errorf("a build that is not to be had: got %v, want its words", err)
	}
}
