package report

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
)

const passingXML = `<?xml version="1.0"?><testsuites><testsuite name="s"><testcase classname="c" name="a"/></testsuite></testsuites>`

// No report file makes a run green that is not, and none makes a panic.
func TestBadReportFiles(t *testing.T) {
	utf16le := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(passingXML)) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, u)
	}
	laughs := `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><testsuite name="s"><testcase classname="c" name="a"><failure>&b;</failure></testcase></testsuite>`
	for _, tt := range []struct {
		name, file string
		data       []byte
		exit       int
		color      Color
		class      Class
	}{
		{"as it should be", "r.xml", []byte(passingXML), 0, Green, ""},
		{"UTF-16", "r.xml", utf16le, 0, Green, ""},
		{"a byte order mark", "r.xml", []byte("\ufeff" + passingXML), 0, Green, ""},
		{"half written", "r.xml", []byte(passingXML[:len(passingXML)-20]), 0, Unknown, Infra},
		{"half written in a case", "r.xml", []byte(passingXML[:80]), 0, Unknown, Infra},
		{"empty of tests", "r.xml", []byte(`<testsuites/>`), 0, Unknown, NoTests},
		{"all skipped", "r.xml", []byte(`<testsuite name="s"><testcase classname="c" name="a"><skipped/></testcase></testsuite>`), 0, Unknown, NoTests},
		{"failing, status 0", "r.xml", []byte(strings.Replace(passingXML, `name="a"/>`, `name="a"><failure message="x"/></testcase>`, 1)), 0, Unknown, Infra},
		{"passing, status 1", "r.xml", []byte(passingXML), 1, Red, Assertion},
		{"billion laughs", "r.xml", []byte(laughs), 1, Red, Assertion},
		{"control bytes", "r.xml", []byte(strings.Replace(passingXML, `name="a"/>`, "name=\"a\"><failure message=\"&#27;[31mx&#0;\">\x01\x1b[0m\x00</failure></testcase>", 1)), 1, Red, Assertion},
		{"deep", "r.xml", []byte("<testsuites>" + strings.Repeat("<testsuite>", 100000)), 0, Unknown, Infra},
		{"JSON cut off", "r.json", []byte(`{"numTotalTestSuites":1,"numFailedTestSuites":0,"testResults":[{"name":"/tree/a.js","asserti`), 0, Unknown, Infra},
		{"TAP cut off", "r.tap", []byte("TAP version 14\n1..2\nok 1 - a\n"), 0, Unknown, Infra},
		{"TAP without its plan", "r.tap", []byte("TAP version 14\nok 1 - a\n"), 0, Unknown, Infra},
		{"TAP of nothing", "r.tap", []byte("1..0 # SKIP no\n"), 0, Unknown, NoTests},
		{"TAP bails out", "r.tap", []byte("TAP version 14\n1..1\nok 1 - a\nBail out! disk\n"), 0, Unknown, Infra},
		{"TRX aborted", "r.trx", []byte(`<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary outcome="Aborted"/></TestRun>`), 0, Unknown, Infra},
		{"TRX of an unknown outcome", "r.trx", []byte(`<TestRun><Results><UnitTestResult testName="a" outcome="Splendid"/></Results></TestRun>`), 0, Unknown, Infra},
		{"too large", "r.xml", append([]byte("<testsuites>"), make([]byte, maxFile)...), 0, Unknown, Infra},
		{"something else", "r.xml", []byte("<html/>"), 0, Green, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Read(Run{Exit: tt.exit, Dir: "/tree", Files: []File{{tt.file, tt.data}}})
			checkReport(t, r)
			if r.Color() != tt.color || r.Class != tt.class {
				t.Errorf("%s %q of %s, want %s %q: %v", r.Color(), r.Class, r.Format, tt.color, tt.class, r.Problems)
			}
		})
	}
}

