package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const (
	passing = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"pass","Package":"p","Elapsed":0.1}
`
	failing = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}
`
)

// A colour is the exit status and completeness; what is printed can take a colour away and never give one.
func TestColor(t *testing.T) {
	for _, tt := range []struct {
		name  string
		run   Run
		color Color
		class Class
	}{
		{"events, passing", Run{Stdout: []byte(passing)}, Green, ""},
		{"events, failing", Run{Stdout: []byte(failing), Exit: 1}, Red, Assertion},
		{"text, passing", Run{Stdout: []byte("ok  \tp\t0.1s\n")}, Green, ""},
		{"text, cached", Run{Stdout: []byte("ok  \tp\t(cached)\n")}, Green, ""},
		{"another runner, passing", Run{Stdout: []byte("12 passed\n")}, Green, ""},
		{"another runner, failing", Run{Stdout: []byte("1 failed\n"), Exit: 1}, Red, Assertion},
		{"silent and passing", Run{}, Green, ""},
		{"passing words, failing status", Run{Stdout: []byte(passing), Exit: 1}, Red, Assertion},
		{"failing words, passing status", Run{Stdout: []byte(failing)}, Unknown, Infra},
		{"failing text, passing status", Run{Stdout: []byte("--- FAIL: TestA (0.00s)\nFAIL\nok  \tp\t0.1s\n")}, Unknown, Infra},

		{"signal", Run{Stdout: []byte(passing), Exit: -1, Signal: "SIGKILL"}, Unknown, Infra},
		{"signal, status forgotten", Run{Stdout: []byte(passing), Signal: "SIGKILL"}, Unknown, Infra},
		{"no status", Run{Exit: -1}, Unknown, Infra},
		{"wall", Run{Exit: -1, Signal: "SIGKILL", Limit: "wall"}, Unknown, Timeout},
		{"memory", Run{Stdout: []byte(failing), Exit: 1, Limit: "memory"}, Unknown, OutOfMemory},
		{"disk", Run{Exit: 1, Limit: "disk"}, Unknown, DiskFull},
		{"pids", Run{Exit: 1, Limit: "pids"}, Unknown, Infra},
		{"shell says its child was killed", Run{Exit: 137}, Unknown, Infra},
		{"shell says its child crashed", Run{Exit: 139}, Red, Panic},

		{"cut, passing", Run{Stdout: []byte(passing), Truncated: true}, Unknown, Infra},
		{"cut, failing", Run{Stdout: []byte(failing), Exit: 1, Truncated: true}, Red, Assertion},
		{"an event that cannot be read", Run{Stdout: []byte(passing + `{"Action":"output","Package":"p","Outp` + "\n")}, Unknown, Infra},
		{"an event that cannot be read, red", Run{Stdout: []byte(failing + `{"Action":"outp` + "\n"), Exit: 1}, Red, Assertion},
		{"a test that did not end", Run{Stdout: []byte(strings.Replace(passing, `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}`, "", 1))}, Unknown, Infra},
		{"a package that did not end", Run{Stdout: []byte(strings.Replace(passing, `{"Action":"pass","Package":"p","Elapsed":0.1}`, "", 1))}, Unknown, Infra},
		{"a text test that did not end", Run{Stdout: []byte("=== RUN   TestA\nPASS\nok  \tp\t0.1s\n")}, Unknown, Infra},

		{"no tests to run", Run{Stdout: []byte("ok  \tp\t0.1s [no tests to run]\n")}, Unknown, NoTests},
		{"no test files", Run{Stdout: []byte("?   \tp\t[no test files]\n")}, Unknown, NoTests},
		{"no test files beside tests", Run{Stdout: []byte("?   \tp\t[no test files]\nok  \tq\t0.1s\n")}, Green, ""},
		{"benchmarks alone", Run{Stdout: []byte(`{"Action":"run","Package":"p","Test":"BenchmarkA"}` + "\n" + `{"Action":"output","Package":"p","Output":"PASS\n"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n")}, Unknown, NoTests},
		{"binary that ends in init", Run{Stdout: []byte(`{"Action":"start","Package":"p"}` + "\n" + `{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\n")}, Unknown, NoTests},

		{"no such command", Run{Exit: 127, Stderr: []byte("sh: 1: gotestx: not found\n")}, Unknown, CommandNotFound},
		{"not executable", Run{Exit: 126}, Unknown, CommandNotFound},
		{"no such command under make", Run{Exit: 2, Stderr: []byte("make: go: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n")}, Unknown, CommandNotFound},
		{"make passes a failure on", Run{Exit: 2, Stderr: []byte("make: *** [Makefile:2: test] Error 1\n")}, Red, Assertion},

		{"no module", Run{Exit: 1, Stderr: []byte("a.go:3:8: no required module provides package x.org/y; to add it:\n\tgo get x.org/y\n")}, Unknown, MissingDependency},
		{"offline", Run{Exit: 1, Stderr: []byte("go: x.org/y@v1.0.0: module lookup disabled by GOPROXY=off\n")}, Unknown, MissingDependency},
		{"sum", Run{Exit: 1, Stderr: []byte("a.go:3:8: missing go.sum entry for module providing package x.org/y; to add:\n")}, Unknown, MissingDependency},
		{"toolchain", Run{Exit: 1, Stderr: []byte("go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)\n")}, Unknown, MissingDependency},
		{"toolchain download", Run{Exit: 1, Stderr: []byte("go: download go1.99 for linux/amd64: toolchain not available\n")}, Unknown, MissingDependency},
		{"a test that talks of modules", Run{Exit: 1, Stdout: []byte("--- FAIL: TestA (0.00s)\n    a_test.go:3: got \"missing go.sum entry\", want \"\"\nFAIL\nFAIL\tp\t0.1s\n")}, Red, Assertion},
		{"no main module", Run{Exit: 1, Stderr: []byte("go: cannot find main module, but found .git/config in /tree\n")}, Red, Compile},

		{"disk full in a build", Run{Exit: 1, Stderr: []byte("go: creating work dir: mkdir /tmp/go-build1: no space left on device\n")}, Unknown, DiskFull},
		{"disk full in a test", Run{Exit: 1, Stdout: []byte("--- FAIL: TestA (0.00s)\n    a_test.go:3: write /tmp/x: no space left on device\nFAIL\nFAIL\tp\t0.1s\n")}, Unknown, DiskFull},
		{"memory gone", Run{Exit: 1, Stdout: []byte("fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nFAIL\tp\t0.1s\n")}, Unknown, OutOfMemory},
		{"binary killed", Run{Exit: 1, Stdout: []byte("signal: killed\nFAIL\tp\t0.1s\n")}, Unknown, Infra},

		{"socket refused, red", Run{Exit: 1, Stdout: []byte(failing), Refused: []string{"socket AF_INET"}}, Unknown, NeedsTier},
		{"socket refused, green", Run{Stdout: []byte(passing), Refused: []string{"socket AF_INET"}}, Green, ""},
		{"something else refused", Run{Exit: 1, Stdout: []byte(failing), Refused: []string{"ptrace"}}, Red, Assertion},
		{"talk of the network alone", Run{Exit: 1, Stdout: []byte("--- FAIL: TestA (0.00s)\n    a_test.go:3: dial tcp 127.0.0.1:1: connect: connection refused\nFAIL\nFAIL\tp\t0.1s\n")}, Red, Assertion},
		{"go vet's JSON with status 0", Run{Command: "go vet -json ./...", Stdout: []byte("# p\n{\n\t\"p\": {\n\t\t\"printf\": [\n\t\t\t{\"posn\": \"/tree/a.go:3:1\", \"message\": \"bad verb\"}\n\t\t]\n\t}\n}\n")}, Unknown, Infra},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Read(tt.run)
			if r.Color() != tt.color || r.Class != tt.class {
				t.Errorf("Color() = %s %q, want %s %q\n%+v", r.Color(), r.Class, tt.color, tt.class, r)
			}
		})
	}
}

func TestZeroReportIsUnknown(t *testing.T) {
	if c := (Report{}).Color(); c != Unknown {
		t.Errorf("Color() = %s, want unknown", c)
	}
}

// A report that went through JSON keeps its colour: what proof recomputes is what oracle saw.
func TestReportSurvivesJSON(t *testing.T) {
	for _, run := range []Run{{Stdout: []byte(passing)}, {Stdout: []byte(failing), Exit: 1}, {Exit: 127}, {Exit: -1, Limit: "wall"}} {
		run.Duration = time.Second
		before := Read(run)
		b, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after Report
		if err := json.Unmarshal(b, &after); err != nil || after.Color() != before.Color() || len(after.Findings()) != len(before.Findings()) {
			t.Errorf("%s %v after, %s before: %v", after.Color(), after.Findings(), before.Color(), err)
		}
	}
}

func TestNextSafeAction(t *testing.T) {
	for _, c := range []Class{
		Assertion, Panic, Compile, LintClass, FormatClass, TypecheckClass, MissingDependency, MissingAsset, NetworkNeeded,
		SecretNeeded, ServiceNeeded, NeedsTier, Timeout, OutOfMemory, DiskFull, CommandNotFound, NoTests, Infra,
	} {
		if s := c.NextSafeAction(); nextSafeActions[c] == "" || !strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q is no sentence of its own", c, s)
		}
	}
	if Class("made up").NextSafeAction() == "" || Class("").NextSafeAction() == "" {
		t.Error("a class from elsewhere has no sentence")
	}
}

func TestFindingsLeaveParentsOut(t *testing.T) {
	r := Report{Results: []Result{
		{ID: "p.TestB", Status: Fail, Class: Assertion},
		{ID: "p.TestB/x", Status: Fail, Class: Assertion, Message: "m"},
		{ID: "p.TestA", Status: Fail, Class: Assertion, Message: "its own"},
		{ID: "p.TestA/x", Status: Pass},
		{ID: "p.TestBee", Status: Fail, Class: Panic},
		{ID: "q.[build]", Status: Error, Class: Compile},
	}}
	var ids []string
	for _, f := range r.Findings() {
		ids = append(ids, f.ID)
	}
	if got, want := strings.Join(ids, " "), "q.[build] p.TestBee p.TestA p.TestB/x"; got != want {
		t.Errorf("Findings() = %s, want %s", got, want)
	}
	if got, want := strings.Join(r.Failed(), " "), "p.TestA p.TestB p.TestB/x p.TestBee q.[build]"; got != want {
		t.Errorf("Failed() = %s, want %s", got, want)
	}
}
