package trace

import (
	"bytes"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReplayGolden(t *testing.T) {
	for _, job := range jobs {
		path := filepath.Join("testdata", job, FileName)
		for name, opt := range map[string]ReplayOptions{"replay.txt": {}, "replay-full.txt": {Full: true}, "replay-quiet.txt": {Quiet: true}} {
			var b bytes.Buffer
			err := ReplayFile(&b, path, opt)
			if errors.Is(err, ErrTorn) != (job == "torn") || err != nil && job != "torn" {
				t.Errorf("%s: %v", job, err)
			}
			golden(t, job, name, b.Bytes())
			if !cleanText(b.String()) {
				t.Errorf("%s: %s is not safe for a terminal", job, name)
			}
			plain := b.String()
			b.Reset()
			opt.Color = true
			_ = ReplayFile(&b, path, opt)
			if got := regexp.MustCompile(`\x1b\[[0-9]*m`).ReplaceAllString(b.String(), ""); got != plain {
				t.Errorf("%s: in colour it says something else:\n%s", job, got)
			}
			if !strings.Contains(b.String(), reset) {
				t.Errorf("%s: no colour", job)
			}
		}
	}
}

func TestReplayFileRefuses(t *testing.T) {
	one := string(mustLine(t, lines(0, TypeStep, StepData{Text: "x"})[0]))
	for name, tc := range map[string]struct{ text, want string }{
		"empty":            {"", "no whole line"},
		"text":             {"hello\nworld\n", "line 1: not a line of a trace"},
		"text, no newline": {"hello", "line 1: not a line of a trace"},
		"another JSON":     {"{\"a\":1}\n{\"b\":2}\n", "line 1: not a line of a trace"},
		"only a torn line": {one[:20], "no whole line"},
		"garbage inside":   {one + "garbage\n" + one, "line 2: not a line of a trace"},
		"line twice":       {one + one, "line 2: its number is 1 where 2 belongs"},
		"another job":      {one + `{"seq":2,"job":"x","type":"step"}` + "\n", `line 2: it is of job "x"`},
		"one long line":    {strings.Repeat("x", maxLine+1), "line 1: longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := ReplayFile(&b, filepath.Join(writeRaw(t, tc.text), FileName))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
			if b.Len() > 0 {
				t.Errorf("printed %q", b.String())
			}
		})
	}
	if err := ReplayFile(&bytes.Buffer{}, "/nonexistent"); err == nil {
		t.Error("replayed what is not there")
	}
}

func mustLine(t *testing.T, e Event) []byte {
	t.Helper()
	b, err := marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("pipe burst") }

func TestReplayTellsOfAWriteError(t *testing.T) {
	if err := Replay(failingWriter{}, lines(0, TypeStep, StepData{Text: "x"})); err == nil {
		t.Error("no error")
	}
}

// TestEveryTypeHasItsText: a type without one would be printed as raw JSON.
func TestEveryTypeHasItsText(t *testing.T) {
	for _, typ := range []string{TypeEvent, TypeTree, TypeGit, TypeRun, TypeVerdict, TypeScene, TypeRan, TypeRequest, TypeTokens, TypeReply,
		TypeSlip, TypePatch, TypeCandidate, TypeEscalate, TypeRung, TypeReceipt, TypeStep, TypeStop, TypeAdmit, TypeDraft, TypeFlake, TypeReduced, TypeBisect} {
		if _, ok := eventTexts[typ]; !ok {
			t.Errorf("%s has none", typ)
		}
	}
	if got := EventText(Event{Type: "new", Data: []byte("{\"a\":\"\x1b\"}")}); got != `{"a":"\x1b"}` {
		t.Errorf("an unknown type: %q", got)
	}
}