// A runner that says that it ran nothing is believed, whatever its exit status: pytest's is 5, unittest's was 0 before Python 3.12.
// https://docs.pytest.org/en/stable/reference/exit-codes.html
func TestZeroTests(t *testing.T) {
	rule := strings.Repeat("-", 70) + "\n"
	for _, tt := range []struct {
		name, out string
		exit      int
	}{
		{"pytest", "collected 0 items\n\n" + strings.Repeat("=", 28) + " no tests ran in 0.01s " + strings.Repeat("=", 28) + "\n", 5},
		{"pytest, all deselected", "collected 3 items / 3 deselected / 0 selected\n\n" + strings.Repeat("=", 27) + " 3 deselected in 0.02s " + strings.Repeat("=", 27) + "\n", 5},
		{"pytest under a script that ends well", "collected 0 items\n\n" + strings.Repeat("=", 28) + " no tests ran in 0.01s " + strings.Repeat("=", 28) + "\n", 0},
		{"unittest", "\n" + rule + "Ran 0 tests in 0.000s\n\nOK\n", 0},
		{"unittest of today", "\n" + rule + "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", 5},
	} {
		r := Read(Run{Command: "make check", Stdout: []byte(tt.out), Exit: tt.exit})
		if r.Color() != Unknown || r.Class != NoTests {
			t.Errorf("%s: %s %q of %s, want unknown %q", tt.name, r.Color(), r.Class, r.Format, NoTests)
		}
	}
}

// A report file of another run does not hide what the console said of this one.
func TestReportOfAnotherRun(t *testing.T) {
	console := "=== FAILURES ===\n" + strings.Repeat("=", 35) + " FAILURES " + strings.Repeat("=", 35) + "\n" + strings.Repeat("_", 36) + " test_a " + strings.Repeat("_", 36) +
		"\n>       assert 1 == 2\nE       assert 1 == 2\n\nt.py:2: AssertionError\n" + strings.Repeat("=", 27) + " short test summary info " + strings.Repeat("=", 28) +
		"\nFAILED t.py::test_a - assert 1 == 2\n1 failed in 0.01s\n"
	r := Read(Run{Exit: 1, Stdout: []byte(console), Files: []File{{"r.xml", []byte(passingXML)}}})
	if got := strings.Join(r.Failed(), " "); got != "t.py::test_a" || len(r.Problems) == 0 {
		t.Errorf("failed %q, problems %v", got, r.Problems)
	}
}

// What a test prints is not the runner's word: neither an end nor a result nor another runner.
func TestForgedRunnerLines(t *testing.T) {
	for _, tt := range []struct {
		name, command, out string
		exit               int
		color              Color
	}{
		{"no end, status 0", "pytest", strings.Repeat("=", 29) + " test session starts " + strings.Repeat("=", 29) + "\ncollected 2 items\n\nt.py .", 0, Unknown},
		{"an end that names failures, status 0", "make", "1 failed, 1 passed in 0.10s\n", 0, Unknown},
		{"no tests, status 0", "make", "no tests ran in 0.01s\n", 0, Unknown},
		{"nothing at all from pytest", "python3 -m pytest -q", "", 0, Unknown},
		{"nothing at all from mocha", "npx mocha", "", 0, Unknown},
		{"nothing at all from jest", "npx jest --ci", "", 0, Unknown},
		{"nothing at all from vitest", "npx vitest run", "", 0, Unknown},
		{"nothing at all from unittest", "python -m unittest", "", 0, Unknown},
		{"output sent elsewhere", "pytest > log", "", 0, Green},
		{"pytest is installed", "pip install pytest", "", 0, Green},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := Read(Run{Command: tt.command, Stdout: []byte(tt.out), Exit: tt.exit}); r.Color() != tt.color {
				t.Errorf("%s %q of %s, want %s", r.Color(), r.Class, r.Format, tt.color)
			}
		})
	}
}

