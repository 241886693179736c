package report

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// githubLog is a job whose second step fails.
const githubLog = "\ufeff2026-05-27T21:37:06.1712612Z Current runner version: '2.291.1'\r\n" +
	"2026-05-27T21:37:07.8317971Z ##[group]Run actions/checkout@v4\n" +
	"2026-05-27T21:37:07.8318260Z with:\n" +
	"2026-05-27T21:37:07.8320000Z ##[endgroup]\n" +
	"2026-05-27T21:37:11.3378835Z ##[group]Run cd cart\n" +
	"2026-05-27T21:37:11.3379183Z \x1b[36;1mcd cart\x1b[0m\n" +
	"2026-05-27T21:37:11.3379184Z \x1b[36;1mgo test ./...\x1b[0m\n" +
	"2026-05-27T21:37:11.3430999Z shell: /usr/bin/bash -e {0}\n" +
	"2026-05-27T21:37:11.3431813Z ##[endgroup]\n" +
	"2026-05-27T21:37:11.9000000Z  10%\r 50%\r100%\n" +
	"2026-05-27T21:37:12.0000000Z --- FAIL: TestTotal (0.00s)\n" +
	"2026-05-27T21:37:12.0000001Z     cart_test.go:6: got 90, want 100\x00\n" +
	"2026-05-27T21:37:12.0000003Z FAIL\texample.com/shop\t0.002s\n" +
	"2026-05-27T21:37:12.0100000Z ##[error]Process completed with exit code 1.\n" +
	"2026-05-27T21:37:12.2000000Z Post job cleanup.\n"

func TestReadLog(t *testing.T) {
	utf16 := append([]byte{0xff, 0xfe}, bytes.ReplaceAll([]byte(strings.TrimPrefix(githubLog, "\ufeff")), nil, []byte{0})[1:]...)
	for name, tc := range map[string]struct {
		log    string
		step   Step
		class  Class
		finds  string
		source string
	}{
		"github":   {githubLog, Step{Line: 14, Begin: 5, Command: "cd cart\ngo test ./...", Shell: "/usr/bin/bash -e {0}", Exit: 1}, Assertion, "example.com/shop.TestTotal", "github"},
		"utf-16":   {string(utf16), Step{Line: 14, Begin: 5, Command: "cd cart\ngo test ./...", Shell: "/usr/bin/bash -e {0}", Exit: 1}, Assertion, "example.com/shop.TestTotal", "github"},
		"disk":     {strings.Replace(githubLog, "--- FAIL: TestTotal (0.00s)", "write: No space left on device", 1), Step{Line: 14, Begin: 5, Command: "cd cart\ngo test ./...", Shell: "/usr/bin/bash -e {0}", Exit: 1}, DiskFull, "", "github"},
		"lost":     {strings.Split(githubLog, "2026-05-27T21:37:12.0100000Z")[0] + "##[error]The runner has received a shutdown signal.\n", Step{Line: 14, Begin: 5, Command: "cd cart\ngo test ./...", Shell: "/usr/bin/bash -e {0}", Exit: -1, Message: "The runner has received a shutdown signal."}, Infra, "example.com/shop.TestTotal", "github"},
		"fine":     {strings.Replace(githubLog, "##[error]Process completed with exit code 1.", "", 1), Step{}, Infra, "", "github"},
		"nothing":  {"", Step{}, Infra, "", "plain"},
		"plain":    {"--- FAIL: TestTotal (0.00s)\nFAIL\texample.com/shop\t0.002s\n", Step{}, Assertion, "example.com/shop.TestTotal", "plain"},
		"travis":   {"travis_fold:start:x\r\x1b[0Ktravis_time:start:1\r\x1b[0K$ go test\r\n--- FAIL: TestTotal (0.00s)\nFAIL\texample.com/shop\t0.002s\n\x1b[31;1mThe command \"go test\" exited with 1.\x1b[0m\r\nDone. Your build exited with 1.\r\n", Step{Line: 4, Begin: 1, Command: "go test", Exit: 1}, Assertion, "example.com/shop.TestTotal", "travis"},
		"annotate": {strings.Replace(githubLog, "--- FAIL: TestTotal (0.00s)", "::error file=a.py,line=3,title=pylint::unused%0Aimport", 1), Step{Line: 14, Begin: 5, Command: "cd cart\ngo test ./...", Shell: "/usr/bin/bash -e {0}", Exit: 1}, Panic, "annotation:pylint:a.py", "github"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ReadLog(strings.NewReader(tc.log))
			if err != nil || l.Step != tc.step || l.Report.Class != tc.class || l.Source != tc.source {
				t.Errorf("%s %q step %+v, %v; want %s %q %+v", l.Source, l.Report.Class, l.Step, err, tc.source, tc.class, tc.step)
			}
			var ids []string
			for _, f := range l.Report.Findings() {
				ids = append(ids, f.ID)
			}
			if got := strings.Join(ids, " "); tc.finds != "" && !strings.Contains(got, tc.finds) {
				t.Errorf("findings %s, want %s", got, tc.finds)
			}
			checkReport(t, l.Report)
		})
	}
}

// zipped is a zip of those files, in their order.
func zipped(t testing.TB, files ...string) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b.Bytes())
}

