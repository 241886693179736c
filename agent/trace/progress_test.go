package trace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestProgress(t *testing.T) {
	want := lines(0, TypeStep, StepData{Text: "a <b>\nc"}, 2, TypeVerdict, VerdictData{Color: "red"}, 0, TypeStop, Stop{Reason: Fixed})
	var b bytes.Buffer
	for _, e := range want {
		if err := WriteProgress(&b, e); err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(b.Bytes(), []byte("\n")); n != len(want) {
		t.Fatalf("%d lines for %d events", n, len(want))
	}
	var got []Event
	if err := ScanProgress(iotest.OneByteReader(&b), func(e Event) { got = append(got, e) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestProgressAmongGarbage: whatever a child prints between its lines, the events arrive.
func TestProgressAmongGarbage(t *testing.T) {
	event := func(text string) string { return `{"seq":1,"type":"step","data":{"text":"` + text + `"}}` }
	const limit = 100_000 // more than the reader's buffer
	long := strings.Repeat("x", limit)
	in := strings.Join([]string{
		"panic: not this time", "", "{}", "[1]", "null", `{"type":""}`, `{"type":7}`, event("one"), "\x00\xff", `{"half`,
		long + "x", event("two"), long[:limit-1], long, event("three"), event("four, without an end"),
	}, "\n")
	var got []string
	err := scanProgress(strings.NewReader(in), limit, func(e Event) { got = append(got, decode[StepData](e).Text) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "three", "four, without an end"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestProgressErrors(t *testing.T) {
	broken := errors.New("pipe burst")
	if err := ScanProgress(iotest.ErrReader(broken), func(Event) {}); !errors.Is(err, broken) {
		t.Errorf("scan: %v", err)
	}
	long := io.MultiReader(strings.NewReader(strings.Repeat("x", 1000)), iotest.ErrReader(broken))
	if err := scanProgress(long, 100, func(Event) {}); !errors.Is(err, broken) {
		t.Errorf("scan in a long line: %v", err)
	}
	r, w := io.Pipe()
	_ = r.CloseWithError(broken)
	if err := WriteProgress(w, Event{Type: TypeStep}); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
}