// A module that the tree has itself is no missing dependency.
func TestOwnModules(t *testing.T) {
	for _, name := range []string{"pytest/collect", "jest/cart", "mocha/missing"} {
		run := readFile(t, "testdata/"+name+".txt").run
		if r := Read(run); r.Class != MissingDependency {
			t.Errorf("%s: class %q, want missing_dependency", name, r.Class)
		}
		run.Own = []string{"not_installed_anywhere", "not-installed-anywhere"}
		if r := Read(run); r.Class != Compile || r.Color() != Red {
			t.Errorf("%s: %s %q where the module is the tree's own, want red compile", name, r.Color(), r.Class)
		}
	}
}

// Long and hostile outputs of every runner cost a bounded multiple of their size.
func TestHostileRunners(t *testing.T) {
	mib := 1 << 18
	for name, out := range map[string]string{
		"pytest blocks":  strings.Repeat("=", 35) + " FAILURES " + strings.Repeat("=", 35) + "\n" + strings.Repeat(strings.Repeat("_", 10)+" test_a "+strings.Repeat("_", 10)+"\nE   x\n", mib/16),
		"pytest deep":    strings.Repeat("=", 35) + " FAILURES " + strings.Repeat("=", 35) + "\n" + strings.Repeat("_", 10) + " test_a " + strings.Repeat("_", 10) + "\n" + strings.Repeat("t.py:1: in f\n", mib),
		"pytest summary": strings.Repeat("=", 27) + " short test summary info " + strings.Repeat("=", 28) + "\n" + strings.Repeat("FAILED t.py::a - ((((((((((\n", mib/8),
		"tap nested":     "TAP version 14\n" + strings.Repeat(strings.Repeat("    ", 60)+"not ok 1 - a\n", mib/64),
		"tap block":      "TAP version 14\nnot ok 1\n  ---\n" + strings.Repeat("  a: |\n", mib),
		"unittest":       strings.Repeat("FAIL: test_a (m.C.test_a)\n-----------\n  x\n", mib/16),
		"jest":           strings.Repeat("FAIL a.test.js\n  ● a › b\n\n    x\n", mib/16),
		"mocha":          "  1 passing (1ms)\n" + strings.Repeat("  1) a\n       b:\n     x\n", mib/16),
		"node":           "ℹ tests 1\n" + strings.Repeat("✖ a (1.5ms)\n", mib/8),
		"vitest":         " RUN  v3.0.0 /tree\n" + strings.Repeat(" FAIL  a.test.js > b\n", mib/16),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			checkReport(t, Read(Run{Stdout: []byte(out), Exit: 1, Dir: "/tree"}))
			runtime.ReadMemStats(&after)
			if total := after.TotalAlloc - before.TotalAlloc; total > uint64(300*len(out)+64*mib) {
				t.Errorf("%d KiB allocated for %d KiB", total>>10, len(out)>>10)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	names, _ := filepath.Glob("testdata/*/*.txt")
	for _, name := range names {
		if run := readFile(&testing.T{}, name).run; len(run.Files) == 0 {
			f.Add(run.Command, append(bytes.Clone(run.Stdout), run.Stderr...), run.Exit)
		}
	}
	f.Fuzz(func(t *testing.T, command string, out []byte, exit int) {
		checkReport(t, Read(Run{Command: command, Stdout: out, Exit: exit % 256, Dir: "/tree"}))
	})
}

func FuzzFiles(f *testing.F) {
	names, _ := filepath.Glob("testdata/*/*.txt")
	for _, name := range names {
		for _, file := range readFile(&testing.T{}, name).run.Files {
			f.Add(file.Name, file.Data)
		}
	}
	f.Add("r.xml", []byte(passingXML))
	if data := os.Getenv("REDRAFT_DATA"); data != "" {
		names, _ := filepath.Glob(filepath.Join(data, "reports", "test-summary", "*"))
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil {
				f.Add(filepath.Base(name), b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		checkReport(t, Read(Run{Dir: "/tree", Files: []File{{Name: name, Data: data}}}))
	})
}
