package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/agent/redact"
	"github.com/redraft-dev/redraft/agent/trace"
	"github.com/redraft-dev/redraft/bot/github/githubtest"
	"github.com/redraft-dev/redraft/worktree"
)

// oneFunction is a fault in a program of one function.
type oneFunction struct{ name, source, test string }

// realFaults are fixed once and for all. What a model makes of them is reported by name.
var realFaults = []oneFunction{
	{"gcd", "// GCD is the greatest common divisor of a and b.\nfunc GCD(a, b int) int {\n\tif b == 0 {\n\t\treturn a\n\t}\n\treturn GCD(a%b, b)\n}\n",
		"if got := GCD(12, 18); got != 6 {\n\t\tt.Errorf(\"GCD(12, 18): got %d, want %d\", got, 6)\n\t}"},
	{"factorial", "// Factorial is n!, 1 for 0.\nfunc Factorial(n int) int {\n\tresult := 0\n\tfor i := 2; i <= n; i++ {\n\t\tresult *= i\n\t}\n\treturn result\n}\n",
		"if got := Factorial(5); got != 120 {\n\t\tt.Errorf(\"Factorial(5): got %d, want %d\", got, 120)\n\t}\n\tif got := Factorial(0); got != 1 {\n\t\tt.Errorf(\"Factorial(0): got %d, want %d\", got, 1)\n\t}"},
	{"palindrome", "// Palindrome says whether s reads the same backwards.\nfunc Palindrome(s string) bool {\n\tfor i := 0; i < len(s)/2; i++ {\n\t\tif s[i] != s[len(s)-i] {\n\t\t\treturn false\n\t\t}\n\t}\n\treturn true\n}\n",
		"defer func() {\n\t\tif r := recover(); r != nil {\n\t\t\tt.Errorf(\"Palindrome panicked: %v\", r)\n\t\t}\n\t}()\n\tif got := Palindrome(\"level\"); got != true {\n\t\tt.Errorf(\"Palindrome(level): got %v, want %v\", got, true)\n\t}\n\tif got := Palindrome(\"ab\"); got != false {\n\t\tt.Errorf(\"Palindrome(ab): got %v, want %v\", got, false)\n\t}"},
	{"search", "// Search is the index of x in the sorted xs, or -1.\nfunc Search(xs []int, x int) int {\n\tlo, hi := 0, len(xs)-1\n\tfor lo < hi {\n\t\tmid := (lo + hi) / 2\n\t\tif xs[mid] == x {\n\t\t\treturn mid\n\t\t}\n\t\tif xs[mid] < x {\n\t\t\tlo = mid + 1\n\t\t} else {\n\t\t\thi = mid - 1\n\t\t}\n\t}\n\treturn -1\n}\n",
		"xs := []int{1, 3, 5, 7, 9}\n\tfor i, x := range xs {\n\t\tif got := Search(xs, x); got != i {\n\t\t\tt.Errorf(\"Search(%d): got %d, want %d\", x, got, i)\n\t\t}\n\t}"},
	{"maximum", "// Max is the largest of xs, which are not empty.\nfunc Max(xs []int) int {\n\tm := 0\n\tfor _, x := range xs {\n\t\tif x > m {\n\t\t\tm = x\n\t\t}\n\t}\n\treturn m\n}\n",
		"if got := Max([]int{-5, -2, -9}); got != -2 {\n\t\tt.Errorf(\"Max(-5, -2, -9): got %d, want %d\", got, -2)\n\t}"},
	{"reverse", "// Reverse is s with its characters in reverse order.\nfunc Reverse(s string) string {\n\tb := []byte(s)\n\tfor i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {\n\t\tb[i], b[j] = b[j], b[i]\n\t}\n\treturn string(b)\n}\n",
		"if got := Reverse(\"añb\"); got != \"bña\" {\n\t\tt.Errorf(\"Reverse(añb): got %q, want %q\", got, \"bña\")\n\t}"},
	{"fibonacci", "// Fib is the n-th Fibonacci number: 0, 1, 1, 2, 3, 5.\nfunc Fib(n int) int {\n\ta, b := 0, 1\n\tfor i := 0; i < n; i++ {\n\t\ta = b\n\t\tb = a + b\n\t}\n\treturn a\n}\n",
		"for i, want := range []int{0, 1, 1, 2, 3, 5, 8} {\n\t\tif got := Fib(i); got != want {\n\t\t\tt.Errorf(\"Fib(%d): got %d, want %d\", i, got, want)\n\t\t}\n\t}"},
	{"leap", "// Leap says whether a year of the Gregorian calendar has 366 days.\nfunc Leap(year int) bool {\n\treturn year%4 == 0 && year%100 != 0\n}\n",
		"for year, want := range map[int]bool{2000: true, 1900: false, 2024: true, 2023: false} {\n\t\tif got := Leap(year); got != want {\n\t\t\tt.Errorf(\"Leap(%d): got %v, want %v\", year, got, want)\n\t\t}\n\t}"},
}

