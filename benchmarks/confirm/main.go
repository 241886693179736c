// Command confirm measures how long it takes to confirm a claim, beside the check's own time in the same jail: for a Go module,
// for Python's unittest, for Node's test runner, and for a check that only sleeps, in a small and in a big tree. Each program is laid out, its red is seen, and a
// right repair of it is confirmed; nothing of that stays. Seconds are of one machine; the ratios beside them are of one run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/proof"
	"github.com/redraft-dev/redraft/agent/report"
	"github.com/redraft-dev/redraft/agent/sandbox"
)

func main() {
	sandbox.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program. Exit: 0 measured, 2 usage, 3 not measured.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fl := flag.NewFlagSet("confirm", flag.ContinueOnError)
	fl.SetOutput(stderr)
	k := fl.Int("k", 3, "instrumented runs of See and Confirm")
	only := fl.String("only", "", "names of programs, with commas between; all if empty")
	detail := fl.Bool("runs", false, "print every run's time too")
	if err := fl.Parse(args); err != nil || fl.NArg() > 0 {
		return 2
	}
	if err := all(ctx, *k, *only, *detail, stdout); err != nil {
		fmt.Fprintln(stderr, "confirm:", err)
		return 3
	}
	return 0
}

func all(ctx context.Context, k int, only string, detail bool, out io.Writer) error {
	dir, err := os.MkdirTemp("", "confirm-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	box, err := sandbox.Open(sandbox.Options{TmpDir: dir})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s/%s, %d CPUs, %s, k = %d, goal k+3 = %d runs\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), box.Tier(), k, k+3)
	fmt.Fprintln(out, "| program | check s | confirm s | runs made | beside runs s | D7 s | without D7, in runs of the check | within |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, p := range programs() {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		if _, err := exec.LookPath(p.needs); err != nil {
			fmt.Fprintf(out, "| %s | REFUSED: no %s on this machine | | | | | | |\n", p.name, p.needs)
			continue
		}
		m, err := measure(ctx, box, dir, p, k)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintln(out, m.row(p.name, k))
		if detail {
			fmt.Fprintln(out, m.detail())
		}
	}
	return nil
}

// measured is what one program's claim took.
type measured struct {
	check   time.Duration // of one plain run of the repaired program, the median
	confirm time.Duration // from the call to the receipt
	runs    []timed
}

// timed is one of the runs that Confirm made.
type timed struct {
	phase, mode string
	took        time.Duration
}

// inRuns is how many runs of the check Confirm took, and what of it was D7's: its run, with its part of what lay beside the runs.
func (m measured) inRuns() (ratio float64, d7, beside time.Duration) {
	beside = m.confirm
	for _, r := range m.runs {
		beside -= r.took
	}
	for _, r := range m.runs {
		if r.phase == "mutated" {
			d7 += r.took + beside/time.Duration(len(m.runs))
		}
	}
	return (m.confirm - d7).Seconds() / m.check.Seconds(), d7, beside
}

func (m measured) row(name string, k int) string {
	ratio, d7, beside := m.inRuns()
	within := "yes"
	if ratio > float64(k+3) {
		within = "no"
	}
	return fmt.Sprintf("| %s | %.3f | %.3f | %d | %.3f | %.3f | %.2f | %s |", name, m.check.Seconds(), m.confirm.Seconds(), len(m.runs), beside.Seconds(), d7.Seconds(), ratio, within)
}

func (m measured) detail() string {
	var b strings.Builder
	for _, r := range m.runs {
		fmt.Fprintf(&b, "  %s %s %.3f", r.phase, r.mode, r.took.Seconds())
	}
	return b.String()
}

// measure sees the red, takes the time of the check on the repaired program, then that of Confirm, then the check's again: what a
// machine does meanwhile is in both.
func measure(ctx context.Context, box *sandbox.Sandbox, dir string, p program, k int) (m measured, err error) {
	s, err := lay(ctx, box, dir, p, k)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var own []time.Duration
	check := func() error {
		for range 2 {
			took, err := s.plain(ctx)
			if err != nil {
				return err
			}
			own = append(own, took)
		}
		return nil
	}
	if err := check(); err != nil {
		return m, err
	}
	m.runs, m.confirm, err = s.confirm(ctx)
	if err != nil {
		return m, err
	}
	if err := check(); err != nil {
		return m, err
	}
	slices.Sort(own)
	m.check = (own[1] + own[2]) / 2
	return m, nil
}

// held is an error for a receipt that does not say what a right repair's has to.
func held(color report.Color, text string, rungs []proof.Rung) error {
	if color != report.Green {
		return fmt.Errorf("a right repair is %s: %s", color, text)
	}
	for _, r := range rungs {
		if r.Status == proof.Failed {
			return fmt.Errorf("a right repair fails %s: %s", r.ID, r.Text)
		}
	}
	return nil
}
