package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jstemmer/go-junit-report/v2/parser/gotest"
	"gotest.tools/gotestsum/testjson"
)

// dataDir is the folder of public inputs, or the test is refused.
func dataDir(t *testing.T, sub string) string {
	t.Helper()
	data := os.Getenv("REDRAFT_DATA")
	if data == "" {
		t.Skip("REFUSED: REDRAFT_DATA is not set")
	}
	dir := filepath.Join(data, sub)
	if _, err := os.Stat(dir); err != nil {
		t.Skip("REFUSED: " + sub + " is not in the folder that REDRAFT_DATA names")
	}
	return dir
}

// junit is what go-junit-report's own tests expect of an output.
type junit struct {
	Suites []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

// statuses of the expected XML: the worst of each id; benchmarks that passed are left out, as Read leaves them out.
func (j junit) statuses() map[string]string {
	m := map[string]string{}
	rank := map[string]int{"skip": 0, "pass": 1, "fail": 2}
	for _, s := range j.Suites {
		for _, c := range s.Cases {
			id, st := join(s.Name, c.Name), "pass"
			switch {
			case c.Failure != nil || c.Error != nil:
				st = "fail"
			case c.Skipped != nil:
				st = "skip"
			}
			if old, seen := m[id]; (!seen || rank[st] > rank[old]) && !(isBenchmark(c.Name) && st == "pass") {
				m[id] = st
			}
		}
	}
	return m
}

// Where Read and go-junit-report's expected XML part ways, each looked at by eye.
var junitDiffers = map[string]string{
	"007-compiled_test.txt":    "a test binary run by hand names no package; the XML has the name its test passed as an option",
	"036-benchfail.txt":        "a skipped benchmark is no result here: benchmarks that do not fail are left out",
	"110-benchfail.gojson.txt": "the same",
}

// comparable spells the ids of both sides the same: what is not a test is named for its package alone.
func comparable(m map[string]string) map[string]string {
	out := map[string]string{}
	for id, st := range m {
		for _, own := range []string{"[build failed]", "[setup failed]", "[build]", "[vet]", "[panic]", "[exit]", "[race]", "Failure"} {
			if rest, ok := strings.CutSuffix(id, own); ok {
				id = rest + "[package]"
			}
		}
		out[id] = st
	}
	return out
}

func TestGoJUnitReportTruth(t *testing.T) {
	dir := dataDir(t, "reports/go-junit-report")
	inputs, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
	var same, cases, agree int
	for _, in := range inputs {
		expected, exit := expectedXML(t, filepath.Join(dir, filepath.Base(in)[:3]+"-report.xml"))
		got := comparable(spelled(Read(Run{Stdout: read(t, in), Exit: exit, Command: "go test"})))
		for id, st := range expected {
			if cases++; got[id] == st {
				agree++
			}
		}
		d := cmp.Diff(expected, got)
		why, known := junitDiffers[filepath.Base(in)]
		switch {
		case d == "" && known:
			t.Errorf("%s agrees by now: take it off the table (%s)", filepath.Base(in), why)
		case d != "" && !known:
			t.Errorf("%s (-xml +read):\n%s", filepath.Base(in), d)
		case d == "":
			same++
		}
	}
	t.Logf("%d of %d files the same, %d of %d cases", same, len(inputs), agree, cases)
	if same < 45 || agree < 109 {
		t.Errorf("fewer than the floor of 45 files and 109 cases")
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func expectedXML(t *testing.T, name string) (statuses map[string]string, exit int) {
	t.Helper()
	var j junit
	raw := read(t, name)
	if err := xml.Unmarshal(raw, &j); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("<failure")) || bytes.Contains(raw, []byte("<error")) {
		exit = 1
	}
	return comparable(j.statuses()), exit
}

// spelled are a report's statuses with error and fail as one.
func spelled(r Report) map[string]string {
	m := map[string]string{}
	for id, st := range r.Statuses() {
		m[id] = strings.Replace(string(st), "error", "fail", 1)
	}
	return m
}

// Where Read and gotestsum's testjson part ways, each looked at by eye.
var testjsonDiffers = map[string]string{
	"go-test-json-missing-test-events.out":  "tests whose end is missing: testjson calls them failed, here they are no result and a problem each",
	"input__go-test-json-misattributed.out": "events without a package: its name is taken from the summary line here",
}

// secondOpinion is what gotestsum's testjson makes of a stream of events.
func secondOpinion(t *testing.T, stdout, stderr []byte) map[string]string {
	t.Helper()
	exec, err := testjson.ScanTestOutput(testjson.ScanConfig{
		Stdout: bytes.NewReader(stdout), Stderr: bytes.NewReader(stderr), IgnoreNonJSONOutputLines: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, name := range exec.Packages() {
		p := exec.Package(name)
		for st, cases := range map[string][]testjson.TestCase{"pass": p.Passed, "skip": p.Skipped, "fail": p.Failed} {
			for _, c := range cases {
				if id := join(c.Package, c.Test.Name()); c.Test.Name() != "" && m[id] != "fail" {
					m[id] = st
				}
			}
		}
	}
	return m
}

func TestGotestsumTruth(t *testing.T) {
	dir := dataDir(t, "reports/gotestsum")
	inputs, _ := filepath.Glob(filepath.Join(dir, "*go-test-json*.out"))
	var same int
	for _, in := range inputs {
		base := filepath.Base(in)
		stdout := read(t, in)
		stderr, _ := os.ReadFile(strings.TrimSuffix(in, ".out") + ".err")
		got := spelled(Read(Run{Stdout: stdout, Stderr: stderr, Exit: 1, Command: "go test"}))
		for id := range got {
			if strings.HasSuffix(id, "]") {
				delete(got, id) // of a package, which testjson counts elsewhere
			}
		}
		d := cmp.Diff(secondOpinion(t, stdout, stderr), got)
		why, known := testjsonDiffers[base]
		switch {
		case d == "" && known:
			t.Errorf("%s agrees by now: take it off the table (%s)", base, why)
		case d != "" && !known:
			t.Errorf("%s (-testjson +read):\n%s", base, d)
		case d == "":
			same++
		}
	}
	t.Logf("%d of %d streams the same", same, len(inputs))
	if len(inputs) < 9 {
		t.Errorf("%d streams, want at least 9", len(inputs))
	}
}

var summaryLine = regexp.MustCompile(`^(PASS|FAIL|SKIP) (\S+)\.([A-Z]\S+) \(`)

// gotestsum's own expected listing of the big stream names every test, relative to its module.
func TestGotestsumListing(t *testing.T) {
	dir := dataDir(t, "reports/gotestsum")
	want := map[string]string{}
	for _, line := range strings.Split(string(read(t, filepath.Join(dir, "format__testname.out"))), "\n") {
		if m := summaryLine.FindStringSubmatch(line); m != nil {
			want["gotest.tools/gotestsum/"+m[2]+"."+m[3]] = strings.ToLower(m[1])
		}
	}
	got := spelled(Read(Run{Stdout: read(t, filepath.Join(dir, "input__go-test-json.out")), Exit: 1}))
	for id := range got {
		if strings.HasSuffix(id, "]") {
			delete(got, id)
		}
	}
	if d := cmp.Diff(want, got); d != "" || len(want) < 30 {
		t.Errorf("%d tests listed (-listing +read):\n%s", len(want), d)
	}
}

// The go tools' diagnostics of the errorformat collection, one per line: file, line, column, message.
func TestErrorformatTruth(t *testing.T) {
	dir := dataDir(t, "reports/errorformat")
	for _, tool := range []string{"govet", "staticcheck", "golint", "gosec", "golangci-lint"} {
		t.Run(tool, func(t *testing.T) {
			var want, got []string
			for _, line := range strings.Split(strings.TrimSpace(string(read(t, filepath.Join(dir, tool+".ok")))), "\n") {
				want = append(want, strings.Replace(line, " error|", "|", 1))
			}
			for _, line := range strings.Split(string(read(t, filepath.Join(dir, tool+".in"))), "\n") {
				d, ok := parseDiagnostic(line)
				if !ok {
					continue
				}
				col := ""
				if d.col > 0 {
					col = fmt.Sprintf(" col %d", d.col)
				}
				got = append(got, fmt.Sprintf("%s|%d%s| %s", d.file, d.line, col, d.message))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("diagnostics (-ok +read):\n%s", d)
			}
		})
	}
}

// Two other readers look at the same recorded runs of ours.
func TestSecondOpinions(t *testing.T) {
	for _, name := range []string{"subtests", "nil", "main-swallows", "race", "libraries", "exit-in-test"} {
		f := readFile(t, "testdata/go-test-json/"+name+".txt")
		got := spelled(Read(f.run))
		if d := cmp.Diff(secondOpinion(t, f.run.Stdout, f.run.Stderr), got); d != "" {
			t.Errorf("%s (-testjson +read):\n%s", name, d)
		}
	}
	for _, name := range []string{"subtests-v", "nil-v", "main-swallows-v", "race", "libraries", "fuzz"} {
		f := readFile(t, "testdata/go-test/"+name+".txt")
		parsed, err := gotest.NewParser().Parse(bytes.NewReader(f.run.Stdout))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, p := range parsed.Packages {
			for _, c := range p.Tests {
				want[join(p.Name, c.Name)] = strings.ToLower(c.Result.String())
			}
		}
		if d := cmp.Diff(want, spelled(Read(f.run))); d != "" {
			t.Errorf("%s (-go-junit-report +read):\n%s", name, d)
		}
	}
}