func (f oneFunction) files() map[string][]byte {
	return map[string][]byte{
		"go.mod":            []byte("module example.com/" + f.name + "\n\ngo 1.21\n"),
		f.name + ".go":      []byte("// Package " + f.name + " has one function.\npackage " + f.name + "\n\n" + f.source),
		f.name + "_test.go": []byte("package " + f.name + "\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {\n\t" + f.test + "\n}\n"),
	}
}

// realCache is where the weights lie, found before any test sets another HOME.
var realCache = modeltest.Cache(os.Getenv)

// TestRealModel takes faults of one function to a real model on this machine, two turns each, and no other tier: two, or all
// eight with REDRAFT_REAL=all. At least a quarter must be proved, and every other one must end in a typed stop.
func TestRealModel(t *testing.T) {
	if testing.Short() {
		t.Skip("REFUSED: -short leaves the real model out")
	}
	if why := modeltest.Missing(realCache, modeltest.Big); why != "" {
		t.Skipf("REFUSED: %s", why)
	}
	needBox(t)
	server, err := modeltest.Llama(t.Context(), realCache, modeltest.Big)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	a := &app{getenv: homely(t), out: t.Output(), err: t.Output(), clean: redact.New()}
	proved, tried, start := 0, 0, time.Now()
	faults := realFaults[:2]
	if os.Getenv("REDRAFT_REAL") == "all" {
		faults = realFaults
	}
	for _, f := range faults {
		if end, ok := t.Deadline(); ok && time.Until(end) < 90*time.Second {
			t.Logf("%-11s not tried: the test's time is over", f.name)
			continue
		}
		tried++
		if stop := a.realFault(t, f, server.URL()); stop == trace.Fixed {
			proved++
		}
	}
	t.Logf("proved %d of %d in %.0f s", proved, tried, time.Since(start).Seconds())
	if proved < (tried+3)/4 {
		t.Errorf("proved %d of %d, want at least a quarter", proved, tried)
	}
}

func (a *app) realFault(t *testing.T, f oneFunction, url string) trace.Reason {
	t.Helper()
	dir := filepath.Join(t.TempDir(), f.name)
	if err := worktree.Init(context.Background(), dir, f.files(), "a function and its test"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	out, err := a.quietly(t.Context(), dir, fixFlags{tiers: "small", turns: 2, baseURL: url, seed: 1}, "fix")
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	t.Logf("%-11s %-11s %5.1f s  %s", f.name, out.Stop.Reason, time.Since(start).Seconds(), out.Stop.Text)
	if !slices.Contains([]trace.Reason{trace.Fixed, trace.Exhausted, trace.NotProven}, out.Stop.Reason) {
		t.Errorf("%s stopped as %s: %s", f.name, out.Stop.Reason, out.Stop.Text)
	}
	return out.Stop.Reason
}

// TestActionRealModel takes one fault through the Action's step with a real model on this machine, found by its name: from a red
// run to a draft that the step's own check run tells of, or to a typed stop.
func TestActionRealModel(t *testing.T) {
	if testing.Short() {
		t.Skip("REFUSED: -short leaves the real model out")
	}
	if why := modeltest.Missing(realCache, modeltest.Big); why != "" {
		t.Skipf("REFUSED: %s", why)
	}
	f := newActionForge(t, "")
	server, err := modeltest.Llama(t.Context(), realCache, modeltest.Big)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	text, err := os.ReadFile(f.file("config.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(f.model.URL()), []byte(server.URL()))
	if err := os.WriteFile(f.file("config.yml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{".github/redraft.yml": "version: 1\nchecks:\n  unit: {run: \"go test ./...\"}\n"}
	for name, b := range realFaults[7].files() {
		files[name] = string(b)
	}
	if _, err := f.repo.Commit("main", files, githubtest.Person{}, "A function"); err != nil {
		t.Fatal(err)
	}
	f.fail("main", 0)
	s := f.newStep("workflow_run", map[string]string{"model": "scripted", "turns": "2"})
	s.env = map[string]string{"PATH": os.Getenv("PATH")}
	start := time.Now()
	r := s.run()
	t.Logf("%s: %s in %.1f s, after %s turns", realFaults[7].name, r.outputs["stop-reason"], time.Since(start).Seconds(), r.outputs["turns"])
	switch r.outputs["stop-reason"] {
	case "fixed":
		if r.outputs["pull-request-operation"] != "created" || len(f.opened()) != 1 {
			t.Errorf("outputs %v", r.outputs)
		}
	case "exhausted", "not_proven":
	default:
		t.Errorf("exit %d, outputs %v, log:\n%s", r.code, r.outputs, r.log)
	}
}
