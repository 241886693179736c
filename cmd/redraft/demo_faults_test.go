package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestDemoTable(t *testing.T) {
	beyond := map[string]bool{}
	programs := map[string]bool{}
	for i, f := range demoFaults {
		programs[f.Program] = true
		if f.ID != i+1 {
			t.Errorf("fault %d: got ID %d, want %d", i, f.ID, i+1)
		}
		if n := bytes.Count(demoProgram(f.Program)[f.File], []byte(f.Old)); n != 1 {
			t.Errorf("fault %d: %q stands %d times in %s, want once", f.ID, f.Old, n, f.File)
		}
		if strings.HasSuffix(f.File, "_test.go") {
			t.Errorf("fault %d changes a test", f.ID)
		}
		if !f.MechanicCan {
			beyond[f.Kind+f.Program+f.File+f.Old] = true
		}
	}
	if len(programs) < 3 || len(demoFaults) < 24 || len(beyond) < 9 {
		t.Errorf("got %d programs, %d faults, %d of them beyond the mechanic, want at least 3, 24 and 9", len(programs), len(demoFaults), len(beyond))
	}
	if !demoFaults[demoDefault-1].MechanicCan {
		t.Errorf("the default seed %d is beyond the mechanic", demoDefault)
	}
}

func TestDemoRepo(t *testing.T) {
	for seed := 1; seed <= demoSeeds(); seed++ {
		files, f := demoRepo(seed)
		if f.ID != seed {
			t.Errorf("seed %d: got fault %d", seed, f.ID)
		}
		if bytes.Equal(files[f.File], demoProgram(f.Program)[f.File]) {
			t.Errorf("seed %d: %s is as it should be, want the fault", seed, f.File)
		}
		for name, b := range files {
			if strings.HasSuffix(name, ".txt") {
				t.Errorf("seed %d: %s kept its suffix", seed, name)
			}
			if strings.HasSuffix(name, ".go") {
				checkFormatted(t, fmt.Sprintf("seed %d: %s", seed, name), b)
			}
		}
	}
	for _, seed := range []int{0, -1, demoSeeds() + 1, -1 << 63, 1<<63 - 1} {
		if files, _ := demoRepo(seed); len(files) == 0 {
			t.Errorf("seed %d: got no files", seed)
		}
	}
}

// checkFormatted keeps a fault from being a formatting finding too, which gofmt alone would mend.
func checkFormatted(t *testing.T, what string, b []byte) {
	t.Helper()
	if f, err := format.Source(b); err != nil || !bytes.Equal(f, b) {
		t.Errorf("%s is not as gofmt writes it (%v)", what, err)
	}
}

func TestDemoProgramsAreGreen(t *testing.T) {
	for _, name := range []string{"calendar", "cart", "cache"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := goTest(t, demoProgram(name)); err != nil {
				t.Errorf("got %v, want green\n%s", err, out)
			}
		})
	}
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (Test\w+)`)

func TestDemoFaultsAreRed(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs one test binary a fault")
	}
	for seed := 1; seed <= demoSeeds(); seed++ {
		files, f := demoRepo(seed)
		t.Run(fmt.Sprintf("%d-%s-%s", seed, f.Program, f.Kind), func(t *testing.T) {
			t.Parallel()
			out, err := goTest(t, files)
			if err == nil {
				t.Fatalf("got green, want red\n%s", out)
			}
			if !failed.Match(out) || bytes.Contains(out, []byte("[build failed]")) {
				t.Errorf("got %v without a named test, want one that fails\n%s", err, out)
			}
		})
	}
}

// goTest runs a program's tests in a folder of their own, without a network and without this process's Go settings.
func goTest(t *testing.T, files map[string][]byte) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=", "GOENV=off")
	return cmd.CombinedOutput()
}
