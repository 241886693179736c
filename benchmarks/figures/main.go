// Command figures measures what the program costs: the size of the stripped binary, the CPU seconds of a clean build, the sizes
// of a release's archives, its own time in a turn, how soon its server is ready, and the share of the demo's faults that it solves. It leaves
// judging the figures to whoever reads them, but for the two that have a limit. Seconds are of one machine; the ratios beside them are of one run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// bench is one run of the measurements.
type bench struct {
	dir string // its own, removed at the end
	exe string // the program under test, once it is built
	out io.Writer
}

// figures are what can be measured, in order. The binary that build makes serves the others.
var figures = []struct {
	name    string
	measure func(*bench, context.Context) (within bool, err error)
}{
	{"build", (*bench).build},
	{"archives", (*bench).archives},
	{"turn", (*bench).turn},
	{"serve", (*bench).serve},
	{"demo", (*bench).demo},
}

// run is the program. Exit: 0 measured and within the limits, 1 over a limit, 2 usage, 3 not measured.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("figures", flag.ContinueOnError)
	fl.SetOutput(stderr)
	only := fl.String("only", strings.Join(names(), ","), "which figures")
	if err := fl.Parse(args); err != nil {
		return 2
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if !slices.ContainsFunc(names(), func(n string) bool { return n == name }) || fl.NArg() > 0 {
			fmt.Fprintf(stderr, "figures: --only takes some of %s\n", strings.Join(names(), ","))
			return 2
		}
	}
	dir, err := os.MkdirTemp("", "figures-*")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, out: stdout}
	fmt.Fprintf(stdout, "%s %s/%s, %d CPUs\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	code := 0
	for _, f := range figures {
		if !slices.Contains(wanted, f.name) {
			continue
		}
		within, err := f.measure(b, ctx)
		if err != nil {
			fmt.Fprintf(stderr, "figures: %s: %v\n", f.name, err)
			return 3
		}
		if !within {
			code = 1
		}
	}
	return code
}

func names() (all []string) {
	for _, f := range figures {
		all = append(all, f.name)
	}
	return all
}

// program is the program under test, built as anyone would.
func (b *bench) program(ctx context.Context) (string, error) {
	if b.exe == "" {
		exe := filepath.Join(b.dir, "redraft")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", exe, mainPackage).CombinedOutput(); err != nil {
			return "", fmt.Errorf("build: %w: %s", err, out)
		}
		b.exe = exe
	}
	return b.exe, nil
}

// command is the program under test with a state and a configuration of its own.
func (b *bench) command(ctx context.Context, dir string, args ...string) (*exec.Cmd, error) {
	exe, err := b.program(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(b.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(b.dir, "config"), "REDRAFT_CONFIG=")
	return cmd, nil
}
