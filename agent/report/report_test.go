package report

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the want: lines of testdata")

// file is one file of testdata: a header of "key: value" lines, a blank line, the raw report.
type file struct {
	keys []string // header lines but want:, in order
	want []string
	run  Run
}

func readFile(t *testing.T, name string) file {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, raw, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		t.Fatalf("%s: no blank line after the header", name)
	}
	f := file{run: Run{Dir: "/tree", Stdout: []byte(raw)}}
	stderr := 0
	for _, line := range strings.Split(head, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		if key == "want" {
			f.want = append(f.want, value)
			continue
		}
		f.keys = append(f.keys, line)
		switch key {
		case "command":
			f.run.Command = value
		case "exit":
			f.run.Exit, _ = strconv.Atoi(value)
		case "signal":
			f.run.Signal = value
		case "limit":
			f.run.Limit = value
		case "module":
			f.run.Module = value
		case "subdir":
			f.run.Subdir = value
		case "stderr":
			stderr, _ = strconv.Atoi(value) // that many bytes were written to standard error
		case "file":
			name, n, _ := strings.Cut(value, " ")
			size, _ := strconv.Atoi(n)
			f.run.Files = append(f.run.Files, File{Name: name, Data: make([]byte, size)})
		default:
			t.Fatalf("%s: unknown key %q", name, key)
		}
	}
	f.split(t, name, stderr)
	return f
}

// split cuts the raw part: standard output, standard error, then the files in the order of their lines.
func (f *file) split(t *testing.T, name string, stderr int) {
	t.Helper()
	size := stderr
	for _, r := range f.run.Files {
		size += len(r.Data)
	}
	raw := f.run.Stdout
	if size > len(raw) {
		t.Fatalf("%s: %d bytes of parts in %d", name, size, len(raw))
	}
	f.run.Stdout, raw = raw[:len(raw)-size], raw[len(raw)-size:]
	f.run.Stderr, raw = raw[:stderr], raw[stderr:]
	for i, r := range f.run.Files {
		f.run.Files[i].Data, raw = raw[:len(r.Data)], raw[len(r.Data):]
	}
}

// told is a report in the words of the want: lines.
func told(r Report) []string {
	lines := []string{strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Color(), r.Format, r.Class))}
	for _, f := range r.Findings() {
		l := fmt.Sprintf("%s %s %s %s %s:%d", f.Status, f.Kind, f.ID, f.Class, f.File, f.Line)
		if f.Got != "" || f.Want != "" {
			l += fmt.Sprintf(" got %q want %q", f.Got, f.Want)
		}
		if f.Trace != "" {
			l += fmt.Sprintf(" trace %d lines", strings.Count(f.Trace, "\n"))
		}
		first, _, _ := strings.Cut(f.Message, "\n")
		lines = append(lines, l+" says "+strconv.Quote(first))
	}
	var passed int
	for _, res := range r.Results {
		if res.Status == Skip {
			lines = append(lines, "skip "+res.ID)
		}
		if res.Status == Pass {
			passed++
		}
	}
	lines = append(lines, fmt.Sprintf("failed %d passed %d", len(r.Failed()), passed))
	for _, p := range r.Problems {
		lines = append(lines, "problem "+p)
	}
	return lines
}

func TestReadFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/*/*.txt")
	if len(names) < 20 {
		t.Fatalf("%d files in testdata, want at least 20", len(names))
	}
	for _, name := range names {
		t.Run(strings.TrimPrefix(name, "testdata/"), func(t *testing.T) {
			f := readFile(t, name)
			got := told(Read(f.run))
			if *update {
				head := strings.Join(f.keys, "\n") + "\nwant: " + strings.Join(got, "\nwant: ") + "\n\n"
				raw := string(f.run.Stdout) + string(f.run.Stderr)
				for _, r := range f.run.Files {
					raw += string(r.Data)
				}
				if err := os.WriteFile(name, []byte(head+raw), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(f.want, got); d != "" {
				t.Errorf("Read mismatch (-want +got):\n%s", d)
			}
		})
	}
}
