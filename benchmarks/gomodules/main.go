// Command gomodules runs arms over the cases of real Go modules and prints one row a case: whether the red is
// reproduced with the named tests, whether the released repair is proved, whether cheats are stopped, and what the
// mechanic and a real model repair. It leaves judging to the program under test, which it builds once and runs as
// anyone would. A case that the module proxy does not give is REFUSED, and counted apart.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redraft-dev/redraft/agent/model/modeltest"
	"github.com/redraft-dev/redraft/benchmarks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// bench is one run of the benchmark.
type bench struct {
	exe     string
	dir     string   // its own, for state and evidence
	env     []string // of the program under test
	minutes int      // of one job of the arms that search
	child   *modeltest.Child
}

// Row is one case and what its arms did.
type Row struct {
	benchmarks.Case
	N        int       `json:"n"`
	Refused  string    `json:"refused,omitempty"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// Report is a whole run.
type Report struct {
	Set  string `json:"set"` // hash of the set of cases
	Go   string `json:"go"`
	CPUs int    `json:"cpus"`
	Rows []Row  `json:"rows"`
}

// options are the command line.
type options struct {
	cases []benchmarks.Case
	arms  []arm
	json  bool
	exe   string
	keep  string
	mins  int
}

// run is the program. Exit: 0 every arm did what it must, 1 not, 2 usage, 3 our side failed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	b, err := open(ctx, o)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	defer func() {
		if err := b.close(o); err != nil {
			fmt.Fprintln(stderr, err)
		}
	}()
	report := Report{Set: benchmarks.SetHash(), Go: runtime.Version(), CPUs: runtime.NumCPU()}
	for _, c := range o.cases {
		if ctx.Err() != nil {
			break
		}
		row := b.row(ctx, c, o.arms)
		report.Rows = append(report.Rows, row)
		if !o.json {
			printRow(stdout, row)
		}
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", " ")
		err = e.Encode(report)
	} else {
		printTotals(stdout, report, o.arms)
	}
	if err != nil || ctx.Err() != nil {
		return 3
	}
	return exit(report)
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fl := flag.NewFlagSet("gomodules", flag.ContinueOnError)
	fl.SetOutput(stderr)
	cases := fl.String("cases", "", "numbers of the cases, as in 0,3,16-19 (all if empty)")
	names := fl.String("arms", "red,fix,cheats", "arms: red, fix, cheats, mechanic, small, github, github-cheats, github-small; or one cheat alone: test, same, prose, exit, long")
	fl.BoolVar(&o.json, "json", false, "print one JSON value")
	fl.StringVar(&o.exe, "exe", "", "the program under test (built from this tree if empty)")
	fl.StringVar(&o.keep, "keep", "", "folder for repositories, state and evidence, which stay there (a temporary one, removed, if empty)")
	fl.IntVar(&o.mins, "minutes", 5, "minutes of one job of the arms mechanic and small")
	if err := fl.Parse(args); err != nil {
		return o, err
	}
	if fl.NArg() > 0 {
		return o, fmt.Errorf("what is %q? everything is a flag", fl.Arg(0))
	}
	for _, name := range strings.Split(*names, ",") {
		i := slices.IndexFunc(arms, func(a arm) bool { return a.name == strings.TrimSpace(name) })
		if i < 0 {
			return o, fmt.Errorf("--arms: no arm is called %q", name)
		}
		o.arms = append(o.arms, arms[i])
	}
	all, err := benchmarks.GoModules()
	if err != nil {
		return o, err
	}
	o.cases, err = pick(all, *cases)
	return o, err
}

// pick takes numbers and ranges of cases.
func pick(all []benchmarks.Case, list string) ([]benchmarks.Case, error) {
	if list == "" {
		return all, nil
	}
	var some []benchmarks.Case
	for _, part := range strings.Split(list, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || first < 0 || last < first || last >= len(all) {
			return nil, fmt.Errorf("--cases: %q is no case of 0 to %d", part, len(all)-1)
		}
		some = append(some, all[first:last+1]...)
	}
	return some, nil
}

// open makes the folder of the run and builds the program under test.
func open(ctx context.Context, o options) (*bench, error) {
	b := &bench{exe: o.exe, minutes: o.mins}
	keep, err := filepath.Abs(o.keep)
	if o.keep == "" {
		keep = os.TempDir()
	}
	if err == nil {
		err = os.MkdirAll(keep, 0o755)
	}
	if err == nil {
		b.dir, err = os.MkdirTemp(keep, "gomodules-*")
	}
	if err != nil {
		return nil, err
	}
	if b.exe == "" {
		b.exe = filepath.Join(b.dir, "redraft")
		build := exec.CommandContext(ctx, "go", "build", "-o", b.exe, "github.com/redraft-dev/redraft/cmd/redraft")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("build the program under test: %w: %s", err, out), b.close(o))
		}
	}
	if b.exe, err = filepath.Abs(b.exe); err != nil {
		return nil, errors.Join(err, b.close(o))
	}
	// No configuration of this user's, no state of theirs: every run of the benchmark begins alike.
	b.env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(b.dir, "state"), "XDG_CONFIG_HOME="+filepath.Join(b.dir, "config"), "REDRAFT_CONFIG=")
	if err := b.warm(ctx); err != nil {
		return nil, errors.Join(err, b.close(o))
	}
	return b, nil
}

// warm takes the whole path once before anything is measured: the program makes what it keeps for this machine, and a
// machine on which it does not work is told from cases that it does not solve.
func (b *bench) warm(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.exe, "selftest")
	cmd.Dir, cmd.Env = b.dir, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("redraft selftest: %w: %s", err, tail(string(out)))
	}
	return nil
}

// close ends the real model and removes what the run made, unless it is to be kept.
func (b *bench) close(o options) error {
	if b.child != nil {
		b.child.Close()
	}
	if o.keep != "" {
		return nil
	}
	return os.RemoveAll(b.dir)
}

// row prepares a case and runs the arms over it, one after the other, each from the same commit.
func (b *bench) row(ctx context.Context, c benchmarks.Case, these []arm) Row {
	row := Row{Case: c, N: c.N}
	var p prepared
	var err error
	p.repo, p.fix, err = benchmarks.Prepare(ctx, c, b.dir)
	var refused *benchmarks.Refused
	if errors.As(err, &refused) {
		row.Refused = refused.Reason
		return row
	}
	if err != nil {
		row.Outcomes = []Outcome{{Arm: "prepare", Word: "failed", Text: err.Error()}}
		return row
	}
	defer os.RemoveAll(p.repo)
	row.Outcomes = b.arms(ctx, c, p, these)
	return row
}

// arms runs arms over a prepared case. What an interruption made of one is no outcome.
func (b *bench) arms(ctx context.Context, c benchmarks.Case, p prepared, these []arm) (outcomes []Outcome) {
	for _, a := range these {
		start := time.Now()
		o, err := a.run(b, ctx, c, p)
		if ctx.Err() != nil {
			return outcomes
		}
		o.Arm, o.Seconds = a.name, time.Since(start).Seconds()
		var refused *benchmarks.Refused
		if errors.As(err, &refused) {
			o.Word, o.Text, o.OK = "refused", refused.Reason, true
		} else if err = errors.Join(err, removeBranches(p.repo)); err != nil {
			o.Word, o.Text, o.OK = "failed", err.Error(), false
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// exit is 1 when an arm did not do what it must. That a red differs from the list is told, not punished: it depends on the
// machine's toolchain and user.
func exit(r Report) int {
	for _, row := range r.Rows {
		reproduced := true
		for _, o := range row.Outcomes {
			if o.Arm == "red" {
				reproduced = o.OK
			} else if !o.OK && (reproduced || o.Word == "failed" || o.Word == "proved") {
				return 1
			}
		}
	}
	return 0
}
