package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// seedTraces adds the golden jobs, and one of every type with each kind of garbage as its data.
func seedTraces(f *testing.F) {
	for _, job := range jobs {
		b, err := os.ReadFile(filepath.Join("testdata", job, FileName))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	var all []byte
	n := 0
	for typ := range eventTexts {
		for _, data := range []string{`null`, `[]`, `7`, `{"text":7,"seconds":1e308,"exit":-1,"n":9}`, `{"sections":{"\u202e":-1},"checks":[],"body":"x","diff":"\u0000"}`} {
			n++
			line, _ := marshal(Event{Seq: n, Job: "j", Turn: n % 3, Type: typ, Data: json.RawMessage(data)})
			all = append(all, line...)
		}
	}
	f.Add(all)
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"seq":1,"type":"x","ts":"9999-12-31T23:59:59.999999999-23:59"}` + "\n"))
}

// FuzzRender: whatever a trace file holds, every view of it is made or refused, is valid and safe to show, and is the
// same the second time.
func FuzzRender(f *testing.F) {
	seedTraces(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		events, torn, err := Read(path)
		if err != nil {
			return
		}
		s := tell(events, torn)
		status, err := json.Marshal(s.status())
		if err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(StatusOf(events, torn))
		if !bytes.Equal(status, again) {
			t.Error("another status the second time")
		}
		for name, view := range map[string]func() string{"summary": s.summary, "commands": s.commandsView, "log": s.logView, "patches": s.patchesView,
			"view": func() string {
				var b strings.Builder
				if err := View(&b, events); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}} {
			text := view()
			if !utf8.ValidString(text) || !cleanText(text) {
				t.Errorf("%s is not safe to show", name)
			}
			if text != view() {
				t.Errorf("%s differs the second time", name)
			}
		}
	})
}

func FuzzReplay(f *testing.F) {
	seedTraces(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, opt := range []ReplayOptions{{}, {Full: true}} {
			var out bytes.Buffer
			_ = ReplayFile(&out, path, opt)
			if !utf8.Valid(out.Bytes()) || !cleanText(out.String()) {
				t.Errorf("not safe for a terminal: %q", out.String())
			}
		}
	})
}

// FuzzRecorder: whatever stands in the file, Open refuses it and leaves it alone, or goes on behind its last whole line.
func FuzzRecorder(f *testing.F) {
	seedTraces(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, FileName)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		before, _, readErr := Read(path)
		job := "job-1"
		if len(before) > 0 && idPattern.MatchString(before[0].Job) {
			job = before[0].Job
		}
		r, err := Open(dir, job, nil, nil)
		if err != nil {
			if after, _ := os.ReadFile(path); !bytes.Equal(b, after) {
				t.Fatal("a refused file was changed")
			}
			return
		}
		if readErr != nil {
			t.Fatalf("opened what cannot be read: %v", readErr)
		}
		if err := r.Add(0, TypeStep, StepData{Text: string(b)}); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if after, torn, err := Read(path); err != nil || torn || len(after) != len(before)+1 {
			t.Fatalf("%d lines after %d, torn %v: %v", len(after), len(before), torn, err)
		}
	})
}

// FuzzEncode: any JSON text keeps its meaning under a cleaner that changes nothing, and what holds no escape its bytes.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{`{"a":"\u003c\"\\"}`, `["\\\"", "\ud800", 1e5]`, `{"a\"b":{"":"x"}}`, "\"\xff\"", `""`, `{"k":"\\"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		raw, err := encode(json.RawMessage(text), func(s string) string { return s }, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if meaning(t, text) != meaning(t, string(raw)) || bytes.ContainsRune(raw, '\n') || !utf8.Valid(raw) {
			t.Fatalf("%q became %q", text, raw)
		}
		if dropped, err := encode(json.RawMessage(text), func(string) string { return "" }, 1<<20); err != nil || !json.Valid(dropped) {
			t.Fatalf("%q without its strings: %q, %v", text, dropped, err)
		}
	})
}

// meaning is a JSON text with one spelling of its strings and its numbers as they are.
func meaning(t *testing.T, text string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
