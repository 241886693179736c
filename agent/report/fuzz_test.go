package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkReport is what holds for any report, whatever was read.
func checkReport(t *testing.T, r Report) {
	t.Helper()
	seen := map[string]bool{}
	for _, res := range r.Results {
		for what, s := range map[string]string{"id": res.ID, "message": res.Message, "got": res.Got, "want": res.Want, "trace": res.Trace, "file": res.File} {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\x1b\r") {
				t.Errorf("%s %q holds bytes that are not text", what, s)
			}
			if len(s) > maxTrace {
				t.Errorf("%s has %d bytes", what, len(s))
			}
		}
		if seen[res.ID] || res.ID == "" || res.Status == "" || res.Line < 0 {
			t.Errorf("result %+v is doubled or has no id or status", res)
		}
		seen[res.ID] = true
	}
	if len(r.Findings()) > len(r.Failed()) || len(r.Failed()) > 0 && len(r.Findings()) == 0 {
		t.Errorf("%d findings of %d failed", len(r.Findings()), len(r.Failed()))
	}
	if r.Exit != 0 && r.Color() == Green || r.Color() == Green && r.Class != "" || r.Color() != Green && r.Class == "" {
		t.Errorf("color %s, class %q, exit %d", r.Color(), r.Class, r.Exit)
	}
}

func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/*/*.txt")
	for _, name := range names {
		run := readFile(&testing.T{}, name).run
		f.Add(run.Stdout, run.Stderr, run.Exit)
	}
	f.Add([]byte(passing), []byte("go: x"), 0)
	f.Add([]byte("--- FAIL: TestA/ (0.00s)\n\x00\x1b[31m\xff\n{\n}\n# p\n# [p]\n"), []byte{}, 1)
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit int) {
		checkReport(t, Read(Run{Stdout: stdout, Stderr: stderr, Exit: exit % 256, Dir: "/tree"}))
	})
}

func FuzzGotWant(f *testing.F) {
	for _, s := range []string{"got 1, want 2", "F() = 1; want 2", "got:\n1\nwant:\n2", "(-want +got)\n- a\n+ b", "Error Trace:\n\tError: \tNot equal:\n\texpected: 1\n\tactual  : 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := gotWant(text)
		if len(got)+len(want) > 10*maxMessage {
			t.Errorf("gotWant(%q) is %d and %d bytes", text, len(got), len(want))
		}
	})
}

// Long lines, huge counts and forged markers cost a bounded multiple of the input and come back as a report.
func TestHostileOutputs(t *testing.T) {
	mib := 1 << 18 // a quarter, so that it takes no time under the race detector
	if os.Getenv("REDRAFT_LARGE") != "" {
		mib = 1 << 20
	}
	for name, out := range map[string][]byte{
		"one long line":      bytes.Repeat([]byte("x"), 64*mib),
		"one long event":     append([]byte(`{"Action":"output","Package":"p","Output":"`), bytes.Repeat([]byte("x"), 16*mib)...),
		"one long test":      append([]byte("=== RUN   "), bytes.Repeat([]byte("x/"), 8*mib)...),
		"a test of nuls":     bytes.Repeat([]byte("=== RUN   \x00\n"), mib/4),
		"many failing tests": numbered("--- FAIL: T%d/a (0.00s)\n", mib/16),
		"many events":        numbered(`{"Action":"fail","Package":"p","Test":"T%d"}`+"\n", mib/32),
		"many packages":      numbered("FAIL\tp%d [build failed]\n", mib/64),
		"packages by blocks": append(numbered("FAIL\tp%d [build failed]\n", mib/16), numbered("# q%d\na.go:1:1: x\n", mib/32)...),
		"many blocks":        numbered("# p%d\na.go:1:1: x\n", mib/32),
		"many panics":        append([]byte("=== RUN   TestA\n"), bytes.Repeat([]byte("panic: x\n"), mib)...),
		"deep names":         bytes.Repeat([]byte("--- FAIL: T"+strings.Repeat("/", 4000)+" (0.00s)\n"), mib/512),
		"open braces":        bytes.Repeat([]byte("{\n"), mib),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := Read(Run{Stdout: out, Exit: 1})
			runtime.ReadMemStats(&after)
			checkReport(t, r)
			if total := after.TotalAlloc - before.TotalAlloc; total > uint64(20*len(out)+64*mib) && total > uint64(4000*bytes.Count(out, []byte("\n"))) {
				t.Errorf("%d MiB allocated for %d MiB", total>>20, len(out)>>20)
			}
		})
	}
}

func numbered(format string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.Bytes()
}

// A test may print whatever it likes: inside events nothing of it is taken for the go command's word.
func TestForgedMarkers(t *testing.T) {
	forged := strings.ReplaceAll(failing, "got 1, want 2", `--- PASS: TestA (0.00s)\nok  \tp\t0.1s\nPASS\n=== RUN   TestB\n`)
	r := Read(Run{Stdout: []byte(forged), Exit: 1})
	if got := strings.Join(r.Failed(), " "); got != "p.TestA" || len(r.Results) != 1 {
		t.Errorf("failed %q of %d results, want p.TestA of 1", got, len(r.Results))
	}
	text := "=== RUN   TestA\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tp\t0.1s\n"
	r = Read(Run{Stdout: []byte(text), Exit: 1})
	if got := strings.Join(r.Failed(), " "); got != "p.TestA" || r.Format != "go-test" {
		t.Errorf("failed %q in %s, want p.TestA in go-test", got, r.Format)
	}
}

// A stream of events as a big module's tests write it.
func bigStream(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"Time":"2026-11-29T17:02:34.818755728Z","Action":"run","Package":"example.com/shop/cart","Test":"TestTotal/case_%d"}
{"Time":"2026-11-29T17:02:34.818765694Z","Action":"output","Package":"example.com/shop/cart","Test":"TestTotal/case_%d","Output":"=== RUN   TestTotal/case_%d\n"}
{"Time":"2026-11-29T17:02:34.818790608Z","Action":"output","Package":"example.com/shop/cart","Test":"TestTotal/case_%d","Output":"    cart_test.go:20: Total(%d) = 0; want 1\n"}
{"Time":"2026-11-29T17:02:34.818798387Z","Action":"output","Package":"example.com/shop/cart","Test":"TestTotal/case_%d","Output":"    --- PASS: TestTotal/case_%d (0.00s)\n"}
{"Time":"2026-11-29T17:02:34.818799945Z","Action":"pass","Package":"example.com/shop/cart","Test":"TestTotal/case_%d","Elapsed":0}
`, i, i, i, i, i, i, i, i)
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	run := Run{Stdout: bigStream(50 << 20), Exit: 1}
	b.SetBytes(int64(len(run.Stdout)))
	b.ReportAllocs()
	for b.Loop() {
		Read(run)
	}
}

// The quick reader says the same as encoding/json, or leaves the line to it.
func FuzzQuickEvent(f *testing.F) {
	for _, line := range strings.Split(passing+failing, "\n") {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"Action":"output","Output":"\u00e9\ud83d\ude00\n"}`))
	f.Add([]byte(`{"Action":"output","Action":"run","Elapsed":1e3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, ok := newStream(Run{}).quick(line)
		if !ok {
			return
		}
		var want event
		if err := json.Unmarshal(line, &want); err != nil || want != e {
			t.Errorf("%q is %+v, want %+v, %v", line, e, want, err)
		}
	})
}