func TestReadLogZip(t *testing.T) {
	fine := strings.Replace(githubLog, "##[error]Process completed with exit code 1.", "", 1)
	for name, tc := range map[string]struct {
		files []string
		file  string
		line  int
		other int
	}{
		"whole jobs":    {[]string{"0_lint.txt", fine, "1_test.txt", githubLog, "test/5_Run.txt", githubLog}, "1_test.txt", 14, 0},
		"steps":         {[]string{"test/10_Post.txt", "Post job cleanup.\n", "test/2_Set up.txt", "x\n", "test/3_Run.txt", githubLog}, "test/3_Run.txt", 14, 0},
		"two jobs fail": {[]string{"0_a.txt", githubLog, "1_b.txt", githubLog}, "0_a.txt", 14, 1},
		"no logs":       {[]string{"a.png", "x"}, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := zipped(t, tc.files...)
			if !IsZip(r) {
				t.Error("not known for a zip")
			}
			l, err := ReadLogZip(r, r.Size())
			if err != nil || l.File != tc.file || l.Step.Line != tc.line || len(l.Others) != tc.other {
				t.Errorf("%q line %d, %d others, %v; want %q line %d, %d others", l.File, l.Step.Line, len(l.Others), err, tc.file, tc.line, tc.other)
			}
			checkReport(t, l.Report)
		})
	}
	if _, err := ReadLogZip(strings.NewReader("PK\x03\x04"), 4); err == nil {
		t.Error("a torn zip is read")
	}
}

// endless repeats a text up to a size.
type endless struct {
	text string
	left int
	at   int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	b = b[:min(len(b), e.left)]
	n := 0
	for n < len(b) {
		m := copy(b[n:], e.text[e.at:])
		n, e.at = n+m, (e.at+m)%len(e.text)
	}
	e.left -= n
	return n, nil
}

// What a log costs in memory does not grow with it, whatever its lines are.
func TestLogMemory(t *testing.T) {
	size := 8 << 20
	if os.Getenv("REDRAFT_LARGE") != "" {
		size = 1 << 30
	}
	head, tail, _ := strings.Cut(githubLog, "2026-05-27T21:37:12.0100000Z")
	for name, text := range map[string]string{
		"lines":    "2026-05-27T21:37:11.9000000Z [INFO] Downloaded: https://example.com/a/b/c-1.0.jar (12 kB at 3 MB/s)\n",
		"one line": strings.Repeat("x", 4096),
		"colours":  "\x1b[32mok\x1b[0m all is well\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := io.MultiReader(strings.NewReader(head), &endless{text: text, left: size}, strings.NewReader("\n2026-05-27T21:37:12.0100000Z"+tail))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			l, err := ReadLog(r)
			runtime.ReadMemStats(&after)
			if err != nil || l.Step.Exit != 1 || !strings.Contains(strings.Join(l.Report.Failed(), " "), "TestTotal") {
				t.Errorf("step %+v, failed %v, %v", l.Step, l.Report.Failed(), err)
			}
			if grown := int64(after.Sys) - int64(before.Sys); grown > 64<<20 {
				t.Errorf("memory grew by %d MiB", grown>>20)
			}
		})
	}
}

func FuzzLog(f *testing.F) {
	f.Add([]byte(githubLog))
	f.Add([]byte("travis_time:start:1\r\x1b[0K$ x\nThe command \"x\" exited with 1.\n"))
	f.Add([]byte("##[group]Run \n##[error]0"))
	f.Add([]byte("##[group]Run \n##[endgroup]\n##[error]\n::error file=a,line=9::x\n\" exited with 2\n"))
	names, _ := filepath.Glob("testdata/*/*.txt")
	for i, name := range names {
		if i%8 == 0 {
			f.Add(readFile(&testing.T{}, name).run.Stdout)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadLog(bytes.NewReader(b))
		if err != nil && !bytes.HasPrefix(b, []byte("\xff\xfe")) && !bytes.HasPrefix(b, []byte("\xfe\xff")) {
			t.Error(err)
		}
		checkReport(t, l.Report)
		if len(l.Step.Command) > maxCommand || len(l.Others) > maxOthers || l.Step.Line > l.Lines {
			t.Errorf("step %+v of %d lines", l.Step, l.Lines)
		}
	})
}

// plainLog is the output of a build with nothing for any reader in it.
const plainLog = "[INFO] Downloaded from central: https://repo.example.com/maven2/org/example/thing/1.2.3/thing-1.2.3.jar (12 kB at 3.4 MB/s)\n" +
	"   Compiling serde_derive v1.0.193\n" +
	"npm http fetch GET 200 https://registry.example.com/lodash/-/lodash-4.17.21.tgz 41ms (cache miss)\n" +
	"Get:41 http://archive.example.com/ubuntu jammy/main amd64 libxcb-render0 amd64 1.14-3ubuntu3 [16.4 kB]\n" +
	"-- Installing: /usr/local/include/thing/detail/config.h\n" +
	"[ 42%] Building CXX object src/CMakeFiles/thing.dir/module_42.cpp.o\n"

func BenchmarkReadLog(b *testing.B) {
	const size = 32 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadLog(&endless{text: strings.Repeat(plainLog, 64), left: size}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLogNobodyKnows: a text that no reader knows and that tells no exit status is never green.
func TestLogNobodyKnows(t *testing.T) {
	for name, text := range map[string]string{"half": "half", "bytes": "\x00\x7f\xff\x1b[1m\n\xfe\xfe", "prose": "All is well.\nNothing failed.\n", "empty": ""} {
		l, err := ReadLog(strings.NewReader(text))
		if err != nil || l.Report.Color() != Unknown || l.Report.Class != Infra || len(l.Report.Problems) == 0 {
			t.Errorf("%s: %v, %v, class %q, problems %q", name, err, l.Report.Color(), l.Report.Class, l.Report.Problems)
		}
	}
}
