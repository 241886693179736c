// Command readers prints how fast agent/report's readers take in a large log, and how much memory they need at their peak,
// beside gotestsum's own parser of go test -json. Each is measured in a process of its own, one after the other, on text that
// is made while it is read. Nothing is written, and the figures are this machine's alone.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"gotest.tools/gotestsum/testjson"

	"github.com/redraft-dev/redraft/agent/report"
)

func main() {
	log.SetFlags(0)
	mib := flag.Int("mib", 256, "size of each log, in MiB")
	data := flag.String("testdata", "agent/report/testdata", "where the fixtures are, one of each reader")
	one := flag.String("one", "", "measure this one alone, in this process")
	flag.Parse()
	if *one != "" {
		if err := measure(*one, *data, *mib<<20); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := all(*data, *mib); err != nil {
		log.Fatal(err)
	}
}

// fixtures are one report of each reader, to wake it.
var fixtures = []string{
	"pytest/asserts", "unittest/unittest", "jest/cart", "vitest/cart", "mocha/spec", "node-test/spec", "cargo/shop-all", "nextest/shop",
	"maven/junit5", "gradle/junit4", "ant/junit", "ctest/suite", "gtest/suite", "catch2/suite", "rspec/suite", "minitest/suite", "phpunit/suite",
}

// all starts this program again for each, and prints the table.
func all(data string, mib int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	names := []string{"plain log", "plain log of GitHub", "coloured log", "go test -json", "go test -json by gotestsum"}
	for _, f := range fixtures {
		if _, err := os.Stat(filepath.Join(data, f+".txt")); err == nil {
			names = append(names, f)
		}
	}
	fmt.Printf("%d MiB each, %s/%s, %d CPUs, %s\n\n| log | MB/s | CPU MB/s | peak MiB |\n|---|---|---|---|\n", mib, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	for _, name := range names {
		cmd := exec.Command(self, "-one", name, "-testdata", data, "-mib", fmt.Sprint(mib))
		cmd.Stderr = os.Stderr
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		wall, cpu := time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
		fmt.Printf("| %s | %.0f | %.0f | %d |\n", name, rate(mib, wall), rate(mib, cpu), peak(cmd.ProcessState)>>20)
	}
	return nil
}

func rate(mib int, d time.Duration) float64 { return float64(mib) * 1.048576 / d.Seconds() }

// peak is a process's largest resident size in bytes; Linux counts in KiB (getrusage(2)).
func peak(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "linux" {
		return u.Maxrss << 10
	}
	return u.Maxrss
}

// measure reads one log.
func measure(name, data string, size int) error {
	switch name {
	case "plain log":
		return read(&repeated{text: build, left: size})
	case "plain log of GitHub":
		return read(&repeated{text: stamped(build), left: size})
	case "coloured log":
		return read(&repeated{text: strings.ReplaceAll(build, "[INFO]", "[\x1b[1;34mINFO\x1b[m]"), left: size})
	case "go test -json":
		return read(&events{left: size})
	case "go test -json by gotestsum":
		_, err := testjson.ScanTestOutput(testjson.ScanConfig{Stdout: &events{left: size}, Stderr: strings.NewReader("")})
		return err
	}
	text, err := os.ReadFile(filepath.Join(data, name+".txt"))
	if err != nil {
		return err
	}
	_, raw, _ := bytes.Cut(text, []byte("\n\n"))
	return read(io.MultiReader(bytes.NewReader(raw), &repeated{text: build, left: size}, bytes.NewReader(raw)))
}

func read(r io.Reader) error {
	_, err := report.ReadLog(r)
	return err
}

// build is what a build prints while nothing fails.
var build = strings.Repeat(`[INFO] Downloaded from central: https://repo.example.com/maven2/org/example/thing/1.2.3/thing-1.2.3.jar (12 kB at 3.4 MB/s)
   Compiling serde_derive v1.0.193
npm http fetch GET 200 https://registry.example.com/lodash/-/lodash-4.17.21.tgz 41ms (cache miss)
Get:41 http://archive.example.com/ubuntu jammy/main amd64 libxcb-render0 amd64 1.14-3ubuntu3 [16.4 kB]
-- Installing: /usr/local/include/thing/detail/config.h
[ 42%] Building CXX object src/CMakeFiles/thing.dir/module_42.cpp.o
`, 64)

func stamped(text string) string {
	const stamp = "2026-05-27T21:37:10.8505409Z "
	return stamp + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+stamp) + "\n"
}

// repeated is a text over and over.
type repeated struct {
	text     string
	left, at int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	b = b[:min(len(b), r.left)]
	n := 0
	for n < len(b) {
		m := copy(b[n:], r.text[r.at:])
		n, r.at = n+m, (r.at+m)%len(r.text)
	}
	r.left -= n
	return n, nil
}

// events are those of tests that log four lines each, two hundred tests a package.
type events struct {
	left, n int
	rest    []byte
}

func (e *events) Read(b []byte) (int, error) {
	if e.left <= 0 && len(e.rest) == 0 {
		return 0, io.EOF
	}
	for len(e.rest) < len(b) && e.left > 0 {
		before := len(e.rest)
		e.rest = e.next(e.rest)
		e.left -= len(e.rest) - before
	}
	n := copy(b, e.rest)
	e.rest = slices.Delete(e.rest, 0, n)
	return n, nil
}

func (e *events) next(b []byte) []byte {
	pkg := fmt.Sprintf(`"Time":"2026-11-29T17:02:34.818755728Z","Package":"example.com/shop/p%d"`, e.n/200)
	if e.n%200 == 0 {
		b = fmt.Appendf(b, `{"Action":"start",%s}`+"\n", pkg)
	}
	test := fmt.Sprintf(`%s,"Test":"TestTotal/case_%d"`, pkg, e.n)
	b = fmt.Appendf(b, `{"Action":"run",%s}`+"\n"+`{"Action":"output",%s,"Output":"=== RUN   TestTotal/case_%d\n"}`+"\n", test, test, e.n)
	for i := range 4 {
		b = fmt.Appendf(b, `{"Action":"output",%s,"Output":"    cart_test.go:2%d: the total of %d prices is still what it was\n"}`+"\n", test, i, e.n)
	}
	b = fmt.Appendf(b, `{"Action":"output",%s,"Output":"    --- PASS: TestTotal/case_%d (0.00s)\n"}`+"\n"+`{"Action":"pass",%s,"Elapsed":0}`+"\n", test, e.n, test)
	if e.n++; e.n%200 == 0 {
		b = fmt.Appendf(b, `{"Action":"pass",%s,"Elapsed":0.1}`+"\n", pkg)
	}
	return b
}
